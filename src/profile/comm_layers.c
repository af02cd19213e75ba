#include "profile/comm_layers.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

#include "base/json_read.h"

/* Of a list of [x, y, …], x ascending: y at x by straight lines; NaN: it is no such list. */
static double interpolate(const json_t *points, double x) {
    size_t count = json_array_size(points);
    double from_x = NAN, from_y = NAN, to_x = NAN, to_y = NAN;
    for (size_t i = 0; i < count; i++) {
        const json_t *point = json_array_get(points, i);
        double at = json_number_value(json_array_get(point, 0)), y = json_number_value(json_array_get(point, 1));
        if (!json_is_number(json_array_get(point, 0)) || !json_is_number(json_array_get(point, 1)) || at <= to_x)
            return NAN;
        from_x = to_x;
        from_y = to_y;
        to_x = at;
        to_y = y;
        if (at >= x && i > 0)
            break;
    }
    if (isnan(from_x))
        return to_y;
    return from_y + (to_y - from_y) * (x - from_x) / (to_x - from_x);
}

bj_status bj_profile_estimate_message(const char *json, size_t layer, double bytes, double at_once,
                                      bj_comm_estimate *estimate, bj_error *error) {
    json_t *layers = bj_json_load_value(json);
    const json_t *one = json_array_get(layers, layer), *scaling = json_object_get(one, "scaling");
    double us = interpolate(json_object_get(one, "curve"), bytes);
    double factor = at_once > 1 && json_array_size(scaling) > 0 ? interpolate(scaling, at_once) : 1;
    double fit = json_number_value(json_object_get(one, "error"));
    double check = json_number_value(json_object_get(json_object_get(one, "check"), "difference"));
    bool is_there = one != NULL;
    *estimate = (bj_comm_estimate){us * factor, fmax(fit, check)};
    json_decref(layers);
    if (!is_there)
        return bj_base_set_error(error, BJ_ERR_INPUT, "comm.layers has no layer %zu", layer);
    if (!(estimate->us > 0))
        return bj_base_set_error(error, BJ_ERR_INPUT, "layer %zu of comm.layers has no times by size", layer);
    return BJ_OK;
}

bool bj_profile_describe_layers(const char *json, char *text, size_t room) {
    json_t *layers = bj_json_load_value(json);
    size_t used = 0, count = json_array_size(layers);
    for (size_t i = 0; i < count && used < room; i++) {
        const json_t *layer = json_array_get(layers, i);
        const char *name = json_string_value(json_object_get(layer, "name"));
        used +=
            (size_t)snprintf(text + used, room - used, "%s%.20s %.3g us", i > 0 ? ", " : "",
                             name != NULL ? name : "layer", json_number_value(json_object_get(layer, "latency_us")));
    }
    json_decref(layers);
    return count > 0;
}
