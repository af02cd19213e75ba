// A profile as sections ask for it.

export class Profile {
  constructor(file) {
    this.file = file;
    this.name = file.name;
    this.headline = file.headline ?? [];
    this.content = file.content;
    this.answers = file.content.characteristics ?? {};
    this.curves = file.content.curves ?? {};
    this.run = file.content.run ?? {};
    this.environment = file.content.environment ?? {};
  }

  /** The answer if it has a value. */
  answer(key) {
    const answer = Object.hasOwn(this.answers, key) ? this.answers[key] : null;
    return answer && (answer.status === "ok" || answer.status === "unstable") && answer.value !== null && answer.value !== undefined ? answer : null;
  }

  number(key) {
    const value = this.answer(key)?.value;
    return typeof value === "number" ? value : null;
  }

  keysOf(probe) {
    return Object.keys(this.answers).filter((key) => (this.answers[key].probe ?? "") === probe);
  }

  curve(id) {
    return Object.hasOwn(this.curves, id) ? this.curves[id] : null;
  }

  idsOf(probe, pattern = /./) {
    return Object.keys(this.curves).filter((id) => this.curves[id].probe === probe && pattern.test(id) && count(this.curves[id]) > 0);
  }

  /** 1 .. n */
  levels() {
    const count = this.number("cache.levels") ?? 0;
    return Array.from({ length: Math.min(count, 8) }, (_, i) => i + 1);
  }

  /** What a person calls the machine. */
  title() {
    return this.environment.cpu || this.run.machine || this.name;
  }
}

function count(curve) {
  return curve?.x?.values?.length ?? 0;
}

/** Every sample: {x, y, round, series}. */
export function samples(curve, series) {
  const result = [];
  (curve?.y?.rounds ?? []).forEach((round, r) =>
    round.forEach((y, i) => {
      if (typeof y === "number" && i < curve.x.values.length) result.push({ x: curve.x.values[i], y, round: r, series });
    }));
  return result;
}

/** One y for each x: how = "least" on an idle core, where disturbance only adds time, or "median". */
export function summary(curve, how, series) {
  const rounds = curve?.y?.rounds ?? [];
  const result = [];
  (curve?.x?.values ?? []).forEach((x, i) => {
    const ys = rounds.map((round) => round[i]).filter((y) => typeof y === "number").sort((a, b) => a - b);
    if (ys.length > 0) result.push({ x, y: how === "least" ? ys[0] : ys[Math.floor(ys.length / 2)], series });
  });
  return result;
}

/** The curve as the program's `curve --csv` has it: one column a round. */
export function toCsv(curve) {
  const quote = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const unit = (axis) => (axis.unit ? `${axis.name} (${axis.unit})` : String(axis.name ?? ""));
  const rounds = curve.y?.rounds ?? [];
  const head = [unit(curve.x ?? {}), ...rounds.map((_, r) => `${unit(curve.y)} round ${r + 1}`)].map(quote);
  const rows = (curve.x?.values ?? []).map((x, i) => [x, ...rounds.map((round) => round[i] ?? "")].join(","));
  return [head.join(","), ...rows].join("\n") + "\n";
}
