/* Every constant of the kernel timer, with its reason. */
#pragma once

/* Flush area: size of the last level times its ways, but no more than this (2008, section 3: the rule is for few ways).
 * It grows from there anyway: 20% off changes where the growing begins. */
#define BJ_FLUSH_WAYS_MOST 4u
/* Ways of a last level whose ways nobody knows: the cap. */
#define BJ_FLUSH_WAYS_UNKNOWN 4u
/* The area has grown enough when doubling it makes a cold walk slower by less than this. Below the 5% that an answer
 * may be off; 20% off: one doubling more or less on caches that replace at random. */
#define BJ_FLUSH_RISE 0.03
/* Doublings at most: 16 × 4 × size holds e^-64 of a random cache. Caches that resist scans need them: on a Zen 5, sets
 * visited one after the other were half in the last level after 5 times what it holds, and gone after 20 times. */
#define BJ_FLUSH_DOUBLINGS 4
/* Share of the memory that we may use which areas may take. */
#define BJ_MEMORY_SHARE 0.25

/* The sweeper, in units of what the nearer levels may hold: twice pushes all out under LRU and its likes whatever the
 * order of use. It may shrink to SWEEP_LEAST where the asked level has no room: still more than the nearer ones hold.
 * 20% less than 1.25 would leave lines behind. */
#define BJ_SWEEP_WANTED 2.0
#define BJ_SWEEP_LEAST 1.25
/* Times that an operand is read before it is swept, and that the sweeper is read: the second pass settles caches that
 * replace by bits of use, not by age. */
#define BJ_SETTLE_PASSES 2u
#define BJ_SWEEP_PASSES 2u

/* Bytes from the start of one operand's area to the next one's, modulo the page: loads and stores at equal offsets of
 * pages wait for one another on many processors. Any odd number of lines would do. */
#define BJ_STAGGER_BYTES 576u

/* Samples (2008, section 2.1): three at least, seven usually, more while the interval is wide and there is time. */
#define BJ_SAMPLES_LEAST 3u
#define BJ_SAMPLES_USUAL 7u
#define BJ_SAMPLES_MOST 400u
/* Seconds beyond the usual samples that a timing may take where no budget is given. */
#define BJ_TIMING_SECONDS 1.0
/* Samples are spread over this time at least, longer on a loaded machine: those of one slot of the scheduler all met
 * the same neighbours, and agree with each other more than with the next timing. */
#define BJ_SAMPLING_NS 10000000u
#define BJ_SAMPLING_LOADED_NS 40000000u
/* An interval within 5% is narrow enough; a wider one makes the timing unstable. */
#define BJ_TIMING_TOLERANCE 0.05
/* Memory is as fast as at other times within this: reads of the reference differ by so much on a quiet machine, and
 * with it two timings may still be 5% apart. 20% off: a few samples more or less. */
#define BJ_REFERENCE_TOLERANCE 0.03
/* Area flush and line flush agree within this, or the answer says that they do not. */
#define BJ_FLUSHES_AGREE 0.05
/* They are compared where the clock's step is less than this share of a call: below what they may differ by. (Most of
 * the step is what a read costs, and that is taken off.) */
#define BJ_FLUSHES_STEP 0.03
/* The witness may be off the profile's latency by this share. 20% off: neighbouring levels differ by 3 or more. */
#define BJ_WITNESS_TOLERANCE 0.2
/* Rounds of the witness; their median counts, since the clock's own error of a short walk goes both ways. */
#define BJ_WITNESS_ROUNDS 15u
/* One line in so many is visited where that leaves enough places: seen on a Zen 4, a walk over all lines of few pages
 * takes 30% less than the level's latency, since a prefetcher fetches the rest of a page. */
#define BJ_WITNESS_GROUP 8u
#define BJ_WITNESS_PLACES 24u

/* A timing lasts at least as many clock reads (the larger of cost and step): 0.1% of it. */
#define BJ_READS_OF_TIMING 1000.0
/* Below this share of cpu time in a spin of SPIN_NS the machine is loaded, and cpu time is read. Interrupts take less
 * than 1% of an idle one; a second busy process takes half. */
#define BJ_QUIET_SHARE 0.97
#define BJ_SPIN_NS 30000000u
/* Clocks ramp up: so long is worked before the first timing. */
#define BJ_WARM_UP_NS 50000000u
