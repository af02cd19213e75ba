/* The command line: one descriptor a command, from which parsing and help derive.
 *
 * To add a command: write cmd_<name>.c with the descriptor last, add its line to command_list.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Exit statuses, as the profile's description has them. */
enum { BJ_EXIT_OK = 0, BJ_EXIT_FAILED = 1, BJ_EXIT_USAGE = 2, BJ_EXIT_RESOURCE = 3, BJ_EXIT_INTERRUPTED = 130 };

typedef struct {
    const char *name;     /* without the dashes */
    char letter;          /* 'o' for -o; 0: none */
    const char *argument; /* "FILE"; NULL: a switch */
    const char *help;
} bj_cli_option;

typedef struct {
    const bj_cli_option *option;
    const char *value; /* NULL for a switch */
} bj_cli_given;

typedef struct {
    bj_cli_given *given;
    size_t given_count;
    const char **operands;
    size_t operand_count;
    size_t before_dashes; /* operands that stand before "--"; all of them where there is none */
} bj_cli_arguments;

typedef struct {
    const char *name;
    const char *program;  /* what stands before the name in its usage; NULL: "blackjack " */
    const char *synopsis; /* operands and options, after the name; several forms with empty lines between */
    const char *summary;  /* one line */
    /* Paragraphs for `help COMMAND`, separated by empty lines; lines that begin with a blank stay as they are, all
     * other text is filled into lines by the help. NULL: none. */
    const char *details;
    /* What the first operand may be, for the help: by index; false: no more. NULL: nothing is listed. */
    bool (*choices)(size_t index, const char **name, const char **meaning);
    const char *choices_title; /* over their list */
    const bj_cli_option *options;
    size_t option_count;
    size_t least_operands, most_operands;
    int unwritten_status; /* exit status when standard output takes no more; 0: BJ_EXIT_RESOURCE */
    int (*run)(const bj_cli_arguments *arguments); /* returns the exit status */
} bj_cli_command;

extern const bj_cli_command *const bj_cli_commands[];
extern const size_t bj_cli_command_count;
const bj_cli_command *bj_cli_find_command(const char *name);
/* Says that there is no such command; the exit status. */
int bj_cli_refuse_command(const char *word);

/* By getopt_long: options may stand anywhere, short ones may be joined and long ones cut short; all words after "--"
 * are operands. words[0] is the command's name. Once a process. */
bj_status bj_cli_parse_arguments(const bj_cli_command *command, int count, char **words, bj_cli_arguments *arguments,
                                 bj_error *error) BJ_WARN_UNUSED;
void bj_cli_free_arguments(bj_cli_arguments *arguments);
bool bj_cli_is_given(const bj_cli_arguments *arguments, const char *option);
/* The last value given; NULL: none. */
const char *bj_cli_find_value(const bj_cli_arguments *arguments, const char *option);

/* First of all in a program: standard streams that were closed are occupied, ends of children are heard of, and memory
 * that lacks is noticed. */
void bj_cli_begin(void);
/* Whether standard error takes a line within that time. A terminal that is held (Ctrl-S) or a pipe that nobody empties
 * must not hold us for ever: what is said meanwhile is left out. */
bool bj_cli_await_reader(int patience_ms);
/* One line "blackjack: …" on standard error. */
void bj_cli_complain(const char *format, ...) BJ_PRINTF(1, 2);
int bj_cli_exit_status(bj_status status);
/* Where 1 means "different": 2, or 3 for want of memory. */
int bj_cli_trouble_status(bj_status status);
/* Says the error and returns the exit status that goes with it. */
int bj_cli_fail(bj_status status, const bj_error *error);
/* Puts the file before what went wrong with a profile that nobody named; NULL: it was named, nothing to add. */
void bj_cli_name_default(const char *path, bj_error *error);

void bj_cli_print_help(void);
void bj_cli_print_command_help(const bj_cli_command *command);
/* A text in lines of a terminal; the cursor stands at `column`, and further lines begin at `indent`. */
void bj_cli_print_filled(const char *text, size_t indent, size_t column);

/* What may have been meant by a word that is no name. Begin with the word alone and offer all names. */
typedef struct {
    const char *word;
    const char *prefix; /* of all names, shown in front of them: the dashes of options; NULL: none */
    size_t distance;    /* of the name in `text` */
    char text[120];     /* " (did you mean 'cache'?)", or "" as long as no name is close */
} bj_cli_guess;
void bj_cli_offer_name(bj_cli_guess *guess, const char *name);
