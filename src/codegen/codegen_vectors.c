/* Vectors in C source: the compiler's vector types (GNU extensions, which clang and others have too), in functions that
 * are compiled for the instruction set that has such registers, whatever the flags. Whether this processor has it is
 * asked at run time, before any of them is called, so that none can fault. The compiler would also split a vector that
 * is wider than any register; that is no width that there is, so such targets have no kernels.
 *
 * Roots and fused products and sums have no operator in C, and what the compiler fuses by itself is switched off: they
 * are the instruction set's own functions, from the compiler's header. Where registers have a length that only the
 * processor knows (SVE, RVV), all operations are such functions, and kernels of one width are for processors with just
 * that: wider registers that are used in part cost what whole ones do. */
#include "codegen/codegen_vectors.h"

#include <string.h>

void bj_codegen_write_access(FILE *out) {
    fputs("#define GET(from, i) (((const LOOSE *)(from))[i])\n"
          "#define PUT(i, x) ((LOOSE *)values)[i] = x\n"
          "#define GET_NOW(x, i) x = ((volatile LOOSE *)values)[i]; HIDE(x)\n"
          "#define PUT_NOW(i, x) ((volatile LOOSE *)values)[i] = x\n"
          "#define ADD(x, a) (x + a)\n"
          "#define SUB(x, a) (x - a)\n"
          "#define MUL(x, f) (x * f)\n"
          "#define DIV(d, x) (d / x)\n",
          out);
}

/* Loose: what the values are kept in between kernels need not be aligned. */
static void write_own_type(const bj_codegen_type *type, FILE *out) {
    fprintf(out,
            "typedef %s value_vector __attribute__((vector_size(%u)));\n"
            "typedef %s loose_vector __attribute__((vector_size(%u), aligned(%u), may_alias));\n",
            type->element, type->bytes, type->element, type->bytes, type->bytes / type->lanes);
    bj_codegen_write_access(out);
}

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
          "#define HAS_VECTORS 1\n#define HAS_VECTOR_QUOTIENTS 1\n#define HIDE(x) __asm__ volatile(\"\" : \"+v\"(x))\n",
          out);
    write_own_type(file->type, out);
    fprintf(out,
            "#define VECTOR_TARGET __attribute__((target(\"%s\")))\n"
            "static int are_vectors_supported(bj_generated_has *has) { (void)has; __builtin_cpu_init(); return "
            "__builtin_cpu_supports(\"%s\") != 0; }\n",
            set->target, set->feature);
    if (file->kind != BJ_CODEGEN_CHAINS)
        return;
    fprintf(out,
            "#include <immintrin.h>\n"
            "#define VECTOR_FMA_TARGET __attribute__((target(\"%s\")))\n"
            "#define ROOT(x) (V)%s_sqrt_%s(x)\n#define FMA(x, m, n) (V)%s_fmadd_%s(x, m, n)\n"
            "static int is_fma_supported(bj_generated_has *has) { (void)has; __builtin_cpu_init(); return "
            "__builtin_cpu_supports(\"%s\") != 0; }\n",
            set->fma_target, set->prefix, end, set->prefix, end, set->fma_feature);
}

/* A kind of vectors of another architecture. In its texts $ stands for the type of an element, @ for its bits and ~ for
 * the lanes. */
typedef struct {
    const char *condition; /* of the preprocessor: this architecture, and a compiler that can */
    const char *element;   /* NULL: float and double */
    unsigned least_bytes, most_bytes;
    bool has_own_length; /* registers have the length that the processor says */
    bool has_own_type;   /* its text has the type and what else reads, writes and combines it */
    bool has_quotients;
    const char *target, *feature;         /* what functions are compiled for, and bj_platform_has_instructions knows */
    const char *fma_target, *fma_feature; /* NULL: the baseline has it */
    const char *asm_register;             /* to hide a value in; NULL: functions cannot be seen through as it is */
    const char *text, *chain_text;
} vector_set;

/* Compilers whose headers offer the functions to code that was not compiled for such a processor as a whole. */
#define SVE_COMPILER "(defined(__ARM_FEATURE_SVE) || (defined(__clang__) ? __clang_major__ >= 17 : __GNUC__ >= 10))"
#define RVV_COMPILER "(defined(__riscv_v_intrinsic) || (defined(__clang__) && __clang_major__ >= 19))"

