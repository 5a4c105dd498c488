/* Modules, functions, calls; manual and named computations, whose bodies have signatures too.
 *
 * func.* and builtin.module have MLIR's rules and words, sdy's computations Shardy's. Types of
 * callers and callees are compared in use_* functions, after all functions have passed. */
#include "dialect/verify.h"

/* "dialect.name", as MLIR asks of attributes that are not the op's own. */
static bool has_prefix(const attr *name) {
  str s = ((const string_attr *)name)->value;
  return s.len && memchr(s.data, '.', s.len);
}

bool verify_module(checker *k, const op *o) {
  for (u32 i = 0; i < o->num_attrs; i++)
    if (!has_prefix(o->attrs[i].name))
      return op_error(
          k->c, o, "can only contain attributes with dialect-prefixed names, found: '" STR_FMT "'",
          STR_ARG(((const string_attr *)o->attrs[i].name)->value));
  const block *b = o->regions[0].first;
  if (b && b->next) return op_error(k->c, o, "expects region #0 to have 0 or 1 blocks");
  if (b && b->num_args) return op_error(k->c, o, "region should have no arguments");
  return true;
}
bool verify_cast(checker *k, const op *o) { return (void)k, (void)o, true; }

static const type **operand_types(checker *k, const op *o) {
  const type **t = ARENA_ARRAY(k->scratch, const type *, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) t[i] = in_type(o, i);
  return t;
}

static const type **result_types(checker *k, const op *o) {
  const type **t = ARENA_ARRAY(k->scratch, const type *, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) t[i] = out_type(o, i);
  return t;
}

/* ---- functions ---- */

static bool check_value_attrs(checker *k, const op *o, attrs list, types t, const char *kind) {
  const char *word = *kind == 'a' ? "argument" : kind;
  if (list.len == 0) return true;
  if (list.len != t.len)
    return op_error(k->c, o,
                    "expects %s attribute array to have the same number of elements as the "
                    "number of function %ss, got %zu, but expected %zu",
                    word, word, list.len, t.len);
  for (size_t i = 0; i < t.len; i++) {
    attrs names = ((const dict_attr *)list.data[i])->names;
    for (size_t j = 0; j < names.len; j++)
      if (!has_prefix(names.data[j]))
        return op_error(k->c, o, "%ss may only have dialect attributes", word);
    const attr *a = attr_dict_get(list.data[i], SDY_SHARDING);
    const tensor_sharding_attr *s = attr_as(tensor_sharding, a);
    if (!a || pairs_have(&k->shardings, a, t.data[i])) continue;
    const char *where = arena_printf(k->scratch, "%s %zu - ", kind, i).data;
    if (!s)
      return op_error(k->c, o, "%sshould have a sharding attribute of type TensorShardingAttr",
                      where);
    if (!check_sharding(k, o, s, t.data[i], where)) return false;
    pairs_add(&k->shardings, k->scratch, a, t.data[i]);
  }
  return true;
}

bool verify_func(checker *k, const op *o) {
  struct func_attrs a;
  if (!view_func(o, &a)) return false;
  const type *t = a.function_type;
  types in = type_inputs(t), out = type_results(t);
  if (!check_value_attrs(k, o, a.arg_attrs, in, "arg") ||
      !check_value_attrs(k, o, a.res_attrs, out, "result"))
    return false;
  const block *b = op_body(o, 0);
  if (!b) {
    if (o->slots[op_slot(o->info, SLOT_NAME(sym_visibility))] &&
        !str_is(a.sym_visibility, "public"))
      return true;
    return op_error(k->c, o, "symbol declaration cannot have public visibility");
  }
  if (b->num_args != in.len)
    return op_error(k->c, o, "entry block must have %zu arguments to match function signature",
                    in.len);
  for (u32 i = 0; i < b->num_args; i++)
    if (b->args[i]->type != in.data[i])
      return op_error(k->c, o,
                      "type of entry block argument #%u('%s') must match the type of the "
                      "corresponding argument in function signature('%s')",
                      i, show(k, b->args[i]->type), show(k, in.data[i]));
  return true;
}

