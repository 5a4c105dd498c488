/* The cheapest of all plans, as far as a search finds one.
 *
 * Its states are shardings: per dimension the atoms of axes, in order, where axes are cut at the
 * borders of both shardings and further down to primes. Where no one way to cut has both, as of
 * x=6 with x:(1)2 and x:(1)3, a state is of one of several, even of one that has neither, as long
 * as there are not too many. A* goes from state to state by single steps: what a device needs and
 * does not have is still to be sent. */
#include "base/index.h"
#include "partition/reshard.h"

enum { MAX_ATOMS = 10, MAX_DIMS = 6, MAX_CUTTINGS = 16, MAX_CHAIN = 16 };
enum { MAX_STATES = 40000, MAX_TRIED = 1000000, MAX_PLACES = 64 };
enum { FEW_DEVICES = 64 };
enum { BETWEEN = 15, SLOT = 4 }; /* in keys: what parts dimensions, bits of it and of an atom */
enum { NO_STATE = UINT32_MAX };

typedef struct cutting {
  axis_ref atoms[MAX_ATOMS];
  u32 n;
} cutting;

typedef struct layout {
  u8 at[MAX_DIMS][MAX_ATOMS], len[MAX_DIMS];
  u32 cutting;
} layout;

typedef struct state {
  u64 key;
  u32 cutting, from;
  step_kind kind;     /* of the step from there */
  double sent, bound; /* elements: until here, at least in all */
} state;

typedef struct waiting {
  double bound, sent;
  u32 state;
} waiting;

typedef struct permutation {
  u64 parts; /* of dimensions, hashed */
  double sent;
} permutation;

/* What a device has along a dimension. */
typedef struct range {
  i64 begin, end;
} range;

/* Each has those before it, too. */
typedef enum ways {
  WAYS_KNOWN,   /* of one sharding, and atoms that one of them has */
  WAYS_NEITHER, /* that have neither sharding's borders, where none has both */
  WAYS_ALL,     /* of few devices: axes and borders that neither has */
  NUM_WAYS
} ways;

typedef struct search {
  arena *a;
  const sharding *in, *out;
  const i64 *shape;
  u32 dims[MAX_DIMS], num_dims; /* those that may have atoms */
  double beside;                /* elements along the other dimensions */
  cutting cuttings[MAX_CUTTINGS];
  u32 num_cuttings, tried; /* steps */
  ways ways;
  double limit;           /* all must send less */
  u32 num_places;         /* devices that are looked at: all, or some of many */
  i64 places[MAX_PLACES]; /* their positions */
  u16 digits[MAX_CUTTINGS][MAX_ATOMS][MAX_PLACES];
  range needed[MAX_DIMS][MAX_PLACES]; /* at the end */
  i64 all_parts;                      /* of all atoms */
  double step;                        /* added for each, so that of two the shorter plan is taken */
  VEC(state) states;
  hash_index found;  /* numbers of states, plus one */
  VEC(waiting) heap; /* least bound first; a state is in it once for each that it had */
  VEC(permutation) permuted;
} search;

/* ---- how axes are cut ---- */

/* Is there part of the axis, between these borders, in any dimension? */
static bool uses(const sharding *s, u32 axis, i64 begin, i64 end) {
  for (u32 d = 0; d < s->rank; d++)
    for (size_t i = 0; i < s->dims[d].axes.len; i++) {
      axis_ref r = s->dims[d].axes.data[i];
      if (r.axis == axis && r.pre < end && begin < axis_next_pre(r)) return true;
    }
  return false;
}

typedef struct chains {
  const search *s;
  u32 axis;
  i64 size, at[MAX_CHAIN]; /* borders, each a multiple of the one before */
  size_t len;
  VEC(cutting) out;
  bool neither; /* those that have neither sharding's borders, too */
  bool joint;   /* one has both */
  bool full;
} chains;

/* Is every border of the sharding's parts of the axis in the chain? */
static bool has_borders(const chains *c, const sharding *s) {
  for (u32 d = 0; d < s->rank; d++)
    for (size_t i = 0; i < s->dims[d].axes.len; i++) {
      axis_ref r = s->dims[d].axes.data[i];
      i64s all = {(i64 *)c->at, c->len};
      if (r.axis == c->axis && !(i64s_contain(all, r.pre) && i64s_contain(all, axis_next_pre(r))))
        return false;
    }
  return true;
}

