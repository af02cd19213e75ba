// Timings, tuning, diagnosis and fleet: the numbers shown are the file's, alone and beside a profile.
import assert from "node:assert/strict";
import { close, drawAll, makePage, measure, numbersIn, open, phone, writeJson, zoo } from "./browser.mjs";
import { diagnosis, fleet, smallDiagnosis, timings, tuning } from "./samples.mjs";

const samples = { timings, tuning, diagnosis, fleet };

const listed = (object, keys) => keys.map((key) => object[key]);
const cases = {
  timings: { plots: { timings: 6, "timings-contexts": 3, "timings-pairs": 3 }, numbers: ({ timings, pairs }) => [...timings.map(({ time_ns: { value } }) => value), ...pairs.map(({ ratio: { value } }) => value)] },
  tuning: { plots: { "tuning-warm": 15, "tuning-cold": 15, "tuning-figure-12": 5 }, numbers: ({ results, inputs, search, figure_12: figure }) => [figure.model_size, figure.knee, ...search.sizes.flatMap(({ n, chosen_gflops: chosen, best, chosen_by_best: share }) => [n, chosen, best.gflops, share]), ...["", "_cold"].flatMap((context) => results.flatMap((result) => [...listed(result[`own${context}`], ["2012", "general", "fixed", "plain"]), result[`against${context}`].OpenBLAS])), ...Object.values(inputs)] },
  diagnosis: { plots: { densities: 9, "sensitivity-cache": 3, "sensitivity-memory": 4, closure: 6, "diagnosis-roofline": 4 },
    numbers: ({ densities, cross_talk: talk }) => [...[...densities, ...densities].flatMap(({ seconds, efficiency, row_hits: hits }) => [seconds.value, efficiency.value, hits]), ...["walk", "lines", "scattered"].flatMap((key) => listed(talk[key], ["cache", "bandwidth", "dram_rows", "copies"]))] },
  fleet: { plots: { fleet: 2 }, numbers: ({ outliers, doubtful }) => [...outliers, ...doubtful].flatMap(({ value, median }) => [value, median]) },
};

const beside = measure("beside", "clock", "cache", "bandwidth", "op", ...zoo("atom"));
for (const [name, { plots: wanted, numbers }] of Object.entries(cases)) {
  const file = writeJson(`${name}.json`, samples[name]);
  for (const files of [[file], [file, beside]]) { // alone on a phone, beside a profile on a desktop
    const page = await open(makePage(`${name}-${files.length}`, ...files), files.length === 1 ? { ...phone, colorScheme: "dark" } : {}), plots = await drawAll(page);
    assert.deepEqual(await numbersIn(page, `section[data-section=${name}]`), numbers(samples[name]), name);
    for (const [plot, marks] of Object.entries(wanted)) assert.equal(plots.get(plot)?.marks, marks, `${name}: ${plot}`);
    await page.check();
    await page.checkPaper();
    await page.close();
  }
}

// Figure 12 names the model's size and the knee, where they are; a kernel that never slows down for good has none.
const model = await open(makePage("knee", writeJson("knee.json", tuning)));
await drawAll(model);
const labels = await model.evaluate(() => [...document.querySelectorAll("figure[data-chart=tuning-figure-12] svg text")].map(({ textContent }) => textContent).filter((text) => /[a-z] \d/.test(text)));
assert.deepEqual(labels.sort(), ["knee 64", "model 56"]);
await model.close();
const flat = await open(makePage("flat", writeJson("flat.json", { ...tuning, figure_12: { ...tuning.figure_12, knee: null } })));
assert.equal(await flat.getByText("there is no knee").count(), 1);
await flat.close();

const small = await open(makePage("small", writeJson("small.json", smallDiagnosis), beside));
assert.equal((await drawAll(small)).get("diagnosis-roofline")?.marks, 4, "the roofs of the profile: two levels, memory, the program");
await small.close();

// What the format asks for and no more; and what is not there at all.
const bare = [{ format: "blackjack-tuning/1", inputs: {}, model: { mr: 4, nr: 2, kr: 1, block: 8 }, results: [{ n: 8, gflops: 1.5, against: { BLIS: 1.25 } }] }, { format: "blackjack-diagnosis/1", densities: [], sensitivity: {}, verdict: { resource: "undetermined", confidence: "low", reason: "too noisy" } },
  { format: "blackjack-diagnosis/1" }, { format: "blackjack-timings/1" }, { format: "blackjack-fleet/1" }, { format: "blackjack-tuning/1", results: null }];
for (const [i, content] of bare.entries()) await (await open(makePage(`bare-${i}`, writeJson(`bare-${i}.json`, content)))).close();
await close();
