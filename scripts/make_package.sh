#!/bin/sh
# make_package.sh [FOLDER]: Debian packages from the release tarball, as anybody builds them: unpacked where no git is, by
# dpkg-buildpackage. Prints their folder. lintian looks at them where it is there; what it calls an error or a warning fails.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-build/package}
command -v dpkg-buildpackage >/dev/null || {
    echo "package: dpkg-buildpackage is not here (Debian: scripts/deps.sh package)" >&2
    exit 1
}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
tarball=$(scripts/make_dist.sh "$folder")
rm -rf "$folder"/blackjackbench-*/ "$folder"/*.deb "$folder"/*.dsc "$folder"/*.changes "$folder"/*.buildinfo "$folder"/*.tar.xz
tar -xzf "$tarball" -C "$folder"
if ! (cd "$folder"/blackjackbench-*/ && DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-parallel=$(nproc)}" dpkg-buildpackage -us -uc) >"$folder/log" 2>&1; then
    tail -30 "$folder/log" >&2
    echo "package: dpkg-buildpackage failed, all of it is in $folder/log" >&2
    exit 1
fi
if command -v lintian >/dev/null; then
    user=
    [ "$(id -u)" -eq 0 ] && user=--allow-root
    lintian $user --fail-on error,warning "$folder"/*.changes >&2
fi
rm -rf "$folder"/blackjackbench-*/
echo "$folder"
