// Two profiles side by side: what differs by more than the intervals, first.
import { valueOf } from "../parts/answers.js";
import { el, table } from "../parts/dom.js";
import { digits, plural } from "../parts/format.js";

const apart = (a, b) => Array.isArray(a.interval) && Array.isArray(b.interval) && (a.interval[1] < b.interval[0] || b.interval[1] < a.interval[0]);

function rowsOf([first, second]) {
  return Object.keys(first.answers).filter((key) => first.number(key) !== null && second.number(key) !== null && first.answers[key].unit === second.answers[key].unit)
    .map((key) => ({ key, a: first.answers[key], b: second.answers[key] }));
}

function draw(page) {
  const rows = rowsOf(page.profiles), different = rows.filter(({ a, b }) => apart(a, b));
  const headings = ["answer", ...page.profiles.map((profile) => ({ text: profile.title(), number: true })), { text: "second / first", number: true }, "intervals"];
  const list = (some, caption) => table(caption, headings, some.map(({ key, a, b }) => [el("span.key", key), { cell: valueOf(a), number: true }, { cell: valueOf(b), number: true },
    { cell: a.value !== 0 ? digits(b.value / a.value) : "–", number: true }, apart(a, b) ? "apart" : Array.isArray(a.interval) && Array.isArray(b.interval) ? "overlap" : "not known"]));
  return [el("p", `${plural(rows.length, "number")} in both profiles, ${different.length} with intervals that do not overlap.`),
    different.length > 0 && list(different, "Differences"), rows.length > 0 && el("details", el("summary", "All numbers in both"), list(rows, "All numbers in both"))];
}

export default { order: 5, title: "Comparison", applies: (page) => page.profiles.length === 2, draw };
