/* What passes of mpmd ask, and how they make ops; util.h has it. */
#include "mpmd/util.h"

/* ---- functions ---- */

void mpmd_functions(arena *a, const ir_module *m, op_list *out) {
  for (op *o = op_body(m->root, 0)->first; o; o = o->next)
    if (op_is(o, func) && mpmd_is_function(o)) VEC_PUSH(a, *out, o);
}

void mpmd_distributed(arena *a, const ir_module *m, op_list *out) {
  for (op *o = op_body(m->root, 0)->first; o; o = o->next)
    if (op_is(o, func) && (mpmd_is_function(o) || op_discardable(o, MPMD_MESH_SHAPE)))
      VEC_PUSH(a, *out, o);
}

bool mpmd_is_main(const op *func) { return str_is(symbol_name(func), "main"); }

op *mpmd_callee(const ir_module *m, const op *call) {
  op *f = symbol_find(m->root, symbol_of(op_attr(call, SLOT_NAME(callee))));
  return f && op_is(f, func) ? f : NULL;
}

typedef struct caller {
  arena *a;
  str name;
  op_list *out;
} caller;

static bool is_used(const op *o) {
  for (u32 i = 0; i < o->num_results; i++)
    if (o->results[i].uses) return true;
  return false;
}

static walk_result add_call(void *user, op *o) {
  const caller *c = user;
  if (op_is(o, mpmd_call)) {
    bool ours = str_eq(symbol_of(op_get(o, mpmd_call, callee)), c->name) && is_used(o);
    if (ours) VEC_PUSH(c->a, *c->out, o);
    return WALK_SKIP;
  }
  bool enters = op_is(o, module) || op_is(o, mpmd_for) || (op_is(o, func) && mpmd_is_function(o));
  return enters ? WALK_ON : WALK_SKIP;
}

void mpmd_calls_of(arena *a, const ir_module *m, const op *func, op_list *out) {
  caller c = {a, symbol_name(func), out};
  op_walk(m->root, add_call, &c);
}

void mpmd_update_type(ir_module *m, op *func) {
  const block *b = op_body(func, 0);
  const op *ret = op_terminator(b);
  arena *a = ir_scratch_push(m->ctx);
  type_list in = {0}, out = {0};
  for (u32 i = 0; i < b->num_args; i++) VEC_PUSH(a, in, b->args[i]->type);
  for (u32 i = 0; i < ret->num_operands; i++) VEC_PUSH(a, out, op_operand(ret, i)->type);
  const type *t = type_function(m->ctx, (types){in.data, in.len}, (types){out.data, out.len});
  op_set(func, func, function_type, attr_type(m->ctx, t));
  ir_scratch_pop(m->ctx);
}

/* The next axis of more than one device from *i on; NULL: none. */
static const mesh_axis_attr *next_axis(const mesh_attr *m, size_t *i) {
  while (*i < m->axes.len) {
    const mesh_axis_attr *a = (const mesh_axis_attr *)m->axes.data[(*i)++];
    if (a->size != 1) return a;
  }
  return NULL;
}

static bool meshes_alike(const mesh_attr *a, const mesh_attr *b) {
  if (!i64s_eq(a->device_ids, b->device_ids)) return false;
  for (size_t i = 0, k = 0;;) {
    const mesh_axis_attr *x = next_axis(a, &i), *y = next_axis(b, &k);
    if (x != y) return false;
    if (!x) return true;
  }
}

bool mpmd_is_homogeneous(const op *func) {
  const topology_attr *t = mpmd_topology(func);
  const mesh_attr *first = NULL;
  for (size_t i = 0; t && i < t->meshes.len; i++) {
    const mesh_attr *m = attr_as(mesh, ((const named_mesh_attr *)t->meshes.data[i])->mesh);
    if (!first) first = m;
    if (!m || !meshes_alike(first, m)) return false;
  }
  return true;
}

