#!/bin/sh
# A short run on this very machine: whatever it answers, the profile is valid and says where it comes from.
. "$(dirname "$0")/lib.sh"

"$blackjack" run clock --effort quick -o p.json >out 2>err
status=$?
[ $status -eq 3 ] && skip "$(cat err)"
[ $status -le 1 ] || complain "exit status $status"
[ -s out ] && complain "nothing expected on standard output"
err_has "about"
valid p.json
grep -qF '"machine": "native"' p.json || complain "the machine"
grep -qF '"created": "1970' p.json && complain "the time"
grep -qF "\"$(uname -n)\"" p.json && complain "the host's name"
expect 0 show p.json
expect 2 run clock -q -o p.json
expect 0 run clock -q -o p.json --resume

# Cut short by a budget, it ends in time.
start=$(date +%s)
"$blackjack" run -q --budget 2 -o budget.json >out 2>err
[ $? -le 1 ] || complain "a run with a budget"
[ $(($(date +%s) - start)) -le 10 ] || complain "a budget of 2 s took more than 10"
valid budget.json
finish
