/* What a program costs: operations and bytes of its steps, counted from their shapes. */
#include "program/parts.h"

typedef struct counter {
  const program *p;
  program_cost *sum;
} counter;

static double product(const i64 *dims, u32 n) {
  double all = 1;
  for (u32 d = 0; d < n; d++) all *= (double)dims[d];
  return all;
}

/* What moves values or only looks at them otherwise is no operation. */
static void count_code(const vm_code *c, double times, program_cost *sum) {
  for (u32 i = 0; i < c->len; i++) {
    vm_op op = (vm_op)c->instrs[i].op;
    if (vm_op_infos[op].operands == 0 || op == VM_store || op == VM_convert || op == VM_bitcast)
      continue;
    *(vm_is_heavy(op) ? &sum->transcendentals : &sum->flops) += times;
  }
}

static void count_body(const prog_body *b, double times, program_cost *sum) {
  if (b->kind == REDUCE_CODE)
    count_code(&b->code, times, sum);
  else
    sum->flops += times;
}

/* The bytes of a slot that an access over these dims meets, each once. */
static double access_bytes(const program *p, const prog_access *a, const i64 *dims, u32 rank) {
  const prog_slot *s = &p->slots[a->slot];
  double n = dtype_size(s->type), whole = (double)prog_slot_bytes(s);
  for (u32 d = 0; d < rank; d++)
    if (a->stride[d]) n *= (double)dims[d];
  return n < whole ? n : whole;
}

static void add_slot(void *user, u32 *slot, slot_use use) {
  counter *c = user;
  if (c->p->slots[*slot].kind == SLOT_STRIP) return;
  c->sum->bytes += (double)prog_slot_bytes(&c->p->slots[*slot]) * (use == USE_UPDATE ? 2 : 1);
}

/* Every slot that it touches, whole. */
static void count_slots(const program *p, const prog_step *s, program_cost *sum) {
  prog_step copy = *s; /* add_slot changes nothing */
  prog_step_slots(&copy, add_slot, &(counter){p, sum});
}

static void count_loop(const program *p, const prog_step *s, program_cost *sum) {
  const prog_loop *l = s->u.loop_;
  double points = product(l->dims, l->rank);
  count_code(&l->code, points, sum);
  if (l->reduced) {
    double left = product(l->dims, l->rank - l->reduced);
    u32 times = l->body.kind == REDUCE_CODE ? 1 : l->num_out;
    if (points > left) count_body(&l->body, times * (points - left), sum);
  }
  for (u32 i = 0; i < l->num_in; i++) sum->bytes += access_bytes(p, &l->in[i], l->dims, l->rank);
  for (u32 i = 0; i < l->num_out; i++) sum->bytes += access_bytes(p, &l->out[i], l->dims, l->rank);
}

static void count_dot(const program *p, const prog_step *s, program_cost *sum) {
  const prog_dot *d = s->u.dot_;
  sum->flops += 2 * product(d->dims, d->nb + d->nm + d->nn + d->nk);
  count_slots(p, s, sum);
}

static void count_copy(const program *p, const prog_step *s, program_cost *sum) {
  const prog_copy *c = s->u.copy_;
  if (prog_step_is_move(p, s) && prog_slots_overlap(p, c->src.slot, c->dst.slot)) return;
  sum->bytes += access_bytes(p, &c->src, c->dims, c->rank);
  sum->bytes += access_bytes(p, &c->dst, c->dims, c->rank);
}

/* Only the part that is read or written; of a view, nothing. */
static void count_dynamic(const program *p, const prog_step *s, program_cost *sum) {
  const prog_dynamic *d = s->u.dynamic_;
  if (!d->view) sum->bytes += 2 * (double)prog_slot_bytes(&p->slots[d->small]);
}

static void count_gather(const program *p, const prog_step *s, program_cost *sum) {
  const prog_gather *g = s->u.gather_;
  sum->bytes += (double)prog_slot_bytes(&p->slots[g->indices]);
  for (u32 i = 0; i < g->n; i++)
    sum->bytes += (g->scatter ? 3 : 2) * (double)prog_slot_bytes(&p->slots[g->other[i]]);
  if (g->scatter && g->n) count_body(&g->body, (double)p->slots[g->other[0]].count, sum);
}

/* n log2 n comparisons of each row; of k sorted runs, n log2 k. */
static void count_sort(const program *p, const prog_step *s, program_cost *sum) {
  const prog_sort *t = s->u.sort_;
  double levels = 0;
  i64 runs = t->runs && t->runs < t->size ? t->runs : t->size;
  for (i64 n = 1; n < runs && levels < 63; n *= 2) levels++;
  count_code(&t->less, levels * (double)t->outer * (double)t->size * (double)t->inner, sum);
  count_slots(p, s, sum);
}

