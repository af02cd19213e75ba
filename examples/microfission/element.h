/* One element of the atmosphere: four quantities at three time levels, each an array of 8 x 8 x 96 doubles (48 KiB). */
#ifndef ELEMENT_H
#define ELEMENT_H

#include <stddef.h>

enum { NV = 8, NLEV = 96, POINTS = NV * NV * NLEV, QUANTITIES = 4, LEVELS = 3 };
enum { NM1, N0, NP1 }; /* time levels: before, now, next */

typedef struct {
    double q[QUANTITIES][LEVELS][POINTS]; /* T, v1, v2, div: a structure of arrays */
} element;

#define ELEMENT_BYTES sizeof(element)

/* Both do: q(n0) = q(n0) + smooth * (q(nm1) - 2 q(n0) + q(np1)) for all four quantities. */
void smooth_fused(element *e, double smooth);
void smooth_fissioned(element *e, double smooth);

#endif
