/* Roots take in the inferred fragments around them, each where it stands: what feeds them if they
 * are the first to use it, and what uses them if they are the last that it uses. Transfers in
 * between are moved out of the way.
 *
 * The order of ops is asked for all the time while ops move. So each has a key in a side table,
 * made when it is asked for: between its neighbours', and anew for the whole block where no number
 * is left. */
#include "base/index.h"
#include "mpmd/common/passes.h"
#include "mpmd/merge.h"

enum { KEY_GAP = 1 << 16 };

typedef struct absorber {
  ir_module *m;
  arena *a, *once; /* of the pass; of the pattern at hand */
  hash_index keys; /* op -> its key; 0: none */
  bool failed;
} absorber;

/* ---- order ---- */

static u64 key_of(const absorber *s, const op *o) {
  return o ? (u64)(uintptr_t)index_get(&s->keys, o) : 0;
}
static void set_key(absorber *s, const op *o, u64 key) {
  index_set(&s->keys, s->a, o, (void *)(uintptr_t)key);
}

static u64 number_block(absorber *s, const op *o) {
  u64 key = 0;
  for (const op *i = o->parent->first; i; i = i->next) set_key(s, i, key += KEY_GAP);
  return key_of(s, o);
}

static u64 place_of(absorber *s, const op *o) {
  u64 key = key_of(s, o);
  if (key) return key;
  u64 low = key_of(s, o->prev), high = o->next ? key_of(s, o->next) : low + 2 * KEY_GAP;
  if ((o->prev && !low) || high < low + 2) return number_block(s, o);
  set_key(s, o, low + (high - low) / 2);
  return key_of(s, o);
}

static void move(absorber *s, rewriter *r, op *o, op *before) {
  if (before == o || o->next == before) return;
  block *b = before->parent;
  op_unlink(o);
  op_insert(o, b, before);
  set_key(s, o, 0);
  rewrite_inserted(r, o);
}

/* ---- who is next ---- */

/* The first that uses a result, in o's block; NULL: nobody does. */
static op *closest_consumer(absorber *s, const op *o) {
  op *best = NULL;
  for (u32 i = 0; i < o->num_results; i++)
    for (const use *u = o->results[i].uses; u; u = u->next) {
      op *by = mpmd_ancestor_in(o->parent, u->owner);
      if (by && by != best && (!best || place_of(s, by) < place_of(s, best))) best = by;
    }
  return best;
}

/* The last in o's block whose result it uses; NULL: none. */
static op *closest_producer(absorber *s, const op *o) {
  op *best = NULL;
  for (u32 i = 0; i < o->num_operands; i++) {
    op *by = value_op(op_operand(o, i));
    if (by && by->parent == o->parent && by != best &&
        (!best || place_of(s, best) < place_of(s, by)))
      best = by;
  }
  return best;
}

static bool feeds_fragment(const op *o) {
  for (u32 i = 0; i < o->num_results; i++)
    for (const use *u = o->results[i].uses; u; u = u->next)
      if (mpmd_is_fragment(u->owner)) return true;
  return false;
}

static bool is_fed_by_fragment(const op *o) {
  for (u32 i = 0; i < o->num_operands; i++)
    if (mpmd_is_fragment(value_op(op_operand(o, i)))) return true;
  return false;
}

static bool is_root(const op *o) {
  return fragment_is_user(o) || !feeds_fragment(o) || !is_fed_by_fragment(o);
}

static void push_once(absorber *s, hash_index *seen, op_list *out, op *o) {
  if (index_pair(seen, o)) return;
  index_set(seen, s->once, o, o);
  VEC_PUSH(s->once, *out, o);
}

static op_list users_of(absorber *s, const op *o, op_id id) {
  op_list out = {0};
  hash_index seen = {0};
  for (u32 i = 0; i < o->num_results; i++)
    for (const use *u = o->results[i].uses; u; u = u->next)
      if (op_kind(u->owner) == id) push_once(s, &seen, &out, u->owner);
  return out;
}

static op_list producers_of(absorber *s, const op *o, op_id id) {
  op_list out = {0};
  hash_index seen = {0};
  for (u32 i = 0; i < o->num_operands; i++) {
    op *by = value_op(op_operand(o, i));
    if (by && op_kind(by) == id) push_once(s, &seen, &out, by);
  }
  return out;
}

/* ---- transfers out of the way ---- */

