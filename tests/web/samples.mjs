// Small files of the formats that are not profiles, as their commands write them.
const seconds = (value, low, high) => ({ value, unit: "s", interval: [low, high], confidence: "high", status: "ok" });
const time = (value) => ({ value, unit: "ns", interval: [value * 0.98, value * 1.02], confidence: "high", status: "ok", method: "least_wall/1" });
const sizes = [500, 8000, 128000];

export const timings = {
  format: "blackjack-timings/1", clock: "wall time: the machine is quiet", flush_bytes: 1048576,
  timings: sizes.flatMap((n, i) => [
    { kernel: "a.c:dot", n, context: "cold", time_ns: time(n * (3 - i)), calls_per_timing: 1, samples: 7, clock: "wall", residency: { asked: "L2", seen_ns: 4.1, expected_ns: 4 }, remark: "flushed by lines it takes 1.32 times as long" },
    { kernel: "a.c:dot", n, context: "warm", time_ns: time(n * 0.5), calls_per_timing: 9, samples: 7, clock: "wall" }]),
  pairs: sizes.map((n, i) => ({ a: "a.c:dot", b: "b.c:dot", n, context: "cold", ratio: { value: 0.8 + i / 4, unit: "", interval: [0.7 + i / 4, 0.9 + i / 4], confidence: "medium", status: "ok" } })),
};

export const tuning = {
  format: "blackjack-tuning/1", operation: "gemm", type: "double", inputs: { "cache.L1.size_bytes": 32768, "live.double": 16 },
  model: { mr: 8, nr: 6, kr: 4, block: 56, kc: 80, mc: 480, block_2012: 56, reasoning: ["mr x nr = 8 x 6: sums cover the latency", "2012: matrix size 56"] },
  results: [8, 16, 64].map((n) => ({ n, gflops: n / 2, own: { general: n / 3, fixed: n / 2, 2012: n / 5, plain: n / 9 }, against: { OpenBLAS: n / 4 }, own_cold: { general: n / 6, fixed: n / 4, 2012: n / 10, plain: n / 18 }, against_cold: { OpenBLAS: n / 8 } })),
  figure_12: { model_size: 56, knee: 64, points: [8, 32, 56, 64, 96].map((n) => ({ n, gflops: n < 70 ? 5 : 3 })) },
  search: { combinations: 40, chosen_by_best: 0.97, sizes: [{ n: 8, chosen_gflops: 4, best: { mr: 8, nr: 6, kr: 4, packed: true, gflops: 4.1 }, chosen_by_best: 0.976 }], candidates: [] },
};

const densities = [[1, 2], [2, 2.2], [4, 4]].map(([cpus, value]) => ({ cpus, seconds: seconds(value, value * 0.95, value * 1.05), efficiency: { value: 2 / value, unit: "", status: "ok" }, row_hits: 1 / cpus / 4 }));
const slower = (...list) => list.map(([x, y]) => [x, y, y * 0.98, y * 1.02]);

export const diagnosis = {
  format: "blackjack-diagnosis/1", machine: "native", program: "stencil", scaling: "weak", seed: 1, densities,
  sensitivity: { cache: slower([1048576, 1.01], [2097152, 1.02], [4194304, 1.05]), bandwidth: slower([4.5, 1.1], [7.2, 1.9]), dram_rows: slower([4.4, 1], [4.6, 1.1]) },
  cross_talk: { walk: { cache: 2.4, bandwidth: 1, dram_rows: 1, copies: 3.5 }, lines: { cache: 1, bandwidth: 1.6, dram_rows: 1.5, copies: 2.4 }, scattered: { cache: 1.1, bandwidth: 1.6, dram_rows: 1.9, copies: 2.9 }, condition: 10.6 },
  closure: { measured: 2, predicted: 1.9, residual: 1.05, parts: { cache: 1.05, bandwidth: 1.81, dram_rows: 1, other: 1 }, pressure: { cache: 1, bandwidth: 2, dram_rows: 1 } },
  evidence: { chip: [0, 1, 2, 3], support: { bandwidth: 0.98, other: 0.02, none: 0 } },
  peaks: { gflops: 4.6, roofs: [{ from: "memory", cpu_gbs: 4.5, all_gbs: 2.25, ridge_flops_per_byte: 1.02 }], program: [{ cpus: 1, gflops: 1, gbs: 4, roof_share: 0.9 }, { cpus: 4, gflops: 0.5, gbs: 2, roof_share: 0.9 }] },
  variants: [{ make: "make fissioned", densities }],
  verdict: { resource: "bandwidth", confidence: "high", reason: "its copies ask for more than all cpus get" },
  later: { unknown: ["fields", { are: "ignored" }] },
};

