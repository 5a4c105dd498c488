/* sdy-per-instruction-partitioning: single ops become manual computations of what a device runs of
 * them, each partitioned alone; the rest stays as it is, for whoever looks for the op that a
 * partitioner gets wrong.
 *
 * The op goes to a module of its own, as a function with the shardings that its values have, and
 * through the line of Shardy's passes; what comes out is the body. Operands that their axes do not
 * divide are padded with zeros before, results are cut after; where the op would mind, which Shardy
 * does not ask, that is undone around it. Source: openxla/shardy, per_instruction_partitioning.cc.
 */
#include "dialect/dialect.h"
#include "partition/export/resolve.h"
#include "partition/passes.h"
#include "shard/traits.h"

typedef struct filter {
  i64 low, high; /* of the numbers of ops; -1: any */
  VEC(str) names;
} filter;

typedef struct per_op {
  part_env e;
  symbols symbols;
  const pass_args *args;
  pass_tables tables; /* the same passes, and nobody who watches them */
  filter filter;
  i64 count;
  VEC(op *) ops;
} per_op;

/* One op, its values under shardings of one mesh. */
typedef struct outlined {
  per_op *p;
  op *o;
  const mesh *mesh;
  const sharding **in, **out;
  bool *manual; /* by axis of the mesh */
  const attr *manual_axes;
  const type **in_types, **out_types; /* padded */
} outlined;

/* ---- which ops ---- */

static str trimmed(str s, const char *what) {
  while (s.len && strchr(what, s.data[0])) s = str_from(s, 1);
  while (s.len && strchr(what, s.data[s.len - 1])) s.len--;
  return s;
}

static void read_filter(per_op *p, str text) {
  static const char *const keys[] = {"selectLow=", "selectHigh="};
  i64 *numbers[] = {&p->filter.low, &p->filter.high};
  p->filter.low = p->filter.high = -1;
  text = trimmed(text, " '\"");
  while (text.len) {
    const char *comma = memchr(text.data, ',', text.len);
    size_t len = comma ? (size_t)(comma - text.data) : text.len;
    str word = trimmed((str){text.data, len}, " ");
    text = str_from(text, comma ? len + 1 : len);
    bool number = false;
    for (int k = 0; k < 2 && !number; k++) {
      number = str_starts(word, str_of(keys[k]));
      const pass_option n = {STR("n"), number ? str_from(word, strlen(keys[k])) : word};
      const pass_args args = {.options = &n, .num_options = 1};
      if (number) *numbers[k] = pass_option_int(&args, STR("n"), *numbers[k]);
    }
    if (!number && word.len) VEC_PUSH(p->e.a, p->filter.names, word);
  }
}

static bool contains(str s, str part) {
  for (size_t i = 0; i + part.len <= s.len; i++)
    if (str_starts(str_from(s, i), part)) return true;
  return false;
}

static bool wanted(const per_op *p, const op *o, i64 number) {
  const filter *f = &p->filter;
  if ((f->low >= 0 && number < f->low) || (f->high >= 0 && number > f->high)) return false;
  for (size_t i = 0; i < f->names.len; i++)
    if (contains(o->info->name, f->names.data[i])) return true;
  return !f->names.len;
}

static const bool left_alone[OP_COUNT] = {
    [OP_sdy_all_gather] = true,          [OP_sdy_all_slice] = true,
    [OP_sdy_all_to_all] = true,          [OP_sdy_collective_permute] = true,
    [OP_sdy_all_reduce] = true,          [OP_sdy_reduce_scatter] = true,
    [OP_replicated_to_unreduced] = true, [OP_sharded_to_unreduced] = true,
    [OP_data_flow_edge] = true,          [OP_manual_computation] = true,
    [OP_propagation_barrier] = true,     [OP_sharding_constraint] = true,
    [OP_sharding_group] = true,
};

static bool is_marker(const op *o) {
  str target;
  return op_is(o, custom_call) && attr_get_str(op_attr(o, SLOT_NAME(call_target_name)), &target) &&
         (str_is(target, "Sharding") || str_is(target, "mhlo.sharding"));
}

static bool is_cut(const per_op *p, const value *v) {
  const sharding *s = part_sharding(&p->e, v);
  for (u32 d = 0; s && d < s->rank; d++)
    if (s->dims[d].axes.len) return true;
  return false;
}

