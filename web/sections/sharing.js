// Which cpus share an instance of a cache: a row a level, a colour a group.
import * as Plot from "@observablehq/plot";
import { chart, colours, thin } from "../parts/chart.js";
import { cpus, plural } from "../parts/format.js";

export default {
  probe: "sharing", covers: /./,
  plots: (profile) => {
    const levels = profile.levels().map((level) => ({ level: `L${level}`, groups: profile.answer(`cache.L${level}.sharing`)?.value })).filter(({ groups }) => Array.isArray(groups));
    const all = [...(profile.environment.cpus_allowed ?? [])], shared = levels.flatMap(({ groups }) => groups.flat());
    if (levels.length === 0 || shared.length === 0) return [];
    const biggest = [...levels].reverse().find(({ groups }) => groups.length > 0).groups.flat();
    const order = [...new Set([...biggest, ...shared, ...all])];
    const rows = levels.flatMap(({ level, groups }) => groups.flatMap((group, i) => group.map((cpu) => ({ cpu, level, group: i, text: cpus(group) }))));
    return [chart({ name: "sharing", marks: rows.length, caption: "Cpus of one colour in a row share an instance of that cache; where nothing is drawn a cpu has one of its own.",
      alt: levels.map(({ level, groups }) => `${level}: ${groups.length === 0 ? "not shared" : `${plural(groups.length, "group")} of cpus, ${groups.slice(0, 8).map(cpus).join(" | ")}${groups.length > 8 ? " and more" : ""}`}`).join(". ") + ".",
      options: (width) => ({ height: 50 + 30 * levels.length, marginLeft: 40, marginTop: 30, marginBottom: 8,
        x: { type: "band", domain: order, axis: "top", label: "cpu", tickSize: 0, ticks: thin(order, Math.floor(width / 24)), tickFormat: String, paddingInner: order.length > 100 ? 0 : 0.1 },
        y: { type: "band", domain: levels.map(({ level }) => level), label: null, tickSize: 0, paddingInner: 0.15 },
        marks: [Plot.cell(rows, { x: "cpu", y: "level", fill: ({ group }) => colours[group % colours.length], className: "samples" }),
          Plot.tip(rows, Plot.pointer({ x: "cpu", y: "level", title: ({ level, text }) => `${level}: cpus ${text}`, fill: "var(--card)", lineWidth: 30 }))] }) })];
  },
};
