/* Where meshes come from, and where calls are; origins.h has it. Source: openxla/shardy,
 * infer_mesh_validation.cc. */
#include "mpmd/infer/origins.h"

#include "base/index.h"
#include "text/text.h"

/* ---- through the program ---- */

typedef struct search {
  infer *n;
  value_list work;
  hash_index seen;
  loc_origins_list *out;
} search;

static value *next_value(search *s) {
  while (s->work.len) {
    value *v = s->work.data[--s->work.len];
    if (index_get(&s->seen, v)) continue;
    index_set(&s->seen, s->n->a, v, v);
    return v;
  }
  return NULL;
}

static void later(search *s, value *v) { VEC_PUSH(s->n->a, s->work, v); }

static void found(search *s, const attr *loc, mesh_set meshes) {
  VEC_PUSH(s->n->a, *s->out, (loc_origins){loc, meshes});
}

static op_list calls_of(search *s, const op *f) {
  op_list calls = {0};
  mpmd_calls_of(s->n->a, s->n->m, f, &calls);
  return calls;
}

static void look_behind_arg(search *s, const value *v) {
  const op *f = block_op(v->def.block);
  if (!op_is(f, func)) return;
  if (mpmd_is_entry_point(f)) {
    found(s, value_loc(s->n, v), src_of_arg(s->n, f, v->index));
    return;
  }
  op_list calls = calls_of(s, f);
  for (size_t i = 0; i < calls.len; i++)
    if (v->index < calls.data[i]->num_operands) later(s, op_operand(calls.data[i], v->index));
}

static void look_behind(search *s, const value *v) {
  op *o = value_op(v);
  if (!o) {
    look_behind_arg(s, v);
  } else if (op_is(o, mpmd_unassign)) {
    mesh_set all = set_of_unassign(s->n, o), src = src_of(s->n, o);
    set_unite(s->n->a, &all, &src);
    found(s, o->loc, all);
  } else if (is_meshless(o)) {
    for (u32 i = 0; i < o->num_operands; i++) later(s, op_operand(o, i));
  } else if (op_is(o, mpmd_call)) {
    const op *ret = op_terminator(op_body(infer_callee(s->n, o), 0));
    if (v->index < ret->num_operands) later(s, op_operand(ret, v->index));
  }
}

void list_sources(infer *n, value *v, loc_origins_list *out) {
  search s = {.n = n, .out = out};
  later(&s, v);
  while ((v = next_value(&s))) look_behind(&s, v);
}

static void look_at_return(search *s, const use *u, size_t at) {
  const op *f = op_parent(u->owner);
  if (mpmd_is_entry_point(f)) {
    str name;
    const attr *info = mpmd_value_attr(f, MPMD_RES_ATTRS, at, MPMD_RESULT_INFO);
    bool named = info && attr_get_str(info, &name);
    found(s, named ? result_loc(s->n, f, at, u->value) : u->owner->loc, (mesh_set){0});
    return;
  }
  op_list calls = calls_of(s, f);
  for (size_t i = 0; i < calls.len; i++)
    if (at < calls.data[i]->num_results) later(s, op_result(calls.data[i], at));
}

static void look_at_use(search *s, const use *u) {
  op *o = u->owner;
  size_t at = (size_t)(u - o->operands);
  if (op_is(o, mpmd_assign)) {
    found(s, o->loc, set_of_assign(s->n, o));
  } else if (is_meshless(o)) {
    for (u32 i = 0; i < o->num_results; i++) later(s, op_result(o, i));
  } else if (op_is(o, func_return)) {
    look_at_return(s, u, at);
  } else if (op_is(o, mpmd_call)) {
    const block *b = op_body(infer_callee(s->n, o), 0);
    if (at < b->num_args) later(s, b->args[at]);
  }
}

void list_uses(infer *n, value *v, loc_origins_list *out) {
  search s = {.n = n, .out = out};
  later(&s, v);
  while ((v = next_value(&s)))
    for (const use *u = v->uses; u; u = u->next) look_at_use(&s, u);
}

/* ---- locations ---- */

