#include "platform/huge_pages.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "platform/system_file.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"

/* The word in brackets: "always [madvise] never". */
static void read_choice(const char *root, const char *path, char *choice, size_t room) {
    char line[128];
    choice[0] = '\0';
    if (!bj_platform_read_system_line(root, path, line, sizeof line))
        return;
    const char *begin = strchr(line, '[');
    const char *end = begin == NULL ? NULL : strchr(begin, ']');
    if (end != NULL)
        snprintf(choice, room, "%.*s", (int)(end - begin - 1), begin + 1);
}

static size_t read_size(const char *root) {
    char line[64];
    uint64_t bytes;
    if (!bj_platform_read_system_line(root, THP "hpage_pmd_size", line, sizeof line) ||
        !bj_base_parse_u64(line, &bytes)) {
        /* Kernels before 4.11 do not say; there the size of explicit huge pages is the same by default. */
        char *meminfo = bj_platform_read_system_file(root, "/proc/meminfo");
        if (meminfo == NULL || !bj_platform_find_number(meminfo, "Hugepagesize", &bytes) || bytes > SIZE_MAX / 1024)
            bytes = 0;
        bytes *= 1024;
        free(meminfo);
    }
    /* The callers align by it. */
    return bytes <= SIZE_MAX / 4 && (bytes & (bytes - 1)) == 0 ? (size_t)bytes : 0;
}

void bj_platform_read_huge_mode(const char *root, char *mode, size_t room) {
    read_choice(root, THP "enabled", mode, room);
    if (mode[0] == '\0') {
        snprintf(mode, room, "none");
        return;
    }
    /* From 6.8 on each size has a switch of its own, which rules unless it says "inherit". */
    char path[128], own[32];
    snprintf(path, sizeof path, THP "hugepages-%zukB/enabled", read_size(root) / 1024);
    read_choice(root, path, own, sizeof own);
    if (own[0] != '\0' && strcmp(own, "inherit") != 0)
        snprintf(mode, room, "%s", own);
}

size_t bj_platform_read_huge_bytes(const char *root) {
    char mode[32];
    bj_platform_read_huge_mode(root, mode, sizeof mode);
    return strcmp(mode, "always") == 0 || strcmp(mode, "madvise") == 0 ? read_size(root) : 0;
}
