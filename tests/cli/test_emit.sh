#!/bin/sh
# emit: what each format says, and that nothing is written of what is not certain enough.
. "$(dirname "$0")/lib.sh"
profile=$here/emit_profile.json
valid "$profile"

# refuses FORMAT FILE TEXT [OPTION...]: exit status 1, one line with the text, no file.
refuses() {
    format=$1 file=$2 text=$3
    shift 3
    expect 1 emit "$format" "$file" "$@"
    one_line_error
    err_has "$text"
    expect 1 emit "$format" "$file" -o refused.out "$@"
    [ -e refused.out ] && complain "emit $format wrote a file though it refused"
}
without() { # without KEY: the profile without that answer, as without.json
    grep -vF "\"$1\":" "$profile" >without.json
    grep -qF "\"$1\":" "$profile" || complain "no $1 to leave out"
}
# with KEY FIELD-TEXT NEW-TEXT: the profile with one field of an answer changed, as with.json
with() {
    sed "/\"$1\":/s|$2|$3|" "$profile" >with.json
    cmp -s with.json "$profile" && complain "nothing to change in $1"
}

# C. test_emit_gcc.sh, _cmake.sh and _hwloc.sh ask the readers of a format what they make of it.
expect 0 emit c-header "$profile" -o profile.h
[ -s out ] && complain "nothing expected on standard output"

sed '/"memory.latency_ns"/s/101.5/101/' "$profile" >whole.json
expect 0 emit c-header whole.json
out_has "#define BLACKJACK_MEMORY_LATENCY_NS 101.0"
out_has "#define BLACKJACK_CACHE_LINE_BYTES 64"
grep -q 'BYTES.*\.0$' out && complain "sizes are integers"
expect 0 emit sh whole.json
grep -q '^BLACKJACK_MEMORY_LATENCY_NS=101$' out || complain "a point in the shell"

# sh: sets the variables and runs nothing.
expect 0 emit sh "$profile" -o profile.sh
(
    set -eu
    HOME=wrong
    . ./profile.sh
    [ "$BLACKJACK_CACHE_L1_SIZE_BYTES" -eq 32768 ]
    [ "$BLACKJACK_MEMORY_LATENCY_NS" = 101.5 ]
    [ "$BLACKJACK_X_TEXT" = '["it'\''s \"$HOME\"; `id` \\ ${X}", {"a;b": "*/"}]' ]
    [ "${BLACKJACK_X_WOBBLY-unset}" = unset ]
) 2>err || complain "the shell does not take it"


expect 0 emit json "$profile"
if has python3; then
    python3 - out "$profile" <<'END' || complain "flat JSON"
import json, sys
flat = json.load(open(sys.argv[1]))
whole = json.load(open(sys.argv[2]))["characteristics"]
wanted = {key: answer["value"] for key, answer in whole.items()
          if answer["status"] == "ok" and answer.get("confidence") != "low"}
assert flat == wanted, set(flat) ^ set(wanted)
END
else
    left_out "flat JSON: no python3"
fi

# What is not certain enough, and the two ways to have it all the same.
expect 0 emit sh "$profile" --min-confidence low
out_has "BLACKJACK_X_WOBBLY=7"
out_has "BLACKJACK_MEMORY_COPY_GBS=10"
expect 0 emit sh "$profile" --allow-claimed
out_has "BLACKJACK_X_WOBBLY=8"
out_has "claimed by the operating system, not measured"
out_has "BLACKJACK_CACHE_L3_SIZE_BYTES=8388608"
expect 0 emit sh "$profile" --min-confidence high
out_has "BLACKJACK_CACHE_L2_SIZE_BYTES is left out: its confidence is only medium"
expect 0 emit sh "$profile" --min-confidence high --allow-claimed
out_has "BLACKJACK_CACHE_L3_SIZE_BYTES=16777216"
printf '{"format": "blackjack-profile/1", "characteristics": {}}' >empty.json
printf '{"format": "blackjack-profile/1", "characteristics": {"a.b": {"value": 1, "unit": "", "status": "ok", "confidence": "high"}, "a_b": {"value": 2, "unit": "", "status": "ok"}}}' >twins.json
for format in c-header cmake sh json; do
    refuses $format empty.json "none of the profile's 0 answers"
done
refuses sh twins.json "BLACKJACK_A_B"
# A number without a confidence is for who takes everything.
sed '/"memory.read_gbs"/s/"confidence": "high", //' "$profile" >silent.json
expect 0 emit sh silent.json
out_has "BLACKJACK_MEMORY_READ_GBS is left out: its confidence is not told"
out_has "BLACKJACK_CACHE_L1_SHARING="
expect 0 emit sh silent.json --min-confidence low
out_has "BLACKJACK_MEMORY_READ_GBS=12.5"

