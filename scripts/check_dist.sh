#!/bin/sh
# check_dist.sh [FOLDER]: makes the release tarball, builds it where neither git nor node can be found, and writes a page.
set -eu
cd "$(dirname "$0")/.."
tarball=$(scripts/make_dist.sh "${1:-build}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -xzf "$tarball" -C "$scratch"
# All that is in the PATH but these.
mkdir "$scratch/bin"
old=$IFS
IFS=:
for place in $PATH; do
    for tool in "$place"/*; do
        case ${tool##*/} in
        git | git-* | node | nodejs | npm | npx) ;;
        *) [ -x "$tool" ] && [ ! -e "$scratch/bin/${tool##*/}" ] && ln -s "$tool" "$scratch/bin/${tool##*/}" ;;
        esac
    done
done
IFS=$old
export PATH="$scratch/bin"
if command -v node || command -v nodejs || command -v npm || command -v git; then
    echo "distcheck: that one should not be found" >&2
    exit 1
fi
cmake -S "$scratch"/blackjackbench-* -B "$scratch/build" -DBUILD_TESTING=OFF >/dev/null
cmake --build "$scratch/build" --parallel "$(nproc)" --target product >"$scratch/log" 2>&1 || { tail -20 "$scratch/log" >&2; exit 1; }
cmake --install "$scratch/build" --prefix "$scratch/prefix" >/dev/null
"$scratch/prefix/bin/blackjack" run cache --machine sim:no_l3 --effort quick -q -o "$scratch/profile.json"
"$scratch/prefix/bin/blackjack" report "$scratch/profile.json" -o "$scratch/page.html" -q
[ -s "$scratch/page.html" ]
find "$scratch/prefix" -name NOTICES.txt | grep -q . || { echo "distcheck: the notices are not installed" >&2; exit 1; }
echo "distcheck: built without git and node, the page is there: $tarball"