/* To the first that uses them; the others go. */
static void delay_transfers(absorber *s, rewriter *r, const op *producer) {
  op_list transfers = users_of(s, producer, OP_mpmd_transfer);
  for (size_t i = 0; i < transfers.len; i++) {
    op *t = transfers.data[i], *to = closest_consumer(s, t);
    if (to)
      move(s, r, t, to);
    else if (!t->results[0].uses)
      rewrite_erase(r, t);
  }
}

static void hasten_transfers(absorber *s, rewriter *r, const op *consumer) {
  op_list transfers = producers_of(s, consumer, OP_mpmd_transfer);
  for (size_t i = 0; i < transfers.len; i++) {
    mpmd_move_to_producer(r, transfers.data[i]);
    set_key(s, transfers.data[i], 0);
  }
}

/* ---- absorbing ---- */

/* Of both fragments one, which says what `root` said. */
static op *absorb(absorber *s, rewriter *r, op *producer, op *consumer, const op *root) {
  const op *other = root == producer ? consumer : producer;
  const attr *by = NULL;
  if (!fragment_is_user(root)) by = fragments_inferred_by(s->m, root, other);
  const named_attr *said = root->attrs;
  u32 n = root->num_attrs;
  op *o = fragments_merge(s->m, r, producer, consumer);
  s->failed = !o;
  if (!o) return NULL;
  for (u32 i = 0; i < n; i++) {
    str name = attr_as(string, said[i].name)->value;
    if (!str_eq(name, MPMD_CONTROL_START)) op_set_attr(s->m, o, name, said[i].value);
  }
  if (by) op_set_attr(s->m, o, MPMD_INFERRED_BY, by);
  return o;
}

/* All transfers are moved, though one producer is taken in. */
static bool absorb_producer(absorber *s, rewriter *r, op *o) {
  op_list producers = producers_of(s, o, OP_mpmd_fragment);
  op *found = NULL;
  for (size_t i = 0; i < producers.len; i++) {
    op *p = producers.data[i];
    if (fragment_is_user(p)) continue;
    delay_transfers(s, r, p);
    if (!found && closest_consumer(s, p) == o) found = p;
  }
  return found && absorb(s, r, found, o, o);
}

static bool absorb_consumer(absorber *s, rewriter *r, op *o) {
  op_list consumers = users_of(s, o, OP_mpmd_fragment);
  op *found = NULL;
  for (size_t i = 0; i < consumers.len; i++) {
    op *c = consumers.data[i];
    if (fragment_is_user(c)) continue;
    hasten_transfers(s, r, c);
    if (!found && closest_producer(s, c) == o) found = c;
  }
  if (!found) return false;
  op *to = o->next == found ? found->next : o->next;
  op *merged = absorb(s, r, o, found, o);
  if (merged) move(s, r, merged, to);
  return merged != NULL;
}

static bool absorb_with(rewriter *r, op *o, bool (*with)(absorber *s, rewriter *r, op *o)) {
  absorber *s = rewriter_user(r);
  if (s->failed || !is_root(o)) return false;
  s->once = ir_scratch_push(s->m->ctx);
  bool changed = with(s, r, o);
  ir_scratch_pop(s->m->ctx);
  return changed;
}
static bool with_producer(rewriter *r, op *o) { return absorb_with(r, o, absorb_producer); }
static bool with_consumer(rewriter *r, op *o) { return absorb_with(r, o, absorb_consumer); }

static const rewrite_pattern patterns[] = {
    {OP_mpmd_fragment, 1, with_producer, "mpmd-absorb-producer", NULL},
    {OP_mpmd_fragment, 1, with_consumer, "mpmd-absorb-consumer", NULL},
    {0},
};

bool pass_mpmd_absorb(ir_module *m, arena *scratch, const pass_args *args) {
  const rewrite_pattern *const set = patterns;
  bool everywhere = pass_option_flag(args, STR("absorb-on-entry-point-function"), false);
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    op *f = functions.data[i];
    if (mpmd_is_entry_point(f) && !everywhere) continue;
    absorber s = {.m = m, .a = scratch};
    rewrite_config c = {.sets = &set, .num_sets = 1, REWRITE_DEFAULTS};
    c.user = &s;
    c.bottom_up = c.keep_regions = c.no_folds = true;
    bool converged;
    rewrite_greedily(m, scratch, f, &c, &converged);
    if (s.failed) return false;
    if (!converged) return op_error(m->ctx, f, "inferred fragments are still to be absorbed");
  }
  return true;
}
