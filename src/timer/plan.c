#include "timer/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probes/kit/estimate.h"
#include "probes/kit/known_caches.h"
#include "timer/timer_constants.h"

#define DEFAULT_LINE_BYTES 64.0

bj_status bj_timer_read_caches(const bj_answers *answers, bj_timer_caches *caches, bj_error *error) {
    bj_known_caches known;
    bj_known_caches_read(answers, &known);
    *caches = (bj_timer_caches){.level_count = known.count};
    if (known.count == 0 || bj_known_caches_largest(&known) <= 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "no cache sizes are known");
    for (size_t i = 0; i < known.count; i++) {
        caches->fits_bytes[i] = (size_t)known.fits_bytes[i];
        caches->holds_bytes[i] = (size_t)known.holds_bytes[i];
        caches->latency_ns[i] = bj_kit_find_number(answers, "cache.L%zu.latency_ns", i + 1);
    }
    double line = bj_kit_find_number(answers, "cache.line_bytes");
    caches->line_bytes = (size_t)(line >= 16 && line <= 4096 ? line : DEFAULT_LINE_BYTES);
    double ways = bj_kit_find_number(answers, "cache.L%zu.associativity", known.count);
    caches->last_ways = ways >= 1 && ways <= 1024 ? (unsigned)ways : 0;
    return BJ_OK;
}

/* The most that any level up to this one (from 1) may hold; 0: none is nearer. */
static size_t find_largest(const bj_timer_caches *caches, size_t level) {
    size_t most = 0;
    for (size_t i = 0; i < level; i++)
        most = caches->holds_bytes[i] > most ? caches->holds_bytes[i] : most;
    return most;
}

size_t bj_timer_begin_flush(const bj_timer_caches *caches) {
    unsigned ways = caches->last_ways > 0 ? caches->last_ways : BJ_FLUSH_WAYS_UNKNOWN;
    return find_largest(caches, caches->level_count) * (ways < BJ_FLUSH_WAYS_MOST ? ways : BJ_FLUSH_WAYS_MOST);
}

static bool is_power_of_two(size_t value) {
    return value != 0 && (value & (value - 1)) == 0;
}

bj_status bj_timer_check_operand(const bj_timer_operand *operand, bj_error *error) {
    const char *name = operand->name;
    if (operand->bytes == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "operand %s: 0 bytes", name);
    if (operand->bytes > SIZE_MAX / 64)
        return bj_base_set_error(error, BJ_ERR_USAGE, "operand %s: too large", name);
    if (operand->align != 0 && (!is_power_of_two(operand->align) || operand->align > BJ_TIMER_ALIGN_MAX))
        return bj_base_set_error(error, BJ_ERR_USAGE, "operand %s: align must be a power of two up to %zu", name,
                                 BJ_TIMER_ALIGN_MAX);
    if (operand->misalign == 0)
        return BJ_OK;
    if (!is_power_of_two(operand->misalign) || operand->misalign > BJ_TIMER_ALIGN_MAX)
        return bj_base_set_error(error, BJ_ERR_USAGE, "operand %s: misalign must be a power of two up to %zu", name,
                                 BJ_TIMER_ALIGN_MAX);
    if (operand->align == 0 || operand->misalign <= operand->align)
        return bj_base_set_error(error, BJ_ERR_USAGE,
                                 "operand %s: misalign must be more than align, which must be given", name);
    return BJ_OK;
}

static size_t round_up(size_t value, size_t to) {
    return (value + to - 1) / to * to;
}

/* The least offset from `from` on that is aligned and not too aligned. */
static size_t align(size_t from, const bj_timer_operand *operand, size_t line_bytes) {
    size_t align = operand->align > 0 ? operand->align : line_bytes;
    size_t offset = round_up(from, align);
    return operand->misalign > align && offset % operand->misalign == 0 ? offset + align : offset;
}

bool bj_timer_parse_residency(const char *text, int *residency) {
    if (strcmp(text, "cold") == 0)
        *residency = BJ_RESIDENT_COLD;
    else if (strcmp(text, "warm") == 0)
        *residency = BJ_RESIDENT_WARM;
    else if (text[0] == 'L' && text[1] >= '1' && text[1] <= '0' + BJ_TIMER_LEVELS_MAX && text[2] == '\0')
        *residency = text[1] - '0';
    else
        return false;
    return true;
}

void bj_timer_name_residency(int residency, char *text, size_t room) {
    if (residency > 0)
        snprintf(text, room, "L%d", residency);
    else
        snprintf(text, room, "%s", residency == BJ_RESIDENT_WARM ? "warm" : "cold");
}

