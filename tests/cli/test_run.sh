#!/bin/sh
# run and reanalyze on a simulated machine: the same seed gives the same bytes.
. "$(dirname "$0")/lib.sh"

expect 0 run --machine "sim:$machine" --effort quick -o one.json
[ -s out ] && complain "nothing expected on standard output"
err_has "about"
err_has "of memory"
# Without comm, which is for those who ask for it.
probes=$("$blackjack" list | grep '^[a-z]' | grep -vc '^comm ')
err_has "cache (2 of $probes): begins"
err_has "cache (2 of $probes): done"
err_has "the profile is in one.json"
# What matters, at the end.
grep -q '^  L1 .*: block below it' err || complain "no headline"
grep -q '^  Memory [0-9.]* ns' err || complain "no line about memory"
grep -q '"late_rounds"' one.json && complain "late rounds at quick effort"
grep -q '"interrupted"' one.json && complain "a whole run calls itself interrupted"
valid one.json
expect 0 run --effort quick -q "--machine=sim:$machine" --output=two.json
[ -s err ] && complain "--quiet is not quiet"
# The same but for the order of the arguments.
grep -v '"run"' one.json >one.rest
grep -v '"run"' two.json >two.rest
cmp -s one.rest two.rest || complain "the same seed gave two profiles"
expect 0 run --machine "sim:$machine" --effort quick --force -o two.json
cmp -s one.json two.json || complain "the same arguments gave two profiles"
expect 0 run --machine "sim:$machine" --effort quick -q -o -
cmp -s one.json out || complain "-o - gave another profile"
expect 0 run --machine "sim:$machine" --effort quick --quiet --seed 2 -o other.json
cmp -s one.json other.json && complain "another seed gave the same profile"

grep -q '"created": "1970-01-01T00:00:00Z"' one.json || complain "the time of a simulated profile"
grep -qF '"arguments": ["--machine", "sim:'"$machine"'", "--effort", "quick"]' one.json || complain "arguments"
[ "$("$blackjack" get one.json cache.levels)" = "$("$blackjack" get one.json cache.levels claimed)" ] ||
    complain "cache levels of a machine that tells the truth"

# What it needs comes by itself, and only that.
expect 0 run clock -q --machine "sim:$machine" -o clock.json
valid clock.json
grep -q cache.levels clock.json && complain "run clock measured the cache"

# The default name, in the current folder, and late rounds of every probe.
expect 0 run clock page --machine "sim:$machine"
valid blackjack-profile.json
err_has "late rounds (1 of 3): begins"
err_has "late rounds (3 of 3): begins"
[ "$(grep -c '"late_rounds": 3' blackjack-profile.json)" = 2 ] || complain "not every probe has late rounds"
expect 0 reanalyze blackjack-profile.json
cmp -s out blackjack-profile.json || complain "reanalysis changed the answers of late rounds"

# The recorded samples through the same analysis: the same answers, and the file untouched.
cp one.json before.json
expect 0 reanalyze one.json
cmp -s out one.json || complain "reanalysis changed the answers"
cmp -s one.json before.json || complain "reanalyze changed its input"
expect 2 reanalyze one.json -o two.json
one_line_error
expect 0 reanalyze one.json -o two.json --force
cmp -s one.json two.json || complain "reanalyze -o"
expect 0 reanalyze one.json -o one.json --force
cmp -s one.json before.json || complain "reanalyze onto itself"

# Some other method, recorded and kept.
expect 0 run cache -q --machine "sim:$machine" --effort quick --method gradient_peaks -o gradient.json
valid gradient.json
grep -q '"method": "gradient_peaks"' gradient.json || complain "the method is not recorded"
expect 0 reanalyze gradient.json
cmp -s out gradient.json || complain "reanalysis forgot the method"

# cpus: only those, the first measured.
expect 0 run clock -q --machine "sim:$source_dir/machines/zen3.json" --cpus 3,1-2 -o cpus.json
grep -qF '"cpu_measured": 3' cpus.json || complain "--cpus: the first is measured"
grep -qF '"cpus_allowed": [3, 1, 2]' cpus.json || complain "--cpus: the others are not used"

# A budget too small for all: what there is, and why the rest is missing.
expect 0 run --machine "sim:$machine" --effort quick --budget 0.000001 -o budget.json
valid budget.json
err_has "line (3 of $probes): no time left, not measured"
grep -q 'line (3 of [0-9]*): \(begins\|done\)' err && complain "what was never measured is reported as done"
[ "$("$blackjack" get budget.json cache.line_bytes status)" = undetermined ] || complain "a line that was never measured"
grep -q '"late_rounds"' budget.json && complain "late rounds where no time is left"
# Cut short at any moment, answers cite no curve that was not measured.
for budget in 0.5 2; do
    expect 0 run line --effort quick --machine "sim:$source_dir/machines/atom.json" -q --budget $budget -o "budget_$budget.json"
    valid "budget_$budget.json"
done

# What rests on the caches must not come back to them: a level in doubt of one probe stays its own.
# Half a minute at normal effort under the sanitizers, which find nothing new there.
if [ -z "${BJ_SANITIZERS:-}" ]; then
    expect 0 run bandwidth --machine "sim:$(dirname "$machine")/barcelona.json" --seed 1 --quiet -o barcelona.json
    expect 0 reanalyze barcelona.json -o again.json
    cmp -s barcelona.json again.json || complain "reanalyze of barcelona says something else than the run"
fi
finish
