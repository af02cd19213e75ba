#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "bj_build.h"
#include "cli/cli.h"
#include "cli/stop.h"
#include "cli/time_child.h"
#include "cli/time_output.h"
#include "cli/time_request.h"
#include "platform/process.h"
#include "runner/known_machine.h"
#include "timer/build.h"

static bool report_probe(void *context, const bj_progress *news) {
    (void)context;
    (void)news;
    return bj_cli_is_stopped(NULL);
}

static void announce_probe(void) {
    bj_cli_complain(
        "no profile: measuring the caches first, which takes a minute or so ('blackjack run --save' keeps it)");
}

static bj_status find_caches(const bj_time_request *request, bj_timer_caches *caches, bj_error *error) {
    bj_profile profile;
    bool measured;
    bj_profile_init(&profile);
    bj_status status = bj_runner_know_machine(request->profile, request->quiet ? NULL : announce_probe, report_probe,
                                              NULL, &profile, &measured, error);
    if (status == BJ_OK && bj_timer_read_caches(&profile.answers, caches, error) != BJ_OK)
        status = bj_base_set_error(error, BJ_ERR_FAILED, "%s: 'blackjack run cache line' finds them",
                                   measured ? "the caches could not be measured" : "the profile has no cache sizes");
    bj_profile_free(&profile);
    return status;
}

/* Where blackjack/kernel.h is: installed, or beside the folder that we were built in. NULL: not found. */
static char *find_include(void) {
    char *own = NULL;
    bj_error ignored;
    if (bj_platform_find_own_folder(&own, &ignored) != BJ_OK)
        return NULL;
    size_t room = strlen(own) + strlen(BJ_INCLUDE_FROM_PROGRAM) + 2;
    char *path = malloc(room);
    if (path != NULL)
        snprintf(path, room, "%s/%s", own, BJ_INCLUDE_FROM_PROGRAM);
    free(own);
    return path;
}

static bj_status build_kernels(bj_time_request *request, const char *folder, bj_error *error) {
    char *include = find_include();
    bj_timer_build build = {
        .command = request->compiler, .include = include, .folder = folder, .is_stopped = bj_cli_is_stopped};
    bj_status status = BJ_OK;
    for (size_t k = 0; k < request->kernel_count && status == BJ_OK; k++) {
        bj_time_kernel *kernel = &request->kernels[k];
        struct stat about;
        build.number = (unsigned)k;
        if (access(kernel->file, R_OK) != 0 || stat(kernel->file, &about) != 0)
            status = bj_base_set_error(error, BJ_ERR_INPUT, "%.200s: no such file, or not to be read", kernel->file);
        else if (!S_ISREG(about.st_mode)) /* compiler and loader might wait at its other end for ever */
            status = bj_base_set_error(error, BJ_ERR_INPUT, "%.200s: is no regular file", kernel->file);
        else if (kernel->is_source)
            status = bj_timer_build_kernel(&build, kernel->file, kernel->symbol, &kernel->library, error);
        else if ((kernel->library = strdup(kernel->file)) == NULL)
            status = bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for a path");
    }
    free(include);
    return status;
}

static bj_status time_kernels(bj_time_request *request, const char *folder, bj_error *error) {
    bj_time_results results = {.request = request, .stop = bj_cli_stop_flag()};
    BJ_TRY(build_kernels(request, folder, error));
    BJ_TRY(find_caches(request, &results.caches, error));
    bj_status status = bj_cli_time_in_child(&results, error);
    if (results.clock_reason[0] != '\0' && !request->quiet) {
        char bytes[32];
        bj_base_format_bytes((double)results.flush_bytes, bytes, sizeof bytes);
        bj_cli_complain("%s; flush area %s", results.clock_reason, bytes);
    }
    if (results.jobs != NULL && results.clock_reason[0] != '\0') {
        bj_error unwritten;
        bj_status printed = bj_cli_print_timings(&results, &unwritten);
        if (status == BJ_OK && printed != BJ_OK) {
            status = printed;
            *error = unwritten;
        }
    }
    bj_cli_free_time_results(&results);
    return status;
}

