#!/bin/sh
# emit: what each format says, and that nothing is written as a value that is not certain enough.
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
err_has "json: cache.L3.associativity is left out: undetermined"
if has python3; then
    python3 - out "$profile" <<'END' || complain "flat JSON"
import json, sys
flat = json.load(open(sys.argv[1]))
whole = json.load(open(sys.argv[2]))["characteristics"]
wanted = {key: answer["value"] for key, answer in whole.items()
          if answer["status"] == "ok" and answer.get("confidence") != "low"}
wanted.update({"cache.L1.block_bytes": 32768, "cache.L2.block_bytes": 262144, "cache.L3.block_bytes": 8388608})
assert flat == wanted, set(flat) ^ set(wanted)
END
else
    left_out "flat JSON: no python3"
fi

# Units as they are; what could end the comment is not.
expect 0 emit c-header "$profile"
out_has "/* GB/s; measured, 95%: 12 .. 13, high */"
out_has "a profile of Made up ?/ ?"

# Blocks: whole ways where capacity and ways are known and the sets are a power of two, else whole lines. Raw beside it.
sized() { # sized SIZE CAPACITY WAYS BLOCK
    sed "/\"cache.L1.size_bytes\"/{s/32768/$1/;s/\\[[^]]*\\]/[$1, $1]/;p;s/size_bytes/capacity_bytes/;s/$1/$2/g}" "$profile" |
        sed "/\"cache.L1.associativity\"/s/8/$3/g" >sized.json
    expect 0 emit sh sized.json
    out_has "BLACKJACK_CACHE_L1_SIZE_BYTES=$1"
    grep -q "^BLACKJACK_CACHE_L1_BLOCK_BYTES=$4\$" out || complain "block of $*"
}
sized 34099 31232 8 32768   # ways of 4096 bytes, though the capacity came out as 30.5 KiB
out_has "# bytes; BLACKJACK_CACHE_L1_SIZE_BYTES rounded down to whole ways of 4096 bytes"
sized 47000 49152 12 45056
sized 34099 49152 8 34048   # 96 sets: hashed or sliced, whole lines
out_has "rounded down to whole lines of 64 bytes"
sized 3000 32768 8 2944     # less than a way
expect 0 emit cmake "$profile"
out_has "set(BLACKJACK_CACHE_L2_BLOCK_BYTES 262144)"
grep -v '"cache.line_bytes"' "$profile" >without.json
expect 0 emit c-header without.json
grep -q BLOCK_BYTES out && complain "blocks of lines that are not known"

# What is not certain enough, and the two ways to have it all the same.
expect 0 emit sh "$profile" --min-confidence low
out_has "BLACKJACK_X_WOBBLY=7"
out_has "BLACKJACK_MEMORY_COPY_GBS=10"
expect 0 emit sh "$profile" --allow-claimed
out_has "BLACKJACK_X_WOBBLY=8"
out_has "claimed by the operating system, not measured"
err_has "sh: 1 claimed by the operating system, not measured: x.wobbly"
out_has "BLACKJACK_CACHE_L3_SIZE_BYTES=8388608"
expect 0 emit sh "$profile" --min-confidence high
out_has "BLACKJACK_CACHE_L2_SIZE_BYTES is left out: its confidence is only medium (262144 bytes); --min-confidence low"
out_has "takes it; 'blackjack run cache' measures it anew"
expect 0 emit sh "$profile" --min-confidence high --allow-claimed
out_has "BLACKJACK_CACHE_L3_SIZE_BYTES=16777216"
out_has "whole lines of 64 bytes; claimed, not measured"
expect 0 emit json "$profile" --min-confidence high --allow-claimed
out_has '"claimed": ["cache.L3.size_bytes", "x.wobbly"]'
err_has "json: 2 claimed by the operating system, not measured: cache.L3.size_bytes, x.wobbly"
for format in c-header cmake sh json; do
    refuses $format "$profile" "$format, with --strict: " --strict
done
grep -v '"low"\|unstable\|undetermined\|unsupported' "$profile" | sed 's/, "claimed": 8},*$/}/; /x.text/s/,$//' >sure.json
valid sure.json
for format in c-header json gcc-params blis hwloc-xml omp-places rankfile; do
    expect 0 emit $format sure.json --strict
    [ -s err ] && complain "emit $format --strict: nothing is left out"
