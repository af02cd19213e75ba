// What `blackjack time --json` wrote: time against n in each context, and what the context changes (figures 1 and 2 of the
// kernel timer's paper).
import { badge } from "../parts/answers.js";
import { linesPlot, plots } from "../parts/chart.js";
import { el, table } from "../parts/dom.js";
import { fileSection, listOf } from "../parts/files.js";
import { digits, plural, range, shown } from "../parts/format.js";

const interval = (answer) => (Array.isArray(answer?.interval) ? range(answer.interval, answer.unit) : "");
const value = (answer) => (typeof answer?.value === "number" ? shown(answer.value, answer.unit) : "–");
const short = (kernel) => String(kernel).split("/").at(-1);
const number = (x) => ({ cell: x, number: true });
const listed = (rows, unit) => rows.slice(0, 40).map(({ series, x, y }) => `${series}, n ${digits(x)}: ${digits(y)} ${unit}`).join("; ");

function timePlot(timings) {
  const rows = timings.filter(({ time_ns: time, n }) => time?.value > 0 && n > 0)
    .map(({ kernel, n, context, time_ns: time }) => ({ x: n, y: time.value / n, low: Math.max(0, time.interval?.[0] ?? time.value) / n, high: (time.interval?.[1] ?? time.value) / n, series: `${short(kernel)}, ${context}` }));
  return rows.length > 0 && linesPlot({ name: "timings", title: "Time of a call for each n", rows, x: "n", y: "ns for each n", span: 8,
    caption: "Time of one call divided by n, with its 95% interval: flat where the kernel scales, a step where its operands leave a cache.",
    alt: `Time of a call divided by n: ${listed(rows, "ns")}.` });
}

/** One kernel, one n, two contexts: how many times longer it takes where its operands are farther away. */
function contextPlot(timings) {
  const least = (kernel, n) => timings.filter((timing) => timing.kernel === kernel && timing.n === n && timing.context === "warm" && timing.time_ns?.value > 0)[0];
  const rows = timings.filter(({ context, time_ns: time, n }) => context !== "warm" && time?.value > 0 && n > 0).map((timing) => ({ timing, warm: least(timing.kernel, timing.n) })).filter(({ warm }) => warm)
    .map(({ timing, warm }) => ({ x: timing.n, y: timing.time_ns.value / warm.time_ns.value, series: `${short(timing.kernel)}, ${timing.context} over warm` }));
  return rows.length > 0 && linesPlot({ name: "timings-contexts", title: "What the context changes", rows, x: "n", y: "times longer than warm", span: 20, rules: [{ level: 1, text: "" }],
    caption: "How many times longer a call takes when its operands are not in the caches. A loop that calls the kernel again and again sees only the warm time; at 1 the two agree.",
    alt: `Time over the warm time: ${listed(rows, "times")}.` });
}

function ratioPlot(pairs) {
  const rows = pairs.filter(({ ratio, n }) => ratio?.value > 0 && n > 0).map(({ n, context, ratio }) => ({ x: n, y: ratio.value, low: ratio.interval?.[0], high: ratio.interval?.[1], series: String(context) }));
  if (rows.length === 0) return null;
  const [a, b] = [short(pairs[0].a), short(pairs[0].b)];
  return linesPlot({ name: "timings-pairs", title: `${a} over ${b}`, rows, x: "n", y: "ratio of times", span: 8, rules: [{ level: 1, text: "equal" }],
    caption: `Below 1 ${a} is faster, above it ${b}; bars are 95% intervals. Where contexts disagree, choose by the one that your program has.`, alt: `${a} over ${b}: ${listed(rows, "")}.` });
}

function draw(content) {
  const timings = listOf(content.timings), pairs = listOf(content.pairs);
  return [el("p.soft", `${plural(timings.length, "timing")}, by ${String(content.clock)}.`), plots(timePlot(timings), contextPlot(timings), ratioPlot(pairs)),
    table("Timings", ["kernel", { text: "n", number: true }, "context", { text: "time", number: true }, { text: "95% interval", number: true }, "confidence", "remark"],
      timings.map(({ kernel, n, context, time_ns: time, remark, residency }) => [short(kernel), { cell: digits(n), number: true, class: "n" }, String(context), { cell: value(time), number: true, class: "value" }, { cell: interval(time), number: true, class: "interval" }, { cell: badge(time ?? {}), class: "sure" },
        { cell: [time?.reason, remark, residency && `a line of ${residency.asked} took ${digits(residency.seen_ns)} ns, ${digits(residency.expected_ns)} expected`].filter(Boolean).join("; "), class: "why" }]), () => ({}), "answers timed"),
    pairs.length > 0 && table("Ratios", ["first", "second", { text: "n", number: true }, "context", { text: "ratio", number: true }, { text: "95% interval", number: true }, "confidence"],
      pairs.map(({ a, b, n, context, ratio }) => [short(a), short(b), number(digits(n)), String(context), number(value(ratio)), number(interval(ratio)), badge(ratio ?? {})]))];
}

export default fileSection({ format: "blackjack-timings/1", order: -0.8, title: "Timings", draw });
