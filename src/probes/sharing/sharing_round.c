#include "probes/sharing/sharing_round.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a branch with many parts so many places are walked at once, by two parts at least: which parts is drawn anew each
 * round. */
#define PLACES_OF_BRANCH 1200000u
/* Places walked to sort blocks in a round; what is left is done in the next. All of a machine of some tens of cpus. */
#define PLACES_TO_SORT 4e6
/* Times that a block is asked again because of a disturbance. */
#define ASKED_AGAIN 8u

static int cpu_at(const bj_sharing_run *run, size_t index) {
    return run->all.cpus[index];
}

bj_status bj_sharing_open_curve(bj_sharing_run *run, const bj_sharing_plan *plan, const char *kind, int cpu,
                                bj_curve **curve, bj_error *error) {
    bool is_alone = strcmp(kind, SHARING_ALONE) == 0;
    char id[sizeof(*curve)->id];
    if (cpu < 0)
        snprintf(id, sizeof id, "sharing.L%zu.%s", plan->level, kind);
    else
        snprintf(id, sizeof id, "sharing.L%zu.cpu%d", plan->level, cpu);
    const bj_curve_axes axes = {id, "cpu", "", is_alone ? "time" : "slowdown", is_alone ? "ns" : ""};
    BJ_TRY(bj_kit_open_curve(&run->rounds, &axes, curve, error));
    if ((*curve)->attribute_count > 0)
        return BJ_OK;
    BJ_TRY(bj_data_set_attribute_text(*curve, SHARING_KIND, kind, error));
    BJ_TRY(bj_data_set_attribute_number(*curve, SHARING_LEVEL, (double)plan->level, error));
    BJ_TRY(bj_data_set_attribute_number(*curve, SHARING_BYTES, (double)plan->bytes, error));
    return cpu < 0 ? BJ_OK : bj_data_set_attribute_number(*curve, SHARING_CPU, cpu, error);
}

static bj_status record_pair(bj_sharing_run *run, const bj_sharing_plan *plan, size_t a, size_t b, double ratio,
                             bj_error *error) {
    bj_curve *curve;
    BJ_TRY(bj_sharing_open_curve(run, plan, SHARING_PAIR, cpu_at(run, a), &curve, error));
    return bj_data_record_sample(curve, cpu_at(run, b), run->rounds.round, ratio, error);
}

void bj_sharing_shuffle(bj_sharing_run *run, size_t *items, size_t count) {
    for (size_t i = count; i > 1; i--) {
        size_t other = bj_random_below(&run->rounds.random, i), kept = items[i - 1];
        items[i - 1] = items[other];
        items[other] = kept;
    }
}

