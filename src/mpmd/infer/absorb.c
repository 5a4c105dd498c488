/* Meshless ops into the fragments that use them. rewrite.h has it; source: openxla/shardy,
 * infer_mesh_assignment.cc. */
#include "base/index.h"
#include "dialect/effects.h"
#include "mpmd/infer/rewrite.h"

/* ---- who uses an op ---- */

typedef struct unique_ops {
  op_list list;
  hash_index seen;
} unique_ops;

static void add_op(const infer *n, unique_ops *s, op *o) {
  if (index_get(&s->seen, o)) return;
  index_set(&s->seen, n->a, o, o);
  VEC_PUSH(n->a, s->list, o);
}

typedef struct user_ops {
  unique_ops direct, fragments; /* each once */
  bool others;                  /* something else uses what is assigned */
} user_ops;

static bool has_tensor(const op *o) {
  for (u32 i = 0; i < o->num_results; i++)
    if (type_is_ranked(o->results[i].type)) return true;
  return false;
}

static bool list_users(infer *n, const op *o, user_ops *out) {
  for (u32 i = 0; i < o->num_results; i++)
    for (const use *u = o->results[i].uses; u; u = u->next) {
      add_op(n, &out->direct, u->owner);
      if (!op_is(u->owner, mpmd_assign)) {
        if (has_tensor(o))
          return op_error(n->ctx, o, "has users besides mpmd.assign, and so no mesh");
        continue;
      }
      for (const use *a = u->owner->results[0].uses; a; a = a->next) {
        if (op_is(a->owner, mpmd_fragment))
          add_op(n, &out->fragments, a->owner);
        else
          out->others = true;
      }
    }
  return true;
}

/* ---- into a fragment ---- */

static walk_result redirect(void *user, op *o) {
  const ir_map *map = user;
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i), *to = ir_map_get(map, v);
    if (to != v) op_set_operand(o, i, to);
  }
  return WALK_ON;
}

/* What the fragment has through mpmd.assign it now has from inside; marks the arguments that this
 * leaves without a use. */
static void use_inner(const op *fragment, const value *outer, value *inner, bool *gone) {
  const block *b = op_body(fragment, 0);
  for (const use *u = outer->uses; u; u = u->next) {
    if (!op_is(u->owner, mpmd_assign)) continue;
    for (const use *a = u->owner->results[0].uses; a; a = a->next) {
      if (a->owner != fragment) continue;
      size_t at = (size_t)(a - fragment->operands);
      value_replace(b->args[at], inner);
      gone[at] = true;
    }
  }
}

/* A copy of o, or it itself, at the front of the fragment; its inputs go in behind the others. */
static void put_into(infer *n, op *fragment, op *o, bool itself) {
  block *b = op_body(fragment, 0);
  size_t had = b->num_args;
  value_list in = {0}, operands = {0};
  ir_map *map = ir_map_create(n->a);
  list_inputs(n, o, false, &in);
  for (size_t i = 0; i < in.len; i++) {
    ir_map_set(map, in.data[i], block_add_arg(n->m, b, in.data[i]->type));
    block_set_arg_loc(n->m, b, had + i, value_loc(n, in.data[i]));
  }
  op *inner = itself ? o : op_clone(n->m, o, map);
  if (itself) {
    op_walk(o, redirect, map);
    op_unlink(o);
  }
  op_insert(inner, b, b->first);
  bool *gone = arena_zalloc(n->a, had + 1);
  for (u32 i = 0; i < o->num_results; i++)
    if (type_is_ranked(o->results[i].type))
      use_inner(fragment, op_result(o, i), op_result(inner, i), gone);
  for (size_t i = 0; i < had; i++)
    if (!gone[i]) VEC_PUSH(n->a, operands, op_operand(fragment, i));
  for (size_t i = had; i-- > 0;)
    if (gone[i]) block_erase_arg(b, i);
  for (size_t i = 0; i < in.len; i++)
    VEC_PUSH(n->a, operands,
             assign_to(n, fragment, value_loc(n, in.data[i]), in.data[i], fragment_mesh(fragment)));
  op_set_operands(n->m, fragment, operands.data, operands.len);
}

/* ---- into fragments of its own ---- */

static bool wrap_for_users(infer *n, op *o, const user_ops *users) {
  str *names = ARENA_ARRAY(n->a, str, users->direct.list.len);
  size_t count = 0;
  for (size_t i = 0; i < users->direct.list.len; i++) {
    const op *u = users->direct.list.data[i];
    if (!op_is(u, mpmd_assign)) continue;
    str mesh = u->results[0].type->text;
    size_t k = 0;
    while (k < count && !str_eq(names[k], mesh)) k++;
    if (k == count) names[count++] = mesh;
  }
  sort_meshes(names, count);
  for (size_t i = 0; i < count; i++) {
    if (!mpmd_mesh(o, names[i]))
      return op_error(n->ctx, o, "is used on the mesh '" STR_FMT "', which does not exist",
                      STR_ARG(names[i]));
    wrap_op(n, o, names[i], "infer_mesh_wrap_meshless_ops", names[i]);
  }
  return true;
}

/* What used the op, or was to be used, has nothing to do. */
static bool erase_users(infer *n, const op *o, const user_ops *users) {
  for (size_t i = 0; i < users->direct.list.len; i++) {
    op *u = users->direct.list.data[i];
    bool still = false;
    for (u32 k = 0; k < u->num_operands; k++) still |= value_op(op_operand(u, k)) == o;
    if (!still) continue;
    if (!op_is(u, mpmd_assign) || u->results[0].uses)
      return op_error(n->ctx, o, "has a user that cannot be on a mesh");
    op_erase(u);
  }
  return true;
}

static bool is_small(const op *o) {
  return o->num_operands <= 1 && o->num_results == 1 && !o->num_regions && op_is_effect_free(o);
}

static bool absorb(infer *n, op *o, i64 max_clones) {
  user_ops users = {0};
  drop_sets(n, o);
  if (!list_users(n, o, &users)) return false;
  const op_list *f = &users.fragments.list;
  if (f->len == 1 && !users.others) {
    put_into(n, f->data[0], o, true);
    return erase_users(n, o, &users);
  }
  bool many = max_clones < 0 || f->len > (u64)max_clones;
  if (!f->len || users.others || (many && o->num_operands && !is_small(o))) {
    if (!wrap_for_users(n, o, &users)) return false;
  } else {
    for (size_t i = 0; i < f->len; i++) put_into(n, f->data[i], o, false);
  }
  if (!erase_users(n, o, &users)) return false;
  for (u32 i = 0; i < o->num_results; i++)
    if (o->results[i].uses) return op_error(n->ctx, o, "has a user that cannot be on a mesh");
  op_erase(o);
  return true;
}

static bool absorb_op(infer *n, op *o, i64 max_clones) {
  arena *outer = n->a;
  n->a = ir_scratch_push(n->ctx);
  bool ok = absorb(n, o, max_clones);
  ir_scratch_pop(n->ctx);
  n->a = outer;
  return ok;
}

/* What an op is absorbed into stands behind it, and what it makes new does not need it. */
bool absorb_block(infer *n, block *b, i64 max_clones) {
  bool ok = true;
  for (op *o = b->last, *prev; ok && o; o = prev) {
    prev = o->prev;
    if (op_is(o, mpmd_call))
      ok = rewrite_call(n, o);
    else if (op_is(o, mpmd_for))
      ok = rewrite_loop(n, o, max_clones);
    else if (is_meshless(o))
      ok = absorb_op(n, o, max_clones);
  }
  return ok;
}
