/* What probes say of the cpus of a machine, compared with what truth.py works out from its file (truth.json), which
 * shares no code with the program: who is near whom, who shares a level, who collides on the way to memory, and what is
 * left when all work. Larger machines, random ones and other seeds: bench/multicore.py. */
#include "zoo_fixture.h"

/* The simulator takes seconds for more. */
enum { MOST_CPUS = 48, MOST_LAST_BYTES = 17 << 20 };
static const double RATE_TOLERANCE = 0.1, SIZE_TOLERANCE = 0.15;

typedef struct {
    const char *name;
    json_t *keys, *notes;
    bj_answers answers;
    int right, wrong, sure_and_wrong;
} subject;

static void judge(subject *on, const char *key, bool is_right, const bj_answer *answer) {
    bool is_sure = answer->status == BJ_ANSWER_OK && answer->confidence == BJ_CONFIDENCE_HIGH;
    on->right += is_right;
    on->wrong += !is_right;
    on->sure_and_wrong += !is_right && is_sure;
    if (!is_right)
        print_error("%s %s: %s %g (%s) %s\n", on->name, key, answer->structured != NULL ? answer->structured : "",
                    answer->value, bj_data_name_confidence(answer->confidence), answer->reason);
}

/* The structured value; NULL: there is none. */
static json_t *parse(const bj_answer *answer) {
    return bj_data_has_value(answer) && answer->structured != NULL
               ? json_loads(answer->structured, JSON_REJECT_DUPLICATES, NULL)
               : NULL;
}

static bool is_in(const json_t *groups, const json_t *group) {
    json_t *other;
    size_t i;
    json_array_foreach(groups, i, other) {
        if (json_equal(other, group))
            return true;
    }
    return false;
}

/* Whatever the order. */
static bool are_same_groups(const json_t *a, const json_t *b) {
    json_t *group;
    size_t i;
    if (json_array_size(a) != json_array_size(b))
        return false;
    json_array_foreach(a, i, group) {
        if (!is_in(b, group))
            return false;
    }
    return true;
}

static void list_nodes(json_t *node, json_t *groups) {
    json_t *child;
    size_t i;
    json_array_foreach(json_object_get(node, "children"), i, child) {
        json_array_append(groups, json_object_get(child, "cpus"));
        list_nodes(child, groups);
    }
}

static void judge_tree(subject *on, json_t *truth) {
    const bj_answer *answer = bj_data_find_answer(&on->answers, "topology.tree");
    json_t *tree = parse(answer), *groups = json_array();
    bool said_none = json_is_false(json_object_get(tree, "tree_like"));
    list_nodes(tree, groups);
    judge(on, "topology.tree",
          tree != NULL && are_same_groups(groups, truth) &&
              said_none == json_is_false(json_object_get(on->notes, "tree_like")),
          answer);
    json_decref(groups);
    json_decref(tree);
}

static void judge_kinds(subject *on, json_t *truth) {
    const bj_answer *answer = bj_data_find_answer(&on->answers, "cpu.kinds");
    json_t *kinds = parse(answer), *kind;
    size_t i;
    bool same = json_array_size(kinds) == json_array_size(truth);
    json_array_foreach(truth, i, kind) {
        json_t *said = json_array_get(kinds, i);
        double ghz = json_number_value(json_object_get(kind, "clock_ghz"));
        double bytes = json_number_value(json_object_get(kind, "l1_bytes"));
        same = same && json_equal(json_object_get(said, "cpus"), json_object_get(kind, "cpus")) &&
               fabs(json_number_value(json_object_get(said, "clock_ghz")) / ghz - 1) < 0.03;
        /* One kind's first level is the cache probe's answer. */
        if (json_array_size(truth) > 1)
            same = same && fabs(json_number_value(json_object_get(said, "l1_bytes")) / bytes - 1) < SIZE_TOLERANCE;
    }
    judge(on, "cpu.kinds", same, answer);
    json_decref(kinds);
}

static double number_of(const subject *on, const char *format, size_t level) {
    char key[64];
    snprintf(key, sizeof key, format, level);
    return json_number_value(json_object_get(on->keys, key));
}

