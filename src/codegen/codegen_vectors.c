/* Vectors in C source: the compiler's vector types (GNU extensions, which clang and others have too), in functions that
 * are compiled for the instruction set that has such registers, whatever the flags. Whether this processor has it is
 * asked at run time, before any of them is called, so that none can fault. The compiler would also split a vector that
 * is wider than any register; that is no width that there is, so such targets have no kernels.
 *
 * Roots and fused products and sums have no operator in C, and what the compiler fuses by itself is switched off: they
 * are the instruction set's own functions, from the compiler's header. */
#include "codegen/codegen_vectors.h"

#include <string.h>

typedef struct {
    unsigned bytes;
    const char *variant;
    const char *target, *feature;         /* of gcc's and clang's attribute and of __builtin_cpu_supports */
    const char *fma_target, *fma_feature; /* the same with fused products and sums */
    const char *prefix;                   /* of the functions */
} x86_set;

static const x86_set x86_sets[] = {
    {16, "", "sse2", "sse2", "sse2,fma", "fma", "_mm"},
    {16, "_vl", "avx512f,avx512vl", "avx512vl", "avx512f,avx512vl", "avx512vl", "_mm"},
    {32, "", "avx", "avx", "avx,fma", "fma", "_mm256"},
    {32, "_vl", "avx512f,avx512vl", "avx512vl", "avx512f,avx512vl", "avx512vl", "_mm256"},
    {64, "", "avx512f", "avx512f", "avx512f", "avx512f", "_mm512"},
};

static const x86_set *find_x86_set(const bj_codegen_type *type) {
    for (size_t i = 0; i < sizeof x86_sets / sizeof x86_sets[0]; i++)
        if (x86_sets[i].bytes == type->bytes && strcmp(x86_sets[i].variant, type->variant) == 0)
            return &x86_sets[i];
    return NULL;
}

static void write_x86(const bj_codegen_file *file, const x86_set *set, FILE *out) {
    const char *end = strcmp(file->type->element, "double") == 0 ? "pd" : "ps";
    fputs("#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))\n"
          "#define HAS_VECTORS 1\n#define VECTOR_REGISTER \"+v\"\n",
          out);
    fprintf(
        out,
        "#define VECTOR_TARGET __attribute__((target(\"%s\")))\n"
        "static int are_vectors_supported(void) { __builtin_cpu_init(); return __builtin_cpu_supports(\"%s\") != 0; "
        "}\n",
        set->target, set->feature);
    if (file->kind != BJ_CODEGEN_CHAINS)
        return;
    fprintf(out,
            "#include <immintrin.h>\n"
            "#define VECTOR_FMA_TARGET __attribute__((target(\"%s\")))\n"
            "#define ROOT(x) (V)%s_sqrt_%s(x)\n#define FMA(x, m, n) (V)%s_fmadd_%s(x, m, n)\n"
            "static int is_fma_supported(void) { __builtin_cpu_init(); return __builtin_cpu_supports(\"%s\") != 0; }\n",
            set->fma_target, set->prefix, end, set->prefix, end, set->fma_feature);
}

/* Where vectors of 16 bytes belong to the baseline, or to what the flags ask for. */
static void write_others(const bj_codegen_file *file, FILE *out) {
    unsigned bits = 8 * file->type->bytes / file->type->lanes;
    bool has_chains = file->kind == BJ_CODEGEN_CHAINS;
    if (file->type->bytes != 16 || file->type->variant[0] != '\0')
        return;
    fputs("#elif defined(__GNUC__) && defined(__aarch64__)\n"
          "#define HAS_VECTORS 1\n#define VECTOR_REGISTER \"+w\"\n#define VECTOR_TARGET\n"
          "static int are_vectors_supported(void) { return 1; }\n",
          out);
    if (has_chains)
        fprintf(out,
                "#include <arm_neon.h>\n#define VECTOR_FMA_TARGET\n#define ROOT(x) (V)vsqrtq_f%u(x)\n"
                "#define FMA(x, m, n) (V)vfmaq_f%u(n, x, m)\nstatic int is_fma_supported(void) { return 1; }\n",
                bits, bits);
    fputs("#elif defined(__GNUC__) && defined(__VSX__)\n"
          "#define HAS_VECTORS 1\n#define VECTOR_REGISTER \"+wa\"\n#define VECTOR_TARGET\n"
          "static int are_vectors_supported(void) { return 1; }\n",
          out);
    if (has_chains)
        fputs("#include <altivec.h>\n#define VECTOR_FMA_TARGET\n#define ROOT(x) (V)vec_sqrt(x)\n"
              "#define FMA(x, m, n) (V)vec_madd(x, m, n)\nstatic int is_fma_supported(void) { return 1; }\n",
              out);
}

void bj_codegen_write_vectors(const bj_codegen_file *file, FILE *out) {
    const bj_codegen_type *type = file->type;
    fputc('\n', out);
    write_x86(file, find_x86_set(type), out);
    write_others(file, out);
    fputs("#else\nstatic int are_vectors_supported(void) { return 0; }\n", out);
    if (file->kind == BJ_CODEGEN_CHAINS)
        fputs("static int is_fma_supported(void) { return 0; }\n", out);
    fputs("#endif\n", out);
    /* Loose: what the values are kept in between kernels need not be aligned. */
    fprintf(out,
            "#ifdef HAS_VECTORS\n"
            "typedef %s value_vector __attribute__((vector_size(%u)));\n"
            "typedef %s loose_vector __attribute__((vector_size(%u), aligned(%u), may_alias));\n"
            "#define HIDE(x) __asm__ volatile(\"\" : VECTOR_REGISTER(x))\n"
            "#endif\n",
            type->element, type->bytes, type->element, type->bytes, type->bytes / type->lanes);
}
