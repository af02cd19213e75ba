#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/news.h"
#include "cli/stop.h"
#include "cli/tune_output.h"
#include "platform/child.h"
#include "platform/process.h"
#include "profile/places.h"
#include "tune/target.h"

/* Vectors of this processor, and what compilers do at their best; kernels are for the machine that they are made on. */
#define COMPILER "cc -O3 -march=native"
/* Of silence of the child that times: a size takes some seconds for each kernel and context. */
#define SILENCE_SECONDS 300.0
/* Numbers of objects in the folder: lower ones are the kernels' and the libraries'. */
#define FIRST_CANDIDATE 100u

/* ---- what is asked for */

static bj_status read_sizes(const char *list, bj_tune_job *job, bj_error *error) {
    const char *at = list;
    while (true) {
        char *end;
        unsigned long size = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (size == 0 || size > BJ_TUNE_LARGEST || (*end != ',' && *end != '\0'))
            return bj_base_set_error(error, BJ_ERR_USAGE,
                                     "--sizes: expected sizes from 1 to %d, as in 8,16,64, found '%.40s'",
                                     BJ_TUNE_LARGEST, list);
        for (size_t i = 0; i < job->size_count; i++)
            if (job->sizes[i] == size)
                return bj_base_set_error(error, BJ_ERR_USAGE, "--sizes: %lu stands there twice", size);
        if (job->size_count == BJ_TUNE_SIZES_MAX)
            return bj_base_set_error(error, BJ_ERR_USAGE, "--sizes: at most %d", BJ_TUNE_SIZES_MAX);
        job->sizes[job->size_count++] = size;
        if (*end == '\0')
            return BJ_OK;
        at = end + 1;
    }
}

