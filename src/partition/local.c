/* sdy-convert-global-to-local: from one program about whole tensors to the program that every
 * device runs on its shards.
 *
 * Every value gets the type of its shard. Most ops then compute the right thing as they stand,
 * because the passes before saw to it that sharded dimensions are such that they do (record.h;
 * checked again here, so that a gap is an error and never a wrong number). Ops that spell out
 * sizes or places are adapted by a handler (local_ops.c), sdy collectives become StableHLO's
 * (local_coll.c). Manual computations, whose bodies are local in their own axes already, are
 * inlined last. Meshes stay, as the signature's shardings name them. */
#include "partition/local.h"

#include "dialect/effects.h"
#include "partition/mask.h"
#include "partition/partition.h"
#include "partition/passes.h"

enum { MAX_DEVICES = 1 << 20 }; /* collectives list them */

/* ---- numbering, local types ---- */

static void number_value(local *l, value *v) {
  v->num = l->num_values++;
  l->from[v->num] = v->type;
  l->to[v->num] = v->type;
  const sharding *s = part_sharding(&l->e, v);
  l->sh[v->num] = s;
}

static walk_result count_op(void *user, op *o) {
  local *l = user;
  l->num_values += o->num_results;
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b; b = b->next) l->num_values += b->num_args;
  return WALK_ON;
}

static walk_result number_op(void *user, op *o) {
  local *l = user;
  for (u32 i = 0; i < o->num_results; i++) number_value(l, op_result(o, i));
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) number_value(l, b->args[i]);
  return WALK_ON;
}

/* The type of a shard, of which the last may have padding; NULL: there is none. */
static const type *make_shard_type(local *l, const sharding *s, const type *t) {
  if (!s || !type_is_ranked(t) || s->rank != t->dims.len) return t;
  i64 *dims = ARENA_ARRAY(l->e.a, i64, s->rank);
  for (u32 d = 0; d < s->rank; d++)
    if (t->dims.data[d] == DYNAMIC && sharding_dim_size(s, d) > 1) return NULL;
  l->uneven |= !sharding_local_shape(s, t->dims.data, dims);
  return type_with_dims(l->e.c, t, (i64s){dims, s->rank});
}

typedef struct shard_of {
  const sharding *s;
  const type *t, *shard;
} shard_of;

/* The same: few types are cut in few ways. */
static const type *shard_type(local *l, const sharding *s, const type *t) {
  u64 h = hash_ptr(t, hash_ptr(s, 0));
  shard_of *k;
  if (!s) return t;
  for (size_t at = 0; (k = index_next(&l->shards, h, &at));)
    if (k->s == s && k->t == t) return k->shard;
  k = ARENA_NEW(l->e.a, shard_of);
  *k = (shard_of){s, t, make_shard_type(l, s, t)};
  l->odd |= !k->shard || s->mesh->size > MAX_DEVICES;
  index_add(&l->shards, l->e.a, h, k);
  return k->shard;
}

/* The tables stay valid while types change under the ops. */
static void number_all(local *l) {
  l->num_values = 0;
  op_walk(l->e.m->root, count_op, l);
  u32 n = l->num_values;
  l->sh = arena_zalloc(l->e.a, n * sizeof(*l->sh));
  l->to = arena_zalloc(l->e.a, n * sizeof(*l->to));
  l->from = arena_zalloc(l->e.a, n * sizeof(*l->from));
  l->num_values = 0;
  op_walk(l->e.m->root, number_op, l);
  for (u32 i = 0; i < n; i++) l->to[i] = shard_type(l, l->sh[i], l->from[i]);
}

/* Rules are only made for ops of which anything is cut. */
static bool is_cut(const local *l, const op *o) {
  for (u32 t = 0; t < o->num_operands + o->num_results; t++) {
    const sharding *s = local_sharding(l, op_tensor(o, t));
    for (u32 d = 0; s && d < s->rank; d++)
      if (sharding_dim_size(s, d) > 1) return true;
  }
  return false;
}

/* What would say how a foreign op is cut. */
static const char *missing_method(const op *o) {
  if (op_kind(o) < OP_COUNT || !o->info->hooks || part_row_of(o)->cut != CUT_NOWHERE) return "";
  return o->info->hooks->out_sharding ? ": its dialect has no make_local for it"
                                      : ": its dialect has no sharding_rule or data_flow for it";
}

/* No dimension is cut that may not be. */
static bool check_record(local *l, rule_set *rules, op *o) {
  part_record r = {.row = part_row_of(o)};
  if (part_cuts_freely(r.row)) return true;
  bool ruled = r.row->cut == CUT_AS_RULED && is_cut(l, o);
  if (ruled && !part_record_make(l->e.a, rules, o, &r)) return false;
  for (u32 t = 0; t < o->num_operands + o->num_results; t++) {
    const sharding *s = local_sharding(l, op_tensor(o, t));
    for (u32 d = 0; s && d < s->rank; d++)
      if (sharding_dim_size(s, d) > 1 && !part_may_cut(&r, o, t, d, sharding_dim_size(s, d)))
        return op_unimplemented(l->e.c, o,
                                "cannot be partitioned along dimension %u of its %s %u%s", d,
                                t < o->num_operands ? "operand" : "result",
                                t < o->num_operands ? t : t - o->num_operands, missing_method(o));
  }
  return true;
}

