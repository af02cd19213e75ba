// What `blackjack diagnose --json` wrote: how a program slows down as the chip fills up, and what it collides with.
import { badge } from "../parts/answers.js";
import { answerBars, linesPlot, plots } from "../parts/chart.js";
import { el, table } from "../parts/dom.js";
import { fileSection, listOf } from "../parts/files.js";
import { bytes, digits, plural, range, shown } from "../parts/format.js";
import { peakOf, rooflinePlot, roofsOf } from "./roofline.js";

const verdicts = {
  none: "It collides with nothing: each copy runs as fast beside the others as alone.",
  cache: "It collides in a shared cache: it needs more than its share. Smaller blocks, or fewer copies on a chip.",
  bandwidth: "It collides at memory bandwidth. Move fewer bytes, or use fewer cpus of each chip.",
  dram_rows: "It collides in the rows of the memory: too many arrays at once. Split its loops, so that each goes through fewer arrays.",
  other: "It slows down, but by nothing that was provoked: clock, execution units shared by threads, or the program itself.",
  undetermined: "What it collides with could not be told.",
};
const names = { cache: "cache", bandwidth: "bandwidth", dram_rows: "rows of memory", other: "anything else", copies: "copies of the program", none: "nothing", undetermined: "undetermined" };
const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
const isNumber = (value) => typeof value === "number";
const number = (value, text = digits(value)) => ({ cell: isNumber(value) ? el("data", { value: String(value) }, text) : "–", number: true });
/** Points [pressure, slowdown, low, high] of one resource. */
const pointsOf = (list) => (Array.isArray(list) ? list.filter((point) => Array.isArray(point) && isNumber(point[0]) && isNumber(point[1])) : []).sort((a, b) => a[0] - b[0]);
const rowsOf = (sensitivity, keys) => keys.flatMap((key) => pointsOf(sensitivity?.[key]).map(([x, y, low, high]) => ({ x, y, low, high, series: names[key] })));

function verdictCard({ resource, confidence, reason } = {}, support = null) {
  if (resource === undefined) return null;
  const shares = Object.entries(support ?? {}).filter(([, share]) => share > 0).sort(([, a], [, b]) => b - a);
  return el("div.card.do", el("h3", "Verdict: ", names[resource] ?? String(resource), " ", badge({ status: "ok", confidence })), el("p", verdicts[resource] ?? ""), reason && el("p.soft", sentence(String(reason))),
    shares.length > 0 && el("p.soft", `When rounds are drawn anew: ${shares.map(([key, share]) => `${names[key] ?? key} in ${share < 0.01 ? "less than 1" : digits(Math.round(100 * share))}%`).join(", ")}.`));
}

/** Densities of the program, or of one of its variants. */
const densityRows = (list, series) => listOf(list).filter(({ cpus, seconds }) => isNumber(cpus) && seconds?.value > 0).sort((a, b) => a.cpus - b.cpus)
  .map(({ cpus, seconds, efficiency, row_hits: rowHits }) => ({ x: cpus, y: seconds.value, low: seconds.interval?.[0], high: seconds.interval?.[1], series, seconds, efficiency, rowHits }));

function densityPlot(rows, strong) {
  if (rows.length === 0) return null;
  const first = rows[0], xs = [...new Set(rows.filter(({ series }) => series === first.series).map(({ x }) => x))];
  const ideal = xs.map((x) => ({ x, y: strong ? (first.y * first.x) / x : first.y, series: "ideal" }));
  return linesPlot({ name: "densities", title: "Time as the chip fills up", rows: [...rows, ...ideal], x: "cpus at work", y: "seconds", log: false, span: 20, dashed: (text) => text === "ideal",
    caption: `Time by how many cpus of the chip work, with 95% intervals. Dashed: ${strong ? "as if work divided by cpus were all" : "as if the others were not there"}.`,
    alt: `Seconds by cpus at work: ${rows.map(({ x, y, series }) => `${series}, ${plural(x, "cpu")}: ${digits(y)} s`).join("; ")}.` });
}

function slowdownPlot(name, title, rows, x, say, more) {
  return rows.length > 0 && linesPlot({ name, title, rows, x, y: "times slower", span: 20, zero: false, rules: [{ level: 1, text: "" }], ...more, tip: (d) => `${d.series}, ${say(d.x)}\n${digits(d.y)} times slower`,
    alt: `${title}: ${rows.map(({ series, x: at, y }) => `${series} at ${say(at)}: ${digits(y)} times slower`).join("; ")}.` });
}

/** Bytes of cache, or of pressures between 0 and 1 where a file has such. */
function sensitivityPlots(sensitivity) {
  const cache = rowsOf(sensitivity, ["cache"]), memory = rowsOf(sensitivity, ["bandwidth", "dram_rows"]), size = cache.some(({ x }) => x > 1024);
  return [slowdownPlot("sensitivity-cache", "Beside walks through the cache", cache, size ? "bytes that others walk through" : "pressure", size ? bytes : digits,
    { size, log: size, caption: "How much slower one copy gets beside others that go through that much of the shared cache, against others that only compute." }),
  slowdownPlot("sensitivity-memory", "Beside streams from memory", memory, "GB/s that others move", (x) => `${digits(x)} GB/s`,
    { log: false, caption: "The same beside others that read lines in order (bandwidth), and what it adds that the lines are scattered over many rows of the memory. Where that rises above 1 rows are what it needs." })];
}

