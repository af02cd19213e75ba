#!/bin/sh
# What is installed is found by pkg-config and CMake, exports its own names only, and goes without a trace.
. "$(dirname "$0")/lib.sh"
install_build
profile=$source_dir/tests/cli/emit_profile.json
export BLACKJACK_PROFILE="$profile"

for file in bin/blackjack include/blackjack/blackjack.h include/blackjack/kernel.h include/blackjack/regions.h share/man/man1/blackjack.1 share/man/man1/blackjack-emit.1 \
    share/man/man3/libblackjack.3 share/man/man5/blackjack-profile.5 share/zsh/site-functions/_blackjack \
    share/bash-completion/completions/blackjack; do
    [ -f "$prefix/$file" ] || complain "$file is not installed"
done
[ "$(find "$prefix/include" -type f | wc -l)" -eq 3 ] || complain "more than the public headers is installed"
shared=$(find "$prefix" -name 'libblackjack.so' | head -1)
static=$(find "$prefix" -name 'libblackjack.a' | head -1)
libdir=${shared%/*}
[ -n "$shared" ] && [ -n "$static" ] || { complain "a library is not installed"; finish; }

# Exported names: those of the map, all of them public.
sed -n 's/^ *\(bj_lib_[a-z_]*\);$/\1/p' "$source_dir/cmake/libblackjack.map" | sort >wanted
cat "$prefix"/include/blackjack/*.h | grep -oE 'bj_lib_[a-z_]*\(|bj_lib_region_slots' | tr -d '(' | sort -u >declared
grep -vxF -f declared wanted >log && complain "in the map, not in the header"
nm -D --defined-only "$shared" | awk '$2 != "A" { print $3 }' | sed 's/@.*//' | sort >exported
cmp -s wanted exported || { diff wanted exported >log; complain "the shared library exports something else"; }
nm -D --defined-only "$shared" | awk '$2 != "A" && $3 !~ /@@BLACKJACK_1(\.[0-9]+)?$/' >log
[ -s log ] && complain "a symbol has no version"
nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }' | sort >exported
cmp -s wanted exported || { diff wanted exported >log; complain "the static library exports something else"; }
readelf -d "$shared" | grep -q 'SONAME.*libblackjack\.so\.1\]' || complain "soname"

# pkg-config, shared and static.
export PKG_CONFIG_PATH="$libdir/pkgconfig"
flags=$(pkg-config --cflags --libs libblackjack) || complain "pkg-config"
# shellcheck disable=SC2086
"$cc" -O2 -Wall -Wextra -Werror "$source_dir/examples/transpose/transpose.c" $flags -o transpose >log 2>&1 ||
    complain "the example does not build with pkg-config"
LD_LIBRARY_PATH=$libdir ./transpose 256 1 >log 2>&1 || complain "transpose"
grep -q 'first level 32768 bytes, line 64' log || complain "transpose takes nothing from the profile"
grep -q 'block .* of the profile' log || complain "transpose does not name the profile's block"
BLACKJACK_PROFILE=/no/such/file LD_LIBRARY_PATH=$libdir ./transpose 256 1 >log 2>&1 || complain "transpose without a profile"
grep -q 'block .* by the defaults' log && ! grep -q 'of the profile' log || complain "transpose takes its defaults for a profile"
# Ours static, what it stands on shared. shellcheck disable=SC2046
"$cc" -O2 "$source_dir/examples/pool/pool.c" -I"$prefix/include" -pthread "$static" \
    $(pkg-config --libs $(sed -n "s/^Requires.private: //p" "$libdir/pkgconfig/libblackjack.pc")) -lm -o pool >log 2>&1 || complain "the example does not build with the static library"
./pool int >log 2>&1 || complain "pool"
grep -q "contexts.int: the profile has no such key" log || complain "pool without contexts"
printf '{"format": "blackjack-profile/1", "characteristics": {"contexts.fp": {"value": 3, "unit": "count", "confidence": "high", "status": "ok"}}}' >contexts.json
BLACKJACK_PROFILE=contexts.json ./pool fp >log 2>&1
grep -q '^3 workers' log || complain "pool takes nothing from the profile"
# Threads that are pinned by the profile: cpus of this machine, then those of another.
# shellcheck disable=SC2086
"$cc" -O2 -Wall -Wextra -Werror "$source_dir/examples/pinned/pinned.c" $flags -pthread -o pinned >log 2>&1 ||
    complain "the example that pins threads does not build"
