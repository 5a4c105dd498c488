/* What subcommands that answer questions share. */
#ifndef CLI_EXPLAIN_H
#define CLI_EXPLAIN_H

#include "explain/explain.h"
#include "workspace.h"

#define COLOR_USAGE                                                                                \
  "--color WHEN       always, never, or auto, the default: where standard output is a terminal\n"  \
  "                   and NO_COLOR is not set\n"
/* false: said what --color may be. */
bool read_color(const char *when);
/* Reads a topology from a file; false: said what is wrong. */
bool open_topology(workspace *w, const char *file, topology *out);
/* 16GiB, 1.5MB, 4096. false: it is no such thing. */
bool read_bytes(const char *text, double *out);
/* Ends a run of the program; an answer that is over a budget is printed all the same, and the
 * status is an error then. */
int finish_answer(workspace *w, status s);

#endif