# gcc.
expect 0 emit gcc-params "$profile"
out_is "--param l1-cache-size=32 --param l1-cache-line-size=64 --param l2-cache-size=256"
refuses gcc-params empty.json "gcc-params needs cache.levels, which the profile does not have"
with cache.L2.size_bytes '"medium"' '"low"'
refuses gcc-params with.json "cache.L2.size_bytes: its confidence is only low; --min-confidence low takes it"
expect 0 emit gcc-params with.json --min-confidence low
with cache.L3.size_bytes '"status": "ok"' '"status": "unstable", "reason": "moves"'
expect 0 emit gcc-params with.json
refuses blis with.json "cache.L3.size_bytes: unstable: moves"
refuses hwloc-xml with.json "cache.L3.size_bytes: unstable: moves"
expect 0 emit blis with.json --allow-claimed
out_has "# cache.L3.size_bytes: claimed by the operating system, not measured."
[ "$(grep -c 'claimed by' out)" -eq 1 ] || complain "one size is claimed"
expect 0 emit hwloc-xml with.json --allow-claimed
out_has 'cache_size="16777216"'
out_has '"BlackjackEffectiveBytes" value="262144"'
grep -q 'BlackjackEffectiveBytes" value="16777216' out && complain "a claim is passed off as measured"
with cache.levels '"value": 3, "unit": "count", "interval": .3, 3.' '"value": 1, "unit": "count", "interval": [1, 1]'
expect 0 emit gcc-params with.json
out_is "--param l1-cache-size=32 --param l1-cache-line-size=64"
refuses blis with.json "cache.levels from 2"

# blis: the paper's example, and everything can be sourced.
expect 0 emit blis "$profile" --vector-bytes 32 -o blis.sh
(. ./blis.sh && [ "$MR $NR $KC $MC" = "8 4 256 96" ] && [ "$NC" -gt 0 ]) || complain "blis: $(grep = blis.sh)"
expect 0 emit blis "$profile" --kernel 6x8
out_has "MR=6"
out_has "NR=8"
expect 0 emit blis "$profile" --type double --kernel 8x6
out_has "since its ways are not known"
with op.double.mul.latency '"value": 5.02' '"value": 1e30'
refuses blis with.json "no kernel of at most 256 x 256"
refuses blis "$profile" "op.float.mul.latency" --type float
without op.double.mul.latency
refuses blis without.json "--kernel MRxNR does without"
without cache.L1.associativity
refuses blis without.json "cache.L1.associativity"

# hwloc.
with cache.L3.sharing '0, 4, 1, 5' '0, 1, 5'
sed 's/\[2, 6, 3, 7\]/[2, 6, 3, 7, 4]/' with.json >crossed.json
refuses hwloc-xml crossed.json "levels that nest"
without memory.latency_ns
refuses hwloc-xml without.json "memory.latency_ns"

# Places: neighbours first, or far apart first.
expect 0 emit omp-places "$profile"
out_is "{0},{4},{1},{5},{2},{6},{3},{7}"
expect 0 emit omp-places "$profile" --order spread
out_is "{0},{2},{1},{3},{4},{6},{5},{7}"
expect 0 emit rankfile "$profile" --order spread --host node7
out_has "rank 1=node7 slot=2"
out_has "rank 7=node7 slot=7"
out_has "Open MPI 5 takes logical indexes only"
[ "$(grep -c '^rank ' out)" -eq 8 ] || complain "eight ranks"
for format in omp-places rankfile; do
    refuses $format "$here/profile.json" "$format needs topology.tree, which the profile does not have"
done
with topology.tree '"cpus": .0, 1, 2, 3, 4, 5, 6, 7.' '"cpus": [0]'
expect 2 emit omp-places with.json
one_line_error
err_has "topology.tree: expected"

# Usage.
for words in "" "sh" "shh $profile" "sh $profile extra" "sh missing.json" "sh ." "sh $profile --min-confidence very" \
    "rankfile $profile --order far" "rankfile $profile --host a=b" "blis $profile --type int" \
    "blis $profile --kernel 8" "blis $profile --kernel 0x4" "blis $profile --kernel 8x6x4" \
    "blis $profile --kernel 99999999999999999999x1" "blis $profile --vector-bytes 12" "sh $profile --output" \
    "sh $profile -o profile.sh" "sh $profile -o ."; do
    expect 2 emit $words
    one_line_error
done
expect 2 emit gcc-param "$profile"
err_has "did you mean 'gcc-params'?"
expect 0 emit sh "$profile" -o profile.sh --force
expect 3 emit sh "$profile" -o nowhere/profile.sh
one_line_error
expect 0 help emit
for format in c-header cmake sh json gcc-params blis hwloc-xml omp-places rankfile; do
    out_has "  $format "
done
finish
