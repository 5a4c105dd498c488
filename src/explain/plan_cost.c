/* What a plan costs: one run of the line each, several at a time. */
#include <stdatomic.h>

#include "base/os.h"
#include "explain/plan.h"
#include "partition/wire.h"
#include "shard/sharding_ir.h"

/* ---- without a run ---- */

static i64 parts_along(const plan_answer *p, const plan_state *s, const plan_choice *c, size_t d) {
  i64 n = 1;
  for (size_t k = 0; k < p->axes.len; k++)
    if (c->dim[k] == (int)d) n *= p->meshes.data[s->mesh].size[k];
  return n;
}

u64 plan_arguments(const plan_answer *p, const plan_state *s) {
  u64 sum = 0;
  for (size_t g = 0; g < p->groups.len; g++) {
    const plan_group *x = &p->groups.data[g];
    i64 n = 1;
    for (size_t d = 0; d < x->dims.len; d++) n *= parts_along(p, s, &s->choices[g], d);
    sum += x->bytes / (u64)n * x->args.len;
  }
  return sum;
}

int plan_compare(const plan_cost *a, const plan_cost *b) {
  if (a->state != b->state) return a->state < b->state ? -1 : 1;
  if (a->state == PLAN_LARGE && a->memory != b->memory) return a->memory < b->memory ? -1 : 1;
  double x = plan_seconds(a), y = plan_seconds(b);
  if (x != y) return x < y ? -1 : 1;
  if (a->arguments != b->arguments) return a->arguments < b->arguments ? -1 : 1;
  return 0;
}

/* ---- one run ---- */

typedef struct trial {
  plan_answer *p;
  plan_run *run;
  plan_cost cost;
  bool whole;
} trial;

static bool annotate(void *user, ir_module *m) {
  const trial *t = user;
  if (t->run->state->mesh != PLAN_OWN) plan_annotate(t->p, t->run->state, t->run->open, m);
  return true;
}

/* What propagation did with the arguments, as their pieces tell. */
static void note_pieces(const trial *t, const ir_module *m) {
  const plan_answer *p = t->p;
  const op *main = symbol_find(m->root, STR("main"));
  for (size_t g = 0; g < p->groups.len; g++) {
    const plan_group *x = &p->groups.data[g];
    i64s local = func_type_of(main, FUNC_ARGS, x->args.data[0])->dims;
    t->run->got[g] = PLAN_WHOLE;
    for (size_t d = 0; d < x->dims.len && d < local.len; d++)
      if (local.data[d] < x->dims.data[d]) t->run->got[g] = (signed char)d;
  }
}

static void note_sizes(const trial *t, const ir_module *m) {
  const plan_answer *p = t->p;
  const op *main = symbol_find(m->root, STR("main"));
  for (size_t g = 0; g < p->groups.len; g++) {
    i64s local = func_type_of(main, FUNC_ARGS, p->groups.data[g].args.data[0])->dims;
    for (size_t d = 0; d < local.len && d < p->groups.data[g].dims.len; d++)
      t->run->pieces[g][d] = local.data[d];
  }
}

static bool measure(void *user, ir_module *m, str remarks) {
  (void)remarks;
  trial *t = user;
  const topology *links = &t->p->links;
  explain_collectives list = explain_list(&m->arena, m);
  for (size_t i = 0; i < list.len; i++) {
    const explain_collective *c = &list.data[i];
    t->cost.sends += comms_seconds(links, c, NULL) * (double)c->trips;
    t->cost.bytes += c->bytes * c->trips;
    t->cost.collectives += c->trips;
  }
  t->cost.compute = wire_seconds(m, links->flops, links->memory);
  t->cost.state = PLAN_WORKS;
  if (t->run->got) note_pieces(t, m);
  if (t->run->pieces) note_sizes(t, m);
  return t->whole;
}

static status try_one(plan_answer *p, plan_run *run) {
  const plan_question *q = p->q;
  plan_state *s = run->state;
  bool limited = q->memory && !run->open;
  trial t = {.p = p, .run = run, .whole = run->whole || limited};
  if (s->mesh != PLAN_OWN) t.cost.arguments = plan_arguments(p, s);
  s->cost = t.cost;
  if (limited && !run->whole && t.cost.arguments > q->memory) {
    s->cost.state = PLAN_LARGE; /* whatever else there is */
    s->cost.memory = t.cost.arguments;
    return NULL;
  }
  compile_options c = {.file = q->source->file,
                       .num_partitions = run->open                            ? 0
                                         : s->mesh == PLAN_OWN && p->own_mesh ? 0
                                                                              : p->devices,
                       .choose_from = q->source->as_propagated ? UINT64_MAX : 0,
                       .read = annotate,
                       .read_user = &t,
                       .partitioned = measure,
                       .partitioned_user = &t};
  if (s->mesh == PLAN_OWN) c.mesh_overrides = p->overrides[0] ? p->overrides : NULL;
  executable *e;
  status bad = compile_source(q->source->text, &c, &e);
  if (bad && (status_get_code(bad) == STATUS_RESOURCE_EXHAUSTED || run->loud)) return bad;
  if (e) {
    t.cost.memory = explain_total(e->prog);
    if (q->memory && t.cost.memory > q->memory) t.cost.state = PLAN_LARGE;
  }
  if (bad && (t.cost.state == PLAN_UNKNOWN || limited)) t.cost.state = PLAN_FAILS;
  status_free(bad);
  executable_release(e);
  s->cost = t.cost;
  return NULL;
}

/* ---- all of them ---- */

typedef struct crew {
  plan_answer *p;
  plan_run *runs;
  size_t n;
  atomic_size_t next;
  _Atomic(status) bad; /* the first one */
} crew;

static void *work(void *user) {
  crew *c = user;
  for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->n;) {
    status none = NULL, bad = try_one(c->p, &c->runs[i]);
    if (bad && !atomic_compare_exchange_strong(&c->bad, &none, bad)) status_free(bad);
  }
  return NULL;
}

enum { MAX_THREADS = 64 };

status plan_run_all(plan_answer *p, plan_run *runs, size_t n) {
  crew c = {.p = p, .runs = runs, .n = n};
  pthread_t threads[MAX_THREADS];
  size_t wanted = p->q->threads ? p->q->threads : (size_t)os_cpu_count(), made = 0;
  wanted = min_size(min_size(wanted, n), MAX_THREADS);
  while (made + 1 < wanted && !pthread_create(&threads[made], NULL, work, &c)) made++;
  work(&c);
  for (size_t i = 0; i < made; i++) pthread_join(threads[i], NULL);
  return atomic_load(&c.bad);
}
