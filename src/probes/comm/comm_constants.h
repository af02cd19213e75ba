/* Constants of how layers of messages are found, with their reasons. */
#pragma once

/* Pairs are of different layers where nothing lies between them on the scale of times for at least this ratio. Servet
 * says "similar" without a number. Smaller differences
 * hardly change who is placed where. How sensitive the layers are to this number has not been measured. */
#define LAYER_RATIO 1.10
/* A gap must also be more than so many times the typical spread of one pair's own rounds (median over low quantile, in
 * logarithms): a message that takes 30% longer every other time does not care for less. */
#define GAP_OVER_SPREAD 2.0
/* And chance, which parts alike pairs anew in every round, must open such a gap in less than one of so many cases. */
#define GAP_CHANCE 0.01
/* So many pairs on each side tell it: with more, evenly thinned, the chance is as small as it needs to be. */
#define GAP_PAIRS 400u
/* Where a gap might be chance, rounds are added, up to so many times as many as at first: three pairs with four rounds
 * can just reach GAP_CHANCE, and pairs of 30% noise are told apart or found alike with twelve. */
#define ROUNDS_TIMES_MOST 3u
/* First come: a pair joins the first layer whose first pair it differs from by less than this. */
#define FIRST_COME_RATIO 1.10
/* Rounds of a point: disturbance only adds time to a message that is alone. */
#define OF_PAIR 0.1
/* Messages at once are contention: what is usual counts. */
#define OF_CROWD 0.5
#define RESAMPLES_MOST 100u
#define LAYERS_MOST 16u
#define SIZES_MOST 4u

/* A line is fitted to three sizes at least: two are met by every line. */
#define SEGMENT_POINTS 3u
#define SEGMENTS_MOST 6u
/* Times scatter by this much at least in the eyes of the fit: less is curvature of no interest. */
#define LEAST_SCATTER 0.02
/* A representative pair and its check should agree within this at all sizes, or the layer is not one. */
#define CHECK_AGREES 0.25
