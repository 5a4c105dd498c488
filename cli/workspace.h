/* What subcommands that print one answer share: memory, messages, options. */
#ifndef CLI_WORKSPACE_H
#define CLI_WORKSPACE_H

#include "base/diag.h"
#include "cli.h"

/* Errors of `sink` go to standard error as `terrazzo: TEXT`. What is in `out` at the end goes to
 * standard output, if the command returned EXIT_FINE. */
typedef struct workspace {
  arena arena;
  buf out;
  diag_sink sink;
} workspace;

/* Runs a command in a workspace of its own and returns its exit status. */
int with_workspace(int (*command)(workspace *w, void *options), void *options);

/* `--name value`, or a flag that takes none. */
typedef struct option_row {
  const char *name;
  size_t field; /* offset of a const char *, or of a bool */
  bool is_flag;
} option_row;

/* Fills the options by the rows; what is no option goes to *rest, if there is one and it is not
 * set yet. false: wrong use, said. */
bool read_options(const char *command, const option_row *rows, size_t num_rows, void *options,
                  const char **rest, int argc, char **argv);
bool wants_help(int argc, char **argv);

/* Writes a file; false: said so. */
bool write_file(const char *path, str bytes);
/* Standard output is a terminal that shows colours, and NO_COLOR is not set. */
bool wants_color(void);

#endif
