/* Machine files: the zoo loads, defaults are filled in, and every mistake gets one line with its place. */
#include "sim_fixture.h"

#include <dirent.h>

#define CACHES "\"caches\": [{\"size\": 32768, \"latency\": 4}]"

static bj_status load_text(const char *text, bj_sim_spec **spec, bj_error *error) {
    char path[256];
    write_machine(text, strlen(text), path, sizeof path);
    bj_status status = bj_sim_load_spec(path, spec, error);
    unlink(path);
    return status;
}

static bj_sim_spec *load_good(const char *text) {
    bj_sim_spec *spec = NULL;
    bj_error error = {""};
    if (load_text(text, &spec, &error) != BJ_OK)
        fail_msg("%s", error.text);
    return spec;
}

static void test_the_zoo_loads(void **state) {
    (void)state;
    const char *folder = BJ_SOURCE_DIR "/machines";
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    unsigned count = 0;
    struct dirent *entry;
    while ((entry = readdir(listing)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 5, ".json") != 0)
            continue;
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        bj_machine *machine = NULL;
        bj_error error = {""};
        if (bj_machine_open_simulated(path, 1, &machine, &error) != BJ_OK)
            fail_msg("%s", error.text);
        const bj_sim_spec *spec = self_of(machine)->spec;
        /* The file is found by the name that profiles record. */
        assert_int_equal(strlen(spec->name), length - 5);
        assert_memory_equal(spec->name, entry->d_name, length - 5);
        assert_true(spec->summary[0] != '\0');
        close_machine(machine);
        count++;
    }
    closedir(listing);
    assert_in_range(count, 30, 60);
}

