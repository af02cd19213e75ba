/* The length of gap that stands out: how long others run while a thread waits (blackjackbench-2012, 3.6).
 *
 * Gaps are of several kinds: interrupts, by far the most numerous and short; slots of another thread; two slots in a
 * row or more; a quota's stops, few and long; a hypervisor's, of any length. The mode of all of them is that of
 * interrupts. But threads that share a cpu wait for each other half of their time, so that what stands out is looked
 * for in the time waited: gaps weigh what they last, over the logarithm of their length. Slots are then one peak,
 * multiples and stops may be others, which are longer: the answer is the shortest peak that is not small beside the
 * largest. */
#ifndef BJ_PROBES_SLOT_GAP_MODE_H
#define BJ_PROBES_SLOT_GAP_MODE_H

#include <stddef.h>

typedef struct {
    double value; /* median of the peak's gaps; NaN: nothing stands out */
    size_t count; /* of the peak's gaps */
    double share; /* of all time waited that they took */
} bj_gap_mode;

/* Gaps in any unit; those that are not finite or not above 0 are left out. Sorts them in place. */
bj_gap_mode bj_slot_find_gap_mode(double *gaps, size_t count);
/* As the paper has it: the middle of the bin, bin_width wide from 0 on, that most gaps fall into; of equals the
 * shortest. Sorts them in place; NaN of none. */
bj_gap_mode bj_slot_find_plain_mode(double *gaps, size_t count, double bin_width);

#endif
