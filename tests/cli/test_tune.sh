#!/bin/sh
# From a profile to kernels: what is written builds by itself and agrees with a plain loop; what is refused.
. "$(dirname "$0")/lib.sh"

expect 2 tune
expect 2 tune lu
one_line_error
err_has "expected gemm or schur"
expect 2 tune gemm --type half
one_line_error
expect 2 tune gemm --sizes 8,x
one_line_error
err_has "--sizes: expected sizes"
expect 2 tune gemm --sizes 8,8
one_line_error
has cc || finish "no cc"
[ -z "${BJ_CROSS_BUILT:-}" ] || finish "built for another processor: the compilers here build for this one"
expect 2 tune gemm "$here/profile.json" --cc "cc -O2"
one_line_error
err_has "the profile has no answer to vector.width_bytes"

# The last output against its schema.
valid_tuning() {
    has python3 || { left_out "the schema: no python3"; return; }
    cp out tuning.json
    python3 "$here/validate_profile.py" "$source_dir/docs/tuning.schema.json" tuning.json || complain "not valid by the schema"
}

expect 0 run clock cache line op live vector --machine "sim:$source_dir/machines/zen4.json" --effort quick -o p.json --quiet
for operation in gemm schur; do
    expect 0 tune $operation p.json -o $operation --cc "cc -O2" --sizes 5,24 --json --quiet
    out_has '"format": "blackjack-tuning/1"'
    out_has '"n": 24'
    out_has '"figure_12"'
    valid_tuning
    has make || { left_out "building the folder: no make"; continue; }
    make -C $operation check >log 2>&1 || complain "make check in $operation: $(tail -n 3 log)"
    grep -q "all kernels agree" log || complain "the check of $operation says nothing"
    # The check itself must notice a wrong kernel.
    grep -q 'c\[i\] != plain\[i\]' $operation/check.c || complain "the check compares nothing"
done
expect 2 tune gemm p.json --cc "cc -O2" --sizes 8 --quiet --against ./none.so
one_line_error

# The example that factors a matrix with them checks its own result; a wrong kernel must not pass it.
lu() {
    cc -O2 -DTILE=24 -Ischur "$source_dir/examples/lu/lu.c" schur/schur.c schur/schur_fixed.c -o lu -ldl -lm >log 2>&1 ||
        complain "examples/lu does not build: $(head -n 3 log)"
    ./lu 96 1 >log 2>&1
}
lu || complain "examples/lu: $(cat log)"
grep -q 'Gflop/s' log || complain "examples/lu tells no speed"
cp schur/schur_fixed.c right.c
sed 's/ -= a0 \* b0/ += a0 * b0/' right.c >schur/schur_fixed.c
cmp -s right.c schur/schur_fixed.c && complain "the fixed kernels do not look as expected"
lu && complain "examples/lu passes a wrong kernel"

# Files that are not of ours stay as they are, and nothing is timed for them.
mkdir mine
echo 'all: ; echo mine' >mine/Makefile
expect 2 tune gemm p.json -o mine --cc "cc -O2" --sizes 5 --quiet
err_has "mine/Makefile: exists already; --force replaces it"
grep -q 'echo mine' mine/Makefile || complain "tune wrote over a Makefile of somebody else"

# Nor does it matter when they come: here while the compiler runs.
printf '#!/bin/sh\necho theirs >late/check.c\nexec cc "$@"\n' >plant
chmod +x plant
expect 2 tune gemm p.json -o late --cc "$scratch/plant -O1" --sizes 5 --quiet
err_has "late/check.c: somebody else has put another file there meanwhile"
[ "$(cat late/check.c)" = theirs ] || complain "tune wrote over a file that came meanwhile"
mkdir piped
mkfifo piped/Makefile
timeout 60 "$blackjack" tune gemm p.json -o piped --cc "cc -O2" --sizes 5 --quiet >out 2>err
[ $? -eq 2 ] || complain "a named pipe as Makefile"
err_has "named pipe"

# Exhaustive search: all combinations, in text and as JSON; few kernels are different for so small a size. Its time goes into
# the compiler's, which no sanitizer looks at.
search() {
    expect 0 tune gemm p.json --cc "cc -O1" --sizes 3 --search --json --quiet
    valid_tuning
    if has python3; then
        python3 - <<'END' || complain "the search: see above"
import json
search = json.load(open("tuning.json"))["search"]
listed = {(c["mr"], c["nr"], c["kr"], c["packed"]) for c in search["candidates"]}
assert len(listed) == len(search["candidates"]) == search["combinations"] >= 200, search["combinations"]
assert all(c["gflops"][0] > 0 for c in search["candidates"])
assert 0 < search["chosen_by_best"] <= 1 and abs(search["chosen_by_best"] - search["sizes"][0]["chosen_by_best"]) < 1e-3
END
    fi
}
[ -n "${BJ_SANITIZERS:-}" ] || search

# Another type and another compiler; the model's reasons and figure 12 as text.
expect 0 tune gemm p.json --cc "cc -O2" --type float --sizes 7 --quiet
out_has "gemm in float"
# A cache behind the first may keep up with the kernel or not: both sentences name the size.
out_has "odel's size is"
if has clang; then
    expect 0 tune schur p.json --cc "clang -O2" --sizes 7 --quiet
    out_has "verified"
else
    left_out "clang"
fi
finish
