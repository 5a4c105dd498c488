/* A line that says that there is work, once it takes over a second: on standard error, where that
 * is a terminal. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <pthread.h>

#include "base/base.h"

typedef struct progress {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t over;
  bool runs, done, told;
} progress;

void progress_begin(progress *p);
void progress_end(progress *p);

#endif
