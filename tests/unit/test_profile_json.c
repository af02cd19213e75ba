/* The profile as JSON: what is written is read back, and what is not a profile is refused in one line. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/random.h"
#include "profile/profile.h"

static bj_answer *put(bj_profile *profile, const char *key, const char *unit) {
    bj_answer *answer;
    assert_int_equal(bj_data_put_answer(&profile->answers, key, unit, &answer, NULL), BJ_OK);
    strcpy(answer->probe, "cache");
    return answer;
}

static void fill_answers(bj_profile *profile) {
    bj_answer *answer = put(profile, "cache.L1.size_bytes", "bytes");
    answer->value = 32768;
    answer->has_interval = answer->has_p = answer->has_claimed = true;
    answer->interval[0] = 32768;
    answer->interval[1] = 34816;
    answer->p = 0.002;
    answer->claimed = 49152;
    answer->confidence = BJ_CONFIDENCE_HIGH;
    strcpy(answer->method, "levels/2");
    bj_data_cite_curve(answer, "cache.walk");
    answer = put(profile, "cache.L2.associativity", "ways");
    answer->status = BJ_ANSWER_UNDETERMINED;
    strcpy(answer->reason, "no step; \"hashed\"\tindex \\ \x01 caf\xc3\xa9 \xff");
    answer = put(profile, "cache.L3.size_bytes", "bytes");
    answer->status = BJ_ANSWER_UNSTABLE;
    answer->value = 4194304.5;
    strcpy(answer->reason, "moves");
    answer = put(profile, "cache.L1.sharing", "groups");
    answer->structured = strdup("[[0, 1],[2,3] , {\"a\":0.1,\"b\":null,\"c\":true}]");
}

static void fill(bj_profile *profile) {
    bj_profile_init(profile);
    strcpy(profile->created, "2026-11-15T07:00:00Z");
    strcpy(profile->tool.version, "0.1.0");
    strcpy(profile->run.effort, "normal");
    strcpy(profile->run.machine, "native");
    profile->run.seed = 9007199254740991;
    profile->run.memory_limit_bytes = UINT64_MAX; /* "unlimited" */
    profile->run.cpu_quota = 1.5;
    assert_int_equal(bj_strings_add(&profile->run.arguments, "--seed", NULL), BJ_OK);
    strcpy(profile->environment.cpu, "Processor(R) \xae 9000");
    profile->environment.cpus_allowed = malloc(2 * sizeof(int));
    profile->environment.cpus_allowed[0] = 0;
    profile->environment.cpus_allowed[1] = 3;
    profile->environment.cpus_allowed_count = 2;
    profile->environment.virtualised = 1;
    assert_int_equal(bj_strings_add(&profile->environment.warnings, "busy\nmachine", NULL), BJ_OK);
    fill_answers(profile);
    bj_curve *curve;
    assert_int_equal(bj_data_add_curve(&profile->curves, "cache.walk", "cache", &curve, NULL), BJ_OK);
    bj_data_name_axes(curve, "working_set", "bytes", "latency", "ns");
    assert_int_equal(bj_data_set_attribute_text(curve, "pages", "huge", NULL), BJ_OK);
    assert_int_equal(bj_data_set_attribute_number(curve, "level", 2.5, NULL), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, 4096, 0, 1.0 / 3, NULL), BJ_OK);
    assert_int_equal(bj_data_record_sample(curve, 8192.125, 1, 2, NULL), BJ_OK);
    assert_int_equal(bj_data_mark_spell(curve, 1, 3, NULL), BJ_OK);
    bj_probe_record *record;
    assert_int_equal(bj_profile_record_probe(profile, "cache", &record, NULL), BJ_OK);
    record->revision = 2;
    record->seconds = 1.25;
    record->runs = 2;
    record->late_rounds = 6;
    profile->run.repeat = 2;
    profile->run.interrupted = true;
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    bj_profile profile, copy;
    char *first = NULL, *second = NULL;
    size_t length, again;
    bj_error error;
    fill(&profile);
    bj_profile_init(&copy);
    assert_int_equal(bj_profile_to_json(&profile, &first, &length, &error), BJ_OK);
    assert_int_equal(bj_profile_parse("p", first, length, &copy, &error), BJ_OK);
    assert_int_equal(bj_profile_to_json(&copy, &second, &again, &error), BJ_OK);
    assert_string_equal(first, second);

    const bj_answer *answer = bj_data_find_answer(&copy.answers, "cache.L1.size_bytes");
    assert_true(answer->value == 32768 && answer->has_p && answer->p == 0.002 && answer->claimed == 49152);
    assert_int_equal(answer->confidence, BJ_CONFIDENCE_HIGH);
    assert_string_equal(bj_data_find_answer(&copy.answers, "cache.L1.sharing")->structured,
                        "[[0, 1], [2, 3], {\"a\": 0.1, \"b\": null, \"c\": true}]");
    const bj_curve *curve = bj_data_find_curve(&copy.curves, "cache.walk");
    double level = 0;
    assert_true(bj_data_has_attribute_text(curve, "pages", "huge"));
    assert_true(bj_data_get_attribute_number(curve, "level", &level) && level == 2.5);
    assert_string_equal(answer->probe, "cache");
    assert_true(curve->x[1] == 8192.125 && curve->rounds[0][0] == 0.333333333 && isnan(curve->rounds[0][1]));
    assert_true(copy.run.seed == 9007199254740991 && isnan(copy.run.steal) && copy.run.cpu_quota == 1.5);
    assert_int_equal(copy.environment.virtualised, 1);
    assert_int_equal(copy.environment.cpus_allowed[1], 3);
    assert_string_equal(copy.environment.warnings.items[0], "busy\nmachine");
    assert_int_equal(bj_profile_find_probe(&copy, "cache")->revision, 2);
    assert_int_equal(bj_profile_find_probe(&copy, "cache")->runs, 2);
    assert_int_equal(bj_profile_find_probe(&copy, "cache")->late_rounds, 6);
    assert_true(copy.run.interrupted && copy.run.repeat == 2);
    assert_true(bj_data_find_spell(curve, 0) == 0 && bj_data_find_spell(curve, 1) == 3);
    /* Of what is as usual the file says nothing. */
    profile.run.interrupted = false;
    profile.run.repeat = 1;
    free(first);
    assert_int_equal(bj_profile_to_json(&profile, &first, &length, &error), BJ_OK);
    assert_null(strstr(first, "interrupted"));
    assert_null(strstr(first, "\"repeat\""));
    free(first);
    free(second);
    bj_profile_free(&profile);
    bj_profile_free(&copy);
}

