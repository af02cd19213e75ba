/* The text of the generated kernels.
 *
 * Chains: HIDE is an empty asm statement that pretends to change its variable. It emits nothing; it only keeps the
 * compiler from folding a thousand additions into one multiplication, from vectorising the abreast and from contracting
 * a product with a sum. Operands are hidden too, so they are registers or memory, never immediates, which newer cores
 * add for free. Unsigned types where the operation may wrap: the instruction is the same, the behaviour defined.
 *
 * Loads and stores are volatile accesses, each to the next place of a few that stay in the first-level cache.
 *
 * Live variables: nothing is hidden inside the loop, since where values are kept is the compiler's decision and the
 * question. Each variable depends on all others within some sweeps, so no addition can be left out. Every sum of
 * vectors is stored as well: cores add no more than two vectors a cycle and can load and store as many beside it, so
 * that spills would cost nothing. With stores as the bottleneck each one more costs its share. */
#include <string.h>

#include "codegen/codegen.h"
#include "codegen/codegen_vectors.h"

static const char prelude[] =
    "#include <stddef.h>\n"
    "#include <stdint.h>\n"
    "\n"
    "#if defined(__x86_64__) || defined(__i386__)\n"
    "#define FLOAT_REGISTER \"+x\"\n"
    "#elif defined(__aarch64__) || defined(__arm__)\n"
    "#define FLOAT_REGISTER \"+w\"\n"
    "#elif defined(__powerpc__)\n"
    "#define FLOAT_REGISTER \"+d\"\n"
    "#else\n"
    "#define FLOAT_REGISTER \"+f\"\n"
    "#endif\n"
    "\n"
    "typedef void (*bj_generated_kernel)(void *values, const void *operands, size_t passes);\n"
    "typedef _Bool bj_generated_has(const char *instructions);\n";

/* Where the compiler's target lacks the instruction, a function that has it, asked for at run time. */
static const char fma_prelude[] =
    "\n"
    "#if defined(__FMA__) || defined(__FMA4__) || defined(__aarch64__) || defined(__powerpc__) || "
    "(defined(__riscv) && defined(__riscv_fdiv)) || defined(__s390x__) || defined(__loongarch__) || "
    "defined(__ARM_FEATURE_FMA)\n"
    "#define HAS_FMA 1\n"
    "#define FMA_TARGET\n"
    "static int is_fma_supported(bj_generated_has *has) { (void)has; return 1; }\n"
    "#elif (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)\n"
    "#define HAS_FMA 1\n"
    "#define FMA_TARGET __attribute__((target(\"fma\")))\n"
    "static int is_fma_supported(bj_generated_has *has) { (void)has; __builtin_cpu_init(); return "
    "__builtin_cpu_supports(\"fma\") != 0; }\n"
    "#elif defined(__arm__) && defined(__ARM_FP) && defined(__GNUC__) && !defined(__clang__)\n"
    "#define HAS_FMA 1\n"
    "#define FMA_TARGET __attribute__((target(\"fpu=vfpv4\")))\n"
    "static int is_fma_supported(bj_generated_has *has) { return has(\"vfpv4\"); }\n"
    "#else\n"
    "static int is_fma_supported(bj_generated_has *has) { (void)has; return 0; }\n"
    "#endif\n";

typedef struct {
    const char *operation;
    const char *integer;  /* NULL: not for integers; x is the variable, o the operands */
    const char *back;     /* what every second step does instead; NULL: the same */
    const char *floating; /* F stands for the suffix of the type's functions */
    const char *operands; /* the letters that it uses, by their place in the array */
} operation_text;

/* Operands: a addend, f factor, d divisor of integers and dividend of floating point, s shift, m and n factor and
 * addend of fma. */
static const char operand_letters[] = "afdsmn";

static const operation_text operation_texts[] = {
    {"add", "x = (V)(x + a)", NULL, "x = ADD(x, a)", "a"},
    {"sub", "x = (V)(x - a)", NULL, "x = SUB(x, a)", "a"},
    {"mul", "x = (V)(1u * x * f)", NULL, "x = MUL(x, f)", "f"},
    {"div", "x = (V)(x / d)", NULL, "x = DIV(d, x)", "d"},
    {"mod", "x = (V)(x % d)", NULL, NULL, "d"},
    {"shift", "x = (V)(x << s)", "x = (V)(x >> s)", NULL, "s"},
    {"sqrt", NULL, NULL, "x = ROOT(x)", ""},
    {"fma", NULL, NULL, "x = FMA(x, m, n)", "mn"},
    {"load", NULL, NULL, NULL, ""},
    {"store", NULL, NULL, NULL, ""},
};

