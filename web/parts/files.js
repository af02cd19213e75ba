// What sections about a file that is no profile share.
import { el } from "./dom.js";

/** A section for the files of one format; draw(content, page) gives its parts. */
export function fileSection({ format, order, title, draw }) {
  const of = (page) => page.others.filter(({ content }) => content.format === format);
  return { format, order, title, applies: (page) => of(page).length > 0, draw: (page) => of(page).map((file) => el("div", page.files.length > 1 && el("h3", file.name), draw(file.content, page))) };
}

/** What a file holds where a list of objects is expected. */
export const listOf = (value) => (Array.isArray(value) ? value.filter((item) => item !== null && typeof item === "object" && !Array.isArray(item)) : []);
