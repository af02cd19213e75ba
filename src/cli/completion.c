/* Completion for bash and zsh. Values of an option are known where its argument lists them ("near|spread"), files where
 * it is a FILE; the first operand of a command by its choices, the others are files unless all are choices. */
#include <ctype.h>
#include <string.h>

#include "cli/manual.h"

static bool takes_file(const bj_cli_option *option) {
    return option->argument != NULL && strncmp(option->argument, "FILE", 4) == 0;
}

static bool lists_values(const bj_cli_option *option) {
    return option->argument != NULL && strchr(option->argument, '|') != NULL;
}

static bool all_are_choices(const bj_cli_command *command) {
    return command->choices != NULL && command->most_operands > 16;
}

/* "near|spread" as "near spread"; of "sim:FILE" only what is to be typed as it is. */
static void print_values(FILE *out, const bj_cli_option *option) {
    for (const char *at = option->argument; *at != '\0'; at++)
        if (!isupper((unsigned char)*at))
            putc(*at == '|' ? ' ' : *at, out);
}

static void print_choices(FILE *out, const bj_cli_command *command) {
    const char *name, *meaning;
    for (size_t i = 0; command->choices != NULL && command->choices(i, &name, &meaning); i++)
        fprintf(out, "%s%s", i > 0 ? " " : "", name);
}

static void print_bash_names(FILE *out, const bj_cli_option *option) {
    if (option->letter != 0)
        fprintf(out, "-%c | ", option->letter);
    fprintf(out, "--%s", option->name);
}

static void print_bash_command(FILE *out, const bj_cli_command *command) {
    fprintf(out, "    %s)\n", command->name);
    if (command->option_count > 0)
        fputs("        case $before in\n", out);
    for (size_t i = 0; i < command->option_count; i++) {
        const bj_cli_option *option = &command->options[i];
        if (option->argument == NULL)
            continue;
        fputs("        ", out);
        print_bash_names(out, option);
        if (takes_file(option)) {
            fputs(") files=1 ;;\n", out);
        } else if (lists_values(option)) {
            fputs(") values='", out);
            print_values(out, option);
            fputs("' ;;\n", out);
        } else {
            fputs(") return ;;\n", out);
        }
    }
    if (command->option_count > 0)
        fputs("        esac\n", out);
    fputs("        options='--help", out);
    for (size_t i = 0; i < command->option_count; i++)
        fprintf(out, " --%s", command->options[i].name);
    fputs("'\n        choices='", out);
    print_choices(out, command);
    fprintf(out, "'\n        all=%d\n        ;;\n", all_are_choices(command));
}

void bj_cli_print_bash_completion(FILE *out) {
    fputs("# bash completion for blackjack, made by 'blackjack help --format bash'.\n"
          "_blackjack() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
          "    local options= choices= values= files=0 all=0\n"
          "    COMPREPLY=()\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '--help --version",
          out);
    for (size_t i = 0; i < bj_cli_command_count; i++)
        fprintf(out, " %s", bj_cli_commands[i]->name);
    fputs("' -- \"$word\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", out);
    for (size_t i = 0; i < bj_cli_command_count; i++)
        print_bash_command(out, bj_cli_commands[i]);
    fputs(
        "    *) return ;;\n"
        "    esac\n"
        "    if [ -n \"$values\" ]; then\n"
        "        COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
        "    elif [ \"$files\" -eq 0 ] && [ \"${word#-}\" != \"$word\" ]; then\n"
        "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
        "    elif [ \"$files\" -eq 0 ] && [ -n \"$choices\" ] && { [ \"$all\" -eq 1 ] || [ \"$COMP_CWORD\" -eq 2 ]; }; "
        "then\n"
        "        COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
        "    else\n"
        "        COMPREPLY=($(compgen -f -- \"$word\"))\n"
        "    fi\n"
        "}\n"
        "complete -o filenames -F _blackjack blackjack\n",
        out);
}

/* Inside '…[here]': what would end either is left out or escaped. */
static void print_zsh_text(FILE *out, const char *text) {
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *at) != NULL)
            fprintf(out, "\\%c", *at);
        else
            putc(*at, out);
    }
}

static void print_zsh_option(FILE *out, const bj_cli_option *option) {
    const char *equals = option->argument != NULL ? "=" : "";
    if (option->letter != 0)
        fprintf(out, "            '(-%c --%s)'{-%c%s,--%s%s}'[", option->letter, option->name, option->letter,
                option->argument != NULL ? "+" : "", option->name, equals);
    else
        fprintf(out, "            '--%s%s[", option->name, equals);
    print_zsh_text(out, option->help);
    putc(']', out);
    if (option->argument != NULL) {
        putc(':', out);
        print_zsh_text(out, option->argument);
        putc(':', out);
    }
    if (takes_file(option)) {
        fputs("_files", out);
    } else if (lists_values(option)) {
        putc('(', out);
        print_values(out, option);
        putc(')', out);
    }
    fputs("' \\\n", out);
}

static void print_zsh_command(FILE *out, const bj_cli_command *command) {
    fprintf(out, "    %s)\n        _arguments \\\n", command->name);
    for (size_t i = 0; i < command->option_count; i++)
        print_zsh_option(out, &command->options[i]);
    fputs("            '(- *)'{-h,--help}'[what the command takes]'", out);
    if (command->choices != NULL) {
        fprintf(out, " \\\n            '%s:what:(", all_are_choices(command) ? "*" : "1");
        print_choices(out, command);
        fputs(")'", out);
    }
    if (!all_are_choices(command) && command->most_operands > (command->choices != NULL))
        fputs(" \\\n            '*:file:_files'", out);
    fputs("\n        ;;\n", out);
}

void bj_cli_print_zsh_completion(FILE *out) {
    fputs("#compdef blackjack\n"
          "# zsh completion for blackjack, made by 'blackjack help --format zsh'.\n"
          "_blackjack() {\n"
          "    local -a commands\n"
          "    commands=(\n",
          out);
    for (size_t i = 0; i < bj_cli_command_count; i++) {
        fprintf(out, "        '%s:", bj_cli_commands[i]->name);
        print_zsh_text(out, bj_cli_commands[i]->summary);
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    local command=$words[2]\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $command in\n",
          out);
    for (size_t i = 0; i < bj_cli_command_count; i++)
        print_zsh_command(out, bj_cli_commands[i]);
    fputs("    esac\n}\n_blackjack \"$@\"\n", out);
}
