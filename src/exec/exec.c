/* Which executor: the one table of kinds. */
#include "exec/exec.h"

#include <stdlib.h>

#include "base/os.h"
#include "base/trace.h"
#include "exec/kinds.h"

static const struct {
  const char *name;
  status (*create)(const exec_options *options, executor **out_executor);
} kinds[] = {{"cpu", cpu_create}, {"plain", plain_create}};

status exec_create(const exec_options *options, executor **out_executor) {
  exec_options o = options ? *options : (exec_options){0};
  const char *said = o.kind ? "executor" : "TERRAZZO_EXECUTOR";
  if (!o.kind) o.kind = getenv(said);
  if (!o.kind || !*o.kind) o.kind = kinds[0].name;
  if (!o.mem) o.mem = &mem_system;
  if (!o.threads) o.threads = (u32)os_cpu_count();
  *out_executor = NULL;
  RETURN_IF_ERROR(trace_to_file(getenv("TERRAZZO_TRACE")));
  for (size_t i = 0; i < COUNT(kinds); i++)
    if (strcmp(o.kind, kinds[i].name) == 0) return kinds[i].create(&o, out_executor);
  return status_make(STATUS_INVALID_ARGUMENT, "%s: no executor '%s' (known: %s, %s)", said, o.kind,
                     kinds[0].name, kinds[1].name);
}
