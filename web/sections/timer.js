// Clocks: what reading one costs, and the least difference that it shows.
import { answerDots } from "../parts/probe.js";

export default {
  probe: "timer",
  plots: (profile) => [answerDots({ profile, name: "timer", label: "ns", marginLeft: 70, caption: "What reading a clock costs, and the least difference that it shows. A timing should last a thousand times longer than both.",
    items: ["wall", "cpu", "cycles"].flatMap((text) => [["read", "cost of reading"], ["resolution", "resolution"]].map(([what, group]) => ({ text, group, key: `timer.${text}.${what}_ns` }))) })],
};
