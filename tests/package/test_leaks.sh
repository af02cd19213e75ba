#!/bin/sh
# A program that uses what is installed has no leak and no wrong access, whatever it asks.
. "$(dirname "$0")/lib.sh"
has valgrind || skip "no valgrind"
install_build
export BLACKJACK_PROFILE="$source_dir/tests/cli/emit_profile.json"
shared=$(find "$prefix" -name 'libblackjack.so' | head -1)
libdir=${shared%/*}

cat >ask.c <<'END'
#include <blackjack/blackjack.h>
int main(void) {
    bj_lib_profile *profile;
    bj_lib_error error;
    double value;
    size_t found = 0;
    if (bj_lib_open_profile(0, &profile, &error) != BJ_LIB_OK)
        return 1;
    for (size_t i = 0; i < bj_lib_count_answers(profile); i++)
        found += bj_lib_get_number(profile, bj_lib_answer_key(bj_lib_answer_at(profile, i)), BJ_LIB_CONFIDENCE_LOW,
                                   &value, &error) == BJ_LIB_OK;
    bj_lib_close_profile(profile);
    if (bj_lib_parse_profile("{\"format\"", 9, &profile, &error) == BJ_LIB_OK)
        return 1;
    return bj_lib_open_profile("/no/such/file", &profile, &error) == BJ_LIB_OK || found == 0;
}
END
flags=$(PKG_CONFIG_PATH="$libdir/pkgconfig" pkg-config --cflags --libs libblackjack) || complain "pkg-config"
# shellcheck disable=SC2086
"$cc" -g ask.c $flags -o ask >log 2>&1 || complain "ask.c"
LD_LIBRARY_PATH=$libdir valgrind --quiet --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all \
    --error-exitcode=9 ./ask >log 2>&1 || complain "valgrind"
finish
