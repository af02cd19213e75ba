#!/bin/sh
# A disk that is full, at the start or in the middle: said in one line, and what was done before is kept. A limit on the
# size of files stands for the disk, since it needs no root.
. "$(dirname "$0")/lib.sh"

sim="--machine sim:$source_dir/machines/atom.json --effort quick"
(ulimit -f 8) 2>/dev/null || skip "no limit on the size of files"

# Found out before measuring.
(ulimit -f 8 && exec "$blackjack" run cache $sim -o p.json) >out 2>err
status=$?
[ $status -eq 3 ] || complain "full at the start: exit status $status"
one_line_error
err_has "p.json: cannot write: "
[ -z "$(ls -A | grep -v -e '^out$' -e '^err$')" ] || complain "files were left"

# Its folder goes in the middle: removed, nothing can be kept, and that is said; renamed, it is held and gets it all.
for fate in removed renamed; do
    rm -rf folder moved
    mkdir folder
    "$blackjack" run cache $sim -o folder/p.json >out 2>err &
    child=$!
    tries=0
    until grep -q 'clock (1 of 2): done' err || [ $tries -gt 300 ]; do
        tries=$((tries + 1))
        sleep 0.02
    done
    mv folder moved
    [ $fate = renamed ] || rm -r moved
    wait $child
    status=$?
    if [ $fate = removed ]; then
        [ $status -eq 3 ] || complain "the folder went: exit status $status"
        err_has "cache was measured and is lost"
        grep -q 'resume' err && complain "there is nothing to go on with"
    else
        [ $status -eq 0 ] || complain "the folder was renamed: exit status $status"
        valid moved/p.json
        [ "$("$blackjack" get moved/p.json cache.levels status)" = ok ] || complain "the renamed folder lacks answers"
    fi
    [ -z "$(find . -name '.blackjack*')" ] || complain "temporary files were left"
done
finish
