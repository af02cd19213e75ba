#!/bin/sh
# Builds for other processors by Debian's cross compilers, runs the tests under qemu-user, and ends with a table:
# check_ports.sh [--all] [--jobs N] FOLDER [ARCHITECTURE...]
#
# FOLDER keeps what costs time: the target's libraries (sysroot-ARCHITECTURE), the build (ARCHITECTURE), logs. Nothing is
# installed and nobody need be root. Exit status 1 when a build or a test failed; what a test cannot do under an emulator it
# skips itself, and says why.
set -u

source_dir=$(cd "$(dirname "$0")/.." && pwd)
# Emulated, these take as long as all others together, and the goldens run the same code.
slow='^unit\.(cache_binomial|cache_hierarchy|cache_hierarchy_tlb|codegen|probe_cache|verify_rule)$'
golden_tests='^golden\.(few|curves)$'
jobs=$(nproc 2>/dev/null || echo 2)
usage() {
    echo "usage: check_ports.sh [--all] [--jobs N] FOLDER [ARCHITECTURE...]" >&2
    exit 2
}
while [ $# -gt 0 ]; do
    case $1 in
    --all) slow='^$' golden_tests='^golden\.(zoo|methods|curves)$' && shift ;;
    --jobs)
        jobs=${2:-}
        [ -n "$jobs" ] || usage
        shift 2
        ;;
    -*) usage ;;
    *) break ;;
    esac
done
[ $# -ge 1 ] || usage
mkdir -p "$1" && folder=$(cd "$1" && pwd) || exit 2
shift
[ $# -gt 0 ] || set -- arm64 armhf i386 ppc64el riscv64 s390x

failed=0
table=$folder/table.txt
row="| %-12s | %-8s | %-16s | %-16s | %-16s | %-16s | %-16s |\n"
# shellcheck disable=SC2059 # one format for all rows
printf "$row" architecture builds "unit tests" goldens library "command line" native >"$table"
echo "|---|---|---|---|---|---|---|" >>"$table"

# run_tests ARCHITECTURE COLUMN CTEST_ARGUMENT...: the log, and what the table says of it in $cell.
run_tests() {
    log=$folder/$1-$2.log
    port=$1
    echo "== $1: $2"
    shift 2
    ctest --test-dir "$folder/$port" --output-on-failure --no-tests=error --parallel "$jobs" "$@" >"$log" 2>&1
    status=$?
    total=$(sed -n 's/.*tests failed out of \([0-9]*\)$/\1/p' "$log")
    bad=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of .*/\1/p' "$log")
    skipped=$(grep -c '\*\*\*Skipped' "$log")
    if [ $status -eq 0 ]; then
        cell="$((total - skipped)) passed"
        [ "$skipped" -eq 0 ] || cell="$cell, $skipped n/a"
    else
        cell="${bad:-all} FAILED"
        failed=1
        sed -n '/^The following tests FAILED/,$p' "$log" >&2
        echo "   $log has the rest" >&2
    fi
    sed -n 's/^.*\(Test *#[0-9]*: [a-z_.0-9]*\) .*Skipped.*/   skipped: \1/p' "$log" | sed 's/Test *#[0-9]*: //'
}

build() { # build ARCHITECTURE
    echo "== $1: libraries, configuration, build"
    {
        sh "$source_dir/scripts/ports_sysroot.sh" "$1" "$folder/sysroot-$1" &&
            BJ_SYSROOT=$folder/sysroot-$1 cmake -S "$source_dir" -B "$folder/$1" -DBJ_WERROR=ON -DBJ_TRY_HERE=ON \
                -DCMAKE_TOOLCHAIN_FILE="$source_dir/cmake/toolchains/$1.cmake" &&
            env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake --build "$folder/$1" --parallel "$jobs"
    } >"$folder/$1-build.log" 2>&1
}

for architecture in "$@"; do
    [ -e "$source_dir/cmake/toolchains/$architecture.cmake" ] || { echo "check_ports.sh: no toolchain file for $architecture" >&2; exit 2; }
done
for architecture in "$@"; do
    if ! build "$architecture"; then
        failed=1
        tail -n 20 "$folder/$architecture-build.log" >&2
        # shellcheck disable=SC2059
        printf "$row" "$architecture" FAILED - - - - - >>"$table"
        continue
    fi
    run_tests "$architecture" unit -L '^(unit|fuzz|replay)$' -E "$slow"
    unit=$cell
    run_tests "$architecture" goldens -R "$golden_tests"
    answers=$cell
    run_tests "$architecture" library -L '^lib$'
    library=$cell
    run_tests "$architecture" command -L '^cli$' -E '^cli\.native$'
    command=$cell
    run_tests "$architecture" native -L '^native$|^cli$' -R '^native\.|^cli\.native$'
    # shellcheck disable=SC2059
    printf "$row" "$architecture" yes "$unit" "$answers" "$library" "$command" "$cell" >>"$table"
done
echo
cat "$table"
exit $failed
