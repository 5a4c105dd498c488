/* What lanes can be, and what of them anybody looks at: integers are not brought back into their
 * type's range where that changes nothing, and code whose values all fit into 8 or 16 bits
 * has lanes of these. Each has the lower bits of what the lane of 32 would be, which is enough for
 * sums, products and bits; where more counts, as in comparisons, it has to be all of it, with a
 * sign or without. */
#include "exec/jit_narrow.h"

#include "exec/jit_short.h"

_Static_assert(JP_COUNT_ <= UINT8_MAX, "tables have them in bytes");

typedef struct range { /* of a lane of 32 bits, as a number with a sign */
  i64 least, most;
} range;
static const range any = {INT32_MIN, INT32_MAX};
typedef VEC(range) ranges;

static const jit_node *node(const J *b, V x) { return &b->nodes.data[x]; }
static bool fits(range r, i64 least, i64 most) { return r.least >= least && r.most <= most; }
static i64 lesser(i64 x, i64 y) { return x < y ? x : y; }
static i64 greater(i64 x, i64 y) { return x > y ? x : y; }

/* ---- ranges: of n, whose operands are x and y ---- */

#define RANGE(name, expr)                                                                          \
  static range name(const jit_node *n, range x, range y) {                                         \
    (void)n, (void)x, (void)y;                                                                     \
    return expr;                                                                                   \
  }
static range of(i64 least, i64 most) { return (range){least, most}; }
static range within(i64 least, i64 most) {
  range r = {least, most};
  return fits(r, any.least, any.most) ? r : any;
}
static range product(range x, range y) {
  i64 a = x.least * y.least, b = x.least * y.most, c = x.most * y.least, d = x.most * y.most;
  return within(lesser(lesser(a, b), lesser(c, d)), greater(greater(a, b), greater(c, d)));
}
/* What and, or and xor leave: as many bits as both have without their sign. */
static range bitwise(range x, range y) {
  u64 most = (u64)greater(greater(x.most, ~x.least), greater(y.most, ~y.least));
  i64 ones = most ? (i64)(UINT64_MAX >> __builtin_clzll(most)) : 0;
  return of(x.least >= 0 && y.least >= 0 ? 0 : ~ones, ones);
}
static range both(range x, range y) {
  if (x.least < 0 && y.least < 0) return bitwise(x, y);
  return of(0, x.least < 0 ? y.most : y.least < 0 ? x.most : lesser(x.most, y.most));
}
static range shifted(u32 by, range x) {
  return by ? of(x.least < 0 ? 0 : x.least >> by, x.least < 0 ? UINT32_MAX >> by : x.most >> by)
            : x;
}
RANGE(of_add, within(x.least + y.least, x.most + y.most))
RANGE(of_sub, within(x.least - y.most, x.most - y.least))
RANGE(of_mul, product(x, y))
RANGE(of_and, both(x, y))
RANGE(of_bits, bitwise(x, y))
RANGE(of_least, of(lesser(x.least, y.least), lesser(x.most, y.most)))
RANGE(of_most, of(greater(x.least, y.least), greater(x.most, y.most)))
RANGE(of_left, within(x.least *(1ll << n->imm), x.most *(1ll << n->imm)))
RANGE(of_right, of(x.least >> n->imm, x.most >> n->imm))
RANGE(of_bare_right, shifted(n->imm, x))
RANGE(of_bare_right_by, x.least < 0 ? any : of(0, x.most))
/* Its last two operands. */
RANGE(of_blend, of(lesser(x.least, y.least), greater(x.most, y.most)))

