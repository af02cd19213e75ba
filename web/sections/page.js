// The observable page: the step is at its size.
import { plots } from "../parts/chart.js";
import { marked, plainPlot, stepsPlot } from "../parts/probe.js";

export default {
  probe: "page",
  plots: (profile) => {
    const ids = profile.idsOf("page");
    return ids.length > 0 && [plots(plainPlot(profile, "page", ids, { title: "Latency by distance" }),
      stepsPlot({ profile, name: "page-steps", title: "Relative steps", curves: ids.map((id) => ({ id, text: id })), caption: "Each step as a share of what it starts from." }))];
  },
};