/* Parts that neither sharding has cut what has to be joined again, which is seldom worth it where
 * shards are even: there they are atoms on few devices only. */
static void end_chain(chains *c) {
  const sharding *in = c->s->in, *out = c->s->out;
  cutting k = {.n = 0};
  bool has_in = has_borders(c, in), has_out = has_borders(c, out);
  c->joint |= has_in && has_out;
  if (!has_in && !has_out && !c->neither) return;
  for (size_t i = 0; i + 1 < c->len; i++) {
    i64 begin = c->at[i], end = c->at[i + 1];
    axis_ref atom = {c->axis, begin, end / begin};
    bool used = uses(in, c->axis, begin, end) || uses(out, c->axis, begin, end);
    if (!used && has_in && has_out && c->s->ways != WAYS_ALL) continue;
    if (axes_overlap_ref(in->unreduced, atom)) { /* there devices have parts of a sum */
      if (used) return;
      continue;
    }
    c->full |= k.n == MAX_ATOMS;
    if (k.n < MAX_ATOMS) k.atoms[k.n++] = atom;
  }
  for (size_t i = 0; i < c->out.len; i++)
    if (axes_eq((axis_list){c->out.data[i].atoms, c->out.data[i].n}, (axis_list){k.atoms, k.n}))
      return;
  c->full |= c->out.len == MAX_CUTTINGS;
  VEC_PUSH(c->s->a, c->out, k);
}

/* Goes on with each prime that divides what is left, in every order. */
static void extend(chains *c) {
  i64 last = c->at[c->len - 1], rest = c->size / last, left = rest;
  if (rest == 1) end_chain(c);
  c->full |= rest > 1 && c->len == MAX_CHAIN;
  for (i64 p = 2; left > 1 && !c->full; p++) {
    if (left % p) continue;
    while (left % p == 0) left /= p;
    c->at[c->len++] = last * p;
    extend(c);
    c->len--;
  }
}

/* false: there are too many ways. */
static bool cut_axes(search *s) {
  s->num_cuttings = 1;
  for (u32 k = 0; k < s->in->mesh->num_axes; k++) {
    i64 size = s->in->mesh->axes[k].size;
    chains c = {.s = s, .axis = k, .size = size, .at = {1}, .len = 1};
    if (s->ways != WAYS_ALL && !uses(s->in, k, 1, size) && !uses(s->out, k, 1, size)) continue;
    if (size > 1 << 12) return false;
    extend(&c);
    if ((s->ways == WAYS_ALL || (s->ways == WAYS_NEITHER && !c.joint)) && !c.full) {
      c = (chains){.s = s, .axis = k, .size = size, .at = {1}, .len = 1, .neither = true};
      extend(&c);
    }
    u32 before = s->num_cuttings;
    if (c.full || !c.out.len || before * c.out.len > MAX_CUTTINGS) return false;
    for (u32 i = (u32)c.out.len * before; i-- > 0;) {
      const cutting *more = &c.out.data[i / before];
      cutting *to = &s->cuttings[i];
      *to = s->cuttings[i % before];
      if (to->n + more->n > MAX_ATOMS) return false;
      memcpy(to->atoms + to->n, more->atoms, more->n * sizeof *more->atoms);
      to->n += more->n;
    }
    s->num_cuttings = before * (u32)c.out.len;
  }
  return true;
}

/* ---- layouts and keys ---- */

/* Adds the atoms of a part of an axis to dimension k; false: the cutting has no such part. */
static bool add_part(const search *s, layout *l, u32 k, axis_ref r) {
  const cutting *c = &s->cuttings[l->cutting];
  i64 pre = r.pre, end = axis_next_pre(r);
  while (pre < end) {
    u32 i = 0;
    while (i < c->n && (c->atoms[i].axis != r.axis || c->atoms[i].pre != pre)) i++;
    if (i == c->n || l->len[k] == MAX_ATOMS) return false;
    l->at[k][l->len[k]++] = (u8)i;
    pre = axis_next_pre(c->atoms[i]);
  }
  return pre == end;
}

/* dims: axes of each dimension that may have atoms. */
static bool layout_make(const search *s, const axis_list *dims, u32 cut, layout *l) {
  memset(l, 0, sizeof *l);
  l->cutting = cut;
  for (u32 k = 0; k < s->num_dims; k++)
    for (size_t i = 0; i < dims[k].len; i++)
      if (!add_part(s, l, k, dims[k].data[i])) return false;
  return true;
}

