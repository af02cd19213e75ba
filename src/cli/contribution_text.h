/* What of a text says nothing of a host: for contribution.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether `text` is one of the words, of which NULL is the last. */
bool bj_cli_is_one_of(const char *text, const char *const *words);
/* These keep words of a text and drop the others, in place; false: something was dropped. */
/* Makers, families and model numbers: a number with at most two letters in a row. */
bool bj_cli_keep_cpu_model(char *text);
/* "Linux 6.1.0-my-own x86_64" becomes "Linux 6.1.0 x86_64". */
bool bj_cli_keep_system(char *text);
/* "gcc (Debian 12.2.0-14) 12.2.0" and "/opt/gcc/bin/gcc -O2" become the compiler's name and its version. */
bool bj_cli_keep_compiler(char *text);
/* The type of the build, and options for code: no folder, no definition. */
bool bj_cli_keep_flags(char *text);
/* "0.2.0" */
bool bj_cli_is_version(const char *text);
