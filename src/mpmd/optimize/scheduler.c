/* mpmd-pipeline-scheduler: the fragments of each mesh in the order of a schedule. One that has to
 * run before another gets to be an operand of it for as long as the ops are sorted. Source:
 * openxla/shardy, shardy/dialect/mpmd/transforms/optimize/scheduler.cc. */
#include "mpmd/optimize/graph.h"
#include "mpmd/optimize/passes.h"
#include "mpmd/optimize/schedule.h"
#include "mpmd/order.h"

typedef struct scheduler {
  ir_module *m;
  arena *a;
  const schedule *how;
  op_graph *g;
  VEC(unit) units; /* in their order */
  u8 *needed;      /* by the unit at hand: by way of ops in front of it */
  u8 *needs;       /* it: what has been met so far */
  u32_list work;
} scheduler;

static void collect_units(scheduler *s, const op *func) {
  mesh_list meshes = mpmd_scheduled_meshes(s->a, func);
  for (u32 i = 0; i < s->g->count; i++) {
    op *o = s->g->ops[i];
    if (!op_is(o, mpmd_fragment) || !fragment_is_unit(o)) continue;
    VEC_PUSH(s->a, s->units, unit_of(o, i, &meshes));
  }
}

static void find_needed(scheduler *s, u32 at) {
  VEC_PUSH(s->a, s->work, at);
  while (s->work.len) {
    const u32_list *from = &s->g->used[s->work.data[--s->work.len]];
    for (size_t i = 0; i < from->len; i++) {
      u32 k = from->data[i];
      if (k > at || s->needed[k]) continue;
      s->needed[k] = 1;
      VEC_PUSH(s->a, s->work, k);
    }
  }
}

/* Marks what needs the op at `at`; what stands behind it will have its turn. */
static void spread(scheduler *s, u32 at) {
  VEC_PUSH(s->a, s->work, at);
  while (s->work.len) {
    const u32_list *to = &s->g->users[s->work.data[--s->work.len]];
    for (size_t i = 0; i < to->len; i++) {
      u32 k = to->data[i];
      if (s->needs[k]) continue;
      s->needs[k] = 1;
      if (k < at) VEC_PUSH(s->a, s->work, k);
    }
  }
}

static bool order_pair(scheduler *s, const unit *u, const unit *v) {
  const char *problem = NULL;
  if (!str_eq(u->mesh_name, v->mesh_name)) return true;
  bool before = s->how->before(u, v, &problem);
  if (problem)
    return op_error(s->m->ctx, u->o, "%s, so that the schedule '%s' cannot order it", problem,
                    s->how->name);
  if (!before) return true;
  return op_graph_order(s->g, s->m, u->at, v->at);
}

/* Orders the unit before others that neither need it nor are needed by it; each sees what was
 * ordered before. Those in front cannot need it, those behind it cannot be needed by it. */
static bool order_unit(scheduler *s, const unit *u) {
  const unit *v = s->units.data, *end = v + s->units.len;
  memset(s->needed, 0, s->g->count);
  memset(s->needs, 0, s->g->count);
  find_needed(s, u->at);
  for (; v < u; v++)
    if (!s->needed[v->at] && !order_pair(s, u, v)) return false;
  s->needs[u->at] = 1;
  for (u32 at = u->at; at < s->g->count; at++) {
    if (v < end && v->at == at) {
      u32 before = (u32)s->g->users[u->at].len;
      if (v != u && !s->needs[at] && !order_pair(s, u, v)) return false;
      s->needs[at] |= s->g->users[u->at].len > before;
      v++;
    }
    if (s->needs[at]) spread(s, at);
  }
  return true;
}

bool pass_mpmd_pipeline_scheduler(ir_module *m, arena *scratch, const pass_args *args) {
  str name = pass_option_get(args, STR("must-happen-before"), STR("1F1B"));
  bool drop = pass_option_flag(args, STR("remove-control-dependencies"), true);
  const schedule *how = schedule_find(name);
  if (!how)
    return loc_error(m->ctx, m->root->loc, "unknown PropagationSchedule: " STR_FMT, STR_ARG(name));
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    block *b = op_body(functions.data[i], 0);
    if (!b) continue;
    scheduler s = {.m = m, .a = scratch, .how = how, .g = op_graph_build(scratch, b)};
    s.needed = ARENA_ARRAY(scratch, u8, s.g->count);
    s.needs = ARENA_ARRAY(scratch, u8, s.g->count);
    collect_units(&s, functions.data[i]);
    for (size_t k = 0; k < s.units.len; k++)
      if (!order_unit(&s, &s.units.data[k])) return false;
    block_sort(scratch, b);
    if (drop && !fragments_drop_control(m, scratch, functions.data[i])) return false;
  }
  return true;
}
