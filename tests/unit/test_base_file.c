#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <dirent.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/output.h"
#include "made_up_tree.h"

enum { LIMIT = 1 << 20 };

static int set_up(void **state) {
    *state = make_tree();
    return 0;
}

static int tear_down(void **state) {
    remove_tree(*state);
    return 0;
}

static void expect_content(const char *path, const char *expected) {
    char *text = NULL;
    size_t length = 0;
    bj_error error = {""};
    if (bj_base_read_file(path, LIMIT, &text, &length, &error) != BJ_OK)
        fail_msg("%s", error.text);
    assert_int_equal(length, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

static void expect_written(const char *path, const char *text) {
    bj_error error = {""};
    if (bj_base_write_file_atomically(path, text, strlen(text), &error) != BJ_OK)
        fail_msg("%s", error.text);
}

static bj_status try_place(const char *path, size_t bytes, bj_error *error) {
    bj_output_rules rules = {.replace = true, .trial_bytes = bytes};
    bj_output *output;
    bj_status status = bj_base_open_output(path, &rules, &output, error);
    bj_base_close_output(output);
    return status;
}

/* A failure names the path, and no output is left behind. */
static void expect_unreadable(const char *path, size_t max_bytes, bj_status expected) {
    char *text = NULL;
    bj_error error = {""};
    assert_int_equal(bj_base_read_file(path, max_bytes, &text, NULL, &error), expected);
    assert_null(text);
    assert_non_null(strstr(error.text, path));
    assert_int_equal(bj_base_read_file(path, max_bytes, &text, NULL, NULL), expected);
}

static void expect_unwritable(const char *path, bj_status expected) {
    bj_error error = {""};
    assert_int_equal(bj_base_write_file_atomically(path, "new", 3, &error), expected);
    assert_non_null(strstr(error.text, path));
}

static int count_entries(const char *folder) {
    DIR *open_folder = opendir(folder);
    assert_non_null(open_folder);
    int count = 0;
    for (struct dirent *entry = readdir(open_folder); entry != NULL; entry = readdir(open_folder))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open_folder);
    return count;
}

static void reads_whole_files(void **state) {
    char *path = path_in_tree(*state, "/file");
    char *text = NULL;
    size_t length = 0;
    put(*state, "/file", "");
    expect_content(path, "");
    put(*state, "/file", "12345678");
    expect_content(path, "12345678");
    assert_int_equal(bj_base_read_file(path, 8, &text, &length, NULL), BJ_OK);
    free(text);
    expect_unreadable(path, 7, BJ_ERR_INPUT);
    expect_unreadable(path, 0, BJ_ERR_INPUT);
    put_bytes(*state, "/file", "a\0b", 3);
    assert_int_equal(bj_base_read_file(path, LIMIT, &text, &length, NULL), BJ_OK);
    assert_int_equal(length, 3);
    assert_memory_equal(text, "a\0b", 4);
    free(text);
    free(path);
}

static void reads_files_that_hide_their_size(void **state) {
    (void)state;
    char *text = NULL;
    size_t length = 0;
    if (access("/proc/self/status", R_OK) != 0)
        skip();
    assert_int_equal(bj_base_read_file("/proc/self/status", LIMIT, &text, &length, NULL), BJ_OK);
    assert_true(length > 0 && length == strlen(text));
    free(text);
    expect_unreadable("/proc/self/status", 10, BJ_ERR_INPUT);
}

static void says_why_it_cannot_read(void **state) {
    char *missing = path_in_tree(*state, "/missing");
    char *beneath = path_in_tree(*state, "/file/beneath");
    put(*state, "/file", "x");
    expect_unreadable(missing, LIMIT, BJ_ERR_INPUT);
    expect_unreadable(beneath, LIMIT, BJ_ERR_INPUT);
    expect_unreadable(*state, LIMIT, BJ_ERR_INPUT);
    expect_unreadable("", LIMIT, BJ_ERR_INPUT);
    if (geteuid() != 0) {
        char *path = path_in_tree(*state, "/file");
        chmod(path, 0);
        expect_unreadable(path, LIMIT, BJ_ERR_PERMISSION);
        free(path);
    }
    free(beneath);
    free(missing);
}

static void uses_pipes_as_they_are(void **state) {
    (void)state;
    int ends[2];
    char in[32], out[32];
    assert_int_equal(pipe(ends), 0);
    snprintf(in, sizeof in, "/dev/fd/%d", ends[0]);
    snprintf(out, sizeof out, "/proc/self/fd/%d", ends[1]);
    expect_written(out, "through ");
    expect_written(out, "a pipe");
    close(ends[1]);
    expect_content(in, "through a pipe");
    close(ends[0]);
    expect_unreadable(in, LIMIT, BJ_ERR_IO);
    expect_unwritable(out, BJ_ERR_IO);
}

static void limits_what_a_pipe_may_bring(void **state) {
    (void)state;
    int ends[2];
    char in[32];
    char *text = NULL;
    assert_int_equal(pipe(ends), 0);
    snprintf(in, sizeof in, "/dev/fd/%d", ends[0]);
    assert_int_equal(write(ends[1], "0123456789", 10), 10);
    close(ends[1]);
    assert_int_equal(bj_base_read_file(in, 9, &text, NULL, NULL), BJ_ERR_INPUT);
    close(ends[0]);
}

static void goes_on_where_a_descriptor_stands(void **state) {
    char *path = path_in_tree(*state, "/log");
    char name[32];
    int descriptor = open(path, O_WRONLY | O_CREAT, 0666);
    assert_int_equal(write(descriptor, "before ", 7), 7);
    snprintf(name, sizeof name, "/dev/fd/%d", descriptor);
    expect_written(name, "after");
    close(descriptor);
    expect_content(path, "before after");
    free(path);
}

static void creates_with_the_umask(void **state) {
    char *path = path_in_tree(*state, "/new");
    mode_t before = umask(027);
    expect_written(path, "content");
    umask(before);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0640);
    expect_content(path, "content");
    assert_int_equal(count_entries(*state), 1);
    free(path);
}