static const bj_curve *curve_of(const bj_profile *profile, const char *id) {
    const bj_curve *curve = bj_data_find_curve(&profile->curves, id);
    assert_non_null(curve);
    return curve;
}

/* What version 0.1 kept in names and in samples becomes attributes, and its answers get their probe. */
static void profiles_of_version_0_1_are_upgraded(void **state) {
    (void)state;
    static const char text[] =
        "{\"format\": \"blackjack-profile/1\", \"characteristics\": {"
        "\"op.int32.add.latency_ns\": {\"value\": 1, \"unit\": \"ns\", \"status\": \"ok\"},"
        "\"op.int32.add.latency\": {\"value\": 1, \"unit\": \"int32 adds\", \"status\": \"ok\"},"
        "\"cache.L2.line_bytes\": {\"value\": 64, \"unit\": \"bytes\", \"status\": \"ok\"},"
        "\"cache.L2.read_gbs\": {\"value\": 64, \"unit\": \"GB/s\", \"status\": \"ok\"},"
        "\"my.own\": {\"value\": 1, \"unit\": \"\", \"status\": \"ok\", \"evidence\": [\"live.float\"]}},"
        "\"curves\": {"
        "\"cache.walk\": {\"probe\": \"cache\", \"x\": {\"name\": \"\", \"unit\": \"\", \"values\": []},"
        " \"y\": {\"name\": \"latency_base_pages\", \"unit\": \"ns\", \"rounds\": []}},"
        "\"associativity.L2.s4096.m8\": {\"probe\": \"associativity\", \"x\": {\"name\": \"\", \"unit\": \"\","
        " \"values\": []}, \"y\": {\"name\": \"\", \"unit\": \"ns\", \"rounds\": []}},"
        "\"associativity.twin.s4096.m8\": {\"probe\": \"associativity\", \"x\": {\"name\": \"\", \"unit\": \"\","
        " \"values\": []}, \"y\": {\"name\": \"\", \"unit\": \"ns\", \"rounds\": []}},"
        "\"live.int32\": {\"probe\": \"live\", \"x\": {\"name\": \"\", \"unit\": \"\", \"values\": []},"
        " \"y\": {\"name\": \"time_of_addition\", \"unit\": \"ns\", \"rounds\": []}},"
        "\"live.float\": {\"probe\": \"live\", \"x\": {\"name\": \"\", \"unit\": \"\", \"values\": []},"
        " \"y\": {\"name\": \"time_of_addition\", \"unit\": \"ns\", \"rounds\": []}},"
        "\"live.verdicts\": {\"probe\": \"live\", \"x\": {\"name\": \"type\", \"unit\": \"count\", \"values\": [1, 2]},"
        " \"y\": {\"name\": \"verdict\", \"unit\": \"code\", \"rounds\": [[0, 1]]}}}}";
    bj_profile profile;
    bj_error error;
    double level = 0, sets = 0;
    bj_profile_init(&profile);
    assert_int_equal(bj_profile_parse("p", text, sizeof text - 1, &profile, &error), BJ_OK);
    static const char *const probes[] = {"clock", "op", "line", "bandwidth", "live"};
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(profile.answers.items[i].probe, probes[i]);
    assert_true(bj_data_has_attribute_text(curve_of(&profile, "cache.walk"), "pages", "base"));
    const bj_curve *conflicts = curve_of(&profile, "associativity.L2.s4096.m8");
    assert_true(bj_data_get_attribute_number(conflicts, "level", &level) && level == 2);
    assert_true(bj_data_get_attribute_number(conflicts, "sets", &sets) && sets == 8);
    assert_false(bj_data_get_attribute_number(curve_of(&profile, "associativity.twin.s4096.m8"), "level", &level));
    assert_int_equal(curve_of(&profile, "live.int32")->attribute_count, 0);
    assert_true(bj_data_has_attribute_text(curve_of(&profile, "live.float"), BJ_OUTCOME, BJ_OUTCOME_UNSUPPORTED));
    bj_profile_free(&profile);
}

