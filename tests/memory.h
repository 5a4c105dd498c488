/* For the tests of device: an executor that has memory and runs nothing. A handle is not the
 * address of its bytes. */
#ifndef TESTS_MEMORY_H
#define TESTS_MEMORY_H

#include <stdlib.h>

#include "device/executor.h"

struct executor_memory {
  size_t bytes;
  char *data; /* behind it, or imported */
};

static inline void memory_stop(executor *x) { (void)x; }
static inline executor_memory *memory_import(executor *x, u32 device, void *data, size_t bytes) {
  executor_memory *m = malloc(sizeof *m + (data ? 0 : bytes));
  (void)x, (void)device;
  if (m) *m = (executor_memory){bytes, data ? data : (char *)(m + 1)};
  return m;
}
static inline executor_memory *memory_alloc(executor *x, u32 device, size_t bytes) {
  return memory_import(x, device, NULL, bytes);
}
static inline void memory_forget(executor *x, executor_memory *m) { (void)x, free(m); }
static inline void memory_free(executor *x, executor_memory *m, size_t bytes) {
  (void)x, (void)bytes, free(m);
}
static inline status memory_write(executor *x, executor_memory *to, size_t offset,
                                  const executor_array *a, const void *from) {
  (void)x;
  executor_host_write(to->data + offset, a, from);
  return NULL;
}
static inline status memory_read(executor *x, executor_memory *from, size_t offset,
                                 const executor_array *a, void *to) {
  (void)x;
  executor_host_read(from->data + offset, a, to);
  return NULL;
}
static inline status memory_copy(executor *x, executor_memory *to, executor_memory *from,
                                 size_t bytes) {
  (void)x;
  memcpy(to->data, from->data, bytes);
  return NULL;
}
static inline void *memory_map(executor *x, executor_memory *m) { return (void)x, m->data; }

static inline executor *memory_executor(void) {
  static const executor_ops ops = {.name = "memory",
                                   .stop = memory_stop,
                                   .destroy = memory_stop,
                                   .alloc = memory_alloc,
                                   .free = memory_free,
                                   .import = memory_import,
                                   .forget = memory_forget,
                                   .write = memory_write,
                                   .read = memory_read,
                                   .copy = memory_copy,
                                   .map = memory_map};
  static executor one;
  executor_begin(&one, &ops);
  return &one;
}

#endif
