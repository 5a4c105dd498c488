/* Plans to try: what propagation makes of one annotation, and small changes of what was tried. */
#include <stdlib.h>

#include "explain/plan.h"

/* ---- choices ---- */

bool plan_fits(const plan_answer *p, u32 mesh, const plan_group *g, const plan_choice *c) {
  const i64 *size = p->meshes.data[mesh].size;
  for (size_t d = 0; d < g->dims.len; d++) {
    i64 n = 1;
    for (size_t k = 0; k < p->axes.len; k++)
      if (c->dim[k] == (int)d) n *= size[k];
    if (n > 1 && (g->dims.data[d] <= 0 || g->dims.data[d] % n)) return false;
  }
  for (size_t k = 0; k < PLAN_AXES; k++) {
    bool cuts = c->dim[k] != PLAN_WHOLE;
    if (cuts && (k >= p->axes.len || size[k] == 1 || c->dim[k] >= (int)g->dims.len)) return false;
  }
  return true;
}

enum { MAX_RANK = 100 }; /* that a choice can name */

static void add_choices(plan_answer *p, u32 mesh, const plan_group *g, plan_choice *c, size_t axis,
                        plan_choices *out) {
  if (axis == p->axes.len) {
    if (plan_fits(p, mesh, g, c)) VEC_PUSH(&p->a, *out, *c);
    return;
  }
  for (int d = PLAN_WHOLE; d < (int)g->dims.len && d < MAX_RANK; d++) {
    c->dim[axis] = (signed char)d;
    if (d == PLAN_WHOLE || plan_fits(p, mesh, g, c)) add_choices(p, mesh, g, c, axis + 1, out);
  }
  c->dim[axis] = PLAN_WHOLE;
}

plan_choices plan_list_choices(plan_answer *p, u32 mesh, const plan_group *g) {
  plan_choices out = {0};
  plan_choice c;
  memset(&c, PLAN_WHOLE, sizeof c);
  add_choices(p, mesh, g, &c, 0, &out);
  return out;
}

/* ---- states ---- */

static u64 hash_state(const plan_search *s, u32 mesh, const plan_choice *choices) {
  return hash_bytes(choices, s->p->groups.len * sizeof *choices, mesh);
}

plan_state *plan_seen(plan_search *s, u32 mesh, const plan_choice *choices) {
  plan_state *x;
  u64 h = hash_state(s, mesh, choices);
  for (size_t at = 0; (x = index_next(&s->seen, h, &at));)
    if (x->mesh == mesh && memcmp(x->choices, choices, s->p->groups.len * sizeof *choices) == 0)
      return x;
  return NULL;
}

void plan_propose(plan_search *s, u32 mesh, const plan_choice *choices) {
  arena *a = &s->p->a;
  if (s->all.len >= s->budget || plan_seen(s, mesh, choices)) return;
  plan_state *x = ARENA_NEW(a, plan_state);
  x->mesh = mesh;
  x->order = (u32)s->all.len;
  x->choices = arena_copy(a, choices, s->p->groups.len * sizeof *choices);
  index_add(&s->seen, a, hash_state(s, mesh, choices), x);
  VEC_PUSH(a, s->all, x);
  VEC_PUSH(a, s->batch, ((plan_run){.state = x}));
}

static plan_choice *copy_to_next(plan_search *s, const plan_state *from) {
  memcpy(s->next, from->choices, s->p->groups.len * sizeof *s->next);
  return s->next;
}

/* ---- tactics ---- */

static bool is_known(const plan_search *s, u32 axis, size_t g, signed char d) {
  for (size_t i = 0; i < s->tactics.len; i++) {
    const plan_tactic *t = &s->tactics.data[i];
    if (t->axis == axis && t->dim[g] == d) return true;
  }
  return false;
}

static void keep_tactic(plan_search *s, u32 axis, signed char *dim) {
  size_t n = s->p->groups.len;
  for (size_t i = 0; i < s->tactics.len; i++)
    if (s->tactics.data[i].axis == axis && memcmp(s->tactics.data[i].dim, dim, n) == 0) return;
  VEC_PUSH(&s->p->a, s->tactics, ((plan_tactic){axis, dim}));
}

/* One annotation, of group g's dimension d, on a mesh where the axis has a few devices and the
 * others one. Not asked where an earlier answer has it. */
