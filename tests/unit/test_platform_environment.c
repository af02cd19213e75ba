#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "made_up_tree.h"
#include "platform/environment.h"
#include "platform/huge_pages.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"

static int set_up(void **state) {
    *state = make_tree();
    return 0;
}

static int tear_down(void **state) {
    remove_tree(*state);
    return 0;
}

static void expect_cpu(const char *root, const char *cpuinfo, const char *name) {
    bj_environment environment;
    put(root, "/proc/cpuinfo", cpuinfo);
    bj_platform_read_environment(root, &environment);
    assert_string_equal(environment.cpu, name);
}

static void expect_virtualised(const char *root, int expected) {
    bj_environment environment;
    bj_platform_read_environment(root, &environment);
    assert_int_equal(environment.virtualised, expected);
}

static void knows_nothing_of_an_empty_tree(void **state) {
    bj_environment environment;
    uint64_t total = 1, stolen = 1;
    bj_platform_read_environment(*state, &environment);
    assert_true(environment.os[0] != '\0');
    assert_string_equal(environment.cpu, "");
    assert_string_equal(environment.huge_pages, "none");
    assert_string_equal(environment.governor, "");
    assert_true(environment.memory_bytes == 0);
    assert_int_equal(environment.virtualised, -1);
    assert_int_equal(environment.login_users, -1);
    assert_true(isnan(environment.load));
    bj_platform_read_steal(*state, NULL, 0, &total, &stolen);
    assert_true(total == 0 && stolen == 0);
}

static void sees_who_runs_the_program(void **state) {
    const char *root = *state;
    char own[512], kernels[512];
    bj_environment environment;
    put(root, "/proc/self/text", "");
    put(root, "/proc/thread-self/text", "");
    snprintf(own, sizeof own, "%s/proc/self/exe", root);
    snprintf(kernels, sizeof kernels, "%s/proc/thread-self/exe", root);
    assert_int_equal(symlink("/opt/bin/blackjack", own), 0);
    bj_platform_read_environment(root, &environment);
    assert_string_equal(environment.emulator, "");
    assert_int_equal(symlink("/opt/bin/blackjack", kernels), 0);
    bj_platform_read_environment(root, &environment);
    assert_string_equal(environment.emulator, "");
    assert_int_equal(unlink(kernels), 0);
    assert_int_equal(symlink("/usr/bin/qemu-s390x", kernels), 0);
    bj_platform_read_environment(root, &environment);
    assert_string_equal(environment.emulator, "qemu-s390x");
    assert_int_equal(unlink(own), 0);
    assert_int_equal(unlink(kernels), 0);
}