static u64 key_of(const search *s, const layout *l) {
  u64 key = 1;
  for (u32 k = 0; k < s->num_dims; k++) {
    if (k) key = key << SLOT | BETWEEN;
    for (u32 i = 0; i < l->len[k]; i++) key = key << SLOT | l->at[k][i];
  }
  return key;
}

static layout layout_at(const state *t) {
  layout l = {.cutting = t->cutting};
  int bit = 63 - SLOT + 1;
  while (!(t->key >> bit)) bit -= SLOT; /* the first 1 */
  for (u32 k = 0; bit > 0;) {
    u8 slot = t->key >> (bit -= SLOT) & BETWEEN;
    if (slot == BETWEEN)
      k++;
    else
      l.at[k][l.len[k]++] = slot;
  }
  return l;
}

static axis_list axes_at(const search *s, const layout *l, u32 k, u32 begin, u32 end) {
  axis_vec v = {0};
  for (u32 i = begin; i < end; i++)
    axes_add_or_merge(s->a, &v, s->cuttings[l->cutting].atoms[l->at[k][i]]);
  return axis_vec_list(&v);
}

static i64 parts_at(const search *s, const layout *l, u32 k, u32 begin, u32 end) {
  i64 n = 1;
  for (u32 i = begin; i < end; i++) n *= s->cuttings[l->cutting].atoms[l->at[k][i]].size;
  return n;
}

static i64 parts(const search *s, const layout *l, u32 k) {
  return parts_at(s, l, k, 0, l->len[k]);
}

static bool has_atom(const search *s, const layout *l, u8 atom) {
  for (u32 k = 0; k < s->num_dims; k++)
    for (u32 i = 0; i < l->len[k]; i++)
      if (l->at[k][i] == atom) return true;
  return false;
}

/* Of a device. */
static double elements(const search *s, const layout *l) {
  double n = s->beside;
  for (u32 k = 0; k < s->num_dims; k++)
    n *= (double)div_ceil_i64(s->shape[s->dims[k]], parts(s, l, k));
  return n;
}

/* ---- what is still to be sent ---- */

static range range_of(i64 n, i64 shard, i64 index) {
  i64 begin = index * shard < n ? index * shard : n;
  return (range){begin, begin + shard < n ? begin + shard : n};
}

static range range_at(const search *s, const sharding *x, u32 k, u32 place) {
  u32 d = s->dims[k];
  i64 shard = div_ceil_i64(s->shape[d], sharding_dim_size(x, d));
  return range_of(s->shape[d], shard, sharding_shard_index(x, d, s->places[place]));
}

static void choose_places(search *s) {
  i64 n = s->in->mesh->size;
  s->num_places = n < MAX_PLACES ? (u32)n : MAX_PLACES;
  for (u32 i = 0; i < s->num_places; i++) {
    s->places[i] = n <= MAX_PLACES ? i : (i64)(hash_u64(i, 0) % (u64)n);
    for (u32 k = 0; k < s->num_dims; k++) s->needed[k][i] = range_at(s, s->out, k, i);
  }
}

static void find_digits(search *s) {
  for (u32 c = 0; c < s->num_cuttings; c++)
    for (u32 k = 0; k < s->cuttings[c].n; k++) {
      axis_ref r = s->cuttings[c].atoms[k];
      i64 stride = mesh_stride(s->in->mesh, r);
      for (u32 i = 0; i < s->num_places; i++)
        s->digits[c][k][i] = (u16)(s->places[i] / stride % r.size);
    }
}

/* What is needed at a place, but for what is there. */
static double missing_at(const search *s, u32 place, const range *there) {
  double needs = s->beside, has = s->beside;
  for (u32 k = 0; k < s->num_dims; k++) {
    range want = s->needed[k][place], r = there[k];
    i64 begin = r.begin > want.begin ? r.begin : want.begin;
    i64 end = r.end < want.end ? r.end : want.end;
    needs *= (double)(want.end - want.begin);
    has *= end > begin ? (double)(end - begin) : 0;
  }
  return needs - has;
}

