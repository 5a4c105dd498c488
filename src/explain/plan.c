/* The search: all plans where they are few, else from what propagation suggests to what no change
 * of one group makes cheaper. */
#include <stdlib.h>

#include "explain/plan.h"

enum {
  BEAM = 8,          /* plans that are changed in each round */
  OF_ONE_MESH = 3,   /* of these, where there are several meshes */
  ROUNDS = 12,       /* at most */
  PATIENCE = 12,     /* plans whose neighbours are tried without finding a better one */
  LARGE = 3,         /* plans that do not fit besides */
  START_MESHES = 3,  /* where it begins; others come by changes of the mesh */
  OPS_A_RUN = 250000 /* so many ops go through the line in some seconds */
};

static status flush(plan_search *s) {
  status bad = plan_run_all(s->p, s->batch.data, s->batch.len);
  s->batch.len = 0;
  return bad;
}

/* ---- all of them ---- */

static double count_all(plan_answer *p) {
  double sum = 0;
  for (u32 m = 0; m < p->meshes.len; m++) {
    double n = 1;
    for (size_t g = 0; g < p->groups.len; g++)
      n *= (double)plan_list_choices(p, m, &p->groups.data[g]).len;
    sum += n;
  }
  return sum;
}

static void propose_all(plan_search *s, u32 mesh, const plan_choices *choices, size_t g) {
  if (g == s->p->groups.len) {
    plan_propose(s, mesh, s->next);
    return;
  }
  for (size_t i = 0; i < choices[g].len; i++) {
    s->next[g] = choices[g].data[i];
    propose_all(s, mesh, choices, g + 1);
  }
}

static status try_all(plan_search *s) {
  plan_answer *p = s->p;
  plan_choices *choices = ARENA_ARRAY(&p->a, plan_choices, p->groups.len + 1);
  for (u32 m = 0; m < p->meshes.len; m++) {
    for (size_t g = 0; g < p->groups.len; g++)
      choices[g] = plan_list_choices(p, m, &p->groups.data[g]);
    propose_all(s, m, choices, 0);
  }
  return flush(s);
}

/* ---- some of them ---- */

/* Those that cost less first; of equals, which was tried first. */
static int by_cost(const void *a, const void *b) {
  const plan_state *const *x = a, *const *y = b;
  int way = plan_compare(&(*x)->cost, &(*y)->cost);
  return way ? way : (*x)->order < (*y)->order ? -1 : (*x)->order > (*y)->order;
}

static const plan_state **sorted(plan_search *s) {
  const plan_state **list = ARENA_ARRAY(&s->p->a, const plan_state *, s->all.len + 1);
  for (size_t i = 0; i < s->all.len; i++) list[i] = s->all.data[i];
  if (s->all.len) qsort(list, s->all.len, sizeof *list, by_cost);
  return list;
}

/* By time alone; NULL is faster than all. */
static bool is_faster(const plan_state *x, const plan_state *y) {
  if (!x) return true;
  double a = plan_seconds(&x->cost), b = plan_seconds(&y->cost);
  return a != b ? a < b : x->order < y->order;
}

/* The cheapest of each mesh; then, where memory is what is wrong with the others, the fastest of
 * those: what saves memory may come later. */
static size_t take_beam(plan_search *s, const plan_state **out) {
  const plan_state **list = sorted(s);
  u32 *of_mesh = arena_zalloc(&s->p->a, (s->p->meshes.len + 1) * sizeof *of_mesh);
  size_t n = 0, large = 0;
  for (size_t i = 0; i < s->all.len && n < BEAM; i++)
    if (list[i]->cost.state != PLAN_FAILS &&
        (of_mesh[list[i]->mesh]++ < OF_ONE_MESH || s->p->meshes.len < BEAM / OF_ONE_MESH))
      out[n++] = list[i];
  for (const plan_state *next = NULL, *last = NULL; large < LARGE; large++, last = next) {
    next = NULL;
    for (size_t i = 0; i < s->all.len; i++) {
      const plan_state *x = s->all.data[i];
      if (x->cost.state == PLAN_LARGE && x->cost.compute > 0 && is_faster(last, x) &&
          (!next || is_faster(x, next)))
        next = x;
    }
    if (!next) break;
    out[n++] = next;
  }
  return n;
}

