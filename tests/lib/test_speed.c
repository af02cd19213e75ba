/* What asking costs a program: opening a profile of all probes and a thousand typed lookups, which should take less
 * than 5 ms.
 *
 *     lib_speed [FILE]         prints the least of twenty
 *
 * Without FILE one is made on a simulated machine, which has as many samples as a native one. As a test it
 * fails only at ten times as much: the machine that runs the tests may be busy, and what it shall find is a change of
 * kind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <blackjack/blackjack.h>

enum { ROUNDS = 20, LOOKUPS = 1000, FAILS_MS = 50 };

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static int make_profile(const char *path) {
    bj_lib_profile *profile;
    bj_lib_error error;
    bj_lib_run_options options = {.struct_size = sizeof options,
                                  .machine = "sim:" BJ_SOURCE_DIR "/machines/no_l3.json"};
    if (bj_lib_run_probes(&options, &profile, &error) != BJ_LIB_OK ||
        bj_lib_write_profile(profile, path, &error) != BJ_LIB_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    bj_lib_close_profile(profile);
    return 0;
}

static int ask(const bj_lib_profile *profile, double *sum) {
    static const char *const keys[] = {"cache.L1.size_bytes", "cache.line_bytes", "memory.latency_ns", "tlb.L1.entries",
                                       "no.such.key"};
    for (int i = 0; i < LOOKUPS; i++) {
        double value = 0;
        bj_lib_error error;
        bj_lib_result result = bj_lib_get_number(profile, keys[i % 5], BJ_LIB_CONFIDENCE_LOW, &value, &error);
        if (result != (i % 5 == 4 ? BJ_LIB_ERR_NOT_FOUND : BJ_LIB_OK)) {
            fprintf(stderr, "%s\n", error.text);
            return 1;
        }
        *sum += value;
    }
    return 0;
}

int main(int count, char **words) {
    char made[] = "/tmp/bj-speed-XXXXXX";
    const char *path = count > 1 ? words[1] : made;
    double open_ms = 1e9, ask_ms = 1e9, both_ms = 1e9, sum = 0;
    int file = count > 1 ? -1 : mkstemp(made), wrong = 0;
    if (count <= 1 && (file < 0 || make_profile(made) != 0))
        return 1;
    for (int round = 0; round < ROUNDS && wrong == 0; round++) {
        bj_lib_profile *profile;
        bj_lib_error error;
        double start = now_ms();
        if (bj_lib_open_profile(path, &profile, &error) != BJ_LIB_OK) {
            fprintf(stderr, "%s\n", error.text);
            return 1;
        }
        double opened = now_ms();
        wrong = ask(profile, &sum);
        double asked = now_ms();
        bj_lib_close_profile(profile);
        open_ms = opened - start < open_ms ? opened - start : open_ms;
        ask_ms = asked - opened < ask_ms ? asked - opened : ask_ms;
        both_ms = asked - start < both_ms ? asked - start : both_ms;
    }
    if (file >= 0) {
        close(file);
        unlink(made);
    }
    printf("opening a profile and %d lookups: %.2f ms (%.2f + %.2f), wanted 5 ms\n", LOOKUPS, both_ms, open_ms, ask_ms);
    return wrong != 0 || !(sum > 0) || both_ms > FAILS_MS;
}
