#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The cursor stays where the line begins, so that whatever is said next is said over it. */
static void *tell(void *user) {
  progress *p = user;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  pthread_mutex_lock(&p->lock);
  for (unsigned seconds = 1; !p->done; seconds++) {
    until.tv_sec++;
    while (!p->done && pthread_cond_timedwait(&p->over, &p->lock, &until) == 0) continue;
    if (!p->done) fprintf(stderr, "terrazzo: at work, %u s\r", seconds);
    p->told |= !p->done;
  }
  pthread_mutex_unlock(&p->lock);
  return NULL;
}

void progress_begin(progress *p) {
  const char *term = getenv("TERM");
  *p = (progress){.lock = PTHREAD_MUTEX_INITIALIZER, .over = PTHREAD_COND_INITIALIZER};
  if (!isatty(STDERR_FILENO) || !term || strcmp(term, "dumb") == 0) return;
  p->runs = pthread_create(&p->thread, NULL, tell, p) == 0;
}

void progress_end(progress *p) {
  if (!p->runs) return;
  pthread_mutex_lock(&p->lock);
  p->done = true;
  pthread_cond_signal(&p->over);
  pthread_mutex_unlock(&p->lock);
  pthread_join(p->thread, NULL);
  if (p->told) fputs("\033[K", stderr);
}
