#include <math.h>
#include <string.h>

#include "verify/verify_parts.h"

/* As the cache probe names what it found out before its first round. */
#define TOP "top_bytes"
#define LEAST_TOP_BYTES (256 * 1024.0)

/* An empty curve like that one. */
static bj_status add_like(bj_curves *thin, const bj_curve *curve, bj_curve **added, bj_error *error) {
    BJ_TRY(bj_data_add_curve(thin, curve->id, curve->probe, added, error));
    bj_data_name_axes(*added, curve->x_name, curve->x_unit, curve->y_name, curve->y_unit);
    memcpy((*added)->attributes, curve->attributes, sizeof curve->attributes);
    (*added)->attribute_count = curve->attribute_count;
    return BJ_OK;
}

static bj_status add_point(bj_curves *thin, const bj_curve *curve, double x, bj_error *error) {
    bj_curve *found = (bj_curve *)bj_data_find_curve(thin, curve->id);
    if (found == NULL)
        BJ_TRY(add_like(thin, curve, &found, error));
    return bj_data_record_sample(found, x, 0, 1, error); /* its value is not looked at */
}

/* The arena needs to hold the largest walk; one as large as the baseline's would cost more than the walks. */
static bj_status shrink_arena(bj_curves *thin, const char *id, double huge_bytes, bj_error *error) {
    bj_curve *walk = (bj_curve *)bj_data_find_curve(thin, id);
    double top = 0;
    if (walk == NULL || walk->x_count == 0 || !bj_data_get_attribute_number(walk, TOP, &top))
        return BJ_OK;
    double wanted = fmax(walk->x[walk->x_count - 1], LEAST_TOP_BYTES), whole = fmax(huge_bytes, LEAST_TOP_BYTES);
    return bj_data_set_attribute_number(walk, TOP, fmin(top, ceil(wanted / whole) * whole), error);
}

/* The probe takes its buffers from the points of reading, and their last one for memory's. */
static bj_status add_buffers(bj_curves *thin, const bj_profile *lead, bj_error *error) {
    const bj_curve *curve = bj_data_find_curve(&lead->curves, "bandwidth.read");
    for (size_t i = 0; curve != NULL && i < curve->x_count; i++)
        BJ_TRY(add_point(thin, curve, curve->x[i], error));
    return BJ_OK;
}

/* The walk in memory follows the sweep, of which a smallest point is enough, and one of the spread twin, without which
 * the sweep counts as one in haste. Its lines are as many as the baseline's arena had, so that stays as it was. */
static bj_status add_sweep(bj_curves *thin, const bj_profile *lead, bj_error *error) {
    static const char *const ids[] = {"cache.walk", "cache.spread"};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        const bj_curve *curve = bj_data_find_curve(&lead->curves, ids[i]);
        if (curve != NULL && curve->x_count > 0)
            BJ_TRY(add_point(thin, curve, curve->x[0], error));
    }
    return BJ_OK;
}

static bj_status lengthen_crowd(bj_curves *thin, const bj_verify_check *check, bj_error *error) {
    bj_curve *curve = (bj_curve *)bj_data_find_curve(thin, check->curve);
    double operations = 0;
    if (curve == NULL || !bj_data_get_attribute_number(curve, "operations", &operations))
        return BJ_OK;
    return bj_data_set_attribute_number(curve, "operations", floor(operations * check->times_longer), error);
}

bj_status bj_verify_thin_curves(const bj_verification *verification, const bj_profile *lead, size_t huge_bytes,
                                bj_verify_part part, bj_curves *thin, bj_error *error) {
    for (size_t i = 0; i < verification->count; i++) {
        const bj_verify_check *check = &verification->checks[i];
        const bj_curve *curve = bj_data_find_curve(&lead->curves, check->curve);
        if (check->part != part || !bj_verify_is_open(check) || curve == NULL)
            continue;
        BJ_TRY(add_point(thin, curve, check->x > 0 ? check->x : 1, error));
        if (check->times_longer != 1)
            BJ_TRY(lengthen_crowd(thin, check, error));
    }
    if (part == BJ_VERIFY_STREAMS)
        return add_buffers(thin, lead, error);
    if (part == BJ_VERIFY_MEMORY)
        return add_sweep(thin, lead, error);
    return part == BJ_VERIFY_WALKS ? shrink_arena(thin, "cache.walk", (double)huge_bytes, error) : BJ_OK;
}
