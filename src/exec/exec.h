/* The executor of this machine's processors: N devices run one program on one pool of workers.
 *
 * A device is not a thread: it is a position in a program that any worker resumes. At a
 * collective it parks until its group has arrived; the last to arrive does the work on the
 * members' buffers. So any number of devices runs on any number of workers, and results do
 * not depend on either. The contract is device/executor.h's. */
#ifndef EXEC_EXEC_H
#define EXEC_EXEC_H

#include "device/executor.h"
#include "program/program.h"

typedef struct exec_options {
  const allocator *mem; /* NULL: mem_system; must outlive the executor */
  u32 threads;          /* 0: os_cpu_count() */
} exec_options;

/* Starts the workers; options may be NULL. Reads TERRAZZO_ONEDNN (0: never load oneDNN). */
status exec_create(const exec_options *options, executor **out_executor) MUST_USE;

#endif
