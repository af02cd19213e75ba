/* Which pairs tell the groups of ranks.
 *
 * Where costs nest (who is near to one of a group is near to all of it), one rank's times to all others part them into
 * groups by layer; each group is then asked in the same way, by a leader of its own. Hosts are searched side by side,
 * since messages inside different hosts meet nowhere, and the first ranks of all hosts are searched like the ranks of
 * one. Which rank is on which host only says who is asked: other pairs between hosts are drawn as a check. */
#include <stdlib.h>
#include <string.h>

#include "probes/comm/comm_answer.h"
#include "probes/comm/comm_run.h"

/* So few pairs are all measured. */
#define ALL_PAIRS_BELOW 300u
/* And no more than so many, unless all are asked for. */
#define PAIRS_MOST 150000u
/* Leaders in a row that find nobody nearer than all the rest: then pairs are drawn instead of further leaders. */
#define LONE_LEADERS 3u
#define MATCHINGS 2u

/* Ranks that are equally far from what was asked before. */
typedef struct {
    size_t *ranks;
    size_t count;
    bj_comm_ranks parent; /* a pair as far apart as these are at most; both 0: not known */
    unsigned lone;
} rank_set;

typedef struct {
    bj_comm_run *run;
    rank_set *sets; /* to be asked next */
    size_t set_count, set_room;
    bj_comm_ranks *pairs; /* to be measured next */
    size_t pair_count, pair_room;
    size_t measured;
    bool failed;
} search;

static void add_pair(search *search, size_t a, size_t b) {
    if (search->pair_count == search->pair_room) {
        size_t room = 2 * search->pair_room + 256;
        bj_comm_ranks *grown = realloc(search->pairs, room * sizeof *grown);
        search->failed = search->failed || grown == NULL;
        if (grown == NULL)
            return;
        search->pairs = grown;
        search->pair_room = room;
    }
    search->pairs[search->pair_count++] = (bj_comm_ranks){a < b ? a : b, a < b ? b : a};
}

/* Copies the ranks; sets of one rank have nothing to tell. */
static void add_set(search *search, const size_t *ranks, size_t count, bj_comm_ranks parent, unsigned lone) {
    if (count < 2)
        return;
    if (search->set_count == search->set_room) {
        size_t room = 2 * search->set_room + 16;
        rank_set *grown = realloc(search->sets, room * sizeof *grown);
        search->failed = search->failed || grown == NULL;
        if (grown == NULL)
            return;
        search->sets = grown;
        search->set_room = room;
    }
    size_t *copy = malloc(count * sizeof *copy);
    search->failed = search->failed || copy == NULL;
    if (copy == NULL)
        return;
    memcpy(copy, ranks, count * sizeof *copy);
    search->sets[search->set_count++] = (rank_set){copy, count, parent, lone};
}

static void shuffle(bj_random *random, size_t *ranks, size_t count) {
    for (size_t i = count; i > 1; i--) {
        size_t j = bj_random_below(random, i), kept = ranks[i - 1];
        ranks[i - 1] = ranks[j];
        ranks[j] = kept;
    }
}

/* The pairs that a set is asked by: from its first rank to the others, or drawn ones. */
static void ask_set(search *search, rank_set *set) {
    if (set->lone < LONE_LEADERS) {
        for (size_t i = 1; i < set->count; i++)
            add_pair(search, set->ranks[0], set->ranks[i]);
        return;
    }
    for (unsigned m = 0; m < MATCHINGS; m++) {
        shuffle(&search->run->rounds.random, set->ranks, set->count);
        for (size_t i = 0; i + 1 < set->count; i += 2)
            add_pair(search, set->ranks[i], set->ranks[i + 1]);
    }
}

/* The layer of a pair; layer_count: it is not in the table. */
static size_t layer_of(const bj_comm_table *table, size_t a, size_t b) {
    size_t pair = bj_comm_find_pair(table, a, b);
    return pair < table->pair_count ? table->layer[pair] : table->layer_count;
}

/* After a leader was asked: those of one layer are the next set. */
static void follow_leader(search *search, const bj_comm_table *table, const rank_set *set, size_t *class) {
    bool known = set->parent.a != set->parent.b;
    size_t parent = known ? layer_of(table, set->parent.a, set->parent.b) : table->layer_count, nearer = 0;
    for (size_t i = 1; i < set->count; i++)
        nearer += layer_of(table, set->ranks[0], set->ranks[i]) < parent;
    for (size_t layer = 0; layer <= table->layer_count; layer++) {
        size_t count = 0;
        for (size_t i = 1; i < set->count; i++)
            if (layer_of(table, set->ranks[0], set->ranks[i]) == layer)
                class[count++] = set->ranks[i];
        /* Beyond the parent's layer only noise puts a pair: taken as if at it. */
        bool is_alone = (known && nearer == 0) || count == set->count - 1;
        if (count > 0)
            add_set(search, class, count, (bj_comm_ranks){set->ranks[0], class[0]}, is_alone ? set->lone + 1 : 0);
    }
}

/* After pairs were drawn: one that is nearer than all the rest is a leader again. */
static void follow_draw(search *search, const bj_comm_table *table, const rank_set *set, size_t *class) {
    size_t parent = layer_of(table, set->parent.a, set->parent.b);
    for (size_t i = 0; i + 1 < set->count; i += 2) {
        if (layer_of(table, set->ranks[i], set->ranks[i + 1]) >= parent)
            continue;
        memcpy(class, set->ranks, set->count * sizeof *class);
        class[0] = set->ranks[i];
        class[i] = set->ranks[0];
        add_set(search, class, set->count, set->parent, 0);
        return;
    }
}

