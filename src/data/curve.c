#include "data/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"

static void free_curve(bj_curve *curve) {
    for (size_t r = 0; r < curve->round_count; r++)
        free(curve->rounds[r]);
    free(curve->rounds);
    free(curve->x);
    free(curve->spells);
}

void bj_data_free_curves(bj_curves *curves) {
    for (size_t i = 0; i < curves->count; i++)
        free_curve(&curves->items[i]);
    free(curves->items);
    *curves = (bj_curves){0};
}

const bj_curve *bj_data_find_curve(const bj_curves *curves, const char *id) {
    for (size_t i = 0; i < curves->count; i++)
        if (strcmp(curves->items[i].id, id) == 0)
            return &curves->items[i];
    return NULL;
}

bj_status bj_data_add_curve(bj_curves *curves, const char *id, const char *probe, bj_curve **added, bj_error *error) {
    bj_curve curve = {0};
    if (strlen(id) >= sizeof curve.id || strlen(probe) >= sizeof curve.probe)
        return bj_base_set_error(error, BJ_ERR_FAILED, "curve '%s' of probe '%s': name too long", id, probe);
    if (bj_data_find_curve(curves, id) != NULL)
        return bj_base_set_error(error, BJ_ERR_FAILED, "curve '%s' is there already", id);
    strcpy(curve.id, id);
    strcpy(curve.probe, probe);
    if (curves->count == curves->room) {
        size_t room = curves->room == 0 ? 8 : curves->room * 2;
        bj_curve *items = realloc(curves->items, room * sizeof *items);
        if (items == NULL)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu curves", room);
        curves->items = items;
        curves->room = room;
    }
    curves->items[curves->count] = curve;
    *added = &curves->items[curves->count++];
    return BJ_OK;
}

static void set_name(char *field, size_t room, const char *name) {
    size_t length = strlen(name);
    if (length >= room)
        length = room - 1;
    memcpy(field, name, length);
    field[length] = '\0';
}

void bj_data_name_axes(bj_curve *curve, const char *x_name, const char *x_unit, const char *y_name,
                       const char *y_unit) {
    set_name(curve->x_name, sizeof curve->x_name, x_name);
    set_name(curve->x_unit, sizeof curve->x_unit, x_unit);
    set_name(curve->y_name, sizeof curve->y_name, y_name);
    set_name(curve->y_unit, sizeof curve->y_unit, y_unit);
}

static const bj_attribute *find_attribute(const bj_curve *curve, const char *name) {
    for (size_t i = 0; i < curve->attribute_count; i++)
        if (strcmp(curve->attributes[i].name, name) == 0)
            return &curve->attributes[i];
    return NULL;
}

static bj_status set_attribute(bj_curve *curve, const char *name, const char *text, double number, bj_error *error) {
    bj_attribute *attribute = (bj_attribute *)find_attribute(curve, name);
    bool fits = name[0] != '\0' && strlen(name) < sizeof attribute->name && strlen(text) < sizeof attribute->text;
    if (!fits || !isfinite(number) || (attribute == NULL && curve->attribute_count == BJ_ATTRIBUTES_MAX))
        return bj_base_set_error(error, BJ_ERR_FAILED, "curve %s: no room for the attribute '%s' = '%s' %g", curve->id,
                                 name, text, number);
    if (attribute == NULL)
        attribute = &curve->attributes[curve->attribute_count++];
    set_name(attribute->name, sizeof attribute->name, name);
    set_name(attribute->text, sizeof attribute->text, text);
    attribute->number = number;
    return BJ_OK;
}

bj_status bj_data_set_attribute_number(bj_curve *curve, const char *name, double number, bj_error *error) {
    return set_attribute(curve, name, "", number, error);
}

bj_status bj_data_set_attribute_text(bj_curve *curve, const char *name, const char *text, bj_error *error) {
    return set_attribute(curve, name, text, 0, error);
}

bool bj_data_get_attribute_number(const bj_curve *curve, const char *name, double *number) {
    const bj_attribute *attribute = find_attribute(curve, name);
    if (attribute == NULL || attribute->text[0] != '\0')
        return false;
    *number = attribute->number;
    return true;
}

bool bj_data_has_attribute_text(const bj_curve *curve, const char *name, const char *text) {
    const bj_attribute *attribute = find_attribute(curve, name);
    return attribute != NULL && strcmp(attribute->text, text) == 0;
}

/* Arrays always have the next power of two as room, so that growing one by one stays cheap without a field for it. */
static size_t room_for(size_t count) {
    size_t room = 8;
    while (room < count)
        room *= 2;
    return room;
}

