// What `blackjack tune --json` wrote: the model's choice with its reasons, and how fast it is (figure 12 of the 2012 paper).
import { least, linesPlot, most } from "../parts/chart.js";
import { el, table } from "../parts/dom.js";
import { fileSection, listOf } from "../parts/files.js";
import { digits, plural } from "../parts/format.js";

const names = { fixed: "ours, for this size", general: "ours, for any size", 2012: "ours, model of 2012", plain: "plain loops" };
const of = (result, own, others) => [...Object.entries(result[own] ?? {}).map(([key, value]) => [names[key] ?? key, value]), ...Object.entries(result[others] ?? {})].filter(([, value]) => typeof value === "number");

function contextOf(results, own, others) {
  const rows = results.flatMap((result) => of(result, own, others).map(([series, y]) => ({ x: result.n, y, series })));
  // A file of the bare format has one speed of ours for each size.
  return rows.length > 0 || own !== "own" ? rows : results.flatMap(({ n, gflops, against }) => [["ours", gflops], ...Object.entries(against ?? {})].filter(([, y]) => typeof y === "number").map(([series, y]) => ({ x: n, y, series })));
}

/** Ours against the fastest library of each size, in a sentence. */
function against(results, own, others, context) {
  const fastest = (list) => (list.length > 0 ? list.reduce((a, b) => (b[1] > a[1] ? b : a)) : null);
  const pairs = results.map((result) => ({ n: result.n, ours: fastest(["general", "fixed"].map((key) => [key, result[own]?.[key]]).filter(([, speed]) => speed > 0)), best: fastest(Object.entries(result[others] ?? {}).filter(([, speed]) => speed > 0)) })).filter(({ ours, best }) => ours && best);
  if (pairs.length === 0) return null;
  const ratios = pairs.map(({ ours, best }) => ours[1] / best[1]), { n, ours, best } = pairs.at(-1);
  return el("p", `Operands ${context}: ours has ${digits(least(ratios))} to ${digits(most(ratios))} times the speed of the fastest library of each size; at n ${digits(n)} it makes ${digits(ours[1])} Gflop/s, ${best[0]} ${digits(best[1])}.`);
}

function plotOf(rows, name, title, model, caption) {
  if (rows.length === 0) return null;
  const series = [...new Set(rows.map((row) => row.series))], xs = rows.map(({ x }) => x);
  const rules = [["block", "block"], ["block_2012", "2012"]].map(([key, text]) => ({ at: model[key], text: `${text} ${model[key]}` })).filter(({ at }, i, list) => typeof at === "number" && at >= Math.min(...xs) && at <= Math.max(...xs) && list.findIndex((rule) => rule.at === at) === i);
  return linesPlot({ name, title, rows, x: "matrix size n", y: "Gflop/s", log: false, span: Infinity, rules, caption, dashed: (text) => !Object.values(names).includes(text) && text !== "ours",
    alt: `${title}: ${series.map((text) => { const own = rows.filter((row) => row.series === text); const best = own.reduce((a, b) => (b.y > a.y ? b : a)); return `${text} at most ${digits(best.y)} Gflop/s, at n ${digits(best.x)}`; }).join("; ")}.` });
}

const exact = (value) => (typeof value === "number" ? el("data", { value: String(value) }, digits(value)) : "–");

/** Figure 12: the kernel that the model of 2012 makes, over n; where its speed falls for good beside where the model says. */
function figure12(figure) {
  const rows = listOf(figure?.points).filter(({ n, gflops }) => typeof n === "number" && typeof gflops === "number").map(({ n, gflops }) => ({ x: n, y: gflops, series: "kernel of 2012, unpacked" }));
  const full = most(rows.filter(({ x }) => x <= figure.model_size).map(({ y }) => y)); // as the program finds the knee
  const rules = [["model_size", "model"], ["knee", "knee"]].filter(([key]) => typeof figure?.[key] === "number").map(([key, text]) => ({ at: figure[key], text: `${text} ${figure[key]}` }));
  return rows.length === 0 ? [] : [linesPlot({ name: "tuning-figure-12", title: "The model of 2012 against what is seen (figure 12 of the paper)", rows, x: "matrix size n", y: "Gflop/s", log: false, span: Infinity, zero: false, rules: [...rules, ...(full > 0 ? [{ level: 0.95 * full, text: "95% of full speed" }] : [])],
    caption: "The paper's kernel, blocked for registers alone: it should lose speed beyond the size that the model gives. The axis does not begin at zero.",
    alt: `Speed of the kernel of 2012: ${rows.filter((_, i) => i % Math.ceil(rows.length / 12) === 0).map(({ x, y }) => `n ${digits(x)}: ${digits(y)} Gflop/s`).join("; ")}. The model's size is ${digits(figure.model_size)}; the knee ${typeof figure.knee === "number" ? `is at ${digits(figure.knee)}` : "is beyond what was timed"}.` }),
  el("p", "The model's size is ", exact(figure.model_size), typeof figure.knee === "number" ? ["; the knee, the last n at 95% of full speed beyond which all are slower, is at ", exact(figure.knee), "."] : "; there is no knee: the next cache keeps up.",
    figure.knee > 1.25 * figure.model_size ? " Between the two the second cache keeps up." : "")];
}

