/* verify_program finds what is planted: sums that are left out, groups that meet in the wrong
 * order, shards cut at the wrong place; each at the op that it serves. Prints what it missed.
 *
 *   api_verify_test FILE... */
#include <stdlib.h>

#include "api/verify.h"
#include "tests/api.h"

enum { MAX_SEEDS = 64, MAX_IDS = 1024, A_PROGRAM = 16 };

/* An error: in the op of this kind that serves op `op` of the source. */
typedef struct seed {
  op_id kind;
  u32 op;
} seed;

typedef struct planting {
  const why_log *w;
  arena *a;
  ir_module *m;
  bool list; /* only what could be planted */
  seed what, seeds[MAX_SEEDS];
  u32 num;
  u32 served[MAX_SEEDS], num_served; /* by what was planted */
} planting;

/* ---- planting ---- */

/* Each row of ids the other way round. */
static void reverse_rows(ir_module *m, op *o, str slot) {
  const dense_attr *d = attr_as(dense, op_attr(o, slot));
  i64 ids[MAX_IDS], n = d->type->dims.data[0], row = d->type->dims.data[1];
  for (i64 i = 0; i < n * row; i++)
    ids[i] = attr_dense_int(&d->base, (size_t)(i - i % row + row - 1 - i % row));
  str bytes = {(const char *)ids, (size_t)(n * row) * sizeof *ids};
  op_set_attr(m, o, slot, attr_dense(m->ctx, d->type, bytes, false, false));
}

static bool fits(const op *o, str slot) {
  const dense_attr *d = attr_as(dense, op_attr(o, slot));
  i64 n;
  return d && !d->splat && d->type->dims.len == 2 && type_num_elements(d->type, &n) &&
         n <= MAX_IDS && d->type->dims.data[1] > 1 && d->type->elem->width == 64;
}

/* Shards are cut one element further on, or back. */
static bool is_offset(const op *o) {
  return op_is(o, dynamic_slice) && o->num_operands > 1 && !op_operand(o, 1)->is_arg;
}

static bool may_be_wrong(const op *o) {
  if (op_is(o, all_reduce)) return o->num_operands == 1;
  if (op_is(o, collective_permute)) return fits(o, SLOT_NAME(source_target_pairs));
  bool moves = op_is(o, all_gather) || op_is(o, all_to_all) || op_is(o, reduce_scatter);
  return moves ? fits(o, SLOT_NAME(replica_groups)) : is_offset(o);
}

/* By the program itself. */
static bool is_asked(const op *o) { return op_discardable(o, STR("terrazzo.asked")) != NULL; }

static void make_wrong(ir_module *m, op *o) {
  if (op_is(o, all_reduce) && is_asked(o)) {
    value *v = op_operand(o, 0);
    op *twice = op_create(m, &op_infos[OP_add], o->loc, (value *[]){v, v}, 2, &v->type, 1, 0);
    op_insert(twice, o->parent, o);
    value_replace(op_result(o, 0), op_result(twice, 0));
  } else if (op_is(o, all_reduce)) {
    value_replace(op_result(o, 0), op_operand(o, 0));
  } else if (op_is(o, collective_permute)) {
    reverse_rows(m, o, SLOT_NAME(source_target_pairs));
  } else if (is_offset(o)) {
    for (u32 i = 1; i < o->num_operands; i++) {
      value *v = op_operand(o, i);
      op *zero = op_create(m, &op_infos[OP_subtract], o->loc, (value *[]){v, v}, 2, &v->type, 1, 0);
      op_insert(zero, o->parent, o);
      op_set_operand(o, i, op_result(zero, 0));
    }
  } else {
    reverse_rows(m, o, SLOT_NAME(replica_groups));
  }
}

static void note_served(planting *p, why_tags t) {
  for (size_t i = 0; i < t.len && p->num_served < MAX_SEEDS; i++)
    p->served[p->num_served++] = t.data[i].op;
}

