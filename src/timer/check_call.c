#include "timer/check_call.h"

#include <string.h>

typedef struct {
    bj_mapping mapping;
    size_t offset; /* of the operand */
} guarded;

static char canary_at(size_t offset) {
    return (char)(0xa5 ^ (offset * 7));
}

static bj_status place(const bj_timer_bench *bench, const bj_timer_operand *operand, guarded *guard, bj_error *error) {
    /* As when it is timed: a kernel may rely on it. */
    size_t align = operand->align > 0 ? operand->align : bench->caches.line_bytes;
    BJ_TRY(bj_platform_map_pages(operand->bytes + operand->misalign + align, false, &guard->mapping, error));
    size_t last = guard->mapping.bytes - operand->bytes;
    guard->offset = last - last % align;
    if (operand->misalign > 0 && guard->offset % operand->misalign == 0)
        guard->offset -= align;
    for (size_t i = 0; i < guard->mapping.bytes; i++)
        guard->mapping.memory[i] = canary_at(i);
    bj_timer_fill(bench, guard->mapping.memory + guard->offset, operand->bytes, false);
    return BJ_OK;
}

static bj_status look_around(const bj_timer_operand *operand, const guarded *guard, bj_error *error) {
    const char *memory = guard->mapping.memory;
    size_t end = guard->offset + operand->bytes;
    for (size_t i = 0; i < guard->offset; i++)
        if (memory[i] != canary_at(i))
            return bj_base_set_error(error, BJ_ERR_FAILED, "writes before the start of operand '%s'", operand->name);
    for (size_t i = end; i < guard->mapping.bytes; i++)
        if (memory[i] != canary_at(i))
            return bj_base_set_error(error, BJ_ERR_FAILED, "writes past the end of operand '%s'", operand->name);
    return BJ_OK;
}

bj_status bj_timer_check_call(const bj_timer_bench *bench, bj_kernel_function *kernel, size_t n,
                              const bj_timer_operand *operands, size_t count, int parent, bj_error *error) {
    guarded guards[BJ_TIMER_OPERANDS_MAX] = {{.offset = 0}};
    bj_address_range ranges[2 * BJ_TIMER_OPERANDS_MAX];
    void *pointers[BJ_TIMER_OPERANDS_MAX];
    size_t page = bj_platform_page_bytes();
    bj_status status = BJ_OK;
    for (size_t i = 0; i < count && status == BJ_OK; i++) {
        status = place(bench, &operands[i], &guards[i], error);
        if (status != BJ_OK)
            break;
        const bj_mapping *mapping = &guards[i].mapping;
        pointers[i] = mapping->memory + guards[i].offset;
        ranges[2 * i] = (bj_address_range){mapping->memory - page, mapping->memory};
        ranges[2 * i + 1] =
            (bj_address_range){mapping->memory + mapping->bytes, mapping->memory + mapping->bytes + page};
    }
    if (status == BJ_OK) {
        bj_platform_watch_faults(parent, ranges, 2 * count);
        volatile double result = kernel(n, pointers);
        (void)result;
        bj_platform_watch_faults(parent, ranges, 0);
    }
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        status = look_around(&operands[i], &guards[i], error);
    for (size_t i = 0; i < count; i++)
        bj_platform_unmap_pages(&guards[i].mapping);
    return status;
}
