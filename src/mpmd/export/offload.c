/* What lies in the memory of the host: fragments get to know it of arguments and results, and a
 * function's own must agree. Source: openxla/shardy, mark_offloaded_input_output.cc. */
#include "mpmd/export/passes.h"
#include "mpmd/export/util.h"
#include "shard/sharding_ir.h"
#include "text/text.h"

typedef struct offload {
  ir_module *m;
  arena *a;
  op *func;
  bool ok;
} offload;

/* ---- inside of fragments ---- */

static bool changes_ones_only(const op *o) {
  const i64s x = op_operand(o, 0)->type->dims, y = o->results[0].type->dims;
  size_t i = 0, k = 0;
  for (;; i++, k++) {
    while (i < x.len && x.data[i] == 1) i++;
    while (k < y.len && y.data[k] == 1) k++;
    if (i == x.len || k == y.len) return i == x.len && k == y.len;
    if (x.data[i] != y.data[k]) return false;
  }
}

static str call_target(const op *o) {
  str s = {0};
  if (op_is(o, custom_call)) attr_get_str(op_get(o, custom_call, call_target_name), &s);
  return s;
}

/* Calls that say something of shardings, and move nothing. */
static bool is_annotation(const op *o) {
  str s = call_target(o);
  return str_is(s, "Sharding") || str_is(s, "SPMDShardToFullShape") ||
         str_is(s, "SPMDFullToShardShape");
}

/* What the result of a region or a function is in there. */
static value *yielded(const op *holder, size_t region, u32 i) {
  const block *b = holder && holder->num_regions > region ? op_body(holder, region) : NULL;
  const op *end = b ? op_terminator(b) : NULL;
  return end && i < end->num_operands ? op_operand(end, i) : NULL;
}

/* What lies where result v does; NULL: it does not follow from another value. */
static value *source_of(const offload *s, const value *v) {
  const op *o = value_op(v);
  if (op_is(o, optimization_barrier)) return op_operand(o, v->index);
  if (op_is(o, while)) return yielded(o, 1, v->index);
  if (op_is(o, dynamic_update_slice)) return op_operand(o, 1);
  bool shape = op_is(o, reshape) || op_is(o, broadcast_in_dim);
  if (o->num_operands && ((shape && changes_ones_only(o)) || is_annotation(o)))
    return op_operand(o, 0);
  return op_is(o, call) ? yielded(mpmd_callee(s->m, o), 0, v->index) : NULL;
}

/* Is v, not an argument, in the memory of the host, because it was put there or computed there? */
static bool is_on_host(offload *s, const value *v) {
  while (v && !v->is_arg) {
    const op *o = value_op(v);
    const attr *dict = op_discardable(o, FRONTEND_ATTRIBUTES);
    str text;
    if (attr_get_str(attr_dict_get(dict, STR("_xla_compute_type")), &text))
      return str_is(text, "host");
    const value *from = source_of(s, v);
    if (!from && str_is(call_target(o), "annotate_device_placement")) {
      if (attr_get_str(attr_dict_get(dict, STR("_xla_buffer_placement")), &text))
        return str_is(text, MPMD_PINNED_HOST);
      s->ok = op_error(s->m->ctx, o, "does not say by '_xla_buffer_placement' where it places");
    }
    v = from;
  }
  return false;
}

static void put_on_host(offload *s, value_dicts *d, size_t i) {
  dicts_put(s->m, d, i, MPMD_MEMORY_KIND, attr_string(s->m->ctx, STR(MPMD_PINNED_HOST)));
}

static void mark_fragment(offload *s, op *o) {
  value_dicts in, out;
  dicts_open(s->m, s->a, o, MPMD_ARG_ATTRS, o->num_operands, &in);
  dicts_open(s->m, s->a, o, MPMD_RES_ATTRS, o->num_results, &out);
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *v = op_operand(o, i);
    const op *by = value_op(v);
    bool host = by ? op_is(by, mpmd_fragment) && mpmd_on_host(by, MPMD_RES_ATTRS, v->index)
                   : mpmd_on_host(s->func, MPMD_ARG_ATTRS, v->index);
    if (host) put_on_host(s, &in, i);
  }
  const op *ret = op_terminator(op_body(o, 0));
  for (u32 i = 0; i < ret->num_operands; i++)
    if (is_on_host(s, op_operand(ret, i))) put_on_host(s, &out, i);
  dicts_close(s->m, &in);
  dicts_close(s->m, &out);
}