static const operation_text *find_text(const char *operation) {
    for (size_t i = 0; i < sizeof operation_texts / sizeof operation_texts[0]; i++)
        if (strcmp(operation_texts[i].operation, operation) == 0)
            return &operation_texts[i];
    return NULL;
}

/* Not every kind of vectors can be divided. */
static bool needs_quotients(const bj_codegen_family *unit) {
    return bj_codegen_uses(unit, "div") || bj_codegen_uses(unit, "sqrt");
}

/* What the compiler must be able to do for the unit to be compiled; NULL: nothing special. */
static const char *name_condition(const bj_codegen_family *unit) {
    if (unit->type->lanes > 1)
        return needs_quotients(unit) ? "HAS_VECTOR_QUOTIENTS" : "HAS_VECTORS";
    return bj_codegen_uses(unit, "fma") ? "HAS_FMA" : NULL;
}

/* What its functions are compiled for. */
static const char *name_target(const bj_codegen_family *unit) {
    bool is_fma = bj_codegen_uses(unit, "fma");
    return unit->type->lanes > 1 ? (is_fma ? "VECTOR_FMA_TARGET " : "VECTOR_TARGET ") : is_fma ? "FMA_TARGET " : "";
}

static void begin_condition(const bj_codegen_family *unit, FILE *out) {
    if (name_condition(unit) != NULL)
        fprintf(out, "#ifdef %s\n", name_condition(unit));
}

static void end_condition(const bj_codegen_family *unit, FILE *out) {
    if (name_condition(unit) != NULL)
        fputs("#endif\n", out);
}

static void write_supported(const bj_codegen_family *unit, const char *name, FILE *out) {
    bool is_fma = bj_codegen_uses(unit, "fma"), is_vector = unit->type->lanes > 1;
    fprintf(out, "int bj_generated_%s_supported(bj_generated_has *has);\n", name);
    fprintf(out, "int bj_generated_%s_supported(bj_generated_has *has) {\n", name);
    if (is_vector && needs_quotients(unit))
        fputs("#ifndef HAS_VECTOR_QUOTIENTS\n    return (void)has, 0;\n#endif\n", out);
    fprintf(out, "    return %s%s%s;\n}\n", is_vector ? "are_vectors_supported(has)" : "",
            is_vector && is_fma ? " && " : "",
            is_fma      ? "is_fma_supported(has)"
            : is_vector ? ""
                        : "(void)has, 1");
}

/* Signed where it is divided, since that is what int means; unsigned where it may wrap. */
static void write_value_type(const bj_codegen_family *unit, FILE *out) {
    const bj_codegen_type *type = unit->type;
    if (type->lanes > 1)
        fputs("#define V value_vector\n#define LOOSE loose_vector\n", out);
    else
        fputs("#define LOOSE V\n", out);
    if (type->lanes > 1)
        return;
    if (type->is_float)
        fprintf(out, "#define V %s\n", type->name);
    else
        fprintf(out, "#define V %sint%u_t\n", bj_codegen_uses(unit, "div") || bj_codegen_uses(unit, "mod") ? "" : "u",
                8 * type->bytes);
}

static void write_step(const bj_codegen_family *unit, bool back, FILE *out) {
    const char *operations[] = {unit->operation, unit->then};
    fprintf(out, "#define %s(x)", back ? "ODD" : "EVEN");
    for (size_t i = 0; i < 2 && operations[i] != NULL; i++) {
        const operation_text *text = find_text(operations[i]);
        const char *code = unit->type->is_float ? text->floating : text->integer;
        if (back && text->back != NULL)
            code = text->back;
        fprintf(out, " %s; HIDE(x);", code);
    }
    fputc('\n', out);
}

static void write_operands(const bj_codegen_family *unit, FILE *out) {
    const char *operations[] = {unit->operation, unit->then};
    fputs("#define OPERANDS", out);
    for (size_t place = 0; operand_letters[place] != '\0'; place++) {
        bool used = false;
        for (size_t i = 0; i < 2 && operations[i] != NULL; i++)
            used = used || strchr(find_text(operations[i])->operands, operand_letters[place]) != NULL;
        if (used)
            fprintf(out, " V %c = GET(operands, %zu); HIDE(%c);", operand_letters[place], place,
                    operand_letters[place]);
    }
    fputs(" (void)operands;\n", out);
}

