/* What steps that are done by strips may touch, and how: prog_strips says the rules. */
#include "program/parts.h"

/* ---- accesses ---- */

static const i64 no_stride[4 * PROG_MAX_DIMS];

static void accesses_loop(const prog_loop *l, access_fn *fn, void *user) {
  step_access a = {.rank = l->rank, .dims = l->dims};
  for (u32 i = 0; i < l->num_in; i++) {
    a.slot = l->in[i].slot, a.offset = l->in[i].offset, a.stride = l->in[i].stride;
    fn(user, &a);
  }
  a.offset = 0, a.stride = no_stride;
  for (u32 i = 0; l->reduced && i < l->num_out; i++) {
    a.slot = l->init[i];
    fn(user, &a);
  }
  a.write = true;
  a.rank = l->rank - l->reduced;
  for (u32 i = 0; i < l->num_out; i++) {
    a.slot = l->out[i].slot, a.offset = l->out[i].offset, a.stride = l->out[i].stride;
    fn(user, &a);
  }
}

static void accesses_dot(const prog_dot *d, access_fn *fn, void *user) {
  u32 rank = d->nb + d->nm + d->nn + d->nk;
  fn(user, &(step_access){d->lhs, false, rank, d->lhs_offset, d->dims, d->lhs_stride});
  fn(user, &(step_access){d->rhs, false, rank, d->rhs_offset, d->dims, d->rhs_stride});
  fn(user, &(step_access){d->out, true, rank - d->nk, d->out_offset, d->dims, d->out_stride});
}

static void accesses_copy(const prog_copy *c, access_fn *fn, void *user) {
  fn(user, &(step_access){c->src.slot, false, c->rank, c->src.offset, c->dims, c->src.stride});
  fn(user, &(step_access){c->dst.slot, true, c->rank, c->dst.offset, c->dims, c->dst.stride});
}

/* Rows of a gather: the first dims of its result that those of its indices are too. */
static u32 gather_rows(const prog_gather *g) {
  u32 n = 0;
  if (g->scatter) return 0;
  while (n < g->other_dims.len && n < g->indices_dims.len && (i64)n != g->index_vector_dim &&
         !i64s_contain(g->offset_dims, n))
    n++;
  return n;
}

static void access_dense(u32 slot, bool write, i64s dims, access_fn *fn, void *user) {
  i64 stride[PROG_MAX_DIMS], n = 1;
  for (size_t d = dims.len; d-- > 0; n *= dims.data[d]) stride[d] = n;
  fn(user, &(step_access){slot, write, (u32)dims.len, 0, dims.data, stride});
}
/* Any row may read any element of the operand. */
static void accesses_gather(const prog_gather *g, access_fn *fn, void *user) {
  fn(user, &(step_access){g->operand[0], false, gather_rows(g), 0, g->other_dims.data, no_stride});
  access_dense(g->indices, false, g->indices_dims, fn, user);
  access_dense(g->other[0], true, g->other_dims, fn, user);
}

void prog_step_accesses(const prog_step *s, access_fn *fn, void *user) {
  if (s->kind == STEP_loop) accesses_loop(s->u.loop_, fn, user);
  if (s->kind == STEP_gather) accesses_gather(s->u.gather_, fn, user);
  if (s->kind == STEP_dot) accesses_dot(s->u.dot_, fn, user);
  if (s->kind == STEP_copy) accesses_copy(s->u.copy_, fn, user);
}

prog_dot prog_dot_turned(arena *a, const prog_dot *d) {
  prog_dot t = {
      .lhs = d->rhs, .rhs = d->lhs, .out = d->out, d->nb, d->nn, d->nm, d->nk, .parts = d->parts};
  t.lhs_offset = d->rhs_offset;
  t.rhs_offset = d->lhs_offset;
  t.out_offset = d->out_offset;
  const i64 *from[] = {d->dims, d->rhs_stride, d->lhs_stride, d->out_stride};
  i64 **to[] = {&t.dims, &t.lhs_stride, &t.rhs_stride, &t.out_stride};
  u32 m = d->nb, n = m + d->nm, k = n + d->nn;
  for (u32 i = 0; i < COUNT(from); i++) {
    i64 *list = *to[i] = ARENA_ARRAY(a, i64, k + d->nk + 1);
    memcpy(list, from[i], m * sizeof(i64));
    memcpy(list + m, from[i] + n, d->nn * sizeof(i64));
    memcpy(list + m + d->nn, from[i] + m, d->nm * sizeof(i64));
    memcpy(list + k, from[i] + k, d->nk * sizeof(i64));
  }
  return t;
}

u32 prog_step_row_dims(const prog_step *s, const i64 **out_dims) {
  const i64 *dims = NULL;
  u32 n = 0;
  if (s->kind == STEP_loop) dims = s->u.loop_->dims, n = s->u.loop_->rank - s->u.loop_->reduced;
  if (s->kind == STEP_dot && !s->u.dot_->by_tiles && !s->u.dot_->parts)
    dims = s->u.dot_->dims, n = s->u.dot_->nb + s->u.dot_->nm;
  if (s->kind == STEP_copy) dims = s->u.copy_->dims, n = s->u.copy_->rank;
  if (s->kind == STEP_gather) dims = s->u.gather_->other_dims.data, n = gather_rows(s->u.gather_);
  if (out_dims) *out_dims = dims;
  return n;
}

typedef struct touch_search {
  u32 slot;
  bool write;
  u32 found;
} touch_search;
static void look(void *user, const step_access *a) {
  touch_search *t = user;
  t->found += a->slot == t->slot && a->write == t->write;
}
u32 prog_step_touches(const prog_step *s, u32 slot, bool write) {
  touch_search t = {slot, write, 0};
  prog_step_accesses(s, look, &t);
  return t.found;
}

