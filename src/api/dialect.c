/* Registering ops of foreign dialects, and loading them from shared objects.
 *
 * tz_register_op turns the caller's tz_op_def into what the compiler knows of its own ops: an
 * op_info, as a row of ir/ops.def gives, and op_hooks, whose functions here call the caller's
 * callbacks. Everything is copied into the context, so definitions may be temporaries. Callbacks
 * come from other people's code: what they answer is checked before it goes on, and errors name the
 * method. */
#include "api/dialect.h"

#include <stdio.h>

#include "api/api.h"
#include "base/os.h"
#include "dialect/dialect.h"
#include "shard/op_priorities.h"
#include "text/form.h"

/* Hooks are asked many times over (propagation asks a rule for each op and round), so an error that
 * comes again is only counted. flow and rule hooks have no module at hand: hence the context in
 * d. */
bool method_error(const op *o, const char *method, const char *fmt, ...) {
  char text[256];
  va_list ap;
  foreign_def *d = (foreign_def *)(uintptr_t)def_of(o);
  if (d->said_of == o && d->said_method == method) return ir_sink(d->context->ir)->errors++, false;
  d->said_of = o;
  d->said_method = method;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  return op_error(def_of(o)->context->ir, o, "method '%s' of its dialect %s", method, text);
}

bool tz_op_error(tz_context *c, const tz_op *o, const char *message) {
  if (c && o && message) op_error(c->ir, op_of(o), "%s", message);
  return false;
}

/* ---- hooks ---- */

/* Reports an error that a callback came back with; true if there was none. */
static bool succeeds(const op *o, const char *method, tz_error *e) {
  if (!e) return true;
  method_error(o, method, "fails: %s", tz_error_message(e));
  tz_error_free(e);
  return false;
}

/* NULL: no rule, after an error or because the op has none. */
static const attr *rule_hook(ir_ctx *c, op *o) {
  const foreign_def *d = def_of(o);
  const tz_attr *a = NULL;
  ir_module at = {.ctx = c};
  if (!succeeds(o, "sharding_rule", d->def.sharding_rule(d->def.user, d->context, op_out(o), &a)) ||
      !a)
    return NULL;
  if (!attr_is(op_sharding_rule, attr_of(a))) {
    method_error(o, "sharding_rule", "answers with what is no sdy.op_sharding_rule");
    return NULL;
  }
  if (dialect_check_rule(&at, o, attr_of(a))) return attr_of(a);
  method_error(o, "sharding_rule", "answers with a rule that does not fit the op");
  return NULL;
}

/* Each type is NULL beforehand to tell what the callback leaves out. */
static bool infer_hook(ir_module *m, op *o, const type **out) {
  const foreign_def *d = def_of(o);
  const tz_type **t = (const tz_type **)(void *)out;
  for (u32 i = 0; i < o->num_results; i++) out[i] = NULL;
  if (!succeeds(o, "infer", d->def.infer(d->def.user, d->context, op_out(o), t))) return false;
  for (u32 i = 0; i < o->num_results; i++)
    if (!out[i]) return method_error(o, "infer", "leaves out the type of result #%u", i);
  (void)m;
  return true;
}

static bool check_inferred(ir_module *m, op *o) {
  const type **t = ARENA_ARRAY(ir_arena(m->ctx), const type *, o->num_results);
  if (!infer_hook(m, o, t)) return false;
  for (u32 i = 0; i < o->num_results; i++)
    if (t[i] != o->results[i].type)
      return op_error(m->ctx, o, "result #%u must be '%s', but is '%s'", i,
                      dialect_show_type(m->ctx, t[i]),
                      dialect_show_type(m->ctx, o->results[i].type));
  return true;
}

/* Elementwise: tensors of rank above 0 have one shape. */
static bool check_elementwise(ir_module *m, op *o) {
  const type *like = NULL;
  for (u32 i = 0; i < o->num_operands + o->num_results; i++) {
    const type *t =
        i < o->num_operands ? op_operand(o, i)->type : o->results[i - o->num_operands].type;
    if (!type_is_ranked(t))
      return op_error(m->ctx, o, "is elementwise and takes and gives ranked tensors");
    if (!t->dims.len) continue;
    if (like && !i64s_eq(like->dims, t->dims))
      return op_error(m->ctx, o, "is elementwise, but its tensors have different shapes");
    like = t;
  }
  return true;
}

