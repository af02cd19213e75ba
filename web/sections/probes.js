// One section a probe, whichever probes there are: its question, its curves, its answers, its data.
import { el, save } from "../parts/dom.js";
import { plural } from "../parts/format.js";
import { curvePlot, probeSection } from "../parts/probe.js";
import { toCsv } from "../parts/profile.js";

const together = 8; // as many curves as there are colours
const counters = ["call", "repetition", "gap", "kind", "cpu"]; // x that only numbers the samples: no answer is a place on it

function groupsOf(profile, probe) {
  const groups = new Map();
  for (const id of profile.idsOf(probe)) {
    const { x, y } = profile.curve(id), name = JSON.stringify([x.name, x.unit, y.name, y.unit]);
    groups.set(name, [...(groups.get(name) ?? []), id]);
  }
  return [...groups.values()].flatMap((ids) => Array.from({ length: Math.ceil(ids.length / together) }, (_, i) => ids.slice(i * together, (i + 1) * together)));
}

/** Answers that are a place on the x axis of these curves. */
function marked(profile, probe, ids) {
  const { x } = profile.curve(ids[0]);
  if (counters.includes(x.name)) return [];
  return profile.keysOf(probe).filter((key) => profile.answer(key) && profile.answers[key].unit === x.unit && !key.endsWith(".levels") && (profile.answers[key].evidence ?? []).some((id) => ids.includes(id)))
    .map((key) => ({ ...profile.answers[key], text: key.split(".").slice(-2).join(" ").replace(/_(bytes|ns)$/, "").replaceAll("_", " ") }));
}

function plotsOf(profile, probe) {
  const groups = groupsOf(profile, probe);
  const plots = groups.map((ids, i) => {
    const { x, y } = profile.curve(ids[0]);
    const rules = marked(profile, probe, ids);
    const line = /^(ns|ms)$/.test(y.unit) ? "least" : "median";
    const figure = curvePlot({ profile, name: `${probe}-${i + 1}`, curves: ids.map((id) => ({ id, text: id })), how: line, answers: rules,
      caption: `${ids.length === 1 ? `${ids[0]}: ` : ""}dots are samples, lines go through the ${line} of each ${String(x.name).replaceAll("_", " ")}` +
        `${rules.length > 0 ? "; upright lines are answers, shaded with their intervals, dashed where something else is claimed" : ""}.` });
    return { figure, name: ids.length > 1 ? `${ids[0]} … ${ids.at(-1)}` : ids[0] };
  }).filter(({ figure }) => figure);
  const folded = plots.slice(4);
  return [plots.slice(0, 4).map(({ figure }) => figure),
    folded.length > 0 && el("details", el("summary", `${plural(folded.length, "more plot")}`), folded.map(({ figure }) => figure)), raw(profile, probe)];
}

function raw(profile, probe) {
  const ids = profile.idsOf(probe);
  return ids.length > 0 && el("details.screen", el("summary", `Raw data as CSV (${plural(ids.length, "curve")})`),
    el("p", ids.map((id) => [el("button", { type: "button", "data-csv": id, click: () => save(`${id.replace(/[^\w.-]/g, "_")}.csv`, "text/csv", toCsv(profile.curve(id))) }, `${id}.csv`), " "])));
}

function probesOf(page) {
  const names = new Set(page.profiles.flatMap((profile) => [...Object.values(profile.answers).map(({ probe }) => probe ?? ""), ...Object.values(profile.curves).map(({ probe }) => probe)]));
  const known = [...page.questions.keys()].filter((name) => names.has(name));
  return [...known, ...[...names].filter((name) => name && !page.questions.has(name)).sort(), ...(names.has("") ? [""] : [])];
}

export default {
  order: 20,
  expand: (page) => probesOf(page).map((probe, i) => probeSection({ probe, order: 20 + i / 1000, title: probe ? `Probe: ${probe}` : "Other answers", plots: (profile) => plotsOf(profile, probe) })),
};
