/* Unions, meets and choices of sets of meshes. */
#include "mpmd/infer/sets.h"

#include "tests/unit.h"
#include "text/text.h"

static mesh_set read(ir_ctx *c, arena *a, const char *text) {
  str body = str_of(text);
  if (!body.len) return (mesh_set){0};
  str all = arena_printf(a, "#mpmd.meshes_with_origins<" STR_FMT ">", STR_ARG(body));
  return set_of(a, text_parse_attr(c, all, NULL));
}

static bool is(ir_ctx *c, arena *a, const mesh_set *s, const char *text) {
  mesh_set want = read(c, a, text);
  return set_attr(c, a, s) == set_attr(c, a, &want);
}

/* Without a text a set is not known; a blank is an empty one. */
typedef struct row {
  const char *x, *y, *both, *common;
} row;

static const row rows[] = {
    {"", "", "", ""},
    {"", "\"a\"[\"p\"]", "\"a\"[\"p\"]", "\"a\"[\"p\"]"},
    {"\"a\"", "", "\"a\"", "\"a\""},
    {"\"a\"", " ", "\"a\"", " "},
    {" ", "\"a\"", "\"a\"", " "},
    {"\"b\"[\"p\"], \"a\"", "\"a\"[\"q\"], \"c\"", "\"b\"[\"p\"], \"a\"[\"q\"], \"c\"",
     "\"a\"[\"q\"]"},
    {"\"a\"[\"p\"]", "\"a\"[\"q\", \"p\"]", "\"a\"[\"p\", \"q\"]", "\"a\"[\"p\", \"q\"]"},
    /* "*" is any mesh, and stays so where both have it */
    {"\"a\", \"b\"", "\"b\", \"*\"[\"w\"]", "\"a\", \"b\", \"*\"[\"w\"]", "\"a\"[\"w\"], \"b\""},
    {"\"a\", \"*\"[\"w\"]", "\"b\"[\"p\"]", "\"a\", \"b\"[\"p\"], \"*\"[\"w\"]",
     "\"b\"[\"p\", \"w\"]"},
    {"\"a\", \"*\"[\"v\"]", "\"b\", \"*\"[\"w\"]", "\"a\", \"b\", \"*\"[\"v\", \"w\"]",
     "\"a\"[\"w\"], \"b\"[\"v\"], \"*\"[\"v\", \"w\"]"},
    {"", "\"a\", \"*\"[\"w\"]", "\"a\"", "\"a\", \"*\"[\"w\"]"},
};

static void test_algebra(ir_ctx *c, arena *a) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    mesh_set x = read(c, a, rows[i].x), y = read(c, a, rows[i].y), z = set_copy(a, &x);
    set_unite(a, &x, &y);
    set_meet(a, &z, &y);
    CHECK(is(c, a, &x, rows[i].both));
    CHECK(is(c, a, &z, rows[i].common));
    CHECK(is(c, a, &y, rows[i].y)); /* nothing is shared */
  }
}

typedef struct choice {
  const char *of, *preferred, *picked;
} choice;

static const choice choices[] = {
    {" ", "\"a\"", NULL},
    {"", "\"a\"", NULL},
    {"\"b\", \"a\"", " ", "a"},
    {"\"b\", \"a\"", "\"b\", \"c\"", "b"},
    {"\"b\", \"a\"", "\"c\"", "a"},
    {"\"a\"[\"broadcast_in\"], \"b\"", " ", "b"},
    {"\"b\"[\"broadcast_in\"], \"a\"[\"broadcast_in\"]", " ", "a"},
    {"\"a\", \"*\"[\"w\"]", "\"c\"", "c"},
};

static void test_choices(ir_ctx *c, arena *a) {
  for (size_t i = 0; i < COUNT(choices); i++) {
    mesh_set s = read(c, a, choices[i].of), p = read(c, a, choices[i].preferred);
    str got = {0};
    CHECK(set_pick(&s, &p, &got) == (choices[i].picked != NULL));
    CHECK(str_is(got, choices[i].picked));
  }
}

static void test_questions(ir_ctx *c, arena *a) {
  mesh_set x = read(c, a, "\"b\", \"a\""), y = read(c, a, "\"a\", \"b\"[\"p\"]");
  mesh_set w = read(c, a, "\"a\", \"b\", \"*\"[\"w\"]"), none = {0}, empty = {.known = true};
  CHECK(set_same_meshes(&x, &y) && !set_same_meshes(&x, &w) && !set_same_meshes(&x, &empty));
  CHECK(set_has_all(&x, &empty) && !set_has_all(&empty, &x));
  CHECK(set_is_empty(&empty) && !set_is_empty(&none) && !set_is_empty(&x));
  CHECK(str_is(set_names(a, &x), "b,a") && set_has(&w, STR("b")) && !set_has(&w, STR("*")));
}

int main(void) {
  oom_trap trap;
  diag_sink sink = {diag_to_stderr, NULL, 0, false, 0};
  if (setjmp(trap.at)) return 1;
  ir_ctx *c = ir_ctx_create(&mem_system, &trap, &sink);
  if (!c) return 1;
  test_algebra(c, ir_arena(c));
  test_choices(c, ir_arena(c));
  test_questions(c, ir_arena(c));
  CHECK(sink.errors == 0);
  ir_ctx_destroy(c);
  return UNIT_END();
}
