/* Lists of uses in the order that the writer's were in.
 *
 * MLIR adds a use at the front of its value's list, so reading ops in order gives the last use
 * first, the natural order. Where a writer's lists were in another one, the file has a permutation
 * (version 3 on). It matters here because propagation visits users in that order, and must visit
 * them as Shardy would. */
#include <stdlib.h>

#include "bytecode/reader.h"

void read_use_orders(reader *r, cursor *c, size_t num_values) {
  u64 n = num_values != 1 ? get_count(r, c) : 1;
  for (u64 i = 0; i < n && !r->failed; i++) {
    use_order o = {.from = c->at};
    if (num_values != 1) o.place = get_uint(r, c);
    o.pairs = get_flagged(r, c, &o.count);
    if (r->failed) return;
    if (o.place >= num_values || o.count > cursor_left(c)) {
      fail_at(r, o.from, "expected the order of a value's uses");
      return;
    }
    o.indices.at = c->at;
    for (u64 k = 0; k < o.count && !r->failed; k++) get_uint(r, c);
    o.indices.end = c->at;
    if (!r->failed) VEC_PUSH(r->arena, r->orders, o);
  }
}

/* Ops by their place in the file, then operands: larger is later. */
static u64 use_id(const use *u) { return (u64)u->owner->num << 32 | (u64)(u - u->owner->operands); }

static int by_descending_id(const void *a, const void *b) {
  u64 x = use_id(*(use *const *)a), y = use_id(*(use *const *)b);
  return (x < y) - (x > y);
}

/* places[k] of the k-th use in the natural order; false: not an order of n uses. */
static bool places_of(reader *r, const use_order *o, u32 *places, bool *taken, size_t n) {
  cursor c = o->indices;
  for (size_t k = 0; k < n; k++) places[k] = (u32)k;
  if (o->pairs ? o->count & 1 : o->count != n) return false;
  for (u64 i = 0; i < o->count; i += o->pairs ? 2 : 1) {
    u64 k = o->pairs ? get_uint(r, &c) : i, place = get_uint(r, &c);
    if (k >= n || place >= n) return false;
    places[k] = (u32)place;
  }
  for (size_t k = 0; k < n; k++) {
    if (taken[places[k]]) return false;
    taken[places[k]] = true;
  }
  return true;
}

static void relink(value *v, use *const *list, size_t n) {
  use **link = &v->uses;
  for (size_t k = 0; k < n; k++) {
    *link = list[k];
    list[k]->link = link;
    link = &list[k]->next;
  }
  *link = NULL;
}

/* Where casts were left out a value has the uses of several, and no order is known for them. */
static void apply(reader *r, const use_order *o) {
  size_t n = 0;
  for (const use *u = o->value->uses; u; u = u->next) n++;
  use **natural = ARENA_ARRAY(r->arena, use *, n), **list = ARENA_ARRAY(r->arena, use *, n);
  u32 *places = ARENA_ARRAY(r->arena, u32, n);
  bool *taken = arena_zalloc(r->arena, n);
  n = 0;
  for (use *u = o->value->uses; u; u = u->next) natural[n++] = u;
  if (n) qsort(natural, n, sizeof *natural, by_descending_id);
  if (!o->indices.at) {
    relink(o->value, natural, n);
  } else if (places_of(r, o, places, taken, n)) {
    for (size_t k = 0; k < n; k++) list[places[k]] = natural[k];
    relink(o->value, list, n);
  } else if (!r->has_casts) {
    fail_at(r, o->from, "expected the order of the value's %zu uses", n);
  }
}

/* First those that were used before they were defined, which upset the natural order. */
void apply_use_orders(reader *r) {
  for (size_t i = 0; i < r->orders.len; i++) {
    const use_order *o = &r->orders.data[i];
    o->value->num = 0;
    if (!o->indices.at) apply(r, o);
  }
  for (size_t i = 0; i < r->orders.len && !r->failed; i++) {
    const use_order *o = &r->orders.data[i];
    if (!o->indices.at) continue;
    if (o->value->num++)
      fail_at(r, o->from, "expected one order of the value's uses");
    else
      apply(r, o);
  }
}
