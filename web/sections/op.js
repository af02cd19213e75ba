// Operations: how long one takes, and how many an addition's time.
import { plots } from "../parts/chart.js";
import { answerDots } from "../parts/probe.js";

export function operationPlots(profile, probe, types) {
  const found = [...new Set(Object.keys(profile.answers).map((key) => /^op\.(\w+)\.(\w+)\.latency$/.exec(key)).filter((match) => match && types(match[1])).map((match) => match[1]))];
  const names = [...new Set(Object.keys(profile.answers).map((key) => /^op\.(\w+)\.(\w+)\.(latency|throughput)$/.exec(key)).filter((match) => match && found.includes(match[1]) && profile.answer(match[0])).map((match) => match[2]))];
  const items = (what) => names.flatMap((text) => found.map((group) => ({ text, group, key: `op.${group}.${text}.${what}` })));
  return [plots(
    answerDots({ profile, name: `${probe}-latency`, title: "Latency", items: items("latency"), label: "time of one (in 32-bit additions)", marginLeft: 60, caption: "How long one takes that waits for the one before: less is better." }),
    answerDots({ profile, name: `${probe}-throughput`, title: "Throughput", items: items("throughput"), label: "how many in the time of a 32-bit addition", marginLeft: 60, caption: "How many independent ones are done in the time of one 32-bit addition: more is better." }))];
}

export default { probe: "op", covers: /^op\./, plots: (profile) => operationPlots(profile, "op", (type) => !/x\d+$/.test(type)) };
