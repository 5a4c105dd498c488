/* Plans that lose a value, one way each, and are found out. */
#include <stdlib.h>

#include "program/parts.h"
#include "tests/unit.h"

static oom_trap trap;

#define S STR("step")
#define L STR("f:1:1")

/* out = -in, all of it or count elements from `at` on */
static void negate_part(prog_builder *b, u32 in, u32 out, i64 at, i64 count) {
  prog_loop *l = prog_add_loop(b, 1, &count, S, L);
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, in, 0, (i64[]){1}));
  prog_loop_out(b, l, out, at, (i64[]){1}, vm_emit(b, &l->code, VM_neg, DTYPE_f32, v, 0, 0));
}
/* out[i] = left[i] + right[n - 1 - i] */
static void add_reversed(prog_builder *b, u32 left, u32 right, u32 out, i64 n) {
  prog_loop *l = prog_add_loop(b, 1, &n, S, L);
  u32 x = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, left, 0, (i64[]){1}));
  u32 y = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, right, n - 1, (i64[]){-1}));
  prog_loop_out(b, l, out, 0, (i64[]){1}, vm_emit(b, &l->code, VM_add, DTYPE_f32, x, y, 0));
}

enum { N = 32 };

/* The slots of a program, and the program, whose plan the tests spoil. */
typedef struct sample {
  u32 p, a, b, c, r, pred;
  program *prog;
} sample;

static void finish(prog_builder *b, sample *s) {
  const program *p = NULL;
  status e = prog_finish(b, &p);
  if (e) fprintf(stderr, "%s\n", status_message(e).data);
  CHECK(!e);
  status_free(e);
  s->prog = (program *)(uintptr_t)p;
}

/* a = -p; b = -a; c = a + reversed b; r = -c */
static sample straight(arena *memory) {
  prog_builder *b = prog_begin(memory, 1, 1);
  sample s = {.p = prog_param(b, DTYPE_f32, N), .r = prog_result(b, DTYPE_f32, N, -1)};
  s.a = prog_work(b, DTYPE_f32, N), s.b = prog_work(b, DTYPE_f32, N);
  s.c = prog_work(b, DTYPE_f32, N);
  negate_part(b, s.p, s.a, 0, N);
  negate_part(b, s.a, s.b, 0, N);
  add_reversed(b, s.a, s.b, s.c, N);
  negate_part(b, s.c, s.r, 0, N);
  finish(b, &s);
  return s;
}

/* a = p; b = -p; while (pred) a = -a; r = a + reversed b: b is needed after the loop */
static sample around(arena *memory, bool change) {
  prog_builder *b = prog_begin(memory, 1, 1);
  sample s = {.p = prog_param(b, DTYPE_f32, N), .pred = prog_param(b, DTYPE_pred, 1)};
  s.r = prog_result(b, DTYPE_f32, N, -1);
  s.a = prog_work(b, DTYPE_f32, N), s.b = prog_work(b, DTYPE_f32, N);
  s.c = prog_work(b, DTYPE_f32, N);
  u32 top = prog_label(b), end = prog_label(b);
  if (!change) prog_add_move(b, s.p, s.a, S, L);
  negate_part(b, s.p, s.b, 0, N);
  prog_place(b, top);
  prog_add_jump_unless(b, s.pred, end, S, L);
  if (change) negate_part(b, s.p, s.a, 0, N);
  negate_part(b, s.a, s.c, 0, N);
  add_reversed(b, s.c, s.c, s.a, N);
  prog_add_jump(b, top, S, L);
  prog_place(b, end);
  add_reversed(b, change ? s.b : s.a, s.b, s.r, N);
  finish(b, &s);
  return s;
}

