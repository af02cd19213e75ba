#include "probes/kit/spells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"

/* One time in twenty rounds that are all alike are taken for different, which widens an interval by what chance does;
 * six rounds and three late ones that are wholly apart have 2 in 84. A fifth more or less is the same for both. */
#define CHANCE 0.05
/* Enough to tell one in twenty. */
#define SHUFFLES 999u
#define RANDOM_PURPOSE 0x7370656cu

/* Which spell each round of an estimate belongs to. */
typedef struct {
    size_t rounds, count; /* count of spells; fewer than two: there is nothing to compare */
    size_t *of_round;     /* its spell, from 0, ascending */
    size_t *first;        /* round of each spell, and one past the last */
    size_t *all;          /* 0, 1, 2 and so on: rounds as a statistic takes them */
} spell_list;

static void free_spells(spell_list *spells) {
    free(spells->all);
    free(spells->of_round);
    free(spells->first);
    *spells = (spell_list){0};
}

/* `round_of` has the curve's round of each of them (NULL: the first ones). */
static bj_status read_spells(const bj_curve *curve, const size_t *round_of, size_t rounds, spell_list *spells,
                             bj_error *error) {
    *spells = (spell_list){.rounds = rounds,
                           .all = malloc((rounds + 1) * sizeof *spells->all),
                           .of_round = malloc((rounds + 1) * sizeof *spells->of_round),
                           .first = malloc((rounds + 1) * sizeof *spells->first)};
    if (spells->all == NULL || spells->of_round == NULL || spells->first == NULL) {
        free_spells(spells);
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the spells of %zu rounds", rounds);
    }
    unsigned before = 0;
    for (size_t i = 0; i < rounds; i++) {
        unsigned spell = bj_data_find_spell(curve, round_of != NULL ? round_of[i] : i);
        if (i == 0 || spell != before)
            spells->first[spells->count++] = i;
        spells->all[i] = i;
        spells->of_round[i] = spells->count - 1;
        before = spell;
    }
    spells->first[spells->count] = rounds;
    return BJ_OK;
}

/* The answer of one round. */
typedef struct {
    double value, rank;
    size_t spell;
} ranked_round;

static int compare_values(const void *a, const void *b) {
    const ranked_round *left = a, *right = b;
    return left->value < right->value ? -1 : left->value > right->value;
}

/* From 1, the mean of them where rounds are equal. */
static void rank_rounds(ranked_round *rounds, size_t count) {
    qsort(rounds, count, sizeof *rounds, compare_values);
    for (size_t i = 0, next = 0; i < count; i = next) {
        while (next < count && rounds[next].value == rounds[i].value)
            next++;
        for (size_t k = i; k < next; k++)
            rounds[k].rank = (double)(i + next + 1) / 2;
    }
}

/* The statistic of Kruskal and Wallis, but for what no order of the rounds changes. `sums` has room for two numbers a
 * spell. */
static double sum_up_ranks(const ranked_round *rounds, size_t count, double *sums, size_t spell_count) {
    double *sizes = sums + spell_count, total = 0;
    for (size_t s = 0; s < 2 * spell_count; s++)
        sums[s] = 0;
    for (size_t i = 0; i < count; i++) {
        sums[rounds[i].spell] += rounds[i].rank;
        sizes[rounds[i].spell]++;
    }
    for (size_t s = 0; s < spell_count; s++)
        total += sizes[s] > 0 ? sums[s] * sums[s] / sizes[s] : 0;
    return total;
}

static bool test_ranks(ranked_round *rounds, size_t count, double *sums, size_t spell_count, uint64_t seed) {
    /* Squares by other numbers of rounds may differ in the last digits. */
    double seen = sum_up_ranks(rounds, count, sums, spell_count) * (1 - 1e-12);
    unsigned as_far = 1;
    bj_random random;
    bj_random_seed(&random, bj_random_mix(seed, RANDOM_PURPOSE));
    for (unsigned n = 0; n < SHUFFLES; n++) {
        for (size_t i = count; i > 1; i--) {
            size_t k = (size_t)bj_random_below(&random, i), last = rounds[i - 1].spell;
            rounds[i - 1].spell = rounds[k].spell;
            rounds[k].spell = last;
        }
        as_far += sum_up_ranks(rounds, count, sums, spell_count) >= seen;
    }
    return as_far <= CHANCE * (SHUFFLES + 1);
}