static void write_moves(const bj_codegen_family *unit, unsigned abreast, unsigned steps, FILE *out) {
    bool loads = bj_codegen_uses(unit, "load");
    for (unsigned i = 0; i < abreast * steps; i++) {
        unsigned stream = i % abreast, place = BJ_CODEGEN_ABREAST + i % BJ_CODEGEN_PLACES;
        if (loads)
            fprintf(out, "        GET_NOW(x%u, %u);\n", stream, place);
        else
            fprintf(out, "        PUT_NOW(%u, x%u);\n", place, stream);
    }
}

static void write_chain(const bj_codegen_family *unit, const char *name, unsigned abreast, bool twice, FILE *out) {
    unsigned steps = bj_codegen_count_steps(abreast, twice);
    fprintf(out, "%sstatic void %s_%u_%u(void *values, const void *operands, size_t passes) {\n    OPERANDS\n",
            name_target(unit), name, abreast, steps);
    for (unsigned i = 0; i < abreast; i++)
        fprintf(out, "    V x%u = GET(values, %u);\n", i, i);
    fputs("    do {\n", out);
    if (bj_codegen_is_memory(unit))
        write_moves(unit, abreast, steps, out);
    for (unsigned i = 0; i < steps && !bj_codegen_is_memory(unit); i += 2)
        fprintf(out, "%sEVENS ODDS%s", i % 32 == 0 ? "        " : " ", i % 32 == 30 || i + 2 >= steps ? "\n" : "");
    fputs("    } while (--passes > 0);\n", out);
    for (unsigned i = 0; i < abreast; i++)
        fprintf(out, "    PUT(%u, x%u);\n", i, i);
    fputs("}\n", out);
}

static void write_rounds(unsigned abreast, FILE *out) {
    static const char *const names[] = {"EVEN", "ODD"};
    for (size_t n = 0; n < 2; n++) {
        fprintf(out, "#undef %sS\n#define %sS", names[n], names[n]);
        for (unsigned i = 0; i < abreast; i++)
            fprintf(out, " %s(x%u)", names[n], i);
        fputc('\n', out);
    }
}

static void write_chains(const bj_codegen_family *unit, FILE *out) {
    char name[48];
    bj_codegen_name_family(unit, name, sizeof name);
    fprintf(out, "\n/* %s */\n", name);
    begin_condition(unit, out);
    fputs("#undef V\n#undef LOOSE\n#undef EVEN\n#undef ODD\n#undef OPERANDS\n", out);
    write_value_type(unit, out);
    if (!bj_codegen_is_memory(unit)) {
        write_step(unit, false, out);
        write_step(unit, true, out);
    }
    write_operands(unit, out);
    for (unsigned abreast = 1; abreast <= unit->abreast; abreast++) {
        if (!bj_codegen_has_abreast(unit, abreast))
            continue;
        write_rounds(abreast, out);
        write_chain(unit, name, abreast, false, out);
        write_chain(unit, name, abreast, true, out);
    }
    end_condition(unit, out);
    fprintf(out, "extern const bj_generated_kernel bj_generated_%s[];\n", name);
    fprintf(out, "const bj_generated_kernel bj_generated_%s[] = {\n", name);
    begin_condition(unit, out);
    for (unsigned abreast = 1; abreast <= unit->abreast; abreast++) {
        unsigned once = bj_codegen_count_steps(abreast, false), twice = bj_codegen_count_steps(abreast, true);
        if (bj_codegen_has_abreast(unit, abreast))
            fprintf(out, "    %s_%u_%u, %s_%u_%u,\n", name, abreast, once, name, abreast, twice);
        else
            fputs("    0, 0,\n", out);
    }
    end_condition(unit, out);
    fputs("    0};\n", out);
    write_supported(unit, name, out);
}

