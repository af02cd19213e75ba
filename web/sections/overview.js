// The first screen: the machine in one sentence, effective against claimed, what to do with it, how sure all of it is.
import { answerTable, badge } from "../parts/answers.js";
import { el } from "../parts/dom.js";
import { bytes, digits, plural, range, shown } from "../parts/format.js";

function sentence(profile) {
  const { cpus_allowed: allowed, memory_bytes: memory, os, virtualised } = profile.environment;
  const clock = profile.number("cpu.clock_ghz"), levels = profile.number("cache.levels"), latency = profile.number("memory.latency_ns");
  const parts = [
    Array.isArray(allowed) && plural(allowed.length, "cpu"),
    clock !== null && `${digits(clock)} GHz`,
    levels !== null && `${plural(levels, "cache level")}`,
    typeof memory === "number" && memory > 0 && `${bytes(memory)} of memory`,
    latency !== null && `${digits(latency)} ns to memory`,
  ].filter(Boolean);
  return `${profile.title()}${virtualised ? " (virtual)" : ""}${os ? `, ${os}` : ""}: ${parts.join(", ")}.`;
}

/** What makes the answers less sure, from the run and from what the probes went through. */
function warnings(profile) {
  const answers = Object.values(profile.answers), unstable = answers.filter(({ status }) => status === "unstable").length;
  const failed = Object.entries(profile.content.probes ?? {}).filter(([, { status }]) => status === "failed").map(([name]) => name);
  const list = [...(profile.environment.warnings ?? []),
    ...(unstable > 0 ? [`${plural(unstable, "answer")} differed between rounds by more than noise: marked unstable below`] : []),
    ...(failed.length > 0 ? [`failed: ${failed.join(", ")}`] : []),
    ...(profile.run.steal >= 0.005 ? [`the host took ${digits(100 * profile.run.steal)}% of the time for others`] : [])];
  return list.length > 0 && el("div.warnings", { role: "note" }, el("strong", "Mind: "), el("ul", list.map((line) => el("li", line))));
}

/** The share of the claim that is effective, as a bar; what the interval leaves open is pale. */
function meter({ value, interval }, claimed) {
  const part = (amount) => `${Math.max(0, Math.min(100, (100 * amount) / claimed))}%`;
  const [open, sure] = [el("i.open"), el("i")];
  open.style.width = part(interval?.[1] ?? value);
  sure.style.width = part(interval?.[0] ?? value);
  const mark = el("b");
  mark.style.left = part(value);
  return el("span.meter", { "aria-hidden": "true" }, open, sure, mark);
}

/** "32 MiB claimed, 5.1 MiB effective (4.4–7.9)", and what to do with it. */
function levelCard(profile, level) {
  const key = `cache.L${level}.size_bytes`, answer = profile.answer(key);
  if (!answer) return null;
  const claimed = typeof answer.claimed === "number" && answer.claimed > 0 ? answer.claimed : null, share = claimed && answer.value / claimed;
  const unsure = answer.status === "unstable" || answer.confidence === "low";
  return el("li", { "data-key": key }, el("span.name", `L${level} cache, effective`), el("span.big", shown(answer.value, "bytes")),
    Array.isArray(answer.interval) && el("span.soft", `(${range(answer.interval, "bytes")}) `), badge(answer),
    claimed && meter(answer, claimed),
    el("span.claim", claimed ? [shown(claimed, "bytes"), ` claimed, ${share > 0.97 ? "all" : `${digits(Math.round(100 * share))}%`} of it effective`] : "nothing claimed"),
    el("span.todo", unsure ? "Do not tune for it: it moves." : `Block at or below ${bytes(answer.interval?.[0] ?? answer.value)}.`));
}

/** The size at which half of a small message's time is latency, and what many at once cost. */
function messageAdvice(layer) {
  const first = Array.isArray(layer?.segments) ? layer.segments[0] : null;
  if (!(first?.us > 0 && first.gbs > 0)) return null;
  const [pairs, factor] = Array.isArray(layer.scaling) ? layer.scaling.at(-1) ?? [] : [];
  return `Messages, ${layer.name ?? "layer"}: ${digits(first.us)} us before the first byte; below ${bytes(first.us * first.gbs * 1000)} that is more than half of the time, so join small ones.${factor > 1.2 ? ` ${digits(pairs)} pairs at once take ${digits(factor)} times as long as one.` : ""}`;
}

/** What the program itself advises, but for the levels that have a card, and where threads and data belong. */
function advice(profile) {
  const lines = profile.headline.filter((line) => !profile.answer(`cache.${/^(L\d) /.exec(line)?.[1]}.size_bytes`));
  const tree = profile.answer("topology.tree")?.value;
  if (tree?.children?.length > 1 && !lines.some((line) => line.startsWith("Threads: put")))
    lines.push(`Placement: threads that talk to each other belong together in one of ${plural(tree.children.length, "group")}; it takes ${digits(tree.latency_ns)} ns across them.`);
  const layers = profile.answer("comm.layers")?.value;
  if (Array.isArray(layers) && layers.length > 0) {
    if (profile.levels().length === 0) lines.splice(0, lines.length, ...lines.filter((line) => !line.startsWith("Caches and memory: not")));
    lines.push(...layers.map(messageAdvice).filter(Boolean));
  }
  const nodes = profile.answer("numa.nodes")?.value;
  if (Array.isArray(nodes) && nodes.length > 1) lines.push(`Data: memory has ${plural(nodes.length, "node")}; let each thread touch its own data first.`);
  const streams = profile.answer("memory.streams")?.value;
  const all = Array.isArray(streams) ? streams.at(-1) : null;
  // As many as were tried is no limit.
  if (all && Array.isArray(all.gbs) && all.useful_streams < all.gbs.at(-1)?.[0]) lines.push(`Loops: at most ${plural(all.useful_streams, "array")} at once${all.cpus > 1 ? `, with ${all.cpus} cpus at work` : ""}; more get less from memory.`);
  return lines.length > 0 && el("div.card.do", el("h3", "What to do with it"), el("ul", lines.map((line) => el("li", line))));
}

const wanted = /^(cpu\.clock_ghz|cache\.levels|cache\.L\d\.(size_bytes|capacity_bytes|latency_ns|associativity)|cache\.line_bytes|memory\.(latency_ns|read_gbs|parallelism)|page\.size_bytes|tlb\.L\d\.entries)$/;

function sureness(profile) {
  const counts = new Map(["high", "medium", "low"].map((word) => [`${word} confidence`, 0]));
  for (const { status, confidence } of Object.values(profile.answers)) {
    const word = status === "ok" ? `${confidence ?? "not"} ${confidence ? "confidence" : "rated"}` : String(status);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return el("p.soft", `${plural(Object.keys(profile.answers).length, "answer")}: ${[...counts].filter(([, count]) => count > 0).map(([word, count]) => `${count} ${word}`).join(", ")}.`);
}

function overview(profile, several) {
  const keys = Object.keys(profile.answers).filter((key) => wanted.test(key));
  return el("div", several && el("h3", profile.name), el("p.lead", sentence(profile)), warnings(profile),
    el("ul.levels", profile.levels().map((level) => levelCard(profile, level))), advice(profile),
    keys.length > 0 && [el("h3", "Main answers"), sureness(profile), answerTable(profile, keys, "Main answers")]);
}

export default {
  order: 0, title: "Overview",
  applies: (page) => page.profiles.length > 0,
  draw: (page) => el(page.profiles.length > 1 ? "div.pair" : "div", page.profiles.map((profile) => overview(profile, page.profiles.length > 1))),
};
