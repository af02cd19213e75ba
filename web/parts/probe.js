// What sections about a probe share: question, plots, answers, data.
import * as Plot from "@observablehq/plot";
import { el, save } from "./dom.js";
import { chart, colours, later, least, most, ruleLabels, sizeAxis, valueAxis } from "./chart.js";
import { answerTable } from "./answers.js";
import { samples, summary, toCsv } from "./profile.js";
import { bytes, digits, plural, quantity } from "./format.js";

const together = 8; // as many curves as there are colours
const counters = ["call", "repetition", "gap", "kind", "cpu", "rank"]; // x that only numbers the samples: no answer is a place on it
const instrument = /yardstick|\.once$/; // what other curves were corrected with

/** The section of a probe. `view` is what its own file says: {plots(profile): figures, covers: /curves that they sum up/,
 *  explain: text}; without one all curves are drawn as they are. */
export function probeSection({ probe, view = {}, ...rest }) {
  const has = (profile) => profile.keysOf(probe).length > 0 || profile.idsOf(probe).length > 0;
  return {
    ...rest, probe, kind: "probe",
    applies: (page) => page.profiles.some(has),
    draw: (page) => {
      const several = page.profiles.length > 1, question = page.questions.get(probe);
      const columns = page.profiles.filter(has).map((profile) => el("div", several && el("h3", profile.title(), " ", el("span.soft", `(${profile.name})`)),
        plotsOf(profile, probe, view), raw(profile, probe), answersOf(profile, probe)));
      return [question && el("p.question", question), view.explain && el("p.explain", view.explain), several ? el("div.pair", columns) : columns];
    },
  };
}

function answersOf(profile, probe) {
  const keys = profile.keysOf(probe);
  if (keys.length === 0) return null;
  const list = answerTable(profile, keys, `Answers of ${probe || "no probe"}`);
  return keys.length <= 16 ? list : el("details", el("summary", `All ${keys.length} answers`), list);
}

/** The view's plots, then what they leave: in the open where there is no view and little to show, else folded. */
function plotsOf(profile, probe, view) {
  const own = [view.plots?.(profile)].flat(Infinity).filter(Boolean);
  const shown = new Set(own.flatMap((part) => (part.matches?.("figure") ? [part] : [...part.querySelectorAll("figure")])).flatMap(({ ids }) => ids ?? []));
  const left = profile.idsOf(probe).filter((id) => !shown.has(id));
  const plain = own.length > 0 || view.covers ? [] : left.filter((id) => !instrument.test(id) || left.every((other) => instrument.test(other)));
  const groups = groupsOf(profile, plain), open = groups.slice(0, 4);
  const rest = left.filter((id) => !open.flat().includes(id) && !(own.length > 0 && view.covers?.test(id)));
  return [own, open.length > 0 && el(open.every((ids) => isShort(profile, ids)) ? "div.plots.few" : "div.plots", open.map((ids, i) => plainPlot(profile, `${probe}-${i + 1}`, ids))),
    rest.length > 0 && later(`${plural(rest.length, "more curve")}, as measured`, () => groupsOf(profile, rest).map((ids, i) => plainPlot(profile, `${probe}-more-${i + 1}`, ids)))];
}

/** Half a line is enough for it. */
const isShort = (profile, ids) => ids.every((id) => profile.curve(id).x.values.length <= 20);

/** Curves over the same axes share a plot. */
function groupsOf(profile, ids) {
  const groups = new Map();
  for (const id of ids) {
    const { x, y } = profile.curve(id), name = JSON.stringify([x.name, x.unit, y.name, y.unit, instrument.test(id)]);
    groups.set(name, [...(groups.get(name) ?? []), id]);
  }
  return [...groups.values()].flatMap((list) => Array.from({ length: Math.ceil(list.length / together) }, (_, i) => list.slice(i * together, (i + 1) * together)));
}

