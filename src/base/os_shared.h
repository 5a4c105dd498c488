/* Memory that processes of one machine share. */
#ifndef BASE_OS_SHARED_H
#define BASE_OS_SHARED_H

#include "base/base.h"

enum { OS_SHARED_NAME = 64 };
typedef struct os_shared {
  char *at; /* at a page's beginning; NULL: there is none */
  size_t bytes;
  int fd; /* of who made it; else -1 */
  char name[OS_SHARED_NAME];
} os_shared;

/* Zeros, which take memory as they are first written. False: the system does not want to. */
bool os_shared_create(size_t bytes, os_shared *out) MUST_USE;
/* What another process made, by its name and size. False: that is not on this machine, or not to
 * be seen from here. */
bool os_shared_open(const char *name, size_t bytes, os_shared *out) MUST_USE;
void os_shared_close(os_shared *s); /* a zeroed one is fine */

#endif
