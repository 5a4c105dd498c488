/* Collectives that are one, as the ops that there are for it.
 *
 * All-gathers and all-to-alls of several operands have one form: the operands of others come as
 * parts in a row along a dimension of their own, and what they get is put in order behind it.
 * Reduce-scatters and permutations have one operand: all of them in a row, of which each part is
 * scattered by itself. */
#include "partition/combine.h"
#include "partition/wire.h"

typedef struct pack {
  const part_env *e;
  cursor at;
  const combine_key *key;
  const combine_members *members;
  op *all;
} pack;

/* Sizes of as many dimensions as there is room for. */
typedef struct sizes {
  i64 *data;
  size_t len;
} sizes;

static sizes sizes_make(const pack *p, size_t capacity) {
  return (sizes){ARENA_ARRAY(p->e->a, i64, capacity), 0};
}
static void add(sizes *s, i64 n) { s->data[s->len++] = n; }
static i64s view(const sizes *s) { return (i64s){s->data, s->len}; }

static i64 elements(const value *v) {
  i64 n = 1;
  for (size_t d = 0; d < v->type->dims.len; d++) n *= v->type->dims.data[d];
  return n;
}

/* Of a reshape that nobody has used yet, of what is reshaped there. */
static value *reshape(pack *p, value *v, i64s dims) {
  op *def = value_op(v);
  if (def && op_is(def, reshape) && !v->uses) {
    v = op_operand(def, 0);
    op_erase(def);
  }
  return i64s_eq(v->type->dims, dims) ? v : emit_reshape(&p->at, v, dims);
}

/* Moves dimension `from` to where it is number `to`. */
static value *move_dim(pack *p, value *v, size_t from, size_t to) {
  i64s dims = v->type->dims;
  sizes order = sizes_make(p, dims.len), moved = sizes_make(p, dims.len);
  for (size_t d = 0, next = 0; d < dims.len; d++) {
    if (next == from) next++;
    add(&order, d == to ? (i64)from : (i64)next++);
    add(&moved, dims.data[order.data[d]]);
  }
  if (from == to) return v;
  v = emit(&p->at, OP_transpose, &v, 1, type_with_dims(p->e->c, v->type, view(&moved)));
  op_set(v->def.op, transpose, permutation, attr_i64_array(p->e->c, view(&order)));
  return v;
}

/* [parts, rest]: what v has of each part of dimension `dim`. */
static value *parts_in_rows(pack *p, value *v, i64 dim, i64 parts) {
  i64s dims = v->type->dims;
  sizes cut = sizes_make(p, dims.len + 1);
  for (size_t d = 0; d < dims.len; d++) {
    if ((i64)d == dim) add(&cut, parts);
    add(&cut, (i64)d == dim ? dims.data[d] / parts : dims.data[d]);
  }
  v = move_dim(p, reshape(p, v, view(&cut)), (size_t)dim, 0);
  return reshape(p, v, (i64s){(i64[]){parts, elements(v) / parts}, 2});
}

/* Of rows that each are a part, of dims `part`: joined along dimension `dim`. */
static value *rows_to_parts(pack *p, value *v, i64s part, i64 dim, i64 parts) {
  sizes cut = sizes_make(p, part.len + 1), whole = sizes_make(p, part.len);
  add(&cut, parts);
  for (size_t d = 0; d < part.len; d++) {
    add(&cut, part.data[d]);
    add(&whole, (i64)d == dim ? part.data[d] * parts : part.data[d]);
  }
  v = move_dim(p, reshape(p, v, view(&cut)), 0, (size_t)dim);
  return reshape(p, v, view(&whole));
}

/* ---- operands of one form ---- */

/* Rows as the form wants them: [.. n at `dim` .., 1 at all others .., rest]. */
static value *rows_in_form(pack *p, value *rows, const combine_form *f) {
  i64s dims = rows->type->dims;
  size_t rank = (size_t)max_i64(f->dim, f->to) + 2;
  sizes s = sizes_make(p, rank);
  for (size_t d = 0; d + 1 < rank; d++) add(&s, (i64)d == f->dim ? dims.data[0] : 1);
  add(&s, dims.data[1]);
  return reshape(p, rows, view(&s));
}

static bool same_form(const combine_form *x, const combine_form *y) {
  return x->dim == y->dim && x->to == y->to;
}

/* Its operand in the form of all; *type: what comes of it. */
static value *operand_in_form(pack *p, u32 i, const combine_form *f, const type **type) {
  const combine_form *own = &p->members->data[i].form;
  value *v = op_operand(p->all, i);
  bool gathers = p->key->op == OP_all_gather;
  *type = op_result(p->all, i)->type;
  if (same_form(own, f)) return v;
  i64 n = elements(v), parts = own->parts;
  value *rows =
      gathers ? reshape(p, v, (i64s){(i64[]){1, n}, 2}) : parts_in_rows(p, v, own->dim, parts);
  v = rows_in_form(p, rows, f);
  sizes s = sizes_make(p, v->type->dims.len);
  for (size_t d = 0; d < v->type->dims.len; d++) add(&s, v->type->dims.data[d]);
  s.data[f->dim] /= gathers ? 1 : parts;
  s.data[gathers ? f->dim : f->to] *= parts;
  *type = type_with_dims(p->e->c, v->type, view(&s));
  return v;
}

