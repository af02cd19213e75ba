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
expect 2 tune gemm "$here/profile.json" --cc "cc -O2"
one_line_error
err_has "the profile has no answer to vector.width_bytes"

expect 0 run clock cache line op live vector --machine "sim:$source_dir/machines/zen4.json" --effort quick -o p.json --quiet
for operation in gemm schur; do
    expect 0 tune $operation p.json -o $operation --cc "cc -O2" --sizes 5,24 --json --quiet
    out_has '"format": "blackjack-tuning/1"'
    out_has '"n": 24'
    has make || { left_out "building the folder: no make"; continue; }
    make -C $operation check >log 2>&1 || complain "make check in $operation: $(tail -n 3 log)"
    grep -q "all kernels agree" log || complain "the check of $operation says nothing"
    # The check itself must notice a wrong kernel.
    grep -q 'c\[i\] != plain\[i\]' $operation/check.c || complain "the check compares nothing"
done
expect 2 tune gemm p.json --cc "cc -O2" --sizes 8 --quiet --against ./none.so
one_line_error
finish
