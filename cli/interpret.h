/* stablehlo-translate --interpret: modules run, their results printed as the peer prints them. */
#ifndef CLI_INTERPRET_H
#define CLI_INTERPRET_H

#include "base/buf.h"
#include "cli.h"

typedef struct interpret_options {
  const char *args;      /* "[dense<1> : tensor<2xi32>, ...]": the arguments of @main */
  const char *probe_dir; /* where interpreter.probe writes; NULL: nowhere */
  bool dense;            /* results as dense attributes */
  tz_runtime *runtime;   /* made by the first module that runs */
} interpret_options;

/* Takes an option's text without its dashes; false: it is none of these. */
bool interpret_option(interpret_options *o, const char *text);
/* Compiles and runs one module, which begins `above` lines below the start of its file. */
bool interpret(interpret_options *o, str file, str source, u32 above, buf *out);
void interpret_end(interpret_options *o);

#endif
