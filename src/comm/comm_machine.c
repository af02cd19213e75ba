/* The seam over MPI: run_messages hands orders to the ranks of each pair and gathers what they report. The clock is the
 * system's; what has nothing to do with messages is unsupported here. */
#include "comm/comm_machine.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/comm_launcher.h"
#include "comm/comm_ranks.h"
#include "comm/comm_touch.h"
#include "comm/comm_trip.h"
#include "machine/machine_check.h"
#include "platform/cpu.h"

/* One process is one rank: MPI itself is global. */
static struct {
    MPI_Comm orders, data;
    int rank, count;
    bj_comm_introduction *ranks; /* of all, on every rank */
    char *buffer;
    const volatile sig_atomic_t *stop;
    bj_rank *facts;
    int *cpus;
    unsigned number;
    double start_s;
    bj_strings warnings;
    bj_error trouble;
    sigjmp_buf escape; /* out of an MPI that aborts */
    pthread_t thread;
    volatile sig_atomic_t may_escape;
    volatile sig_atomic_t is_broken; /* it has: no call of MPI from here on */
    bool may_lack_host;              /* somebody of another host did not answer */
} self;

int bj_comm_rank(void) {
    return self.rank;
}

const char *bj_comm_host_name(void) {
    return self.ranks[self.rank].host;
}

int bj_comm_count_before(void) {
    int before = 0;
    for (int i = 0; i < self.rank; i++)
        before += strcmp(self.ranks[i].host, self.ranks[self.rank].host) == 0;
    return before;
}

const bj_strings *bj_comm_warnings(void) {
    return &self.warnings;
}

/* ---- orders and reports */

static bool is_gone(int rank) {
    return bj_comm_share_pids(&self.ranks[rank], &self.ranks[self.rank]) && kill((pid_t)self.ranks[rank].pid, 0) != 0 &&
           errno == ESRCH;
}

const char *bj_comm_trouble(void) {
    return self.trouble.text;
}

static bj_status name_lost(int rank, const char *what, bj_error *error) {
    (void)bj_base_set_error(&self.trouble, BJ_ERR_FAILED, "rank %d (host %s, process %ld) %s", rank,
                            self.ranks[rank].host, self.ranks[rank].pid, what);
    return bj_base_set_error(error, BJ_ERR_FAILED, "%s", self.trouble.text);
}

static bj_status name_silent(int rank, bj_error *error) {
    self.may_lack_host = strcmp(self.ranks[rank].host, bj_comm_host_name()) != 0;
    return name_lost(rank, "did not answer in time", error);
}

/* Looked at while waiting: nobody waits out the limit for one that is seen to be gone. */
static bool is_anybody_gone(void) {
    for (int i = 1; i < self.count; i++)
        if (is_gone(i))
            return true;
    return false;
}

/* Who is to blame where somebody waited in vain, MPI gave up or the launcher ends us: a process that is gone, if it can
 * be seen. Its keeper may need a moment to bury it. */
static bj_status blame(int silent, bj_error *error) {
    enum { LOOKS = 10 };
    for (unsigned look = 0; look < LOOKS; look++) {
        for (int i = 1; i < self.count; i++)
            if (is_gone(i))
                return name_lost(i, "has died", error);
        if (silent < 0 && *self.stop)
            break;
        usleep(50000);
    }
    if (silent >= 0)
        return name_silent(silent, error);
    if (self.is_broken)
        (void)bj_base_set_error(&self.trouble, BJ_ERR_FAILED,
                                "MPI aborted, as it does when a rank of another host is lost");
    else
        (void)bj_base_set_error(&self.trouble, BJ_ERR_FAILED, "stopped from outside");
    if (self.is_broken || *self.stop != SIGINT)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s", self.trouble.text);
    return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "stopped from outside: by the launcher or by a signal");
}

/* Some MPI libraries abort where a partner dies in the middle of a message. What was measured is not lost with them:
 * the handler leaves abort() by a jump, which C allows, and MPI is not called again. */
static void leave_abort(int number) {
    if (self.may_escape && pthread_equal(pthread_self(), self.thread)) {
        self.may_escape = 0;
        self.is_broken = 1;
        siglongjmp(self.escape, 1);
    }
    signal(number, SIG_DFL);
}

static void catch_aborts(void) {
    struct sigaction action = {.sa_handler = leave_abort};
    sigemptyset(&action.sa_mask);
    self.thread = pthread_self();
    sigaction(SIGABRT, &action, NULL);
}

