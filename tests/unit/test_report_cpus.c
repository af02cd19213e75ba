/* Structured answers about cpus as text: ranges, trees, groups, matrices; and what matters first of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile_fixture.h"
#include "report/cpu_text.h"
#include "report/headline.h"
#include "report/terminal.h"

static bj_answer *put(bj_profile *profile, const char *key, const char *json) {
    bj_answer *answer;
    assert_int_equal(bj_data_put_answer(&profile->answers, key, "", &answer, NULL), BJ_OK);
    answer->structured = strdup(json);
    answer->confidence = BJ_CONFIDENCE_HIGH;
    strcpy(answer->probe, "some");
    return answer;
}

static bj_answer *put_number(bj_profile *profile, const char *key, const char *unit, double value) {
    bj_answer *answer;
    assert_int_equal(bj_data_put_answer(&profile->answers, key, unit, &answer, NULL), BJ_OK);
    answer->value = value;
    answer->confidence = BJ_CONFIDENCE_HIGH;
    strcpy(answer->probe, "some");
    return answer;
}

/* What `show` prints of the section, from its name on; checks the width on the way. */
static char *print(const bj_profile *profile) {
    char *text = NULL;
    size_t length = 0, column = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    bj_terminal_style style = {.columns = 80};
    bj_page_request request = {.section = "some"};
    bj_report_print_page(out, profile, &style, &request);
    fclose(out);
    for (const char *at = text; *at != '\0'; at++) {
        column = *at == '\n' ? 0 : column + 1;
        assert_true(column <= 80);
        assert_false(*at == '\n' && at > text && at[-1] == ' ');
    }
    char *begin = strstr(text, "\nsome\n");
    assert_non_null(begin);
    memmove(text, begin + 6, strlen(begin + 6) + 1);
    return text;
}

static void expect(const bj_profile *profile, const char *wanted) {
    char *text = print(profile);
    assert_string_equal(text, wanted);
    free(text);
}

static void ranges(void **state) {
    (void)state;
    int many[200];
    char text[40];
    bj_report_format_cpus(&(bj_cpu_set){(int[]){8, 0, 1, 2, 3, 10, 11}, 7}, ",", text, sizeof text);
    assert_string_equal(text, "0-3,8,10-11");
    for (int i = 0; i < 200; i++)
        many[i] = 2 * i;
    bj_report_format_cpus(&(bj_cpu_set){many, 200}, ",", text, sizeof text);
    assert_string_equal(text, "0,2,4,6,8,10,12,14,16,...");
    bj_report_format_cpus(&(bj_cpu_set){NULL, 0}, ",", text, sizeof text);
    assert_string_equal(text, "0 cpus");
}

static void small_tree(void **state) {
    put(*state, "topology.tree",
        "{\"cpus\": [3, 2, 1, 0, 4], \"latency_ns\": 118, \"block_bytes\": 16777216, \"inside_ns\": 42, \"children\": "
        "[{\"cpus\": [2, 3], \"latency_ns\": 42.04, \"name\": \"L3\"}, {\"cpus\": [0, 1]}]}");
    expect(*state, "  topology.tree           5 cpus, 2 levels                            high\n"
                   "    0-4: 118 ns, 42 ns inside, by blocks of 16 MiB\n"
                   "      0-1\n"
                   "      2-3 (L3): 42 ns\n"
                   "      alone: 4\n");
}

static void tree_of_one(void **state) {
    put(*state, "topology.tree", "{\"cpus\": [0, 1], \"latency_ns\": 60}")->confidence = BJ_CONFIDENCE_LOW;
    expect(*state, "  topology.tree           2 cpus, all as near: 60 ns                  low\n");
}

/* Two sockets of eight clusters of eight cores of two threads: a line for each kind of part. */
static void large_tree_is_folded(void **state) {
    char *text = malloc(100000), *at = text;
    at += sprintf(at, "{\"cpus\": [0");
    for (int cpu = 1; cpu < 256; cpu++)
        at += sprintf(at, ", %d", cpu);
    at += sprintf(at, "], \"latency_ns\": 200, \"children\": [");
    for (int socket = 0; socket < 256; socket += 128) {
        at += sprintf(at, "%s{\"cpus\": [%d", socket > 0 ? ", " : "", socket);
        for (int cpu = socket + 1; cpu < socket + 128; cpu++)
            at += sprintf(at, ", %d", cpu);
        at += sprintf(at, "], \"latency_ns\": %d, \"children\": [", socket == 0 ? 100 : 110);
        for (int cluster = socket; cluster < socket + 128; cluster += 16) {
            at += sprintf(at, "%s{\"cpus\": [%d", cluster > socket ? ", " : "", cluster);
            for (int cpu = cluster + 1; cpu < cluster + 16; cpu++)
                at += sprintf(at, ", %d", cpu);
            at += sprintf(at, "], \"name\": \"L3\", \"latency_ns\": 30, \"children\": [");
            for (int core = cluster; core < cluster + 16; core += 2)
                at += sprintf(at, "%s{\"cpus\": [%d, %d], \"latency_ns\": 8}", core > cluster ? ", " : "", core,
                              core + 1);
            at += sprintf(at, "]}");
        }
        at += sprintf(at, "]}");
    }
    sprintf(at, "]}");
    put(*state, "topology.tree", text);
    expect(*state, "  topology.tree           256 cpus, 4 levels                          high\n"
                   "    0-255: 200 ns\n"
                   "      2 x 128 cpus: 0-127; ...: 100 to 110 ns\n"
                   "        16 x 16 cpus (L3): 0-15; ...: 30 ns\n"
                   "          128 x 2 cpus: 0-1; ...: 8 ns\n");
    free(text);
}

