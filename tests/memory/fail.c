/* Preloaded into a program: makes its allocations fail, each in a copy of the process.
 *
 * At each allocation that is to be tried the process forks. The copy gets NULL and goes on to its end, with standard
 * output and error of its own; we wait, judge how it ended, and go on with the memory that was asked for. So one run of
 * a command tries all of them, and each costs only what comes after it.
 *
 * Tried are the first FAIL_FIRST allocations, and each further one from a place that has not been tried: the innermost
 * return addresses in the program itself tell the places.
 *
 * Right is what the run without a failure gave: exit status, output, error and the file FAIL_FILE (as reference they
 * are in FAIL_REFERENCE.out, .err, .file and FAIL_STATUS); or exit status 3 with one line of error, and FAIL_FILE
 * untouched. What is wrong is told in FAIL_REPORT, and at the end how many were tried.
 *
 * A command that starts processes or makes folders cannot be copied in the middle, since its copies would share them.
 * For such, FAIL_LIST gets the numbers of the first allocation of each place, in this process and those that it forks,
 * and FAIL_AT=N makes the allocation of that number fail; a run each. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH = 24, INNERMOST = 3, SITES = 1 << 14, ROOM = 1 << 20, EXIT_RESOURCE = 3, PATIENCE_S = 20, ASLEEP_S = 300 };

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);

static struct {
    bool is_ready, is_busy;
    uintptr_t base, begin, end; /* of the program's code */
    const char *file, *reference;
    char kept[4096];
    int report, status, list;
    unsigned long at, count, first, tried, wrong, sites;
    uint64_t seen[SITES];
    char ours[ROOM], theirs[ROOM];
    /* dlsym() allocates before it has told what to allocate with. */
    char early[4096];
    size_t early_used;
} state;

static int find_program(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    (void)context;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0) {
            state.base = info->dlpi_addr;
            state.begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            state.end = state.begin + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the first is the program */
}

static void find_real(void) {
    if (real_malloc != NULL)
        return;
    real_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
}

