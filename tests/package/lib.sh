# For the scripts here: installs the build into a temporary prefix.
# usage: test_<what>.sh BUILD_DIR SOURCE_DIR CMAKE CC
#
# Every script runs all its checks and ends with `finish`, which fails when any check did.

set -u
build=$1
source_dir=$2
cmake=$3
cc=$4
failures=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/bj-package-XXXXXX") || exit 1
prefix=$scratch/prefix
# The list of what was installed is the developer's own: it is put back.
[ -f "$build/install_manifest.txt" ] && cp "$build/install_manifest.txt" "$scratch/kept_manifest"
leave() {
    rm -f "$build/install_manifest.txt"
    [ -f "$scratch/kept_manifest" ] && cp "$scratch/kept_manifest" "$build/install_manifest.txt"
    rm -rf "$scratch"
}
trap leave EXIT
cd "$scratch" || exit 1
unset DESTDIR

complain() {
    echo "FAILED: $*" >&2
    head -c 2000 log >&2 2>/dev/null
    failures=$((failures + 1))
}

install_build() {
    "$cmake" --install "$build" --prefix "$prefix" >log 2>&1 || { complain "cmake --install"; finish; }
}

has() {
    command -v "$1" >/dev/null
}
skip() {
    echo "skipped: $*"
    exit 77
}
left_out() {
    echo "left out: $*"
}

finish() {
    [ "$failures" -eq 0 ] || { echo "$failures checks failed" >&2; exit 1; }
    exit 0
}
