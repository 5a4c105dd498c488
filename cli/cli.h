/* The one program: subcommands and what they share. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdio.h>

#include "base/buf.h"
#include "base/os.h"
#include "terrazzo/terrazzo.h"

/* Exit status: 0 fine; 1 the input is wrong or a run failed; 2 wrong use of the program. */
enum { EXIT_FINE = 0, EXIT_WRONG = 1, EXIT_USAGE = 2 };

typedef struct command {
  const char *name, *summary;
  int (*run)(int argc, char **argv); /* argv[0] is the command's name */
} command;

int opt_main(int argc, char **argv);
int peer_opt_main(int argc, char **argv); /* opt under a name of the peers: bytecode is native */
int run_main(int argc, char **argv);
int partition_main(int argc, char **argv);
int translate_main(int argc, char **argv);
int convert_main(int argc, char **argv);
int layout_main(int argc, char **argv);
int ops_main(int argc, char **argv);
int why_main(int argc, char **argv);
int mem_main(int argc, char **argv);
int comms_main(int argc, char **argv);
int verify_main(int argc, char **argv);
int diff_main(int argc, char **argv);
int check_main(int argc, char **argv);
int report_main(int argc, char **argv);
int plan_main(int argc, char **argv);

/* Prints `terrazzo: TEXT` to standard error. */
void say_error(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* The same for a status, which is freed; true if there was one. */
bool say_status(status s);
bool say_tz_error(tz_error *e);
bool say_option(const char *option, status s); /* of what an option named; one line */
/* A message of the library's that begins with the name of one of its options: what we call that,
 * and the rest of the text; "" and the text if it does not. */
str field_option(str text, const char **out_option);

/* A NumPy array: C order. npy_open reads what it is; npy_load the elements, into `data`, once the
 * caller has seen that it wants so many. npy_free releases it, whatever became of it. */
typedef struct npy {
  char kind; /* 'f' 'i' 'u' 'b' 'c' */
  u32 size;  /* bytes an element */
  u32 rank;
  i64 dims[32];
  size_t bytes; /* SIZE_MAX: more than there can be */
  void *data;
  FILE *file;
} npy;
status npy_open(const char *path, npy *out) MUST_USE;
status npy_load(const char *path, npy *a) MUST_USE;
status npy_write(const char *path, const char *type, size_t size, i64s dims,
                 const void *data) MUST_USE;
void npy_free(npy *a);
/* Does the array hold elements of this type (MLIR's name, bytes)? bf16 and f8 come as ml_dtypes
 * writes them, or as unsigned integers of their width. */
bool npy_holds(const npy *a, const char *type, size_t size);

#endif
