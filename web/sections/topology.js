// Which cpus are near each other: the locality tree as boxes in boxes, and the pairs as a map in the tree's order.
import * as Plot from "@observablehq/plot";
import { chart, heatMap, least, most } from "../parts/chart.js";
import { el } from "../parts/dom.js";
import { cpus, digits, plural } from "../parts/format.js";

/** Cpus as they stand in the tree, from left to right. */
function orderOf(tree) {
  if (!tree) return [];
  const inside = (tree.children ?? []).map(orderOf), below = new Set(inside.flat());
  return [...inside.flat(), ...(tree.cpus ?? []).filter((cpu) => !below.has(cpu))];
}

/** Every node with the places of its cpus in that order. */
function nodesOf(tree, depth = 0, from = 0) {
  const result = [{ node: tree, depth, from, to: from + tree.cpus.length }];
  for (const child of tree.children ?? []) {
    result.push(...nodesOf(child, depth + 1, from));
    from += child.cpus.length;
  }
  return result;
}

const branch = (node) => el("li", node.name ? `${node.name}: ` : "", `cpus ${cpus(node.cpus)}`, typeof node.latency_ns === "number" && el("span.soft", `, ${digits(node.latency_ns)} ns`),
  Array.isArray(node.children) && node.children.length > 0 && el("ul", node.children.map(branch)));

function treePlot(profile, tree) {
  if (!tree || !Array.isArray(tree.cpus)) return null;
  const order = orderOf(tree), nodes = nodesOf(tree), depth = most(nodes.map((node) => node.depth)) + 1;
  const leaves = order.map((cpu, i) => ({ cpu, from: i, to: i + 1 }));
  const each = (width) => (width - 24) / order.length;
  const text = ({ node, from, to }, width) => {
    const room = (to - from) * each(width), number = typeof node.latency_ns === "number" ? `${digits(node.latency_ns)} ns` : "";
    return [node.name ? `${node.name}, ${number}` : number, number].find((words) => words.length * 7 < room) ?? "";
  };
  const levels = [...new Set(nodes.map((node) => node.depth))].map((at) => nodes.filter((node) => node.depth === at));
  return [chart({ name: "tree", title: "Locality tree", marks: nodes.length,
    caption: `Boxes hold cpus; the number is how long a line takes from one cpu in the box to another. What is in a smaller box together is nearer.${levels.length > 1 ? ` From the large boxes to the small: ${levels.map((list) => digits(list[0].node.latency_ns)).join(", ")} ns.` : ""}`,
    alt: `Locality tree of ${plural(order.length, "cpu")}. ${levels.map((list) => `${plural(list.length, "group")} of ${list[0].node.cpus.length}, ${digits(list[0].node.latency_ns)} ns inside`).join("; ")}.`,
    options: (width) => ({ height: 34 * depth + (each(width) > 13 ? 26 : 8), marginLeft: 12, marginRight: 12, marginTop: 4, marginBottom: 4,
      x: { axis: null, domain: [0, order.length] }, y: { axis: null, domain: [0, depth + (each(width) > 13 ? 0.7 : 0)], reverse: true },
      marks: [
        Plot.rect(nodes, { x1: "from", x2: "to", y1: "depth", y2: (d) => d.depth + 1, inset: 1.2, rx: 3, fill: "var(--s1)", fillOpacity: (d) => 0.16 + (0.5 * d.depth) / depth, className: "samples" }),
        Plot.text(nodes, { x: (d) => (d.from + d.to) / 2, y: (d) => d.depth + 0.5, text: (d) => text(d, width), fill: "currentColor" }),
        ...(each(width) > 13 ? [Plot.text(leaves, { x: (d) => d.from + 0.5, y: depth + 0.35, text: (d) => String(d.cpu), fill: "var(--soft)", fontSize: each(width) < 18 ? 9 : 11 })] : []),
        Plot.tip(nodes, Plot.pointer({ x: (d) => (d.from + d.to) / 2, y: (d) => d.depth + 0.5, title: ({ node }) => `${node.name ? `${node.name}: ` : ""}cpus ${cpus(node.cpus)}\n${digits(node.latency_ns)} ns`, fill: "var(--card)", lineWidth: 30 })),
      ] }) }),
  el("details", el("summary", "The tree as a list"), el("ul", branch(tree)))];
}

function pairsPlot(profile, tree) {
  const pairs = (profile.answer("topology.pairs")?.value ?? []).filter?.(({ latency_ns: ns }) => typeof ns === "number") ?? [];
  if (pairs.length === 0) return null;
  const seen = [...new Set(pairs.flatMap(({ a, b }) => [a, b]))].sort((a, b) => a - b), order = orderOf(tree);
  const names = [...order, ...seen.filter((cpu) => !order.includes(cpu))], place = new Map(names.map((cpu, i) => [cpu, i]));
  // Both halves, unless that is more than a browser draws at once.
  const both = pairs.length <= 5000;
  const cells = pairs.flatMap(({ a, b, latency_ns: value }) => (both ? [[a, b], [b, a]] : [place.get(a) < place.get(b) ? [a, b] : [b, a]]).map(([row, column]) => ({ row: place.get(row), column: place.get(column), value })));
  const all = names.length * (names.length - 1) / 2, complete = pairs.length >= all;
  const blocks = (complete && both) || !tree ? [] : nodesOf(tree).filter(({ node }) => typeof node.latency_ns === "number").map(({ node, from, to }) => ({ from, to, value: node.latency_ns }));
  const values = pairs.map(({ latency_ns: value }) => value);
  return heatMap({ name: "pairs", title: "Pairs of cpus", cells, blocks, names, unit: "ns", rowLabel: "cpu", columnLabel: "cpu", ids: profile.idsOf("topology", /^topology\.(pairs|confirm)\./),
    caption: `Time for a line to go from one cpu to another, darker is slower: ${complete ? `all ${plural(pairs.length, "pair")}${both ? "" : ", each once; the other half is what the tree says"}` : `${plural(pairs.length, "pair")} of ${digits(all)} were measured${blocks.length > 0 ? "; the ground behind them is what the tree says of the others, so a pair that stands out contradicts it" : "; blank was not"}`}.${order.length > 0 ? " Cpus stand in the order of the tree." : ""}`,
    alt: `Heat map of ${plural(pairs.length, "pair")} of cpus, from ${digits(least(values))} to ${digits(most(values))} ns.` });
}

export default {
  probe: "topology", covers: /./,
  plots: (profile) => {
    const tree = profile.answer("topology.tree")?.value ?? null;
    return [treePlot(profile, tree), pairsPlot(profile, tree)].flat();
  },
};
