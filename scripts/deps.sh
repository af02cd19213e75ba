#!/bin/sh
# Sees to the packages that a target of the Makefile needs: deps.sh run|check|lint|fuzz|peers|mpi|package|ports
#
# Looks for the tools and libraries themselves, not for package names, so that it is silent and offline wherever they
# are in place, Debian or not. What is missing: root installs it, a terminal is asked before sudo is used, and anyone
# else is told the line to run.
set -eu

purpose=${1:-run}
case $purpose in
run | check | lint | fuzz | peers | mpi | package | ports) ;;
*)
    echo "usage: deps.sh run|check|lint|fuzz|peers|mpi|package|ports" >&2
    exit 2
    ;;
esac

packages= # Debian's names, for apt-get
things=   # the same for people of other systems

need() { # need DEBIAN_PACKAGES WHAT PROBE...
    probe_packages=$1
    probe_what=$2
    shift 2
    # A slip in a name must not look like a package that is missing.
    command -v "$1" >/dev/null || { echo "deps.sh: $1: no such probe" >&2; exit 3; }
    if ! "$@" >/dev/null 2>&1; then
        packages="$packages $probe_packages"
        things="$things
  $probe_what"
    fi
}

has() {
    command -v "$1"
}

# A compiler without the C library's headers is as good as none.
compiles() {
    has "$1" && printf '#include <stdio.h>\nint main(void) { return 0; }\n' | "$1" -x c -fsyntax-only -
}

any_compiler() {
    { [ -n "${CC:-}" ] && compiles "${CC%% *}"; } || compiles cc || compiles gcc || compiles clang
}

# Debian packs libFuzzer apart from clang.
links_fuzzer() {
    trial=$(mktemp) || return 1
    printf 'int LLVMFuzzerTestOneInput(const char *data, unsigned long size) { return data == 0 && size; }\n' |
        clang -fsanitize=fuzzer,address -x c - -o "$trial"
    linked=$?
    rm -f "$trial"
    return $linked
}

