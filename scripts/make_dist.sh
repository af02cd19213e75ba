#!/bin/sh
# The release tarball: make_dist.sh [FOLDER]. What is committed, and in web/dist/ the bundled report page with the notices
# of what is in it, so that a build from it needs neither git nor node. The same commit gives the same bytes: names are
# sorted, times are the commit's, and the bundle depends on web/ and its lock file alone.
set -eu
cd "$(dirname "$0")/.."
folder=${1:-.}

fail() {
    echo "dist: $1" >&2
    exit 1
}

git rev-parse --verify --quiet HEAD >/dev/null 2>&1 || fail "this is no git clone: a tarball is made of what is committed"
node=$(command -v node || command -v nodejs) || fail "node is not installed, and the tarball carries the bundled page"
npm=$(command -v npm) || fail "npm is not installed, and the tarball carries the bundled page"
git diff --quiet HEAD || echo "dist: there are changes that are not committed: they are left out" >&2

version=$(git show HEAD:CMakeLists.txt | sed -n 's/^project(blackjackbench VERSION \([0-9.]*\).*/\1/p')
name=blackjackbench-$version
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git archive --format=tar --prefix="$name/" HEAD | tar -x -C "$scratch"

# The packages that are here, where they are those of the commit; else they are fetched.
here=web/node_modules/.package-lock.json
if [ -e "$here" ] && cmp -s web/package-lock.json "$scratch/$name/web/package-lock.json" &&
    [ -z "$(find web/package-lock.json -newer "$here")" ]; then
    ln -s "$PWD/web/node_modules" "$scratch/$name/web/node_modules"
else
    (cd "$scratch/$name/web" && "$npm" ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2)
fi
"$node" "$scratch/$name/web/build.mjs" "$scratch/$name/web/dist"
rm -rf "$scratch/$name/web/node_modules"
for part in head.html tail.html NOTICES.txt; do
    [ -s "$scratch/$name/web/dist/$part" ] || fail "the bundle has no $part"
done

mkdir -p "$folder"
tar -c -C "$scratch" --format=ustar --sort=name --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 --numeric-owner \
    --mode=u+rwX,go+rX,go-w "$name" | gzip -n -9 >"$scratch/$name.tar.gz"
mv "$scratch/$name.tar.gz" "$folder/$name.tar.gz"
echo "$folder/$name.tar.gz"