static double missing_at_first(const search *s) {
  double most = 0;
  for (u32 i = 0; i < s->num_places; i++) {
    range there[MAX_DIMS];
    for (u32 k = 0; k < s->num_dims; k++) there[k] = range_at(s, s->in, k, i);
    double n = missing_at(s, i, there);
    if (n > most) most = n;
  }
  return most;
}

static range shard_at(const search *s, const layout *l, u32 k, i64 shard, u32 place) {
  i64 index = 0;
  for (u32 j = 0; j < l->len[k]; j++) {
    u8 atom = l->at[k][j];
    index = index * s->cuttings[l->cutting].atoms[atom].size + s->digits[l->cutting][atom][place];
  }
  return range_of(s->shape[s->dims[k]], shard, index);
}

/* To the device that misses most: each step sends all of them as much. Any number from `enough` on
 * if it is that. The first `known` dimensions are as in l, the others' shards as long as in `like`
 * and wherever they serve best. */
static double missing(const search *s, const layout *l, const layout *like, u32 known,
                      double enough) {
  double most = 0;
  i64 shard[MAX_DIMS];
  for (u32 k = 0; k < s->num_dims; k++)
    shard[k] = div_ceil_i64(s->shape[s->dims[k]], parts(s, like, k));
  for (u32 i = 0; i < s->num_places && most < enough; i++) {
    range there[MAX_DIMS];
    for (u32 k = 0; k < s->num_dims; k++)
      there[k] = k < known ? shard_at(s, l, k, shard[k], i)
                           : (range){s->needed[k][i].begin, s->needed[k][i].begin + shard[k]};
    double n = missing_at(s, i, there);
    if (n > most) most = n;
  }
  return most;
}

/* ---- the search ---- */

/* Of those that may become as cheap, the one that has sent more has less to go. */
static bool sooner(waiting x, waiting y) {
  return x.bound < y.bound || (x.bound <= y.bound && x.sent > y.sent);
}

static void heap_push(search *s, waiting w) {
  VEC_PUSH(s->a, s->heap, w);
  size_t i = s->heap.len - 1;
  for (; i && sooner(w, s->heap.data[(i - 1) / 2]); i = (i - 1) / 2)
    s->heap.data[i] = s->heap.data[(i - 1) / 2];
  s->heap.data[i] = w;
}

static waiting heap_pop(search *s) {
  waiting *h = s->heap.data, top = h[0], w = h[--s->heap.len];
  size_t i = 0, n = s->heap.len;
  for (size_t k; (k = 2 * i + 1) < n; i = k) {
    if (k + 1 < n && sooner(h[k + 1], h[k])) k++;
    if (!sooner(h[k], w)) break;
    h[i] = h[k];
  }
  if (n) h[i] = w;
  return top;
}

/* Too much to go on. */
static bool spent(const search *s) { return s->states.len == MAX_STATES || s->tried >= MAX_TRIED; }

static void reach(search *s, const layout *l, double sent, u32 from, step_kind kind) {
  u64 key = key_of(s, l), hash = hash_u64(key, l->cutting);
  if (from != NO_STATE && kind != STEP_ALL_SLICE &&
      (kind == STEP_ALL_TO_ALL || kind != s->states.data[from].kind))
    sent += s->step;
  void *e;
  u32 i = NO_STATE;
  s->tried++;
  if (sent >= s->limit || spent(s)) return;
  for (size_t at = 0; (e = index_next(&s->found, hash, &at));) {
    const state *t = &s->states.data[(uintptr_t)e - 1];
    if (t->key == key && t->cutting == l->cutting) i = (u32)((uintptr_t)e - 1);
  }
  if (i != NO_STATE && sent >= s->states.data[i].sent) return;
  double bound = sent + missing(s, l, l, s->num_dims, s->limit - sent);
  if (bound >= s->limit) return;
  state t = {key, l->cutting, from, kind, sent, bound};
  if (i == NO_STATE) {
    i = (u32)s->states.len;
    VEC_PUSH(s->a, s->states, t);
    index_add(&s->found, s->a, hash, (void *)(uintptr_t)(i + 1));
  } else {
    s->states.data[i] = t;
  }
  heap_push(s, (waiting){bound, sent, i});
}

static bool dim_holds(const search *s, const layout *from, const layout *to, u32 k) {
  return reshard_dim_steps(s->shape[s->dims[k]], parts(s, from, k), parts(s, to, k));
}

