/* Processes that find one another, and what their wires carry: threads stand for them. */
#define _GNU_SOURCE
#include "base/os.h"
#include "net/job.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit.h"

enum { SIZE = 4, MESSAGES = 200, LARGE = 3 << 20 };

/* ---- a board ---- */

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  char keys[SIZE][64], values[SIZE][OS_MAX_ADDRESS];
  u32 n;
} pinned = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {{0}}, {{0}}, 0};

static status put(void *user, const char *key, str value) {
  (void)user;
  pthread_mutex_lock(&pinned.lock);
  snprintf(pinned.keys[pinned.n], 64, "%s", key);
  snprintf(pinned.values[pinned.n++], OS_MAX_ADDRESS, "%.*s", (int)value.len, value.data);
  pthread_cond_broadcast(&pinned.changed);
  pthread_mutex_unlock(&pinned.lock);
  return NULL;
}

static status get(void *user, const char *key, int milliseconds, char *out, size_t room) {
  (void)user, (void)milliseconds;
  pthread_mutex_lock(&pinned.lock);
  for (;;) {
    for (u32 i = 0; i < pinned.n; i++) {
      if (strcmp(pinned.keys[i], key) != 0) continue;
      snprintf(out, room, "%s", pinned.values[i]);
      pthread_mutex_unlock(&pinned.lock);
      return NULL;
    }
    pthread_cond_wait(&pinned.changed, &pinned.lock);
  }
}

/* ---- processes ---- */

typedef struct process {
  wire *w;
  u32 rank;
  os_listener *leader; /* NULL: by the board */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  u32 came[SIZE], left, wrong; /* by sender: how many */
  char *room;
  wire_message messages[SIZE][MESSAGES];
} process;

static process all[SIZE];
static char large[LARGE];

/* Every 50th message is a large one; their first byte says which. */
static u64 bytes_of(u32 i) { return i % 50 == 7 ? LARGE - i : i % 3; }

static void *room(void *user, u32 from, const wire_head *h) {
  process *p = user;
  (void)from;
  return h->bytes > LARGE ? NULL : p->room;
}
static void came(void *user, u32 from, const wire_head *h, void *at) {
  process *p = user;
  pthread_mutex_lock(&p->lock);
  u32 i = p->came[from]++;
  p->wrong += h->kind != i || h->bytes != bytes_of(i) || h->member != from;
  p->wrong += h->bytes > 100 && memcmp(at, large, h->bytes) != 0;
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->lock);
}
static void gone(void *user, u32 from, status why) {
  process *p = user;
  (void)from;
  pthread_mutex_lock(&p->lock);
  p->left++;
  p->wrong += why != NULL;
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->lock);
}
static void sent(wire_message *m) { m->user = NULL; }

static status connect_process(process *p) {
  if (!p->leader) return job_meet(NULL, p->rank, SIZE, &(job_board){.put = put, .get = get}, &p->w);
  if (p->rank == 0) return job_lead(NULL, SIZE, p->leader, &p->w);
  return job_follow(NULL, p->rank, SIZE, p->leader->address, &p->w);
}

/* Each sends as many to each, waits for theirs, and leaves; the first to leave cut nothing off. */
static void *live(void *user) {
  process *p = user;
  status s = connect_process(p);
  if (s) {
    fprintf(stderr, "%s\n", status_message(s).data);
    status_free(s);
    p->wrong++;
    return NULL;
  }
  CHECK(!wire_start(p->w, &(wire_user){.room = room, .came = came, .gone = gone, .user = p}));
  for (u32 i = 0; i < MESSAGES; i++)
    for (u32 to = 0; to < SIZE; to++) {
      wire_message *m = &p->messages[to][i];
      *m = (wire_message){.head = {.kind = i, .member = p->rank, .bytes = bytes_of(i)},
                          .data = large,
                          .sent = sent,
                          .user = p};
      if (to != p->rank) wire_send(p->w, to, m);
    }
  pthread_mutex_lock(&p->lock);
  for (u32 from = 0; from < SIZE; from++)
    while (from != p->rank && p->came[from] < MESSAGES) pthread_cond_wait(&p->changed, &p->lock);
  pthread_mutex_unlock(&p->lock);
  wire_close(p->w);
  for (u32 to = 0; to < SIZE; to++)
    for (u32 i = 0; to != p->rank && i < MESSAGES; i++) p->wrong += p->messages[to][i].user != NULL;
  return NULL;
}

static void test_job(os_listener *leader) {
  pthread_t threads[SIZE];
  for (u32 r = 0; r < SIZE; r++) {
    all[r] = (process){.rank = r, .leader = leader, .room = malloc(LARGE)};
    pthread_mutex_init(&all[r].lock, NULL);
    pthread_cond_init(&all[r].changed, NULL);
    CHECK(!pthread_create(&threads[r], NULL, live, &all[r]));
  }
  for (u32 r = 0; r < SIZE; r++) {
    pthread_join(threads[r], NULL);
    CHECK(all[r].wrong == 0);
    for (u32 from = 0; from < SIZE; from++) CHECK(all[r].came[from] == (from == r ? 0 : MESSAGES));
    free(all[r].room);
  }
}

static void test_texts(void) {
  u32 rank, size;
  const char *address;
  CHECK(job_read("2/4/host/1/x/y", &rank, &size, &address) && rank == 2 && size == 4);
  CHECK(strcmp(address, "host/1/x/y") == 0);
  const char *const wrong[] = {NULL, "", "4/4/a/1/x/y", "2/4", "a/4/b", "-1/4"};
  for (size_t i = 0; i < COUNT(wrong); i++) CHECK(!job_read(wrong[i], &rank, &size, &address));
  wire *w;
  status s[] = {job_follow(NULL, 0, 2, "h/1/x/y", &w), job_follow(NULL, 1, 2, "nothing", &w),
                job_follow(NULL, 3, 2, "h/1/x/y", &w)};
  for (size_t i = 0; i < COUNT(s); i++) {
    CHECK(status_get_code(s[i]) == STATUS_INVALID_ARGUMENT);
    status_free(s[i]);
  }
}

/* ---- what processes of a machine share ---- */

static void test_processors(void) {
  char all[OS_PROCESSORS], again[OS_PROCESSORS], one[OS_PROCESSORS];
  cpu_set_t set, first;
  u32 n = (u32)os_cpu_count();
  CHECK(os_cpu_share(1) == n && os_cpu_share(n) == 1 && os_cpu_share(n + 1) == 1);
  CHECK(os_cpu_share(2) == (n > 1 ? n / 2 : 1));
  CHECK(!sched_getaffinity(0, sizeof set, &set));
  os_name_processors(all);
  os_name_processors(again);
  CHECK(*all && !strchr(all, ' ') && strcmp(all, again) == 0);
  CPU_ZERO(&first);
  for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&first); i++)
    if (CPU_ISSET(i, &set)) CPU_SET(i, &first);
  CHECK(!sched_setaffinity(0, sizeof first, &first));
  os_name_processors(one);
  CHECK((strcmp(one, all) == 0) == (n == 1) && os_cpu_share(1) == 1);
  CHECK(!sched_setaffinity(0, sizeof set, &set));
}

int main(void) {
  os_listener l;
  for (size_t i = 0; i < LARGE; i++) large[i] = (char)(i * 37 >> 3);
  test_processors();
  test_texts();
  test_job(NULL);
  CHECK(!os_listen(NULL, &l));
  test_job(&l);
  os_listener_close(&l);
  return UNIT_END();
}