static bool check_constant(ir_module *m, op *o, const char *name) {
  const attr *a = op_attr(o, str_of(name));
  const dense_attr *d = attr_as(dense, a);
  if (o->num_operands || o->num_results != 1)
    return op_error(m->ctx, o, "is a constant, which has no operands and one result");
  if (!d || d->type != o->results[0].type)
    return op_error(m->ctx, o, "needs a dense constant of its result's type as attribute '%s'",
                    name);
  return true;
}

/* Asks everything that can be asked of the op, so that what later stages ask has been answered
 * once. Errors count, whatever a callback returns. */
static bool verify_hook(ir_module *m, op *o) {
  foreign_def *d = (foreign_def *)(uintptr_t)def_of(o);
  u32 before = ir_sink(m->ctx)->errors;
  d->said_of = NULL;
  if (d->def.constant && !check_constant(m, o, d->def.constant)) return false;
  if (op_has(o, ELEMENTWISE) && !check_elementwise(m, o)) return false;
  if (d->def.verify && !d->def.verify(d->def.user, d->context, op_out(o))) {
    if (ir_sink(m->ctx)->errors == before) op_error(m->ctx, o, "is refused by its dialect");
    return false;
  }
  if (d->def.infer && !check_inferred(m, o)) return false;
  if (d->def.sharding_rule) rule_hook(m->ctx, o);
  if (d->def.data_flow && !flow_verify(m, o)) return false;
  return ir_sink(m->ctx)->errors == before;
}

/* ---- partitioning ---- */

/* An op while the partitioner makes it local; on the stack of the hook, so valid in the callback
 * only. */
struct tz_local {
  struct local *l;
  op *o;
};

static status begin(tz_local *l, const value *v, size_t dim, tz_value **out_begin) {
  if (dim >= type_rank(v->type))
    return wrong("a value of rank %zu has no dimension %zu", type_rank(v->type), dim);
  *out_begin = value_out(part_shard_begin(l->l, l->o, v, (u32)dim));
  return NULL;
}

tz_error *tz_local_begin(tz_local *l, const tz_value *v, size_t dim, tz_value **out_begin) {
  if (!l || !v || !out_begin) return bad_handle();
  *out_begin = NULL;
  ENTER(def_of(l->o)->context);
  return leave(&entry_, begin(l, value_of(v), dim, out_begin));
}

const tz_type *tz_local_whole_type(const tz_local *l, const tz_value *v) {
  return l && v ? type_out(part_whole_type(l->l, value_of(v))) : NULL;
}

/* The callback may give the op's own result (it has changed the op), or that of a new op of the
 * same block and type. */
static bool make_local_hook(struct local *l, ir_module *m, op *o, value **out) {
  const foreign_def *d = def_of(o);
  tz_local at = {l, o};
  tz_value *v = NULL;
  tz_module *handle = module_handle(d->context, m);
  if (!succeeds(o, "make_local",
                d->def.partition->make_local(d->def.user, handle, op_out(o), &at, &v)))
    return false;
  *out = value_of(v);
  if (!*out || *out == op_result(o, 0)) return true;
  if (o->num_results == 1 && !(*out)->is_arg && (*out)->type == op_result(o, 0)->type &&
      (*out)->def.op->parent == o->parent)
    return true;
  return method_error(o, "make_local", "answers with what cannot stand for its result");
}

static bool decompose_hook(ir_module *m, op *o, value **out) {
  const foreign_def *d = def_of(o);
  tz_value **v = ARENA_ARRAY(ir_arena(d->context->ir), tz_value *, o->num_results + 1);
  memset(v, 0, (o->num_results + 1) * sizeof *v);
  tz_module *handle = module_handle(d->context, m);
  if (!succeeds(o, "decompose", d->def.decompose(d->def.user, handle, op_out(o), v))) return false;
  for (u32 i = 0; i < o->num_results; i++) {
    out[i] = value_of(v[i]);
    bool own = out[i] && !out[i]->is_arg && out[i]->def.op == o;
    if (!out[i] || own || out[i]->type != op_result(o, i)->type)
      return method_error(o, "decompose", "answers with what cannot stand for result %u", i);
  }
  return true;
}

