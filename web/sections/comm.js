// What messages between ranks cost, layer by layer.
import * as Plot from "@observablehq/plot";
import { least, linesPlot, most, plots } from "../parts/chart.js";
import { el, table } from "../parts/dom.js";
import { bytes, digits, plural, shown } from "../parts/format.js";

const ofLayers = (layers) => layers.map((layer, i) => ({ ...layer, title: `${i + 1}: ${layer.name ?? "layer"}`, curve: Array.isArray(layer.curve) ? layer.curve.filter(([size]) => typeof size === "number") : [] }));

/** Hockney's line: one latency and one bandwidth for messages of all sizes. */
const hasLine = ({ hockney }) => hockney?.us >= 0 && hockney?.gbs > 0;
const lineAt = ({ hockney }, size) => hockney.us + size / hockney.gbs / 1000;
const percent = (share) => digits(Number((100 * share).toPrecision(2)));

/** The line over the sizes of a layer's curve, as dashes on top of it; y(us, bytes) is what the plot shows. */
function dashesOf(layers, y) {
  const rows = layers.filter(hasLine).flatMap((layer) => {
    const sizes = layer.curve.map(([size]) => size).filter((size) => size > 0), [low, high] = [least(sizes), most(sizes)];
    return Array.from({ length: 61 }, (_, i) => low * (high / low) ** (i / 60)).filter((x) => lineAt(layer, x) > 0).map((x) => ({ x, y: y(lineAt(layer, x), x), series: layer.title }));
  });
  return rows.length > 0 ? [Plot.line(rows, { x: "x", y: "y", z: "series", stroke: "currentColor", strokeWidth: 1.1, strokeDasharray: "5,4", className: "hockney" })] : [];
}

/** What one line for all sizes leaves out: on logarithmic axes a quarter is hardly seen. */
function errorPlot(layers, rules) {
  const rows = layers.filter(hasLine).flatMap((layer) => layer.curve.filter(([x, us]) => x > 0 && us > 0).map(([x, us]) => ({ x, y: 100 * (1 - lineAt(layer, x) / us), series: layer.title })));
  return rows.length > 0 && linesPlot({ name: "messages-hockney", title: "What Hockney's line misses", rows, x: "message", y: "% of the time that it misses", size: true, rules: [...rules, { level: 0, text: "" }], tip: (d) => `${d.series}\n${bytes(d.x)}: ${digits(d.y)}%`,
    caption: "How much of a message's time one latency and one bandwidth miss; below zero they say too much. A curve that leaves zero is more than one line: its protocol changes.",
    alt: layers.filter(hasLine).map(({ title, hockney: { us, gbs, error } }) => `${title}: Hockney's line is ${digits(us)} us and ${digits(gbs)} GB/s${error >= 0 ? `, off by at most ${percent(error)}%` : ""}.`).join(" ") });
}

function layerTable(layers) {
  const hockney = layers.some(hasLine);
  return table("Layers", ["layer", { text: "time", number: true }, { text: "for messages of", number: true }, ...(hockney ? [{ text: "Hockney's line", number: true }, { text: "off by at most", number: true }] : []), { text: "groups", number: true }, { text: "pairs measured", number: true }, { text: "protocols change at", number: true }],
    layers.map((layer) => [layer.title, { cell: `${digits(layer.latency_us)} us`, number: true }, { cell: typeof layer.bytes === "number" ? bytes(layer.bytes) : "", number: true },
      ...(hockney ? [{ cell: hasLine(layer) ? [shown(layer.hockney.us, "us"), " + bytes / ", shown(layer.hockney.gbs, "GB/s")] : "–", number: true }, { cell: layer.hockney?.error >= 0 ? `${percent(layer.hockney.error)}%` : "–", number: true }] : []),
      { cell: Array.isArray(layer.groups) ? digits(layer.groups.length) : "", number: true }, { cell: typeof layer.pairs === "number" ? digits(layer.pairs) : "", number: true },
      { cell: Array.isArray(layer.switches) ? layer.switches.map(({ at_bytes: at }) => bytes(at)).join(", ") || "none" : "", number: true }]));
}

function curves(layers, ids) {
  const points = layers.flatMap(({ title, curve }) => curve.map(([x, us, gbs]) => ({ x, us, gbs, series: title }))).filter(({ x }) => x > 0);
  if (points.length === 0) return [];
  const rules = layers.flatMap(({ switches }) => (Array.isArray(switches) ? switches : [])).filter(({ at_bytes: at }) => typeof at === "number").map(({ at_bytes: at }) => ({ at, text: bytes(at) }));
  const alt = (what, unit) => layers.map(({ title, curve }) => `${title}: ${curve.filter((_, i) => i % Math.ceil(curve.length / 8) === 0).map((point) => `${bytes(point[0])} ${digits(point[what])} ${unit}`).join(", ")}.`).join(" ");
  const tip = (unit) => (d) => `${d.series}\n${bytes(d.x)}: ${digits(d.y)} ${unit}`;
  return [
    linesPlot({ name: "messages-time", title: "Time of a message", rows: points.map((d) => ({ ...d, y: d.us })), x: "message", y: "one way (us)", size: true, rules, ids, tip: tip("us"), alt: alt(1, "us"), extra: dashesOf(layers, (us) => us),
      caption: `One way, by size, for a pair of each layer${rules.length > 0 ? "; upright where the protocol changes" : ""}.${layers.some(hasLine) ? " Dashed along the curves: Hockney's line, a latency and a bandwidth." : ""}` }),
    linesPlot({ name: "messages-rate", title: "Bandwidth of a message", rows: points.filter(({ gbs }) => gbs > 0).map((d) => ({ ...d, y: d.gbs })), x: "message", y: "GB/s", size: true, tip: tip("GB/s"), alt: alt(2, "GB/s"), extra: dashesOf(layers, (us, size) => size / us / 1000),
      caption: "The same as bytes by time: small messages wait for the latency, large ones for the bandwidth." }),
    errorPlot(layers, rules)];
}

function scaling(layers) {
  const rows = layers.flatMap(({ title, scaling }) => (Array.isArray(scaling) ? scaling.map(([x, y]) => ({ x, y, series: title })) : []));
  return rows.length > 0 && linesPlot({ name: "messages-scaling", title: "Many pairs at once", rows, x: "pairs at once", y: "times longer than alone", rules: [{ level: 1, text: "" }],
    caption: "How much longer a message takes while other pairs of the layer send, too. At 1 they do not disturb each other.",
    alt: layers.filter(({ scaling: list }) => Array.isArray(list) && list.length > 0).map(({ title, scaling: list }) => `${title}: ${list.map(([pairs, factor]) => `${pairs} pairs ${digits(factor)} times`).join(", ")}.`).join(" ") });
}

export default {
  probe: "comm", covers: /./,
  plots: (profile) => {
    const value = profile.answer("comm.layers")?.value;
    if (!Array.isArray(value) || value.length === 0) return [];
    const layers = ofLayers(value), ranks = profile.answer("comm.ranks")?.value?.hosts;
    return [Array.isArray(ranks) && el("p", `${plural(ranks.length, "rank")} on ${plural(new Set(ranks).size, "host")}, ${plural(layers.length, "layer")} from near to far.`), layerTable(layers),
      plots(...curves(layers, profile.idsOf("comm", /curve/)), scaling(layers))].filter(Boolean);
  },
};
