// What `blackjack diagnose --json` wrote: how a program slows down as the chip fills up, and what it collides with.
import { badge } from "../parts/answers.js";
import { linesPlot, plots } from "../parts/chart.js";
import { el, table } from "../parts/dom.js";
import { fileSection, listOf } from "../parts/files.js";
import { digits, plural, range, shown } from "../parts/format.js";
import { peakOf, rooflinePlot, roofsOf } from "./roofline.js";

const verdicts = {
  none: "It collides with nothing: each copy runs as fast beside the others as alone.",
  cache: "It collides in a shared cache: it needs more than its share. Smaller blocks, or fewer copies on a chip.",
  bandwidth: "It collides at memory bandwidth. Move fewer bytes, or use fewer cpus of each chip.",
  dram_rows: "It collides in the rows of the memory: too many arrays at once. Split its loops, so that each goes through fewer arrays.",
  other: "It slows down, but by nothing that was provoked: clock, execution units shared by threads, or the program itself.",
  undetermined: "What it collides with could not be told.",
};
const resources = [["cache", "cache"], ["bandwidth", "bandwidth"], ["dram_rows", "rows of memory"], ["null", "nothing (registers only)"]];
const rowsOf = (list) => (Array.isArray(list) ? list.map((row) => (Array.isArray(row) ? row : [row?.pressure, row?.slowdown, row?.low, row?.high])).filter(([x, y]) => typeof x === "number" && typeof y === "number") : []);

function verdictCard({ resource, confidence, reason } = {}) {
  if (resource === undefined) return null;
  return el("div.card.do", el("h3", "Verdict: ", String(resource).replaceAll("_", " "), " ", badge({ status: "ok", confidence })), el("p", verdicts[resource] ?? ""), reason && el("p.soft", String(reason)));
}

/** A list of densities, of the program or of one of its variants. */
function densityRows(list, series) {
  return listOf(list).filter(({ cpus, seconds }) => typeof cpus === "number" && seconds?.value > 0).sort((a, b) => a.cpus - b.cpus)
    .map(({ cpus, seconds }) => ({ x: cpus, y: seconds.value, low: seconds.interval?.[0], high: seconds.interval?.[1], series, seconds }));
}

function densityPlot(rows, strong) {
  if (rows.length === 0) return null;
  const first = rows[0], xs = [...new Set(rows.filter(({ series }) => series === first.series).map(({ x }) => x))];
  const ideal = xs.map((x) => ({ x, y: strong ? (first.y * first.x) / x : first.y, series: "ideal" }));
  return linesPlot({ name: "densities", title: "Time as the chip fills up", rows: [...rows, ...ideal], x: "cpus at work", y: "seconds", log: false, span: 20, dashed: (text) => text === "ideal",
    caption: `Time by how many cpus of the chip work, with 95% intervals. Dashed: ${strong ? "as if work divided by cpus were all" : "as if the others were not there"}.`,
    alt: `Seconds by cpus at work: ${rows.map(({ x, y, series }) => `${series}, ${plural(x, "cpu")}: ${digits(y)} s`).join("; ")}.` });
}

function sensitivityPlot(sensitivity) {
  const rows = resources.flatMap(([key, text]) => rowsOf(sensitivity?.[key]).sort((a, b) => a[0] - b[0]).map(([x, y, low, high]) => ({ x, y, low, high, series: text })));
  return rows.length > 0 && linesPlot({ name: "sensitivity", title: "Slowdown under pressure", rows, x: "pressure", y: "times slower", log: false, span: 20, rules: [{ level: 1, text: "" }],
    caption: "How much slower the program gets when a helper takes that much of one resource, against a helper that takes nothing. The line that rises is what it needs.",
    alt: `Slowdown by pressure: ${rows.map(({ series, x, y }) => `${series} at ${digits(x)}: ${digits(y)} times`).join("; ")}.` });
}

/** Sensitivities that are one number each, not curves. */
function sensitivityTable(sensitivity) {
  const known = Object.entries(sensitivity ?? {}).filter(([, value]) => typeof value === "number" || typeof value?.value === "number");
  return known.length > 0 && table("Sensitivity", ["resource", { text: "slowdown", number: true }, { text: "95% interval", number: true }], known.map(([key, value]) => [key.replaceAll("_", " "),
    { cell: shown(value.value ?? value, ""), number: true }, { cell: Array.isArray(value.interval) ? range(value.interval, "") : "", number: true }]));
}

/** Under a roofline: of the profile beside it, or of the peaks in the file; `work` says what the program did. */
function roofline(content, page) {
  const { peaks } = content, flops = content.flops, moved = content.bytes, first = listOf(content.densities)[0]?.seconds?.value;
  const profile = page.profiles.find((profile) => peakOf(profile) && roofsOf(profile).length > 0);
  const peak = typeof peaks?.gflops === "number" ? { gflops: peaks.gflops, text: "of the file" } : profile && peakOf(profile);
  const roofs = typeof peaks?.gbs === "number" ? [{ text: "memory", gbs: peaks.gbs }] : profile ? roofsOf(profile) : [];
  if (!peak || roofs.length === 0 || !(flops > 0) || !(moved > 0) || !(first > 0)) return null;
  return [el("h3", "Under the roofline"), rooflinePlot({ name: "diagnosis-roofline", peak, roofs, points: [{ intensity: flops / moved, gflops: flops / first / 1e9, text: "this program" }] })];
}

function draw(content, page) {
  const variants = Array.isArray(content.variants) ? listOf(content.variants).map((item, i) => [String(item.name ?? item.make ?? `variant ${i + 1}`), item]) : Object.entries(content.variants ?? {});
  const rows = [...densityRows(content.densities, "the program"), ...variants.flatMap(([name, item]) => densityRows(item?.densities, name))];
  return [verdictCard(content.verdict), plots(densityPlot(rows, content.scaling === "strong"), sensitivityPlot(content.sensitivity)), roofline(content, page),
    rows.length > 0 && table("Time by density", ["program", { text: "cpus", number: true }, { text: "time", number: true }, { text: "95% interval", number: true }, "confidence", "why"],
      rows.map(({ x, series, seconds }) => [series, { cell: digits(x), number: true }, { cell: shown(seconds.value, seconds.unit ?? "s"), number: true }, { cell: Array.isArray(seconds.interval) ? range(seconds.interval, seconds.unit ?? "s") : "", number: true }, badge(seconds), { cell: seconds.reason ?? "", class: "why" }])),
    sensitivityTable(content.sensitivity),
    variants.filter(([, item]) => item?.verdict).map(([name, item]) => [el("h3", name), verdictCard(item.verdict)])];
}

export default fileSection({ format: "blackjack-diagnosis/1", order: -1, title: "Diagnosis", draw });
