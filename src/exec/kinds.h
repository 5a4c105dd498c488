/* The executors of this module, for exec_create. In their options `mem` and `threads` are set. */
#ifndef EXEC_KINDS_H
#define EXEC_KINDS_H

#include "exec/exec.h"

status cpu_create(const exec_options *options, executor **out_executor) MUST_USE;
status plain_create(const exec_options *options, executor **out_executor) MUST_USE;

#endif