/* All types divide; they are global still. */
static bool check_types(local *l, op *o) {
  for (u32 t = 0; t < o->num_operands + o->num_results; t++) {
    const value *v = op_tensor(o, t);
    const sharding *s = local_sharding(l, v);
    if (s && s->mesh->size > MAX_DEVICES)
      return op_unimplemented(l->e.c, o, "expected a mesh of at most %d devices, found %lld",
                              MAX_DEVICES, (long long)s->mesh->size);
    if (v->num < l->num_values && !l->to[v->num])
      return op_unimplemented(l->e.c, o, "has a sharding that does not divide its type");
  }
  return true;
}

typedef struct check {
  local *l;
  rule_set rules;
  bool ok;
} check;

static walk_result check_one(void *user, op *o) {
  check *c = user;
  c->ok = (!c->l->odd || check_types(c->l, o)) &&
          (!c->l->o.by_records || check_record(c->l, &c->rules, o));
  return c->ok ? WALK_ON : WALK_STOP;
}

static bool check_all(local *l) {
  check c = {.l = l, .ok = true};
  rule_set_init(&c.rules, l->e.c, l->e.a, false);
  c.rules.extra = true;
  c.rules.apart = true;
  op_walk(l->e.m->root, check_one, &c);
  return c.ok;
}

/* ---- ops ---- */

bool local_unresolved(local *l, op *o) {
  return op_error(l->e.c, o, "should have been resolved before converting to local types");
}

/* Its result lies as its operand does, but may say so in the axes of another mesh, which who uses
 * it asks for. It goes when nobody asks any more (finish_block). */
bool local_propagation_barrier(local *l, op *o) {
  (void)l;
  op_result(o, 0)->type = op_operand(o, 0)->type;
  return true;
}

static bool local_block(local *l, block *b);

/* A block that sees no values from outside, with a prologue of its own. */
static bool local_body(local *l, block *b) {
  local outer = *l;
  l->prologue = block_create(l->e.m);
  memset(&l->indices, 0, sizeof l->indices); /* what it knows is in the outer prologue */
  memset(&l->positions, 0, sizeof l->positions);
  bool ok = local_block(l, b);
  block_move_ops(l->prologue, NULL, b, b->first);
  l->prologue = outer.prologue;
  l->indices = outer.indices;
  l->positions = outer.positions;
  return ok;
}

/* Manual computations are inlined in the end. */
bool local_region(local *l, op *o) {
  bool apart = op_has(o, ISOLATED) && !op_is(o, manual_computation);
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b; b = b->next)
      if (!(apart ? local_body : local_block)(l, b)) return false;
  return local_types(l, o);
}

bool local_nothing(local *l, op *o) { return (void)l, (void)o, true; }

/* Operands before users: a handler finds its operands local already, and sets the types of its
 * results. */
static bool local_block(local *l, block *b) {
  for (u32 i = 0; i < b->num_args; i++) {
    value *v = b->args[i];
    if (!l->to[v->num])
      return op_unimplemented(l->e.c, block_op(b), "has a sharding that does not divide its type");
    v->type = l->to[v->num];
  }
  FOR_OPS(o, b) {
    local_fn *f = l->o.by_records ? NULL : local_export(o);
    if (!(f ? f : part_row_of(o)->local)(l, o)) return false;
  }
  return true;
}

/* ---- functions ---- */

static const attr *with_entry(local *l, const attr *dict, const attr *name, const type *t) {
  const dict_attr *d = attr_as(dict, dict);
  size_t n = d ? d->names.len : 0;
  named_attr *e = ARENA_ARRAY(l->e.a, named_attr, n + 1);
  for (size_t i = 0; i < n; i++) e[i] = (named_attr){d->names.data[i], d->values.data[i]};
  e[n] = (named_attr){name, attr_type(l->e.c, t)};
  return attr_dict(l->e.c, e, n + 1);
}

/* Records the global types of one side of the signature. */
static void record_types(local *l, op *f, str list, types whole) {
  const array_attr *old = attr_as(array, op_attr(f, list));
  const attr **dicts = ARENA_ARRAY(l->e.a, const attr *, whole.len);
  const attr *name = attr_string(l->e.c, STR(PARTITION_GLOBAL_TYPE));
  for (size_t i = 0; i < whole.len; i++)
    dicts[i] =
        with_entry(l, old && i < old->elems.len ? old->elems.data[i] : NULL, name, whole.data[i]);
  if (whole.len) op_set_named(f, list, attr_array(l->e.c, (attrs){dicts, whole.len}));
}

