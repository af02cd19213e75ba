// What sections about a probe share: question, plots, answers.
import { el } from "./dom.js";
import { chart, colours, Plot, sizeAxis, valueAxis } from "./chart.js";
import { answerTable } from "./answers.js";
import { samples, summary } from "./profile.js";
import { bytes, digits, quantity } from "./format.js";

/** A section of a probe. plots(profile) gives figures; it may be left out. */
export function probeSection({ probe, order, title, explain = null, plots = () => [], keys = null }) {
  const keysOf = (profile) => (keys ? Object.keys(profile.answers).filter((key) => keys.test(key)) : profile.keysOf(probe));
  return {
    order, title, probe,
    applies: (page) => page.profiles.some((profile) => keysOf(profile).length > 0 || (probe && profile.idsOf(probe).length > 0)),
    draw: (page) => {
      const question = page.questions.get(probe);
      const parts = [question && el("p.question", question), explain && el("p", explain)];
      const columns = page.profiles.filter((profile) => keysOf(profile).length > 0 || (probe && profile.idsOf(probe).length > 0)).map((profile) => el("div",
        page.profiles.length > 1 && el("h3", profile.title(), " ", el("span.soft", `(${profile.name})`)),
        plots(profile), keysOf(profile).length > 0 && folded(profile, keysOf(profile), title)));
      return [...parts, page.profiles.length > 1 ? el("div.pair", columns) : columns];
    },
  };
}

function folded(profile, keys, title) {
  const list = answerTable(profile, keys, `Answers: ${title}`);
  if (keys.length <= 16) return list;
  return el("details", el("summary", `All ${keys.length} answers`), list);
}

const label = (axis) => `${String(axis?.name ?? "").replaceAll("_", " ")}${axis?.unit && axis.unit !== "count" && axis.unit !== "number" ? ` (${axis.unit})` : ""}`;

/** Several curves over one x: samples as dots, one line each through the least or the median. Answers are vertical rules:
 *  {value, interval, claimed, text}. colourOf(x): clusters by colour, where there is one curve. */
export function curvePlot({ profile, name, curves, caption, how = "least", answers = [], clusters = null, logX = null, most = null }) {
  const drawn = curves.filter(({ id }) => profile.curve(id));
  if (drawn.length === 0) return null;
  const first = profile.curve(drawn[0].id);
  const within = (d) => most === null || d.x <= most;
  const dots = drawn.flatMap(({ id, text }) => samples(profile.curve(id), text)).filter(within);
  const lines = drawn.flatMap(({ id, text }) => summary(profile.curve(id), how, text)).filter(within);
  if (dots.length === 0) return null;
  const isSize = first.x.unit === "bytes";
  const xs = dots.map((d) => d.x), ys = dots.map((d) => d.y);
  const texts = drawn.map(({ text }) => text);
  const colour = clusters ? (d) => clusters.colour(d.x) : (d) => colours[texts.indexOf(d.series) % colours.length];
  const rules = answers.filter(({ value }) => typeof value === "number" && value > 0);
  const unit = first.x.unit;
  const alt = `${label(first.y)} against ${label(first.x)}, ${dots.length} samples. ${lines.length > 0 ? `From ${digits(lines[0].y)} to ${digits(lines.at(-1).y)} ${first.y.unit ?? ""}. ` : ""}` +
    rules.map(({ text, value, claimed }) => `${text}: ${quantity(value, unit)}${typeof claimed === "number" ? `, claimed ${quantity(claimed, unit)}` : ""}.`).join(" ");
  const log = logX ?? (isSize || (Math.min(...xs) > 0 && Math.max(...xs) / Math.min(...xs) > 64));
  return chart({ name, caption, alt, marks: dots.length, legend: clusters ? clusters.legend : texts.map((text, i) => [text, colours[i % colours.length]]),
    options: (width) => ({
      marginTop: 34, marginRight: 30,
      x: isSize ? sizeAxis(xs, `${label({ name: first.x.name })} →`, width) : { type: log ? "log" : "linear", base: 2, label: `${label(first.x)} →`, ticks: 8, tickFormat: digits },
      y: valueAxis(ys, `↑ ${label(first.y)}`),
      marks: [
        Plot.rect(rules.filter(({ interval }) => Array.isArray(interval) && interval[1] > interval[0]), { x1: (d) => Math.max(d.interval[0], Math.min(...xs)), x2: (d) => Math.min(d.interval[1], Math.max(...xs) * 1.0001), fill: "currentColor", fillOpacity: 0.09 }),
        Plot.ruleX(rules.filter(({ claimed }) => typeof claimed === "number" && claimed >= Math.min(...xs) && claimed <= Math.max(...xs)), { x: "claimed", stroke: "currentColor", strokeDasharray: "3,4", strokeOpacity: 0.7 }),
        Plot.ruleX(rules, { x: "value", stroke: "currentColor", strokeWidth: 1.4 }),
        Plot.dot(dots, { x: "x", y: "y", r: dots.length > 800 ? 1.5 : 2.2, fill: colour, fillOpacity: 0.45, className: "samples" }),
        Plot.line(lines, { x: "x", y: "y", z: "series", stroke: clusters ? "var(--soft)" : colour, strokeWidth: clusters ? 1 : 1.8 }),
        Plot.text(spread(rules, width, xs, log), { x: "value", frameAnchor: "top", dy: -6, text: "text", lineAnchor: "bottom", fill: "currentColor", fontWeight: 600 }),
        Plot.tip(lines, Plot.pointerX({ x: "x", y: "y", title: (d) => `${d.series}\n${isSize ? bytes(d.x) : digits(d.x)}: ${digits(d.y)} ${first.y.unit ?? ""}`, fill: "var(--card)" })),
      ],
    }) });
}

