#include "report/compare_judge.h"

#include <math.h>

#include "report/compare_constants.h"
#include "stats/student.h"

typedef struct {
    double error, freedom;
} uncertainty;

/* Ratios where there are any: around zero the plain difference has to do. */
static bool has_logarithm(const bj_answer *answer) {
    return answer->value > 0 && (!answer->has_interval || answer->interval[0] > 0);
}

static double place(double value, bool logarithmic) {
    return logarithmic ? log(value) : value;
}

static double find_width(const bj_answer *answer, bool upwards, bool logarithmic) {
    if (!answer->has_interval)
        return 0;
    double value = place(answer->value, logarithmic);
    double down = value - place(answer->interval[0], logarithmic), up = place(answer->interval[1], logarithmic) - value;
    return fmax(0, fmax(upwards ? up : down, (up + down) / 2));
}

/* In the answer's unit. */
static double find_allowance(const bj_answer *answer, bj_tolerance tolerance) {
    return fmax(tolerance.share * fabs(answer->value), tolerance.least);
}

static uncertainty find_uncertainty(bj_judged side, bool upwards, bool logarithmic) {
    double width = find_width(side.answer, upwards, logarithmic);
    return (uncertainty){width / bj_report_find_interval_reach(side.freedom), side.freedom};
}

/* Welch's test of two means whose errors are estimated each by itself. */
static double find_chance(double distance, uncertainty a, uncertainty b) {
    double a2 = a.error * a.error, b2 = b.error * b.error, sum = a2 + b2;
    if (!(sum > 0))
        return 0; /* there is a distance, and nothing that it could come from */
    double freedom = sum * sum / (a2 * a2 / a.freedom + b2 * b2 / b.freedom);
    return bj_stats_student_tail(distance / sqrt(sum), freedom);
}

/* What is right or wrong has no interval that grows with doubt: one in ten would be a false alarm. */
static bool is_sure_enough(const bj_answer *answer, bj_tolerance tolerance) {
    bool exact = tolerance.share < BJ_TOLERANCE_EXACT && tolerance.least < BJ_TOLERANCE_EXACT;
    return answer->status == BJ_ANSWER_OK && answer->confidence != BJ_CONFIDENCE_LOW &&
           (answer->confidence == BJ_CONFIDENCE_HIGH || !exact);
}

bj_judgement bj_report_judge(bj_judged a, bj_judged b, bj_tolerance tolerance) {
    bj_judgement judgement = {.p = 1};
    bj_judged low = a.answer->value < b.answer->value ? a : b, high = low.answer == a.answer ? b : a;
    judgement.sure_enough = is_sure_enough(a.answer, tolerance) && is_sure_enough(b.answer, tolerance);
    if (!(high.answer->value > low.answer->value))
        return judgement;
    bool logarithmic = has_logarithm(a.answer) && has_logarithm(b.answer);
    double distance = place(high.answer->value, logarithmic) - place(low.answer->value, logarithmic);
    judgement.p =
        find_chance(distance, find_uncertainty(low, true, logarithmic), find_uncertainty(high, false, logarithmic));
    judgement.beyond = high.answer->value - find_allowance(high.answer, tolerance) >=
                       low.answer->value + find_allowance(low.answer, tolerance);
    return judgement;
}

double bj_report_find_freedom(const bj_profile *profile, const bj_answer *answer) {
    size_t rounds = 0;
    for (size_t i = 0; i < answer->evidence_count; i++) {
        const bj_curve *curve = bj_data_find_curve(&profile->curves, answer->evidence[i]);
        if (curve != NULL && curve->round_count > 1 && (rounds == 0 || curve->round_count < rounds))
            rounds = curve->round_count;
    }
    return rounds > 1 ? (double)(rounds - 1) : BJ_FREEDOM_UNKNOWN;
}

double bj_report_find_interval_reach(double freedom) {
    return bj_stats_student_reach(BJ_INTERVAL_TAIL, freedom);
}

double bj_report_find_log_error(const bj_answer *answer, double reach) {
    if (!has_logarithm(answer) || !answer->has_interval)
        return 0;
    return fmax(0, log(answer->interval[1] / answer->interval[0]) / 2) / reach;
}

void bj_report_mark_certain(bj_comparison *comparison) {
    for (size_t marked = 0; marked < comparison->countable; marked++) {
        bj_difference *next = NULL;
        for (size_t i = 0; i < comparison->count; i++) {
            bj_difference *item = &comparison->items[i];
            if (item->may_count && !item->certain && (next == NULL || item->p < next->p))
                next = item;
        }
        if (next == NULL || !(next->p <= BJ_FALSE_ALARM / (double)(comparison->countable - marked)))
            return;
        next->certain = true;
        comparison->certain_count++;
    }
}
