// Plots: each is a figure with a caption and a text alternative, drawn as wide as its place and anew when that changes.
import * as Plot from "@observablehq/plot";
import { el } from "./dom.js";
import { bytes, digits } from "./format.js";

export const colours = ["var(--s1)", "var(--s2)", "var(--s3)", "var(--s4)", "var(--s5)", "var(--s6)", "var(--s7)", "var(--s8)"];

/** Ticks of sizes at powers of two, as many as there is room for. */
export function sizeAxis(values, label, width = 640) {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((value) => Math.log2(Math.max(value, 1)));
  const every = Math.max(1, Math.ceil((high - low) / Math.max(3, width / 75)));
  const ticks = [];
  for (let power = Math.ceil(low); power <= Math.floor(high); power += every) ticks.push(2 ** power);
  return { type: "log", base: 2, label, ticks, tickFormat: bytes };
}

/** 1, 2, 5, 10, ... or powers of two, as many as there is room for. */
export function logTicks(low, high, width, base) {
  const marks = [], span = [low, high].map((value) => Math.log(value) / Math.log(base));
  for (let power = Math.floor(span[0]); power <= Math.ceil(span[1]); power++) marks.push(...(base === 10 ? [1, 2, 5] : [1]).map((part) => part * base ** power));
  const inside = marks.filter((value) => value >= low * 0.999 && value <= high * 1.001), room = Math.max(3, Math.floor(width / 75));
  const decades = inside.filter((value) => Number.isInteger(Math.round(Math.log10(value) * 1e6) / 1e6));
  return inside.length > room && base === 10 && decades.length > 1 ? thin(decades, room) : thin(inside, room);
}

/** Ticks of values: the library leaves out the numbers of fives where more than twenty of 1, 2, 3, ... 10, 20, ... are in the range. */
export function logValueTicks(low, high) {
  let within = 0;
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) for (let i = 1; i < 10; i++) within += i * 10 ** power >= low && i * 10 ** power <= high;
  return logTicks(low, high, within > 20 ? 300 : 525, 10);
}

/** Ticks where the points are, if they are few and apart. */
function placesOf(xs) {
  const places = [...new Set(xs)].sort((a, b) => a - b), span = places.at(-1) - places[0];
  return places.length <= 6 && places.every((x, i) => i === 0 || x - places[i - 1] > span / 12) ? places : 6;
}

/** Log where it spans more than a factor of `span`, and nothing is at or below zero; its lines are those that have a number. */
export function valueAxis(values, label, span = 20, zero = true) {
  const low = least(values), high = most(values), log = values.length > 0 && low > 0 && high / low > span;
  return log ? { type: "log", label, grid: true, ticks: logValueTicks(low, high), tickFormat: digits } : { label, grid: true, zero, nice: true, tickFormat: digits };
}

/** {name, title, caption, alt, legend: [[text, colour]], marks: how many data marks there are, ids: the curves that it shows,
 *  options: (width) => Plot options} */