static bool tell(int rank, const bj_comm_order *order) {
    MPI_Request request;
    return MPI_Isend(order, sizeof *order, MPI_BYTE, rank, BJ_COMM_TAG_ORDER, self.orders, &request) == MPI_SUCCESS &&
           bj_comm_await(&request, BJ_COMM_LIMIT_S, false, self.stop);
}

/* The next report or word of readiness of that rank. Whoever only waits for what others measure sleeps: spinning would
 * take a cpu from them. */
static bool hear(int rank, int tag, void *message, size_t bytes, double limit_s) {
    MPI_Request request;
    return MPI_Irecv(message, (int)bytes, MPI_BYTE, rank, tag, self.orders, &request) == MPI_SUCCESS &&
           bj_comm_await(&request, limit_s, true, self.stop);
}

static bj_status give_orders(const bj_message *messages, size_t count, unsigned repetitions, bj_comm_order *own,
                             bj_error *error) {
    self.number++;
    for (size_t i = 0; i < 2 * count; i++) {
        int a = (int)messages[i / 2].rank_a, b = (int)messages[i / 2].rank_b;
        /* Rank 0 takes the first part where it takes one: it has no order to read. */
        bool swap = b == 0;
        int rank = (i % 2 == 0) != swap ? a : b;
        bj_comm_order order = {.role = i % 2 == 0 ? BJ_COMM_SEND_FIRST : BJ_COMM_ANSWER,
                               .partner = rank == a ? b : a,
                               .repetitions = repetitions,
                               .number = self.number,
                               .pairs = (unsigned)count,
                               .bytes = messages[i / 2].bytes};
        if (rank == 0)
            *own = order;
        else if (!tell(rank, &order))
            return blame(rank, error);
    }
    return BJ_OK;
}

/* With pairs at once: all first sides are warm, then all begin. A rank 0 that is in a pair begins with them. */
static bj_status open_barrier(const bj_message *messages, size_t count, bj_error *error) {
    unsigned number;
    for (unsigned step = 0; step < 2 && count > 1; step++)
        for (size_t i = 0; i < count; i++) {
            int first = (int)(messages[i].rank_b == 0 ? messages[i].rank_b : messages[i].rank_a);
            MPI_Request request;
            if (first == 0)
                continue;
            if (step == 0 && !hear(first, BJ_COMM_TAG_READY, &number, sizeof number, BJ_COMM_REPORT_LIMIT_S))
                return blame(first, error);
            if (step == 1 && (MPI_Isend(&self.number, 1, MPI_UNSIGNED, first, BJ_COMM_TAG_GO, self.orders, &request) !=
                                  MPI_SUCCESS ||
                              !bj_comm_await(&request, BJ_COMM_LIMIT_S, false, self.stop)))
                return blame(first, error);
        }
    return BJ_OK;
}

/* One that reports that its partner was silent names it; where both do, or none, neither can be believed. */
static bj_status gather(const bj_message *messages, size_t count, unsigned repetitions, const bj_comm_report *own,
                        double *ns, bj_error *error) {
    for (size_t i = 0; i < count; i++) {
        int a = (int)messages[i].rank_a, b = (int)messages[i].rank_b, first = b == 0 ? b : a, second = b == 0 ? a : b;
        bj_comm_report reports[2] = {*own, *own};
        if (first != 0 && !hear(first, BJ_COMM_TAG_REPORT, &reports[0], sizeof reports[0], BJ_COMM_REPORT_LIMIT_S))
            return blame(first, error);
        if (reports[0].silent >= 0)
            return blame(reports[0].silent, error);
        if (!hear(second, BJ_COMM_TAG_REPORT, &reports[1], sizeof reports[1], BJ_COMM_REPORT_LIMIT_S))
            return blame(second, error);
        if (reports[1].silent >= 0)
            return blame(reports[1].silent, error);
        for (unsigned r = 0; r < repetitions; r++)
            ns[i * repetitions + r] = reports[0].ns[r];
    }
    return BJ_OK;
}

static bj_status exchange(const bj_message *messages, size_t count, unsigned repetitions, double *ns_one_way,
                          bj_error *error) {
    bj_comm_order own = {.role = BJ_COMM_QUIT};
    bj_comm_report report = {0};
    BJ_TRY(give_orders(messages, count, repetitions, &own, error));
    BJ_TRY(open_barrier(messages, count, error));
    if (own.role != BJ_COMM_QUIT)
        bj_comm_take_part(self.data, self.orders, &own, self.buffer, self.stop, &report);
    if (own.role != BJ_COMM_QUIT && report.silent >= 0)
        return blame(report.silent, error);
    return gather(messages, count, repetitions, &report, ns_one_way, error);
}

