/* Probes that compare cpus on one simulated machine: what they answer, what they asked, how long that would take there,
 * and the cpu time of choosing and analysing, without the simulator's.
 *
 *     multicore_main MACHINE.json SEED quick|normal PROBE,PROBE... [all]
 *
 * all: all pairs of cpus. What the cache and line probes would have told is read from the file by multicore.py and
 * handed over as KEY=NUMBER in the environment variable KNOWN, separated by blanks. Prints one line of JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "probes/probe.h"

static double simulator_s;
static const bj_machine_verbs *inner;

static double read_cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bj_status run_walks(bj_machine *machine, const bj_walk *walks, size_t count, const bj_walk_effort *effort,
                           double *ns, bj_error *error) {
    double start_s = read_cpu_s();
    bj_status status = inner->run_walks(machine, walks, count, effort, ns, error);
    simulator_s += read_cpu_s() - start_s;
    return status;
}

static bj_status run_streams(bj_machine *machine, const bj_stream *streams, size_t count,
                             const bj_stream_effort *effort, double *gbs, bj_error *error) {
    double start_s = read_cpu_s();
    bj_status status = inner->run_streams(machine, streams, count, effort, gbs, error);
    simulator_s += read_cpu_s() - start_s;
    return status;
}

static bj_status run_mix(bj_machine *machine, const bj_mix *mix, double *ns, double *gbs, bj_error *error) {
    double start_s = read_cpu_s();
    bj_status status = inner->run_mix(machine, mix, ns, gbs, error);
    simulator_s += read_cpu_s() - start_s;
    return status;
}

static bj_status run_exchanges(bj_machine *machine, const bj_exchange *pairs, size_t count, unsigned repetitions,
                               double *ns, bj_error *error) {
    double start_s = read_cpu_s();
    bj_status status = inner->run_exchanges(machine, pairs, count, repetitions, ns, error);
    simulator_s += read_cpu_s() - start_s;
    return status;
}

static bj_status run_chains(bj_machine *machine, const bj_chain *chains, size_t count, unsigned repetitions, double *ns,
                            bj_error *error) {
    double start_s = read_cpu_s();
    bj_status status = inner->run_chains(machine, chains, count, repetitions, ns, error);
    simulator_s += read_cpu_s() - start_s;
    return status;
}

static bj_status open_arena(bj_machine *machine, size_t bytes, bj_pages pages, int cpu, bj_arena **arena,
                            bj_error *error) {
    double start_s = read_cpu_s();
    bj_status status = inner->open_arena(machine, bytes, pages, cpu, arena, error);
    simulator_s += read_cpu_s() - start_s;
    return status;
}

static void close_arena(bj_machine *machine, bj_arena *arena) {
    double start_s = read_cpu_s();
    inner->close_arena(machine, arena);
    simulator_s += read_cpu_s() - start_s;
}

static bool never_stop(void *context, double fraction) {
    (void)context;
    (void)fraction;
    return false;
}

static void take_known(bj_answers *known) {
    char *text = getenv("KNOWN");
    for (char *word = text != NULL ? strtok(text, " ") : NULL; word != NULL; word = strtok(NULL, " ")) {
        char *equals = strchr(word, '=');
        bj_answer *answer;
        *equals = '\0';
        if (bj_data_put_answer(known, word, "", &answer, NULL) == BJ_OK)
            answer->value = atof(equals + 1);
    }
}

/* Answers of a probe are earlier ones of the next. */
static double choosing_s, analysing_s;
static size_t group_tests;

static bj_status run_probe(const char *name, const bj_measure_request *request, bj_answers *answers, bj_error *error) {
    const bj_probe *probe = bj_probe_find(name);
    bj_curves samples = {0};
    if (probe == NULL)
        return bj_base_set_error(error, BJ_ERR_USAGE, "no probe %s", name);
    bj_analyse_request analysing = {.earlier = answers, .seed = request->seed};
    double start_s = read_cpu_s(), simulated_s = simulator_s;
    bj_status status = probe->measure(request, &samples, error);
    double measured_s = read_cpu_s();
    if (status == BJ_OK)
        status = probe->analyse(&samples, &analysing, answers, error);
    choosing_s += measured_s - start_s - (simulator_s - simulated_s);
    analysing_s += read_cpu_s() - measured_s;
    for (size_t i = 0; i < samples.count; i++)
        group_tests += strncmp(samples.items[i].id, "topology.together.", 18) == 0;
    bj_data_free_curves(&samples);
    return status;
}

static void print_answers(const bj_answers *answers) {
    const char *comma = "";
    printf("\"answers\": {");
    for (size_t i = 0; i < answers->count; i++) {
        const bj_answer *answer = &answers->items[i];
        if (answer->unit[0] == '\0' && answer->status != BJ_ANSWER_OK)
            continue;
        printf("%s\"%s\": {\"confidence\": \"%s\", \"reason\": \"%s\", \"value\": ", comma, answer->key,
               bj_data_name_confidence(answer->confidence), answer->reason);
        if (!bj_data_has_value(answer))
            printf("null}");
        else if (answer->structured != NULL)
            printf("%s}", answer->structured);
        else
            printf("%.9g}", answer->value);
        comma = ", ";
    }
    printf("}");
}

int main(int count, char **arguments) {
    bj_machine *machine;
    bj_error error = {""};
    bj_answers answers = {0};
    if (count < 5 || bj_machine_open_simulated(arguments[1], strtoull(arguments[2], NULL, 10), &machine, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    inner = machine->verbs;
    bj_machine_verbs timed = *inner;
    timed.run_walks = run_walks;
    timed.run_streams = run_streams;
    timed.run_mix = run_mix;
    timed.run_exchanges = run_exchanges;
    timed.run_chains = run_chains;
    timed.open_arena = open_arena;
    timed.close_arena = close_arena;
    machine->verbs = &timed;
    take_known(&answers);
    bj_measure_request request = {.machine = machine,
                                  .cpu = machine->facts.cpus[0],
                                  .effort = strcmp(arguments[3], "quick") == 0 ? BJ_EFFORT_QUICK : BJ_EFFORT_NORMAL,
                                  .seed = strtoull(arguments[2], NULL, 10),
                                  .all_pairs = count > 5,
                                  .deadline_s = INFINITY,
                                  .memory_bytes = machine->facts.memory_limit_bytes / 4,
                                  .earlier = &answers,
                                  .report_progress = never_stop};
    for (char *name = strtok(arguments[4], ","); name != NULL; name = strtok(NULL, ","))
        if (run_probe(name, &request, &answers, &error) != BJ_OK) {
            fprintf(stderr, "%s: %s\n", name, error.text);
            return 1;
        }
    printf("{\"experiments\": %zu, \"machine_s\": %.3f, \"choosing_s\": %.3f, \"analysing_s\": %.3f, ", group_tests,
           machine->verbs->read_clock(machine), choosing_s, analysing_s);
    print_answers(&answers);
    printf("}\n");
    bj_data_free_answers(&answers);
    machine->verbs = inner;
    machine->verbs->close(machine);
    return 0;
}