static void replaces_and_keeps_the_mode(void **state) {
    char *path = path_in_tree(*state, "/old");
    put(*state, "/old", "a longer text than the new one");
    chmod(path, 0604);
    expect_written(path, "new");
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 07777, 0604);
    expect_content(path, "new");
    expect_written(path, "");
    expect_content(path, "");
    assert_int_equal(count_entries(*state), 1);
    free(path);
}

static void writes_without_a_folder_in_the_name(void **state) {
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(*state), 0);
    expect_written("here", "content");
    expect_content("here", "content");
    assert_int_equal(chdir(before), 0);
    assert_int_equal(count_entries(*state), 1);
}

static void writes_names_of_any_length(void **state) {
    char name[257] = "/";
    memset(name + 1, 'n', 255);
    char *path = path_in_tree(*state, name);
    expect_written(path, "content");
    expect_content(path, "content");
    free(path);
}

static void replaces_what_a_link_points_to(void **state) {
    char *link = path_in_tree(*state, "/link"), *second = path_in_tree(*state, "/second");
    char *target = path_in_tree(*state, "/folder/target");
    put(*state, "/folder/target", "old");
    assert_int_equal(symlink("folder/target", link), 0);
    assert_int_equal(symlink(link, second), 0);
    expect_written(second, "new");
    struct stat about;
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(lstat(second, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    expect_content(target, "new");
    assert_int_equal(unlink(target), 0);
    expect_written(link, "through a dangling link");
    expect_content(target, "through a dangling link");
    free(target);
    free(second);
    free(link);
}

static void refuses_links_in_a_circle(void **state) {
    char *path = path_in_tree(*state, "/circle");
    assert_int_equal(symlink("circle", path), 0);
    expect_unwritable(path, BJ_ERR_IO);
    expect_unreadable(path, LIMIT, BJ_ERR_IO);
    free(path);
}

static void writes_devices_directly(void **state) {
    (void)state;
    struct stat about;
    expect_written("/dev/null", "gone");
    assert_int_equal(stat("/dev/null", &about), 0);
    assert_true(S_ISCHR(about.st_mode));
    if (access("/dev/full", W_OK) == 0)
        expect_unwritable("/dev/full", BJ_ERR_RESOURCE);
}

static void says_why_it_cannot_write(void **state) {
    char *beneath = path_in_tree(*state, "/missing/file"), *slash = path_in_tree(*state, "/new/");
    expect_unwritable(beneath, BJ_ERR_IO);
    expect_unwritable(slash, BJ_ERR_IO);
    expect_unwritable(*state, BJ_ERR_USAGE);
    expect_unwritable("", BJ_ERR_IO);
    assert_int_equal(count_entries(*state), 0);
    free(slash);
    free(beneath);
}

static void respects_read_only_files(void **state) {
    if (geteuid() == 0)
        skip(); /* root may write everything */
    char *path = path_in_tree(*state, "/file");
    put(*state, "/file", "old");
    chmod(path, 0444);
    expect_unwritable(path, BJ_ERR_PERMISSION);
    expect_content(path, "old");
    chmod(path, 0644);
    chmod(*state, 0555);
    expect_unwritable(path, BJ_ERR_PERMISSION);
    expect_content(path, "old");
    chmod(*state, 0755);
    assert_int_equal(count_entries(*state), 1);
    free(path);
}

/* A limit on file sizes fails in the middle of writing, for root as well. */
static void keeps_the_old_file_when_writing_fails(void **state) {
    enum { LENGTH = 1 << 16 };
    char *path = path_in_tree(*state, "/file"), *text = calloc(1, LENGTH);
    put(*state, "/file", "old");
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bj_error error = {""};
    bj_status status = bj_base_write_file_atomically(path, text, LENGTH, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, BJ_ERR_RESOURCE);
    assert_non_null(strstr(error.text, strerror(EFBIG)));
    expect_content(path, "old");
    assert_int_equal(count_entries(*state), 1);
    free(text);
    free(path);
}

typedef struct {
    const char *path;
    atomic_bool stop;
    int reads;
    int torn;
} reader;

static void *read_again_and_again(void *context) {
    reader *self = context;
    while (!atomic_load(&self->stop)) {
        char *text = NULL;
        size_t length = 0;
        if (bj_base_read_file(self->path, LIMIT, &text, &length, NULL) != BJ_OK ||
            (length != 5000 && length != 90000) || text[0] != text[length - 1])
            self->torn++;
        free(text);
        self->reads++;
    }
    return NULL;
}

static void readers_never_see_half_a_file(void **state) {
    char *path = path_in_tree(*state, "/file");
    static char small[5000], large[90000];
    memset(small, 's', sizeof small);
    memset(large, 'l', sizeof large);
    assert_int_equal(bj_base_write_file_atomically(path, small, sizeof small, NULL), BJ_OK);
    reader self = {.path = path};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_again_and_again, &self), 0);
    int failures = 0;
    for (int i = 0; i < 50; i++)
        failures += (i % 2 == 0 ? bj_base_write_file_atomically(path, large, sizeof large, NULL)
                                : bj_base_write_file_atomically(path, small, sizeof small, NULL)) != BJ_OK;
    atomic_store(&self.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(failures, 0);
    assert_int_equal(self.torn, 0);
    assert_int_equal(count_entries(*state), 1);
    free(path);
}

/* Dies in the middle of writing, as of SIGKILL: the signal of a file that may not grow cannot come at any other time.
 */
static void kill_a_writer(const char *path) {
    enum { LENGTH = 1 << 16 };
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static char text[LENGTH];
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
        signal(SIGXFSZ, SIG_DFL);
        bj_status status = bj_base_write_file_atomically(path, text, LENGTH, NULL);
        _exit(status == BJ_OK ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static void removes_what_killed_writers_left(void **state) {
    char *path = path_in_tree(*state, "/file"), *other = path_in_tree(*state, "/other");
    put(*state, "/file", "old");
    kill_a_writer(path);
    kill_a_writer(path);
    kill_a_writer(other);
    assert_int_equal(count_entries(*state), 4);
    expect_content(path, "old");
    assert_int_equal(try_place(path, 10, NULL), BJ_OK);
    /* The other's leftover is not this file's to remove. */
    assert_int_equal(count_entries(*state), 2);
    assert_int_equal(try_place(other, 10, NULL), BJ_OK);
    assert_int_equal(count_entries(*state), 1);
    expect_content(path, "old");
    free(other);
    free(path);
}

static void tries_a_place(void **state) {
    char *path = path_in_tree(*state, "/new"), *nowhere = path_in_tree(*state, "/folder/new");
    bj_error error = {""};
    assert_int_equal(try_place(path, 100000, &error), BJ_OK);
    assert_int_equal(count_entries(*state), 0);
    assert_int_equal(try_place(nowhere, 1, &error), BJ_ERR_IO);
    assert_non_null(strstr(error.text, nowhere));
    assert_int_equal(try_place("", 1, NULL), BJ_ERR_IO);
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bj_status status = try_place(path, 100000, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, BJ_ERR_RESOURCE);
    assert_int_equal(count_entries(*state), 0);
    free(nowhere);
    free(path);
}

/* Without anybody at the other end, both would wait for ever. */
static void does_not_wait_for_named_pipes(void **state) {
    char *path = path_in_tree(*state, "/pipe");
    assert_int_equal(mkfifo(path, 0666), 0);
    alarm(20);
    expect_unreadable(path, LIMIT, BJ_ERR_INPUT);
    expect_unwritable(path, BJ_ERR_INPUT);
    alarm(0);
    free(path);
}

#define WITH_TREE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TREE(reads_whole_files),
        WITH_TREE(reads_files_that_hide_their_size),
        WITH_TREE(says_why_it_cannot_read),
        WITH_TREE(uses_pipes_as_they_are),
        WITH_TREE(limits_what_a_pipe_may_bring),
        WITH_TREE(goes_on_where_a_descriptor_stands),
        WITH_TREE(creates_with_the_umask),
        WITH_TREE(replaces_and_keeps_the_mode),
        WITH_TREE(writes_without_a_folder_in_the_name),
        WITH_TREE(writes_names_of_any_length),
        WITH_TREE(replaces_what_a_link_points_to),
        WITH_TREE(refuses_links_in_a_circle),
        WITH_TREE(writes_devices_directly),
        WITH_TREE(says_why_it_cannot_write),
        WITH_TREE(respects_read_only_files),
        WITH_TREE(keeps_the_old_file_when_writing_fails),
        WITH_TREE(readers_never_see_half_a_file),
        WITH_TREE(removes_what_killed_writers_left),
        WITH_TREE(tries_a_place),
        WITH_TREE(does_not_wait_for_named_pipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