static void test_defaults(void **state) {
    (void)state;
    bj_sim_spec *spec = load_good("{\"name\": \"least\", \"cpus\": 4, \"smt\": 2, " CACHES "}");
    assert_int_equal(spec->caches[0].level, 1);
    assert_int_equal(spec->caches[0].line_bytes, 64);
    assert_int_equal(spec->caches[0].ways, 8);
    assert_int_equal(spec->caches[0].sets, 64);
    assert_int_equal(spec->caches[0].shared_by, 2);
    assert_int_equal(spec->sockets, 1);
    assert_int_equal(spec->page_bytes, 4096);
    assert_int_equal(spec->huge_bytes, 0);
    assert_int_equal(spec->tlb_count, 0);
    assert_true(spec->memory_latency_cycles == 200 && spec->memory_remote_latency_cycles == 200);
    assert_true(spec->jitter == 0 && spec->spike_rate == 0 && spec->neighbour == 0);
    assert_int_equal(spec->op_count, 1);
    assert_string_equal(spec->ops[0].name, "int32.add");
    assert_true(spec->ops[0].latency_cycles == 1 && spec->ops[0].per_cycle == 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(spec->os_number[i], i);
    free(spec);
}

static void test_clocks(void **state) {
    (void)state;
    bj_sim_spec *spec = load_good("{\"name\": \"usual\", \"clock_ghz\": 3.0, " CACHES "}");
    const double usual[][2] = {{25, 1}, {200, 1}, {8, 0.333}};
    for (int i = 0; i < BJ_SIM_CLOCKS; i++) {
        assert_true(spec->clocks[i].is_there);
        assert_true(spec->clocks[i].read_ns == usual[i][0] && spec->clocks[i].resolution_ns == usual[i][1]);
    }
    free(spec);
    spec = load_good("{\"name\": \"odd\", \"clocks\": {\"wall\": {\"resolution_ns\": 4e6}, \"cycles\": null}, " CACHES
                     "}");
    assert_true(spec->clocks[0].is_there && spec->clocks[1].is_there && !spec->clocks[2].is_there);
    assert_true(spec->clocks[0].read_ns == 25 && spec->clocks[0].resolution_ns == 4e6);
    assert_true(spec->clocks[1].read_ns == 200);
    free(spec);
}

static void test_fields_for_other_probes_are_kept(void **state) {
    (void)state;
    bj_sim_spec *spec = load_good(
        "{\"name\": \"full\", \"cpus\": 8, \"sockets\": 2, " CACHES ", \"memory\": {\"latency\": 280, "
        "\"remote_latency\": 420, \"cpu_gbs\": 12, \"domains\": [{\"shared_by\": 4, \"gbs\": 20}]}, "
        "\"ops\": {\"double.div\": {\"latency\": 13, \"per_cycle\": 0.25}}, \"registers\": {\"int32\": 14}, "
        "\"spill\": 5, \"shared_units\": [\"fp\"], \"scheduler\": {\"slot_ms\": 3.0, \"balance\": \"sticky\"}, "
        "\"exchange\": {\"L1\": 10, \"remote\": 90}, \"exchange_overlap\": 2, \"messages\": {\"layers\": [{\"within\": "
        "\"node\", \"ranks\": 8, \"segments\": [{\"from_bytes\": 0, \"us\": 0.4, \"gbs\": 8}], \"share\": 0.05}]}}");
    assert_true(spec->memory_cpu_gbs == 12 && spec->domains[0].shared_by == 4 && spec->domains[0].gbs == 20);
    assert_int_equal(spec->op_count, 2);
    assert_true(spec->ops[0].in_flight == 3.25);
    assert_string_equal(spec->registers[0].name, "int32");
    assert_true(spec->registers[0].value == 14 && spec->spill_cycles == 5);
    assert_string_equal(spec->shared_units[0], "fp");
    assert_true(spec->slot_ms == 3.0);
    assert_int_equal(spec->balance, BJ_SIM_STICKY);
    assert_int_equal(spec->exchange_count, 2);
    assert_true(spec->exchange_overlap == 2);
    assert_int_equal(spec->layers[0].ranks, 8);
    assert_true(spec->layers[0].segments[0].us == 0.4 && spec->layers[0].share == 0.05);
    free(spec);
}

static void test_scattered_numbers(void **state) {
    (void)state;
    bj_sim_spec *spec = load_good(
        "{\"name\": \"s\", \"cpus\": 12, \"smt\": 2, \"sockets\": 2, \"numbering\": \"scatter\", " CACHES "}");
    /* thread * cores + core_in_socket * sockets + socket, with six cores in two sockets. */
    const int expected[] = {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11};
    for (int i = 0; i < 12; i++)
        assert_int_equal(spec->os_number[i], expected[i]);
    free(spec);
}

static size_t position_of(const bj_sim_spec *spec, int cpu) {
    size_t position = 0;
    while (position < spec->cpus && spec->os_number[position] != cpu)
        position++;
    assert_true(position < spec->cpus);
    return position;
}

static void test_dunnington_is_numbered_as_in_the_paper(void **state) {
    (void)state;
    bj_sim_spec *spec = NULL;
    bj_error error = {""};
    assert_int_equal(bj_sim_load_spec(BJ_SOURCE_DIR "/machines/dunnington.json", &spec, &error), BJ_OK);
    assert_int_equal(position_of(spec, 0) / spec->caches[1].shared_by,
                     position_of(spec, 12) / spec->caches[1].shared_by);
    const int six[] = {0, 1, 2, 12, 13, 14};
    for (int i = 0; i < 6; i++)
        assert_int_equal(position_of(spec, six[i]) / spec->caches[2].shared_by, 0);
    free(spec);
}

typedef struct {
    const char *text;
    const char *expected; /* part of the line */
} bad_file;

static const bad_file bad_files[] = {
    {"", "found an empty file"},
    {"{", "line 1"},
    {"[]", "top level: expected an object"},
    {"{\"name\": \"x\"}", "expected a field \"caches\""},
    {"{" CACHES "}", "expected a field \"name\""},
    {"{\"name\": \"x\", \"name\": \"y\", " CACHES "}", "duplicate"},
    {"{\"name\": \"x\", \"colour\": 1, " CACHES "}", "colour: unknown field"},
    {"{\"name\": \"x\", \"col\\nour\": 1, " CACHES "}", "col?our: unknown field"},
    {"{\"name\": 3, " CACHES "}", "name: expected a printable text"},
    {"{\"name\": \"\", " CACHES "}", "name: expected a printable text"},
    {"{\"name\": \"a\\nb\", " CACHES "}", "name: expected a printable text"},
    {"{\"format\": \"blackjack-machine/2\", \"name\": \"x\", " CACHES "}", "format: expected \"blackjack-machine/1\""},
    {"{\"name\": \"x\", \"clock_ghz\": 0, " CACHES "}", "clock_ghz: expected a number from 0.001 to 100"},
    {"{\"name\": \"x\", \"clock_ghz\": \"3\", " CACHES "}", "clock_ghz: expected a number"},
    {"{\"name\": \"x\", \"clock_ghz\": 1e999, " CACHES "}", "line 1"},
    {"{\"name\": \"x\", \"cpus\": 2.5, " CACHES "}", "cpus: expected a whole number from 1 to 4096"},
    {"{\"name\": \"x\", \"cpus\": 99999999999999999999999, " CACHES "}", "line 1"},
    {"{\"name\": \"x\", \"cpus\": 6, \"smt\": 4, " CACHES "}", "smt: expected a divisor of cpus"},
    {"{\"name\": \"x\", \"cpus\": 6, \"smt\": 2, \"sockets\": 2, " CACHES "}", "sockets: expected whole cores"},
    {"{\"name\": \"x\", \"cpus\": 2, \"numbering\": [0], " CACHES "}", "numbering: expected 2 OS numbers"},
    {"{\"name\": \"x\", \"cpus\": 2, \"numbering\": [1, 1], " CACHES "}", "numbering: expected each OS number once"},
    {"{\"name\": \"x\", \"numbering\": \"up\", " CACHES "}", "numbering: expected \"compact\""},
    {"{\"name\": \"x\", \"caches\": []}", "caches: expected a list of 1 to 6 items"},
    {"{\"name\": \"x\", \"caches\": {}}", "caches: expected a list"},
    {"{\"name\": \"x\", \"caches\": [3]}", "caches[0]: expected an object"},
    {"{\"name\": \"x\", \"caches\": [{\"latency\": 4}]}", "caches[0]: expected a field \"size\""},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768}]}", "caches[0]: expected a field \"latency\""},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"latency\": 4, \"kind\": 1}]}",
     "caches[0].kind: unknown field"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"latency\": 4, \"level\": 2}]}", "caches[0].level: expected"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"latency\": 4, \"line\": 48, \"ways\": 1}]}", "a power of two"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"latency\": 4, \"ways\": 3}]}", "a multiple of ways * line"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"latency\": 4, \"ways\": 0}]}", "caches[0].ways: expected"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 68719476736, \"latency\": 4}]}", "caches[0]: expected at most"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 1e9, \"latency\": 4}]}", "caches[0].size: expected a whole number"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": -64, \"latency\": 4}]}", "caches[0].size: expected a whole number"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"latency\": 4, \"replacement\": \"fifo\"}]}",
     "caches[0].replacement: expected \"lru\" or \"plru\" or \"random\""},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"latency\": 4, \"policy\": \"exclusive\"}]}",
     "policy \"neither\" at the first level"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"latency\": 4, \"shared_by\": 2}]}", "caches[0].shared_by"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 8192, \"latency\": 4, \"ways\": 128, \"replacement\": \"plru\"}]}",
     "at most 64 ways for plru"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"latency\": 4}, {\"size\": 65536, \"latency\": 3}]}",
     "caches[1]: expected more latency"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"latency\": 4}, {\"size\": 65536, \"line\": 32, \"latency\": "
     "9}]}",
     "caches[1]: expected a line no shorter"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"latency\": 4}, {\"size\": 65536, \"line\": 128, \"latency\": "
     "9, \"policy\": \"exclusive\"}]}",
     "caches[1]: expected the nearer level's line"},
    {"{\"name\": \"x\", \"caches\": [{\"size\": 32768, \"latency\": 4}, {\"size\": 16384, \"latency\": 9, \"policy\": "
     "\"inclusive\"}]}",
     "caches[1]: expected an inclusive cache"},
    {"{\"name\": \"x\", \"cpus\": 6, \"caches\": [{\"size\": 32768, \"latency\": 4, \"shared_by\": 2}, {\"size\": "
     "65536, \"latency\": 9, \"shared_by\": 3}]}",
     "caches[1]: expected shared_by to be a multiple"},
    {"{\"name\": \"x\", \"memory\": {\"latency\": 3}, " CACHES "}", "memory: expected more latency"},
    {"{\"name\": \"x\", \"memory\": {\"latency\": 300, \"remote_latency\": 200}, " CACHES "}",
     "remote_latency no less"},
    {"{\"name\": \"x\", \"memory\": {\"domains\": [{\"shared_by\": 1}]}, " CACHES "}",
     "memory.domains[0]: expected a field \"gbs\""},
    {"{\"name\": \"x\", \"page\": {\"base\": 5000}, " CACHES "}", "page: expected base to be a power of two"},
    {"{\"name\": \"x\", \"page\": {\"huge\": 4096}, " CACHES "}", "page: expected huge to be 0 or"},
    {"{\"name\": \"x\", \"page\": {\"frames\": \"odd\"}, " CACHES "}", "page.frames: expected \"random\""},
    {"{\"name\": \"x\", \"tlbs\": [{\"entries\": 10, \"ways\": 4}], " CACHES "}", "tlbs[0]: expected entries"},
    {"{\"name\": \"x\", \"tlbs\": [{}], " CACHES "}", "tlbs[0]: expected a field \"entries\""},
    {"{\"name\": \"x\", \"prefetchers\": [\"oracle\"], " CACHES "}", "prefetchers[0]: expected \"next_line\""},
    {"{\"name\": \"x\", \"ops\": {\"add\": {\"latency\": 1}}, " CACHES "}", "ops.add: expected a name like"},
    {"{\"name\": \"x\", \"ops\": {\"int32.add\": {\"latency\": 0}}, " CACHES "}", "ops.int32.add.latency: expected"},
    {"{\"name\": \"x\", \"registers\": {\"int32\": 0}, " CACHES "}", "registers.int32: expected a number"},
    {"{\"name\": \"x\", \"shared_units\": [4], " CACHES "}", "shared_units[0]: expected"},
    {"{\"name\": \"x\", \"scheduler\": {\"balance\": \"odd\"}, " CACHES "}", "scheduler.balance: expected"},
    {"{\"name\": \"x\", \"clocks\": [1], " CACHES "}", "clocks: expected an object"},
    {"{\"name\": \"x\", \"clocks\": null, " CACHES "}", "clocks: expected an object"},
    {"{\"name\": \"x\", \"clocks\": {\"sun\": {}}, " CACHES "}", "clocks.sun: unknown field"},
    {"{\"name\": \"x\", \"clocks\": {\"wall\": 25}, " CACHES "}", "clocks.wall: expected an object"},
    {"{\"name\": \"x\", \"clocks\": {\"cpu\": {\"read_ns\": 0}}, " CACHES "}", "clocks.cpu.read_ns: expected a number"},
    {"{\"name\": \"x\", \"clocks\": {\"cycles\": {\"resolution_ns\": \"1\"}}, " CACHES "}",
     "clocks.cycles.resolution_ns: expected a number"},
    {"{\"name\": \"x\", \"exchange\": {\"L2\": 4}, " CACHES "}", "exchange.L2: expected smt, L1 to L1"},
    {"{\"name\": \"x\", \"messages\": {\"layers\": [{\"within\": \"L1\", \"ranks\": 2, \"segments\": [{\"from_bytes\": "
     "5, \"us\": 1, \"gbs\": 1}]}]}, " CACHES "}",
     "messages.layers[0].segments[0]: expected from_bytes to start at 0"},
    {"{\"name\": \"x\", \"claims\": {\"cache.levels\": \"two\"}, " CACHES "}",
     "claims.cache.levels: expected a number"},
    {"{\"name\": \"x\", \"noise\": {\"jitter\": -1}, " CACHES "}", "noise.jitter: expected a number from 0"},
    {"{\"name\": \"x\", \"noise\": {\"neighbour\": 1.0}, " CACHES "}", "noise.neighbour: expected a number from 0"},
    {"{\"name\": \"x\", \"noise\": 3, " CACHES "}", "noise: expected an object"},
    {"{\"name\": \"\xff\", " CACHES "}", "expected JSON"},
    {"[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]", "levels of nesting"},
};