static int run(const bj_cli_arguments *arguments) {
    bj_time_request request;
    bj_error error;
    char *folder = NULL;
    bj_status status = bj_cli_read_time_request(arguments, &request, &error);
    if (status == BJ_OK)
        status = bj_platform_make_folder(&folder, &error);
    if (status == BJ_OK) {
        bj_cli_catch_signals();
        bj_cli_end_soon("blackjack: interrupted\n");
        status = time_kernels(&request, folder, &error);
        bj_platform_remove_folder(folder);
        bj_cli_release_signals();
    }
    free(folder);
    bj_cli_free_time_request(&request);
    return status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
}

static const bj_cli_option options[] = {
    {"operand", 0, "SPEC", "an operand of the kernel, NAME:BYTES and words, see below; once for each, in their order"},
    {"n", 0, "N", "what the kernel gets as n (default 1)"},
    {"sweep", 0, "N=A..B", "many n: A, 2A, 4A ... and B; with +STEP behind B, A, A+STEP ..."},
    {"context", 0, "LIST",
     "where operands are that do not say: cold (default), warm, L2 ...; several are timed side by side"},
    {"wall", 0, NULL, "wall time, also on a loaded machine"},
    {"cpu-time", 0, NULL, "cpu time, also on a quiet machine"},
    {"threads", 0, "T", "threads that the kernel starts (default 1): flushes every cpu, pins nothing"},
    {"samples", 0, "S", "exactly so many; otherwise seven at least, and more while they differ"},
    {"budget", 0, "SECONDS", "for all timings together"},
    {"limit", 0, "SECONDS", "that one call may take before it is ended (default 60)"},
    {"profile", 0, "FILE", "with the cache sizes; otherwise the default profile, or a look at the caches"},
    {"cc", 0, "COMMAND", "compiler and flags for kernels in C (default '" BJ_TIMER_COMPILER "')"},
    {"json", 0, NULL, "JSON, for programs"},
    {"csv", 0, NULL, "one row a timing"},
    {"seed", 0, "N", "of everything random (default 1)"},
    {"quiet", 'q', NULL, "no progress and no remarks on standard error"},
};

const bj_cli_command bj_cli_command_time = {
    .name = "time",
    .synopsis = "KERNEL [KERNEL] [--operand NAME:BYTES[:WORD]...]... [--n N | --sweep N=A..B]\n"
                "[--context LIST] [--wall | --cpu-time] [--threads T] [--samples S] [--budget SECONDS]\n"
                "[--limit SECONDS] [--profile FILE] [--cc COMMAND] [--json | --csv] [--seed N] [--quiet]",
    .summary = "Time a kernel of yours the way it will be called",
    .details =
        "KERNEL is FILE.c:SYMBOL or LIBRARY.so:SYMBOL, a function\n"
        "\n"
        "  double SYMBOL(size_t n, void *const *operands)\n"
        "\n"
        "as blackjack/kernel.h declares it. BYTES may use n, as in 8*n or 4*(n+1).\n"
        "\n"
        "  blackjack time dot.c:dot --operand x:8*n --operand y:8*n \\\n"
        "                 --sweep N=500..4000000 --context cold,warm\n"
        "\n"
        "The words of an operand, each behind a colon:\n"
        "\n"
        "  in, out, inout        what the kernel does with it\n"
        "  cold, warm, L<n>      where it is when the kernel is called\n"
        "  order=up|down|random  in which the kernel walks over it\n"
        "  align=A, misalign=M   alignment, and one that it must not have:\n"
        "                        align=4:misalign=16\n"
        "\n"
        "A cold operand is in no cache when the kernel is called, one in L<n> is in that level and no nearer, a warm "
        "one\n"
        "where the last call left it. Operands hold numbers of both signs, whether they are read as float or\n"
        "double.\n"
        "\n"
        "Wall time is read where the machine is quiet, and its least is the answer; on a loaded machine it is cpu "
        "time, and\n"
        "its median. Timings with a '?' are unstable, and the remark says why. An operand in a level has a\n"
        "witness: a walk over it that must take that level's latency.\n"
        "\n"
        "Two kernels are timed in turns, and compared by pairs. Kernels run in a child process: one that crashes, "
        "never\n"
        "ends, exits or touches memory outside of its operands is named, and the exit status is 1.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least_operands = 1,
    .most_operands = 2,
    .run = run,
};
