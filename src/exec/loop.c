/* Elementwise loops: their plans, blocks and kernels (loop.h), and running them. */
#include "exec/loop.h"

#include "exec/fold_order.h"
#include "exec/jit.h"
#include "exec/placed.h"

/* ---- planning ---- */

/* For every walk a step along d is all of a walk along d + 1. */
static bool merges(const plan *p, u32 d) {
  for (u32 w = 0; w < p->num_walks; w++)
    if (p->walks[w].stride[d] != p->walks[w].stride[d + 1] * p->dims[d + 1]) return false;
  return true;
}

static void remove_dim(plan *p, u32 d) {
  p->rank--;
  for (u32 k = d; k < p->rank; k++) p->dims[k] = p->dims[k + 1];
  for (u32 w = 0; w < p->num_walks; w++)
    for (u32 k = d; k < p->rank; k++) p->walks[w].stride[k] = p->walks[w].stride[k + 1];
}

/* At least one dim is left, so that nobody has to treat scalars apart. */
void loop_collapse(plan *p) {
  for (u32 d = 0; d < p->rank;)
    if (p->dims[d] == 1)
      remove_dim(p, d);
    else
      d++;
  for (u32 d = 0; d + 1 < p->rank;) {
    if (!merges(p, d)) {
      d++;
      continue;
    }
    p->dims[d + 1] *= p->dims[d];
    remove_dim(p, d);
  }
  if (p->rank == 0) {
    p->rank = 1;
    p->dims[0] = 1;
    for (u32 w = 0; w < p->num_walks; w++) p->walks[w].stride[0] = 0;
  }
}

void loop_swap_dims(plan *p, u32 a, u32 b) {
  i64 t = p->dims[a];
  p->dims[a] = p->dims[b], p->dims[b] = t;
  for (u32 w = 0; w < p->num_walks; w++) {
    i64 *s = p->walks[w].stride;
    t = s[a], s[a] = s[b], s[b] = t;
  }
}

/* Largest stride of walk `by` first; stable. */
void loop_sort_dims(plan *p, u32 by) {
  for (u32 i = 1; i < p->rank; i++)
    for (u32 k = i; k > 0; k--) {
      const i64 *s = p->walks[by].stride;
      if (loop_magnitude(s[k - 1]) >= loop_magnitude(s[k])) break;
      loop_swap_dims(p, k - 1, k);
    }
}

/* The block's dims as this one walk sees them, merged further than the plan's: what is
 * contiguous for one walk need not be so for another. */
static pattern make_pattern(const plan *p, const walk *w, bool may_spread) {
  pattern r = {.rank = 1, .head = 1, .stride = {w->stride[p->cut]}, .dims = {0}};
  for (u32 d = p->cut + 1; d < p->rank; d++) {
    u32 last = r.rank - 1;
    if (r.stride[last] == w->stride[d] * p->dims[d]) {
      if (last == 0)
        r.head *= p->dims[d];
      else
        r.dims[last] *= p->dims[d];
      r.stride[last] = w->stride[d];
    } else {
      r.dims[r.rank] = p->dims[d];
      r.stride[r.rank++] = w->stride[d];
    }
  }
  bool zero = true;
  for (u32 d = p->cut; d < p->rank; d++) zero &= w->stride[d] == 0;
  r.mode = zero ? MODE_SCALAR : r.rank == 1 && r.stride[0] == 1 ? MODE_CONTIGUOUS : MODE_STRIDED;
  bool spread = may_spread && r.rank == 2 && r.stride[0] == 1 && r.stride[1] == 0;
  if (spread && (r.dims[1] & (r.dims[1] - 1)) == 0) r.mode = MODE_SPREAD;
  return r;
}

/* What has to be brought together, or apart, for each block. */
static u32 count_moved(const plan *p) {
  u32 n = 0;
  for (u32 w = 0; w < p->num_walks; w++)
    n += p->patterns[w].mode == MODE_STRIDED && !loop_stays(p, w);
  return n;
}

void loop_set_piece(plan *p, u64 target) {
  u64 n = (u64)p->dims[p->cut], piece = target / p->inner;
  p->piece = piece < 1 ? 1 : piece > n ? n : piece;
  if (p->piece == 0) p->piece = 1;
  p->pieces = (n + p->piece - 1) / p->piece;
  p->blocks = p->pieces;
  for (u32 d = 0; d < p->cut; d++) p->blocks *= (u64)p->dims[d];
  p->max_elements = p->piece * p->inner;
  for (u32 d = 0; d < p->rank; d++)
    if (p->dims[d] == 0) p->blocks = 0;
}

