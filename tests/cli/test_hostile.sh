#!/bin/sh
# Files that nobody should write: one line, exit status 2, within little memory and time. And files that are allowed
# but odd: they go through every command.
. "$(dirname "$0")/lib.sh"

# Address space enough for any right use; a file that asks for more memory than it deserves fails here. The sanitizers
# reserve terabytes, so there is no limit under them.
if "$blackjack" --version >out 2>err && (ulimit -v 1500000 && "$blackjack" --version) >out 2>err; then
    limit="ulimit -v 1500000"
else
    limit=:
fi
if command -v timeout >/dev/null; then clock="timeout 60"; else clock=; fi

# run STATUS ARGUMENT...: like expect, within the limits.
run() {
    wanted=$1
    shift
    (eval "$limit"; exec $clock "$blackjack" "$@") >out 2>err </dev/null
    status=$?
    [ "$status" -eq "$wanted" ] || complain "blackjack $*: exit status $status, expected $wanted"
}

refuses_profile() {
    run 2 show "$1"
    one_line_error
    run 2 get "$1" cache.levels
    one_line_error
    run 2 reanalyze "$1"
    one_line_error
    run 2 emit json "$1"
    one_line_error
    run 2 compare "$1" "$1"
    one_line_error
}
refuses_machine() {
    run 2 run cache --machine "sim:$1" -o - --quiet
    one_line_error
}
refuses_csv() {
    run 2 analyze cache "$1"
    one_line_error
}

# Names of no files, and files of no use to any of them.
mkdir folder
mkfifo pipe
ln -s loop loop
printf '' >empty
printf '\357\273\277' >bom
printf '\000\000\000\000' >zeros
printf '\377\376\000{' >utf16
printf '{"format": "blackjack-profile/1", "characteristics": {"\377": 1}}' >latin1
printf '\033[31m\r\n\007' >escapes
head -c 3000000 /dev/zero | tr '\0' 'x' >line
head -c 2000 /dev/urandom >noise
printf '"' >quote
printf '[' >open
for file in missing folder folder/missing empty bom zeros utf16 latin1 escapes line noise quote open /dev/null; do
    refuses_profile $file
    refuses_machine $file
    refuses_csv $file
done
LC_ALL=C grep -q '[^ -~]' err && complain "control characters on standard error"
name=$(printf 'two\nlines')
printf 'a' >"$name"
refuses_profile "$name"
refuses_machine "$name"
refuses_csv "$name"
# What never ends, and what never begins.
for file in /dev/zero pipe; do
    [ -e $file ] || continue
    run 2 show $file
    one_line_error
    refuses_machine $file
    refuses_csv $file
done
run 3 show loop
one_line_error
# A file that is larger than allowed is not even begun.
if truncate -s 20G huge 2>/dev/null; then
    for kind in profile machine csv; do refuses_$kind huge; done
else
    left_out "a file of 20 GB: the disk takes none"
fi

# Profiles: each line is one, after "format".
depth() { # depth N TEXT: TEXT N times
    awk -v n="$1" -v text="$2" 'BEGIN { for (i = 0; i < n; i++) printf "%s", text }'
}
profile_of() { # profile_of TEXT: a profile that goes on with it
    printf '{"format": "blackjack-profile/1", %s' "$1" >profile.json
}
curve_of() { # curve_of X_VALUES ROUNDS
    profile_of '"characteristics": {}, "curves": {"cache.walk": {"probe": "cache", "x": {"values": '"$1"'}, "y": {"rounds": '"$2"'}}}}'
}
while IFS= read -r text; do
    profile_of "$text"
    refuses_profile profile.json
    err_has "profile.json: "
