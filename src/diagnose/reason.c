/* The verdict in plain words: what was seen, and what the paper's recipe (3.4) says to do about it. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "diagnose/diagnose_constants.h"
#include "diagnose/reading.h"

static double percent(double logarithm) {
    return 100 * (exp(logarithm) - 1);
}

static void tell_none(const bj_diagnose_request *request, const bj_reading *reading, char *text, size_t room) {
    snprintf(
        text, room,
        "with all %zu cpus of the chip at work a copy takes %.1f%% longer than alone, less than the 5%% that count: "
        "nothing here is worth an optimisation for many cores",
        request->chip->count, fmax(percent(reading->closure.loss + reading->closure.other), 0));
}

static void tell_cache(const bj_reading *reading, const bj_diagnosis *d, char *text, size_t room) {
    char bytes[24];
    bj_base_format_bytes(d->own_cache_bytes, bytes, sizeof bytes);
    snprintf(text, room,
             "walks that take as much of the shared cache as the other copies do (%s) slow it down by %.0f%%; at full "
             "density it loses %.0f%%. Use less of the cache at a time: smaller blocks, fewer temporary arrays, data "
             "used serially",
             bytes, percent(reading->closure.parts[BJ_RESOURCE_CACHE]), percent(reading->closure.loss));
}

/* The last rounds may not tell what exploring found. */
static const char *tell_demand(const bj_diagnosis *d, char *text, size_t room) {
    if (isfinite(d->demand_gbs))
        snprintf(text, room, "alone on the chip it draws %.3g GB/s", d->demand_gbs);
    else
        snprintf(text, room, "what it draws alone on the chip was not seen in all rounds");
    return text;
}

static void tell_bandwidth(const bj_reading *reading, const bj_diagnosis *d, char *text, size_t room) {
    char demand[80];
    snprintf(text, room,
             "%s, and its share of all there is would be %.3g: lines at that rate on "
             "the other cpus slow it down by %.0f%%; at full density it loses %.0f%%. Reuse data while it is in a "
             "cache (interchange or fuse loops), compute again rather than store",
             tell_demand(d, demand, sizeof demand), d->share_gbs,
             percent(reading->closure.parts[BJ_RESOURCE_BANDWIDTH]), percent(reading->closure.loss));
}

static void tell_rows(const bj_reading *reading, const bj_diagnosis *d, char *text, size_t room) {
    char demand[80];
    snprintf(text, room,
             "lines at its own rate hurt it %.0f%% more when they are scattered over many DRAM rows (%s), and its "
             "copies hurt others that way; at full density it loses %.0f%%. Go through fewer arrays at a time: split "
             "loops so that each streams one array (microfission; the probe streams says how many are of use)",
             percent(reading->closure.parts[BJ_RESOURCE_ROWS]), tell_demand(d, demand, sizeof demand),
             percent(reading->closure.loss));
}

static void tell_other(const bj_reading *reading, char *text, size_t room) {
    snprintf(
        text, room,
        "cpus that only compute in registers slow it down by %.0f%% already: siblings of a core, a lower clock when "
        "many cores work, or others on this host; not cache, bandwidth or DRAM rows",
        percent(reading->closure.other));
}

static void tell_undetermined(const bj_reading *reading, bool is_past, char *text, size_t room) {
    const bj_diagnose_closure *c = &reading->closure;
    if (reading->rivals) {
        snprintf(text, room,
                 "bandwidth and DRAM rows look alike to the reference programs here (condition %.3g), and the answer "
                 "depends on which it is; it loses %.0f%% at full density",
                 reading->condition, percent(c->loss));
        return;
    }
    snprintf(
        text, room,
        "it loses %.0f%% at full density%s; cache accounts for %.0f%%, bandwidth for %.0f%%, DRAM rows for %.0f%%, "
        "and %.0f%% %s: no resource leads the others and what is unexplained by 5%%",
        percent(c->loss), is_past ? " and presses harder on the cache than any antagonist" : "",
        percent(c->parts[BJ_RESOURCE_CACHE]), percent(c->parts[BJ_RESOURCE_BANDWIDTH]),
        percent(c->parts[BJ_RESOURCE_ROWS]), percent(fabs(c->residual)),
        c->residual < 0 ? "were predicted that did not come" : "remain");
}

void bj_diagnose_tell_reason(const bj_diagnose_request *request, const bj_reading *reading, bj_diagnosis *diagnosis) {
    char *text = diagnosis->reason;
    size_t room = sizeof diagnosis->reason;
    switch (reading->verdict) {
    case BJ_VERDICT_NONE:
        tell_none(request, reading, text, room);
        break;
    case BJ_VERDICT_CACHE:
        tell_cache(reading, diagnosis, text, room);
        break;
    case BJ_VERDICT_BANDWIDTH:
        tell_bandwidth(reading, diagnosis, text, room);
        break;
    case BJ_VERDICT_ROWS:
        tell_rows(reading, diagnosis, text, room);
        break;
    case BJ_VERDICT_OTHER:
        tell_other(reading, text, room);
        break;
    default:
        tell_undetermined(reading, diagnosis->walk_is_past, text, room);
        break;
    }
}
