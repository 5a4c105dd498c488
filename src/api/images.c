/* Who has an image: a link stands in the lists of a program and of a runtime.
 *
 * Locks are taken in this order: a program's, a runtime's, a link's. Either list may go at any
 * time, so each link has a lock of its own, under which its image is taken out and released: while
 * a program lets go of an image, its runtime waits before the executor ends. */
#include "api/images.h"

struct image_link {
  pthread_mutex_t lock;
  u32 refs; /* lists that have it */
  executor *on;
  executor_image *image; /* NULL: program or runtime is gone */
};

void images_init(image_list *l) {
  *l = (image_list){0};
  pthread_mutex_init(&l->lock, NULL); /* does not fail on Linux */
}

/* By one of its lists, which goes or has seen that the other has gone. */
static void drop(image_link *k) {
  pthread_mutex_lock(&k->lock);
  if (k->image) executor_image_release(k->on, k->image);
  k->image = NULL;
  bool last = --k->refs == 0;
  pthread_mutex_unlock(&k->lock);
  if (!last) return;
  pthread_mutex_destroy(&k->lock);
  mem_free(&mem_system, k, sizeof *k);
}

void images_deinit(image_list *l) {
  for (u32 i = 0; i < l->len; i++) drop(l->links[i]);
  mem_free(&mem_system, l->links, l->cap * sizeof *l->links);
  pthread_mutex_destroy(&l->lock);
}

static bool is_alive(image_link *k) {
  pthread_mutex_lock(&k->lock);
  bool alive = k->image != NULL;
  pthread_mutex_unlock(&k->lock);
  return alive;
}

/* Room for one more, links whose other side is gone being dropped first; false: no memory. The
 * list's lock is held. */
static bool reserve(image_list *l) {
  if (l->len < l->cap) return true;
  u32 kept = 0;
  for (u32 i = 0; i < l->len; i++)
    if (is_alive(l->links[i]))
      l->links[kept++] = l->links[i];
    else
      drop(l->links[i]);
  l->len = kept;
  if (2 * kept <= l->cap && l->cap) return true;
  u32 cap = l->cap ? 2 * l->cap : 4;
  image_link **links = mem_alloc(&mem_system, cap * sizeof *links);
  if (!links) return false;
  if (kept) memcpy(links, l->links, kept * sizeof *links);
  mem_free(&mem_system, l->links, l->cap * sizeof *l->links);
  l->links = links;
  l->cap = cap;
  return true;
}

/* A reference to the image that is there; NULL: none. The program's lock is held. */
static executor_image *find(const tz_runtime *r, const tz_program *p) {
  for (u32 i = 0; i < p->images.len; i++) {
    image_link *k = p->images.links[i];
    executor_image *found = NULL;
    pthread_mutex_lock(&k->lock);
    if (k->image && k->on == r->on) found = executor_image_retain(k->on, k->image);
    pthread_mutex_unlock(&k->lock);
    if (found) return found;
  }
  return NULL;
}

static void released(void *user) { executable_release(user); }

/* The image refers to the program in the executable, hence a reference of its own, which `released`
 * gives back once the executor is done with the image. The program's lock is held. */
static status make(tz_runtime *r, tz_program *p, executor_image **out_image) {
  if (!p->handlers) RETURN_IF_ERROR(ffi_program_create(p->exe->prog, &p->handlers));
  image_link *k = mem_zalloc(&mem_system, sizeof *k);
  if (!k || !reserve(&p->images) || !reserve(&r->images)) {
    mem_free(&mem_system, k, sizeof *k);
    return status_oom();
  }
  executable *e = executable_retain(p->exe);
  status bad = executor_image_create(r->on, e->prog, released, e, out_image);
  if (bad) {
    executable_release(e);
    mem_free(&mem_system, k, sizeof *k);
    return bad;
  }
  *k = (image_link){.refs = 2, .on = r->on, .image = executor_image_retain(r->on, *out_image)};
  pthread_mutex_init(&k->lock, NULL);
  p->images.links[p->images.len++] = k;
  r->images.links[r->images.len++] = k;
  return NULL;
}

/* Threads that run a program for the first time wait for the one that makes its image. */
status image_of(tz_runtime *r, tz_program *p, executor_image **out_image) {
  status bad = NULL;
  pthread_mutex_lock(&p->images.lock);
  *out_image = find(r, p);
  if (!*out_image) {
    pthread_mutex_lock(&r->images.lock);
    bad = make(r, p, out_image);
    pthread_mutex_unlock(&r->images.lock);
  }
  pthread_mutex_unlock(&p->images.lock);
  return bad;
}
