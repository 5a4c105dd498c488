/* Ops of mpmd: meshes that exist, shardings that fit them, bodies of the types of what goes in and
 * out. Messages are Shardy's (shardy/dialect/mpmd/ir/dialect.cc). */
#include "dialect/mpmd.h"
#include "dialect/verify.h"

/* ---- mesh tensors ---- */

/* NULL: reported. */
static const mesh_attr *mesh_at(checker *k, const op *o, str name) {
  const op *f = mpmd_func(o);
  const mesh_attr *m = mpmd_mesh(o, name);
  if (m) return m;
  if (f && mpmd_is_function(f))
    plain_error(k, o, "Topology doesn't have a mesh with name: " STR_FMT, STR_ARG(name));
  else
    plain_error(k, o, "Function does not have a topology attribute: " STR_FMT,
                STR_ARG(f ? symbol_name(f) : STR("")));
  return NULL;
}

/* A sharding whose mesh is `m`, whatever it calls it, and that cuts evenly. */
static bool check_on_mesh(checker *k, const op *o, const type *t, const mesh_attr *m) {
  const tensor_sharding_attr *s = attr_as(tensor_sharding, t->encoding);
  if (!s) return true;
  if (!check_sharding_on(k, o, m, s, mpmd_whole(t), "")) return false;
  for (size_t d = 0; d < s->dims.len; d++) {
    i64 pieces = 1, size = t->dims.data[d];
    attrs axes = ((const dim_sharding_attr *)s->dims.data[d])->axes;
    for (size_t i = 0; i < axes.len; i++) {
      const axis_ref_attr *a = (const axis_ref_attr *)axes.data[i];
      i64 of = a->size;
      for (size_t x = 0; !of && x < m->axes.len; x++) {
        const mesh_axis_attr *axis = (const mesh_axis_attr *)m->axes.data[x];
        if (str_eq(axis->name, a->name)) of = axis->size;
      }
      if (!checked_mul(pieces, of, &pieces)) return op_error(k->c, o, "sharded size is too large");
    }
    if (size != DYNAMIC && size % pieces)
      return op_error(k->c, o, "dim %zu with size %lld is not divisible by its sharded size %lld",
                      d, (long long)size, (long long)pieces);
  }
  return true;
}

static bool check_in_topology(checker *k, const op *o, const type *t) {
  const mesh_attr *m = mesh_at(k, o, t->text);
  return m && check_on_mesh(k, o, t, m);
}

static bool check_memory_kind(checker *k, const op *o, const type *t) {
  str kind = mpmd_memory_kind(t);
  return !t->space || str_is(kind, MPMD_PINNED_HOST) || str_is(kind, MPMD_DEVICE) ||
         plain_error(k, o,
                     "memory kind must be either 'pinned_host' or 'device'. Found '" STR_FMT "'.",
                     STR_ARG(kind));
}

/* ---- parents ---- */

static bool is_func(const op *p) { return p && op_is(p, func); }
static bool in_func(checker *k, const op *o) {
  return is_func(op_parent(o)) || op_error(k->c, o, "expects parent op 'func.func'");
}
static bool in_func_or_for(checker *k, const op *o) {
  const op *p = op_parent(o);
  return is_func(p) || (p && op_is(p, mpmd_for)) ||
         op_error(k->c, o, "expects parent op to be one of 'func.func, mpmd.for'");
}

/* ---- bodies ---- */

static bool check_number(checker *k, const op *o, size_t inner, size_t outer,
                         const char *const *names) {
  return inner == outer ||
         plain_error(k, o, "number of %ss must match the number of %ss respectively: %zu != %zu",
                     names[0], names[1], inner, outer);
}
static const char *const arguments[] = {"block argument", "operand"}, *const returns[] = {
                                                                          "returned value",
                                                                          "result"};

static bool check_named(checker *k, const op *o, const type *inner, const type *outer,
                        const char *const *names) {
  return inner == outer ||
         plain_error(k, o, "expected the type of the %s to match the type of %s: '%s', got: '%s'",
                     names[0], names[1], show(k, inner), show(k, outer));
}

