/* The executors of this machine; the contract is device/executor.h's.
 *
 * "cpu": N devices run one program on one pool of workers. A device is not a thread: it is a
 * position in a program that any worker resumes. At a collective it parks until its group has
 * arrived; the last to arrive does the work on the members' buffers. So any number of devices runs
 * on any number of workers, and results do not depend on either.
 *
 * "plain": the same on one thread, devices one after the other and steps one at a time, with memory
 * whose bounds are checked; for tests and for debugging. It has no oneDNN, whose products differ in
 * their last bits. */
#ifndef EXEC_EXEC_H
#define EXEC_EXEC_H

#include "device/executor.h"
#include "program/program.h"

typedef struct exec_options {
  const char *kind;     /* NULL: what TERRAZZO_EXECUTOR says; NULL or "" there: "cpu" */
  const allocator *mem; /* NULL: mem_system; must outlive the executor */
  u32 threads;          /* 0: os_cpu_count(); "plain" has one */
} exec_options;

/* Starts the threads; options may be NULL. INVALID_ARGUMENT for a kind that there is none of. "cpu"
 * reads TERRAZZO_ONEDNN (0: never load oneDNN; a path: that library); both TERRAZZO_KERNELS, once a
 * process (base: of any processor, with products of a sum rounded each; v3: AVX2; v4: AVX-512). */
status exec_create(const exec_options *options, executor **out_executor) MUST_USE;

/* Runs a program of one device that has no parameters to its end, on an executor of its own;
 * results[i] has room for result i. INVALID_ARGUMENT for another program; else what a launch says.
 */
status exec_evaluate(const program *p, void *const *results) MUST_USE;

#endif
