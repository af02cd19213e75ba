/* Every constant of the cache probe's analysis, with the reason for its value. */
#pragma once

/* ---- What was measured */

#define BJ_TWIN_PACKING 8u   /* pages of the spread twin for one of the packed twin */
#define BJ_REVISIT_CURVES 3u /* many visits a line where that is cheap, few where it is not */

/* ---- Levels in one curve (levels.c) */

#define BJ_LEVELS_MAX 8u
#define BJ_LEVEL_POINTS_LEAST 4u /* a plateau on both sides of an edge */
/* Slopes are taken over a third of an octave: levels less than an octave apart (a memory-side cache behind a second
 * level of its size) have a valley so narrow, and published curves give the same levels with 0.35 and 0.5. */
#define BJ_SLOPE_OCTAVES 0.35
#define BJ_GRID_OCTAVES 0.125
/* A valley must be clearly lower than the peaks beside it; 0.4 to 0.8 give the same levels on published curves. */
#define BJ_VALLEY_TO_PEAK 0.6
/* With the TLB in the curve: published TLB edges reach 1.7 within an octave and 2.2 in all, the smallest cache
 * edges 1.8 and 2.4. So 2.5 in all is a cache however gradual, and less is one only if it is steep. */
#define BJ_RISE_OF_CACHE 2.5
#define BJ_RISE_OF_STEEP_CACHE 1.55
#define BJ_STEEP_OCTAVE 1.75
/* Without it an edge need only be more than noise and than what an estimate of the TLB's cost leaves behind. */
#define BJ_RISE_WITHOUT_TLB 1.25
#define BJ_RISE_SIGMAS 6         /* standard errors of a point: the two plateaus are chosen among many */
#define BJ_START_UP_OCTAVES 0.01 /* a plateau that ends so near to the first point is that point alone */
/* A lone sample between two steep rises is a level when it can hardly be a partial miss. At least 1 - C / x of the
 * accesses miss a cache of capacity C, so a small excess needs C just below x. With the spacing of the samples that
 * chance is known; more than 0.3 of it explains the sample without a level. The sample before must still be mostly the
 * level below: on a steady slope it is a third of the way at least. */
#define BJ_LONE_RISE 2.5
#define BJ_LONE_CHANCE 0.3
#define BJ_LONE_BEFORE 0.3
/* A dip: most of the way up was seen before, in more samples than chance disturbs side by side; 0.6 to 0.95 give the
 * same levels on simulated machines. */
#define BJ_DIP_SHARE 0.8
#define BJ_DIP_SAMPLES 3u
/* The size is the last x within this share of the rise: latency + 0.1 (next - latency), as the profile defines it. */
#define BJ_SIZE_SHARE 0.1
#define BJ_ROUNDING 1e-9 /* of numbers that should be equal */

/* ---- The occupancy model (occupancy.c) */

/* From direct-mapped to what no longer differs from a fully associative cache. Over random frames the largest also
 * stands for huge pages: so few of them fill a last level that their luck is less than that of as many ways of small
 * ones. */
#define BJ_WAYS_TRIED 1, 2, 4, 8, 12, 16, 24, 64
/* How much better than LRU a replacement must explain a ramp before it is believed, in log likelihood; in the order of
 * bj_replacement. Real caches are LRU or close to it; the others stand for what prefetches and odd replacements make of
 * a ramp. */
#define BJ_DOUBT_OF_REPLACEMENT 0, 1.5, 1.5, 5, 5, 5
/* Over random frames, replacements differ by little more than the capacity that they want: a cache of 8 ways under LRU
 * and one two thirds as large with 24 ways that replaces at random make the same ramp. There the replacement of the
 * first level, which is told precisely, is believed of the others as well. */
#define BJ_DOUBT_OTHER_THAN_FIRST 4.0
/* Where frames do not matter the best is what random replacement does on the first lap after the chain was written, and
 * that is all that long walks see. */
