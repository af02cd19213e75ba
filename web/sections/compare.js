// Two profiles side by side: what differs by more than the intervals, first.
import * as Plot from "@observablehq/plot";
import { valueOf } from "../parts/answers.js";
import { chart } from "../parts/chart.js";
import { el, table } from "../parts/dom.js";
import { digits, plural } from "../parts/format.js";

const mostLines = 40;
const apart = (a, b) => Array.isArray(a.interval) && Array.isArray(b.interval) && (a.interval[1] < b.interval[0] || b.interval[1] < a.interval[0]);

function rowsOf([first, second]) {
  return Object.keys(first.answers).filter((key) => first.number(key) !== null && second.number(key) !== null && first.answers[key].unit === second.answers[key].unit)
    .map((key) => ({ key, a: first.answers[key], b: second.answers[key] }));
}

function ratioPlot(rows) {
  const list = rows.filter(({ a, b }) => a.value > 0 && b.value > 0).map(({ key, a, b }) => ({ key, ratio: b.value / a.value })).sort((x, y) => Math.abs(Math.log(y.ratio)) - Math.abs(Math.log(x.ratio))).slice(0, mostLines);
  if (list.length === 0) return null;
  const far = Math.max(...list.map(({ ratio }) => Math.max(ratio, 1 / ratio))) * 1.15;
  return chart({ name: "compare", marks: list.length, caption: `Answers of the second as multiples of the first's, the farthest apart on top${list.length === mostLines ? ` (${mostLines} of ${rows.length})` : ""}.`,
    alt: list.map(({ key, ratio }) => `${key}: ${digits(ratio)} times.`).join(" "),
    options: () => ({ height: 60 + 20 * list.length, marginLeft: 190, marginRight: 20, marginTop: 8, x: { type: "log", domain: [1 / far, far], label: "second ÷ first →", ticks: 5, tickFormat: digits, grid: true }, y: { type: "band", domain: list.map(({ key }) => key), label: null, tickSize: 0 },
      marks: [Plot.ruleX([1], { stroke: "currentColor" }), Plot.ruleY(list, { x1: 1, x2: "ratio", y: "key", stroke: "var(--s1)", strokeWidth: 2, strokeOpacity: 0.5 }), Plot.dot(list, { x: "ratio", y: "key", r: 4, fill: "var(--s1)", className: "samples" })] }) });
}

function draw(page) {
  const rows = rowsOf(page.profiles), different = rows.filter(({ a, b }) => apart(a, b));
  const headings = ["answer", ...page.profiles.map((profile) => ({ text: profile.title(), number: true })), { text: "second / first", number: true }, "intervals"];
  const list = (some, caption) => table(caption, headings, some.map(({ key, a, b }) => [el("span.key", key), { cell: valueOf(a), number: true }, { cell: valueOf(b), number: true },
    { cell: a.value !== 0 ? digits(b.value / a.value) : "–", number: true }, apart(a, b) ? "apart" : Array.isArray(a.interval) && Array.isArray(b.interval) ? "overlap" : "not known"]));
  return [el("p", `${plural(rows.length, "number")} in both profiles, ${different.length} with intervals that do not overlap.`), ratioPlot(different),
    different.length > 0 && el("details", { open: different.length <= 20 ? "" : null }, el("summary", `The ${different.length} that differ`), list(different, "Differences")), rows.length > 0 && el("details", el("summary", "All numbers in both"), list(rows, "All numbers in both"))];
}

export default { order: 5, title: "Comparison", applies: (page) => page.profiles.length === 2, draw };
