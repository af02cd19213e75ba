#!/usr/bin/env bash
# What the program costs on this machine: time and memory; its bandwidth beside STREAM (STREAM=FILE says where that is).
# Keep the machine quiet meanwhile.
set -eu
cd "$(dirname "$0")/.."
python3 bench/bench.py --program build/blackjack -o build/bench.md "$@"
exec python3 bench/stream.py --program build/blackjack -o build/stream.md ${STREAM:+--stream "$STREAM"}
