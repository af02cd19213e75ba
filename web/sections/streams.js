// Through how many arrays a loop can go before memory gives less.
import { linesPlot } from "../parts/chart.js";
import { digits, plural } from "../parts/format.js";

export default {
  probe: "streams",
  plots: (profile) => {
    const list = (profile.answer("memory.streams")?.value ?? []).filter?.(({ gbs }) => Array.isArray(gbs) && gbs.length > 0) ?? [];
    if (list.length === 0) return [];
    const names = list.map(({ cpus }) => `${plural(cpus, "cpu")}`);
    const rows = list.flatMap(({ gbs }, i) => gbs.map(([x, y]) => ({ x, y, series: names[i] })));
    return [linesPlot({ name: "streams", rows, x: "arrays that the loop goes through", y: "GB/s", span: 8, ids: profile.idsOf("streams"),
      rules: list.filter(({ useful_streams: at, gbs }) => at < gbs.at(-1)[0]).map(({ useful_streams: at, cpus }) => ({ at, text: `${at} useful, ${plural(cpus, "cpu")}` })),
      caption: "Bandwidth by the number of arrays read and written at once. Past a dashed line split the loop (fission): more arrays than that get less; without a line as many as were tried do no harm.",
      alt: list.map(({ gbs, useful_streams: useful }, i) => `${names[i]}: ${gbs.map(([x, y]) => `${x} arrays ${digits(y)} GB/s`).join(", ")}${typeof useful === "number" ? `; ${useful} useful` : ""}.`).join(" ") })];
  },
};
