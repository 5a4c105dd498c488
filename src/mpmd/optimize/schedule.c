/* The schedules. F(i) is the forward fragment of call i on the mesh at hand, B(i) the backward one;
 * where that is split, A(i) computes what other meshes wait for and W(i) the rest. */
#include "mpmd/optimize/schedule.h"

mesh_list mpmd_scheduled_meshes(arena *a, const op *func) {
  const topology_attr *t = mpmd_topology(func);
  mesh_list out = {0};
  for (size_t i = 0; t && i < t->meshes.len; i++) {
    str name = ((const named_mesh_attr *)t->meshes.data[i])->name;
    if (mpmd_is_schedulable(name)) VEC_PUSH(a, out, name);
  }
  return out;
}

unit unit_of(op *o, u32 at, const mesh_list *meshes) {
  unit u = {
      .o = o, .at = at, .mesh_name = fragment_mesh(o), .mesh = -1, .meshes = (i64)meshes->len};
  for (size_t i = 0; i < meshes->len && u.mesh < 0; i++)
    if (str_eq(meshes->data[i], u.mesh_name)) u.mesh = (i64)i;
  u.call = mpmd_call_counter(o);
  u.backward = fragment_transpose_count(o) == 1;
  u.splits = op_discardable(o, MPMD_SPLIT_DROP) != NULL;
  u.has_stage = fragment_stage(o) && attr_get_i64(fragment_stage(o), &u.stage);
  return u;
}

static bool on_pipeline(const unit *u, const char **problem) {
  if (u->mesh < 0) *problem = "is on a mesh that is no part of the pipeline";
  return u->mesh >= 0;
}

static bool never(const unit *a, const unit *b, const char **problem) {
  (void)a, (void)b, (void)problem;
  return false;
}

/* Mesh k takes as many forward ones as are on their way to the end and back, then one backward, one
 * forward. PipeDream-2BW, https://arxiv.org/abs/2006.09503; nothing is said of stale weights. */
static bool one_f_one_b(const unit *a, const unit *b, const char **problem) {
  if (!on_pipeline(a, problem)) return false;
  i64 ahead = a->meshes - a->mesh;
  if (a->backward == b->backward) return a->call < b->call;
  return a->backward ? b->call - a->call == ahead : a->call - b->call == ahead - 1;
}

/* All forward ones, then all backward ones: https://arxiv.org/abs/1811.06965. */
static bool gpipe(const unit *a, const unit *b, const char **problem) {
  (void)problem;
  return a->backward == b->backward ? a->call < b->call : b->backward;
}

/* With nothing to recompute on the last mesh. */
static bool gpipe_but_last(const unit *a, const unit *b, const char **problem) {
  if (!on_pipeline(a, problem)) return false;
  return a->mesh == a->meshes - 1 ? one_f_one_b(a, b, problem) : gpipe(a, b, problem);
}

/* 1F1B of F and A; W fills what is left. https://arxiv.org/abs/2401.10241. What is not split, as on
 * the last mesh, from which nothing is transferred on, counts as A. */
static bool zero_bubble_h1(const unit *a, const unit *b, const char **problem) {
  if (!on_pipeline(a, problem)) return false;
  i64 ahead = a->meshes - a->mesh, later = b->call - a->call;
  if (a->backward && !a->splits && !b->backward) return later == ahead; /* A(i) F(i + ahead) */
  if (!a->backward && b->backward && !b->splits)
    return later == 1 - ahead;                                /* F(i + ahead-1) A(i) */
  if (a->backward && !b->backward) return later == a->meshes; /* W(i) F(i + meshes) */
  if (a->backward && b->backward && a->splits != b->splits)
    return a->splits ? later == a->mesh + 1 /* W(i) A(i + mesh + 1) */
                     : later == -a->mesh;   /* A(i + mesh) W(i) */
  return false;
}

/* How many forward ones may run on a mesh before its first backward one: what a call computes from
 * there to the end and back, and its transfers, of which each takes `halves` halves of a step. */
static i64 eager(i64 meshes, i64 mesh, i64 halves) {
  i64 behind = meshes - mesh - 1;
  return 2 * behind + 1 + behind * halves;
}