static bj_status refuse_memory(const bj_curve *curve, bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for curve %s", curve->id);
}

static bj_status check_cells(const bj_curve *curve, size_t x_count, size_t round_count, bj_error *error) {
    if (x_count != 0 && round_count > BJ_CURVE_MAX_CELLS / x_count)
        return bj_base_set_error(error, BJ_ERR_INPUT,
                                 "curve %s: %zu rounds of %zu points are more than %zu values; the number of samples a "
                                 "point is too uneven",
                                 curve->id, round_count, x_count, BJ_CURVE_MAX_CELLS);
    return BJ_OK;
}

/* First index whose x is not below. */
static size_t find_index(const bj_curve *curve, double x) {
    size_t low = 0, high = curve->x_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (curve->x[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bj_status insert_x(bj_curve *curve, size_t index, double x, bj_error *error) {
    size_t count = curve->x_count;
    BJ_TRY(check_cells(curve, count + 1, curve->round_count, error));
    if (count == 0 || room_for(count + 1) != room_for(count)) {
        /* All arrays grow before any of them changes: on failure the curve is as it was. */
        size_t bytes = room_for(count + 1) * sizeof(double);
        double *grown = realloc(curve->x, bytes);
        if (grown == NULL)
            return refuse_memory(curve, error);
        curve->x = grown;
        for (size_t r = 0; r < curve->round_count; r++) {
            grown = realloc(curve->rounds[r], bytes);
            if (grown == NULL)
                return refuse_memory(curve, error);
            curve->rounds[r] = grown;
        }
    }
    size_t after = (count - index) * sizeof(double);
    memmove(&curve->x[index + 1], &curve->x[index], after);
    curve->x[index] = x;
    for (size_t r = 0; r < curve->round_count; r++) {
        memmove(&curve->rounds[r][index + 1], &curve->rounds[r][index], after);
        curve->rounds[r][index] = NAN;
    }
    curve->x_count = count + 1;
    return BJ_OK;
}

static bj_status append_round(bj_curve *curve, bj_error *error) {
    BJ_TRY(check_cells(curve, curve->x_count, curve->round_count + 1, error));
    if (curve->round_count == 0 || room_for(curve->round_count + 1) != room_for(curve->round_count)) {
        double **rounds = realloc(curve->rounds, room_for(curve->round_count + 1) * sizeof *rounds);
        if (rounds == NULL)
            return refuse_memory(curve, error);
        curve->rounds = rounds;
    }
    double *row = malloc(room_for(curve->x_count) * sizeof *row);
    if (row == NULL)
        return refuse_memory(curve, error);
    for (size_t i = 0; i < curve->x_count; i++)
        row[i] = NAN;
    curve->rounds[curve->round_count++] = row;
    return BJ_OK;
}

bj_status bj_data_make_grid(bj_curve *curve, size_t x_count, size_t round_count, bj_error *error) {
    BJ_TRY(check_cells(curve, x_count, round_count, error));
    curve->x = calloc(room_for(x_count), sizeof *curve->x);
    if (curve->x == NULL)
        return refuse_memory(curve, error);
    curve->x_count = x_count;
    while (curve->round_count < round_count) {
        BJ_TRY(append_round(curve, error));
    }
    return BJ_OK;
}

static bj_status check_sample(const bj_curve *curve, double x, double y, bj_error *error) {
    if (isfinite(x) && isfinite(y))
        return BJ_OK;
    return bj_base_set_error(error, BJ_ERR_FAILED, "curve %s: sample (%g, %g) is not finite", curve->id, x, y);
}

bj_status bj_data_record_sample(bj_curve *curve, double x, size_t round, double y, bj_error *error) {
    BJ_TRY(check_sample(curve, x, y, error));
    size_t index = find_index(curve, x);
    if (index == curve->x_count || curve->x[index] != x) {
        BJ_TRY(insert_x(curve, index, x, error));
    }
    while (round >= curve->round_count) {
        BJ_TRY(append_round(curve, error));
    }
    curve->rounds[round][index] = bj_data_round_number(y, BJ_SAMPLE_DIGITS);
    return BJ_OK;
}

typedef struct {
    double x, y;
    size_t row;
} sample;

/* By x, then in the order given: qsort alone would mix up the repetitions. */
static int compare_samples(const void *a, const void *b) {
    const sample *left = a, *right = b;
    if (left->x != right->x)
        return left->x < right->x ? -1 : 1;
    return left->row < right->row ? -1 : left->row > right->row;
}

/* Distinct x, and how often the most frequent one occurs. */
static void count_samples(const sample *samples, size_t count, size_t *distinct, size_t *repeats) {
    size_t run = 0;
    *distinct = *repeats = 0;
    for (size_t i = 0; i < count; i++) {
        run = i > 0 && samples[i].x == samples[i - 1].x ? run + 1 : 1;
        *distinct += run == 1;
        if (run > *repeats)
            *repeats = run;
    }
}

static bj_status fill_curve(bj_curve *curve, const sample *samples, size_t count, bj_error *error) {
    size_t distinct, repeats;
    count_samples(samples, count, &distinct, &repeats);
    BJ_TRY(bj_data_make_grid(curve, distinct, repeats, error));
    size_t index = 0, round = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && samples[i].x == samples[i - 1].x) {
            round++;
        } else {
            index += i > 0;
            round = 0;
            curve->x[index] = samples[i].x;
        }
        curve->rounds[round][index] = bj_data_round_number(samples[i].y, BJ_SAMPLE_DIGITS);
    }
    return BJ_OK;
}

bj_status bj_data_record_table(bj_curve *curve, const double *x, const double *y, size_t count, bj_error *error) {
    if (curve->x_count != 0 || curve->round_count != 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "curve %s has samples already", curve->id);
    if (count == 0)
        return BJ_OK;
    sample *samples = malloc(count * sizeof *samples);
    if (samples == NULL)
        return refuse_memory(curve, error);
    bj_status status = BJ_OK;
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        status = check_sample(curve, x[i], y[i], error);
        samples[i] = (sample){x[i], y[i], i};
    }
    if (status == BJ_OK) {
        qsort(samples, count, sizeof *samples, compare_samples);
        status = fill_curve(curve, samples, count, error);
    }
    free(samples);
    return status;
}

