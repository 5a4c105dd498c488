/* The data movement of collectives, on the members' own buffers.
 *
 * Members are taken in the order of their group, so the sums are the same whoever comes last.
 * An all-reduce goes block by block: a block of every member's operand is combined in scratch
 * and then written to every result, so an operand and its result may be the same memory. The
 * others move data between different slots. A member's share of an all-reduce are blocks in a row.
 * Several members are combined in one pass, which keeps what they are so far in a register, and
 * whose reads are as many streams.
 */
#include "exec/image.h"
#include "num/convert.h"

/* Elements that are combined at a time: what the first-level cache has room for until it is written
 * everywhere, or enough for reading a member to be a stream from memory; bytes. */
enum { SHORT = 2048, LONG = 16384, SCRATCH_BLOCK = LONG * 16 + 64, SHARED_FROM = 1 << 16 };

static u32 first_of(u32 *up, u32 d) {
  while (up[d] != d) d = up[d] = up[up[d]];
  return d;
}

/* Devices of a permute that send to each other, directly or not, are a group: others need not
 * wait for them. */
static void list_pairs(const lower_env *e, const prog_collective *c, exec_collective *x) {
  u32 devices = program_num_devices(e->prog), n = 0;
  u32 *up = ARENA_ARRAY(e->a, u32, devices), *begin = arena_zalloc(e->a, (devices + 1) * 4);
  u32 *members = ARENA_ARRAY(e->a, u32, devices), *at = ARENA_ARRAY(e->a, u32, devices);
  for (u32 d = 0; d < devices; d++) up[d] = d;
  for (u32 i = 0; i < c->num_pairs; i++) {
    u32 from = c->pairs[2 * i], to = c->pairs[2 * i + 1];
    u32 a = first_of(up, from), b = first_of(up, to);
    x->source_of[to] = from;
    x->target_of[from] = to;
    x->group_of[from] = x->group_of[to] = 0;
    up[a < b ? b : a] = a < b ? a : b;
  }
  x->num_groups = 0;
  for (u32 d = 0; d < devices; d++) { /* sizes; a group's first device comes first */
    if (x->group_of[d] == PROG_NONE) continue;
    u32 first = first_of(up, d);
    x->group_of[d] = first == d ? x->num_groups++ : x->group_of[first];
    begin[x->group_of[d] + 1]++;
  }
  for (u32 g = 0; g < x->num_groups; g++) {
    at[g] = n;
    n = begin[g + 1] += n;
  }
  for (u32 d = 0; d < devices; d++)
    if (x->group_of[d] != PROG_NONE) members[at[x->group_of[d]]++] = d;
  x->begin = begin;
  x->members = members;
}

/* By device, so that a place finds its group and rank without a search. */
static void list_groups(const lower_env *e, const prog_collective *c, exec_collective *x) {
  u32 devices = program_num_devices(e->prog);
  x->group_of = ARENA_ARRAY(e->a, u32, devices);
  x->rank_of = arena_zalloc(e->a, devices * sizeof(u32));
  x->source_of = ARENA_ARRAY(e->a, u32, devices);
  x->target_of = ARENA_ARRAY(e->a, u32, devices);
  for (u32 d = 0; d < devices; d++) x->group_of[d] = x->source_of[d] = x->target_of[d] = PROG_NONE;
  x->num_groups = c->num_groups;
  x->begin = c->begin;
  x->members = c->members;
  if (c->kind == COLL_PERMUTE) list_pairs(e, c, x);
  for (u32 g = 0; g < x->num_groups; g++)
    for (u32 i = x->begin[g]; i < x->begin[g + 1]; i++) {
      x->group_of[x->members[i]] = g;
      x->rank_of[x->members[i]] = i - x->begin[g];
    }
}

/* Whether elements lie as registers have them. */
static bool lies_loaded(const vm_kernels *k, dtype t) { return !k->load[t] && !k->clean[t]; }

/* The code of `two` operands for so many, combined from the first on. */
static vm_code chain_code(arena *a, const vm_code *two, u32 operands) {
  u32 *at = ARENA_ARRAY(a, u32, two->len + 1), done = PROG_NONE; /* where an instruction went */
  vm_code r = *two;
  r.instrs = ARENA_ARRAY(a, vm_instr, (u64)two->len * operands);
  r.len = 0;
  r.num_in = operands;
  for (u32 next = 1; next < operands; next++)
    for (u32 i = 0; i < two->len; i++) {
      vm_instr v = two->instrs[i];
      u32 *args[] = {&v.a, &v.b, &v.c};
      for (u32 k = 0; k < vm_op_infos[v.op].operands; k++) *args[k] = at[*args[k]];
      bool of_last = v.op == VM_load && v.a == 0 && next > 1;
      if (v.op == VM_load && v.a == 1) v.a = next;
      at[i] = of_last ? done : r.len;
      if (v.op == VM_store) done = v.a;
      if (!of_last && (v.op != VM_store || next + 1 == operands)) r.instrs[r.len++] = v;
    }
  return r;
}