/* The other schedule of that paper, for transfers that take time. */
static bool zero_bubble_h2(const unit *a, const unit *b, i64 halves, const char **problem) {
  if (!on_pipeline(a, problem)) return false;
  i64 first = eager(a->meshes, a->mesh, halves), later = b->call - a->call;
  i64 last = eager(a->meshes, a->meshes - a->mesh - 1, halves); /* W ends as F begins */
  if (!a->backward && b->backward && a->call < first) return true;
  if (a->backward && !a->splits && !b->backward && b->call >= first)
    return later == first; /* A(i) F(i + first) */
  if (!a->backward && a->call >= first && b->backward && !b->splits)
    return later == 1 - first; /* F(i + first - 1) A(i) */
  if (a->backward && b->backward && a->splits != b->splits)
    return a->splits ? later == last      /* W(i) A(i + last) */
                     : later == 1 - last; /* A(i + last - 1) W(i) */
  return false;
}

static bool zero_bubble_h2_zero(const unit *a, const unit *b, const char **problem) {
  return zero_bubble_h2(a, b, 0, problem);
}
static bool zero_bubble_h2_half(const unit *a, const unit *b, const char **problem) {
  return zero_bubble_h2(a, b, 1, problem);
}
static bool zero_bubble_h2_full(const unit *a, const unit *b, const char **problem) {
  return zero_bubble_h2(a, b, 2, problem);
}

/* The number behind all that is no digit; false: there is none. */
static bool number_in(str name, i64 *out) {
  size_t i = 0;
  while (i < name.len && !(name.data[i] >= '0' && name.data[i] <= '9')) i++;
  if (i == name.len) return false;
  for (*out = 0; i < name.len; i++) {
    if (name.data[i] < '0' || name.data[i] > '9' || *out > INT32_MAX) return false;
    *out = *out * 10 + (name.data[i] - '0');
  }
  return true;
}

/* Call k enters at mesh k and goes round, so on mesh k it is the first; then those before it from
 * the last one down, then those behind it likewise. */
static bool wrap_around(const unit *a, const unit *b, const char **problem) {
  i64 k;
  if (a->backward || b->backward) {
    *problem = "is scheduled beside others of which some are backward, which cannot wrap around";
  } else if (a->call == b->call) {
    *problem = "should not have a call counter that another one has on its mesh";
  } else if (!number_in(a->mesh_name, &k)) {
    *problem = "is on a mesh whose name does not end in its number";
  } else if (a->call == k || b->call == k) {
    return a->call == k;
  } else {
    return (a->call > k) == (b->call > k) ? a->call > b->call : a->call < b->call;
  }
  return false;
}

static int by_size(i64 a, i64 b) { return (a > b) - (a < b); }

/* Meshes have several stages each; as many calls as there are meshes go through a stage, then
 * through the next one of the mesh. */
static bool circular_order(const unit *a, const unit *b, bool reversed, const char **problem) {
  if (!a->has_stage || !b->has_stage) return false;
  if (a->backward != b->backward) return b->backward;
  if (!a->meshes) return on_pipeline(a, problem);
  int phase = by_size(a->call / a->meshes, b->call / b->meshes);
  int stage = by_size(a->stage, b->stage), call = by_size(a->call, b->call);
  if (!phase && !stage && !call) *problem = "has the stage and the call counter of another one";
  if (a->backward && !reversed) stage = -stage;
  int order = phase ? phase : stage ? stage : call;
  return a->backward && reversed ? order > 0 : order < 0;
}

static bool circular(const unit *a, const unit *b, const char **problem) {
  return circular_order(a, b, false, problem);
}
static bool circular_reversed(const unit *a, const unit *b, const char **problem) {
  return circular_order(a, b, true, problem);
}

static const schedule schedules[] = {
    {"none", never},
    {"1F1B", one_f_one_b},
    {"GPipe", gpipe},
    {"Circular", circular},
    {"CircularWithReversedBackward", circular_reversed},
    {"GPipeBut1F1BForLastMesh", gpipe_but_last},
    {"ZeroBubbleH1", zero_bubble_h1},
    {"ZeroBubbleH2ZeroTxLatency", zero_bubble_h2_zero},
    {"ZeroBubbleH2HalfTxLatency", zero_bubble_h2_half},
    {"ZeroBubbleH2FullTxLatency", zero_bubble_h2_full},
    {"ParallelPipelinesWithWrapAround", wrap_around},
};

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

static bool same_letters(str a, str b) {
  bool same = a.len == b.len;
  for (size_t i = 0; same && i < a.len; i++) same = lower(a.data[i]) == lower(b.data[i]);
  return same;
}

const schedule *schedule_find(str name) {
  for (size_t i = 0; i < COUNT(schedules); i++)
    if (same_letters(name, str_of(schedules[i].name))) return &schedules[i];
  return NULL;
}