/** As little as the format asks for: the roofline is that of a profile beside it. */
export const smallDiagnosis = { format: diagnosis.format, flops: 2e9, bytes: 8e9, densities: [{ cpus: 1, seconds: seconds(2, 1.9, 2.1) }], sensitivity: { cache: slower([0.25, 1]), bandwidth: [], dram_rows: [] }, verdict: { resource: "none", confidence: "low", reason: "" } };

export const fleet = {
  format: "blackjack-fleet/1", hosts: 12, judged: 492, kinds: [{ name: "zen3, 32 cpus", hosts: 12, judged: true }], notes: ["old.json is of another kind"],
  outliers: [{ file: "h7.json", key: "memory.read_gbs", unit: "GB/s", value: 10.9, median: 21.8, ratio: 0.5, p: 4.65e-9, of: 12, kind: 0 }, { file: "h9.json", key: "cpu.clock_ghz", unit: "GHz", value: 2, median: 3, ratio: 0.667, p: 1e-6, of: 12, kind: 0 }],
  doubtful: [{ file: "h1.json", key: "cache.levels", unit: "count", value: 2, median: 3, ratio: 0.667, p: 0.2, of: 12, kind: 0, doubt: "a count" }],
};

/** Layers as blackjack-comm writes them: one line fits the near one, two protocols the far one. */
export const layers = { status: "ok", unit: "", confidence: "high", method: "gaps/1", evidence: [], probe: "comm", value: [
  { name: "host", latency_us: 23.5, bytes: 32768, pairs: 12, groups: [[0, 1], [2, 3]], curve: [[0, 3, 0], [1, 3.01, 0.00033], [4096, 5.57, 0.735], [32768, 23.5, 1.394], [1048576, 659.9, 1.589]],
    segments: [{ from_bytes: 0, us: 3, gbs: 1.598 }], switches: [], hockney: { us: 3, gbs: 1.598, error: 0.0039 }, scaling: [[1, 1], [2, 1.11]] },
  { name: "network", latency_us: 47.2, bytes: 32768, pairs: 4, groups: [[0, 1, 2, 3]], curve: [[0, 6.2, 0], [1, 6.21, 0.00016], [4096, 11.3, 0.361], [49152, 67.7, 0.726], [65536, 65.7, 0.998], [1048576, 886.4, 1.183]],
    segments: [{ from_bytes: 0, us: 6.21, gbs: 0.799 }, { from_bytes: 65536, us: 10.97, gbs: 1.198 }], switches: [{ after_bytes: 49152, at_bytes: 65536, jump: 0.744 }], hockney: { us: 6.45, gbs: 1.124, error: 0.259 }, scaling: [[1, 1], [2, 1.2], [4, 1.59]] }] };

/** A profile with 256 threads added: 2 chips of 8 groups of 8 cores of 2 threads, one pair in forty measured. */
export function widen(profile) {
  const split = [[2, 210], [8, 105], [8, 20], [2, 7]];
  const node = (cpus, depth) => ({ cpus: [...cpus].sort((a, b) => a - b), latency_ns: split[depth][1], children: depth + 1 === split.length ? [] : Array.from({ length: split[depth][0] }, (_, i) => node(cpus.slice((i * cpus.length) / split[depth][0], ((i + 1) * cpus.length) / split[depth][0]), depth + 1)) });
  const cpus = Array.from({ length: 256 }, (_, i) => (i * 37) % 256), tree = node(cpus, 0);
  const pairs = cpus.flatMap((a, i) => cpus.slice(i + 1).map((b, j) => ({ a, b, at: [i, i + 1 + j] }))).filter((_, i) => i % 40 === 0)
    .map(({ a, b, at }) => ({ a, b, latency_ns: [128, 16, 2, 1].map((size, depth) => [size, depth]).find(([size]) => Math.floor(at[0] / size) !== Math.floor(at[1] / size))?.[1] })).map(({ a, b, latency_ns: depth }) => ({ a, b, latency_ns: split[depth ?? 3][1] }));
  const answer = (value) => ({ value, unit: "", confidence: "high", status: "ok", method: "exchange_groups/1", evidence: [], probe: "topology" });
  const curves = Object.fromEntries(cpus.map((cpu) => [`topology.pairs.${cpu}`, { probe: "topology", x: { name: "cpu", unit: "number", values: Array.from({ length: 40 }, (_, i) => i) }, y: { name: "time_of_turn", unit: "ns", rounds: Array.from({ length: 6 }, () => Array.from({ length: 40 }, (_, i) => 7 + i)) } }]));
  const environment = { ...profile.environment, cpus_allowed: [...cpus].sort((a, b) => a - b) };
  return { ...profile, environment, characteristics: { ...profile.characteristics, "topology.tree": answer(tree), "topology.pairs": answer(pairs) }, curves: { ...profile.curves, ...curves } };
}
