#!/usr/bin/env python3
"""Operations of a profile beside published ones, and chains of two operations beside the sum of both.

    ops.py PROFILE.json [--data x86_latency_throughput.csv --core "Raptor Cove"]

The table has latency and reciprocal throughput in cycles; relative to int32.add's latency they are in the profile's unit.
Wanted: add, mul, fma within 10%, div and sqrt within 25% for general operands, throughput within 30%, pairs within 5%.
Exit status 1 unless all are.
"""
import argparse
import csv
import json
import statistics
import sys
from pathlib import Path

# Rows whose operands are not those of our chains: see docs/probes/op.md.
INTEGER_DIVISION = {"int32.div": ("62-bit dividend, 31-bit divisor", "31-bit dividend, 31-bit divisor"),
                    "int64.div": ("126-bit dividend, 63-bit divisor", "63-bit dividend, 63-bit divisor")}
LIMITS = {"add": 0.1, "mul": 0.1, "fma": 0.1, "div": 0.25, "sqrt": 0.25}
PAIRS = [("int32", "add", "mul"), ("int64", "mul", "sub"), ("int32", "div", "mul"), ("int64", "div", "sub"),
         ("float", "mul", "div"), ("float", "fma", "mul"), ("double", "add", "mul"), ("double", "mul", "div"),
         ("double", "fma", "mul"), ("double", "sqrt", "fma")]


def published(path, core):
    """operation -> (latency, reciprocal throughput), in int32 additions; of several rows the first that has a number."""
    rows = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            wanted = INTEGER_DIVISION.get(row["operation"], ("", "general"))
            if row["core"] == core and row["operands"] in wanted:
                old = rows.get(row["operation"], ("", ""))
                rows[row["operation"]] = (old[0] or row["latency_cycles"],
                                          old[1] or row["reciprocal_throughput_cycles"])
    unit = float(rows["int32.add"][0])
    return {name: tuple(float(x) / unit if x else None for x in pair) for name, pair in rows.items()}


def judge(name, what, seen, wanted, limit):
    off = seen / wanted - 1
    good = abs(off) <= limit
    print(f"  {name:14} {what:10} {seen:8.3f}  published {wanted:8.3f}  {100 * off:+6.1f}%  {'' if good else 'OUTSIDE'}")
    return good


def compare_table(answers, table):
    good = total = 0
    for name, (latency, reciprocal) in table.items():
        limit = LIMITS.get(name.split(".")[1])
        for what, wanted, allowed in (("latency", latency, limit), ("throughput", reciprocal and 1 / reciprocal, 0.3)):
            answer = answers.get(f"op.{name}.{what}")
            if answer is None or answer["value"] is None or not wanted or limit is None:
                continue
            total += 1
            good += judge(name, what, answer["value"], wanted, allowed)
    return good, total


def step_cost(curves, name):
    """Of one stream, relative to the addition of the same round: the median of the rounds."""
    twice, once = curves[name]["y"]["rounds"], curves[name + ".once"]["y"]["rounds"]
    unit, unit_once = curves["op.yardstick"]["y"]["rounds"], curves["op.yardstick.once"]["y"]["rounds"]
    costs = []
    for r, (long, short) in enumerate(zip(twice, once)):
        additions = [2 * a - b for a, b in zip(unit[r], unit_once[r]) if a is not None and b is not None]
        if long[0] is not None and short[0] is not None and additions:
            costs.append((2 * long[0] - short[0]) / statistics.median(additions))
    return statistics.median(costs)


def compare_pairs(profile):
    good = 0
    for kind, first, second in PAIRS:
        seen = step_cost(profile["curves"], f"op.{kind}.{first}_{second}")
        parts = [profile["characteristics"][f"op.{kind}.{operation}.latency"]["value"] for operation in (first, second)]
        off = seen / sum(parts) - 1
        good += abs(off) <= 0.05
        print(f"  {kind + '.' + first + '+' + second:20} {seen:8.3f}  sum {parts[0]:.3f} + {parts[1]:.3f}  "
              f"{100 * off:+6.1f}%  {'' if abs(off) <= 0.05 else 'OUTSIDE'}")
    return good, len(PAIRS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("profile")
    parser.add_argument("--data")
    parser.add_argument("--core")
    options = parser.parse_args()
    profile = json.loads(Path(options.profile).read_text(encoding="utf-8"))
    results = []
    if options.data:
        print(f"beside {options.core}:")
        results.append(compare_table(profile["characteristics"], published(options.data, options.core)))
    print("chains of two operations:")
    results.append(compare_pairs(profile))
    print(", ".join(f"{good} of {total} within" for good, total in results))
    return 0 if all(good == total for good, total in results) else 1


if __name__ == "__main__":
    sys.exit(main())
