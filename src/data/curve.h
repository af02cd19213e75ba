/* Samples: what a probe measured, kept whole so that it can be analysed again.
 *
 * A curve is y against x in rounds. Every round is one fresh mapping and order; a round need not
 * have every x (adaptive probes add points), missing values are NaN here and null in JSON. What was the same for all
 * samples of a curve (its level, the kind of pages) stands in its attributes, never in a name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* A round has a place for every x, so a few points in many rounds among many points in one would take the product
 * of both; more than this is refused. */
#define BJ_CURVE_MAX_CELLS ((size_t)1 << 24)

typedef struct {
    char name[24]; /* "level" */
    char text[24]; /* empty: it is a number */
    double number;
} bj_attribute;

#define BJ_ATTRIBUTES_MAX 8u

/* What became of an operation or a type that a probe asked for: an attribute of its curve, absent where it was
 * measured. */
#define BJ_OUTCOME "outcome"
#define BJ_OUTCOME_UNSUPPORTED "unsupported" /* the machine has none */
#define BJ_OUTCOME_WRONG "wrong"             /* the compiled code returned a wrong result */

typedef struct {
    char id[48];    /* "cache.walk" */
    char probe[24]; /* "cache" */
    char x_name[32], x_unit[16];
    char y_name[32], y_unit[16];
    bj_attribute attributes[BJ_ATTRIBUTES_MAX];
    size_t attribute_count;
    double *x; /* ascending, distinct */
    size_t x_count;
    double **rounds; /* round_count rows of x_count */
    size_t round_count;
    /* Which spell each of the first rounds belongs to, ascending; see bj_data_find_spell(). */
    unsigned *spells;
    size_t spell_count;
} bj_curve;

typedef struct {
    bj_curve *items;
    size_t count, room;
} bj_curves;

void bj_data_free_curves(bj_curves *curves);
/* NULL when there is none of that id. */
const bj_curve *bj_data_find_curve(const bj_curves *curves, const char *id);
/* Adds an empty curve; the pointer lives until the next one is added. */
bj_status bj_data_add_curve(bj_curves *curves, const char *id, const char *probe, bj_curve **added,
                            bj_error *error) BJ_WARN_UNUSED;
void bj_data_name_axes(bj_curve *curve, const char *x_name, const char *x_unit, const char *y_name, const char *y_unit);
/* Sets an attribute, or replaces the one of that name. */
bj_status bj_data_set_attribute_number(bj_curve *curve, const char *name, double number,
                                       bj_error *error) BJ_WARN_UNUSED;
bj_status bj_data_set_attribute_text(bj_curve *curve, const char *name, const char *text,
                                     bj_error *error) BJ_WARN_UNUSED;
/* False: it has no number of that name. */
bool bj_data_get_attribute_number(const bj_curve *curve, const char *name, double *number);
/* Whether it has that text under that name. */
bool bj_data_has_attribute_text(const bj_curve *curve, const char *name, const char *text);
/* Records one value; makes the x and the round where they are not there yet. Both must be finite; y is rounded to
 * BJ_SAMPLE_DIGITS, so that what is analysed now is exactly what the profile keeps. */
bj_status bj_data_record_sample(bj_curve *curve, double x, size_t round, double y, bj_error *error) BJ_WARN_UNUSED;
/* Records many values in any order into an empty curve: the k-th value of an x goes to round k. Takes n log n,
 * where recording them one by one would move the whole curve for each. */
bj_status bj_data_record_table(bj_curve *curve, const double *x, const double *y, size_t count,
                               bj_error *error) BJ_WARN_UNUSED;
/* Makes an empty curve's arrays at once, all values missing; the caller fills in x, ascending. */
bj_status bj_data_make_grid(bj_curve *curve, size_t x_count, size_t round_count, bj_error *error) BJ_WARN_UNUSED;
/* Rounds that were measured one after the other are a spell, numbered from 0; between spells the machine may have
 * changed. All rounds from `first` on become that spell, which is no lower than the last one. */
bj_status bj_data_mark_spell(bj_curve *curve, size_t first, unsigned spell, bj_error *error) BJ_WARN_UNUSED;
/* 0 where nobody said. */
unsigned bj_data_find_spell(const bj_curve *curve, size_t round);
/* Removes all curves of a probe (before it runs again). */
void bj_data_drop_curves(bj_curves *curves, const char *probe);
bj_status bj_data_copy_curves(const bj_curves *from, const char *probe, bj_curves *to, bj_error *error) BJ_WARN_UNUSED;
