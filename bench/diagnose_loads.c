/* Four programs of one kind each, for `blackjack diagnose` on this machine: what they collide with is built in.
 *
 * usage: diagnose_loads compute|walk|stream1|stream16 BYTES [SECONDS]
 * compute: registers. walk: dependent loads at random through BYTES. stream1, stream16: passes over BYTES in so many
 * arrays side by side, read and written. Each does a fixed amount of work, chosen once for about SECONDS (0.25) on a
 * machine of ten years either side of 2020: it must be the same in every run. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_WORDS = 8, ARRAYS = 16 };

static uint64_t compute(double seconds) {
    uint64_t x = 1;
    for (uint64_t i = 0; i < (uint64_t)(seconds * 7e8); i++)
        x = x * 6364136223846793005u + i;
    return x;
}

static uint64_t walk(size_t bytes, double seconds) {
    size_t lines = bytes / 64;
    uint32_t *order = malloc(lines * sizeof *order);
    void **places = aligned_alloc(4096, (lines * 64 + 4095) / 4096 * 4096);
    uint64_t state = 88172645463325252u;
    if (order == NULL || places == NULL)
        exit(3);
    for (size_t i = 0; i < lines; i++)
        order[i] = (uint32_t)i;
    for (size_t i = lines - 1; i > 0; i--) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        size_t j = state % i;
        uint32_t kept = order[i];
        order[i] = order[j], order[j] = kept;
    }
    for (size_t i = 0; i < lines; i++)
        places[(size_t)order[i] * LINE_WORDS] = &places[(size_t)order[(i + 1) % lines] * LINE_WORDS];
    void **at = places;
    for (uint64_t i = 0; i < (uint64_t)(seconds * 6e7); i++)
        at = *at;
    return (uint64_t)(uintptr_t)at;
}

static uint64_t stream(size_t bytes, size_t arrays, double seconds) {
    size_t words = bytes / arrays / 8 / LINE_WORDS * LINE_WORDS, gap = 512 + 24;
    uint64_t *memory = calloc(arrays * (words + gap), 8), sum = 0;
    if (memory == NULL)
        exit(3);
    uint64_t passes = (uint64_t)(seconds * 8e9 / (double)bytes) + 1;
    for (uint64_t pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < words; i += LINE_WORDS)
            for (size_t a = 0; a < arrays; a++)
                for (size_t w = 0; w < LINE_WORDS; w++)
                    memory[a * (words + gap) + i + w] += pass;
    for (size_t a = 0; a < arrays; a++)
        sum += memory[a * (words + gap)];
    return sum;
}

int main(int count, char **words) {
    if (count < 3)
        return 2;
    size_t bytes = strtoull(words[2], NULL, 10);
    double seconds = count > 3 ? strtod(words[3], NULL) : 0.25;
    uint64_t sum = strcmp(words[1], "walk") == 0       ? walk(bytes, seconds)
                   : strcmp(words[1], "stream1") == 0  ? stream(bytes, 1, seconds)
                   : strcmp(words[1], "stream16") == 0 ? stream(bytes, ARRAYS, seconds)
                                                       : compute(seconds);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
