/* What a program should not have when it is exported: each is a warning, or an error where an
 * option says so. Messages are Shardy's (shardy/dialect/mpmd/transforms/export/validate_no_*). */
#include "mpmd/export/passes.h"
#include "mpmd/export/util.h"
#include "shard/sharding_ir.h"
#include "shard/traits.h"
#include "text/text.h"

typedef struct judge {
  ir_module *m;
  arena *a;
  bool fails; /* what is found is an error */
  bool ok;
} judge;

static void judge_say(judge *j, const op *o, str text) {
  if (j->fails)
    j->ok = loc_error(j->m->ctx, o->loc, STR_FMT, STR_ARG(text));
  else
    op_warn(j->m->ctx, o, STR_FMT, STR_ARG(text));
}

/* The ops of one kind in functions with a topology, or with a mesh as well. */
static op_list ops_to_judge(judge *j, op_id id, bool all) {
  op_list functions = {0}, out = {0};
  if (all)
    mpmd_distributed(j->a, j->m, &functions);
  else
    mpmd_functions(j->a, j->m, &functions);
  for (size_t i = 0; i < functions.len; i++) ops_of_kind(j->a, functions.data[i], id, &out);
  return out;
}

/* ---- dependencies from later meshes to earlier ones ---- */

/* The call that makes a value, perhaps on another mesh; NULL: something else does. */
static op *producer_of(const value *v) {
  op *o = value_op(v);
  while (o && op_is(o, mpmd_transfer)) o = value_op(op_operand(o, 0));
  return o && op_is(o, mpmd_fragment_call) ? o : NULL;
}

static str call_mesh(const op *o) {
  str s = {0};
  attr_get_str(op_get(o, mpmd_fragment_call, mesh_name), &s);
  return s;
}

static void judge_order(judge *j, const op *consumer) {
  str to = call_mesh(consumer);
  for (u32 i = 0; i < consumer->num_operands; i++) {
    const op *producer = producer_of(op_operand(consumer, i));
    if (!producer) continue;
    str from = call_mesh(producer);
    if (mpmd_mesh_before(from, to) || str_eq(from, to)) continue;
    str first = symbol_of(op_get(producer, mpmd_fragment_call, callee));
    str second = symbol_of(op_get(consumer, mpmd_fragment_call, callee));
    judge_say(
        j, consumer,
        arena_printf(j->a,
                     "Detected backward dependency but expected forward-only pipeline since "
                     "there are no transpose fragments: fragment \"" STR_FMT "\" mesh=\"" STR_FMT
                     "\" produces a value consumed by fragment \"" STR_FMT "\" mesh=\"" STR_FMT
                     "\". In a forward-only pipeline, dependencies must go from earlier "
                     "meshes to later meshes.",
                     STR_ARG(first), STR_ARG(from), STR_ARG(second), STR_ARG(to)));
  }
}

/* Programs with gradients go back, as they should. */
bool pass_mpmd_no_backward_deps(ir_module *m, arena *scratch, const pass_args *args) {
  judge j = {m, scratch, pass_option_flag(args, STR("fail-on-backward-deps"), false), true};
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    const op *f = functions.data[i];
    op_list calls = {0};
    ops_of_kind(scratch, functions.data[i], OP_mpmd_fragment_call, &calls);
    if (mpmd_all_forward(calls))
      for (size_t k = 0; k < calls.len; k++) judge_order(&j, calls.data[k]);
    else if (j.fails)
      j.ok = loc_error(m->ctx, f->loc,
                       "Expected forward-only program but found non-forward fragments.");
  }
  return j.ok;
}

/* ---- fragments that nobody named ---- */

/* Passes whose fragments may stay, as things are. */
static const char *const excused[] = {"uniquify",
                                      "infer_mesh_wrap_meshless_ops",
                                      "extract_reshards",
                                      "infer_mesh_wrap_resultless_ops",
                                      "infer_mesh_convert_reduce_ops",
                                      "introduce_transfers"};

static bool is_excused(str pass) {
  for (size_t i = 0; i < COUNT(excused); i++)
    if (str_is(pass, excused[i])) return true;
  return false;
}

static void judge_fragment(judge *j, const op *o) {
  const array_attr *by = attr_as(array, op_discardable(o, MPMD_INFERRED_BY));
  if (!by || !by->elems.len) {
    j->ok = loc_error(j->m->ctx, o->loc,
                      "Internal error: inferred fragment missing '" STR_FMT "' attribute",
                      STR_ARG(MPMD_INFERRED_BY));
    return;
  }
  str names = {0};
  bool may_stay = false;
  for (size_t i = 0; i < by->elems.len; i++) {
    str pass = {0};
    attr_get_str(by->elems.data[i], &pass);
    may_stay |= is_excused(pass);
    names = arena_printf(j->a, STR_FMT "%s" STR_FMT, STR_ARG(names), i ? ", " : "", STR_ARG(pass));
  }
  judge lenient = {j->m, j->a, j->fails && !may_stay, true};
  judge_say(&lenient, o,
            arena_printf(j->a, "Inferred fragment has not been merged (inferred by " STR_FMT ")",
                         STR_ARG(names)));
  j->ok &= lenient.ok;
}

bool pass_mpmd_no_inferred_fragments(ir_module *m, arena *scratch, const pass_args *args) {
  judge j = {m, scratch, pass_option_flag(args, STR("fail-on-inferred-fragments"), true), true};
  op_list fragments = ops_to_judge(&j, OP_mpmd_fragment, true);
  for (size_t i = 0; i < fragments.len; i++)
    if (!fragment_is_user(fragments.data[i])) judge_fragment(&j, fragments.data[i]);
  return j.ok;
}

/* ---- parameters that move ---- */

