/* A blocked transpose that takes its block from the profile, beside the plain one and the best block that a search
 * finds.
 *
 *     transpose [N [ROUNDS]]         N x N doubles (default 4096), least of ROUNDS (default 7)
 *
 * Prints a line for each, and exits with 1 when a transpose is wrong. Without a profile it says so and takes a default.
 */
#include <blackjack/blackjack.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void transpose_plain(const double *from, double *to, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            to[j * n + i] = from[i * n + j];
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static void transpose_blocked(const double *from, double *to, size_t n, size_t block) {
    for (size_t i0 = 0; i0 < n; i0 += block)
        for (size_t j0 = 0; j0 < n; j0 += block) {
            size_t i1 = least(i0 + block, n), j1 = least(j0 + block, n);
            /* Written along rows: a store that misses costs more than a load. */
            for (size_t j = j0; j < j1; j++)
                for (size_t i = i0; i < i1; i++)
                    to[j * n + i] = from[i * n + j];
        }
}

typedef struct {
    size_t line_bytes, l1_bytes, l1_ways, page_bytes, tlb_entries;
    int measured; /* how many of them the profile knew; the others are defaults */
} machine;

/* How many rows that are so far apart find places of their own in the first level: a way of it has room for rows that
 * begin at different places of it, and there are so many ways. */
static size_t count_row_places(const machine *m, size_t row_bytes) {
    /* A measured size is a little off, and the places of a way are a power of two. */
    size_t way_bytes = m->line_bytes;
    while (way_bytes * 3 / 2 < m->l1_bytes / m->l1_ways)
        way_bytes *= 2;
    size_t a = way_bytes, b = row_bytes;
    while (b > 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return m->l1_ways * (a > 0 ? way_bytes / a : 1);
}

/* The block that is read must stay in the first level, in whole lines; the one that is written is gone through once,
 * line after line, and need not. Each row of a block is a page of its own once rows are that long: no more of them than
 * the TLB holds, one kept for what is written. Nor more than find places of their own: rows that are a power of two
 * apart share theirs. */
static size_t choose_block(const machine *m, size_t n) {
    bj_lib_core core = {.struct_size = sizeof core, .element_bytes = sizeof(double), .line_bytes = m->line_bytes};
    bj_lib_footprint footprint = {.squares = 1, .multiple = m->line_bytes / sizeof(double)};
    size_t places = count_row_places(m, n * sizeof(double)), pages = m->tlb_entries - 1;
    footprint.most = n * sizeof(double) >= m->page_bytes && pages < places ? pages : places;
    size_t block = bj_lib_fit_block(&core, m->l1_bytes, &footprint);
    return block > 0 ? block : footprint.multiple;
}

/* Each number has a default for the case that the profile does not know it well enough. */
static machine ask_profile(void) {
    const machine usual = {.line_bytes = 64, .l1_bytes = 32768, .l1_ways = 8, .page_bytes = 4096, .tlb_entries = 64};
    machine m = usual;
    const struct {
        const char *key;
        size_t *value;
    } wanted[] = {
        {"cache.line_bytes", &m.line_bytes},    {"cache.L1.size_bytes", &m.l1_bytes},
        {"cache.L1.associativity", &m.l1_ways}, {"page.size_bytes", &m.page_bytes},
        {"tlb.L1.entries", &m.tlb_entries},
    };
    bj_lib_profile *profile;
    bj_lib_error error;
    if (bj_lib_open_profile(NULL, &profile, &error) != BJ_LIB_OK) {
        printf("no profile, so 32 KiB (%s)\n", error.text);
        return usual;
    }
    printf("profile %s\n", bj_lib_profile_path(profile));
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (bj_lib_get_size(profile, wanted[i].key, BJ_LIB_CONFIDENCE_MEDIUM, wanted[i].value, &error) == BJ_LIB_OK)
            m.measured++;
        else
            printf("%s; taking %zu\n", error.text, *wanted[i].value);
    bj_lib_close_profile(profile);
    printf("first level %zu bytes, line %zu, %zu pages of %zu\n", m.l1_bytes, m.line_bytes, m.tlb_entries,
           m.page_bytes);
    return m.line_bytes >= sizeof(double) && m.l1_ways > 0 && m.tlb_entries > 1 ? m : usual;
}

enum { MOST_BLOCKS = 64 };

typedef struct {
    size_t block; /* 0: plain */
    double seconds;
} candidate;

/* The profile's block, none at all, and all others that a search would try. */
static size_t list_candidates(size_t n, size_t block, candidate *list) {
    size_t count = 0;
    list[count++] = (candidate){block, 1e30};
    list[count++] = (candidate){0, 1e30};
    for (size_t other = 4; other <= n && count < MOST_BLOCKS; other += other < 16 ? 4 : other < 128 ? 8 : other / 2)
        if (other != block)
            list[count++] = (candidate){other, 1e30};
    return count;
}

/* The least of so many rounds. Each round has all of them: a minute of a neighbour's noise then spoils no one alone. */
static void time_candidates(const double *from, double *to, size_t n, int rounds, candidate *list, size_t count) {
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            double start = now_s();
            if (list[i].block == 0)
                transpose_plain(from, to, n);
            else
                transpose_blocked(from, to, n, list[i].block);
            double seconds = now_s() - start;
            if (seconds < list[i].seconds)
                list[i].seconds = seconds;
        }
}

static int is_wrong(const double *from, const double *to, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (to[j * n + i] != from[i * n + j])
                return 1;
    return 0;
}

int main(int count, char **words) {
    size_t n = count > 1 ? strtoul(words[1], NULL, 10) : 4096;
    int rounds = count > 2 ? atoi(words[2]) : 7;
    if (n == 0 || n > 65536 || rounds < 1)
        return 2;
    double *from = malloc(n * n * sizeof *from), *to = calloc(n * n, sizeof *to);
    if (from == NULL || to == NULL)
        return 2;
    for (size_t i = 0; i < n * n; i++)
        from[i] = (double)i;
    machine m = ask_profile();
    size_t block = choose_block(&m, n);
    transpose_blocked(from, to, n, block);
    if (is_wrong(from, to, n)) {
        printf("the blocked transpose is wrong\n");
        return 1;
    }
    candidate list[MOST_BLOCKS];
    size_t candidates = list_candidates(n, block, list), best = 0;
    time_candidates(from, to, n, rounds, list, candidates);
    for (size_t i = 2; i < candidates; i++)
        if (list[i].seconds < list[best].seconds)
            best = i;
    double blocked = list[0].seconds, plain = list[1].seconds;
    printf("%zu x %zu doubles\n", n, n);
    printf("plain                      %8.2f ms\n", 1e3 * plain);
    const char *origin = m.measured > 0 ? "of the profile " : "by the defaults";
    printf("block %4zu %s  %8.2f ms, %.2f times as fast\n", block, origin, 1e3 * blocked, plain / blocked);
    printf("block %4zu, best of search  %8.2f ms; the block %s takes %.1f%% more\n", list[best].block,
           1e3 * list[best].seconds, m.measured > 0 ? "of the profile" : "by the defaults",
           100 * (blocked / list[best].seconds - 1));
    free(from);
    free(to);
    return 0;
}
