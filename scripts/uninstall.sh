#!/bin/sh
# Removes what `make install` put there, by the list that CMake wrote: uninstall.sh BUILD_FOLDER
#
# DESTDIR is taken as it was for the installation. Folders of ours go when they are empty.
set -eu

manifest=${1:?usage: uninstall.sh BUILD_FOLDER}/install_manifest.txt
if [ ! -f "$manifest" ]; then
    echo "uninstall: $manifest is not there: nothing was installed from this build folder" >&2
    exit 1
fi

# CMake ends the list without a newline.
while read -r path || [ -n "$path" ]; do
    path=${DESTDIR:-}$path
    if [ -e "$path" ] || [ -L "$path" ]; then
        rm -- "$path"
        echo "removed $path"
    fi
    folder=${path%/*}
    case $folder in
    */blackjackbench/*) rmdir "$folder" "${folder%/*}" 2>/dev/null || true ;;
    */blackjackbench | */include/blackjack | */cmake/libblackjack) rmdir "$folder" 2>/dev/null || true ;;
    esac
done <"$manifest"
rm -- "$manifest"