/** Labels that would stand on each other are left out, the later first. */
function spread(rules, width, xs, log) {
  const scale = log ? Math.log : Number;
  const [low, high] = [scale(Math.min(...xs)), scale(Math.max(...xs))];
  let last = -Infinity;
  return [...rules].sort((a, b) => a.value - b.value).filter(({ value, text }) => {
    const at = ((scale(value) - low) / (high - low || 1)) * (width - 90), half = String(text).length * 3.6;
    if (at - half < last) return false;
    last = at + half + 4;
    return true;
  });
}

/** Horizontal bars or dots with intervals, of single answers: [{text, key}]. */
export function answerDots({ profile, name, items, caption, label: axis }) {
  const rows = items.map(({ text, key, group = "" }) => ({ text, group, key, answer: profile.answer(key) })).filter(({ answer }) => answer && typeof answer.value === "number")
    .map(({ text, group, key, answer }) => ({ text, group, key, value: answer.value, low: answer.interval?.[0] ?? answer.value, high: answer.interval?.[1] ?? answer.value }));
  if (rows.length === 0) return null;
  const groups = [...new Set(rows.map((row) => row.group))];
  const values = rows.flatMap((row) => [row.low, row.high]);
  const fill = (row) => colours[groups.indexOf(row.group) % colours.length];
  return chart({ name, caption, marks: rows.length, legend: groups.length > 1 ? groups.map((group, i) => [group, colours[i % colours.length]]) : [],
    alt: rows.map((row) => `${row.text}${row.group ? ` ${row.group}` : ""}: ${digits(row.value)}`).join("; ") + `. ${axis}.`,
    options: () => ({
      height: 50 + 30 * new Set(rows.map((row) => row.text)).size, marginLeft: 110, marginRight: 30,
      x: { ...valueAxis(values, `${axis} →`) }, y: { type: "band", domain: [...new Set(rows.map((row) => row.text))], label: null },
      marks: [Plot.ruleY(rows, { x1: "low", x2: "high", y: "text", stroke: fill, strokeWidth: 6, strokeOpacity: 0.3 }),
        Plot.dot(rows, { x: "value", y: "text", r: 5, fill, className: "samples", title: (d) => `${d.text} ${d.group}: ${digits(d.value)}` })],
    }) });
}
