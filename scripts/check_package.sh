#!/bin/sh
# check_package.sh FOLDER [ROOT]: installs the packages of a folder on a clean system, measures a clock, runs the packages' own
# tests, and removes them: nothing may be left.
#
# The clean system: as root, where debootstrap is there, a fresh one of this Debian, from its mirror (ROOT: a folder that
# debootstrap has filled, which is copied and stays). Else a folder that dpkg takes for one, which knows no dependencies: then
# the libraries are those of this system, and the packages' tests are left out.
set -eu
folder=$(cd "${1:?usage: check_package.sh FOLDER [ROOT]}" && pwd)
given=${2:-}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/bj-root-XXXXXX")
root=$scratch/root
mounted=
leave() {
    [ -z "$mounted" ] || umount -l "$mounted" || :
    rm -rf --one-file-system "$scratch"
}
trap leave EXIT
trap 'exit 130' INT TERM

say() {
    echo "packagecheck: $*"
}
fail() {
    echo "packagecheck: $*" >&2
    exit 1
}
# What is there, but for what dpkg and apt keep to themselves.
list_files() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp -o -path ./var/cache -o -path ./var/lib/dpkg -o \
        -path ./var/lib/apt -o -path ./var/log -o -path ./packages -o -path ./run \) -prune -o -print | LC_ALL=C sort)
}
names=$(for deb in "$folder"/*.deb; do dpkg-deb -f "$deb" Package; done | grep -v -- -dbgsym) || fail "no packages in $folder"
mkdir "$scratch/packages"
for deb in "$folder"/*.deb; do
    case $deb in *-dbgsym_*) ;; *) cp "$deb" "$scratch/packages/" ;; esac
done

# ---- a system of its own

inside() {
    LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" "$@"
}
make_system() {
    if [ -n "$given" ]; then
        cp -a "$given" "$root"
    else
        debootstrap --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" >"$scratch/log" 2>&1 ||
            { tail -5 "$scratch/log" >&2; fail "debootstrap"; }
    fi
    # Its services must not be started here.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod +x "$root/usr/sbin/policy-rc.d"
    mount -t proc proc "$root/proc" && mounted="$root/proc"
    cp -r "$scratch/packages" "$root/"
    inside apt-get update -q >"$scratch/log" 2>&1 || { tail -5 "$scratch/log" >&2; fail "apt-get update"; }
}
# What the packages stand on is not ours: it is installed first, so that only ours come and go between the two lists.
install_dependencies() {
    inside sh -c 'apt-get install -q -y --no-install-recommends /packages/*.deb gcc libc6-dev cmake make pkgconf mpi-default-bin openssh-client &&
        dpkg --purge '"$(echo "$names" | tr '\n' ' ')" >"$scratch/log" 2>&1 || { tail -20 "$scratch/log" >&2; fail "the packages cannot be installed"; }
}
run_tests() {
    rm -rf "$scratch/source"
    mkdir "$scratch/source"
    tar -xf "$folder"/blackjackbench_*.tar.xz -C "$scratch/source"
    for test in program library messages; do
        cp "$scratch"/source/*/debian/tests/$test "$root/tmp/"
        inside sh "/tmp/$test" >"$scratch/log" 2>&1 || { tail -20 "$scratch/log" >&2; fail "debian/tests/$test"; }
        say "debian/tests/$test passes there"
    done
}
check_system() {
    make_system
    install_dependencies
    list_files >"$scratch/before"
    inside sh -c 'apt-get install -q -y --no-install-recommends /packages/*.deb' >"$scratch/log" 2>&1 ||
        { tail -20 "$scratch/log" >&2; fail "apt-get install"; }
    list_files >"$scratch/with"
    say "installed: $(LC_ALL=C comm -13 "$scratch/before" "$scratch/with" | wc -l) files and folders"
    inside sh -c 'cd /tmp && blackjack run clock --force -o clock.json -q && blackjack show clock.json' || fail "blackjack run clock"
    run_tests
    # shellcheck disable=SC2086
    inside dpkg --purge $names >"$scratch/log" 2>&1 || { tail -5 "$scratch/log" >&2; fail "dpkg --purge"; }
}

# ---- a folder

dpkg_there() {
    dpkg "--root=$root" --force-depends --force-not-root --force-script-chrootless --force-bad-path "--log=$scratch/dpkg.log" "$@"
}
check_folder() {
    mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info"
    : >"$root/var/lib/dpkg/status"
    list_files >"$scratch/before"
    dpkg_there --install "$scratch"/packages/*.deb >"$scratch/log" 2>&1 || { tail -5 "$scratch/log" >&2; fail "dpkg --install"; }
    (cd "$scratch" && "$root/usr/bin/blackjack" run clock -q -o clock.json && "$root/usr/bin/blackjack" show clock.json) || fail "blackjack run clock"
    # shellcheck disable=SC2086
    dpkg_there --purge $names >"$scratch/log" 2>&1 || { tail -5 "$scratch/log" >&2; fail "dpkg --purge"; }
}

if [ "$(id -u)" -eq 0 ] && { [ -n "$given" ] || command -v debootstrap >/dev/null; }; then
    check_system
    where="a clean system"
else
    say "not root, or no debootstrap: into a folder that stands for a system; the packages' own tests are left out"
    check_folder
    where="a folder that stands for a system"
fi
list_files >"$scratch/after"
LC_ALL=C comm -13 "$scratch/before" "$scratch/after" >"$scratch/left"
[ -s "$scratch/left" ] && { head -20 "$scratch/left" >&2; fail "removing the packages leaves something"; }
LC_ALL=C comm -23 "$scratch/before" "$scratch/after" >"$scratch/gone"
[ -s "$scratch/gone" ] && { head -20 "$scratch/gone" >&2; fail "removing the packages takes what was there before"; }
say "installed on $where, measured, removed: nothing is left"
