/* Processes that run one program together: this command, started once more for each. */
#ifndef CLI_PROCESSES_H
#define CLI_PROCESSES_H

#include "cli.h"
#include "net/wire.h"

typedef struct processes {
  u32 rank, size; /* size 1: there are no others, and no wire */
  u32 sharing;    /* how many have these processors, as far as is known; 0: it is not */
  wire *w;        /* whoever takes it sets it to NULL */
  long *children; /* of process 0: size - 1 of them */
  u32 num_children;
} processes;

/* Starts the others, unless this one was started so itself, and joins them; `size` 0: no others are
 * wanted. False: said why not. In both cases processes_end is to be called. */
bool processes_begin(u32 size, char **argv, processes *out);
/* Closes the wire if it is still here, and waits for those that were started. False: one of them
 * has failed. */
bool processes_end(processes *p);

#endif