/** What an exhaustive search found beside the model's choice. */
function searchTable(search) {
  const sizes = listOf(search?.sizes);
  return sizes.length > 0 && [el("h3", "Against exhaustive search"), el("p", `Of ${plural(search.combinations ?? 0, "combination")} the model's choice has ${digits(100 * search.chosen_by_best)}% of the speed of the best for each size.`),
    table("Against exhaustive search", [{ text: "n", number: true }, { text: "model, Gflop/s", number: true }, { text: "best, Gflop/s", number: true }, "best tile", { text: "model / best", number: true }],
      sizes.map(({ n, chosen_gflops: chosen, best, chosen_by_best: share }) => [n, chosen, best?.gflops, `${best?.mr} × ${best?.nr}, ${best?.kr} steps${best?.packed ? ", packed" : ""}`, share].map((cell) => (typeof cell === "string" ? cell : { cell: typeof cell === "number" ? el("data", { value: String(cell) }, digits(cell)) : "–", number: true }))))];
}

function tableOf(rows, caption) {
  const series = [...new Set(rows.map((row) => row.series))], sizes = [...new Set(rows.map(({ x }) => x))];
  const find = (x, text) => rows.find((row) => row.x === x && row.series === text)?.y;
  return el("details", el("summary", `${caption} as a table`), table(caption, [{ text: "n", number: true }, ...series.map((text) => ({ text, number: true }))],
    sizes.map((x) => [{ cell: digits(x), number: true }, ...series.map((text) => ({ cell: typeof find(x, text) === "number" ? el("data", { value: String(find(x, text)) }, digits(find(x, text))) : "–", number: true }))])));
}

function draw(content) {
  const results = listOf(content.results).filter(({ n }) => typeof n === "number").sort((a, b) => a.n - b.n), model = content.model ?? {};
  const warm = contextOf(results, "own", "against"), cold = contextOf(results, "own_cold", "against_cold");
  const facts = ["mr", "nr", "kr", "block", "kc", "mc", "pack_from", "prefetch_bytes"].filter((key) => typeof model[key] === "number");
  const reasons = Array.isArray(model.reasoning) ? model.reasoning : [], inputs = Object.entries(content.inputs ?? {});
  return [el("p", `${content.operation ?? "The kernel"}${content.type ? ` in ${content.type}` : ""}: ${facts.map((key) => `${key.replaceAll("_", " ")} ${digits(model[key])}`).join(", ")}.`),
    against(results, "own", "against", "warm"), against(results, "own_cold", "against_cold", "cold"),
    plotOf(warm, "tuning-warm", "Operands warm", model, "Speed by size; ours are whole lines, libraries dashed. Upright: the sizes up to which one block fits the first cache, by the model."),
    plotOf(cold, "tuning-cold", "Operands cold", model, "The same with operands that are in no cache when the kernel is called."),
    figure12(content.figure_12), searchTable(content.search),
    warm.length > 0 && tableOf(warm, "Operands warm"), cold.length > 0 && tableOf(cold, "Operands cold"),
    reasons.length > 0 && el("div.card", el("h3", "Why these numbers"), el("ol", reasons.map((line) => el("li", String(line))))),
    inputs.length > 0 && el("h3", "What the model was given"), inputs.length > 0 && table("What the model was given", ["answer", { text: "value", number: true }], inputs.map(([key, value]) => [el("span.key", key), { cell: typeof value === "number" ? el("data", { value: String(value) }, digits(value)) : String(value), number: true }]))];
}

export default fileSection({ format: "blackjack-tuning/1", order: -0.7, title: "Tuning", draw });
