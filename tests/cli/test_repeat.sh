#!/bin/sh
# run --repeat: whole runs merged into one profile, gone on with after an interruption.
. "$(dirname "$0")/lib.sh"

expect 0 run page --machine "sim:$machine" --repeat 2 -o two.json
valid two.json
err_has "page (2 of 2): begins"
err_has "late rounds (6 of 6): begins"
grep -qF '"runs": 2, "late_rounds": 6' two.json || complain "two runs are not recorded"
grep -qF '"repeat": 2' two.json || complain "what was asked for is not recorded"
# Nine rounds and three late ones, twice, of other noise.
grep -qF '"spells": [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3]' two.json || complain "spells"
[ "$(grep -c '^        \[' two.json)" -eq 24 ] || complain "24 rounds expected"
[ "$(grep '^        \[' two.json | sed 's/[],]*$//' | sort -u | wc -l)" -eq 24 ] || complain "the noise of runs is the same"
expect 0 reanalyze two.json
cmp -s out two.json || complain "reanalysis changed the answers"

# One more, and then nothing is left to do.
expect 0 run page --machine "sim:$machine" --resume --repeat 3 -o two.json
grep -q 'page (1 of 3): begins' err && complain "--resume measured the first run again"
grep -qF '"runs": 3, "late_rounds": 9' two.json || complain "a third run is not recorded"
cp two.json three.json
expect 0 run page --machine "sim:$machine" --resume -q -o two.json
diff two.json three.json | grep -v arguments | grep -q '^[<>]  ' && complain "a whole file was gone on with"

# Interrupted in the second run: the first one is kept, and the file knows how many are wanted.
begin run tlb --machine "sim:$machine" --repeat 2 -o cut.json
tries=0
until grep -q 'tlb (4 of 4): begins' err 2>/dev/null || [ $tries -gt 600 ]; do
    tries=$((tries + 1))
    sleep 0.05
done
kill -INT $child
wait $child
[ $? -eq 130 ] || complain "interrupted: another exit status"
valid cut.json
grep -qF '"interrupted": true' cut.json || complain "the profile does not say that it was interrupted"
expect 0 get cut.json tlb.L1.entries
expect 0 run tlb --machine "sim:$machine" --resume -q -o cut.json
[ "$(grep -cF '"runs": 2, "late_rounds": 6' cut.json)" -eq 2 ] || complain "--resume did not complete the second run"
grep -qF '"interrupted"' cut.json && complain "a whole file calls itself interrupted"

for wrong in 0 21 -1 two; do
    expect 2 run page --machine "sim:$machine" --repeat "$wrong" -o no.json
    one_line_error
    err_has "from 1 to 20"
done
finish