export function plainPlot(profile, name, ids, more = {}) {
  const { x, y } = profile.curve(ids[0]), how = /^(ns|ms|us)$/.test(y.unit) ? "least" : "median";
  const rules = marked(profile, ids);
  return curvePlot({ profile, name, how, answers: rules, curves: ids.map((id) => ({ id, text: id })), title: ids.length === 1 ? ids[0] : null,
    caption: `Dots are samples, ${ids.length > 1 ? "lines go" : "the line goes"} through the ${how} at each place` +
      `${rules.length > 0 ? "; upright lines are answers, shaded with their intervals, dashed where something else is claimed" : ""}.`, ...more });
}

/** Answers that are a place on the x axis of these curves. */
export function marked(profile, ids) {
  const { x, probe } = profile.curve(ids[0]);
  if (counters.includes(x.name)) return [];
  return profile.keysOf(probe).filter((key) => profile.answer(key) && profile.answers[key].unit === x.unit && !key.endsWith(".levels") && (profile.answers[key].evidence ?? []).some((id) => ids.includes(id)))
    .map((key) => ({ ...profile.answers[key], text: key.split(".").slice(-2).join(" ").replace(/_(bytes|ns)$/, "").replaceAll("_", " ") }));
}

function raw(profile, probe) {
  const ids = profile.idsOf(probe);
  return ids.length > 0 && el("details.screen", el("summary", `Raw data as CSV (${plural(ids.length, "curve")})`),
    el("p", ids.map((id) => [el("button", { type: "button", "data-csv": id, click: () => save(`${id.replace(/[^\w.-]/g, "_")}.csv`, "text/csv", toCsv(profile.curve(id))) }, `${id}.csv`), " "])));
}

const text = (name) => String(name ?? "").replace(/_(base|huge)_pages$/, ", $1 pages").replaceAll("_", " ");
const label = (axis) => `${text(axis?.name)}${axis?.unit && axis.unit !== "count" && axis.unit !== "number" ? ` (${axis.unit})` : ""}`;

/** Sizes at powers of two; what spans much on a logarithmic axis. */
function placeAxis(axis, xs, width, log) {
  if (axis.unit === "bytes") return sizeAxis(xs, `${label({ name: axis.name })} →`, width);
  return { type: log ? "log" : "linear", base: log ? 2 : undefined, label: `${label(axis)} →`, ticks: Math.min(8, new Set(xs).size), tickFormat: digits };
}
const isWide = (axis, low, high) => axis.unit === "bytes" || (low > 0 && high / low > 64);

/** Several curves over one x: samples as dots, one line each through the least or the median. Answers are upright rules:
 *  {value, interval, claimed, text}; flats are levels of y: {level, text}. clusters {colour(x), legend} colour the one curve. */