/* With the pieces, which say what stays. */
static void make_patterns(plan *p, u64 target) {
  for (u32 w = 0; w < p->num_walks; w++)
    p->patterns[w] = make_pattern(p, &p->walks[w], w < p->may_spread);
  loop_set_piece(p, target);
}

/* A block of several rows saves calls; one of a single row keeps a broadcast row a plain row and a
 * column's element a scalar, which is worth more once rows are long enough. */
void loop_cut(arena *a, plan *p, u64 target) {
  enum { LONG_ROW = 128 };
  p->patterns = ARENA_ARRAY(a, pattern, p->num_walks + 1);
  p->inner = 1;
  p->cut = p->rank - 1;
  while (p->cut > 0 && p->dims[p->cut] > 0 &&
         (p->across ? p->cut >= p->across : p->inner * (u64)p->dims[p->cut] <= target / 2))
    p->inner *= (u64)p->dims[p->cut--];
  make_patterns(p, target);
  bool may_shrink = !p->several && !p->across;
  while (may_shrink && p->cut + 1 < p->rank && p->inner >= LONG_ROW) {
    u32 strided = count_moved(p);
    p->inner /= (u64)p->dims[++p->cut];
    make_patterns(p, target);
    if (count_moved(p) < strided && p->inner * (u64)p->dims[p->cut] >= LONG_ROW) continue;
    p->inner *= (u64)p->dims[p->cut--];
    make_patterns(p, target);
    break;
  }
}

/* A single row a block, where one call for each row costs less than to bring so many rows together
 * and apart again. */
static void cut_rows(plan *p, u64 target, u64 width) {
  enum { SHORTEST = 16, MOVED = 256 }; /* bytes */
  u32 last = p->rank - 1, cut = p->cut, strided = count_moved(p);
  u64 row = (u64)p->dims[last], inner = p->inner;
  if (p->across || cut == last || row < SHORTEST || strided < 2) return;
  if (strided * row * width < MOVED) return;
  if (width == 16 && row % 16) return; /* what is left of vectors takes them too long */
  p->cut = last, p->inner = 1;
  make_patterns(p, target);
  if (count_moved(p)) p->cut = cut, p->inner = inner, make_patterns(p, target);
}

/* ---- blocks ---- */

/* Blocks are numbered with the pieces of the cut dim fastest; the last piece may be shorter. */
void loop_find_block(const plan *p, u64 b, block *out) {
  u64 piece = b % p->pieces, rest = b / p->pieces;
  out->index[p->cut] = (i64)(piece * p->piece);
  i64 left = p->dims[p->cut] - out->index[p->cut];
  out->count = left < (i64)p->piece ? left : (i64)p->piece;
  out->elements = (size_t)out->count * p->inner;
  for (u32 d = p->cut; d > 0; d--) {
    out->index[d - 1] = (i64)(rest % (u64)p->dims[d - 1]);
    rest /= (u64)p->dims[d - 1];
  }
}
/* ---- a kernel over a plan: inputs fetched, code run ---- */

static bool iota_stays(const kernel *kn, u32 i) {
  const vm_iota_use *use = &kn->unit->iotas[i];
  return use->ramp || loop_stays(&kn->p, kn->num_in + kn->num_out + use->dim);
}
static void fetch_iota(const kernel *kn, void **reg, const block *b, u32 i, const i64 *extra) {
  const vm_iota_use *use = &kn->unit->iotas[i];
  u32 w = kn->num_in + kn->num_out + use->dim;
  i64 at = use->ramp ? 0 : loop_block_offset(&kn->p, b, w) + (extra ? extra[w] : 0), zero = 0;
  if (use->scalar)
    kn->k->iota[use->type](1, reg[use->reg], &at, &zero, NULL);
  else
    loop_iota(kn->k, &kn->p.patterns[w], iota_stays(kn, i) ? (i64)kn->p.piece : b->count, use->type,
              at, reg[use->reg]);
}

