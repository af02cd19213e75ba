/* Constants of the slot probe's analysis. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* Half the width of a peak: a tick more or less of jitter, while twice a slot is far outside. */
#define HALF_WIDTH 1.12
/* A peak counts when gaps of its length took at least this part of the time that those of the largest peak took. Every
 * other waiting may last two slots, or a quota take two thirds of the time, and slots are still above it; interrupts
 * take some hundredths. */
#define NOT_SMALL 0.25
/* A length stands out when it takes as much of the waiting as each of ten lengths would that share it evenly. */
#define LEAST_SHARE 0.1
/* Fewer gaps of one length could be chance. */
#define LEAST_COUNT 8u
/* The paper's most common measurement: of measurements in tenths of a millisecond. */
#define PLAIN_BIN_MS 0.1
/* A slot is right within a tenth: ticks end it now a little early, now a little late. */
#define TOLERANCE 0.1
/* Switching between threads, and the tick that ends a slot, are part of a gap. */
#define SYSTEMATIC 0.05
/* A hypervisor that took more of the time made many of the gaps itself. */
#define STOLEN_MUCH 0.1
/* A table has no rounds: its gaps are dealt out to so many groups, whether they are sorted or not. */
#define TABLE_GROUPS 10u
