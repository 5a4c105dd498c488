/* What programs ask of the host (device/executor.h, executor_host) when the command line runs them:
 * interpreter.print, interpreter.probe, check.expect_serialized_eq. */
#ifndef CLI_HOST_H
#define CLI_HOST_H

#include "base/buf.h"
#include "cli.h"
#include "device/executor.h"

typedef struct cli_host {
  executor_host functions; /* for the run */
  const char *probe_dir;   /* where probes are written and looked for; NULL: nowhere */
  buf *out;                /* what is printed */
  pthread_mutex_t lock;
  u32 probes;
} cli_host;

/* The probes of an earlier program in the directory are forgotten. Stays where it is until
 * host_end. */
void host_begin(cli_host *h, const char *probe_dir, buf *out);
void host_end(cli_host *h);

/* "tensor<2xi32> {", the elements in brackets, "}", as the peer's interpreter prints results. */
void print_tensor(buf *out, dtype type, i64s dims, const void *data);

#endif
