/* Help, from the descriptors, filled into the columns of the narrowest terminal that people use. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

enum { COLUMNS = 80, NAME_WIDTH = 10 };

/* To the next blank where a line may end: not within brackets, so that "[-o FILE]" stays whole. */
static size_t measure_word(const char *text, bool brackets) {
    size_t length = 0;
    int depth = 0;
    for (; text[length] != '\0' && (depth > 0 || (text[length] != ' ' && text[length] != '\n')); length++)
        depth += brackets ? (text[length] == '[') - (text[length] == ']') : 0;
    return length;
}

/* One paragraph of `length` bytes; the cursor stands at `column`, and further lines begin at `indent`. */
static void print_filled(const char *text, size_t length, size_t indent, size_t column, bool brackets) {
    const char *end = text + length;
    bool fresh = true;
    while ((text += strspn(text, " \n")) < end) {
        size_t word = measure_word(text, brackets);
        word = word < (size_t)(end - text) ? word : (size_t)(end - text);
        if (!fresh && column + 1 + word > COLUMNS) {
            printf("\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
        }
        printf("%s%.*s", fresh ? "" : " ", (int)word, text);
        column += word + !fresh;
        fresh = false;
        text += word;
    }
    putchar('\n');
}

/* Paragraphs, and in them lines that begin with a blank as they are. */
static void print_prose(const char *text) {
    while (*text != '\0') {
        size_t length = 0;
        if (*text == ' ' || *text == '\n') {
            length = strcspn(text, "\n");
            printf("%.*s\n", (int)length, text);
        } else {
            while (text[length] != '\0' && !(text[length] == '\n' && strchr(" \n", text[length + 1]) != NULL))
                length++;
            print_filled(text, length, 0, 0, false);
        }
        text += length + (text[length] == '\n');
    }
}

void bj_cli_print_filled(const char *text, size_t indent, size_t column) {
    print_filled(text, strlen(text), indent, column, false);
}

static void print_named(const char *name, size_t width, const char *meaning) {
    size_t column = 2 + (strlen(name) > width ? strlen(name) : width) + 2;
    printf("  %-*s  ", (int)width, name);
    bj_cli_print_filled(meaning, 2 + width + 2, column);
}

void bj_cli_print_help(void) {
    puts("blackjack finds out by timing what this machine effectively gives a C program.\n");
    puts("usage: blackjack COMMAND [ARGUMENTS...]\n");
    for (size_t i = 0; i < bj_cli_command_count; i++)
        print_named(bj_cli_commands[i]->name, NAME_WIDTH, bj_cli_commands[i]->summary);
    puts("\n  --version   the version, and exit\n");
    print_prose("'blackjack help COMMAND' says more. To begin: 'blackjack run --save', then 'blackjack show'.");
}

/* One form a paragraph: what may not stand together is not in one. */
static void print_synopsis(const bj_cli_command *command) {
    const char *program = command->program != NULL ? command->program : "blackjack ", *form = command->synopsis;
    size_t column = strlen("usage:  ") + strlen(program) + strlen(command->name);
    do {
        const char *end = strstr(form, "\n\n");
        size_t length = end != NULL ? (size_t)(end - form) : strlen(form);
        printf("%s%s%s ", form == command->synopsis ? "usage: " : "       ", program, command->name);
        print_filled(form, length, column, column, true);
        form = end != NULL ? end + 2 : NULL;
    } while (form != NULL);
}

static void print_choices(const bj_cli_command *command) {
    const char *name, *meaning;
    size_t width = NAME_WIDTH;
    if (command->choices == NULL)
        return;
    printf("\n%s\n\n", command->choices_title);
    for (size_t i = 0; command->choices(i, &name, &meaning); i++)
        width = strlen(name) > width ? strlen(name) : width;
    for (size_t i = 0; command->choices(i, &name, &meaning); i++)
        print_named(name, width, meaning);
}

/* "-o, --output FILE" */
static void name_option(const bj_cli_option *option, char *text, size_t room) {
    char letter[8] = "    ";
    if (option->letter != 0)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(text, room, "%s--%s%s%s", letter, option->name, option->argument != NULL ? " " : "",
             option->argument != NULL ? option->argument : "");
}

void bj_cli_print_command_help(const bj_cli_command *command) {
    print_synopsis(command);
    printf("\n%s.\n", command->summary);
    if (command->option_count > 0)
        putchar('\n');
    char name[64];
    size_t width = 0;
    for (size_t i = 0; i < command->option_count; i++) {
        name_option(&command->options[i], name, sizeof name);
        width = strlen(name) > width ? strlen(name) : width;
    }
    for (size_t i = 0; i < command->option_count; i++) {
        name_option(&command->options[i], name, sizeof name);
        print_named(name, width, command->options[i].help);
    }
    print_choices(command);
    if (command->details != NULL) {
        putchar('\n');
        print_prose(command->details);
    }
}
