// Timings, tuning, diagnosis and fleet: the numbers shown are the file's, alone and beside a profile.
import assert from "node:assert/strict";
import { close, drawAll, makePage, measure, numbersIn, open, phone, writeJson, zoo } from "./browser.mjs";
import { diagnosis, fleet, timings, tuning } from "./samples.mjs";

const samples = { timings, tuning, diagnosis, fleet };

const listed = (object, keys) => keys.map((key) => object[key]);
const cases = {
  timings: { plots: { timings: 6, "timings-contexts": 3, "timings-pairs": 3 }, numbers: ({ timings, pairs }) => [...timings.map(({ time_ns: { value } }) => value), ...pairs.map(({ ratio: { value } }) => value)] },
  tuning: { plots: { "tuning-warm": 15, "tuning-cold": 15 }, numbers: ({ results, inputs }) => [...["", "_cold"].flatMap((context) => results.flatMap((result) => [...listed(result[`own${context}`], ["2012", "general", "fixed", "plain"]), result[`against${context}`].OpenBLAS])), ...Object.values(inputs)] },
  diagnosis: { plots: { densities: 6, sensitivity: 6 }, numbers: ({ densities }) => densities.map(({ seconds: { value } }) => value) },
  fleet: { plots: { fleet: 2 }, numbers: ({ outliers, doubtful }) => [...outliers, ...doubtful].flatMap(({ value, median }) => [value, median]) },
};

const beside = measure("beside", "clock", "cache", "bandwidth", "op", ...zoo("atom"));
for (const [name, { plots: wanted, numbers }] of Object.entries(cases)) {
  const file = writeJson(`${name}.json`, samples[name]);
  for (const files of [[file], [file, beside]]) {
    const page = await open(makePage(`${name}-${files.length}`, ...files)), plots = await drawAll(page);
    assert.deepEqual(await numbersIn(page, `section[data-section=${name}]`), numbers(samples[name]), name);
    for (const [plot, marks] of Object.entries(wanted)) assert.equal(plots.get(plot)?.marks, marks, `${name}: ${plot}`);
    assert.equal(plots.has("diagnosis-roofline"), name === "diagnosis" && files.length === 2);
    await page.check();
    await page.close();
  }
  const small = await open(makePage(`${name}-phone`, file), { ...phone, colorScheme: "dark" });
  await drawAll(small);
  await small.check();
  await small.close();
}

// What the format asks for and no more; and what is not there at all.
const bare = [{ format: "blackjack-tuning/1", inputs: {}, model: { mr: 4, nr: 2, kr: 1, block: 8 }, results: [{ n: 8, gflops: 1.5, against: { BLIS: 1.25 } }] }, { format: "blackjack-diagnosis/1", densities: [], sensitivity: {}, verdict: { resource: "undetermined", confidence: "low", reason: "too noisy" } },
  { format: "blackjack-diagnosis/1" }, { format: "blackjack-timings/1" }, { format: "blackjack-fleet/1" }, { format: "blackjack-tuning/1", results: null }];
for (const [i, content] of bare.entries()) await (await open(makePage(`bare-${i}`, writeJson(`bare-${i}.json`, content)))).close();
await close();
