// Nothing serious for axe-core: light, dark, on a phone; all of it can be reached by keyboard.
import assert from "node:assert/strict";
import { close, drawAll, findBarriers, makePage, measure, open, phone, readJson, writeJson, zoo } from "./browser.mjs";
import { diagnosis, fleet, timings, tuning, widen } from "./samples.mjs";

const samples = { timings, tuning, diagnosis, fleet };

// One machine with every probe, and the many cpus alone: axe-core's time grows with the page.
const small = readJson(measure("small", "cache", ...zoo("no_l3")));
const wide = widen({ ...small, characteristics: {}, curves: {} });
const pages = [makePage("zoo", measure("zoo", ...zoo("no_l3"))), makePage("small", writeJson("small.json", small)), makePage("wide", writeJson("wide.json", wide)),
  ...Object.entries(samples).map(([name, content]) => makePage(name, writeJson(`${name}.json`, content)))];
const looks = [{}, { colorScheme: "dark" }, { ...phone, colorScheme: "dark" }, phone];
for (const [i, path] of pages.entries()) {
  const page = await open(path, looks[i % looks.length]);
  if (i > 0) await drawAll(page);
  assert.deepEqual(await findBarriers(page), [], path);
  await page.close();
}

// The first stop is the link past the contents, and what scrolls or folds can be reached.
const page = await open(pages[0]);
await page.keyboard.press("Tab");
assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the answers");
await page.keyboard.press("Enter");
assert.equal(await page.evaluate(() => document.activeElement.id), "answers");
const stops = new Set();
for (let i = 0; i < 40; i++) {
  await page.keyboard.press("Tab");
  stops.add(await page.evaluate(() => document.activeElement.localName));
}
for (const wanted of ["summary", "div"]) assert.ok(stops.has(wanted), `${wanted} is not reached by Tab: ${[...stops]}`);
const scrolling = await page.evaluate(() => [...document.querySelectorAll("*")].filter((node) => node.scrollWidth > node.clientWidth + 1 && ["auto", "scroll"].includes(getComputedStyle(node).overflowX) && node.tabIndex < 0).length);
assert.equal(scrolling, 0, "what scrolls can be reached");
await page.close();
await close();