/* ---- registering ---- */

static const char *copied(tz_context *c, const char *s) {
  return s ? arena_str(ir_arena(c->ir), str_of(s)).data : NULL;
}

static size_t count_names(const char *const *list) {
  size_t n = 0;
  while (list && list[n]) n++;
  return n;
}

/* The name without its mark, "?" for one that may lack and "*" for a list; false: there is none. */
static bool unmarked(tz_context *c, const char *s, char *mark, const char **out) {
  size_t n = strlen(s);
  *mark = n && (s[n - 1] == '?' || s[n - 1] == '*') ? s[n - 1] : 0;
  *out = arena_str(ir_arena(c->ir), (str){s, n - (*mark != 0)}).data;
  return n > (*mark != 0);
}

/* One list at most: otherwise nobody could tell which operand is whose. */
static status read_values(tz_context *c, const char *const *names, const value_info **out,
                          u32 *num) {
  size_t n = count_names(names), lists = 0;
  value_info *v = ARENA_ARRAY(ir_arena(c->ir), value_info, n + 1);
  for (size_t i = 0; i < n; i++) {
    char mark;
    v[i] = (value_info){.is = IS_any};
    if (!unmarked(c, names[i], &mark, &v[i].name)) return wrong("an operand or result has no name");
    v[i].arity = mark == '*' ? MANY : mark == '?' ? MAYBE : ONE;
    lists += mark != 0;
  }
  if (lists > 1) return wrong("there is more than one list of operands or results");
  if (!names) { /* anything goes */
    v[0] = (value_info){.name = "values", .arity = MANY, .is = IS_any};
    n = 1;
  }
  *out = v;
  *num = (u32)n;
  return NULL;
}

static status read_slots(tz_context *c, const char *const *names, op_info *info) {
  size_t n = count_names(names);
  if (n > 32) return wrong("more than 32 inherent attributes");
  slot_info *s = ARENA_ARRAY(ir_arena(c->ir), slot_info, n + 1);
  for (size_t i = 0; i < n; i++) {
    char mark;
    s[i] = (slot_info){.kind = SLOT_any, .attr_id = -1};
    if (!unmarked(c, names[i], &mark, &s[i].name) || mark == '*')
      return wrong("'%s' names no attribute", names[i]);
    s[i].need = mark ? OPTIONAL : REQUIRED;
  }
  info->slots = s;
  info->num_slots = (u32)n;
  return NULL;
}

/* Public numbers are fixed by the ABI, inner ones are not. */
static u32 traits_of(u32 t) {
  static const struct {
    u32 from, to;
  } map[] = {
      {TZ_PURE, PURE},
      {TZ_COMMUTATIVE, COMMUTES},
      {TZ_TERMINATOR, TERMINATOR},
      {TZ_SAME_TYPE, SAME_TYPE},
      {TZ_SAME_SHAPE, SAME_SHAPE},
      {TZ_ISOLATED, ISOLATED},
      {TZ_SINGLE_BLOCK, SINGLE_BLOCK},
      {TZ_NO_TERMINATOR, NO_TERMINATOR},
      {TZ_BODY_EFFECTS, BODY_EFFECTS},
      {TZ_ELEMENTWISE, ELEMENTWISE | PURE},
      {TZ_CONSTANT_LIKE, CONSTANT | PURE},
      {TZ_CONSTANT_FOLDABLE, FOLDABLE | PURE},
  };
  u32 out = 0;
  for (size_t i = 0; i < COUNT(map); i++)
    if (t & map[i].from) out |= map[i].to;
  return out;
}

/* A row of ours must not be hidden by a foreign op of that name. */
static bool is_ours(str name) {
  static const char *const ours[] = {"builtin.", "func.", "stablehlo.", "chlo.", "sdy.", "vhlo."};
  for (size_t i = 0; i < COUNT(ours); i++)
    if (str_starts(name, str_of(ours[i]))) return true;
  return false;
}

