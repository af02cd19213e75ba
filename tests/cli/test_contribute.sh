#!/bin/sh
# contribute: whatever names a host, its user or their files goes, wherever in a profile it stands; numbers stay.
. "$(dirname "$0")/lib.sh"
has python3 || skip "no python3"
profile=$here/multicore_profile.json

# A name, a path and a mail address in every text of a profile and as names of members where those are free; in JSON of
# structured answers too. What came in is counted, so that a field that the program stops reading does not go unnoticed.
cat >plant.py <<'END'
import json, sys
MARKS = ("hostzeta", "/home/alicia/data", "alicia@corp.example", "node17.cluster")
# These decide what the file is; what is not one of their few words is refused when the profile is read.
FIXED = {"format", "effort", "status", "confidence", "machine"}
count = 0
def plant(value, name):
    global count
    if isinstance(value, dict):
        grown = {key: plant(item, key) for key, item in value.items()}
        if name not in ("characteristics", "curves", "probes"):
            grown["hostzeta_" + str(name)] = "alicia"
        return grown
    if isinstance(value, list):
        return [plant(item, name) for item in value]
    if isinstance(value, str) and name not in FIXED:
        count += 1
        if name in ("unit", "pages", "probe", "name"): # which are short
            return "hostzeta"
        mark = MARKS[count % len(MARKS)]
        return {0: value + " " + mark, 1: mark, 2: mark + " " + value}[count % 3]
    return value
profile = json.load(open(sys.argv[1]))
profile["run"].update(arguments=["cache", "-o", "/home/alicia/out.json", "--cc", "hostzeta-gcc"], cc="/home/alicia/bin/gcc -O2 -I/home/alicia",
                      cc_version="gcc (hostzeta 12.2.0-14) 192.168.1.17 12.2.0", cc_flags="-O2 -DHOST=hostzeta -I/home/alicia", method="hostzeta")
profile["environment"]["warnings"] = ["the machine hostzeta is busy"]
answers = profile["characteristics"]
answers["comm.layers"] = {"value": [{"name": "host", "latency_us": 1, "bytes": 8, "range_us": [1, 1], "pairs": 1, "pair": [0, 1], "groups": [],
                                     "curve": [[8, 1, 0.1]], "scaling": [[1, 1]]}], "unit": "us", "status": "ok", "probe": "comm"}
answers["contexts.int"] = {"value": None, "unit": "count", "status": "failed", "reason": "no", "method": "m/1", "evidence": ["cache.walk"], "probe": "contexts"}
answers["op.int32.add.latency"] = {"value": 1, "unit": "int32 adds", "status": "ok", "interval": [1, 1], "confidence": "high", "caveat": "no",
                                    "probe": "op"}
profile["probes"]["contexts"] = {"revision": 1, "status": "failed", "seconds": 1, "reason": "no", "measured": "2026-11-15T07:12:34Z", "version": "0.2.0"}
profile["curves"]["cache.walk"] = {"probe": "cache", "attributes": {"pages": "huge"}, "x": {"name": "n", "unit": "u", "values": [1]},
                                   "y": {"name": "n", "unit": "u", "rounds": [[1]]}}
planted = plant(profile, "profile")
planted["created"] = profile["created"]
# Where keys are free, the names of answers, curves, probes and types.
for group in ("characteristics", "curves", "probes"):
    planted[group].update({key + ".hostzeta": item for key, item in list(planted[group].items())[:2]} if group != "probes" else
                          {"hostzeta": dict(list(planted[group].values())[0])})
planted["characteristics"]["op.hostzeta.add.latency"] = planted["characteristics"]["op.int32.add.latency"]
planted["characteristics"]["op.int32.hostzeta.latency"] = planted["characteristics"]["op.int32.add.latency"]
planted["characteristics"]["live.hostzeta"] = dict(planted["characteristics"]["op.int32.add.latency"], unit="count")
json.dump(planted, open(sys.argv[2], "w"))
assert count > 60, count
END
python3 plant.py "$profile" planted.json || complain "plant.py"
# The program reads all of it: what it would have said is full of it.
expect 0 reanalyze planted.json -o read.json
[ "$(grep -o -E 'hostzeta|alicia' read.json | wc -l)" -gt 20 ] || complain "little of what was planted is read at all"

