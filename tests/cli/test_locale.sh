#!/bin/sh
# Numbers have a point, and a comma is the end of a column, also where people write commas in numbers.
. "$(dirname "$0")/lib.sh"
has localedef && localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" >out 2>&1
[ -e "$scratch/de_DE.UTF-8/LC_NUMERIC" ] || skip "no locale with a comma can be made"
export LOCPATH="$scratch"

# same ARGUMENT...: the output does not depend on the locale.
same() {
    LC_ALL=C "$blackjack" "$@" >plain.out 2>err
    [ -s plain.out ] || complain "no output: $*"
    LC_ALL=de_DE.UTF-8 "$blackjack" "$@" >out 2>err
    cmp -s out plain.out || complain "another output with a comma: $*"
}
printf '4096,1\n8192,1,5\n16384,9.5\n' >table.csv
same analyze cache table.csv
same emit sh "$here/emit_profile.json"
out_has "BLACKJACK_MEMORY_LATENCY_NS=101.5"
same get "$here/profile.json" memory.latency_ns
same show "$here/emit_profile.json"
same list
same run clock cache --machine "sim:$machine" --effort quick --quiet -o -
finish
