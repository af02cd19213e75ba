#!/bin/sh
# What program and libraries were built with, as readelf tells; the kernels without.
# usage: test_hardening.sh BUILD SOURCE CMAKE COMPILER
set -u
build=$1
compiler=$4
failures=0
complain() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}
command -v readelf >/dev/null && command -v nm >/dev/null || { echo "skipped: no readelf"; exit 77; }
grep -q '^BJ_HARDEN:BOOL=ON' "$build/CMakeCache.txt" || { echo "skipped: switched off in this build"; exit 77; }
grep -q '^CMAKE_BUILD_TYPE:STRING=Debug' "$build/CMakeCache.txt" && { echo "skipped: not an optimizing build"; exit 77; }

case $(uname -m) in
x86_64) property="IBT, SHSTK" flag=fcf_protection ;;
aarch64) property=BTI flag=mbranch_protection ;;
*) property= flag= ;;
esac
[ -z "$flag" ] || grep -q "^BJ_HAVE_$flag.*=1" "$build/CMakeCache.txt" || property=
has_property() {
    readelf -nW "$1" 2>/dev/null | grep -q "$property"
}

# Every object of ours; what is linked only where the system's own start-up files are so, too (Debian's of 2023 are not).
linked=$property
if [ -n "$property" ]; then
    objects=0
    for object in $(find "$build/CMakeFiles" -path '*/bj_core.dir/*.o' -o -path '*/bj_kernels.dir/*.o' -o -path '*/bj_cli.dir/*.o' -o -path '*/bj_lib.dir/*.o'); do
        objects=$((objects + 1))
        has_property "$object" || complain "$object: no $property"
    done
    [ $objects -ge 100 ] || complain "only $objects objects were looked at"
    has_property "$("$compiler" -print-file-name=crti.o)" || linked=
    echo "$objects objects with $property"
    [ -n "$linked" ] || echo "left out: what is linked has none, since the system's start-up files have none"
fi

checked=0
for file in "$build"/blackjack "$build"/blackjack-comm* "$build"/libblackjack.so; do
    [ -f "$file" ] && [ ! -L "$file" ] || [ "$file" = "$build/libblackjack.so" ] || continue
    checked=$((checked + 1))
    readelf -lW "$file" | grep -q GNU_RELRO || complain "$file: no RELRO"
    readelf -dW "$file" | grep -Eq 'BIND_NOW|FLAGS.*NOW' || complain "$file: not bound at start"
    readelf -hW "$file" | grep -q 'Type: *DYN' || complain "$file: not position-independent"
    readelf -lW "$file" | grep GNU_STACK | grep -q 'RWE' && complain "$file: an executable stack"
    symbols=$(readelf -sW --dyn-syms "$file")
    case $symbols in *__stack_chk_fail*) ;; *) complain "$file: no stack protector" ;; esac
    case $symbols in *printf_chk*) ;; *) complain "$file: no FORTIFY" ;; esac
    [ -z "$linked" ] || has_property "$file" || complain "$file: no $property"
done
[ $checked -ge 3 ] || complain "only $checked files were looked at"

# A check of the stack in a hot loop would be timed.
kernels=0
for object in "$build"/CMakeFiles/bj_kernels.dir/src/kernels/*.o "$build"/CMakeFiles/bj_kernels.dir/generated/kernels/*.o; do
    [ -f "$object" ] || continue
    kernels=$((kernels + 1))
    nm -u "$object" | grep -Eq '__stack_chk_fail|_chk$' && complain "$object: a hardened kernel"
done
[ $kernels -ge 10 ] || complain "only $kernels objects of kernels were found"
[ $failures -eq 0 ]
