#include "emit/blis_model.h"

#include <math.h>

/* BLIS unrolls the loop over k by four or eight. */
#define KC_MULTIPLE 4
/* Nothing bounds NC without a third level; a panel that wide makes packing A cost nothing. */
#define NC_UNBOUNDED 4096
#define LARGEST 1e6

static unsigned round_down(double value, unsigned multiple) {
    double whole = floor(fmin(value, LARGEST) / multiple) * multiple;
    return whole >= multiple ? (unsigned)whole : 0;
}

static double count_registers(double mr, double nr, double vector) {
    return mr / vector * nr + mr / vector + 1;
}

/* The most elements in work that registers allow, of equals the squarest. */
static void bound_kernel(double registers, double vector, double *mr, double *nr) {
    double most = 0;
    for (double rows = 1; count_registers(rows * vector, 1, vector) <= registers; rows++) {
        double columns = floor((registers - rows - 1) / rows), r = rows * vector;
        if (r * columns > most || (r * columns == most && fabs(r - columns) < fabs(*mr - *nr))) {
            most = r * columns;
            *mr = r;
            *nr = columns;
        }
    }
}

/* Enough independent accumulators to keep the pipes full: MR·NR >= vector · latency · pipes, as square as vectors let
 * it be (section 4.2 of the paper). */
static bool find_kernel(const bj_blis_machine *machine, bj_blis_blocks *blocks) {
    double vector = machine->vector_elements;
    blocks->in_flight = vector * machine->latency_cycles * machine->per_cycle;
    double mr = machine->rows, nr = machine->columns;
    if (machine->rows == 0) {
        mr = ceil(sqrt(blocks->in_flight) / vector) * vector;
        nr = ceil(blocks->in_flight / mr);
        /* Three: an accumulator, and what it is fed from. */
        blocks->is_bounded = machine->registers >= 3 && count_registers(mr, nr, vector) > machine->registers;
        if (blocks->is_bounded)
            bound_kernel(machine->registers, vector, &mr, &nr);
    }
    if (!(mr >= 1 && mr <= BJ_BLIS_KERNEL_MOST && nr >= 1 && nr <= BJ_BLIS_KERNEL_MOST))
        return false;
    blocks->registers = machine->rows == 0 ? (unsigned)count_registers(mr, nr, vector) : 0;
    blocks->mr = (unsigned)mr;
    blocks->nr = (unsigned)nr;
    return true;
}

/* What of a level may be filled with the operand that lives there, in bytes: all ways but one for what streams through
 * and those that the next inner level's operand takes. With unknown ways half, as Goto and van de Geijn took it. */
static double room_for_operand(const bj_blis_cache *cache, double inner_bytes, bool *half) {
    *half = !(cache->ways >= 1);
    if (*half)
        return cache->size_bytes / 2;
    double way_bytes = cache->size_bytes / cache->ways;
    return fmax(0, cache->ways - 1 - ceil(inner_bytes / way_bytes)) * way_bytes;
}

bool bj_blis_find_blocks(const bj_blis_machine *machine, bj_blis_blocks *blocks) {
    *blocks = (bj_blis_blocks){0};
    if (!find_kernel(machine, blocks))
        return false;
    double mr = blocks->mr, nr = blocks->nr, element = machine->element_bytes;
    const bj_blis_cache *first = &machine->caches[0];
    if (machine->levels < 1)
        return true;
    if (!(first->ways >= 1))
        return false;
    /* L1: one way for C, the others shared by the micro-panels of A (MR·KC) and B (NR·KC) as their sizes are. */
    blocks->ways_of_a = floor((first->ways - 1) / (1 + nr / mr));
    blocks->kc = round_down(blocks->ways_of_a * (first->size_bytes / first->ways) / (mr * element), KC_MULTIPLE);
    if (machine->levels < 2 || blocks->kc == 0)
        return blocks->kc != 0;
    double kc_bytes = blocks->kc * element;
    double room = room_for_operand(&machine->caches[1], nr * kc_bytes, &blocks->half_rule[1]);
    blocks->mc = round_down(room / kc_bytes, blocks->mr);
    if ((machine->levels < 3 && machine->more_levels) || blocks->mc == 0)
        return blocks->mc != 0;
    if (machine->levels < 3) {
        blocks->nc = round_down(NC_UNBOUNDED, blocks->nr);
        return blocks->nc != 0;
    }
    room = room_for_operand(&machine->caches[2], blocks->mc * kc_bytes, &blocks->half_rule[2]);
    blocks->nc = round_down(room / kc_bytes, blocks->nr);
    return blocks->nc != 0;
}