static bool contains(str text, str part) {
  for (size_t i = 0; i + part.len <= text.len; i++)
    if (str_eq((str){text.data + i, part.len}, part)) return true;
  return false;
}

/* The name of a location, if the pattern is in it; else empty. */
static str name_with(const attr *loc, str pattern) {
  const loc_name_attr *n = attr_as(loc_name, loc);
  return n && contains(n->name, pattern) ? n->name : STR("");
}

static const attr *value_loc(const value *v) {
  return v->is_arg ? block_arg_loc(v->def.block, v->index) : value_op(v)->loc;
}

static void judge_transfer(judge *j, const op *o, str pattern) {
  if (mpmd_is_intra_mesh(o)) return;
  const value *v = op_operand(o, 0);
  str of_value = name_with(value_loc(v), pattern), of_op = name_with(o->loc, pattern);
  if (!of_value.len && !of_op.len) return;
  bool both = of_value.len && of_op.len && !str_eq(of_value, of_op);
  str first = of_value.len ? of_value : of_op;
  str names = both ? arena_printf(j->a, "\"" STR_FMT "\", \"" STR_FMT "\"", STR_ARG(of_value),
                                  STR_ARG(of_op))
                   : arena_printf(j->a, "\"" STR_FMT "\"", STR_ARG(first));
  judge_say(j, o,
            arena_printf(j->a,
                         "Detected cross-mesh transfer of a parameter matching \"" STR_FMT
                         "\" from mesh \"" STR_FMT "\" to \"" STR_FMT "\". JAX locations: [" STR_FMT
                         "]",
                         STR_ARG(pattern), STR_ARG(v->type->text),
                         STR_ARG(o->results[0].type->text), STR_ARG(names)));
}

bool pass_mpmd_no_param_transfers(ir_module *m, arena *scratch, const pass_args *args) {
  judge j = {m, scratch, pass_option_flag(args, STR("fail-on-param-transfers"), false), true};
  str pattern = pass_option_get(args, STR("param-pattern"), STR(MPMD_PARAM_PATTERN));
  op_list transfers = ops_to_judge(&j, OP_mpmd_transfer, false);
  for (size_t i = 0; i < transfers.len; i++) judge_transfer(&j, transfers.data[i], pattern);
  return j.ok;
}

/* ---- fragments that only reshard ---- */

static bool only_reshards(const op *func) {
  const block *b = op_body(func, 0);
  const op *ret = b ? b->first : NULL;
  if (!ret || ret->next || !op_is(ret, func_return)) return false;
  for (u32 i = 0; i < ret->num_operands; i++)
    if (!op_operand(ret, i)->is_arg) return false;
  return true;
}

static void show_place(judge *j, buf *b, const type *t) {
  if (t->encoding)
    buf_printf(b, "%s", text_show_attr(j->a, t->encoding));
  else
    BUF_LIT(b, "Replicated");
  BUF_LIT(b, " <");
  for (size_t i = 0; i < t->dims.len; i++)
    buf_printf(b, "%s%lld", i ? "x" : "", (long long)t->dims.data[i]);
  buf_printf(b, "x%s>", text_show_type(j->a, type_element(mpmd_whole(t))));
}

static void show_loc(judge *j, buf *b, const attr *loc) {
  buf_printf(b, " %s", text_show_attr(j->a, loc ? loc : loc_unknown(j->m->ctx)));
}

/* Where a value is returned, and what JAX calls that result. */
static void show_returned(judge *j, buf *b, const op *func, const value *v) {
  for (const use *u = v->uses; u; u = u->next) {
    if (!op_is(u->owner, func_return)) continue;
    size_t i = (size_t)(u - u->owner->operands);
    str name;
    if (!attr_get_str(func_named(func, FUNC_RESULTS, i, MPMD_RESULT_INFO), &name)) continue;
    show_loc(j, b, attr_make(j->m->ctx, loc_name, .name = name, .child = loc_unknown(j->m->ctx)));
  }
}

static void judge_call(judge *j, const op *o) {
  const op *callee = mpmd_callee(j->m, o);
  if (!callee || !only_reshards(callee)) return;
  str name = symbol_name(callee);
  const array_attr *origins = attr_as(array, op_get(o, mpmd_fragment_call, origin));
  if (origins && origins->elems.len) {
    j->ok =
        loc_error(j->m->ctx, o->loc,
                  "Internal error: reshard-only fragment '" STR_FMT "' is not an inferred fragment",
                  STR_ARG(name));
    return;
  }
  buf b;
  buf_init(&b, ir_mem(j->m->ctx));
  buf_printf(&b,
             "Detected reshard-only fragment '" STR_FMT
             "'. This usually indicates an unexpected reshard. Operands: ",
             STR_ARG(name));
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *v = op_operand(o, i);
    if (i) BUF_LIT(&b, ", ");
    show_place(j, &b, v->type);
    show_loc(j, &b, value_loc(v));
  }
  BUF_LIT(&b, ". Results: ");
  for (u32 i = 0; i < o->num_results; i++) {
    if (i) BUF_LIT(&b, ", ");
    show_place(j, &b, o->results[i].type);
    show_returned(j, &b, mpmd_func(o), &o->results[i]);
  }
  judge_say(j, o, buf_take(&b, j->a));
}

bool pass_mpmd_no_reshards(ir_module *m, arena *scratch, const pass_args *args) {
  judge j = {m, scratch, pass_option_flag(args, STR("fail-on-reshard-only-fragments"), false),
             true};
  op_list calls = ops_to_judge(&j, OP_mpmd_fragment_call, true);
  for (size_t i = 0; i < calls.len; i++) judge_call(&j, calls.data[i]);
  return j.ok;
}
