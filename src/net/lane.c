#include "net/lane.h"

bool lane_put(lane *l, const wire_head *h) {
  u64 at = atomic_load_explicit(&l->written, memory_order_relaxed);
  if (at - atomic_load_explicit(&l->read, memory_order_acquire) >= LANE_LENGTH) return false;
  l->heads[at % LANE_LENGTH] = *h;
  atomic_store_explicit(&l->written, at + 1, memory_order_release);
  return true;
}

const wire_head *lane_first(const lane *l) {
  u64 at = atomic_load_explicit(&l->read, memory_order_relaxed);
  bool any = atomic_load_explicit(&l->written, memory_order_acquire) != at;
  return any ? &l->heads[at % LANE_LENGTH] : NULL;
}

void lane_take(lane *l) {
  u64 at = atomic_load_explicit(&l->read, memory_order_relaxed);
  atomic_store_explicit(&l->read, at + 1, memory_order_release);
}