void loop_fetch(const kernel *kn, const exec_env *env, void **reg, char *packed, const block *b,
                const i64 *extra, bool again) {
  const plan *p = &kn->p;
  for (u32 i = 0; i < kn->num_in; i++) {
    const input *in = &kn->in[i];
    if (again && in->still) continue;
    i64 at = in->offset + loop_block_offset(p, b, i) + (extra ? extra[i] : 0);
    char *from = (char *)env->slots[in->slot] + at * (i64)in->width;
    const pattern *pt = &p->patterns[i];
    reg[i] = from;
    if (pt->mode != MODE_STRIDED) continue;
    reg[i] = packed + in->packed;
    if (in->paired) continue;
    if (in->family) {
      loop_gather_family(kn->k, pt, b->count, in->width, in->family, from, reg[i],
                         (i64)(in[1].packed - in->packed));
      continue;
    }
    if (in->pair) {
      loop_gather_pairs(kn->k, pt, b->count, in->width, from, reg[i],
                        packed + kn->in[in->pair - 1].packed);
      continue;
    }
    loop_gather(kn->k, pt, in->still ? (i64)p->piece : b->count, in->width, from, reg[i]);
  }
  for (u32 i = 0; i < kn->unit->num_iotas; i++)
    if (!again || !iota_stays(kn, i)) fetch_iota(kn, reg, b, i, extra);
}

/* Outputs of a family are computed in scratch, or brought there. */
static void store_family(const kernel *kn, void **reg, const block *b, u32 first, char *to) {
  const input *out = &kn->out[first];
  for (u32 o = first; o < first + out->family; o++) {
    const vm_output *v = &kn->unit->outputs[o];
    if (v->in_place) continue;
    if (v->scalar)
      kn->k->splat[vm_log2_width(out->width)](b->elements, reg[kn->num_in + o], reg[v->reg], NULL,
                                              NULL);
    else
      memcpy(reg[kn->num_in + o], reg[v->reg], b->elements * out->width);
  }
  loop_scatter_family(kn->k, &kn->p.patterns[kn->num_in + first], b->count, out->width, out->family,
                      to, reg[kn->num_in + first], (i64)(out[1].packed - out->packed));
}

static void store_block(const kernel *kn, const exec_env *env, void **reg, const block *b) {
  for (u32 o = 0; o < kn->num_out; o++) {
    const vm_output *v = &kn->unit->outputs[o];
    const input *out = &kn->out[o];
    const pattern *pt = &kn->p.patterns[kn->num_in + o];
    if ((v->in_place && !out->family) || out->paired) continue;
    i64 at = out->offset + loop_block_offset(&kn->p, b, kn->num_in + o);
    char *to = (char *)env->slots[out->slot] + at * (i64)out->width;
    const char *from = reg[v->reg];
    if (out->family) {
      store_family(kn, reg, b, o, to);
    } else if (out->pair) {
      loop_scatter_pairs(kn->k, pt, b->count, out->width, to, from,
                         reg[kn->unit->outputs[out->pair - 1].reg]);
    } else if (v->scalar && pt->mode == MODE_CONTIGUOUS) {
      loop_fill(kn->k, b->elements, out->width, to, from);
    } else if (v->scalar) {
      loop_splat(kn->k, pt, b->count, out->width, to, from);
    } else if (pt->mode == MODE_CONTIGUOUS) {
      if (to != from) memmove(to, from, b->elements * out->width);
    } else {
      loop_scatter(kn->k, pt, b->count, out->width, to, from, kn->streams);
    }
  }
}

static void run_map(const void *data, const exec_env *env, u64 begin, u64 end) {
  const kernel *kn = data;
  void **reg = vm_begin(kn->unit, env->scratch, kn->p.max_elements);
  char *packed = env->scratch + kn->regs_bytes;
  for (u64 i = begin; i < end; i++) {
    block b;
    loop_find_block(&kn->p, i, &b);
    loop_fetch(kn, env, reg, packed, &b, NULL, i > begin);
    for (u32 o = 0; o < kn->num_out; o++)
      if (kn->out[o].packed)
        reg[kn->num_in + o] = packed + kn->out[o].packed;
      else if (kn->unit->outputs[o].in_place)
        reg[kn->num_in + o] = (char *)env->slots[kn->out[o].slot] +
                              (kn->out[o].offset + loop_block_offset(&kn->p, &b, kn->num_in + o)) *
                                  (i64)kn->out[o].width;
    vm_run(kn->unit, reg, b.elements);
    store_block(kn, env, reg, &b);
  }
}

/* ---- where all is read and written in place ---- */

