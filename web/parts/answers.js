// Answers in words and tables.
import { el, table } from "./dom.js";
import { cpus, digits, plural, range, shown } from "./format.js";

/** A structured value in a few words. */
export function describe(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    if (value.every((item) => Array.isArray(item) && item.every((n) => typeof n === "number")))
      return value.length === 0 ? "none" : value.every((item) => item.every(Number.isInteger)) ? `${plural(value.length, "group")}: ${value.slice(0, 4).map(cpus).join(" | ")}${value.length > 4 ? " …" : ""}` : `${value.length} × ${value[0].length} matrix`;
    return plural(value.length, "entry").replace("entrys", "entries");
  }
  if (value && Array.isArray(value.cpus) && !value.hosts) return `tree of ${plural(value.cpus.length, "cpu")}`;
  if (value && Array.isArray(value.hosts)) return `${plural(value.hosts.length, "rank")} on ${plural(new Set(value.hosts).size, "host")}`;
  if (value && Array.isArray(value.levels)) return plural(value.levels.length, "level");
  return "structured";
}

export function badge(answer) {
  const known = ["high", "medium", "low"].includes(answer.confidence) ? answer.confidence : "none";
  if (answer.status !== "ok") {
    const status = ["unstable", "undetermined", "unsupported", "failed"].includes(answer.status) ? answer.status : "none";
    return el(`span.badge.${status}`, String(answer.status), known === "none" ? null : `, ${known}`);
  }
  return known === "none" ? el("span.badge.none", "not rated") : el(`span.badge.${known}`, known);
}

export function valueOf(answer) {
  if (answer.value === null || answer.value === undefined) return "–";
  return typeof answer.value === "number" ? shown(answer.value, answer.unit) : el("data", { value: JSON.stringify(answer.value) }, describe(answer.value));
}

const rounds = (profile, answer) => (answer.evidence ?? []).reduce((count, id) => Math.max(count, profile.curve(id)?.y?.rounds?.length ?? 0), 0);

/** How sure, and why: what was measured how often, how far that leaves the value open, and how it was read. */
function why(profile, answer) {
  const parts = [], { value, interval } = answer, count = rounds(profile, answer);
  if (answer.reason) parts.push(answer.reason);
  else if (count > 1) {
    const open = Array.isArray(interval) && typeof value === "number" && value > 0 ? Math.max(interval[1] / value - 1, 1 - interval[0] / value) : null;
    parts.push(`${digits(count)} rounds${open === null ? "" : open < 0.0005 ? " agree" : open < 1 ? ` within ${digits(Number((100 * open).toPrecision(2)))}%` : ` within a factor of ${digits(Number((1 + open).toPrecision(2)))}`}`);
  }
  if (answer.caveat) parts.push(answer.caveat);
  if (answer.pages) parts.push(`${answer.pages} pages`);
  if (typeof answer.p === "number") parts.push(`p = ${digits(answer.p)}`);
  if (answer.method) parts.push(`by ${answer.method}`);
  return parts.join("; ");
}

export function answerTable(profile, keys, caption) {
  const claimed = keys.some((key) => profile.answers[key].claimed !== undefined);
  const headings = ["answer", { text: "value", number: true }, { text: "95% interval", number: true }, ...(claimed ? [{ text: "claimed", number: true }] : []), "confidence", "why"];
  const rows = keys.map((key) => {
    const answer = profile.answers[key], isStructured = answer.value !== null && typeof answer.value === "object";
    return [el("span.key", key), { cell: valueOf(answer), number: true, class: isStructured ? "value words" : "value" },
      { cell: Array.isArray(answer.interval) ? range(answer.interval, answer.unit) : "", number: true, class: "interval" },
      ...(claimed ? [{ cell: typeof answer.claimed === "number" ? shown(answer.claimed, answer.unit) : "", number: true, class: "claimed" }] : []),
      { cell: badge(answer), class: "sure" }, { cell: why(profile, answer), class: "why" }];
  });
  return table(caption, headings, rows, (i) => ({ "data-key": keys[i] }), "answers");
}
