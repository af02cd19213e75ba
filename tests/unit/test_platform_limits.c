#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "made_up_tree.h"
#include "platform/limits.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

/* Pointers of 32 bits reach no further than half of what they could. */
static uint64_t reach(uint64_t bytes) {
    return sizeof(void *) < sizeof bytes && bytes > PTRDIFF_MAX ? PTRDIFF_MAX : bytes;
}

/* 8 GiB available: what the control groups say is smaller in most tests. */
static int set_up(void **state) {
    *state = make_tree();
    put(*state, "/proc/meminfo",
        "MemTotal:       16777216 kB\nMemFree:         1048576 kB\nMemAvailable:    8388608 kB\n");
    put(*state, "/proc/self/status", "Name:\tx\nVmSize:\t 1024 kB\nVmData:\t 512 kB\nVmRSS:\t 300 kB\n");
    return 0;
}

static int tear_down(void **state) {
    remove_tree(*state);
    return 0;
}

static void use_version_2(const char *root, const char *group, const char *mount_root) {
    char text[512];
    snprintf(text, sizeof text, "0::%s\n", group);
    put(root, "/proc/self/cgroup", text);
    snprintf(text, sizeof text,
             "22 1 0:20 / /proc rw - proc proc rw\n"
             "30 23 0:26 %s /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
             mount_root);
    put(root, "/proc/self/mountinfo", text);
}

static void use_version_1(const char *root, const char *group, const char *mount_root) {
    char text[1024];
    snprintf(text, sizeof text, "9:name=systemd:/\n6:cpuset:/elsewhere\n4:memory:%s\n3:cpu,cpuacct:%s\n", group, group);
    put(root, "/proc/self/cgroup", text);
    snprintf(text, sizeof text,
             "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
             "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
             "35 31 0:32 %s /sys/fs/cgroup/memory rw master:9 - cgroup cgroup rw,memory\n"
             "36 31 0:33 %s /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n",
             mount_root, mount_root);
    put(root, "/proc/self/mountinfo", text);
}

static void knows_what_is_held(void **state) {
    assert_int_equal(bj_platform_resident_bytes(*state), 300 * 1024);
    assert_int_equal(bj_platform_resident_bytes("/nowhere"), 0);
    assert_true(bj_platform_resident_bytes("") > 100 * 1024);
}

static void knows_the_system_without_groups(void **state) {
    assert_true(bj_platform_memory_limit_bytes(*state) == reach(8 * GIB));
    assert_true(isnan(bj_platform_cpu_quota(*state)));
    assert_int_equal(bj_platform_throttled_count(*state), 0);
}

