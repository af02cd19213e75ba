// One section a probe, whichever probes there are. A section file that names its probe says how that one is drawn.
import { probeSection } from "../parts/probe.js";

function probesOf(page) {
  const names = new Set(page.profiles.flatMap((profile) => [...Object.values(profile.answers).map(({ probe }) => probe ?? ""), ...Object.values(profile.curves).map(({ probe }) => probe)]));
  const known = [...page.questions.keys()].filter((name) => names.has(name));
  return [...known, ...[...names].filter((name) => name && !page.questions.has(name)).sort(), ...(names.has("") ? [""] : [])];
}

export default {
  order: 20,
  expand: (page, sections) => probesOf(page).map((probe, i) =>
    probeSection({ probe, order: 20 + i / 1000, title: probe || "Other answers", view: sections.find((section) => section.probe === probe) })),
};
