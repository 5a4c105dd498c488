/* Inside compile only: an executable while it is made. */
#ifndef COMPILE_EXECUTABLE_H
#define COMPILE_EXECUTABLE_H

#include <stdatomic.h>

#include "compile/compile.h"

struct executable_owner {
  atomic_uint refs;
  allocator mem;
  arena arena; /* all that the executable points to; without a trap once it is made */
  executable exe;
};

/* An empty one with one reference; NULL: out of memory. */
struct executable_owner *executable_new(const allocator *mem, oom_trap *trap);
void executable_drop(struct executable_owner *o); /* whatever the references; NULL: nothing */

#endif
