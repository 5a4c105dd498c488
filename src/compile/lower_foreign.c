/* Custom calls whose operands and results lie in memory as their layouts say: LAPACK's routines, as
 * JAX calls them on the CPU, and handlers (ffi/ffi.h). What is not row-major is copied before
 * the call, and a result of the program after it. */
#include "compile/one_device.h"
#include "compile/steps.h"
#include "program/lapack.h"

/* A tensor of the call: where it is, and its dimensions from the outermost to the innermost. */
typedef struct placed {
  node *n;
  u32 slot;   /* in that order; the node's own where nothing else is wanted */
  bool plain; /* the node's own has that order */
  const i64 *dims;
  u32 order[PROG_MAX_DIMS];
} placed;

/* The layout of tensor i, if it has one: that of a token, which is pred[0] by now, says nothing. */
static const attr *layout_of(attrs layouts, size_t i, u32 rank) {
  const type *t = i < layouts.len ? attr_dense_type(layouts.data[i]) : NULL;
  i64 n;
  return t && type_num_elements(t, &n) && n == rank ? layouts.data[i] : NULL;
}

/* Its dimensions as tensor i's layout has them; plain: as they are. */
static placed place(lower *L, node *n, attrs layouts, size_t i) {
  placed p = {.n = n, .plain = true};
  const attr *layout = layout_of(layouts, i, n->rank);
  i64 *dims = ARENA_ARRAY(L->a, i64, n->rank + 1);
  for (u32 d = 0; d < n->rank; d++) {
    p.order[d] = layout ? (u32)attr_dense_int(layout, n->rank - 1 - d) : d;
    dims[d] = n->dims[p.order[d]];
    p.plain &= p.order[d] == d;
  }
  p.dims = dims;
  return p;
}

static u32 new_slot(lower *L, const placed *p) {
  return prog_work(L->b, (dtype)p->n->type, (u64)p->n->count);
}

/* The strides by which the node finds its elements in such a slot. */
static const i64 *strides_in(lower *L, const placed *p) {
  const i64 *here = lower_dense_strides(L, p->n->rank, p->dims);
  i64 *s = ARENA_ARRAY(L->a, i64, p->n->rank + 1);
  for (u32 d = 0; d < p->n->rank; d++) s[p->order[d]] = here[d];
  return s;
}

/* An operand that lies as it is wanted already is taken from there. */
static placed place_operand(lower *L, node *n, attrs layouts, size_t i) {
  placed p = place(L, n, layouts, i);
  if (!p.plain && lower_fills(n, strides_in(L, &p)))
    p.plain = true;
  else
    fuse_dense(L, n);
  p.slot = p.plain ? n->slot : new_slot(L, &p);
  return p;
}

/* A result that is no result of main's stays where the call writes it, and is seen from there;
 * apart: the call writes it elsewhere. */
static bool place_result(lower *L, op *o, attrs layouts, size_t i, bool apart, placed *out) {
  node *n = lower_new_node(L, o, op_result(o, i));
  if (!n) return false;
  *out = place(L, n, layouts, i);
  bool seen = !out->plain && !apart && n->result == NOWHERE;
  lower_make_dense(L, n, lower_new_slot(L, n));
  if (seen) {
    n->stride = strides_in(L, out);
    n->dense = false;
    out->plain = true;
  }
  out->slot = out->plain && !apart ? n->slot : new_slot(L, out);
  return true;
}

/* Between the node's slot and p's, if that is another. */
static void move(lower *L, const placed *p, bool back) {
  u32 rank = p->n->rank, from = back ? p->slot : p->n->slot, to = back ? p->n->slot : p->slot;
  const i64 *strides = lower_dense_strides(L, rank, p->n->dims);
  const i64 *here = lower_dense_strides(L, rank, p->dims);
  i64 there[PROG_MAX_DIMS];
  for (u32 d = 0; d < rank; d++) there[d] = strides[p->order[d]];
  if (from == to) return;
  if (p->plain)
    prog_add_move(L->b, from, to, lower_name(L), lower_loc(L));
  else
    prog_add_copy(L->b, rank, p->dims, from, 0, back ? here : there, to, 0, back ? there : here,
                  lower_name(L), lower_loc(L));
}

static attrs list_of(const op *o, str name) {
  const array_attr *a = attr_as(array, op_attr(o, name));
  return a ? a->elems : (attrs){0};
}

/* The result that is operand i's memory; its number of results: none. */
static u32 alias_of(const op *o, u32 i) {
  attrs list = list_of(o, SLOT_NAME(output_operand_aliases));
  for (size_t k = 0; k < list.len; k++) {
    const output_operand_alias_attr *a = attr_as(output_operand_alias, list.data[k]);
    if (!a || a->operand_index != i || a->operand_tuple_indices.len) continue;
    i64 r = a->output_tuple_indices.len ? a->output_tuple_indices.data[0] : 0;
    if (r >= 0 && r < o->num_results) return (u32)r;
  }
  return o->num_results;
}

static bool same_order(const placed *a, const placed *b) {
  return a->n->count == b->n->count && a->n->type == b->n->type && a->n->rank == b->n->rank &&
         !memcmp(a->order, b->order, a->n->rank * sizeof(u32));
}

