/* The simulator against an independent cache model: one walk in this very program, traced by valgrind's cachegrind with
 * a plain LRU geometry of two data levels, and the same walk on a simulated machine of that geometry.
 *
 * Cachegrind sees the whole program, so two traces are taken that differ only in the number of laps: their difference
 * is what the further laps missed. Returns 77 (skipped) where valgrind is missing or cannot run this program. */
#include "../unit/sim_fixture.h"

#include <inttypes.h>
#include <sys/mman.h>

enum { SKIPPED = 77, FEW_LAPS = 2, MANY_LAPS = 12, BUFFER = 4 << 20, ALIGNMENT = 2 << 20 };

#define GEOMETRY "--D1=32768,8,64 --LL=262144,16,64"
static const char *const same_geometry =
    "{\"name\": \"cachegrind\", \"caches\": [{\"size\": 32768, \"ways\": 8, \"latency\": 4},"
    "{\"size\": 262144, \"ways\": 16, \"latency\": 20}]}";

/* Lines drawn from a larger area load the sets unevenly, so that some hit and some miss at both levels. */
typedef struct {
    size_t lines, area_bytes;
} shape;
static const shape shapes[] = {{400, 65536}, {540, 262144}, {3700, 1 << 20}, {4600, 3 << 20}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static uint32_t *choose_places(const shape *of) {
    size_t count = 0;
    uint32_t *places = random_places(of->area_bytes, 64, 17, &count);
    assert_true(count >= of->lines);
    return places; /* the first `lines` of them */
}

/* What is traced. */
static int walk(const shape *of, int laps) {
    char *mapped = mmap(NULL, BUFFER + ALIGNMENT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        return SKIPPED;
    /* The same sets as on the simulated machine, whose arenas are aligned. */
    char *buffer = (char *)(((uintptr_t)mapped + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    uint32_t *places = choose_places(of);
    for (size_t i = 0; i < of->lines; i++)
        *(void **)(buffer + (size_t)places[i] * 8) = buffer + (size_t)places[(i + 1) % of->lines] * 8;
    void *volatile *at = (void *volatile *)(buffer + (size_t)places[0] * 8);
    for (size_t i = 0; i < of->lines * (size_t)laps; i++)
        at = (void *volatile *)*at;
    free(places);
    return at == NULL;
}

/* The number before "rd" in a line like "D1  misses:  14,123  ( 11,111 rd + 3,012 wr)". */
static bool read_count(const char *line, const char *title, int64_t *count) {
    const char *start = strstr(line, title);
    const char *open = start != NULL ? strchr(start, '(') : NULL;
    if (open == NULL)
        return false;
    *count = 0;
    for (const char *c = open + 1; *c != '\0' && *c != 'r'; c++) {
        if (*c >= '0' && *c <= '9')
            *count = *count * 10 + (*c - '0');
    }
    return true;
}

/* False: cachegrind did not run. */
static bool trace(const char *program, size_t which, int laps, int64_t *first_misses, int64_t *last_misses) {
    char command[1200], line[400];
    snprintf(command, sizeof command,
             "valgrind --tool=cachegrind --cache-sim=yes " GEOMETRY
             " --cachegrind-out-file=/dev/null '%s' walk %zu %d 2>&1 >/dev/null",
             program, which, laps);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    unsigned found = 0;
    while (fgets(line, sizeof line, output) != NULL) {
        found |= read_count(line, "D1  misses:", first_misses) ? 1 : 0;
        found |= read_count(line, "LLd misses:", last_misses) ? 2 : 0;
    }
    return pclose(output) == 0 && found == 3;
}

static void simulate(const shape *of, int64_t *first_misses, int64_t *last_misses) {
    bj_machine *machine = open_text(same_geometry, 1);
    bj_arena *arena = open_arena(machine, BUFFER, BJ_PAGES_BASE);
    bj_sim_cpu *cpu = cpu_of(machine, 0);
    uint32_t *places = choose_places(of);
    bj_sim_counts before = cpu->counts;
    for (int lap = 0; lap <= MANY_LAPS; lap++) {
        if (lap == FEW_LAPS + 1)
            before = cpu->counts;
        bj_sim_visit_places(&self_of(machine)->memory, cpu, arena->mapping, places, of->lines, NULL);
    }
    *last_misses = (int64_t)(cpu->counts.hits[2] - before.hits[2]);
    *first_misses = *last_misses + (int64_t)(cpu->counts.hits[1] - before.hits[1]);
    free(places);
    machine->verbs->close_arena(machine, arena);
    close_machine(machine);
}

/* Within 2% of all accesses' misses, or of a hundredth of the accesses where next to none misses: the program's own
 * data and code take a few lines too. */
static void assert_close(const char *level, const shape *of, int64_t traced, int64_t simulated) {
    int64_t accesses = (int64_t)of->lines * (MANY_LAPS - FEW_LAPS);
    int64_t allowed = simulated / 50 > accesses / 100 ? simulated / 50 : accesses / 100;
    if (traced < simulated - allowed || traced > simulated + allowed)
        fail_msg("%s, %zu lines of %zu bytes: cachegrind counts %" PRId64 " misses, the simulator %" PRId64, level,
                 of->lines, of->area_bytes, traced, simulated);
}

static const char *this_program;

static void test_misses_are_cachegrinds(void **state) {
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        int64_t few[2], many[2], simulated[2];
        if (!trace(this_program, i, FEW_LAPS, &few[0], &few[1]) ||
            !trace(this_program, i, MANY_LAPS, &many[0], &many[1]))
            fail_msg("cachegrind did not count");
        simulate(&shapes[i], &simulated[0], &simulated[1]);
        assert_close("first level", &shapes[i], many[0] - few[0], simulated[0]);
        assert_close("last level", &shapes[i], many[1] - few[1], simulated[1]);
    }
}

int main(int count, char **arguments) {
    if (count == 4 && strcmp(arguments[1], "walk") == 0)
        return walk(&shapes[strtoul(arguments[2], NULL, 10) % SHAPES], (int)strtol(arguments[3], NULL, 10));
    this_program = arguments[0];
    int64_t misses[2];
    if (system("valgrind --version > /dev/null 2>&1") != 0 || !trace(this_program, 0, 1, &misses[0], &misses[1])) {
        printf("skipped: no valgrind that runs this program\n");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_misses_are_cachegrinds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
