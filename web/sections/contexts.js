// Threads that work at once: time stays flat as long as each has a context of its own.
import { plots } from "../parts/chart.js";
import { marked, plainPlot, stepsPlot } from "../parts/probe.js";

export default {
  probe: "contexts",
  explain: "Threads do the same work at once. While each has an execution context the time stays flat; the first step is where two must share.",
  plots: (profile) => {
    const ids = profile.idsOf("contexts", /\.time$/), name = (id) => id.split(".")[1];
    const answers = ids.flatMap((id) => marked(profile, [id]).map((answer) => ({ ...answer, text: name(id) })));
    return ids.length > 0 && [plots(plainPlot(profile, "contexts", ids, { title: "Time of the work", answers, curves: ids.map((id) => ({ id, text: name(id) })) }),
      stepsPlot({ profile, name: "contexts-steps", title: "Relative steps", curves: ids.map((id) => ({ id, text: name(id) })), answers: (id) => marked(profile, [id]), caption: "Each step as a share of what it starts from; large dots are the answers." }))];
  },
};