bool verify_mpmd_named_computation(checker *k, const op *o) {
  const block *b = op_body(o, 0);
  if (!check_number(k, o, b->num_args, o->num_operands, arguments)) return false;
  for (u32 i = 0; i < b->num_args; i++)
    if (!check_named(k, o, b->args[i]->type, in_type(o, i), arguments)) return false;
  if (!check_number(k, o, num_returned(b), o->num_results, returns)) return false;
  for (u32 i = 0; i < o->num_results; i++)
    if (!check_named(k, o, returned(b, i), out_type(o, i), returns)) return false;
  return true;
}

/* Outside a value is on the op's mesh, inside it is the whole tensor. */
static bool check_placed(checker *k, const op *o, str mesh, const type *inner, const type *outer,
                         const char *const *names) {
  const mesh_attr *m = mesh_at(k, o, mesh);
  if (!m) return false;
  if (!type_is_mesh_tensor(outer))
    return inner == outer ||
           plain_error(k, o, "expected the type of the %s to match the %s: '%s', got: '%s'",
                       names[0], names[1], show(k, outer), show(k, inner));
  if (!str_eq(outer->text, mesh))
    return plain_error(k, o,
                       "expected the mesh name of the %s to match that of the fragment op: " STR_FMT
                       " != " STR_FMT,
                       names[1], STR_ARG(outer->text), STR_ARG(mesh));
  if (!check_on_mesh(k, o, outer, m)) return false;
  return inner == mpmd_whole(outer) ||
         plain_error(k, o,
                     "expected the type of the %s to be global tensor type %s: '%s', got: '%s'",
                     names[0], names[1], show(k, mpmd_whole(outer)), show(k, inner));
}

bool verify_mpmd_fragment(checker *k, const op *o) {
  struct mpmd_fragment_attrs a;
  const block *b = op_body(o, 0);
  if (!view_mpmd_fragment(o, &a) || !in_func_or_for(k, o) ||
      !check_number(k, o, b->num_args, o->num_operands, arguments))
    return false;
  for (u32 i = 0; i < b->num_args; i++)
    if (!check_placed(k, o, a.mesh_name, b->args[i]->type, in_type(o, i), arguments)) return false;
  if (!check_number(k, o, num_returned(b), o->num_results, returns)) return false;
  for (u32 i = 0; i < o->num_results; i++)
    if (!check_placed(k, o, a.mesh_name, returned(b, i), out_type(o, i), returns)) return false;
  return true;
}

bool verify_mpmd_fragment_call(checker *k, const op *o) { return in_func(k, o); }

/* A function of the nearest symbol table with a type; NULL: none. */
static const op *function_named(checker *k, const op *o, str name, const type **t) {
  struct func_attrs a;
  const op *table = op_module(op_parent(o));
  const op *f = table ? checker_symbol(k, table, name) : NULL;
  if (!f || !op_is(f, func) || !view_func(f, &a) || a.function_type->kind != TYPE_FUNCTION)
    return NULL;
  *t = a.function_type;
  return f;
}

bool use_mpmd_fragment_call(checker *k, const op *o) {
  struct mpmd_fragment_call_attrs a;
  const type *t = NULL;
  if (!view_mpmd_fragment_call(o, &a)) return false;
  const op *f = function_named(k, o, a.callee, &t);
  if (!f)
    return plain_error(k, o, "'" STR_FMT "' does not reference a valid function",
                       STR_ARG(a.callee));
  types in = type_inputs(t), out = type_results(t);
  if (!check_number(k, o, in.len, o->num_operands, arguments)) return false;
  for (u32 i = 0; i < o->num_operands; i++)
    if (!check_placed(k, o, a.mesh_name, in.data[i], in_type(o, i), arguments)) return false;
  if (!check_number(k, o, out.len, o->num_results, returns)) return false;
  for (u32 i = 0; i < o->num_results; i++)
    if (!check_placed(k, o, a.mesh_name, out.data[i], out_type(o, i), returns)) return false;
  const mesh_attr *mine = mesh_at(k, o, a.mesh_name);
  const mesh_attr *its = attr_as(mesh, op_discardable(f, MPMD_MESH_SHAPE));
  if (!mine) return false;
  if (!its)
    return plain_error(k, f, "Function does not have a mesh_shape attribute: " STR_FMT,
                       STR_ARG(a.callee));
  return mine == its ||
         plain_error(k, o, "Expected mesh of fragment call and callee function to match: %s vs %s",
                     show_attr(k, &mine->base), show_attr(k, &its->base));
}