/* Atom by atom; several at once where shards of fewer may be none that can be cut further. */
static void slice(search *s, u32 at, const layout *from, layout *l, u32 k, double sent) {
  if (l->len[k] == MAX_ATOMS) return;
  for (u8 atom = 0; atom < s->cuttings[l->cutting].n && !spent(s); atom++) {
    if (has_atom(s, l, atom)) continue;
    s->tried++;
    l->at[k][l->len[k]++] = atom;
    if (dim_holds(s, from, l, k)) reach(s, l, sent, at, STEP_ALL_SLICE);
    if (s->shape[s->dims[k]] % s->all_parts) slice(s, at, from, l, k, sent);
    l->len[k]--;
  }
}

static void gather(search *s, u32 at, const layout *l, u32 k, double sent) {
  layout to = *l;
  while (to.len[k]) {
    to.len[k]--;
    double n = (double)parts_at(s, l, k, to.len[k], l->len[k]);
    if (!dim_holds(s, l, &to, k)) continue;
    reach(s, &to, sent + elements(s, l) * (n - 1), at, STEP_ALL_GATHER);
    return;
  }
}

/* Moves the last atoms of dimension src to dst, `n` of them; grows *size by the padding and *parts
 * by the number of parts. */
static bool move(const search *s, layout *l, u32 src, u32 dst, u32 n, double *size, i64 *count) {
  const layout from = *l;
  if (l->len[dst] + n > MAX_ATOMS) return false;
  i64 k = parts_at(s, l, src, l->len[src] - n, l->len[src]);
  memcpy(l->at[dst] + l->len[dst], l->at[src] + l->len[src] - n, n);
  l->len[dst] += (u8)n;
  l->len[src] -= (u8)n;
  i64 dim = s->shape[s->dims[dst]];
  *size *= (double)(div_ceil_i64(dim, parts(s, l, dst)) * k) /
           (double)div_ceil_i64(dim, parts(s, &from, dst));
  *count *= k;
  return dim_holds(s, &from, l, src) && dim_holds(s, &from, l, dst);
}

/* From dimension `src` on; and with others at once, in the order of sources. */
static void exchange(search *s, u32 at, const layout *l, u32 src, u32 used, double sent,
                     double size, i64 count) {
  for (; src < s->num_dims; src++)
    for (u32 dst = 0; dst < s->num_dims; dst++)
      for (u32 n = 1; n <= l->len[src]; n++) {
        layout to = *l;
        double padded = size;
        i64 k = count;
        u32 both = 1u << src | 1u << dst;
        if (src == dst || used & both || !move(s, &to, src, dst, n, &padded, &k)) continue;
        reach(s, &to, sent + padded * (double)(k - 1) / (double)k, at, STEP_ALL_TO_ALL);
        exchange(s, at, &to, src + 1, used | both, sent, padded, k);
      }
}

/* All layouts from dimension k on that have `left` more parts along it, then as many as `like`. */
static void arrange(search *s, u32 at, layout *l, const layout *like, u32 k, i64 left,
                    double sent) {
  if (left == 1 && k + 1 == s->num_dims) {
    reach(s, l, sent, at, STEP_PERMUTE);
  } else if (left == 1) {
    if (sent + missing(s, l, like, k + 1, s->limit - sent) >= s->limit) return;
    arrange(s, at, l, like, k + 1, parts(s, like, k + 1), sent);
  } else {
    const cutting *c = &s->cuttings[l->cutting];
    for (u8 atom = 0; atom < c->n && !spent(s); atom++) {
      if (left % c->atoms[atom].size || l->len[k] == MAX_ATOMS || has_atom(s, l, atom)) continue;
      l->at[k][l->len[k]++] = atom;
      arrange(s, at, l, like, k, left / c->atoms[atom].size, sent);
      l->len[k]--;
    }
  }
}

static void permute(search *s, u32 at, const layout *l, double sent) {
  u64 hash = 0;
  double now = elements(s, l);
  if (sent + now + missing(s, l, l, 0, s->limit) >= s->limit) return;
  for (u32 k = 0; k < s->num_dims; k++) hash = hash_u64((u64)parts(s, l, k), hash);
  for (size_t i = 0; i < s->permuted.len; i++)
    if (s->permuted.data[i].parts == hash && s->permuted.data[i].sent <= sent) return;
  VEC_PUSH(s->a, s->permuted, ((permutation){hash, sent}));
  for (u32 c = 0; c < s->num_cuttings; c++) {
    layout to = {.cutting = c};
    arrange(s, at, &to, l, 0, parts(s, l, 0), sent + now);
  }
}

