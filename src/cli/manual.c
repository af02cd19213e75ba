#include "cli/manual.h"

#include <ctype.h>
#include <string.h>

#include "bj_build.h"

/* Text as roff takes it for itself: dashes that can be copied, no escapes, no requests at the start of a line. */
static void print_roff(FILE *out, const char *text, size_t length) {
    bool line_start = true;
    for (size_t i = 0; i < length; i++) {
        if (line_start && (text[i] == '.' || text[i] == '\''))
            fputs("\\&", out);
        line_start = text[i] == '\n';
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else
            putc(text[i], out);
    }
}

static void print_text(FILE *out, const char *text) {
    print_roff(out, text, strlen(text));
}

static void print_header(FILE *out, const char *name, const char *summary) {
    fputs(".\\\" Made by 'blackjack help --format man' from the tables that the help is made from.\n.TH ", out);
    for (const char *at = name; *at != '\0'; at++)
        putc(toupper((unsigned char)*at), out);
    fputs(" 1 \"" BJ_DATE "\" \"blackjackbench " BJ_VERSION "\" \"User Commands\"\n.SH NAME\n", out);
    print_text(out, name);
    fputs(" \\- ", out);
    putc(tolower((unsigned char)summary[0]), out);
    print_text(out, summary + 1);
    fputs("\n.SH SYNOPSIS\n", out);
}

/* Words in capitals are what the user puts in. */
static void print_synopsis(FILE *out, const bj_cli_command *command) {
    fprintf(out, ".B blackjack %s\n", command->name);
    for (const char *at = command->synopsis; *at != '\0';) {
        if (*at == '\n') { /* where the help begins a line, the page may fill it */
            putc('\n', out);
            at++;
            continue;
        }
        size_t length = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (length > 1 || (length == 1 && strchr(" ]\n", at[1]) != NULL)) {
            fprintf(out, "\\fI%.*s\\fP", (int)length, at);
            at += length;
        } else {
            print_roff(out, at++, 1);
        }
    }
    putc('\n', out);
}

static void print_options(FILE *out, const bj_cli_command *command) {
    if (command->option_count == 0)
        return;
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; i < command->option_count; i++) {
        const bj_cli_option *option = &command->options[i];
        fputs(".TP\n", out);
        if (option->letter != 0)
            fprintf(out, "\\fB\\-%c\\fP, ", option->letter);
        fputs("\\fB\\-\\-", out);
        print_text(out, option->name);
        fputs("\\fP", out);
        if (option->argument != NULL)
            fprintf(out, " \\fI%s\\fP", option->argument);
        putc('\n', out);
        print_text(out, option->help);
        putc('\n', out);
    }
}

/* Paragraphs are separated by an empty line; those that begin with blanks stay as they are. */
static void print_details(FILE *out, const char *details) {
    while (details != NULL && *details != '\0') {
        const char *end = strstr(details, "\n\n");
        size_t length = end != NULL ? (size_t)(end - details) : strlen(details);
        bool table = details[0] == ' ';
        fputs(table ? ".PP\n.nf\n" : ".PP\n", out);
        print_roff(out, details, length);
        fputs(table ? "\n.fi\n" : "\n", out);
        details = end != NULL ? end + 2 : NULL;
    }
}

static void print_choices(FILE *out, const bj_cli_command *command) {
    const char *name, *meaning;
    if (command->choices == NULL || command->choices_title == NULL)
        return;
    fprintf(out, ".PP\n%s\n", command->choices_title);
    for (size_t i = 0; command->choices(i, &name, &meaning); i++) {
        fputs(".TP\n.B ", out);
        print_text(out, name);
        putc('\n', out);
        print_text(out, meaning);
        putc('\n', out);
    }
}

static void print_command_page(FILE *out, const bj_cli_command *command) {
    char name[64];
    snprintf(name, sizeof name, "blackjack-%s", command->name);
    print_header(out, name, command->summary);
    print_synopsis(out, command);
    fputs(".SH DESCRIPTION\n", out);
    print_text(out, command->summary);
    fputs(".\n", out);
    print_choices(out, command);
    print_details(out, command->details);
    print_options(out, command);
    fputs(".SH SEE ALSO\n.BR blackjack (1),\n.BR blackjack\\-profile (5)\n", out);
}

static void print_main_page(FILE *out) {
    print_header(out, "blackjack", "Finds out by timing what this machine effectively gives a C program");
    fputs(
        ".B blackjack\n\\fICOMMAND\\fP [\\fIARGUMENTS\\fP...]\n.br\n.B blackjack \\-\\-version\n"
        ".SH DESCRIPTION\n"
        "Measures caches, TLBs, memory and the like by timing portable C alone, without root or hardware counters, and "
        "answers in values with an interval and a confidence, or says why there is no answer.\n"
        "The answers of a run are its profile, a file that the other commands read.\n"
        ".SH COMMANDS\n",
        out);
    for (size_t i = 0; i < bj_cli_command_count; i++) {
        fprintf(out, ".TP\n.BR blackjack\\-%s (1)\n", bj_cli_commands[i]->name);
        print_text(out, bj_cli_commands[i]->summary);
        putc('\n', out);
    }
    fputs(".SH OPTIONS\n.TP\n\\fB\\-\\-version\\fP\nthe version, and exit\n.TP\n\\fB\\-h\\fP, \\fB\\-\\-help\\fP\n"
          "the commands, or what a command takes\n"
          ".SH EXIT STATUS\n"
          "0 done; 1 an answer is not there, or something differs; 2 wrong usage or bad input; 3 no permission or "
          "resource; "
          "130 interrupted.\nThe pages of the commands say more.\n"
          ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nset and not empty: no colours\n"
          ".SH FILES\n.TP\n.I blackjack\\-profile.json\nthe profile, unless another is named\n"
          ".SH SEE ALSO\n",
          out);
    for (size_t i = 0; i < bj_cli_command_count; i++)
        fprintf(out, ".BR blackjack\\-%s (1),\n", bj_cli_commands[i]->name);
    fputs(".BR libblackjack (3),\n.BR blackjack\\-profile (5)\n", out);
}

void bj_cli_print_manual(FILE *out, const bj_cli_command *command) {
    if (command != NULL)
        print_command_page(out, command);
    else
        print_main_page(out);
}
