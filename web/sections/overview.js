// The first screen: the machine in one sentence, effective against claimed, what to do with it, how sure all of it is.
import { answerTable, badge } from "../parts/answers.js";
import { el } from "../parts/dom.js";
import { bytes, cpus, digits, plural, range, shown } from "../parts/format.js";

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

function warnings(profile) {
  const answers = Object.values(profile.answers), unstable = answers.filter(({ status }) => status === "unstable").length;
  const list = [...(profile.environment.warnings ?? []),
    ...(unstable > 0 ? [`${plural(unstable, "answer")} differed between rounds by more than noise: marked unstable below`] : []),
    ...(profile.run.steal > 0 ? [`the host took ${digits(100 * profile.run.steal)}% of the time for others`] : [])];
  return list.length > 0 && el("div.warnings", { role: "note" }, el("strong", "Mind: "), el("ul", list.map((line) => el("li", line))));
}

/** "32 MiB claimed, 5.1 MiB effective (4.4–7.9)" */
function levelCard(profile, level) {
  const key = `cache.L${level}.size_bytes`, answer = profile.answer(key);
  if (!answer) return null;
  const claimed = typeof answer.claimed === "number" ? answer.claimed : null;
  const bar = el("i");
  bar.style.width = `${claimed ? Math.min(100, (100 * answer.value) / claimed) : 0}%`;
  return el("li", { "data-key": key }, el("span.name", `L${level} cache, effective`), el("span.big", shown(answer.value, "bytes")),
    Array.isArray(answer.interval) && el("span.soft", `(${range(answer.interval, "bytes")}) `), badge(answer),
    claimed && el("span.meter", { "aria-hidden": "true" }, bar),
    el("span.claim", claimed ? [shown(claimed, "bytes"), ` claimed, ${digits(Math.round((100 * answer.value) / claimed))}% of it effective`] : "nothing claimed"));
}

function advice(profile) {
  const lines = [];
  for (const level of profile.levels()) {
    const answer = profile.answer(`cache.L${level}.size_bytes`);
    if (answer && Array.isArray(answer.interval)) lines.push(`Blocks for L${level}: keep a working set at or below ${bytes(answer.interval[0])}, the lower end of what was seen to fit.`);
  }
  for (const { groups, useful_cpus: useful } of profile.answer("memory.contention")?.value.levels ?? [])
    if (typeof useful === "number" && groups?.[0]?.length > 1)
      lines.push(`Threads that stream from memory: ${digits(useful)} of the ${plural(groups[0].length, "cpu")} that compete (${cpus(groups[0])}) already get what there is.`);
  const tree = profile.answer("topology.tree")?.value;
  if (tree?.children?.length > 1)
    lines.push(`Placement: threads that talk to each other belong together in one of ${plural(tree.children.length, "group")} (${digits(tree.inside_ns)} ns inside, ${digits(tree.across_ns)} ns across).`);
  const nodes = profile.answer("numa.nodes")?.value;
  if (Array.isArray(nodes) && nodes.length > 1) lines.push(`Memory: ${plural(nodes.length, "node")}; let each thread touch its own data first.`);
  return lines.length > 0 && el("div.card.do", el("h3", "What to do with it"), el("ul", lines.map((line) => el("li", line))));
}

const wanted = /^(cpu\.clock_ghz|cache\.levels|cache\.L\d\.(size_bytes|capacity_bytes|latency_ns|associativity)|cache\.line_bytes|memory\.(latency_ns|read_gbs|parallelism)|page\.size_bytes|tlb\.L\d\.entries)$/;

function sureness(profile) {
  const counts = new Map();
  for (const { status, confidence } of Object.values(profile.answers)) {
    const word = status === "ok" ? `${confidence ?? "not"} ${confidence ? "confidence" : "rated"}` : String(status);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return el("p.soft", `${plural(Object.keys(profile.answers).length, "answer")}: ${[...counts].map(([word, count]) => `${count} ${word}`).join(", ")}.`);
}

function overview(profile, several) {
  const keys = Object.keys(profile.answers).filter((key) => wanted.test(key));
  return el("div", several && el("h3", profile.name), el("p", sentence(profile)), warnings(profile),
    el("ul.levels", profile.levels().map((level) => levelCard(profile, level))), advice(profile),
    profile.headline.length > 0 && el("div.card.lines", el("h3", "In short"), el("ul", profile.headline.map((line) => el("li", line)))),
    sureness(profile), keys.length > 0 && answerTable(profile, keys, "Main answers"));
}

export default {
  order: 0, title: "Overview",
  applies: (page) => page.profiles.length > 0,
  draw: (page) => el(page.profiles.length > 1 ? "div.pair" : "div", page.profiles.map((profile) => overview(profile, page.profiles.length > 1))),
};
