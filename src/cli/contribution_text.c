#include "cli/contribution_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_among(const char *word, size_t length, const char *const *words) {
    for (; *words != NULL; words++)
        if (strlen(*words) == length && strncmp(*words, word, length) == 0)
            return true;
    return false;
}

bool bj_cli_is_one_of(const char *text, const char *const *words) {
    return is_among(text, strlen(text), words);
}

/* The words that `keeps` takes, with one blank between them. */
static bool keep_words(char *text, const char *blanks, bool (*keeps)(const char *word, size_t length)) {
    bool all = true;
    char *end = text;
    for (const char *at = text + strspn(text, blanks); *at != '\0';) {
        size_t length = strcspn(at, blanks);
        const char *next = at + length + strspn(at + length, blanks);
        if (keeps(at, length)) {
            if (end != text)
                *end++ = ' ';
            memmove(end, at, length);
            end += length;
        } else
            all = false;
        at = next;
    }
    *end = '\0';
    return all;
}

static bool is_number_word(const char *word, size_t length, size_t most_letters, const char *others) {
    size_t letters = 0, digits = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)word[i];
        letters = isalpha(c) ? letters + 1 : 0;
        digits += isdigit(c) != 0;
        if (!isalnum(c) && strchr(others, c) == NULL)
            return false;
        if (letters > most_letters)
            return false;
    }
    return digits > 0;
}

/* ---- processors */

static const char *const cpu_words[] = {
    "AMD",        "EPYC",       "Ryzen",    "Threadripper", "PRO",        "Opteron(tm)", "Athlon(tm)", "Phenom(tm)",
    "Intel(R)",   "Xeon(R)",    "Core(TM)", "Atom(TM)",     "Celeron(R)", "Pentium(R)",  "Phi(TM)",    "Ultra",
    "Platinum",   "Gold",       "Silver",   "Bronze",       "CPU",        "Processor",   "processor",  "@",
    "Genuine",    "Itanium(R)", "ARM",      "Cortex",       "Neoverse",   "Apple",       "Max",        "Pro",
    "Ampere",     "Altra",      "Graviton", "Fujitsu",      "ThunderX",   "Kunpeng",     "Kryo",       "Qualcomm",
    "Snapdragon", "NVIDIA",     "Grace",    "Denver",       "Carmel",     "IBM",         "POWER",      "PowerPC",
    "Raspberry",  "Pi",         "Model",    "SiFive",       "RISC-V",     "StarFive",    "T-Head",     "SpacemiT",
    "Loongson",   "Hygon",      "Zhaoxin",  "VIA",          "QEMU",       "Virtual",     "KVM",        "Common",
    "version",    "with",       "Radeon",   "Graphics",     "Quad-Core",  "Dual-Core",   "Six-Core",   "Eight-Core",
    "Cores",      "Core",       "Gen",      "Intel",        "Xeon",       "Broadcom",    "Rockchip",   "Allwinner",
    "Mediatek",   "Samsung",    "Exynos",   "HiSilicon",    "Marvell",    "Cavium",      "Phytium",    "Freescale",
    NULL};

/* "2.00GHz", "16-Core", "Cortex-A72", "POWER9", "Genoa" is not known: it is dropped, and said so. */
static bool keeps_cpu_word(const char *word, size_t length) {
    static const char *const heads[] = {"Cortex-", "Neoverse-", "POWER", "Power", "THUNDERX", "rv64", "cv", NULL};
    static const char *const tails[] = {"GHz", "MHz", "-Core", "th", "-core", NULL};
    if (is_among(word, length, cpu_words))
        return true;
    for (const char *const *head = heads; *head != NULL; head++)
        if (length > strlen(*head) && strncmp(word, *head, strlen(*head)) == 0)
            return is_number_word(word + strlen(*head), length - strlen(*head), 2, ".+-");
    for (const char *const *tail = tails; *tail != NULL; tail++)
        if (length > strlen(*tail) && strncmp(word + length - strlen(*tail), *tail, strlen(*tail)) == 0)
            return is_number_word(word, length - strlen(*tail), 0, ".");
    return is_number_word(word, length, 2, ".+-");
}

bool bj_cli_keep_cpu_model(char *text) {
    /* The sign of a trademark has brackets of its own. */
    return keep_words(text, " \t,;", keeps_cpu_word);
}

/* ---- systems */

bool bj_cli_is_version(const char *text) {
    return text[0] != '\0' && text[strspn(text, "0123456789.")] == '\0';
}

static bool keeps_system_word(const char *word, size_t length) {
    static const char *const words[] = {"Linux",   "Darwin", "FreeBSD", "NetBSD", "OpenBSD",     "x86_64", "amd64",
                                        "aarch64", "arm64",  "armv7l",  "armv6l", "armv8l",      "i386",   "i686",
                                        "ppc64le", "ppc64",  "riscv64", "s390x",  "loongarch64", "mips64", NULL};
    return is_among(word, length, words) || is_number_word(word, length, 0, ".");
}

