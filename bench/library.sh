#!/usr/bin/env bash
# What the library costs a program and what it gives one: opening and asking; the transpose of examples/ with the profile's
# block against none and against the best block of a search. library.sh BUILD_DIR
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${CC:-cc}" -O2 -Iinclude examples/transpose/transpose.c -L"$build" -lblackjack -Wl,-rpath,"$PWD/$build" \
    -o "$folder/transpose"
"$build/blackjack" run cache line page tlb --quiet -o "$folder/profile.json"
"$build/tests/lib_speed" "$folder/profile.json" || true
echo "transpose, wanted: 1.5 times as fast as plain, and within 10% of the best block"
BLACKJACK_PROFILE=$folder/profile.json "$folder/transpose" 4096 9