/* The operands of a pass over those members that are left, of which all but the first pass have
 * what was done before as one. */
static u32 pass_operands(u32 fan, u32 members, u32 done) {
  u32 n = members - done + (done > 0);
  return n < fan ? n : fan;
}

/* The result goes where the accumulator lies, input 0, and the VM is told so: it is not to be
 * written while that is still read. */
static vm_unit *lower_pass(const lower_env *e, const vm_code *two, u32 operands) {
  vm_code code = chain_code(e->a, two, operands);
  bool direct = true;
  u64 overlaps = 1; /* the accumulator */
  vm_spec spec = {.code = &code,
                  .num_in = operands,
                  .num_out = 1,
                  .out_direct = &direct,
                  .out_overlaps = &overlaps,
                  .registers = true,
                  .keep_registers = true};
  return vm_lower(e, &spec);
}

/* Of the passes that groups take. */
static void lower_passes(const lower_env *e, const vm_code *two, exec_collective *x,
                         coll_passes *p) {
  for (u32 g = 0; g < x->num_groups; g++) {
    u32 members = x->begin[g + 1] - x->begin[g], done = p->fan == 2;
    while (done < members) {
      u32 n = pass_operands(p->fan, members, done);
      if (n > 1 && !p->of[n]) p->of[n] = lower_pass(e, two, n);
      done += n - (done > 0);
    }
  }
}

void coll_lower(const lower_env *e, const prog_collective *c, exec_collective *x) {
  x->c = c;
  list_groups(e, c, x);
  x->k = e->k;
  x->types = ARENA_ARRAY(e->a, dtype, c->n + 1);
  x->counts = ARENA_ARRAY(e->a, u64, c->n + 1);
  for (u32 i = 0; i < c->n; i++) {
    x->written += prog_slot_bytes(&e->prog->slots[c->out[i]]);
    x->types[i] = e->prog->slots[c->in[i]].type;
    x->counts[i] = e->prog->slots[c->in[i]].count;
  }
  if (!prog_collective_reduces(c->kind)) return;
  size_t registers = 0;
  /* passes of each operand: their types may differ */
  x->passes = arena_zalloc(e->a, (c->n + 1) * sizeof(coll_passes));
  for (u32 i = 0; i < c->n; i++) {
    vm_instr storage[4];
    vm_code code = c->body.code;
    coll_passes *p = &x->passes[i];
    if (c->body.kind != REDUCE_CODE) code = prog_body_code(c->body.kind, x->types[i], storage);
    p->fan = lies_loaded(e->k, x->types[i]) ? COLL_FAN : 2;
    lower_passes(e, &code, x, p);
    for (u32 n = 2; n <= p->fan; n++) {
      size_t bytes = p->of[n] ? vm_scratch_bytes(p->of[n], LONG) : 0;
      if (bytes > registers) registers = bytes;
    }
  }
  x->scratch = 3 * SCRATCH_BLOCK + align_up(registers, 64);
}

/* ---- members, and their shares ---- */

static u32 first_member(const coll_work *w) { return w->x->begin[w->group]; }
static u32 group_size(const coll_work *w) {
  return w->x->begin[w->group + 1] - w->x->begin[w->group];
}
static u32 place_of(const coll_work *w, u32 rank) {
  u32 member = w->x->members[first_member(w) + rank];
  return (w->numbers ? w->numbers[member] : member) - w->first;
}
static bool is_here(const coll_work *w, u32 rank) { return place_of(w, rank) < w->count; }
static char *in_of(const coll_work *w, u32 rank, u32 i) {
  if (w->parts) return w->parts[rank * w->x->c->n + i];
  return w->slots[place_of(w, rank)][w->x->c->in[i]];
}
static char *out_of(const coll_work *w, u32 rank, u32 i) { /* is_here */
  return w->slots[place_of(w, rank)][w->x->c->out[i]];
}

