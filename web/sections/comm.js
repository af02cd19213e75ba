// What messages between ranks cost, layer by layer.
import { linesPlot, plots } from "../parts/chart.js";
import { el, table } from "../parts/dom.js";
import { bytes, digits, plural } from "../parts/format.js";

const ofLayers = (layers) => layers.map((layer, i) => ({ ...layer, title: `${i + 1}: ${layer.name ?? "layer"}`, curve: Array.isArray(layer.curve) ? layer.curve.filter(([size]) => typeof size === "number") : [] }));

function layerTable(layers) {
  return table("Layers", ["layer", { text: "latency", number: true }, { text: "at", number: true }, { text: "groups", number: true }, { text: "pairs measured", number: true }, { text: "protocols change at", number: true }],
    layers.map((layer) => [layer.title, { cell: `${digits(layer.latency_us)} us`, number: true }, { cell: typeof layer.bytes === "number" ? bytes(layer.bytes) : "", number: true },
      { cell: Array.isArray(layer.groups) ? digits(layer.groups.length) : "", number: true }, { cell: typeof layer.pairs === "number" ? digits(layer.pairs) : "", number: true },
      { cell: Array.isArray(layer.switches) ? layer.switches.map(({ at_bytes: at }) => bytes(at)).join(", ") || "none" : "", number: true }]));
}

function curves(layers, ids) {
  const points = layers.flatMap(({ title, curve }) => curve.map(([x, us, gbs]) => ({ x, us, gbs, series: title }))).filter(({ x }) => x > 0);
  if (points.length === 0) return null;
  const rules = layers.flatMap(({ switches }) => (Array.isArray(switches) ? switches : [])).filter(({ at_bytes: at }) => typeof at === "number").map(({ at_bytes: at }) => ({ at, text: bytes(at) }));
  const alt = (what, unit) => layers.map(({ title, curve }) => `${title}: ${curve.filter((_, i) => i % Math.ceil(curve.length / 8) === 0).map((point) => `${bytes(point[0])} ${digits(point[what])} ${unit}`).join(", ")}.`).join(" ");
  const tip = (unit) => (d) => `${d.series}\n${bytes(d.x)}: ${digits(d.y)} ${unit}`;
  return plots(
    linesPlot({ name: "messages-time", title: "Time of a message", rows: points.map((d) => ({ ...d, y: d.us })), x: "message", y: "one way (us)", size: true, rules, ids, tip: tip("us"), alt: alt(1, "us"),
      caption: `One way, by size, for a pair of each layer${rules.length > 0 ? "; dashed where the protocol changes" : ""}.` }),
    linesPlot({ name: "messages-rate", title: "Bandwidth of a message", rows: points.filter(({ gbs }) => gbs > 0).map((d) => ({ ...d, y: d.gbs })), x: "message", y: "GB/s", size: true, tip: tip("GB/s"), alt: alt(2, "GB/s"),
      caption: "The same as bytes by time: large messages pay for the latency." }));
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
      curves(layers, profile.idsOf("comm", /curve/)), scaling(layers)].filter(Boolean);
  },
};
