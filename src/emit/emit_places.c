/* The order in which threads or ranks fill the cpus of `topology.tree`: for OpenMP the value of OMP_PLACES, one place a
 * cpu, and for Open MPI a rankfile, one rank a cpu. Where messages were measured, the rankfile has the ranks of
 * `comm.layers` instead, on all of their hosts. */
#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"
#include "profile/comm_layers.h"
#include "profile/comm_place.h"

static int compare_cpus(const void *a, const void *b) {
    int left = *(const int *)a, right = *(const int *)b;
    return left < right ? -1 : left > right;
}

/* Where nothing is known of who is close to whom: the cpus that the run was allowed, in the system's order. That is no
 * answer to who wants them far apart. */
static bj_status list_cpus(const bj_emit_request *request, const bj_error *why, int **cpus, size_t *count,
                           bj_error *error) {
    const bj_profile *profile = request->profile;
    size_t allowed = profile->environment.cpus_allowed_count;
    if (request->options.order == BJ_ORDER_SPREAD || allowed == 0)
        return bj_base_set_error(error, BJ_ERR_FAILED, "%s", why->text);
    *cpus = calloc(allowed, sizeof **cpus);
    if (*cpus == NULL)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu cpus", allowed);
    memcpy(*cpus, profile->environment.cpus_allowed, allowed * sizeof **cpus);
    qsort(*cpus, allowed, sizeof **cpus, compare_cpus);
    *count = allowed;
    bj_emit_note_left_out(request, "the order by closeness", why->text);
    return BJ_OK;
}

static bool accepts(const void *context, const bj_answer *answer) {
    bj_emit_value value;
    return bj_emit_accepts(context, answer, &value) && !value.claimed;
}

/* All cpus of the tree as threads would fill them; *cpus is the caller's to free. */
static bj_status order_cpus(const bj_emit_request *request, int **cpus, size_t *count, bj_error *error) {
    static const char key[] = "topology.tree";
    bj_emit_value value;
    bj_error why;
    bj_status status = bj_emit_take_answer(request, key, &value, &why);
    if (status == BJ_OK && !value.claimed && value.answer->structured != NULL)
        return bj_profile_place_by_answers(request->profile, value.answer, request->options.order, 0, accepts, request,
                                           cpus, count, error);
    if (status == BJ_OK)
        bj_base_set_error(&why, BJ_ERR_FAILED, "%s needs %s as a tree, which it is not", request->emitter->name, key);
    return list_cpus(request, &why, cpus, count, error);
}

static bj_status emit_places(const bj_emit_request *request, FILE *out, bj_error *error) {
    int *cpus = NULL;
    size_t count = 0;
    bj_status status = order_cpus(request, &cpus, &count, error);
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        fprintf(out, "%s{%d}", i > 0 ? "," : "", cpus[i]);
    if (status == BJ_OK)
        putc('\n', out);
    free(cpus);
    return status;
}

const bj_emitter bj_emitter_omp_places = {
    .name = "omp-places",
    .summary = "a value for OMP_PLACES, cpus in the order of --order, which takes topology.tree",
    .emit = emit_places,
};

/* Where the measured ranks were, in the order of what their messages cost. */
typedef struct {
    bj_rank_places ranks;
    size_t *order;
} rank_order;

/* False: nobody measured messages, or their ranks were not bound, which is noted. */
static bool order_ranks(const bj_emit_request *request, rank_order *order) {
    static const char what[] = "the order by messages";
    const bj_answer *talk = bj_data_find_answer(&request->profile->answers, "comm.layers");
    const bj_answer *places = bj_data_find_answer(&request->profile->answers, "comm.ranks");
    bj_comm_layers layers;
    bj_error why;
    *order = (rank_order){.order = NULL};
    if (talk == NULL || places == NULL || places->structured == NULL)
        return false;
    if (!accepts(request, talk) || talk->structured == NULL) {
        char reason[BJ_EMIT_REASON_ROOM];
        bj_emit_describe_refusal(request, talk, reason);
        bj_emit_note_unsure(request, what, reason);
        return false;
    }
    bj_status status = bj_profile_read_comm_layers(talk->structured, &layers, &why);
    if (status == BJ_OK) {
        status = bj_profile_read_comm_ranks(places->structured, &order->ranks, &why);
        bool fits = status == BJ_OK && layers.rank_count == order->ranks.count;
        for (size_t i = 0; fits && i < order->ranks.count; i++)
            fits = order->ranks.cpus[i] >= 0;
        if (status == BJ_OK && !fits)
            status = bj_base_set_error(&why, BJ_ERR_FAILED, "ranks of comm.layers were not bound to one cpu each");
        order->order = calloc(layers.rank_count + 1, sizeof *order->order);
        if (status == BJ_OK && order->order == NULL)
            status = bj_base_set_error(&why, BJ_ERR_RESOURCE, "no memory for %zu ranks", layers.rank_count);
        if (status == BJ_OK)
            status = bj_profile_order_ranks(&layers, request->options.order == BJ_ORDER_SPREAD, order->order, &why);
        bj_profile_free_comm_layers(&layers);
    }
    if (status != BJ_OK) {
        bj_emit_note_unsure(request, what, why.text);
        bj_profile_free_comm_ranks(&order->ranks);
        free(order->order);
        order->order = NULL;
    }
    return status == BJ_OK;
}

