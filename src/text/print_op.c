/* Ops, blocks, regions as text.
 *
 * An op is printed by its form, by a function of its own, or in generic form; the last whenever the
 * others have no words for it, in which case what they wrote is taken back. Values have their names
 * in value.num (names.c). Nothing is assumed of the op beyond its structure, since what does not
 * verify is printed for messages. */
#include "base/index.h"
#include "text/names.h"

/* ---- values ---- */

/* value.num has a kind in its low bits and a number above them; names.c gives both. */
static void print_name(printer *w, u32 num) {
  u32 kind = num & ((1u << NAME_BITS) - 1), n = num >> NAME_BITS;
  if (kind == NAME_UNKNOWN) {
    PUT(w, "<<UNKNOWN SSA VALUE>>");
    return;
  }
  put_char(w, '%');
  if (kind == NAME_OWN) {
    put(w, w->own.data[n]);
    return;
  }
  if (kind == NAME_ARG) PUT(w, "arg");
  if (kind < NAME_PLAIN) {
    printer_i64(w, n);
    return;
  }
  put(w, str_of(w->plain[kind - NAME_PLAIN]));
  if (n == 0) return;
  put_char(w, '_');
  printer_i64(w, (i64)n - 1);
}

/* Results of one op share a name and are told apart by #n, unless the op suggests a name for
 * each. */
void printer_value(printer *w, const value *v) {
  const op *o = v->is_arg ? NULL : v->def.op;
  if (!o || o->num_results == 1 || o->results[0].num == NAME_UNKNOWN || names_each_result(w, o)) {
    print_name(w, v->num);
    return;
  }
  print_name(w, o->results[0].num);
  put_char(w, '#');
  printer_i64(w, v->index);
}

void printer_operands(printer *w, const op *o, size_t begin, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (i) PUT(w, ", ");
    printer_value(w, op_operand(o, begin + i));
  }
}

void printer_types(printer *w, const op *o, size_t begin, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (i) PUT(w, ", ");
    printer_type(w, op_operand(o, begin + i)->type);
  }
}

void printer_result_types(printer *w, const op *o, size_t begin, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (i) PUT(w, ", ");
    printer_type(w, o->results[begin + i].type);
  }
}

void printer_fn(printer *w, const op *o) {
  put_char(w, '(');
  printer_types(w, o, 0, o->num_operands);
  PUT(w, ") -> ");
  bool bare = o->num_results == 1 && o->results[0].type->kind != TYPE_FUNCTION;
  if (!bare) put_char(w, '(');
  printer_result_types(w, o, 0, o->num_results);
  if (!bare) put_char(w, ')');
}

/* ---- users, as comments ---- */

/* Does a use before u have its owner? `many`: the owners behind the first few uses. */
static bool seen_before(printer *w, hash_index *many, const use *first, const use *u) {
  enum { FEW = 16 };
  for (int i = 0; i < FEW; i++, first = first->next) {
    if (first == u) return false;
    if (first->owner == u->owner) return true;
  }
  if (index_get(many, u->owner)) return true;
  index_set(many, w->forms.a, u->owner, u->owner);
  return false;
}

/* Ops without results have numbers of their own. */
static void print_op_id(printer *w, const op *o) {
  put_char(w, '%');
  printer_i64(w, o->num);
}

static void print_users_of(printer *w, const value *v) {
  hash_index many = {0};
  if (!v->uses) PUT(w, "unused");
  for (const use *u = v->uses; u; u = u->next) {
    if (seen_before(w, &many, v->uses, u)) continue;
    if (u != v->uses) PUT(w, ", ");
    if (!u->owner->num_results) print_op_id(w, u->owner);
    for (u32 i = 0; i < u->owner->num_results; i++) {
      if (i) PUT(w, ", ");
      printer_value(w, &u->owner->results[i]);
    }
  }
}

static void print_users(printer *w, const op *o) {
  const op *first = NULL;
  bool used = false, several = false;
  if (!o->num_results) {
    if (!o->num_operands) return;
    PUT(w, " // id: ");
    print_op_id(w, o);
    return;
  }
  for (u32 i = 0; i < o->num_results; i++)
    for (const use *u = o->results[i].uses; u; u = u->next) {
      if (first && u->owner != first) several = true;
      first = u->owner;
      used = true;
    }
  if (!used) {
    PUT(w, " // unused");
    return;
  }
  put(w, several || first->num_results > 1 ? STR(" // users: ") : STR(" // user: "));
  for (u32 i = 0; i < o->num_results; i++) {
    if (i) PUT(w, ", ");
    if (o->num_results > 1) put_char(w, '(');
    print_users_of(w, &o->results[i]);
    if (o->num_results > 1) put_char(w, ')');
  }
}

