/* For the tests of the public C API: they take an error, drop it, and say whether it was right. */
#ifndef TESTS_API_H
#define TESTS_API_H

#include <string.h>

#include "terrazzo/terrazzo.h"
#include "tests/unit.h"

/* There is none. */
static inline bool fine(tz_error *e) {
  if (e) fprintf(stderr, "%s\n", tz_error_message(e));
  bool ok = e == NULL;
  tz_error_free(e);
  return ok;
}

/* There is one, with this in its message. */
static inline bool refused(tz_error *e, const char *why) {
  bool ok = e && strstr(tz_error_message(e), why);
  if (e && !ok) fprintf(stderr, "got: %s\nnot: %s\n", tz_error_message(e), why);
  tz_error_free(e);
  return ok;
}

/* There is none; one that there is says that memory ran out. */
static inline bool had_memory(tz_error *e) {
  bool ok = e == NULL;
  if (!ok && tz_error_code(e) != 8)
    CHECK(fine(e));
  else
    tz_error_free(e);
  return ok;
}

/* How many bytes a file has, which are put into `to`; 0: it cannot be read, or has `room` or more.
 */
static inline size_t read_whole(const char *path, char *to, size_t room) {
  FILE *f = fopen(path, "rb");
  size_t n = f ? fread(to, 1, room, f) : 0;
  bool whole = f && n < room && !ferror(f);
  if (f) fclose(f);
  return whole ? n : 0;
}

#endif