static bj_status run_messages(bj_machine *machine, const bj_message *messages, size_t count, unsigned repetitions,
                              double *ns_one_way, bj_error *error) {
    bj_machine_clear_samples(ns_one_way, count * repetitions);
    BJ_TRY(bj_machine_check_messages(machine, messages, count, error));
    if (repetitions > BJ_COMM_REPETITIONS_MOST)
        return bj_base_set_error(error, BJ_ERR_USAGE, "%u repetitions of messages", repetitions);
    if (self.trouble.text[0] != '\0') /* the others do not wait for orders any more */
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s", self.trouble.text);
    if (*self.stop)
        return blame(-1, error);
    if (sigsetjmp(self.escape, 1) != 0)
        return blame(-1, error);
    self.may_escape = 1;
    bj_comm_keep_touch(); /* it sends to all, also to a host that is lost */
    bj_status status = exchange(messages, count, repetitions, ns_one_way, error);
    self.may_escape = 0;
    return status;
}

static double read_clock(bj_machine *machine) {
    (void)machine;
    return bj_comm_read_seconds() - self.start_s;
}

static bool read_claim(bj_machine *machine, const char *key, int cpu, double *value) {
    (void)machine;
    (void)key;
    (void)cpu;
    (void)value;
    return false;
}

static void free_all(void) {
    bj_strings_free(&self.warnings);
    free(self.ranks);
    free(self.facts);
    free(self.cpus);
    free(self.buffer);
    bj_comm_close_touch();
}

static void close_machine(bj_machine *machine) {
    bj_comm_order quit = {.role = BJ_COMM_QUIT};
    for (int i = 1; i < self.count && !self.is_broken; i++)
        (void)tell(i, &quit);
    free(machine);
}

/* A probe that asks for anything else finds no such verb: only `comm` runs here. */
static const bj_machine_verbs verbs = {
    .close = close_machine, .read_clock = read_clock, .read_claim = read_claim, .run_messages = run_messages};

/* ---- ranks */

static bj_status lose_first(bj_error *error) {
    return bj_base_set_error(error, BJ_ERR_FAILED, "rank %d (host %s) lost rank 0 (host %s)", self.rank,
                             bj_comm_host_name(), self.ranks[0].host);
}

/* The next order but to stay. */
static bj_status await_order(bj_comm_order *order, bj_error *error) {
    unsigned naps = 0;
    bj_comm_note_first();
    for (;;) {
        int is_there = 0;
        if (MPI_Iprobe(0, BJ_COMM_TAG_ORDER, self.orders, &is_there, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return lose_first(error);
        if (*self.stop)
            return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "stopped from outside");
        if (!is_there && bj_comm_has_lost_first())
            return bj_base_set_error(error, BJ_ERR_FAILED,
                                     "rank %d (host %s): rank 0 (host %s) has given no sign of life for %.0f s",
                                     self.rank, bj_comm_host_name(), self.ranks[0].host, BJ_COMM_SILENCE_S);
        if (!is_there) {
            bj_comm_nap(naps++);
            continue;
        }
        if (!hear(0, BJ_COMM_TAG_ORDER, order, sizeof *order, BJ_COMM_LIMIT_S))
            return lose_first(error);
        bj_comm_note_first();
        if (order->role != BJ_COMM_STAY)
            return BJ_OK;
    }
}

bj_status bj_comm_serve(bj_error *error) {
    for (;;) {
        bj_comm_order order;
        bj_comm_report report;
        MPI_Request request;
        BJ_TRY(await_order(&order, error));
        if (order.role == BJ_COMM_QUIT)
            return BJ_OK;
        bj_comm_take_part(self.data, self.orders, &order, self.buffer, self.stop, &report);
        if (MPI_Isend(&report, sizeof report, MPI_BYTE, 0, BJ_COMM_TAG_REPORT, self.orders, &request) != MPI_SUCCESS ||
            !bj_comm_await(&request, BJ_COMM_LIMIT_S, false, self.stop))
            return lose_first(error);
    }
}

/* Whether this rank is the first of its host. */
static bool leads_host(int rank) {
    for (int i = 0; i < rank; i++)
        if (self.facts[i].host == self.facts[rank].host)
            return false;
    return true;
}

/* is_lost: of each rank, all false at first. */
static bj_status await_nodes(bool *is_lost, bj_error *error) {
    int busy = 1, lost = 0, first = 0;
    for (unsigned naps = 0; busy > 0 && !*self.stop; naps++) {
        busy = 0;
        bj_comm_keep_touch();
        for (int i = 1; i < self.count; i++) {
            if (is_lost[i] || !leads_host(i))
                continue;
            bj_comm_node_state state = bj_comm_look_at_node(i);
            is_lost[i] = state == BJ_COMM_NODE_SILENT;
            first = is_lost[i] && lost++ == 0 ? i : first;
            busy += state == BJ_COMM_NODE_BUSY;
        }
        bj_comm_nap(naps);
    }
    if (lost == 0)
        return *self.stop ? blame(-1, error) : BJ_OK;
    (void)name_silent(first, error);
    if (lost > 1)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%.200s, and %d other hosts as well", self.trouble.text,
                                 lost - 1);
    return BJ_ERR_FAILED;
}

