/* Notations: each reads what the others write, and says what it has no words for. */
#include "mesh/notation.h"

#include "mesh/slices.h"
#include "tests/unit.h"

typedef struct fixture {
  arena a;
  diag_sink sink;
  buf errors, out;
} fixture;

static const placement *get(fixture *f, const char *notation, const char *mesh, const char *text) {
  notation_context c = {.rank = NOTATION_ANY_RANK};
  f->errors.len = 0;
  if (mesh) c.mesh = notation_read_mesh(&f->a, str_of(mesh), &f->sink);
  return notation_read(&f->a, notation_find(str_of(notation)), str_of(text), &c, &f->sink);
}

/* `expected`: what is written, or part of the error. */
static void convert(fixture *f, const char *from, const char *to, const char *mesh,
                    const char *text, const char *expected) {
  const placement *p = get(f, from, mesh, text);
  f->out.len = 0;
  bool fine = p && notation_write(&f->a, &f->out, notation_find(str_of(to)), p, &f->sink);
  bool same =
      fine ? str_is(buf_view(&f->out), expected) : strstr(buf_cstr(&f->errors), expected) != NULL;
  CHECK(same);
  if (!same)
    fprintf(stderr, "%s to %s: %s\n  expected %s\n  found    %s\n", from, to, text, expected,
            fine ? buf_cstr(&f->out) : buf_cstr(&f->errors));
}

static void test_pairs(fixture *f) {
  /* one sharding in every notation */
  static const char *const same[][2] = {
      {"sdy", "#sdy.sharding<mesh<[\"x\"=2, \"y\"=4]>, [{\"y\"}, {}, {\"x\"}]>"},
      {"xla", "{devices=[4,1,2]<=[2,4]T(1,0)}"},
      {"xla-v1", "{devices=[4,1,2]0,4,1,5,2,6,3,7}"},
      {"pspec", "P('y', None, 'x')"},
      {"named", "NamedSharding(mesh=Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto)), "
                "spec=PartitionSpec('y', None, 'x'))"},
      {"dtensor", "[Shard(2), Shard(0)]"},
      {"layout", "Layout((2, 4), (\"x\", \"y\"))(\"y\", \"None\", \"x\")"},
      {"shard", "shard.grid @grid(shape = 2x4)\n"
                "shard.sharding @grid split_axes = [[1], [], [0]] : !shard.sharding"},
  };
  for (size_t i = 0; i < COUNT(same); i++)
    for (size_t k = 0; k < COUNT(same); k++)
      convert(f, same[i][0], same[k][0], "x=2,y=4", same[i][1], same[k][1]);
}

static void test_xla(fixture *f) {
  convert(f, "xla", "sdy", NULL, "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}",
          "#sdy.sharding<mesh<[\"_axis_0\"=4, \"_axis_1\"=2]>, [{\"_axis_1\"}, {}]>");
  convert(f, "xla", "sdy", "x=8", "{devices=[2,2,2]<=[2,2,2]T(2,0,1) last_tile_dim_replicate}",
          "#sdy.sharding<mesh<[\"x\"=8]>, [{\"x\":(4)2}, {\"x\":(1)2}]>");
  convert(f, "xla", "xla", NULL, "{devices=[2,1,2,2]<=[8] last_tile_dims={replicated, manual}}",
          "{devices=[2,1,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={manual, replicated}}");
  convert(f, "xla", "xla", NULL, "{devices=[2,2,2]<=[8] last_tile_dims={replicated,replicated}}",
          "{devices=[2,4]<=[8] last_tile_dim_replicate}");
  convert(f, "xla", "xla", NULL, "{devices=[1,8]<=[8] last_tile_dims={manual}}", "{manual}");
  convert(f, "xla", "xla", NULL, "{devices=[1,8]<=[8] last_tile_dim_replicate}", "{replicated}");
  convert(f, "xla", "xla", NULL, "{devices=[4,9]<=[6,6]T(1,0)}", "{devices=[4,9]<=[6,6]T(1,0)}");
  convert(f, "xla", "layout", NULL, "{devices=[4]3,1,0,2}",
          "Layout((4,), (\"_axis_0\",), rank_list=[3, 1, 0, 2])(\"_axis_0\")");
  convert(f, "xla", "shard", NULL, "{devices=[4]3,1,0,2}", "device_ids");
  convert(f, "xla", "sdy", NULL, "{devices=[4]3,1,0,7}", "device 7 of a mesh of 4");
  convert(f, "xla", "pspec", "x=2,y=3", "{devices=[3,2]<=[6]}", "dimension 0 has tiles that end");
  convert(f, "xla", "pspec", "x=2,y=2", "{devices=[2,2]<=[2,2]T(1,0)}", "P('y', 'x')");
  convert(f, "xla", "sdy", NULL, "{maximal device=3 metadata={op_name=\"a}\"}}",
          "#sdy.sharding<mesh<[], device_ids=[3]>, []>");
  convert(f, "xla", "pspec", "x=2,y=4", "{unreduced}", "P(unreduced={'x', 'y'})");
  convert(f, "xla", "named", "x=2", "{manual}",
          "NamedSharding(mesh=Mesh('x': 2, axis_types=(Manual,)), spec=PartitionSpec())");
  convert(f, "xla", "sdy", NULL, "{unknown}", "unknown over devices that no mesh names");
  convert(f, "xla", "sdy", NULL, "{{devices=[2]<=[2]}, {replicated}}",
          "#sdy.sharding_per_value<[<mesh<[\"_axis_0\"=2]>, [{\"_axis_0\"}]>, <mesh<[]>, []>]>");
}