/* The first mesh, the one whose axes are most alike, and the one in between. */
static size_t start_meshes(const plan_answer *p, u32 *out) {
  size_t n = 0;
  u32 square = 0;
  double best = 0;
  for (u32 m = 0; m < p->meshes.len; m++) {
    i64 least = INT64_MAX, most = 1;
    for (size_t k = 0; k < p->axes.len; k++) {
      least = min_i64(least, p->meshes.data[m].size[k]);
      most = max_i64(most, p->meshes.data[m].size[k]);
    }
    if ((double)least / (double)most > best) best = (double)least / (double)most, square = m;
  }
  const u32 wanted[START_MESHES] = {0, square, square / 2};
  for (size_t i = 0; i < START_MESHES; i++) {
    bool there = wanted[i] >= p->meshes.len;
    for (size_t k = 0; k < n; k++) there |= out[k] == wanted[i];
    if (!there) out[n++] = wanted[i];
  }
  return n;
}

/* A choice that cuts a group into such pieces, what the user says first. */
static bool choice_for(plan_answer *p, u32 mesh, size_t g, plan_choice *out) {
  const plan_group *x = &p->groups.data[g];
  plan_choices list = plan_list_choices(p, mesh, x);
  bool found = false;
  if (p->said) VEC_PUSH(&p->a, list, p->said[g]);
  for (size_t i = 0; i < list.len; i++) {
    bool same = plan_fits(p, mesh, x, &list.data[i]);
    for (size_t d = 0; d < x->dims.len && same; d++) {
      i64 n = x->dims.data[d];
      for (size_t k = 0; k < p->axes.len; k++)
        if (list.data[i].dim[k] == (int)d) n /= p->meshes.data[mesh].size[k];
      same = n == p->pieces[g][d];
    }
    if (same) *out = list.data[i], found = true;
  }
  return found;
}

/* What the program has its arguments like, as it is. */
static void propose_own(plan_search *s) {
  plan_answer *p = s->p;
  u32 m = 0;
  if (!p->overrides[0])
    while (m < p->meshes.len && memcmp(&p->meshes.data[m], &p->own_size, sizeof p->own_size) != 0)
      m++;
  bool fits = m < p->meshes.len;
  for (size_t g = 0; g < p->groups.len && fits; g++) fits = choice_for(p, m, g, &s->next[g]);
  if (fits) plan_propose(s, m, s->next);
}

static void propose_start(plan_search *s) {
  plan_answer *p = s->p;
  u32 meshes[START_MESHES];
  size_t n = start_meshes(p, meshes), num = p->groups.len;
  for (size_t i = 0; i < n; i++) {
    memset(s->next, PLAN_WHOLE, num * sizeof *s->next);
    plan_propose(s, meshes[i], s->next);
    plan_state *whole = plan_seen(s, meshes[i], s->next);
    if (whole) plan_move_axes(s, whole);
  }
  if (p->own.cost.state != PLAN_UNKNOWN && p->own_names) propose_own(s);
}

/* The best that was not looked at yet; NULL: there is none. */
static plan_state *next_best(plan_search *s) {
  const plan_state **list = sorted(s);
  for (size_t i = 0; i < s->all.len; i++)
    if (!list[i]->seen_around) return s->all.data[list[i]->order];
  return NULL;
}

/* The neighbours of the best, then of the next best, until that has not helped for long. */
static status look_around(plan_search *s) {
  const plan_state *best = NULL;
  for (int since = 0; since < PATIENCE && s->all.len < s->budget; since++) {
    plan_state *now = next_best(s);
    if (!now || now->cost.state == PLAN_FAILS) break;
    now->seen_around = true;
    plan_move_groups(s, now);
    plan_move_axes(s, now);
    RETURN_IF_ERROR(flush(s));
    const plan_state *first = sorted(s)[0];
    if (first != best) since = 0;
    best = first;
  }
  return NULL;
}

