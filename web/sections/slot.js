// How long a thread runs before the scheduler takes the cpu away: the gaps as a histogram.
import * as Plot from "@observablehq/plot";
import { chart, least, most } from "../parts/chart.js";
import { samples } from "../parts/profile.js";
import { digits, plural } from "../parts/format.js";

const widest = 60; // bars

/** Bars of equal width, as wide as Freedman and Diaconis say: twice the quartile distance over the cube root of the count. */
function bars(values) {
  const sorted = [...values].sort((a, b) => a - b), at = (share) => sorted[Math.floor(share * (sorted.length - 1))];
  const low = sorted[0], span = sorted.at(-1) - low || 1;
  const width = Math.max(span / widest, (2 * (at(0.75) - at(0.25))) / Math.cbrt(sorted.length) || span / widest);
  const counts = new Array(Math.floor(span / width) + 1).fill(0);
  for (const value of sorted) counts[Math.floor((value - low) / width)]++;
  return counts.map((count, i) => ({ count, from: low + i * width, to: low + (i + 1) * width })).filter(({ count }) => count > 0);
}

export default {
  probe: "slot",
  explain: "More threads than cpus: each finds gaps in its own time, which are the slots of the others.",
  plots: (profile) => {
    const curve = profile.curve("slot.gaps"), values = samples(curve, "").map(({ y }) => y);
    if (values.length === 0) return [];
    const list = bars(values), answer = profile.answer("scheduler.slot_ms"), unit = curve.y.unit;
    return [chart({ name: "slot-gaps", marks: list.length, ids: ["slot.gaps"], caption: `How many of ${plural(values.length, "gap")} lasted how long${answer ? "; the upright line is the answer, shaded with its interval" : ""}.`,
      alt: `Histogram of ${values.length} gaps, from ${digits(least(values))} to ${digits(most(values))} ${unit}.${answer ? ` Time slot: ${digits(answer.value)} ms.` : ""}`,
      options: () => ({ marginTop: 30, x: { label: `length of a gap (${unit}) →`, tickFormat: digits }, y: { label: "↑ gaps", grid: true, nice: true, tickFormat: digits },
        marks: [Plot.rect(list, { x1: "from", x2: "to", y1: 0, y2: "count", fill: "var(--s1)", inset: 0.5, className: "samples" }),
          ...(answer ? [Plot.rect(answer.interval ? [answer] : [], { x1: (d) => d.interval[0], x2: (d) => d.interval[1], fill: "currentColor", fillOpacity: 0.12 }), Plot.ruleX([answer.value], { stroke: "currentColor", strokeWidth: 1.4 }),
            Plot.text([answer.value], { x: (d) => d, text: (d) => `${digits(d)} ms`, frameAnchor: "top", dy: -6, lineAnchor: "bottom", fontWeight: 600, fill: "currentColor" })] : [])] }) })];
  },
};
