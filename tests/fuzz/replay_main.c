/* A fuzz target without a fuzzer: runs every file of the folders given, so that what was found once stays mended. */
#include <dirent.h>
#include <limits.h>

#include "base/file.h"
#include "fuzz.h"

static const size_t LARGEST_BYTES = 1 << 20;

static bool replay_file(const char *path) {
    char *text = NULL;
    size_t length = 0;
    bj_error error;
    if (bj_base_read_file(path, LARGEST_BYTES, &text, &length, &error) != BJ_OK) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }
    /* A copy without the final NUL, so that the sanitizers see a parser that relies on it. */
    uint8_t *data = malloc(length > 0 ? length : 1);
    require(data != NULL, "memory for a file");
    memcpy(data, text, length);
    free(text);
    LLVMFuzzerTestOneInput(data, length);
    free(data);
    return true;
}

/* Files replayed; -1: trouble. */
static long replay_folder(const char *folder) {
    DIR *listing = opendir(folder);
    if (listing == NULL) {
        perror(folder);
        return -1;
    }
    long count = 0;
    const struct dirent *entry;
    while (count >= 0 && (entry = readdir(listing)) != NULL) {
        char path[PATH_MAX];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        fprintf(stderr, "%s\n", entry->d_name); /* the last one named is the one that broke */
        count = replay_file(path) ? count + 1 : -1;
    }
    closedir(listing);
    return count;
}

int main(int count, char **words) {
    for (int i = 1; i < count; i++) {
        long files = replay_folder(words[i]);
        if (files <= 0) {
            fprintf(stderr, "%s: nothing replayed\n", words[i]);
            return 1;
        }
        printf("%s: %ld files\n", words[i], files);
    }
    return count > 1 ? 0 : 2;
}
