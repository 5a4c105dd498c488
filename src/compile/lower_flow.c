/* while, case, if: regions as ranges of steps with jumps.
 *
 * What is worked out about outer values inside a region (a slot that now holds a constant, say)
 * holds only there: the region may not have run. So a region's changes to nodes are undone at
 * its end. Groups never reach over the border of a region. */
#include "compile/steps.h"
#include "partition/loop.h"

/* Latest first, since a node may have been changed twice. Uses that were served stay served:
 * they are counted over the whole program, not by what has run. */
static void undo_to(lower *L, size_t mark) {
  while (L->undo.len > mark) {
    const saved_node *s = &L->undo.data[--L->undo.len];
    u32 pending = s->at->pending;
    *s->at = s->was;
    s->at->pending = pending;
  }
}

static size_t enter_region(lower *L) {
  L->in_region++;
  return L->undo.len;
}

/* The caller has computed all that the region returns; what is still open in a group is wanted
 * by nobody outside. */
static void leave_region(lower *L, size_t mark) {
  fuse_drop_all(L);
  undo_to(L, mark);
  assert(L->in_region > 0);
  L->in_region--;
}

static void add_move(lower *L, u32 from, u32 to) {
  prog_add_move(L->b, from, to, lower_name(L), lower_loc(L));
}

/* ---- while ---- */

typedef struct loop {
  op *o;
  block *cond, *body;
  u32 n;
  u32 *slot;       /* carried value i; PROG_NONE: never changes */
  bool *invariant; /* the body hands it on as it is */
} loop;

/* A node for block argument i: what is in the carried slot. */
static bool bind_carried(lower *L, const loop *w, block *b, u32 i) {
  node *n = lower_new_node(L, w->o, b->args[i]);
  if (!n) return false;
  n->result = -1;
  lower_make_dense(L, n, w->slot[i]);
  return true;
}

/* No matter what is in it. */
static void start_undefined(lower *L, const node *n) {
  prog_operand out = {n->slot, {n->dims, n->rank}};
  prog_call c = {.target = STR("undefined"), .num_out = 1, .out = &out};
  prog_add_call(L->b, &c, lower_name(L), lower_loc(L));
}

/* Before the loop: a slot for each carried value, with its initial value in it, unless every row of
 * that is overwritten before anybody sees it. Condition, body and result all read that slot. What
 * the body hands on unchanged needs none: it is the initial value. */
static bool begin_loop(lower *L, loop *w) {
  const op *end = op_terminator(w->body);
  loop_count count;
  bool counts = loop_counts(w->o, &count);
  for (u32 i = 0; i < w->n; i++) {
    node *init = lower_node(L, w->o, i);
    fuse_settle(L, init);
    w->invariant[i] = op_operand(end, i) == w->body->args[i];
    w->slot[i] = PROG_NONE;
    i32 *result = &L->result_of[op_operand(end, i)->num];
    if (*result == NOWHERE) *result = LATER_MOVED;
    if (w->invariant[i]) {
      data_before_loop(L, op_operand(w->o, i), init);
      lower_bind(L, w->cond->args[i], init);
      lower_bind(L, w->body->args[i], init);
      lower_bind(L, op_result(w->o, i), init);
    } else {
      node *n = lower_new_node(L, w->o, op_result(w->o, i));
      if (!n) return false;
      n->result = -1; /* the planner updates in place in the workspace only, and moves it later */
      w->slot[i] = lower_new_slot(L, n);
      lower_make_dense(L, n, w->slot[i]);
      value *row, *at;
      if (counts && loop_stacks(w->o, &count, i, &row, &at))
        start_undefined(L, n);
      else
        data_start_from(L, n, init);
      if (!bind_carried(L, w, w->cond, i) || !bind_carried(L, w, w->body, i)) return false;
    }
    lower_used(init);
  }
  return true;
}

static bool is_carried(const loop *w, u32 slot) {
  for (u32 i = 0; i < w->n; i++)
    if (w->slot[i] == slot) return true;
  return false;
}

/* The body's results become the carried values, all at once: first everything is computed, and
 * what lies in a carried slot itself is saved; then the slots are written. */
