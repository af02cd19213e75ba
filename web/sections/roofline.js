// The roofline (Williams, Waterman, Patterson 2009) of one core: what a kernel can reach, by how much it computes for each byte.
import * as Plot from "@observablehq/plot";
import { chart, colours, least, logTicks, logValueTicks } from "../parts/chart.js";
import { el } from "../parts/dom.js";
import { digits } from "../parts/format.js";

/** Double multiply-adds of the width that pays: two operations a lane. Where there are none, the better of add and mul. */
export function peakOf(profile) {
  const add = profile.number("op.int32.add.latency_ns"), width = profile.number("vector.width_bytes");
  if (!(add > 0)) return null;
  const lanes = [...new Set([width ? width / 8 : 1, 8, 4, 2, 1])];
  const best = lanes.flatMap((n) => [["fma", 2], ["add", 1], ["mul", 1]].map(([op, each]) => {
    const type = n > 1 ? `doublex${n}` : "double", rate = profile.number(`op.${type}.${op}.throughput`);
    return rate > 0 ? { gflops: (rate * n * each) / add, text: `${type} ${op}`, rate } : null;
  })).filter(Boolean);
  return best.length > 0 ? best.reduce((a, b) => (b.gflops > a.gflops * 1.05 ? b : a)) : null;
}

export function roofsOf(profile) {
  return [...profile.levels().map((level) => [`L${level}`, `cache.L${level}.read_gbs`]), ["memory", "memory.read_gbs"], ["memory, all cpus at work", "memory.full.read_gbs"]]
    .map(([text, key]) => ({ text, key, gbs: profile.number(key) })).filter(({ gbs }) => gbs > 0);
}

/** points: programs as {intensity, gflops, text}. */
export function rooflinePlot({ name, title = null, peak, roofs, points = [] }) {
  const ridge = roofs.map(({ gbs }) => peak.gflops / gbs);
  const low = Math.min(...ridge, ...points.map(({ intensity }) => intensity)) / 8, high = Math.max(...ridge, ...points.map(({ intensity }) => intensity)) * 8;
  const lines = roofs.flatMap(({ text, gbs }, series) => [low, peak.gflops / gbs, high].map((x) => ({ x, y: Math.min(peak.gflops, x * gbs), text, series })));
  const colour = ({ series }) => colours[series % colours.length];
  // What stands within a tenth has one label.
  const labels = points.reduce((list, point) => {
    const near = list.find(({ intensity, gflops }) => Math.abs(Math.log(intensity / point.intensity)) < 0.1 && Math.abs(Math.log(gflops / point.gflops)) < 0.1);
    return near ? list.map((label) => (label === near ? { ...label, text: `${label.text}, ${point.text}` } : label)) : [...list, point];
  }, []);
  const corners = roofs.map(({ text, gbs }, series) => ({ x: peak.gflops / gbs, y: peak.gflops, text, series }));
  return chart({ name, title, isKeyed: true, marks: corners.length + points.length, legend: roofs.map(({ text, gbs }, i) => [`${text}: ${digits(gbs)} GB/s`, colours[i % colours.length]]),
    caption: `Under the sloping lines a kernel waits for data, under the flat one it computes: ${digits(peak.gflops)} Gflop/s (${peak.text}). Dots are the corners: the flops a byte from which on that level no longer matters.${points.length > 0 ? " The large dots are the program." : ""}`,
    alt: `Roofline of one core. Peak ${digits(peak.gflops)} Gflop/s. ${roofs.map(({ text, gbs }) => `${text}: ${digits(gbs)} GB/s, enough from ${digits(peak.gflops / gbs)} flops a byte on.`).join(" ")}${points.map(({ text, gflops, intensity }) => ` Program, ${text}: ${digits(gflops)} Gflop/s at ${digits(intensity)} flops a byte.`).join("")}`,
    options: (width) => ({ marginTop: 30, marginRight: 20, x: { type: "log", base: 2, domain: [low, high], label: "flops for each byte →", ticks: logTicks(low, high, width, 2), tickFormat: digits, grid: true }, y: { type: "log", label: "↑ Gflop/s", ticks: logValueTicks(least(lines.map(({ y }) => y)), peak.gflops), tickFormat: digits, grid: true },
      marks: [Plot.line(lines, { x: "x", y: "y", z: "series", stroke: colour, strokeWidth: 2 }),
        Plot.text([{ x: high, y: peak.gflops, text: `${digits(peak.gflops)} Gflop/s` }], { x: "x", y: "y", text: "text", textAnchor: "end", lineAnchor: "bottom", dy: -6, fill: "currentColor", fontWeight: 600 }),
        Plot.dot(corners, { x: "x", y: "y", r: 4, fill: colour, className: "samples" }),
        Plot.dot(points, { x: "intensity", y: "gflops", r: 6, symbol: "circle", fill: "currentColor", className: "samples" }),
        Plot.text(labels, { x: "intensity", y: "gflops", text: "text", dx: 10, textAnchor: "start", fill: "currentColor", stroke: "var(--ground)", strokeWidth: 4 }),
        Plot.tip(corners, Plot.pointer({ x: "x", y: "y", title: (d) => `${d.text}\nfrom ${digits(d.x)} flops a byte on it is enough`, fill: "var(--card)" }))] }) });
}

function draw(page) {
  const drawn = page.profiles.map((profile) => ({ profile, peak: peakOf(profile), roofs: roofsOf(profile) })).filter(({ peak, roofs }) => peak && roofs.length > 0);
  return el(drawn.length > 1 ? "div.pair" : "div", drawn.map(({ profile, peak, roofs }) => el("div", drawn.length > 1 && el("h3", profile.title()), rooflinePlot({ name: "roofline", peak, roofs }))));
}

export default { order: 12, title: "Roofline", applies: (page) => page.profiles.some((profile) => peakOf(profile) && roofsOf(profile).length > 0), draw };