/* What the member itself would have given. */
static value *result_of_form(pack *p, u32 i, const combine_form *f, value *v) {
  const combine_form *own = &p->members->data[i].form;
  const value *in = op_operand(p->all, i);
  bool gathers = p->key->op == OP_all_gather;
  if (same_form(own, f)) return v;
  i64s dims = in->type->dims;
  sizes part = sizes_make(p, dims.len);
  for (size_t d = 0; d < dims.len; d++)
    add(&part, !gathers && (i64)d == own->dim ? dims.data[d] / own->parts : dims.data[d]);
  return rows_to_parts(p, v, view(&part), gathers ? own->dim : own->to, own->parts);
}

/* That of an operand which must not be copied, or the first's. */
static const combine_form *form_of_all(const combine_members *m) {
  for (size_t i = 0; i < m->len; i++)
    if (!m->data[i].turns) return &m->data[i].form;
  return &m->data[0].form;
}

static bool all_have_form(const combine_members *m, const combine_form *f) {
  for (size_t i = 0; i < m->len; i++)
    if (!same_form(&m->data[i].form, f)) return false;
  return true;
}

static void set_form(const pack *p, op *o, const combine_form *f) {
  ir_ctx *c = p->e->c;
  if (op_is(o, all_gather)) op_set(o, all_gather, all_gather_dim, attr_i64(c, f->dim));
  if (!op_is(o, all_to_all)) return;
  op_set(o, all_to_all, split_dimension, attr_i64(c, f->dim));
  op_set(o, all_to_all, concat_dimension, attr_i64(c, f->to));
}

/* With what all of them have in common. */
static op *emit_like_all(pack *p, value *const *in, const type *const *types, size_t n,
                         size_t regions) {
  op *o = emit_op(&p->at, p->key->op, in, n, types, n, regions);
  memcpy(o->slots, p->all->slots, o->info->num_slots * sizeof *o->slots);
  if (wire_is_asked(p->all)) wire_set_asked(p->e->m, o);
  return o;
}

static void replace_all(pack *p, value *const *results) {
  for (u32 i = 0; i < p->all->num_results; i++) value_replace(op_result(p->all, i), results[i]);
  op_erase(p->all);
}

static void bring_to_form(pack *p) {
  arena *a = p->e->a;
  u32 n = p->all->num_operands;
  const combine_form *f = form_of_all(p->members);
  value **in = ARENA_ARRAY(a, value *, n);
  const type **types = ARENA_ARRAY(a, const type *, n);
  if (all_have_form(p->members, f)) return;
  for (u32 i = 0; i < n; i++) in[i] = operand_in_form(p, i, f, &types[i]);
  op *o = emit_like_all(p, in, types, n, 0);
  set_form(p, o, f);
  for (u32 i = 0; i < n; i++) in[i] = result_of_form(p, i, f, op_result(o, i));
  replace_all(p, in);
}

/* ---- one operand ---- */

/* Rows of all beside each other, one row for each device that gets one. */
static void pack_rows(pack *p) {
  arena *a = p->e->a;
  u32 n = p->all->num_operands;
  bool scatters = p->key->op == OP_reduce_scatter;
  value **parts = ARENA_ARRAY(a, value *, n);
  for (u32 i = 0; i < n; i++) {
    const combine_form *f = &p->members->data[i].form;
    value *v = op_operand(p->all, i);
    parts[i] = scatters ? parts_in_rows(p, v, f->dim, f->parts)
                        : reshape(p, v, (i64s){(i64[]){1, elements(v)}, 2});
  }
  value *v = emit_concatenate(&p->at, parts, n, 1);
  const type *t = type_with_dims(p->e->c, v->type, (i64s){(i64[]){1, v->type->dims.data[1]}, 2});
  op *o = emit_like_all(p, &v, &t, 1, scatters);
  if (scatters) {
    op_set(o, reduce_scatter, scatter_dimension, attr_i64(p->e->c, 0));
    emit_reducer(&p->at, o, reducer_of(p->key->kind), p->key->element);
  }
  i64 begin = 0;
  for (u32 i = 0; i < n; i++) {
    i64 size = elements(op_result(p->all, i));
    value *part = emit_slice(&p->at, op_result(o, 0), (i64[]){0, begin}, (i64[]){1, begin + size});
    parts[i] = reshape(p, part, op_result(p->all, i)->type->dims);
    begin += size;
  }
  replace_all(p, parts);
}

void combine_finish(const part_env *e, const combine_key *key, const combine_members *members,
                    op *all) {
  pack p = {e, cursor_before(e, all), key, members, all};
  if (key->op == OP_all_reduce)
    emit_reducer(&p.at, all, reducer_of(key->kind), key->element);
  else if (key->op == OP_all_gather || key->op == OP_all_to_all)
    bring_to_form(&p);
  else
    pack_rows(&p);
}
