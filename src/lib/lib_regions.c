/* Regions of a program: what begin and end call when the fast path of blackjack/regions.h does not do. */
#include "lib/lib_regions.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/output.h"
#include "lib/lib.h"
#include "platform/pages.h"
#include "platform/system/file_system.h"

/* Virtual; memory is taken as threads come. Some 70 000 pairs of thread and region fit. */
#define ARENA_BYTES ((size_t)1 << 30)
#define ARENA_LEAST_BYTES ((size_t)1 << 20)
/* Of a call, in operations or bytes: the file has whole numbers, which JSON's readers take up to 2^63. */
#define WORK_MOST 9e18

typedef struct {
    bj_lib_region_slot *slots[BJ_LIB_REGIONS_MOST + 1]; /* the last: of a region that has no number */
    unsigned thread;
} thread_table;

/* Of a thread that has none yet: every region goes to the library. Never written to. */
static bj_lib_region_slot *no_slots[BJ_LIB_REGIONS_MOST + 1];
__thread bj_lib_region_slot **bj_lib_region_slots = no_slots;

static bj_region_arena *arena;
static pthread_once_t once = PTHREAD_ONCE_INIT;

uint64_t bj_lib_read_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void *bj_inside_take_region_memory(bj_region_arena *from, size_t bytes) {
    bytes = (bytes + 63) & ~(size_t)63;
    size_t at = BJ_LIB_LOAD(from->used);
    do {
        if (bytes > from->room - at) {
            __atomic_fetch_add(&from->refused, 1, __ATOMIC_RELAXED);
            return NULL;
        }
    } while (!__atomic_compare_exchange_n(&from->used, &at, at + bytes, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    char *memory = (char *)from + at;
    memset(memory, 0, bytes); /* touched now, not at the first end of a period */
    return memory;
}

/* ---- closing periods */

static void sum_lengths(const bj_lib_region_slot *slot, uint64_t *calls, uint64_t *ticks) {
    *calls = *ticks = 0;
    for (size_t i = 0; i < 63; i++) { /* the last: the counter went backwards */
        *calls += slot->lengths[i].calls;
        *ticks += slot->lengths[i].ticks;
    }
}

static void merge_bins(bj_region_bin *into, const bj_region_bin *from) {
    if (into->periods == 0 || from->least < into->least)
        BJ_LIB_STORE(into->least, from->least);
    if (from->most > into->most)
        BJ_LIB_STORE(into->most, from->most);
    BJ_LIB_STORE(into->end, from->end);
    BJ_LIB_STORE(into->calls, into->calls + from->calls);
    BJ_LIB_STORE(into->ticks, into->ticks + from->ticks);
    BJ_LIB_STORE(into->periods, into->periods + from->periods);
}

static void copy_bin(bj_region_bin *to, const bj_region_bin *from) {
    BJ_LIB_STORE(to->periods, (uint64_t)0);
    BJ_LIB_STORE(to->calls, (uint64_t)0);
    BJ_LIB_STORE(to->ticks, (uint64_t)0);
    BJ_LIB_STORE(to->most, (uint64_t)0);
    merge_bins(to, from);
}

static void halve_bins(bj_region_record *record) {
    for (size_t i = 0; i < REGION_BINS / 2; i++) {
        bj_region_bin both = record->bins[2 * i];
        merge_bins(&both, &record->bins[2 * i + 1]);
        copy_bin(&record->bins[i], &both);
    }
    BJ_LIB_STORE(record->bin_count, (uint64_t)REGION_BINS / 2);
    BJ_LIB_STORE(record->periods_a_bin, record->periods_a_bin * 2);
}

/* What was recorded since the last period was closed becomes one. */
static void close_period(bj_region_record *record, uint64_t end) {
    uint64_t calls, ticks;
    sum_lengths(&record->slot, &calls, &ticks);
    bj_region_bin period = {
        .end = end, .calls = calls - record->period_calls, .ticks = ticks - record->period_ticks, .periods = 1};
    BJ_LIB_STORE(record->period_calls, calls);
    BJ_LIB_STORE(record->period_ticks, ticks);
    if (period.calls == 0)
        return;
    period.least = period.most = (uint64_t)((double)period.ticks * 1000 / (double)period.calls);
    __atomic_fetch_add(&record->version, 1, __ATOMIC_ACQ_REL);
    bj_region_bin *last = record->bin_count > 0 ? &record->bins[record->bin_count - 1] : NULL;
    if (last != NULL && last->periods < record->periods_a_bin) {
        merge_bins(last, &period);
    } else {
        if (record->bin_count == REGION_BINS)
            halve_bins(record);
        copy_bin(&record->bins[record->bin_count], &period);
        BJ_LIB_STORE(record->bin_count, record->bin_count + 1);
    }
    __atomic_fetch_add(&record->version, 1, __ATOMIC_ACQ_REL);
}

/* ---- begin and end, when the fast path does not do */

static thread_table *open_thread(void) {
    thread_table *table = bj_inside_take_region_memory(arena, sizeof *table);
    if (table == NULL)
        return NULL;
    table->thread = __atomic_fetch_add(&arena->threads, 1, __ATOMIC_RELAXED);
    bj_lib_region_slots = table->slots;
    return table;
}

static bj_region_record *open_record(bj_lib_region region) {
    thread_table *table = bj_lib_region_slots == no_slots ? open_thread() : (thread_table *)(void *)bj_lib_region_slots;
    bj_region_record *record = table != NULL ? bj_inside_take_region_memory(arena, sizeof *record) : NULL;
    if (record == NULL)
        return NULL;
    record->region = region;
    record->thread = table->thread;
    record->process = getpid();
    record->periods_a_bin = 1;
    record->first = BJ_LIB_READ_COUNTER();
    record->slot.period_end = record->first + arena->period_ticks;
    bj_region_record *head = BJ_LIB_LOAD(arena->records);
    do
        record->next = head;
    while (!__atomic_compare_exchange_n(&arena->records, &head, record, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    table->slots[region] = &record->slot;
    return record;
}

bj_lib_region_slot *bj_lib_enter_region(bj_lib_region region) {
    if (region >= BJ_LIB_REGIONS_MOST || arena == NULL)
        return NULL;
    bj_region_record *record = (bj_region_record *)bj_lib_region_slots[region];
    if (record == NULL)
        record = open_record(region);
    if (record == NULL)
        return NULL;
    if (record->slot.began == 0)
        return &record->slot;
    record->nested++;
    BJ_LIB_STORE(record->slot.period_end, (uint64_t)0); /* its end is ours to see */
    return NULL;
}

void bj_lib_leave_region(bj_lib_region region, uint64_t now) {
    if (region >= BJ_LIB_REGIONS_MOST || arena == NULL)
        return;
    bj_region_record *record = (bj_region_record *)bj_lib_region_slots[region];
    if (record == NULL)
        record = open_record(region);
    if (record == NULL)
        return;
    bj_lib_region_slot *slot = &record->slot;
    uint64_t began = slot->began;
    if (began == 0) {
        BJ_LIB_STORE(record->unopened, record->unopened + 1);
        return;
    }
    if (record->nested > 0) {
        record->nested--;
        return;
    }
    /* A call that began after the period belongs to the next one: a period stays short where calls are rare. A nested
     * call left no end of the period: it is over. */
    uint64_t period_end = slot->period_end;
    if (period_end != 0 && began >= period_end) {
        close_period(record, period_end);
        period_end = began + arena->period_ticks;
    }
    uint64_t ticks = now - began;
    unsigned length = 63u - (unsigned)__builtin_clzll(ticks | 1u);
    BJ_LIB_STORE(slot->lengths[length].calls, slot->lengths[length].calls + 1);
    BJ_LIB_STORE(slot->lengths[length].ticks, slot->lengths[length].ticks + ticks);
    if (now >= period_end) {
        close_period(record, now);
        period_end = now + arena->period_ticks;
    }
    BJ_LIB_STORE(slot->period_end, period_end);
    BJ_LIB_STORE(slot->began, (uint64_t)0);
    BJ_LIB_STORE(record->library_ticks, record->library_ticks + (BJ_LIB_READ_COUNTER() - now));
}

/* ---- processes */

/* The regions that the forking thread has open, and how deep: read before the fork, since records are shared and the
 * parent may have ended them before the child looks. */
static __thread uint8_t open_at_fork[BJ_LIB_REGIONS_MOST];

static void note_open_regions(void) {
    for (bj_lib_region region = 0; region < BJ_LIB_REGIONS_MOST; region++) {
        const bj_region_record *record = (const bj_region_record *)bj_lib_region_slots[region];
        bool is_open = record != NULL && record->slot.began != 0;
        open_at_fork[region] = (uint8_t)(!is_open ? 0 : record->nested < UINT8_MAX ? record->nested + 1 : UINT8_MAX);
    }
}

/* A child has one thread, with records of its own: what it had copied is its parent's. A region that was open is open
 * in the child, too, from here on. */
static void follow_fork(void) {
    bj_lib_region_slots = no_slots;
    for (bj_lib_region region = 0; region < BJ_LIB_REGIONS_MOST; region++) {
        bj_region_record *record = open_at_fork[region] > 0 ? open_record(region) : NULL;
        if (record == NULL)
            continue;
        record->nested = open_at_fork[region] - 1u;
        if (record->nested > 0)
            BJ_LIB_STORE(record->slot.period_end, (uint64_t)0);
        BJ_LIB_STORE(record->slot.began, record->first);
    }
}

static void write_at_exit(void) {
    const char *pattern = bj_platform_read_variable("BLACKJACK_REGIONS");
    bool is_root = getpid() == arena->root;
    if (pattern == NULL || pattern[0] == 0)
        return;
    if (!is_root && !__atomic_load_n(&arena->root_done, __ATOMIC_ACQUIRE) && kill(arena->root, 0) == 0)
        return;
    char path[4096];
    const char *mark = strstr(pattern, "%p");
    int length = mark == NULL ? snprintf(path, sizeof path, "%s", pattern)
                              : snprintf(path, sizeof path, "%.*s%ld%s", (int)(mark - pattern), pattern,
                                         (long)arena->root, mark + 2);
    if (length < 0 || (size_t)length >= sizeof path)
        return;
    /* There is nobody to tell: a library prints nothing, and the file is not there. */
    (void)!bj_lib_write_regions(path, NULL);
    if (is_root)
        __atomic_store_n(&arena->root_done, 1, __ATOMIC_RELEASE);
}

/* ---- what it costs: of an empty region, the least of some batches, since disturbance only adds */

static void measure_costs(bj_region_arena *made) {
    enum { BATCHES = 20, PAIRS = 200 };
    static bj_lib_region_slot scratch;
    bj_lib_region_slot *table[1] = {&scratch};
    bj_lib_region_slot **before = bj_lib_region_slots;
    made->pair_ticks = made->read_ticks = UINT64_MAX;
    made->pair_count = made->read_count = PAIRS;
    bj_lib_region_slots = table;
    scratch.period_end = UINT64_MAX;
    for (size_t batch = 0; batch < BATCHES; batch++) {
        uint64_t start = BJ_LIB_READ_COUNTER(), last = 0;
        for (size_t i = 0; i < PAIRS; i++)
            last = BJ_LIB_READ_COUNTER();
        if (last - start < made->read_ticks)
            made->read_ticks = last - start;
        start = BJ_LIB_READ_COUNTER();
        for (size_t i = 0; i < PAIRS; i++) {
            bj_lib_begin_region(0);
            bj_lib_end_region(0);
        }
        last = BJ_LIB_READ_COUNTER();
        if (last - start < made->pair_ticks)
            made->pair_ticks = last - start;
    }
    bj_lib_region_slots = before;
    /* What an empty region reads: the shortest length that occurred often. */
    for (size_t i = 0; i < 63; i++)
        if (scratch.lengths[i].calls >= (uint64_t)BATCHES * PAIRS / 4) {
            made->empty_ticks = scratch.lengths[i].ticks / scratch.lengths[i].calls;
            break;
        }
}

static void open_arena(void) {
    void *memory = NULL;
    size_t room = ARENA_BYTES;
    for (; room >= ARENA_LEAST_BYTES && memory == NULL; room /= 2)
        memory = bj_platform_map_shared(room);
    if (memory == NULL)
        return;
    bj_region_arena *made = memory;
    made->room = room * 2; /* the loop has halved it once more */
    made->used = (sizeof *made + 63) & ~(size_t)63;
    made->root = getpid();
    made->start_ns = bj_lib_read_clock();
    made->start_ticks = BJ_LIB_READ_COUNTER();
    measure_costs(made);
    /* Long enough for a period that is right within a thousandth or so; the file has the ratio over the whole run. */
    for (unsigned long reads = 0; bj_lib_read_clock() - made->start_ns < 200000 && reads < 10000000; reads++)
        continue;
    uint64_t ns = bj_lib_read_clock() - made->start_ns, ticks = BJ_LIB_READ_COUNTER() - made->start_ticks;
    /* A clock that stands still tells no rate: as if a tick were a nanosecond. */
    made->period_ticks = ns > 0 ? (uint64_t)((double)ticks * REGION_PERIOD_NS / (double)ns) : REGION_PERIOD_NS;
    arena = made;
    pthread_atfork(note_open_regions, NULL, follow_fork);
    atexit(write_at_exit);
}

bj_region_arena *bj_inside_open_regions(void) {
    pthread_once(&once, open_arena);
    return arena;
}

/* ---- what a program calls */

static bool is_name(const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < 0x20 || (unsigned char)name[i] > 0x7e)
            return false;
    return length > 0 && length < REGION_NAME_ROOM;
}

/* Two threads that name a region at once may give it two numbers; the file has it once. */
bj_lib_region bj_lib_name_region(const char *name) {
    BJ_INSIDE_BE_GUEST();
    bj_region_arena *here = bj_inside_open_regions();
    if (here == NULL || name == NULL || !is_name(name))
        return BJ_LIB_REGIONS_MOST;
    unsigned count = BJ_LIB_LOAD(here->names);
    for (unsigned i = 0; i < count && i < BJ_LIB_REGIONS_MOST; i++)
        if (__atomic_load_n(&here->name[i].ready, __ATOMIC_ACQUIRE) && strcmp(here->name[i].name, name) == 0)
            return i;
    do
        if (count >= BJ_LIB_REGIONS_MOST)
            return BJ_LIB_REGIONS_MOST;
    while (!__atomic_compare_exchange_n(&here->names, &count, count + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    snprintf(here->name[count].name, REGION_NAME_ROOM, "%s", name);
    __atomic_store_n(&here->name[count].ready, 1, __ATOMIC_RELEASE);
    return count;
}

/* What cannot be an amount of work is not known: in the file it would keep all of it from being read. */
static void store_work(double *place, double amount) {
    double known = amount > 0 && amount <= WORK_MOST ? amount : 0;
    __atomic_store(place, &known, __ATOMIC_RELAXED);
}

void bj_lib_declare_work(bj_lib_region region, double flops, double bytes) {
    if (arena == NULL || region >= BJ_LIB_REGIONS_MOST)
        return;
    store_work(&arena->name[region].flops, flops);
    store_work(&arena->name[region].bytes, bytes);
}

void bj_lib_declare_loads(bj_lib_region region, double loads) {
    if (arena != NULL && region < BJ_LIB_REGIONS_MOST)
        store_work(&arena->name[region].loads, loads);
}

bj_lib_result bj_lib_write_regions(const char *path, bj_lib_error *error) {
    BJ_INSIDE_BE_GUEST();
    if (path == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_USAGE, "a path is needed");
    bj_region_arena *here = bj_inside_open_regions();
    size_t length;
    char *text = here != NULL ? bj_inside_regions_to_json(here, &length) : NULL;
    if (text == NULL)
        return bj_inside_fail(error, BJ_LIB_ERR_SYSTEM, "no memory for regions");
    bj_error trouble;
    bj_status status = bj_base_write_file_atomically(path, text, length, &trouble);
    free(text);
    return status == BJ_OK ? BJ_LIB_OK : bj_inside_translate(status, &trouble, error);
}