static status find_tactic(plan_search *s, u32 mesh, u32 axis, u32 name, size_t g, signed char d) {
  plan_answer *p = s->p;
  size_t n = p->groups.len;
  plan_choice *c = s->next;
  memset(c, PLAN_WHOLE, n * sizeof *c);
  c[g].dim[axis] = d;
  if (is_known(s, name, g, d) || !plan_fits(p, mesh, &p->groups.data[g], &c[g])) return NULL;
  plan_state x = {.mesh = mesh, .choices = c};
  plan_run r = {.state = &x, .open = true, .got = ARENA_ARRAY(&p->a, signed char, n + 1)};
  RETURN_IF_ERROR(plan_run_all(p, &r, 1));
  if (x.cost.state != PLAN_WORKS) return NULL;
  r.got[g] = d;
  keep_tactic(s, name, r.got);
  return NULL;
}

static i64 least_factor(i64 n) {
  for (i64 k = 2; k * k <= n; k++)
    if (n % k == 0) return k;
  return n;
}

/* The largest groups first: their tactics have most of the others. */
static int by_bytes(const void *a, const void *b) {
  const plan_group *const *x = a, *const *y = b;
  u64 m = (*x)->bytes * (*x)->args.len, n = (*y)->bytes * (*y)->args.len;
  if (m != n) return m < n ? 1 : -1;
  return *x < *y ? -1 : *x > *y;
}

static const plan_group **sorted_groups(plan_answer *p) {
  const plan_group **list = ARENA_ARRAY(&p->a, const plan_group *, p->groups.len + 1);
  for (size_t g = 0; g < p->groups.len; g++) list[g] = &p->groups.data[g];
  if (p->groups.len) qsort(list, p->groups.len, sizeof *list, by_bytes);
  return list;
}

/* Constraints may name axes of the program's own, which are not alike then. */
status plan_find_tactics(plan_search *s) {
  plan_answer *p = s->p;
  size_t begin = p->meshes.len, axes = p->own_mesh ? p->axes.len : 1;
  const plan_group **list = sorted_groups(p);
  status bad = NULL;
  for (u32 k = 0; k < axes; k++) {
    plan_mesh m = {{0}};
    for (size_t i = 0; i < p->axes.len; i++) m.size[i] = i == k ? least_factor((i64)p->devices) : 1;
    VEC_PUSH(&p->a, p->meshes, m);
    u32 mesh = p->fixed ? 0 : (u32)p->meshes.len - 1;
    for (size_t i = 0; i < p->groups.len && !bad; i++)
      for (size_t d = 0; d < list[i]->dims.len && d < MAX_RANK && !bad; d++)
        bad = find_tactic(s, mesh, k, p->own_mesh ? k : UINT32_MAX,
                          (size_t)(list[i] - p->groups.data), (signed char)d);
  }
  p->meshes.len = begin;
  return bad;
}

/* ---- changes ---- */

typedef enum rest { REST_NOTHING, REST_ALL, REST_STATE } rest;

/* A group's largest dimension that the axis can cut: what its owner would shard it by to save
 * memory. */
static void cut_largest(const plan_answer *p, u32 mesh, const plan_group *g, size_t axis,
                        plan_choice *c) {
  plan_choice best = *c;
  i64 most = 0;
  for (size_t d = 0; d < g->dims.len && d < MAX_RANK; d++) {
    plan_choice x = *c;
    x.dim[axis] = (signed char)d;
    i64 left = g->dims.data[d];
    for (size_t k = 0; k < p->axes.len; k++)
      if (c->dim[k] == (int)d) left /= p->meshes.data[mesh].size[k];
    if (left > most && plan_fits(p, mesh, g, &x)) best = x, most = left;
  }
  *c = best;
}

/* The axis as the tactic has it (NULL: as it is), kept where that has nothing, or not; then groups
 * that it does not cut yet along their largest dimension: all, or those that no product uses, such
 * as an optimizer's state. */
static void move_axis(plan_search *s, const plan_state *from, size_t axis, const plan_tactic *t,
                      bool keep, rest r) {
  const plan_answer *p = s->p;
  plan_choice *c = copy_to_next(s, from);
  for (size_t g = 0; g < p->groups.len; g++) {
    const plan_group *x = &p->groups.data[g];
    signed char old = c[g].dim[axis];
    c[g].dim[axis] = t ? t->dim[g] : keep ? old : PLAN_WHOLE;
    if (keep && c[g].dim[axis] == PLAN_WHOLE) c[g].dim[axis] = old;
    if (!plan_fits(p, from->mesh, x, &c[g])) c[g].dim[axis] = keep ? old : PLAN_WHOLE;
    bool more = r == REST_ALL || (r == REST_STATE && !x->product);
    if (more && c[g].dim[axis] == PLAN_WHOLE) cut_largest(p, from->mesh, x, axis, &c[g]);
  }
  plan_propose(s, from->mesh, c);
}