/* One move of an operand may be there for several ops, and have the place of the first of them. */
static void note_users(planting *p, const op *o, why_tag t) {
  if (p->w->reasons.data[t.reason].kind != WHY_OPERAND) return;
  for (u32 i = 0; i < o->num_results; i++)
    for (const use *u = op_result((op *)(uintptr_t)o, i)->uses; u; u = u->next)
      note_served(p, why_read(p->w, p->a, u->owner->loc));
}

static walk_result visit(void *user, op *o) {
  planting *p = user;
  if (op_kind(o) >= OP_COUNT || !may_be_wrong(o)) return WALK_ON;
  why_tags t = why_read(p->w, p->a, o->loc);
  seed here = {op_kind(o), t.len ? t.data[0].op : 0};
  if (!here.op || !op_is(op_parent(o), func)) return WALK_ON;
  if (!p->list) {
    if (here.kind != p->what.kind || here.op != p->what.op) return WALK_ON;
    p->num_served = 0;
    note_served(p, t);
    note_users(p, o, t.data[0]);
    make_wrong(p->m, o);
    return WALK_STOP;
  }
  for (u32 i = 0; i < p->num; i++)
    if (p->seeds[i].kind == here.kind && p->seeds[i].op == here.op) return WALK_ON;
  if (p->num < MAX_SEEDS) p->seeds[p->num++] = here;
  return WALK_ON;
}

static bool plant(void *user, const why_log *w, ir_module *m) {
  planting *p = user;
  arena a;
  arena_init(&a, &mem_system, w->a.trap);
  p->w = w;
  p->a = &a;
  p->m = m;
  op_walk(m->root, visit, p);
  arena_deinit(&a);
  return true;
}

/* ---- finding ---- */

static char source[1 << 20];
static u32 num_planted, num_found;

/* true: it shows in a result. What is wrong where values are returned is in no op before. */
static bool find(tz_runtime *on, const explain_source *s, const planting *p) {
  verify_answer a;
  explain_run r;
  status bad = verify_program(on, s, &(verify_question){.at_once = 32}, &a, &r);
  CHECK(!bad);
  bool shows = !bad && !a.same;
  if (shows) {
    str name = r.log.ops.data[p->what.op].name;
    bool right = false;
    for (u32 i = 0; i < p->num_served; i++)
      right |= a.found ? a.at.op == p->served[i]
                       : str_is(r.log.ops.data[p->served[i]].name, "func.return");
    num_planted++;
    num_found += right;
    if (!right)
      fprintf(stderr, "%s: %s of %u (%s) found at %u\n", s->file.data,
              op_infos[p->what.kind].name.data, p->what.op, name.data, a.at.op);
  }
  status_free(bad);
  explain_end(&r);
  return shows;
}

static void check_program(tz_runtime *on, const char *path, oom_trap *trap) {
  size_t size = read_whole(path, source, sizeof source);
  planting p = {.list = true};
  explain_source s = {.text = {source, size}, .file = str_of(path), .trap = trap, .user = &p};
  verify_answer a;
  explain_run r;
  s.plant = plant;
  status bad = verify_program(on, &s, &(verify_question){0}, &a, &r);
  CHECK(size && !bad && a.same);
  if (bad) fprintf(stderr, "%s\n", status_message(bad).data);
  status_free(bad);
  explain_end(&r);
  p.list = false;
  for (u32 i = 0, shown = 0; i < p.num && shown < A_PROGRAM; i++) {
    p.what = p.seeds[i];
    shown += find(on, &s, &p);
  }
}

int main(int argc, char **argv) {
  oom_trap trap;
  tz_runtime *on;
  if (setjmp(trap.at) || !fine(tz_runtime_create(2, &on))) return 1;
  for (int i = 1; i < argc; i++) check_program(on, argv[i], &trap);
  tz_runtime_free(on);
  CHECK(num_planted >= 20 && num_found == num_planted);
  fprintf(stderr, "%u of %u errors found\n", num_found, num_planted);
  return UNIT_END();
}
