/* Several functions at once, as one program. See parallel.h.
 *
 *   %r:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@f], [@g]]}
 *
 * becomes, on both devices:
 *
 *   %x:2 = case %device { call @f(%a), zeros of what @g gives } { zeros, call @g(%b) }
 *   %r#0 = slice 0 of all_gather(%x#0),  %r#1 = slice 1 of all_gather(%x#1)
 *
 * Devices that run the same function are in one branch, or in none if there is one function only,
 * so that collectives in it are one step to all of them. */
#include "compile/parallel.h"

typedef struct grid {
  ir_module *m;
  expander e;
  op *o; /* run_parallel */
  u32 replicas, partitions, n;
  u32 all;       /* devices of the program: those from n on have no function */
  op **fn;       /* by device: its function */
  u32 *in, *out; /* by device: where its operands and results begin in those of `o` */
  op **distinct; /* functions, each once */
  u32 num_distinct;
  u32 *which; /* by device: its function in `distinct`; num_distinct: none */
  value *id;  /* number of the device, i32; NULL: there is only one */
} grid;

static types inputs_of(const op *fn) {
  return type_inputs(attr_as(type_ref, op_attr(fn, SLOT_NAME(function_type)))->type);
}
static types results_of(const op *fn) {
  return type_results(attr_as(type_ref, op_attr(fn, SLOT_NAME(function_type)))->type);
}

/* ---- reading ---- */

static void read_grid(grid *g) {
  struct run_parallel_attrs a;
  view_run_parallel(g->o, &a);
  g->replicas = (u32)a.programs.len;
  g->partitions = (u32)attr_as(array, a.programs.data[0])->elems.len;
  g->n = g->replicas * g->partitions;
  g->fn = ARENA_ARRAY(g->e.a, op *, g->n);
  g->distinct = ARENA_ARRAY(g->e.a, op *, g->n);
  g->in = ARENA_ARRAY(g->e.a, u32, g->n);
  g->out = ARENA_ARRAY(g->e.a, u32, g->n);
  g->which = ARENA_ARRAY(g->e.a, u32, g->all);
  u32 in = 0, out = 0;
  for (u32 k = 0; k < g->n; k++) {
    const attr *name =
        attr_as(array, a.programs.data[k / g->partitions])->elems.data[k % g->partitions];
    op *fn = g->fn[k] = symbol_find(g->m->root, symbol_of(name));
    g->in[k] = in;
    g->out[k] = out;
    in += (u32)inputs_of(fn).len;
    out += (u32)results_of(fn).len;
    u32 w = 0;
    while (w < g->num_distinct && g->distinct[w] != fn) w++;
    if (w == g->num_distinct) g->distinct[g->num_distinct++] = fn;
    g->which[k] = w;
  }
  for (u32 k = g->n; k < g->all; k++) g->which[k] = g->num_distinct;
}

/* ---- making ---- */

static const type *scalar(expander *e, const type *elem) { return expand_tensor(e, NULL, 0, elem); }
static const type *index_type(expander *e) { return scalar(e, type_int(e->c, 32, SIGNLESS)); }
static value *index_number(expander *e, i64 v) {
  return expand_constant(e, index_type(e), number_int(v));
}

static value *nullary(expander *e, op_id id, const type *t) {
  return op_result(expand_op(e, id, NULL, 0, &t, 1), 0);
}

static value *device_number(expander *e, u32 partitions) {
  const type *t = scalar(e, type_int(e->c, 32, UNSIGNED));
  value *replica = nullary(e, OP_replica_id, t), *partition = nullary(e, OP_partition_id, t);
  value *rows = expand_2(e, OP_multiply, replica, expand_constant(e, t, number_int(partitions)), t);
  return expand_1(e, OP_convert, expand_2(e, OP_add, rows, partition, t), index_type(e));
}

