/* What a loop computes of constants, values from outside and carried ones that stay the same, once
 * and in front of it, where that is less to do.
 *
 * That is all that takes a step of its own anyway, as products and reductions do, and of
 * elementwise ops what takes long, what such a step reads, and what reads more than it gives. Other
 * elementwise ops, broadcasts and views cost next to nothing where they are used, and would have to
 * be read from memory instead. Nothing that may have an effect or may wait moves, since a loop may
 * end before it begins.
 *
 * It takes memory as long as the loop runs: what takes more than it is made of, and not long, as
 * much as lies in a cache, where reading it is no more than making it anew; the rest as much as
 * what the loop carries. */
#include "compile/invariant.h"

#include "base/index.h"
#include "compile/lower.h"
#include "partition/loop.h"

/* FOLD: work that computes on the way what it reads. */
enum { STAYS, VIEW, WORK, FOLD, EXPRESSION };

/* Few, and only asked for in loops. */
static const u16 kinds[][2] = {
    {OP_constant, VIEW},
    {OP_sdy_constant, VIEW},
    {OP_iota, VIEW},
    {OP_broadcast_in_dim, VIEW},
    {OP_reshape, VIEW},
    {OP_transpose, VIEW},
    {OP_slice, VIEW},
    {OP_reverse, VIEW},
    {OP_partition_id, VIEW},
    {OP_replica_id, VIEW},
    {OP_reduce, FOLD},
    {OP_concatenate, FOLD},
    {OP_pad, FOLD},
    {OP_dynamic_update_slice, FOLD},
    {OP_dot, WORK},
    {OP_dot_general, WORK},
    {OP_convolution, WORK},
    {OP_reduce_window, WORK},
    {OP_select_and_scatter, WORK},
    {OP_sort, WORK},
    {OP_chlo_top_k, WORK},
    {OP_gather, WORK},
    {OP_scatter, WORK},
    {OP_dynamic_slice, WORK},
    {OP_fft, WORK},
    {OP_cholesky, WORK},
    {OP_triangular_solve, WORK},
    {OP_rng_bit_generator, WORK},
};

/* An op that could go, and what it would be in front of the loop, as long as anybody wants it. */
typedef struct candidate {
  op *o, *before;
  u8 kind;
  bool heavy;
  u32 cost;  /* elementwise ops below it */
  i64 reads; /* bytes that it is made of */
} candidate;

typedef struct hoist {
  ir_module *m;
  arena *a;
  op *loop;
  ir_map *made;  /* what stands in front of the loop for values of it */
  hash_index of; /* op: its candidate */
  VEC(candidate *) all;
  i64 room, little; /* bytes: for all, for what takes more than it is made of */
} hoist;

/* ---- what could go ---- */

static u8 kind_of(const op *o) {
  if (select_is_elementwise(o)) return EXPRESSION;
  for (size_t i = 0; i < COUNT(kinds); i++)
    if (op_kind(o) == kinds[i][0]) return (u8)kinds[i][1];
  return STAYS;
}

static bool is_fixed(const hoist *h, value *v) {
  return ir_map_get(h->made, v) != v || loop_from_outside(h->loop, v) == v;
}

/* Also what its regions see from outside of them. */
static bool reads_fixed(const hoist *h, const op *o) {
  for (u32 i = 0; i < o->num_operands; i++)
    if (!is_fixed(h, op_operand(o, i))) return false;
  for (u32 r = 0; r < o->num_regions; r++) {
    const block *b = op_body(o, r);
    for (const op *k = b->first; k; k = k->next) {
      if (k->num_regions) return false;
      for (u32 i = 0; i < k->num_operands; i++) {
        value *v = op_operand(k, i);
        const block *home = v->is_arg ? v->def.block : v->def.op->parent;
        if (home != b && !is_fixed(h, v)) return false;
      }
    }
  }
  return true;
}

static i64 bytes_of(const op *o) {
  i64 sum = 0;
  for (u32 i = 0; i < o->num_results; i++)
    if (!checked_add(sum, shard_bytes(op_result(o, i)->type, NULL), &sum)) return INT64_MAX;
  return sum;
}

static const candidate *candidate_of(const hoist *h, const value *v) {
  const op *o = value_op(v);
  return o ? index_get(&h->of, o) : NULL;
}

/* From outside: what it is a broadcast of. */
static i64 leaf_bytes(const value *v) {
  const op *o = value_op(v);
  while (o && op_is(o, broadcast_in_dim)) o = value_op(v = op_operand(o, 0));
  return o && (op_has(o, CONSTANT) || op_is(o, iota)) ? 0 : shard_bytes(v->type, NULL);
}