static bool verify_func_return(checker *k, const op *r) {
  struct func_attrs a;
  if (!view_func(op_parent(r), &a) || a.function_type->kind != TYPE_FUNCTION) return true;
  types out = type_results(a.function_type);
  if (r->num_operands != out.len)
    return op_error(k->c, r, "has %u operands, but enclosing function (@" STR_FMT ") returns %zu",
                    r->num_operands, STR_ARG(a.sym_name), out.len);
  for (u32 i = 0; i < r->num_operands; i++)
    if (in_type(r, i) != out.data[i])
      return loc_error(k->c, r->loc,
                       "type of return operand %u ('%s') doesn't match function result type ('%s') "
                       "in function @" STR_FMT,
                       i, show(k, in_type(r, i)), show(k, out.data[i]), STR_ARG(a.sym_name));
  return true;
}

/* That its parent is of the kind was checked before. */
bool verify_terminator(checker *k, const op *o) {
  return !op_is(o, func_return) || verify_func_return(k, o);
}

/* In the nearest symbol table. A func without a type was reported where it stands. */
static const op *callee_of(checker *k, const op *o, str name) {
  const op *table = op_module(op_parent(o));
  const op *f = table ? checker_symbol(k, table, name) : NULL;
  if (f && op_is(f, func) && attr_is(type_ref, op_attr(f, SLOT_NAME(function_type)))) return f;
  op_error(k->c, o, "'" STR_FMT "' does not reference a valid function", STR_ARG(name));
  return NULL;
}

static bool check_signature(checker *k, const op *o, const op *f) {
  struct func_attrs a;
  if (!view_func(f, &a) || a.function_type->kind != TYPE_FUNCTION) return true; /* said there */
  types in = type_inputs(a.function_type), out = type_results(a.function_type);
  if (o->num_operands != in.len)
    return op_error(k->c, o, "incorrect number of operands for callee");
  for (u32 i = 0; i < in.len; i++)
    if (in_type(o, i) != in.data[i])
      return op_error(k->c, o,
                      "operand type mismatch: expected operand type '%s', but provided '%s' for "
                      "operand number %u",
                      show(k, in.data[i]), show(k, in_type(o, i)), i);
  if (o->num_results != out.len) return op_error(k->c, o, "incorrect number of results for callee");
  for (u32 i = 0; i < out.len; i++)
    if (out_type(o, i) != out.data[i])
      return op_error(k->c, o, "result type mismatch at index %u", i);
  return true;
}

bool verify_call(checker *k, const op *o) { return (void)k, (void)o, true; }

bool use_call(checker *k, const op *o) {
  struct call_attrs a;
  if (!view_call(o, &a)) return false;
  const op *f = callee_of(k, o, a.callee);
  return f && check_signature(k, o, f);
}

bool verify_call_indirect(checker *k, const op *o) {
  types in = type_inputs(in_type(o, 0)), out = type_results(in_type(o, 0));
  bool same = in.len + 1 == o->num_operands;
  for (u32 i = 0; same && i < in.len; i++) same = in.data[i] == in_type(o, i + 1);
  if (!same)
    return op_error(k->c, o, "failed to verify that callee input types match argument types");
  same = out.len == o->num_results;
  for (u32 i = 0; same && i < out.len; i++) same = out.data[i] == out_type(o, i);
  return same || op_error(k->c, o, "failed to verify that callee result types match result types");
}

bool verify_func_constant(checker *k, const op *o) { return (void)k, (void)o, true; }

bool use_func_constant(checker *k, const op *o) {
  struct func_constant_attrs a;
  struct func_attrs f;
  if (!view_func_constant(o, &a)) return false;
  const op *table = op_module(op_parent(o)), *callee = checker_symbol(k, table, a.value);
  if (!callee || !view_func(callee, &f))
    return op_error(k->c, o, "reference to undefined function '" STR_FMT "'", STR_ARG(a.value));
  return f.function_type == out_type(o, 0) ||
         op_error(k->c, o, "reference to function with mismatched type");
}

/* ---- computations with bodies of their own ---- */

/* One side of a manual computation: operands and block arguments, or what the body returns and
 * results. */
typedef struct side {
  const char *kind;
  const type **global, **local;
  size_t num_global, num_local;
  const sharding_per_value_attr *shardings;
} side;

static bool is_manual(attrs axes, str name) {
  for (size_t i = 0; i < axes.len; i++)
    if (str_eq(((const string_attr *)axes.data[i])->value, name)) return true;
  return false;
}

