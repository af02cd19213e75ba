// How many variables live in registers: the curve, and its relative steps (figures 8 and 9 of the 2012 paper).
import { marked, plainPlot, stepsPlot } from "../parts/probe.js";
import { plots } from "../parts/chart.js";

export default {
  probe: "live",
  explain: "More and more variables are kept alive in a loop. When registers run out one is spilled to memory: the first large step. Later steps are smaller beside what they start from.",
  plots: (profile) => {
    const ids = profile.idsOf("live");
    return ids.length > 0 && [
      plainPlot(profile, "live", ids, { title: "Time of an addition", answers: marked(profile, ids).map((answer) => ({ ...answer, text: answer.text.replace(/^live /, "") })) }),
      stepsPlot({ profile, name: "live-steps", title: "Relative steps", curves: ids.map((id) => ({ id, text: id })), how: "median", answers: (id) => marked(profile, [id]),
        caption: "Each step as a share of what it starts from. Large dots, with their number of variables, are where the answers stand: the last number before the spill." })].filter(Boolean);
  },
};
