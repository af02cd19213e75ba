#!/bin/sh
# What zsh's completion is told: the words of _describe and _arguments, which are replaced here by printing them.
. "$(dirname "$0")/lib.sh"
has zsh || skip "no zsh"
# Below zsh, which blocks signals while it substitutes a command, a sanitizer's search for leaks waits for ever.
ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS

# told WORD...: into the file out.
told() {
    zsh -f -c '_arguments() { print -rl -- "$@" }; _describe() { print -rl -- ${(P)2} }; script=$1; shift
        words=("$@"); CURRENT=$#; . $script' _ "$source_dir/scripts/completion/_blackjack" "$blackjack" "$@" >out 2>err
    [ -s err ] && complain "zsh complains: $*"
}
for command in $("$blackjack" help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Z].*/\1/p'); do
    told ""
    grep -q "^$command:[A-Z]" out || complain "zsh completes no $command"
    told "$command" ""
    for option in $("$blackjack" help "$command" | sed -n 's/^  \(-[a-z], \|    \)\(--[a-z][a-z-]*\) .*/\2/p'); do
        grep -q -e "^\((-[a-z])\)\{0,1\}$option[=[]" out || complain "zsh completes no $command $option"
    done
done
told run ""
out_has "(-o)--output=[the profile"
out_has "]:FILE:_files"
out_has ":quick|normal|thorough:(quick normal thorough)"
out_has ":native|sim\\:FILE:(native sim\\:)"
out_has "*:probe:(clock"
told emit ""
out_has "1:format:(c-header"
out_has "*:file:_files"
# Keys, fields, methods and curves.
told run tlb ""
tr '\n' ' ' <out >line
grep -q ":NAME:(paired_walks qt_cluster paper)" line || complain "zsh offers no methods"
told analyze ""
out_has ":KEY=VALUE:(op.int32.add.latency_ns="
told get "$here/profile.json" ""
out_has ":FIELD:(value"
tr '\n' ' ' <out >line
grep -q "key or field:(cpu.clock_ghz cache.levels .* value unit " line || complain "zsh offers no keys of a profile"
told show ""
tr '\n' ' ' <out >line
grep -q "2:section:(clock cache .*:PROBE:(clock cache\|:PROBE:(clock cache .*2:section:(clock cache" line || complain "zsh offers no sections"
told get ""
out_has "cache.L2.size_bytes"
told curve "$here/profile.json" ""
out_has "2:curve:(cache.walk)"
finish