done <<'END'
"characteristics": {}
"characteristics": {},}
"characteristics": {}} trailing
"characteristics": {}, "characteristics": {}}
"characteristics": {"a": {"value": 1, "value": 2, "unit": "", "status": "ok"}}}
"characteristics": []}
"characteristics": null}
"characteristics": "x"}
"curves": {}}
"characteristics": {"": {}}}
"characteristics": {"a b": {}}}
"characteristics": {"a": 1}}
"characteristics": {"a": {}}}
"characteristics": {"a": {"value": 1, "status": "ok"}}}
"characteristics": {"a": {"value": 1, "unit": 7, "status": "ok"}}}
"characteristics": {"a": {"value": 1, "unit": "", "status": "fine"}}}
"characteristics": {"a": {"value": 1, "unit": ""}}}
"characteristics": {"a": {"unit": "", "status": "ok"}}}
"characteristics": {"a": {"value": null, "unit": "", "status": "ok"}}}
"characteristics": {"a": {"value": true, "unit": "", "status": "ok"}}}
"characteristics": {"a": {"value": 1, "unit": "", "status": "failed"}}}
"characteristics": {"a": {"value": NaN, "unit": "", "status": "ok"}}}
"characteristics": {"a": {"value": Infinity, "unit": "", "status": "ok"}}}
"characteristics": {"a": {"value": 1e400, "unit": "", "status": "ok"}}}
"characteristics": {"a": {"value": 9223372036854775808, "unit": "", "status": "ok"}}}
"characteristics": {"a": {"value": 1,5, "unit": "", "status": "ok"}}}
"characteristics": {"a": {"value": 01, "unit": "", "status": "ok"}}}
"characteristics": {"a": {"value": 1, "unit": "", "status": "ok", "interval": [2, 1]}}}
"characteristics": {"a": {"value": 1, "unit": "", "status": "ok", "interval": [1]}}}
"characteristics": {"a": {"value": 1, "unit": "", "status": "ok", "p": 2}}}
"characteristics": {"a": {"value": 1, "unit": "", "status": "ok", "p": "0"}}}
"characteristics": {"a": {"value": 1, "unit": "", "status": "ok", "confidence": "very"}}}
"characteristics": {"a": {"value": 1, "unit": "", "status": "ok", "evidence": [1]}}}
"characteristics": {"a\u0000b": {"value": 1, "unit": "", "status": "ok"}}}
"characteristics": {"a": {"value": 1, "unit": "\ud800", "status": "ok"}}}
"characteristics": {}, "run": {"seed": -1}}
"characteristics": {}, "run": {"seed": 1.5}}
"characteristics": {}, "run": {"seed": 18446744073709551616}}
"characteristics": {}, "run": {"cpu_measured": 2147483648}}
"characteristics": {}, "run": {"memory_limit_bytes": -1}}
"characteristics": {}, "run": {"arguments": [null]}}
"characteristics": {}, "run": {"steal": "much"}}
"characteristics": {}, "run": []}
"characteristics": {}, "environment": {"cpus_allowed": [-1]}}
"characteristics": {}, "environment": {"cpus_allowed": {}}}
"characteristics": {}, "environment": {"virtualised": 1}}
"characteristics": {}, "tool": 1}
"characteristics": {}, "probes": {"cache": {"status": "ok", "seconds": -1}}}
"characteristics": {}, "probes": {"cache": {"status": "ok", "revision": 4294967296}}}
"characteristics": {}, "curves": {"a": {"probe": "b", "x": {"values": [1]}, "y": {}}}}
"characteristics": {}, "curves": {"a": {"probe": "b", "x": {"values": [1]}}}}
"characteristics": {}, "curves": {"a": {"probe": "b", "x": [1], "y": [[1]]}}}
END
while read -r x rounds; do
    curve_of "$x" "$rounds"
    refuses_profile profile.json
    err_has "profile.json: curves.cache.walk."
done <<'END'
[1,1] [[1,1]]
[2,1] [[1,1]]
[1,null] [[1,1]]
["1"] [[1]]
[1,2] [[1]]
[1,2] [[1,2,3]]
[1,2] [[1,2],[1]]
[1,2] [1,2]
[1,2] [[1,"2"]]
[1,2] [[1,[2]]]
[] [[1]]
END
profile_of "$(depth 100000 '[')"
refuses_profile profile.json
profile_of "\"characteristics\": {}, \"later\": $(depth 1000 '[')$(depth 1000 ']')}"
refuses_profile profile.json
err_has "at most 64 levels of nesting"
{ printf '{"format": "blackjack-profile/1", "characteristics": {}, "later": [0'; depth 5000000 ',0'; printf ']}'; } >many.json
refuses_profile many.json
err_has "at most 4194304 values"
{ printf '{"format": "blackjack-profile/1", "characteristics": {}, "later": [0'; depth 3000000 ',{}'; printf ']}'; } >many.json
refuses_profile many.json
err_has "at most 262144 lists and objects"
{ printf '{"format": "blackjack-profile/1", "characteristics": {"a": {}'; depth 20000 ',"a": {}'; printf '}}'; } >many.json
refuses_profile many.json
awk 'BEGIN { printf "{\"format\": \"blackjack-profile/1\", \"characteristics\": {\"k\": {\"value\": 1, \"unit\": \"\", \"status\": \"ok\"}"
    for (i = 0; i < 20000; i++) printf ", \"k%d\": {\"value\": 1, \"unit\": \"\", \"status\": \"ok\"}", i
    print "}}" }' >many.json