static void carry_on(lower *L, const loop *w) {
  const op *end = op_terminator(w->body);
  u32 *from = ARENA_ARRAY(L->a, u32, w->n);
  for (u32 i = 1; i < w->n; i++) fuse_together(L, lower_node(L, end, i - 1), lower_node(L, end, i));
  for (u32 i = 0; i < w->n; i++) {
    node *n = lower_node(L, end, i);
    from[i] = w->invariant[i] ? PROG_NONE : fuse_dense(L, n);
    lower_used(n);
  }
  for (u32 i = 0; i < w->n; i++) {
    if (w->invariant[i] || from[i] == w->slot[i] || !is_carried(w, from[i])) continue;
    const node *n = lower_node(L, end, i);
    u32 saved = prog_work(L->b, (dtype)n->type, (u64)n->count);
    add_move(L, from[i], saved);
    from[i] = saved;
  }
  for (u32 i = 0; i < w->n; i++)
    if (!w->invariant[i] && from[i] != w->slot[i]) add_move(L, from[i], w->slot[i]);
}

/*   top:  condition; unless it holds, go to done
 *         body; its results into the carried slots; go to top
 *   done: */
bool lower_while(lower *L, op *o) {
  loop w = {.o = o, .cond = op_body(o, 0), .body = op_body(o, 1), .n = o->num_results};
  w.slot = ARENA_ARRAY(L->a, u32, w.n);
  w.invariant = ARENA_ARRAY(L->a, bool, w.n);
  fuse_close_all(L);
  if (!begin_loop(L, &w)) return false;
  u32 top = prog_label(L->b), done = prog_label(L->b);
  prog_place(L->b, top);
  size_t mark = enter_region(L);
  if (!lower_block(L, w.cond)) return false;
  node *go_on = lower_node(L, op_terminator(w.cond), 0);
  u32 pred = fuse_dense(L, go_on);
  lower_used(go_on);
  leave_region(L, mark);
  L->at = o;
  prog_add_jump_unless(L->b, pred, done, lower_name(L), lower_loc(L));
  mark = enter_region(L);
  if (!lower_block(L, w.body)) return false;
  L->at = o;
  carry_on(L, &w);
  leave_region(L, mark);
  prog_add_jump(L->b, top, lower_name(L), lower_loc(L));
  prog_place(L->b, done);
  return true;
}

/* ---- case, if ---- */

/* All branches write the same slots, those of the results. The jump over the others is spared
 * for the last one. */
static bool branch(lower *L, op *o, block *b, u32 done, bool last) {
  size_t mark = enter_region(L);
  if (!lower_block(L, b)) return false;
  L->at = o;
  const op *end = op_terminator(b);
  for (u32 i = 0; i < o->num_results; i++) {
    node *n = lower_node(L, end, i);
    lower_used(n);
    data_start_from(L, L->node_of[op_result(o, i)->num], n);
  }
  leave_region(L, mark);
  if (!last) prog_add_jump(L->b, done, lower_name(L), lower_loc(L));
  return true;
}

/* Results have their slots before the first branch, whose changes to nodes would be undone at
 * its end. */
static bool begin_branches(lower *L, op *o, u32 *out_choice) {
  fuse_close_all(L);
  *out_choice = fuse_dense(L, lower_node(L, o, 0));
  lower_used(lower_node(L, o, 0));
  for (u32 i = 0; i < o->num_results; i++)
    if (!lower_new_mem(L, o, i)) return false;
  return true;
}

bool lower_if(lower *L, op *o) {
  u32 pred;
  if (!begin_branches(L, o, &pred)) return false;
  u32 other = prog_label(L->b), done = prog_label(L->b);
  prog_add_jump_unless(L->b, pred, other, lower_name(L), lower_loc(L));
  if (!branch(L, o, op_body(o, 0), done, false)) return false;
  prog_place(L->b, other);
  if (!branch(L, o, op_body(o, 1), done, true)) return false;
  prog_place(L->b, done);
  return true;
}

/* An index out of range takes the last branch, as the specification has it; the executor sees to
 * that. */
bool lower_case(lower *L, op *o) {
  u32 index, n = o->num_regions;
  if (n == 0) return lower_none(L, o);
  if (!begin_branches(L, o, &index)) return false;
  u32 *labels = ARENA_ARRAY(L->a, u32, n), done = prog_label(L->b);
  for (u32 i = 0; i < n; i++) labels[i] = prog_label(L->b);
  prog_add_case(L->b, index, n, labels, lower_name(L), lower_loc(L));
  for (u32 i = 0; i < n; i++) {
    prog_place(L->b, labels[i]);
    if (!branch(L, o, op_body(o, i), done, i + 1 == n)) return false;
  }
  prog_place(L->b, done);
  return true;
}
