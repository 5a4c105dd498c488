/* Calls are inlined, or their functions copied: a chain of calls that comes back, or that doubles
 * at every step, has to be refused before.
 *
 * Each function is measured once, the first time that a call to it is met: so the check is linear
 * in the text, though what it counts may be exponential. Composites count as calls of their
 * decompositions, since they are expanded to them. */
#include "dialect/verify.h"

/* What programs call often is a layer: 512 layers of 1024 ops are below. Calls that double at every
 * step get no further than the text that says them is long. */
enum { INLINED_FLOOR = 1 << 17, INLINED_FACTOR = 512, INLINED_MOST = 1 << 24 };

u64 dialect_inlined_limit(u64 ops) {
  u64 most = ops < INLINED_MOST / INLINED_FACTOR ? ops * INLINED_FACTOR : INLINED_MOST;
  return most > INLINED_FLOOR ? most : INLINED_FLOOR;
}

typedef struct call_state {
  checker *k;
  op **funcs;
  u64 *sizes; /* ops once inlined; 0: not known, 1 << 63: being counted */
  bool *called;
  size_t len;
  u32 depth, max_depth;
  u64 size, limit; /* of the function at hand; of all that nobody calls */
  bool ok;
} call_state;

#define COUNTING (1ull << 63)

static bool measure(call_state *s, size_t f);

static bool check_size(call_state *s, const op *o, u64 size) {
  if (size <= s->limit) return true;
  return s->ok = op_unimplemented(
             s->k->c, o, "expected at most %llu ops once calls are inlined, found %llu up to here",
             (unsigned long long)s->limit, (unsigned long long)size);
}

/* Adds to s->size, which is of the function that measure is at; measuring a callee replaces it,
 * hence `outer`. A function met while it is still being counted is on the chain of calls that led
 * here. */
static walk_result count_op(void *user, op *o) {
  call_state *s = user;
  s->size++;
  if (!op_is(o, call) && !op_is(o, composite)) return WALK_ON;
  str name = symbol_of(op_attr(o, op_is(o, call) ? SLOT_NAME(callee) : SLOT_NAME(decomposition)));
  const op *f = checker_symbol(s->k, s->k->m->root, name);
  if (!f || !op_is(f, func)) return WALK_ON;
  if (s->sizes[f->num] == COUNTING) {
    s->ok = op_error(s->k->c, o, "calls '" STR_FMT "', which calls back", STR_ARG(name));
    return WALK_STOP;
  }
  u64 outer = s->size;
  s->called[f->num] = true;
  if (!s->sizes[f->num] && !measure(s, f->num)) return WALK_STOP;
  s->size = outer + s->sizes[f->num];
  return check_size(s, o, s->size) ? WALK_ON : WALK_STOP;
}

/* Recursion is max_depth functions deep, so the C stack is bounded by the same limit as the
 * calls. */
static bool measure(call_state *s, size_t f) {
  if (s->depth >= s->max_depth)
    return s->ok = op_unimplemented(s->k->c, s->funcs[f], "calls nested more than %u deep",
                                    s->max_depth);
  s->sizes[f] = COUNTING;
  s->depth++;
  s->size = 0;
  op_walk(s->funcs[f], count_op, s);
  s->depth--;
  s->sizes[f] = s->size;
  return s->ok;
}

static walk_result count_written(void *user, op *o) {
  (void)o;
  ++*(u64 *)user;
  return WALK_ON;
}

u64 dialect_count_ops(op *root) {
  u64 n = 0;
  op_walk(root, count_written, &n);
  return n;
}

bool dialect_check_calls(ir_module *m, u32 max_depth) {
  checker k = {.m = m, .c = m->ctx};
  k.scratch = ir_scratch_push(k.c);
  call_state s = {.k = &k, .max_depth = max_depth, .ok = true};
  s.limit = dialect_inlined_limit(dialect_count_ops(m->root));
  const block *b = op_body(m->root, 0);
  size_t n = 0;
  for (const op *o = b->first; o; o = o->next) n += op_is(o, func);
  s.funcs = ARENA_ARRAY(k.scratch, op *, n);
  s.sizes = arena_zalloc(k.scratch, n * sizeof *s.sizes);
  s.called = arena_zalloc(k.scratch, n * sizeof *s.called);
  for (op *o = b->first; o; o = o->next)
    if (op_is(o, func)) s.funcs[o->num = (u32)s.len++] = o; /* numbers of ops are not needed now */
  for (size_t i = 0; i < n && s.ok; i++)
    if (!s.sizes[i]) measure(&s, i);
  u64 total = 0;
  for (size_t i = 0; i < n && s.ok; i++)
    if (!s.called[i]) check_size(&s, s.funcs[i], total += s.sizes[i]);
  ir_scratch_pop(k.c);
  return s.ok;
}
