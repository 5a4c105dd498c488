/* How much of a device's memory others have while a fragment runs, if ops run in their order.
 * Source: openxla/shardy, mark_fragment_reserved_memory.cc. */
#include "base/index.h"
#include "mpmd/export/passes.h"
#include "mpmd/export/util.h"
#include "shard/sharding_ir.h"

typedef struct live {
  str mesh;
  i64 bits;
} live;

typedef struct memory {
  ir_module *m;
  const op *func;
  live *meshes; /* of the topology */
  size_t num_meshes;
  hash_index seen; /* of the op at hand; emptied for each */
  arena *a;
} memory;

/* ---- sizes ---- */

/* The mesh that a sharding names or has in it; else the topology's. */
static const mesh_attr *mesh_of(const memory *s, const type *t) {
  const tensor_sharding_attr *sharding = attr_as(tensor_sharding, t->encoding);
  const mesh_attr *inlined = attr_as(mesh, sharding->mesh);
  if (inlined) return inlined;
  const op *o = symbol_find(s->m->root, symbol_of(sharding->mesh));
  return o && op_is(o, sdy_mesh) ? attr_as(mesh, op_get(o, sdy_mesh, mesh))
                                 : mpmd_mesh(s->func, t->text);
}

static i64 axis_size(const mesh_attr *m, const axis_ref_attr *a) {
  if (a->size) return a->size;
  for (size_t i = 0; i < m->axes.len; i++) {
    const mesh_axis_attr *x = (const mesh_axis_attr *)m->axes.data[i];
    if (str_eq(x->name, a->name)) return x->size;
  }
  return 1;
}

/* Of dimension d, what a device has. False: the number is too large. */
static bool local_size(const mesh_attr *m, const type *t, size_t d, i64 *out) {
  const tensor_sharding_attr *s = attr_as(tensor_sharding, t->encoding);
  i64 pieces = 1;
  *out = t->dims.data[d];
  if (!m || !s || d >= s->dims.len) return true;
  attrs axes = ((const dim_sharding_attr *)s->dims.data[d])->axes;
  for (size_t i = 0; i < axes.len; i++)
    if (!checked_mul(pieces, axis_size(m, (const axis_ref_attr *)axes.data[i]), &pieces))
      return false;
  if (pieces > 1) *out = div_ceil_i64(*out, pieces);
  return true;
}

static i64 element_bits(const type *t) {
  if (t->kind == TYPE_INT || t->kind == TYPE_FLOAT) return t->width;
  if (t->kind == TYPE_COMPLEX) return 2 * element_bits(t->elem);
  return 8 * (i64)type_storage(t);
}

/* False: it has no size, or one that is too large. */
static bool local_bits(const memory *s, const type *t, i64 *out) {
  const mesh_attr *m = t->encoding ? mesh_of(s, t) : NULL;
  *out = element_bits(type_element(mpmd_whole(t)));
  for (size_t d = 0; d < t->dims.len; d++) {
    i64 n;
    if (t->dims.data[d] == DYNAMIC || !local_size(m, t, d, &n) || !checked_mul(*out, n, out))
      return false;
  }
  return true;
}

/* ---- what is alive ---- */

static live *live_on(memory *s, str mesh) {
  for (size_t i = 0; i < s->num_meshes; i++)
    if (str_eq(s->meshes[i].mesh, mesh)) return &s->meshes[i];
  return NULL;
}

/* Adds v's size to what is alive on its mesh, or takes it away. Tokens have none. */
static bool count(memory *s, const attr *loc, const value *v, int sign, i64 *bits) {
  const type *t = v->type;
  i64 n;
  if (t->kind == TYPE_TOKEN) return true;
  if (!type_is_mesh_tensor(t))
    return loc_error(s->m->ctx, loc, "expected all values of the function to be on a mesh");
  live *l = live_on(s, t->text);
  if (!l)
    return loc_error(s->m->ctx, loc, "Topology doesn't have a mesh with name: " STR_FMT,
                     STR_ARG(t->text));
  if (!bits) bits = &l->bits;
  return (local_bits(s, t, &n) &&
          (sign < 0 ? checked_sub(*bits, n, bits) : checked_add(*bits, n, bits))) ||
         loc_error(s->m->ctx, loc, "values on mesh '" STR_FMT "' have no size that is known",
                   STR_ARG(t->text));
}