export function curvePlot({ profile, name, title = null, curves, caption, how = "least", answers = [], flats = [], clusters = null }) {
  const drawn = curves.filter(({ id }) => profile.curve(id));
  if (drawn.length === 0) return null;
  const first = profile.curve(drawn[0].id);
  const dots = drawn.flatMap(({ id, text }) => samples(profile.curve(id), text));
  const lines = drawn.flatMap(({ id, text }) => summary(profile.curve(id), how, text));
  if (dots.length === 0) return null;
  const isSize = first.x.unit === "bytes", unit = first.x.unit;
  const xs = dots.map((d) => d.x), ys = dots.map((d) => d.y), low = least(xs), high = most(xs);
  const texts = drawn.map(({ text }) => text);
  const colour = clusters ? (d) => clusters.colour(d.x) : (d) => colours[texts.indexOf(d.series) % colours.length];
  const rules = answers.filter(({ value }) => typeof value === "number" && value > 0);
  const alt = `${label(first.y)} against ${label(first.x)}, ${dots.length} samples. ${lines.length > 0 ? `From ${digits(lines[0].y)} to ${digits(lines.at(-1).y)} ${first.y.unit ?? ""}. ` : ""}` +
    rules.map(({ text, value, claimed }) => `${text}: ${quantity(value, unit)}${typeof claimed === "number" ? `, claimed ${quantity(claimed, unit)}` : ""}.`).join(" ");
  const log = isWide(first.x, low, high);
  // A flat at the top has its name below: above are the names of the answers.
  const [floor, top] = [least(ys), most(ys)], scale = floor > 0 && top / floor > 20 ? Math.log : Number, from = scale === Number ? 0 : scale(floor);
  const isTop = ({ level }) => scale(level) > from + 0.9 * (scale(top) - from);
  return chart({ name, title, caption, alt, ids: drawn.map(({ id }) => id), marks: dots.length, legend: clusters ? clusters.legend : texts.map((text, i) => [text, colours[i % colours.length]]),
    options: (width) => ({
      marginTop: rules.length > 0 ? 46 : 30, marginRight: 30,
      x: placeAxis(first.x, xs, width, log),
      y: valueAxis(ys, `↑ ${label(first.y)}`),
      marks: [
        Plot.rect(rules.filter(({ interval }) => Array.isArray(interval) && interval[1] > interval[0]), { x1: (d) => Math.max(d.interval[0], low), x2: (d) => Math.min(d.interval[1], high * 1.0001), fill: "currentColor", fillOpacity: 0.09 }),
        Plot.ruleX(rules.filter(({ claimed, value }) => typeof claimed === "number" && claimed !== value && claimed >= low && claimed <= high), { x: "claimed", stroke: "currentColor", strokeDasharray: "3,4", strokeOpacity: 0.7 }),
        Plot.ruleX(rules, { x: "value", stroke: "currentColor", strokeWidth: 1.4 }),
        Plot.ruleY(flats, { y: "level", stroke: "currentColor", strokeOpacity: 0.45, strokeDasharray: "1,3" }),
        Plot.dot(dots, { x: "x", y: "y", r: dots.length > 800 ? 1.5 : 2.2, fill: colour, fillOpacity: clusters ? 0.8 : 0.45, className: "samples" }),
        Plot.line(lines, { x: "x", y: "y", z: "series", stroke: clusters ? "var(--soft)" : colour, strokeWidth: clusters ? 0.8 : 1.8 }),
        // The curve begins on the lowest level, at the left.
        ...[["right", -5, false], ["left", 5, false], ["left", 5, true]].map(([frameAnchor, dx, below]) => Plot.text(flats.filter((flat, i) => (i === 0) === (frameAnchor === "right") && (i > 0 && isTop(flat)) === below),
          { y: "level", text: "text", frameAnchor, dx, dy: below ? 3 : -3, lineAnchor: below ? "top" : "bottom", fill: "var(--soft)", stroke: "var(--ground)", strokeWidth: 4 })),
        ...ruleLabels(rules, width, low, high, log),
        Plot.tip(lines, Plot.pointer({ x: "x", y: "y", title: (d) => `${d.series}\n${isSize ? bytes(d.x) : digits(d.x)}: ${digits(d.y)} ${first.y.unit ?? ""}`, fill: "var(--card)" })),
      ],
    }) });
}