static status try_some(plan_search *s) {
  const plan_state *beam[BEAM + LARGE], *before[BEAM + LARGE];
  size_t n = 0, num_before = 0;
  RETURN_IF_ERROR(plan_find_tactics(s));
  propose_start(s);
  RETURN_IF_ERROR(flush(s));
  for (int round = 0; round < ROUNDS && s->all.len < s->budget; round++) {
    n = take_beam(s, beam);
    bool same = n == num_before;
    for (size_t i = 0; i < n && same; i++) same = beam[i] == before[i];
    if (same) break;
    if (n && (!num_before || beam[0] != before[0])) plan_move_pairs(s, beam[0]);
    memcpy(before, beam, sizeof beam);
    num_before = n;
    for (size_t i = 0; i < n; i++) plan_move_axes(s, beam[i]);
    for (size_t i = 0; i < n; i++) plan_move_mesh(s, beam[i]);
    RETURN_IF_ERROR(flush(s));
  }
  return look_around(s);
}

/* ---- the answer ---- */

/* Of what was tried, and differs from the best in one group: the best, and the one that leaves it
 * whole. */
static void note_others(plan_search *s) {
  plan_answer *p = s->p;
  size_t num = p->groups.len;
  for (size_t g = 0; g < num; g++) {
    plan_choices choices = plan_list_choices(p, p->best.mesh, &p->groups.data[g]);
    plan_other best = {.group = (u32)g};
    memcpy(s->next, p->best.choices, num * sizeof *s->next);
    for (size_t i = 0; i < choices.len; i++) {
      s->next[g] = choices.data[i];
      const plan_state *x = plan_seen(s, p->best.mesh, s->next);
      bool own = memcmp(&s->next[g], &p->best.choices[g], sizeof *s->next) == 0;
      if (!x || own || x->cost.state == PLAN_UNKNOWN) continue;
      if (best.cost.state == PLAN_UNKNOWN || plan_compare(&x->cost, &best.cost) < 0)
        best.choice = s->next[g], best.cost = x->cost;
    }
    if (best.cost.state != PLAN_UNKNOWN) VEC_PUSH(&p->a, p->others, best);
  }
}

static void note_meshes(plan_search *s) {
  plan_answer *p = s->p;
  const plan_state **list = sorted(s);
  bool *seen = arena_zalloc(&p->a, p->meshes.len + 1);
  for (size_t i = 0; i < s->all.len; i++) {
    if (seen[list[i]->mesh]) continue;
    seen[list[i]->mesh] = true;
    VEC_PUSH(&p->a, p->by_mesh, *list[i]);
  }
}

/* The program as it is: what is wrong with it is said before anything is tried. It is no other plan
 * where it is for other devices. */
static status measure_own(plan_answer *p) {
  p->pieces = ARENA_ARRAY(&p->a, i64 *, p->groups.len + 1);
  for (size_t g = 0; g < p->groups.len; g++) {
    i64s dims = p->groups.data[g].dims;
    p->pieces[g] = arena_copy(&p->a, dims.data, dims.len * sizeof(i64));
  }
  plan_run own = {.state = &p->own, .pieces = p->pieces, .loud = true, .whole = true};
  i64 n = plan_mesh_devices(&p->own_size);
  p->own.mesh = PLAN_OWN;
  RETURN_IF_ERROR(plan_run_all(p, &own, 1));
  if (p->own_mesh && !p->overrides[0] && n != (i64)p->devices) p->own.cost.state = PLAN_UNKNOWN;
  return NULL;
}

static u32 budget_of(const plan_answer *p) {
  if (p->q->tries) return p->q->tries;
  u32 n = OPS_A_RUN / (p->num_ops + 1);
  return n < 60 ? 60 : n > 4000 ? 4000 : n;
}

/* As the first that was tried has it. */
static status nothing_works(plan_search *s) {
  if (s->all.len)
    RETURN_IF_ERROR(plan_run_all(s->p, &(plan_run){.state = s->all.data[0], .loud = true}, 1));
  return status_make(STATUS_UNIMPLEMENTED, STR_FMT ": error: plan: nothing that was tried works",
                     STR_ARG(s->p->q->source->file));
}

static status search(plan_answer *p) {
  plan_search s = {.p = p, .budget = budget_of(p)};
  RETURN_IF_ERROR(measure_own(p));
  s.next = ARENA_ARRAY(&p->a, plan_choice, p->groups.len + 1);
  p->assignments = count_all(p);
  bool few = p->assignments <= s.budget;
  RETURN_IF_ERROR(few ? try_all(&s) : try_some(&s));
  p->claim = few ? PLAN_OPTIMAL : PLAN_BEST_OF;
  const plan_state *best = s.all.len ? sorted(&s)[0] : NULL;
  if (!best || best->cost.state == PLAN_FAILS) return nothing_works(&s);
  p->best = *best;
  p->tried = (u32)s.all.len;
  note_others(&s);
  note_meshes(&s);
  return plan_run_all(p, &(plan_run){.state = &p->best, .whole = true}, 1);
}

