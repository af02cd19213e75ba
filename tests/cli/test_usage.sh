#!/bin/sh
# Help, versions, and what is refused as wrong usage.
. "$(dirname "$0")/lib.sh"

expect 0
out_has "usage: blackjack COMMAND"
cp out help.txt
for words in help --help -h; do
    expect 0 $words
    cmp -s out help.txt || complain "$words prints something else than help"
done
expect 0 --version
grep -Eqx 'blackjack [0-9]+\.[0-9]+\.[0-9]+' out || complain "version"

for command in run list show get compare emit analyze reanalyze help; do
    out=$(grep -c "^  $command " help.txt)
    [ "$out" -eq 1 ] || complain "help does not list $command"
    expect 0 help $command
    out_has "usage: blackjack $command"
    cp out help.command
    expect 0 $command --help
    cmp -s out help.command || complain "$command --help differs from help $command"
done

expect 2 runn
one_line_error
err_has "did you mean 'run'?"
for command in report time frobnicate ""; do
    expect 2 "$command"
    one_line_error
done
expect 2 help frobnicate
one_line_error
expect 2 list extra
one_line_error
expect 2 show
one_line_error
err_has "too few arguments"
expect 2 get one two three four
one_line_error

expect 2 run cahce
one_line_error
err_has "did you mean 'cache'?"
expect 2 run --efort quick
one_line_error
err_has "did you mean 'effort'?"
for words in "--effort some" "--effort" "--effort=" "--budget 0" "--budget -3" "--budget nan" "--budget soon" \
    "--seed -1" "--seed 1.5" "--seed 9007199254740992" "--seed" "--machine toaster" "--machine sim:" "--force=yes" \
    "--method nonsense" "-x" "--force --resume" "--cpus x --machine sim:$machine" "--cpus 0, --machine sim:$machine" \
    "--cpus 1-0 --machine sim:$machine" "--cpus 999 --machine sim:$machine" "--cpus 99999999999 --machine sim:$machine"; do
    expect 2 run $words
    one_line_error
done
expect 2 run --cpus "" --machine "sim:$machine"
one_line_error
expect 2 run cache --method nonsense
err_has "expected one of"
err_has "gradient_peaks"
expect 2 run clock --method gradient_peaks
one_line_error
expect 2 run --machine sim:nowhere.json
one_line_error
err_has "nowhere.json"
[ -e blackjack-profile.json ] && complain "wrong usage must not leave a profile"

# Options: joined, after operands, ended by "--".
expect 2 run --force=yes
err_has "--force takes no value"
expect 2 run --c 0
err_has "no option --c"
expect 2 run -qx
err_has "no option -x"
expect 2 run -qo
err_has "--output needs FILE"
expect 2 show "$here/profile.json" --frobnicate
err_has "no option --frobnicate"
expect 2 show -- --help
err_has "--help: no such file"
expect 0 compare "$here/profile.json" --json -- "$here/profile.json"
POSIXLY_CORRECT=1
export POSIXLY_CORRECT
expect 0 compare "$here/profile.json" "$here/profile.json" --json
out_has '"verdict": "same"'
unset POSIXLY_CORRECT

expect 0 list
out_has "cache"
out_has "needs    clock"
out_has "gradient_peaks"
grep -q 'cache.L<n>.size_bytes' out && complain "keys without --keys"
expect 0 list --keys
out_has "cache.L<n>.size_bytes"
out_has "cache.L<n>.capacity_bytes        bytes         within 12.5%"
out_has "tlb.L<n>.entries                 count         within 6% or 2"
out_has "cache.levels                     count         exactly"

# Letters may stand joined, however many; a long option may not be cut short, or the next one that begins so breaks scripts.
expect 0 list -kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk
expect 2 list --key
err_has "no option --key (did you mean 'keys'?)"

# A full disk is noticed.
for command in help list --version; do
    "$blackjack" $command >/dev/full 2>err
    [ $? -eq 3 ] || complain "$command > /dev/full"
    err_has "cannot write standard output"
done
"$blackjack" list >&- 2>err
[ $? -eq 3 ] || complain "list with standard output closed"
finish
