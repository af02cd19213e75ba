// Elements from data. Text becomes text nodes only: nothing of a file is ever read as markup.

/** el("p.soft", {id: "x"}, "text", child, [more]); null and false are left out. */
export function el(kind, ...parts) {
  const [tag, ...classes] = kind.split(".");
  const node = document.createElement(tag);
  if (classes.length > 0) node.className = classes.join(" ");
  if (parts.length > 0 && isAttributes(parts[0]))
    for (const [name, value] of Object.entries(parts.shift()))
      if (typeof value === "function") node.addEventListener(name, value);
      else if (value !== null && value !== undefined) node.setAttribute(name, value);
  for (const part of parts.flat(Infinity))
    if (part !== null && part !== undefined && part !== false) node.append(part instanceof Node ? part : String(part));
  return node;
}

function isAttributes(part) {
  return part !== null && typeof part === "object" && !Array.isArray(part) && !(part instanceof Node);
}

/** headings: [text or {text, number: true}]; rows: lists of cells (text, node, or {cell, number, class}). */
export function table(caption, headings, rows, attributes = () => ({}), kind = null) {
  const cell = (tag, content, extra = {}) => {
    const special = content !== null && typeof content === "object" && !(content instanceof Node) && !Array.isArray(content);
    const { cell = content, number = false, class: name = null } = special ? content : {};
    return el(tag, { class: [number && "number", name].filter(Boolean).join(" ") || null, ...extra }, cell);
  };
  return el("div.scroll", { tabindex: "0", role: "region", "aria-label": caption },
    // Roles by name: on a phone the rows of answers are no table to the browser.
    el("table", { role: "table", class: kind },
      el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, headings.map((heading) => cell("th", typeof heading === "object" ? { ...heading, cell: heading.text } : heading, { scope: "col", role: "columnheader" })))),
      el("tbody", { role: "rowgroup" }, rows.map((row, i) => el("tr", { role: "row", ...attributes(i) }, row.map((content) => cell("td", content, { role: "cell" })))))));
}

/** Offers text as a file. */
export function save(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
