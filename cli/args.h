/* The options of all subcommands: a table each, and one reader. `--name VALUE` and `--name=VALUE`
 * are the same; what is wrong is said with the command's and the option's name. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "cli.h"

typedef enum option_kind {
  OPTION_TEXT,   /* const char *: the last one given */
  OPTION_FLAG,   /* bool: `--name`, or `--name=false` */
  OPTION_NUMBER, /* u32: from `least` to `most` */
  OPTION_TEXTS,  /* option_texts: one more each time */
  OPTION_MANY,   /* option_texts: all that follow up to the next option */
} option_kind;

/* In order, and a NULL behind the last; data is NULL where there are none. */
typedef struct option_texts {
  const char **data;
  u32 len;
} option_texts;

typedef struct option_row {
  const char *name; /* with its dashes; NULL: what is no option, all of it (OPTION_TEXTS) */
  size_t field;     /* offset in the struct of the options */
  option_kind kind;
  u32 least, most;
} option_row;

/* Rows of a table for fields of `of`: OPTION_OF(of, "--name", field, kind), TEXT_OF(of, ...). */
#define OPTION_OF(of, flag, field, ...)                                                            \
  { flag, offsetof(of, field), __VA_ARGS__ }
#define TEXT_OF(of, flag, field) OPTION_OF(of, flag, field, OPTION_TEXT)

/* Fills the options by the rows; what is no option goes to *rest, if there is one and it is not
 * set yet. false: wrong use, said. In both cases release_options frees the lists. */
bool read_options(const char *command, const option_row *rows, size_t num_rows, void *options,
                  const char **rest, int argc, char **argv);
void release_options(const option_row *rows, size_t num_rows, void *options);
bool wants_help(int argc, char **argv);

#endif