/* What a distribution or a person appends to a release begins behind its numbers. */
static bool cut_releases(char *text) {
    bool all = true;
    char *end = text;
    for (const char *at = text; *at != '\0';) {
        size_t length = strcspn(at, " "), numbers = strspn(at, "0123456789.");
        size_t kept = numbers > 0 && numbers < length ? numbers : length;
        all = all && kept == length;
        memmove(end, at, kept);
        end += kept;
        at += length;
        while (*at == ' ') {
            *end++ = ' ';
            at++;
        }
    }
    *end = '\0';
    return all;
}

bool bj_cli_keep_system(char *text) {
    bool whole = cut_releases(text);
    return keep_words(text, " ", keeps_system_word) && whole;
}

/* ---- compilers */

/* Length of the version that a word begins with, of two or three numbers; 0: it is none. Four could be an address. */
static size_t measure_version(const char *word) {
    size_t length = strspn(word, "0123456789."), dots = 0;
    for (size_t i = 0; i < length; i++)
        dots += word[i] == '.';
    bool ends = word[length] == '\0' || word[length] == ' ';
    return ends && isdigit((unsigned char)word[0]) && dots >= 1 && dots <= 2 && length < 16 ? length : 0;
}

bool bj_cli_keep_compiler(char *text) {
    static const char *const names[] = {"AppleClang", "Clang", "clang", "GNU",     "gcc",      "cc",  "icx", "icc",
                                        "IntelLLVM",  "nvc",   "tcc",   "Fujitsu", "armclang", "xlc", NULL};
    char kept[64] = "";
    size_t used = 0;
    for (const char *const *name = names; *name != NULL && used == 0; name++) {
        const char *at = strstr(text, *name);
        char behind = at != NULL ? at[strlen(*name)] : 'x';
        if (at != NULL && (at == text || at[-1] == '/' || at[-1] == ' ') && !isalpha((unsigned char)behind)) {
            used = strlen(*name);
            memcpy(kept, *name, used);
        }
    }
    for (const char *at = text; used > 0 && *at != '\0'; at++) {
        size_t length = at == text || at[-1] == ' ' ? measure_version(at) : 0;
        if (length > 0) {
            kept[used] = ' ';
            memcpy(kept + used + 1, at, length);
            used += length + 1;
            break;
        }
    }
    kept[used] = '\0';
    bool same = strcmp(kept, text) == 0;
    memcpy(text, kept, used + 1); /* never longer: each part stood in the text, with a blank between them */
    return same;
}

static const char *const flag_words[] = {"Release",
                                         "Debug",
                                         "RelWithDebInfo",
                                         "MinSizeRel",
                                         "None",
                                         "-DNDEBUG",
                                         "-O",
                                         "-O0",
                                         "-O1",
                                         "-O2",
                                         "-O3",
                                         "-Os",
                                         "-Oz",
                                         "-Ofast",
                                         "-Og",
                                         "-g",
                                         "-g0",
                                         "-g1",
                                         "-g2",
                                         "-g3",
                                         "-flto",
                                         "-flto=auto",
                                         "-fPIC",
                                         "-fpic",
                                         "-fPIE",
                                         "-pipe",
                                         "-Wall",
                                         "-Wextra",
                                         "-Werror",
                                         "-std=c11",
                                         "-std=gnu11",
                                         "-std=c17",
                                         "-shared",
                                         "-ffast-math",
                                         "-fno-fast-math",
                                         "-fno-lto",
                                         "-fno-tree-vectorize",
                                         "-fno-tree-slp-vectorize",
                                         "-fno-builtin",
                                         "-fno-strict-aliasing",
                                         "-ffp-contract=off",
                                         "-ffp-contract=fast",
                                         "-fno-math-errno",
                                         "-funroll-loops",
                                         "-fomit-frame-pointer",
                                         "-fno-omit-frame-pointer",
                                         "-fno-sanitize=all",
                                         "-fno-tree-loop-distribute-patterns",
                                         "-fstack-protector-strong",
                                         "-fno-stack-protector",
                                         "-fstack-clash-protection",
                                         "-fno-stack-clash-protection",
                                         "-fcf-protection",
                                         "-fcf-protection=full",
                                         "-mbranch-protection=standard",
                                         "-fsanitize=address,undefined",
                                         "-march=native",
                                         "-mtune=native",
                                         "-mcpu=native",
                                         "-mavx",
                                         "-mavx2",
                                         "-mfma",
                                         "-mavx512f",
                                         "-msse2",
                                         "-mfpmath=sse",
                                         "-fvisibility=hidden",
                                         "-U_FORTIFY_SOURCE",
                                         "-D_FORTIFY_SOURCE=2",
                                         "-D_FORTIFY_SOURCE=3",
                                         "-Wformat",
                                         "-Werror=format-security",
                                         "-m32",
                                         "-m64",
                                         "-Wdate-time",
                                         NULL};

/* Options for code, in full: any other may hold a name. */
static bool keeps_flag(const char *word, size_t length) {
    return is_among(word, length, flag_words) ||
           (strncmp(word, "-march=x86-64-v", 15) == 0 && length == 16 && isdigit((unsigned char)word[15]));
}

bool bj_cli_keep_flags(char *text) {
    return keep_words(text, " \t", keeps_flag);
}
