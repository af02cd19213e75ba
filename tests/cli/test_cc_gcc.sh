#!/bin/sh
# run --cc with a real compiler. -O0 is quick to compile.
. "$(dirname "$0")/lib.sh"
skip_cross_built "the compilers here build for this one"
has gcc || skip "no gcc"
mkdir tmp
TMPDIR=$scratch/tmp
export TMPDIR

"$blackjack" run live --effort quick --cc "gcc -O0 '-DX=a b'" -q -o p.json >out 2>err
[ $? -le 1 ] || complain "run --cc gcc"
[ -z "$(ls -A tmp)" ] || complain "left in TMPDIR: $(ls -A tmp)"
valid p.json
grep -q '"cc": "gcc -O0' p.json || complain "no compiler in the profile"
grep -q '"cc_version": "gcc' p.json || complain "no version in the profile"
grep -q '"cc_flags": "-O0 -DX=a b .*-ffp-contract=off' p.json || complain "no flags in the profile"
expect 0 reanalyze p.json -o q.json
grep -q '"cc": "gcc -O0' q.json || complain "reanalyze drops the compiler"
expect 2 run live --resume -q -o p.json
err_has "begun with --cc"
finish
