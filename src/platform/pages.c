#include "platform/pages.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "platform/huge_pages.h"
#include "platform/system_file.h"

/* Linux 6.1; older C libraries lack the name, older kernels answer EINVAL. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

size_t bj_platform_page_bytes(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

size_t bj_platform_huge_bytes(void) {
#ifdef PR_GET_THP_DISABLE
    if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) > 0)
        return 0;
#endif
    return bj_platform_read_huge_bytes("");
}

static size_t round_up(size_t bytes, size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

/* Reserves room with at least one inaccessible page on either side: the kernel would join the mapping with a
 * neighbour of the same kind into one area, whose smaps entry then speaks of both. */
static bj_status reserve(size_t bytes, size_t alignment, bj_mapping *mapping, bj_error *error) {
    size_t page = bj_platform_page_bytes();
    size_t room = bytes + alignment + 2 * page;
    void *start = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "cannot map %zu bytes: %s", bytes, strerror(errno));
    mapping->mapping = start;
    mapping->mapping_bytes = room;
    mapping->memory = (char *)start + (round_up((uintptr_t)start + page, alignment) - (uintptr_t)start);
    mapping->bytes = bytes;
    return BJ_OK;
}

static bj_status touch(const bj_mapping *mapping, bj_error *error) {
#ifdef MADV_POPULATE_WRITE
    /* Says ENOMEM where a write would be answered by a kill. Kernels before 5.14 do not know it. */
    if (madvise(mapping->memory, mapping->bytes, MADV_POPULATE_WRITE) != 0 && errno == ENOMEM)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu bytes", mapping->bytes);
#else
    (void)error;
#endif
    size_t page = bj_platform_page_bytes();
    for (size_t offset = 0; offset < mapping->bytes; offset += page)
        *(volatile char *)(mapping->memory + offset) = 0;
    return BJ_OK;
}

/* Of the areas that overlap [begin, end): bytes held as huge pages; false when smaps cannot be read or lacks it.
 * Reads no further than needed: the kernel walks the page tables of each area that it prints. */
static bool count_huge(const bj_mapping *mapping, size_t *huge) {
    uintptr_t begin = (uintptr_t)mapping->memory, end = begin + mapping->bytes;
    FILE *smaps = fopen("/proc/self/smaps", "re");
    if (smaps == NULL)
        return false;
    char *line = NULL;
    size_t room = 0, covered = 0;
    bool inside = false;
    *huge = 0;
    while (getline(&line, &room, smaps) > 0) {
        unsigned long long from, to;
        uint64_t kib;
        /* A field's name may begin with a hexadecimal digit ("AnonHugePages"), but no dash follows it. */
        if (sscanf(line, "%llx-%llx ", &from, &to) == 2) {
            if (from >= end)
                break;
            inside = to > begin;
            if (inside)
                covered += (size_t)((to < end ? to : end) - (from > begin ? from : begin));
        } else if (inside && bj_platform_find_number(line, "AnonHugePages", &kib)) {
            *huge += (size_t)kib * 1024;
        }
    }
    free(line);
    fclose(smaps);
    return covered == mapping->bytes;
}

static bj_status verify_base(const bj_mapping *mapping, bj_error *error) {
    size_t huge;
    if (!count_huge(mapping, &huge))
        return bj_platform_huge_bytes() == 0
                   ? BJ_OK
                   : bj_base_set_error(error, BJ_ERR_UNSUPPORTED,
                                       "base pages cannot be verified: /proc/self/smaps does not show the mapping");
    if (huge > 0)
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "%zu of %zu bytes came as huge pages, none were asked for",
                                 huge, mapping->bytes);
    return BJ_OK;
}

static bj_status verify_huge(const bj_mapping *mapping, bj_error *error) {
    size_t huge;
    for (int attempt = 0; attempt < 2; attempt++) {
        if (!count_huge(mapping, &huge))
            return bj_base_set_error(error, BJ_ERR_UNSUPPORTED,
                                     "huge pages cannot be verified: /proc/self/smaps does not show the mapping");
        if (huge == mapping->bytes)
            return BJ_OK;
        /* Faults take huge pages only where free ones are at hand (the "defrag" setting); asking for it outright
         * makes the kernel move pages out of the way. */
        if (attempt == 0 && madvise(mapping->memory, mapping->bytes, MADV_COLLAPSE) != 0 && errno == EINVAL)
            break;
    }
    return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "only %zu of %zu bytes were granted as huge pages", huge,
                             mapping->bytes);
}

bj_status bj_platform_map_pages(size_t bytes, bool huge, bj_mapping *mapping, bj_error *error) {
    *mapping = (bj_mapping){0};
    size_t page = bj_platform_page_bytes(), huge_page = bj_platform_huge_bytes();
    if (bytes == 0)
        return bj_base_set_error(error, BJ_ERR_USAGE, "cannot map 0 bytes");
    if (huge && huge_page == 0)
        return bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "the system grants no transparent huge pages");
    if (bytes > SIZE_MAX / 4)
        return bj_base_set_error(error, BJ_ERR_RESOURCE, "cannot map %zu bytes: too large", bytes);
    bj_status status =
        reserve(round_up(bytes, huge ? huge_page : page), huge_page > page ? huge_page : page, mapping, error);
    if (status != BJ_OK)
        return status;
    if (mprotect(mapping->memory, mapping->bytes, PROT_READ | PROT_WRITE) != 0) {
        status =
            bj_base_set_error(error, BJ_ERR_RESOURCE, "no memory for %zu bytes: %s", mapping->bytes, strerror(errno));
        goto cleanup;
    }
    /* Must come before the first touch. A kernel without huge pages refuses both, which the verification judges. */
    if (madvise(mapping->memory, mapping->bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0 && huge) {
        status = bj_base_set_error(error, BJ_ERR_UNSUPPORTED, "the system refuses huge pages: %s", strerror(errno));
        goto cleanup;
    }
    /* Core dumps of gigabytes of nothing help nobody. */
    madvise(mapping->memory, mapping->bytes, MADV_DONTDUMP);
    status = touch(mapping, error);
    if (status == BJ_OK)
        status = huge ? verify_huge(mapping, error) : verify_base(mapping, error);
cleanup:
    if (status != BJ_OK)
        bj_platform_unmap_pages(mapping);
    return status;
}

void bj_platform_unmap_pages(bj_mapping *mapping) {
    if (mapping->mapping != NULL)
        munmap(mapping->mapping, mapping->mapping_bytes);
    *mapping = (bj_mapping){0};
}

void *bj_platform_map_shared(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}
