#!/bin/sh
# The release tarball: the same bytes each time, with the page and its notices, and without git and node it still has a page.
. "$(dirname "$0")/lib.sh"
has git && git -C "$source_dir" rev-parse HEAD >log 2>&1 || skip "no git clone"
has node && has npm || skip "no node or npm here"
[ -d "$source_dir/web/node_modules" ] || skip "no packages in web/node_modules"

# The second one under another umask, in another time zone.
for turn in "one 022 UTC" "two 077 Asia/Tokyo"; do
    # shellcheck disable=SC2086
    set -- $turn
    (umask "$2" && TZ=$3 "$source_dir/scripts/make_dist.sh" "$scratch/$1") >made 2>log || complain "make_dist.sh"
done
tarball=$(basename "$(cat made)")
cmp -s "one/$tarball" "two/$tarball" || complain "two tarballs of one commit differ"
tar -tzf "one/$tarball" >list 2>log || complain "the tarball cannot be read"
for part in web/dist/head.html web/dist/tail.html web/dist/NOTICES.txt CMakeLists.txt LICENSE debian/control debian/libblackjack1.symbols debian/tests/program \
    packaging/rpm/blackjackbench.spec packaging/spack/package.py profiles/README.md scripts/check_package.sh; do
    grep -q "^[^/]*/$part\$" list || complain "$part is not in the tarball"
done
grep -q -e node_modules -e '/\.git/' list && complain "the tarball holds what is not of it"
tar -xzf "one/$tarball" || complain "the tarball cannot be unpacked"
folder=$scratch/${tarball%.tar.gz}
grep -q 'Copyright' "$folder/web/dist/NOTICES.txt" || complain "the notices name nobody"

# No git, no node, no npm: the page is made from web/dist.
unset CMAKE_C_COMPILER_LAUNCHER
mkdir bin
for tool in sh cc ld as ar ranlib make cmake pkg-config uname sed grep cat rm env python3 gcc clang nproc; do
    has "$tool" && ln -s "$(command -v "$tool")" "bin/$tool"
done
PATH=$scratch/bin "$cmake" -S "$folder" -B made_here -DCMAKE_C_COMPILER="$cc" -DBUILD_TESTING=OFF >log 2>&1 || complain "cmake without git and node"
PATH=$scratch/bin "$cmake" --build made_here --target page >log 2>&1 || complain "the page without git and node"
grep -q '0x3c,0x21,0x64' made_here/generated/web/page_shell.c || complain "the page is empty"
finish
