#include "comm/comm_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/cpu.h"
#include "platform/process.h"

/* Names and numbers that a message holds; of the others it says how many there are. */
enum { NAMES_MOST = 8, TEXT_ROOM = 600 };

void bj_comm_introduce(bj_comm_introduction *mine) {
    int *cpus = NULL;
    size_t count = 0;
    bj_error ignored;
    *mine = (bj_comm_introduction){.pid = (long)getpid(), .pid_space = bj_platform_read_pid_space(), .cpu = -1};
    if (gethostname(mine->host, sizeof mine->host - 1) != 0)
        snprintf(mine->host, sizeof mine->host, "unknown");
    if (bj_platform_list_cpus(&cpus, &count, &ignored) != BJ_OK)
        return;
    for (size_t i = 0; i < count && cpus[i] < BJ_COMM_CPUS_MOST; i++)
        mine->cpus[cpus[i] / 64] |= (uint64_t)1 << cpus[i] % 64;
    mine->cpu = count == 1 && cpus[0] < BJ_COMM_CPUS_MOST ? cpus[0] : -1;
    free(cpus);
}

bool bj_comm_share_pids(const bj_comm_introduction *a, const bj_comm_introduction *b) {
    return a->pid_space != 0 && a->pid_space == b->pid_space && strcmp(a->host, b->host) == 0;
}

static int compare_hosts(const void *a, const void *b) {
    const bj_comm_introduction *left = *(const bj_comm_introduction *const *)a;
    const bj_comm_introduction *right = *(const bj_comm_introduction *const *)b;
    int order = strcmp(left->host, right->host);
    return order != 0 ? order : left < right ? -1 : left > right;
}

/* By the first rank of each host: a search among all before would take long with thousands of ranks. */
void bj_comm_number_hosts(const bj_comm_introduction *ranks, size_t count, bj_rank *facts) {
    const bj_comm_introduction **sorted = malloc((count + 1) * sizeof(void *));
    unsigned hosts = 0;
    for (size_t i = 0; i < count; i++) {
        facts[i] = (bj_rank){.host = 0, .cpu = ranks[i].cpu, .name = ranks[i].host};
        if (sorted != NULL)
            sorted[i] = &ranks[i];
    }
    if (sorted == NULL)
        return;
    qsort(sorted, count, sizeof(void *), compare_hosts);
    /* Until all are numbered, a rank's host is the place of the host's first rank. */
    for (size_t i = 0, first = 0; i < count; i++) {
        first = i > 0 && strcmp(sorted[i]->host, sorted[i - 1]->host) == 0 ? first : i;
        facts[sorted[i] - ranks].host = (unsigned)(sorted[first] - ranks);
    }
    for (size_t i = 0; i < count; i++)
        facts[i].host = facts[i].host == i ? hosts++ : facts[facts[i].host].host;
    free(sorted);
}

/* "a, b, c and 5 more" */
typedef struct {
    char text[TEXT_ROOM];
    size_t used, count;
} name_list;

static void add_name(name_list *list, const char *name) {
    if (list->count++ < NAMES_MOST && list->used + 1 < sizeof list->text)
        list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used, "%s%s",
                                       list->count > 1 ? ", " : "", name);
    if (list->used >= sizeof list->text)
        list->used = sizeof list->text - 1;
}

static void end_list(name_list *list) {
    if (list->count > NAMES_MOST && list->used + 1 < sizeof list->text)
        snprintf(list->text + list->used, sizeof list->text - list->used, " and %zu more", list->count - NAMES_MOST);
}

static void find_unbound(const bj_comm_introduction *ranks, const bj_rank *facts, size_t count, name_list *unbound,
                         name_list *hosts) {
    for (size_t i = 0; i < count; i++) {
        char number[24];
        bool is_new = true;
        if (ranks[i].cpu >= 0)
            continue;
        snprintf(number, sizeof number, "%zu", i);
        add_name(unbound, number);
        for (size_t j = i; j > 0 && is_new; j--)
            is_new = facts[j - 1].host != facts[i].host || ranks[j - 1].cpu >= 0;
        if (is_new)
            add_name(hosts, ranks[i].host);
    }
    end_list(unbound);
    end_list(hosts);
}

/* Of one host: its ranks, the cpus that any of them may use, and whether two are bound to the same. */
typedef struct {
    size_t ranks;
    size_t first;
    uint64_t cpus[BJ_COMM_CPUS_MOST / 64], bound[BJ_COMM_CPUS_MOST / 64];
    int shared_cpu; /* -1: none */
} host_count;

