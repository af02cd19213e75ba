#!/usr/bin/env bash
# The accuracy table: published curves, the zoo, random machines. Arguments go to accuracy.py.
set -eu
cd "$(dirname "$0")/.."
exec python3 bench/accuracy.py --program build/blackjack --seeds "${SEEDS:-5}" --random "${RANDOM_MACHINES:-40}" \
    -o build/accuracy.md "$@"