#define BJ_DOUBT_BEST_CONTIGUOUS 1.5
/* What may be is judged more freely than what is most likely: no doubt counts for more than this in the interval. */
#define BJ_DOUBT_IN_INTERVAL 3.0
/* Hardly any cache of the last decades is direct-mapped, few have two ways. What looks like it is mostly a ramp that
 * was measured too coarsely, or one that moved between rounds. */
#define BJ_DOUBT_ONE_WAY 4.0
#define BJ_DOUBT_TWO_WAYS 2.0
/* However many points a ramp has, their errors go together (what is left of a TLB, a model that is not quite right):
 * more than this many say nothing more. */
#define BJ_INDEPENDENT_POINTS 12.0
#define BJ_CAPACITIES_PER_OCTAVE 48 /* 1.5% apart, well below what an edge tells */
/* What counts as nothing: a share of the point itself (clocks, noise that the rounds did not show) and one of the whole
 * rise (the model, and what is left of a TLB's cost). Of that a part with several visits a line, where the model hardly
 * depends on what is not known. */
#define BJ_ERROR_OF_POINT 0.01
#define BJ_ERROR_OF_RISE 0.015
#define BJ_ERROR_OF_REVISITS 0.3
/* Tree-PLRU misses so many times the share of lines too many, by simulation of 4 to 16 ways. */
#define BJ_PLRU_SLOPE 1.5
#define BJ_RAMP_POINTS_LEAST 3u /* two unknowns and one to check them by */
#define BJ_TAIL 0.025           /* that the 95% of an interval leave on either side */

/* ---- The TLB's cost, by the twins (twin_cost.c) */

/* A dense walk also drives the page tables out of the caches, which the twins hardly do. From 0.1 to 0.5 the levels of
 * the zoo and of 79 random machines are the same, only fewer of them `high`. */
#define BJ_TLB_MODEL_ERROR 0.25
/* A step of the twins, as wide as those of the coarse grid, is noise or moves no answer if it is less than these shares
 * of all that they rise and of the first level's time. */
#define BJ_TLB_STEP_OCTAVES 0.25
#define BJ_TLB_STEP_OF_ALL 0.1
#define BJ_TLB_STEP_OF_FIRST 0.1

/* ---- Rounds in one curve (round_summary.c) */

/* Rounds are summed up low, since disturbance only adds time; not at the bottom, since the frames of a mapping can be
 * lucky, too, and a capacity taken from the luckiest round is too large. */
#define BJ_LOW_OF_ROUNDS 0.25
/* The first level is virtually indexed, so that luck has no part in it, and so small that any neighbour on the same
 * core empties it: only the quietest rounds show all of it. */
#define BJ_LOWEST_OF_ROUNDS 0.1
/* Where luck counts its mean is wanted, without what lies far above the rest: that was disturbance. Tukey's fence. */
#define BJ_FENCE 1.5
/* Drop at most one sample in ten as disturbance: where a ramp begins, a few slow rounds are real misses. */
#define BJ_FENCED_ONE_IN 10
#define BJ_SCATTER_ROUNDS_LEAST 3u /* fewer rounds have no deviation worth the name */
#define BJ_BEFORE_RAMP_OCTAVES 1.5 /* of the plateau before a ramp: enough to know the latency there */
/* Misses set in at the capacity or, on random frames, below it: by no more than this. */
#define BJ_CAPACITY_BELOW_RAMP 1.5
/* A level whose plateau is shorter than this factor may be a stair in another level's ramp. Beyond 16 ways the ramps
 * that may explain stairs hardly change. */
#define BJ_STAIR_PLATEAU 2
#define BJ_STAIR_WAYS_MOST 16u
/* Nobody builds a second level less than twice as large as the first. */
#define BJ_SECOND_LEVEL_LEAST 2
/* A model that is right is off by less than this in 95 of 100 ramps, in units of the errors: the root of chi square's
 * quantile over its twelve independent points. And it begins where the plateau before does, within a quarter. */