/* First operand of op o, on a device, that is this value? */
static bool is_new(memory *s, const op *o, u32 i) {
  if (mpmd_on_host(o, MPMD_ARG_ATTRS, i) || index_get(&s->seen, op_operand(o, i))) return false;
  index_set(&s->seen, s->a, op_operand(o, i), (void *)(uintptr_t)o);
  return true;
}

static void see_nothing(memory *s) { s->seen = (hash_index){0}; }

static bool mark_fragment(memory *s, op *o) {
  live *l = live_on(s, fragment_mesh(o));
  if (!l) return op_error(s->m->ctx, o, "is on a mesh that the topology does not have");
  i64 bits = l->bits;
  see_nothing(s);
  for (u32 i = 0; i < o->num_operands; i++)
    if (is_new(s, o, i) && !count(s, o->loc, op_operand(o, i), -1, &bits)) return false;
  op_set_attr(s->m, o, MPMD_RESERVED_BYTES, attr_i64(s->m->ctx, div_ceil_i64(bits, 8)));
  return true;
}

/* As Shardy has it: a string in place of the number, so that arguments whose memory a result takes
 * over are counted to the end. Others may have them still, where they were not given away. */
static bool is_given(const memory *s, const value *v) {
  bool donated = false;
  return attr_as(string, func_named(s->func, FUNC_ARGS, v->index, MPMD_ALIASING)) ||
         (attr_get_bool(func_named(s->func, FUNC_ARGS, v->index, MPMD_DONOR), &donated) && donated);
}

/* After op o, what it used last is gone, and its results are there. */
static bool step(memory *s, op *o) {
  see_nothing(s);
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *v = op_operand(o, i);
    bool dies = v->num == o->num && (!v->is_arg || is_given(s, v));
    if (is_new(s, o, i) && dies && !count(s, o->loc, v, -1, NULL)) return false;
  }
  for (u32 i = 0; i < o->num_results; i++)
    if (o->results[i].uses && !mpmd_on_host(o, MPMD_RES_ATTRS, i) &&
        !count(s, o->loc, op_result(o, i), 1, NULL))
      return false;
  return true;
}

/* ---- functions ---- */

static walk_result note_uses(void *user, op *o) {
  for (u32 i = 0; i < o->num_operands; i++) op_operand(o, i)->num = *(u32 *)user;
  return WALK_ON;
}

/* Numbers the block's ops, and every value with the op of its last use, also in regions. */
static void number_uses(const block *b) {
  u32 n = 0;
  for (op *o = b->first; o; o = o->next) {
    o->num = ++n;
    op_walk(o, note_uses, &n);
    o->num = n;
  }
}

static bool begin(memory *s) {
  const topology_attr *t = mpmd_topology(s->func);
  const block *b = op_body(s->func, 0);
  s->num_meshes = t->meshes.len;
  s->meshes = ARENA_ARRAY(s->a, live, t->meshes.len);
  for (size_t i = 0; i < t->meshes.len; i++)
    s->meshes[i] = (live){((const named_mesh_attr *)t->meshes.data[i])->name, 0};
  for (u32 i = 0; i < b->num_args; i++) {
    const value *v = b->args[i];
    str kind = {0};
    attr_get_str(func_named(s->func, FUNC_ARGS, i, MPMD_MEMORY_KIND), &kind);
    if (str_is(kind, MPMD_PINNED_HOST) || (!v->uses && is_given(s, v))) continue;
    if (!count(s, s->func->loc, v, 1, NULL)) return false;
  }
  number_uses(b);
  return true;
}

static bool mark_function(memory *s) {
  bool ok = true;
  if (!begin(s)) return false;
  for (op *o = op_body(s->func, 0)->first; o; o = o->next) {
    bool fragment = op_is(o, mpmd_fragment);
    if (fragment && !mark_fragment(s, o)) return false;
    if (fragment || op_is(o, mpmd_transfer)) {
      if (!step(s, o)) return false;
    } else if (!op_is(o, func_return)) {
      ok = loc_error(s->m->ctx, o->loc,
                     "Expected only TransferOp, FragmentOp, FragmentCallOp and ReturnOp in the "
                     "function body.");
    }
  }
  return ok;
}

bool pass_mpmd_mark_memory(ir_module *m, arena *scratch, const pass_args *args) {
  op_list functions = {0};
  bool ok = true;
  (void)args;
  mpmd_with_bodies(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    memory s = {.m = m, .func = functions.data[i], .a = scratch};
    ok &= mark_function(&s);
  }
  return ok;
}