allowed=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
first=${allowed%%[-,]*} last=${allowed##*[-,]}
printf '{"format": "blackjack-profile/1", "characteristics": {"topology.tree": {"value": {"cpus": [%s]}, "unit": "", "status": "ok"}, "cpu.kinds": {"value": [{"cpus": [%s], "clock_ghz": 2}], "unit": "", "status": "ok"}}}' \
    "$last" "$first" >pinned.json
for how in near spread; do
    BLACKJACK_PROFILE=pinned.json LD_LIBRARY_PATH=$libdir ./pinned $how 3 >log 2>&1 || complain "pinned $how"
    [ "$(grep -c "^thread [012]: cpu $last\$" log)" -eq 3 ] || complain "pinned $how: not on cpu $last"
done
BLACKJACK_PROFILE=contexts.json LD_LIBRARY_PATH=$libdir ./pinned near 2 >log 2>&1 || complain "pinned without a tree"
grep -q "the profile has no topology.tree" log && grep -q "thread 1: cpu -1, not pinned" log || complain "pinned without a tree"
sed "s/\[$last\]/[1000]/" pinned.json >elsewhere.json
BLACKJACK_PROFILE=elsewhere.json LD_LIBRARY_PATH=$libdir ./pinned near 2 >log 2>&1 || complain "pinned elsewhere"
grep -q "thread 0: cpu 1000, not pinned" log || complain "pinned to a cpu that is not there"
printf '#include <blackjack/blackjack.h>\n#include <blackjack/regions.h>\n' >plus.cc
echo 'int main() { return bj_lib_version()[0] == 0; }' >>plus.cc
if has c++; then
    # shellcheck disable=SC2086
    c++ -Wall -Wextra -Werror plus.cc $flags -o plus >log 2>&1 || complain "C++ does not take the header"
else
    left_out "the header in C++: no c++"
fi

# CMake, below the prefix as well as after it was moved.
moved=$scratch/moved
for place in "$prefix" "$moved"; do
    [ "$place" = "$moved" ] && cp -R "$prefix" "$moved"
    for example in transpose pool pinned stencil; do
        rm -rf made
        { "$cmake" -S "$source_dir/examples/$example" -B made -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$place" &&
            "$cmake" --build made; } >log 2>&1 || complain "CMake: $example below $place"
        case $example in transpose | stencil) arguments="256 1" ;; *) arguments= ;; esac
        # shellcheck disable=SC2086
        made/$example $arguments >log 2>&1 || complain "CMake: $example does not run"
    done
done
"$prefix/bin/blackjack" emit cmake "$profile" -o machine.cmake >log 2>&1 || complain "emit cmake"
rm -rf made
{ "$cmake" -S "$source_dir/examples/tuned" -B made -DCMAKE_C_COMPILER="$cc" -DMACHINE="$scratch/machine.cmake" &&
    "$cmake" --build made && made/tuned; } >log 2>&1 || complain "the project that uses the emitted file"
grep -q 'counters of 64 bytes in blocks of 16384' log || complain "the project takes nothing from the emitted file"

# Regions: recorded by an OpenMP program and by one with threads and forms that must agree, and read by the command.
for example in relax:regions microfission:microfission; do
    rm -rf made regions.json
    "$cmake" -S "$source_dir/examples/${example#*:}" -B made -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 || {
        grep -q "Could NOT find OpenMP" log && { left_out "regions in OpenMP: $cc has none"; continue; }
        complain "CMake: ${example#*:}"
        continue
    }
    "$cmake" --build made >log 2>&1 || complain "${example#*:} does not build"
    [ "${example%:*}" = relax ] && arguments="200 20" || arguments="2 3"
    # shellcheck disable=SC2086
    BLACKJACK_REGIONS=regions.json made/${example%:*} $arguments >log 2>&1 || complain "${example%:*}"
    "$prefix/bin/blackjack" regions regions.json >log 2>&1 || complain "the regions of ${example%:*}"
    grep -q 'Dilation' log || complain "the regions of ${example%:*} do not say what timing them took"
done

# The kernel timer: programs that use the library's, and the command, which finds the kernels' header by itself.
rm -rf made
{ "$cmake" -S "$source_dir/examples/timer" -B made -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$prefix" &&
    "$cmake" --build made; } >log 2>&1 || complain "CMake: timer"
made/dot_product 1000 >log 2>&1 || complain "dot_product"
grep -q '^ *1000 ' log || complain "dot_product times nothing"
made/matmul 64 >log 2>&1 || complain "matmul"
"$prefix/bin/blackjack" time "$source_dir/examples/timer/copy.c:copy" --operand 'from:8*n:in' --operand 'to:8*n:out' --n 1000 \
    --cc "$cc -O2" --csv -q >log 2>&1 || complain "time does not find blackjack/kernel.h"

# Into a DESTDIR and away again, with nothing left.
cp "$build/install_manifest.txt" kept
DESTDIR=$scratch/stage "$cmake" --install "$build" --prefix /usr >log 2>&1 || complain "DESTDIR"
[ -x "$scratch/stage/usr/bin/blackjack" ] || complain "nothing below DESTDIR"
mkdir there
cp "$build/install_manifest.txt" there/
DESTDIR=$scratch/stage sh "$source_dir/scripts/uninstall.sh" there >log 2>&1 || complain "uninstall"
find stage -type f -o -type l >log
[ -s log ] && complain "uninstall leaves files"
find stage -type d \( -name '*blackjack*' \) >log
[ -s log ] && complain "uninstall leaves folders of ours"
finish
