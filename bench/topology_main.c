/* The topology probe on one simulated machine: what it asks, how long that would take there, and the cpu time of
 * choosing and analysing, without the simulator's.
 *
 *     topology_main MACHINE.json SEED [all]
 *
 * What the cache and line probes would have told is read from the file by topology.py and handed over as
 * KEY=NUMBER in the environment variable KNOWN, separated by blanks. Prints one line of numbers and the tree. */
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

int main(int count, char **arguments) {
    bj_machine *machine;
    bj_error error = {""};
    bj_answers known = {0}, answers = {0};
    bj_curves samples = {0};
    const bj_probe *probe = bj_probe_find("topology");
    if (count < 3 || bj_machine_open_simulated(arguments[1], strtoull(arguments[2], NULL, 10), &machine, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    inner = machine->verbs;
    bj_machine_verbs timed = *inner;
    timed.run_walks = run_walks;
    timed.run_exchanges = run_exchanges;
    timed.run_chains = run_chains;
    timed.open_arena = open_arena;
    machine->verbs = &timed;
    take_known(&known);
    bj_measure_request measuring = {.machine = machine,
                                    .cpu = machine->facts.cpus[0],
                                    .effort = BJ_EFFORT_NORMAL,
                                    .seed = strtoull(arguments[2], NULL, 10),
                                    .all_pairs = count > 3,
                                    .deadline_s = INFINITY,
                                    .memory_bytes = machine->facts.memory_limit_bytes / 4,
                                    .earlier = &known,
                                    .report_progress = never_stop};
    bj_analyse_request analysing = {.earlier = &known, .seed = measuring.seed};
    double start_s = read_cpu_s();
    if (probe->measure(&measuring, &samples, &error) != BJ_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    double measured_s = read_cpu_s();
    if (probe->analyse(&samples, &analysing, &answers, &error) != BJ_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    size_t together = 0;
    for (size_t i = 0; i < samples.count; i++)
        together += strncmp(samples.items[i].id, "topology.together.", 18) == 0;
    const bj_answer *tree = bj_data_find_answer(&answers, "topology.tree");
    printf("{\"experiments\": %zu, \"machine_s\": %.3f, \"choosing_s\": %.3f, \"analysing_s\": %.3f, "
           "\"confidence\": \"%s\", \"tree\": %s}\n",
           together, machine->verbs->read_clock(machine), measured_s - start_s - simulator_s,
           read_cpu_s() - measured_s, bj_data_name_confidence(tree->confidence), tree->structured);
    machine->verbs = inner;
    machine->verbs->close(machine);
    return 0;
}
