/* A plan as annotations: in a module, and as text. */
#include "explain/plan.h"
#include "shard/sharding_ir.h"
#include "text/text.h"

op *plan_entry(ir_module *m) {
  op *main = symbol_find(m->root, STR("main"));
  return main && op_is(main, func) && op_body(main, 0) ? main : NULL;
}

/* ---- in a module ---- */

typedef struct writing {
  const plan_answer *p;
  const plan_state *s;
  ir_module *m;
  const attr *ref;
  bool open;
} writing;

static void set_mesh(writing *w) {
  const plan_answer *p = w->p;
  ir_module *m = w->m;
  const attr *axes[PLAN_AXES];
  for (size_t k = 0; k < p->axes.len; k++)
    axes[k] = attr_make(m->ctx, mesh_axis, .name = p->axes.data[k],
                        .size = p->meshes.data[w->s->mesh].size[k]);
  const attr *mesh = attr_make(m->ctx, mesh, .axes = {axes, p->axes.len});
  op *o = symbol_find(m->root, p->mesh_name);
  if (!o) {
    o = op_create(m, &op_infos[OP_sdy_mesh], m->root->loc, NULL, 0, NULL, 0, 0);
    op_set(o, sdy_mesh, sym_name, attr_string(m->ctx, p->mesh_name));
    op_insert(o, op_body(m->root, 0), op_body(m->root, 0)->first);
  }
  if (p->fixed) return;
  op_set(o, sdy_mesh, mesh, mesh);
  op_set_attr(m, o, STABLEHLO_MESH, NULL);
}

/* Major to minor in the order of the mesh. */
static const attr *sharding_of(const writing *w, const plan_group *g, const plan_choice *c,
                               bool open) {
  const plan_answer *p = w->p;
  ir_ctx *x = w->m->ctx;
  const attr **dims = ARENA_ARRAY(&w->m->arena, const attr *, g->dims.len + 1);
  for (size_t d = 0; d < g->dims.len; d++) {
    const attr *axes[PLAN_AXES];
    size_t n = 0;
    for (size_t k = 0; k < p->axes.len; k++)
      if (c->dim[k] == (int)d) axes[n++] = attr_make(x, axis_ref, .name = p->axes.data[k]);
    dims[d] = attr_make(x, dim_sharding, .axes = {axes, n}, .closed = !open || n,
                        .priority = PRIORITY_NONE);
  }
  return attr_make(x, tensor_sharding, .mesh = w->ref, .dims = {dims, g->dims.len});
}

static bool is_whole(const plan_answer *p, const plan_choice *c) {
  bool whole = true;
  for (size_t k = 0; k < p->axes.len; k++) whole &= c->dim[k] == PLAN_WHOLE;
  return whole;
}

/* What results say stays where the mesh does; those that take arguments over follow them. */
static void set_signature(const writing *w, op *main) {
  const plan_answer *p = w->p;
  ir_module *m = w->m;
  size_t n = func_num(main, FUNC_RESULTS);
  const attr **args = ARENA_ARRAY(&m->arena, const attr *, p->num_args + 1);
  const attr **results = ARENA_ARRAY(&m->arena, const attr *, n + 1);
  for (size_t i = 0; i < n; i++)
    results[i] = p->own_names && !w->open ? func_sharding(main, FUNC_RESULTS, i) : NULL;
  for (u32 i = 0; i < p->num_args; i++) {
    u32 g = p->group_of[i];
    const plan_choice *c = &w->s->choices[g];
    bool left = w->open && is_whole(p, c);
    args[i] =
        left || !p->groups.data[g].ranked ? NULL : sharding_of(w, &p->groups.data[g], c, w->open);
    if (p->result_of[i] < n) results[p->result_of[i]] = args[i];
  }
  func_set_shardings(m, main, FUNC_ARGS, args, p->num_args);
  func_set_shardings(m, main, FUNC_RESULTS, results, n);
}

static void set_devices(const writing *w) {
  str name = STR("mhlo.num_partitions");
  ir_module *m = w->m;
  const integer_attr *old = attr_as(integer, op_attr(m->root, name));
  i64 n = plan_mesh_devices(&w->p->meshes.data[w->s->mesh]);
  if (old) op_set_attr(m, m->root, name, attr_int(m->ctx, old->type, n));
}

void plan_annotate(const plan_answer *p, const plan_state *s, bool open, ir_module *m) {
  op *main = plan_entry(m);
  if (!main || func_num(main, FUNC_ARGS) != p->num_args) return;
  writing w = {p, s, m, attr_symbol(m->ctx, p->mesh_name), open};
  op_list constraints = {0};
  if (p->q->free) ops_of_kind(&m->arena, m->root, OP_sharding_constraint, &constraints);
  for (size_t i = 0; i < constraints.len; i++) {
    op *o = constraints.data[i];
    value_replace(op_result(o, 0), op_operand(o, 0));
    op_erase(o);
  }
  set_mesh(&w);
  set_devices(&w);
  set_signature(&w, main);
}

/* ---- the annotated program ---- */

typedef struct printing {
  plan_answer *p;
  buf *out;
} printing;

static bool print_annotated(void *user, ir_module *m) {
  printing *x = user;
  plan_annotate(x->p, &x->p->best, false, m);
  text_print(x->out, m, &(text_print_options){.debuginfo = true});
  return false;
}

status plan_annotated(plan_answer *p, buf *out) {
  printing x = {p, out};
  executable *unused;
  compile_options o = {.file = p->q->source->file, .read = print_annotated, .read_user = &x};
  return compile_source(p->q->source->text, &o, &unused);
}

/* ---- as text ---- */

static size_t axes_along(const plan_answer *p, const plan_choice *c, size_t d, size_t *list) {
  size_t n = 0;
  for (size_t k = 0; k < p->axes.len; k++)
    if (c->dim[k] == (int)d) list[n++] = k;
  return n;
}

void plan_put_sharding(buf *b, const plan_answer *p, const plan_group *g, const plan_choice *c) {
  buf_printf(b, "#sdy.sharding<@" STR_FMT ", [", STR_ARG(p->mesh_name));
  for (size_t d = 0; d < g->dims.len; d++) {
    size_t list[PLAN_AXES], n = axes_along(p, c, d, list);
    buf_printf(b, "%s{", d ? ", " : "");
    for (size_t i = 0; i < n; i++)
      buf_printf(b, "%s\"" STR_FMT "\"", i ? ", " : "", STR_ARG(p->axes.data[list[i]]));
    BUF_LIT(b, "}");
  }
  BUF_LIT(b, "]>");
}

void plan_put_spec(buf *b, const plan_answer *p, const plan_group *g, const plan_choice *c) {
  size_t list[PLAN_AXES], last = 0;
  for (size_t d = 0; d < g->dims.len; d++)
    if (axes_along(p, c, d, list)) last = d + 1;
  BUF_LIT(b, "P(");
  for (size_t d = 0; d < last; d++) {
    size_t n = axes_along(p, c, d, list);
    buf_printf(b, d ? ", " : "");
    if (!n) BUF_LIT(b, "None");
    if (n > 1) BUF_LIT(b, "(");
    for (size_t i = 0; i < n; i++)
      buf_printf(b, "%s'" STR_FMT "'", i ? ", " : "", STR_ARG(p->axes.data[list[i]]));
    if (n > 1) BUF_LIT(b, ")");
  }
  BUF_LIT(b, ")");
}