/* of a word in MLIR text */
#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.-"
static status check_name(const char *what, const char *name) {
  const char *dot = name ? strchr(name, '.') : NULL;
  if (!dot || dot == name || !dot[1] || name[strspn(name, NAME_CHARS)])
    return wrong("%s is named dialect.mnemonic", what);
  return is_ours(str_of(name)) ? wrong("'%s' is in a dialect of Terrazzo's", name) : NULL;
}

/* All that the definition alone can tell, before anything is copied. */
static status check_def(const tz_op_def *d) {
  RETURN_IF_ERROR(check_name("an op", d->name));
  if (d->regions < -1 || d->regions >= ANY_REGIONS)
    return wrong("'%s' cannot have %d regions", d->name, d->regions);
  if (d->data_flow && d->sharding_rule)
    return wrong("'%s' has data flow, so it has no sharding rule", d->name);
  const tz_data_flow *f = d->data_flow;
  if (f && (!f->owner_of_target || !f->owner_of_source || !f->sources))
    return wrong("the data flow of '%s' lacks owner_of_target, owner_of_source or sources",
                 d->name);
  if (f && !f->get_shardings != !f->set_shardings)
    return wrong("the data flow of '%s' has only one of get_shardings and set_shardings", d->name);
  if (f && f->arg_owner_region >= 0 && !f->get_shardings && !f->arg_shardings)
    return wrong("the data flow of '%s' does not say where arguments' shardings are", d->name);
  if (f && f->arg_owner_region >= 255) return wrong("a region's number is below 255");
  const tz_partition_def *p = d->partition;
  if (p && (p->combiner > TZ_OR || p->linear > TZ_LINEAR_ONE))
    return wrong("how '%s' is partitioned has a number that means nothing", d->name);
  if (d->collective && !d->collective->out_sharding)
    return wrong("the collective '%s' does not say where its sharding is", d->name);
  return NULL;
}

/* The definition and what it points to, in our sizes; pointers in it are then to ours. */
static status read_def(const tz_op_def *given, foreign_def *d) {
  RETURN_IF_ERROR(SIZED_READ(tz_op_def, given, &d->def));
  if (d->def.data_flow) {
    RETURN_IF_ERROR(SIZED_READ(tz_data_flow, d->def.data_flow, &d->data_flow));
    d->data_flow.struct_size = sizeof d->data_flow;
    d->def.data_flow = &d->data_flow;
  }
  if (d->def.collective) {
    RETURN_IF_ERROR(SIZED_READ(tz_collective_def, d->def.collective, &d->collective));
    d->collective.struct_size = sizeof d->collective;
    d->def.collective = &d->collective;
  }
  if (d->def.partition) {
    RETURN_IF_ERROR(SIZED_READ(tz_partition_def, d->def.partition, &d->partition));
    d->partition.struct_size = sizeof d->partition;
    d->def.partition = &d->partition;
  }
  return NULL;
}

/* Hooks are NULL where the definition has no callback, which is how the compiler asks whether there
 * is one. */
static void fill_hooks(tz_context *c, foreign_def *d) {
  if (d->def.data_flow) {
    d->data_flow.arg_shardings = copied(c, d->data_flow.arg_shardings);
    d->data_flow.result_shardings =
        d->data_flow.result_shardings ? copied(c, d->data_flow.result_shardings) : "sdy.sharding";
    flow_fill(d);
  }
  if (d->def.collective) {
    d->hooks.out_sharding = d->collective.out_sharding = copied(c, d->collective.out_sharding);
    d->hooks.any_mesh = d->collective.allow_different_meshes;
    d->hooks.may_lack = d->collective.allow_missing_input_sharding;
  }
  d->hooks.user = d;
  d->hooks.verify = verify_hook;
  d->hooks.infer = d->def.infer ? infer_hook : NULL;
  d->hooks.rule = d->def.sharding_rule ? rule_hook : NULL;
  d->hooks.decompose = d->def.decompose ? decompose_hook : NULL;
  d->hooks.keeps_divisible = d->def.keep_results_divisible;
  d->hooks.constant = d->def.constant = copied(c, d->def.constant);
  if (d->def.partition) {
    const tz_partition_def *p = &d->partition;
    d->hooks.combiner = (u8)p->combiner;
    d->hooks.linear = (u8)p->linear;
    d->hooks.make_local = p->make_local ? make_local_hook : NULL;
  }
  d->record = part_row_of_hooks(&d->info);
  d->hooks.record = &d->record;
}

