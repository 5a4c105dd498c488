// The public headers, alone and together, for C99 and C++ compilers that warn of everything.
// RUN: clang -x c -std=c99 -Wall -Wextra -pedantic -Wconversion -Wstrict-prototypes -Werror -fsyntax-only -I%S/../../../include %S/Inputs/headers.c
// RUN: clang -x c++ -std=c++11 -Wall -Wextra -pedantic -Wconversion -Werror -c -o %t.o -I%S/../../../include %S/Inputs/headers.c
// RUN: nm %t.o | FileCheck %s
// RUN: clang -x c -std=c99 -pedantic -Werror -fsyntax-only -I%S/../../../include -DALONE=\"terrazzo/terrazzo.h\" %S/Inputs/headers.c
// RUN: clang -x c -std=c99 -pedantic -Werror -fsyntax-only -I%S/../../../include -DALONE=\"terrazzo/ir.h\" %S/Inputs/headers.c
// RUN: clang -x c -std=c99 -pedantic -Werror -fsyntax-only -I%S/../../../include -DALONE=\"terrazzo/layout.h\" %S/Inputs/headers.c
// RUN: clang -x c -std=c99 -pedantic -Werror -fsyntax-only -I%S/../../../include -DALONE=\"terrazzo/trace.h\" %S/Inputs/headers.c
// RUN: clang -x c -std=c99 -pedantic -Werror -fsyntax-only -I%S/../../../include -DALONE=\"terrazzo/explain.h\" %S/Inputs/headers.c

// A dialect in C++ has the names that the loader looks for.
// CHECK: {{[RDV]}} terrazzo_dialect_abi
// CHECK: T terrazzo_dialect_register
