// Wherever a file has text: markup, quotes, long words, writing from right to left. None of it may become an element or run.
import assert from "node:assert/strict";
import { close, drawAll, makePage, measure, open, phone, readJson, writeJson, zoo } from "./browser.mjs";
import { diagnosis, fleet, timings, tuning } from "./samples.mjs";

const samples = { timings, tuning, diagnosis, fleet };

const evil = '"\'></script><script>window.ran=1</script><img src=x onerror="window.ran=1"><svg onload="window.ran=1"><!-- ${window.ran=1} \u202e\u05d0 ';
const long = "x".repeat(10000);
const kept = ["format", "unit", "status", "confidence", "probe", "resource"]; // words that programs check or that name sections

/** Every text of the file, but for the words that make it what it is. */
function poison(value, name = "") {
  if (typeof value === "string") return kept.includes(name) ? value : evil + (name === "reason" || name === "cpu" ? long : value);
  if (Array.isArray(value)) return value.map((item) => poison(item, name));
  if (value !== null && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, poison(item, key)]));
  return value;
}

async function attack(name, content, file = writeJson(`${name}.json`, content)) {
  for (const more of name === "profile" ? [{}, phone] : [{}]) {
    const page = await open(makePage(`${name}-${more.viewport ? "phone" : "desktop"}`, file), more);
    await drawAll(page);
    assert.equal(await page.evaluate(() => window.ran), undefined, name);
    assert.equal(await page.locator("img, iframe, object, embed").count(), 0, name);
    assert.equal(await page.locator("script").count(), 2, name);
    assert.equal(await page.evaluate(() => [...document.querySelectorAll("*")].flatMap((node) => [...node.attributes]).filter((attribute) => /^on/i.test(attribute.name)).length), 0, `${name}: handlers`);
    assert.ok((await page.textContent("main")).includes("<script>window.ran=1</script>"), `${name}: the text is shown as text`);
    await page.check();
    await page.close();
  }
}

const profile = readJson(measure("profile", "clock", "cache", "line", ...zoo("noisy_neighbour")));
profile.environment = poison({ ...profile.environment, cpu: "cpu", warnings: ["warning"] });
for (const answer of Object.values(profile.characteristics)) if (answer.status !== "ok") answer.reason = evil + long;
for (const answer of Object.values(profile.characteristics)) if (answer.method) answer.method = "<img src=x onerror=ran=1>";
await attack("profile", profile);
for (const [name, content] of Object.entries(samples)) await attack(name, poison(content));

// Names as keys, too, and numbers where text belongs and text where numbers do.
const odd = JSON.parse(JSON.stringify(samples.tuning));
odd.inputs = { [evil]: evil, __proto__: 1, constructor: 2 };
odd.results.forEach((result) => (result.against = { [evil]: 3, toString: 4 }));
odd.model = { ...odd.model, mr: evil, reasoning: [evil, 1, null, {}] };
await attack("odd", odd);
const wrong = JSON.parse(JSON.stringify(samples.diagnosis));
wrong.verdict = { resource: evil, confidence: evil, reason: evil };
wrong.densities[0].seconds.value = evil;
wrong.sensitivity.cache = evil;
await attack("wrong", wrong);
await close();
