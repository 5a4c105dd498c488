/* Folders of files, one a compilation. Processes may share the directory: whoever makes a folder
 * has it. */
#define _GNU_SOURCE
#include "compile/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_FOLDERS = 100000, NAME = 64 };

/* Of a name what a file's may have. */
static void plain_name(str name, char out[NAME]) {
  size_t n = 0;
  for (; n < name.len && n < NAME - 1; n++) {
    char c = name.data[n];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '_' || c == '-';
    out[n] = plain ? c : '_';
  }
  out[n] = 0;
}

status dump_open(const char *dir, str name, dump_folder *out) {
  const char *said = dir ? "" : "TERRAZZO_DUMP=";
  if (!dir) dir = getenv("TERRAZZO_DUMP");
  char word[NAME];
  *out = (dump_folder){0};
  if (!dir || !*dir) return NULL;
  plain_name(name.len ? name : STR("module"), word);
  bool made = mkdir(dir, 0777) == 0 || errno == EEXIST;
  for (u32 i = 0; made && i < MOST_FOLDERS; i++) {
    int n = snprintf(out->path, sizeof out->path, "%s/%04u-%s", dir, i, word);
    if ((size_t)n < sizeof out->path && mkdir(out->path, 0777) == 0) return NULL;
    if (errno != EEXIST) break;
  }
  out->path[0] = 0;
  return status_make(STATUS_INVALID_ARGUMENT, "%s%s: %s", said, dir, strerror(errno));
}

void dump_file(dump_folder *d, str stage, const char *suffix, str text) {
  char path[sizeof d->path + NAME + 32], word[NAME];
  if (!*d->path) return;
  plain_name(stage, word);
  snprintf(path, sizeof path, "%s/%03u-%s%s", d->path, d->files++, word, suffix);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  for (size_t at = 0; fd >= 0 && at < text.len;) {
    ssize_t n = write(fd, text.data + at, text.len - at);
    if (n <= 0 && errno != EINTR) break;
    if (n > 0) at += (size_t)n;
  }
  if (fd >= 0) close(fd);
}