/* The number that a name ends in; -1: none that fits. */
static i64 mesh_number(str name) {
  size_t i = name.len;
  i64 v = 0;
  while (i && name.data[i - 1] >= '0' && name.data[i - 1] <= '9') i--;
  if (i == name.len) return -1;
  for (; i < name.len; i++) {
    v = v * 10 + (name.data[i] - '0');
    if (v > INT32_MAX) return -1;
  }
  return v;
}

bool mpmd_mesh_before(str a, str b) {
  i64 x = mesh_number(a), y = mesh_number(b);
  if (x >= 0 && y >= 0) return x < y;
  return str_cmp(a, b) < 0;
}

str mpmd_split_mesh(str name, str *kind) {
  const char *at = name.len ? memchr(name.data, '#', name.len) : NULL;
  size_t n = at ? (size_t)(at - name.data) : name.len;
  *kind = (str){0};
  if (!at || n + 1 == name.len) return name;
  *kind = str_from(name, n + 1);
  return (str){name.data, n};
}

/* ---- fragments ---- */

static i64 count_at(attrs origins, size_t i) {
  const user_origin_attr *u = attr_as(user_origin, origins.data[i]);
  return u ? u->transpose_count : 0;
}

i64 fragment_transpose_count(const op *o) {
  attrs origins = fragment_origins(o);
  for (size_t i = 1; i < origins.len; i++)
    if (count_at(origins, i) != count_at(origins, 0)) return -1;
  return origins.len ? count_at(origins, 0) : -1;
}

i64 fragment_max_transpose_count(const op *o) {
  attrs origins = fragment_origins(o);
  i64 most = -1;
  for (size_t i = 0; i < origins.len; i++)
    if (count_at(origins, i) > most) most = count_at(origins, i);
  return most;
}

i64 fragment_any_transpose_count(const op *o) {
  i64 n = fragment_transpose_count(o);
  return n >= 0 || !op_discardable(o, MPMD_REMAT) ? n : fragment_max_transpose_count(o);
}

i64 mpmd_call_counter(const op *o) {
  i64 v;
  const attr *a = op_discardable(o, MPMD_CALL_COUNTER);
  return a && attr_get_i64(a, &v) && v >= 0 ? v : -1;
}

static bool has(attrs list, const attr *a) {
  for (size_t i = 0; i < list.len; i++)
    if (list.data[i] == a) return true;
  return false;
}

const attr *fragment_origin_union(ir_module *m, const op *a, const op *b) {
  attrs x = fragment_origins(a), y = fragment_origins(b);
  arena *s = ir_scratch_push(m->ctx);
  VEC(const attr *) all = {0};
  for (size_t i = 0; i < x.len; i++) VEC_PUSH(s, all, x.data[i]);
  for (size_t i = 0; i < y.len; i++)
    if (!has(x, y.data[i])) VEC_PUSH(s, all, y.data[i]);
  const attr *out = attr_array(m->ctx, (attrs){all.data, all.len});
  ir_scratch_pop(m->ctx);
  return out;
}

bool fragment_directly_after(const op *a, const op *b) {
  for (const op *o = a->next; o; o = o->next)
    if (op_is(o, mpmd_fragment) && str_eq(fragment_mesh(o), fragment_mesh(a))) return o == b;
  return false;
}

op *fragment_create(ir_module *m, op *before, const attr *loc, const attr *origins, str mesh,
                    const attr *stage, value *const *operands, size_t num_operands,
                    const type *const *results, size_t num_results) {
  op *o = op_create(m, &op_infos[OP_mpmd_fragment], loc, operands, num_operands, results,
                    num_results, 1);
  op_set(o, mpmd_fragment, origin, origins);
  op_set(o, mpmd_fragment, mesh_name, attr_string(m->ctx, mesh));
  op_set(o, mpmd_fragment, stage_id, stage);
  block *b = block_create(m);
  region_append(&o->regions[0], b);
  for (size_t i = 0; i < num_operands; i++) block_add_arg(m, b, mpmd_whole(operands[i]->type));
  op_insert(o, before->parent, before);
  return o;
}