/** What the slowdown at full density is made of, as factors. */
function closurePlot(closure) {
  const parts = ["cache", "bandwidth", "dram_rows", "other"].map((key) => ({ text: names[key], value: closure?.parts?.[key] })).filter(({ value }) => value > 0);
  const rows = [{ text: "measured", value: closure?.measured, bold: true }, ...parts, { text: "all parts together", value: closure?.predicted, bold: true }].filter(({ value }) => value > 0);
  return parts.length > 0 && answerBars({ name: "closure", title: "What the slowdown is made of", rows, label: "times slower at full density",
    caption: `Factors by which each resource slows it down when all cpus work; together they should give what was measured${closure.residual > 0 ? ` (they are ${digits(Number((100 * Math.abs(closure.residual - 1)).toPrecision(2)))}% off)` : ""}.`,
    alt: `Slowdown at full density: ${rows.map(({ text, value }) => `${text} ${digits(value)} times`).join("; ")}.` });
}

function crossTalk(talk) {
  const rows = ["walk", "lines", "scattered"].filter((key) => talk?.[key]), columns = ["cache", "bandwidth", "dram_rows", "copies"];
  return rows.length > 0 && el("details", el("summary", "Programs that tell the pressures apart"), el("p.soft", "Times slower: references that are known to need one resource, beside what presses on each, and beside copies of the program."),
    table("Programs that tell the pressures apart", ["reference", ...columns.map((key) => ({ text: names[key], number: true }))], rows.map((key) => [key, ...columns.map((column) => number(talk[key][column]))])));
}

/** Under the roofs of the file, or else of the profile beside it. */
function roofline(content, page) {
  const { peaks, flops, bytes: moved } = content, seconds = listOf(content.densities)[0]?.seconds?.value;
  const profile = page.profiles.find((profile) => peakOf(profile) && roofsOf(profile).length > 0);
  const peak = peaks?.gflops > 0 ? { gflops: peaks.gflops, text: "from the profile" } : profile && peakOf(profile);
  const roofs = listOf(peaks?.roofs).flatMap(({ from, cpu_gbs: one, all_gbs: all }) => [{ text: String(from), gbs: one }, { text: `${from}, all cpus at work`, gbs: all }]).filter(({ gbs }) => gbs > 0);
  const points = listOf(peaks?.program).filter(({ gflops, gbs }) => gflops > 0 && gbs > 0).map(({ cpus, gflops, gbs }) => ({ intensity: gflops / gbs, gflops, text: plural(cpus, "cpu") }));
  if (points.length === 0 && flops > 0 && moved > 0 && seconds > 0) points.push({ intensity: flops / moved, gflops: flops / seconds / 1e9, text: "this program" });
  const under = roofs.length > 0 ? roofs : profile ? roofsOf(profile) : [];
  return peak && under.length > 0 && points.length > 0 && rooflinePlot({ name: "diagnosis-roofline", title: "Under the roofline", peak, roofs: under, points });
}

function densityTable(rows) {
  const reasons = rows.some(({ seconds }) => seconds.reason);
  const [efficiency, hits] = ["efficiency", "rowHits"].map((key) => rows.some((row) => isNumber(row[key]?.value ?? row[key])));
  return rows.length > 0 && table("Time by density", ["program", { text: "cpus", number: true }, { text: "time", number: true }, { text: "95% interval", number: true }, "confidence",
    ...(efficiency ? [{ text: "efficiency", number: true }] : []), ...(hits ? [{ text: "row hits", number: true }] : []), ...(reasons ? ["why"] : [])],
  rows.map(({ x, series, seconds, efficiency: share, rowHits }) => [series, { cell: digits(x), number: true }, { cell: shown(seconds.value, seconds.unit ?? "s"), number: true },
    { cell: Array.isArray(seconds.interval) ? range(seconds.interval, seconds.unit ?? "s") : "", number: true }, badge(seconds), ...(efficiency ? [number(share?.value)] : []), ...(hits ? [number(rowHits)] : []), ...(reasons ? [{ cell: seconds.reason ?? "", class: "why" }] : [])]));
}

function draw(content, page) {
  const variants = listOf(content.variants).map((item, i) => [String(item.make ?? item.name ?? `variant ${i + 1}`), item]);
  const rows = [...densityRows(content.densities, "the program"), ...variants.flatMap(([name, item]) => densityRows(item.densities, name))];
  return [content.program && el("p.soft", `${content.program}${content.machine && content.machine !== "native" ? ` on ${content.machine}` : ""}`), verdictCard(content.verdict, content.evidence?.support),
    plots(densityPlot(rows, content.scaling === "strong"), closurePlot(content.closure), sensitivityPlots(content.sensitivity)), roofline(content, page), densityTable(rows), crossTalk(content.cross_talk)];
}

export default fileSection({ format: "blackjack-diagnosis/1", order: -1, title: "Diagnosis", draw });
