#!/bin/sh
# What may not be read or written is said in one line, and before anything is measured.
. "$(dirname "$0")/lib.sh"
[ "$(id -u)" -ne 0 ] || skip "root may read and write everything"

printf '1,2\n' >secret
mkdir locked
cp "$here/profile.json" readonly.json
chmod 0 secret
chmod 555 locked
chmod 444 readonly.json
expect 3 analyze cache secret
one_line_error
expect 3 run clock --machine "sim:$machine" -o locked/p.json
one_line_error
expect 3 run clock --machine "sim:$machine" -o readonly.json --force
one_line_error
chmod 755 locked
finish