/* More than caches could keep of what all members get. */
static bool is_much(const coll_work *w) { return w->x->written * group_size(w) >= 16 << 20; }
static u64 block_of(const coll_work *w) { return is_much(w) ? LONG : SHORT; }
static u64 num_blocks(const coll_work *w, u32 i) {
  return (w->x->counts[i] + block_of(w) - 1) / block_of(w);
}
/* The first block of a member's share of operand i; of rank group_size: all blocks. */
static u64 share_begin(const coll_work *w, u32 rank, u32 i) {
  return num_blocks(w, i) * rank / group_size(w);
}
/* Whether a phase is about the share of this member. */
static bool does_share(const coll_work *w, u32 rank) {
  return is_here(w, rank) == (w->phase == COLL_OWN_SHARES);
}
static u64 shared_blocks(const coll_work *w, u32 i) {
  u64 n = 0;
  if (w->phase == COLL_WHOLE) return num_blocks(w, i);
  for (u32 m = 0; m < group_size(w); m++)
    if (does_share(w, m)) n += share_begin(w, m + 1, i) - share_begin(w, m, i);
  return n;
}

/* Past the caches what they could not keep. */
static void put(const coll_work *w, char *to, const char *from, size_t n) {
  w->x->k->move->rows(1, n, to, 0, from, 0, is_much(w));
}

bool coll_has_shares(const exec_collective *x) {
  u64 bytes = 0;
  for (u32 i = 0; i < x->c->n; i++) bytes += x->counts[i] * dtype_size(x->types[i]);
  return x->c->kind == COLL_ALL_REDUCE && bytes >= SHARED_FROM;
}

/* ---- units: blocks of an all-reduce, slabs of a reduce-scatter, else members ---- */

/* As coll_run counts them; asked at each meeting, since groups may differ in size. The costs are
 * rough, in nanoseconds: they only decide whether sharing pays. */
u64 coll_units(const coll_work *w, const program *p, u64 *out_cost) {
  const exec_collective *x = w->x;
  const prog_collective *c = x->c;
  u32 members = group_size(w);
  u64 units = 0, bytes = 0;
  for (u32 i = 0; i < c->n; i++) bytes += prog_slot_bytes(&p->slots[c->out[i]]);
  if (c->kind == COLL_ALL_REDUCE) {
    for (u32 i = 0; i < c->n; i++) units += shared_blocks(w, i);
    *out_cost = block_of(w) * members / 8;
  } else if (c->kind == COLL_REDUCE_SCATTER) {
    for (u32 i = 0; i < c->n; i++) units += (u64)members * (u64)c->outer[i];
    *out_cost = 50 + bytes * members * members / 64 / (units ? units : 1);
  } else {
    units = members;
    *out_cost = 50 + bytes / 32;
  }
  return units;
}

/* ---- what is to come from elsewhere ---- */

/* Shares of operand i that members [first, first + count) have. */
static executor_range shares(const coll_work *w, u32 i, u32 first, u32 count) {
  size_t width = dtype_size(w->x->types[i]), all = w->x->counts[i] * width;
  size_t begin = share_begin(w, first, i) * block_of(w) * width;
  size_t end = share_begin(w, first + count, i) * block_of(w) * width;
  return (executor_range){begin, end < all ? end : all};
}

executor_range coll_needs(const coll_work *w, u32 from, u32 i, u32 first, u32 count) {
  const exec_collective *x = w->x;
  const prog_collective *c = x->c;
  size_t all = x->counts[i] * dtype_size(x->types[i]), piece = all / group_size(w);
  u32 device = x->members[first_member(w) + from], to;
  executor_range whole = {0, all}, pieces = {first * piece, (first + count) * piece};
  switch (c->kind) {
  case COLL_ALL_REDUCE:
    if (w->phase == COLL_OWN_SHARES) return shares(w, i, first, count);
    return w->phase == COLL_OTHER_SHARES ? shares(w, i, from, 1) : whole;
  case COLL_REDUCE_SCATTER:
    return c->outer[i] == 1 ? pieces : whole;
  case COLL_ALL_TO_ALL:
    return c->split_dim == 0 ? pieces : whole;
  case COLL_BROADCAST:
    return from == 0 ? whole : (executor_range){0, 0};
  case COLL_PERMUTE:
    to = x->target_of[device];
    return to != PROG_NONE && x->rank_of[to] - first < count ? whole : (executor_range){0, 0};
  default:
    return whole;
  }
}

/* ---- reductions ---- */

/* Scratch: results, an operand as registers have it, results as they are stored, registers. */
typedef struct combining {
  char *acc, *value, *raw, *registers;
} combining;

