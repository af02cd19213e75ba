/* What reading a clock costs on the real machine, and the least difference that it shows. */
#include "machine/machine_check.h"
#include "machine/native/native_machine.h"
#include "machine/native/native_threads.h"
#include "platform/clock.h"

/* Reads of the first batch, which shows how many fill one that can be timed. */
#define FIRST_READS 200u

typedef struct {
    bj_native_job job;
    bj_clock clock;
    unsigned repetitions;
    double batch_ns;
    double *read_ns, *resolution_ns;
} timer_job;

static bj_status read_on_cpu(bj_native_job *thread, bj_error *error) {
    const timer_job *job = (timer_job *)thread;
    double each = bj_platform_time_reads(job->clock, FIRST_READS), tick_ns = bj_platform_measure_tick_ns(job->clock);
    size_t reads = FIRST_READS;
    if (each * FIRST_READS < job->batch_ns)
        reads = each > 0 ? (size_t)(job->batch_ns / each) + 1 : (size_t)job->batch_ns;
    for (unsigned i = 0; i < job->repetitions; i++) {
        job->read_ns[i] = bj_platform_time_reads(job->clock, reads);
        job->resolution_ns[i] = (double)bj_platform_find_least_step(job->clock) * tick_ns;
        if (job->resolution_ns[i] <= 0)
            return bj_base_set_error(error, BJ_ERR_FAILED, "a clock that was read again and again did not move");
    }
    return BJ_OK;
}

bj_status bj_native_run_timer(bj_machine *machine, bj_timer timer, int cpu, unsigned repetitions, double *read_ns,
                              double *resolution_ns, bj_error *error) {
    bj_machine_clear_samples(read_ns, repetitions);
    bj_machine_clear_samples(resolution_ns, repetitions);
    static const bj_clock clocks[BJ_TIMER_COUNT] = {BJ_CLOCK_WALL, BJ_CLOCK_CPU, BJ_CLOCK_CYCLES};
    timer_job job = {.job = {.cpu = cpu, .work = read_on_cpu},
                     .clock = clocks[timer],
                     .repetitions = repetitions,
                     .read_ns = read_ns,
                     .resolution_ns = resolution_ns};
    if (!bj_platform_has_clock(job.clock))
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "%s",
                                 timer == BJ_TIMER_CYCLES ? "no counter of cycles can be read here without assembler"
                                                          : "the system has no such clock");
    BJ_TRY(bj_native_warm_up(machine, cpu, &job.batch_ns, error));
    return bj_native_run_jobs(&job, sizeof job, 1, error);
}
