#include "machine/walk_order.h"

#include "machine/machine.h"

/* Servet: larger than any line, beyond what the prefetchers of its day followed, and a divisor of any cache size. */
#define SERVET_STRIDE_BYTES 1024u

/* Grains from one page to the next of a walk page by page. Odd, so that all grains of a page have their turn; near the
 * golden section of 256, so that the places of few pages are even over the sets of lines longer than a grain, too. */
#define GRAIN_STEP 159u

static size_t step_bytes(bj_walk_order order, const bj_walk_shape *shape) {
    return order == BJ_ORDER_STRIDE_1K ? SERVET_STRIDE_BYTES : shape->grain_bytes;
}

size_t bj_machine_count_places(bj_walk_order order, const bj_walk_shape *shape) {
    size_t step = step_bytes(order, shape);
    size_t count = shape->bytes / step;
    return count > 0 ? count : 1;
}

static void fill_ascending(uint32_t *places, size_t count, size_t first_byte, size_t step) {
    for (size_t i = 0; i < count; i++)
        places[i] = (uint32_t)((first_byte + i * step) / BJ_WALK_WORD_BYTES);
}

static void swap_places(uint32_t *one, uint32_t *other) {
    uint32_t kept = *one;
    *one = *other;
    *other = kept;
}

static void order_pairs(const bj_walk_shape *shape, size_t count, bj_random *random, uint32_t *places) {
    size_t distance = shape->pair_bytes / shape->grain_bytes;
    size_t pairs = count / (2 * distance) * distance;
    uint32_t grain_words = (uint32_t)(shape->grain_bytes / BJ_WALK_WORD_BYTES);
    uint32_t first_word = (uint32_t)(shape->first_byte / BJ_WALK_WORD_BYTES);
    /* Numbers of pairs first, at the front; then each is replaced by its places, from the back so as to overwrite none.
     * What is left over at the end of the buffer keeps its ascending places. */
    for (size_t i = 0; i < pairs; i++)
        places[i] = (uint32_t)i;
    bj_random_shuffle_u32(random, places, pairs);
    for (size_t i = pairs; i-- > 0;) {
        size_t pair = places[i], grain = pair / distance * 2 * distance + pair % distance;
        places[2 * i] = first_word + (uint32_t)grain * grain_words;
        places[2 * i + 1] = first_word + (uint32_t)(grain + distance) * grain_words;
        /* In either direction, lest a prefetcher of the next line is served. */
        if (bj_random_below(random, 2) == 0)
            swap_places(&places[2 * i], &places[2 * i + 1]);
    }
}

void bj_machine_order_places(bj_walk_order order, const bj_walk_shape *shape, bj_random *random, uint32_t *places) {
    size_t step = step_bytes(order, shape);
    size_t count = bj_machine_count_places(order, shape);
    fill_ascending(places, count, shape->first_byte, step);
    switch (order) {
    case BJ_ORDER_RANDOM:
        bj_random_shuffle_u32(random, places, count);
        break;
    case BJ_ORDER_PAGE_SEGMENTED: {
        size_t per_page = shape->page_bytes / step > 0 ? shape->page_bytes / step : 1;
        for (size_t i = 0; i < count; i += per_page)
            bj_random_shuffle_u32(random, places + i, count - i < per_page ? count - i : per_page);
        break;
    }
    case BJ_ORDER_STRIDE_1K:
        break;
    case BJ_ORDER_PAIRS:
        order_pairs(shape, count, random, places);
        break;
    }
}

size_t bj_machine_count_sparse(const bj_walk_shape *shape, size_t one_in) {
    size_t count = shape->bytes / (shape->grain_bytes * one_in);
    return count > 0 ? count : 1;
}

void bj_machine_order_sparse(const bj_walk_shape *shape, size_t one_in, bj_random *random, uint32_t *places) {
    size_t count = bj_machine_count_sparse(shape, one_in);
    for (size_t i = 0; i < count; i++) {
        size_t grain = i * one_in + (size_t)bj_random_below(random, one_in);
        places[i] = (uint32_t)((shape->first_byte + grain * shape->grain_bytes) / BJ_WALK_WORD_BYTES);
    }
    bj_random_shuffle_u32(random, places, count);
}