static bool any_cut(const per_op *p, const op *o) {
  for (u32 i = 0; i < o->num_operands; i++)
    if (is_cut(p, op_operand(o, i))) return true;
  for (u32 i = 0; i < o->num_results; i++)
    if (is_cut(p, op_result(o, i))) return true;
  return false;
}

/* Ops in regions of others are not looked at. */
static void collect(per_op *p, const op *f) {
  for (block *b = f->regions[0].first; b; b = b->next)
    for (op *o = b->first; o; o = o->next) {
      if (op_has(o, TERMINATOR) || (op_kind(o) < OP_COUNT && left_alone[op_kind(o)])) continue;
      if (is_marker(o) || !any_cut(p, o)) continue;
      if (wanted(p, o, p->count++)) VEC_PUSH(p->e.a, p->ops, o);
    }
}

/* ---- shardings and types ---- */

static const mesh *mesh_of_all(const per_op *p, const op *o) {
  const mesh *m = NULL;
  for (u32 t = 0; t < o->num_operands + o->num_results; t++) {
    const value *v = op_tensor(o, t);
    const sharding *s = part_sharding(&p->e, v);
    if (!s) continue;
    if (!m || mesh_is_empty(m))
      m = s->mesh;
    else if (!mesh_is_empty(s->mesh) && !mesh_same(m, s->mesh, false))
      return NULL;
  }
  return m;
}

static void note_axes(outlined *x, axis_list l) {
  for (size_t i = 0; i < l.len; i++) x->manual[l.data[i].axis] = true;
}

/* Of results sums are not left open. */
static const sharding *sharding_at(outlined *x, value *v, bool result) {
  const part_env *e = &x->p->e;
  const sharding *s = part_sharding(e, v);
  if (!s) s = sharding_make_replicated(e->a, x->mesh, (u32)type_rank(v->type), true);
  sharding there = *s;
  there.mesh = x->mesh;
  if (result) there.unreduced = (axis_list){0};
  for (u32 d = 0; d < s->rank; d++) note_axes(x, s->dims[d].axes);
  note_axes(x, there.replicated);
  note_axes(x, there.unreduced);
  return shard_intern(e->space, &there);
}

static const type *padded_type(const outlined *x, const type *t, const sharding *s) {
  const part_env *e = &x->p->e;
  if (!type_is_ranked(t) || s->rank != t->dims.len) return t;
  i64 *dims = arena_copy(e->a, t->dims.data, s->rank * sizeof(*dims));
  for (u32 d = 0; d < s->rank; d++) {
    i64 parts = sharding_dim_size(s, d), more;
    if (dims[d] != DYNAMIC && dims[d] % parts &&
        checked_add(dims[d], parts - dims[d] % parts, &more))
      dims[d] = more;
  }
  return type_with_dims(e->c, t, (i64s){dims, s->rank});
}

/* What a reshard gives is as large as what it takes. */
static void agree_on_type(const outlined *x) {
  i64s in = x->in_types[0]->dims, out = x->out_types[0]->dims;
  i64 *dims = arena_copy(x->p->e.a, in.data, in.len * sizeof(*dims));
  for (size_t d = 0; d < in.len; d++) dims[d] = max_i64(in.data[d], out.data[d]);
  x->in_types[0] = x->out_types[0] =
      type_with_dims(x->p->e.c, x->in_types[0], (i64s){dims, in.len});
}

static bool outline_types(per_op *p, op *o, outlined *x) {
  const part_env *e = &p->e;
  const mesh *m = mesh_of_all(p, o);
  if (!m) return op_error(e->c, o, "has values on different meshes");
  if (!m->name.len) m = part_name_mesh(e, &p->symbols, m, STR("mesh"));
  *x = (outlined){.p = p, .o = o, .mesh = m, .manual = arena_zalloc(e->a, m->num_axes + 1)};
  x->in = ARENA_ARRAY(e->a, const sharding *, o->num_operands);
  x->out = ARENA_ARRAY(e->a, const sharding *, o->num_results);
  x->in_types = ARENA_ARRAY(e->a, const type *, o->num_operands);
  x->out_types = ARENA_ARRAY(e->a, const type *, o->num_results);
  for (u32 i = 0; i < o->num_operands; i++) {
    x->in[i] = sharding_at(x, op_operand(o, i), false);
    x->in_types[i] = padded_type(x, op_operand(o, i)->type, x->in[i]);
  }
  for (u32 i = 0; i < o->num_results; i++) {
    x->out[i] = sharding_at(x, op_result(o, i), true);
    x->out_types[i] = padded_type(x, op_result(o, i)->type, x->out[i]);
  }
  if (op_is(o, reshard)) agree_on_type(x);
  return true;
}

