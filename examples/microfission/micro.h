/* The micro-loops: at most two arrays, of which one is in the cache and at most one comes from memory. */
#ifndef MICRO_H
#define MICRO_H

#include <stddef.h>

void micro_scale(double *restrict cached, double factor, size_t count);
void micro_add(double *restrict cached, const double *restrict streamed, double factor, size_t count);

#endif