typedef range range_fn(const jit_node *n, range x, range y);
static const struct {
  range_fn *find;
  u8 prim, other;
} range_rows[] = {
    {of_add, JP_paddd, 0},
    {of_sub, JP_psubd, 0},
    {of_mul, JP_pmulld, 0},
    {of_and, JP_pandd, 0},
    {of_bits, JP_pord, JP_pxord},
    {of_least, JP_pminsd, 0},
    {of_most, JP_pmaxsd, 0},
    {of_left, JP_pslld, 0},
    {of_right, JP_psrad, 0},
    {of_bare_right, JP_psrld, 0},
    {of_bare_right_by, JP_psrlvd, 0},
    {of_blend, JP_pblendmd, 0},
};
static const struct {
  u8 prim;
  i32 least, most;
} memory_rows[] = {
    {JP_load8, 0, UINT8_MAX},           {JP_one8, 0, UINT8_MAX},
    {JP_load8s, INT8_MIN, INT8_MAX},    {JP_one8s, INT8_MIN, INT8_MAX},
    {JP_load16, 0, UINT16_MAX},         {JP_one16, 0, UINT16_MAX},
    {JP_load16s, INT16_MIN, INT16_MAX}, {JP_one16s, INT16_MIN, INT16_MAX},
};
/* Whether s has the sign of x in all its bits. */
static bool is_sign_of(const J *b, V s, V x) {
  return node(b, s)->prim == JP_psrad && node(b, s)->imm == 31 && node(b, s)->arg[0] == x;
}
static range find_range(const J *b, const jit_node *n, const range *of_value) {
  bool blends = n->prim == JP_pblendmd;
  u32 operands = jit_prim_infos[n->prim].operands - blends;
  const u32 *arg = n->arg + blends;
  if (n->prim == JP_const32) return of((i32)n->imm, (i32)n->imm);
  if (n->prim == JP_pxord && (is_sign_of(b, arg[1], arg[0]) || is_sign_of(b, arg[0], arg[1])))
    return of(0, bitwise(of_value[arg[0]], of_value[arg[1]]).most);
  for (u32 i = 0; i < COUNT(range_rows); i++)
    if (n->prim == range_rows[i].prim || n->prim == range_rows[i].other)
      return range_rows[i].find(n, operands ? of_value[arg[0]] : any,
                                operands > 1 ? of_value[arg[1]] : any);
  for (u32 i = 0; i < COUNT(memory_rows); i++)
    if (memory_rows[i].prim == n->prim) return of(memory_rows[i].least, memory_rows[i].most);
  return any;
}

/* ---- what is looked at ---- */

enum { ALL = 32 };
/* Of operand k of a value of which `bits` are. */
static u32 looks_at(const J *b, const jit_node *n, u32 k, u32 bits) {
  static const u8 lower[] = {JP_paddd, JP_psubd,  JP_pmulld, JP_pord,
                             JP_pxord, JP_pandnd, JP_pandd,  JP_pblendmd};
  u32 with;
  if (n->prim == JP_store8) return 8;
  if (n->prim == JP_store16) return 16;
  if (n->prim == JP_pslld) return bits > n->imm ? bits - n->imm : 1;
  if (n->prim == JP_psrld || n->prim == JP_psrad) return bits + n->imm < ALL ? bits + n->imm : ALL;
  if (!memchr(lower, (int)n->prim, sizeof lower) || (n->prim == JP_pblendmd && k == 0)) return ALL;
  if (n->prim != JP_pandd || k > 0 || !jit_is_const(b, n->arg[1], &with) || with == 0) return bits;
  u32 has = ALL - (u32)__builtin_clz(with);
  return has < bits ? has : bits;
}
/* By value how many of its lower bits; of what nobody needs, none. */
static u8 *find_seen(const J *b) {
  u32 len = (u32)b->nodes.len;
  u8 *seen = arena_zalloc(b->a, len + 1);
  for (u32 v = len; v-- > 0;) {
    const jit_node *n = node(b, v);
    if (jit_prim_infos[n->prim].class == JIT_N) seen[v] = ALL;
    for (u32 k = 0; seen[v] && k < jit_prim_infos[n->prim].operands; k++) {
      u32 bits = looks_at(b, n, k, seen[v]);
      if (bits > seen[n->arg[k]]) seen[n->arg[k]] = (u8)bits;
    }
  }
  return seen;
}

static J empty_like(const J *b) {
  J r = *b;
  memset(&r.nodes, 0, sizeof r.nodes);
  r.table = NULL;
  r.table_size = 0;
  return r;
}
static jit_node with_operands(const jit_node *n, const V *of_value) {
  jit_node r = *n;
  for (u32 k = 0; k < jit_prim_infos[n->prim].operands; k++) r.arg[k] = of_value[n->arg[k]];
  return r;
}

