// Files of a format that no section names: their members as tables, lists of like objects one row each.
import { el, table } from "../parts/dom.js";
import { digits } from "../parts/format.js";

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
  order: -0.5,
  expand: (page, sections) => {
    const own = sections.map(({ format }) => format).filter(Boolean);
    return page.others.filter(({ content }) => !own.includes(content.format)).map(({ name, content }) => ({ title: name, order: -0.5, draw: () => Object.entries(content).map(member) }));
  },
};