static bool is_in_place(const kernel *kn) {
  for (u32 i = 0; i < kn->num_in; i++)
    if (kn->p.patterns[i].mode == MODE_STRIDED) return false;
  for (u32 o = 0; o < kn->num_out; o++)
    if (!kn->unit->outputs[o].in_place || kn->p.patterns[kn->num_in + o].mode == MODE_STRIDED)
      return false;
  return true;
}

/* How far walks go from one block to the next, which is one on in dim d: bytes of inputs and
 * outputs, elements of iotas. */
static void find_steps(const lower_env *e, kernel *kn) {
  const plan *p = &kn->p;
  kn->steps = ARENA_ARRAY(e->a, i64, (size_t)(p->cut + 1) * p->num_walks + 1);
  for (u32 w = 0; w < p->num_walks; w++) {
    const i64 *stride = p->walks[w].stride;
    i64 width = w < kn->num_in                 ? kn->in[w].width
                : w < kn->num_in + kn->num_out ? kn->out[w - kn->num_in].width
                                               : 1;
    i64 back = (i64)((p->pieces - 1) * p->piece) * stride[p->cut];
    kn->steps[p->cut * p->num_walks + w] = (i64)p->piece * stride[p->cut] * width;
    for (u32 d = p->cut; d-- > 0;) {
      kn->steps[d * p->num_walks + w] = (stride[d] - back) * width;
      back += (p->dims[d] - 1) * stride[d];
    }
  }
}

/* The next block; which dim it is one on in. */
static u32 next_block(const plan *p, block *b) {
  u32 d = p->cut;
  b->index[d] += (i64)p->piece;
  while (d > 0 && b->index[d] >= p->dims[d]) b->index[d] = 0, b->index[--d]++;
  i64 left = p->dims[p->cut] - b->index[p->cut];
  b->count = left < (i64)p->piece ? left : (i64)p->piece;
  b->elements = (size_t)b->count * p->inner;
  return d;
}

/* This block and those behind it that are the next rows of the dim in front; to the last one. */
static u64 run_rows(const kernel *kn, void **reg, block *b, u64 most) {
  const plan *p = &kn->p;
  u32 d = p->cut - 1;
  if (p->cut == 0 || p->pieces > 1 || kn->num_iota) {
    vm_run(kn->unit, reg, b->elements);
    return 1;
  }
  const i64 *step = kn->steps + d * p->num_walks;
  u64 rows = (u64)(p->dims[d] - b->index[d]);
  if (rows > most) rows = most;
  if (kn->unit->rows) {
    kn->unit->rows(b->elements, reg, rows, step);
    for (u32 w = 0; w < kn->num_in + kn->num_out; w++)
      reg[w] = (char *)reg[w] + step[w] * (i64)(rows - 1);
    b->index[d] += (i64)rows - 1;
    return rows;
  }
  vm_run(kn->unit, reg, b->elements);
  for (u64 i = 1; i < rows; i++) {
    for (u32 w = 0; w < kn->num_in + kn->num_out; w++) reg[w] = (char *)reg[w] + step[w];
    vm_run(kn->unit, reg, b->elements);
  }
  b->index[d] += (i64)rows - 1;
  return rows;
}

/* Blocks of which registers are pointers that move along, and indices that do not change stay. */
static void run_in_place(const void *data, const exec_env *env, u64 begin, u64 end) {
  const kernel *kn = data;
  const plan *p = &kn->p;
  u32 pointers = kn->num_in + kn->num_out;
  void **reg = vm_begin(kn->unit, env->scratch, p->max_elements);
  block b;
  if (env->columns) {
    loop_run_narrow(kn, env);
    return;
  }
  if (kn->table_at && (end - begin) * p->piece >= LOOP_TABLE) {
    loop_run_table(kn, env, begin, end);
    return;
  }
  loop_find_block(p, begin, &b);
  loop_fetch(kn, env, reg, NULL, &b, NULL, false);
  for (u32 o = 0; o < kn->num_out; o++)
    reg[kn->num_in + o] =
        (char *)env->slots[kn->out[o].slot] +
        (kn->out[o].offset + loop_block_offset(p, &b, kn->num_in + o)) * (i64)kn->out[o].width;
  for (u64 i = begin;;) {
    i += run_rows(kn, reg, &b, end - i);
    if (i >= end) return;
    size_t before = b.elements;
    const i64 *step = &kn->steps[next_block(p, &b) * p->num_walks];
    for (u32 w = 0; w < pointers; w++) reg[w] = (char *)reg[w] + step[w];
    for (u32 k = 0; k < kn->unit->num_iotas; k++) {
      const vm_iota_use *use = &kn->unit->iotas[k];
      if (!use->ramp && (step[pointers + use->dim] || b.elements > before))
        fetch_iota(kn, reg, &b, k, NULL);
    }
  }
}