/* ---- from mesh to mesh ---- */

static const attr *said_memory_kind(const op *transfer, const value *v) {
  const op *by = value_op(v);
  if (v->is_arg) {
    const op *f = block_op(v->def.block);
    return op_is(f, func) ? mpmd_value_attr(f, MPMD_ARG_ATTRS, v->index, MPMD_MEMORY_KIND) : NULL;
  }
  (void)transfer;
  if (op_is(by, mpmd_transfer)) return op_discardable(by, MPMD_MEMORY_KIND);
  return mpmd_value_attr(by, MPMD_RES_ATTRS, v->index, MPMD_MEMORY_KIND);
}

static bool is_pinned(const attr *kind) {
  str s;
  return kind && attr_get_str(kind, &s) && str_is(s, MPMD_PINNED_HOST);
}

bool verify_mpmd_transfer(checker *k, const op *o) {
  const type *in = in_type(o, 0), *out = out_type(o, 0);
  if (!in_func(k, o) || !check_in_topology(k, o, in) || !check_in_topology(k, o, out)) return false;
  if (mpmd_whole(in) != mpmd_whole(out))
    return plain_error(k, o,
                       "cannot perform transfer between given types '%s' and '%s': global tensor "
                       "types are different",
                       show(k, in), show(k, out));
  if (!check_memory_kind(k, o, in) || !check_memory_kind(k, o, out)) return false;
  if (is_pinned(said_memory_kind(o, op_operand(o, 0))))
    return plain_error(k, o,
                       "Transfers from host with attributes are not supported. Memory kinds must "
                       "be expressed in the type.");
  if (is_pinned(said_memory_kind(o, op_result(o, 0))))
    return plain_error(k, o,
                       "Transfers to host with attributes are not supported. Memory kinds must "
                       "expressed be in the type.");
  return true;
}

static bool is_whole_everywhere(const type *t) {
  const tensor_sharding_attr *s = attr_as(tensor_sharding, t->encoding);
  for (size_t d = 0; s && d < s->dims.len; d++)
    if (((const dim_sharding_attr *)s->dims.data[d])->axes.len) return false;
  return true;
}

static bool check_assignment(checker *k, const op *o, const type *local, const type *placed) {
  if (!in_func_or_for(k, o) || !check_in_topology(k, o, placed)) return false;
  if (!is_whole_everywhere(placed))
    return plain_error(k, o, "MeshTensorType should be fully replicated: '%s'", show(k, placed));
  return mpmd_whole(placed) == local ||
         plain_error(k, o,
                     "mismatch between the given local type '%s' and mesh_type ranked tensor type: "
                     "'%s'",
                     show(k, local), show(k, mpmd_whole(placed)));
}

bool verify_mpmd_assign(checker *k, const op *o) {
  return check_assignment(k, o, in_type(o, 0), out_type(o, 0));
}
bool verify_mpmd_unassign(checker *k, const op *o) {
  return check_assignment(k, o, out_type(o, 0), in_type(o, 0));
}

/* ---- calls and loops ---- */

bool verify_mpmd_call(checker *k, const op *o) {
  struct mpmd_call_attrs a;
  if (!view_mpmd_call(o, &a)) return false;
  const integer_attr *count = attr_as(integer, op_discardable(o, MPMD_CALL_COUNTER));
  const op *p = op_parent(o), *f = mpmd_func(o);
  if (count &&
      (count->type->kind != TYPE_INT || count->type->width != 32 || count->type->sign != UNSIGNED))
    return plain_error(k, o, "call_counter must be an uint32, got '%s'", show(k, count->type));
  if (p && !op_is(p, func) && !op_is(p, mpmd_for))
    return plain_error(k, o,
                       "Mpmd CallOp on \"" STR_FMT
                       "\" can only be used in a function or for_op block but was called from "
                       "inside op " STR_FMT,
                       STR_ARG(a.callee), STR_ARG(p->info->name));
  if (!f || !mpmd_is_function(f) || mpmd_is_entry_point(f)) return true;
  return plain_error(k, o,
                     "Mpmd CallOp on \"" STR_FMT
                     "\" in an Mpmd function can only be used directly by the entrypoint function, "
                     "i.e. the main function, but was called from \"" STR_FMT "\".",
                     STR_ARG(a.callee), STR_ARG(symbol_name(f)));
}