/* Both, where they do not ask for different things. false: they do, or one has all of the other. */
static bool join(const plan_search *s, const plan_tactic *x, const plan_tactic *y,
                 plan_tactic *out) {
  size_t n = s->p->groups.len;
  bool more_x = false, more_y = false;
  if (x->axis != y->axis) return false;
  out->axis = x->axis;
  for (size_t g = 0; g < n; g++) {
    signed char a = x->dim[g], b = y->dim[g];
    if (a != PLAN_WHOLE && b != PLAN_WHOLE && a != b) return false;
    more_x |= a != b && a != PLAN_WHOLE;
    more_y |= a != b && b != PLAN_WHOLE;
    out->dim[g] = a != PLAN_WHOLE ? a : b;
  }
  return more_x && more_y;
}

void plan_move_pairs(plan_search *s, const plan_state *from) {
  const plan_answer *p = s->p;
  plan_tactic both = {.dim = ARENA_ARRAY(&s->p->a, signed char, p->groups.len + 1)};
  for (size_t k = 0; k < p->axes.len; k++)
    for (size_t i = 0; i < s->tactics.len; i++)
      for (size_t j = 0; j < i; j++)
        if ((s->tactics.data[i].axis == UINT32_MAX || s->tactics.data[i].axis == k) &&
            p->meshes.data[from->mesh].size[k] > 1 &&
            join(s, &s->tactics.data[i], &s->tactics.data[j], &both))
          move_axis(s, from, k, &both, false, REST_NOTHING);
}

static void swap_axes(plan_search *s, const plan_state *from, size_t i, size_t k) {
  const plan_answer *p = s->p;
  plan_choice *c = copy_to_next(s, from);
  for (size_t g = 0; g < p->groups.len; g++) {
    signed char x = c[g].dim[i];
    c[g].dim[i] = c[g].dim[k];
    c[g].dim[k] = x;
    if (!plan_fits(p, from->mesh, &p->groups.data[g], &c[g])) return;
  }
  plan_propose(s, from->mesh, c);
}

void plan_move_axes(plan_search *s, const plan_state *from) {
  const plan_answer *p = s->p;
  for (size_t k = 0; k < p->axes.len; k++) {
    if (p->meshes.data[from->mesh].size[k] == 1) continue;
    for (size_t i = 0; i < s->tactics.len; i++) {
      const plan_tactic *t = &s->tactics.data[i];
      if (t->axis != UINT32_MAX && t->axis != k) continue;
      move_axis(s, from, k, t, true, REST_NOTHING);
      move_axis(s, from, k, t, false, REST_NOTHING);
      move_axis(s, from, k, t, false, REST_ALL);
    }
    move_axis(s, from, k, NULL, true, REST_ALL);
    move_axis(s, from, k, NULL, true, REST_STATE);
    move_axis(s, from, k, NULL, false, REST_NOTHING);
    for (size_t i = 0; i < k; i++) swap_axes(s, from, i, k);
  }
}

/* The same on other meshes, as far as it fits them. */
void plan_move_mesh(plan_search *s, const plan_state *from) {
  const plan_answer *p = s->p;
  for (u32 m = 0; m < p->meshes.len; m++) {
    plan_choice *c = copy_to_next(s, from);
    for (size_t g = 0; g < p->groups.len; g++)
      for (size_t k = p->axes.len; k-- > 0;)
        if (!plan_fits(p, m, &p->groups.data[g], &c[g])) c[g].dim[k] = PLAN_WHOLE;
    plan_propose(s, m, c);
  }
}

void plan_move_groups(plan_search *s, const plan_state *from) {
  plan_answer *p = s->p;
  const plan_group **list = sorted_groups(p);
  for (size_t i = 0; i < p->groups.len; i++) {
    size_t g = (size_t)(list[i] - p->groups.data);
    plan_choices choices = plan_list_choices(p, from->mesh, list[i]);
    for (size_t k = 0; k < choices.len; k++) {
      plan_choice *c = copy_to_next(s, from);
      c[g] = choices.data[k];
      plan_propose(s, from->mesh, c);
    }
  }
}