bool bj_timer_has_level(const bj_timer_plan *plan) {
    for (size_t i = 0; i < plan->operand_count; i++)
        if (plan->operands[i].residency > 0)
            return true;
    return false;
}

/* Lays out what one set of an operand takes, and how far the next one is. */
static size_t find_stride(const bj_timer_operand *operand, size_t line_bytes) {
    size_t grain = line_bytes;
    grain = operand->align > grain ? operand->align : grain;
    grain = operand->misalign > grain ? operand->misalign : grain;
    /* Whole lines: sets that shared one would find it in a cache. */
    return round_up(operand->bytes, grain);
}

static void lay_out(bj_timer_plan *plan, size_t line_bytes) {
    for (size_t i = 0; i < plan->operand_count; i++) {
        const bj_timer_operand *operand = &plan->operands[i];
        bool moves = plan->sets > 1 && operand->residency == BJ_RESIDENT_COLD;
        size_t stride = find_stride(operand, line_bytes), copies = moves ? plan->sets : 1;
        size_t start = align(i * BJ_STAGGER_BYTES % BJ_TIMER_ALIGN_MAX, operand, line_bytes);
        bj_timer_area *area = &plan->areas[i];
        *area = (bj_timer_area){.bytes = start + stride * copies, .first = start};
        plan->shuffled = plan->shuffled || (moves && operand->access == BJ_ACCESS_RANDOM);
        if (!moves)
            continue;
        area->stride = (ptrdiff_t)stride;
        /* Against the kernel's order: what a prefetcher runs ahead to is a set that was just used. */
        if (operand->access != BJ_ACCESS_DOWN) {
            area->first = start + stride * (copies - 1);
            area->stride = -area->stride;
        }
    }
}

static void add_touch(bj_timer_plan *plan, bj_timer_touch touch) {
    if (touch.bytes > 0 || touch.action == BJ_TOUCH_WRITE_SETS)
        plan->touches[plan->touch_count++] = touch;
}

static bj_timer_touch touch_operand(const bj_timer_plan *plan, size_t i, bj_timer_action action, unsigned passes) {
    return (bj_timer_touch){.action = action,
                            .area = i,
                            .offset = plan->areas[i].first,
                            .bytes = plan->operands[i].bytes,
                            .access = plan->operands[i].access,
                            .passes = passes};
}

static bj_timer_touch read_area(size_t area, size_t bytes, unsigned passes) {
    return (bj_timer_touch){.action = BJ_TOUCH_READ, .area = area, .bytes = bytes, .passes = passes};
}

/* Writes and reads the operands that are to be at this level, farthest first; true: there were some. */
static bool settle(bj_timer_plan *plan, int residency) {
    bool any = false;
    for (size_t i = 0; i < plan->operand_count; i++) {
        if (plan->operands[i].residency != residency)
            continue;
        any = true;
        add_touch(plan, touch_operand(plan, i, BJ_TOUCH_WRITE, 1));
        add_touch(plan, touch_operand(plan, i, BJ_TOUCH_READ, BJ_SETTLE_PASSES));
    }
    return any;
}

static bool is_within(int residency, size_t level) {
    return residency == BJ_RESIDENT_WARM || (residency > 0 && (size_t)residency <= level);
}

/* How much must be read to empty the levels nearer than this one, and whether the level has room for it. */
static bj_status size_sweeper(const bj_timer_request *request, const bj_timer_plan *plan, size_t level, size_t *bytes,
                              bj_error *error) {
    const bj_timer_caches *caches = request->caches;
    size_t fits = caches->fits_bytes[level - 1], inside = 0, nearer = 0;
    for (size_t i = 0; i < plan->operand_count; i++)
        if (is_within(plan->operands[i].residency, level))
            inside += plan->operands[i].bytes;
    /* Victim caches make the nearer levels hold more together than the largest of them. */
    for (size_t i = 0; i + 1 < level; i++)
        nearer += caches->holds_bytes[i];
    size_t least = (size_t)(BJ_SWEEP_LEAST * (double)nearer), wanted = (size_t)(BJ_SWEEP_WANTED * (double)nearer);
    if (fits < inside + least || fits == 0)
        return bj_base_set_error(
            error, BJ_ERR_USAGE,
            "L%zu and no nearer: %zu bytes of operands and %zu to sweep with are more than the %zu "
            "that fit there",
            level, inside, least, fits);
    *bytes = fits - inside < wanted ? fits - inside : wanted;
    *bytes -= *bytes % caches->line_bytes;
    return BJ_OK;
}