/* Such vectors cannot be volatile: nothing is remembered across an access instead. */
#define ACCESS_NOW(asm_register)                                                                                       \
    "#define PUT_NOW(i, x) PUT(i, x); __asm__ volatile(\"\" : : : \"memory\")\n"                                       \
    "#define GET_NOW(x, i) x = GET(values, i); __asm__ volatile(\"\" : \"" asm_register "\"(x) : : \"memory\")\n"

static const char sve_text[] = "#include <arm_sve.h>\n"
                               "typedef svfloat@_t value_vector;\n"
                               "#define ALL svptrue_b@()\n"
                               "VECTOR_TARGET static int count_register_bytes(void) { return (int)svcntb(); }\n"
                               "#define GET(from, i) svld1_f@(ALL, (const $ *)(from) + (i) * ~)\n"
                               "#define PUT(i, x) svst1_f@(ALL, ($ *)values + (i) * ~, x)\n" ACCESS_NOW(
                                   "+w") "#define ADD(x, a) svadd_f@_x(ALL, x, a)\n";
static const char sve_chain_text[] = "#define SUB(x, a) svsub_f@_x(ALL, x, a)\n"
                                     "#define MUL(x, f) svmul_f@_x(ALL, x, f)\n"
                                     "#define DIV(d, x) svdiv_f@_x(ALL, d, x)\n"
                                     "#define ROOT(x) svsqrt_f@_x(ALL, x)\n"
                                     "#define FMA(x, m, n) svmad_f@_x(ALL, x, m, n)\n";

static const char rvv_text[] =
    "#include <riscv_vector.h>\n"
    "typedef vfloat@m1_t value_vector;\n"
    "VECTOR_TARGET static int count_register_bytes(void) { return (int)__riscv_vsetvlmax_e8m1(); }\n"
    "#define GET(from, i) __riscv_vle@_v_f@m1((const $ *)(from) + (i) * ~, ~)\n"
    "#define PUT(i, x) __riscv_vse@_v_f@m1(($ *)values + (i) * ~, x, ~)\n" ACCESS_NOW(
        "+vr") "#define ADD(x, a) __riscv_vfadd_vv_f@m1(x, a, ~)\n";
static const char rvv_chain_text[] = "#define SUB(x, a) __riscv_vfsub_vv_f@m1(x, a, ~)\n"
                                     "#define MUL(x, f) __riscv_vfmul_vv_f@m1(x, f, ~)\n"
                                     "#define DIV(d, x) __riscv_vfdiv_vv_f@m1(d, x, ~)\n"
                                     "#define ROOT(x) __riscv_vfsqrt_v_f@m1(x, ~)\n"
                                     "#define FMA(x, m, n) __riscv_vfmadd_vv_f@m1(x, m, n, ~)\n";

/* With operators these would be done one lane after the other: such vectors round denormal numbers to zero, as C must
 * not. Kernels meet none. */
static const char neon_text[] =
    "#include <arm_neon.h>\n"
    "typedef float32x4_t value_vector;\n"
    "#define GET(from, i) vld1q_f32((const $ *)(from) + (i) * ~)\n"
    "#define PUT(i, x) vst1q_f32(($ *)values + (i) * ~, x)\n" ACCESS_NOW("+w") "#define ADD(x, a) vaddq_f32(x, a)\n";
static const char neon_chain_text[] = "#define SUB(x, a) vsubq_f32(x, a)\n"
                                      "#define MUL(x, f) vmulq_f32(x, f)\n"
                                      "#define FMA(x, m, n) vfmaq_f32(n, x, m)\n";

