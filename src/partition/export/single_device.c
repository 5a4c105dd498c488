/* sdy-resolve-single-device-sharding: an op whose results are on one device becomes a branch that
 * only this device takes; the others have zeros, and the sum of all is what every device gets. */
#include "partition/passes.h"
#include "partition/place.h"

typedef struct single_op {
  op *op;
  i64 device;
} single_op;

typedef struct single {
  part_env e;
  const mesh *mesh; /* of all devices */
  op_id device_id;  /* the op that says which device this is */
  VEC(single_op) list;
  bool ok;
} single;

static const sharding *sharding_of(const single *s, value *v) {
  return shard_read(s->e.space, value_sharding(s->e.c, v));
}

static bool on_one_device(const single *s, value *v) {
  const sharding *sh = sharding_of(s, v);
  return sh && mesh_is_maximal(sh->mesh);
}

/* ---- which ops ---- */

static walk_result find_single(void *user, op *o) {
  single *s = user;
  i64 device = -1;
  const char *wrong = NULL;
  if (str_starts(o->info->name, STR("sdy."))) return WALK_ON;
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_result(o, i);
    const sharding *sh = type_is_ranked(v->type) ? sharding_of(s, v) : NULL;
    if (!sh) continue;
    if (!mesh_is_maximal(sh->mesh)) {
      if (!sharding_is_replicated(sh)) wrong = "has results on one device and others on several";
      continue;
    }
    if (device >= 0 && device != sh->mesh->device_ids.data[0]) wrong = "has results on two devices";
    device = sh->mesh->device_ids.data[0];
  }
  if (device < 0) return WALK_ON;
  s->ok = !wrong || op_error(s->e.c, o, "%s", wrong);
  VEC_PUSH(s->e.a, s->list, ((single_op){o, device}));
  return s->ok ? WALK_ON : WALK_STOP;
}

/* ---- the branch ---- */

static cursor branch_cursor(const single *s, op *branch, u16 region) {
  block *b = block_create(s->e.m);
  region_append(&branch->regions[region], b);
  return (cursor){&s->e, b, NULL, branch->loc};
}

static void emit_return(cursor *at, value *const *v, size_t n) {
  emit_op(at, OP_return, v, n, NULL, 0, 0);
}

/* What was brought to the one device is on all of them anyway. */
static void bypass_reshards(const single *s, op *o) {
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    op *r = value_op(v);
    if (!r || !op_is(r, reshard) || !on_one_device(s, v)) continue;
    op_set_operand(o, i, op_operand(r, 0));
    if (!v->uses) op_erase(r);
  }
}

static void emit_taken(const single *s, op *branch, const op *o) {
  cursor at = branch_cursor(s, branch, 0);
  op *copy = op_clone(s->e.m, o, ir_map_create(s->e.a));
  op_set_attr(s->e.m, copy, SDY_SHARDING, NULL);
  op_insert(copy, at.b, NULL);
  value **results = ARENA_ARRAY(s->e.a, value *, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) results[i] = op_result(copy, i);
  emit_return(&at, results, o->num_results);
}

static bool emit_not_taken(const single *s, op *branch, const op *o) {
  cursor at = branch_cursor(s, branch, 1);
  value **results = ARENA_ARRAY(s->e.a, value *, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) {
    const type *t = op_result(o, i)->type;
    if (t->kind == TYPE_TOKEN)
      results[i] = emit(&at, OP_create_token, NULL, 0, t);
    else if (type_is_tensor(t) && type_is_static(t))
      results[i] = emit_zeros(&at, t);
    else
      return op_unimplemented(s->e.c, o, "a result on one device that has no zero");
  }
  emit_return(&at, results, o->num_results);
  return true;
}

/* ---- and back to all devices ---- */

static const sharding *everywhere(const single *s, const value *v) {
  return sharding_make_replicated(s->e.a, s->mesh, (u32)type_rank(v->type), true);
}

/* Reshards of v to where it is. */
static void drop_reshards(const single *s, value *v) {
  const attr *here = part_attr(&s->e, everywhere(s, v));
  for (use *u = v->uses, *next; u; u = next) {
    next = u->next;
    op *r = u->owner;
    if (!op_is(r, reshard) || op_attr(r, SLOT_NAME(sharding)) != here) continue;
    value_replace(op_result(r, 0), v);
    op_erase(r);
  }
}

static void emit_sums(const single *s, op *branch, op *o) {
  cursor at = cursor_after(&s->e, branch);
  axis_vec axes = {0};
  for (u32 i = 0; i < s->mesh->num_axes; i++) VEC_PUSH(s->e.a, axes, axis_whole(s->mesh, i));
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_result(branch, i);
    if (type_is_ranked(v->type))
      v = emit_all_reduce(&at, v, s->mesh, axis_vec_list(&axes), UNREDUCED_SUM, everywhere(s, v));
    value_replace(op_result(o, i), v);
    if (type_is_ranked(v->type)) drop_reshards(s, v);
  }
}

static bool resolve(const single *s, const single_op *k) {
  op *o = k->op;
  cursor at = cursor_before(&s->e, o);
  const type **types = ARENA_ARRAY(s->e.a, const type *, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) types[i] = op_result(o, i)->type;
  value *id = emit_device_id(&at, s->device_id);
  value *here = emit_compare(&at, id, emit_int(&at, k->device), 0);
  bypass_reshards(s, o);
  op *branch = emit_op(&at, OP_if, &here, 1, types, o->num_results, 2);
  emit_taken(s, branch, o);
  if (!emit_not_taken(s, branch, o)) return false;
  emit_sums(s, branch, o);
  op_erase(o);
  return true;
}

static const mesh *mesh_of_all(const part_env *e) {
  FOR_OPS(o, op_body(e->m->root, 0)) {
    const mesh *m = op_is(o, sdy_mesh) ? shard_mesh_named(e->space, symbol_name(o)) : NULL;
    if (m && m->num_axes) return m;
  }
  return NULL;
}

bool part_resolve_single_device(ir_module *m, arena *scratch, const pass_args *args) {
  single s = {.e = part_env_make(m, scratch), .ok = true};
  if (!part_device_id(m, args, &s.device_id)) return false;
  s.mesh = mesh_of_all(&s.e);
  if (!s.mesh) return true;
  op_walk_post(m->root, find_single, &s);
  for (size_t i = 0; i < s.list.len && s.ok; i++) s.ok = resolve(&s, &s.list.data[i]);
  return s.ok && shard_space_check(s.e.space);
}