void fragment_return(ir_module *m, op *fragment, value *const *values, size_t n) {
  op *ret = op_create(m, &op_infos[OP_mpmd_return], fragment->loc, values, n, NULL, 0, 0);
  op_insert(ret, op_body(fragment, 0), NULL);
}

void mpmd_set_inferred_by(ir_module *m, op *o, const char *pass) {
  const attr *name = attr_string(m->ctx, str_of(pass));
  op_set_attr(m, o, MPMD_INFERRED_BY, attr_array(m->ctx, (attrs){&name, 1}));
}

/* ---- ops and values ---- */

op *mpmd_emit(ir_module *m, op *before, op_id id, const attr *loc, value *const *operands,
              size_t num_operands, const type *const *results, size_t num_results) {
  op *o = op_create(m, &op_infos[id], loc, operands, num_operands, results, num_results,
                    op_infos[id].num_regions);
  op_insert(o, before->parent, before);
  return o;
}

value *mpmd_emit_transfer(ir_module *m, op *before, const attr *loc, value *v, const type *to) {
  return op_result(mpmd_emit(m, before, OP_mpmd_transfer, loc, &v, 1, &to, 1), 0);
}

value *mpmd_emit_assign(ir_module *m, op *before, const attr *loc, value *v, str mesh, str origin) {
  const type *t = type_mesh_tensor(m->ctx, mesh, v->type, NULL, NULL);
  op *o = mpmd_emit(m, before, OP_mpmd_assign, loc, &v, 1, &t, 1);
  if (origin.len) op_set(o, mpmd_assign, origin, attr_string(m->ctx, origin));
  return op_result(o, 0);
}

value *mpmd_emit_unassign(ir_module *m, op *before, const attr *loc, value *v, str origin) {
  const type *t = mpmd_whole(v->type);
  op *o = mpmd_emit(m, before, OP_mpmd_unassign, loc, &v, 1, &t, 1);
  if (origin.len) op_set(o, mpmd_unassign, origin, attr_string(m->ctx, origin));
  return op_result(o, 0);
}

const type *mpmd_with_sharding(ir_module *m, const type *t, const attr *sharding) {
  return type_mesh_tensor(m->ctx, t->text, mpmd_whole(t), sharding, t->space);
}

bool mpmd_used_besides(const value *v, const op *user) {
  for (const use *u = v->uses; u; u = u->next)
    if (!op_is_inside(u->owner, user)) return true;
  return false;
}

op *mpmd_ancestor_in(const block *b, op *o) {
  while (o && o->parent != b) o = op_parent(o);
  return o;
}

/* d (NULL: empty) with its entry `name` set, or removed. */
static const attr *dict_with(ir_ctx *c, const attr *dict, str name, const attr *a) {
  const dict_attr *d = attr_as(dict, dict);
  arena *s = ir_scratch_push(c);
  VEC(named_attr) entries = {0};
  for (size_t k = 0; d && k < d->names.len; k++)
    if (!str_eq(attr_as(string, d->names.data[k])->value, name))
      VEC_PUSH(s, entries, ((named_attr){d->names.data[k], d->values.data[k]}));
  if (a) VEC_PUSH(s, entries, ((named_attr){attr_string(c, name), a}));
  const attr *out = attr_dict(c, entries.data, entries.len);
  ir_scratch_pop(c);
  return out;
}

void mpmd_set_value_attr(ir_module *m, op *o, str list, size_t n, size_t i, str name,
                         const attr *a) {
  const array_attr *old = attr_as(array, op_attr(o, list));
  arena *s = ir_scratch_push(m->ctx);
  const attr **dicts = ARENA_ARRAY(s, const attr *, n);
  for (size_t k = 0; k < n; k++)
    dicts[k] = old && k < old->elems.len ? old->elems.data[k] : attr_dict(m->ctx, NULL, 0);
  dicts[i] = dict_with(m->ctx, dicts[i], name, a);
  op_set_attr(m, o, list, attr_array(m->ctx, (attrs){dicts, n}));
  ir_scratch_pop(m->ctx);
}

