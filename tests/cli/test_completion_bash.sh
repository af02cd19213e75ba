#!/bin/sh
# What bash offers for the last word of a command line.
. "$(dirname "$0")/lib.sh"
has bash || skip "no bash"

# offers TEXT WORD...
offers() {
    text=$1
    shift
    bash -c 'complete() { :; }; . "$1"; program=$2; shift 2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _blackjack "$program"; printf "%s " "${COMPREPLY[@]}"' _ \
        "$source_dir/scripts/completion/blackjack.bash" "$blackjack" "$@" >out 2>err
    [ "$(cat out)" = "$text" ] && [ ! -s err ] || complain "bash offers something else than '$text' for: $*"
}
for command in $("$blackjack" help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Z].*/\1/p'); do
    offers "$command " blackjack "$command"
    options=$("$blackjack" help "$command" | sed -n 's/^  \(-[a-z], \|    \)\(--[a-z][a-z-]*\) .*/\2/p')
    for option in $options; do
        # One may be how another begins.
        offers "$(printf '%s\n' $options | grep -e "^$option" | tr '\n' ' ')" blackjack "$command" "$option"
    done
done
: >some.json
offers "compare " blackjack com
offers "clock " blackjack run clo
offers "--effort " blackjack run --eff
offers "normal " blackjack run --effort n
offers "sim: " blackjack run --machine s
offers " " blackjack run --seed 1
offers "cache " blackjack run clock cac
offers "associativity " blackjack analyze ass
offers "some.json " blackjack analyze cache som
offers "hwloc-xml " blackjack emit hw
offers "spread " blackjack emit omp-places file --order s
offers "some.json " blackjack emit sh some.
offers "some.json " blackjack emit sh -o some.
offers "some.json " blackjack show som
offers "reanalyze " blackjack help rea
# Keys, fields, methods and curves: of the profile where there is one, else those that there may be.
offers "qt_cluster " blackjack run --method qt
offers "paired_walks paper " blackjack run tlb --method p
offers "spill_onset biggest_step paper " blackjack analyze live some.csv --method ""
offers "confidence " blackjack get --field conf
offers "cache.L3.size_bytes= " blackjack analyze tlb some.csv --known cache.L3.si
offers "cache.L2.latency_ns " blackjack get cache.L2.latency_n
cp "$here/profile.json" .
offers "cache.L1.size_bytes " blackjack get profile.json cache.L1.si
offers "confidence " blackjack get profile.json cache.levels conf
offers "profile.json " blackjack get prof
offers "cache.walk " blackjack curve profile.json cac
offers "tlb " blackjack show profile.json tl
offers "cache " blackjack show --plot ca
mv profile.json blackjack-profile.json
offers "contexts.int " blackjack get cont
offers "cache.walk " blackjack curve cac
finish