/* ---- rows ---- */

/* Whether an access keeps to its row's part of the slot. */
static bool keeps_rows(const program *p, const prog_strips *r, const step_access *a) {
  u64 rows = prog_volume(r->dims, r->rank), count = p->slots[a->slot].count;
  if (count == 0 || count % rows || count > INT64_MAX) return false;
  i64 part = (i64)(count / rows), stride = part, low = a->offset, high = a->offset;
  for (u32 d = r->rank; d-- > 0; stride *= r->dims[d])
    if (r->dims[d] > 1 && a->stride[d] != stride) return false;
  for (u32 d = r->rank; d < a->rank; d++)
    *(a->stride[d] < 0 ? &low : &high) += (a->dims[d] - 1) * a->stride[d];
  return low >= 0 && high < part;
}

typedef struct touch {
  u32 slot, step;
  bool write, by_rows;
  u64 elements; /* written */
} touch;
typedef struct touches {
  const program *p;
  const prog_strips *r;
  u32 step, n;
  bool empty, too_many;
  touch list[PROG_MAX_TOUCHES];
} touches;

static void note(void *user, const step_access *a) {
  touches *t = user;
  for (u32 d = 0; d < a->rank; d++) t->empty |= a->dims[d] == 0;
  if (t->empty || t->n == COUNT(t->list)) {
    t->too_many = t->n == COUNT(t->list);
    return;
  }
  t->list[t->n++] = (touch){a->slot, t->step, a->write, keeps_rows(t->p, t->r, a),
                            a->write ? prog_volume(a->dims, a->rank) : 0};
}
static void find_touches(touches *t, const program *p, const prog_strips *r) {
  *t = (touches){.p = p, .r = r};
  for (; t->step < r->n; t->step++) prog_step_accesses(&r->steps[t->step], note, t);
}

static bool in_place(const touches *t, u32 in, u32 out) {
  const prog_slot *x = &t->p->slots[in], *y = &t->p->slots[out];
  if (x->count != y->count || dtype_size(x->type) != dtype_size(y->type)) return false;
  u32 first = t->n;
  for (u32 i = t->n; i-- > 0;)
    if (t->list[i].slot == out) first = t->list[i].step;
  for (u32 i = 0; i < t->n; i++) {
    const touch *a = &t->list[i];
    if (a->slot != in && a->slot != out) continue;
    if (!a->by_rows) return false;
    if (a->slot == in && (a->write || a->step > first)) return false;
    if (a->slot == in && a->step == first &&
        !prog_step_in_place(t->p, &t->r->steps[first], in, out))
      return false;
  }
  return true;
}

bool prog_strips_in_place(const program *p, const prog_strips *r, u32 in, u32 out) {
  touches t;
  find_touches(&t, p, r);
  return in_place(&t, in, out);
}

/* What a step reads of touch `at`'s slot has been written before, whole, or nothing of it. */
static bool is_complete(const touches *t, u32 at) {
  u64 written = 0, count = t->p->slots[t->list[at].slot].count;
  for (u32 i = 0; i < t->n; i++)
    if (t->list[i].slot == t->list[at].slot && t->list[i].step < t->list[at].step)
      written += t->list[i].elements;
  return written >= count || (written == 0 && t->p->slots[t->list[at].slot].kind != SLOT_STRIP);
}

/* Indices of rows become inputs. */
static bool has_room(const prog_loop *l) { return l->num_in + vm_count_iotas(&l->code) <= 64; }

static void weigh(const touches *t, strips_bytes *out) {
  *out = (strips_bytes){0};
  for (u32 i = 0; i < t->n; i++) {
    bool first = true, again = false, written = false;
    for (u32 k = 0; k < t->n && first; k++) {
      if (t->list[k].slot != t->list[i].slot) continue;
      first = k >= i;
      again |= t->list[k].step != t->list[i].step;
      written |= t->list[k].write;
    }
    if (!first || !again) continue;
    u64 bytes = prog_slot_bytes(&t->p->slots[t->list[i].slot]);
    out->all += bytes;
    if (written) out->written += bytes;
    if (!written && bytes > out->largest) out->largest = bytes;
  }
}

/* Of a write: who else touches its slot. */
static const char *check_write(const touches *t, u32 at) {
  const touch *a = &t->list[at];
  const prog_slot *y = &t->p->slots[a->slot];
  for (u32 k = 0; k < t->n; k++) {
    const touch *b = &t->list[k];
    if (k != at && b->slot == a->slot && !(a->by_rows && b->by_rows))
      return "slot of strips touched across rows";
    const prog_slot *x = &t->p->slots[b->slot];
    if (x->kind == SLOT_PARAM && y->kind == SLOT_RESULT && y->alias == (i32)x->index &&
        !in_place(t, b->slot, a->slot))
      return "parameter that strips write over";
  }
  return NULL;
}

const char *prog_strips_check(const program *p, const prog_strips *r, strips_bytes *out_bytes) {
  touches t;
  for (u32 i = 0; i < r->n; i++)
    if (r->steps[i].kind == STEP_loop && !has_room(r->steps[i].u.loop_))
      return "loop of too many inputs and indices";
  find_touches(&t, p, r);
  if (t.empty || t.too_many) return "strips of nothing, or of too much";
  for (u32 i = 0; i < t.n; i++) {
    const touch *a = &t.list[i];
    if (p->slots[a->slot].kind == SLOT_STRIP && !a->by_rows) return "row outside its strip";
    if (!a->write && !is_complete(&t, i)) return "row read before it is written";
    const char *error = a->write ? check_write(&t, i) : NULL;
    if (error) return error;
  }
  if (out_bytes) weigh(&t, out_bytes);
  return NULL;
}
