// How far and how fast is the memory of one node for the cpus of another.
import { heatMap, least, most, plots } from "../parts/chart.js";
import { digits, plural } from "../parts/format.js";

function matrix(profile, key, title, unit, caption) {
  const value = profile.answer(key)?.value;
  if (!Array.isArray(value) || value.length < 2 || !value.every(Array.isArray)) return null;
  const cells = value.flatMap((line, row) => line.map((value, column) => ({ row, column, value }))).filter(({ value }) => typeof value === "number");
  const values = cells.map(({ value }) => value), best = cells.filter(({ row, column }) => row === column).map(({ value }) => value);
  return heatMap({ name: key, title, cells, names: value.map((_, i) => i), unit, rowLabel: "cpus of node", columnLabel: "memory of node", caption,
    alt: `${title}: ${plural(value.length, "node")}, from ${digits(least(values))} to ${digits(most(values))} ${unit}; within a node ${digits(least(best))} to ${digits(most(best))} ${unit}.` });
}

export default {
  probe: "numa", covers: /./,
  plots: (profile) => {
    const maps = [matrix(profile, "numa.latency_ns", "Latency", "ns", "A random access from the cpus of one node to the memory of another; darker is slower."),
      matrix(profile, "numa.gbs", "Bandwidth", "GB/s", "What one cpu reads from the memory of each node; darker is faster.")].filter(Boolean);
    return maps.length > 0 ? [plots(maps)] : [];
  },
};