/* A NULL-terminated list; NULL stays NULL. */
static const char *const *copied_list(tz_context *c, const char *const *list) {
  size_t n = 0;
  while (list && list[n]) n++;
  const char **out = list ? ARENA_ARRAY(ir_arena(c->ir), const char *, n + 1) : NULL;
  for (size_t i = 0; i < n; i++) out[i] = copied(c, list[i]);
  if (out) out[n] = NULL;
  return out;
}

/* A failure leaves some bytes in the context's arena and no op. */
static status register_op(tz_context *c, const tz_op_def *given) {
  foreign_def *d = ARENA_NEW(ir_arena(c->ir), foreign_def);
  RETURN_IF_ERROR(read_def(given, d));
  const tz_op_def *def = &d->def;
  RETURN_IF_ERROR(check_def(def));
  d->context = c;
  str name = arena_str(ir_arena(c->ir), str_of(def->name));
  d->def.name = name.data;
  d->def.form = copied(c, def->form);
  d->def.operands = copied_list(c, def->operands);
  d->def.results = copied_list(c, def->results);
  d->def.attrs = copied_list(c, def->attrs);
  d->def.struct_size = sizeof d->def;
  d->info = (op_info){.name = name,
                      .id = OP_unregistered,
                      .family = FAMILY_own,
                      .traits = traits_of(def->traits),
                      .num_regions = def->regions < 0 ? ANY_REGIONS : (u32)def->regions,
                      .form = d->def.form,
                      .hooks = &d->hooks};
  RETURN_IF_ERROR(read_values(c, def->operands, &d->info.operands, &d->info.num_operands));
  RETURN_IF_ERROR(read_values(c, def->results, &d->info.results, &d->info.num_results));
  RETURN_IF_ERROR(read_slots(c, def->attrs, &d->info));
  form_cache forms = {.a = ir_arena(c->ir)};
  if (d->info.form && !form_get(&forms, &d->info))
    return wrong("the form of '%s' is not in the notation of forms: %s", def->name, def->form);
  fill_hooks(c, d);
  if (!ir_op_info_register(c->ir, &d->info)) return wrong("there is an op '%s' already", def->name);
  d->next = c->foreign;
  c->foreign = d;
  return NULL;
}

tz_error *tz_register_op(tz_context *c, const tz_op_def *def) {
  if (!def) return bad_handle();
  ENTER(c);
  return leave(&entry_, register_op(c, def));
}

/* ---- attributes and types ---- */

static bool symbol_hook(void *user, str body, buf *why) {
  const foreign_symbol *s = user;
  str text = arena_str(ir_arena(s->context->ir), body); /* ends in NUL */
  const char *wrong = s->def.wrong(s->def.user, s->context, (tz_string){text.data, text.len});
  if (wrong) buf_str(why, str_of(wrong));
  return !wrong;
}

static status register_symbol(tz_context *c, const tz_symbol_def *given) {
  foreign_symbol *s = ARENA_NEW(ir_arena(c->ir), foreign_symbol);
  RETURN_IF_ERROR(SIZED_READ(tz_symbol_def, given, &s->def));
  RETURN_IF_ERROR(check_name("an attribute or type", s->def.name));
  s->context = c;
  s->def.struct_size = sizeof s->def;
  s->def.name = copied(c, s->def.name);
  s->symbol = (ir_symbol){.name = str_of(s->def.name),
                          .is_type = s->def.is_type,
                          .check = s->def.wrong ? symbol_hook : NULL,
                          .user = s};
  if (!ir_symbol_register(c->ir, &s->symbol))
    return wrong("there is %s '%s' already", s->def.is_type ? "a type" : "an attribute",
                 s->def.name);
  s->next = c->symbols;
  c->symbols = s;
  return NULL;
}

