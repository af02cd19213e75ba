#!/bin/sh
# Where the profile goes: existing files, resuming, places that cannot be written.
. "$(dirname "$0")/lib.sh"

sim="--machine sim:$machine"
expect 0 run clock -q $sim -o p.json
cp p.json before.json

expect 2 run clock $sim -o p.json
one_line_error
err_has "p.json: exists already"
err_has "--force"
cmp -s p.json before.json || complain "an existing file was touched"
expect 0 run clock -q $sim -o p.json --force
expect 2 run clock $sim -o .
one_line_error

# Resuming: what is there stays, what is missing is measured, and all of it as it was begun.
expect 0 run clock -q $sim --effort quick --seed 7 -o p.json --force
for other in "--effort normal" "--seed 8" "--method gradient_peaks"; do
    expect 2 run -q $sim $other -o p.json --resume
    one_line_error
    err_has "was begun with"
done
expect 0 run -q $sim -o p.json --resume
valid p.json
grep -qF '"seed": 7, "effort": "quick"' p.json || complain "--resume with another seed or effort"
expect 0 run clock $sim -o p.json --resume
grep -q begins err && complain "--resume measured again"
[ "$("$blackjack" get p.json cache.levels status)" = ok ] || complain "--resume dropped other probes"
expect 0 run clock -q $sim -o fresh.json --resume
valid fresh.json
expect 2 run -q --machine "sim:$source_dir/machines/zen3.json" --resume -o p.json
one_line_error
err_has "cannot go on"
# Of another machine, as far as it tells: refused with what differs. Of another version: a warning.
foreign() {
    sed "$1" p.json >foreign.json
    cmp -s p.json foreign.json && complain "$1 changed nothing"
    cp foreign.json before_foreign.json
    expect 2 run -q $sim -o foreign.json --resume
    one_line_error
    err_has "another machine"
    err_has "$2"
    cmp -s foreign.json before_foreign.json || complain "a foreign profile was touched"
}
foreign 's/"cpu": "no_l3"/"cpu": "Some Other"/' "the processor was 'Some Other'"
foreign 's/"cpus_allowed": \[0/"cpus_allowed": [64, 0/' "other cpus"
expect 0 run clock -q --effort quick --budget 2 -o native.json
cp native.json p_native.json
for change in 's/"os": "[^"]*"/"os": "Plan 9"/' 's/"page_bytes": [0-9]*/"page_bytes": 12345/'; do
    sed "$change" p_native.json >native.json
    cmp -s p_native.json native.json && complain "$change changed nothing"
    expect 2 run clock -q --resume -o native.json
    err_has "another machine"
done
cp p.json foreign.json
grep -q '"measured": "1970-01-01T00:00:00Z", "version": "' p.json || complain "a record without date and version"
sed 's/\("measured": "[^"]*", "version": \)"[^"]*"/\1"0.0.1"/' p.json >old.json
expect 0 run clock $sim -o old.json --resume
err_has "clock by 0.0.1"
printf '{' >broken.json
expect 2 run -q $sim --resume -o broken.json
one_line_error
[ "$(cat broken.json)" = "{" ] || complain "a broken file was replaced"

# Found out before measuring.
for place in /proc/p.json nowhere/p.json p.json/p.json "$(printf '%300s' | tr ' ' n)"; do
    expect 3 run clock $sim -o "$place"
    one_line_error
done
expect 3 run clock -q $sim -o /dev/full
err_has "/dev/full"
"$blackjack" run clock -q $sim -o - >/dev/full 2>err
[ $? -eq 3 ] || complain "run -o - > /dev/full"
"$blackjack" reanalyze p.json >/dev/full 2>err
[ $? -eq 3 ] || complain "reanalyze > /dev/full"
expect 0 run clock -q $sim -o /dev/null
"$blackjack" run clock -q $sim -o /dev/stdout >piped.json 2>err
cmp -s piped.json before.json || complain "-o /dev/stdout"
"$blackjack" run clock -q $sim -o /dev/stdout | cat >piped.json
cmp -s piped.json before.json || complain "-o /dev/stdout into a pipe"

# A link is followed, not replaced.
mkdir elsewhere && ln -s elsewhere/p.json link.json
expect 0 run clock -q $sim -o link.json
[ -L link.json ] && [ -f elsewhere/p.json ] || complain "a link was replaced"
# A named pipe without a reader would hold us for ever.
mkfifo pipe
expect 2 run clock -q $sim -o pipe
one_line_error
err_has "named pipe"
for command in "show pipe" "get pipe cpu.clock_ghz" "reanalyze pipe" "run clock -q --machine sim:pipe -o no.json"; do
    expect 2 $command
    one_line_error
done
# It is left to the shell, which both ends know.
"$blackjack" run clock -q $sim --effort normal -o - >pipe 2>err &
"$blackjack" get - cpu.clock_ghz <pipe >out || complain "a pipe by redirection"
wait

# Removed in the middle: it is there again after the next probe.
"$blackjack" run --machine "sim:$source_dir/machines/atom.json" --effort quick -o gone.json >out 2>err &
child=$!
tries=0
until grep -q 'clock (1 of' err 2>/dev/null || [ $tries -gt 300 ]; do
    tries=$((tries + 1))
    sleep 0.1
done
rm -f gone.json
wait $child || complain "the file was removed"
valid gone.json
[ "$("$blackjack" get gone.json cpu.clock_ghz status)" = ok ] || complain "an answer was lost with the file"

left=$(find . -name '.*blackjack*' | wc -l)
[ "$left" -eq 0 ] || complain "temporary files were left"
finish