bj_status bj_comm_meet_after_nodes(bj_error *error) {
    if (self.rank != 0) {
        if (leads_host(self.rank))
            bj_comm_tell_node_done();
        return BJ_OK;
    }
    bool *const is_lost = calloc((size_t)self.count, sizeof *is_lost);
    bj_status status;
    if (is_lost == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %d ranks", self.count);
    if (sigsetjmp(self.escape, 1) == 0) {
        self.may_escape = 1;
        status = await_nodes(is_lost, error);
        self.may_escape = 0;
    } else
        status = blame(-1, error);
    free(is_lost);
    return status;
}

void bj_comm_abort(int status) {
    bj_comm_let_launcher_read();
    if (self.may_lack_host || self.is_broken)
        bj_comm_press_launcher();
    if (self.is_broken) {
        bj_comm_end_job(status);
        _exit(status);
    }
    MPI_Abort(MPI_COMM_WORLD, status);
}

void bj_comm_leave(void) {
    MPI_Finalize();
    free_all();
}

static bj_status gather_introductions(bj_error *error) {
    bj_comm_introduction mine;
    bj_comm_introduce(&mine);
    self.ranks = calloc((size_t)self.count, sizeof *self.ranks);
    self.facts = calloc((size_t)self.count, sizeof *self.facts);
    self.buffer = calloc(1, BJ_MESSAGE_MOST_BYTES);
    if (self.ranks == NULL || self.facts == NULL || self.buffer == NULL ||
        !bj_comm_open_touch(self.orders, self.rank, self.count))
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for messages");
    MPI_Request request;
    if (MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, self.ranks, sizeof mine, MPI_BYTE, self.orders, &request) !=
            MPI_SUCCESS ||
        !bj_comm_await(&request, BJ_COMM_REPORT_LIMIT_S, true, self.stop))
        return bj_base_set_error(error, BJ_ERR_FAILED, "rank %d (host %s): the ranks do not find each other", self.rank,
                                 mine.host);
    bj_comm_number_hosts(self.ranks, (size_t)self.count, self.facts);
    return bj_comm_warn_of_placement(self.ranks, self.facts, (size_t)self.count, &self.warnings, error);
}

bj_status bj_comm_open(int *count, char ***words, const volatile sig_atomic_t *stop, bool *is_first,
                       bj_machine **machine, bj_error *error) {
    *machine = NULL;
    if (MPI_Init(count, words) != MPI_SUCCESS)
        return bj_base_set_error(error, BJ_ERR_FAILED, "MPI does not start");
    MPI_Comm_dup(MPI_COMM_WORLD, &self.orders);
    MPI_Comm_dup(MPI_COMM_WORLD, &self.data);
    /* A lost partner shall be an answer, not the end. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(self.orders, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(self.data, MPI_ERRORS_RETURN);
    MPI_Comm_rank(self.orders, &self.rank);
    MPI_Comm_size(self.orders, &self.count);
    self.stop = stop;
    self.start_s = bj_comm_read_seconds();
    *is_first = self.rank == 0;
    BJ_TRY(bj_comm_check_count(self.count, error));
    BJ_TRY(gather_introductions(error));
    if (!*is_first)
        return BJ_OK;
    catch_aborts();
    bj_comm_watch(is_anybody_gone);
    bj_machine *made = calloc(1, sizeof *made);
    size_t cpu_count = 0;
    if (made == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the machine");
    bj_status status = bj_platform_list_cpus(&self.cpus, &cpu_count, error);
    if (status != BJ_OK) {
        free(made);
        return status;
    }
    made->verbs = &verbs;
    made->facts = (bj_machine_facts){.name = "native",
                                     .where = "native",
                                     .cpus = self.cpus,
                                     .cpu_count = cpu_count,
                                     .page_bytes = (size_t)sysconf(_SC_PAGESIZE),
                                     .memory_limit_bytes = (uint64_t)1 << 30,
                                     .ranks = self.facts,
                                     .rank_count = (size_t)self.count};
    *machine = made;
    return BJ_OK;
}
