/* Batches of gathers and scatters, and those whose windows are of one element. */
#include "exec/gather.h"

#include "num/convert.h"

void gather_find_batch(const gathering *r, u64 b, i64 *index, i64 *other, i64 *operand) {
  *index = *other = *operand = 0;
  for (u32 d = r->batch_rank; d-- > 0;) {
    i64 i = (i64)(b % (u64)r->batch_dims[d]);
    b /= (u64)r->batch_dims[d];
    *index += i * r->batch_index[d];
    *other += i * r->batch_other[d];
    *operand += i * r->batch_operand[d];
  }
}

u64 gather_along_last(const gathering *r, u64 b, u64 end) {
  u64 size = r->batch_rank ? (u64)r->batch_dims[r->batch_rank - 1] : 1;
  return end - b < size - b % size ? end - b : size - b % size;
}

batch_line gather_line_from(const gathering *r, u64 b) {
  batch_line l = {0};
  gather_find_batch(r, b, &l.index, &l.other, &l.operand);
  if (!r->batch_rank) return l;
  u32 last = r->batch_rank - 1;
  l.index_step = r->batch_index[last];
  l.other_step = r->batch_other[last];
  l.operand_step = r->batch_operand[last];
  return l;
}

const i32 *gather_find_places(const gathering *r, const exec_env *env, const batch_line *l, u64 i,
                              u64 n, i32 *to) {
  const void *indices = env->slots[r->g->indices];
  bool alone = r->index_size == 1 && l->operand_step == 0 && r->index_type == DTYPE_s32;
  const i32 *places = to;
  i64 first = (i64)i * l->operand_step;
  if (!alone) r->k->iota[R_s32](n, to, &first, &l->operand_step, NULL);
  for (u32 c = 0; c < r->index_size; c++) {
    place_rule rule = {r->most[c], r->rule.wrap, r->operand_stride[c], l->index_step,
                       !r->g->scatter && !r->rule.fill};
    i64 at = l->index + (i64)i * l->index_step + c * r->component_stride;
    if (r->index_type == DTYPE_s32) {
      places = r->k->move->places(n, to, (const i32 *)indices + at, &rule, alone);
      continue;
    }
    for (u64 k = 0; k < n; k++, at += l->index_step)
      to[k] = place_next(&rule, to[k], step_read_index(r->index_type, indices, (u64)at));
  }
  return places;
}

/* Windows of a line are named by one index each, side by side, in elements of one operand. */
static bool is_straight(const gathering *r, const batch_line *l) {
  return r->index_size == 1 && l->index_step == 1 && l->operand_step == 0 &&
         r->operand_stride[0] == 1;
}

static void take_line(const gathering *r, const batch_line *l, const exec_env *env, u64 n) {
  const take_rule found = {.most = INT32_MAX, .fill = r->rule.fill};
  i64 width = r->width[0];
  i32 place[GATHER_BLOCK];
  u32 log = vm_log2_width((u32)width);
  char *to = (char *)env->slots[r->g->other[0]] + l->other * width, taken[GATHER_BLOCK * 8];
  const char *from = (const char *)env->slots[r->g->operand[0]] + l->operand * width;
  kern_take_fn *take = r->k->move->take[TAKE_S32][log];
  if (r->take && l->other_step == 1 && is_straight(r, l)) {
    const char *at = (const char *)env->slots[r->g->indices];
    r->take(n, to, from, at + l->index * (i64)dtype_size(r->index_type), &r->rule);
    return;
  }
  for (u64 i = 0, count; i < n; i += count, to += (i64)count * l->other_step * width) {
    count = n - i < GATHER_BLOCK ? n - i : GATHER_BLOCK;
    const i32 *at = gather_find_places(r, env, l, i, count, place);
    take(count, l->other_step == 1 ? to : taken, from, at, &found);
    if (l->other_step != 1) r->k->scatter[log](count, to, taken, &l->other_step, NULL);
  }
}

static void combine_line(const gathering *r, const batch_line *l, const exec_env *env, u64 n) {
  i64 width = r->width[0], by = l->other_step * width;
  i32 place[GATHER_BLOCK];
  single_run z = {.to = (char *)env->slots[r->g->operand[0]] + l->operand * width,
                  .from = (const char *)env->slots[r->g->other[0]] + l->other * width,
                  .step = l->other_step,
                  .most = INT32_MAX,
                  .far = r->far};
  if (r->index_type == DTYPE_s32 && is_straight(r, l)) { /* indices are the places */
    z.n = n, z.places = (const i32 *)env->slots[r->g->indices] + l->index;
    z.most = (u32)r->most[0], z.wrap = (u32)r->rule.wrap;
    r->combine(&z);
    return;
  }
  for (u64 i = 0; i < n; i += z.n, z.from = (const char *)z.from + (i64)z.n * by) {
    z.n = n - i < GATHER_BLOCK ? n - i : GATHER_BLOCK;
    z.places = gather_find_places(r, env, l, i, z.n, place);
    r->combine(&z);
  }
}

