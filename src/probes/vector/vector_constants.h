/* Constants of the vector probe's analysis. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* A width pays when its rate is above that of narrower ones by more than this share of the highest: the definition of
 * vector.width_bytes. Widths differ by a factor of two, or not at all. */
#define PAYS 0.05