/* All in one block, as in the loops of a program over scalars and short vectors: inputs and outputs
 * begin where they always do. */
static void run_once(const void *data, const exec_env *env, u64 begin, u64 end) {
  const kernel *kn = data;
  size_t n = kn->p.max_elements;
  void **reg = vm_begin(kn->unit, env->scratch, n);
  (void)begin, (void)end;
  for (u32 i = 0; i < kn->num_in; i++)
    reg[i] = (char *)env->slots[kn->in[i].slot] + kn->in[i].offset * (i64)kn->in[i].width;
  for (u32 o = 0; o < kn->num_out; o++)
    reg[kn->num_in + o] =
        (char *)env->slots[kn->out[o].slot] + kn->out[o].offset * (i64)kn->out[o].width;
  vm_run(kn->unit, reg, n);
  for (u32 o = 0; o < kn->num_out; o++) {
    const vm_output *v = &kn->unit->outputs[o];
    const input *out = &kn->out[o];
    char *to = (char *)env->slots[out->slot] + out->offset * (i64)out->width;
    const char *from = reg[v->reg];
    if (v->in_place) continue;
    if (n == 1 && out->width == 4)
      memcpy(to, from, 4);
    else if (v->scalar && n > 1)
      kn->k->splat[vm_log2_width(out->width)](n, to, from, NULL, NULL);
    else if (to != from)
      memmove(to, from, n * out->width);
  }
}

static bool is_once(const kernel *kn) {
  const plan *p = &kn->p;
  if (p->blocks != 1 || kn->num_iota) return false;
  for (u32 i = 0; i < kn->num_in; i++)
    if (p->patterns[i].mode == MODE_STRIDED) return false;
  for (u32 o = 0; o < kn->num_out && p->max_elements > 1; o++)
    if (p->patterns[kn->num_in + o].mode != MODE_CONTIGUOUS) return false;
  return true;
}

/* NULL: there is more to be done than one call. */
static const exec_direct *find_direct(const lower_env *e, const kernel *kn) {
  const vm_unit *u = kn->unit;
  u32 n = kn->num_in + kn->num_out;
  if (!is_once(kn) || !is_in_place(kn)) return NULL;
  if (u->num_calls != 1 || !u->calls[0].run || u->num_slots) return NULL;
  u32 *slot = ARENA_ARRAY(e->a, u32, n + 1);
  i64 *at = ARENA_ARRAY(e->a, i64, n + 1);
  for (u32 i = 0; i < n; i++) {
    const input *in = i < kn->num_in ? &kn->in[i] : &kn->out[i - kn->num_in];
    slot[i] = in->slot;
    at[i] = in->offset * (i64)in->width;
    if (at[i] > INT32_MAX) return NULL;
  }
  exec_direct d = {u->calls[0].run, kn->p.max_elements, n, slot, at};
  return arena_copy(e->a, &d, sizeof d);
}

/* ---- lowering ---- */

input loop_input(const lower_env *e, const prog_access *a) {
  return (input){
      .slot = a->slot, .width = (u32)dtype_size(e->prog->slots[a->slot].type), .offset = a->offset};
}

/* The walks over dims [first, first + rank) of the loop, in order inputs, outputs, iotas. */
void loop_make_walks(const lower_env *e, kernel *kn, const prog_loop *l, u32 first, u32 rank) {
  plan *p = &kn->p;
  u32 num_iota = vm_count_iotas(&l->code);
  p->rank = rank;
  memcpy(p->dims, l->dims + first, rank * sizeof(i64));
  p->num_walks = l->num_in + kn->num_out + num_iota;
  p->walks = arena_zalloc(e->a, (p->num_walks + 1) * sizeof(walk));
  for (u32 i = 0; i < l->num_in; i++)
    memcpy(p->walks[i].stride, l->in[i].stride + first, rank * sizeof(i64));
  for (u32 i = 0; i < kn->num_out; i++)
    memcpy(p->walks[l->num_in + i].stride, l->out[i].stride + first, rank * sizeof(i64));
  u32 w = l->num_in + kn->num_out;
  for (u32 i = 0; i < l->code.len; i++) {
    const vm_instr *v = &l->code.instrs[i];
    if (v->op != VM_iota) continue;
    if (v->a >= first && v->a < first + rank) p->walks[w].stride[v->a - first] = 1;
    w++;
  }
  kn->num_iota = num_iota;
}