/* Product of the manual axes of a dimension; they come before the free ones, so that the local
 * tensor is a contiguous part of the global one for the sharding that remains inside. */
static bool manual_factor(checker *k, const op *o, const mesh_attr *m, attrs manual,
                          const attr *dim, const side *s, size_t index, size_t d, i64 *out) {
  attrs axes = ((const dim_sharding_attr *)dim)->axes;
  const axis_ref_attr *free_axis = NULL;
  *out = 1;
  for (size_t i = 0; i < axes.len; i++) {
    const axis_ref_attr *a = (const axis_ref_attr *)axes.data[i];
    if (!is_manual(manual, a->name)) {
      free_axis = a;
      continue;
    }
    if (free_axis)
      return op_error(k->c, o,
                      "%s sharding at index %zu must have all manual axes come before free axes in "
                      "its dimension sharding at index %zu. Saw manual axis %s after free axis %s",
                      s->kind, index, d, show_axis(k, a), show_axis(k, free_axis));
    for (size_t j = 0; j < m->axes.len; j++) {
      const mesh_axis_attr *x = (const mesh_axis_attr *)m->axes.data[j];
      if (str_eq(x->name, a->name)) *out *= a->size ? a->size : x->size;
    }
  }
  return true;
}

/* Local types are global ones with each dimension divided by its manual axes; dynamic sizes
 * stay. */
static bool check_local(checker *k, const op *o, attrs manual, const side *s, size_t index) {
  const type *t = s->global[index], *local = s->local[index];
  const tensor_sharding_attr *sh =
      (const tensor_sharding_attr *)s->shardings->shardings.data[index];
  const mesh_attr *m = checker_mesh(k, sh->mesh);
  if (t->kind != TYPE_TENSOR) return true; /* a token */
  i64 dims[DIALECT_MAX_RANK];
  for (size_t d = 0; d < t->dims.len; d++) {
    i64 factor = 1;
    if (d < sh->dims.len && !manual_factor(k, o, m, manual, sh->dims.data[d], s, index, d, &factor))
      return false;
    dims[d] = t->dims.data[d];
    if (dims[d] != DYNAMIC && dims[d] % factor)
      return op_error(k->c, o,
                      "%s dimension size %lld is not divisible by the manual axes size %lld",
                      s->kind, (long long)dims[d], (long long)factor);
    if (dims[d] != DYNAMIC) dims[d] /= factor;
  }
  const type *want = type_tensor(k->c, (i64s){dims, t->dims.len}, t->elem, NULL);
  if (local == want) return true;
  return op_error(k->c, o,
                  "%s shape, corresponding sharding, and region %s shape at index %zu must match. "
                  "Expected local shape '%s', actual local shape '%s'",
                  s->kind, s->kind, index, show(k, want), show(k, local));
}

static bool check_side(checker *k, const op *o, attrs manual, const side *s) {
  if (!s->num_global && !s->num_local && !s->shardings->shardings.len) return true;
  if (!check_shardings(k, o, s->shardings, s->global, s->num_global, s->kind)) return false;
  if (s->num_global != s->num_local)
    return op_error(k->c, o,
                    "number of op %ss and region %ss must match. Op has %zu op %ss and %zu region "
                    "%ss",
                    s->kind, s->kind, s->num_global, s->kind, s->num_local, s->kind);
  for (size_t i = 0; i < s->num_global; i++)
    if (!check_local(k, o, manual, s, i)) return false;
  return true;
}

static bool mesh_empty(const mesh_attr *m) { return !m->axes.len && !m->device_ids.len; }

/* The mesh of all the shardings, other than empty ones; NULL: they differ. */
static bool common_mesh(checker *k, const side *sides, const mesh_attr **out) {
  for (int s = 0; s < 2; s++)
    for (size_t i = 0; i < sides[s].shardings->shardings.len; i++) {
      const tensor_sharding_attr *t =
          (const tensor_sharding_attr *)sides[s].shardings->shardings.data[i];
      const mesh_attr *m = checker_mesh(k, t->mesh);
      if (!m) return false;
      if (!*out || mesh_empty(*out))
        *out = m;
      else if (m != *out && !mesh_empty(m))
        return false;
    }
  return true;
}

