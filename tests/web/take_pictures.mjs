// Renews the pictures of the page in docs/images: node tests/web/take_pictures.mjs BLACKJACK SOURCE_DIR [PROFILE]
// PROFILE is of a real machine, for the dark, phone and print ones. To be looked at, and made smaller by pngquant.
import { join } from "node:path";
import { close, makePage, measure, open, phone, source, zoo } from "./browser.mjs";

const folder = join(source, "docs/images");
const all = (page) => page.evaluate(() => {
  document.documentElement.style.scrollBehavior = "auto";
  document.querySelectorAll("figure[data-chart]").forEach((figure) => figure.checkVisibility() && figure.draw());
});

/** The window, scrolled so that what `at` selects is on top. */
async function take(name, path, { at = null, media = "screen", ...look }) {
  const page = await open(path, look);
  await page.emulateMedia({ media });
  await all(page);
  if (at) await page.evaluate((selector) => document.querySelector(selector).scrollIntoView(), at);
  await page.waitForTimeout(200);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.close();
}

const dunnington = makePage("dunnington", measure("dunnington", ...zoo("dunnington")));
const real = makePage("real", process.argv[4] ?? measure("real"));
const section = (probe) => `section[data-section=${probe}]`;
await take("report", dunnington, { viewport: { width: 1000, height: 640 } });
await take("report-noisy", makePage("noisy", measure("noisy", ...zoo("noisy_neighbour"))), { viewport: { width: 1000, height: 900 } });
await take("report-256", makePage("wide", measure("wide", "topology", ...zoo("epyc_2x64"))), { viewport: { width: 1000, height: 1150 }, at: section("topology") });
await take("report-dark", real, { viewport: { width: 1000, height: 760 }, colorScheme: "dark", at: section("cache") });
await take("report-phone", real, { ...phone, viewport: { width: 390, height: 1000 } });
await take("report-print", real, { viewport: { width: 690, height: 970 }, media: "print", at: section("cache") });
await close();
