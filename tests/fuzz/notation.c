/* Notations: a name, a mesh (or nothing) and text, a line each. What is read is written in every
 * notation that can say it, and read again over the same mesh: the same pieces on every device. */
#include "mesh/notation.h"

#include "fuzz.h"
#include "mesh/slices.h"

enum { MAX_DEVICES = 1 << 12, LISTS = 192 << 20 }; /* a list of 2^20 devices, some times over */

typedef struct state {
  arena a;
  diag_sink sink;
} state;

static str take_line(str *rest) {
  const char *end = rest->len ? memchr(rest->data, '\n', rest->len) : NULL;
  str line = {rest->data, end ? (size_t)(end - rest->data) : rest->len};
  *rest = str_from(*rest, line.len + (end != NULL));
  return line;
}

/* Pieces of a sharding over few devices. */
static const i64 *slices_of(state *s, const placement *p, slice_grid *g) {
  slice_grid_make(&s->a, p->sharding, g);
  i64 *out = ARENA_ARRAY(&s->a, i64, (size_t)p->sharding->mesh->size);
  slice_fill(&s->a, g, out);
  for (i64 k = 0; k < p->sharding->mesh->size; k += 7) FUZZ_CHECK(out[k] == slice_at(g, k));
  return out;
}

static bool is_small(const placement *p) {
  return p->kind == PLACED_BY_AXES && p->sharding->mesh->size <= MAX_DEVICES &&
         !mesh_is_maximal(p->sharding->mesh);
}

static void check_again(state *s, const notation *n, const placement *p, str text) {
  notation_context c = {p->sharding->mesh, p->sharding->rank};
  const placement *again = notation_read(&s->a, n, text, &c, &s->sink);
  slice_grid x, y;
  if (!again) fprintf(stderr, "%s: %.*s\n", n->name, (int)text.len, text.data);
  FUZZ_CHECK(again && is_small(again));
  const i64 *before = slices_of(s, p, &x), *after = slices_of(s, again, &y);
  FUZZ_CHECK(again->sharding->mesh->size == p->sharding->mesh->size);
  FUZZ_CHECK(again->sharding->rank == p->sharding->rank);
  FUZZ_CHECK(!memcmp(before, after, (size_t)p->sharding->mesh->size * sizeof *before));
  FUZZ_CHECK(axes_size(again->sharding->unreduced) == axes_size(p->sharding->unreduced));
  FUZZ_CHECK(axes_size(again->manual) == axes_size(p->manual));
}

static void check_all(state *s, const placement *p) {
  for (size_t i = 0; i < num_notations; i++) {
    buf out;
    buf_init(&out, s->a.mem);
    u32 errors = s->sink.errors;
    if (notation_write(&s->a, &out, &notations[i], p, &s->sink)) {
      if (is_small(p)) check_again(s, &notations[i], p, buf_view(&out));
    } else {
      FUZZ_CHECK(s->sink.errors == errors + 1);
    }
    buf_deinit(&out);
  }
}

static void read_all(state *s, str text) {
  str name = take_line(&text), mesh_text = take_line(&text);
  const notation *n = notation_find(name);
  notation_context c = {.rank = NOTATION_ANY_RANK};
  if (!n) return;
  if (mesh_text.len && !(c.mesh = notation_read_mesh(&s->a, mesh_text, &s->sink))) {
    FUZZ_CHECK(s->sink.errors == 1);
    return;
  }
  const placement *p = notation_read(&s->a, n, text, &c, &s->sink);
  u32 expected = p ? 0 : 1;
  if (s->sink.errors != expected) fprintf(stderr, "%.*s\n", (int)text.len, text.data);
  FUZZ_CHECK(s->sink.errors == expected);
  if (p) check_all(s, p);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size) {
  fuzz_memory memory = {0, FUZZ_BASE + LISTS + size * FUZZ_EACH};
  allocator mem = {fuzz_alloc, &memory};
  oom_trap trap;
  state s = {.sink = {.fn = fuzz_silent}};
  arena_init(&s.a, &mem, &trap);
  if (setjmp(trap.at) == 0) read_all(&s, (str){(const char *)data, size});
  arena_deinit(&s.a);
  FUZZ_CHECK(memory.used == 0);
  return 0;
}
