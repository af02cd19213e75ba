#!/bin/sh
# The reference parser of OpenMetrics takes what is emitted, and reads the profile's values from it.
. "$(dirname "$0")/lib.sh"
python=
for candidate in python3 /usr/bin/python3; do
    "$candidate" -c 'import prometheus_client.openmetrics.parser' 2>/dev/null && python=$candidate
done
[ -n "$python" ] || skip "no python3-prometheus-client"

cat >check.py <<'END'
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families

profile = json.load(open(sys.argv[1]))["characteristics"]
families = list(text_string_to_metric_families(open(sys.argv[2]).read()))
units = {"ns": 1e-9, "ms": 1e-3, "GHz": 1e9, "GB/s": 1e9}
seen = set()
assert {family.name for family in families} >= {"blackjack_profile"}, families
for family in families:
    for sample in family.samples:
        if family.name.startswith("blackjack_profile"):
            continue
        assert family.type == "gauge" and sample.name.startswith("blackjack_"), sample
        assert family.unit == "" or sample.name.endswith("_" + family.unit), sample
        answer = profile[sample.labels["key"]]
        stem = sample.name[: len(sample.name) - len(family.unit)].rstrip("_")
        wanted = answer["value"]
        if stem.endswith(("_low", "_high")):
            wanted = answer["interval"][stem.endswith("_high")]
        else:
            seen.add(sample.labels["key"])
        wanted *= units.get(answer["unit"], 1)
        assert abs(sample.value - wanted) <= 2e-6 * abs(wanted), (sample, wanted)
        assert sample.labels["status"] == answer["status"] and sample.labels["confidence"] == answer["confidence"]
sure = {key for key, answer in profile.items() if isinstance(answer.get("value"), (int, float)) and
        answer["status"] == "ok" and answer.get("confidence") in ("medium", "high")}
assert seen == sure, (seen ^ sure)
END
expect 0 run clock cache bandwidth op -q --effort quick --machine "sim:$machine" -o one.json
for profile in one.json "$here/multicore_profile.json"; do
    expect 0 emit openmetrics "$profile"
    "$python" check.py "$profile" out || complain "what is emitted of $profile"
done
out_is_last() { [ "$(tail -n 1 out)" = "$1" ] || complain "the last line is not $1"; }
out_is_last "# EOF"
expect 0 emit openmetrics one.json
out_has 'level="1"'
out_has 'type="int32",operation="add"'

# Whatever a profile holds, the text stays one that can be parsed.
cat >odd.json <<'END'
{"format": "blackjack-profile/1", "run": {"machine": "a\"b\\c\nd"}, "characteristics": {
"a\"b{c}.L2.d\\e": {"value": 3, "unit": "ns", "status": "ok", "confidence": "high"},
"things.total": {"value": 3, "unit": "", "status": "ok", "confidence": "high"},
"things_total": {"value": 4, "unit": "", "status": "ok", "confidence": "high"},
"a..b": {"value": -1e-9, "unit": "GB/s", "status": "ok", "confidence": "high"}}}
END
expect 0 emit openmetrics odd.json
"$python" -c 'import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
samples = [sample for family in parse(open("out").read()) for sample in family.samples]
assert sum("key" in sample.labels for sample in samples) == 4, samples' || complain "an odd profile"
finish