/* of[device] */
static value *look_up(grid *g, expander *e, const u32 *of) {
  enum { EQUAL = 0 };
  bool same = true;
  for (u32 k = 0; k < g->all; k++) same = same && of[k] == k;
  value *v = same ? g->id : index_number(e, of[0]);
  for (u32 k = 1; k < g->all && !same; k++)
    if (of[k] != of[0])
      v = expand_select(e, expand_compare(e, EQUAL, g->id, index_number(e, k)),
                        index_number(e, of[k]), v);
  return v;
}

static op *make_case(grid *g, expander *e, value *index, u32 branches, types out) {
  op *o = op_create(g->m, &op_infos[OP_case], g->o->loc, &index, 1, out.data, out.len, branches);
  op_insert(o, e->block ? e->block : e->at->parent, e->at);
  for (u32 b = 0; b < branches; b++) region_append(&o->regions[b], block_create(g->m));
  return o;
}

static void end_branch(expander *in, value *const *v, size_t n) {
  expand_op(in, OP_return, v, n, NULL, 0);
}

/* The operands of function w on the device at hand. */
static value **operands(grid *g, expander *e, u32 w) {
  types t = inputs_of(g->distinct[w]);
  value **v = ARENA_ARRAY(e->a, value *, t.len + 1);
  u32 *rank = arena_zalloc(e->a, g->all * sizeof *rank), *who = ARENA_ARRAY(e->a, u32, g->n), n = 0;
  for (u32 k = 0; k < g->n; k++)
    if (g->which[k] == w) who[rank[k] = n++] = k;
  if (n == 1 || !t.len) {
    for (size_t i = 0; i < t.len; i++) v[i] = op_operand(g->o, g->in[who[0]] + i);
    return v;
  }
  op *choice = make_case(g, e, look_up(g, e, rank), n, t);
  for (u32 b = 0; b < n; b++) {
    expander in = expander_in(e, op_body(choice, b));
    for (size_t i = 0; i < t.len; i++) v[i] = op_operand(g->o, g->in[who[b]] + i);
    end_branch(&in, v, t.len);
  }
  for (size_t i = 0; i < t.len; i++) v[i] = op_result(choice, i);
  return v;
}

static op *call(grid *g, expander *e, u32 w) {
  op *fn = g->distinct[w];
  types t = results_of(fn);
  op *o = expand_op(e, OP_call, operands(g, e, w), inputs_of(fn).len, t.data, t.len);
  op_set(o, call, callee, attr_symbol(e->c, symbol_name(fn)));
  return o;
}

static value *nothing(expander *e, const type *t) {
  return t->kind == TYPE_TENSOR ? expand_constant(e, t, number_int(0))
                                : nullary(e, OP_create_token, t);
}

/* The results of all functions, one after the other; those of others than the device's are zeros.
 * first[w]: where those of function w begin. */
static value **run_functions(grid *g, u32 *first) {
  VEC(const type *) all = {0};
  for (u32 w = 0; w < g->num_distinct; w++) {
    types t = results_of(g->distinct[w]);
    first[w] = (u32)all.len;
    for (size_t i = 0; i < t.len; i++) VEC_PUSH(g->e.a, all, t.data[i]);
  }
  value **v = ARENA_ARRAY(g->e.a, value *, all.len + 1);
  if (g->num_distinct == 1 && g->all == g->n) {
    op *o = call(g, &g->e, 0);
    for (size_t i = 0; i < all.len; i++) v[i] = op_result(o, i);
    return v;
  }
  u32 branches = g->num_distinct + (g->all > g->n);
  op *choice =
      make_case(g, &g->e, look_up(g, &g->e, g->which), branches, (types){all.data, all.len});
  for (u32 w = 0; w < branches; w++) {
    expander in = expander_in(&g->e, op_body(choice, w));
    op *o = w < g->num_distinct ? call(g, &in, w) : NULL;
    for (size_t i = 0; i < all.len; i++) {
      bool own = o && i >= first[w] && i - first[w] < o->num_results;
      v[i] = own ? op_result(o, i - first[w]) : nothing(&in, all.data[i]);
    }
    end_branch(&in, v, all.len);
  }
  for (size_t i = 0; i < all.len; i++) v[i] = op_result(choice, i);
  return v;
}

