/* base/os_shared.h on Linux: a file without a name, which another process opens by who holds it. */
#define _GNU_SOURCE
#include "base/os_shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"

/* At its beginning, so that another file is not taken for it where process numbers differ. */
typedef struct mark {
  u64 a, b;
} mark;

static bool map(int fd, size_t bytes, os_shared *out) {
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return false;
  out->at = p;
  out->bytes = bytes;
  return true;
}

bool os_shared_create(size_t bytes, os_shared *out) {
  *out = (os_shared){.fd = memfd_create("terrazzo", MFD_CLOEXEC)};
  if (out->fd < 0) return false;
  if (ftruncate(out->fd, (off_t)bytes) || !map(out->fd, bytes, out)) {
    close(out->fd);
    return false;
  }
  mark m = {os_now_ns(), hash_u64(os_wall_ns(), (u64)getpid())};
  memcpy(out->at, &m, sizeof m);
  snprintf(out->name, sizeof out->name, "%ld/%d/%llx/%llx", (long)getpid(), out->fd,
           (unsigned long long)m.a, (unsigned long long)m.b);
  return true;
}

bool os_shared_open(const char *name, size_t bytes, os_shared *out) {
  long process;
  int number;
  unsigned long long a, b;
  char path[64];
  struct stat st;
  *out = (os_shared){.fd = -1};
  if (sscanf(name, "%ld/%d/%llx/%llx", &process, &number, &a, &b) != 4) return false;
  snprintf(path, sizeof path, "/proc/%ld/fd/%d", process, number);
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return false;
  bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size == bytes &&
            map(fd, bytes, out);
  close(fd);
  if (ok && memcmp(out->at, &(mark){a, b}, sizeof(mark)) == 0) return true;
  os_shared_close(out);
  return false;
}

void os_shared_close(os_shared *s) {
  if (!s->at) return;
  munmap(s->at, s->bytes);
  if (s->fd >= 0) close(s->fd);
  *s = (os_shared){.fd = -1};
}
