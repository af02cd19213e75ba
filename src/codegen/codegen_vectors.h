/* What the source of vector kernels begins with. */
#pragma once

#include <stdio.h>

#include "codegen/codegen.h"

/* The types, HIDE, ROOT and FMA of vectors of the file's type; what its functions are compiled for, and whether the
 * processor that they run on has that. */
void bj_codegen_write_vectors(const bj_codegen_file *file, FILE *out);
/* How values in C's own operators are read, written and combined: GET, PUT, GET_NOW, PUT_NOW (each access is made),
 * ADD, SUB, MUL, DIV. Vectors whose type has no size in C have macros of their own under these names. */
void bj_codegen_write_access(FILE *out);
