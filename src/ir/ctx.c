/* The context: memory, tables of uniqued values, resources.
 *
 * Created first by whoever compiles (compile, api, the tests) and destroyed last. All that is made
 * from it goes through its tracker, scratch arenas and modules included, so that destroying it is
 * enough after a jump out of memory. Types and attributes are never freed before that. */
#include "ir/ctx.h"

/* Entries keep their hashes, so growing asks nobody to hash again. The old arrays stay in the
 * arena. */
static void table_grow(table *t, arena *a) {
  size_t cap = t->cap ? t->cap * 2 : 256;
  void **slots = arena_array(a, cap, sizeof *slots);
  u64 *hashes = arena_array(a, cap, sizeof *hashes);
  memset(slots, 0, cap * sizeof *slots);
  for (size_t i = 0; i < t->cap; i++) {
    if (!t->slots[i]) continue;
    size_t j = t->hashes[i] & (cap - 1);
    while (slots[j]) j = (j + 1) & (cap - 1);
    slots[j] = t->slots[i];
    hashes[j] = t->hashes[i];
  }
  t->slots = slots;
  t->hashes = hashes;
  t->cap = cap;
}

/* Grows before it looks, so that *out_slot is a free slot of the table that table_put writes to:
 * nothing may be added in between. */
void *table_find(table *t, arena *a, u64 hash, const void *key, table_same *same,
                 size_t *out_slot) {
  if (t->count * 4 >= t->cap * 3) table_grow(t, a);
  size_t i = hash & (t->cap - 1);
  for (; t->slots[i]; i = (i + 1) & (t->cap - 1))
    if (t->hashes[i] == hash && same(t->slots[i], key)) return t->slots[i];
  *out_slot = i;
  return NULL;
}

void table_put(table *t, size_t slot, u64 hash, void *entry) {
  t->slots[slot] = entry;
  t->hashes[slot] = hash;
  t->count++;
}

ir_ctx *ir_ctx_create(const allocator *mem, oom_trap *trap, diag_sink *sink) {
  ir_ctx *c = mem_zalloc(mem, sizeof *c);
  if (!c) return NULL;
  c->owner = mem;
  c->tracker.mem = mem;
  c->mem = tracker_allocator(&c->tracker);
  c->trap = trap;
  c->sink = sink;
  arena_init(&c->arena, &c->mem, trap);
  return c;
}

/* On the heap, not in the context's arena: popping gives the memory back, so that a pass that runs
 * a thousand times does not add up. */
arena *ir_scratch_push(ir_ctx *c) {
  scratch_arena *s = mem_alloc(&c->mem, sizeof *s);
  if (!s) arena_oom(&c->arena);
  arena_init(&s->arena, &c->mem, c->trap);
  s->next = c->scratch;
  c->scratch = s;
  return &s->arena;
}

void ir_scratch_pop(ir_ctx *c) {
  scratch_arena *s = c->scratch;
  c->scratch = s->next;
  arena_deinit(&s->arena);
  mem_free(&c->mem, s, sizeof *s);
}

const arena *ir_scratch_top(const ir_ctx *c) { return c->scratch ? &c->scratch->arena : NULL; }

void ir_scratch_unwind(ir_ctx *c, const arena *top) {
  while (c->scratch && &c->scratch->arena != top) ir_scratch_pop(c);
}

const ir_symbol *ir_symbol_find(const ir_ctx *c, bool is_type, str dialect, str mnemonic) {
  for (const ir_symbol *s = c->symbols; s; s = s->next)
    if (s->is_type == is_type && str_starts(s->name, dialect) &&
        str_eq(str_from(s->name, dialect.len + 1), mnemonic) && s->name.data[dialect.len] == '.')
      return s;
  return NULL;
}

bool ir_symbol_register(ir_ctx *c, ir_symbol *s) {
  size_t dot = (size_t)((const char *)memchr(s->name.data, '.', s->name.len) - s->name.data);
  if (ir_symbol_find(c, s->is_type, (str){s->name.data, dot}, str_from(s->name, dot + 1)))
    return false;
  s->next = c->symbols;
  c->symbols = s;
  return true;
}

void ir_symbol_cut(str text, str *out_mnemonic, str *out_body) {
  size_t n = 0;
  while (n < text.len && text.data[n] != '<' && text.data[n] != ' ') n++;
  *out_mnemonic = (str){text.data, n};
  while (n < text.len && text.data[n] == ' ') n++;
  *out_body = str_from(text, n);
  if (out_body->len > 1 && out_body->data[0] == '<' && out_body->data[out_body->len - 1] == '>')
    *out_body = (str){out_body->data + 1, out_body->len - 2};
}

void ir_set_op_priorities(ir_ctx *c, const void *list) { c->op_priorities = list; }
const void *ir_op_priorities(const ir_ctx *c) { return c->op_priorities; }

/* The context itself is the one block outside of its tracker. */
void ir_ctx_destroy(ir_ctx *c) {
  if (!c) return;
  tracker_free_all(&c->tracker);
  mem_free(c->owner, c, sizeof *c);
}

arena *ir_arena(ir_ctx *c) { return &c->arena; }
diag_sink *ir_sink(ir_ctx *c) { return c->sink; }
const allocator *ir_mem(ir_ctx *c) { return &c->mem; }
oom_trap *ir_trap(ir_ctx *c) { return c->trap; }

typedef struct resource {
  str key, bytes;
  u32 align; /* 0: not said */
} resource;

static bool same_resource(const void *entry, const void *key) {
  return str_eq(((const resource *)entry)->key, *(const str *)key);
}

/* The key is copied, the bytes are not: they are the file's, or in the context's arena. The last
 * one of a key counts. */
void ir_resource_set(ir_ctx *c, str key, str bytes) {
  size_t slot;
  u64 h = hash_bytes(key.data, key.len, 0);
  resource *r = table_find(&c->resources, &c->arena, h, &key, same_resource, &slot);
  if (!r) {
    r = ARENA_NEW(&c->arena, resource);
    r->key = arena_str(&c->arena, key);
    table_put(&c->resources, slot, h, r);
  }
  r->bytes = bytes;
}

bool ir_resource_get(ir_ctx *c, str key, str *out) {
  size_t slot;
  u64 h = hash_bytes(key.data, key.len, 0);
  const resource *r = table_find(&c->resources, &c->arena, h, &key, same_resource, &slot);
  if (r) *out = r->bytes;
  return r != NULL;
}

void ir_resource_set_align(ir_ctx *c, str key, u32 align) {
  size_t slot;
  u64 h = hash_bytes(key.data, key.len, 0);
  resource *r = table_find(&c->resources, &c->arena, h, &key, same_resource, &slot);
  if (r) r->align = align;
}

u32 ir_resource_align(ir_ctx *c, str key) {
  size_t slot;
  u64 h = hash_bytes(key.data, key.len, 0);
  const resource *r = table_find(&c->resources, &c->arena, h, &key, same_resource, &slot);
  return r ? r->align : 0;
}