/* Whether no lane of a mask can be true. */
static bool is_never(const J *b, const range *of_value, V k) {
  const jit_node *n = node(b, k);
  if (n->prim == JP_kandq)
    return is_never(b, of_value, n->arg[0]) || is_never(b, of_value, n->arg[1]);
  return n->prim == JP_pcmpd && n->imm == I_LT &&
         of_value[n->arg[0]].least >= of_value[n->arg[1]].most;
}
/* What n brings into a range where it is, or nobody looks at more of it. */
static bool is_plain(const J *b, const jit_node *n, u32 seen, const range *of_value, V *out) {
  const jit_node *from = node(b, n->arg[0]);
  u32 with, bits;
  if (n->prim == JP_pblendmd) {
    *out = n->arg[2];
    return is_never(b, of_value, n->arg[0]);
  }
  if (n->prim == JP_psrad) {
    if (from->prim != JP_pslld || from->imm != n->imm) return false;
    *out = from->arg[0];
    bits = ALL - n->imm;
    return seen <= bits || fits(of_value[*out], -(1ll << (bits - 1)), (1ll << (bits - 1)) - 1);
  }
  if (n->prim != JP_pandd || !jit_is_const(b, n->arg[1], &with)) return false;
  *out = n->arg[0];
  bits = ~with ? (u32)__builtin_ctz(~with) : ALL; /* ones at the lower end */
  return seen <= bits || fits(of_value[*out], 0, (1ll << bits) - 1);
}

jit_build jit_simplify(const jit_build *b) {
  J r = empty_like(b);
  u32 len = (u32)b->nodes.len;
  u8 *seen = find_seen(b);
  V *now = ARENA_ARRAY(b->a, V, len + 1);
  ranges known = {0};
  bool again = false; /* for what only a mask looked at that nobody needs */
  for (u32 v = 0; v < len; v++) {
    jit_node n = with_operands(node(b, v), now);
    if (!seen[v]) continue;
    if (is_plain(&r, &n, seen[v], known.data, &now[v])) {
      again |= n.prim == JP_pblendmd;
      continue;
    }
    now[v] = jit_add_node(&r, n);
    if (now[v] == known.len) VEC_PUSH(b->a, known, find_range(&r, &n, known.data));
  }
  return again ? jit_simplify(&r) : r;
}

/* ---- narrow lanes ---- */

/* Primitives of narrow lanes for one of 32 bits: where what it looks at has a sign, and where it
 * has none; 0: there is none. */