/* Not one part like another: still about a page. */
static void odd_tree_is_cut(void **state) {
    char *text = malloc(100000), *at = text;
    at += sprintf(at, "{\"cpus\": [0");
    for (int cpu = 1; cpu < 2000; cpu++)
        at += sprintf(at, ", %d", cpu);
    at += sprintf(at, "], \"children\": [");
    for (int part = 1, cpu = 0; part <= 60; cpu += part, part++) {
        at += sprintf(at, "%s{\"cpus\": [%d", part > 1 ? ", " : "", cpu);
        for (int i = 1; i < part; i++)
            at += sprintf(at, ", %d", cpu + i);
        at += sprintf(at, "]}");
    }
    sprintf(at, "]}");
    put(*state, "topology.tree", text);
    free(text);
    size_t lines = 0;
    text = print(*state);
    for (at = text; *at != '\0'; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 32);
    assert_non_null(strstr(text, "... 32 lines more\n"));
    free(text);
}

static void not_a_tree(void **state) {
    put(*state, "topology.tree",
        "{\"cpus\": [0, 1, 2, 3, 4, 5], \"latency_ns\": 90, \"tree_like\": false, \"distances_ns\": [[null, 80, "
        "120.4], "
        "[80, null, 80], [120, 80, null]], \"children\": [{\"cpus\": [0, 1]}, {\"cpus\": [2, 3]}, {\"cpus\": [4, "
        "5]}]}");
    expect(*state, "  topology.tree           not a tree: 6 cpus, 3 parts                 high\n"
                   "    0-5: 90 ns\n"
                   "      0-1\n"
                   "      2-3\n"
                   "      4-5\n"
                   "    distances between parts:\n"
                   "      ns         0     1     2\n"
                   "      0: 0-1     -    80   120\n"
                   "      1: 2-3    80     -    80\n"
                   "      2: 4-5   120    80     -\n");
    bj_headline headline;
    bj_report_make_headline(*state, &headline);
    assert_string_equal(headline.lines[1], "Threads: put those that talk on cpus 0-1. Beyond that: not a tree.");
}

static void groups_and_kinds(void **state) {
    put(*state, "cache.L1.sharing", "[]");
    put(*state, "cache.L2.sharing", "[[0, 1], [2, 3, 4]]");
    put(*state, "cpu.kinds",
        "[{\"cpus\": [0, 1], \"clock_ghz\": 5.2, \"l1_bytes\": 49152}, {\"cpus\": [2, 3, 4], \"clock_ghz\": 3.9}]");
    put(*state, "topology.pairs",
        "[{\"a\": 0, \"b\": 1, \"latency_ns\": 40}, {\"a\": 0, \"b\": 2, \"latency_ns\": 90}]");
    expect(*state, "  cache.L1.sharing        no two cpus share one                       high\n"
                   "  cache.L2.sharing        2 groups                                    high\n"
                   "    0-1; 2-4\n"
                   "  cpu.kinds               2 kinds of cpus                             high\n"
                   "    0-1: 5.2 GHz, L1 48 KiB\n"
                   "    2-4: 3.9 GHz\n"
                   "  topology.pairs          2 pairs, 40 to 90 ns                        high\n");
    bj_headline headline;
    bj_report_make_headline(*state, &headline);
    assert_string_equal(headline.lines[1], "Cpus differ: 0-1 at 5.2 GHz; 2-4 at 3.9 GHz. All else here is of cpu 0.");
}

static void contention(void **state) {
    put(*state, "memory.contention",
        "{\"reference_gbs\": 12, \"levels\": [{\"gbs\": 7, \"groups\": [[0, 1], [2, 3]], \"scaling\": [{\"cpus\": 1, "
        "\"gbs\": 12}, {\"cpus\": 2, \"gbs\": 14}], \"useful_cpus\": 1}, {\"gbs\": 10, \"groups\": [[0, 1, 2, 3]]}]}");
    put_number(*state, "memory.read_gbs", "GB/s", 12);
    put_number(*state, "memory.full.read_gbs", "GB/s", 3.5);
    put_number(*state, "cache.L3.size_bytes", "bytes", 8388608);
    put_number(*state, "cache.L3.full.size_bytes", "bytes", 1048576);
    expect(*state, "  memory.contention       2 levels, 12 GB/s alone                     high\n"
                   "    7 GB/s beside another of 0-1; 2-3\n"
                   "      GB/s by cpus 1: 12, 2: 14\n"
                   "      after 1 one more cpu brings nothing\n"
                   "    10 GB/s beside another of 0-3\n"
                   "  memory.read_gbs         12 GB/s                                     high\n"
                   "  memory.full.read_gbs    3.5 GB/s (alone 12)                         high\n"
                   "  cache.L3.size_bytes     8 MiB                                       high\n"
                   "  cache.L3.full.size_bytes 1 MiB (alone 8 MiB)                        high\n");
    bj_headline headline;
    bj_report_make_headline(*state, &headline);
    assert_int_equal(headline.count, 4);
    assert_string_equal(headline.lines[2], "Threads: after 1 cpu of 0-1 memory bandwidth is full.");
    assert_string_equal(headline.lines[3], "All cpus at once: memory 3.5 GB/s a core, L3 1 MiB.");
}

