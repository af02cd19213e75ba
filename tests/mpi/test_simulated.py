"""Layers, scaling and protocols of simulated machines. usage: test_simulated.py BLACKJACK-COMM"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = sys.argv[1]


def measure(machine, *more):
    text = subprocess.run([PROGRAM, "--machine", f"sim:{machine}", "--quiet", "-o", "-", *more], check=True,
                          capture_output=True, text=True).stdout
    profile = json.loads(text)
    answer = profile["characteristics"]["comm.layers"]
    # A paper's method to the letter is low at most.
    sure = "low" if "first_come" in more else "high"
    assert answer["status"] == "ok" and answer["confidence"] == sure, (machine, answer["status"], answer["confidence"])
    return answer["value"], profile["probes"]["comm"]["seconds"]


def cluster(folder, placement):
    layers = [{"within": "L3", "ranks": 16, "segments": [{"from_bytes": 0, "us": 0.4, "gbs": 8}], "share": 0.02},
              {"within": "node", "ranks": 128, "segments": [{"from_bytes": 0, "us": 0.8, "gbs": 5}], "share": 0.03},
              {"within": "network", "ranks": 8192, "share": 0.05,
               "segments": [{"from_bytes": 0, "us": 2.1, "gbs": 6}, {"from_bytes": 65536, "us": 5.0, "gbs": 11}]}]
    path = Path(folder) / f"{placement}.json"
    path.write_text(json.dumps({
        "format": "blackjack-machine/1", "name": placement, "cpus": 2,
        "caches": [{"level": 1, "size": 32768, "line": 64, "ways": 8, "latency": 4}],
        "messages": {"layers": layers, "placement": placement},
        "noise": {"jitter": 0.015, "spike_rate": 0.01, "spike_factor": 5}}))
    return path


def host_of(rank, placement):
    return rank // 128 if placement == "block" else rank % 64


def check_cluster(folder, placement):
    layers, seconds = measure(cluster(folder, placement))
    assert [layer["name"] for layer in layers] == ["host 1", "host 2", "network"], [l["name"] for l in layers]
    assert sorted(map(len, layers[0]["groups"])) == [16] * 512
    assert sorted(map(len, layers[1]["groups"])) == [128] * 64
    assert all(len({host_of(rank, placement) for rank in group}) == 1 for group in layers[1]["groups"])
    assert len(layers[2]["groups"]) == 1 and len(layers[2]["groups"][0]) == 8192
    assert [switch["at_bytes"] for switch in layers[2]["switches"]] == [65536]
    assert not layers[0]["switches"] and not layers[1]["switches"]
    assert seconds < 600, seconds
    print(placement, "simulated seconds", seconds)


layers, _ = measure("dunnington")
assert [sorted(map(len, layer["groups"])) for layer in layers] == [[2] * 12, [6] * 4, [24]]
assert layers[0]["latency_us"] < layers[1]["latency_us"] < layers[2]["latency_us"]
assert [0, 1] in layers[0]["groups"] or [0, 12] in layers[0]["groups"]
first, _ = measure("dunnington", "--method", "first_come")
assert len(first) == 3

layers, _ = measure("finis_terrae")
assert len(layers) == 2 and 1.7 < layers[1]["latency_us"] / layers[0]["latency_us"] < 2.3
assert abs(dict(layers[1]["scaling"])[32] / 7 - 1) < 0.05, layers[1]["scaling"]
assert [switch["at_bytes"] for switch in layers[1]["switches"]] == [65536]
assert layers[1]["hockney"]["error"] > 10 * layers[1]["error"]

before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
with tempfile.TemporaryDirectory() as folder:
    for placement in ("block", "cyclic"):
        check_cluster(folder, placement)
print("cpu seconds of one cluster", (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before) / 2)
