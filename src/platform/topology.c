/* hwloc is asked in a child process, which hands over a flat table and is gone. In some virtual machines and
 * containers hwloc aborts or crashes while it loads, and prints its complaints on standard error; only the
 * process environment could silence it, which is not a library's to change. The child also takes the hopping
 * from cpu to cpu that hwloc does to ask each one, and all plugins that it opens.
 *
 * hwloc loads plugins from folders that the environment names, also where the loader of a privileged program would not.
 * So it sees next to nothing of ours, and with somebody else's rights it is not asked at all. */
#include "platform/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "platform/clock.h"
#include "platform/pages.h"

enum { MAX_LEVELS = 8 };

typedef struct {
    uint64_t size_bytes;
    uint32_t line_bytes; /* 0: not said */
    int32_t associativity;
} cache;

/* What one cpu sees, from the innermost level out. The last view of the pipe has cpu -1: without it the child did
 * not finish. (Its exit status would not do: a host that ignores SIGCHLD never gets it.) */
typedef struct {
    int32_t cpu;
    int32_t levels;
    cache caches[MAX_LEVELS];
} view;

struct bj_topology {
    size_t count;
    view views[];
};

/* Far above what hwloc takes on the largest machines; a child that hangs must not hang us. */
static const uint64_t patience_ns = 20000000000u;
static const uint64_t reap_patience_ns = 2000000000u;

static void read_view(hwloc_obj_t unit, view *seen) {
    *seen = (view){.cpu = (int32_t)unit->os_index};
    for (hwloc_obj_t object = unit->parent; object != NULL && seen->levels < MAX_LEVELS; object = object->parent) {
        if (!hwloc_obj_type_is_dcache(object->type))
            continue;
        const struct hwloc_cache_attr_s *about = &object->attr->cache;
        seen->caches[seen->levels++] =
            (cache){.size_bytes = about->size, .line_bytes = about->linesize, .associativity = about->associativity};
    }
}

static bool send_view(int out, const view *seen) {
    return bj_base_write_all(out, (const char *)seen, sizeof *seen) == 0;
}

/* What is left names data, no code: another machine's description, which some containers come with. */
static void scrub_environment(void) {
    static const char *const kept[] = {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_THISSYSTEM"};
    enum { KEPT = sizeof kept / sizeof kept[0] };
    const char *values[KEPT];
    for (size_t i = 0; i < KEPT; i++)
        values[i] = getenv(kept[i]);
    clearenv();
    for (size_t i = 0; i < KEPT; i++)
        if (values[i] != NULL)
            setenv(kept[i], values[i], 1);
}

/* In the child: 0 when the table went out whole. */
static int send_views(int out) {
    /* A crash here is expected on some machines; it must leave no core file and no message. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    /* Where a standard stream was closed, the pipe may stand in its place. */
    out = fcntl(out, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int nowhere = open("/dev/null", O_RDWR);
    if (out < 0 || nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0)
        return 1;
    static const int deadly[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPIPE, SIGTERM};
    for (size_t i = 0; i < sizeof deadly / sizeof deadly[0]; i++)
        signal(deadly[i], SIG_DFL);
    scrub_environment();
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return 1;
    /* A cpuset that leaves nothing makes hwloc fail; which cpus we may use is asked elsewhere. */
    if (hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) != 0 ||
        hwloc_topology_load(topology) != 0)
        return 1;
    /* HWLOC_XMLFILE and the like may show another machine. */
    if (!hwloc_topology_is_thissystem(topology))
        return 1;
    hwloc_obj_t unit = NULL;
    while ((unit = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, unit)) != NULL) {
        view seen;
        read_view(unit, &seen);
        if (!send_view(out, &seen))
            return 1;
    }
    return send_view(out, &(view){.cpu = -1}) ? 0 : 1;
}