/* ---- a module of its own ---- */

/* Whether the op on padded operands makes padded results that begin with what it is to make. */
static bool takes_padding(const op *o) {
  return op_is_elementwise(o) || op_is(o, reshard) || op_is(o, dot) || op_is(o, dot_general);
}

static void make_func(const outlined *x, ir_module *m) {
  const part_env *e = &x->p->e;
  const op *o = x->o;
  op *f = op_create(m, &op_infos[OP_func], o->loc, NULL, 0, NULL, 0, 1);
  const type *t = type_function(e->c, (struct types){x->in_types, o->num_operands},
                                (struct types){x->out_types, o->num_results});
  op_set(f, func, sym_name, attr_string(e->c, STR("outlined_op")));
  op_set(f, func, function_type, attr_type(e->c, t));
  op_set(f, func, sym_visibility, attr_string(e->c, STR("private")));
  block *b = block_create(m);
  for (u32 i = 0; i < o->num_operands; i++) block_add_arg(m, b, x->in_types[i]);
  region_append(&f->regions[0], b);
  op_insert(f, op_body(m->root, 0), NULL);
  for (u32 i = 0; i < o->num_operands; i++)
    func_set_sharding(m, f, FUNC_ARGS, i, part_attr(e, x->in[i]));
  for (u32 i = 0; i < o->num_results; i++)
    func_set_sharding(m, f, FUNC_RESULTS, i, part_attr(e, x->out[i]));
  op *copy = op_clone(m, o, ir_map_create(e->a));
  op_insert(copy, b, NULL);
  part_env there = {m, e->c, e->a, e->space};
  cursor before = {&there, b, copy, o->loc}, after = {&there, b, NULL, o->loc};
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = b->args[i];
    if (v->type != op_operand(o, i)->type && !takes_padding(o))
      v = emit_cut(&before, v, op_operand(o, i)->type->dims, x->in[i]);
    op_set_operand(copy, i, v);
  }
  value **results = ARENA_ARRAY(e->a, value *, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) {
    results[i] = op_result(copy, i);
    if (takes_padding(o)) results[i]->type = x->out_types[i];
    if (results[i]->type != x->out_types[i])
      results[i] = emit_padded(&after, results[i], x->out_types[i]->dims, x->out[i], NULL);
  }
  op *end = op_create(m, &op_infos[OP_func_return], o->loc, results, o->num_results, NULL, 0, 0);
  op_insert(end, b, NULL);
}

/* What an exchange has made is no longer looked at for reshards, unlike in Shardy's line: a reverse
 * whose result is on reversed devices would be brought back twice. */
static bool run_line(const per_op *p, ir_module *m) {
  static const char *const passes[] = {
      "sdy-insert-explicit-reshards", "sdy-resolve-permutation-factors",
      "sdy-reshard-to-collectives",   "sdy-pad-for-divisibility",
      "sdy-convert-global-to-local",  "sdy-drop-sharding-and-mesh"};
  static const char *const handed_down[] = {"enable-halo-exchange", "replica-count",
                                            "partition-count"};
  for (size_t i = 0; i < COUNT(passes); i++) {
    const pass_info *pass = pass_find(&p->tables, str_of(passes[i]));
    VEC(pass_option) list = {0};
    for (const pass_option_info *k = pass ? pass->options : NULL; k && k->name; k++) {
      if (!strcmp(k->name, "enable-full-version"))
        VEC_PUSH(p->e.a, list, ((pass_option){str_of(k->name), STR("true")}));
      for (size_t h = 0; h < COUNT(handed_down); h++)
        for (size_t g = 0; g < p->args->num_options; g++)
          if (!strcmp(k->name, handed_down[h]) && str_is(p->args->options[g].name, k->name))
            VEC_PUSH(p->e.a, list, p->args->options[g]);
    }
    pass_args args = {.options = list.data, .num_options = list.len, .tables = &p->tables};
    if (!pass) return loc_error(m->ctx, m->root->loc, "there is no pass '%s'", passes[i]);
    if (!pass_run(m, pass, &args)) return false;
  }
  return true;
}

/* ---- and back ---- */

static const attr *list_of(const part_env *e, const sharding *const *s, size_t n) {
  const attr **list = ARENA_ARRAY(e->a, const attr *, n);
  for (size_t i = 0; i < n; i++) list[i] = part_attr(e, s[i]);
  return attr_make(e->c, sharding_per_value, .shardings = {list, n});
}