# lmbench is in Debian's non-free part, which most machines do not list: wanted only where it can be had.
has_lmbench() {
    has lat_mem_rd || ls /usr/lib/lmbench/bin/lat_mem_rd || ls /usr/lib/lmbench/bin/*/lat_mem_rd ||
        ! apt-cache show --no-all-versions lmbench
}

# The page is bundled with node 18 or newer, and tested in a browser.
node_with_npm() {
    has npm && { has node || has nodejs; }
}

any_browser() {
    has chromium || has chromium-browser || has google-chrome
}

emulates() {
    has "qemu-$1-static" || has "qemu-$1"
}

# By the loader's list, which needs no compiler; it is not in everybody's PATH.
has_library() {
    PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -qF "$1"
}

has_header() {
    printf '#include <%s>\n' "$1" | cc -E -
}

library() {
    pkg-config --exists "$1"
}

# dpkg-buildpackage asks for packages by name, whoever else provides what is in them.
is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1")" = "ii " ]
}

probe() {
    packages=
    things=
    need cmake "CMake 3.18 or newer" has cmake
    need make "GNU make" has make
    need pkg-config "pkg-config (or pkgconf)" has pkg-config
    need libhwloc-dev "hwloc with its headers" library hwloc
    need libjansson-dev "jansson with its headers" library jansson
    need zlib1g-dev "zlib with its headers" library zlib
    case $purpose in
    run)
        need "gcc libc6-dev" "a C11 compiler (gcc or clang)" any_compiler
        ;;
    check)
        need "gcc libc6-dev" "gcc" compiles gcc
        need clang "clang" compiles clang
        need libcmocka-dev "cmocka with its headers" library cmocka
        need python3 "Python 3" has python3
        need valgrind "valgrind" has valgrind
        need hwloc "hwloc's tools (lstopo, hwloc-info)" has hwloc-info
        need mandoc "mandoc" has mandoc
        need zsh "zsh, for its completion" has zsh
        need "nodejs npm" "node 18 or newer with npm" node_with_npm
        need chromium "Chromium" any_browser
        # So that ranks, lost ones and three hosts are tested wherever the rest is: 45 MB, a quarter of a minute. MPICH is
        # 112 MB more for the same code under another launcher: `deps.sh mpi`.
        need "openmpi-bin libopenmpi-dev" "Open MPI with its headers" has mpicc.openmpi
        need iproute2 "ip and tc, for hosts as namespaces" has tc
        ;;
    lint)
        need clang "clang" compiles clang
        need libcmocka-dev "cmocka with its headers" library cmocka
        need clang-format "clang-format" has clang-format
        need clang-tidy "clang-tidy" has clang-tidy
        need cppcheck "cppcheck" has cppcheck
        ;;
    fuzz)
        need "clang libclang-rt-dev" "clang with libFuzzer (compiler-rt)" links_fuzzer
        ;;
    peers)
        need "gcc libc6-dev" "a C11 compiler (gcc or clang)" any_compiler
        need python3 "Python 3" has python3
        need likwid "likwid-bench" has likwid-bench
        need lmbench "lmbench (lat_mem_rd, bw_mem)" has_lmbench
        # What tuned kernels are compared with.
        need "libopenblas-dev" "OpenBLAS" has_library libopenblas.so.0
        need "libblis-dev" "BLIS" has_library libblis.so.4
        need "libatlas-base-dev" "ATLAS" has_library libcblas.so.3
        need "libxsmm-dev" "LIBXSMM with its headers" has_header libxsmm.h
        ;;
    mpi) # what is tested with Open MPI and MPICH where they are there
        need "gcc libc6-dev" "a C11 compiler (gcc or clang)" any_compiler
        need "openmpi-bin libopenmpi-dev" "Open MPI with its headers" has mpicc.openmpi
        need "mpich libmpich-dev" "MPICH with its headers" has mpicc.mpich
        need iproute2 "ip and tc, for hosts as namespaces" has tc
        ;;
    package) # Debian packages, as debian/control asks; and a clean system to try them on
        need build-essential "what Debian builds packages with" is_installed build-essential
        need debhelper "debhelper" is_installed debhelper
        need mpi-default-dev "the system's MPI with its headers" is_installed mpi-default-dev
        need libcmocka-dev "cmocka with its headers" library cmocka
        need python3 "Python 3" has python3
        need lintian "lintian" has lintian
        need debootstrap "debootstrap" eval 'PATH=$PATH:/usr/sbin; has debootstrap'
        need "nodejs npm" "node 18 or newer with npm" node_with_npm
        ;;
    ports) # the compilers; the libraries are unpacked by ports_sysroot.sh and not installed
        need "gcc libc6-dev" "a C11 compiler (gcc or clang)" any_compiler
        need python3 "Python 3" has python3
        need qemu-user-static "qemu-user" emulates s390x
        need gcc-aarch64-linux-gnu "a cross compiler for arm64" has aarch64-linux-gnu-gcc
        need gcc-arm-linux-gnueabihf "a cross compiler for armhf" has arm-linux-gnueabihf-gcc
        need gcc-i686-linux-gnu "a cross compiler for i386" has i686-linux-gnu-gcc
        need gcc-powerpc64le-linux-gnu "a cross compiler for ppc64el" has powerpc64le-linux-gnu-gcc
        need gcc-riscv64-linux-gnu "a cross compiler for riscv64" has riscv64-linux-gnu-gcc
        need gcc-s390x-linux-gnu "a cross compiler for s390x" has s390x-linux-gnu-gcc
        ;;
    esac
    packages=${packages# }
    [ -z "$packages" ]
}

probe && exit 0

if ! has apt-get >/dev/null; then
    echo "deps: missing, and there is no apt-get here to install it:$things" >&2
    exit 1
fi

options="-q -y --no-install-recommends -o DPkg::Lock::Timeout=60"

tell() {
    echo "deps: packages are missing; as root, run" >&2
    echo "    apt-get update && apt-get install -y --no-install-recommends $packages" >&2
    exit 1
}

if [ "$(id -u)" -eq 0 ]; then
    as_root() {
        env DEBIAN_FRONTEND=noninteractive "$@"
    }
elif [ -t 0 ] && [ -t 2 ] && has sudo >/dev/null; then
    printf 'deps: install %s with sudo apt-get? [y/N] ' "$packages" >&2
    read -r answer || answer=
    case $answer in
    [yY] | [yY][eE][sS]) ;;
    *) tell ;;
    esac
    as_root() {
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    }
else
    tell
fi

# The lists are fetched only where they do not know a package, or are too old to be of use.
update() {
    as_root apt-get -q -o DPkg::Lock::Timeout=60 update </dev/null
}

install() {
    # shellcheck disable=SC2086 # lists of words
    as_root apt-get install $options $packages </dev/null
}

echo "deps: installing $packages" >&2
# shellcheck disable=SC2086
if ! { apt-cache show --no-all-versions $packages >/dev/null 2>&1 && install; }; then
    { update && install; } || tell
fi

if ! probe; then
    echo "deps: installed, but still not found:$things" >&2
    exit 1
fi
