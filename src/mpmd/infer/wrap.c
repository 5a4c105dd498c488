/* Fragments around single ops. infer.h has it. */
#include "mpmd/infer/infer.h"

#include <stdlib.h>

/* ---- what an op sees ---- */

typedef struct seen {
  const infer *n;
  const op *o;
  value_list *out;
} seen;

static void add_once(const infer *n, value_list *out, value *v) {
  for (size_t i = 0; i < out->len; i++)
    if (out->data[i] == v) return;
  VEC_PUSH(n->a, *out, v);
}

static walk_result see_operands(void *user, op *o) {
  seen *s = user;
  if (o == s->o) return WALK_ON;
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    const op *home = v->is_arg ? block_op(v->def.block) : op_parent(value_op(v));
    if (!op_is_inside(home, s->o)) add_once(s->n, s->out, v);
  }
  return WALK_ON;
}

static void list_seen_values(const infer *n, op *o, value_list *out) {
  if (o->num_regions) op_walk_post(o, see_operands, &(seen){n, o, out});
}

static void list_operands(const infer *n, op *o, value_list *out) {
  for (u32 i = 0; i < o->num_operands; i++) add_once(n, out, op_operand(o, i));
}

void list_inputs(const infer *n, op *o, bool operands_first, value_list *out) {
  if (operands_first) list_operands(n, o, out);
  list_seen_values(n, o, out);
  if (!operands_first) list_operands(n, o, out);
}

/* ---- meshes ---- */

static int by_mesh(const void *a, const void *b) {
  const str *x = a, *y = b;
  return mpmd_mesh_before(*x, *y) ? -1 : mpmd_mesh_before(*y, *x) ? 1 : str_cmp(*x, *y);
}

void sort_meshes(str *names, size_t n) {
  if (n > 1) qsort(names, n, sizeof *names, by_mesh);
}

/* ---- fragments ---- */

static const type *placed(infer *n, const type *t, str mesh) {
  return type_is_ranked(t) ? type_mesh_tensor(n->ctx, mesh, t, NULL, NULL) : t;
}

/* Tensors are assigned to the mesh; tokens go in as they are. */
value *assign_to(infer *n, op *before, const attr *loc, value *v, str mesh) {
  return type_is_ranked(v->type) ? mpmd_emit_assign(n->m, before, loc, v, mesh, STR("")) : v;
}

static bool is_on(const op *user, str mesh) {
  return op_is(user, mpmd_assign) && str_eq(user->results[0].type->text, mesh);
}

/* From the first use on, as each that moves comes to the front of the other's list. */
static void replace_on(value *from, value *to, str on) {
  for (use *u = from->uses, *next; u; u = next) {
    next = u->next;
    if (!on.len || is_on(u->owner, on))
      op_set_operand(u->owner, (size_t)(u - u->owner->operands), to);
  }
}

void wrap_op(infer *n, op *o, str mesh, const char *pass, str on) {
  value_list in = {0};
  list_inputs(n, o, true, &in);
  value **operands = ARENA_ARRAY(n->a, value *, in.len);
  const type **results = ARENA_ARRAY(n->a, const type *, o->num_results);
  ir_map *map = ir_map_create(n->a);
  for (size_t i = 0; i < in.len; i++) operands[i] = assign_to(n, o, o->loc, in.data[i], mesh);
  for (u32 i = 0; i < o->num_results; i++) results[i] = placed(n, o->results[i].type, mesh);
  op *f = fragment_create(n->m, o, o->loc, attr_array(n->ctx, (attrs){0}), mesh, NULL, operands,
                          in.len, results, o->num_results);
  for (size_t i = 0; i < in.len; i++) ir_map_set(map, in.data[i], op_body(f, 0)->args[i]);
  op *copy = op_clone(n->m, o, map);
  op_insert(copy, op_body(f, 0), NULL);
  value **made = ARENA_ARRAY(n->a, value *, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) made[i] = op_result(copy, i);
  fragment_return(n->m, f, made, o->num_results);
  mpmd_set_inferred_by(n->m, f, pass);
  for (u32 i = 0; i < o->num_results; i++) {
    value *out = op_result(f, i);
    if (type_is_mesh_tensor(out->type)) out = mpmd_emit_unassign(n->m, o, o->loc, out, STR(""));
    replace_on(op_result(o, i), out, on);
  }
}
