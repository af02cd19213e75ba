/* Constants of the analysis of streams. */
#pragma once

/* A number of arrays is of use while the rate is at least this share of the best that fewer or as many gave. A loop
 * that loses a tenth is worth splitting; less than that is within what rounds differ by on a shared machine. 20% off
 * (0.88 or 0.92): of the zoo's machines with rows none changes, since conflicts take a quarter or more. */
#define USEFUL_SHARE 0.9

/* Curves: one cpu, and all. */
#define STREAMS_ONE "streams.one"
#define STREAMS_ALL "streams.all"
/* Attribute: how many cpus. */
#define STREAMS_CPUS "cpus"