/* Whether the answers of single rounds (NaN: none) differ between spells by more than chance does. */
static bj_status compare_spells(const spell_list *spells, const double *of_round, uint64_t seed, bool *differ,
                                bj_error *error) {
    *differ = false;
    if (spells->count < 2)
        return BJ_OK;
    size_t count = 0;
    ranked_round *rounds = malloc(spells->rounds * sizeof *rounds);
    double *sums = malloc(2 * spells->count * sizeof *sums);
    bj_status status = BJ_OK;
    if (rounds == NULL || sums == NULL) {
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory to compare %zu rounds", spells->rounds);
        goto done;
    }
    for (size_t i = 0; i < spells->rounds; i++)
        if (!isnan(of_round[i]))
            rounds[count++] = (ranked_round){.value = of_round[i], .spell = spells->of_round[i]};
    rank_rounds(rounds, count);
    *differ = count > 0 && test_ranks(rounds, count, sums, spells->count, seed);
done:
    free(rounds);
    free(sums);
    return status;
}

/* Lets an estimate hold what the spells say by themselves (NaN: nothing). */
static void hold_spells(bj_estimate *estimate, const double *of_spell, size_t count, bool whole) {
    size_t have = 0, alike = 0;
    double least = NAN, greatest = NAN;
    for (size_t s = 0; s < count; s++) {
        if (isnan(of_spell[s]))
            continue;
        least = fmin(least, of_spell[s]); /* fmin and fmax pass over NaN */
        greatest = fmax(greatest, of_spell[s]);
        have++;
        alike += whole ? round(of_spell[s]) == round(estimate->value)
                       : fabs(of_spell[s] - estimate->value) <= estimate->tolerance * fabs(estimate->value);
    }
    estimate->interval[0] = fmin(estimate->interval[0], least);
    estimate->interval[1] = fmax(estimate->interval[1], greatest);
    if (alike == have)
        return;
    estimate->of_spells[0] = least;
    estimate->of_spells[1] = greatest;
    estimate->support = fmin(estimate->support, (double)alike / (double)have);
    estimate->unsteady = true;
}

/* What single rounds say (NULL: they are asked here) is compared; where spells differ, so is what they say. */
static bj_status heed(const bj_estimate_request *request, const spell_list *spells, const double *of_round,
                      double *scratch, bj_estimate *estimate, bj_error *error) {
    bool differ;
    double *of_spell = scratch + request->rounds;
    for (size_t r = 0; of_round == NULL && r < request->rounds; r++)
        scratch[r] = request->statistic(request->context, &r, 1);
    BJ_TRY(compare_spells(spells, of_round != NULL ? of_round : scratch, request->seed, &differ, error));
    if (!differ)
        return BJ_OK;
    for (size_t s = 0; s < spells->count; s++)
        of_spell[s] = request->statistic(request->context, spells->all + spells->first[s],
                                         spells->first[s + 1] - spells->first[s]);
    hold_spells(estimate, of_spell, spells->count, request->whole);
    return BJ_OK;
}

bj_status bj_kit_heed_spells(const bj_estimate_request *request, const double *of_round, bj_estimate *estimate,
                             bj_error *error) {
    spell_list spells;
    if (request->curve == NULL || request->curve->spell_count == 0 || isnan(estimate->value))
        return BJ_OK;
    BJ_TRY(read_spells(request->curve, request->round_of, request->rounds, &spells, error));
    double *scratch = malloc((request->rounds + spells.count) * sizeof *scratch);
    bj_status status = BJ_OK;
    if (scratch == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu spells", spells.count);
    if (status == BJ_OK && spells.count > 1) {
        status = heed(request, &spells, of_round, scratch, estimate, error);
        /* What the statistic leaves in its context is of all rounds again. */
        (void)request->statistic(request->context, spells.all, request->rounds);
    }
    free(scratch);
    free_spells(&spells);
    return status;
}

void bj_kit_tell_spells(const bj_estimate *estimate, bj_answer *answer) {
    char text[2][40];
    bool is_bytes = strcmp(answer->unit, "bytes") == 0;
    for (int end = 0; end < 2; end++)
        if (is_bytes)
            bj_base_format_bytes(estimate->of_spells[end], text[end], sizeof text[end]);
        else
            snprintf(text[end], sizeof text[end], "%.4g", estimate->of_spells[end]);
    if (estimate->unsteady)
        bj_kit_call_unstable(answer, "it changed during the run: %s to %s", text[0], text[1]);
}