static void test_dtensor(fixture *f) {
  const char *mesh = "a=2,b=3,c=4";
  convert(f, "dtensor", "pspec", mesh, "[Shard(0), Shard(dim=0), Replicate()]", "P(('a', 'b'))");
  convert(f, "pspec", "dtensor", mesh, "P(('c', 'a', 'b'))",
          "[_StridedShard(0, split_factor=4), _StridedShard(0, split_factor=4), Shard(0)]");
  convert(f, "pspec", "dtensor", mesh, "P(('b', 'c', 'a'))",
          "[_StridedShard(0, split_factor=12), Shard(0), Shard(0)]");
  convert(f, "dtensor", "pspec", mesh,
          "(_StridedShard(dim=0, sf=12), _StridedShard(0, split_factor=4), Shard(0))",
          "P(('c', 'b', 'a'))");
  convert(f, "dtensor", "sdy", mesh, "[Partial('max'), Shard(1), Partial(reduce_op='max')]",
          "#sdy.sharding<mesh<[\"a\"=2, \"b\"=3, \"c\"=4]>, [{}, {\"b\"}], "
          "unreduced=max{\"a\", \"c\"}>");
  convert(f, "dtensor", "pspec", mesh, "[_StridedShard(0, sf=3), Shard(0), Shard(0)]",
          "P(('b', 'a', 'c'))");
  convert(f, "dtensor", "pspec", mesh, "[_StridedShard(0, sf=2), Shard(0), Shard(0)]",
          "axis \"a\": expected a split factor that later axes of dimension 0 make, found 2");
}

/* Names that need escapes come out of each notation as they went in. */
static void test_names(fixture *f) {
  const char *text = "#sdy.sharding<mesh<[\"it's\"=2, \"a\\22b\"=2, \"\\\\\"=2]>, "
                     "[{\"a\\22b\"}, {\"it's\"}, {\"\\\\\"}]>";
  static const char *const through[] = {"pspec", "named", "layout"};
  for (size_t i = 0; i < COUNT(through); i++) {
    const placement *p = get(f, "sdy", NULL, text);
    CHECK(p);
    if (!p) continue;
    const notation *n = notation_find(str_of(through[i]));
    f->out.len = 0;
    CHECK(notation_write(&f->a, &f->out, n, p, &f->sink));
    notation_context c = {p->sharding->mesh, 3};
    const placement *again =
        notation_read(&f->a, n, arena_str(&f->a, buf_view(&f->out)), &c, &f->sink);
    CHECK(again && sharding_equivalent(again->sharding, p->sharding));
  }
}

static void test_meshes(fixture *f) {
  static const char *const same[] = {"x=2,y=4", "x=2,y=2 device_ids=[3,1,2,0]",
                                     "<[\"two words\"=2], device_ids=[1, 0]>", "<[]>"};
  for (size_t i = 0; i < COUNT(same); i++) {
    const mesh *m = notation_read_mesh(&f->a, str_of(same[i]), &f->sink);
    f->out.len = 0;
    if (m) notation_write_mesh(&f->out, m);
    CHECK(m && str_is(buf_view(&f->out), same[i]));
  }
  static const char *const wrong[] = {"",
                                      "x",
                                      "x=0",
                                      "x=2,",
                                      "x=2 y",
                                      "<[\"x\"=2]",
                                      "x=2,x=2",
                                      "x=3037000500,y=3037000500",
                                      "<[], device_ids=[-1]>"};
  for (size_t i = 0; i < COUNT(wrong); i++) {
    u32 before = f->sink.errors;
    CHECK(!notation_read_mesh(&f->a, str_of(wrong[i]), &f->sink));
    CHECK(f->sink.errors == before + 1);
  }
}

static void test_over_mesh(fixture *f) {
  const placement *p = get(f, "pspec", "x=2,y=4", "P('y', 'x')");
  const mesh *one = notation_read_mesh(&f->a, STR("a=8"), &f->sink);
  const mesh *odd = notation_read_mesh(&f->a, STR("a=2,b=3"), &f->sink);
  const placement *moved = notation_over_mesh(&f->a, p, one, &f->sink);
  slice_grid before, after;
  CHECK(moved);
  if (!moved) return;
  slice_grid_make(&f->a, p->sharding, &before);
  slice_grid_make(&f->a, moved->sharding, &after);
  for (i64 k = 0; k < 8; k++) CHECK(slice_at(&before, k) == slice_at(&after, k));
  CHECK(!notation_over_mesh(&f->a, p, odd, &f->sink));
}

/* A million devices are no more work than eight, as long as nobody lists them. */
static void test_large(fixture *f) {
  const char *mesh = "x=1048576,y=1048576,z=4096";
  convert(f, "pspec", "xla", mesh, "P(('z', 'x'), 'y')",
          "{devices=[4294967296,1048576]<=[1099511627776,4096]T(1,0)}");
  convert(f, "xla", "pspec", mesh, "{devices=[4294967296,1048576]<=[1099511627776,4096]T(1,0)}",
          "P(('z', 'x'), 'y')");
  convert(f, "pspec", "xla-v1", mesh, "P('x')", "not expressible: a list of");
}

int main(void) {
  fixture f = {0};
  oom_trap trap;
  buf_init(&f.errors, &mem_system);
  buf_init(&f.out, &mem_system);
  arena_init(&f.a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  f.sink = (diag_sink){.fn = diag_to_buf, .user = &f.errors};
  test_pairs(&f);
  test_xla(&f);
  test_dtensor(&f);
  test_names(&f);
  test_meshes(&f);
  test_over_mesh(&f);
  test_large(&f);
  arena_deinit(&f.a);
  buf_deinit(&f.errors);
  buf_deinit(&f.out);
  return UNIT_END();
}
