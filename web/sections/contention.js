// Who takes bandwidth from whom, and what one cpu has left when all work.
import * as Plot from "@observablehq/plot";
import { chart, linesPlot, plots } from "../parts/chart.js";
import { cpus, digits, quantity } from "../parts/format.js";

function scalingPlot(profile) {
  const levels = (profile.answer("memory.contention")?.value.levels ?? []).filter(({ scaling, groups }) => Array.isArray(scaling) && scaling.length > 0 && Array.isArray(groups));
  if (levels.length === 0) return null;
  const names = levels.map(({ groups }, i) => `${levels.length > 1 ? `level ${i + 1}, ` : ""}cpus ${cpus(groups[0])}`);
  const rows = levels.flatMap(({ scaling }, i) => scaling.map((point) => ({ x: point.cpus, y: point.gbs, series: names[i] })));
  const useful = levels.filter(({ useful_cpus: count }) => typeof count === "number");
  return linesPlot({ name: "contention", title: "Bandwidth by cpus at work", rows, x: "cpus that read at once", y: "GB/s of all together", log: false, span: Infinity, ids: profile.idsOf("contention", /scaling/),
    rules: useful.map(({ useful_cpus: at }) => ({ at, text: `${at} useful` })),
    caption: `Bandwidth of all together against how many read at once${useful.length > 0 ? "; past the dashed line more of them bring nothing more" : ""}.`,
    alt: levels.map(({ scaling, useful_cpus: count }, i) => `${names[i]}: ${digits(scaling[0].gbs)} GB/s with ${scaling[0].cpus}, ${digits(scaling.at(-1).gbs)} GB/s with ${scaling.at(-1).cpus}${typeof count === "number" ? `; ${count} useful` : ""}.`).join(" ") });
}

/** [text, key when all work, key alone, more is better] */
function questions(profile) {
  const levels = profile.levels().flatMap((level) => [[`L${level} size`, `cache.L${level}.full.size_bytes`, `cache.L${level}.size_bytes`, true], [`L${level} latency`, `cache.L${level}.full.latency_ns`, `cache.L${level}.latency_ns`, false]]);
  return [["memory, read", "memory.full.read_gbs", "memory.read_gbs", true], ["memory, copy", "memory.full.copy_gbs", "memory.copy_gbs", true],
    ["memory latency", "memory.full.latency_ns", "memory.latency_ns", false], ...levels];
}

function fullPlot(profile) {
  const rows = questions(profile).map(([text, full, alone, more]) => ({ text, full: profile.answer(full), alone: profile.answer(alone), more })).filter(({ full, alone }) => full && alone && alone.value > 0 && full.value > 0)
    .map(({ text, full, alone, more }) => ({ text, ratio: full.value / alone.value, worse: more ? full.value < alone.value : full.value > alone.value,
      words: `${quantity(alone.value, alone.unit)} → ${quantity(full.value, full.unit)}` }));
  if (rows.length === 0) return null;
  const texts = rows.map(({ text }) => text);
  return chart({ name: "full", title: "One cpu, when all work", marks: rows.length, ids: profile.idsOf("contention", /full/), caption: "What one cpu gets while all work, as a multiple of what it gets alone. To the left of 1: less; latencies grow to the right.",
    alt: rows.map(({ text, words, ratio }) => `${text}: ${words}, ${digits(ratio)} times.`).join(" "),
    options: () => ({ height: 66 + 34 * rows.length, marginLeft: 106, marginRight: 168, marginTop: 10, x: { type: "log", label: "all at work ÷ alone →", ticks: 3, tickFormat: digits, grid: true, domain: [Math.min(...rows.map(({ ratio }) => ratio), 0.5) / 1.2, Math.max(...rows.map(({ ratio }) => ratio), 2) * 1.2] }, y: { type: "band", domain: texts, label: null, tickSize: 0 },
      marks: [Plot.ruleX([1], { stroke: "currentColor" }), Plot.ruleY(rows, { x1: 1, x2: "ratio", y: "text", stroke: ({ worse }) => (worse ? "var(--s2)" : "var(--s3)"), strokeWidth: 3 }),
        Plot.dot(rows, { x: "ratio", y: "text", r: 5, fill: ({ worse }) => (worse ? "var(--s2)" : "var(--s3)"), className: "samples" }),
        Plot.text(rows, { y: "text", text: "words", frameAnchor: "right", dx: 10, textAnchor: "start", fill: "currentColor" })] }) });
}

export default { probe: "contention", covers: /./, plots: (profile) => {
  const figures = [scalingPlot(profile), fullPlot(profile)].filter(Boolean);
  return figures.length > 0 ? [plots(figures)] : [];
} };