size_t bj_machine_count_pages(const bj_page_walk_shape *shape) {
    return (shape->count + shape->per_page - 1) / shape->per_page;
}

void bj_machine_order_pages(const bj_page_walk_shape *shape, bj_random *random, uint32_t *places) {
    size_t pages = bj_machine_count_pages(shape);
    size_t part = shape->page_bytes / shape->grain_bytes / shape->per_page;
    uint64_t rotations = bj_random_next(random);
    if (pages == 0)
        return;
    for (size_t i = 0; i < pages; i++)
        places[i] = (uint32_t)i;
    bj_random_shuffle_u32(random, places, pages);
    /* From the back, since the first lap overwrites the page numbers that all laps read. */
    for (size_t i = shape->count; i-- > 0;) {
        size_t lap = i / pages, page = places[i % pages];
        size_t turn = lap * pages + page;
        size_t rotation = bj_random_mix(rotations, turn / part) % part;
        size_t grain = lap * part + (turn * GRAIN_STEP + rotation) % part;
        places[i] = (uint32_t)((shape->first_byte + page * shape->page_bytes + grain * shape->grain_bytes) /
                               BJ_WALK_WORD_BYTES);
    }
}

void bj_machine_order_partners(const bj_partner_walk_shape *shape, bj_random *random, uint32_t *places) {
    size_t grains = shape->block_bytes / shape->grain_bytes, distance = shape->distance_bytes / shape->grain_bytes;
    for (size_t i = 0; i < shape->blocks; i++) {
        size_t one = (size_t)bj_random_below(random, grains);
        size_t other = ((one ^ distance) & ~(distance - 1)) + (size_t)bj_random_below(random, distance);
        size_t first = (shape->first_byte + i * shape->block_bytes) / BJ_WALK_WORD_BYTES;
        places[2 * i] = (uint32_t)(first + one * shape->grain_bytes / BJ_WALK_WORD_BYTES);
        places[2 * i + 1] = (uint32_t)(first + other * shape->grain_bytes / BJ_WALK_WORD_BYTES);
    }
    bj_random_shuffle_u32(random, places, 2 * shape->blocks);
}

size_t bj_machine_count_windows(const bj_window_walk_shape *shape) {
    return shape->bytes / shape->window_bytes;
}

/* One lap through a window: the even grains of some pages, the odd ones of the others. */
static void order_window(const bj_window_walk_shape *shape, size_t window, uint64_t parities, bj_random *random,
                         uint32_t *places) {
    size_t pages = shape->window_bytes / shape->page_bytes, per_page = shape->page_bytes / shape->grain_bytes / 2;
    for (size_t page = 0; page < pages; page++) {
        size_t number = window * pages + page, first_byte = shape->first_byte + number * shape->page_bytes;
        size_t odd = (size_t)(bj_random_mix(parities & ~(uint64_t)1, number) + parities) & 1;
        for (size_t i = 0; i < per_page; i++)
            places[page * per_page + i] =
                (uint32_t)((first_byte + (2 * i + odd) * shape->grain_bytes) / BJ_WALK_WORD_BYTES);
    }
    bj_random_shuffle_u32(random, places, pages * per_page);
}

void bj_machine_order_windows(const bj_window_walk_shape *shape, bj_random *random, uint32_t *places) {
    size_t windows = bj_machine_count_windows(shape), per_window = shape->window_bytes / shape->grain_bytes / 2;
    uint64_t parities = bj_random_next(random) & ~(uint64_t)1;
    for (size_t i = 0; i < windows; i++)
        places[i] = (uint32_t)i;
    bj_random_shuffle_u32(random, places, windows);
    /* From the back, since the first windows overwrite the numbers. */
    for (size_t i = windows; i-- > 0;) {
        size_t window = places[i];
        order_window(shape, window, parities, random, places + i * per_window);
        order_window(shape, window, parities + 1, random, places + (windows + i) * per_window);
    }
}
