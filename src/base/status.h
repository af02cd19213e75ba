/* Status codes and error texts: how every fallible function of the project reports trouble.
 *
 * A function that can fail returns bj_status, takes a `bj_error *` that may be NULL, and fills it
 * through bj_base_set_error(). Libraries never print: the text travels to the command line. */
#pragma once

typedef enum {
    BJ_OK = 0,
    BJ_ERR_USAGE,       /* the caller asked for something that does not exist */
    BJ_ERR_INPUT,       /* a file or value is not what it should be */
    BJ_ERR_IO,          /* reading or writing failed */
    BJ_ERR_PERMISSION,  /* not allowed here */
    BJ_ERR_RESOURCE,    /* memory, disk, cpus: not enough */
    BJ_ERR_UNSUPPORTED, /* this machine cannot do that; the text says why */
    BJ_ERR_INTERRUPTED, /* the user or the system asked us to stop */
    BJ_ERR_FAILED       /* a measurement or computation went wrong */
} bj_status;

typedef struct {
    char text[400]; /* one line, no newline: what and where */
} bj_error;

#define BJ_WARN_UNUSED __attribute__((warn_unused_result))
#define BJ_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* Writes the text (error may be NULL) and returns `status`, so that `return bj_base_set_error(...)` works. */
bj_status bj_base_set_error(bj_error *error, bj_status status, const char *format, ...) BJ_PRINTF(3, 4);

/* Hands on the status of a call that failed: only where nothing is left to clean up. */
#define BJ_TRY(call)                                                                                                   \
    do {                                                                                                               \
        bj_status bj_tried = (call);                                                                                   \
        if (bj_tried != BJ_OK)                                                                                         \
            return bj_tried;                                                                                           \
    } while (0)
