/* What is made of a program's numbers alone is made once, when it is compiled, and is a constant of
 * the program then: tables by which a model is described, weights in another type or order, places
 * that gathers take. XLA's constant folding is the same; as there, what is only a value repeated or
 * counted stays, since whoever reads it computes it for nothing.
 *
 * The work goes into a program of its own, which gives all that the rest of the program reads. It
 * is compiled by the same line and run by whom the caller names, so that nothing is known of what
 * ops compute here. */
#include "compile/constants.h"

#include <stdlib.h>

#include "base/index.h"
#include "bytecode/bytecode.h"
#include "compile/lower.h"
#include "dialect/dialect.h"
#include "dialect/effects.h"
#include "partition/loop.h"

/* Results up to SMALL bytes may be larger than what they are made of. The rest bounds what an op
 * reads and writes, by what it does, and what all of the arrays take, as some copies of them are
 * made on the way: it is not known how long a compilation may take. */
enum { SMALL = 16 << 10, MOST_WORK = 4 << 20, MOST = 64 << 20 };

/* An op whose operands are all of such ops. */
typedef struct known {
  op *o;
  u64 from;    /* bytes of arrays that it is made of; 0: of repeated and counted values alone */
  bool end;    /* the rest of the program reads it, as a constant */
  bool kept;   /* the rest reads it, and it stays */
  bool needed; /* for an end */
} known;

typedef struct folding {
  ir_module *m;
  arena *a;
  hash_index of; /* op: its known */
  VEC(known *) all;
  VEC(value *) ends;
  u64 bytes; /* of all arrays */
} folding;

/* VIEW: is read where its operand lies, or for nothing. MOVE: like what is elementwise, is computed
 * where it is read, or no dearer than a copy. WORK: is dearer. */
typedef enum kind { STAYS, VIEW, MOVE, WORK } kind;
static const u8 kinds[OP_COUNT] = {
    [OP_constant] = VIEW,      [OP_iota] = VIEW,          [OP_broadcast_in_dim] = VIEW,
    [OP_reshape] = VIEW,       [OP_slice] = VIEW,         [OP_bitcast_convert] = MOVE,
    [OP_concatenate] = MOVE,   [OP_dynamic_slice] = MOVE, [OP_dynamic_update_slice] = MOVE,
    [OP_pad] = MOVE,           [OP_reverse] = MOVE,       [OP_transpose] = MOVE,
    [OP_cholesky] = WORK,      [OP_dot_general] = WORK,   [OP_gather] = WORK,
    [OP_reduce] = WORK,        [OP_scatter] = WORK,       [OP_sort] = WORK,
    [OP_reduce_window] = WORK, [OP_triangular_solve] = WORK,
};
static kind kind_of(const op *o) {
  return op_kind(o) >= OP_COUNT ? STAYS : select_is_elementwise(o) ? MOVE : kinds[op_kind(o)];
}

static known *find(const folding *f, const op *o) { return index_get(&f->of, o); }

static u64 result_bytes(const op *o) {
  u64 sum = 0;
  for (u32 i = 0; i < o->num_results; i++) sum += type_num_bytes(o->results[i].type);
  return sum;
}
static u64 moved_bytes(const op *o) {
  u64 sum = result_bytes(o);
  for (u32 i = 0; i < o->num_operands; i++) sum += type_num_bytes(op_operand(o, i)->type);
  return sum;
}

static walk_result reads_outside(void *user, op *o) {
  op *whole = user;
  for (u32 i = 0; i < o->num_operands && o != whole; i++)
    if (!op_is_inside(value_parent(op_operand(o, i)), whole)) return WALK_STOP;
  return WALK_ON;
}

static bool may_be_known(const folding *f, op *o) {
  kind k = kind_of(o);
  if (k == STAYS || (!o->num_operands && k != VIEW) || !op_is_effect_free(o)) return false;
  if (k != VIEW && moved_bytes(o) > (k == WORK ? MOST_WORK : MOST)) return false;
  for (u32 i = 0; i < o->num_operands; i++) {
    const op *def = value_op(op_operand(o, i));
    if (!def || !find(f, def)) return false;
  }
  for (u32 i = 0; i < o->num_results; i++)
    if (!type_num_bytes(o->results[i].type)) return false;
  return op_walk(o, reads_outside, o);
}

static bool is_repeated(op *o) {
  const dense_attr *d = attr_as(dense, o->slots[0]);
  i64 n;
  return d && (d->splat || (type_num_elements(d->type, &n) && n == 1));
}

/* What a loop only hands on is seen in it as it is outside. */
static void see_through(const folding *f, op *loop) {
  block *test = op_body(loop, 0), *body = op_body(loop, 1);
  for (u32 i = 0; i < loop->num_operands; i++) {
    value *v = loop_from_outside(loop, body->args[i]);
    if (!v || !value_op(v) || !find(f, value_op(v))) continue;
    value_replace(test->args[i], v);
    value_replace_except(body->args[i], v, op_terminator(body));
  }
}

