// What `blackjack fleet --json` wrote: the hosts that are not like the others, and by how much.
import * as Plot from "@observablehq/plot";
import { chart, colours, most } from "../parts/chart.js";
import { el, table } from "../parts/dom.js";
import { fileSection, listOf } from "../parts/files.js";
import { digits, plural, shown } from "../parts/format.js";

const mostLines = 60;

/** Hosts as lines, their outliers as dots, by how many times the median they are. */
function outlierPlot(outliers) {
  const rows = outliers.filter(({ ratio }) => ratio > 0), hosts = [...new Set(rows.map(({ file }) => String(file)))].slice(0, mostLines);
  if (hosts.length === 0) return null;
  const shown = rows.filter(({ file }) => hosts.includes(String(file))), probes = [...new Set(shown.map(({ key }) => String(key).split(".")[0]))];
  const colour = ({ key }) => colours[probes.indexOf(String(key).split(".")[0]) % colours.length];
  const far = most(shown.map(({ ratio }) => Math.max(ratio, 1 / ratio))) * 1.2;
  const name = (host) => (host.length > 22 ? `${host.slice(0, 20)}…` : host);
  return chart({ name: "fleet", marks: shown.length, legend: probes.map((text, i) => [text, colours[i % colours.length]]),
    caption: `Each dot is a number of a host, as a multiple of the fleet's median: left of 1 less, right of it more.${hosts.length === mostLines ? ` The first ${mostLines} hosts; the table has all.` : ""}`,
    alt: hosts.map((host) => `${host}: ${shown.filter(({ file }) => String(file) === host).map(({ key, ratio }) => `${key} ${digits(ratio)} times the median`).join(", ")}.`).join(" "),
    options: () => ({ height: 70 + 26 * hosts.length, marginLeft: 160, marginRight: 30, marginTop: 10, x: { type: "log", domain: [1 / far, far], label: "times the median →", ticks: 5, tickFormat: digits, grid: true }, y: { type: "band", domain: hosts, label: null, tickSize: 0, tickFormat: name },
      marks: [Plot.ruleX([1], { stroke: "currentColor" }), Plot.ruleY(shown, { x1: 1, x2: "ratio", y: (d) => String(d.file), stroke: colour, strokeOpacity: 0.25 }), Plot.dot(shown, { x: "ratio", y: (d) => String(d.file), r: 4.5, fill: colour, fillOpacity: 0.75, className: "samples" }),
        Plot.tip(shown, Plot.pointer({ x: "ratio", y: (d) => String(d.file), title: (d) => `${d.file}\n${d.key}: ${digits(d.value)}, median ${digits(d.median)}`, fill: "var(--card)" }))] }) });
}

function tableOf(caption, list) {
  const doubts = list.some(({ doubt }) => doubt);
  return table(caption, ["host", "answer", { text: "value", number: true }, { text: "median", number: true }, { text: "times", number: true }, { text: "p", number: true }, ...(doubts ? ["doubt"] : [])],
    list.map(({ file, key, unit, value, median, ratio, p, doubt }) => [String(file), el("span.key", String(key)), { cell: typeof value === "number" ? shown(value, unit) : String(value), number: true },
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