static void integers_have_no_point_and_missing_is_null(void **state) {
    (void)state;
    bj_profile profile;
    char *text = NULL;
    fill(&profile);
    assert_int_equal(bj_profile_to_json(&profile, &text, NULL, NULL), BJ_OK);
    assert_non_null(strstr(text, "\"value\": 32768, \"unit\": \"bytes\", \"interval\": [32768, 34816]"));
    assert_non_null(strstr(text, "\"value\": null, \"unit\": \"ways\", \"status\": \"undetermined\""));
    assert_non_null(strstr(text, "\"values\": [4096, 8192.125]"));
    assert_non_null(strstr(text, "[0.333333333, null],"));
    assert_non_null(strstr(text, "\"steal\": null"));
    assert_non_null(strstr(text, "\"memory_limit_bytes\": 9223372036854775807"));
    free(text);
    bj_profile_free(&profile);
}

static void answers_that_cannot_be_written_are_refused(void **state) {
    (void)state;
    bj_profile profile;
    char *text = NULL;
    bj_error error;
    bj_profile_init(&profile);
    put(&profile, "a.b", "ns")->value = NAN;
    assert_int_equal(bj_profile_to_json(&profile, &text, NULL, &error), BJ_ERR_FAILED);
    assert_non_null(strstr(error.text, "a.b"));
    put(&profile, "a.b", "ns")->structured = strdup("[1, ");
    assert_int_equal(bj_profile_answers_to_json(&profile.answers, &text, &error), BJ_ERR_FAILED);
    bj_profile_free(&profile);
}

static void assert_refused(const char *text, const char *expected) {
    bj_profile profile;
    bj_error error = {""};
    bj_profile_init(&profile);
    assert_int_equal(bj_profile_parse("FILE", text, strlen(text), &profile, &error), BJ_ERR_INPUT);
    assert_int_equal(strncmp(error.text, "FILE: ", 6), 0);
    if (strstr(error.text, expected) == NULL)
        fail_msg("'%s' is not in '%s'", expected, error.text);
    assert_null(strchr(error.text, '\n'));
    assert_int_equal(profile.answers.count + profile.curves.count + profile.probe_count, 0);
}