static void count_window(const program *p, const prog_step *s, program_cost *sum) {
  const prog_window *w = s->u.window_;
  count_body(&w->body, product(w->out_dims, w->rank) * product(w->window, w->rank), sum);
  count_slots(p, s, sum);
}

static void count_select_scatter(const program *p, const prog_step *s, program_cost *sum) {
  const prog_select_scatter *c = s->u.select_scatter_;
  double sources = product(c->source_dims, c->rank);
  count_code(&c->select, sources * product(c->window, c->rank), sum);
  count_body(&c->scatter, sources, sum);
  count_slots(p, s, sum);
}

static void count_collective(const program *p, const prog_step *s, program_cost *sum) {
  const prog_collective *c = s->u.collective_;
  for (u32 i = 0; i < c->n && prog_collective_reduces(c->kind); i++)
    count_body(&c->body, (double)p->slots[c->in[i]].count, sum);
  count_slots(p, s, sum);
}

static void count_strips(const program *p, const prog_step *s, program_cost *sum);

/* A kind without a row touches its slots and computes nothing that could be counted. */
static void (*const counts[STEP_COUNT_])(const program *, const prog_step *, program_cost *) = {
    [STEP_loop] = count_loop,
    [STEP_dot] = count_dot,
    [STEP_copy] = count_copy,
    [STEP_dynamic] = count_dynamic,
    [STEP_gather] = count_gather,
    [STEP_sort] = count_sort,
    [STEP_window] = count_window,
    [STEP_select_scatter] = count_select_scatter,
    [STEP_collective] = count_collective,
    [STEP_strips] = count_strips,
};

/* What its steps do, and the bytes that it touches as a whole. */
static void count_strips(const program *p, const prog_step *s, program_cost *sum) {
  const prog_strips *r = s->u.strips_;
  double bytes = sum->bytes;
  for (u32 i = 0; i < r->n; i++) counts[r->steps[i].kind](p, &r->steps[i], sum);
  sum->bytes = bytes;
  count_slots(p, s, sum);
}

void program_add_cost(const program *p, const prog_step *s, program_cost *sum) {
  (counts[s->kind] ? counts[s->kind] : count_slots)(p, s, sum);
}

/* ---- branches ---- */

/* Branches are one behind the other, and each but the last ends with a jump behind them all. */
typedef struct branches {
  const prog_step *s;
  u32 n, first, end; /* of how many, where they begin and end */
} branches;

static u32 branch_begin(const branches *b, u32 k) {
  const prog_jump *j = b->s->u.jump_;
  if (k == b->n) return b->end;
  return b->s->kind == STEP_case ? j->target[k] : k ? j->target[0] : b->first;
}

/* false: step i does not choose between any. */
static bool find_branches(const program *p, u32 i, u32 end, branches *out) {
  const prog_step *s = &p->steps[i];
  if (s->kind != STEP_case && s->kind != STEP_jump_unless) return false;
  *out = (branches){s, s->kind == STEP_case ? s->u.jump_->n : 2, i + 1, 0};
  for (u32 k = 0; k < out->n; k++)
    if (branch_begin(out, k) < (k ? branch_begin(out, k - 1) + 1 : i + 1)) return false;
  u32 second = out->n > 1 ? branch_begin(out, 1) : 0;
  if (branch_begin(out, 0) != i + 1 || !second || second > end) return false;
  const prog_step *last = &p->steps[second - 1];
  out->end = last->kind == STEP_jump ? last->u.jump_->target[0] : 0;
  return out->end >= branch_begin(out, out->n - 1) && out->end <= end;
}

static void add(program_cost *sum, const program_cost *c) {
  sum->flops += c->flops;
  sum->transcendentals += c->transcendentals;
  sum->bytes += c->bytes;
}

static double amount(const program_cost *c) { return c->flops + c->transcendentals + c->bytes; }

static void count_span(const program *p, u32 i, u32 end, program_cost *sum) {
  branches b;
  while (i < end) {
    program_add_cost(p, &p->steps[i], sum);
    if (!find_branches(p, i++, end, &b)) continue;
    program_cost most = {0};
    for (u32 k = 0; k < b.n; k++) {
      program_cost c = {0};
      count_span(p, branch_begin(&b, k), branch_begin(&b, k + 1), &c);
      if (amount(&c) > amount(&most)) most = c;
    }
    add(sum, &most);
    i = b.end;
  }
}

void program_find_cost(const program *p, program_cost *out) {
  *out = (program_cost){0};
  count_span(p, 0, p->num_steps, out);
}