static bool say_file(buf *b, const attr *loc) {
  const loc_file_attr *f = attr_as(loc_file, loc);
  const loc_name_attr *name = attr_as(loc_name, loc);
  const loc_callsite_attr *call = attr_as(loc_callsite, loc);
  const loc_fused_attr *fused = attr_as(loc_fused, loc);
  if (call) return say_file(b, call->callee);
  if (name) {
    if (!say_file(b, name->child)) return false;
    buf_printf(b, "\n\t ^ \"" STR_FMT "\"", STR_ARG(name->name));
    return true;
  }
  for (size_t i = 0; fused && i < fused->locs.len; i++)
    if (say_file(b, fused->locs.data[i])) return true;
  if (!f) return false;
  diag_pos p = loc_pos(loc);
  buf_printf(b, "\n" STR_FMT ":%u:%u to %u", STR_ARG(p.file), p.line, p.col, p.col);
  return true;
}

static const loc_callsite_attr *call_in(const attr *loc) {
  const loc_name_attr *name = attr_as(loc_name, loc);
  const loc_fused_attr *fused = attr_as(loc_fused, loc);
  const loc_callsite_attr *call = attr_as(loc_callsite, name ? name->child : loc);
  if (name && !call) return call_in(name->child);
  for (size_t i = 0; fused && !call && i < fused->locs.len; i++)
    call = call_in(fused->locs.data[i]);
  return call;
}

void say_stack(buf *b, const attr *loc) {
  for (const loc_callsite_attr *c; (c = call_in(loc)); loc = c->caller) say_file(b, &c->base);
}

static void say_loc(buf *b, const attr *loc) {
  const loc_name_attr *name = attr_as(loc_name, loc);
  if (call_in(loc))
    say_stack(b, loc);
  else if (name && attr_is(loc_unknown, name->child))
    buf_printf(b, "\"" STR_FMT "\"", STR_ARG(name->name));
  else
    text_print_attr(b, loc);
}

/* ---- texts ---- */

static void say_entry(buf *b, str mesh, const origin_list *origins) {
  buf_printf(b, STR_FMT "[", STR_ARG(mesh));
  for (size_t i = 0; i < origins->len; i++) {
    const mesh_origin_attr *o = attr_as(mesh_origin, origins->data[i]);
    buf_printf(b, "%s" STR_FMT, i ? "," : "", STR_ARG(o ? o->label : STR("")));
  }
  buf_char(b, ']');
}

void say_meshes(buf *b, const mesh_set *s) {
  for (size_t i = 0; i < s->meshes.len; i++) {
    if (i) BUF_LIT(b, ", ");
    say_entry(b, s->meshes.data[i].mesh, &s->meshes.data[i].origins);
  }
  if (!s->any.len) return;
  if (s->meshes.len) BUF_LIT(b, ", ");
  say_entry(b, STR("*"), &s->any);
}

static str first_label(const mesh_set *s) {
  const origin_list *l = s->meshes.len ? &s->meshes.data[0].origins : &s->any;
  const mesh_origin_attr *o = l->len ? attr_as(mesh_origin, l->data[0]) : NULL;
  return o ? o->label : STR("");
}

/* Named computations and tensors are known by the names of their locations. */
static void say_origin(infer *n, buf *b, const loc_origins *l, const char *prefix, bool inputs) {
  static const char *const kinds[] = {"named_computation", "named_tensor"};
  buf at;
  buf_init(&at, ir_mem(n->ctx));
  say_loc(&at, l->loc);
  const char *loc = buf_cstr(&at);
  size_t k = 0;
  while (k < COUNT(kinds) && !strstr(loc, kinds[k])) k++;
  if (k < COUNT(kinds))
    buf_printf(b, "\n%s - %s \"" STR_FMT "\": ", prefix, kinds[k],
               STR_ARG(first_label(&l->meshes)));
  else
    buf_printf(b, "\n%s - %s %s: ", prefix, inputs ? "Input" : "Output", loc);
  say_meshes(b, &l->meshes);
  if (k < COUNT(kinds)) buf_str(b, str_of(loc));
  buf_deinit(&at);
}

void say_origins(infer *n, buf *b, const loc_origins_list *l, const char *prefix, bool inputs) {
  for (size_t i = 0; i < l->len; i++) say_origin(n, b, &l->data[i], prefix, inputs);
}

void say_op(infer *n, buf *b, const op *o) { text_print_op(b, n->ctx, o, NULL); }

str callee_name(const op *func) {
  str name = symbol_name(func), prefix = STR("shardy_mpmd");
  return str_starts(name, prefix) ? str_from(name, prefix.len) : name;
}
