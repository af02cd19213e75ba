/* What messages cost: the text of `comm.layers`, and behind a line of "----" that of `comm.ranks`, as a profile of
 * anybody has them: read, estimated from, described, compared, and told a program as advice. */
#include <math.h>

#include "fuzz.h"
#include "profile/comm_advice.h"
#include "profile/comm_layers.h"
#include "profile/profile.h"

static bool accept(const bj_answer *answer) {
    return bj_data_has_value(answer);
}

static void check_layers(const char *json) {
    static const double sizes[] = {0, 1, 1024, 1e6, 1e12}, at_once[] = {1, 2, 7, 1e6};
    bj_comm_layers layers;
    bj_comm_comparison comparison;
    bj_error error = {""};
    char text[400];
    bj_status status = bj_profile_read_comm_layers(json, &layers, &error);
    bool described = bj_profile_describe_layers(json, text, sizeof text);
    require(described == (status == BJ_OK), "what is read can be described");
    if (status != BJ_OK) {
        require(status == BJ_ERR_INPUT && error.text[0] != '\0', "layers or a reason");
        return;
    }
    require(layers.count >= 1 && layers.count <= BJ_COMM_LAYERS_MOST, "a number of layers");
    for (size_t i = 0; i < layers.count; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0] * 4; k++) {
            bj_comm_estimate estimate = bj_profile_estimate_in_layer(&layers.items[i], sizes[k / 4], at_once[k % 4]);
            require(!(estimate.us < 0), "no time is below zero");
        }
    require(bj_profile_compare_comm_layers(json, json, &comparison, &error) == BJ_OK && comparison.same_groups,
            "layers have their own groups");
    bj_profile_free_comm_layers(&layers);
}

static void add_answer(bj_profile *profile, const char *key, const char *json) {
    bj_answer *answer = NULL;
    bj_error error = {""};
    require(bj_data_put_answer(&profile->answers, key, "", &answer, &error) == BJ_OK, "an answer is filed");
    answer->status = BJ_ANSWER_OK;
    answer->confidence = BJ_CONFIDENCE_HIGH;
    answer->structured = strdup(json);
    require(answer->structured != NULL, "memory for an answer");
}

static void advise(const char *layers, const char *ranks) {
    bj_profile profile;
    bj_strings advice = {0};
    bj_error error = {""};
    bj_profile_init(&profile);
    add_answer(&profile, "comm.layers", layers);
    add_answer(&profile, "comm.ranks", ranks);
    bj_status status = bj_profile_advise(&profile, accept, &advice, &error);
    require(status == BJ_OK || (status == BJ_ERR_INPUT && error.text[0] != '\0'), "advice or a reason");
    bj_strings_free(&advice);
    bj_profile_free(&profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char mark[] = "\n----\n";
    bj_rank_places places;
    bj_error error = {""};
    char *text = malloc(size + 1);
    require(text != NULL, "memory for a text");
    memcpy(text, data, size);
    text[size] = '\0';
    char *between = strstr(text, mark), none[] = "";
    char *ranks = between != NULL ? between + sizeof mark - 1 : none;
    if (between != NULL)
        *between = '\0';
    check_layers(text);
    bj_status status = bj_profile_read_comm_ranks(ranks, &places, &error);
    if (status == BJ_OK) {
        require(places.host_count <= places.count, "no more hosts than ranks");
        bj_profile_free_comm_ranks(&places);
    }
    require(status == BJ_OK || (status == BJ_ERR_INPUT && error.text[0] != '\0'), "ranks or a reason");
    advise(text, ranks);
    free(text);
    return 0;
}
