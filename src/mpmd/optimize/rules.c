/* mpmd-rule-based-schedule: fragments in the order that the user's rules name them in, as far as
 * what they use allows. Source: openxla/shardy,
 * shardy/dialect/mpmd/transforms/optimize/rule_based_schedule.cc. */
#include "mpmd/rules.h"

#include "base/index.h"
#include "mpmd/optimize/graph.h"
#include "mpmd/optimize/passes.h"
#include "mpmd/order.h"

typedef struct named_fragment {
  fragment_info info;
  op *o;
} named_fragment;

typedef struct ruler {
  ir_module *m;
  arena *a;
  op *func;
  op_graph *g;
  hash_index by_info;
} ruler;

static u64 hash_info(const fragment_info *i) {
  u64 h = hash_bytes(i->mesh.data, i->mesh.len, hash_u64((u64)i->call_counter, (u64)i->stage));
  for (size_t k = 0; k < i->origins.len; k++) {
    str name = i->origins.data[k].name;
    h = hash_bytes(name.data, name.len, h);
  }
  return h;
}

static op *find(const ruler *r, const fragment_info *i) {
  const named_fragment *f;
  for (size_t at = 0; (f = index_next(&r->by_info, hash_info(i), &at));)
    if (fragment_info_eq(&f->info, i)) return f->o;
  return NULL;
}

static bool is_twice(const ruler *r, const fragment_info *i) {
  buf b;
  buf_init(&b, ir_mem(r->m->ctx));
  fragment_info_print(&b, i);
  loc_error(r->m->ctx, r->func->loc,
            "Fragment info " STR_FMT
            " already exists for another fragment. Check if you have multiple `named_computation` "
            "with the same name. If so, please rename one of them.",
            STR_ARG(buf_view(&b)));
  buf_deinit(&b);
  return false;
}

static bool index_fragments(ruler *r) {
  op_list fragments = {0};
  ops_of_kind(r->a, r->func, OP_mpmd_fragment, &fragments);
  for (size_t i = 0; i < fragments.len; i++) {
    if (!fragment_is_user(fragments.data[i])) continue;
    named_fragment *f = ARENA_NEW(r->a, named_fragment);
    *f = (named_fragment){fragment_info_of(r->a, fragments.data[i]), fragments.data[i]};
    if (find(r, &f->info)) return is_twice(r, &f->info);
    index_add(&r->by_info, r->a, hash_info(&f->info), f);
  }
  return true;
}

/* Not where it is so already, or must be the other way round. */
static bool order_pair(ruler *r, const op *before, op *o) {
  const block *b = op_body(r->func, 0);
  if (before == o || !str_eq(fragment_mesh(before), fragment_mesh(o))) return true;
  if (before->parent != b || o->parent != b)
    return op_error(r->m->ctx, o, "is ordered by a rule, and so has to stand in the function");
  u32 from = before->num - 1, to = o->num - 1;
  if (op_graph_reaches(r->g, from, to) || op_graph_reaches(r->g, to, from)) return true;
  return op_graph_order(r->g, r->m, from, to);
}

/* Each after the one before it. Those that do not exist are passed over, but for the first, whose
 * successor takes its place whether it exists or not. */
static bool apply_rule(ruler *r, const fragment_rule *rule) {
  const fragment_info *last = rule->infos.data;
  for (size_t i = 1; i < rule->infos.len; i++) {
    const fragment_info *info = &rule->infos.data[i];
    const op *before = find(r, last);
    op *o = find(r, info);
    if (before && !o) continue;
    last = info;
    if (before && !order_pair(r, before, o)) return false;
  }
  return true;
}

bool pass_mpmd_rule_based_schedule(ir_module *m, arena *scratch, const pass_args *args) {
  bool drop = pass_option_flag(args, STR("remove-control-dependencies"), true);
  str text = pass_option_get(args, STR("rules"), STR(""));
  fragment_rules rules = {0};
  if (text.len && !schedule_rules_read(m->ctx, scratch, "rules", text, &rules)) return false;
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    block *b = op_body(functions.data[i], 0);
    if (!b) continue;
    ruler r = {.m = m, .a = scratch, .func = functions.data[i], .g = op_graph_build(scratch, b)};
    if (!index_fragments(&r)) return false;
    for (size_t k = 0; k < rules.len; k++)
      if (!apply_rule(&r, &rules.data[k])) return false;
    block_sort(scratch, b);
    if (drop && !fragments_drop_control(m, scratch, functions.data[i])) return false;
  }
  return true;
}