unsigned bj_data_find_spell(const bj_curve *curve, size_t round) {
    return round < curve->spell_count ? curve->spells[round] : 0;
}

bj_status bj_data_mark_spell(bj_curve *curve, size_t first, unsigned spell, bj_error *error) {
    if (first >= curve->round_count)
        return BJ_OK;
    unsigned *spells = realloc(curve->spells, curve->round_count * sizeof *spells);
    if (spells == NULL)
        return refuse_memory(curve, error);
    curve->spells = spells;
    for (size_t r = curve->spell_count; r < first; r++)
        spells[r] = 0;
    for (size_t r = first; r < curve->round_count; r++)
        spells[r] = spell;
    curve->spell_count = curve->round_count;
    return BJ_OK;
}

void bj_data_drop_curves(bj_curves *curves, const char *probe) {
    size_t kept = 0;
    for (size_t i = 0; i < curves->count; i++) {
        if (strcmp(curves->items[i].probe, probe) == 0)
            free_curve(&curves->items[i]);
        else
            curves->items[kept++] = curves->items[i];
    }
    curves->count = kept;
}

static bj_status copy_samples(const bj_curve *from, bj_curve *to, bj_error *error) {
    bj_status status = bj_data_make_grid(to, from->x_count, from->round_count, error);
    if (status == BJ_OK && from->spell_count > 0)
        status = bj_data_mark_spell(to, 0, 0, error);
    if (status != BJ_OK)
        return status;
    for (size_t r = 0; r < to->spell_count; r++)
        to->spells[r] = bj_data_find_spell(from, r);
    if (from->x_count == 0)
        return BJ_OK;
    memcpy(to->x, from->x, from->x_count * sizeof *to->x);
    for (size_t r = 0; r < from->round_count; r++)
        memcpy(to->rounds[r], from->rounds[r], from->x_count * sizeof **to->rounds);
    return BJ_OK;
}

bj_status bj_data_copy_curves(const bj_curves *from, const char *probe, bj_curves *to, bj_error *error) {
    for (size_t i = 0; i < from->count; i++) {
        const bj_curve *curve = &from->items[i];
        if (strcmp(curve->probe, probe) != 0)
            continue;
        bj_curve *copy;
        BJ_TRY(bj_data_add_curve(to, curve->id, curve->probe, &copy, error));
        bj_data_name_axes(copy, curve->x_name, curve->x_unit, curve->y_name, curve->y_unit);
        memcpy(copy->attributes, curve->attributes, sizeof copy->attributes);
        copy->attribute_count = curve->attribute_count;
        BJ_TRY(copy_samples(curve, copy, error));
    }
    return BJ_OK;
}
