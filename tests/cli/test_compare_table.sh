#!/bin/sh
# compare --table: one row a key, one column a machine, as text, Markdown and CSV, with how sure a value is.
. "$(dirname "$0")/lib.sh"
profile=$here/profile.json
cp "$here/multicore_profile.json" other.json
cp "$profile" first.json

expect 0 compare --table first.json other.json
head -n 1 out | grep -q -E '^key +first +other$' || complain "the head of the table"
grep -q -E '^cpu\.clock_ghz +2\.5 GHz +3 GHz$' out || complain "the row of the clock"
grep -q -E '^cache\.L2\.size_bytes +4 MiB !' out || complain "an unstable value has no mark"
grep -q -E '^cache\.L1\.size_bytes +32 KiB ~' out || complain "a medium value has no mark"
grep -q -E '^contexts\.int +-$' out || complain "what is not supported"
grep -q scheduler out && complain "a key that nobody asks for first"

# Keys and patterns, in the order given, levels in theirs; what is absent is an empty cell.
expect 0 compare --table other.json first.json --keys 'memory.latency_ns,cache.L?.size_bytes' --keys scheduler.slot_ms --format markdown
cut -d '|' -f 2 out | tr -d ' ' | paste -sd, - >keys
[ "$(cat keys)" = "key,---,memory.latency_ns,cache.L1.size_bytes,cache.L2.size_bytes,cache.L3.size_bytes,scheduler.slot_ms" ] ||
    complain "rows: $(cat keys)"
grep -q -E '^\| scheduler\.slot_ms \|  ?\| x \|$' out || complain "a failed answer beside an absent one"
[ "$(awk -F'|' '{ print NF }' out | sort -u)" = 5 ] || complain "a row has more or fewer cells"

# CSV has numbers whole, and how sure.
expect 0 compare --table first.json other.json --format csv --keys 'cache.L2.*,cpu.clock_ghz'
head -n 1 out | grep -qx 'key,unit,first,first confidence,other,other confidence' || complain "the head of the CSV"
grep -q '^cache.L2.size_bytes,bytes,4194304,unstable,' out || complain "CSV: an unstable value"
grep -q '^cache.L2.capacity_bytes,bytes,,undetermined,' out || complain "CSV: no value"
grep -q '^cpu.clock_ghz,GHz,2.5,high,3,high$' out || complain "CSV: the clock"

# Compressed profiles, any number of them; what is wider than the terminal comes in parts, each with the keys.
gzip -c first.json >packed.json.gz
expect 0 compare --table packed.json.gz first.json first.json first.json first.json first.json first.json first.json other.json
[ "$(grep -c '^key ' out)" -gt 1 ] || complain "a wide table is not parted"
[ "$(awk '{ if (length($0) > 80) print }' out | wc -l)" -eq 0 ] || complain "a line is wider than 80 columns"
grep '^key ' out | tr -s ' ' '\n' | grep -c -x first >count
[ "$(cat count)" -eq 7 ] || complain "$(cat count) columns of 7"
head -n 1 out | grep -q packed || complain "the name of a compressed profile"

# What is no number is said in short, in the room of a terminal.
expect 0 compare --table other.json first.json --keys 'topology.*,cache.*.sharing,memory.contention'
grep -q '[{"]' out && complain "JSON in a cell"
grep -q -E '^topology\.tree +[0-9]+ cpus, ' out || complain "a tree in short"
[ "$(awk '{ if (length($0) > 80) print }' out | wc -l)" -eq 0 ] || complain "a structured answer is wider than 80 columns"

# A file's name is a title, and safe for a terminal.
odd=$(printf 'odd\033[31m.json')
cp first.json "$odd"
for format in text markdown csv; do
    expect 0 compare --table "$odd" other.json --format $format
    head -n 1 out | grep -qF 'odd?[31m' || complain "$format: an odd name"
    grep -q "$(printf '\033')" out && complain "$format: a file's name moves the cursor"
done

# A slip is said, and nothing is judged: 2 is trouble, 1 would be a difference.
expect 2 compare --table
one_line_error
for of_table in --keys=cpu.clock_ghz --format=csv; do
    expect 2 compare first.json other.json "$of_table"
    one_line_error
    err_has "--table"
done
expect 2 compare --table first.json --json
one_line_error
expect 2 compare --table first.json --format html
one_line_error
err_has "markdown"
expect 2 compare --table first.json --keys no.such
one_line_error
err_has "no.such"
expect 2 compare --table first.json --keys 'cpu.clock_ghz,,x'
one_line_error
expect 2 compare --table first.json missing.json
one_line_error
printf '{"format": "blackjack-profile/1", "characteristics": {}}' >empty.json
expect 2 compare --table empty.json
one_line_error
"$blackjack" compare --table first.json other.json >/dev/full 2>err
[ $? -eq 2 ] || complain "full standard output"
finish