/* Until the end of the pipe; NULL when it does not come in time or memory is out. */
static bj_topology *receive_views(int in) {
    size_t used = 0, room = sizeof(bj_topology) + 64 * sizeof(view);
    uint64_t deadline = bj_platform_read_ns() + patience_ns;
    char *bytes = malloc(room);
    while (bytes != NULL) {
        uint64_t now = bj_platform_read_ns();
        struct pollfd ready = {.fd = in, .events = POLLIN};
        int waited = now >= deadline ? 0 : poll(&ready, 1, (int)((deadline - now) / 1000000) + 1);
        if (waited < 0 && errno == EINTR)
            continue;
        if (waited <= 0)
            break;
        ssize_t got = read(in, bytes + sizeof(bj_topology) + used, room - sizeof(bj_topology) - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        if (got == 0) {
            bj_topology *topology = (bj_topology *)(void *)bytes;
            topology->count = used / sizeof(view);
            return topology;
        }
        used += (size_t)got;
        if (sizeof(bj_topology) + used == room) {
            char *grown = realloc(bytes, room *= 2);
            if (grown == NULL)
                break;
            bytes = grown;
        }
    }
    free(bytes);
    return NULL;
}

/* A child that is stuck in the kernel outlives even SIGKILL, and is then left to whoever inherits it. */
static void reap(pid_t child) {
    uint64_t deadline = bj_platform_read_ns() + reap_patience_ns;
    for (;;) {
        pid_t gone = waitpid(child, NULL, WNOHANG);
        if (gone > 0 || (gone < 0 && errno != EINTR) || bj_platform_read_ns() > deadline)
            return;
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

bj_topology *bj_platform_load_topology(void) {
    int ends[2];
    if (getauxval(AT_SECURE) != 0 || pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    pid_t child = fork();
    if (child == 0)
        _exit(send_views(ends[1]));
    close(ends[1]);
    bj_topology *topology = child < 0 ? NULL : receive_views(ends[0]);
    close(ends[0]);
    if (child < 0)
        return NULL;
    if (topology == NULL)
        kill(child, SIGKILL);
    reap(child);
    /* The end mark is dropped; nothing before it is no topology either. */
    if (topology != NULL && (topology->count < 2 || topology->views[--topology->count].cpu != -1)) {
        free(topology);
        topology = NULL;
    }
    return topology;
}

void bj_platform_free_topology(bj_topology *topology) {
    free(topology);
}

static const view *find_view(const bj_topology *topology, int cpu) {
    for (size_t i = 0; topology != NULL && i < topology->count; i++)
        if (topology->views[i].cpu == cpu)
            return &topology->views[i];
    return NULL;
}

/* hwloc says 0 where it does not know, and -1 for fully associative: no claim either. */
static bool claim(double said, double *value) {
    if (said <= 0)
        return false;
    *value = said;
    return true;
}

static bool claim_level(const view *seen, const char *key, double *value) {
    static const char before[] = "cache.L";
    /* One digit is enough for MAX_LEVELS, and "L01" or "L+1" are no keys. */
    size_t length = sizeof before - 1;
    if (strncmp(key, before, length) != 0 || key[length] < '1' || key[length] > '0' + seen->levels ||
        key[length + 1] != '.')
        return false;
    const cache *level = &seen->caches[key[length] - '1'];
    const char *field = key + length + 2;
    if (strcmp(field, "size_bytes") == 0 || strcmp(field, "capacity_bytes") == 0)
        return claim((double)level->size_bytes, value);
    if (strcmp(field, "line_bytes") == 0)
        return claim(level->line_bytes, value);
    if (strcmp(field, "associativity") == 0)
        return claim(level->associativity, value);
    return false;
}

bool bj_platform_read_claim(const bj_topology *topology, const char *key, int cpu, double *value) {
    if (strcmp(key, "page.size_bytes") == 0)
        return claim((double)bj_platform_page_bytes(), value);
    const view *seen = find_view(topology, cpu);
    if (seen == NULL)
        return false;
    if (strcmp(key, "cache.levels") == 0)
        return claim(seen->levels, value);
    if (strcmp(key, "cache.line_bytes") == 0)
        return claim(seen->levels > 0 ? seen->caches[0].line_bytes : 0, value);
    return claim_level(seen, key, value);
}