export function chart({ name, title = null, caption, alt, legend = [], isKeyed = legend.length > 1, marks = null, ids = [], options }) {
  const place = el("div.place");
  const figure = el("figure", { "data-chart": name, "data-marks": marks }, title && el("h3", title),
    isKeyed && el("ul.legend", legend.map(([text, colour]) => el("li", swatch(colour), text))),
    place, caption && el("figcaption", caption));
  figure.ids = ids;
  let drawn = 0;
  const draw = () => {
    const width = Math.max(280, Math.min(1080, Math.floor(place.clientWidth || 640)));
    if (width === drawn) return;
    drawn = width;
    const svg = Plot.plot({ width, height: Math.round(Math.min(380, Math.max(230, width * 0.48))), marginLeft: 56, marginBottom: 42,
      style: { background: "transparent", fontSize: "12px", overflow: "visible", color: "inherit" }, ariaLabel: alt, className: "plot", ...options(width) });
    svg.setAttribute("role", "img");
    svg.querySelectorAll("[aria-label]").forEach((part) => part.setAttribute("aria-hidden", "true")); // the whole has a text of its own
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

// Plots need to know how wide they are, so they are drawn in their place, and not before they come near to being seen:
// text first. Paper shows all that is not folded away.
const watcher = new IntersectionObserver((entries) => entries.forEach(({ isIntersecting, target }) => {
  if (!isIntersecting) return;
  watcher.unobserve(target);
  target.draw();
}), { rootMargin: "800px" });
export const drawWhenNear = (part) => part.querySelectorAll("figure[data-chart]").forEach((figure) => watcher.observe(figure));
addEventListener("beforeprint", () => document.querySelectorAll("figure[data-chart]").forEach((figure) => figure.checkVisibility?.() !== false && figure.draw()));

/** What is made when it is unfolded, and not before. */
export function later(summary, make) {
  const part = el("details", { toggle: () => {
    if (!part.open || part.childElementCount > 1) return;
    part.append(el("div.plots", make()));
    drawWhenNear(part);
  } }, el("summary", summary));
  return part;
}

export const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
export const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

/** Sorted values in groups of those that are within a tenth of the one before. */
function groupsOf(sorted) {
  return sorted.reduce((groups, value, i) => (i > 0 && value > 0 && value <= sorted[i - 1] * 1.1 ? groups.at(-1).push(value) : groups.push([value]), groups), []);
}

/** The colours of a map, light to dark, and a few of them with their values: those there are, where they are few. */
function shades(values) {
  const [low, high] = [least(values), most(values)];
  const log = low > 0 && high / low > 8;
  const scale = { type: log ? "log" : "linear", scheme: "YlGnBu", domain: high > low ? [low, high] : [low, low + 1] };
  const { apply } = Plot.scale({ color: scale });
  const known = [...new Set(values)].sort((a, b) => a - b);
  const groups = groupsOf(known), middles = groups.map((group) => group[Math.floor(group.length / 2)]);
  const few = groups.length <= 6 && groups.every((group) => group.length === 1 || group.at(-1) <= group[0] * 1.5);
  const steps = few ? middles : [0, 0.25, 0.5, 0.75, 1].map((share) => (log ? low * (high / low) ** share : low + share * (high - low)));
  const part = (value) => (high > low ? (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)) : 0);
  return { scale, key: steps.map((value) => [value, apply(value)]), text: (value) => (part(value) > 0.55 ? "#fff" : "#111") };
}

/** Numbers as coloured cells in a square: cells {row, column, value} by position in `names`; blocks {from, to, value} are
 *  coloured squares behind them, on the diagonal. */
export function heatMap({ name, title, caption, alt, cells, blocks = [], names, unit, rowLabel, columnLabel, ids = [] }) {
  const { scale, key, text } = shades([...cells, ...blocks].map(({ value }) => value));
  const count = names.length;
  return chart({ name, title, caption, alt, ids, marks: cells.length, legend: key.map(([value, colour]) => [`${digits(value)} ${unit}`, colour]),
    options: (width) => {
      const size = Math.min(width, 80 + Math.max(200, Math.min(count * 60, 720))), each = (size - 72) / count;
      const ticks = thin(names.map((_, i) => i), Math.max(4, Math.floor((size - 72) / 24)));
      const axis = { type: "linear", domain: [0, count], ticks: ticks.map((i) => i + 0.5), tickFormat: (at) => String(names[Math.floor(at)]), tickSize: 0, grid: false };
      return {
        width: size, height: size - 72 + 44, marginLeft: 60, marginTop: 40, marginBottom: 4, marginRight: 12,
        x: { ...axis, axis: "top", label: columnLabel, labelAnchor: "center", labelArrow: "none" }, y: { ...axis, reverse: true, label: rowLabel, labelAnchor: "center", labelArrow: "none" }, color: scale,
        marks: [
          Plot.rect(blocks, { x1: "from", x2: "to", y1: "from", y2: "to", fill: "value" }),
          Plot.rect(cells, { x1: "column", x2: (d) => d.column + 1, y1: "row", y2: (d) => d.row + 1, fill: "value", inset: each > 6 ? 0.4 : 0, shapeRendering: each > 6 ? null : "crispEdges", className: "samples" }),
          ...(each >= 29 ? [Plot.text(cells, { x: (d) => d.column + 0.5, y: (d) => d.row + 0.5, text: (d) => digits(d.value), fill: (d) => text(d.value), fontSize: each < 36 ? 10 : 11 })] : []),
          Plot.tip(cells, Plot.pointer({ x: (d) => d.column + 0.5, y: (d) => d.row + 0.5, title: (d) => `${rowLabel} ${names[d.row]}, ${columnLabel} ${names[d.column]}: ${digits(d.value)} ${unit}`, fill: "var(--card)" })),
        ],
      };
    } });
}

export function thin(list, most) {
  const every = Math.ceil(list.length / most);
  return list.filter((_, i) => i % every === 0);
}

/** A row of plots that share a line where there is room. */
export const plots = (...figures) => el("div.plots", figures.flat().filter(Boolean));

const headOf = (text) => text.split(" ")[0];

/** "L1 size, capacity": what begins alike says so once; "L1" alone where there is little room. */
function joined([first, ...rest], brief) {
  const head = headOf(first);
  if (brief && rest.length > 0 && rest.every((text) => headOf(text) === head)) return head;
  return [first, ...rest.map((text) => (text.startsWith(`${head} `) ? text.slice(head.length + 1) : text))].join(", ");
}

/** Labels of upright rules {value, text}, above the frame. What stands at the same place has one. */
export function ruleLabels(rules, width, low, high, log) {
  const labels = spread(rules, width, low, high, log);
  return ["middle", "start", "end"].map((anchor) => Plot.text(labels.filter((label) => label.anchor === anchor),
    { x: "value", frameAnchor: "top", textAnchor: anchor, dx: { start: -2, middle: 0, end: 24 }[anchor], dy: -6, text: "text", lineAnchor: "bottom", fill: "currentColor", fontWeight: 600 }));
}

/** One that would stand on its neighbour begins at its line instead, one that would leave the page ends there; else it is left out. */
function spread(rules, width, low, high, log) {
  const scale = log ? Math.log : Number, labels = [], frame = width - 86;
  const place = (value) => ((scale(value) - scale(low)) / (scale(high) - scale(low) || 1)) * frame;
  for (const { value, text } of rules.filter(({ text }) => text).sort((a, b) => a.value - b.value)) {
    const before = labels.at(-1);
    // What belongs together may be farther apart than what only stands too near.
    if (before && place(value) - place(before.value) < (headOf(before.texts.at(-1)) === headOf(text) ? 60 : 12)) before.texts.push(text);
    else labels.push({ value, texts: [text] });
  }
  let last = -Infinity;
  return labels.map(({ value, texts }) => {
    const text = joined([...new Set(texts)], width < 600), long = text.length * 7.2, at = place(value);
    const places = [["middle", at - long / 2], ["start", at - 2], ["end", at + 24 - long]];
    const found = places.find(([, from]) => from >= last && from + long <= frame + 30);
    if (found) last = found[1] + long + 7;
    return { value, text, anchor: found?.[0] };
  }).filter(({ anchor }) => anchor);
}

/** Lines through points, with intervals where they have them: rows {x, y, low, high, series}; rules {at, text}, upright or,
 *  where they have `level`, flat. Colours by order of the series; dashed(series) is drawn so. */
export function linesPlot({ name, title, caption, alt, rows, x, y, rules = [], log = null, size = false, span = 20, zero = true, ids = [], tip = (d) => `${d.series}\n${digits(d.x)}: ${digits(d.y)}`, extra = [], dashed = () => false }) {
  const names = [...new Set(rows.map(({ series }) => series))];
  const colour = ({ series }) => colours[names.indexOf(series) % colours.length];
  const xs = rows.map((row) => row.x), ys = rows.flatMap((row) => [row.y, row.low ?? row.y, row.high ?? row.y]);
  const flat = rules.filter(({ level }) => typeof level === "number"), upright = rules.filter(({ at }) => typeof at === "number");
  const isLog = log ?? (least(xs) > 0 && most(xs) / least(xs) > 32);
  const base = most(xs) > 5000 ? 10 : 2; // also the axis's: it labels no others
  const ranged = rows.filter(({ low, high }) => typeof low === "number" && high > low);
  return chart({ name, title, caption, alt, ids, marks: rows.length, legend: names.map((text, i) => [text, colours[i % colours.length]]),
    options: (width) => ({
      marginTop: upright.some(({ text }) => text) ? 46 : 30, marginRight: 30,
      x: size ? sizeAxis(xs, `${x} →`, width) : { type: isLog ? "log" : "linear", base: isLog ? base : undefined, label: `${x} →`, ticks: isLog ? logTicks(least(xs), most(xs), width, base) : placesOf(xs), tickFormat: digits },
      y: valueAxis([...ys, ...flat.map(({ level }) => level)], `↑ ${y}`, span, zero),
      marks: [
        Plot.ruleX(upright, { x: "at", stroke: "currentColor", strokeOpacity: 0.55, strokeDasharray: "5,3" }),
        ...ruleLabels(upright.map(({ at, text }) => ({ value: at, text })), width, least(xs), most(xs), isLog || size),
        Plot.ruleY(flat, { y: "level", stroke: "currentColor", strokeOpacity: 0.55, strokeDasharray: "5,3" }),
        Plot.text(flat, { y: "level", text: "text", frameAnchor: "right", lineAnchor: "bottom", dy: -4, fill: "currentColor" }),
        Plot.ruleX(ranged, { x: "x", y1: "low", y2: "high", stroke: colour, strokeWidth: 4, strokeOpacity: 0.3 }),
        Plot.line(rows.filter((d) => !dashed(d.series)), { x: "x", y: "y", z: "series", stroke: colour, strokeWidth: 1.8 }),
        Plot.line(rows.filter((d) => dashed(d.series)), { x: "x", y: "y", z: "series", stroke: colour, strokeWidth: 1.3, strokeDasharray: "4,3" }),
        ...extra,
        Plot.dot(rows, { x: "x", y: "y", r: rows.length > 300 ? 1.8 : 3, fill: colour, className: "samples" }),
        Plot.tip(rows, Plot.pointer({ x: "x", y: "y", title: tip, fill: "var(--card)" })),
      ],
    }) });
}

/** Bars from 1: rows {text, value, bold}. */
export function answerBars({ name, title, caption, alt, rows, label }) {
  const texts = rows.map(({ text }) => text), far = most(rows.map(({ value }) => Math.max(value, 1 / value)));
  const fill = ({ value, bold }) => (bold ? "var(--s6)" : value > 1.02 ? "var(--s2)" : "var(--s3)");
  return chart({ name, title, caption, alt, marks: rows.length,
    options: () => ({ height: 60 + 30 * rows.length, marginLeft: 130, marginRight: 60, marginTop: 10, x: { label: `${label} →`, domain: [Math.min(1, ...rows.map(({ value }) => value)) * 0.98, Math.max(1.1, far)], tickFormat: digits, grid: true, ticks: 5 }, y: { type: "band", domain: texts, label: null, tickSize: 0 },
      marks: [Plot.rect(rows, { x1: 1, x2: "value", y: "text", fill, insetTop: 5, insetBottom: 5, className: "samples" }), Plot.ruleX([1], { stroke: "currentColor" }),
        Plot.text(rows, { x: (d) => Math.max(1, d.value), y: "text", text: (d) => digits(d.value), dx: 6, textAnchor: "start", fill: "currentColor", fontWeight: 600 })] }) });
}
