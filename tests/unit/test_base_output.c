/* Files that are written where somebody may get in between. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/output.h"

static char folder[64], path[96], victim[96];

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/bj-output-XXXXXX");
    if (mkdtemp(folder) == NULL || chmod(folder, 01777) != 0)
        return 1;
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(victim, sizeof victim, "%s/victim", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void put(const char *name, const char *text) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void expect_content(const char *name, const char *expected) {
    char *text = NULL;
    assert_int_equal(bj_base_read_file(name, 1000, &text, NULL, NULL), BJ_OK);
    assert_string_equal(text, expected);
    free(text);
}

static bj_output *open_new(void) {
    bj_output *output;
    assert_int_equal(bj_base_open_output(path, &(bj_output_rules){.replace = false}, &output, NULL), BJ_OK);
    return output;
}

static void a_planted_file_is_not_replaced(void **state) {
    (void)state;
    bj_error error;
    bj_output *output = open_new();
    put(path, "planted");
    assert_int_equal(bj_base_write_output(output, "new", 3, &error), BJ_ERR_USAGE);
    assert_non_null(strstr(error.text, "left as it is"));
    bj_base_close_output(output);
    expect_content(path, "planted");
}

static void a_planted_link_is_not_followed(void **state) {
    (void)state;
    put(victim, "secret");
    bj_output *output = open_new();
    assert_int_equal(symlink(victim, path), 0);
    assert_int_equal(bj_base_write_output(output, "new", 3, NULL), BJ_ERR_USAGE);
    bj_base_close_output(output);
    expect_content(victim, "secret");
    struct stat about;
    assert_int_equal(lstat(path, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
}

typedef struct {
    atomic_bool stop;
    atomic_uint planted;
} planter;

static void *plant_again_and_again(void *context) {
    planter *self = context;
    while (!atomic_load(&self->stop)) {
        self->planted += symlink(victim, path) == 0;
        (void)unlink(path);
    }
    return NULL;
}

/* Whoever wins each race, what the link points to stays. */
static void no_race_diverts_the_output(void **state) {
    (void)state;
    enum { TRIES = 1000 };
    planter self = {0};
    pthread_t thread;
    unsigned done = 0;
    put(victim, "secret");
    assert_int_equal(pthread_create(&thread, NULL, plant_again_and_again, &self), 0);
    /* Both must have come to it, also where one cpu serves many. */
    for (int i = 0; i < TRIES || ((done == 0 || self.planted == 0) && i < 1000 * TRIES); i++) {
        bj_output *output;
        if (bj_base_open_output(path, &(bj_output_rules){.replace = false}, &output, NULL) != BJ_OK)
            continue;
        done += bj_base_write_output(output, "new", 3, NULL) == BJ_OK;
        bj_base_close_output(output);
    }
    atomic_store(&self.stop, true);
    pthread_join(thread, NULL);
    expect_content(victim, "secret");
    assert_true(done > 0 && self.planted > 0);
}

