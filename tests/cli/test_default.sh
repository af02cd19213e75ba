#!/bin/sh
# The default profile: kept by run --save, found by the commands that are given no file, those before it beside it.
. "$(dirname "$0")/lib.sh"
place=$HOME/.local/share/blackjackbench
sim="--machine sim:$machine -q"

# None yet: one line that names the places and the way out.
for words in show "emit sh" "compare $here/profile.json"; do
    expect 2 $words
    one_line_error
    err_has "BLACKJACK_PROFILE is not set"
    err_has "$place/profile.json"
    err_has "blackjack run --save"
done

# --save alone leaves nothing in the current folder.
expect 0 run clock --machine "sim:$machine" --save
[ -s out ] && complain "nothing expected on standard output"
err_has "kept as the default profile, $place/profile.json"
err_has "warning: --save makes a simulated machine the default profile"
valid "$place/profile.json"
grep -qF -e --save "$place/profile.json" && complain "--save has nothing to do with what was measured"
[ "$(ls "$place")" = profile.json ] || complain "only the profile is kept: $(ls "$place")"
[ -e blackjack-profile.json ] && complain "a profile in the current folder"
expect 0 show
out_has cpu.clock_ghz
expect 0 emit json
out_has cpu.clock_ghz
"$blackjack" emit json "$place/profile.json" | cmp -s - out || complain "another profile"

# With -o it is in both; the one before stays, under a date.
expect 0 run clock page $sim --seed 2 --save -o both.json
[ -s err ] && complain "--quiet is not quiet"
cmp -s both.json "$place/profile.json" || complain "-o and --save"
[ "$(ls "$place" | grep -c '^profile-[0-9-]*\.json$')" -eq 1 ] || complain "the one before: $(ls "$place")"
older=$(ls "$place"/profile-*.json)
grep -qF '"seed": 1' "$older" || complain "the one before is another"
expect 0 run clock --machine "sim:$machine" --seed 3 --save -o - >/dev/null
err_has "the one before it is $place/profile-"

# compare: with the one before it, or with one that is named.
"$blackjack" compare "$here/profile.json" >out 2>err
"$blackjack" compare "$here/profile.json" "$place/profile.json" | cmp -s - out || complain "compare A"
"$blackjack" compare >out 2>err
[ -s out ] || complain "nothing compared"
newest=$(ls "$place"/profile-*.json | tail -1)
"$blackjack" compare "$newest" "$place/profile.json" | cmp -s - out || complain "compare"
rm "$place"/profile-*.json
expect 2 compare
one_line_error
err_has "no older profile beside $place/profile.json"

# The place may be named; the file of a run must not be the place until it is done.
BLACKJACK_PROFILE=named.json
export BLACKJACK_PROFILE
expect 2 show
one_line_error
err_has "named.json: no such file"
expect 0 run clock $sim --save -o named.json
expect 0 run clock $sim --seed 2 --save -o ./named.json
[ "$(ls named*.json | wc -l)" -eq 2 ] || complain "named, and one before it: $(ls named*)"
expect 0 show
# Going on with what is kept: the probes that are there stay.
expect 0 run page $sim --save --resume
grep -q cpu.clock_ghz named.json && grep -q page.size_bytes named.json || complain "--save --resume"
grep -qF '"seed": 2' named.json || complain "--save --resume begins anew"
mkdir folder
: >file
for refusal in 2:folder 2:/dev/null 3:file/profile.json; do
    BLACKJACK_PROFILE=${refusal#*:}
    expect "${refusal%%:*}" run clock $sim --save
    one_line_error
    err_has "${refusal#*:}: "
done
unset BLACKJACK_PROFILE

# The current folder comes before the user's place, and run says so.
cp both.json blackjack-profile.json
expect 0 run clock --machine "sim:$machine" --seed 5 --save
err_has "warning: in this folder blackjack-profile.json is found first"
expect 0 emit json
"$blackjack" emit json both.json | cmp -s - out || complain "the current folder comes first"
rm blackjack-profile.json

# Interrupted: the default stays as it was.
cp "$place/profile.json" before.json
begin run --machine "sim:$machine" --effort thorough -q --save
runner=$child
while ! [ -e "$place/profile-unfinished.json" ] && kill -0 $runner 2>/dev/null; do sleep 0.02; done
kill -INT $runner
wait $runner
[ $? -eq 130 ] || complain "an interrupted run"
err_has "profile-unfinished.json holds what was done, --resume goes on"
cmp -s before.json "$place/profile.json" || complain "an interrupted run replaced the default profile"
HOME='' expect 2 run clock $sim --save
one_line_error
err_has "no place to keep a profile"
finish