__attribute__((constructor)) static void begin(void) {
    void *frames[DEPTH];
    const char *report = getenv("FAIL_REPORT"), *first = getenv("FAIL_FIRST"), *status = getenv("FAIL_STATUS");
    const char *list = getenv("FAIL_LIST"), *at = getenv("FAIL_AT");
    find_real();
    state.at = at != NULL ? strtoul(at, NULL, 10) : 0;
    state.list = list != NULL ? open(list, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (report == NULL && state.at == 0 && state.list < 0)
        return;
    if (report == NULL)
        report = "/dev/null";
    state.report = open(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    state.first = first != NULL ? strtoul(first, NULL, 10) : 0;
    state.status = status != NULL ? atoi(status) : 0;
    state.file = getenv("FAIL_FILE");
    state.reference = getenv("FAIL_REFERENCE");
    if (state.file != NULL)
        snprintf(state.kept, sizeof state.kept, "%s.kept", state.file);
    unsetenv("LD_PRELOAD"); /* what the program starts is not tried */
    dl_iterate_phdr(find_program, NULL);
    (void)backtrace(frames, DEPTH); /* loads what it needs */
    state.is_ready = true;
}

__attribute__((destructor)) static void end(void) {
    bool tells = state.is_ready;
    state.is_ready = false; /* telling allocates */
    if (tells)
        dprintf(state.report, "tried %lu of %lu allocations, %lu places, %lu wrong\n", state.tried, state.count,
                state.sites, state.wrong);
}

/* Innermost return addresses in the program, as offsets. */
static uint64_t find_site(uintptr_t *places) {
    void *frames[DEPTH];
    uint64_t hash = 0xcbf29ce484222325u;
    int depth = backtrace(frames, DEPTH), found = 0;
    for (int i = 0; i < depth && found < INNERMOST; i++)
        if ((uintptr_t)frames[i] >= state.begin && (uintptr_t)frames[i] < state.end) {
            places[found] = (uintptr_t)frames[i] - state.base;
            hash = (hash ^ places[found++]) * 0x100000001b3u;
        }
    while (found < INNERMOST)
        places[found++] = 0;
    return hash;
}

static bool is_new(uint64_t site) {
    for (size_t i = site % SITES, tries = 0; tries < SITES; i = (i + 1) % SITES, tries++) {
        if (state.seen[i] == site)
            return false;
        if (state.seen[i] == 0) {
            state.seen[i] = site;
            state.sites++;
            return true;
        }
    }
    return false;
}

/* A copy of what went there before, and what comes, is the copy's alone. */
static void separate(int stream, int into) {
    off_t at = 0;
    struct stat about;
    if (fstat(stream, &about) == 0 && S_ISREG(about.st_mode))
        for (ssize_t got; (got = pread(stream, state.ours, ROOM, at)) > 0; at += got)
            if (write(into, state.ours, (size_t)got) != got)
                _exit(99);
    dup2(into, stream);
}

static ssize_t read_whole(int file, char *text) {
    ssize_t length = 0, got = 1;
    while (length < ROOM && (got = pread(file, text + length, (size_t)(ROOM - length), length)) > 0)
        length += got;
    return length;
}

static ssize_t read_reference(const char *ending, char *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%s", state.reference, ending);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read_whole(file, text) : -1;
    if (file >= 0)
        close(file);
    return length;
}

static bool is_as(int file, const char *ending) {
    ssize_t ours = read_whole(file, state.ours), theirs = read_reference(ending, state.theirs);
    return ours == theirs && memcmp(state.ours, state.theirs, (size_t)ours) == 0;
}

/* The file as the run without a failure leaves it, or when it failed, as it was before. */
static bool is_file_right(bool done) {
    if (state.file == NULL)
        return true;
    int file = open(state.file, O_RDONLY | O_CLOEXEC);
    if (done) {
        bool right = file >= 0 ? is_as(file, "file") : read_reference("file", state.theirs) < 0;
        if (file >= 0)
            close(file);
        return right;
    }
    struct stat now, before;
    bool was_there = stat(state.kept, &before) == 0, is_there = file >= 0 && fstat(file, &now) == 0;
    if (file >= 0)
        close(file);
    /* A journal may have gone on; a half file or an empty one is nothing that a writer may leave. */
    return is_there ? now.st_size > 0 : !was_there;
}

static const char *judge(int result, int out, int err) {
    if (WIFSIGNALED(result))
        return WTERMSIG(result) == SIGALRM || WTERMSIG(result) == SIGKILL ? "does not end" : "crashed";
    if (WEXITSTATUS(result) == state.status && is_as(out, "out") && is_as(err, "err"))
        return is_file_right(true) ? NULL : "another file";
    if (WEXITSTATUS(result) != EXIT_RESOURCE)
        return WEXITSTATUS(result) == state.status ? "another output" : "another exit status";
    ssize_t length = read_whole(err, state.ours);
    if (length < 12 || memcmp(state.ours, "blackjack: ", 11) != 0 || state.ours[length - 1] != '\n')
        return "status 3 without a word";
    return is_file_right(false) ? NULL : "half a file";
}

static void keep_file(void) {
    if (state.file != NULL && link(state.file, state.kept) != 0)
        (void)unlink(state.kept);
}

static void restore_file(void) {
    if (state.file == NULL)
        return;
    if (access(state.kept, F_OK) == 0)
        (void)rename(state.kept, state.file);
    else
        (void)unlink(state.file);
    (void)unlink(state.kept); /* renaming a name of the same file does nothing */
}

/* True: this is the copy, whose allocation fails. */
static bool try_failure(const uintptr_t *places) {
    int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC), result = 0;
    keep_file();
#ifdef SYS_fork
    pid_t copy = (pid_t)syscall(SYS_fork);
#else /* AArch64 and RISC-V have the newer call alone */
    pid_t copy = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
    if (copy == 0) {
        state.is_ready = false; /* what comes after a failure is left alone */
        /* Of its own time: a busy machine is nobody's fault. */
        setrlimit(RLIMIT_CPU, &(struct rlimit){PATIENCE_S, PATIENCE_S});
        alarm(ASLEEP_S);
        separate(STDOUT_FILENO, out);
        separate(STDERR_FILENO, err);
        return true;
    }
    while (waitpid(copy, &result, 0) < 0)
        continue;
    const char *wrong = judge(result, out, err);
    state.tried++;
    state.wrong += wrong != NULL;
    if (wrong != NULL) {
        ssize_t length = read_whole(err, state.ours);
        dprintf(state.report, "WRONG %lu: %s (status %d) at %#lx %#lx %#lx: %.*s\n", state.count, wrong,
                WIFEXITED(result) ? WEXITSTATUS(result) : -WTERMSIG(result), (unsigned long)places[0],
                (unsigned long)places[1], (unsigned long)places[2], (int)(length < 200 ? length : 200), state.ours);
    }
    restore_file();
    close(out);
    close(err);
    return false;
}

/* Whether this allocation fails. */
static bool fails(void) {
    uintptr_t places[INNERMOST];
    if (!state.is_ready || state.is_busy)
        return false;
    state.is_busy = true;
    state.count++;
    bool is_new_site = is_new(find_site(places));
    if (state.list >= 0 && is_new_site && places[0] != 0)
        dprintf(state.list, "%lu\n", state.count);
    bool failed = state.at > 0 || state.list >= 0
                      ? state.count == state.at && places[0] != 0
                      : (state.count <= state.first || is_new_site) && places[0] != 0 && try_failure(places);
    state.is_busy = false;
    if (failed)
        errno = ENOMEM;
    return failed;
}

void *malloc(size_t size) {
    find_real();
    return fails() ? NULL : real_malloc(size);
}

void *calloc(size_t count, size_t size) {
    if (real_calloc == NULL) {
        void *early = state.early + state.early_used;
        state.early_used += (count * size + 15) & ~(size_t)15;
        return state.early_used <= sizeof state.early ? early : NULL;
    }
    return fails() ? NULL : real_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    find_real();
    return fails() ? NULL : real_realloc(old, size);
}
