#!/bin/sh
# Fills a folder with Debian's libraries of another architecture, unpacked and not installed, for a cross build:
# ports_sysroot.sh ARCHITECTURE FOLDER. Nothing of this system changes. What this Debian does not carry yet (riscv64 in
# bookworm) is taken from the next one, whose C library the older cross compiler links with.
set -eu

[ $# -eq 2 ] || { echo "usage: ports_sysroot.sh ARCHITECTURE FOLDER" >&2; exit 2; }
architecture=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
[ ! -e "$folder/.complete" ] || exit 0
state=$folder/.apt
rm -rf "$state"
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/parts"
: >"$state/status"

# This system's own sources, Debian's alone: others do not know the architecture.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    if [ -f "$list" ] && grep -q debian-archive-keyring "$list"; then
        cp "$list" "$state/parts/"
    elif [ "$list" = /etc/apt/sources.list ] && [ -s "$list" ]; then
        cp "$list" "$state/parts/main.list"
    fi
done

apt() {
    apt-get -q -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture" -o "Dir::State=$state" \
        -o "Dir::State::status=$state/status" -o "Dir::Cache=$state/cache" -o "Dir::Etc::sourcelist=/dev/null" \
        -o "Dir::Etc::sourceparts=$state/parts" -o APT::Sandbox::User= -o Acquire::Languages=none \
        -o Acquire::Retries=3 -o Debug::NoLocking=1 "$@" </dev/null
}

# A mirror may be in the middle of a change; what is missing then is missed by the last line, if at all.
update() {
    apt update || echo "ports_sysroot.sh: some lists of packages could not be had" >&2
}

update
if ! apt --simulate --no-install-recommends install libc6-dev >/dev/null 2>&1; then
    echo "ports_sysroot.sh: no $architecture in this Debian: the next one is asked" >&2
    sed -i 's/bookworm/trixie/g' "$state"/parts/*
    update
fi
apt -y --no-install-recommends --download-only install libc6-dev libjansson-dev libhwloc-dev zlib1g-dev libcmocka-dev
for package in "$state"/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$folder"
done
# Links that name a place in the target's root would be followed in ours.
find "$folder" -type l -lname '/*' -print | while IFS= read -r link; do
    target=$(readlink "$link")
    case $target in
    "$folder"/*) ;;
    *) ln -sfn "$folder$target" "$link" ;;
    esac
done
[ -e "$folder/lib" ] || ln -s usr/lib "$folder/lib" # newer packages leave that to base-files
rm -rf "$state"
: >"$folder/.complete"