static bool divides(local *l, const sharding *s, const type *t) {
  if (!s || !type_is_ranked(t) || s->rank != t->dims.len) return true;
  return sharding_local_shape(s, t->dims.data, ARENA_ARRAY(l->e.a, i64, s->rank));
}

static bool local_side(local *l, op *f, func_side side, types whole, const type **out) {
  for (size_t i = 0; i < whole.len; i++) {
    const sharding *s = shard_read(l->e.space, func_sharding(f, side, i));
    out[i] = shard_type(l, s, whole.data[i]);
    if (!out[i] || !divides(l, s, whole.data[i]))
      return op_error(l->e.c, f, "%s %zu has a sharding that does not divide its type",
                      side == FUNC_ARGS ? "argument" : "result", i);
  }
  return true;
}

/* The signature's types as shards; false: an error was reported. */
static bool local_signature(local *l, op *f) {
  struct func_attrs v;
  if (!view_func(f, &v)) return true;
  types in = type_inputs(v.function_type), out = type_results(v.function_type);
  const type **shards = ARENA_ARRAY(l->e.a, const type *, in.len + out.len);
  if (!local_side(l, f, FUNC_ARGS, in, shards) ||
      !local_side(l, f, FUNC_RESULTS, out, shards + in.len))
    return false;
  if (l->o.global_types) {
    record_types(l, f, SLOT_NAME(arg_attrs), in);
    record_types(l, f, SLOT_NAME(res_attrs), out);
  }
  const type *t = type_function(l->e.c, (types){shards, in.len}, (types){shards + in.len, out.len});
  op_set(f, func, function_type, attr_type(l->e.c, t));
  return true;
}

static bool local_function(local *l, op *f) {
  if (!local_signature(l, f)) return false;
  block *body = op_body(f, 0);
  return !body || local_body(l, body);
}

/* ---- after: manual computations and attributes go ---- */

/* Its body is in terms of its own shards already, which the operands' shards are by now. */
static void inline_manual(op *o) {
  block *b = op_body(o, 0);
  for (u32 i = 0; i < b->num_args; i++) value_replace(b->args[i], op_operand(o, i));
  while (b->first != b->last) {
    op *x = b->first;
    op_unlink(x);
    op_insert(x, o->parent, o);
  }
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_operand(b->last, i));
  op_erase(o);
}

static void finish_block(local *l, block *b) {
  for (op *o = b->first; o;) {
    op *next = o->next;
    bool plain = o->num_attrs == 1 && o->attrs->name == l->e.sharding_name;
    if (l->o.drop_shardings && plain) {
      o->num_attrs = 0;
    } else if (l->o.drop_shardings && o->num_attrs) {
      op_drop_attr(o, SDY_SHARDING);
      op_drop_attr(o, SDY_SHARDING_RULE);
    }
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next) finish_block(l, in);
    if (op_is(o, manual_computation)) inline_manual(o);
    if (op_is(o, propagation_barrier)) {
      value_replace(op_result(o, 0), op_operand(o, 0));
      op_erase(o);
    }
    o = next;
  }
}

static local_options read_options(const pass_args *args) {
  return (local_options){
      .per_dim_gather = pass_option_flag(args, STR("per-dim-all-gather"), false),
      .combine_scatter =
          pass_option_flag(args, STR("combine-multi-dimension-reduce-scatter"), false),
      .mesh_groups = pass_option_flag(args, STR("enable-rgv3"), false),
      .by_records = pass_option_flag(args, STR("by-records"), false),
      .global_types = pass_option_flag(args, STR("record-global-types"), false),
      .drop_shardings = pass_option_flag(args, STR("drop-shardings"), false),
      .share_offsets = pass_option_flag(args, STR("share-offsets"), false),
      .move_least = pass_option_flag(args, STR("move-least"), false),
  };
}

/* Checked first, while types are global, as records are about whole tensors. */
bool part_global_to_local(ir_module *m, arena *scratch, const pass_args *args) {
  local l = {.e = part_env_make(m, scratch),
             .o = read_options(args),
             .next_channel = part_next_channel(m)};
  if (!part_device_id(m, args, &l.o.device_id)) return false;
  if (l.o.by_records && !part_has_mesh(&l.e)) return true;
  number_all(&l);
  if (l.uneven && l.o.by_records) {
    if (!mask_padding(m, scratch)) return false;
    number_all(&l);
  }
  if (!shard_space_check(l.e.space) || !check_all(&l)) return false;
  block *b = op_body(m->root, 0);
  for (op *o = b->first; o; o = o->next)
    if (op_is(o, func) && !local_function(&l, o)) return false;
  finish_block(&l, b);
  if (l.o.by_records) ops_erase_dead(m->root, DEAD_BY_ROW);
  return true;
}
