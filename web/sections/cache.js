// The walk that cache sizes are read from: plateaus are levels, and where one ends is its size.
import { colours, plots } from "../parts/chart.js";
import { curvePlot, marked, plainPlot } from "../parts/probe.js";
import { digits, plural } from "../parts/format.js";

/** Figure 11 of the 2012 paper: by that method a level is a cluster, and its size the largest x in it. */
function clustersOf(profile) {
  const sizes = profile.levels().map((level) => profile.answer(`cache.L${level}.size_bytes`)).filter((answer) => answer?.method?.startsWith("qt_cluster"));
  if (sizes.length === 0) return null;
  const shade = (i) => (i === sizes.length ? "var(--soft)" : colours[i % colours.length]);
  const place = (x) => sizes.findIndex(({ value }) => x <= value);
  return { colour: (x) => shade(place(x) < 0 ? sizes.length : place(x)), legend: [...sizes.map((_, i) => [`cluster ${i + 1}: L${i + 1}`, shade(i)]), ["the last cluster: memory", shade(sizes.length)]] };
}

function flatsOf(profile) {
  const clock = profile.number("cpu.clock_ghz");
  const text = (name, ns) => ({ level: ns, text: `${name} ${digits(ns)} ns${clock ? `, ${digits(Math.round(ns * clock))} cycles` : ""}` });
  const levels = profile.levels().map((level) => [`L${level}`, profile.number(`cache.L${level}.latency_ns`)]);
  return [...levels, ["memory", profile.number("memory.latency_ns")]].filter(([, ns]) => ns !== null).map(([name, ns]) => text(name, ns));
}

export default {
  probe: "cache",
  explain: "A chain of dependent loads goes over a working set in random order. As long as the set fits into a cache each load takes that cache's latency: a plateau. Where a plateau ends, a cache is full.",
  plots: (profile) => {
    if (!profile.curve("cache.walk")) return [];
    const clusters = clustersOf(profile), { y } = profile.curve("cache.walk");
    const twins = ["cache.packed", "cache.spread"].filter((id) => profile.curve(id));
    const revisits = profile.idsOf("cache", /^cache\.revisit/);
    return [
      curvePlot({ profile, name: "cache-walk", curves: [{ id: "cache.walk", text: "cache.walk" }], answers: marked(profile, ["cache.walk"]), flats: clusters ? [] : flatsOf(profile), clusters,
        caption: `Random walk over a working set on ${/huge/.test(y.name) ? "huge" : "base"} pages. Dots are samples of ${plural(y.rounds.length, "round")}; upright lines are answers, shaded with their 95% intervals, dashed where something else is claimed.` +
          (clusters ? " Colours are the clusters that the method found: a cluster is a level, its largest x the size, its least y the latency." : " Dotted lines are the latencies of the levels.") }),
      plots(
        twins.length > 0 && plainPlot(profile, "cache-twins", twins, { title: "Spread over sets and packed", answers: [], caption: "The same number of lines, one a page (spread) or side by side (packed): what differs between the two is not the capacity." }),
        revisits.length > 0 && plainPlot(profile, "cache-revisits", revisits, { title: "With revisits", answers: [], caption: "Walks that come back to some lines early: tells how the cache chooses what to throw out." }),
        profile.curve("memory.walk") && plainPlot(profile, "memory-walk", ["memory.walk"], { title: "Memory, by window", answers: [], caption: "Random loads from memory, within a window of that size at a time: small windows have no TLB misses." }))];
  },
};