/* ---- what all have then ---- */

static const attr *i64_array(expander *e, const i64 *v, size_t n) {
  return attr_i64_array(e->c, (i64s){v, n});
}

/* v of every device, along a new first dimension. */
static value *gather(grid *g, value *v) {
  expander *e = &g->e;
  size_t rank = v->type->dims.len;
  i64 *dims = ARENA_ARRAY(e->a, i64, rank + 1), *ids = ARENA_ARRAY(e->a, i64, g->all);
  for (u32 k = 0; k < g->all; k++) ids[k] = k;
  for (size_t d = 0; d < rank; d++) dims[d + 1] = v->type->dims.data[d];
  dims[0] = 1;
  v = expand_1(e, OP_reshape, v, expand_tensor(e, dims, rank + 1, v->type->elem));
  dims[0] = g->all;
  v = expand_1(e, OP_all_gather, v, expand_tensor(e, dims, rank + 1, v->type->elem));
  op *o = value_op(v);
  op_set(o, all_gather, all_gather_dim, attr_int(e->c, type_int(e->c, 64, SIGNLESS), 0));
  op_set(o, all_gather, replica_groups, attr_dense_i64(e->c, (i64s){(i64[]){1, g->all}, 2}, ids));
  op_set(o, all_gather, channel_handle, attr_make(e->c, channel_handle, .handle = 1, .type = 1));
  op_set(o, all_gather, use_global_device_ids, attr_unit(e->c));
  return v;
}

static value *part_of(grid *g, value *all, u32 k, const type *t) {
  expander *e = &g->e;
  size_t rank = all->type->dims.len;
  i64 *low = arena_zalloc(e->a, rank * sizeof *low), *high = ARENA_ARRAY(e->a, i64, rank);
  i64 *step = ARENA_ARRAY(e->a, i64, rank);
  for (size_t d = 0; d < rank; d++) {
    high[d] = all->type->dims.data[d];
    step[d] = 1;
  }
  low[0] = k;
  high[0] = k + 1;
  i64 *dims = arena_copy(e->a, high, rank * sizeof *high);
  dims[0] = 1;
  value *v = expand_1(e, OP_slice, all, expand_tensor(e, dims, rank, t->elem));
  op_set(value_op(v), slice, start_indices, i64_array(e, low, rank));
  op_set(value_op(v), slice, limit_indices, i64_array(e, high, rank));
  op_set(value_op(v), slice, strides, i64_array(e, step, rank));
  return expand_1(e, OP_reshape, v, t);
}

static void hand_out(grid *g, value *const *v, const u32 *first) {
  for (u32 w = 0; w < g->num_distinct; w++)
    for (size_t i = 0; i < results_of(g->distinct[w]).len; i++) {
      value *mine = v[first[w] + i], *all = NULL;
      for (u32 k = 0; k < g->n; k++) {
        if (g->which[k] != w) continue;
        value *result = op_result(g->o, g->out[k] + i);
        bool token = mine->type->kind != TYPE_TENSOR;
        if (!result->uses) continue;
        if (!all && !token && g->all > 1) all = gather(g, mine);
        value_replace(result, all ? part_of(g, all, k, mine->type) : mine);
      }
    }
}

/* ---- what one device says for all ---- */

/* Moves the op into a branch that only the first device takes. */
static void on_first(grid *g, op *o) {
  enum { EQUAL = 0 };
  if (!g->id) return;
  expander e = expander_before(g->m, g->e.a, o);
  value *first = expand_compare(&e, EQUAL, g->id, index_number(&e, 0));
  op *branch = op_create(g->m, &op_infos[OP_if], o->loc, &first, 1, NULL, 0, 2);
  op_insert(branch, o->parent, o);
  for (u32 r = 0; r < 2; r++) region_append(&branch->regions[r], block_create(g->m));
  op_unlink(o);
  op_insert(o, op_body(branch, 0), NULL);
  for (u32 r = 0; r < 2; r++) {
    expander in = expander_in(&e, op_body(branch, r));
    end_branch(&in, NULL, 0);
  }
}