static void print_arg_users(printer *w, const block *b) {
  for (u32 i = 0; i < b->num_args; i++) {
    printer_newline(w);
    PUT(w, "// ");
    printer_value(w, b->args[i]);
    put(w, b->args[i]->uses ? STR(" is used by ") : STR(" is unused"));
    if (b->args[i]->uses) print_users_of(w, b->args[i]);
  }
}

/* ---- attributes of an op ---- */

static str name_of(const named_attr *n) { return ((const string_attr *)n->name)->value; }

/* Rows have fewer than 64 slots, since sets of them are masks. */
enum { MAX_SLOTS = 64 };

/* Slots that are there and not hidden, in the order of their names. */
static size_t sorted_slots(const op *o, u64 hide, u8 out[MAX_SLOTS]) {
  size_t n = 0;
  for (u32 k = 0; k < o->info->num_slots && k < MAX_SLOTS; k++) {
    if (!o->slots[k] || hide >> k & 1) continue;
    size_t at = n++;
    for (; at > 0 && strcmp(o->info->slots[out[at - 1]].name, o->info->slots[k].name) > 0; at--)
      out[at] = out[at - 1];
    out[at] = (u8)k;
  }
  return n;
}

/* Slots and discardable ones, merged by name. */
static void print_merged(printer *w, const op *o, const u8 *slots, size_t num_slots,
                         u32 num_attrs) {
  bool first = true;
  size_t s = 0;
  u32 d = 0;
  while (s < num_slots || d < num_attrs) {
    str slot = s < num_slots ? str_of(o->info->slots[slots[s]].name) : STR("");
    bool take = d == num_attrs || (s < num_slots && str_cmp(slot, name_of(&o->attrs[d])) < 0);
    if (!first) PUT(w, ", ");
    first = false;
    if (take)
      printer_named(w, slot, o->slots[slots[s++]]);
    else {
      printer_named(w, name_of(&o->attrs[d]), o->attrs[d].value);
      d++;
    }
  }
}

/* `hide`: a bit a slot that the form has said already. */
void printer_attr_dict(printer *w, const op *o, u64 hide, bool keyword) {
  u8 slots[MAX_SLOTS];
  size_t n = sorted_slots(o, hide, slots);
  if (n == 0 && o->num_attrs == 0) return;
  if (keyword) PUT(w, " attributes");
  PUT(w, " {");
  print_merged(w, o, slots, n, o->num_attrs);
  put_char(w, '}');
}

/* ---- blocks and regions ---- */

static void print_block_name(printer *w, const block *b) {
  PUT(w, "^bb");
  printer_i64(w, b->num);
}

void printer_region_arg(printer *w, const value *v, const attr *attrs) {
  const dict_attr *d = attr_as(dict, attrs);
  printer_value(w, v);
  PUT(w, ": ");
  printer_type(w, v->type);
  if (d && d->names.len) {
    put_char(w, ' ');
    printer_attr(w, attrs, false);
  }
  if (!w->options.debuginfo) return;
  const attr *loc = block_arg_loc(v->def.block, v->index);
  if (!loc) loc = w->unknown;
  printer_visit_loc(w, loc, false);
  printer_trailing_loc(w, loc, false);
}

/* Blocks that branch to each block of a region: those of block k are list[begin[k]] and on. */
struct predecessors {
  u32 *begin;
  const block **list;
};

/* A counting sort by block, in two passes: count, then fill. */
static struct predecessors *find_predecessors(printer *w, const region *r) {
  arena *a = w->forms.a;
  struct predecessors *t = ARENA_NEW(a, struct predecessors);
  u32 blocks = 0;
  for (const block *b = r->first; b; b = b->next) blocks++;
  t->begin = arena_zalloc(a, (blocks + 2) * sizeof *t->begin);
  for (int fill = 0; fill < 2; fill++) {
    for (const block *b = r->first; b; b = b->next)
      for (u32 i = 0; b->last && i < b->last->num_successors; i++) {
        u32 to = b->last->successors[i]->num;
        if (b->last->successors[i]->parent != r) continue;
        if (fill)
          t->list[t->begin[to + 1]++] = b;
        else
          t->begin[to + 2]++;
      }
    if (fill) break;
    for (u32 k = 0; k + 1 < blocks + 2; k++) t->begin[k + 1] += t->begin[k];
    t->list = ARENA_ARRAY(a, const block *, t->begin[blocks + 1]);
  }
  return t;
}

/* "  // pred: ^bb0" and the like */
static void print_predecessors(printer *w, const block *b) {
  const struct predecessors *t = w->predecessors;
  u32 begin = t->begin[b->num], n = t->begin[b->num + 1] - begin;
  if (n == 0) {
    if (b != b->parent->first) PUT(w, "  // no predecessors");
    return;
  }
  if (n == 1)
    PUT(w, "  // pred: ");
  else
    buf_printf(w->out, "  // %u preds: ", n);
  for (u32 i = 0; i < n; i++) {
    if (i) PUT(w, ", ");
    print_block_name(w, t->list[begin + i]);
  }
}

