/* Student's t: how far a mean of few rounds strays. */
#pragma once

/* The chance that a value of so many degrees of freedom (at least 1) is further than t from 0, to either side. */
double bj_stats_student_tail(double t, double freedom);
/* Its inverse: how far the chance `tail` reaches; 0 < tail < 1. */
double bj_stats_student_reach(double tail, double freedom);
