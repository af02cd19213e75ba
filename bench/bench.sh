#!/usr/bin/env bash
# What the program costs on this machine: time and memory; its bandwidth beside STREAM (STREAM=FILE says where that is);
# what the library costs and gives a program; whether the kernel timer is right.
# Keep the machine quiet meanwhile.
set -eu
cd "$(dirname "$0")/.."
python3 bench/bench.py --program build/blackjack -o build/bench.md "$@"
python3 bench/stream.py --program build/blackjack -o build/stream.md ${STREAM:+--stream "$STREAM"}
bash bench/library.sh build
python3 bench/timer.py --program build/blackjack -o build/timer.md
