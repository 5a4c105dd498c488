/* Modules of the public API: reading, printing, verifying, passes, bytecode.
 *
 * A module made or changed by hand may be in any state, while passes and writers of bytecode take
 * it that it is verified; so `verified` is remembered until something changes it (build.c), and who
 * needs it asks. Printing works on anything: what does not verify is printed in the generic
 * form. */
#include "api/context.h"
#include "bytecode/bytecode.h"
#include "dialect/dialect.h"
#include "partition/partition.h"
#include "pass/pass.h"
#include "shard/shard.h"
#include "text/text.h"

/* Into the context's list; `link` is what points to it, so that a free needs no search. */
tz_module *module_adopt(tz_context *c, ir_module *ir) {
  tz_module *m = ARENA_NEW(ir_arena(c->ir), tz_module);
  *m = (tz_module){.context = c, .ir = ir, .next = c->modules, .link = &c->modules};
  if (c->modules) c->modules->link = &m->next;
  return c->modules = m;
}

/* Callbacks of foreign dialects run inside passes over modules that may be the command line's. */
tz_module *module_handle(tz_context *c, ir_module *ir) {
  for (tz_module *m = c->modules; m; m = m->next)
    if (m->ir == ir) return m;
  return module_adopt(c, ir);
}

tz_error *tz_module_create(tz_context *c, tz_module **out_module) {
  if (!out_module) return bad_handle();
  *out_module = NULL;
  ENTER(c);
  *out_module = module_adopt(c, ir_module_create(c->ir));
  return leave(&entry_, NULL);
}

/* Text is read to the end and copied from; bytecode leaves its large constants where they are, so
 * it is copied unless the caller promises to keep it (borrow). */
static status parse(tz_context *c, str source, str file, bool borrow, tz_module **out_module) {
  ir_module *m;
  text_parse_options o = {.allow_unregistered = c->allow_unregistered};
  file = arena_str(ir_arena(c->ir), file);
  if (bytecode_is(source)) /* large constants will point into it */
    m = bytecode_read(c->ir, file, borrow ? source : arena_str(ir_arena(c->ir), source));
  else
    m = text_parse(c->ir, file, source, &o);
  if (!m) return reported(c);
  *out_module = module_adopt(c, m);
  return NULL;
}

static tz_error *parse_entry(tz_context *c, const char *source, size_t length, const char *file,
                             bool borrow, tz_module **out_module) {
  if (!out_module || (length && !source)) return bad_handle();
  *out_module = NULL;
  ENTER(c);
  str text = {length ? source : "", length};
  return leave(&entry_, parse(c, text, str_of(file ? file : "-"), borrow, out_module));
}

tz_error *tz_module_parse(tz_context *c, const char *source, size_t length, const char *file,
                          tz_module **out_module) {
  return parse_entry(c, source, length, file, false, out_module);
}

tz_error *tz_module_parse_borrowed(tz_context *c, const char *source, size_t length,
                                   const char *file, tz_module **out_module) {
  return parse_entry(c, source, length, file, true, out_module);
}

void tz_module_free(tz_module *m) {
  if (!live(m)) return;
  *m->link = m->next;
  if (m->next) m->next->link = m->link;
  ir_module_destroy(m->ir);
  m->ir = NULL;
}

tz_context *tz_module_context(const tz_module *m) { return live(m); }
tz_op *tz_module_op(const tz_module *m) { return live(m) ? op_out(m->ir->root) : NULL; }
tz_block *tz_module_body(const tz_module *m) {
  return live(m) && m->ir->root->num_regions ? block_out(op_body(m->ir->root, 0)) : NULL;
}
tz_op *tz_module_find(const tz_module *m, const char *symbol) {
  return tz_op_find(tz_module_op(m), symbol);
}
tz_op *tz_op_find(const tz_op *o, const char *symbol) {
  return o && symbol ? op_out(symbol_find(op_of(o), str_of(symbol))) : NULL;
}

/* ---- verifying ---- */

/* Finding operands that stand nowhere takes marks, not a walk up from each: clear the marks of all
 * operands' values, mark those inside the module, look which are left. */
static walk_result unmark_operands(void *user, op *o) {
  (void)user;
  for (u32 i = 0; i < o->num_operands; i++) op_operand(o, i)->num = 0;
  return WALK_ON;
}

