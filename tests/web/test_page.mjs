// The page as a browser has it. usage: node test_page.mjs BLACKJACK SOURCE_DIR; 77: this machine cannot run it.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [blackjack, source] = process.argv.slice(2);
const skip = (why) => {
  console.log(`skipped: ${why}`);
  process.exit(77);
};
const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync) ?? skip("no Chromium");
let chromium;
try {
  ({ chromium } = createRequire(join(source, "web/main.js"))("playwright-core"));
} catch {
  skip("no playwright-core in web/node_modules");
}
const scratch = mkdtempSync(join(tmpdir(), "bj-web-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

function makePage(name, ...files) {
  const path = join(scratch, `${name}.html`);
  const { status, stderr } = spawnSync(blackjack, ["report", ...files, "-o", path, "-q"], { encoding: "utf8" });
  if (stderr.includes("built without the report page")) skip("built without the page");
  assert.equal(status, 0, stderr);
  return path;
}

makePage("first", join(source, "tests/cli/profile.json"));
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
const options = { colorScheme: "light", viewport: { width: 1100, height: 900 } };

/** Opens a page and fails on whatever it logs as an error, asks of the network, or lets out as a dialog. */
async function open(path, more = {}) {
  const page = await browser.newPage({ ...options, ...more });
  const wrong = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("dialog", (dialog) => (wrong.push(`dialog ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => !request.url().startsWith("file:") && !request.url().startsWith("data:") && wrong.push(`request ${request.url()}`));
  await page.goto(`file://${path}`);
  assert.deepEqual(wrong, [], path);
  assert.equal(await page.getByText("could not be drawn").count(), 0, `${path}: a section could not be drawn`);
  const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(width <= 0, `${path} is ${width} pixels wider than the window`);
  page.check = () => assert.deepEqual(wrong, [], path);
  return page;
}

/** Every number shown is the file's; every plot has a text alternative, and as many dots as it says it has samples. */
async function checkProfile(page, profile) {
  const seen = await page.evaluate(() => [...document.querySelectorAll("tr[data-key]")].map((row) => [row.dataset.key, row.querySelector("data")?.value ?? null]));
  const answers = profile.characteristics;
  for (const [key, value] of seen) {
    const wanted = answers[key].value;
    if (wanted === null) assert.ok(value === null || Number(value) === answers[key].claimed, key);
    else assert.deepEqual(JSON.parse(value), wanted, key);
  }
  assert.deepEqual([...new Set(seen.map(([key]) => key))].sort(), Object.keys(answers).sort(), "every answer is on the page");
  await page.evaluate(() => document.querySelectorAll("details").forEach((part) => (part.open = true)));
  await page.evaluate(() => dispatchEvent(new Event("beforeprint"))); // draws what is out of sight, too
  const plots = await page.evaluate(() => [...document.querySelectorAll("figure[data-chart]")].map((figure) => ({ name: figure.dataset.chart, marks: Number(figure.dataset.marks),
    alt: figure.querySelector("svg")?.getAttribute("aria-label") ?? "", drawn: figure.querySelectorAll("svg [aria-label=dot] circle, svg [aria-label=cell] rect").length })));
  for (const { name, marks, alt, drawn } of plots) {
    assert.ok(alt.length > 20, `${name} has no text alternative`);
    assert.equal(drawn, marks, `${name}: marks`);
  }
  return plots.length;
}

const zoo = join(scratch, "zoo.json");
execFileSync(blackjack, ["run", "--machine", `sim:${join(source, "machines/no_l3.json")}`, "--effort", "quick", "-o", zoo], { stdio: "ignore" });
const multicore = join(source, "tests/cli/multicore_profile.json");
for (const [name, file, least] of [["zoo", zoo, 10], ["multicore", multicore, 0], ...process.argv.slice(4).map((file, i) => [`given-${i}`, file, 1])]) {
  const page = await open(makePage(name, file));
  const plots = await checkProfile(page, JSON.parse(readFileSync(file, "utf8")));
  assert.ok(plots >= least, `${name}: ${plots} plots`);
  page.check();
  await page.close();
  await (await open(join(scratch, `${name}.html`), { viewport: { width: 390, height: 800 }, colorScheme: "dark" })).close();
}

const two = await open(makePage("two", zoo, multicore));
assert.equal(await two.locator("section[data-section=compare]").count(), 1);
await two.close();

const timings = join(scratch, "timings.json");
const time = { value: 12.5, unit: "ns", interval: [12, 13], confidence: "high", status: "ok" };
writeFileSync(timings, JSON.stringify({ format: "blackjack-timings/1", clock: "wall", flush_bytes: 0, pairs: [],
  timings: [{ kernel: "a<b>", n: 8, context: "warm", time_ns: time }, { kernel: "a<b>", n: 64, context: "warm", time_ns: { ...time, value: 100, interval: [99, 101] } }] }));
const timed = await open(makePage("timings", timings));
assert.deepEqual(await timed.evaluate(() => [...document.querySelectorAll("section[data-section=timings] data")].map(({ value }) => Number(value))), [12.5, 100]);
await timed.locator("figure[data-chart=timings] circle").first().waitFor();
assert.equal(await timed.locator("figure[data-chart=timings] circle").count(), 2);
timed.check();
await timed.close();

// Wherever a profile has text, markup; none of it may become an element or run.
const evil = '"\'></script><script>window.ran=1</script><img src=x onerror="window.ran=1"><!-- \u202e\u05d0 ';
const hostile = JSON.parse(readFileSync(zoo, "utf8"));
hostile.environment.cpu = evil + "x".repeat(10000);
hostile.environment.warnings = [evil];
for (const answer of Object.values(hostile.characteristics)) if (answer.status !== "ok") answer.reason = evil;
const hostileFile = join(scratch, "hostile.json");
writeFileSync(hostileFile, JSON.stringify(hostile));
const attacked = await open(makePage("hostile", hostileFile));
assert.equal(await attacked.evaluate(() => window.ran), undefined);
assert.equal(await attacked.locator("img").count(), 0);
assert.equal(await attacked.locator("script").count(), 2);
assert.ok((await attacked.locator(".warnings").first().textContent()).includes("<script>window.ran=1</script>"), "the text is shown as text");
attacked.check();
await browser.close();
