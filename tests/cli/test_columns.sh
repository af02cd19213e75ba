#!/bin/sh
# In a terminal of 80 columns nothing is wider, messages included; what is no terminal gets one line a message.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$2/tests/cli/columns.py" "$1" "$2"
