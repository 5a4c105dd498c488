/* What subcommands that print one answer share: memory, messages, files. */
#ifndef CLI_WORKSPACE_H
#define CLI_WORKSPACE_H

#include "args.h"
#include "base/diag.h"

/* Errors of `sink` go to standard error as `terrazzo: TEXT`. What is in `out` at the end goes to
 * standard output, if the command returned EXIT_FINE. */
typedef struct workspace {
  arena arena;
  buf out;
  bool color; /* of what goes to standard output */
  diag_sink sink;
} workspace;

/* Runs a command in a workspace of its own and returns its exit status. */
int with_workspace(int (*command)(workspace *w, void *options), void *options);

/* Writes a file; false: said so. */
bool write_file(const char *option, const char *path, str bytes);
/* "always", "never", or else: standard output is a terminal that shows colours, and NO_COLOR is not
 * set. */
bool wants_color(const char *when);
/* What is in `out` goes to standard output, and is not there any longer. */
void show_out(workspace *w);
/* Text on standard output, its lines coloured by how they begin. */
void paint(str text);

#endif