#define BJ_FIT_ERROR_MOST 1.32
#define BJ_FIT_LOW_MOST 0.25
/* Edges closer than this are one that moved between rounds: the slope is taken over half of that distance. */
#define BJ_LEAST_APART 1.6

/* ---- The capacity of a level (level_capacity.c) */

#define BJ_CAPACITY_ABOVE_RAMP 4 /* misses set in not far beyond the capacity */
#define BJ_REFIT_RANGE 1.6       /* capacities are resampled within this factor of the first fit, by its model */
/* Frames are random where the rounds of most points of a ramp differ so many times as much as those of a typical point;
 * its two ends are plateaus. */
#define BJ_RAMP_SCATTER 5
#define BJ_RAMP_END 0.15
/* What revisits may be off besides: latencies of plateaus, what is left of a TLB's cost. */
#define BJ_REVISIT_ERROR 1.02
#define BJ_REVISITS_LEAST 4u /* two points between those of the plateaus */
#define BJ_FAR_BEYOND 64     /* where hardly anything hits any more */
#define BJ_WAYS_BEFORE 8u    /* of nearer levels: they hardly matter where those miss most of the time */
/* A ramp as wide as that of so few ways is rather one over frames that do matter. */
#define BJ_FEW_WAYS 2u
/* How well a latency is known: plateaus begin before nothing hits the level before any more. */
#define BJ_PLATEAU_ERROR 0.04
/* Misses on a plateau are looked for beyond this many standard errors of a point: 95%. */
#define BJ_PLATEAU_SIGMAS 2.0

/* ---- The hierarchy (hierarchy.c) */

/* Enough for the moved-out 95% percentiles of a dozen rounds, and to see one wrong answer in a hundred. */
#define BJ_CACHE_RESAMPLES 200u
#define BJ_PERMUTATIONS 999u
/* Two sizes closer than this are the same level: neighbouring levels lie further apart than an octave. */
#define BJ_SAME_LEVEL 1.4142

/* ---- How sure the answers are (cache_answer.c) */

/* A size or a capacity is right within an eighth; three times that is no answer to build on. */
#define BJ_SIZE_TOLERANCE 0.125
#define BJ_WIDTH_MEDIUM 1.6
/* A latency is right within a tenth. Hits of the level before that may have gained half of that leave doubt. */
#define BJ_LATENCY_TOLERANCE 0.1
#define BJ_GAINED_MOST 0.05
/* A plateau of half an octave and one point of the grid: the nearer level may still hit wherever it is read. */
#define BJ_BRIEF_PLATEAU 1.5
/* Samples are never faster than the truth; what is left of disturbance in the quietest ones. */
#define BJ_SYSTEMATIC 0.01
/* Sizes of single rounds that differ by more than this are a moving target. On base pages the luck of frames alone
 * makes them differ, by less than the larger of the two. */
#define BJ_STABLE_SCATTER 1.25
#define BJ_STABLE_SCATTER_LUCKY 1.6
/* Student's t for 95% of ten rounds or so, a quarter more for a deviation that is itself estimated from them (by the
 * median, robustly), and the error of their mean. */
#define BJ_PREDICTION_SIGMAS 3.0
#define BJ_P_MOST 0.01 /* a step by chance: one in a hundred, as `high` promises */
/* No cache of capacity C misses less than 1 - C / x of a random walk, whatever it replaces: nine tenths of the rise are
 * reached by 10 C. A longer ramp has something else in it. */
#define BJ_RAMP_OCTAVES_MOST 3.33
/* A model that is off by this many times what counts as nothing does not explain the ramp. */
#define BJ_POOR_FIT 2.0
/* Levels closer than this are rare (memory-side caches), and one edge that something has split is more likely. */
#define BJ_CLOSE_LEVELS 2.0
/* A table has one sample a point, so what resampling cannot show must be plain to see: a rise that no TLB makes. Few
 * samples a side cannot show a smaller p. */
#define BJ_TABLE_RISE_LEAST 3.0
#define BJ_TABLE_STEEP_LEAST 2.0
#define BJ_TABLE_P_MOST 0.05
/* What a last level may be like that the look for memory did not reach: none is known to give one core more than a
 * quarter of this. Below the smaller one not even ordinary last levels would be seen. */
