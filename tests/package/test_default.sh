#!/bin/sh
# What make run leaves can be installed, and a program with README's lines finds the profile that was kept.
. "$(dirname "$0")/lib.sh"
unset BLACKJACK_PROFILE XDG_DATA_HOME
HOME=$scratch/home
export HOME

# make run builds all that is installed: what the tests need besides is taken away, and must come back.
if has make; then
    make -n -C "$source_dir" run >log 2>&1 || complain "make -n run"
    grep -q -e '--target product' log || complain "make run builds something else"
    grep -q -e "run .*--save" log || complain "make run does not keep the profile"
    make -n -C "$source_dir" run RUN_ARGS="--machine sim:zen3" >log 2>&1
    grep -q -e "--save" log && complain "make run keeps a simulated machine"
else
    left_out "make run: no make"
fi
mkdir aside
mv "$build"/blackjack "$build"/libblackjack.* aside/
"$cmake" --build "$build" --target product >log 2>&1 || { complain "target product"; cp -P aside/* "$build"/; }
install_build

# A simulated machine by name, installed and moved; a file of that name comes first.
cp -R "$prefix" moved
for place in "$prefix" moved; do
    "$place/bin/blackjack" run clock -q --machine sim:zen3 -o - >out 2>log || complain "sim:zen3 below $place"
    grep -q '"machine": "sim:zen3"' out || complain "another machine below $place"
done
sed 's/"name": *"[^"]*"/"name": "mine"/' "$source_dir/machines/zen3.json" >zen3
"$prefix/bin/blackjack" run clock -q --machine sim:zen3 -o - >out 2>log
grep -q '"machine": "sim:mine"' out || complain "the file at hand does not come first"
"$prefix/bin/blackjack" run clock -q --machine sim:zen33 -o - >out 2>log && complain "sim:zen33"
grep -q "zen33: no such file, and no machine of that name in" log || complain "the message about sim:zen33"

# What help and manual pages name is installed, or is an address.
for page in "$prefix"/share/man/man*/*; do
    grep -n 'docs/[a-z]\|examples/[a-z]\|src/[a-z]' "$page" >log && complain "${page##*/} names what is not installed"
done
for command in run list show get compare emit analyze reanalyze help; do
    "$prefix/bin/blackjack" help $command | grep 'docs/[a-z]\|examples/[a-z]' >log &&
        complain "help $command names what is not installed"
done

# README's lines, after a run that keeps its profile.
"$prefix/bin/blackjack" run cache -q --effort quick --machine sim:l1_24k --save >log 2>&1 || complain "run --save"
{
    echo '#include <blackjack/blackjack.h>'
    echo '#include <stdio.h>'
    echo 'int main(void) {'
    sed -n '/^    bj_lib_profile \*profile;$/,/^    }$/p' "$source_dir/README.md"
    echo '    printf("%zu", block); return 0; }'
} >snippet.c
shared=$(find "$prefix" -name 'libblackjack.so' | head -1)
libdir=${shared%/*}
flags=$(PKG_CONFIG_PATH="$libdir/pkgconfig" pkg-config --cflags --libs libblackjack) || complain "pkg-config"
# shellcheck disable=SC2086
"$cc" -Wall -Wextra -Werror snippet.c $flags -o snippet >log 2>&1 || complain "README's lines do not compile"
LD_LIBRARY_PATH=$libdir ./snippet >log 2>&1
kept=$("$prefix/bin/blackjack" get "$HOME/.local/share/blackjackbench/profile.json" cache.L1.size_bytes)
[ "$(cat log)" = "${kept%.*}" ] && [ "$kept" != 32768 ] || complain "the snippet has $(cat log), the profile $kept"
"$prefix/bin/blackjack" show >log 2>&1 || complain "show without a file"
finish