/* Times alone, threshold, and what the nearer level's samples say by now. */
static bj_status take_stock(bj_sharing_run *run, bj_sharing_plan *plan, bj_error *error) {
    bj_sharing_level read, nearer;
    BJ_TRY(bj_sharing_read_level(run->rounds.samples, plan->level, &read, error));
    plan->threshold = bj_sharing_find_threshold(&read, plan->next_ns);
    if (read.cpu_count == run->all.count)
        memcpy(plan->alone_ns, read.alone_ns, run->all.count * sizeof *plan->alone_ns);
    bj_sharing_free_level(&read);
    bj_kit_part_all(plan->nearer, run->all.count);
    if (plan == run->levels)
        return BJ_OK;
    const bj_sharing_plan *before = plan - 1;
    BJ_TRY(bj_sharing_read_level(run->rounds.samples, before->level, &nearer, error));
    double *scratch = malloc((nearer.rounds + 1) * sizeof *scratch);
    bj_status status = BJ_OK;
    if (scratch == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu rounds", nearer.rounds);
    if (status == BJ_OK && nearer.cpu_count == run->all.count) {
        memcpy(plan->nearer, before->nearer, run->all.count * sizeof *plan->nearer);
        bj_sharing_find_groups(&nearer, before->threshold, NULL, nearer.rounds, plan->nearer, scratch);
    }
    free(scratch);
    bj_sharing_free_level(&nearer);
    return status;
}

/* ---- from the outside inwards */

/* A branch that is asked whether anything is shared across its parts. */
typedef struct {
    bj_cpu_run run;
    size_t first, count; /* of its cpus among those that walk */
} question;

typedef struct {
    question *items;
    size_t count;
    size_t *who;
    double *ratios;
} inquiry;

static size_t draw_cpu(bj_sharing_run *run, bj_cpu_run part) {
    return run->all.index_at[part.first + bj_random_below(&run->rounds.random, part.count)];
}

/* One cpu of each part, or of some parts drawn at random where all would be too many; none of a part that shares the
 * nearer level with another, since those share this one, too. */
static size_t draw_from_parts(bj_sharing_run *run, const bj_sharing_plan *plan, bj_cpu_run branch, bj_cpu_run *parts,
                              size_t *who) {
    size_t part_count = bj_kit_list_parts(&run->all.tree, branch, parts), count = 0;
    size_t most = PLACES_OF_BRANCH / plan->places > 2 ? PLACES_OF_BRANCH / plan->places : 2;
    for (size_t i = part_count; i > 1; i--) {
        size_t other = bj_random_below(&run->rounds.random, i);
        bj_cpu_run kept = parts[i - 1];
        parts[i - 1] = parts[other];
        parts[other] = kept;
    }
    for (size_t i = 0; i < part_count && count < most; i++) {
        size_t cpu = draw_cpu(run, parts[i]);
        bool is_new = true;
        for (size_t j = 0; j < count; j++)
            is_new = is_new && plan->nearer[who[j]] != plan->nearer[cpu];
        if (is_new)
            who[count++] = cpu;
    }
    return count;
}

/* All questions at once, or as many at a time as memory has room for. */
static bj_status ask(bj_sharing_run *run, const bj_sharing_plan *plan, const inquiry *all, bj_error *error) {
    for (size_t from = 0, to; from < all->count; from = to) {
        size_t walkers = all->items[from].count;
        for (to = from + 1; to < all->count && walkers + all->items[to].count <= plan->most_at_once; to++)
            walkers += all->items[to].count;
        size_t first = all->items[from].first;
        BJ_TRY(bj_sharing_compare_at_once(run, plan, all->who + first, walkers, all->ratios + first, error));
    }
    return BJ_OK;
}

/* Pairs that surely do not share, and the only one that does; of more than two that suffer, who with whom is open. */
static bj_status record_question(bj_sharing_run *run, const bj_sharing_plan *plan, const inquiry *all,
                                 const question *asked, bool is_shared, bj_error *error) {
    if (is_shared && asked->count > 2)
        return BJ_OK;
    for (size_t i = asked->first; i + 1 < asked->first + asked->count; i++)
        BJ_TRY(record_pair(run, plan, all->who[i], all->who[i + 1], fmin(all->ratios[i], all->ratios[i + 1]), error));
    return BJ_OK;
}

static bj_status add_block(bj_sharing_run *run, bj_sharing_plan *plan, bj_cpu_run branch, bj_error *error) {
    bj_sharing_block *grown = realloc(plan->blocks, (plan->block_count + 1) * sizeof *grown);
    if (grown == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a group of %zu cpus", branch.count);
    plan->blocks = grown;
    bj_sharing_block *block = &grown[plan->block_count++];
    *block = (bj_sharing_block){.items = malloc((branch.count + 1) * sizeof *block->items),
                                .leaders = malloc((branch.count + 1) * sizeof *block->leaders)};
    if (block->items == NULL || block->leaders == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a group of %zu cpus", branch.count);
    for (size_t i = 0; i < branch.count; i++) {
        size_t group = plan->nearer[run->all.index_at[branch.first + i]], known = 0;
        while (known < block->item_count && block->items[known] != group)
            known++;
        if (known == block->item_count)
            block->items[block->item_count++] = group;
    }
    bj_sharing_shuffle(run, block->items, block->item_count);
    return BJ_OK;
}

void bj_sharing_drop_blocks(bj_sharing_plan *plan) {
    for (size_t i = 0; i < plan->block_count; i++) {
        free(plan->blocks[i].items);
        free(plan->blocks[i].leaders);
    }
    free(plan->blocks);
    plan->blocks = NULL;
    plan->block_count = 0;
}

/* Whether the branch has but two cpus, or groups of the nearer level: then one question has told all. */
static bool are_two(const bj_sharing_run *run, const bj_sharing_plan *plan, bj_cpu_run branch) {
    size_t first = plan->nearer[run->all.index_at[branch.first]], other = first;
    for (size_t i = 1; i < branch.count; i++) {
        size_t group = plan->nearer[run->all.index_at[branch.first + i]];
        if (group != first && other != first && group != other)
            return false;
        other = group != first ? group : other;
    }
    return other != first;
}

/* What was answered: a block to be sorted, or questions about the parts. */
static bj_status follow_up(bj_sharing_run *run, bj_sharing_plan *plan, const inquiry *all, inquiry *next,
                           bj_cpu_run *parts, bj_error *error) {
    size_t used = 0;
    next->count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const question *asked = &all->items[i];
        bool is_shared = false;
        for (size_t j = asked->first; j < asked->first + asked->count; j++)
            is_shared = is_shared || all->ratios[j] > plan->threshold;
        BJ_TRY(record_question(run, plan, all, asked, is_shared, error));
        if (is_shared) {
            if (!are_two(run, plan, asked->run))
                BJ_TRY(add_block(run, plan, asked->run, error));
            continue;
        }
        size_t count = bj_kit_list_parts(&run->all.tree, asked->run, parts);
        for (size_t j = 0; j < count; j++)
            if (parts[j].count > 1)
                next->items[next->count++] = (question){.run = parts[j]};
    }
    /* Questions with fewer than two who might share are answered. */
    size_t kept = 0;
    for (size_t i = 0; i < next->count; i++) {
        question asked = next->items[i];
        asked.first = used;
        asked.count = draw_from_parts(run, plan, asked.run, parts, next->who + used);
        if (asked.count < 2)
            continue;
        used += asked.count;
        next->items[kept++] = asked;
    }
    next->count = kept;
    return BJ_OK;
}

static bj_status open_inquiry(const bj_sharing_run *run, inquiry *all, bj_error *error) {
    size_t count = run->all.count + 1;
    *all = (inquiry){.items = malloc(count * sizeof *all->items),
                     .who = malloc(count * sizeof *all->who),
                     .ratios = malloc(count * sizeof *all->ratios)};
    return all->items != NULL && all->who != NULL && all->ratios != NULL
               ? BJ_OK
               : bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", count);
}

static void close_inquiry(inquiry *all) {
    free(all->items);
    free(all->who);
    free(all->ratios);
}

static bj_status find_blocks(bj_sharing_run *run, bj_sharing_plan *plan, bj_error *error) {
    inquiry now, next = {0};
    bj_cpu_run *parts = malloc((run->all.count + 1) * sizeof *parts);
    bj_status status = open_inquiry(run, &now, error);
    if (status == BJ_OK)
        status = open_inquiry(run, &next, error);
    if (parts == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->all.count);
    bj_sharing_drop_blocks(plan);
    if (status == BJ_OK) {
        now.items[0] = (question){.run = run->all.tree.branches[0]};
        now.items[0].count = draw_from_parts(run, plan, now.items[0].run, parts, now.who);
        now.count = now.items[0].count > 1;
        /* All of one nearer group: then this level is shared likewise. A lone part is no tree of ours. */
    }
    while (status == BJ_OK && now.count > 0) {
        status = ask(run, plan, &now, error);
        if (status == BJ_OK)
            status = follow_up(run, plan, &now, &next, parts, error);
        inquiry done = now;
        now = next;
        next = done;
    }
    close_inquiry(&now);
    close_inquiry(&next);
    free(parts);
    return status;
}

/* ---- sorting a block */

/* A cpu of the item, at random. */
static size_t draw_from_item(bj_sharing_run *run, const bj_sharing_plan *plan, size_t item) {
    size_t count = 0, drawn = item;
    for (size_t i = 0; i < run->all.count; i++)
        if (plan->nearer[i] == plan->nearer[item] && bj_random_below(&run->rounds.random, ++count) == 0)
            drawn = i;
    return drawn;
}

static bool is_sorted(const bj_sharing_block *block) {
    return block->next == block->item_count;
}

/* The leaders of a block and its next item. */
static size_t list_walkers(bj_sharing_run *run, const bj_sharing_plan *plan, const bj_sharing_block *block,
                           size_t *who) {
    for (size_t i = 0; i < block->leader_count; i++)
        who[i] = draw_from_item(run, plan, block->leaders[i]);
    who[block->leader_count] = draw_from_item(run, plan, block->items[block->next]);
    return block->leader_count + 1;
}

/* The item joins the leader that suffers with it, or leads by itself. More than one cannot share with it, since they
 * do not share with each other: something else disturbed, and the same is asked again, but not for ever. */
static bj_status place_item(bj_sharing_run *run, const bj_sharing_plan *plan, bj_sharing_block *block,
                            const size_t *who, const double *ratios, bj_error *error) {
    size_t last = block->leader_count, joined = 0;
    for (size_t i = 0; i < last; i++)
        joined += fmin(ratios[i], ratios[last]) > plan->threshold;
    if (joined > 1 && block->asked_again++ < ASKED_AGAIN)
        return BJ_OK;
    for (size_t i = 0; i < last; i++)
        BJ_TRY(record_pair(run, plan, who[i], who[last], fmin(ratios[i], ratios[last]), error));
    size_t item = block->items[block->next++];
    if (joined == 0)
        block->leaders[block->leader_count++] = item;
    return BJ_OK;
}

/* The next item of every block, as many blocks at once as memory has room for. Returns the places walked. */
static bj_status sort_step(bj_sharing_run *run, bj_sharing_plan *plan, size_t *who, double *ratios, double *places,
                           bj_error *error) {
    for (size_t from = 0, to; from < plan->block_count; from = to) {
        size_t walkers = 0, at = 0;
        for (to = from; to < plan->block_count; to++) {
            bj_sharing_block *block = &plan->blocks[to];
            if (block->next == 0 && block->item_count > 0)
                block->leaders[block->leader_count++] = block->items[block->next++];
            if (is_sorted(block))
                continue;
            if (walkers > 0 && walkers + block->leader_count + 1 > plan->most_at_once)
                break;
            walkers += list_walkers(run, plan, block, who + walkers);
        }
        if (walkers == 0)
            continue;
        BJ_TRY(bj_sharing_compare_at_once(run, plan, who, walkers, ratios, error));
        *places += (double)walkers * (double)plan->places;
        for (size_t i = from; i < to; i++) {
            bj_sharing_block *block = &plan->blocks[i];
            if (is_sorted(block))
                continue;
            size_t count = block->leader_count + 1;
            BJ_TRY(place_item(run, plan, block, who + at, ratios + at, error));
            at += count;
        }
    }
    return BJ_OK;
}

static double count_places_to_sort(const bj_sharing_plan *plan) {
    double places = 0;
    for (size_t i = 0; i < plan->block_count; i++)
        places += 2.0 * (double)(plan->blocks[i].item_count - plan->blocks[i].next) * (double)plan->places;
    return places;
}

static bool are_sorted(const bj_sharing_plan *plan) {
    for (size_t i = 0; i < plan->block_count; i++)
        if (!is_sorted(&plan->blocks[i]))
            return false;
    return true;
}

/* As much as a round may take, so that all is sorted with the last. */
static bj_status sort_blocks(bj_sharing_run *run, bj_sharing_plan *plan, bj_error *error) {
    size_t *who = malloc((run->all.count + 1) * sizeof *who);
    double *ratios = malloc((run->all.count + 1) * sizeof *ratios), places = 0;
    size_t left = run->rounds_planned > run->rounds.round ? run->rounds_planned - run->rounds.round : 1;
    double most = fmax(PLACES_TO_SORT, count_places_to_sort(plan) / (double)left);
    bj_status status = BJ_OK;
    if (who == NULL || ratios == NULL)
        status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", run->all.count);
    while (status == BJ_OK && !are_sorted(plan) && (places < most || left == 1))
        status = sort_step(run, plan, who, ratios, &places, error);
    free(who);
    free(ratios);
    return status;
}

/* ---- Servet's figure 5: all pairs */

static bj_status measure_all_pairs(bj_sharing_run *run, const bj_sharing_plan *plan, bj_error *error) {
    for (size_t a = 0; a < run->all.count; a++)
        for (size_t b = a + 1; b < run->all.count; b++) {
            const size_t who[2] = {a, b};
            double ratios[2];
            BJ_TRY(bj_sharing_compare_at_once(run, plan, who, 2, ratios, error));
            BJ_TRY(record_pair(run, plan, a, b, (ratios[0] + ratios[1]) / 2, error));
        }
    return BJ_OK;
}

bj_status bj_sharing_measure_round(bj_sharing_run *run, bj_error *error) {
    for (size_t i = 0; i < run->level_count; i++) {
        bj_sharing_plan *plan = &run->levels[i];
        BJ_TRY(bj_sharing_measure_alone(run, plan, error));
        BJ_TRY(take_stock(run, plan, error));
        if (run->is_servet) {
            BJ_TRY(measure_all_pairs(run, plan, error));
            continue;
        }
        /* What is left to sort of the last round goes on; else all is asked again. */
        if (are_sorted(plan))
            BJ_TRY(find_blocks(run, plan, error));
        BJ_TRY(sort_blocks(run, plan, error));
        if (run->rounds.round > 0 && bj_probe_is_late(run->rounds.request))
            break;
    }
    return BJ_OK;
}