#define HEAD "{\"format\": \"blackjack-profile/1\", "
#define ANSWER(members) HEAD "\"characteristics\": {\"a.b\": {" members "}}}"
#define CURVE(members) HEAD "\"characteristics\": {}, \"curves\": {\"c\": {" members "}}}"
#define SECTION(members) HEAD "\"characteristics\": {}, " members "}"

static void what_is_no_profile_is_refused(void **state) {
    (void)state;
    assert_refused("", "empty file");
    assert_refused(" \n ", "expected JSON");
    assert_refused("{\"format\": ", "line 1");
    assert_refused("[1]", "expected a profile");
    assert_refused("3", "expected JSON");
    assert_refused("{}", "format: expected \"blackjack-profile/1\", found none");
    assert_refused("{\"format\": 1}", "format: expected");
    assert_refused("{\"format\": \"blackjack-profile/2\"}", "found \"blackjack-profile/2\"");
    assert_refused(HEAD "\"x\": 1}", "characteristics: expected an object");
    assert_refused(SECTION("\"format\": \"blackjack-profile/1\""), "duplicate");
    assert_refused(SECTION("\"run\": []"), "run: expected an object");
    assert_refused(SECTION("\"run\": {\"seed\": -1}"), "run.seed: expected a whole number");
    assert_refused(SECTION("\"run\": {\"seed\": 1.5}"), "run.seed");
    assert_refused(SECTION("\"run\": {\"seed\": 99999999999999999999}"), "expected JSON: too big integer");
    assert_refused(SECTION("\"run\": {\"steal\": NaN}"), "expected JSON");
    assert_refused(SECTION("\"run\": {\"steal\": 1e999}"), "expected JSON: real number overflow");
    assert_refused(SECTION("\"run\": {\"arguments\": [1]}"), "run.arguments: expected a list of strings");
    assert_refused(SECTION("\"run\": {\"effort\": \"as much effort as one can\"}"), "run.effort: expected at most 15");
    assert_refused(SECTION("\"environment\": {\"cpus_allowed\": [-1]}"),
                   "environment.cpus_allowed: expected cpu numbers");
    assert_refused(SECTION("\"environment\": {\"virtualised\": 1}"), "environment.virtualised: expected true");
    assert_refused(SECTION("\"probes\": {\"p\": {\"status\": \"good\"}}"), "probes.p.status: expected ok");
    assert_refused(SECTION("\"probes\": {\"p\": {\"status\": \"ok\", \"seconds\": -1}}"), "probes.p.seconds");
    assert_refused(SECTION("\"probes\": {\"a name that is much too long\": {}}"), "expected a name of 1 to 23");
}

static void answers_are_checked(void **state) {
    (void)state;
    assert_refused(HEAD "\"characteristics\": []}", "characteristics: expected an object");
    assert_refused(HEAD "\"characteristics\": {\"a\\nb\": {}}}", "expected a name");
    assert_refused(HEAD "\"characteristics\": {\"a.b\": 3}}", "characteristics.a.b: expected an object");
    assert_refused(ANSWER("\"value\": 1, \"status\": \"ok\""), "a.b.unit: expected a string");
    assert_refused(ANSWER("\"value\": 1, \"unit\": \"ns\""), "a.b.status: expected ok");
    assert_refused(ANSWER("\"value\": null, \"unit\": \"ns\", \"status\": \"ok\""), "a.b.value: expected a number");
    assert_refused(ANSWER("\"value\": \"3\", \"unit\": \"ns\", \"status\": \"ok\""), "a.b.value: expected a number");
    assert_refused(ANSWER("\"value\": 3, \"unit\": \"ns\", \"status\": \"failed\""), "a.b.value: expected null");
    assert_refused(ANSWER("\"unit\": \"ns\", \"status\": \"failed\""), "a.b.value: expected null");
    assert_refused(ANSWER("\"value\": 3, \"unit\": \"ns\", \"status\": \"ok\", \"interval\": [4, 3]"), "a.b.interval");
    assert_refused(ANSWER("\"value\": 3, \"unit\": \"ns\", \"status\": \"ok\", \"interval\": 3"), "a.b.interval");
    assert_refused(ANSWER("\"value\": 3, \"unit\": \"ns\", \"status\": \"ok\", \"p\": 2"), "a.b.p: expected a number");
    assert_refused(ANSWER("\"value\": 3, \"unit\": \"ns\", \"status\": \"ok\", \"confidence\": 9"), "a.b.confidence");
    assert_refused(ANSWER("\"value\": 3, \"unit\": \"ns\", \"status\": \"ok\", \"evidence\": [[]]"), "a.b.evidence");
    assert_refused(ANSWER("\"value\": 3, \"unit\": \"ns\", \"status\": \"ok\", \"claimed\": \"3\""), "a.b.claimed");
}

