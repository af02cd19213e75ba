#include "tune/peers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/library.h"

enum { COLUMN_MAJOR = 102, NOT_TRANSPOSED = 111, SLOTS = BJ_TUNE_PEERS_MAX };

typedef void cblas_double(int, int, int, int, int, int, double, const double *, int, const double *, int, double,
                          double *, int);
typedef void cblas_float(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *,
                         int);

/* A kernel of the timer has no room for a context, so each library has a function of its own here. */
static struct {
    bj_any_function *function;
    bj_tune_type type;
    int alpha;
} slots[SLOTS];

static double call(size_t slot, size_t n, void *const *operands) {
    int s = (int)n;
    if (slots[slot].type == BJ_TUNE_FLOAT)
        ((cblas_float *)slots[slot].function)(COLUMN_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, s, s, s,
                                              (float)slots[slot].alpha, operands[0], s, operands[1], s, 1, operands[2],
                                              s);
    else
        ((cblas_double *)slots[slot].function)(COLUMN_MAJOR, NOT_TRANSPOSED, NOT_TRANSPOSED, s, s, s, slots[slot].alpha,
                                               operands[0], s, operands[1], s, 1, operands[2], s);
    return 0;
}

#define SLOT(number)                                                                                                   \
    static double call_##number(size_t n, void *const *operands) {                                                     \
        return call(number, n, operands);                                                                              \
    }
SLOT(0)
SLOT(1)
SLOT(2)
SLOT(3)
SLOT(4)
SLOT(5)
SLOT(6)
SLOT(7)
static bj_kernel_function *const callers[SLOTS] = {call_0, call_1, call_2, call_3, call_4, call_5, call_6, call_7};

void bj_tune_calm_peers(void) {
    static const char *const names[] = {"OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "OMP_NUM_THREADS",
                                        "MKL_NUM_THREADS"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        setenv(names[i], "1", 1);
}

static const char *symbol_of(bj_tune_type type) {
    return type == BJ_TUNE_FLOAT ? "cblas_sgemm" : "cblas_dgemm";
}

static void add(bj_tune_peers *peers, const char *name, bj_any_function *function, bj_tune_type type, bool subtract) {
    size_t at = peers->count++;
    slots[at].function = function;
    slots[at].type = type;
    slots[at].alpha = subtract ? -1 : 1;
    snprintf(peers->items[at].name, sizeof peers->items[at].name, "%s", name);
    peers->items[at].kernel = callers[at];
    peers->items[at].adds = false;
}

bj_status bj_tune_add_peer(bj_tune_peers *peers, const char *path, bj_tune_type type, bool subtract, bj_error *error) {
    bj_any_function *found = NULL;
    bj_error why;
    const char *name = strrchr(path, '/');
    if (peers->count == BJ_TUNE_PEERS_MAX)
        return bj_base_set_error(error, BJ_ERR_USAGE, "--against: at most %d libraries", BJ_TUNE_PEERS_MAX);
    if (bj_platform_load_function(path, symbol_of(type), &found, &why) != BJ_OK)
        return bj_base_set_error(error, BJ_ERR_INPUT, "--against: %.100s: %.200s", path, why.text);
    add(peers, name != NULL ? name + 1 : path, found, type, subtract);
    return BJ_OK;
}

/* A call of LIBXSMM: it makes code for one size when it is first asked. It leaves the upper halves of vectors in use,
 * which would slow down what is called next. */
static void write_xsmm(FILE *out, bj_tune_type type) {
    const char *letter = type == BJ_TUNE_FLOAT ? "s" : "d", *name = bj_tune_name_type(type);
    fprintf(out,
            "#include <stddef.h>\n#include <libxsmm.h>\n"
            "double bj_xsmm(size_t n, void *const *operands) {\n"
            "    static libxsmm_%smmfunction kernel;\n    static size_t made;\n"
            "    if (made != n) {\n"
            "        const %s one = 1;\n        const libxsmm_blasint s = (libxsmm_blasint)n;\n"
            "        kernel = libxsmm_%smmdispatch(s, s, s, &s, &s, &s, &one, &one, NULL, NULL);\n"
            "        made = n;\n    }\n"
            "    if (kernel == NULL)\n        return 0;\n"
            "    kernel(operands[0], operands[1], operands[2]);\n"
            "#ifdef __AVX__\n    __builtin_ia32_vzeroupper();\n#endif\n"
            "    return ((const %s *)operands[2])[0];\n}\n",
            letter, name, letter, name);
}

static void find_xsmm(bj_tune_peers *peers, const bj_timer_build *build, bj_tune_type type) {
    char path[PATH_MAX], command[1024], *library = NULL;
    bj_any_function *found = NULL;
    bj_error ignored;
    bj_timer_build linked = *build;
    snprintf(path, sizeof path, "%s/xsmm.c", build->folder);
    /* The archive must stand behind the source that calls it, so the linker is told to go round. */
    snprintf(command, sizeof command, "%.800s -Wl,--undefined=libxsmm_%smmdispatch -lxsmm -lxsmmnoblas -ldl -lpthread",
             build->command, type == BJ_TUNE_FLOAT ? "s" : "d");
    linked.command = command;
    linked.number = 20; /* a path of its own: a library that is loaded already would be found again */
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return;
    write_xsmm(out, type);
    if (fclose(out) == 0 && bj_timer_build_kernel(&linked, path, "bj_xsmm", &library, &ignored) == BJ_OK &&
        bj_platform_load_function(library, "bj_xsmm", &found, &ignored) == BJ_OK) {
        bj_tune_peer *peer = &peers->items[peers->count++];
        *peer = (bj_tune_peer){.name = "LIBXSMM", .kernel = (bj_kernel_function *)found, .adds = true};
    }
    free(library);
}

void bj_tune_find_peers(bj_tune_peers *peers, const bj_timer_build *build, bj_tune_type type, bool subtract) {
    static const struct {
        const char *name, *library;
    } known[] = {{"OpenBLAS", "libopenblas.so.0"}, {"BLIS", "libblis.so.4"}, {"ATLAS", "libcblas.so.3"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0] && peers->count < BJ_TUNE_PEERS_MAX; i++) {
        bj_any_function *found = NULL;
        bj_error ignored;
        if (bj_platform_find_function(known[i].library, symbol_of(type), &found, &ignored) == BJ_OK)
            add(peers, known[i].name, found, type, subtract);
    }
    if (peers->count < BJ_TUNE_PEERS_MAX)
        find_xsmm(peers, build, type);
}