/* A folder that is exchanged for a link after it was opened: the output stays in the one that was opened. */
static void the_folder_is_held(void **state) {
    (void)state;
    char inner[112], moved[112], deep[128], other[112];
    snprintf(inner, sizeof inner, "%s/inner", folder);
    snprintf(moved, sizeof moved, "%s/moved", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(deep, sizeof deep, "%s/file", inner);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(mkdir(other, 0700), 0);
    bj_output *output;
    assert_int_equal(bj_base_open_output(deep, &(bj_output_rules){.replace = true}, &output, NULL), BJ_OK);
    assert_int_equal(rename(inner, moved), 0);
    assert_int_equal(symlink(other, inner), 0);
    assert_int_equal(bj_base_write_output(output, "new", 3, NULL), BJ_OK);
    bj_base_close_output(output);
    assert_int_equal(access(deep, F_OK), -1);
    snprintf(deep, sizeof deep, "%s/file", moved);
    expect_content(deep, "new");
}

/* Of another user: only root can make one, so only root can run this. */
static void links_of_others_in_sticky_folders_are_refused(void **state) {
    (void)state;
    bj_error error;
    if (geteuid() != 0)
        skip();
    put(victim, "secret");
    assert_int_equal(symlink(victim, path), 0);
    assert_int_equal(lchown(path, 65534, 65534), 0);
    assert_int_equal(bj_base_write_file_atomically(path, "new", 3, &error), BJ_ERR_PERMISSION);
    assert_non_null(strstr(error.text, "link of another user"));
    expect_content(victim, "secret");
    /* Also in the middle of a path. */
    char deep[112];
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/tmp", path), 0);
    assert_int_equal(lchown(path, 65534, 65534), 0);
    snprintf(deep, sizeof deep, "%s/bj-never", path);
    assert_int_equal(bj_base_write_file_atomically(deep, "new", 3, NULL), BJ_ERR_PERMISSION);
    /* Elsewhere, and of the folder's owner, they are followed. */
    assert_int_equal(lchown(path, 0, 0), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(victim, path), 0);
    assert_int_equal(bj_base_write_file_atomically(path, "new", 3, &error), BJ_OK);
    expect_content(victim, "new");
}

/* Seen by stopping in the middle of writing: the mode of what has no name yet, or a name that says nothing. */
static void what_is_not_whole_is_ours_alone(void **state) {
    (void)state;
    enum { ROUNDS = 30, LENGTH = 1 << 20 };
    int worst = 0;
    pid_t writer = fork();
    assert_true(writer >= 0);
    if (writer == 0) {
        static char text[LENGTH];
        for (;;)
            if (bj_base_write_file_atomically(path, text, sizeof text, NULL) != BJ_OK)
                _exit(1);
    }
    int seen = 0;
    char command[200], line[40];
    snprintf(command, sizeof command, "stat -c '%%a %%s' %s/.blackjack-* 2>/dev/null", folder);
    for (int i = 0; i < ROUNDS * 20 && seen < ROUNDS; i++) {
        FILE *modes = popen(command, "r");
        while (fgets(line, sizeof line, modes) != NULL) {
            char *end;
            int mode = (int)strtol(line, &end, 8);
            /* Just before it is renamed it has its final mode, and all its bytes. */
            bool is_whole = strtol(end, NULL, 10) == LENGTH;
            seen++;
            if (mode != 0600 && !is_whole)
                worst = mode;
        }
        pclose(modes);
    }
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    assert_int_equal(worst, 0);
    assert_true(seen > 0);
}

static void a_second_writer_is_told(void **state) {
    (void)state;
    bj_output_rules alone = {.replace = true, .is_alone = true};
    bj_output *first, *second;
    bj_error error;
    assert_int_equal(bj_base_open_output(path, &alone, &first, NULL), BJ_OK);
    assert_int_equal(bj_base_open_output(path, &alone, &second, NULL), BJ_OK);
    assert_int_equal(bj_base_write_output(first, "first", 5, NULL), BJ_OK);
    /* Both found nothing there; the one that came first stays. */
    assert_int_equal(bj_base_write_output(second, "second", 6, &error), BJ_ERR_USAGE);
    bj_base_close_output(second);
    assert_int_equal(bj_base_open_output(path, &alone, &second, &error), BJ_ERR_RESOURCE);
    assert_non_null(strstr(error.text, "another run"));
    assert_null(second);
    /* Also after each further time. */
    assert_int_equal(bj_base_write_output(first, "again", 5, NULL), BJ_OK);
    assert_int_equal(bj_base_open_output(path, &alone, &second, NULL), BJ_ERR_RESOURCE);
    expect_content(path, "again");
    bj_base_close_output(first);
    assert_int_equal(bj_base_open_output(path, &alone, &second, NULL), BJ_OK);
    assert_int_equal(bj_base_write_output(second, "second", 6, NULL), BJ_OK);
    /* Removed in between, it is there again; another's file stays. */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(bj_base_write_output(second, "third", 5, NULL), BJ_OK);
    expect_content(path, "third");
    put(victim, "another's");
    assert_int_equal(rename(victim, path), 0);
    assert_int_equal(bj_base_write_output(second, "fourth", 6, NULL), BJ_ERR_USAGE);
    bj_base_close_output(second);
    expect_content(path, "another's");
}

/* Opened only: nothing is written to it. */
static void block_devices_must_be_meant(void **state) {
    (void)state;
    char device[112];
    bj_output *output;
    bj_error error;
    snprintf(device, sizeof device, "%s/device", folder);
    if (mknod(device, S_IFBLK | 0600, 0x7ff) != 0)
        skip();
    assert_int_equal(
        bj_base_open_output(device, &(bj_output_rules){.otherwise = "--force writes to it"}, &output, &error),
        BJ_ERR_USAGE);
    assert_non_null(strstr(error.text, "block device"));
    assert_non_null(strstr(error.text, "--force"));
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(a_planted_file_is_not_replaced),
        WITH_FOLDER(a_planted_link_is_not_followed),
        WITH_FOLDER(no_race_diverts_the_output),
        WITH_FOLDER(the_folder_is_held),
        WITH_FOLDER(links_of_others_in_sticky_folders_are_refused),
        WITH_FOLDER(what_is_not_whole_is_ours_alone),
        WITH_FOLDER(a_second_writer_is_told),
        WITH_FOLDER(block_devices_must_be_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
