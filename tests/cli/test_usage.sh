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

# fits COLUMNS: the last output.
fits() {
    awk -v most="$1" 'length($0) > most { print "too wide: " $0; bad = 1 } END { exit bad }' out >&2 || complain "wider than $1 columns"
}
fits 80
for command in $(sed -n 's/^  \([a-z][a-z]*\)  *[A-Z].*/\1/p' help.txt) run list show get curve compare emit analyze reanalyze help; do
    out=$(grep -c "^  $command " help.txt)
    [ "$out" -eq 1 ] || complain "help does not list $command"
    expect 0 help $command
    out_has "usage: blackjack $command"
    cp out help.command
    fits 80
    grep -q 'docs/\|\.md' out && complain "help $command names a file that is not installed"
    expect 0 $command --help
    cmp -s out help.command || complain "$command --help differs from help $command"
done

# What may not stand together is not in one form.
expect 0 help compare
[ "$(grep -c -E '^(usage:|      ) blackjack compare ' out)" -eq 3 ] || complain "compare has three forms"
expect 0 help emit
[ "$(sed -n '/^FORMAT is/,/^Without/p' out | grep -o -E '^  [a-z][a-z-]*  +' | awk '{ print length($0) }' | sort -u | wc -l)" -eq 1 ] ||
    complain "the meanings of formats do not begin in one column"

expect 2 runn
one_line_error
err_has "did you mean 'run'?"
for command in report time frobnicate ""; do
    expect 2 "$command"
    one_line_error
done
expect 2 help frobnicate
one_line_error
expect 2 help shwo
err_has "did you mean 'show'?"
expect 2 list extra
one_line_error
expect 2 reanalyze
one_line_error
err_has "too few arguments"
expect 2 get one two three four
one_line_error

expect 2 run cahce
one_line_error
err_has "did you mean 'cache'?"
expect 2 run --efort quick
one_line_error
err_has "did you mean '--effort'?"
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
fits 80
expect 0 list tlb --keys
out_has "tlb.L<n>.entries"
grep -q "^cache" out && complain "list tlb lists cache"
expect 2 list tbl
err_has "did you mean 'tlb'?"
expect 0 list --words methods tlb line
out_has "paired_walks"
[ "$(sort out | uniq -d)" = "" ] && [ "$(grep -vc '^[a-z_]*$' out)" -eq 0 ] || complain "words, one a line, once each"
expect 0 list --words fields
out_has confidence
expect 0 list --words probes
[ "$(wc -l <out)" -eq "$("$blackjack" list | grep -c '^[a-z]')" ] || complain "all probes"
expect 2 list --words nonsense
one_line_error

# Letters may stand joined, however many; a long option may not be cut short, or the next one that begins so breaks scripts.
expect 0 list -kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk
expect 2 list --key
err_has "no option --key (did you mean '--keys'?)"

# A full disk is noticed.
for command in help list --version; do
    "$blackjack" $command >/dev/full 2>err
    [ $? -eq 3 ] || complain "$command > /dev/full"
    err_has "cannot write standard output"
done
"$blackjack" list >&- 2>err
[ $? -eq 3 ] || complain "list with standard output closed"
finish
