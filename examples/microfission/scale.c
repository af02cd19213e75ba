/* A micro-loop in a file of its own: no compiler can join it with its neighbours again. */
#include "micro.h"

void micro_scale(double *restrict cached, double factor, size_t count) {
    for (size_t i = 0; i < count; i++)
        cached[i] = factor * cached[i];
}