static size_t count_cpus(const uint64_t *cpus) {
    size_t count = 0;
    for (size_t i = 0; i < BJ_COMM_CPUS_MOST; i++)
        count += cpus[i / 64] >> i % 64 & 1;
    return count;
}

static void count_ranks(const bj_comm_introduction *ranks, const bj_rank *facts, size_t count, host_count *hosts) {
    for (size_t i = 0; i < count; i++) {
        host_count *host = &hosts[facts[i].host];
        int cpu = ranks[i].cpu;
        if (host->ranks++ == 0) {
            host->first = i;
            host->shared_cpu = -1;
        }
        for (size_t k = 0; k < BJ_COMM_CPUS_MOST / 64; k++)
            host->cpus[k] |= ranks[i].cpus[k];
        if (cpu >= 0 && host->bound[cpu / 64] >> cpu % 64 & 1)
            host->shared_cpu = host->shared_cpu < 0 ? cpu : host->shared_cpu;
        if (cpu >= 0)
            host->bound[cpu / 64] |= (uint64_t)1 << cpu % 64;
    }
}

static bj_status warn_of_hosts(const bj_comm_introduction *ranks, const host_count *hosts, size_t count,
                               bj_strings *warnings, bj_error *error) {
    name_list crowded = {.used = 0}, shared = {.used = 0};
    char text[TEXT_ROOM + 200];
    for (size_t i = 0; i < count && hosts[i].ranks > 0; i++) {
        size_t cpus = count_cpus(hosts[i].cpus);
        char one[BJ_COMM_NAME_ROOM + 60];
        snprintf(one, sizeof one, "%s (%zu ranks, %zu cpu%s)", ranks[hosts[i].first].host, hosts[i].ranks, cpus,
                 cpus == 1 ? "" : "s");
        if (cpus > 0 && hosts[i].ranks > cpus)
            add_name(&crowded, one);
        snprintf(one, sizeof one, "%s (cpu %d)", ranks[hosts[i].first].host, hosts[i].shared_cpu);
        if (hosts[i].shared_cpu >= 0 && hosts[i].ranks <= cpus)
            add_name(&shared, one);
    }
    end_list(&crowded);
    end_list(&shared);
    snprintf(text, sizeof text,
             "the launcher put more ranks on a host than they have cpus: %s; ranks that wait sleep, but pairs at once "
             "share cpus",
             crowded.text);
    if (crowded.count > 0)
        BJ_TRY(bj_strings_add(warnings, text, error));
    snprintf(text, sizeof text, "ranks are bound to the same cpu: %s", shared.text);
    return shared.count > 0 ? bj_strings_add(warnings, text, error) : BJ_OK;
}

bj_status bj_comm_warn_of_placement(const bj_comm_introduction *ranks, const bj_rank *facts, size_t count,
                                    bj_strings *warnings, bj_error *error) {
    name_list unbound = {.used = 0}, hosts = {.used = 0};
    char text[2 * TEXT_ROOM + 200];
    find_unbound(ranks, facts, count, &unbound, &hosts);
    snprintf(text, sizeof text,
             "%zu of %zu ranks are not bound to one cpu (rank %s on %s): they may move while they are measured; bind "
             "them (mpirun --bind-to core, srun --cpu-bind=cores)",
             unbound.count, count, unbound.text, hosts.text);
    if (unbound.count > 0)
        BJ_TRY(bj_strings_add(warnings, text, error));
    host_count *counted = calloc(count + 1, sizeof *counted);
    if (counted == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu hosts", count);
    count_ranks(ranks, facts, count, counted);
    bj_status status = warn_of_hosts(ranks, counted, count, warnings, error);
    free(counted);
    return status;
}

bj_status bj_comm_check_count(int count, bj_error *error) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; count == 1 && i < sizeof names / sizeof names[0]; i++) {
        const char *text = getenv(names[i]);
        if (text != NULL && strtol(text, NULL, 10) > 1)
            return bj_base_set_error(
                error, BJ_ERR_USAGE,
                "the launcher started %.20s ranks, but each is alone for MPI: take the mpirun of the "
                "MPI that this program was built with; srun --mpi=pmix for Open MPI, --mpi=pmi2 "
                "for MPICH",
                text);
    }
    return BJ_OK;
}