/* Whether code may sum up every block's values (vm_spec.sums). */
static bool may_sum(const plan *p) {
  u64 last = ((u64)p->dims[p->cut] - (p->pieces - 1) * p->piece) * p->inner;
  return p->blocks > 0 && last >= FOLD_RUNNING && p->max_elements < FOLD_LONG;
}

/* Whether code is wanted that goes on from a block to the next (vm_unit.rows). */
static bool may_take_rows(const kernel *kn, bool registers) {
  const plan *p = &kn->p;
  bool many = registers ? kn->sums == SUMS_BLOCK && p->blocks == 1 : p->cut > 0 && p->pieces == 1;
  return many && !count_moved(p);
}

static vm_sums find_sums(const kernel *kn) {
  if (kn->sums == SUMS_BLOCK) return may_sum(&kn->p) ? SUMS_BLOCK : SUMS_NONE;
  return kn->sums == SUMS_ROWS ? SUMS_ROWS : SUMS_NONE;
}
/* By input, how far the rows of a block of FOLD_ROWS are apart. */
static const u32 *find_pitches(arena *a, const kernel *kn, u32 num_in) {
  u64 n = kn->p.max_elements;
  u32 *pitch = ARENA_ARRAY(a, u32, num_in + 1);
  if (n % FOLD_ROWS) return NULL;
  for (u32 i = 0; i < num_in; i++)
    pitch[i] = kn->p.patterns[i].mode == MODE_SCALAR ? 0 : (u32)(n / FOLD_ROWS);
  return pitch;
}
/* Code that leaves sums of columns, if such is wanted and can be. */
static void lower_columns(const lower_env *e, kernel *kn, vm_spec spec) {
  kn->summing = NULL;
  if (kn->sums != SUMS_COLUMNS || kn->num_iota || e->fault->op) return;
  for (u32 i = 0; kn->pitch && i < spec.num_in; i++)
    if (kn->p.patterns[i].mode == MODE_STRIDED) return;
  spec.sums = SUMS_COLUMNS;
  spec.pitch = kn->pitch ? kn->pitch : find_pitches(e->a, kn, spec.num_in);
  if (!spec.pitch) return;
  kn->summing = vm_lower(e, &spec);
  if (!kn->summing->sums || (kn->pitch && kn->summing->num_calls > 1)) kn->summing = NULL;
}

/* How many elements leave what is brought together for a block in the first-level cache, beside
 * what it reads and writes where that lies. */
static u64 packed_block(const plan *p, u32 walks) {
  enum { CACHE = 24 << 10, ELEMENT = 4, LEAST = 256 };
  u64 packed = 0;
  for (u32 w = 0; w < walks; w++) packed += p->patterns[w].mode == MODE_STRIDED;
  u64 n = CACHE / ELEMENT / (packed + 2) / 64 * 64;
  return n < LEAST ? LEAST : n;
}

/* By input, 2 to which power elements have one of it. False: no input is so. */
static bool find_spread(const plan *p, u8 *out) {
  bool any = false;
  for (u32 i = 0; i < p->may_spread; i++) {
    const pattern *pt = &p->patterns[i];
    out[i] = 0;
    while (pt->mode == MODE_SPREAD && 1ll << out[i] < pt->dims[1]) out[i]++;
    any |= out[i] > 0;
  }
  return any;
}

/* By index: it is the same all over a block, or goes on by 1 from one block to the next. */
static void find_indices(const lower_env *e, const kernel *kn, const prog_loop *l, bool *same,
                         bool *ramp) {
  const plan *p = &kn->p;
  u32 w = l->num_in + kn->num_out;
  for (u32 i = 0; i < l->code.len; i++) {
    const vm_instr *v = &l->code.instrs[i];
    if (v->op != VM_iota) continue;
    bool goes_on = p->patterns[w].mode == MODE_CONTIGUOUS && !loop_stays(p, w) && p->blocks > 1;
    *same++ = p->patterns[w++].mode == MODE_SCALAR;
    *ramp++ = goes_on && e->jit && l->dims[v->a] <= INT32_MAX;
  }
}

/* Lowers the code for the plan's blocks. The patterns must be known to say what is scalar, the
 * code to say how large a block should be: cut, lower, and cut again if that was too large. */
