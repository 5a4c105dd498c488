/* What all executors share: references, which threads are workers, and a host's arrays in memory
 * that it can address. All else is the table's. */
#include "device/executor.h"

#include "device/copy.h"

void executor_begin(executor *x, const executor_ops *ops) {
  x->ops = ops;
  atomic_init(&x->refs, 1);
}

executor *executor_retain(executor *x) {
  atomic_fetch_add_explicit(&x->refs, 1, memory_order_relaxed);
  return x;
}

void executor_release(executor *x) {
  if (!x || atomic_fetch_sub_explicit(&x->refs, 1, memory_order_acq_rel) != 1) return;
  x->ops->stop(x);
  x->ops->destroy(x);
}

static _Thread_local bool is_worker;

bool executor_on_worker(void) { return is_worker; }
void executor_set_worker(bool is) { is_worker = is; }

/* ---- memory that the host can address ---- */

static bool is_empty(i64s dims) {
  for (size_t i = 0; i < dims.len; i++)
    if (dims.data[i] == 0) return true;
  return false;
}

void executor_host_write(void *to, const executor_array *a, const void *from) {
  i64 dense[DEV_MAX_RANK];
  size_t width = dtype_size(a->type), bytes = width;
  if (is_empty(a->dims)) return;
  dev_dense_strides(a->dims, width, dense);
  dev_copy_strided(to, dense, from, a->byte_strides ? a->byte_strides : dense, a->dims, width);
  if (a->type != DTYPE_pred) return;
  for (size_t i = 0; i < a->dims.len; i++) bytes *= (size_t)a->dims.data[i];
  for (size_t i = 0; i < bytes; i++) ((u8 *)to)[i] = ((u8 *)to)[i] != 0;
}

void executor_host_read(const void *from, const executor_array *a, void *to) {
  i64 dense[DEV_MAX_RANK];
  size_t width = dtype_size(a->type);
  if (is_empty(a->dims)) return;
  dev_dense_strides(a->dims, width, dense);
  dev_copy_strided(to, a->byte_strides ? a->byte_strides : dense, from, dense, a->dims, width);
}
