// What `blackjack time --json` wrote: time against n for each kernel and context.
import { badge } from "../parts/answers.js";
import { chart, colours, Plot, valueAxis } from "../parts/chart.js";
import { el, table } from "../parts/dom.js";
import { digits, plural, range, shown } from "../parts/format.js";

const isTimings = (file) => file.content.format === "blackjack-timings/1";
const interval = (answer) => (Array.isArray(answer?.interval) ? range(answer.interval, answer.unit) : "");
const value = (answer) => (typeof answer?.value === "number" ? shown(answer.value, answer.unit) : "–");

function plotOf(timings) {
  const rows = timings.filter(({ time_ns: time }) => typeof time?.value === "number")
    .map(({ kernel, n, context, time_ns: time }) => ({ n, y: time.value, low: time.interval?.[0] ?? time.value, high: time.interval?.[1] ?? time.value, series: `${kernel}, ${context}` }));
  if (rows.length === 0) return null;
  const names = [...new Set(rows.map(({ series }) => series))], xs = rows.map(({ n }) => n);
  const colour = ({ series }) => colours[names.indexOf(series) % colours.length];
  const log = xs.every((x) => x > 0) && xs.reduce((a, b) => Math.max(a, b)) > 8 * xs.reduce((a, b) => Math.min(a, b));
  return chart({ name: "timings", marks: rows.length, legend: names.map((name, i) => [name, colours[i % colours.length]]), caption: "Time of a call with its 95% interval.",
    alt: `Time of a call against n: ${rows.slice(0, 40).map(({ series, n, y }) => `${series}, n ${n}: ${digits(y)} ns`).join("; ")}.`,
    options: () => ({ x: { type: log ? "log" : "linear", base: 2, label: "n →", ticks: 8, tickFormat: digits }, y: valueAxis(rows.map(({ y }) => y), "↑ time (ns)"),
      marks: [Plot.ruleX(rows, { x: "n", y1: "low", y2: "high", stroke: colour, strokeWidth: 4, strokeOpacity: 0.35 }), Plot.line(rows, { x: "n", y: "y", z: "series", stroke: colour }),
        Plot.dot(rows, { x: "n", y: "y", r: 3, fill: colour, className: "samples" })] }) });
}

function draw(page) {
  return page.others.filter(isTimings).map(({ name, content }) => {
    const timings = content.timings ?? [], pairs = content.pairs ?? [];
    return el("div", el("h3", name), el("p.soft", `${plural(timings.length, "timing")}, by ${content.clock}.`), plotOf(timings),
      table("Timings", ["kernel", { text: "n", number: true }, "context", { text: "time", number: true }, { text: "95% interval", number: true }, "confidence", "remark"],
        timings.map(({ kernel, n, context, time_ns: time, remark }) => [kernel, { cell: digits(n), number: true }, context, { cell: value(time), number: true }, { cell: interval(time), number: true }, badge(time ?? {}),
          { cell: [time?.reason, remark].filter(Boolean).join("; "), class: "why" }])),
      pairs.length > 0 && table("Ratios", ["first", "second", { text: "n", number: true }, "context", { text: "ratio", number: true }, { text: "95% interval", number: true }, "confidence"],
        pairs.map(({ a, b, n, context, ratio }) => [a, b, { cell: digits(n), number: true }, context, { cell: value(ratio), number: true }, { cell: interval(ratio), number: true }, badge(ratio ?? {})])));
  });
}

export default { order: 2, title: "Timings", applies: (page) => page.others.some(isTimings), draw };
