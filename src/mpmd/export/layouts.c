/* What order elements lie in: what the user says of a function's arguments and results goes to the
 * fragments that take or make them. Source: openxla/shardy, mark_input_output_with_layouts.cc. */
#include "base/index.h"
#include "mpmd/export/passes.h"
#include "mpmd/export/util.h"
#include "shard/sharding_ir.h"

typedef struct layouts {
  ir_module *m;
  arena *a;
  op *func;
  const op *ret;
  const attr *any, *usual; /* "auto" and "default"; nothing said is the latter, too */
  hash_index open[2];      /* by func_side: op -> its value_dicts, until all is settled */
  VEC(value_dicts *) all;
} layouts;

static value_dicts *dicts_of(layouts *s, op *o, func_side side) {
  value_dicts *d = index_get(&s->open[side], o);
  if (d) return d;
  bool args = side == FUNC_ARGS;
  size_t n = op_is(o, func) ? func_num(o, side) : args ? o->num_operands : o->num_results;
  d = ARENA_NEW(s->a, value_dicts);
  dicts_open(s->m, s->a, o, args ? MPMD_ARG_ATTRS : MPMD_RES_ATTRS, n, d);
  index_set(&s->open[side], s->a, o, d);
  VEC_PUSH(s->a, s->all, d);
  return d;
}

static bool is_usual(const layouts *s, const attr *x) { return !x || x == s->usual; }

static bool agree(const layouts *s, const attr *x, const attr *y) {
  return x == y || (is_usual(s, x) && is_usual(s, y)) || x == s->any || y == s->any;
}

static const attr *said(layouts *s, func_side side, size_t i) {
  const value_dicts *d = dicts_of(s, s->func, side);
  const attr *x = i < d->n ? attr_dict_get(d->dicts[i], MPMD_LAYOUT) : NULL;
  return attr_is(string, x) ? x : NULL;
}

static void say(layouts *s, op *o, func_side side, size_t i, const attr *x) {
  dicts_put(s->m, dicts_of(s, o, side), i, MPMD_LAYOUT, is_usual(s, x) ? NULL : x);
}

static bool to_cpu(const op *o) {
  return op_is(o, mpmd_transfer) && mpmd_is_cpu_mesh(o->results[0].type->text);
}

typedef struct placed {
  const value *v;
  const attr *layout;
} placed;

/* Tells all that use the value, also behind transfers. */
static void tell_users(layouts *s, const value *v, const attr *layout) {
  VEC(placed) left = {0};
  VEC_PUSH(s->a, left, ((placed){v, layout}));
  while (left.len) {
    placed p = left.data[--left.len];
    for (const use *u = p.v->uses; u; u = u->next) {
      op *o = u->owner;
      size_t i = (size_t)(u - o->operands);
      if (op_is(o, mpmd_fragment))
        say(s, o, FUNC_ARGS, i, p.layout);
      else if (o == s->ret)
        say(s, s->func, FUNC_RESULTS, i, p.layout);
      else if (op_is(o, mpmd_transfer))
        VEC_PUSH(s->a, left, ((placed){op_result(o, 0), to_cpu(o) ? s->usual : p.layout}));
    }
  }
}

typedef struct wanted {
  const attr *layout; /* of all the results that it is; `any` where they say no more */
  i64 result;         /* which said so; -1: none */
  size_t fragments, transfers;
  bool on_cpu;
} wanted;

static bool ask_users(layouts *s, const value *v, wanted *w) {
  *w = (wanted){.layout = s->any, .result = -1};
  for (const use *u = v->uses; u; u = u->next) {
    const op *o = u->owner;
    if (op_is(o, mpmd_transfer)) {
      w->transfers++;
      w->on_cpu |= to_cpu(o);
    } else if (o != s->ret) {
      w->fragments++;
    } else {
      size_t i = (size_t)(u - o->operands);
      const attr *x = said(s, FUNC_RESULTS, i);
      if (!agree(s, w->layout, x))
        return loc_error(s->m->ctx, o->loc,
                         "Result #%lld is also returned as result #%zu, but with incompatible "
                         "layouts: %s vs. %s",
                         (long long)w->result, i, mpmd_show(s->a, w->layout), mpmd_show(s->a, x));
      if (x == s->any) continue;
      w->layout = x;
      w->result = (i64)i;
    }
  }
  return true;
}

/* Transfers to processors know the usual layout only; and what several see must not be chosen by
 * one of them. `most`: how many may see what is not said. */
static const attr *settle(layouts *s, const attr *loc, const char *what, size_t i, const attr *x,
                          const wanted *w, size_t most) {
  if (w->on_cpu) {
    if (!agree(s, x, s->usual))
      mpmd_warn(s->m->ctx, loc,
                "%s #%zu is used in a transfer op, but with a non-default layout: %s. Forcing the "
                "layout to default.",
                what, i, mpmd_show(s->a, x));
    return s->usual;
  }
  return x == s->any && w->fragments + w->transfers > most ? s->usual : x;
}

static bool place_argument(layouts *s, u32 i) {
  const block *b = op_body(s->func, 0);
  const value *v = b->args[i];
  const attr *x = said(s, FUNC_ARGS, i);
  wanted w;
  if (!v->uses) return true;
  if (!ask_users(s, v, &w)) return false;
  if (!agree(s, x, w.layout))
    return loc_error(s->m->ctx, s->func->loc,
                     "Arg #%u is returned as result #%lld, but with incompatible layouts: %s vs. "
                     "%s",
                     i, (long long)w.result, mpmd_show(s->a, x), mpmd_show(s->a, w.layout));
  if (w.layout != s->any) x = w.layout;
  const attr *loc = block_arg_loc(b, i);
  x = settle(s, loc ? loc : s->func->loc, "Arg", i, x, &w, 1);
  say(s, s->func, FUNC_ARGS, i, x);
  tell_users(s, v, x);
  return true;
}

static bool place_result(layouts *s, op *o, u32 i) {
  const attr *x = s->any; /* what nobody uses may lie as it likes */
  wanted w;
  if (o->results[i].uses) {
    if (!ask_users(s, op_result(o, i), &w)) return false;
    x = settle(s, o->loc, "Result", i, w.layout, &w, 0);
  }
  say(s, o, FUNC_RESULTS, i, x);
  tell_users(s, op_result(o, i), x);
  return true;
}

static bool place_all(layouts *s) {
  const block *b = op_body(s->func, 0);
  for (u32 i = 0; i < b->num_args; i++)
    if (!place_argument(s, i)) return false;
  for (op *o = b->first; o; o = o->next) {
    if (!op_is(o, mpmd_fragment)) continue;
    dicts_of(s, o, FUNC_RESULTS); /* though it may have none */
    for (u32 i = 0; i < o->num_results; i++)
      if (!place_result(s, o, i)) return false;
  }
  for (size_t i = 0; i < s->all.len; i++) dicts_close(s->m, s->all.data[i]);
  return true;
}

bool pass_mpmd_mark_layouts(ir_module *m, arena *scratch, const pass_args *args) {
  op_list functions = {0};
  (void)args;
  mpmd_with_bodies(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    op *f = functions.data[i];
    layouts s = {.m = m,
                 .a = scratch,
                 .func = f,
                 .ret = mpmd_func_return(f),
                 .any = attr_string(m->ctx, STR("auto")),
                 .usual = attr_string(m->ctx, STR("default"))};
    if (mpmd_is_entry_point(f) && !place_all(&s)) return false;
  }
  return true;
}
