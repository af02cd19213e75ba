#!/bin/sh
# What begin and end of a region cost beside a read of the counter, clock_gettime and a perf read.
# usage: regions.sh [BUILD_DIR]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build}
program=$(mktemp "${TMPDIR:-/tmp}/bj-regions-XXXXXX")
trap 'rm -f "$program"' EXIT
"${CC:-cc}" -O2 -D_GNU_SOURCE -I"$root/include" "$root/bench/regions_main.c" -o "$program" -L"$build" -lblackjack -Wl,-rpath,"$build"
"$program"