refuses_profile many.json
err_has "at most 10000 entries"
# Many x beside short rounds would take the product of both.
curve_of "[0$(awk 'BEGIN { for (i = 1; i < 100000; i++) printf ",%d", i }')]" "[[]$(depth 100000 ',[]')]"
refuses_profile profile.json

# Odd, but profiles: every command takes them.
takes_profile() {
    run 0 show profile.json
    run 0 reanalyze profile.json -o again.json --force
    run 0 reanalyze again.json -o twice.json --force
    cmp -s again.json twice.json || complain "analysed twice, another profile"
    run 0 show again.json
    # Odd ones may have no value at all, and there is nothing to compare then.
    (eval "$limit"; exec $clock "$blackjack" compare profile.json again.json) >out 2>err </dev/null
    status=$?
    [ "$status" -eq 0 ] || { [ "$status" -eq 2 ] && grep -q 'nothing to compare' err; } ||
        complain "compare of an odd profile: exit status $status"
}
while IFS= read -r text; do
    profile_of "$text"
    takes_profile
done <<'END'
"characteristics": {}}
"later": [{}], "characteristics": {"no.such.key": {"value": 1, "unit": "furlongs", "status": "ok", "later": null}}}
"characteristics": {"a": {"value": -0.0, "unit": "ns", "status": "ok", "interval": [-1e308, 1e308], "claimed": -5}, "cpu.clock_ghz": {"value": 1e308, "unit": "GHz", "status": "ok"}}}
"characteristics": {"a": {"value": [[[]], {}], "unit": "", "status": "unstable", "evidence": ["no.curve", "", "no.curve"]}}}
"characteristics": {"cache.levels": {"value": 1e300, "unit": "count", "status": "ok"}}, "run": {"steal": 1e308, "cpu_quota": -1}}
"characteristics": {}, "probes": {"nobody": {"status": "failed", "revision": 0}}, "curves": {"c": {"probe": "nobody", "x": {"values": []}, "y": {"rounds": []}}}}
"characteristics": {}, "run": {"method": "no such method", "effort": ""}, "environment": {"cpus_allowed": [], "memory_bytes": 9223372036854775807}}
END
sizes='[4096,8192,16384,32768,65536,131072]'
while read -r x rounds; do
    [ "$x" = "-" ] && x=$sizes
    curve_of "$x" "$rounds"
    takes_profile
done <<'END'
[] []
[] [[],[],[]]
- []
- [[null,null,null,null,null,null],[null,null,null,null,null,null]]
- [[1,1,1,1,1,1]]
- [[1,null,1,9,null,9],[null,1,1,9,9,null],[1,1,null,null,9,9]]
- [[0,0,0,0,0,0],[1,1,1,9,9,9]]
- [[-1,-2,-3,-4,-5,-6]]
- [[1e308,1e308,1e308,1e308,1e308,1e308],[1e-320,1e-320,1e-320,1e-320,1e-320,1e-320]]
[-3,-2,-1,0] [[1,2,3,4]]
[1e-320,1e308] [[1,2]]
[4096] [[1]]
END
# The same for a run that goes on with one: what it has stays, what is missing is measured.
where=$("$blackjack" run clock --machine "sim:$machine" -o - --quiet 2>err | sed -n 's/.*"machine": "\(sim:[^"]*\)".*/\1/p')
profile_of '"characteristics": {"no.such.key": {"value": 1, "unit": "", "status": "ok"}}, "run": {"machine": "'"$where"'"}, "probes": {"nobody": {"status": "ok"}}, "curves": {"clock.yardstick": {"probe": "nobody", "x": {"values": []}, "y": {"rounds": [[]]}}}}'
run 1 run clock --machine "sim:$machine" -o profile.json --resume --quiet
profile_of '"characteristics": {"no.such.key": {"value": 1, "unit": "", "status": "ok"}}, "run": {"machine": "'"$where"'"}, "probes": {"nobody": {"status": "ok"}}}'
run 0 run clock --machine "sim:$machine" -o profile.json --resume --quiet
run 0 get profile.json no.such.key
profile_of '"characteristics": {}, "run": {"machine": "elsewhere\u001b[2J"}}'
run 2 run clock --machine "sim:$machine" -o profile.json --resume --quiet
one_line_error
profile_of '"characteristics": 1}'
run 2 run clock --machine "sim:$machine" -o profile.json --resume --quiet
one_line_error

# Nothing of a file moves a terminal's cursor.
profile_of '"characteristics": {"a": {"value": null, "unit": "n\\u009bs\\u007f", "status": "failed", "reason": "\\u001b[2J\\n\\u0085"}}}'
for field in value unit reason; do
    "$blackjack" get profile.json a $field >out 2>err
    cat out err >both
    [ "$(wc -l <both)" -eq 1 ] || complain "one line expected of get a $field"
    LC_ALL=C grep -q '[^ -~]' both && complain "control characters from get a $field"