/* a is written in two pieces, then read */
static sample pieces(arena *memory, i64 second, bool *refused) {
  prog_builder *b = prog_begin(memory, 1, 1);
  sample s = {.p = prog_param(b, DTYPE_f32, N), .r = prog_result(b, DTYPE_f32, N, -1)};
  s.a = prog_work(b, DTYPE_f32, N);
  negate_part(b, s.p, s.a, 0, N / 2);
  negate_part(b, s.p, s.a, N / 2, second);
  negate_part(b, s.a, s.r, 0, N);
  if (!refused) {
    finish(b, &s);
    return s;
  }
  const program *p;
  status e = prog_finish(b, &p);
  *refused = e != NULL;
  status_free(e);
  return s;
}

static bool sound(arena *a, const program *p) {
  status s = prog_check_flow(a, p);
  status_free(s);
  return s == NULL;
}

/* Puts slot `which` where `other` lies: is that found? */
static bool found_over(arena *a, sample *s, u32 which, u32 other) {
  prog_slot *slot = &s->prog->slots[which], before = *slot;
  slot->offset = s->prog->slots[other].offset;
  slot->alias = s->prog->slots[other].alias;
  bool found = !sound(a, s->prog);
  *slot = before;
  return found;
}

static void test_straight(arena *a) {
  sample s = straight(a);
  CHECK(sound(a, s.prog));
  CHECK(found_over(a, &s, s.b, s.a)); /* a is read after b is written */
  CHECK(found_over(a, &s, s.c, s.b)); /* not in place: b is read backwards */
  CHECK(!found_over(a, &s, s.c, s.a));
  s.prog->slots[s.c].offset = s.prog->slots[s.a].offset + 64; /* in place, but not quite */
  CHECK(!sound(a, s.prog));
}

static void test_steps_lost(arena *a) {
  sample s = straight(a);
  prog_step first = s.prog->steps[0];
  for (u32 t = 0; t < 4; t++) { /* whatever is left out, somebody reads what nobody wrote */
    prog_step kept = s.prog->steps[t];
    s.prog->steps[t] = first;
    CHECK(sound(a, s.prog) == (t == 0));
    s.prog->steps[t] = kept;
  }
  s.prog->num_steps--; /* no result */
  CHECK(!sound(a, s.prog));
}

static void test_loop(arena *a) {
  sample s = around(a, false);
  CHECK(sound(a, s.prog));
  CHECK(found_over(a, &s, s.a, s.b) && found_over(a, &s, s.c, s.b) && found_over(a, &s, s.c, s.a));
  s = around(a, true); /* a begins anew each turn */
  CHECK(sound(a, s.prog));
  CHECK(found_over(a, &s, s.c, s.b) && found_over(a, &s, s.a, s.b));
}

static void test_pieces(arena *a) {
  bool refused = true;
  sample s = pieces(a, N / 2, NULL);
  CHECK(sound(a, s.prog));
  pieces(a, N / 2 - 1, &refused);
  CHECK(refused);
}

/* r takes over p's memory while p is still needed */
static void test_alias(arena *a) {
  sample s = straight(a);
  s.prog->slots[s.r].alias = 0;
  CHECK(sound(a, s.prog)); /* p is dead by then */
  prog_step first = s.prog->steps[0], last = s.prog->steps[3];
  prog_loop negate = *last.u.loop_;
  prog_access from = last.u.loop_->in[0];
  from.slot = s.p;
  from.offset = N - 1;
  from.stride[0] = -1;
  negate.in = &from;
  last.u.loop_ = &negate;
  s.prog->steps[3] = last; /* reads p backwards while it writes over it */
  CHECK(!sound(a, s.prog));
  from.offset = 0;
  from.stride[0] = 1;
  CHECK(sound(a, s.prog));
  s.prog->steps[3] = s.prog->steps[2];
  s.prog->steps[2] = last; /* and after that, p is read */
  s.prog->steps[3] = first;
  CHECK(!sound(a, s.prog));
}

