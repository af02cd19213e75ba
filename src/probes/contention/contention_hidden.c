#include "probes/contention/contention_hidden.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "probes/contention/contention_constants.h"

/* Draws that two parts, later two groups, have in common and that tell anything. */
typedef struct {
    double common, apart, first_faster;
} relation;

typedef struct {
    const bj_contention_samples *read;
    bj_cpu_run branch;
    const bj_cpu_run *parts;
    size_t count;
    double gap;
    relation *relations;   /* count by count; first_faster: the row's part */
    double *rates, *alone; /* by part: of the draw at hand, and alone; a part's mean */
    double *sums, *most;   /* by group: of the draw at hand, and the most that it gave when it was full */
    bool *full;
    bj_contention_hidden *hidden;
} search;

static relation *between(const search *s, size_t a, size_t b) {
    return &s->relations[a * s->count + b];
}

/* count: of none; a file may have any number where a cpu's belongs. */
static size_t find_part(const search *s, double cpu) {
    if (!(cpu >= 0 && cpu <= INT_MAX))
        return s->count;
    size_t place = bj_kit_find_cpu(&s->read->all.tree, (int)cpu), part = 0;
    while (part < s->count && (place < s->parts[part].first || place >= s->parts[part].first + s->parts[part].count))
        part++;
    return part;
}

/* A part is drawn whole. NaN: it was not. */
static void read_rates(search *s, const bj_curve *curve, size_t round) {
    for (size_t p = 0; p < s->count; p++)
        s->rates[p] = NAN;
    for (size_t i = 0; i < curve->x_count; i++) {
        double gbs = curve->rounds[round][i];
        size_t part = isnan(gbs) ? s->count : find_part(s, curve->x[i]);
        if (part < s->count)
            s->rates[part] = (isnan(s->rates[part]) ? 0 : s->rates[part]) + gbs / (double)s->parts[part].count;
    }
}

static void note_draw(search *s) {
    double least = INFINITY, most = 0;
    for (size_t p = 0; p < s->count; p++) {
        least = fmin(least, s->rates[p]);
        most = fmax(most, s->rates[p]);
    }
    if (!(log(most / least) > s->gap)) /* nothing was full, or all of it */
        return;
    for (size_t a = 0; a < s->count; a++)
        for (size_t b = 0; b < s->count; b++) {
            double distance = log(s->rates[a] / s->rates[b]);
            if (a == b || isnan(distance))
                continue;
            relation *of = between(s, a, b);
            of->common++;
            of->apart += fabs(distance) > s->gap;
            of->first_faster += distance > s->gap;
        }
}

/* What each group gave where it was full, which shows in what its cpus get. */
static void note_totals(search *s) {
    const size_t *group_of = s->hidden->group_of;
    memset(s->sums, 0, s->count * sizeof *s->sums);
    memset(s->full, 0, s->count * sizeof *s->full);
    for (size_t p = 0; p < s->count; p++) {
        if (isnan(s->rates[p]))
            continue;
        s->sums[group_of[p]] += s->rates[p] * (double)s->parts[p].count;
        s->full[group_of[p]] = s->full[group_of[p]] || s->rates[p] < (1 - s->gap) * s->alone[p];
    }
    for (size_t g = 0; g < s->count; g++)
        if (s->full[g])
            s->most[g] = fmax(s->most[g], s->sums[g]);
}

static void for_each_draw(search *s, const size_t *rounds, size_t round_count, void (*note)(search *)) {
    for (size_t d = 0; d < s->read->draw_count; d++) {
        const bj_contention_point *draw = &s->read->draws[d];
        const bj_curve *curve = draw->curve;
        if (draw->branch.first != s->branch.first || draw->branch.count != s->branch.count)
            continue;
        for (size_t r = 0; r < (rounds != NULL ? round_count : curve->round_count); r++) {
            size_t round = rounds != NULL ? rounds[r] : r;
            if (round >= curve->round_count)
                continue;
            read_rates(s, curve, round);
            note(s);
        }
    }
}

/* Two groups become one: `gone` is nowhere any more. */
static void merge(search *s, size_t kept, size_t gone) {
    for (size_t other = 0; other < s->count; other++) {
        const relation *from = between(s, gone, other), *back = between(s, other, gone);
        relation *to = between(s, kept, other), *to_back = between(s, other, kept);
        *to = (relation){to->common + from->common, to->apart + from->apart, to->first_faster + from->first_faster};
        *to_back = (relation){to->common, to->apart, to_back->first_faster + back->first_faster};
    }
    for (size_t p = 0; p < s->count; p++)
        if (s->hidden->group_of[p] == gone)
            s->hidden->group_of[p] = kept;
}