void loop_lower_unit(const lower_env *e, kernel *kn, const prog_loop *l, bool registers,
                     u64 target) {
  plan *p = &kn->p;
  bool *in_scalar = arena_zalloc(e->a, l->num_in + 1), *direct = arena_zalloc(e->a, 65);
  u8 *in_spread = arena_zalloc(e->a, l->num_in + 1);
  u64 *overlaps = arena_zalloc(e->a, 65 * sizeof(u64));
  for (u32 o = 0; o < kn->num_out; o++)
    for (u32 i = 0; i < l->num_in; i++)
      if (prog_slots_overlap(e->prog, l->in[i].slot, l->out[o].slot)) overlaps[o] |= 1ull << i;
  /* iota: a dim's index may be the same all over a block; ask the pattern of its walk. The
   * k-th iota instruction has the k-th iota walk, so name "dims" by that number. */
  vm_code code = l->code;
  code.instrs = arena_copy(e->a, l->code.instrs, l->code.len * sizeof(vm_instr));
  u32 nth = 0;
  for (u32 i = 0; i < code.len; i++)
    if (code.instrs[i].op == VM_iota) code.instrs[i].a = nth++;
  for (u32 i = 0; i < code.len; i++) kn->num_heavy += vm_is_heavy((vm_op)code.instrs[i].op);
  bool *iota_scalar = arena_zalloc(e->a, nth + 1), *iota_ramp = arena_zalloc(e->a, nth + 1);
  p->may_spread = !kn->sums && e->jit && jit_can_spread(e->jit) ? l->num_in : 0;
  for (int round = 0; round < 2; round++) {
    loop_cut(e->a, p, target);
    if (!registers && e->jit) cut_rows(p, target, dtype_size(e->prog->slots[l->out[0].slot].type));
    for (u32 i = 0; i < l->num_in; i++) in_scalar[i] = p->patterns[i].mode == MODE_SCALAR;
    bool spread = find_spread(p, in_spread);
    loop_find_places(e, p, l, !registers, direct);
    find_indices(e, kn, l, iota_scalar, iota_ramp);
    vm_spec spec = {.code = &code,
                    .num_in = l->num_in,
                    .num_out = l->num_out,
                    .in_scalar = in_scalar,
                    .in_spread = spread ? in_spread : NULL,
                    .dim_scalar = iota_scalar,
                    .dim_ramp = iota_ramp,
                    .out_direct = registers ? NULL : direct,
                    .out_overlaps = overlaps,
                    .registers = false,
                    .keep_registers = registers,
                    .rows = may_take_rows(kn, registers),
                    .elements = p->max_elements,
                    .sums = find_sums(kn),
                    .length = kn->length};
    kn->unit = vm_lower(e, &spec);
    if (!kn->unit) {
      p->may_spread = 0;
      round--;
      continue;
    }
    lower_columns(e, kn, spec);
    u64 best = vm_block_size(kn->unit);
    if (!registers && best > packed_block(p, kn->num_in + kn->num_out))
      best = packed_block(p, kn->num_in + kn->num_out);
    /* Sums of columns are of whole groups of rows, or their order would depend on the code. */
    if (best >= target || kn->unit->num_calls == 0 || kn->sums == SUMS_COLUMNS) break;
    target = best;
  }
}

void loop_lower_inputs(const lower_env *e, kernel *kn, const prog_loop *l) {
  kn->k = e->k;
  kn->num_in = l->num_in;
  kn->in = ARENA_ARRAY(e->a, input, l->num_in + 1);
  kn->regs_bytes = align_up(vm_scratch_bytes(kn->unit, kn->p.max_elements), 64);
  size_t packed = 0;
  for (u32 i = 0; i < l->num_in; i++) {
    kn->in[i] = loop_input(e, &l->in[i]);
    if (kn->p.patterns[i].mode != MODE_STRIDED) continue;
    kn->in[i].packed = packed;
    kn->in[i].still = loop_stays(&kn->p, i);
    pattern *pt = &kn->p.patterns[i];
    pt->every = shuffle_every(e, pt->stride[pt->rank - 1], kn->in[i].width);
    packed += align_up(kn->p.max_elements * kn->in[i].width, 64);
  }
  kn->scratch = kn->regs_bytes + packed + 64;
}

static bool is_compiled(const vm_unit *u) {
  for (u32 i = 0; i < u->num_calls; i++)
    if (u->calls[i].run) return true;
  return false;
}