static walk_result find_stray(void *user, op *o) {
  for (u32 i = 0; i < o->num_operands; i++)
    if (!op_operand(o, i)->num)
      return op_error(user, o, "operand #%u is a value that stands nowhere in the module", i),
             WALK_STOP;
  return WALK_ON;
}

static void unmark_users(const value *v) {
  for (const use *u = v->uses; u; u = u->next) u->owner->num = 0;
}

/* Removing an op may remove other uses of the value, so the list is read from its head again. */
static void erase_unmarked_users(const value *v) {
  for (const use *u = v->uses, *next; u; u = next) {
    op *top = u->owner;
    next = u->next;
    if (top->num) continue;
    while (op_parent(top)) top = op_parent(top);
    op_erase(top);
    next = v->uses; /* several may be gone */
  }
}

static void each_value(op *o, void (*fn)(const value *v)) {
  for (u32 i = 0; i < o->num_results; i++) fn(&o->results[i]);
  for (u16 r = 0; r < o->num_regions; r++)
    for (const block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) fn(b->args[i]);
}
static walk_result unmark(void *user, op *o) {
  return (void)user, each_value(o, unmark_users), WALK_ON;
}
static walk_result erase_strays(void *user, op *o) {
  return (void)user, each_value(o, erase_unmarked_users), WALK_ON;
}

/* Passes, and the order of uses in bytecode, take it that users are in the module. Users that were
 * removed or never inserted are erased, with what they are in; the values they use are the
 * module's. */
static void drop_strays(tz_module *m) {
  if (!m->edited) return;
  op_walk(m->ir->root, unmark, NULL);
  op_walk(m->ir->root, mark, NULL);
  op_walk(m->ir->root, erase_strays, NULL);
}

/* Strays first, since dialect_verify walks from values to where they stand. Errors count even where
 * the verifier says yes: callbacks of foreign dialects report by themselves. */
static bool verifies(tz_module *m) {
  u32 before = m->context->sink->errors;
  bool ok = true;
  if (m->edited) {
    op_walk(m->ir->root, unmark_operands, NULL);
    op_walk(m->ir->root, mark, NULL);
    ok = op_walk(m->ir->root, find_stray, m->ir->ctx);
  }
  return m->verified = ok && dialect_verify(m->ir) && m->context->sink->errors == before;
}

static status verify(tz_module *m) { return verifies(m) ? NULL : reported(m->context); }

tz_error *tz_module_verify(tz_module *m) {
  ENTER(live(m));
  return leave(&entry_, verify(m));
}

/* To choose a form of printing; what is wrong with the module is not the printer's business. */
static bool verifies_quietly(tz_module *m) {
  if (m->verified) return true;
  diag_sink *sink = m->context->sink, kept = *sink;
  sink->fn = NULL; /* an entry that is jumped out of puts it back */
  verifies(m);
  *sink = kept;
  return m->verified;
}

/* ---- printing ---- */

static status options_of(tz_module *m, const tz_print_options *options, text_print_options *out) {
  tz_print_options own = {0}, *p = &own;
  if (options) RETURN_IF_ERROR(SIZED_READ(tz_print_options, options, &own));
  *out = (text_print_options){.generic = p->generic || !verifies_quietly(m),
                              .debuginfo = p->locations,
                              .local_scope = p->local_scope,
                              .elide_elements = {p->elide_elements > 0, p->elide_elements},
                              .elide_resource = {p->elide_resource > 0, p->elide_resource},
                              .hex_elements = {p->hex_elements != 0, p->hex_elements},
                              .skip_regions = p->skip_regions,
                              .users = p->users,
                              .unique_names = p->unique_names,
                              .location_names = p->location_names,
                              .strays = m->edited};
  return NULL;
}

static status print(tz_module *m, const op *o, const tz_print_options *options, char **out_text,
                    size_t *out_length) {
  tz_context *c = m->context;
  text_print_options t;
  buf b;
  RETURN_IF_ERROR(options_of(m, options, &t));
  buf_init(&b, ir_mem(c->ir));
  bool ok = o ? text_print_op(&b, c->ir, o, &t) : text_print(&b, m->ir, &t);
  if (!ok) b.failed = true;
  return give_text(&b, out_text, out_length);
}

tz_error *tz_module_print(tz_module *m, const tz_print_options *options, char **out_text,
                          size_t *out_length) {
  if (!out_text || !out_length) return bad_handle();
  *out_text = NULL, *out_length = 0;
  ENTER(live(m));
  return leave(&entry_, print(m, NULL, options, out_text, out_length));
}