static combining begin_combining(const exec_env *env) {
  char *s = env->scratch;
  return (combining){s, s + SCRATCH_BLOCK, s + 2 * SCRATCH_BLOCK, s + 3 * SCRATCH_BLOCK};
}

/* n elements at `at` of every member's operand i, combined; as stored, in `to` or elsewhere. */
static const char *combine_members(const coll_work *w, u32 i, u64 at, size_t n, combining *s,
                                   char *to) {
  const exec_collective *x = w->x;
  const coll_passes *passes = &x->passes[i];
  const vm_kernels *k = x->k;
  dtype t = x->types[i];
  size_t skip = at * dtype_size(t);
  bool as_it_lies = lies_loaded(k, t);
  char *acc = as_it_lies && !k->store[t] ? to : s->acc;
  u32 members = group_size(w), done = !as_it_lies || members == 1;
  if (done) vm_load_elements(k, t, n, acc, in_of(w, 0, i) + skip);
  while (done < members) {
    u32 operands = pass_operands(passes->fan, members, done), o = 0;
    const vm_unit *pass = passes->of[operands];
    const vm_output *out = &pass->outputs[0];
    void **reg = vm_begin(pass, s->registers, LONG);
    if (done) reg[o++] = acc;
    for (; o < operands; o++, done++) {
      reg[o] = in_of(w, done, i) + skip;
      if (as_it_lies) continue;
      vm_load_elements(k, t, n, s->value, reg[o]);
      reg[o] = s->value;
    }
    reg[operands] = acc;
    vm_run(pass, reg, n);
    if (!out->in_place && reg[out->reg] != acc) memmove(acc, reg[out->reg], n * out->width);
  }
  if (!k->store[t]) return acc;
  k->store[t](n, s->raw, acc, NULL, NULL);
  return s->raw;
}

/* The unit-th of the blocks of operand i that the phase is about, and whose share it is in. */
static u64 find_block(const coll_work *w, u32 i, u64 unit, u32 *out_rank) {
  *out_rank = 0;
  if (w->phase == COLL_WHOLE) return unit;
  for (u32 m = 0;; m++) {
    if (!does_share(w, m)) continue;
    u64 begin = share_begin(w, m, i), n = share_begin(w, m + 1, i) - begin;
    *out_rank = m;
    if (unit < n) return begin + unit;
    unit -= n;
  }
}

static void all_reduce(const coll_work *w, const exec_env *env, u64 unit) {
  const exec_collective *x = w->x;
  u32 i = 0, rank;
  for (u64 n; (n = shared_blocks(w, i)) <= unit; i++) unit -= n;
  size_t n = block_of(w), width = dtype_size(x->types[i]);
  u64 at = find_block(w, i, unit, &rank) * n;
  if (x->counts[i] - at < n) n = x->counts[i] - at;
  const char *result;
  if (w->phase == COLL_OTHER_SHARES) {
    result = in_of(w, rank, i) + at * width;
  } else {
    combining s = begin_combining(env);
    result = combine_members(w, i, at, n, &s, s.acc);
  }
  for (u32 m = 0; m < group_size(w); m++)
    if (is_here(w, m)) put(w, out_of(w, m, i) + at * width, result, n * width);
}

/* A unit is one slab of one member's result, so that no two units write the same place. */
static void reduce_scatter(const coll_work *w, const exec_env *env, u64 unit) {
  const exec_collective *x = w->x;
  const prog_collective *c = x->c;
  u64 members = group_size(w);
  u32 i = 0;
  for (; unit >= members * (u64)c->outer[i]; i++) unit -= members * (u64)c->outer[i];
  if (!is_here(w, (u32)(unit % members))) return;
  u64 rank = unit % members, outer = unit / members, length = (u64)(c->size[i] * c->inner[i]);
  size_t width = dtype_size(x->types[i]);
  combining s = begin_combining(env);
  u64 block = lies_loaded(x->k, x->types[i]) ? LONG : block_of(w); /* no scratch, or a stream */
  for (u64 k = 0; k < length; k += block) {
    size_t n = length - k < block ? length - k : block;
    char *to = out_of(w, (u32)rank, i) + (outer * length + k) * width;
    const char *r = combine_members(w, i, (outer * members + rank) * length + k, n, &s,
                                    is_much(w) ? s.acc : to);
    if (r != to) put(w, to, r, n * width);
  }
}

/* ---- movements ---- */

/* A unit is what one member gives, if slabs are long: a tile of it is read once, and goes to each
 * while it is near; else what one member gets, whose slabs may share lines. */