/* The two that differ least often, of these the two that were most often together; false: there are none. */
static bool find_nearest(const search *s, size_t *kept, size_t *gone) {
    double least = INFINITY, most = 0;
    for (size_t a = 0; a < s->count; a++)
        for (size_t b = a + 1; b < s->count; b++) {
            const relation *of = between(s, a, b);
            if (s->hidden->group_of[a] != a || s->hidden->group_of[b] != b || of->common < COMMON_LEAST ||
                of->apart > MOST_ASTRAY * of->common)
                continue;
            double share = of->apart / of->common;
            if (share < least || (share == least && of->common > most)) {
                least = share;
                most = of->common;
                *kept = a;
                *gone = b;
            }
        }
    return !isinf(least);
}

/* Whether each of two is sometimes the slower one. */
static bool take_turns(const search *s, size_t a, size_t b) {
    const relation *of = between(s, a, b);
    return of->first_faster >= fmax(TURNS_LEAST * of->apart, 1) &&
           of->apart - of->first_faster >= fmax(TURNS_LEAST * of->apart, 1);
}

/* Groups of two parts and more that take turns in being slow. Where nobody takes turns with anybody nothing is hidden:
 * some are just farther away. */
static void judge(search *s) {
    bj_contention_hidden *hidden = s->hidden;
    bool all_turn = true, any_turns = false;
    size_t groups = 0;
    for (size_t a = 0; a < s->count; a++) {
        size_t size = 0;
        for (size_t p = 0; p < s->count; p++)
            size += hidden->group_of[p] == a;
        groups += size > 0;
        all_turn = all_turn && size != 1;
        for (size_t b = a + 1; size > 0 && b < s->count; b++) {
            bool turns = hidden->group_of[b] == b && take_turns(s, a, b);
            all_turn = all_turn && (turns || hidden->group_of[b] != b);
            any_turns = any_turns || turns;
        }
    }
    hidden->count = groups > 1 && all_turn ? groups : 0;
    hidden->contradicts = groups > 1 && any_turns && !all_turn;
}

static void add_up(search *s, const size_t *rounds, size_t round_count) {
    bj_contention_hidden *hidden = s->hidden;
    memset(s->most, 0, s->count * sizeof *s->most);
    for_each_draw(s, rounds, round_count, note_totals);
    for (size_t g = 0; g < s->count; g++) {
        double alone = 0;
        for (size_t p = 0; p < s->count; p++)
            alone += hidden->group_of[p] == g ? s->alone[p] * (double)s->parts[p].count : 0;
        hidden->total_gbs += s->most[g] > 0 ? s->most[g] : alone;
    }
}

static bj_status open_search(search *s, bj_error *error) {
    s->relations = calloc(s->count * s->count, sizeof *s->relations);
    s->rates = calloc(4 * s->count, sizeof *s->rates);
    s->full = calloc(s->count, sizeof *s->full);
    if (s->relations == NULL || s->rates == NULL || s->full == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu parts", s->count);
    s->alone = s->rates + s->count;
    s->sums = s->alone + s->count;
    s->most = s->sums + s->count;
    for (size_t p = 0; p < s->count; p++)
        for (size_t i = 0; i < s->parts[p].count; i++)
            s->alone[p] += s->read->alone_gbs[s->read->all.index_at[s->parts[p].first + i]] / (double)s->parts[p].count;
    return BJ_OK;
}

bj_status bj_contention_find_hidden(const bj_contention_samples *read, bj_cpu_run branch, const bj_cpu_run *parts,
                                    size_t part_count, const size_t *rounds, size_t round_count,
                                    bj_contention_hidden *hidden, bj_error *error) {
    search s = {.read = read,
                .branch = branch,
                .parts = parts,
                .count = part_count,
                .gap = fmax(LEAST_GAP, NOISE_SIGMAS * read->sample_sigma),
                .hidden = hidden};
    size_t kept = 0, gone = 0;
    hidden->count = 0;
    hidden->total_gbs = 0;
    hidden->contradicts = false;
    for (size_t p = 0; p < part_count; p++)
        hidden->group_of[p] = p;
    if (part_count < BJ_CONTENTION_DRAWN_LEAST || part_count > HIDDEN_PARTS_MOST)
        return BJ_OK;
    bj_status status = open_search(&s, error);
    if (status == BJ_OK) {
        for_each_draw(&s, rounds, round_count, note_draw);
        while (find_nearest(&s, &kept, &gone))
            merge(&s, kept, gone);
        judge(&s);
        if (hidden->count > 0)
            add_up(&s, rounds, round_count);
    }
    free(s.relations);
    free(s.rates);
    free(s.full);
    return status;
}
