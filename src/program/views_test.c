/* Stacks that are written through views, and plans of them that are wrong, one way each. */
#include "program/parts.h"
#include "tests/unit.h"

static oom_trap trap;

#define S STR("step")
#define L STR("f:1:1")

enum { ROWS = 4, N = 4096 };

/* x = param; y = nothing; for i: row = -x[i]; [x[i] again]; y[i] = row; r = y */
typedef struct sample {
  u32 x, r, i, row, pred;
  program *prog;
} sample;

static void negate(prog_builder *b, u32 in, u32 out, i64 n) {
  prog_loop *l = prog_add_loop(b, 1, &n, S, L);
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, in, 0, (i64[]){1}));
  prog_loop_out(b, l, out, 0, (i64[]){1}, vm_emit(b, &l->code, VM_neg, DTYPE_f32, v, 0, 0));
}

static void add_part(prog_builder *b, bool update, u32 big, u32 small, u32 at, u32 zero) {
  prog_dynamic d = {.update = update, .big = big, .small = small, .rank = 2};
  memcpy(d.big_dims, (i64[]){ROWS, N}, 2 * sizeof(i64));
  memcpy(d.small_dims, (i64[]){1, N}, 2 * sizeof(i64));
  d.start[0] = at, d.start[1] = zero;
  prog_add_dynamic(b, &d, S, L);
}

typedef enum how {
  PLAIN,
  DONATED,     /* r takes x's memory */
  READ_LATER,  /* x is read again when y[i] is written */
  READ_BEHIND, /* and after the loop */
  OTHER_ROW    /* of x another row is read */
} how;

static sample make(arena *memory, how h) {
  prog_builder *b = prog_begin(memory, 1, 1);
  sample s = {.x = prog_param(b, DTYPE_f32, ROWS * N)};
  s.pred = prog_param(b, DTYPE_pred, 1);
  u32 other = prog_param(b, DTYPE_s32, 1), seen = prog_result(b, DTYPE_f32, N, -1);
  s.r = prog_result(b, DTYPE_f32, ROWS * N, h == PLAIN ? -1 : 0);
  u32 y = prog_work(b, DTYPE_f32, ROWS * N), in = prog_work(b, DTYPE_f32, N);
  u32 zero = prog_const(b, DTYPE_s32, 1, &(i32){0}), again = prog_work(b, DTYPE_f32, N);
  s.i = prog_work(b, DTYPE_s32, 1), s.row = prog_work(b, DTYPE_f32, N);
  u32 top = prog_label(b), end = prog_label(b);
  prog_call nothing = {.target = STR("undefined"), .num_out = 1};
  prog_operand out = {y, {(i64[]){ROWS, N}, 2}};
  nothing.out = &out;
  prog_add_call(b, &nothing, S, L);
  prog_add_fill(b, s.i, &(i32){0}, S, L);
  prog_add_fill(b, seen, &(float){0}, S, L);
  prog_place(b, top);
  prog_add_jump_unless(b, s.pred, end, S, L);
  add_part(b, false, s.x, in, h == OTHER_ROW ? other : s.i, zero);
  negate(b, in, s.row, N);
  add_part(b, true, y, s.row, s.i, zero);
  if (h == READ_LATER) add_part(b, false, s.x, again, s.i, zero);
  if (h == READ_LATER) negate(b, again, seen, N);
  prog_loop *l = prog_add_loop(b, 0, NULL, S, L);
  u32 v = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, s.i, 0, NULL));
  u32 one = vm_const_f64(b, &l->code, DTYPE_s32, 1);
  prog_loop_out(b, l, s.i, 0, NULL, vm_emit(b, &l->code, VM_add, DTYPE_s32, v, one, 0));
  prog_add_jump(b, top, S, L);
  prog_place(b, end);
  if (h == READ_BEHIND) add_part(b, false, s.x, again, other, zero);
  if (h == READ_BEHIND) negate(b, again, seen, N);
  prog_add_move(b, y, s.r, S, L);
  const program *p = NULL;
  status e = prog_finish(b, &p);
  if (e) fprintf(stderr, "%s\n", status_message(e).data);
  CHECK(!e);
  status_free(e);
  s.prog = (program *)(uintptr_t)p;
  return s;
}

