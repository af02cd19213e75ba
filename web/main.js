// Puts the sections onto the page. A section is {order, title, applies(page), draw(page)}, or {expand(page)}, which gives
// several of them; one whose data is absent is absent.
import sections from "bj:sections";
import notices from "bj:notices";
import { el, save } from "./parts/dom.js";
import { Profile } from "./parts/profile.js";

function readPage() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const isProfile = (file) => String(file.content?.format).startsWith("blackjack-profile/");
  return {
    version: data.version,
    questions: new Map(data.probes.map(({ name, question }) => [name, question])),
    files: data.files,
    profiles: data.files.filter(isProfile).map((file) => new Profile(file)),
    others: data.files.filter((file) => !isProfile(file)),
  };
}

/** What one section cannot draw must not take the others with it. */
function drawSection(section, page) {
  try {
    return section.draw(page);
  } catch (error) {
    return el("p.warnings", `This section could not be drawn: ${error.message}. The file's data is at the end of the page.`);
  }
}

function present(page) {
  return sections.flatMap((section) => (section.expand ? section.expand(page).map((part) => ({ order: section.order, ...part })) : [section]))
    .filter((section) => section.applies?.(page) ?? true).sort((a, b) => a.order - b.order);
}

function footer(page) {
  return [
    el("p", "The page holds its files whole: ", page.files.map((file, i) => [el("button", { type: "button",
      click: () => save(`blackjack-${i + 1}.json`, "application/json", JSON.stringify(file.content, null, 2) + "\n") }, `Save ${file.name}`), " "])),
    el("p", `Made by blackjack ${page.version}. Intervals are 95% confidence intervals; a value without one was not rated. Nothing was loaded to show this page.`),
    el("details", el("summary", "Notices of the software in this page"), el("pre", { tabindex: "0" }, notices)),
  ];
}

const page = readPage();
const title = page.profiles.length > 0 ? page.profiles.map((profile) => profile.title()).join(" and ") : page.files.map((file) => file.name).join(" and ");
document.title = `${title.slice(0, 120)} – BlackjackBench report`;
document.getElementById("top").append(el("h1", title));
const main = document.getElementById("answers");
const links = [];
present(page).forEach((section, i) => {
  const id = `section-${i + 1}`;
  main.append(el("section", { "aria-labelledby": id, "data-section": section.name ?? section.probe }, el("h2", { id }, section.title), drawSection(section, page)));
  links.push(el("li", el("a", { href: `#${id}` }, section.title)));
});
document.getElementById("contents").append(el("ul", links));
document.getElementById("end").append(...footer(page));
// Plots need to know how wide they are, so they are drawn in their place, and not before they come near to being seen:
// text first. Paper shows all that is not folded away.
const figures = [...document.querySelectorAll("figure[data-chart]")];
const watcher = new IntersectionObserver((entries) => entries.forEach(({ isIntersecting, target }) => {
  if (!isIntersecting) return;
  watcher.unobserve(target);
  target.draw();
}), { rootMargin: "800px" });
figures.forEach((figure) => watcher.observe(figure));
addEventListener("beforeprint", () => figures.forEach((figure) => figure.checkVisibility?.() !== false && figure.draw()));
