// What the tests of the page share: usage node TEST BLACKJACK SOURCE_DIR; exit status 77: this machine cannot run it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const [blackjack, source] = process.argv.slice(2);
const modules = createRequire(join(source, "web/main.js"));

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}

const browserPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync) ?? skip("no Chromium here (Debian's package chromium)");
function load(name) {
  try {
    return modules(name);
  } catch {
    return skip(`no ${name} in web/node_modules ('npm ci' in web/ installs it)`);
  }
}
const { chromium } = load("playwright-core");

export const scratch = mkdtempSync(join(tmpdir(), "bj-web-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

export const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));
export function writeJson(name, content) {
  const path = join(scratch, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** A profile of this machine or a simulated one. */
export function measure(name, ...args) {
  const path = join(scratch, `${name}.json`);
  const { status, stderr } = spawnSync(blackjack, ["run", ...args, "--effort", "quick", "-q", "-o", path], { encoding: "utf8" });
  assert.ok(status === 0 || status === 1, stderr); // 1: some probe failed, which is worth a page
  return path;
}
export const zoo = (name) => ["--machine", `sim:${join(source, `machines/${name}.json`)}`];

export function makePage(name, ...files) {
  const path = join(scratch, `${name}.html`);
  const { status, stderr } = spawnSync(blackjack, ["report", ...files, "-o", path, "-q"], { encoding: "utf8" });
  if (stderr.includes("built without the report page")) skip("the program was built without the page");
  assert.equal(status, 0, stderr);
  return path;
}

makePage("first", join(source, "tests/cli/profile.json"));
const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
export const close = () => browser.close();
export const phone = { viewport: { width: 390, height: 800 } };

/** Opens a page and fails on whatever it logs as an error, asks of the network, or lets out as a dialog. */
export async function open(path, more = {}) {
  const page = await browser.newPage({ colorScheme: "light", viewport: { width: 1100, height: 900 }, ...more });
  const wrong = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("dialog", (dialog) => (wrong.push(`dialog ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => !/^(file|data|blob):/.test(request.url()) && wrong.push(`request ${request.url()}`));
  await page.goto(`file://${path}`);
  page.check = async () => {
    assert.deepEqual(wrong, [], path);
    assert.equal(await page.getByText("could not be drawn").count(), 0, `${path}: a section could not be drawn`);
    const width = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(width <= 0, `${path} is ${width} pixels wider than the window`);
  };
  /** Nothing may stand beyond the edge of the paper, where nobody can scroll. */
  page.checkPaper = async () => {
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 690, height: 970 });
    const wide = await page.evaluate(() => [...document.querySelectorAll("table, figure, p, h1, h2, h3")].filter((part) => part.checkVisibility() && part.getBoundingClientRect().right > innerWidth + 1).map((part) => `${part.tagName} ${part.textContent.slice(0, 60)}`));
    assert.deepEqual(wide, [], `${path} on paper`);
  };
  await page.check();
  return page;
}

/** Unfolds and draws all there is: {name: {marks: as the page says, drawn: as there are, alt}}. */
export async function drawAll(page) {
  await page.evaluate(() => document.querySelectorAll("details").forEach((part) => (part.open = true)));
  await page.waitForFunction(() => [...document.querySelectorAll("details")].every((part) => part.childElementCount > 1));
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  const plots = await page.evaluate(() => [...document.querySelectorAll("figure[data-chart]")].map((figure) => ({ name: figure.dataset.chart, marks: Number(figure.dataset.marks),
    alt: figure.querySelector("svg")?.getAttribute("aria-label") ?? "", drawn: figure.querySelectorAll("svg .samples circle, svg .samples rect, svg .samples path").length })));
  for (const { name, marks, alt, drawn } of plots) {
    assert.ok(alt.length > 20, `${name} has no text alternative`);
    assert.equal(drawn, marks, `${name}: marks`);
  }
  return new Map(plots.map((plot) => [plot.name, plot]));
}

/** The exact numbers of what is shown in a part of the page. */
export const numbersIn = (page, selector) => page.evaluate((at) => [...document.querySelectorAll(`${at} data`)].map(({ value }) => Number(value)), selector);

/** What axe-core finds that is serious. */
export async function findBarriers(page) {
  await page.evaluate(readFileSync(modules.resolve("axe-core/axe.min.js"), "utf8"));
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`);
}
load("axe-core");