typedef struct narrow_row {
  u8 prim, with_sign, bare;
  u8 looks; /* at all of an operand: 1 the first, 2 the second, 4 the second without a sign */
} narrow_row;
#define ROW(prim, with_sign, bare, looks)                                                          \
  { JP_##prim, with_sign, bare, looks }
#define ALIKE(prim, to)                                                                            \
  { JP_##prim, JP_##to, JP_##to, 0 }
#define SAME(prim) ALIKE(prim, prim)
#define SAME_ROWS                                                                                  \
  SAME(one8), SAME(one8s), SAME(onek), SAME(loadk), SAME(storek), SAME(pandd), SAME(pandnd),       \
      SAME(pord), SAME(pxord), SAME(kandq), SAME(kandnq), SAME(korq), SAME(kxorq), SAME(kxnorq),   \
      SAME(knotq)
/* w: the letter of lanes of a width. */
#define LANE_ROWS(w)                                                                               \
  ALIKE(paddd, padd##w), ALIKE(psubd, psub##w), ALIKE(pblendmd, pblendm##w),                       \
      ROW(pminsd, JP_pmins##w, JP_pminu##w, 3), ROW(pmaxsd, JP_pmaxs##w, JP_pmaxu##w, 3),          \
      ROW(pcmpd, JP_pcmp##w, JP_pcmpu##w, 3), ROW(ptestmd, JP_ptestm##w, JP_ptestm##w, 3),         \
      ROW(pabsd, JP_pabs##w, 0, 1)
static const narrow_row word_rows[] = {
    SAME_ROWS,
    LANE_ROWS(w),
    SAME(one16),
    SAME(one16s),
    ALIKE(load8, load8w),
    ALIKE(load8s, load8sw),
    ALIKE(load16, load_all),
    ALIKE(load16s, load_all),
    ALIKE(store8, store8w),
    ALIKE(store16, store_all),
    ALIKE(pmulld, pmullw),
    ROW(psllvd, JP_psllvw, JP_psllvw, 4),
    ROW(psrlvd, 0, JP_psrlvw, 1 | 4),
    ROW(psravd, JP_psravw, JP_psrlvw, 1 | 4),
};
static const narrow_row byte_rows[] = {
    SAME_ROWS, LANE_ROWS(b), ALIKE(load8, load8b), ALIKE(load8s, load8b), ALIKE(store8, store8b),
};
/* Truth alone, as bytes of 0 and 1 in vectors; looks: what comes behind it, with 1. */
static const narrow_row truth_rows[] = {
    ROW(onek, JP_one8, JP_one8, JP_pminub),
    ROW(loadk, JP_load8b, JP_load8b, JP_pminub),
    ALIKE(storek, store8b),
    ALIKE(kandq, pandd),
    ALIKE(kandnq, pandnd),
    ALIKE(korq, pord),
    ALIKE(kxorq, pxord),
    ROW(kxnorq, JP_pxord, JP_pxord, JP_pxord),
    ROW(knotq, 0, 0, JP_pxord),
};

typedef struct narrowing {
  const J *b;
  J *to;
  V *now;          /* by value of b */
  const range *of; /* the same */
  const u8 *seen;  /* and how much of it is looked at */
  const narrow_row *rows;
  u32 num_rows, bits;
} narrowing;

static V const_of(narrowing *w, u32 bits) {
  return jit_const32(w->to,
                     w->bits == 8 ? (bits & 0xff) * 0x01010101u : (bits & 0xffff) * 0x10001u);
}
static bool has_lane(const narrowing *w, V x, bool with_sign) {
  i64 half = 1ll << (w->bits - 1);
  return with_sign ? fits(w->of[x], -half, half - 1) : fits(w->of[x], 0, 2 * half - 1);
}

/* By a constant; there is none of bytes, but of words, whose bits that come from others are taken
 * off. */
static V shift_left(narrowing *w, u32 by, V x) {
  if (by >= w->bits) return const_of(w, 0);
  if (by == 0) return x;
  V r = jit_add1(w->to, JP_psllw, by, x);
  return w->bits == 8 ? jit_add2(w->to, JP_pandd, r, const_of(w, 0xffu << by)) : r;
}
static V shift_right(narrowing *w, bool with_sign, u32 by, V x) {
  if (by >= w->bits && !with_sign) return const_of(w, 0);
  if (by >= w->bits) by = w->bits - 1;
  if (by == 0) return x;
  V r = jit_add1(w->to, with_sign && w->bits > 8 ? JP_psraw : JP_psrlw, by, x);
  if (w->bits > 8) return r;
  r = jit_add2(w->to, JP_pandd, r, const_of(w, 0xffu >> by));
  V sign = const_of(w, 0x80u >> by);
  return with_sign ? jit_add2(w->to, JP_psubb, jit_add2(w->to, JP_pxord, r, sign), sign) : r;
}
/* What comes from the upper bits of a lane of 32 is what was moved there, or is of a product, or
 * nobody looks at it. */
static bool narrow_shift(narrowing *w, const jit_node *n, V *out) {
  const jit_node *from = node(w->b, n->arg[0]);
  bool with_sign = n->prim == JP_psrad;
  u32 above = ALL - w->bits;
  V x = w->now[n->arg[0]];
  if (n->prim == JP_pslld) {
    *out = shift_left(w, n->imm, x);
  } else if (from->prim == JP_pslld && from->imm >= above && n->imm >= above) {
    V lane = shift_left(w, from->imm - above, w->now[from->arg[0]]);
    *out = shift_right(w, with_sign, n->imm - above, lane);
  } else if (from->prim == JP_pmulld && w->bits == 16 && n->imm >= 16 &&
             has_lane(w, from->arg[0], with_sign) && has_lane(w, from->arg[1], with_sign)) {
    jit_prim high = with_sign ? JP_pmulhw : JP_pmulhuw;
    x = jit_add2(w->to, high, w->now[from->arg[0]], w->now[from->arg[1]]);
    *out = shift_right(w, with_sign, n->imm - 16, x);
  } else {
    bool bare = has_lane(w, n->arg[0], false) || w->seen[n - w->b->nodes.data] + n->imm <= w->bits;
    if (!bare && !(with_sign && has_lane(w, n->arg[0], true))) return false;
    *out = shift_right(w, !bare, n->imm, x);
  }
  return true;
}

static const narrow_row *row_of(const narrowing *w, u32 prim) {
  for (u32 i = 0; i < w->num_rows; i++)
    if (w->rows[i].prim == prim) return &w->rows[i];
  return NULL;
}
static bool narrow_truth(narrowing *w, const jit_node *n, V *out) {
  const narrow_row *r = row_of(w, n->prim);
  jit_node to = with_operands(n, w->now);
  if (!r) return false;
  to.prim = r->bare;
  *out = r->bare ? jit_add_node(w->to, to) : to.arg[0];
  if (r->looks) *out = jit_add2(w->to, (jit_prim)r->looks, *out, const_of(w, 1));
  return true;
}
static bool narrow_value(narrowing *w, const jit_node *n, V *out) {
  const narrow_row *r = row_of(w, n->prim);
  u32 fit = 3, with; /* 1: with a sign, 2: without */
  if (n->prim == JP_const32) return *out = const_of(w, n->imm), true;
  if (n->prim == JP_pslld || n->prim == JP_psrld || n->prim == JP_psrad)
    return narrow_shift(w, n, out);
  if (!r) return false;
  if (n->prim == JP_pandd && jit_is_const(w->b, n->arg[1], &with) &&
      const_of(w, ~with) == const_of(w, 0))
    return *out = w->now[n->arg[0]], true;
  for (u32 k = 0; k < 2; k++)
    if (r->looks >> k & 1)
      fit &= has_lane(w, n->arg[k], true) | (u32)has_lane(w, n->arg[k], false) << 1;
  if (r->looks & 4 && !has_lane(w, n->arg[1], false)) return false;
  jit_node to = with_operands(n, w->now);
  to.prim = fit & 1 && r->with_sign ? r->with_sign : fit & 2 ? r->bare : 0;
  if (to.prim) *out = jit_add_node(w->to, to);
  return to.prim;
}

bool jit_narrow_lanes(const jit_build *b, jit_build *out) {
  static const struct {
    bool (*narrow)(narrowing *w, const jit_node *n, V *out);
    const narrow_row *rows;
    u32 num_rows, bits;
  } kinds[] = {{narrow_truth, truth_rows, COUNT(truth_rows), 8},
               {narrow_value, byte_rows, COUNT(byte_rows), 8},
               {narrow_value, word_rows, COUNT(word_rows), 16}};
  u32 len = (u32)b->nodes.len;
  bool fine = false;
  if (jit_is_for(b, JIT_NEON) || b->scalar || b->spread) return false;
  range *known = ARENA_ARRAY(b->a, range, len + 1);
  V *now = ARENA_ARRAY(b->a, V, len + 1);
  u8 *seen = find_seen(b);
  for (u32 v = 0; v < len; v++) known[v] = find_range(b, node(b, v), known);
  for (u32 i = 0; i < COUNT(kinds) && !fine; i++) {
    J to = empty_like(b);
    narrowing w = {b, &to, now, known, seen, kinds[i].rows, kinds[i].num_rows, kinds[i].bits};
    fine = true;
    for (u32 v = 0; v < len && fine; v++)
      if (seen[v]) fine = kinds[i].narrow(&w, node(b, v), &now[v]);
    for (u32 v = 0; v < to.nodes.len && fine; v++) fine = jit_is_lowered(b, node(&to, v)->prim);
    to.narrow = kinds[i].bits == 8 ? 2 : 1;
    if (fine) *out = to;
  }
  return fine;
}
