#!/bin/sh
# --method paper and servet: the papers' ways in every probe that has one, said by `show`, kept by reanalyze and --resume.
. "$(dirname "$0")/lib.sh"
atom=sim:$source_dir/machines/atom.json

expect 0 run page live -q --machine "$atom" --effort quick --method paper -o paper.json
expect 0 show paper.json
out_has "page by strides"
out_has "live by biggest_step"
out_has "method paper"
out_has "page by strides (low at most: see below)"
out_has "Low at most, by a paper's method to the letter"
[ "$("$blackjack" get paper.json page.size_bytes confidence)" = low ] || complain "a literal method is surer than low"
"$blackjack" get paper.json page.size_bytes caveat | grep -q "to the letter" || complain "no caveat"
grep -q '"method": "paper"' paper.json || complain "the run's method is not recorded"
expect 0 get paper.json page.size_bytes method
out_has "strides/"
"$blackjack" reanalyze paper.json -o - >again.json 2>err || complain "reanalyze"
cmp -s paper.json again.json || complain "reanalysis forgot the papers' methods"
expect 0 run slot -q --machine "$atom" --effort quick --method paper -o paper.json --resume
expect 0 show paper.json slot
out_has "slot by mode"
expect 2 run op -q --machine "$atom" --effort quick --method servet -o paper.json --resume
one_line_error

# Probes without one answer by their default, beside one that has it; alone they say what there is.
expect 0 run clock page -q --machine "$atom" --effort quick --method paper -o both.json
expect 0 show both.json
out_has "clock by dependent_chain"
expect 1 get both.json cpu.clock_ghz caveat
one_line_error
expect 2 run clock -q --machine "$atom" --method paper -o none.json
one_line_error
err_has "dependent_chain"
expect 2 run page -q --machine "$atom" --method qt -o none.json
err_has "strides, paper"

# A table is read by them, too.
printf '1,10\n2,10\n3,10\n4,20\n5,20\n6,20\n' >table.csv
expect 0 analyze contexts table.csv --method paper
out_has '"method": "first_step/'

# Section 6: 16 registers and 32 KiB give 3,3,1 (4,2,1 in practice) and 63,63,1 (56).
if has cc; then
    sed 's/"double": 15,/"double": 16,/' "$source_dir/machines/nehalem_ep.json" >core_i7.json
    expect 0 run cache line op live vector -q --machine sim:core_i7.json --effort quick --method paper -o i7.json
    expect 0 tune schur i7.json --cc "cc -O2" --sizes 8 --json --quiet -o kernels
    tr -d ' \n' <out >model
    for part in '"registers_2012":[3,3,1]' '"practical_2012":[4,2,1]' '"cache_2012":[63,63,1]' '"block_2012":56'; do
        grep -qF "$part" model || complain "the model lacks $part"
    done
fi

expect 0 list page sharing
out_has "paper    strides"
out_has "servet   servet"
expect 0 list --words papers page live
[ "$(cat out)" = paper ] || complain "list --words papers"
expect 0 list --words papers
[ "$(tr '\n' ' ' <out)" = "paper servet " ] || complain "list --words papers of all"
finish