/* early = -p; a = -p; b = a + reversed a; late = b + reversed b */
static void test_in_results(arena *memory) {
  enum { MANY = 2048 };
  prog_builder *b = prog_begin(memory, 1, 1);
  sample s = {.p = prog_param(b, DTYPE_f32, MANY), .r = prog_result(b, DTYPE_f32, MANY, -1)};
  u32 late = prog_result(b, DTYPE_f32, MANY, -1);
  s.a = prog_work(b, DTYPE_f32, MANY), s.b = prog_work(b, DTYPE_f32, MANY);
  negate_part(b, s.p, s.r, 0, MANY);
  negate_part(b, s.p, s.a, 0, MANY);
  add_reversed(b, s.a, s.a, s.b, MANY);
  add_reversed(b, s.b, s.b, late, MANY);
  finish(b, &s);
  prog_slot *slots = s.prog->slots;
  CHECK(sound(memory, s.prog) && s.prog->workspace == 0); /* r is written last */
  CHECK(slots[s.a].alias >= 0 && slots[s.b].alias == 0 && slots[s.a].alias != slots[s.b].alias);
  CHECK(prog_slots_overlap(s.prog, s.b, s.r) && !prog_slots_overlap(s.prog, s.b, late));
  CHECK(found_over(memory, &s, s.a, s.b));
  slots[s.b].alias = 1; /* late is written while b is read backwards */
  CHECK(!sound(memory, s.prog));
  slots[s.b].alias = 0;
  slots[s.b].offset = 64; /* beyond its end */
  status e = program_validate(s.prog);
  CHECK(e);
  status_free(e);
  slots[s.b].offset = 0;
  slots[s.b].alias = 2; /* in no result */
  e = program_validate(s.prog);
  CHECK(e);
  status_free(e);
}

/* a[i] = -p for all i; then each is read: so many lie side by side, and none over another */
static void test_many(arena *memory) {
  enum { MANY = 5000 };
  u32 a[MANY];
  prog_builder *b = prog_begin(memory, 1, 1);
  sample s = {.p = prog_param(b, DTYPE_f32, N), .r = prog_result(b, DTYPE_f32, N, -1)};
  for (u32 i = 0; i < MANY; i++) negate_part(b, s.p, a[i] = prog_work(b, DTYPE_f32, N), 0, N);
  for (u32 i = 0, sum = s.p; i < MANY; i++) {
    u32 next = i + 1 < MANY ? prog_work(b, DTYPE_f32, N) : s.r;
    add_reversed(b, a[i], sum, next, N);
    sum = next;
  }
  finish(b, &s);
  CHECK(sound(memory, s.prog));
  for (u32 step = 1; step < MANY; step = step * 3 + 1)
    for (u32 i = 0; i + step < MANY; i += 997) {
      prog_slot *one = &s.prog->slots[a[i]], *other = &s.prog->slots[a[i + step]], kept = *one;
      CHECK(found_over(memory, &s, a[i], a[i + step]) && found_over(memory, &s, a[i + step], a[i]));
      one->offset = other->offset + 64; /* the end of one, or the begin of the next */
      CHECK(!sound(memory, s.prog));
      *one = kept;
    }
}

static void test_deaths(arena *a) {
  sample s = straight(a);
  prog_deaths d = prog_find_deaths(a, s.prog);
  CHECK(d.begin[0] == 0 && d.begin[1] == 0 && d.begin[2] == 0);
  bool b_dies = false, a_dies = false;
  for (u32 i = d.begin[2]; i < d.begin[3]; i++) {
    b_dies |= d.slots[i] == s.b;
    a_dies |= d.slots[i] == s.a; /* unless c took its place */
  }
  CHECK(b_dies && a_dies == (s.prog->slots[s.a].offset != s.prog->slots[s.c].offset));
  CHECK(d.begin[4] == d.begin[3] + 1 && d.slots[d.begin[3]] == s.c);
}

int main(void) {
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  test_straight(&a);
  test_steps_lost(&a);
  test_loop(&a);
  test_pieces(&a);
  test_alias(&a);
  test_in_results(&a);
  test_many(&a);
  test_deaths(&a);
  arena_deinit(&a);
  return UNIT_END();
}