static bj_status settle_levels(const bj_timer_request *request, bj_timer_plan *plan, bj_error *error) {
    bj_timer_area *sweeper = &plan->areas[BJ_AREA_SWEEPER(plan)];
    for (size_t level = request->caches->level_count; level >= 1; level--) {
        if (!settle(plan, (int)level))
            continue;
        size_t bytes = 0;
        BJ_TRY(size_sweeper(request, plan, level, &bytes, error));
        if (level > 1)
            add_touch(plan, read_area(BJ_AREA_SWEEPER(plan), bytes, BJ_SWEEP_PASSES));
        sweeper->bytes = bytes > sweeper->bytes ? bytes : sweeper->bytes;
    }
    return BJ_OK;
}

static size_t count_cold(const bj_timer_plan *plan, size_t line_bytes) {
    size_t bytes = 0;
    for (size_t i = 0; i < plan->operand_count; i++)
        if (plan->operands[i].residency == BJ_RESIDENT_COLD)
            bytes += find_stride(&plan->operands[i], line_bytes);
    return bytes;
}

static bj_status plan_one_call(const bj_timer_request *request, bj_timer_plan *plan, bj_error *error) {
    bool any = false;
    for (size_t i = 0; i < plan->operand_count; i++)
        if (plan->operands[i].residency == BJ_RESIDENT_COLD) {
            any = true;
            add_touch(plan, touch_operand(plan, i, BJ_TOUCH_WRITE, 1));
        }
    for (size_t i = 0; i < plan->operand_count && request->by_lines; i++)
        if (plan->operands[i].residency == BJ_RESIDENT_COLD)
            add_touch(plan, touch_operand(plan, i, BJ_TOUCH_DROP_LINES, 1));
    if (any && !request->by_lines) {
        plan->areas[BJ_AREA_FLUSH(plan)].bytes = request->flush_bytes;
        add_touch(plan, read_area(BJ_AREA_FLUSH(plan), request->flush_bytes, 1));
    }
    BJ_TRY(settle_levels(request, plan, error));
    settle(plan, BJ_RESIDENT_WARM);
    return BJ_OK;
}

static bj_status plan_many_calls(const bj_timer_request *request, bj_timer_plan *plan, bj_error *error) {
    if (bj_timer_has_level(plan))
        return bj_base_set_error(error, BJ_ERR_USAGE,
                                 "an operand in a level and no nearer is timed one call at a time");
    add_touch(plan, (bj_timer_touch){.action = BJ_TOUCH_WRITE_SETS});
    bool mixed = false;
    for (size_t i = 0; i < plan->operand_count; i++)
        mixed = mixed || plan->operands[i].residency == BJ_RESIDENT_WARM;
    /* Areas of their own are smaller than one for all: the first visits need a flush by force (2008, section 4.1). */
    if (mixed && plan->sets > 1) {
        plan->areas[BJ_AREA_FLUSH(plan)].bytes = request->flush_bytes;
        add_touch(plan, read_area(BJ_AREA_FLUSH(plan), request->flush_bytes, 1));
    }
    settle(plan, BJ_RESIDENT_WARM);
    return BJ_OK;
}

bj_status bj_timer_make_plan(const bj_timer_request *request, bj_timer_plan *plan, bj_error *error) {
    const bj_timer_caches *caches = request->caches;
    *plan = (bj_timer_plan){.operand_count = request->operand_count, .sets = 1};
    if (request->operand_count > BJ_TIMER_OPERANDS_MAX)
        return bj_base_set_error(error, BJ_ERR_USAGE, "more than %d operands", BJ_TIMER_OPERANDS_MAX);
    for (size_t i = 0; i < request->operand_count; i++) {
        bj_timer_operand *operand = &plan->operands[i];
        *operand = request->operands[i];
        BJ_TRY(bj_timer_check_operand(operand, error));
        if (operand->residency == BJ_RESIDENT_UNSAID)
            operand->residency = request->context;
        if (operand->residency > (int)caches->level_count)
            return bj_base_set_error(error, BJ_ERR_USAGE, "operand %s: L%d, but only %zu levels are known",
                                     operand->name, operand->residency, caches->level_count);
    }
    size_t cold = count_cold(plan, caches->line_bytes), threads = request->threads > 0 ? request->threads : 1;
    if (request->many_calls && cold > 0)
        plan->sets = request->sets_bytes * threads / cold + 2;
    lay_out(plan, caches->line_bytes);
    return request->many_calls ? plan_many_calls(request, plan, error) : plan_one_call(request, plan, error);
}
