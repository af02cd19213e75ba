// Plots: each is a figure with a caption and a text alternative, drawn as wide as its place and anew when that changes.
import * as Plot from "@observablehq/plot";
import { el } from "./dom.js";
import { bytes, digits } from "./format.js";

export { Plot };

export const colours = ["var(--s1)", "var(--s2)", "var(--s3)", "var(--s4)", "var(--s5)", "var(--s6)", "var(--s7)", "var(--s8)"];

/** Ticks of sizes at powers of two, as many as there is room for. */
export function sizeAxis(values, label, width = 640) {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => Math.log2(Math.max(value, 1)));
  const every = Math.max(1, Math.ceil((high - low) / Math.max(3, width / 75)));
  const ticks = [];
  for (let power = Math.ceil(low); power <= Math.floor(high); power += every) ticks.push(2 ** power);
  return { type: "log", base: 2, label, ticks, tickFormat: bytes };
}

/** Log where it spans more than a factor of `span`, and nothing is at or below zero. */
export function valueAxis(values, label, span = 20) {
  const positive = values.length > 0 && Math.min(...values) > 0;
  const log = positive && Math.max(...values) / Math.min(...values) > span;
  return log ? { type: "log", label, grid: true, ticks: 5, tickFormat: digits } : { label, grid: true, zero: true, nice: true, tickFormat: digits };
}

/** {name, caption, alt, legend: [[text, colour]], marks: how many data marks there are, options: (width) => Plot options} */
export function chart({ name, caption, alt, legend = [], marks = null, options }) {
  const place = el("div.place");
  const figure = el("figure", { "data-chart": name, "data-marks": marks },
    legend.length > 1 && el("ul.legend", legend.map(([text, colour]) => el("li", swatch(colour), text))),
    place, caption && el("figcaption", caption));
  let drawn = 0;
  const draw = () => {
    const width = Math.max(280, Math.min(1000, Math.floor(place.clientWidth || 640)));
    if (width === drawn) return;
    drawn = width;
    const svg = Plot.plot({ width, height: Math.round(Math.min(380, Math.max(230, width * 0.48))), marginLeft: 56, marginBottom: 42,
      style: { background: "transparent", fontSize: "12px", overflow: "visible" }, ariaLabel: alt, className: "plot", ...options(width) });
    svg.setAttribute("role", "img");
    place.replaceChildren(svg);
  };
  figure.draw = draw;
  return figure;
}

function swatch(colour) {
  const mark = el("i", { "aria-hidden": "true" });
  mark.style.background = colour;
  return mark;
}

let waiting = 0;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => document.querySelectorAll("figure[data-chart]").forEach((figure) => figure.querySelector("svg") && figure.draw()), 150);
});

/** A matrix of numbers as coloured cells with their numbers: rows {row, column, value}. */
export function heatMap({ name, caption, alt, rows, columns, lines, label, rowLabel = null, columnLabel = null, text = true }) {
  return chart({ name, caption, alt, marks: rows.length,
    options: (width) => {
      const size = Math.min(width, 90 + columns.length * 64);
      const small = size / columns.length < 34;
      return {
        width: size, height: 60 + lines.length * Math.max(14, Math.min(40, (size - 80) / columns.length)), marginLeft: 70, marginTop: 34, marginBottom: 8,
        x: { type: "band", domain: columns, label: columnLabel, axis: "top", tickFormat: String, padding: 0.04, ticks: thin(columns, small ? 8 : 40) },
        y: { type: "band", domain: lines, label: rowLabel, tickFormat: String, padding: 0.04, ticks: thin(lines, 40) },
        color: { type: spans(rows) ? "log" : "linear", scheme: "YlGnBu", label },
        marks: [
          Plot.cell(rows, { x: "column", y: "row", fill: "value", inset: 0.3 }),
          Plot.tip(rows, Plot.pointer({ x: "column", y: "row", title: (d) => `${d.row} · ${d.column}: ${digits(d.value)} ${label}`, fill: "var(--card)" })),
          ...(text && !small ? [Plot.text(rows, { x: "column", y: "row", text: (d) => digits(d.value), fill: contrast(rows), fontSize: 11 })] : []),
        ],
      };
    } });
}

export function thin(list, most) {
  const every = Math.ceil(list.length / most);
  return list.filter((_, i) => i % every === 0);
}

function spans(rows) {
  const values = rows.map((row) => row.value);
  return values.length > 0 && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 8;
}

/** Dark text on the light half of the scheme, light text on the dark half. */
function contrast(rows) {
  const scale = spans(rows) ? Math.log : Number;
  const values = rows.map((row) => scale(row.value));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return (row) => (high > low && (scale(row.value) - low) / (high - low) > 0.55 ? "#fff" : "#111");
}