tz_error *tz_register_symbol(tz_context *c, const tz_symbol_def *def) {
  if (!def) return bad_handle();
  ENTER(c);
  return leave(&entry_, register_symbol(c, def));
}

static tz_string part(str s) { return (tz_string){s.data, s.len}; }

static bool get_parts(str dialect, str text, tz_symbol_parts *out) {
  str mnemonic, body;
  if (!out) return false;
  ir_symbol_cut(text, &mnemonic, &body);
  *out = (tz_symbol_parts){part(dialect), part(mnemonic), part(body)};
  return true;
}

bool tz_attr_get_parts(const tz_attr *a, tz_symbol_parts *out) {
  const opaque_attr *o = attr_as(opaque, attr_of(a));
  return o && get_parts(o->dialect, o->text, out);
}

/* "mine.layout<4>", or "mine<...>" of what is no plain symbol. */
bool tz_type_get_parts(const tz_type *t, tz_symbol_parts *out) {
  if (!t || type_of(t)->kind != TYPE_OPAQUE) return false;
  str text = type_of(t)->text;
  size_t n = strcspn(text.data, ".<");
  str inside = str_from(text, n + 1);
  if (text.data[n] == '<') inside.len--;
  return get_parts((str){text.data, n}, inside, out);
}

/* ---- priorities ---- */

static status set_priorities(tz_context *c, str file, str text) {
  text = arena_str(ir_arena(c->ir), text);
  return op_priorities_set(c->ir, file, text) ? NULL : reported(c);
}

tz_error *tz_context_set_op_priorities(tz_context *c, const char *text, size_t length,
                                       const char *file) {
  if (length && !text) return bad_handle();
  ENTER(c);
  str s = {text ? text : "", text ? length : 0};
  return leave(&entry_, set_priorities(c, str_of(file ? file : "-"), s));
}

/* ---- shared objects ---- */

bool api_load_dialects(void *paths, ir_ctx *c) {
  tz_context *t = api_context_of(c);
  for (const char *const *path = paths; *path; path++)
    if (!api_report_of(c, "dialects: ", tz_context_load_dialect(t, *path))) return false;
  return true;
}

bool api_register_again(const tz_context *from, ir_ctx *c) {
  tz_context *t = api_context_of(c);
  for (const foreign_def *d = from->foreign; d; d = d->next)
    if (!api_report(c, tz_register_op(t, &d->def))) return false;
  for (const foreign_symbol *s = from->symbols; s; s = s->next)
    if (!api_report(c, tz_register_symbol(t, &s->def))) return false;
  return true;
}

/* The library stays open as long as the process: its callbacks are in the context. The number of
 * the ABI is compared before any of its code runs, constructors aside. */
static status load(tz_context *c, const char *path) {
  /* without a slash, dlopen would search the system's folders */
  str name = strchr(path, '/') ? str_of(path) : arena_printf(ir_arena(c->ir), "./%s", path);
  static const char here;
  os_share_library(&here); /* it calls our tz_... */
  void *library = os_library(name.data);
  if (!library) {
    const char *why = os_library_error();
    return wrong("cannot load dialect '%s': %s", path, why ? why : "no reason given");
  }
  const u32 *abi = os_symbol(library, "terrazzo_dialect_abi");
  tz_error *(*fn)(tz_context *) = NULL;
  void *symbol = os_symbol(library, "terrazzo_dialect_register");
  memcpy(&fn, &symbol, sizeof fn);
  if (!abi || !fn)
    return wrong("'%s' is no dialect: it lacks what TZ_DIALECT of terrazzo/dialect.h defines",
                 path);
  if (*abi != TZ_DIALECT_ABI)
    return wrong("dialect '%s' was built for version %u of terrazzo/dialect.h; this is version %d",
                 path, *abi, TZ_DIALECT_ABI);
  tz_error *e = fn(c);
  if (!e) return NULL;
  status s =
      status_make((status_code)tz_error_code(e), "dialect '%s': %s", path, tz_error_message(e));
  tz_error_free(e);
  return s;
}

tz_error *tz_context_load_dialect(tz_context *c, const char *path) {
  if (!path) return bad_handle();
  ENTER(c);
  return leave(&entry_, load(c, path));
}