static bool sound(arena *a, const program *p) {
  status s = program_validate(p);
  if (!s) s = prog_check_flow(a, p);
  status_free(s);
  return s == NULL;
}

/* The step after which a view of `big` begins; PROG_NONE: there is none. */
static u32 view_of(const program *p, u32 big) {
  for (u32 t = 0; t < p->num_steps; t++)
    if (p->steps[t].kind == STEP_dynamic && p->steps[t].u.dynamic_->view &&
        p->steps[t].u.dynamic_->big == big)
      return t;
  return PROG_NONE;
}

static u32 count(const program *p, bool update) {
  u32 n = 0;
  for (u32 t = 0; t < p->num_steps; t++) {
    const prog_dynamic *d = p->steps[t].u.dynamic_;
    n += p->steps[t].kind == STEP_dynamic && !d->view && d->update == update;
  }
  return n;
}

/* The row is made in its place, and nothing is copied. */
static void test_in_place(arena *a) {
  sample s = make(a, PLAIN);
  CHECK(sound(a, s.prog) && s.prog->slots[s.row].kind == SLOT_VIEW && s.prog->slots[s.r].lent);
  CHECK(s.prog->slots[s.row].index == s.r && s.prog->workspace <= 128);
  CHECK(view_of(s.prog, s.r) != PROG_NONE && view_of(s.prog, s.x) != PROG_NONE);
  CHECK(count(s.prog, true) == 0 && count(s.prog, false) == 0);
}

/* In the memory of what is read, if that is over by then. */
static void test_joined(arena *a) {
  sample s = make(a, DONATED);
  CHECK(s.prog->workspace <= 128 && view_of(s.prog, s.x) == PROG_NONE);
  CHECK(count(s.prog, false) == 0); /* nor is the row that is read a copy */
  s = make(a, READ_LATER);
  CHECK(s.prog->workspace >= ROWS * N * sizeof(float));
  s = make(a, READ_BEHIND);
  CHECK(s.prog->workspace >= ROWS * N * sizeof(float));
  s = make(a, OTHER_ROW);
  CHECK(s.prog->workspace >= ROWS * N * sizeof(float));
}

static void swap(program *p, u32 t) {
  prog_step kept = p->steps[t];
  p->steps[t] = p->steps[t + 1];
  p->steps[t + 1] = kept;
}

static void test_wrong(arena *a) {
  sample s = make(a, PLAIN);
  program *p = s.prog;
  u32 t = view_of(p, s.r), first = view_of(p, s.x);
  prog_step view = p->steps[t], write = p->steps[t + 1];
  CHECK(t == first + 1 && write.kind == STEP_loop && sound(a, p));
  swap(p, t); /* it is written before anybody knows where it lies */
  CHECK(!sound(a, p));
  swap(p, t);
  p->steps[t] = p->steps[first]; /* nobody ever knows */
  CHECK(!sound(a, p));
  p->steps[t] = view;
  prog_access *in = write.u.loop_->in, kept = *in;
  in->slot = s.r; /* what it lies in is read beside it */
  CHECK(!sound(a, p));
  *in = kept;
  prog_dynamic *other = p->steps[first].u.dynamic_;
  u32 was = other->small;
  other->big = s.r, p->slots[was].index = s.r; /* another part of it is read while it is written */
  CHECK(!sound(a, p));
  other->big = s.x, p->slots[was].index = s.x;
  CHECK(sound(a, p));
  p->slots[s.r].lent = false; /* nobody said that views write there */
  CHECK(!sound(a, p));
  p->slots[s.r].lent = true;
  p->slots[s.row].index = s.x; /* a parameter, and not what the step says */
  CHECK(!sound(a, p));
  view.u.dynamic_->big = s.x; /* a parameter */
  p->slots[s.x].lent = true;
  CHECK(!sound(a, p));
  view.u.dynamic_->big = s.r;
  p->slots[s.row].index = s.row; /* itself */
  CHECK(!sound(a, p));
  p->slots[s.row].index = p->num_slots; /* nothing */
  CHECK(!sound(a, p));
  p->slots[s.row].index = s.r;
  CHECK(sound(a, p));
}

int main(void) {
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  test_in_place(&a);
  test_joined(&a);
  test_wrong(&a);
  arena_deinit(&a);
  return UNIT_END();
}