static void judge_sharing(subject *on) {
    size_t levels = (size_t)number_of(on, "cache.levels", 0);
    for (size_t level = 1; level <= levels; level++) {
        char key[64];
        snprintf(key, sizeof key, "cache.L%zu.sharing", level);
        const bj_answer *answer = bj_data_find_answer(&on->answers, key);
        json_t *groups = parse(answer);
        /* A walk of two thirds of a level must be well outside the nearer one. */
        bool may_be_open = level > 1 && number_of(on, "cache.L%zu.capacity_bytes", level) <
                                            2.1 * number_of(on, "cache.L%zu.capacity_bytes", level - 1);
        if (groups != NULL || !may_be_open)
            judge(on, key, groups != NULL && are_same_groups(groups, json_object_get(on->keys, key)), answer);
        json_decref(groups);
    }
}

static void judge_contention(subject *on, json_t *truth) {
    const bj_answer *answer = bj_data_find_answer(&on->answers, "memory.contention");
    json_t *value = parse(answer), *levels = json_object_get(value, "levels"), *level;
    size_t i;
    bool same = value != NULL && json_array_size(levels) == json_array_size(truth);
    json_array_foreach(levels, i, level) {
        same = same && are_same_groups(json_object_get(level, "groups"), json_array_get(truth, i));
    }
    judge(on, "memory.contention", same, answer);
    json_decref(value);
}

static void judge_full(subject *on, const char *key, json_t *truth) {
    const bj_answer *answer = bj_data_find_answer(&on->answers, key);
    double expected = json_number_value(truth);
    double tolerance = strstr(key, "size_bytes") != NULL ? SIZE_TOLERANCE : RATE_TOLERANCE;
    /* null: no size from half to twice the share is the edge, as where sets of all cpus collide in few ways. */
    if (answer == NULL || json_is_null(truth))
        return;
    judge(on, key, bj_data_has_value(answer) && fabs(answer->value / expected - 1) < tolerance, answer);
}

/* What the probes before would have told; the caller's answers. */
static void put_caches(const subject *on, bj_answers *answers) {
    const char *key;
    json_t *value;
    json_object_foreach(on->keys, key, value) {
        bool is_cache = strncmp(key, "cache.", 6) == 0 || strncmp(key, "memory.latency", 14) == 0;
        if (is_cache && json_is_number(value) && strstr(key, ".full.") == NULL)
            put_number(answers, key, json_number_value(value));
    }
}

static void check_machine(subject *on) {
    static const char *const probes[] = {"topology", "sharing", "contention"};
    const char *key;
    json_t *truth;
    bj_machine *machine = open_zoo_machine(on->name);
    put_caches(on, &on->answers);
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        run_probe(probes[i], machine, &on->answers);
    judge_tree(on, json_object_get(on->keys, "topology.tree"));
    judge_kinds(on, json_object_get(on->keys, "cpu.kinds"));
    judge_sharing(on);
    judge_contention(on, json_object_get(on->keys, "memory.contention"));
    json_object_foreach(on->keys, key, truth) {
        if (strstr(key, ".full.") != NULL)
            judge_full(on, key, truth);
    }
    bj_data_free_answers(&on->answers);
    close_machine(machine);
}

static void test_cpus_of_the_zoo(void **state) {
    (void)state;
    json_t *truths = load_truths(), *truth;
    const char *name;
    int right = 0, wrong = 0, sure_and_wrong = 0, machines = 0;
    json_object_foreach(truths, name, truth) {
        subject on = {
            .name = name, .keys = json_object_get(truth, "characteristics"), .notes = json_object_get(truth, "notes")};
        json_t *file = load_machine(name);
        json_int_t cpus = json_integer_value(json_object_get(file, "cpus"));
        double last = number_of(&on, "cache.L%zu.capacity_bytes", (size_t)number_of(&on, "cache.levels", 0));
        json_decref(file);
        if (cpus < 2 || cpus > MOST_CPUS || last > MOST_LAST_BYTES)
            continue;
        check_machine(&on);
        machines++;
        right += on.right;
        wrong += on.wrong;
        sure_and_wrong += on.sure_and_wrong;
    }
    json_decref(truths);
    print_message("%d machines: %d right, %d wrong, %d of them sure\n", machines, right, wrong, sure_and_wrong);
    assert_in_range(machines, 20, 60);
    assert_int_equal(sure_and_wrong, 0);
    assert_true(wrong <= right / 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cpus_of_the_zoo)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
