/* The loop as it is usually written (figure 8 of the paper): twelve arrays at once. */
#include "element.h"

void smooth_fused(element *e, double smooth) {
    double *restrict t = e->q[0][N0], *restrict v1 = e->q[1][N0], *restrict v2 = e->q[2][N0], *restrict d = e->q[3][N0];
    const double *tm = e->q[0][NM1], *v1m = e->q[1][NM1], *v2m = e->q[2][NM1], *dm = e->q[3][NM1];
    const double *tp = e->q[0][NP1], *v1p = e->q[1][NP1], *v2p = e->q[2][NP1], *dp = e->q[3][NP1];
    for (size_t i = 0; i < POINTS; i++) {
        t[i] = t[i] + smooth * (tm[i] - 2.0 * t[i] + tp[i]);
        v1[i] = v1[i] + smooth * (v1m[i] - 2.0 * v1[i] + v1p[i]);
        v2[i] = v2[i] + smooth * (v2m[i] - 2.0 * v2[i] + v2p[i]);
        d[i] = d[i] + smooth * (dm[i] - 2.0 * d[i] + dp[i]);
    }
}
