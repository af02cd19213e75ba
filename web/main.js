// Puts the sections onto the page. A section is {order, title, applies(page), draw(page)}; one whose data is absent is
// absent. {expand(page, sections)} gives several of them. {probe, plots(profile)} is none itself: it says how
// sections/probes.js draws that probe.
import sections from "bj:sections";
import notices from "bj:notices";
import { drawWhenNear } from "./parts/chart.js";
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
  return sections.filter((section) => section.draw || section.expand)
    .flatMap((section) => (section.expand ? section.expand(page, sections).map((part) => ({ order: section.order, ...part })) : [section]))
    .filter((section) => section.applies?.(page) ?? true).sort((a, b) => a.order - b.order);
}

function footer(page) {
  return [
    el("p.screen", "The page holds its files whole: ", page.files.map((file, i) => [el("button", { type: "button",
      click: () => save(`blackjack-${i + 1}.json`, "application/json", JSON.stringify(file.content, null, 2) + "\n") }, `Save ${file.name}`), " "])),
    el("p", `Made by blackjack ${page.version}. Intervals are 95% confidence intervals; a value without one was not rated. Nothing was loaded to show this page.`),
    el("details", el("summary", "Notices of the software in this page"), el("pre", { tabindex: "0" }, notices)),
  ];
}

const page = readPage();
const names = [...new Set(page.profiles.map((profile) => profile.title()))];
const twins = page.profiles.length > names.length ? `: ${page.profiles.map(({ name }) => name).join(" and ")}` : ""; // one machine twice
const title = page.profiles.length > 0 ? `${names.join(" and ")}${twins}` : page.files.map((file) => file.name).join(" and ");
document.title = `${title.slice(0, 120)} – BlackjackBench report`;
document.getElementById("top").append(el("h1", title));
const main = document.getElementById("answers");
const links = { "": [], probe: [] };
present(page).forEach((section, i) => {
  const id = `section-${i + 1}`;
  main.append(el("section", { "aria-labelledby": id, "data-section": section.name ?? section.probe, "data-kind": section.kind }, el("h2", { id }, section.title), drawSection(section, page)));
  links[section.kind ?? ""].push(el("li", el("a", { href: `#${id}` }, section.title)));
});
const contents = document.getElementById("contents");
if (links[""].length + links.probe.length === 1) contents.remove(); // it would name the only heading below it
else contents.append(...[el("ul", links[""]), links.probe.length > 0 && el("ul.probes", el("li.soft", "Probes:"), links.probe)].filter(Boolean));
document.getElementById("end").append(...footer(page));
drawWhenNear(document);
