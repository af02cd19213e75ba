#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_up_tree.h"
#include "platform/pages.h"
#include "platform/topology.h"

/* One package, two cpus: cpu 0 with three levels of data cache (and an instruction cache that must not count), cpu 5
 * with one of which nothing but the size is known. */
#define SET(mask) "cpuset=\"" mask "\" complete_cpuset=\"" mask "\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "
#define ALLOWED "allowed_cpuset=\"0x21\" allowed_nodeset=\"0x1\" "
static const char two_cpus[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM "
                               "\"hwloc2.dtd\">\n<topology version=\"2.0\">\n"
                               "<object type=\"Machine\" os_index=\"0\" " SET("0x21") ALLOWED
    "gp_index=\"1\">\n"
    "<object type=\"NUMANode\" os_index=\"0\" " SET(
        "0x21") "gp_index=\"2\" local_memory=\"1073741824\"/>\n"
                "<object type=\"L3Cache\" " SET(
                    "0x1") "gp_index=\"3\" cache_size=\"33554432\" depth=\"3\" cache_linesize=\"128\" "
                           "cache_associativity=\"-1\" cache_type=\"0\">\n"
                           "<object type=\"L2Cache\" " SET(
                               "0x1") "gp_index=\"4\" cache_size=\"524288\" depth=\"2\" cache_linesize=\"64\" "
                                      "cache_associativity=\"16\" cache_type=\"0\">\n"
                                      "<object type=\"L1Cache\" " SET(
                                          "0x1") "gp_index=\"5\" cache_size=\"49152\" depth=\"1\" "
                                                 "cache_linesize=\"64\" "
                                                 "cache_associativity=\"12\" cache_type=\"1\">\n"
                                                 "<object type=\"L1iCache\" " SET(
                                                     "0x1") "gp_index=\"6\" cache_size=\"32768\" depth=\"1\" "
                                                            "cache_linesize=\"64\" "
                                                            "cache_associativity=\"8\" cache_type=\"2\">\n"
                                                            "<object type=\"Core\" os_index=\"0\" " SET(
                                                                "0x1") "gp_index=\"7\">\n"
                                                                       "<object type=\"PU\" os_index=\"0\" " SET(
                                                                           "0x1") "gp_index=\"8\"/>\n"
                                                                                  "</object></object></object></"
                                                                                  "object></object>\n"
                                                                                  "<object type=\"L1Cache\" " SET(
                                                                                      "0x20") "gp_index=\"9\" "
                                                                                              "cache_size=\"16384\" "
                                                                                              "depth=\"1\" "
                                                                                              "cache_linesize=\"0\" "
                                                                                              "cache_associativity="
                                                                                              "\"0\" "
                                                                                              "cache_type=\"1\">\n"
                                                                                              "<object type=\"Core\" "
                                                                                              "os_index=\"1\" " SET(
                                                                                                  "0x20") "gp_index="
                                                                                                          "\"10\">\n"
                                                                                                          "<object "
                                                                                                          "type=\"PU\" "
                                                                                                          "os_index="
                                                                                                          "\"5\" " SET(
                                                                                                              "0x20") "gp_index=\"11\"/>\n"
                                                                                                                      "</object></object>\n</object>\n</topology>\n";

static int set_up(void **state) {
    *state = make_tree();
    return 0;
}

static int tear_down(void **state) {
    unsetenv("HWLOC_XMLFILE");
    unsetenv("HWLOC_SYNTHETIC");
    unsetenv("HWLOC_THISSYSTEM");
    unsetenv("HWLOC_XML_VERBOSE");
    remove_tree(*state);
    return 0;
}

static void expect_claim(const bj_topology *topology, const char *key, int cpu, double expected) {
    double value = -1;
    if (!bj_platform_read_claim(topology, key, cpu, &value) || value != expected)
        fail_msg("%s of cpu %d is %g, not %g", key, cpu, value, expected);
}

static void expect_no_claim(const bj_topology *topology, const char *key, int cpu) {
    double value = -1;
    if (bj_platform_read_claim(topology, key, cpu, &value) || value != -1)
        fail_msg("%s of cpu %d is %g, not unknown", key, cpu, value);
}

static void claims_what_each_cpu_sees(void **state) {
    char *path = path_in_tree(*state, "/two.xml");
    put(*state, "/two.xml", two_cpus);
    setenv("HWLOC_XMLFILE", path, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    bj_topology *topology = bj_platform_load_topology();
    assert_non_null(topology);
    expect_claim(topology, "cache.levels", 0, 3);
    expect_claim(topology, "cache.line_bytes", 0, 64);
    expect_claim(topology, "cache.L1.size_bytes", 0, 49152);
    expect_claim(topology, "cache.L1.capacity_bytes", 0, 49152);
    expect_claim(topology, "cache.L1.associativity", 0, 12);
    expect_claim(topology, "cache.L2.size_bytes", 0, 524288);
    expect_claim(topology, "cache.L2.associativity", 0, 16);
    expect_claim(topology, "cache.L3.size_bytes", 0, 33554432);
    expect_claim(topology, "cache.L3.line_bytes", 0, 128);
    expect_no_claim(topology, "cache.L3.associativity", 0);
    expect_claim(topology, "cache.levels", 5, 1);
    expect_claim(topology, "cache.L1.size_bytes", 5, 16384);
    expect_no_claim(topology, "cache.line_bytes", 5);
    expect_no_claim(topology, "cache.L1.line_bytes", 5);
    expect_no_claim(topology, "cache.L1.associativity", 5);
    expect_no_claim(topology, "cache.L2.size_bytes", 5);
    static const char *const unknown[] = {"",
                                          "cache",
                                          "cache.L",
                                          "cache.L1",
                                          "cache.L1.",
                                          "cache.L0.size_bytes",
                                          "cache.L4.size_bytes",
                                          "cache.L9.size_bytes",
                                          "cache.L11.size_bytes",
                                          "cache.L1.latency_ns",
                                          "cache.L1.size_bytes.x",
                                          "tlb.levels",
                                          "memory.latency_ns"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        expect_no_claim(topology, unknown[i], 0);
    expect_no_claim(topology, "cache.levels", 1);
    expect_no_claim(topology, "cache.levels", -1);
    expect_claim(topology, "page.size_bytes", 0, (double)bj_platform_page_bytes());
    bj_platform_free_topology(topology);
    free(path);
}

static void another_machine_is_no_claim(void **state) {
    (void)state;
    setenv("HWLOC_SYNTHETIC", "pack:1 l2:1 l1d:1 core:1 pu:2", 1);
    assert_null(bj_platform_load_topology());
}

static void reads_machines_of_many_cpus(void **state) {
    (void)state;
    setenv("HWLOC_SYNTHETIC", "pack:4 l3:1(size=8388608) l2:64(size=524288) l1d:1(size=32768) core:1 pu:2", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    bj_topology *topology = bj_platform_load_topology();
    assert_non_null(topology);
    expect_claim(topology, "cache.L2.size_bytes", 511, 524288);
    expect_no_claim(topology, "cache.L2.size_bytes", 512);
    bj_platform_free_topology(topology);
}

/* hwloc complains on standard error; the program must not see a byte of it, nor an exit. */
static void stays_silent_when_hwloc_fails(void **state) {
    char *path = path_in_tree(*state, "/bad.xml"), *said = path_in_tree(*state, "/stderr");
    put(*state, "/bad.xml", "<?xml version=\"1.0\"?><topology version=\"2.0\"><object type=\"Mach");
    setenv("HWLOC_XMLFILE", path, 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    setenv("HWLOC_XML_VERBOSE", "1", 1);
    int before = dup(STDERR_FILENO), file = open(said, O_RDWR | O_CREAT, 0666);
    assert_true(before >= 0 && file >= 0);
    fflush(stderr);
    dup2(file, STDERR_FILENO);
    bj_topology *topology = bj_platform_load_topology();
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    struct stat about;
    assert_int_equal(fstat(file, &about), 0);
    close(file);
    close(before);
    bj_platform_free_topology(topology);
    assert_int_equal(about.st_size, 0);
    free(said);
    free(path);
}

static void needs_no_topology_for_the_page(void **state) {
    (void)state;
    expect_claim(NULL, "page.size_bytes", 0, (double)bj_platform_page_bytes());
    expect_no_claim(NULL, "cache.levels", 0);
    bj_platform_free_topology(NULL);
}

static void works_where_children_are_ignored(void **state) {
    (void)state;
    setenv("HWLOC_SYNTHETIC", "pack:1 l1d:1(size=32768) core:1 pu:1", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    bj_topology *topology = bj_platform_load_topology();
    signal(SIGCHLD, before);
    assert_non_null(topology);
    expect_claim(topology, "cache.L1.size_bytes", 0, 32768);
    bj_platform_free_topology(topology);
}

/* Whatever this machine is: no claim, or one that makes sense. */
static void reads_this_machine(void **state) {
    (void)state;
    bj_topology *topology = bj_platform_load_topology();
    double levels = 0, size;
    if (bj_platform_read_claim(topology, "cache.levels", 0, &levels))
        assert_true(levels >= 1 && levels <= 8);
    for (int level = 1; level <= (int)levels; level++) {
        char key[32];
        snprintf(key, sizeof key, "cache.L%d.size_bytes", level);
        if (bj_platform_read_claim(topology, key, 0, &size))
            assert_true(size > 0);
    }
    bj_platform_free_topology(topology);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TREE(claims_what_each_cpu_sees),
        WITH_TREE(another_machine_is_no_claim),
        WITH_TREE(reads_machines_of_many_cpus),
        WITH_TREE(stays_silent_when_hwloc_fails),
        WITH_TREE(needs_no_topology_for_the_page),
        WITH_TREE(works_where_children_are_ignored),
        WITH_TREE(reads_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