/* ---- the function ---- */

/* Transfers say nothing: what is on the host is not transferred as such. */
static const attr *kind_at_use(const offload *s, const use *u) {
  size_t i = (size_t)(u - u->owner->operands);
  if (op_is(u->owner, mpmd_fragment))
    return mpmd_value_attr(u->owner, MPMD_ARG_ATTRS, i, MPMD_MEMORY_KIND);
  return op_is(u->owner, func_return) ? func_named(s->func, FUNC_RESULTS, i, MPMD_MEMORY_KIND)
                                      : NULL;
}

static bool on_device(const attr *kind) {
  str s;
  return !attr_get_str(kind, &s) || str_is(s, MPMD_DEVICE);
}

static const char *show_op(offload *s, const op *o) {
  buf b;
  buf_init(&b, ir_mem(s->m->ctx));
  text_print_op(&b, s->m->ctx, o, &(text_print_options){.skip_regions = true});
  buf_char(&b, 0);
  return buf_take(&b, s->a).data;
}

static void check_argument(offload *s, u32 i) {
  const block *b = op_body(s->func, 0);
  const value *v = b->args[i];
  const attr *kind = func_named(s->func, FUNC_ARGS, i, MPMD_MEMORY_KIND), *said;
  const attr *loc = block_arg_loc(b, i) ? block_arg_loc(b, i) : s->func->loc;
  if (!v->uses) return;
  said = kind_at_use(s, v->uses);
  for (const use *u = v->uses->next; u; u = u->next) {
    const attr *x = kind_at_use(s, u);
    if (x == said) continue;
    s->ok = loc_error(s->m->ctx, loc,
                      "Memory kind mismatch between users of arg %u: %s vs %s\n%s vs \n%s", i,
                      mpmd_show(s->a, said), mpmd_show(s->a, x), show_op(s, v->uses->owner),
                      show_op(s, u->owner));
  }
  if (on_device(kind) != on_device(said))
    s->ok = loc_error(s->m->ctx, loc, "Memory kind mismatch between arg %u and users: %s vs %s", i,
                      mpmd_show(s->a, kind), mpmd_show(s->a, said));
}

static void check_result(offload *s, const op *ret, u32 i) {
  const value *v = op_operand(ret, i);
  const op *by = value_op(v);
  const attr *kind = func_named(s->func, FUNC_RESULTS, i, MPMD_MEMORY_KIND), *made = NULL;
  if (v->is_arg)
    made = func_named(s->func, FUNC_ARGS, v->index, MPMD_MEMORY_KIND);
  else if (op_is(by, mpmd_fragment))
    made = mpmd_value_attr(by, MPMD_RES_ATTRS, v->index, MPMD_MEMORY_KIND);
  if (on_device(kind) != on_device(made))
    s->ok = loc_error(s->m->ctx, ret->loc,
                      "Memory kind mismatch between result %u and defining op: %s vs %s", i,
                      mpmd_show(s->a, kind), mpmd_show(s->a, made));
}

static void mark_function(offload *s) {
  const block *b = op_body(s->func, 0);
  for (op *o = b->first; o; o = o->next)
    if (op_is(o, mpmd_fragment)) mark_fragment(s, o);
  for (u32 i = 0; i < b->num_args; i++) check_argument(s, i);
  const op *ret = mpmd_func_return(s->func);
  for (u32 i = 0; ret && i < ret->num_operands; i++) check_result(s, ret, i);
}

bool pass_mpmd_mark_offloaded(ir_module *m, arena *scratch, const pass_args *args) {
  op_list functions = {0};
  offload s = {m, scratch, NULL, true};
  (void)args;
  mpmd_with_bodies(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    s.func = functions.data[i];
    if (mpmd_is_entry_point(s.func)) mark_function(&s);
  }
  return s.ok;
}