static void reads_a_whole_tree(void **state) {
    bj_environment environment;
    put(*state, "/proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Some  CPU    @ 2.00GHz \nflags\t\t: fpu vme hypervisor lm\n");
    put(*state, "/proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n");
    put(*state, "/proc/loadavg", "1.25 0.50 0.10 1/200 3000\n");
    put(*state, THP "enabled", "always [madvise] never\n");
    put(*state, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    bj_platform_read_environment(*state, &environment);
    assert_string_equal(environment.cpu, "Some CPU @ 2.00GHz");
    assert_string_equal(environment.huge_pages, "madvise");
    assert_string_equal(environment.governor, "powersave");
    assert_true(environment.memory_bytes == 16384 * 1024);
    assert_int_equal(environment.virtualised, 1);
    assert_float_equal(environment.load, 1.25, 1e-12);
}

static void names_cpus_of_all_kinds(void **state) {
    expect_cpu(*state, "processor : 0\nmodel name : ARMv7 Processor rev 3 (v7l)\nHardware : BCM2711\n",
               "ARMv7 Processor rev 3 (v7l)");
    expect_cpu(*state, "processor : 0\nHardware : BCM2711\n", "BCM2711");
    expect_cpu(*state, "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3783MHz\n",
               "POWER9, altivec supported");
    expect_cpu(*state, "cpu model : MIPS 74Kc V4.12\n", "MIPS 74Kc V4.12");
    expect_cpu(*state, "processor : 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
               "ARM implementer 0x41 part 0xd0c");
    put_bytes(*state, "/proc/device-tree/model", "Some Board rev 1\0", 17);
    expect_cpu(*state, "processor : 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "Some Board rev 1");
    expect_cpu(*state, "model name : odd\x01 \xc3\xa9 name\nx", "odd? ?? name");
    expect_cpu(*state, "model name", "Some Board rev 1");
    char text[512] = "model name : ";
    size_t length = strlen(text);
    memset(text + length, 'x', sizeof text - length - 1);
    bj_environment environment;
    put(*state, "/proc/cpuinfo", text);
    bj_platform_read_environment(*state, &environment);
    assert_int_equal(strlen(environment.cpu), sizeof environment.cpu - 1);
}

static void tells_virtual_from_real(void **state) {
    put(*state, "/proc/cpuinfo", "processor : 0\nflags : fpu hypervisor_like lm\n");
    expect_virtualised(*state, 0);
    put(*state, "/proc/cpuinfo", "flags : fpu\nbugs : hypervisor\n");
    expect_virtualised(*state, 0);
    put(*state, "/proc/cpuinfo", "processor : 0\nflags : fpu lm hypervisor\n");
    expect_virtualised(*state, 1);
    put(*state, "/proc/cpuinfo", "processor : 0\nFeatures : fp asimd\n");
    expect_virtualised(*state, -1);
    put(*state, "/sys/class/dmi/id/product_name", "PowerEdge R650\n");
    expect_virtualised(*state, 0);
    put(*state, "/sys/class/dmi/id/product_name", "KVM Virtual Machine\n");
    expect_virtualised(*state, 1);
    put(*state, "/sys/class/dmi/id/product_name", "c7g.metal\n");
    put(*state, "/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
    expect_virtualised(*state, 0);
    put(*state, "/sys/class/dmi/id/product_name", "c7g.large\n");
    expect_virtualised(*state, 1);
}

static void knows_other_hypervisors(void **state) {
    put(*state, "/proc/sysinfo", "Manufacturer: IBM\nLPAR Name: X\n");
    expect_virtualised(*state, -1);
    put(*state, "/proc/sysinfo", "Manufacturer: IBM\nVM00 Name: LINUX\n");
    expect_virtualised(*state, 1);
    put(*state, "/proc/sysinfo", "");
    put_bytes(*state, "/proc/device-tree/hypervisor/compatible", "linux,kvm\0", 10);
    expect_virtualised(*state, 1);
}

static void expect_huge(const char *root, const char *mode, size_t bytes) {
    char text[32];
    bj_platform_read_huge_mode(root, text, sizeof text);
    assert_string_equal(text, mode);
    assert_int_equal(bj_platform_read_huge_bytes(root), bytes);
}

static void knows_huge_pages(void **state) {
    expect_huge(*state, "none", 0);
    put(*state, THP "hpage_pmd_size", "2097152\n");
    expect_huge(*state, "none", 0);
    put(*state, THP "enabled", "[always] madvise never\n");
    expect_huge(*state, "always", 2097152);
    put(*state, THP "enabled", "always madvise [never]\n");
    expect_huge(*state, "never", 0);
    put(*state, THP "enabled", "always [madvise] never\n");
    expect_huge(*state, "madvise", 2097152);
    /* The size's own switch, of newer kernels. */
    put(*state, THP "hugepages-2048kB/enabled", "always [inherit] madvise never\n");
    expect_huge(*state, "madvise", 2097152);
    put(*state, THP "hugepages-2048kB/enabled", "always inherit madvise [never]\n");
    expect_huge(*state, "never", 0);
    put(*state, THP "hugepages-2048kB/enabled", "garbage\n");
    expect_huge(*state, "madvise", 2097152);
}

static void knows_huge_pages_of_old_kernels(void **state) {
    put(*state, THP "enabled", "[always] madvise never\n");
    expect_huge(*state, "always", 0);
    put(*state, "/proc/meminfo", "MemTotal: 5 kB\nHugepagesize:       2048 kB\n");
    expect_huge(*state, "always", 2097152);
    static const char *const odd[] = {"garbage\n", "3000000\n", "0\n", "99999999999999999999\n",
                                      "18446744073709551615\n"};
    put(*state, "/proc/meminfo", "Hugepagesize: 18446744073709551615 kB\n");
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        put(*state, THP "hpage_pmd_size", odd[i]);
        expect_huge(*state, "always", 0);
    }
}

static void survives_garbage(void **state) {
    static const char *const files[] = {"/proc/cpuinfo",
                                        "/proc/meminfo",
                                        "/proc/loadavg",
                                        "/proc/stat",
                                        "/proc/sysinfo",
                                        THP "enabled",
                                        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                                        "/sys/class/dmi/id/product_name"};
    static const char *const garbage[] = {
        "",     "\n\n\n",     "flags", "MemTotal:", "MemTotal: 99999999999999999999 kB",
        "[",    "]",          "][",    "nan 1 1",   "-1 0 0",
        "cpu ", "cpu  1 2 3", "cpu x", "\xff\xff",  ":::",
        "inf"};
    for (size_t file = 0; file < sizeof files / sizeof files[0]; file++) {
        for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
            bj_environment environment;
            uint64_t total, stolen;
            put(*state, files[file], garbage[i]);
            bj_platform_read_environment(*state, &environment);
            bj_platform_read_steal(*state, NULL, 0, &total, &stolen);
            assert_true(environment.memory_bytes == 0);
            assert_true(isnan(environment.load));
            assert_true(total == 0 && stolen == 0);
            for (const char *c = environment.governor; *c != '\0'; c++)
                assert_in_range(*c, ' ', '~');
        }
    }
}

static void reads_stolen_time(void **state) {
    uint64_t total, stolen;
    put(*state, "/proc/stat",
        "cpu  10 20 30 40 50 60 70 80 9 9\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 0 0 0 0 0 0 0 5 0 0\n"
        "cpu10 100 0 0 0 0 0 0 7 0 0\nintr 1\n");
    bj_platform_read_steal(*state, NULL, 0, &total, &stolen);
    assert_int_equal(total, 360);
    assert_int_equal(stolen, 80);
    const int some[] = {10, 1};
    bj_platform_read_steal(*state, some, 2, &total, &stolen);
    assert_int_equal(total, 112);
    assert_int_equal(stolen, 12);
}

static void reads_this_system(void **state) {
    (void)state;
    bj_environment environment;
    bj_platform_read_environment("", &environment);
    assert_true(environment.os[0] != '\0');
    assert_in_range(environment.virtualised + 1, 0, 2);
    assert_true(environment.login_users >= -1);
    assert_true(isnan(environment.load) || environment.load >= 0);
    uint64_t total, stolen;
    bj_platform_read_steal("", NULL, 0, &total, &stolen);
    assert_true(stolen <= total);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TREE(knows_nothing_of_an_empty_tree),
        WITH_TREE(sees_who_runs_the_program),
        WITH_TREE(reads_a_whole_tree),
        WITH_TREE(names_cpus_of_all_kinds),
        WITH_TREE(tells_virtual_from_real),
        WITH_TREE(knows_other_hypervisors),
        WITH_TREE(knows_huge_pages),
        WITH_TREE(knows_huge_pages_of_old_kernels),
        WITH_TREE(survives_garbage),
        WITH_TREE(reads_stolen_time),
        WITH_TREE(reads_this_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
