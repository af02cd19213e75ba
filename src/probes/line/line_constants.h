/* Constants of the line probe's analysis. `make sensitivity` prints what happens when one is 20% off. */
#pragma once

/* The rise that counts, as a share of what one more miss costs. In the first level's walk a second access misses or
 * not: half. At outer levels a prefetcher of the next line spares every second miss, since pairs go both ways: less
 * than half. */
#define RISE_SHARE_FIRST 0.5
#define RISE_SHARE 0.3
/* The same as a share of the whole rise, where the cost of a miss is not known: pairs beyond the line rise by all of
 * it, neighbours that are fetched now and then by less. */
#define RISE_OF_ALL 0.25
/* Smaller rises than this share of the whole are scatter: a walk that spills out of the next level too has much. */
#define LEAST_OF_ALL 0.15
/* An outer level's rise must have reached this share of the whole: what prefetchers fetch in vain at longer extents
 * makes smaller ones. */
#define CLEAR_OF_ALL 0.4
/* A curve that rises by less than this factor in all shows nothing: noise does as much. */
#define LEAST_CONTRAST 1.08
/* An increment of a line that two cpus share costs at least so many times one of their own: a line on its way between
 * cores takes several times a hit, cpus that share all caches pay next to nothing. */
#define LEAST_BOUNCE 1.5
/* A rise has something before and something after it. */
#define POINTS_NEEDED 3u
/* Of a table: steps beside the biggest that leave no doubt, as a share of it. */
#define CLEAR_STEP 0.25