done
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
[ -s err ] && complain "nothing is left out"
refuses gcc-params empty.json "gcc-params: nothing can be written: --param l1-cache-size is left out: the profile has no cache.L1.size_bytes; 'blackjack run cache' measures it"
with cache.L2.size_bytes '"medium"' '"low"'
expect 0 emit gcc-params with.json
out_is "--param l1-cache-size=32 --param l1-cache-line-size=64"
err_has "gcc-params: --param l2-cache-size is left out: cache.L2.size_bytes: its confidence is only low (262144 bytes)"
err_has "--min-confidence low takes it"
err_has "'blackjack run cache' measures it anew"
refuses gcc-params with.json "gcc-params, with --strict: --param l2-cache-size is left out: cache.L2.size_bytes" --strict
expect 0 emit gcc-params with.json --min-confidence low
out_has "--param l2-cache-size=256"
without cache.line_bytes
expect 0 emit gcc-params without.json
out_is "--param l1-cache-size=32 --param l2-cache-size=256"
err_has "the profile has no cache.line_bytes; 'blackjack run line' measures it"
with cache.L3.size_bytes '"status": "ok"' '"status": "unstable", "reason": "moves"'
expect 0 emit gcc-params with.json --strict
expect 0 emit blis with.json
out_has "# NC is left out: cache.L3.size_bytes: unstable: moves"
grep -q '^NC=' out && complain "a block from a level that moves"
refuses blis with.json "blis, with --strict: NC is left out: cache.L3.size_bytes: unstable: moves" --strict
expect 0 emit hwloc-xml with.json
out_has '<info name="BlackjackLeftOut" value="the cache of level 3 is left out: cache.L3.size_bytes: unstable: moves'
refuses hwloc-xml with.json "cache.L3.size_bytes: unstable: moves" --strict
expect 0 emit blis with.json --allow-claimed
out_has "# cache.L3.size_bytes: claimed by the operating system, not measured."
err_has "blis: 1 claimed by the operating system, not measured: cache.L3.size_bytes"
[ "$(grep -c 'claimed by' out)" -eq 1 ] || complain "one size is claimed"
expect 0 emit hwloc-xml with.json --allow-claimed
out_has 'cache_size="16777216"'
out_has '<info name="BlackjackClaimed" value="cache.L3.size_bytes"/>'
out_has '"BlackjackEffectiveBytes" value="262144"'
grep -q 'BlackjackEffectiveBytes" value="16777216' out && complain "a claim is passed off as measured"
expect 0 emit gcc-params with.json --allow-claimed --min-confidence high
err_has "--param l2-cache-size is left out"
with cache.levels '"value": 3, "unit": "count", "interval": .3, 3.' '"value": 1, "unit": "count", "interval": [1, 1]'
expect 0 emit gcc-params with.json --strict
out_is "--param l1-cache-size=32 --param l1-cache-line-size=64"
expect 0 emit blis with.json
out_has "# MC (with NC) is left out: there is no second level"
grep -q '^KC=' out || complain "one level is enough for KC"

# The number of levels alone is not sure, as on every shared machine: whoever does not use it does not ask.
with cache.levels '"high"' '"low"'
expect 0 emit gcc-params with.json --strict
expect 0 emit blis with.json --strict
expect 0 emit hwloc-xml with.json
out_has 'type="L3Cache"'
out_has "the number of cache levels is left out: cache.levels: its confidence is only low (3); "
refuses hwloc-xml with.json "cache.levels: its confidence is only low" --strict
grep -v 'cache.L3' with.json >without.json
expect 0 emit blis without.json
out_has "# NC is left out: cache.levels: its confidence is only low"

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
expect 0 emit blis without.json
out_has "# KC (with MC, NC) is left out: the profile has no cache.L1.associativity; 'blackjack run associativity' measures it"
[ "$(grep -c '^[A-Z]*=' out)" -eq 2 ] || complain "MR and NR alone"
refuses blis without.json "blis: nothing can be written: KC (with MC, NC) is left out" --kernel 6x8
without cache.L2.size_bytes
expect 0 emit blis without.json
(. ./out && [ "$MR $NR $KC ${MC-none} ${NC-none}" = "4 4 384 none none" ]) || complain "blis without L2: $(grep = out)"

# hwloc.
with cache.L3.sharing '0, 4, 1, 5' '0, 1, 5'
sed 's/\[2, 6, 3, 7\]/[2, 6, 3, 7, 4]/' with.json >crossed.json
refuses hwloc-xml crossed.json "levels that nest"
without memory.latency_ns
expect 0 emit hwloc-xml without.json
out_has "the latency of memory is left out: the profile has no memory.latency_ns"
refuses hwloc-xml without.json "the profile has no memory.latency_ns" --strict
refuses hwloc-xml empty.json "hwloc-xml: nothing can be written: the number of cache levels is left out"

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
    refuses $format "$here/profile.json" "$format needs topology.tree, which the profile does not have" --strict
    refuses $format "$here/profile.json" "$format needs topology.tree, which the profile does not have" --order spread
    refuses $format empty.json "$format needs topology.tree, which the profile does not have"
done
# Without a tree the cpus that there are; who is close to whom is left out.
without topology.tree
sed -i '/"cpus": .[02], /d; /cpus_allowed/s/0, 1, 2, 3, 4, 5, 6, 7/3, 0, 1, 2/' without.json
expect 0 emit omp-places without.json
out_is "{0},{1},{2},{3}"
err_has "omp-places: the order by closeness is left out: omp-places needs topology.tree"
expect 0 emit rankfile without.json
out_has "# the order by closeness is left out"
out_has "rank 3=localhost slot=3"
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
