// What `blackjack fleet --json` wrote: the hosts that are not like the others, and by how much.
import * as Plot from "@observablehq/plot";
import { chart, colours, least, logTicks, most } from "../parts/chart.js";
import { el, table } from "../parts/dom.js";
import { fileSection, listOf } from "../parts/files.js";
import { digits, plural, shown } from "../parts/format.js";

const mostLines = 60;
const [coarse, fine] = [[0.15, 0.25, 0.35, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7], [0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 2.5, 3, 4, 5, 6, 7]]; // ticks
/** The name of the file is the name of the host. */
const hostOf = (file) => String(file).replace(/\.json(\.gz)?$/, "");

/** Hosts as lines, their outliers as dots, by how many times the median they are. */
function outlierPlot(outliers) {
  const rows = outliers.filter(({ ratio }) => ratio > 0), hosts = [...new Set(rows.map(({ file }) => String(file)))].slice(0, mostLines);
  if (hosts.length === 0) return null;
  const shown = rows.filter(({ file }) => hosts.includes(String(file))), probes = [...new Set(shown.map(({ key }) => String(key).split(".")[0]))];
  const colour = ({ key }) => colours[probes.indexOf(String(key).split(".")[0]) % colours.length];
  const [from, to] = [least, most].map((of) => of(shown.map(({ ratio }) => ratio)));
  const low = from > 0.97 ? 0.9 : coarse.filter((value) => value < from).at(-1) ?? from / 1.1, high = to < 1.03 ? 1.1 : coarse.find((value) => value > to) ?? to * 1.1;
  const ticks = (width) => (high / low > 8 ? logTicks(low, high, width - 190, 10) : (width < 500 ? coarse : fine).filter((value) => value >= low && value <= high));
  const name = (host) => (hostOf(host).length > 22 ? `${hostOf(host).slice(0, 20)}…` : hostOf(host));
  return chart({ name: "fleet", marks: shown.length, legend: probes.map((text, i) => [text, colours[i % colours.length]]),
    caption: `Each dot is a number of a host, as a multiple of the fleet's median: left of 1 less, right of it more.${hosts.length === mostLines ? ` The first ${mostLines} hosts; the table has all.` : ""}`,
    alt: hosts.map((host) => `${hostOf(host)}: ${shown.filter(({ file }) => String(file) === host).map(({ key, ratio }) => `${key} ${digits(ratio)} times the median`).join(", ")}.`).join(" "),
    options: (width) => ({ height: 70 + 26 * hosts.length, marginLeft: width < 500 ? 110 : 160, marginRight: 30, marginTop: 10, x: { type: "log", domain: [low, high], label: "times the median →", ticks: ticks(width), tickFormat: digits, grid: true }, y: { type: "band", domain: hosts, label: null, tickSize: 0, tickFormat: name },
      marks: [Plot.ruleX([1], { stroke: "currentColor" }), Plot.ruleY(shown, { x1: 1, x2: "ratio", y: (d) => String(d.file), stroke: colour, strokeOpacity: 0.25 }), Plot.dot(shown, { x: "ratio", y: (d) => String(d.file), r: 4.5, fill: colour, fillOpacity: 0.75, className: "samples" }),
        Plot.tip(shown, Plot.pointer({ x: "ratio", y: (d) => String(d.file), title: (d) => `${hostOf(d.file)}\n${d.key}: ${digits(d.value)}, median ${digits(d.median)}`, fill: "var(--card)" }))] }) });
}

function tableOf(caption, list) {
  const doubts = list.some(({ doubt }) => doubt);
  return table(caption, ["host", "answer", { text: "value", number: true }, { text: "median", number: true }, { text: "times", number: true }, { text: "p", number: true }, ...(doubts ? ["doubt"] : [])],
    list.map(({ file, key, unit, value, median, ratio, p, doubt }) => [hostOf(file), el("span.key", String(key)), { cell: typeof value === "number" ? shown(value, unit) : String(value), number: true },
      { cell: typeof median === "number" ? shown(median, unit) : "", number: true }, { cell: digits(ratio), number: true }, { cell: typeof p === "number" ? digits(p) : "", number: true }, ...(doubts ? [{ cell: doubt ?? "", class: "why" }] : [])]));
}

function draw(content) {
  const outliers = listOf(content.outliers), doubtful = listOf(content.doubtful), kinds = listOf(content.kinds), notes = Array.isArray(content.notes) ? content.notes : [];
  const hosts = new Set(outliers.map(({ file }) => file)).size;
  return [el("p", `${plural(content.hosts ?? 0, "host")}: ${hosts === 0 ? "none is unlike the others" : `${plural(hosts, "host")} unlike the others, in ${plural(outliers.length, "number")}`}.`),
    notes.length > 0 && el("div.warnings", { role: "note" }, el("ul", notes.map((note) => el("li", String(note))))),
    outlierPlot(outliers), outliers.length > 0 && tableOf("Hosts that differ", outliers),
    doubtful.length > 0 && el("details", el("summary", `${plural(doubtful.length, "doubtful difference")}`), tableOf("Doubtful differences", doubtful)),
    kinds.length > 0 && table("Kinds of hosts", ["kind", { text: "hosts", number: true }, "judged"], kinds.map(({ name, hosts, judged }) => [String(name), { cell: digits(hosts), number: true }, judged ? "yes" : "too few hosts"]))];
}

export default fileSection({ format: "blackjack-fleet/1", order: -0.9, title: "Fleet", draw });