static void all_gather(const coll_work *w, u32 rank, u32 i) {
  enum { TILE = 1 << 12 };
  const prog_collective *c = w->x->c;
  size_t slab = (size_t)(c->size[i] * c->inner[i]) * dtype_size(w->x->types[i]);
  size_t all = (size_t)c->outer[i], most = slab && slab < TILE ? TILE / slab : 1;
  u32 members = group_size(w);
  for (size_t o = 0; o < all; o += most)
    for (size_t at = 0; at < slab; at += TILE)
      for (u32 m = 0; m < members; m++) {
        size_t rows = all - o < most ? all - o : most, n = slab - at < TILE ? slab - at : TILE;
        u32 from = slab < TILE ? m : rank, to = slab < TILE ? rank : m;
        if (is_here(w, to))
          w->x->k->move->rows(rows, n, out_of(w, to, i) + (o * members + from) * slab + at,
                              (i64)(members * slab), in_of(w, from, i) + o * slab + at, (i64)slab,
                              is_much(w));
      }
}

/* The others do what one member gets. Member `rank` gets piece `rank` of everybody's operand along
 * the split dim, and puts the pieces one after the other along the concat dim. */
static void all_to_all(const coll_work *w, u32 rank, u32 i) {
  const prog_collective *c = w->x->c;
  u32 members = group_size(w), width = (u32)dtype_size(w->x->types[i]);
  i64 piece[PROG_MAX_DIMS], out_dims[PROG_MAX_DIMS];
  for (u32 d = 0; d < c->rank; d++) {
    piece[d] = c->dims[d] / (d == c->split_dim ? members : 1);
    out_dims[d] = piece[d] * (d == c->concat_dim ? members : 1);
  }
  step_shape s = {.rank = c->rank, .width = width, .streams = is_much(w)};
  i64 to = width, from = width, to_step = 0, from_step = 0;
  for (u32 d = c->rank; d-- > 0;) {
    s.dims[d] = piece[d];
    s.to[d] = to;
    s.from[d] = from;
    if (d == c->concat_dim) to_step = piece[d] * to;
    if (d == c->split_dim) from_step = piece[d] * from;
    to *= out_dims[d];
    from *= c->dims[d];
  }
  step_shape_simplify(&s);
  for (u32 m = 0; m < members; m++)
    step_shape_copy(w->x->k, &s, out_of(w, rank, i) + m * to_step,
                    in_of(w, m, i) + rank * from_step, 0, step_shape_planes(&s));
}

/* Zeros for a device that nobody sends to (StableHLO, collective_permute). */
static void permute(const coll_work *w, u32 rank, u32 i) {
  u32 device = w->x->members[first_member(w) + rank], source = w->x->source_of[device];
  size_t bytes = w->x->counts[i] * dtype_size(w->x->types[i]);
  if (source == PROG_NONE)
    memset(out_of(w, rank, i), 0, bytes);
  else
    put(w, out_of(w, rank, i), in_of(w, w->x->rank_of[source], i), bytes);
}

static void broadcast(const coll_work *w, u32 rank, u32 i) {
  put(w, out_of(w, rank, i), in_of(w, 0, i), w->x->counts[i] * dtype_size(w->x->types[i]));
}

/* ---- run_<id>: a unit of each kind ---- */

#define run_ALL_REDUCE all_reduce
#define run_REDUCE_SCATTER reduce_scatter
#define MOVES(id, move) /* a unit is a member: all that it gets, if it is here */                  \
  static void run_##id(const coll_work *w, const exec_env *env, u64 unit) {                        \
    (void)env;                                                                                     \
    for (u32 i = 0; is_here(w, (u32)unit) && i < w->x->c->n; i++) move(w, (u32)unit, i);           \
  }
static void run_ALL_GATHER(const coll_work *w, const exec_env *env, u64 unit) {
  (void)env;
  for (u32 i = 0; i < w->x->c->n; i++) all_gather(w, (u32)unit, i);
}
MOVES(ALL_TO_ALL, all_to_all)
MOVES(PERMUTE, permute)
MOVES(BROADCAST, broadcast)

void coll_run(const void *work, const exec_env *env, u64 begin, u64 end) {
  static void (*const run_of[COLL_COUNT_])(const coll_work *, const exec_env *, u64) = {
#define COLL(id, ...) [COLL_##id] = run_##id,
      PROG_COLLECTIVES(COLL)
#undef COLL
  };
  const coll_work *w = work;
  for (u64 u = begin; u < end; u++) run_of[w->x->c->kind](w, env, u);
  step_fence();
}