static void print_label(printer *w, const block *b) {
  printer_newline(w);
  print_block_name(w, b);
  for (u32 i = 0; i < b->num_args; i++) {
    put(w, i ? STR(", ") : STR("("));
    printer_region_arg(w, b->args[i], NULL);
  }
  if (b->num_args) put_char(w, ')');
  put_char(w, ':');
  if (w->predecessors) print_predecessors(w, b);
}

/* Inside a function names lose "func.", as MLIR's default dialect does. Saved and restored, for
 * regions nest. */
void printer_region(printer *w, const region *r, bool entry_args, bool empty_block) {
  if (w->options.skip_regions) {
    PUT(w, "{...}");
    return;
  }
  str dialect = w->dialect;
  struct predecessors *outer = w->predecessors;
  w->predecessors = r->first != r->last ? find_predecessors(w, r) : NULL;
  w->dialect = op_is(r->parent, func)     ? STR("func.")
               : op_is(r->parent, module) ? STR("builtin.")
                                          : STR("");
  put_char(w, '{');
  for (const block *b = r->first; b; b = b->next) {
    bool entry = b == r->first;
    if (!entry || (empty_block && !b->first) || (entry_args && b->num_args)) print_label(w, b);
    w->indent += 2;
    if (w->options.users) print_arg_users(w, b);
    for (const op *o = b->first; o; o = o->next) {
      printer_newline(w);
      printer_op(w, o);
    }
    w->indent -= 2;
  }
  printer_newline(w);
  put_char(w, '}');
  w->dialect = dialect;
  w->predecessors = outer;
}

/* ---- ops ---- */

static void print_results(printer *w, const op *o) {
  bool each = names_each_result(w, o);
  if (o->num_results == 0) return;
  for (u32 i = 0; i < (each ? o->num_results : 1); i++) {
    if (i) PUT(w, ", ");
    print_name(w, o->results[i].num);
  }
  if (!each && o->num_results > 1) {
    put_char(w, ':');
    printer_i64(w, o->num_results);
  }
  PUT(w, " = ");
}

static void print_successors(printer *w, const op *o) {
  for (u32 i = 0; i < o->num_successors; i++) {
    put(w, i ? STR(", ") : STR("["));
    print_block_name(w, o->successors[i]);
  }
  if (o->num_successors) put_char(w, ']');
}

/* Of a dialect that is not to be known. */
static bool is_unknown(const printer *w, const op *o) {
  return w->options.unknown && str_starts(o->info->name, str_of(w->options.unknown));
}

/* "dialect.op"(%operands)[^successors] <{inherent}> ({regions}) {discardable} : (types) -> types */
void printer_generic(printer *w, const op *o, bool with_name) {
  u8 slots[MAX_SLOTS];
  bool unknown = is_unknown(w, o);
  size_t n = unknown ? 0 : sorted_slots(o, 0, slots);
  if (with_name) printer_quoted(w, o->info->name);
  put_char(w, '(');
  printer_operands(w, o, 0, o->num_operands);
  put_char(w, ')');
  print_successors(w, o);
  if (n && op_is_plain(o)) {
    PUT(w, " <");
    if (!printer_collects(w)) printer_attr(w, o->slots[0], false); /* MLIR visits none of it */
    put_char(w, '>');
  } else if (n) {
    PUT(w, " <{");
    print_merged(w, o, slots, n, 0);
    PUT(w, "}>");
  }
  for (u32 i = 0; i < o->num_regions; i++) {
    put(w, i ? STR(", ") : STR(" ("));
    printer_region(w, &o->regions[i], true, true);
  }
  if (o->num_regions) put_char(w, ')');
  printer_attr_dict(w, o, unknown ? 0 : ~0ull, false);
  PUT(w, " : ");
  printer_fn(w, o);
}

static void print_custom_name(printer *w, const op *o) {
  str name = o->info->name;
  put(w, str_starts(name, w->dialect) ? str_from(name, w->dialect.len) : name);
}

void printer_op(printer *w, const op *o) {
  bool generic = w->options.generic || is_unknown(w, o);
  const form *f = generic ? NULL : form_get(&w->forms, o->info);
  printer_visit_loc(w, o->loc, true);
  print_results(w, o);
  if (f) {
    print_custom_name(w, o);
    w->syntax->form(w, o, f);
  } else {
    size_t begin = w->out->len;
    bool custom = !generic && o->info->form && op_kind(o) < OP_COUNT;
    if (custom) {
      print_custom_name(w, o);
      custom = w->syntax->custom(w, o);
      if (!custom && !w->out->failed) w->out->len = begin;
    }
    if (!custom) printer_generic(w, o, true);
  }
  printer_trailing_loc(w, o->loc, true);
  if (w->options.users) print_users(w, o);
  printer_drain(w);
}
