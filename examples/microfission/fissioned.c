/* The same after microfission (figure 9): one array stays in the cache while one is streamed in. */
#include "element.h"
#include "micro.h"

void smooth_fissioned(element *e, double smooth) {
    for (int q = 0; q < QUANTITIES; q++) {
        micro_scale(e->q[q][N0], 1.0 - 2.0 * smooth, POINTS);
        micro_add(e->q[q][N0], e->q[q][NM1], smooth, POINTS);
        micro_add(e->q[q][N0], e->q[q][NP1], smooth, POINTS);
    }
}
