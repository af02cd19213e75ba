# For the scripts here: sets up a scratch folder and the words below.
# usage: test_<what>.sh BLACKJACK SOURCE_DIR
#
# Every script runs all its checks and ends with `finish`, which fails when any check did.

set -u
blackjack=$1
source_dir=$2
here=$source_dir/tests/cli
machine=$source_dir/machines/no_l3.json
failures=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/bj-cli-XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
# No profile but those that a script makes, and none of the user's is touched.
unset BLACKJACK_PROFILE XDG_DATA_HOME
HOME=$scratch/home
export HOME

complain() {
    echo "FAILED: $*" >&2
    echo "  standard output: $(head -c 500 out 2>/dev/null)" >&2
    echo "  standard error:  $(head -c 500 err 2>/dev/null)" >&2
    failures=$((failures + 1))
}

# expect STATUS ARGUMENT...: runs the program; its output is in the files out and err.
expect() {
    wanted=$1
    shift
    "$blackjack" "$@" >out 2>err </dev/null
    status=$?
    [ "$status" -eq "$wanted" ] || complain "blackjack $*: exit status $status, expected $wanted"
}

# out_is TEXT, out_has TEXT, err_has TEXT: about the last run.
out_is() {
    [ "$(cat out)" = "$1" ] || complain "expected on standard output: $1"
}
out_has() {
    grep -qF -e "$1" out || complain "expected in standard output: $1"
}
err_has() {
    grep -qF -e "$1" err || complain "expected in standard error: $1"
}
# One line that begins with "blackjack: ", nothing on standard output.
one_line_error() {
    [ -s out ] && complain "nothing expected on standard output"
    [ "$(wc -l <err)" -eq 1 ] || complain "one line expected on standard error"
    grep -q '^blackjack: ' err || complain "expected 'blackjack: ' in front"
}
# valid FILE...: against the schema.
valid() {
    has python3 || { left_out "the schema of $*: no python3"; return; }
    python3 "$here/validate_profile.py" "$source_dir/docs/profile.schema.json" "$@" || complain "not valid: $*"
}
has() {
    command -v "$1" >/dev/null
}
# begin ARGUMENT...: the program in the background, as $child, output in out and err. A shell starts what it puts there with
# SIGINT ignored, which stays so; a person's terminal does not.
begin() {
    if env --default-signal=INT true 2>/dev/null; then
        env --default-signal=INT "$blackjack" "$@" >out 2>err &
    elif has python3; then
        python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
            "$blackjack" "$@" >out 2>err &
    else
        skip "nothing that gives back SIGINT to a program in the background"
    fi
    child=$!
}
# skip REASON: the whole script cannot run here. What is a test of its own has a script of its own, so that it can say so.
skip() {
    echo "skipped: $*"
    exit 77
}
# skip_emulated REASON: the whole script means nothing where the program runs under an emulator (see ../emulated.sh.in).
skip_emulated() {
    [ -z "${BJ_EMULATED:-}" ] || skip "under an emulator: $*"
}
# skip_cross_built REASON: the same where the program is for another processor than the tools here, emulated or not.
skip_cross_built() {
    [ -z "${BJ_CROSS_BUILT:-}" ] || skip "built for another processor: $*"
}
# left_out WHAT: a small part that cannot run here.
left_out() {
    echo "left out: $*"
}
# finish [REASON]: fails when a check did; with the reason why the rest cannot run here, counts as skipped.
finish() {
    [ "$failures" -eq 0 ] || { echo "$failures checks failed" >&2; exit 1; }
    [ $# -eq 0 ] || skip "$@"
    exit 0
}
