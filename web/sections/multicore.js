// How the cpus belong together: the tree, the pairs, who takes bandwidth from whom.
import { chart, colours, heatMap, Plot, valueAxis } from "../parts/chart.js";
import { el } from "../parts/dom.js";
import { cpus, digits, plural } from "../parts/format.js";

function branch(node) {
  return el("li", `cpus ${cpus(node.cpus)}`, typeof node.latency_ns === "number" && el("span.soft", `, ${digits(node.latency_ns)} ns`),
    Array.isArray(node.children) && node.children.length > 0 && el("ul", node.children.map(branch)));
}

function treeOf(profile) {
  const tree = profile.answer("topology.tree")?.value;
  if (!tree) return null;
  const list = el("ul", branch(tree));
  return [el("h3", "Locality tree"), el("p.soft", "How long a line takes from one cpu to another inside each group."),
    tree.cpus.length > 32 ? el("details", el("summary", `Tree of ${plural(tree.cpus.length, "cpu")}`), list) : list];
}

function pairsOf(profile) {
  const pairs = profile.answer("topology.pairs")?.value;
  if (!Array.isArray(pairs) || pairs.length === 0) return null;
  const measured = pairs.filter(({ latency_ns: ns }) => typeof ns === "number");
  const names = [...new Set(measured.flatMap(({ a, b }) => [a, b]))].sort((a, b) => a - b);
  // Both halves as long as a browser draws them at once.
  const both = measured.length <= 5000;
  const rows = measured.flatMap(({ a, b, latency_ns: value }) => [{ row: a, column: b, value }, ...(both ? [{ row: b, column: a, value }] : [])]);
  const values = rows.map(({ value }) => value);
  if (rows.length === 0) return null;
  return heatMap({ name: "pairs", rows, columns: names, lines: names, label: "ns", rowLabel: "cpu", columnLabel: "cpu", text: names.length <= 24,
    caption: `Time for a line to go from one cpu to another: ${plural(measured.length, "pair")}; darker is slower. Blank was not measured.`,
    alt: `Heat map of ${plural(measured.length, "pair")} of cpus, from ${digits(values.reduce((a, b) => Math.min(a, b)))} to ${digits(values.reduce((a, b) => Math.max(a, b)))} ns.` });
}

function contentionOf(profile) {
  const levels = (profile.answer("memory.contention")?.value.levels ?? []).filter(({ scaling }) => Array.isArray(scaling) && scaling.length > 0);
  if (levels.length === 0) return null;
  const names = levels.map(({ groups }) => `cpus ${cpus(groups[0])}`);
  const rows = levels.flatMap(({ scaling }, i) => scaling.map((point) => ({ x: point.cpus, y: point.gbs, series: i })));
  const useful = levels.filter(({ useful_cpus: count }) => typeof count === "number");
  const colour = ({ series }) => colours[series % colours.length];
  return chart({ name: "contention", marks: rows.length, legend: names.map((name, i) => [name, colours[i % colours.length]]),
    caption: `Bandwidth of all together against how many read at once${useful.length > 0 ? "; upright lines are where more of them bring nothing more" : ""}.`,
    alt: levels.map(({ scaling, useful_cpus: count }, i) => `${names[i]}: ${digits(scaling[0].gbs)} GB/s with ${scaling[0].cpus}, ${digits(scaling.at(-1).gbs)} GB/s with ${scaling.at(-1).cpus}${typeof count === "number" ? `; ${count} useful` : ""}.`).join(" "),
    options: () => ({ x: { label: "cpus →", ticks: 8, tickFormat: digits }, y: valueAxis(rows.map(({ y }) => y), "↑ bandwidth (GB/s)"),
      marks: [Plot.ruleX(useful, { x: "useful_cpus", stroke: "currentColor", strokeOpacity: 0.5 }), Plot.line(rows, { x: "x", y: "y", z: "series", stroke: colour, strokeWidth: 1.8 }),
        Plot.dot(rows, { x: "x", y: "y", r: 3, fill: colour, className: "samples" })] }) });
}

function nodesOf(profile, key, text, label) {
  const matrix = profile.answer(key)?.value;
  if (!Array.isArray(matrix) || matrix.length < 2) return null;
  const names = matrix.map((_, i) => i);
  const rows = matrix.flatMap((line, row) => line.map((value, column) => ({ row, column, value }))).filter(({ value }) => typeof value === "number");
  return heatMap({ name: key, rows, columns: names, lines: names, label, rowLabel: "from", columnLabel: "memory of", caption: text,
    alt: `${text} ${rows.map(({ row, column, value }) => `${row} to ${column}: ${digits(value)}`).join("; ")}.` });
}

const partsOf = (profile) => [treeOf(profile), pairsOf(profile), contentionOf(profile),
  nodesOf(profile, "numa.latency_ns", "Latency from each node to the memory of each (ns).", "ns"), nodesOf(profile, "numa.gbs", "Bandwidth from each node to the memory of each (GB/s).", "GB/s")].filter(Boolean);

export default {
  order: 10, title: "Many cores",
  applies: (page) => page.profiles.some((profile) => profile.answer("topology.tree") || profile.answer("topology.pairs") || profile.answer("memory.contention")),
  draw: (page) => el(page.profiles.length > 1 ? "div.pair" : "div", page.profiles.map((profile) => el("div", page.profiles.length > 1 && el("h3", profile.title()), partsOf(profile)))),
};
