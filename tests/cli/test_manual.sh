#!/bin/sh
# Manual pages and completion: every command and option is in them, and those who read them take them.
. "$(dirname "$0")/lib.sh"

commands=$("$blackjack" help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Z].*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 9 ] || complain "help names only: $commands"
expect 0 help --format man
cp out blackjack.1
expect 0 help --format bash
cp out completion.bash
expect 0 help --format zsh
cp out _blackjack
for command in $commands; do
    expect 0 help "$command" --format man
    cp out "blackjack-$command.1"
    grep -q "blackjack..$command (1)" blackjack.1 || complain "blackjack(1) does not name $command"
    grep -q "^    $command)" completion.bash || complain "bash completes no $command"
    grep -q "^    $command)" _blackjack || complain "zsh completes no $command"
    sed -n "/^    $command)/,/;;\$/p" _blackjack >zsh.part
    sed -n "/^    $command)/,/^        ;;\$/p" completion.bash >bash.part
    for option in $("$blackjack" help "$command" | sed -n 's/^  \(-[a-z], \|    \)--\([a-z][a-z-]*\) .*/\2/p'); do
        roff=$(echo "$option" | sed 's/-/\\\\-/g')
        grep -q -e "fB.-.-$roff.fP" "blackjack-$command.1" || complain "blackjack-$command(1) has no --$option"
        grep -q -e "--$option" bash.part || complain "bash completes no $command --$option"
        grep -q -e "--$option" zsh.part || complain "zsh completes no $command --$option"
    done
done
# So that the loop over options cannot pass by finding none.
[ "$("$blackjack" help run | grep -c '^  \(-[a-z], \|    \)--')" -ge 10 ] || complain "run has ten options"
grep -q 'fB.-.-resume' blackjack-run.1 || complain "blackjack-run(1) has no --resume"

# Every function of the header is in its page, every field of an answer in the other.
for name in $(grep -o 'bj_lib_[a-z_]*(' "$source_dir/include/blackjack/blackjack.h" | tr -d '(' | sort -u); do
    grep -q "$name" "$source_dir/docs/man/libblackjack.3" || complain "libblackjack(3) has no $name"
done
for field in value unit interval confidence p status reason method claimed evidence; do
    grep -qx ".I $field" "$source_dir/docs/man/blackjack-profile.5" || complain "blackjack-profile(5) has no $field"
done

if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning ./*.1 "$source_dir"/docs/man/*.[135] >out 2>err || complain "mandoc complains"
fi
if command -v man >/dev/null; then
    for page in ./*.1 "$source_dir"/docs/man/*.[135]; do
        man --warnings -l "$page" >page.txt 2>err </dev/null
        [ -s err ] && complain "man complains about $page"
        [ -s page.txt ] || complain "man shows nothing of $page"
    done
fi

# complete WORD...: what bash offers for the last word.
complete() {
    bash -c 'complete() { :; }; . ./completion.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _blackjack
        printf "%s " "${COMPREPLY[@]}"' _ "$@"
}
# offers TEXT WORD...
offers() {
    text=$1
    shift
    complete "$@" >out 2>err
    [ "$(cat out)" = "$text" ] && [ ! -s err ] || complain "bash offers something else than '$text' for: $*"
}
if command -v bash >/dev/null; then
    offers "compare " blackjack com
    offers "clock " blackjack run clo
    offers "--effort " blackjack run --eff
    offers "normal " blackjack run --effort n
    offers "cache " blackjack run clock cac
    offers "hwloc-xml " blackjack emit hw
    offers "spread " blackjack emit omp-places file --order s
    : >some.json
    offers "some.json " blackjack emit sh some.
    offers "some.json " blackjack emit sh -o some.
    offers "some.json " blackjack show som
    offers "reanalyze " blackjack help rea
fi
if command -v zsh >/dev/null; then
    zsh -n _blackjack >out 2>err || complain "zsh does not take it"
    zsh -f -c 'autoload -U compinit; compinit -D -d dump; fpath=(. $fpath); autoload -U +X _blackjack' >out 2>err ||
        complain "zsh does not load it"
fi

expect 2 help --format pdf
one_line_error
expect 2 help frobnicate --format man
one_line_error
finish