/* What a topology does not say: accelerators of these years, eight a node. */
static void set_links(plan_answer *p) {
  static const comms_link nodes[] = {{{"node", 4}, false, 8, 450e9, 2e-6},
                                     {{"network", 7}, false, UINT64_MAX, 50e9, 8e-6}};
  if (p->q->links) p->links = *p->q->links;
  for (size_t i = 0; i < COUNT(nodes) && !p->q->links; i++)
    VEC_PUSH(&p->a, p->links.links, nodes[i]);
  if (p->links.flops <= 0) p->links.flops = 300e12;
  if (p->links.memory <= 0) p->links.memory = 2e12;
}

/* The choices of a plan for the small program, for the program. */
static bool enlarge(plan_answer *p, const plan_answer *small, const plan_state *from,
                    plan_state *out) {
  plan_choice *c = ARENA_ARRAY(&p->a, plan_choice, p->groups.len + 1);
  memset(c, PLAN_WHOLE, p->groups.len * sizeof *c);
  for (u32 i = p->num_kept; i-- > 0;)
    c[p->group_of[p->kept[i]]] = from->choices[small->group_of[i]];
  for (size_t g = 0; g < p->groups.len; g++)
    if (!plan_fits(p, from->mesh, &p->groups.data[g], &c[g])) return false;
  *out = (plan_state){.mesh = from->mesh, .choices = c};
  return true;
}

/* Others of the small program, by what they stand for. */
static void enlarge_others(plan_answer *p, const plan_answer *small) {
  bool *seen = arena_zalloc(&p->a, p->groups.len + 1);
  for (size_t i = 0; i < small->others.len; i++) {
    plan_other o = small->others.data[i];
    for (u32 k = 0; k < p->num_kept; k++) {
      u32 g = p->group_of[p->kept[k]];
      if (small->group_of[k] != o.group || seen[g]) continue;
      seen[g] = true;
      VEC_PUSH(&p->a, p->others, ((plan_other){g, o.choice, o.cost}));
    }
  }
  for (size_t i = 0; i < small->by_mesh.len; i++)
    VEC_PUSH(
        &p->a, p->by_mesh,
        ((plan_state){.mesh = small->by_mesh.data[i].mesh, .cost = small->by_mesh.data[i].cost}));
}

/* On a program of a few layers, and the best of that once on the whole. Memory is taken to be as
 * many times as large as there are layers; what it is in truth is seen in the end. */
static status search_small(plan_answer *p, plan_answer *small, bool *done) {
  explain_source source = *p->q->source;
  plan_question q = *p->q;
  double part = 2.0 * PLAN_ENDS / p->layers;
  if (q.memory) q.memory = (u64)((double)q.memory * part) + 1;
  source.text = p->small;
  q.source = &source;
  status s = plan_make(&q, small);
  small->q = p->q;
  p->small_layers = 2 * PLAN_ENDS;
  if (s && status_get_code(s) != STATUS_RESOURCE_EXHAUSTED) return status_free(s), NULL;
  if (s || !enlarge(p, small, &small->best, &p->best)) return s;
  *done = true;
  p->claim = PLAN_BEST_OF;
  p->tried = small->tried;
  p->assignments = small->assignments;
  p->small_seconds = plan_seconds(&small->best.cost);
  enlarge_others(p, small);
  RETURN_IF_ERROR(measure_own(p));
  return plan_run_all(p, &(plan_run){.state = &p->best, .whole = true}, 1);
}

status plan_make(const plan_question *q, plan_answer *out) {
  memset(out, 0, sizeof *out);
  out->q = q;
  arena_init(&out->a, &mem_system, q->source->trap);
  set_links(out);
  RETURN_IF_ERROR(plan_read(out));
  bool done = false;
  status s = NULL;
  if (out->small.len) {
    plan_answer small;
    s = search_small(out, &small, &done);
    plan_end(&small);
  }
  return s || done ? s : search(out);
}

void plan_end(plan_answer *p) { arena_deinit(&p->a); }
