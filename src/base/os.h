/* All that the host must give beyond ISO C: threads, clock, files, shared objects. */
#ifndef BASE_OS_H
#define BASE_OS_H

#include <pthread.h>

#include "base/arena.h"
#include "base/status.h"

int os_cpu_count(void); /* processors this process may run on (affinity counts), at least 1 */
u32 os_cpu_share(u32 processes); /* of that, one of so many that share it; at least 1 */
/* Processors in words: processes say the same where they are on one machine and may run on the same
 * ones of it. No spaces. */
enum { OS_PROCESSORS = 64 };
void os_name_processors(char out[OS_PROCESSORS]);
u64 os_now_ns(void);  /* monotonic */
u64 os_wall_ns(void); /* since 1970 */

/* Differs in a forked child from what its parent got: threads and locks that were made under
 * another number stayed with the parent. */
u32 os_forks(void);

/* malloc for blocks that are filled at once, in large pages where the system has them: far fewer
 * page faults. free releases them. */
enum { OS_LARGE = 1 << 21 };
/* NULL: no memory. Aligned to OS_LARGE, contents undefined. */
void *os_alloc_large(size_t n);

/* Memory for machine code, in whole pages: written to first, and executed once it is sealed. Many
 * systems forbid it to some processes: NULL, or false. */
void *os_alloc_code(size_t n);
bool os_seal_code(void *p, size_t n) MUST_USE;
void os_free_code(void *p, size_t n);

/* A file's bytes, read only. Mapped where possible; os_file_close unmaps. */
typedef struct os_file {
  str bytes;
  void *base;
  size_t mapped; /* 0: heap */
} os_file;
/* *out_file is empty where it fails; the message starts with the path. The bytes of a mapped file
 * are as shared as the file: who truncates it meanwhile makes reading them a fault. */
status os_file_open(const char *path, os_file *out_file) MUST_USE; /* "-" reads standard input */
void os_file_close(os_file *file);
bool os_same_file(const char *a, const char *b); /* both exist and are one */
void os_pipe_errors(void); /* writing to a closed pipe fails then, instead of killing the process */

/* This program once more, with other arguments (argv[0] is a name only) and a variable in its
 * environment. It ends when this process does; if it calls os_spawned, with a line that says so. */
status os_spawn(char *const *argv, const char *variable, const char *value,
                long *out_process) MUST_USE;
void os_spawned(void);
status os_await_process(long process) MUST_USE; /* until it ends; how, if it did not end well */

/* dlopen/dlsym; NULL when absent. Handles are never closed. */
void *os_library(const char *name);
/* What comes after sees the symbols of the library with this address; of a program: as it is. */
void os_share_library(const void *address);
void *os_symbol(void *library, const char *name);
const char *os_library_error(void); /* why the last call of these failed; NULL: not known */

#endif