/* How many gaps between the times of pairs, as measured so far, may be chance. */
static bj_status count_open_gaps(const bj_comm_run *run, size_t *count, bj_error *error) {
    bj_comm_table table = {0};
    bj_status status = bj_comm_read_table(run->rounds.samples, &table, error);
    if (status == BJ_OK)
        status = bj_comm_find_layers(&table, NULL, 0, false, error);
    *count = table.open_gaps;
    bj_comm_free_table(&table);
    return status;
}

/* All pairs in `rounds` rounds, and in more where chance may have opened a gap between them. */
static bj_status run_stage(search *search, unsigned rounds, bj_error *error) {
    bj_comm_run *run = search->run;
    bj_comm_jobs jobs = {0};
    size_t open = 1;
    bj_status status = bj_comm_plan_pairs(run, search->pairs, search->pair_count, &jobs, error);
    for (unsigned turn = 0; turn < ROUNDS_TIMES_MOST && status == BJ_OK && open > 0; turn++) {
        if (turn > 0 && bj_probe_is_late(run->rounds.request))
            break;
        status = bj_comm_run_jobs(run, &jobs, turn * rounds, rounds, error);
        if (status == BJ_OK)
            status = count_open_gaps(run, &open, error);
    }
    bj_comm_free_jobs(&jobs);
    search->measured += search->pair_count;
    search->pair_count = 0;
    return status;
}

/* Asks all sets, and puts what follows in their place. */
static bj_status take_step(search *search, unsigned rounds, bj_error *error) {
    bj_comm_table table = {0};
    rank_set *sets = search->sets;
    size_t count = search->set_count;
    for (size_t i = 0; i < count; i++)
        ask_set(search, &sets[i]);
    search->sets = NULL;
    search->set_count = search->set_room = 0;
    size_t *class = calloc(search->run->rank_count + 1, sizeof *class);
    search->failed = search->failed || class == NULL;
    bj_status status = run_stage(search, rounds, error);
    if (status == BJ_OK)
        status = bj_comm_read_table(search->run->rounds.samples, &table, error);
    if (status == BJ_OK)
        status = bj_comm_find_layers(&table, NULL, 0, false, error);
    for (size_t i = 0; i < count; i++) {
        if (status == BJ_OK && !search->failed && sets[i].lone < LONE_LEADERS)
            follow_leader(search, &table, &sets[i], class);
        else if (status == BJ_OK && !search->failed)
            follow_draw(search, &table, &sets[i], class);
        free(sets[i].ranks);
    }
    free(sets);
    free(class);
    bj_comm_free_table(&table);
    return status;
}

/* The ranks of each host, and the first of every host; or all ranks where hosts do not part them. */
static void begin_search(search *search) {
    bj_comm_run *run = search->run;
    const bj_comm_ranks unknown = {0, 0};
    size_t *members = calloc(run->rank_count + 1, sizeof *members);
    size_t *leaders = calloc(run->host_count + 1, sizeof *leaders);
    search->failed = members == NULL || leaders == NULL;
    for (size_t host = 0; !search->failed && host < run->host_count; host++) {
        size_t count = 0;
        for (size_t i = 0; i < run->rank_count; i++)
            if (run->ranks[i].host == host)
                members[count++] = i;
        add_set(search, members, count, unknown, 0);
        leaders[host] = members[0];
        /* A check that other ranks than the first are no farther from the network. */
        if (run->host_count > 1 && count > 1) {
            size_t own = members[1 + bj_random_below(&run->rounds.random, count - 1)];
            size_t other = bj_random_below(&run->rounds.random, run->rank_count);
            if (run->ranks[other].host != host)
                add_pair(search, own, other);
        }
    }
    if (!search->failed)
        add_set(search, leaders, run->host_count, unknown, 0);
    free(members);
    free(leaders);
}

bj_status bj_comm_explore(bj_comm_run *run, unsigned rounds, bj_error *error) {
    search search = {.run = run};
    size_t all = run->rank_count * (run->rank_count - 1) / 2;
    bj_status status = BJ_OK;
    double from = run->progress_from, to = run->progress_to;
    if (all <= ALL_PAIRS_BELOW || run->rounds.request->all_pairs ||
        bj_probe_is_method(run->rounds.request->method, BJ_COMM_FIRST_COME)) {
        for (size_t a = 0; a < run->rank_count; a++)
            for (size_t b = a + 1; b < run->rank_count; b++)
                add_pair(&search, a, b);
        status = run_stage(&search, rounds, error);
    } else {
        begin_search(&search);
    }
    while (status == BJ_OK && search.set_count > 0 && !search.failed && search.measured < PAIRS_MOST) {
        run->progress_to = run->progress_from + (to - run->progress_from) / 3;
        status = take_step(&search, rounds, error);
        run->progress_from = run->progress_to;
        if (bj_probe_is_late(run->rounds.request))
            break;
    }
    run->progress_from = from;
    run->progress_to = to;
    if (status == BJ_OK && search.failed)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu ranks", run->rank_count);
    for (size_t i = 0; i < search.set_count; i++)
        free(search.sets[i].ranks);
    free(search.sets);
    free(search.pairs);
    return status;
}
