/* Inside api only: programs and runtimes, and the images of the ones on the others.
 *
 * An image is made by the first run of a program on a runtime and kept for the next ones, by both:
 * whichever is freed first releases it. Programs and runtimes may be shared by threads, and freed
 * by different ones at a time. */
#ifndef API_IMAGES_H
#define API_IMAGES_H

#include <pthread.h>

#include <stdatomic.h>

#include "compile/compile.h"
#include "exec/exec.h"
#include "ffi/ffi.h"
#include "terrazzo/terrazzo.h"

typedef struct image_link image_link;

typedef struct image_list {
  pthread_mutex_t lock;
  image_link **links;
  u32 len, cap;
} image_list;

struct tz_program {
  executable *exe;
  image_list images;
  ffi_program *handlers; /* of its calls, since its first image; NULL: it makes none */
};

struct tz_runtime {
  executor *on;
  executor_transport *job; /* NULL: this process runs all devices */
  u32 rank, size;          /* of the job */
  atomic_ullong launches;  /* numbered alike in all processes */
  ffi_threads *handlers;
  image_list images;
};

void images_init(image_list *l);
void images_deinit(image_list *l); /* releases what is left of them */

static inline size_t tensor_bytes(dtype type, i64s dims) {
  size_t n = dtype_size(type); /* compile has checked that it fits */
  for (size_t i = 0; i < dims.len; i++) n *= (size_t)dims.data[i];
  return n;
}
/* Borrows from the program; NULL: an empty tensor, and false. */
bool tensor_put(const compile_tensor *t, tz_tensor *out);

/* The caller's reference, while both are alive. */
status image_of(tz_runtime *r, tz_program *p, executor_image **out_image) MUST_USE;

#endif