/* In the order in which the shardings name them. */
static const attr *manual_axes(const outlined *x) {
  const part_env *e = &x->p->e;
  VEC(const attr *) names = {0};
  bool *seen = arena_zalloc(e->a, x->mesh->num_axes + 1);
  u32 n = x->o->num_operands + x->o->num_results;
  for (u32 t = 0; t < n; t++) {
    const sharding *s = t < x->o->num_operands ? x->in[t] : x->out[t - x->o->num_operands];
    for (u32 k = 0; k < s->rank + 2; k++) {
      axis_list l = k < s->rank ? s->dims[k].axes : k == s->rank ? s->replicated : s->unreduced;
      for (size_t i = 0; i < l.len; i++) {
        u32 axis = l.data[i].axis;
        if (!seen[axis]) VEC_PUSH(e->a, names, attr_string(e->c, x->mesh->axes[axis].name));
        seen[axis] = true;
      }
    }
  }
  return attr_make(e->c, manual_axes, .axes = {names.data, names.len});
}

static void take_body(const outlined *x, op *manual, const op *f) {
  const part_env *e = &x->p->e;
  block *from = op_body(f, 0), *b = block_create(e->m);
  ir_map *map = ir_map_create(e->a);
  for (u32 i = 0; i < from->num_args; i++)
    ir_map_set(map, from->args[i], block_add_arg(e->m, b, from->args[i]->type));
  region_append(&manual->regions[0], b);
  for (op *o = from->first; o != op_terminator(from); o = o->next)
    op_insert(op_clone(e->m, o, map), b, NULL);
  const op *end = op_terminator(from);
  value **results = ARENA_ARRAY(e->a, value *, end->num_operands);
  for (u32 i = 0; i < end->num_operands; i++) results[i] = ir_map_get(map, op_operand(end, i));
  cursor at = {e, b, NULL, end->loc};
  emit_op(&at, OP_sdy_return, results, end->num_operands, NULL, 0, 0);
}

static void wrap(const outlined *x, const op *f) {
  const part_env *e = &x->p->e;
  op *o = x->o;
  cursor at = cursor_before(e, o);
  value **in = ARENA_ARRAY(e->a, value *, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++)
    in[i] = op_operand(o, i)->type == x->in_types[i]
                ? op_operand(o, i)
                : emit_padded(&at, op_operand(o, i), x->in_types[i]->dims, x->in[i], NULL);
  op *manual =
      emit_op(&at, OP_manual_computation, in, o->num_operands, x->out_types, o->num_results, 1);
  op_set(manual, manual_computation, in_shardings, list_of(e, x->in, o->num_operands));
  op_set(manual, manual_computation, out_shardings, list_of(e, x->out, o->num_results));
  op_set(manual, manual_computation, manual_axes, manual_axes(x));
  take_body(x, manual, f);
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_result(manual, i);
    if (v->type != op_result(o, i)->type)
      v = emit_cut(&at, v, op_result(o, i)->type->dims, x->out[i]);
    value_replace(op_result(o, i), v);
  }
  op_erase(o);
}

static bool partition(per_op *p, op *o) {
  outlined x = {0};
  if (!outline_types(p, o, &x)) return false;
  ir_module *m = ir_module_create(p->e.c);
  FOR_OPS(k, op_body(p->e.m->root, 0))
  if (op_is(k, sdy_mesh))
    op_insert(op_clone(m, k, ir_map_create(p->e.a)), op_body(m->root, 0), NULL);
  make_func(&x, m);
  bool ok = dialect_verify(m) && run_line(p, m);
  if (ok) wrap(&x, symbol_find(m->root, STR("outlined_op")));
  ir_module_destroy(m);
  return ok;
}

bool part_per_instruction(ir_module *m, arena *scratch, const pass_args *args) {
  per_op p = {.e = part_env_make(m, scratch), .args = args, .tables = *args->tables};
  p.tables.before = p.tables.after = p.tables.failed = NULL;
  symbols_init(&p.symbols, m, scratch);
  read_filter(&p, pass_option_get(args, STR("filter"), STR("")));
  FOR_OPS(f, op_body(m->root, 0))
  if (op_is(f, func)) collect(&p, f);
  for (size_t i = 0; i < p.ops.len; i++)
    if (!partition(&p, p.ops.data[i])) return false;
  return shard_space_check(p.e.space);
}