static void adds_up_where_available_is_not_said(void **state) {
    put(*state, "/proc/meminfo", "MemFree: 1024 kB\nBuffers: 1024 kB\nCached: 2048 kB\nSwapCached: 5 kB\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == 4 * MIB);
}

static void obeys_strict_overcommit(void **state) {
    put(*state, "/proc/meminfo", "MemAvailable: 8388608 kB\nCommitLimit: 4096 kB\nCommitted_AS: 1024 kB\n");
    put(*state, "/proc/sys/vm/overcommit_memory", "0\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == reach(8 * GIB));
    put(*state, "/proc/sys/vm/overcommit_memory", "2\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == 3 * MIB);
}

static void asks_the_kernel_where_files_are_missing(void **state) {
    char *empty = path_in_tree(*state, "/nowhere");
    assert_true(bj_platform_memory_limit_bytes(empty) > 0);
    assert_true(isnan(bj_platform_cpu_quota(empty)));
    assert_int_equal(bj_platform_throttled_count(empty), 0);
    free(empty);
}

static void reads_version_2(void **state) {
    use_version_2(*state, "/user/job", "/");
    put(*state, "/sys/fs/cgroup/user/job/memory.max", "1073741824\n");
    put(*state, "/sys/fs/cgroup/user/job/memory.high", "max\n");
    put(*state, "/sys/fs/cgroup/user/job/memory.current", "314572800\n");
    put(*state, "/sys/fs/cgroup/user/job/memory.stat", "anon 1\nactive_file 7\ninactive_file 104857600\n");
    put(*state, "/sys/fs/cgroup/user/job/cpu.max", "150000 100000\n");
    put(*state, "/sys/fs/cgroup/user/job/cpu.stat", "usage_usec 5\nnr_periods 10\nnr_throttled 3\nthrottled_usec 9\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == 1024 * MIB - 200 * MIB);
    assert_float_equal(bj_platform_cpu_quota(*state), 1.5, 1e-12);
    assert_int_equal(bj_platform_throttled_count(*state), 3);
    put(*state, "/sys/fs/cgroup/user/job/memory.high", "536870912\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == 512 * MIB - 200 * MIB);
}

static void takes_the_least_over_ancestors(void **state) {
    use_version_2(*state, "/a/b/c", "/");
    put(*state, "/sys/fs/cgroup/a/b/c/memory.max", "max\n");
    put(*state, "/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
    put(*state, "/sys/fs/cgroup/a/b/memory.max", "1073741824\n");
    put(*state, "/sys/fs/cgroup/a/b/memory.current", "0\n");
    put(*state, "/sys/fs/cgroup/a/b/cpu.max", "400000 100000\n");
    put(*state, "/sys/fs/cgroup/a/b/cpu.stat", "nr_throttled 5\n");
    put(*state, "/sys/fs/cgroup/a/memory.max", "2147483648\n");
    put(*state, "/sys/fs/cgroup/a/memory.current", "1610612736\n");
    put(*state, "/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    put(*state, "/sys/fs/cgroup/a/cpu.stat", "nr_throttled 2\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == 512 * MIB);
    assert_float_equal(bj_platform_cpu_quota(*state), 0.5, 1e-12);
    assert_int_equal(bj_platform_throttled_count(*state), 7);
}

static void sees_the_mount_itself_in_a_namespace(void **state) {
    use_version_2(*state, "/", "/");
    put(*state, "/sys/fs/cgroup/memory.max", "268435456\n");
    put(*state, "/sys/fs/cgroup/memory.current", "0\n");
    put(*state, "/sys/fs/cgroup/cpu.max", "200000 100000\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == 256 * MIB);
    assert_float_equal(bj_platform_cpu_quota(*state), 2, 1e-12);
    /* Started outside of the namespace that the mount belongs to: only the mount is left to look at. */
    use_version_2(*state, "/../other", "/");
    assert_true(bj_platform_memory_limit_bytes(*state) == 256 * MIB);
}

static void strips_the_part_that_is_not_mounted(void **state) {
    use_version_2(*state, "/docker/abc/inner", "/docker/abc");
    put(*state, "/sys/fs/cgroup/memory.max", "536870912\n");
    put(*state, "/sys/fs/cgroup/inner/memory.max", "268435456\n");
    put(*state, "/sys/fs/cgroup/inner/memory.current", "1048576\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == 255 * MIB);
    /* "/docker/abcdef" only begins alike: not below the mount's root. */
    use_version_2(*state, "/docker/abcdef", "/docker/abc");
    assert_true(bj_platform_memory_limit_bytes(*state) == 512 * MIB);
}

static void prefers_the_mount_that_shows_most(void **state) {
    use_version_2(*state, "/docker/abc", "/");
    put(*state, "/proc/self/mountinfo",
        "40 1 0:26 /docker/other /mnt/other rw - cgroup2 cgroup2 rw\n"
        "41 1 0:26 /docker/abc /mnt/own rw - cgroup2 cgroup2 rw\n"
        "42 1 0:26 / /mnt/with\\040blank rw shared:1 master:2 - cgroup2 cgroup2 rw\n");
    put(*state, "/mnt/other/memory.max", "1048576\n");
    put(*state, "/mnt/own/memory.max", "1073741824\n");
    put(*state, "/mnt/with blank/docker/abc/memory.max", "1073741824\n");
    put(*state, "/mnt/with blank/docker/memory.max", "536870912\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == 512 * MIB);
}

static void reads_version_1(void **state) {
    use_version_1(*state, "/docker/abc", "/docker/abc");
    put(*state, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
    put(*state, "/sys/fs/cgroup/memory/memory.usage_in_bytes", "209715200\n");
    put(*state, "/sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 104857600\n");
    put(*state, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "25000\n");
    put(*state, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    put(*state, "/sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 9\nnr_throttled 4\nthrottled_time 77\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == 924 * MIB);
    assert_float_equal(bj_platform_cpu_quota(*state), 0.25, 1e-12);
    assert_int_equal(bj_platform_throttled_count(*state), 4);
    /* An ancestor outside of the mount allows less. */
    put(*state, "/sys/fs/cgroup/memory/memory.stat", "hierarchical_memory_limit 536870912\ntotal_inactive_file 0\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == 312 * MIB);
}

static void version_1_without_limits(void **state) {
    use_version_1(*state, "/", "/");
    put(*state, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put(*state, "/sys/fs/cgroup/memory/memory.usage_in_bytes", "9000000000\n");
    put(*state, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    put(*state, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == reach(8 * GIB));
    assert_true(isnan(bj_platform_cpu_quota(*state)));
}

/* Both versions mounted, the memory controller with version 1 and the cpu controller with version 2. */
static void reads_hybrid_systems(void **state) {
    put(*state, "/proc/self/cgroup", "4:memory:/job\n0::/job\n");
    put(*state, "/proc/self/mountinfo",
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put(*state, "/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "134217728\n");
    put(*state, "/sys/fs/cgroup/unified/job/cpu.max", "300000 100000\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == 128 * MIB);
    assert_float_equal(bj_platform_cpu_quota(*state), 3, 1e-12);
}

static void more_use_than_limit_leaves_nothing(void **state) {
    use_version_2(*state, "/", "/");
    put(*state, "/sys/fs/cgroup/memory.max", "1048576\n");
    put(*state, "/sys/fs/cgroup/memory.current", "2097152\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == 0);
    /* More to drop than is used: no use, not a negative one. */
    put(*state, "/sys/fs/cgroup/memory.stat", "inactive_file 4194304\n");
    assert_true(bj_platform_memory_limit_bytes(*state) == MIB);
}

static void survives_garbage(void **state) {
    static const char *const garbage[] = {"",
                                          "\n",
                                          "garbage\n",
                                          "-5\n",
                                          "99999999999999999999999999\n",
                                          "1e9\n",
                                          "0x100\n",
                                          ":::::\n",
                                          "0::\n",
                                          "\xff\xfe - cgroup2\n",
                                          "a b c - cgroup2\n",
                                          " - \n",
                                          "- cgroup2 x x\n",
                                          "4:memory\n",
                                          "max max\n",
                                          "100 0\n",
                                          "0 100\n"};
    static const char *const files[] = {"/proc/self/cgroup",          "/proc/self/mountinfo",
                                        "/sys/fs/cgroup/memory.max",  "/sys/fs/cgroup/memory.current",
                                        "/sys/fs/cgroup/memory.stat", "/sys/fs/cgroup/cpu.max",
                                        "/sys/fs/cgroup/cpu.stat"};
    for (size_t file = 0; file < sizeof files / sizeof files[0]; file++) {
        for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
            use_version_2(*state, "/", "/");
            put(*state, files[file], garbage[i]);
            assert_true(bj_platform_memory_limit_bytes(*state) == reach(8 * GIB));
            assert_true(isnan(bj_platform_cpu_quota(*state)));
            assert_int_equal(bj_platform_throttled_count(*state), 0);
        }
        char *path = path_in_tree(*state, files[file]);
        unlink(path);
        free(path);
    }
    put(*state, "/proc/meminfo", "MemAvailable: lots\n");
    put(*state, "/proc/self/status", "VmSize: x\n");
    assert_true(bj_platform_memory_limit_bytes(*state) > 0);
}

static void obeys_resource_limits(void **state) {
    static const int resources[] = {RLIMIT_AS, RLIMIT_DATA};
    static const uint64_t used[] = {1024 * 1024, 512 * 1024};
    for (int i = 0; i < 2; i++) {
        struct rlimit before;
        assert_int_equal(getrlimit(resources[i], &before), 0);
        if (before.rlim_cur != RLIM_INFINITY)
            continue;
        /* Less than the made-up 8 GiB, more than this program will map anew. */
        struct rlimit limit = {.rlim_cur = 4 * GIB, .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(resources[i], &limit), 0);
        struct rlimit now;
        assert_int_equal(getrlimit(resources[i], &now), 0);
        if (now.rlim_cur != limit.rlim_cur) {
            print_message("left out: this system takes limits of memory and sets none, as qemu-user does\n");
            skip();
        }
        uint64_t left = bj_platform_memory_limit_bytes(*state);
        assert_int_equal(setrlimit(resources[i], &before), 0);
        assert_true(left == reach(4 * GIB - used[i]));
    }
}

static void reads_this_system(void **state) {
    (void)state;
    assert_true(bj_platform_memory_limit_bytes("") > 0);
    double quota = bj_platform_cpu_quota("");
    assert_true(isnan(quota) || quota > 0);
    (void)bj_platform_throttled_count("");
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TREE(knows_what_is_held),
        WITH_TREE(knows_the_system_without_groups),
        WITH_TREE(adds_up_where_available_is_not_said),
        WITH_TREE(obeys_strict_overcommit),
        WITH_TREE(asks_the_kernel_where_files_are_missing),
        WITH_TREE(reads_version_2),
        WITH_TREE(takes_the_least_over_ancestors),
        WITH_TREE(sees_the_mount_itself_in_a_namespace),
        WITH_TREE(strips_the_part_that_is_not_mounted),
        WITH_TREE(prefers_the_mount_that_shows_most),
        WITH_TREE(reads_version_1),
        WITH_TREE(version_1_without_limits),
        WITH_TREE(reads_hybrid_systems),
        WITH_TREE(more_use_than_limit_leaves_nothing),
        WITH_TREE(survives_garbage),
        WITH_TREE(obeys_resource_limits),
        WITH_TREE(reads_this_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