#define BJ_LOOK_SURE_BYTES (256.0 * 1048576)
#define BJ_LOOK_LEAST_BYTES (16.0 * 1048576)

/* ---- Memory (memory_answer.c) */

/* A walk over so many times the last capacity finds at most a quarter of its lines there. 20% off: a walk of a fifth
 * fewer lines counts, or not. */
#define BJ_MEMORY_BEYOND 4.0

/* Windows that take less by this share than what the twins leave of memory's latency: a prefetcher has learned them.
 * The twins' own error is about half of that; neighbours that are fetched along would save a third and more. */
#define BJ_WINDOW_GAIN_MOST 0.2

/* ---- The papers' methods (cache_methods.c, servet.c) */

/* Their time grows with the square of the points and more. */
#define BJ_METHOD_POINTS_MOST 4096u
/* Servet's model asks for the page size; 4 KiB is what its machines had, and a curve does not say. */
#define BJ_MODEL_PAGE_BYTES 4096.0
/* Change points: segments of two points at least, and one false change in a hundred curves without any. */
#define BJ_CHANGE_SEGMENT 2
#define BJ_CHANGE_SIGNIFICANCE 0.01
#define BJ_CHANGE_PERMUTATIONS 499
/* Of the 2012 paper's walks, of eight sizes to an octave: clusters of fewer are parts of a ramp between two levels.
 * Where frames are random, ramps are an octave long and more, and up to five of their sizes are within a quarter of
 * each other; a level is an octave at least. 20% less: a level too many on one run of Power7 in ten. */
#define BJ_QT_POINTS_LEAST 6u
/* A gradient must exceed 1 by this much even on a curve without visible noise: clocks of quiet machines wander
 * by a percent or two between points. */
#define BJ_SERVET_TOLERANCE_MIN 0.02
/* … and by this many standard deviations of the gradients' noise. Three would do if that were known; it comes from the
 * handful of gradients that fall. */
#define BJ_SERVET_TOLERANCE_SIGMAS 4.0
/* What parts two peaks of one run of gradients above 1: a valley of less than this share of both, in logarithms. */
#define BJ_SERVET_VALLEY 0.5
/* The same on mcalibrator's grid, where the paper takes Dempsey's TLB, which rises at 256 KB, and its second level, at
 * 1 MB, for one peak over [256 KB, 4 MB]; an Athlon's two levels are two, though its first TLB keeps the gradient
 * between them above 1. */
#define BJ_SERVET_VALLEY_PRINTED 0.125
/* And "sharp changes" are peaks; the paper gives no number. What rises by less than an eighth in all is no level: the
 * last TLB of an Itanium adds 0.09 to the time of its third cache when it misses every sixteenth access. */
#define BJ_SERVET_RISE_PRINTED 1.125
/* The binomial model's candidates: every size (8 + j) / 8 * 2^e from half the smallest to twice the largest measured
 * one; eighths of an octave hold every size of the papers (3, 9, 12 MB). Ways: all integers to 32, since 11, 12, 20
 * exist and neighbours make the five best fits agree on a size rather than on a coincidence. */
#define BJ_BINOMIAL_SIZES_PER_OCTAVE 8
#define BJ_BINOMIAL_WAYS_MAX 32
/* Figure 3 takes the mode of five fits. */
#define BJ_BINOMIAL_BEST_FITS 5
/* A matched fit whose miss share rises by less than this within the window extrapolates the size from the toe of its
 * ramp. On a generated 12 MB ramp with 1% of jitter it was within an eighth of the truth in 13 of 60 windows that rise
 * by 0.11, in 42 that rise by 0.30 and in all that rise by 0.54; below a quarter it is no answer. */
#define BJ_BINOMIAL_RISE_MIN 0.25
/* Two unknowns need three points. */
#define BJ_BINOMIAL_POINTS_MIN 3