u64 loop_cost(const kernel *kn, u64 elements) {
  bool compiled = is_compiled(kn->unit);
  u64 heavy = compiled ? 8 : 16;
  u64 work = kn->unit->work + heavy * kn->num_heavy + kn->num_in + kn->num_out;
  return 20 + elements * work / (compiled ? 32 : 8);
}

/* One value all over what lies side by side. */
static bool only_fills(const kernel *kn) {
  const vm_output *v = &kn->unit->outputs[0];
  return kn->p.rank == 1 && kn->num_in == 0 && kn->num_out == 1 && !kn->unit->num_slots &&
         v->scalar && kn->p.patterns[0].mode == MODE_CONTIGUOUS;
}

/* What needs no scratch may be done in long blocks. */
static void lower_map(const lower_env *e, const prog_loop *l, exec_step *out) {
  enum { LONG_BLOCK = 4 * LOOP_BLOCK };
  enum { STRIP = 4096, TILE = 64, LINES = 32 };
  kernel *kn = ARENA_NEW(e->a, kernel);
  kn->num_in = l->num_in;
  kn->num_out = l->num_out;
  loop_make_walks(e, kn, l, 0, l->rank);
  if (l->num_out) loop_sort_dims(&kn->p, loop_walk_in_order(e, l));
  loop_collapse(&kn->p);
  loop_cut_across(&kn->p, l->num_in, STRIP);
  loop_lower_unit(e, kn, l, false, LOOP_BLOCK);
  if (kn->p.across && kn->unit->num_slots) { /* these had better be in a first-level cache */
    i64 lines = kn->p.dims[kn->p.across - 1];
    loop_cut_across(&kn->p, l->num_in, lines < LINES ? TILE * LINES / (u64)lines : TILE);
    kn->num_heavy = 0;
    loop_lower_unit(e, kn, l, false, LOOP_BLOCK);
  }
  if (kn->p.across) loop_set_lines(&kn->p, (u32)dtype_size(e->prog->slots[l->out[0].slot].type));
  bool in_place = is_in_place(kn);
  if (in_place && kn->unit->num_slots == 0) loop_set_piece(&kn->p, LONG_BLOCK);
  if (only_fills(kn)) loop_set_piece(&kn->p, LOOP_FAR_FILL / kn->unit->outputs[0].width);
  loop_lower_inputs(e, kn, l);
  kn->out = ARENA_ARRAY(e->a, input, l->num_out + 1);
  for (u32 o = 0; o < l->num_out; o++) {
    kn->out[o] = loop_input(e, &l->out[o]);
    kn->streams |= prog_slot_bytes(&e->prog->slots[l->out[o].slot]) >= LOOP_STREAMED;
  }
  loop_mark_families(e, kn, l->in, kn->in, kn->num_in, 0);
  loop_mark_families(e, kn, l->out, kn->out, kn->num_out, kn->num_in);
  for (u32 o = 0; o < l->num_out; o++) { /* behind what is gathered */
    if (!kn->out[o].family && !kn->out[o].paired) continue;
    kn->out[o].packed = kn->scratch - kn->regs_bytes;
    kn->scratch += align_up(kn->p.max_elements * kn->out[o].width, 64);
  }
  if (in_place) find_steps(e, kn);
  size_t table = in_place ? loop_table_bytes(kn) : 0;
  if (table) {
    kn->table_at = align_up(kn->scratch, 64);
    kn->scratch = kn->table_at + table;
  }
  loop_find_pairs(kn, kn->in, kn->num_in, 0, false);
  loop_find_pairs(kn, kn->out, kn->num_out, kn->num_in, true);
  *out = (exec_step){.run = is_once(kn) ? run_once
                            : in_place  ? run_in_place
                                        : run_map,
                     .data = kn,
                     .direct = find_direct(e, kn),
                     .units = kn->p.blocks,
                     .cost = loop_cost(kn, kn->p.max_elements),
                     .narrows = in_place ? loop_narrows(kn) : 0,
                     .scratch = kn->scratch};
  if (!out->direct) placed_loop(e, l, out);
}

void loop_lower(const lower_env *e, const prog_loop *l, exec_step *out) {
  u32 kept = l->rank - l->reduced;
  *out = (exec_step){.run = run_map, .units = 0};
  if (prog_volume(l->dims, kept) == 0 || l->num_out == 0) return;
  if (l->reduced)
    reduce_lower(e, l, out);
  else
    lower_map(e, l, out);
}