/* The host's name where --host gives it (one name, or a list), else its number among those that the launcher is given.
 */
static void print_host(const bj_emit_request *request, int number, size_t host_count, FILE *out) {
    const char *name = request->options.host;
    for (int i = 0; i < number && name != NULL; i++)
        name = strchr(name, ',') != NULL ? strchr(name, ',') + 1 : NULL;
    bool is_list = strchr(request->options.host, ',') != NULL;
    if (name != NULL && (host_count == 1 || is_list))
        fprintf(out, "%.*s", (int)strcspn(name, ","), name);
    else
        fprintf(out, "+n%d", number);
}

/* A list that names some hosts and not others would leave it to the launcher who the others are. */
static bj_status check_hosts(const bj_emit_request *request, const rank_order *order, bj_error *error) {
    size_t named = 1;
    for (const char *at = request->options.host; *at != '\0'; at++)
        named += *at == ',';
    if (named == 1 || named >= order->ranks.host_count)
        return BJ_OK;
    return bj_base_set_error(error, BJ_ERR_USAGE, "--host names %zu hosts, and comm.ranks has %zu", named,
                             order->ranks.host_count);
}

static void print_rank_order(const bj_emit_request *request, const rank_order *order, FILE *out) {
    for (size_t i = 0; i < order->ranks.count; i++) {
        size_t place = order->order[i];
        fprintf(out, "rank %zu=", i);
        print_host(request, order->ranks.hosts[place], order->ranks.host_count, out);
        fprintf(out, " slot=%d\n", order->ranks.cpus[place]);
    }
}

static void print_notes(const bj_strings *notes, FILE *out) {
    for (size_t i = 0; i < notes->count; i++) {
        fputs("# ", out);
        bj_emit_print_safely(out, notes->items[i], "");
        putc('\n', out);
    }
}

static bj_status emit_ranks(const bj_emit_request *request, FILE *out, bj_error *error) {
    int *cpus = NULL;
    size_t count = 0;
    rank_order order;
    bool by_messages = order_ranks(request, &order);
    bj_status status = by_messages ? check_hosts(request, &order, error) : order_cpus(request, &cpus, &count, error);
    if (status == BJ_OK)
        fputs("# Slots are the operating system's cpu numbers, for Open MPI 4: --mca rmaps_rank_file_physical 1.\n"
              "# It binds a rank to the whole core of its slot, siblings included.\n"
              "# Open MPI 5 takes logical indexes only: there this holds only where hwloc numbers the cpus alike.\n",
              out);
    if (status == BJ_OK) {
        print_notes(&request->notes->unsure, out);
        print_notes(&request->notes->left_out, out);
    }
    if (by_messages && status == BJ_OK)
        print_rank_order(request, &order, out);
    for (size_t i = 0; i < count && status == BJ_OK; i++)
        fprintf(out, "rank %zu=%s slot=%d\n", i, request->options.host, cpus[i]);
    bj_profile_free_comm_ranks(&order.ranks);
    free(order.order);
    free(cpus);
    return status;
}

const bj_emitter bj_emitter_rankfile = {
    .name = "rankfile",
    .summary = "a rankfile for Open MPI, in the order of --order, which takes comm.layers or topology.tree",
    .has_comments = true,
    .emit = emit_ranks,
};