/* Both of two pay: nobody knows what a third would do. */
static void contention_of_all(void **state) {
    put(*state, "memory.contention",
        "{\"reference_gbs\": 47, \"levels\": [{\"gbs\": 34, \"groups\": [[0, 1]], \"scaling\": [{\"cpus\": 1, "
        "\"gbs\": 47}, {\"cpus\": 2, \"gbs\": 68}], \"useful_cpus\": 2}]}");
    expect(*state, "  memory.contention       1 level, 47 GB/s alone                      high\n"
                   "    34 GB/s beside another of 0-1\n"
                   "      GB/s by cpus 1: 47, 2: 68\n");
    bj_headline headline;
    bj_report_make_headline(*state, &headline);
    for (size_t i = 0; i < headline.count; i++)
        assert_null(strstr(headline.lines[i], "bandwidth is full"));
}

static void streams(void **state) {
    put(*state, "memory.streams",
        "[{\"cpus\": 1, \"gbs\": [[1, 4.46], [2, 4.5], [64, 4.4]], \"useful_streams\": 64, \"limited\": false}, "
        "{\"cpus\": 16, \"gbs\": [[1, 2.36], [2, 2.35]], \"useful_streams\": 2, \"limited\": true}]");
    expect(*state, "  memory.streams          arrays of use: 64+ with 1 cpu, 2 with 16    high\n"
                   "    arrays        1 cpu      16 cpus\n"
                   "         1         4.46        2.36\n"
                   "         2          4.5        2.35*\n"
                   "        64          4.4           -\n"
                   "    GB/s that each cpu gets; * as many arrays as are of use, where more get less\n");
}

static void nodes(void **state) {
    put(*state, "numa.latency_ns", "[[90, 150], [150, 91]]");
    put(*state, "numa.gbs", "{\"nodes\": [[0, 1], [2]], \"gbs\": [[12.5, 7], [7.25, 12.25]]}");
    expect(*state, "  numa.latency_ns         2 nodes                                     high\n"
                   "    ns       0     1\n"
                   "    0       90   150\n"
                   "    1      150    91\n"
                   "  numa.gbs                2 nodes                                     high\n"
                   "    GB/s       0     1\n"
                   "    0: 0-1  12.5     7\n"
                   "    1: 2    7.25  12.2\n");
}

/* What is broken, or of a kind that nobody knows yet, is shown as it is written; doubtful answers are no advice. */
static void broken_and_doubtful(void **state) {
    put(*state, "topology.tree", "{\"cpus\": [0, 0]}");
    put(*state, "memory.contention", "[1]");
    put(*state, "memory.streams", "[{\"cpus\": 1, \"gbs\": [1]}]");
    put(*state, "numa.gbs", "[[1, 2]]");
    put(*state, "some.other", "[[1, 2]]");
    expect(*state, "  topology.tree           {\"cpus\": [0, 0]}\n"
                   "  memory.contention       [1]\n"
                   "  memory.streams          [{\"cpus\": 1, \"gbs\": [1]}]\n"
                   "  numa.gbs                [[1, 2]]\n"
                   "  some.other              [[1, 2]]\n");
    put(*state, "topology.tree", "{\"cpus\": [0, 1, 2, 3], \"children\": [{\"cpus\": [0, 1]}]}")->confidence =
        BJ_CONFIDENCE_LOW;
    put(*state, "memory.contention", "{\"levels\": [{\"groups\": [[0, 1]], \"useful_cpus\": 1}]}")->status =
        BJ_ANSWER_UNSTABLE;
    bj_headline headline;
    bj_report_make_headline(*state, &headline);
    assert_int_equal(headline.count, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges),
        cmocka_unit_test_setup_teardown(small_tree, setup, teardown),
        cmocka_unit_test_setup_teardown(tree_of_one, setup, teardown),
        cmocka_unit_test_setup_teardown(large_tree_is_folded, setup, teardown),
        cmocka_unit_test_setup_teardown(odd_tree_is_cut, setup, teardown),
        cmocka_unit_test_setup_teardown(not_a_tree, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_and_kinds, setup, teardown),
        cmocka_unit_test_setup_teardown(contention, setup, teardown),
        cmocka_unit_test_setup_teardown(contention_of_all, setup, teardown),
        cmocka_unit_test_setup_teardown(streams, setup, teardown),
        cmocka_unit_test_setup_teardown(nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(broken_and_doubtful, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