static void weigh(const hoist *h, candidate *x) {
  enum { MOST = 1 << 10 };
  x->heavy = x->kind == EXPRESSION && select_is_heavy(x->o);
  x->cost = x->kind == EXPRESSION;
  for (u32 i = 0; i < x->o->num_operands; i++) {
    const value *v = op_operand(x->o, i);
    const candidate *in = candidate_of(h, v);
    if (!checked_add(x->reads, in ? in->reads : leaf_bytes(v), &x->reads)) x->reads = INT64_MAX;
    if (!in) continue;
    x->heavy |= in->heavy;
    x->cost = x->cost + in->cost < MOST ? x->cost + in->cost : MOST;
  }
  if (x->kind == VIEW) x->reads = min_i64(x->reads, bytes_of(x->o));
}

static void find(hoist *h, block *b) {
  for (op *o = b->first; o; o = o->next) {
    u8 kind = kind_of(o);
    if (kind == STAYS || !reads_fixed(h, o)) continue;
    candidate *x = ARENA_NEW(h->a, candidate);
    *x = (candidate){.o = o, .kind = kind, .before = op_clone(h->m, o, h->made)};
    op_insert(x->before, h->loop->parent, h->loop);
    index_set(&h->of, h->a, o, x);
    VEC_PUSH(h->a, h->all, x);
  }
}

/* ---- what goes ---- */

enum { NOBODY, FUSES, WHOLE };

/* How those read v that stay in the loop: they compute it on the way, or want it in memory. What
 * the loop hands on to its next round is written anyway. */
static int readers(const hoist *h, const value *v, const block *home) {
  int most = NOBODY;
  for (const use *u = v->uses; u && most != WHOLE; u = u->next) {
    const op *o = u->owner;
    const candidate *x = index_get(&h->of, o);
    int how = FUSES;
    if (x)
      how = x->kind == VIEW ? readers(h, op_result(o, 0), home) : NOBODY;
    else if (op_has(o, TERMINATOR) && o->parent == home)
      how = NOBODY;
    else if (o->parent != home || kind_of(o) == STAYS ||
             (kind_of(o) == WORK && !lower_sums_up(o, v)))
      how = WHOLE;
    most = how > most ? how : most;
  }
  return most;
}

static bool pays(const hoist *h, const candidate *x) {
  enum { FREE = 2, CHEAP = 8 };
  const op *o = x->o;
  i64 n;
  if (x->kind != EXPRESSION) return x->kind != VIEW;
  const value *v = op_result(o, 0);
  int how = readers(h, v, o->parent);
  if (how == NOBODY || !type_num_elements(v->type, &n)) return false;
  if (x->heavy || n == 1) return x->heavy;
  i64 more = x->reads - bytes_of(o);
  return how == WHOLE || more > 0 || x->cost > (more ? CHEAP : FREE);
}

static void decide(hoist *h, candidate *x) {
  i64 bytes = bytes_of(x->o);
  weigh(h, x);
  bool more = bytes > x->reads && !x->heavy;
  if (bytes > (more ? h->little : h->room) || !pays(h, x)) return;
  h->room -= bytes;
  if (more) h->little -= bytes;
  index_set(&h->of, h->a, x->o, NULL);
  for (u32 i = 0; i < x->o->num_results; i++)
    value_replace(op_result(x->o, i), op_result(x->before, i));
}

static bool is_used(const op *o) {
  for (u32 i = 0; i < o->num_results; i++)
    if (o->results[i].uses) return true;
  return false;
}

static walk_result hoist_loop(void *user, op *loop) {
  enum { LITTLE = 1 << 20 };
  hoist *h = user;
  if (!op_is(loop, while)) return WALK_ON;
  *h = (hoist){.m = h->m, .a = h->a, .loop = loop, .made = ir_map_create(h->a)};
  h->room = loop_room(NULL, loop);
  h->little = LITTLE;
  for (u32 r = 0; r < 2; r++) {
    block *b = op_body(loop, r);
    for (u32 i = 0; i < b->num_args; i++) {
      value *v = loop_from_outside(loop, b->args[i]);
      if (v) ir_map_set(h->made, b->args[i], v);
    }
    find(h, b);
  }
  for (size_t i = 0; i < h->all.len; i++) decide(h, h->all.data[i]);
  for (size_t i = h->all.len; i-- > 0;) {
    if (!is_used(h->all.data[i]->before)) op_erase(h->all.data[i]->before);
    if (!is_used(h->all.data[i]->o)) op_erase(h->all.data[i]->o);
  }
  return WALK_ON;
}

void invariant_hoist(ir_module *m, arena *scratch, op *root) {
  hoist h = {.m = m, .a = scratch};
  if (module_may_have(m, while)) op_walk_post(root, hoist_loop, &h);
}