/* The caller's function behind a buf's sink; `refused` tells a callback that stopped from memory
 * that ran out. */
typedef struct taker {
  tz_write_fn *write;
  void *user;
  bool refused;
} taker;

static bool hand_over(void *user, str bytes) {
  taker *t = user;
  t->refused = bytes.len && !t->write(t->user, bytes.data, bytes.len);
  return !t->refused;
}

enum { PRINT_CHUNK = 1 << 16 };
static status print_to(tz_module *m, const tz_print_options *options, taker *to) {
  text_print_options t;
  buf b;
  RETURN_IF_ERROR(options_of(m, options, &t));
  buf_init_sink(&b, ir_mem(m->context->ir), PRINT_CHUNK, hand_over, to);
  bool ok = text_print(&b, m->ir, &t) && buf_flush(&b);
  buf_deinit(&b);
  if (to->refused) return status_make(STATUS_CANCELLED, "the callback took no more text");
  return ok ? NULL : status_oom();
}

tz_error *tz_module_print_to(tz_module *m, const tz_print_options *options, tz_write_fn *write,
                             void *user) {
  taker to = {write, user, false};
  if (!write) return bad_handle();
  ENTER(live(m));
  return leave(&entry_, print_to(m, options, &to));
}

tz_error *tz_op_print(tz_module *m, tz_op *o, const tz_print_options *options, char **out_text,
                      size_t *out_length) {
  if (!o || !out_text || !out_length) return bad_handle();
  *out_text = NULL, *out_length = 0;
  ENTER(live(m));
  if (!op_is_inside(op_of(o), m->ir->root))
    return leave(&entry_, wrong("the op is not in the module"));
  return leave(&entry_, print(m, op_of(o), options, out_text, out_length));
}

/* ---- bytecode ---- */

static status write_bytecode(tz_module *m, const char *version, char **out_bytes,
                             size_t *out_length) {
  tz_context *c = m->context;
  if (!m->verified) RETURN_IF_ERROR(verify(m));
  drop_strays(m);
  buf b;
  buf_init(&b, ir_mem(c->ir));
  bytecode_write_options o = {.target = str_of(version)};
  if (!bytecode_write(m->ir, &o, &b)) {
    bool full = !buf_ok(&b);
    buf_deinit(&b);
    return full ? status_oom() : reported(c);
  }
  return give_text(&b, out_bytes, out_length);
}

tz_error *tz_module_write_bytecode(tz_module *m, const char *version, char **out_bytes,
                                   size_t *out_length) {
  if (!out_bytes || !out_length) return bad_handle();
  *out_bytes = NULL, *out_length = 0;
  ENTER(live(m));
  return leave(&entry_, write_bytecode(m, version, out_bytes, out_length));
}

/* ---- passes ---- */

static const pass_info *const tables[] = {pass_generic, shard_passes, partition_passes};

/* Verified before and after: passes rely on it, and a pass that breaks a module is found here.
 * While passes run nothing is known of the module, hence `verified` is cleared before. */
status module_run(tz_module *m, const char *pipeline, tz_trace *trace) {
  pass_tables t = {.tables = tables,
                   .count = COUNT(tables),
                   .patterns = shard_patterns,
                   .num_patterns = SHARD_PATTERNS,
                   .traced = trace ? trace_record : NULL,
                   .user = trace};
  u32 before = m->context->sink->errors;
  if (!m->verified) RETURN_IF_ERROR(verify(m));
  drop_strays(m);
  m->verified = false;
  if (!pass_run_text(m->ir, str_of(pipeline), &t) || m->context->sink->errors != before)
    return reported(m->context);
  return verify(m);
}

tz_error *tz_module_run(tz_module *m, const char *pipeline) {
  if (!pipeline) return bad_handle();
  ENTER(live(m));
  return leave(&entry_, module_run(m, pipeline, NULL));
}

static const pass_info *pass_at(size_t i) {
  for (size_t t = 0; t < COUNT(tables); t++)
    for (const pass_info *p = tables[t]; p->name; p++)
      if (i-- == 0) return p;
  return NULL;
}

size_t tz_num_passes(void) {
  size_t n = 0;
  while (pass_at(n)) n++;
  return n;
}

tz_pass tz_pass_at(size_t i) {
  const pass_info *p = pass_at(i);
  return p ? (tz_pass){p->name, p->summary} : (tz_pass){0};
}