bool use_mpmd_call(checker *k, const op *o) {
  struct mpmd_call_attrs a;
  const type *t = NULL;
  if (!view_mpmd_call(o, &a)) return false;
  const op *f = function_named(k, o, a.callee, &t);
  if (!f)
    return plain_error(k, o, "'" STR_FMT "' does not reference a valid function",
                       STR_ARG(a.callee));
  types in = type_inputs(t), out = type_results(t);
  for (u32 i = 0; i < o->num_operands && i < in.len; i++)
    if (in.data[i] != in_type(o, i))
      return plain_error(k, o,
                         "Type mismatch. Expected call operand to have type '%s' but got '%s'",
                         show(k, in.data[i]), show(k, in_type(o, i)));
  for (u32 i = 0; i < o->num_results && i < out.len; i++)
    if (out.data[i] != out_type(o, i))
      return plain_error(k, o, "Type mismatch. Expected call result to have type '%s' but got '%s'",
                         show(k, out.data[i]), show(k, out_type(o, i)));
  const string_attr *v = attr_as(string, op_get(f, func, sym_visibility));
  if (!mpmd_is_function(f) || (v && str_is(v->value, "private"))) return true;
  return plain_error(
      k, o,
      "MPMD CallOp callee with topology must also have visibility set to private, as "
      "public functions with topologies are assumed to be entry point functions.");
}

bool verify_mpmd_for(checker *k, const op *o) {
  struct mpmd_for_attrs a;
  const block *b = op_body(o, 0);
  if (!view_mpmd_for(o, &a)) return false;
  if (b->num_args != o->num_operands + 1)
    return plain_error(k, o, "wrong number of arguments for region");
  for (u32 i = 0; i < o->num_operands; i++)
    if (in_type(o, i) != b->args[i]->type)
      return plain_error(k, o, "wrong argument type at argument no. %u", i);
  const type *index = b->args[o->num_operands]->type;
  bool counts = index->dims.len == 0 && index->kind == TYPE_TENSOR &&
                index->elem->kind == TYPE_INT && index->elem->width == 32;
  if (type_is_ranked(index) && !counts)
    return plain_error(k, o, "index must have a 32-bit integer rank-0 tensor type");
  bool same = num_returned(b) == o->num_results && o->num_operands == o->num_results;
  for (u32 i = 0; same && i < o->num_results; i++)
    same = returned(b, i) == out_type(o, i) && in_type(o, i) == out_type(o, i);
  if (!same) return plain_error(k, o, "type mismatch for result of region");
  for (u32 i = 1; i < o->num_operands; i++)
    if (in_type(o, i)->kind != in_type(o, 0)->kind)
      return plain_error(k, o, "type ids in operands/results are not identical");
  if (a.iterations == 0) return plain_error(k, o, "number of iterations must be greater than zero");
  i64 factor = op_get(o, mpmd_for, unroll_factor) ? a.unroll_factor : 1;
  return (factor > 0 && a.iterations % factor == 0) ||
         plain_error(k, o, "number of iterations %lld isn't divisible by unroll factor %lld",
                     (long long)a.iterations, (long long)factor);
}

/* ---- the rest ---- */

bool verify_mpmd_named_tensor(checker *k, const op *o) { return (void)k, (void)o, true; }
bool verify_mpmd_broadcast(checker *k, const op *o) { return (void)k, (void)o, true; }

bool verify_mpmd_reduce(checker *k, const op *o) {
  struct mpmd_reduce_attrs a;
  if (!view_mpmd_reduce(o, &a)) return false;
  return (a.reduction && a.reduction->value) || o->num_operands == 1 ||
         plain_error(k, o, "ReduceOp must have exactly one operand if the reduction type is none");
}