static void write_live_kernel(const bj_codegen_family *unit, const char *name, unsigned variables, FILE *out) {
    unsigned half = variables / 2, sweeps = bj_codegen_count_sweeps(variables);
    fputs("#undef SWEEP\n#define SWEEP", out);
    for (unsigned i = 0; i < variables; i++) {
        unsigned other = (i + variables - half) % variables;
        if (unit->type->lanes > 1)
            fprintf(out, " p%u = ADD(p%u, p%u); PUT_NOW(%u, p%u);", i, i, other, bj_codegen_place_of(i), i);
        else
            fprintf(out, " p%u += p%u;", i, other);
    }
    fprintf(out, "\n%sstatic void %s_%u(void *values, const void *operands, size_t passes) {\n    (void)operands;\n",
            name_target(unit), name, variables);
    for (unsigned i = 0; i < variables; i++)
        fprintf(out, "    V p%u = GET(values, %u);\n", i, i);
    /* Or clang may halve vectors of a width that it does not prefer; the loop is not touched by it. */
    if (unit->type->lanes > 1)
        fputs("    HIDE(p0);\n", out);
    fputs("    do {\n", out);
    for (unsigned i = 0; i < sweeps; i++)
        fputs("        SWEEP\n", out);
    fputs("    } while (--passes > 0);\n", out);
    for (unsigned i = 0; i < variables; i++)
        fprintf(out, "    PUT(%u, p%u);\n", i, i);
    fputs("}\n", out);
}

static void write_live(const bj_codegen_family *unit, FILE *out) {
    char name[48];
    unsigned most = bj_codegen_most_live(unit->type);
    bj_codegen_name_family(unit, name, sizeof name);
    fprintf(out, "\n/* %s */\n", name);
    begin_condition(unit, out);
    write_value_type(unit, out);
    for (unsigned k = BJ_CODEGEN_LIVE_LEAST; k <= most; k++)
        write_live_kernel(unit, name, k, out);
    end_condition(unit, out);
    fprintf(out, "extern const bj_generated_kernel bj_generated_%s[];\n", name);
    fprintf(out, "const bj_generated_kernel bj_generated_%s[] = {\n", name);
    begin_condition(unit, out);
    for (unsigned k = BJ_CODEGEN_LIVE_LEAST; k <= most; k++)
        fprintf(out, "    %s_%u,\n", name, k);
    end_condition(unit, out);
    fputs("    0};\n", out);
    write_supported(unit, name, out);
}

static void write_index(FILE *out) {
    char name[48];
    fputs("typedef struct {\n    const char *name;\n    const bj_generated_kernel *kernels;\n"
          "    int (*is_supported)(bj_generated_has *has);\n} bj_generated_family;\n",
          out);
    for (size_t i = 0; i < bj_codegen_count_familys(); i++) {
        bj_codegen_family unit = bj_codegen_family_at(i);
        bj_codegen_name_family(&unit, name, sizeof name);
        fprintf(out,
                "extern const bj_generated_kernel bj_generated_%s[];\nint bj_generated_%s_supported(bj_generated_has "
                "*has);\n",
                name, name);
    }
    fputs("extern const bj_generated_family bj_generated_families[];\nconst bj_generated_family "
          "bj_generated_families[] = {\n",
          out);
    for (size_t i = 0; i < bj_codegen_count_familys(); i++) {
        bj_codegen_family unit = bj_codegen_family_at(i);
        bj_codegen_name_family(&unit, name, sizeof name);
        fprintf(out, "    {\"%s\", bj_generated_%s, bj_generated_%s_supported},\n", name, name, name);
    }
    fputs("    {0, 0, 0}};\n", out);
}

static void write_type_macros(const bj_codegen_type *type, FILE *out) {
    fprintf(out, "#define HIDE(x) __asm__ volatile(\"\" : %s(x))\n", type->is_float ? "FLOAT_REGISTER" : "\"+r\"");
    if (!type->is_float)
        return;
    const char *suffix = type->bytes == sizeof(float) ? "f" : "";
    fprintf(out, "#define ROOT(x) __builtin_sqrt%s(x)\n#define FMA(x, m, n) __builtin_fma%s(x, m, n)\n", suffix,
            suffix);
    fputs(fma_prelude, out);
}

void bj_codegen_write_file(const bj_codegen_file *file, FILE *out) {
    fputs("/* Generated by src/codegen. */\n", out);
    fputs(prelude, out);
    if (file->type == NULL) {
        write_index(out);
        return;
    }
    if (file->type->lanes > 1)
        bj_codegen_write_vectors(file, out);
    else
        bj_codegen_write_access(out);
    if (file->type->lanes == 1 && file->kind == BJ_CODEGEN_CHAINS)
        write_type_macros(file->type, out);
    for (size_t i = 0; i < bj_codegen_count_familys(); i++) {
        bj_codegen_family unit = bj_codegen_family_at(i);
        if (unit.kind != file->kind || unit.type != file->type)
            continue;
        if (unit.kind == BJ_CODEGEN_LIVE)
            write_live(&unit, out);
        else
            write_chains(&unit, out);
    }
}