void mpmd_warn(ir_ctx *c, const attr *loc, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  diag_emit(ir_sink(c), DIAG_WARNING, loc_pos(loc), fmt, ap);
  va_end(ap);
}

void mpmd_take_body(op *to, op *from) {
  for (block *b; (b = from->regions[0].first);) {
    block_unlink(b);
    region_append(&to->regions[0], b);
  }
}

void mpmd_set_value_attrs(ir_module *m, op *o, str list, size_t n, str name,
                          const attr *const *values) {
  const array_attr *old = attr_as(array, op_attr(o, list));
  arena *s = ir_scratch_push(m->ctx);
  const attr **dicts = ARENA_ARRAY(s, const attr *, n);
  bool any = false;
  for (size_t k = 0; k < n; k++) {
    const attr *was = old && k < old->elems.len ? old->elems.data[k] : NULL;
    dicts[k] = dict_with(m->ctx, was, name, values[k]);
    any |= attr_as(dict, dicts[k])->names.len != 0;
  }
  op_set_attr(m, o, list, any ? attr_array(m->ctx, (attrs){dicts, n}) : NULL);
  ir_scratch_pop(m->ctx);
}

void mpmd_copy_attrs(ir_module *m, const op *from, op *to) {
  if (from->info == to->info)
    for (u32 i = 0; i < from->info->num_slots; i++) to->slots[i] = from->slots[i];
  for (u32 i = 0; i < from->num_attrs; i++)
    op_set_attr(m, to, attr_as(string, from->attrs[i].name)->value, from->attrs[i].value);
}

/* By mpmd_reduction; the first does nothing. */
static const u16 reduction_ops[] = {OP_COUNT,    OP_add, OP_maximum, OP_minimum,
                                    OP_multiply, OP_or,  OP_and};

i64 mpmd_reduction_of(const op *o) {
  for (size_t i = 1; o && i < COUNT(reduction_ops); i++)
    if (op_kind(o) == reduction_ops[i]) return (i64)i;
  return 0;
}

op_id mpmd_reduction_op(i64 reduction) {
  return reduction > 0 && reduction < (i64)COUNT(reduction_ops) ? (op_id)reduction_ops[reduction]
                                                                : OP_COUNT;
}

i64 mpmd_reduction_of_body(const block *b) {
  const op *ret = b->last;
  i64 kind = 0;
  if (!ret || b->num_args != 2 * ret->num_operands) return 0;
  for (u32 i = 0; i < ret->num_operands; i++) {
    const op *o = value_op(op_operand(ret, i));
    i64 k = mpmd_reduction_of(o);
    if (!k || (kind && k != kind)) return 0;
    kind = k;
    const value *x = op_operand(o, 0), *y = op_operand(o, 1);
    const value *first = b->args[i], *second = b->args[i + ret->num_operands];
    if (!(x == first && y == second) && !(x == second && y == first)) return 0;
  }
  return kind;
}

void mpmd_erase(rewriter *r, op *o) {
  if (r)
    rewrite_erase(r, o);
  else
    op_erase(o);
}

void mpmd_replace_value(rewriter *r, value *from, value *to) {
  if (r)
    rewrite_replace_value(r, from, to);
  else
    value_replace(from, to);
}

void mpmd_move_to_producer(rewriter *r, op *o) {
  value *v = op_operand(o, 0);
  op *by = value_op(v);
  block *b = by ? by->parent : v->def.block;
  op *before = by ? by->next : b->first;
  if (before == o) return;
  op_unlink(o);
  op_insert(o, b, before);
  if (r) rewrite_inserted(r, o);
}