static const vector_set vector_sets[] = {
    {"defined(__aarch64__)", NULL, 16, 16, false, false, true, NULL, NULL, NULL, NULL, "+w", "",
     "#include <arm_neon.h>\n#define ROOT(x) (V)vsqrtq_f@(x)\n#define FMA(x, m, n) (V)vfmaq_f@(n, x, m)\n"},
    {"defined(__aarch64__) && " SVE_COMPILER, NULL, 32, 64, true, true, true, "+sve", "sve", "+sve", "sve", "+w",
     sve_text, sve_chain_text},
    {"defined(__VSX__)", NULL, 16, 16, false, false, true, NULL, NULL, NULL, NULL, "+wa", "",
     "#include <altivec.h>\n#define ROOT(x) (V)vec_sqrt(x)\n#define FMA(x, m, n) (V)vec_madd(x, m, n)\n"},
    /* Vectors of double came with z13, of float a processor later. */
    {"defined(__s390x__) && !defined(__clang__)", "double", 16, 16, false, false, true, "arch=z13", "vx", "arch=z13",
     "vx", "+v", "", "#define ROOT(x) __builtin_s390_vfsqdb(x)\n#define FMA(x, m, n) __builtin_s390_vfmadb(x, m, n)\n"},
    {"defined(__s390x__) && !defined(__clang__)", "float", 16, 16, false, false, true, "arch=z14", "vxe", "arch=z14",
     "vxe", "+v", "",
     "#define ROOT(x) __builtin_s390_vfsqsb(x)\n#define FMA(x, m, n) __builtin_s390_vfmasb(x, m, n)\n"},
    {"defined(__arm__) && defined(__ARM_FP) && !defined(__clang__)", "float", 16, 16, false, true, false, "fpu=neon",
     "neon", "fpu=neon-vfpv4", "vfpv4", "+w", neon_text, neon_chain_text},
    /* Behind each asm statement compilers set the vectors' length anew, which would be timed. */
    {"defined(__riscv) && " RVV_COMPILER, NULL, 16, 64, true, true, true, "arch=+v", "v", "arch=+v", "v", NULL,
     rvv_text, rvv_chain_text},
};

static void write_text(const bj_codegen_type *type, const char *text, FILE *out) {
    for (; *text != '\0'; text++)
        if (*text == '$')
            fputs(type->element, out);
        else if (*text == '@')
            fprintf(out, "%u", 8 * type->bytes / type->lanes);
        else if (*text == '~')
            fprintf(out, "%u", type->lanes);
        else
            fputc(*text, out);
}

static void write_target(const char *name, const char *target, FILE *out) {
    fprintf(out, target != NULL ? "#define %s __attribute__((target(\"%s\")))\n" : "#define %s\n", name, target);
}

static void write_question(const char *name, const char *feature, const char *more, FILE *out) {
    fprintf(out, "static int %s(bj_generated_has *has) { ", name);
    fprintf(out, feature != NULL ? "return has(\"%s\")%s; }\n" : "return (void)has, 1; }\n", feature, more);
}

static void write_set(const bj_codegen_file *file, const vector_set *set, FILE *out) {
    const bj_codegen_type *type = file->type;
    fprintf(out, "#elif defined(__GNUC__) && %s\n#define HAS_VECTORS 1\n", set->condition);
    if (set->has_quotients)
        fputs("#define HAS_VECTOR_QUOTIENTS 1\n", out);
    write_target("VECTOR_TARGET", set->target, out);
    if (set->asm_register != NULL)
        fprintf(out, "#define HIDE(x) __asm__ volatile(\"\" : \"%s\"(x))\n", set->asm_register);
    else
        fputs("#define HIDE(x) (void)(x)\n", out);
    if (!set->has_own_type)
        write_own_type(type, out);
    write_text(type, set->text, out);
    char length[48] = "";
    if (set->has_own_length)
        snprintf(length, sizeof length, " && count_register_bytes() == %u", type->bytes);
    write_question("are_vectors_supported", set->feature, length, out);
    if (file->kind != BJ_CODEGEN_CHAINS)
        return;
    write_target("VECTOR_FMA_TARGET", set->fma_target, out);
    write_question("is_fma_supported", set->fma_feature, "", out);
    write_text(type, set->chain_text, out);
}

static bool is_of_type(const vector_set *set, const bj_codegen_type *type) {
    return type->variant[0] == '\0' && (set->element == NULL || strcmp(set->element, type->element) == 0) &&
           type->bytes >= set->least_bytes && type->bytes <= set->most_bytes;
}

void bj_codegen_write_vectors(const bj_codegen_file *file, FILE *out) {
    fputc('\n', out);
    write_x86(file, find_x86_set(file->type), out);
    for (size_t i = 0; i < sizeof vector_sets / sizeof vector_sets[0]; i++)
        if (is_of_type(&vector_sets[i], file->type))
            write_set(file, &vector_sets[i], out);
    fputs("#else\nstatic int are_vectors_supported(bj_generated_has *has) { return (void)has, 0; }\n", out);
    if (file->kind == BJ_CODEGEN_CHAINS)
        fputs("static int is_fma_supported(bj_generated_has *has) { return (void)has, 0; }\n", out);
    fputs("#endif\n", out);
}
