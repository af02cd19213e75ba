/* The length of gap that stands out: how long others run while a thread waits (blackjackbench-2012, 3.6).
 *
 * Most gaps are interrupts, which are short; others are one slot of another thread, or two in a row; stops by a quota
 * are few and long, those by a hypervisor of any length. The mode of all of them is that of interrupts. But threads
 * that share a cpu wait for each other half of their time, so gaps weigh what they last, over the logarithm of their
 * length. Slots are then one peak, and multiples and stops are longer: the answer is the shortest peak that is not
 * small beside the largest. */
#pragma once

#include <stddef.h>

/* The median of the peak's gaps, in their unit; NaN: nothing stands out. Gaps that are not finite or not above 0 are
 * left out; sorts them in place. */
double bj_slot_find_gap_mode(double *gaps, size_t count);
/* As the paper has it: the middle of the bin, bin_width wide from 0 on, that most gaps fall into; of equals the
 * shortest. Sorts them in place; NaN of none. */
double bj_slot_find_plain_mode(double *gaps, size_t count, double bin_width);
