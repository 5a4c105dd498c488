/* The walk over the module: each op goes to its function of lower_table.c. */
#include "compile/lower.h"

#include "compile/steps.h"

/* In program order, on which everything in fuse.c and node.c relies: an operand's node is there
 * before its user asks for it. One that is not (a function whose op bound nothing) is an error
 * of the user, not a crash. */
bool lower_block(lower *L, block *b) {
  op *end = op_terminator(b);
  for (op *o = b->first; o != end; o = o->next) {
    lower_fn *fn = op_kind(o) < OP_COUNT ? lower_of[op_kind(o)] : lower_foreign;
    if (!fn) return lower_none(L, o);
    for (u32 i = 0; i < o->num_operands; i++)
      if (!lower_node(L, o, i)) return lower_none(L, o);
    L->at = o;
    if (!fn(L, o)) return false;
  }
  L->at = end;
  return true;
}

/* Parameters of the program: their slots, and their nodes. */
static bool bind_params(lower *L, op *main, block *body) {
  for (u32 i = 0; i < body->num_args; i++) {
    node *n = lower_new_node(L, main, body->args[i]);
    if (!n) return false;
    n->result = -1;
    lower_make_dense(L, n, prog_param(L->b, (dtype)n->type, (u64)n->count));
  }
  return true;
}

/* Results of the program: their slots, and which values are computed right into them (the
 * planner decides that for those that take over a parameter). */
static bool make_results(lower *L, const op *end, const i32 *alias) {
  L->result_slot = ARENA_ARRAY(L->a, u32, end->num_operands);
  for (u32 i = 0; i < end->num_operands; i++) {
    const value *v = op_operand(end, i);
    dtype t;
    i64 count;
    if (!type_is_ranked(v->type) || !type_num_elements(v->type, &count) ||
        !lower_dtype(v->type->elem, &t))
      return op_unimplemented(L->ctx, end, "a value of a type that cannot be run");
    i32 from = alias ? alias[i] : -1;
    L->result_slot[i] = prog_result(L->b, t, (u64)count, from);
    if (!v->is_arg && L->result_of[v->num] < 0)
      L->result_of[v->num] = from < 0 ? (i32)i : LATER_MOVED;
  }
  return true;
}

/* Runs after everything else. A value that is returned twice, a parameter or a constant lies
 * somewhere else already and is moved; the planner makes moves vanish where it can. */
static bool finish_results(lower *L, op *end) {
  for (u32 i = 0; i < end->num_operands; i++) {
    node *n = lower_node(L, end, i);
    u32 slot = fuse_dense(L, n);
    lower_used(n);
    if (slot != L->result_slot[i])
      prog_add_move(L->b, slot, L->result_slot[i], STR("return"), lower_loc(L));
  }
  return true;
}

/* Values get numbers of their own here, dense over the whole of main with its regions, since
 * nodes are found by them in plain arrays. */
typedef struct numbering {
  u32 next;
} numbering;
static walk_result number_op(void *user, op *o) {
  numbering *n = user;
  for (u32 i = 0; i < o->num_results; i++) o->results[i].num = n->next++;
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) b->args[i]->num = n->next++;
  return WALK_ON;
}

bool lower_main(ir_ctx *ctx, arena *scratch, prog_builder *b, shard_space *space, op *main,
                const i32 *alias, u32 num_replicas, u32 num_partitions) {
  numbering values = {0};
  op_walk(main, number_op, &values);
  lower L = {.ctx = ctx,
             .moved_from = PROG_NONE,
             .a = scratch,
             .b = b,
             .space = space,
             .num_replicas = num_replicas,
             .num_partitions = num_partitions,
             .at = main};
  L.node_of = arena_zalloc(scratch, (values.next + 1) * sizeof(node *));
  L.scalar_of = arena_zalloc(scratch, (values.next + 1) * sizeof(u32));
  L.result_of = ARENA_ARRAY(scratch, i32, values.next + 1);
  memset(L.result_of, 0xff, (values.next + 1) * sizeof(i32));
  block *body = op_body(main, 0);
  op *end = op_terminator(body);
  return bind_params(&L, main, body) && make_results(&L, end, alias) && lower_block(&L, body) &&
         finish_results(&L, end);
}