/** Relative steps (y[n+1] - y[n]) / y[n] of curves, as the 2012 paper draws them (figure 9); where the answer is, the bar is dark. */
export function stepsPlot({ profile, name, title, curves, caption, answers = () => [], how = "least" }) {
  const rows = curves.filter(({ id }) => profile.curve(id)).flatMap(({ id, text }) => {
    const line = summary(profile.curve(id), how, text), at = answers(id).map(({ value }) => value);
    return line.slice(1).map(({ x, y }, i) => ({ x, from: line[i].x, step: (y - line[i].y) / line[i].y, series: text, answer: at.find((value) => value >= line[i].x && value < x) ?? null }));
  });
  if (rows.length === 0) return null;
  const texts = [...new Set(rows.map(({ series }) => series))], colour = ({ series }) => colours[texts.indexOf(series) % colours.length];
  const chosen = rows.filter(({ answer }) => answer !== null), axis = profile.curve(curves[0].id).x, xs = rows.map(({ x }) => x);
  const labels = chosen.filter((row, i) => chosen.findIndex(({ x, answer }) => x === row.x && answer === row.answer) === i);
  return chart({ name, title, caption, marks: rows.length, legend: texts.map((series, i) => [series, colours[i % colours.length]]),
    alt: `Relative steps. ${texts.map((series) => {
      const best = rows.filter((row) => row.series === series).reduce((a, b) => (b.step > a.step ? b : a));
      return `${series}: the largest is ${digits(100 * best.step)}%, from ${digits(best.from)} to ${digits(best.x)}.`;
    }).join(" ")}`,
    options: (width) => ({ marginTop: 30, x: placeAxis(axis, xs, width, isWide(axis, least(xs), most(xs))), y: { label: "↑ relative step", grid: true, nice: true, tickFormat: (value) => `${digits(Number((100 * value).toPrecision(4)))}%` },
      marks: [Plot.ruleY([0], { stroke: "currentColor", strokeOpacity: 0.4 }),
        Plot.ruleX(rows, { x: "x", y1: 0, y2: "step", stroke: colour, strokeOpacity: 0.5, strokeWidth: 1.5 }),
        Plot.dot(rows, { x: "x", y: "step", r: (d) => (d.answer === null ? 2 : 5), fill: colour, className: "samples" }),
        Plot.text(labels, { x: "x", y: "step", text: (d) => digits(d.answer), dy: -8, lineAnchor: "bottom", fill: "currentColor", fontWeight: 600 }),
        Plot.tip(rows, Plot.pointer({ x: "x", y: "step", title: (d) => `${d.series}\n${digits(d.from)} to ${digits(d.x)}: ${digits(100 * d.step)}%`, fill: "var(--card)" }))] }) });
}

/** Dots with intervals, of single answers: items {text, key, group}, one line for each text. */
export function answerDots({ profile, name, title, items, caption, label: axis, marginLeft = 110, span = 20 }) {
  const rows = items.map(({ text, key, group = "" }) => ({ text, group, key, answer: profile.answer(key) })).filter(({ answer }) => answer && typeof answer.value === "number")
    .map(({ text, group, key, answer }) => ({ text, group, key, value: answer.value, unit: answer.unit, low: answer.interval?.[0] ?? answer.value, high: answer.interval?.[1] ?? answer.value }));
  if (rows.length === 0) return null;
  const groups = [...new Set(rows.map((row) => row.group))], texts = [...new Set(rows.map((row) => row.text))];
  const fill = (row) => colours[groups.indexOf(row.group) % colours.length];
  return chart({ name, title, caption, marks: rows.length, legend: groups.length > 1 ? groups.map((group, i) => [group, colours[i % colours.length]]) : [],
    alt: `${axis}. ${rows.map((row) => `${row.text}${row.group ? ` ${row.group}` : ""}: ${quantity(row.value, row.unit)}`).join("; ")}.`,
    options: () => ({
      height: 70 + Math.max(28, 7 * groups.length + 12) * texts.length, marginLeft, marginRight: 30, marginTop: 10,
      x: { ...valueAxis(rows.flatMap((row) => [row.low, row.high]), `${axis} →`, span) }, y: { type: "band", domain: texts, label: null, tickSize: 0 },
      marks: [Plot.ruleY(texts, { y: (d) => d, stroke: "currentColor", strokeOpacity: 0.12 }),
        ...groups.flatMap((group, i) => { // beside each other, since many are equal
          const own = rows.filter((row) => row.group === group), dy = 7 * (i - (groups.length - 1) / 2);
          return [Plot.ruleY(own, { x1: "low", x2: "high", y: "text", stroke: fill, strokeWidth: 5, strokeOpacity: 0.3, dy }), Plot.dot(own, { x: "value", y: "text", r: 3.8, fill, className: "samples", dy })];
        }),
        Plot.tip(rows, Plot.pointer({ x: "value", y: "text", title: (d) => `${d.text} ${d.group}\n${quantity(d.value, d.unit)}`, fill: "var(--card)" }))],
    }) });
}
