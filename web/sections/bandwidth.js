// What one core reads, writes and copies, from each level.
import { answerDots } from "../parts/probe.js";

const kinds = ["read", "write", "copy"];

export default {
  probe: "bandwidth",
  plots: (profile) => {
    const places = [...profile.levels().map((level) => [`L${level}`, `cache.L${level}`]), ["memory", "memory"]];
    const items = [...places.flatMap(([text, key]) => kinds.map((group) => ({ text, group, key: `${key}.${group}_gbs` }))),
      ...["write", "copy"].map((group) => ({ text: "memory, past caches", group, key: `memory.${group}_past_gbs` }))];
    return [answerDots({ profile, name: "bandwidth", items, label: "bandwidth of one core (GB/s)", marginLeft: 140, span: 6, caption: "Sustained: the median of whole passes, with its 95% interval. Copy counts what is read and what is written; past caches are stores that bypass them." })];
  },
};
