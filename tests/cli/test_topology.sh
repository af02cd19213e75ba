#!/bin/sh
# topology: matrices of other people, and all pairs on request.
. "$(dirname "$0")/lib.sh"

printf '# two and two\n,10,40,41\n10,,42,40\n40,42,,11\n41,40,11,\n' >square.csv
expect 0 analyze topology square.csv --unit ns
out_has '"children": [{"cpus": [0, 1], "latency_ns": 10}, {"cpus": [2, 3], "latency_ns": 11}]'
expect 0 analyze topology square.csv
out_has '{"cpus": [2, 3]}'
grep -q latency out && complain "latencies without --unit"
tree() {
    sed 's/"evidence".*//' out # which rows there are
}
tree >square.out
# The lower triangle, with and without its first row, in other clothes.
printf '"cpu 0","cpu 1","cpu 2","cpu 3"\r\n,,,\r\n10,,,\r\n40,42,,\r\n41,40,11,\r\n' >triangle.csv
printf '10\n40,42\n41,40,11\n' >short.csv
for file in triangle.csv short.csv; do
    expect 0 analyze topology $file
    tree | cmp -s - square.out || complain "$file: another answer"
done
# What is not measured is left out; two cpus are one pair.
printf ',25\n25,\n' >two.csv
expect 0 analyze topology two.csv --unit ns
out_has '{"cpus": [0, 1], "latency_ns": 25,'

printf ',1,2,3\n1,,2,3\n' >wide.csv
printf ',1\nx,\n' >words.csv
printf ',-1\n-1,\n' >negative.csv
printf '\n' >empty.csv
for file in wide words negative empty; do
    expect 2 analyze topology $file.csv
    one_line_error
    err_has "$file.csv"
done

# All pairs of more cpus than are asked each with each; known caches would take the cache probe's time.
cat >machine.json <<'EOF'
{"format": "blackjack-machine/1", "name": "many", "clock_ghz": 2, "cpus": 40, "sockets": 2, "page": {"base": 4096},
 "caches": [{"size": 8192, "latency": 4}], "exchange": {"socket": 40, "remote": 100}, "noise": {"jitter": 0.01}}
EOF
expect 0 run topology --machine sim:machine.json --effort quick -q -o few.json
expect 0 get few.json topology.tree
out_has '"pairs_possible": 780'
grep -q '"pairs_measured": 780' out && complain "all pairs were measured unasked"
out_has '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]'
valid few.json
expect 0 run topology --machine sim:machine.json --effort quick -q -o all.json --all-pairs
expect 0 get all.json topology.tree
out_has '"pairs_measured": 780'
expect 0 run topology --machine sim:machine.json --effort quick -q -o one.json --cpus 3
expect 1 get one.json topology.tree
err_has "nothing to compare"

finish
