#!/usr/bin/env bash
# What the program costs on this machine: time and memory. Keep the machine quiet meanwhile.
set -eu
cd "$(dirname "$0")/.."
exec python3 bench/bench.py --program build/blackjack -o build/bench.md "$@"