static void dims_of(const search *s, const sharding *x, axis_list *dims) {
  for (u32 k = 0; k < s->num_dims; k++) dims[k] = x->dims[s->dims[k]].axes;
}

/* The same in other cuttings, which costs nothing. */
static void recut(search *s, u32 at, const layout *l, double sent) {
  axis_list dims[MAX_DIMS];
  layout to;
  if (s->num_cuttings == 1) return;
  for (u32 k = 0; k < s->num_dims; k++) dims[k] = axes_at(s, l, k, 0, l->len[k]);
  for (u32 c = 0; c < s->num_cuttings; c++)
    if (c != l->cutting && layout_make(s, dims, c, &to))
      reach(s, &to, sent, at, s->states.data[at].kind);
}

/* The state that is `out`; NO_STATE: none is cheaper than the limit. */
static u32 find(search *s) {
  axis_list dims[MAX_DIMS];
  layout l;
  u64 goal[MAX_CUTTINGS] = {0};
  dims_of(s, s->out, dims);
  for (u32 c = 0; c < s->num_cuttings; c++)
    if (layout_make(s, dims, c, &l)) goal[c] = key_of(s, &l);
  dims_of(s, s->in, dims);
  for (u32 c = 0; c < s->num_cuttings; c++)
    if (layout_make(s, dims, c, &l)) reach(s, &l, 0, NO_STATE, STEP_ALL_SLICE);
  while (s->heap.len && !spent(s)) {
    waiting w = heap_pop(s);
    u32 at = w.state;
    state t = s->states.data[at];
    if (w.bound > t.bound) continue; /* was reached for less since */
    if (t.key == goal[t.cutting]) return at;
    l = layout_at(&t);
    for (u32 k = 0; k < s->num_dims; k++) {
      layout to = l;
      slice(s, at, &l, &to, k, t.sent);
      gather(s, at, &l, k, t.sent);
    }
    exchange(s, at, &l, 0, 0, t.sent, elements(s, &l), 1);
    permute(s, at, &l, t.sent);
    recut(s, at, &l, t.sent);
  }
  return NO_STATE;
}

/* ---- the plan ---- */

static const sharding *sharding_at(const search *s, const layout *l) {
  axis_list *dims = arena_zalloc(s->a, s->in->rank * sizeof *dims);
  for (u32 k = 0; k < s->num_dims; k++) dims[s->dims[k]] = axes_at(s, l, k, 0, l->len[k]);
  sharding *x =
      arena_copy(s->a, sharding_make_closed(s->a, s->in->mesh, dims, s->in->rank), sizeof *x);
  x->unreduced = s->out->unreduced;
  x->unreduced_kind = s->out->unreduced_kind;
  return x;
}

/* What dimensions have under `more` beyond what they have under `less`. */
static const axis_list *axes_beyond(const search *s, const sharding *more, const sharding *less) {
  axis_list *dims = ARENA_ARRAY(s->a, axis_list, more->rank);
  for (u32 d = 0; d < more->rank; d++)
    dims[d] = axes_difference(s->a, more->dims[d].axes, less->dims[d].axes);
  return dims;
}

static reshard_step step_between(const search *s, step_kind kind, const sharding *from,
                                 const sharding *to) {
  reshard_step step = {.kind = kind, .out = to};
  if (kind == STEP_ALL_SLICE) step.dim_axes = axes_beyond(s, to, from);
  if (kind == STEP_ALL_GATHER) step.dim_axes = axes_beyond(s, from, to);
  if (kind != STEP_ALL_TO_ALL) return step;
  reshard_move *moves = ARENA_ARRAY(s->a, reshard_move, s->num_dims);
  const axis_list *lost = axes_beyond(s, from, to), *got = axes_beyond(s, to, from);
  for (u32 src = 0; src < from->rank; src++)
    for (u32 dst = 0; dst < from->rank && lost[src].len; dst++)
      if (axes_eq(lost[src], got[dst]))
        moves[step.num_moves++] = (reshard_move){lost[src], src, dst};
  step.moves = moves;
  return step;
}

/* Slices and gathers come atom by atom: those in a row are one step. A gather that has dropped
 * padding is one of its own, as otherwise more would be sent. */