static walk_result visit(void *user, op *o) {
  folding *f = user;
  if (op_is(o, while)) see_through(f, o);
  if (!may_be_known(f, o)) return WALK_ON;
  known *k = ARENA_NEW(f->a, known);
  *k = (known){.o = o};
  if (op_is(o, constant) && !is_repeated(o)) {
    k->from = result_bytes(o);
    f->bytes += k->from;
  }
  for (u32 i = 0; i < o->num_operands; i++) k->from += find(f, value_op(op_operand(o, i)))->from;
  if (k->from > f->bytes) k->from = f->bytes; /* the same again */
  index_set(&f->of, f->a, o, k);
  VEC_PUSH(f->a, f->all, k);
  return WALK_SKIP;
}

/* Who uses it is settled. */
static void settle(folding *f, known *k) {
  bool read = false;
  for (u32 i = 0; i < k->o->num_results; i++)
    for (const use *u = k->o->results[i].uses; u; u = u->next) {
      const known *by = find(f, u->owner);
      read |= !by || by->kept;
      k->needed |= by && by->needed;
    }
  u64 bytes = result_bytes(k->o);
  kind is = kind_of(k->o);
  k->end = read && (bytes <= SMALL || bytes <= k->from) && (is == WORK || (is == MOVE && k->from));
  k->kept = read && !k->end;
  k->needed |= k->end;
  for (u32 i = 0; k->end && i < k->o->num_results; i++)
    VEC_PUSH(f->a, f->ends, op_result(k->o, i));
}

/* A program without arguments whose results are the ends. */
static ir_module *extract(folding *f) {
  ir_module *m = ir_module_create(f->m->ctx);
  ir_map *map = ir_map_create(f->a);
  block *body = block_create(m);
  size_t n = f->ends.len;
  const type **types = ARENA_ARRAY(f->a, const type *, n);
  value **results = ARENA_ARRAY(f->a, value *, n);
  op *main = op_create(m, &op_infos[OP_func], m->root->loc, NULL, 0, NULL, 0, 1);
  op_insert(main, op_body(m->root, 0), NULL);
  region_append(&main->regions[0], body);
  for (size_t i = 0; i < f->all.len; i++)
    if (f->all.data[i]->needed) op_insert(op_clone(m, f->all.data[i]->o, map), body, NULL);
  for (size_t i = 0; i < n; i++) {
    types[i] = f->ends.data[i]->type;
    results[i] = ir_map_get(map, f->ends.data[i]);
  }
  op_insert(op_create(m, &op_infos[OP_func_return], main->loc, results, n, NULL, 0, 0), body, NULL);
  op_set(main, func, sym_name, attr_string(m->ctx, STR("main")));
  op_set(main, func, function_type,
         attr_type(m->ctx, type_function(m->ctx, (struct types){0}, (struct types){types, n})));
  return m;
}

static bool evaluate(folding *f, const compile_options *opt, void *const *to) {
  buf source;
  buf_init(&source, ir_mem(f->m->ctx));
  ir_module *m = extract(f);
  bool ok = bytecode_write(m, NULL, &source);
  ir_module_destroy(m);
  compile_options o = {.mem = opt->mem, .keep_denormals = opt->keep_denormals, .dump_to = ""};
  executable *e = NULL;
  status s = ok ? compile_source(buf_view(&source), &o, &e) : NULL;
  if (!s && e) s = opt->evaluate(e->prog, to);
  ok = e && !s;
  if (e) executable_release(e);
  buf_deinit(&source);
  status_free(s); /* then it is computed when the program runs, or fails then */
  return ok;
}

static bool is_one_value(const char *data, size_t size, size_t bytes) {
  return bytes > size && memcmp(data, data + size, bytes - size) == 0;
}

static void replace(folding *f, value *v, const char *data) {
  ir_ctx *c = f->m->ctx;
  size_t size = type_storage(v->type->elem), bytes = type_num_bytes(v->type);
  bool splat = is_one_value(data, size, bytes);
  const attr *a = attr_dense(c, v->type, (str){data, splat ? size : bytes}, splat, true);
  op *from = value_op(v);
  op *to = op_create(f->m, &op_infos[OP_constant], from->loc, NULL, 0, &v->type, 1, 0);
  op_set(to, constant, value, a);
  op_insert(to, from->parent, from);
  value_replace(v, op_result(to, 0));
}

void constants_fold(ir_module *m, arena *scratch, op *main, const compile_options *opt) {
  folding f = {.m = m, .a = scratch};
  const char *said = getenv("TERRAZZO_FOLD");
  if (!opt->evaluate || (said && str_is(str_of(said), "0"))) return;
  op_walk(main, visit, &f);
  for (size_t i = f.all.len; i-- > 0;) settle(&f, f.all.data[i]);
  if (!f.ends.len || f.bytes > MOST) return;
  void **data = ARENA_ARRAY(scratch, void *, f.ends.len);
  for (size_t i = 0; i < f.ends.len; i++)
    data[i] = arena_alloc(ir_arena(m->ctx), type_num_bytes(f.ends.data[i]->type));
  if (!evaluate(&f, opt, data)) return;
  for (size_t i = 0; i < f.ends.len; i++) replace(&f, f.ends.data[i], data[i]);
  ops_erase_dead(main, DEAD_WITHOUT_EFFECTS);
}