static void curves_are_checked(void **state) {
    (void)state;
    assert_refused(CURVE("\"x\": {}, \"y\": {}"), "curves.c.probe");
    assert_refused(CURVE("\"probe\": \"p\", \"x\": 1"), "curves.c.x: expected an object");
    assert_refused(CURVE("\"probe\": \"p\", \"x\": {}, \"y\": {}"), "curves.c.x.values");
    assert_refused(CURVE("\"probe\": \"p\", \"x\": {\"values\": [2, 1]}, \"y\": {\"rounds\": []}"), "ascending");
    assert_refused(CURVE("\"probe\": \"p\", \"x\": {\"values\": [1, 1]}, \"y\": {\"rounds\": []}"), "ascending");
    assert_refused(CURVE("\"probe\": \"p\", \"x\": {\"values\": [1]}, \"y\": {\"rounds\": [[]]}"), "lists of 1 values");
    assert_refused(CURVE("\"probe\": \"p\", \"x\": {\"values\": [1]}, \"y\": {\"rounds\": [[\"a\"]]}"),
                   "numbers and null");
#define SPELLS(list)                                                                                                   \
    CURVE("\"probe\": \"p\", \"x\": {\"values\": [1]}, \"y\": {\"rounds\": [[1], [2]], \"spells\": " list "}")
    assert_refused(SPELLS("[0]"), "a list of 2 numbers");
    assert_refused(SPELLS("[1, 0]"), "do not fall");
    assert_refused(SPELLS("[0, 0.5]"), "do not fall");
    assert_refused(SPELLS("[0, 4294967296]"), "do not fall");
}

static void nesting_has_an_end(void **state) {
    (void)state;
    enum { DEPTH = 100000 };
    char *text = malloc(2 * DEPTH + 200);
    strcpy(text, HEAD "\"characteristics\": {}, \"later\": ");
    size_t length = strlen(text);
    memset(text + length, '[', DEPTH);
    memset(text + length + DEPTH, ']', DEPTH);
    strcpy(text + length + 2 * DEPTH, "}");
    assert_refused(text, "expected at most 64 levels of nesting");
    free(text);
}

static void fields_of_later_versions_are_passed_over(void **state) {
    (void)state;
    const char *text = HEAD "\"later\": [1], \"characteristics\": {\"a.b\": {\"value\": 1, \"unit\": \"ns\", "
                            "\"status\": \"ok\", \"kind\": \"big\"}}, \"run\": {\"host\": null}}";
    bj_profile profile;
    bj_error error;
    bj_profile_init(&profile);
    assert_int_equal(bj_profile_parse("FILE", text, strlen(text), &profile, &error), BJ_OK);
    assert_int_equal(profile.answers.count, 1);
    bj_profile_free(&profile);
}

/* Whatever bytes change, the reader refuses or reads; the sanitizers watch. */
static void damaged_profiles_do_no_harm(void **state) {
    (void)state;
    static const char replacements[] = "\"{}[]:,0-9.eEnul\\\x00\xff";
    bj_profile profile;
    char *text = NULL;
    size_t length;
    fill(&profile);
    assert_int_equal(bj_profile_to_json(&profile, &text, &length, NULL), BJ_OK);
    bj_profile_free(&profile);
    char *damaged = malloc(length + 1);
    bj_random random;
    bj_random_seed(&random, 5);
    for (int i = 0; i < 4000; i++) {
        memcpy(damaged, text, length + 1);
        for (int k = 0; k < 1 + i % 3; k++)
            damaged[bj_random_below(&random, length)] = replacements[bj_random_below(&random, sizeof replacements)];
        size_t kept = i % 5 == 0 ? bj_random_below(&random, length) : length;
        bj_error error;
        bj_profile read;
        bj_profile_init(&read);
        bj_status status = bj_profile_parse("FILE", damaged, kept, &read, &error);
        assert_true(status == BJ_OK || status == BJ_ERR_INPUT || status == BJ_ERR_RESOURCE);
        bj_profile_free(&read);
    }
    free(damaged);
    free(text);
}