static void test_mistakes_get_one_line(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_files / sizeof bad_files[0]; i++) {
        bj_sim_spec *spec = NULL;
        bj_error error = {""};
        bj_status status = load_text(bad_files[i].text, &spec, &error);
        if (status != BJ_ERR_INPUT || spec != NULL)
            fail_msg("accepted or failed otherwise: %s", bad_files[i].text);
        if (strstr(error.text, bad_files[i].expected) == NULL)
            fail_msg("%s\nsays: %s\nnot: %s", bad_files[i].text, error.text, bad_files[i].expected);
        assert_null(strchr(error.text, '\n'));
        assert_non_null(strstr(error.text, "bj_sim_"));
        /* The error may be left out. */
        assert_int_equal(load_text(bad_files[i].text, &spec, NULL), BJ_ERR_INPUT);
    }
}

static void test_unreadable_files(void **state) {
    (void)state;
    bj_sim_spec *spec = NULL;
    bj_machine *machine = NULL;
    bj_error error = {""};
    assert_int_not_equal(bj_sim_load_spec("/nowhere/at/all.json", &spec, &error), BJ_OK);
    assert_non_null(strstr(error.text, "/nowhere/at/all.json"));
    assert_int_not_equal(bj_machine_open_simulated("/nowhere/at/all.json", 1, &machine, &error), BJ_OK);
    assert_int_not_equal(bj_sim_load_spec(BJ_SOURCE_DIR "/machines", &spec, &error), BJ_OK);
    size_t length = 2 << 20;
    char *large = malloc(length + 1), path[256];
    assert_non_null(large);
    memset(large, ' ', length);
    write_machine(large, length, path, sizeof path);
    assert_int_not_equal(bj_sim_load_spec(path, &spec, &error), BJ_OK);
    unlink(path);
    free(large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_zoo_loads),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_clocks),
        cmocka_unit_test(test_fields_for_other_probes_are_kept),
        cmocka_unit_test(test_scattered_numbers),
        cmocka_unit_test(test_dunnington_is_numbered_as_in_the_paper),
        cmocka_unit_test(test_mistakes_get_one_line),
        cmocka_unit_test(test_unreadable_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