done
run 0 show profile.json
LC_ALL=C grep -q '[^ -~]' out && complain "control characters from show"

# Machines: each line is one, after the name.
cache='{"size": 32768, "latency": 4}'
while IFS= read -r text; do
    printf '{"name": "m", %s' "$text" | sed "s/CACHE/$cache/g" >machine.json
    refuses_machine machine.json
    err_has "machine.json: "
done <<'END'
"caches": [CACHE]
"caches": [CACHE],}
"caches": [CACHE], "caches": [CACHE]}
"caches": [CACHE], "name": "n"}
"caches": [CACHE], "colour": "blue"}
"caches": []}
"caches": {}}
"caches": null}
"caches": [[]]}
"caches": [CACHE, CACHE, CACHE, CACHE, CACHE, CACHE, CACHE]}
"caches": [{"size": 0, "latency": 4}]}
"caches": [{"size": -32768, "latency": 4}]}
"caches": [{"size": 32768.0, "latency": 4}]}
"caches": [{"size": "32 KiB", "latency": 4}]}
"caches": [{"size": 9223372036854775807, "latency": 4}]}
"caches": [{"size": 9223372036854775808, "latency": 4}]}
"caches": [{"size": 1099511627776, "latency": 4}]}
"caches": [{"size": 68719476736, "latency": 4, "line": 16}]}
"caches": [{"size": 1073741824, "latency": 4, "ways": 1}]}
"caches": [{"size": 1000, "latency": 4}]}
"caches": [{"size": 64, "latency": 4}]}
"caches": [{"size": 32768, "latency": 4, "ways": 0}]}
"caches": [{"size": 32768, "latency": 4, "ways": 1000000000}]}
"caches": [{"size": 32768, "latency": 4, "line": 0}]}
"caches": [{"size": 32768, "latency": 4, "line": 48}]}
"caches": [{"size": 32768, "latency": 4, "line": 8192}]}
"caches": [{"size": 32768, "latency": 0}]}
"caches": [{"size": 32768, "latency": -4}]}
"caches": [{"size": 32768, "latency": NaN}]}
"caches": [{"size": 32768, "latency": 1e400}]}
"caches": [{"size": 32768, "latency": 1e300}]}
"caches": [{"size": 32768, "latency": 4, "shared_by": 0}]}
"caches": [{"size": 32768, "latency": 4, "shared_by": 3}], "cpus": 4}
"caches": [{"size": 32768, "latency": 4, "level": 2}]}
"caches": [{"size": 32768, "latency": 4, "replacement": "best"}]}
"caches": [{"size": 32768, "latency": 4, "policy": "exclusive"}]}
"caches": [{"size": 32768, "latency": 4, "size": 4096}]}
"caches": [CACHE, {"size": 4096, "latency": 4}]}
"caches": [CACHE], "cpus": 0}
"caches": [CACHE], "cpus": 1000000000}
"caches": [CACHE], "cpus": 4097}
"caches": [CACHE], "cpus": 6, "smt": 4}
"caches": [CACHE], "cpus": 4, "sockets": 3}
"caches": [CACHE], "cpus": 2, "numbering": [0]}
"caches": [CACHE], "cpus": 2, "numbering": [0, 0]}
"caches": [CACHE], "clock_ghz": 0}
"caches": [CACHE], "page": {"base": 1000}}
"caches": [CACHE], "page": {"base": 0}}
"caches": [CACHE], "page": {"huge": 4096}}
"caches": [CACHE], "tlbs": [{"entries": 0}]}
"caches": [CACHE], "tlbs": [{"entries": 7, "ways": 2}]}
"caches": [CACHE], "tlbs": [{"entries": 1000000000}]}
"caches": [CACHE], "memory": {"latency": 1}}
"caches": [CACHE], "memory": {"domains": [{"shared_by": 2, "gbs": 1}]}}
"caches": [CACHE], "noise": {"jitter": -1}}
"caches": [CACHE], "noise": {"neighbour": 1}}
"caches": [CACHE], "ops": {"add": {"latency": 1}}}
"caches": [CACHE], "exchange": {"L9": 1}}
"caches": [CACHE], "messages": {"layers": [{"within": "x", "ranks": 2, "segments": []}]}}
"caches": [CACHE], "prefetchers": ["wish"]}
"caches": [CACHE], "summary": "\u001b"}
END
printf '{"name": "", "caches": [%s]}' "$cache" >machine.json && refuses_machine machine.json
printf '{"caches": [%s]}' "$cache" >machine.json && refuses_machine machine.json
printf '{"name": "%s", "caches": [%s]}' "$(depth 1000 x)" "$cache" >machine.json && refuses_machine machine.json
printf '{"name": "m", "later": %s%s}' "$(depth 100000 '[')" "$(depth 100000 ']')" >machine.json && refuses_machine machine.json
printf '{"name": "m", "caches": [%s%s]}' "$cache" "$(depth 30000 ",$cache")" >machine.json && refuses_machine machine.json
# Absurd, but machines: as large as is allowed, and slow.
largest='{"size": 1073741824, "latency": 4, "ways": 16, "mapped": "physical"}'
printf '{"name": "m", "cpus": 4096, "caches": [%s], "page": {"base": 4096, "huge": 1073741824}}' "$largest" >machine.json
run 0 run clock --machine sim:machine.json -o absurd.json --quiet
printf '{"name": "m", "clock_ghz": 0.001, "caches": [{"size": 64, "line": 64, "ways": 1, "latency": 999999}], "memory": {"latency": 1000000}, "tlbs": [{"entries": 1}], "walk": 100000, "page": {"base": 16777216}, "noise": {"jitter": 10, "spike_rate": 1, "spike_factor": 1000000, "drift": 10, "neighbour": 0.95}}' >machine.json
# Its probes fail, and say so.
run 1 run cache --machine sim:machine.json -o odd.json --effort quick --budget 0.001 --quiet
valid absurd.json odd.json