/* Lines behind one another that take by the same indices, as those of a window that covers other
 * dims do: n elements each, from where those of the first one are; steps in bytes. */
typedef struct same_lines {
  u64 lines, n;
  char *to;
  const char *from;
  i64 to_step, from_step;
  const i32 *places;
} same_lines;

#define TAKE_LINES(T)                                                                              \
  static void take_lines_##T(same_lines s) {                                                       \
    for (u64 l = 0; l < s.lines; l++, s.to += s.to_step, s.from += s.from_step) {                  \
      T *restrict to = (T *)s.to;                                                                  \
      for (u64 i = 0; i < s.n; i++) to[i] = ((const T *)s.from)[s.places[i]];                      \
    }                                                                                              \
  }
TAKE_LINES(u8)
TAKE_LINES(u16)
TAKE_LINES(u32)
TAKE_LINES(u64)

/* How many of batches b .. end - 1 were taken in such lines; 0: b is of none. */
static u64 take_same_lines(const gathering *r, const exec_env *env, u64 b, u64 end) {
  static void (*const by_width[])(same_lines) = {take_lines_u8, take_lines_u16, take_lines_u32,
                                                 take_lines_u64};
  if (r->batch_rank < 2 || r->g->scatter || r->rule.fill) return 0;
  u32 last = r->batch_rank - 1;
  u64 n = (u64)r->batch_dims[last], of = (u64)r->batch_dims[last - 1];
  if (r->batch_index[last - 1] || r->batch_other[last] != 1 || n > GATHER_BLOCK || b % n ||
      end - b < n)
    return 0;
  i64 width = r->width[0];
  i32 place[GATHER_BLOCK];
  batch_line l = gather_line_from(r, b);
  same_lines s = {.lines = of - b / n % of,
                  .n = n,
                  .to = (char *)env->slots[r->g->other[0]] + l.other * width,
                  .from = (const char *)env->slots[r->g->operand[0]] + l.operand * width,
                  .to_step = r->batch_other[last - 1] * width,
                  .from_step = r->batch_operand[last - 1] * width,
                  .places = gather_find_places(r, env, &l, 0, n, place)};
  if (s.lines > (end - b) / n) s.lines = (end - b) / n;
  by_width[vm_log2_width((u32)width)](s);
  return s.lines * n;
}

bool gather_is_put(const prog_body *body) {
  const vm_code *c = &body->code;
  const vm_instr *end = c->len ? &c->instrs[c->len - 1] : NULL;
  return body->kind == REDUCE_CODE && end && end->op == VM_store &&
         c->instrs[end->a].op == VM_load && c->instrs[end->a].a == 1;
}

bool gather_has_places(const prog_gather *g) {
  i64 all = 1;
  for (size_t d = 0; d < g->operand_dims.len; d++)
    if (!checked_mul(all, g->operand_dims.data[d], &all)) return false;
  return all < INT32_MAX;
}

bool gather_find_single(gathering *r, dtype t) {
  const prog_gather *g = r->g;
  u32 log = vm_log2_width(r->width[0]);
  if (g->n != 1 || r->width[0] > 8 || !gather_has_places(g)) return false;
  if (!g->scatter) {
    if (r->index_type == DTYPE_s32) r->take = r->k->move->take[TAKE_S32][log];
    if (r->index_type == DTYPE_u32) r->take = r->k->move->take[TAKE_U32][log];
    if (r->index_type == DTYPE_s64) r->take = r->k->move->take[TAKE_S64][log];
    return true;
  }
  if (gather_is_put(&g->body))
    r->combine = single_find(REDUCE_CODE, R_u8, log);
  else if (t == DTYPE_bf16)
    r->combine = single_find_bf16(g->body.kind);
  else if (g->body.kind != REDUCE_CODE && !r->k->load[t] && !r->k->clean[t])
    r->combine = single_find(g->body.kind, vm_rtype_of(t), log);
  return r->combine;
}

void gather_run_singles(const void *data, const exec_env *env, u64 begin, u64 end) {
  const gathering *r = data;
  if (r->g->scatter) end = r->batches; /* one unit */
  for (u64 n; begin < end; begin += n) {
    n = take_same_lines(r, env, begin, end);
    if (n) continue;
    batch_line l = gather_line_from(r, begin);
    n = gather_along_last(r, begin, end);
    (r->g->scatter ? combine_line : take_line)(r, &l, env, n);
  }
}
