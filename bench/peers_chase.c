/* A plain pointer chase, as anybody would write it, for peers.py: ns a load over so many bytes in random order.
 *
 * It shares no code with the program that it is compared with. Prints the median and the least of its batches, and the
 * bytes on huge pages. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LINE_BYTES 64u
#define HUGE_BYTES (2u << 20)
#define BATCHES 161
#define BATCH_NS 5e6

static double read_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* One cycle through all lines (Sattolo): every line is visited once a lap. */
static void link_lines(char *memory, size_t lines) {
    uint32_t *order = malloc(lines * sizeof *order);
    uint64_t random = 88172645463325252u;
    if (order == NULL)
        exit(1);
    for (size_t i = 0; i < lines; i++)
        order[i] = (uint32_t)i;
    for (size_t i = lines - 1; i > 0; i--) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        size_t other = random % i;
        uint32_t swapped = order[i];
        order[i] = order[other];
        order[other] = swapped;
    }
    for (size_t i = 0; i < lines; i++)
        *(void **)(memory + (size_t)order[i] * LINE_BYTES) =
            memory + (size_t)order[i + 1 < lines ? i + 1 : 0] * LINE_BYTES;
    free(order);
}

static void **chase(void **at, size_t loads) {
    for (size_t i = 0; i < loads; i += 16) {
#define STEP at = *at;
        STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP
    }
    return at;
}

static double read_huge_bytes(void) {
    char line[256];
    double kib = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "AnonHugePages: %lf", &kib);
    if (file != NULL)
        fclose(file);
    return 1024 * kib;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **words) {
    size_t bytes = count == 3 ? strtoull(words[1], NULL, 10) : 0;
    if (bytes < 2 * LINE_BYTES || bytes / LINE_BYTES > UINT32_MAX) {
        fprintf(stderr, "usage: peers_chase BYTES huge|base\n");
        return 2;
    }
    size_t whole = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
    char *memory = mmap(NULL, whole + HUGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("peers_chase");
        return 1;
    }
    memory += HUGE_BYTES - (uintptr_t)memory % HUGE_BYTES;
    (void)madvise(memory, whole, strcmp(words[2], "huge") == 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(memory, 1, bytes);
    link_lines(memory, bytes / LINE_BYTES);
    double ns[BATCHES], per_load = 100;
    void **at = (void **)memory;
    size_t loads = 1u << 16;
    for (int i = -3; i < BATCHES; i++) { /* the first few warm up, and say how many loads a batch has */
        double start = read_ns();
        at = chase(at, loads);
        per_load = (read_ns() - start) / (double)loads;
        if (i < 0)
            loads = (size_t)(BATCH_NS / per_load) / 16 * 16 + 16;
        else
            ns[i] = per_load;
    }
    qsort(ns, BATCHES, sizeof ns[0], compare);
    printf("median_ns %.6g\nleast_ns %.6g\nhuge_bytes %.0f\n", ns[BATCHES / 2], ns[0], read_huge_bytes());
    return at == NULL;
}
