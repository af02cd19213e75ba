/* STREAM as Debian's numactl has it (stream_lib.c, which stream.py fetches), over vectors of a given size. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "stream_lib.h"

int main(int count, char **words) {
    unsigned long vector_bytes = count == 2 ? strtoul(words[1], NULL, 10) : 0;
    if (vector_bytes == 0) {
        fprintf(stderr, "stream_main: give the bytes of a vector\n");
        return 2;
    }
    stream_setmem(3 * vector_bytes);
    size_t bytes = (size_t)stream_memsize();
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("stream_main");
        return 1;
    }
    /* As our own buffers; it is no matter where they are not granted. */
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    stream_init(memory);
    stream_test(NULL);
    return 0;
}
