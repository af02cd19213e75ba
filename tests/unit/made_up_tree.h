/* A folder of its own for a test, and files in it: small /proc and /sys trees to hand over as `root`. */
#ifndef BJ_TESTS_MADE_UP_TREE_H
#define BJ_TESTS_MADE_UP_TREE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The includer has included cmocka.h and what it needs. */

static inline char *make_tree(void) {
    const char *base = getenv("TMPDIR");
    char *root = NULL;
    assert_true(asprintf(&root, "%s/blackjack-test-XXXXXX", base != NULL && base[0] == '/' ? base : "/tmp") > 0);
    assert_non_null(mkdtemp(root));
    return root;
}

static inline char *path_in_tree(const char *root, const char *path) {
    size_t room = strlen(root) + strlen(path) + 1;
    char *whole = malloc(room);
    assert_non_null(whole);
    snprintf(whole, room, "%s%s", root, path);
    return whole;
}

static inline void put_bytes(const char *root, const char *path, const void *bytes, size_t length) {
    char *whole = path_in_tree(root, path);
    for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0777);
        *slash = '/';
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    free(whole);
}

static inline void put(const char *root, const char *path, const char *text) {
    put_bytes(root, path, text, strlen(text));
}

static inline int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place) {
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

static inline void remove_tree(char *root) {
    nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(root);
}

#endif
