#!/bin/sh
# show: one page, within its columns, plain where it has to be.
. "$(dirname "$0")/lib.sh"
profile=$here/profile.json

LC_ALL=C "$blackjack" show "$profile" >out 2>err || complain "show"
for text in "32 KiB" "32 KiB .. 34 KiB" "48 KiB" "101.5" "254 cycles" "unstable: single rounds" "undetermined: no ramp" \
    "unsupported: needs 2 cpus" "failed: implausible" "warning: the machine is busy" "effective size" "capacity" \
    "2026-11-15" "cpu 2" "0-2, 7" "[[0, 1], [2, 3]]"; do
    case $text in
    101.5) grep -Eq '10[12] ns' out || complain "latency in ns" ;;
    *) out_has "$text" ;;
    esac
done
awk 'length($0) > 100 { bad = 1 } END { exit bad }' out || complain "wider than 100 columns"
LC_ALL=C grep -q '[^ -~]' out && complain "not plain ASCII in the C locale"
LC_ALL=C.UTF-8 "$blackjack" show "$profile" >out 2>err
if locale -a 2>/dev/null | grep -qi '^C\.utf-\{0,1\}8$'; then
    out_has "Café"
fi
LC_ALL=C grep -q "$(printf '\033')" out && complain "escape sequences from a file, or colour into a file"

# On a terminal there is colour, unless it is refused.
# A bare chroot has the command but no terminals to give.
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    TERM=xterm script -qec "'$blackjack' show '$profile'" /dev/null >out 2>err </dev/null
    LC_ALL=C grep -q "$(printf '\033')" out || complain "no colour on a terminal"
    NO_COLOR=1 TERM=xterm script -qec "'$blackjack' show '$profile'" /dev/null >out 2>err </dev/null
    LC_ALL=C grep -q "$(printf '\033')" out && complain "colour in spite of NO_COLOR"
fi

printf '{"format": "blackjack-profile/1", "characteristics": {}}' >bare.json
expect 0 show bare.json
out_has "no answers"
if [ -e /dev/full ]; then
    "$blackjack" show "$profile" >/dev/full 2>err
    [ $? -eq 3 ] || complain "show > /dev/full"
fi
finish