# Tables.
while IFS= read -r text; do
    printf "$text" >table.csv
    refuses_csv table.csv
    err_has "table.csv:"
done <<'END'
x,y\n
x\n1\n
4096\n8192\n
4096;1\n8192;1\n
4096 1\n8192 1\n
4096,1,5\n4096,,1\n
4096,1\n8192,NaN\n
4096,1\n8192,Infinity\n
4096,1\n8192,1e400\n
4096,1\n8192,1e-400\n
4096,1\n8192,1e31\n
4096,1\n1e-31,1\n
4096,1\n8192,-1\n
4096,1\n8192,-0\n
4096,1\n0,1\n
4096,1\n-8192,1\n
4096,1\n0x2000,1\n
4096,1\n8192,1e\n
4096,1\n8192,1.2.3\n
4096,1\n8192,1 2\n
4096,1\n8192,\377\n
4096,1\n8192,\000\n
4096,1\n8192,1\000\n
4096,1\n"8192,1\n
4096,1\r8192,1\r
\357\273\277\357\273\2774096,1\n
x,y\nx,y\n4096,1\n
END
printf '4096,%s\n' "$(depth 100 1)" >table.csv && refuses_csv table.csv
{ printf '4096,1\n'; head -c 2000000 /dev/zero | tr '\0' ','; } >table.csv && refuses_csv table.csv
# A billion rows: refused where the limit is, however they come.
yes 4096,1 | head -n 100001 >table.csv && refuses_csv table.csv
err_has "table.csv:100001: expected at most 100000 rows"
yes 4096,1 | (eval "$limit"; exec $clock "$blackjack" analyze cache -) >out 2>err
[ $? -eq 2 ] || complain "endless rows on standard input"
one_line_error
# Many of one x beside many different ones.
awk 'BEGIN { for (i = 1; i <= 30000; i++) print "4096,1\n" 4096 + i ",1" }' >table.csv && refuses_csv table.csv
err_has "table.csv: "
awk 'BEGIN { for (i = 1; i <= 5000; i++) print i ",1" }' >table.csv
for method in qt_cluster change_points; do
    run 2 analyze cache table.csv --method $method
    one_line_error
    err_has "table.csv: "
done
# Clustering takes the square of them, hundreds of times.
run 2 analyze tlb table.csv --method qt_cluster
one_line_error
err_has "at most 500 different numbers of pages"
# Odd, but tables.
while IFS= read -r text; do
    printf "$text" >table.csv
    for method in levels qt_cluster gradient_peaks binomial_size binomial_size_literal change_points; do
        run 0 analyze cache table.csv --method $method
        [ -s err ] && complain "nothing expected on standard error"
    done
done <<'END'
4096,1\n
4096,1
4096,1\n4096,1\n4096,1\n
1e-30,1e-30\n1e30,1e30\n
1e30,1\n1e-30,1\n1,1e30\n1,1e-30\n
8192,5\n4096,1\n16384,9\n4096,2\n8192,5\n
4096,1\n4096.0000000001,9\n4096.0000000002,1\n
END
finish