static void files_are_written_and_read(void **state) {
    (void)state;
    char path[] = "/tmp/bj-profile-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    bj_profile profile, copy;
    bj_error error;
    fill(&profile);
    bj_profile_init(&copy);
    assert_int_equal(bj_profile_write(&profile, path, &error), BJ_OK);
    assert_int_equal(bj_profile_read(path, &copy, &error), BJ_OK);
    assert_int_equal(copy.answers.count, profile.answers.count);
    unlink(path);
    assert_int_equal(bj_profile_read(path, &copy, &error), BJ_ERR_INPUT);
    assert_int_equal(bj_profile_write(&profile, "/nonexistent/folder/file", &error), BJ_ERR_IO);
    bj_profile_free(&profile);
    bj_profile_free(&copy);
}

static void assert_field(const bj_answer *answer, const char *field, bj_status expected, const char *text) {
    char *found = NULL;
    bj_error error = {""};
    assert_int_equal(bj_profile_field_to_text(answer, field, &found, &error), expected);
    if (expected == BJ_OK)
        assert_string_equal(found, text);
    else
        assert_non_null(strstr(error.text, text));
    free(found);
}

static void fields_are_printed_plain(void **state) {
    (void)state;
    bj_profile profile;
    fill(&profile);
    const bj_answer *size = bj_data_find_answer(&profile.answers, "cache.L1.size_bytes");
    assert_field(size, "value", BJ_OK, "32768");
    assert_field(size, "interval", BJ_OK, "[32768, 34816]");
    assert_field(size, "confidence", BJ_OK, "high");
    assert_field(size, "status", BJ_OK, "ok");
    assert_field(size, "unit", BJ_OK, "bytes");
    assert_field(size, "p", BJ_OK, "0.002");
    assert_field(size, "claimed", BJ_OK, "49152");
    assert_field(size, "method", BJ_OK, "levels/2");
    assert_field(size, "evidence", BJ_OK, "[\"cache.walk\"]");
    assert_field(size, "reason", BJ_ERR_FAILED, "has no reason");
    assert_field(size, "weight", BJ_ERR_USAGE, "expected one of value, unit");
    const bj_answer *ways = bj_data_find_answer(&profile.answers, "cache.L2.associativity");
    assert_field(ways, "value", BJ_ERR_FAILED, "undetermined: no step");
    assert_field(ways, "interval", BJ_ERR_FAILED, "undetermined");
    assert_field(ways, "status", BJ_OK, "undetermined");
    assert_field(ways, "claimed", BJ_ERR_FAILED, "undetermined");
    const bj_answer *groups = bj_data_find_answer(&profile.answers, "cache.L1.sharing");
    assert_field(groups, "value", BJ_OK, "[[0, 1], [2, 3], {\"a\": 0.1, \"b\": null, \"c\": true}]");
    assert_field(groups, "interval", BJ_ERR_FAILED, "has no interval");
    assert_field(bj_data_find_answer(&profile.answers, "cache.L3.size_bytes"), "value", BJ_OK, "4194304.5");
    bj_profile_free(&profile);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(profiles_of_version_0_1_are_upgraded),
        cmocka_unit_test(integers_have_no_point_and_missing_is_null),
        cmocka_unit_test(answers_that_cannot_be_written_are_refused),
        cmocka_unit_test(what_is_no_profile_is_refused),
        cmocka_unit_test(answers_are_checked),
        cmocka_unit_test(curves_are_checked),
        cmocka_unit_test(nesting_has_an_end),
        cmocka_unit_test(fields_of_later_versions_are_passed_over),
        cmocka_unit_test(damaged_profiles_do_no_harm),
        cmocka_unit_test(files_are_written_and_read),
        cmocka_unit_test(fields_are_printed_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