/* Manual axes are of the one mesh that all shardings are on. */
static bool check_known_axes(checker *k, const op *o, attrs axes, const side *sides) {
  const mesh_attr *m = NULL;
  if (!sides[0].shardings->shardings.len && !sides[1].shardings->shardings.len) return true;
  if (!common_mesh(k, sides, &m)) {
    if (!axes.len) return true;
    return op_error(k->c, o,
                    "all in and out shardings must be bound to the same mesh or an empty mesh.");
  }
  for (size_t i = 0; m && i < axes.len; i++) {
    str name = ((const string_attr *)axes.data[i])->value;
    bool found = false;
    for (size_t j = 0; j < m->axes.len; j++)
      found = found || str_eq(((const mesh_axis_attr *)m->axes.data[j])->name, name);
    if (!found) return op_error(k->c, o, "unknown manual axis: \"" STR_FMT "\"", STR_ARG(name));
  }
  return true;
}

static const type **arg_types(checker *k, const block *b) {
  const type **t = ARENA_ARRAY(k->scratch, const type *, b->num_args);
  for (u32 i = 0; i < b->num_args; i++) t[i] = b->args[i]->type;
  return t;
}

/* No axis of this one is manual in one around it. */
bool verify_manual_computation(checker *k, const op *o) {
  struct manual_computation_attrs mine, a;
  if (!view_manual_computation(o, &mine)) return false;
  attrs axes = mine.manual_axes->axes;
  for (size_t i = 0; i < axes.len; i++)
    if (!attr_is(string, axes.data[i])) return op_error(k->c, o, "manual axes must be names");
  for (size_t i = 0; i < axes.len; i++)
    for (const op *p = op_parent(o); p; p = op_parent(p)) {
      str name = ((const string_attr *)axes.data[i])->value;
      if (!op_is(p, manual_computation) || !view_manual_computation(p, &a)) continue;
      if (!is_manual(a.manual_axes->axes, name)) continue;
      op_error(k->c, o,
               "operates on axis \"" STR_FMT "\" which is already bound by a parent "
               "sdy.manual_computation op",
               STR_ARG(name));
      loc_note(k->c, p->loc, "parent bounding this axis as manual");
      return false;
    }
  return true;
}

bool use_manual_computation(checker *k, const op *o) {
  struct manual_computation_attrs a;
  if (!view_manual_computation(o, &a)) return false;
  const block *b = op_body(o, 0);
  attrs axes = a.manual_axes->axes;
  side sides[] = {
      {"operand", operand_types(k, o), arg_types(k, b), o->num_operands, b->num_args,
       a.in_shardings},
      {"result", result_types(k, o), operand_types(k, b->last), o->num_results, num_returned(b),
       a.out_shardings},
  };
  return check_side(k, o, axes, &sides[0]) && check_side(k, o, axes, &sides[1]) &&
         check_known_axes(k, o, axes, sides);
}

/* Results are what the body returns. */
bool verify_named_computation(checker *k, const op *o) {
  const block *b = op_body(o, 0);
  bool same = num_returned(b) == o->num_results;
  for (u32 i = 0; same && i < o->num_results; i++) same = returned(b, i) == out_type(o, i);
  if (same) return true;
  op_error(k->c, o, "inferred type(s) %s are incompatible with return type(s) of operation %s",
           show_types(k, operand_types(k, b->last), num_returned(b)),
           show_types(k, result_types(k, o), o->num_results));
  return op_error(k->c, o, "failed to infer returned types");
}

bool use_named_computation(checker *k, const op *o) {
  struct named_computation_attrs a;
  if (!view_named_computation(o, &a)) return false;
  const block *b = op_body(o, 0);
  if (b->num_args != o->num_operands)
    return loc_error(k->c, o->loc,
                     "number of block arguments must match the number of operands: %u != %u",
                     b->num_args, o->num_operands);
  for (u32 i = 0; i < b->num_args; i++)
    if (b->args[i]->type != in_type(o, i))
      return loc_error(k->c, o->loc,
                       "expected the type of the %u'th block argument to match the type of the "
                       "corresponding operand: '%s' vs '%s'",
                       i, show(k, b->args[i]->type), show(k, in_type(o, i)));
  if (a.in_shardings &&
      !check_shardings(k, o, a.in_shardings, operand_types(k, o), o->num_operands, "in_shardings"))
    return false;
  return !a.out_shardings || check_shardings(k, o, a.out_shardings, result_types(k, o),
                                             o->num_results, "out_shardings");
}
