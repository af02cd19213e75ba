#!/bin/sh
# Standard streams that are closed, broken or stuck, and terminals that go away: the profile does not depend on them.
. "$(dirname "$0")/lib.sh"

sim="--machine sim:$machine --effort quick"
expect 0 run clock page slot -q $sim -o whole.json

# Closed.
: >out
"$blackjack" run clock page slot $sim -o p.json >&- 2>err || complain "standard output closed"
cmp -s p.json whole.json || complain "standard output closed: another profile"
"$blackjack" run clock page slot $sim -o p.json --force 2>&- || complain "standard error closed"
cmp -s p.json whole.json || complain "standard error closed: another profile"
"$blackjack" run clock page slot $sim -o p.json --force <&- >&- 2>&- || complain "all streams closed"
cmp -s p.json whole.json || complain "all streams closed: another profile"
"$blackjack" run clock -q $sim -o - >&- 2>err
[ $? -eq 3 ] || complain "the profile to a closed standard output"
one_line_error

# Nobody reads: messages are not worth a run, a profile that cannot be handed over is said to be lost.
{ "$blackjack" run clock page slot $sim -o p.json --force 2>&1; echo $? >status; } | true
[ "$(cat status)" -eq 0 ] || complain "messages into a broken pipe: exit status $(cat status)"
cmp -s p.json whole.json || complain "messages into a broken pipe: another profile"
{ "$blackjack" run clock page slot $sim -q -o - 2>err; echo $? >status; } | true
[ "$(cat status)" -eq 3 ] || complain "the profile into a broken pipe: exit status $(cat status)"
one_line_error

finish
