/* base/os.h on Linux. */
#define _GNU_SOURCE
#include "base/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* More than 1024 processors do not fit the set: then it says 1, which is slow and right. */
int os_cpu_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return 1;
}

u32 os_cpu_share(u32 processes) {
  u32 share = (u32)os_cpu_count() / processes;
  return share ? share : 1;
}

void os_name_processors(char out[OS_PROCESSORS]) {
  cpu_set_t set;
  char machine[40] = "";
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (!f || fscanf(f, "%39s", machine) != 1) gethostname(machine, sizeof machine - 1);
  if (f) fclose(f);
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  snprintf(out, OS_PROCESSORS, "%s/%llx", machine,
           (unsigned long long)hash_bytes(&set, sizeof set, 0));
}

static u64 read_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (u64)t.tv_sec * 1000000000u + (u64)t.tv_nsec;
}
u64 os_now_ns(void) { return read_clock(CLOCK_MONOTONIC); }
u64 os_wall_ns(void) { return read_clock(CLOCK_REALTIME); }

void *os_alloc_large(size_t n) {
  void *p = NULL;
  if (posix_memalign(&p, OS_LARGE, n)) return NULL;
  madvise(p, n, MADV_HUGEPAGE); /* a hint: no matter if the system has none */
  return p;
}

void *os_alloc_code(size_t n) {
  void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}
bool os_seal_code(void *p, size_t n) {
  __builtin___clear_cache((char *)p, (char *)p + n);
  return mprotect(p, n, PROT_READ | PROT_EXEC) == 0;
}
void os_free_code(void *p, size_t n) { munmap(p, n); }

/* Written in a child that has only just begun, with one thread. */
static u32 forks;
static void count_fork(void) { forks++; }
static void watch_forks(void) { (void)pthread_atfork(NULL, NULL, count_fork); }

u32 os_forks(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  return forks;
}

/* A device such as /dev/zero has no end. */
enum { MOST_OF_A_DEVICE = 1 << 20, FIRST_READ = 1 << 16 };

/* Standard input, pipes and whatever cannot be mapped. Grows by doubling, as their sizes are not
 * known; a character device that is no terminal is cut off at MOST_OF_A_DEVICE. */
static status read_all(const char *path, int fd, os_file *out) {
  struct stat st;
  bool device = fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && !isatty(fd);
  size_t len = 0, cap = FIRST_READ;
  char *p = malloc(cap);
  for (ssize_t n = 1; p && n != 0; len += (size_t)n) {
    if (device && len > MOST_OF_A_DEVICE) {
      free(p);
      return status_make(STATUS_INVALID_ARGUMENT, "%s: expected a file or a pipe, found a device",
                         path);
    }
    if (len == cap) {
      char *q = realloc(p, cap *= 2);
      if (!q) free(p);
      if (!(p = q)) break;
    }
    while ((n = read(fd, p + len, cap - len)) < 0 && errno == EINTR) continue;
    if (n < 0) {
      free(p);
      return status_make(STATUS_UNKNOWN, "%s: %s", path, strerror(errno));
    }
  }
  if (!p) return status_oom();
  *out = (os_file){.bytes = {p, len}, .base = p};
  return NULL;
}

/* Mapped privately: constants of a file of gigabytes are read when they are used, and the pages can
 * be dropped again. An empty file cannot be mapped and is read. */
status os_file_open(const char *path, os_file *out) {
  struct stat st = {0};
  *out = (os_file){0};
  if (strcmp(path, "-") == 0) return read_all("standard input", 0, out);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return status_make(STATUS_NOT_FOUND, "%s: %s", path, strerror(errno));
  status s = NULL;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p != MAP_FAILED) *out = (os_file){{p, (size_t)st.st_size}, p, (size_t)st.st_size};
  }
  if (!out->base) s = read_all(path, fd, out);
  close(fd);
  return s;
}

void os_file_close(os_file *f) {
  if (f->mapped)
    munmap(f->base, f->mapped);
  else
    free(f->base);
  *f = (os_file){0};
}

bool os_same_file(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void os_pipe_errors(void) { signal(SIGPIPE, SIG_IGN); }

/* RTLD_LOCAL, so that a library's symbols do not take the place of others' in a host such as
 * Python. */
void *os_library(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
void os_share_library(const void *address) {
  Dl_info where;
  if (dladdr(address, &where) && where.dli_fname)
    (void)dlopen(where.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}
const char *os_library_error(void) { return dlerror(); }
void *os_symbol(void *library, const char *name) { return dlsym(library, name); }

/* ---- processes ---- */

/* Nobody else sends this one; it ends who does not expect it. */
enum { ORPHANED = SIGUSR2 };

static void say_orphaned(int signal) {
  static const char text[] = "terrazzo: process 0, which started this one, has ended\n";
  (void)signal;
  ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  _exit(written < 0 ? 2 : 1);
}

void os_spawned(void) {
  struct sigaction a = {.sa_handler = say_orphaned};
  sigaction(ORPHANED, &a, NULL); /* the only errors are those of the number */
}

/* In the child, between fork and exec: nothing but system calls. */
static void become(char *const *argv, char *const *environment) {
  prctl(PR_SET_PDEATHSIG, ORPHANED);
  execve("/proc/self/exe", argv, environment);
  _exit(127);
}

status os_spawn(char *const *argv, const char *variable, const char *value, long *out_process) {
  size_t n = 0, name = strlen(variable), kept = 0, size = name + strlen(value) + 2;
  while (environ[n]) n++;
  char **all = calloc(n + 2, sizeof *all), *own = malloc(size);
  if (!all || !own) {
    free(all);
    free(own);
    return status_oom();
  }
  snprintf(own, size, "%s=%s", variable, value);
  for (size_t i = 0; i < n; i++)
    if (strncmp(environ[i], own, name + 1) != 0) all[kept++] = environ[i];
  all[kept] = own;
  pid_t child = fork();
  if (child == 0) become(argv, all);
  int why = errno;
  free(all);
  free(own);
  if (child < 0)
    return status_make(STATUS_RESOURCE_EXHAUSTED, "cannot start a process: %s", strerror(why));
  *out_process = child;
  return NULL;
}

status os_await_process(long process) {
  int how = 0;
  while (waitpid((pid_t)process, &how, 0) < 0)
    if (errno != EINTR) return status_make(STATUS_UNKNOWN, "cannot wait: %s", strerror(errno));
  if (WIFSIGNALED(how)) return status_make(STATUS_ABORTED, "was ended by signal %d", WTERMSIG(how));
  if (WEXITSTATUS(how))
    return status_make(STATUS_ABORTED, "ended with status %d", WEXITSTATUS(how));
  return NULL;
}