static bool joins(const search *s, const sharding *begin, const state *t, const state *next) {
  if (!next || next->kind != t->kind) return false;
  if (t->kind != STEP_ALL_GATHER) return t->kind == STEP_ALL_SLICE;
  layout here = layout_at(t);
  double joined = (double)sharding_num_shards(begin);
  for (u32 k = 0; k < s->num_dims; k++) joined /= (double)parts(s, &here, k);
  return elements(s, &here) >= sharding_elements(begin, s->shape) * joined;
}

static void add_steps(const search *s, u32 last, reshard_steps *steps) {
  VEC(u32) path = {0};
  for (u32 at = last; at != NO_STATE; at = s->states.data[at].from) VEC_PUSH(s->a, path, at);
  const sharding *now = s->in;
  for (size_t i = path.len - 1; i-- > 0;) {
    const state *t = &s->states.data[path.data[i]];
    const state *next = i ? &s->states.data[path.data[i - 1]] : NULL;
    layout l = layout_at(t);
    const sharding *to = sharding_at(s, &l);
    if (joins(s, now, t, next) || sharding_equivalent(now, to)) continue;
    VEC_PUSH(s->a, *steps, step_between(s, t->kind, now, to));
    now = to;
  }
}

/* Dimensions with axes first, then others as intermediate places, as many as keys have room for. */
static void choose_dims(search *s) {
  s->beside = 1;
  for (int pass = 0; pass < 2; pass++)
    for (u32 d = 0; d < s->in->rank; d++) {
      bool cut = s->in->dims[d].axes.len || s->out->dims[d].axes.len;
      if (cut == (pass == 1)) continue;
      if (s->num_dims < MAX_DIMS && (cut || s->shape[d] > 1))
        s->dims[s->num_dims++] = d;
      else
        s->beside *= (double)s->shape[d];
    }
}

/* Axes of one device are no atoms. */
static bool cuts_nothing(axis_list axes) {
  for (size_t i = 0; i < axes.len; i++)
    if (axes.data[i].size == 1) return true;
  return false;
}

static bool run(search *s, reshard_steps *steps) {
  s->all_parts = 1;
  for (u32 i = 0; i < s->cuttings[0].n; i++) s->all_parts *= s->cuttings[0].atoms[i].size;
  find_digits(s);
  u32 last = find(s);
  if (last == NO_STATE) return false;
  steps->len = 0;
  add_steps(s, last, steps);
  return true;
}

static bool same_cuttings(const search *x, const search *y) {
  bool same = x->num_cuttings == y->num_cuttings;
  for (u32 i = 0; same && i < x->num_cuttings; i++)
    same = axes_eq((axis_list){x->cuttings[i].atoms, x->cuttings[i].n},
                   (axis_list){y->cuttings[i].atoms, y->cuttings[i].n});
  return same;
}

/* What few ways find is a bound for more of them, with which a search might not come to an end. */
bool reshard_plan_least(arena *a, const sharding *in, const sharding *out, const i64 *shape,
                        bool others, double limit, reshard_steps *steps) {
  u32 cut = 0;
  for (u32 d = 0; d < in->rank; d++) {
    cut += in->dims[d].axes.len || out->dims[d].axes.len;
    if (shape[d] <= 0 || cuts_nothing(in->dims[d].axes) || cuts_nothing(out->dims[d].axes))
      return false;
  }
  if (sharding_elements(out, shape) - sharding_elements(in, shape) >= limit || cut > MAX_DIMS)
    return false;
  search *before = NULL, first = {.a = a, .in = in, .out = out, .shape = shape};
  choose_dims(&first);
  choose_places(&first);
  double least = missing_at_first(&first);
  bool found = false;
  for (ways w = WAYS_KNOWN; w < NUM_WAYS && least < limit * (1 - 1e-9); w++) {
    if (w == WAYS_ALL && (!others || in->mesh->size > FEW_DEVICES)) break;
    search *s = arena_copy(a, &first, sizeof first);
    s->ways = w;
    s->limit = limit * (1 - 1e-9);
    s->step = limit * 1e-12;
    if (!cut_axes(s)) break;
    if (before && same_cuttings(before, s)) continue;
    if (run(s, steps)) limit = reshard_sent(in, shape, steps), found = true;
    before = s;
  }
  return found;
}
