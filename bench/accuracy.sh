#!/usr/bin/env bash
# The accuracy table: published curves, the zoo, random machines; then whether `compare` tells machines apart, what is said
# of machines with many cpus, what `diagnose` says of loads of known kinds, what `fleet` and `verify` find and what they only think they found, and whether the zoo's
# answers at effort normal are the pinned ones. Arguments go to accuracy.py.
set -eu
cd "$(dirname "$0")/.."
python3 bench/accuracy.py --program build/blackjack --seeds "${SEEDS:-5}" --random "${RANDOM_MACHINES:-40}" \
    -o build/accuracy.md "$@"
status=0
python3 bench/compare.py --program build/blackjack --pairs "${PAIRS:-100}" -o build/compare.md || status=$?
python3 bench/multicore.py --build build --random "${RANDOM_TOPOLOGIES:-50}" --seeds "${TOPOLOGY_SEEDS:-3}" \
    -o build/multicore.md || status=$?
python3 bench/diagnose.py build/blackjack --random "${RANDOM_LOADS:-10}" >build/diagnose.md || status=$?
python3 bench/fleet.py --program build/blackjack --fleets "${FLEETS:-100}" || status=$?
python3 bench/verify.py --program build/blackjack --runs "${RUNS:-1000}" || status=$?
python3 tests/golden/golden.py --program build/blackjack --effort normal zoo
exit $status