/* The functions of an infeed are run, and what they give is put into its channel. */
static void feed(grid *g) {
  struct run_parallel_attrs a;
  view_run_parallel(g->o, &a);
  for (size_t i = 0; i < a.infeed.len; i++) {
    op *fn = symbol_find(g->m->root, symbol_of(a.infeed.data[i]));
    types t = results_of(fn);
    op *o = expand_op(&g->e, OP_call, NULL, 0, t.data, t.len);
    op_set(o, call, callee, attr_symbol(g->e.c, symbol_name(fn)));
    value *v = op_result(o, 0);
    on_first(g, channels_send(&g->e, CHANNEL_INFEED, &v, 1));
  }
}

static bool speaks(const op *o) {
  return op_is(o, interpreter_print) || op_is(o, probe) || op_is(o, expect_serialized_eq);
}

/* ---- the entry ---- */

/* The largest grid; in it the devices of all others have the numbers that they have there. */
static bool add_grid(ir_module *m, const op *o, module_devices *out) {
  struct run_parallel_attrs a;
  view_run_parallel(o, &a);
  u32 r = (u32)a.programs.len, p = (u32)attr_as(array, a.programs.data[0])->elems.len;
  if (out->replicas && p != out->partitions && (r > 1 || out->replicas > 1))
    return op_unimplemented(m->ctx, o, "over another grid than the one before");
  if (r * p > out->replicas * out->partitions) *out = (module_devices){p, r};
  return true;
}

static bool expand_one(ir_module *m, arena *scratch, op *o, value **id, const module_devices *all) {
  grid g = {.m = m, .e = expander_before(m, scratch, o), .o = o};
  g.all = (u32)(all->replicas * all->partitions);
  read_grid(&g);
  for (u32 k = 0; k < g.n; k++)
    for (size_t i = 0; i < results_of(g.fn[k]).len; i++) {
      const type *t = results_of(g.fn[k]).data[i];
      if (t->kind == TYPE_TENSOR && !type_is_static(t))
        return op_unimplemented(m->ctx, o, "with results of shapes that are not known");
    }
  if (g.all > 1 && !*id) {
    block *b = o->parent;
    expander top = expander_before(m, scratch, b->first);
    *id = device_number(&top, g.partitions);
  }
  g.id = *id;
  feed(&g);
  u32 *first = ARENA_ARRAY(scratch, u32, g.num_distinct);
  value **v = run_functions(&g, first);
  hand_out(&g, v, first);
  op_erase(o);
  return true;
}

static walk_result find_parallel(void *user, op *o) {
  op **found = user;
  if (!op_is(o, run_parallel)) return WALK_ON;
  *found = o;
  return WALK_STOP;
}

bool parallel_expand(ir_module *m, arena *scratch, op *main, module_devices *out, bool *fed) {
  value *id = NULL;
  *fed = false;
  *out = (module_devices){0};
  if (!module_may_have(m, run_parallel)) return true;
  FOR_OPS(o, op_body(main, 0))
  if (op_is(o, run_parallel) && !add_grid(m, o, out)) return false;
  FOR_OPS(o, op_body(main, 0)) {
    if (!op_is(o, run_parallel)) continue;
    *fed |= op_attr(o, SLOT_NAME(infeed)) != NULL;
    if (!expand_one(m, scratch, o, &id, out)) return false;
  }
  grid g = {.m = m, .e = expander_before(m, scratch, op_body(main, 0)->first), .id = id};
  FOR_OPS(o, op_body(main, 0)) {
    if (!speaks(o)) continue;
    if (op_is(o, probe)) value_replace(op_result(o, 0), op_operand(o, 0));
    on_first(&g, o);
  }
  op *left = NULL;
  op_walk(m->root, find_parallel, &left);
  return !left || op_unimplemented(m->ctx, left, "inside of another function or op than @main");
}
