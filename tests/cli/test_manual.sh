#!/bin/sh
# Manual pages: every command, option, function and field is in them, and man takes them. (cli.pages says whether those
# of the commands are what the help says.)
. "$(dirname "$0")/lib.sh"
pages=$source_dir/docs/man

commands=$("$blackjack" help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Z].*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 9 ] || complain "help names only: $commands"
for command in $commands; do
    grep -q "blackjack..$command (1)" "$pages/blackjack.1.in" || complain "blackjack(1) does not name $command"
    page=$pages/blackjack-$command.1.in
    for option in $("$blackjack" help "$command" | sed -n 's/^  \(-[a-z], \|    \)--\([a-z][a-z-]*\) .*/\2/p'); do
        roff=$(echo "$option" | sed 's/-/\\\\-/g')
        grep -q -e "fB.-.-$roff.fP" "$page" || complain "blackjack-$command(1) has no --$option"
    done
done
# So that the loop over options cannot pass by finding none.
[ "$("$blackjack" help run | grep -c '^  \(-[a-z], \|    \)--')" -ge 10 ] || complain "run has ten options"
grep -q 'fB.-.-resume' "$pages/blackjack-run.1.in" || complain "blackjack-run(1) has no --resume"

# Every function of the header is in its page, every field of an answer in the other.
for name in $(grep -o 'bj_lib_[a-z_]*(' "$source_dir/include/blackjack/blackjack.h" | tr -d '(' | sort -u); do
    grep -q "$name" "$pages/libblackjack.3" || complain "libblackjack(3) has no $name"
done
for field in value unit interval confidence p status reason method claimed evidence; do
    grep -qx ".I $field" "$pages/blackjack-profile.5" || complain "blackjack-profile(5) has no $field"
done

has man || has mandoc || finish "no man and no mandoc to read the pages"
for page in "$pages"/*.[135] "$pages"/*.1.in; do
    sed 's/@BJ_DATE@/2026-01-01/; s/@[A-Z_]*@/1/' "$page" >"$(basename "$page" .in)"
done
if has mandoc; then
    mandoc -T lint -W warning ./*.[135] >out 2>err || complain "mandoc complains"
fi
if has man; then
    for page in ./*.[135]; do
        man --warnings -l "$page" >page.txt 2>err </dev/null
        [ -s err ] && complain "man complains about $page"
        [ -s page.txt ] || complain "man shows nothing of $page"
    done
fi
finish