/* What the call has written on the partition that made it, to a slot that all have. */
static void add_broadcast(lower *L, u32 device, placed *p) {
  u32 replicas = L->num_replicas, n = L->num_partitions, from = p->slot;
  p->slot = prog_work(L->b, (dtype)p->n->type, (u64)p->n->count);
  prog_collective c = {.kind = COLL_BROADCAST,
                       .n = 1,
                       .in = &from,
                       .out = &p->slot,
                       .num_groups = replicas,
                       .begin = ARENA_ARRAY(L->a, u32, replicas + 1),
                       .members = ARENA_ARRAY(L->a, u32, replicas * n)};
  for (u32 r = 0; r < replicas; r++) {
    u32 *group = c.members + r * n, k = 1;
    c.begin[r] = r * n;
    group[0] = r * n + device;
    for (u32 q = 0; q < n; q++)
      if (q != device) group[k++] = r * n + q;
  }
  c.begin[replicas] = replicas * n;
  prog_add_collective(L->b, &c, lower_name(L), lower_loc(L));
}

/* Of `c` the target, params, config and host are given. logical: dimensions are those of the
 * program, not of the memory; and an operand that is to be a result's memory is, so that the call
 * writes over what lies there. device: whose results all get; -1: each has its own. */
static bool add_call(lower *L, op *o, prog_call *c, bool logical, i64 device) {
  u32 n_in = o->num_operands, n_out = o->num_results;
  placed *in = ARENA_ARRAY(L->a, placed, n_in + 1), *out = ARENA_ARRAY(L->a, placed, n_out + 1);
  attrs layouts = list_of(o, SLOT_NAME(operand_layouts));
  for (u32 i = 0; i < n_in; i++) in[i] = place_operand(L, lower_node(L, o, i), layouts, i);
  layouts = list_of(o, SLOT_NAME(result_layouts));
  for (u32 i = 0; i < n_out; i++)
    if (!place_result(L, o, layouts, i, device >= 0, &out[i])) return false;
  for (u32 i = 0; i < n_in; i++) {
    u32 r = logical ? alias_of(o, i) : n_out;
    if (r < n_out && same_order(&in[i], &out[r])) in[i].slot = out[r].slot;
    move(L, &in[i], false);
  }
  c->num_in = n_in;
  c->num_out = n_out;
  c->in = ARENA_ARRAY(L->a, prog_operand, n_in + 1);
  c->out = ARENA_ARRAY(L->a, prog_operand, n_out + 1);
  for (u32 i = 0; i < n_in + n_out; i++) {
    const placed *p = i < n_in ? &in[i] : &out[i - n_in];
    prog_operand as = {p->slot, {logical ? p->n->dims : p->dims, p->n->rank}};
    *(i < n_in ? &c->in[i] : &c->out[i - n_in]) = as;
  }
  prog_add_call(L->b, c, lower_name(L), lower_loc(L));
  for (u32 i = 0; i < n_out; i++) {
    if (device >= 0 && out[i].n->count) add_broadcast(L, (u32)device, &out[i]);
    move(L, &out[i], true);
  }
  for (u32 i = 0; i < n_in; i++) lower_used(lower_node(L, o, i));
  return true;
}

bool lower_lapack(lower *L, op *o, str target, const attr *config) {
  static const char *const names[] = {"mode", "uplo",         "side",          "trans_x",
                                      "diag", "compute_left", "compute_right", "sort",
                                      "low",  "high",         "left",          "transpose"};
  i64 params[COUNT(names)] = {0};
  for (size_t i = 0; i < COUNT(names); i++)
    attr_get_i64(attr_dict_get(config, str_of(names[i])), &params[i]);
  prog_call c = {.target = target, .params = {params, COUNT(params)}};
  return add_call(L, o, &c, false, -1);
}

/* What propagation and partitioning keep at an op is not the handler's. */
static bool is_of_sharding(const attr *name) {
  str s = {0};
  attr_get_str(name, &s);
  return str_starts(s, STR("sdy.")) || str_starts(s, STR("terrazzo."));
}

bool lower_foreign(lower *L, op *o) {
  u32 most = o->info->num_slots + o->num_attrs;
  named_attr *list = ARENA_ARRAY(L->a, named_attr, most + 1);
  size_t n = 0;
  if (o->num_regions || !o->info->hooks) return lower_none(L, o);
  for (u32 i = 0; i < o->info->num_slots; i++)
    if (o->slots[i])
      list[n++] = (named_attr){attr_string(L->ctx, str_of(o->info->slots[i].name)), o->slots[i]};
  for (u32 i = 0; i < o->num_attrs; i++)
    if (!is_of_sharding(o->attrs[i].name)) list[n++] = o->attrs[i];
  return lower_handler(L, o, o->info->name, attr_dict(L->ctx, list, n));
}

/* The partition that makes the call; -1: each. */
static bool device_of(lower *L, op *o, i64 *device) {
  *device = -1;
  if (!attr_get_i64(op_discardable(o, CALL_DEVICE), device) || *device < L->num_partitions)
    return true;
  return op_error(L->ctx, o, "is to be made by partition %lld of %u", (long long)*device,
                  L->num_partitions);
}

bool lower_transfer(lower *L, op *o, str target, i64 channel) {
  i64 device;
  if (!device_of(L, o, &device)) return false;
  i64 params[] = {channel, device, L->num_partitions};
  prog_call c = {.target = target, .host = true, .params = {params, COUNT(params)}};
  return add_call(L, o, &c, true, device);
}

bool lower_handler(lower *L, op *o, str target, const attr *config) {
  str site;
  i64 device;
  if (!device_of(L, o, &device) || !config_of_handler(L, o, config, device, &site)) return false;
  i64 number = L->num_sites++;
  prog_call c = {.target = target, .config = site, .host = true, .params = {&number, 1}};
  return add_call(L, o, &c, true, device);
}
