// Files that have no section of their own yet: their members as tables, lists of like objects one row each.
import { el, table } from "../parts/dom.js";
import { digits } from "../parts/format.js";

const own = ["blackjack-timings/1"];
const others = (page) => page.others.filter(({ content }) => !own.includes(content.format));

function text(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "number") return el("data", { value: String(value) }, digits(value));
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

function member([name, value]) {
  if (Array.isArray(value) && value.length > 0 && value.every((item) => item && typeof item === "object" && !Array.isArray(item))) {
    const columns = [...new Set(value.flatMap(Object.keys))];
    return [el("h3", name), table(name, columns, value.map((item) => columns.map((column) => ({ cell: text(item[column]) }))))];
  }
  return el("p", el("strong", name), ": ", text(value));
}

export default {
  order: 3, title: "Files",
  applies: (page) => others(page).length > 0,
  draw: (page) => others(page).map(({ name, content }) => el("div", el("h3", name), Object.entries(content).map(member))),
};
