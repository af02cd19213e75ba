#include "tune/target.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "kernels/timed_calls.h"
#include "platform/library.h"

/* The macros with which compilers say it; one that says nothing gets no vectors, and is right. */
static const char *const source =
    "#include <stddef.h>\n"
    "#if defined(__AVX512F__)\n#define BYTES 64\n#define REGISTERS 32\n"
    "#elif defined(__AVX__)\n#define BYTES 32\n#define REGISTERS 16\n"
    "#elif defined(__SSE2__)\n#define BYTES 16\n#define REGISTERS 16\n"
    "#elif defined(__ARM_NEON) || defined(__VSX__)\n#define BYTES 16\n#define REGISTERS 32\n"
    "#else\n#define BYTES 0\n#define REGISTERS 0\n#endif\n"
    "#if defined(__FMA__) || defined(__AVX512F__) || defined(__ARM_FEATURE_FMA) || defined(__FP_FAST_FMA)\n"
    "#define FUSED 1\n#else\n#define FUSED 0\n#endif\n"
    "double bj_target(size_t n, void *const *operands) {\n"
    "    (void)operands;\n    return n == 0 ? BYTES : n == 1 ? REGISTERS : FUSED;\n}\n";

bj_status bj_tune_ask_target(const bj_timer_build *build, bj_tune_target *target, bj_error *error) {
    char path[PATH_MAX], *library = NULL;
    bj_any_function *found = NULL;
    snprintf(path, sizeof path, "%s/target.c", build->folder);
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return bj_base_set_error(error, BJ_ERR_IO, "%.200s: cannot be written", path);
    bool failed = fputs(source, out) == EOF;
    if (fclose(out) != 0 || failed)
        return bj_base_set_error(error, BJ_ERR_IO, "%.200s: cannot be written", path);
    bj_status status = bj_timer_build_kernel(build, path, "bj_target", &library, error);
    if (status == BJ_OK)
        status = bj_platform_load_function(library, "bj_target", &found, error);
    free(library);
    if (status != BJ_OK)
        return status;
    bj_kernel_function *ask = (bj_kernel_function *)found;
    *target = (bj_tune_target){(unsigned)ask(0, NULL), (unsigned)ask(1, NULL), ask(2, NULL) > 0};
    return BJ_OK;
}
