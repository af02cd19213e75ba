#!/bin/sh
# gcc takes the header, the parameters and the places that emit writes, and has their values afterwards.
. "$(dirname "$0")/lib.sh"
profile=$here/emit_profile.json
has gcc || skip "no gcc"

expect 0 emit c-header "$profile" -o profile.h
cat >use.c <<'END'
#include "profile.h"
#include "profile.h"
#include <string.h>
int main(void) {
    static char block[BLACKJACK_CACHE_L1_SIZE_BYTES];
    double wait = BLACKJACK_MEMORY_LATENCY_NS;
#ifdef BLACKJACK_X_WOBBLY
    return 4;
#endif
    return sizeof block == 32768 && wait == 101.5 &&
           strcmp(BLACKJACK_X_TEXT, "[\"it's \\\"$HOME\\\"; `id` \\\\ ${X}\", {\"a;b\": \"*/\"}]") == 0 ? 0 : 3;
}
END
gcc -std=c11 -Wall -Wextra -Werror use.c -o use 2>err || complain "gcc does not take the header"
./use || complain "the header gives something else"
gcc -x c++ -fsyntax-only use.c 2>err || grep -q cc1plus err || complain "C++ does not take the header"

expect 0 emit gcc-params "$profile"
# shellcheck disable=SC2046
gcc $(cat out) -Q --help=params >params 2>err || complain "gcc refuses the parameters"
for want in "l1-cache-size= *	*32$" "l1-cache-line-size= *	*64$" "l2-cache-size= *	*256$"; do
    grep -q -e "$want" params || complain "gcc has another $want"
done
echo 'int main(void) { return 0; }' >main.c
gcc -O2 -fprefetch-loop-arrays @out main.c -o main 2>err || complain "gcc @FILE"

if gcc -fopenmp main.c -o omp 2>err; then
    expect 0 emit omp-places "$profile"
    OMP_DISPLAY_ENV=true OMP_PLACES=$(sed 's/,{[^0].*//' out) ./omp 2>&1 | grep -qi "invalid" && complain "OpenMP"
else
    left_out "places: gcc has no OpenMP"
fi
finish