static bj_status read_request(const bj_cli_arguments *arguments, bj_cli_tuning *tuning, bj_tune_type *type,
                              bj_error *error) {
    const char *name = arguments->operands[0], *asked = bj_cli_find_value(arguments, "type");
    const char *sizes = bj_cli_find_value(arguments, "sizes"), *compiler = bj_cli_find_value(arguments, "cc");
    tuning->job.name = name;
    tuning->job.subtract = strcmp(name, "schur") == 0;
    if (!tuning->job.subtract && strcmp(name, "gemm") != 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "tune: expected gemm or schur, found '%.40s'", name);
    if (asked != NULL && strcmp(asked, "double") != 0 && strcmp(asked, "float") != 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--type: expected double or float, found '%.40s'", asked);
    *type = asked != NULL && strcmp(asked, "float") == 0 ? BJ_TUNE_FLOAT : BJ_TUNE_DOUBLE;
    tuning->compiler = compiler != NULL ? compiler : COMPILER;
    tuning->quiet = bj_cli_is_given(arguments, "quiet");
    if (bj_cli_is_given(arguments, "search")) {
        tuning->search = calloc(1, sizeof *tuning->search);
        if (tuning->search == NULL)
            return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for the search");
    }
    return read_sizes(sizes != NULL ? sizes : "8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128", &tuning->job,
                      error);
}

/* ---- from the profile to the model */

static bj_status read_profile(const char *path, bj_cli_tuning *tuning, bj_tune_type type, const bj_tune_target *target,
                              bj_timer_caches *caches, bj_error *error) {
    bj_profile profile;
    char *default_path = NULL;
    bj_profile_init(&profile);
    bj_status status = bj_profile_read_default(path, &profile, path == NULL ? &default_path : NULL, error);
    if (status == BJ_OK) {
        status = bj_tune_read_machine(&profile.answers, type, target, &tuning->job.machine, &tuning->inputs, error);
        if (status == BJ_ERR_FAILED) /* a profile that will not do is bad input */
            status = BJ_ERR_INPUT;
    }
    if (status == BJ_OK)
        status = bj_timer_read_caches(&profile.answers, caches, error);
    for (size_t i = 0; i < tuning->inputs.count && status == BJ_OK && !tuning->quiet; i++) {
        const bj_answer *answer = bj_data_find_answer(&profile.answers, tuning->inputs.items[i].key);
        if (answer != NULL && answer->confidence == BJ_CONFIDENCE_LOW)
            bj_cli_complain("%s = %g is of low confidence; the model uses it", tuning->inputs.items[i].key,
                            tuning->inputs.items[i].value);
    }
    if (status != BJ_OK)
        bj_cli_name_default(default_path, error);
    free(default_path);
    bj_profile_free(&profile);
    return status;
}

/* ---- timing, in a child: kernels and libraries of others may crash or exit */

typedef struct {
    bj_cli_tuning *tuning;
    bj_tune_measuring measuring;
    const bj_tune_objects *objects;
    int parent;
    /* The parent: */
    char step[120];
    bool is_spoilt;
    bj_status status;
    bj_error error;
} session;

static void tell_step(void *context, const char *what) {
    const session *s = context;
    bj_tune_news message = {.kind = BJ_TUNE_NEWS_STEP};
    snprintf(message.text, sizeof message.text, "%s", what);
    bj_platform_tell_parent(s->parent, &message, sizeof message);
}

static void tell_result(void *context, size_t index, const bj_tune_result *result) {
    const session *s = context;
    bj_tune_news message = {.kind = BJ_TUNE_NEWS_RESULT, .index = index, .result = *result};
    bj_platform_tell_parent(s->parent, &message, sizeof message);
}

static void tell_speed(void *context, const bj_tune_speed *speed) {
    const session *s = context;
    bj_tune_news message = {.kind = BJ_TUNE_NEWS_SPEED, .speed = *speed};
    bj_platform_tell_parent(s->parent, &message, sizeof message);
}

static void tell_point(void *context, const bj_tune_point *point) {
    const session *s = context;
    bj_tune_news message = {.kind = BJ_TUNE_NEWS_POINT, .point = *point};
    bj_platform_tell_parent(s->parent, &message, sizeof message);
}

static void work(void *context, int parent) {
    session *s = context;
    bj_tune_peers peers;
    bj_tune_news message = {.kind = BJ_TUNE_NEWS_PEERS};
    s->parent = parent;
    s->measuring.say = tell_step;
    s->measuring.take = tell_result;
    s->measuring.context = s;
    message.status = bj_tune_measure(&s->measuring, s->objects, &peers, &message.error);
    if (message.status == BJ_OK)
        message.status = bj_tune_time_points(&s->measuring, s->objects, tell_point, &message.error);
    if (message.status == BJ_OK && s->tuning->search != NULL)
        message.status =
            bj_tune_time_candidates(&s->measuring, s->objects, FIRST_CANDIDATE, tell_speed, &message.error);
    if (message.status != BJ_OK)
        message.kind = BJ_TUNE_NEWS_FAILED;
    message.peer_count = peers.count;
    for (size_t i = 0; i < peers.count; i++)
        memcpy(message.peers[i], peers.items[i].name, sizeof message.peers[i]);
    bj_platform_tell_parent(parent, &message, sizeof message);
}

static void take(void *context, const void *bytes, size_t count) {
    session *s = context;
    bj_tune_news message;
    if (!bj_cli_read_tune_news(bytes, count, s->tuning->job.size_count, &message)) {
        s->is_spoilt = true;
        return;
    }
    if (message.kind == BJ_TUNE_NEWS_STEP) {
        memcpy(s->step, message.text, sizeof s->step);
        if (!s->tuning->quiet)
            bj_cli_complain("%s", message.text);
    } else if (message.kind == BJ_TUNE_NEWS_RESULT) {
        s->tuning->results[message.index] = message.result;
        s->tuning->result_count = message.index + 1;
    } else if (message.kind == BJ_TUNE_NEWS_SPEED && s->tuning->search != NULL) {
        bj_cli_note_speed(s->tuning, &message.speed);
    } else if (message.kind == BJ_TUNE_NEWS_POINT && s->tuning->point_count < BJ_TUNE_POINTS_MAX) {
        s->tuning->points[s->tuning->point_count++] = message.point;
    } else if (message.kind == BJ_TUNE_NEWS_PEERS) {
        s->tuning->peer_count = message.peer_count;
        memcpy(s->tuning->peers, message.peers, sizeof message.peers);
    } else {
        s->status = message.status;
        s->error = message.error;
    }
}

/* What a spoilt child would still find out is of no use. */
static bool is_over(void *context) {
    const session *s = context;
    return s->is_spoilt || bj_cli_is_stopped(NULL);
}

static bj_status measure(session *s, bj_error *error) {
    const double limit_s = SILENCE_SECONDS;
    bj_child_task task = {.work = work, .take = take, .is_stopped = is_over, .context = s, .limit_s = &limit_s};
    bj_child_fate fate;
    char name[40];
    BJ_TRY(bj_platform_run_child(&task, &fate, error));
    if (s->is_spoilt)
        return bj_base_set_error(error, BJ_ERR_FAILED,
                                 "%s: the process that timed it sent nonsense: a kernel or library may have written "
                                 "anywhere",
                                 s->step);
    if (s->status != BJ_OK) {
        *error = s->error;
        return s->status;
    }
    if (fate.end == BJ_CHILD_DONE)
        return BJ_OK;
    if (fate.end == BJ_CHILD_STOPPED)
        return bj_base_set_error(error, BJ_ERR_INTERRUPTED, "interrupted");
    if (fate.end == BJ_CHILD_KILLED) {
        bj_platform_name_signal(fate.number, name, sizeof name);
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s: ended by %s", s->step, name);
    }
    return bj_base_set_error(error, BJ_ERR_FAILED, "%s: %s", s->step,
                             fate.end == BJ_CHILD_SILENT ? "does not end" : "a kernel or library called exit");
}

/* ---- all of it */

static void say_step(void *context, const char *what) {
    const session *s = context;
    if (!s->tuning->quiet)
        bj_cli_complain("%s", what);
}

/* `written` is the caller's to close. */
static bj_status tune(const bj_cli_arguments *arguments, bj_cli_tuning *tuning, bj_tune_type type, const char *folder,
                      bj_tune_folder *written, bj_error *error) {
    const char *against[BJ_TUNE_PEERS_MAX], *out = bj_cli_find_value(arguments, "output");
    bj_tune_target target;
    bj_tune_objects objects;
    session s = {.tuning = tuning, .objects = &objects};
    bj_timer_build build = {.command = tuning->compiler, .folder = folder, .is_stopped = bj_cli_is_stopped};
    s.measuring = (bj_tune_measuring){.job = &tuning->job, .build = build, .contexts = {true, true}, .seed = 1};
    for (size_t i = 0; i < arguments->given_count; i++)
        if (strcmp(arguments->given[i].option->name, "against") == 0) {
            if (s.measuring.against_count == BJ_TUNE_PEERS_MAX)
                return bj_base_set_error(error, BJ_ERR_USAGE, "--against: at most %d", BJ_TUNE_PEERS_MAX);
            against[s.measuring.against_count++] = arguments->given[i].value;
        }
    s.measuring.against = against;
    if (out != NULL)
        BJ_TRY(bj_tune_open_folder(out, &tuning->job, bj_cli_is_given(arguments, "force"), written, error));
    BJ_TRY(bj_tune_ask_target(&build, &target, error));
    BJ_TRY(read_profile(arguments->operand_count > 1 ? arguments->operands[1] : NULL, tuning, type, &target,
                        &s.measuring.caches, error));
    BJ_TRY(bj_tune_make_model(&tuning->job.machine, &tuning->job.model, error));
    BJ_TRY(bj_tune_build_objects(&s.measuring, &objects, error));
    if (tuning->search != NULL) {
        bj_tune_measuring told = s.measuring;
        told.say = say_step;
        told.context = &s;
        BJ_TRY(bj_tune_build_candidates(&told, FIRST_CANDIDATE, error));
    }
    BJ_TRY(measure(&s, error));
    /* Only what was verified is handed out. */
    return out != NULL ? bj_tune_write_folder(written, &tuning->job, tuning->compiler, error) : BJ_OK;
}

static int run(const bj_cli_arguments *arguments) {
    bj_error error;
    char *folder = NULL;
    bj_tune_folder written = {{NULL}};
    bj_tune_type type = BJ_TUNE_DOUBLE;
    bj_cli_tuning *tuning = calloc(1, sizeof *tuning);
    bj_status status = tuning != NULL ? read_request(arguments, tuning, &type, &error)
                                      : bj_base_set_error(&error, BJ_ERR_RESOURCE, "no memory for the results");
    if (status == BJ_OK)
        status = bj_platform_make_folder(&folder, &error);
    if (status == BJ_OK) {
        bj_cli_catch_signals();
        bj_cli_end_soon("blackjack: interrupted\n");
        status = tune(arguments, tuning, type, folder, &written, &error);
        bj_tune_close_folder(&written);
        bj_platform_remove_folder(folder);
        bj_cli_release_signals();
    }
    if (status == BJ_OK)
        status = bj_cli_print_tuning(tuning, bj_cli_is_given(arguments, "json"), &error);
    free(folder);
    if (tuning != NULL)
        free(tuning->search);
    free(tuning);
    return status == BJ_OK ? BJ_EXIT_OK : bj_cli_fail(status, &error);
}

static const bj_cli_option options[] = {
    {"output", 'o', "FOLDER", "write the kernels there, with header, check program and Makefile"},
    {"force", 0, NULL, "replace files of these names that are there and were not written by tune"},
    {"type", 0, "double|float", "of the elements (default double)"},
    {"cc", 0, "COMMAND", "compiler and its flags (default '" COMPILER "')"},
    {"against", 0, "LIBRARY.so", "a library with CBLAS to compare with, besides those that are found; may be repeated"},
    {"sizes", 0, "LIST", "sizes that get a kernel of their own and are timed (default 8,16,...,128)"},
    {"search", 0, NULL,
     "time every block, unrolling and packing too, and compare the model's choice with the best; takes minutes"},
    {"json", 0, NULL, "JSON, for programs (format blackjack-tuning/1)"},
    {"quiet", 'q', NULL, "no progress and no remarks on standard error"},
};

const bj_cli_command bj_cli_command_tune = {
    .name = "tune",
    .synopsis = "gemm|schur [PROFILE] [-o FOLDER] [--force] [--type double|float] [--cc COMMAND]\n"
                "[--against LIBRARY.so]... [--sizes LIST] [--search] [--json] [--quiet]",
    .summary = "From a profile to a fast matrix kernel, without search",
    .details = "gemm is C += A*B, schur is C -= A*B. A model turns the measured answers into blocks, each with its\n"
               "reason; kernels are written in plain C, one for any size and one for each of the sizes, compiled,\n"
               "compared with a plain computation, and timed in turns with the libraries that are installed\n"
               "(OpenBLAS, BLIS, ATLAS, LIBXSMM), warm and cold. Nothing is timed or written before it is verified.\n"
               "\n"
               "The profile must have answers of the probes cache, line, op, live and vector; without PROFILE it is\n"
               "the default one, which 'run --save' keeps. What is written builds by itself: 'make check' there.",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least_operands = 1,
    .most_operands = 2,
    .run = run,
};