expect 0 contribute planted.json -o given.json
[ -s out ] && complain "something on standard output"
for mark in hostzeta alicia corp node17 cluster /home example 192.168; do
    grep -n -i -F "$mark" given.json >out && complain "'$mark' survives"
done
valid given.json
for what in "the time of day" "8 arguments" "the processor's name" "1 warning of the run" "answers that this version does not know" "names inside of answers" \
    "reasons" "1 curves" "compiler that --cc named" "nothing was sent" "given.json"; do
    case $what in "8 arguments") what="arguments of the run" ;; "1 curves") what="curves with all samples" ;; esac
    err_has "$what"
done
grep -q -i -E 'hostzeta|alicia' err && complain "the messages tell what was removed"

# Numbers stay, and so does what says what they are; the day, but not the time.
python3 - "$profile" given.json <<'END' || complain "what has to stay"
import json, sys
was, now = (json.load(open(name)) for name in sys.argv[1:])
assert now["created"] == was["created"][:10] + "T00:00:00Z", now["created"]
assert now["run"]["arguments"] == [] or now["run"]["arguments"] == ["cache"], now["run"]["arguments"]
assert now["run"]["cc"] in ("gcc", "cc") and now["curves"] == {} and now["environment"]["warnings"] == []
for key, answer in was["characteristics"].items():
    for field in ("interval", "confidence", "status"):
        assert now["characteristics"][key].get(field) == answer.get(field), (key, field)
    if isinstance(answer["value"], (int, float)):
        assert now["characteristics"][key]["value"] == answer["value"], key
assert now["characteristics"]["topology.tree"]["value"]["children"], "the tree has lost its parts"
assert now["characteristics"]["op.int32.add.latency"]["value"] == 1
assert now["probes"]["contexts"]["measured"].endswith("T00:00:00Z"), now["probes"]["contexts"]
assert "caveat" not in now["characteristics"]["op.int32.add.latency"]
END

# An unplanted profile loses no answer and no name inside of one, and can be compared with what it was.
expect 0 contribute "$profile" -o clean.json
for loss in "answers that" "names inside" "probes that"; do
    grep -q "$loss" err && complain "lost: $loss"
done
expect 0 compare "$profile" clean.json
[ "$("$blackjack" get clean.json topology.tree)" = "$("$blackjack" get "$profile" topology.tree)" ] || complain "the tree has changed"

# The ways that probes take by themselves, and nobody selects, are no foreign words.
python3 - "$profile" >own.json <<'END'
import json, sys
profile = json.load(open(sys.argv[1]))
for key, unit, probe, method in (("live.doublex2", "count", "vector", "spill_hinge/1"), ("cache.fetch_bytes", "bytes", "line", "paper_pairs/4")):
    profile["characteristics"][key] = {"value": 16, "unit": unit, "status": "ok", "interval": [16, 16], "confidence": "low", "method": method,
                                       "probe": probe, "evidence": []}
print(json.dumps(profile))
END
expect 0 contribute own.json -o own_clean.json
grep -q 'answers that' err && complain "lost: methods of our own"

# The same again, also from what was stripped already; standard output; the default profile.
expect 0 contribute planted.json -o again.json -q
[ -s err ] && complain "-q says something"
cmp -s given.json again.json || complain "not the same file twice"
expect 0 contribute given.json
cmp -s given.json out || complain "stripping again changes something"
grep -q 'removed' err && complain "what was not there is said to be removed"
BLACKJACK_PROFILE=$profile "$blackjack" contribute -q >out 2>err || complain "the default profile"
cmp -s clean.json out || complain "the default profile gives something else"

# Nothing is replaced, and simulated machines have nothing to give.
expect 2 contribute "$profile" -o clean.json
one_line_error
expect 0 contribute "$profile" -o clean.json --force
expect 0 run clock --machine "sim:$machine" --effort quick -q -o simulated.json
expect 2 contribute simulated.json
one_line_error
err_has "simulated"
BLACKJACK_PROFILE=simulated.json "$blackjack" contribute >out 2>err
err_has "simulated.json: a simulated machine"
expect 2 contribute missing.json
one_line_error
finish
