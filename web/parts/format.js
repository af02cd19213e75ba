// Numbers for people. The exact ones stay in the value attribute of <data>.
import { el } from "./dom.js";

/** Three digits, without needless zeros; thin spaces for thousands. */
export function digits(value) {
  if (value === null || value === undefined || typeof value !== "number" || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-3)) return value.toExponential(2);
  if (Number.isInteger(value)) return String(value).replace(/\B(?=(\d{3})+$)/g, size >= 10000 ? "\u202f" : "");
  return size >= 1000 ? String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, size >= 10000 ? "\u202f" : "") : String(Number(value.toPrecision(3)));
}

const steps = [["B", 1], ["KiB", 1024], ["MiB", 1024 ** 2], ["GiB", 1024 ** 3], ["TiB", 1024 ** 4]];

export function bytes(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  const [name, size] = steps.filter(([, size]) => Math.abs(value) >= size).pop() ?? steps[0];
  return `${digits(Number((value / size).toPrecision(3)))} ${name}`;
}

/** With its unit. */
export function quantity(value, unit) {
  if (unit === "bytes") return bytes(value);
  return unit && unit !== "count" && unit !== "1" ? `${digits(value)} ${unit}` : digits(value);
}

export function range([low, high], unit) {
  if (low === high) return quantity(low, unit);
  if (unit !== "bytes") return `${digits(low)} – ${digits(high)}`;
  const [a, b] = [bytes(low), bytes(high)];
  return a.split(" ")[1] === b.split(" ")[1] ? `${a.split(" ")[0]} – ${b}` : `${a} – ${b}`;
}

export function shown(value, unit) {
  return el("data", { value: String(value) }, quantity(value, unit));
}

/** 0–3, 8 */
export function cpus(list) {
  if (!Array.isArray(list)) return "–";
  const sorted = [...list].sort((a, b) => a - b);
  const parts = [];
  for (let i = 0; i < sorted.length; ) {
    let end = i;
    while (end + 1 < sorted.length && sorted[end + 1] === sorted[end] + 1) end++;
    parts.push(end > i ? `${sorted[i]}–${sorted[end]}` : `${sorted[i]}`);
    i = end + 1;
  }
  return parts.length > 12 ? `${parts.slice(0, 12).join(", ")} … (${sorted.length} cpus)` : parts.join(", ");
}

export const plural = (count, word) => `${digits(count)} ${word}${count === 1 ? "" : "s"}`;
