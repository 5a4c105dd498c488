#include <stdlib.h>

#include "mesh/mesh.h"
#include "mesh/op_sharding.h"
#include "tests/unit.h"

static const mesh *mesh_of(arena *a, const char *axes, i64s ids) {
  mesh_axis list[8];
  size_t n = 0;
  for (const char *p = axes; *p; p++, n++) {
    list[n].name = (str){p, 1};
    list[n].size = strtoll(p + 1, (char **)&p, 10);
    if (!*p) {
      n++;
      break;
    }
  }
  return mesh_make(a, STR("m"), list, n, ids);
}

/* Every device has the same shard as before. */
static bool same_shards(const sharding *s, const sharding *t) {
  for (i64 p = 0; p < s->mesh->size; p++)
    for (u32 d = 0; d < s->rank; d++)
      if (sharding_shard_index(s, d, p) != sharding_shard_index(t, d, p)) return false;
  return true;
}

static void test_on_mesh(arena *a) {
  const mesh *x = mesh_of(a, "x8", (i64s){0}), *ab = mesh_of(a, "a2,b4", (i64s){0});
  const mesh *ba = mesh_of(a, "b4,a2", (i64s){0}), *six = mesh_of(a, "a2,b3", (i64s){0});
  const mesh *six_other = mesh_of(a, "a3,b2", (i64s){0}), *few = mesh_of(a, "a2,b2", (i64s){0});
  const axis_list whole = {(axis_ref[]){{0, 1, 8}}, 1}, part = {(axis_ref[]){{0, 2, 2}}, 1};
  const axis_list both[2] = {{(axis_ref[]){{1, 1, 4}}, 1}, {(axis_ref[]){{0, 1, 2}}, 1}};
  const sharding *s = sharding_make_closed(a, x, &whole, 1), *t = sharding_on_mesh(a, s, ab);
  CHECK(t && t->dims[0].axes.len == 2 && same_shards(s, t));
  s = sharding_make_closed(a, x, &part, 1);
  t = sharding_on_mesh(a, s, ab);
  CHECK(t && t->dims[0].axes.len == 1 && same_shards(s, t));
  s = sharding_make_closed(a, ab, both, 2);
  t = sharding_on_mesh(a, s, x);
  CHECK(t && t->dims[0].axes.data[0].pre == 2 && same_shards(s, t));
  t = sharding_on_mesh(a, s, ba);
  CHECK(t && t->dims[0].axes.len == 2 && same_shards(s, t));
  CHECK(!sharding_on_mesh(a, s, few) && !sharding_on_mesh(a, s, six));
  s = sharding_make_closed(a, six, &(axis_list){(axis_ref[]){{0, 1, 2}}, 1}, 1);
  CHECK(!sharding_on_mesh(a, s, six_other));
  i64 ids[] = {1, 0, 2, 3, 4, 5, 6, 7};
  CHECK(!sharding_on_mesh(a, sharding_make_closed(a, x, &whole, 1),
                          mesh_of(a, "a2,b4", (i64s){ids, 8})));
}

static void test_axes(arena *a) {
  axis_ref x = {0, 1, 16}, x12 = {0, 1, 2}, x14 = {0, 1, 4}, x22 = {0, 2, 2}, x24 = {0, 2, 4};
  axis_ref x48 = {0, 4, 4}, y = {1, 1, 4}, r;
  CHECK(axis_contains(x, x22) && !axis_contains(x22, x));
  CHECK(axis_prefix_of(x12, x14) && !axis_prefix_of(x22, x14) && axis_suffix_of(x22, x14));
  CHECK(axis_overlaps(x14, x24) && !axis_overlaps(x12, x22) && !axis_overlaps(x, y));
  CHECK(axis_overlap(x14, x24, &r) && axis_eq(r, x22));
  CHECK(axis_prefix_without(x14, x24, &r) && axis_eq(r, x12));
  CHECK(!axis_prefix_without(x24, x14, &r));
  CHECK(axis_suffix_without(x24, x14, &r) && r.pre == 4 && r.size == 2);
  CHECK(!axis_can_coexist((axis_ref){0, 1, 2}, (axis_ref){0, 1, 3}));
  CHECK(axis_can_merge(x12, x24) && axis_merge(x14, x48).size == 16);
  CHECK(!axis_can_merge((axis_ref){2, 1, 1}, (axis_ref){2, 1, 1}));
  CHECK(axis_overlaps((axis_ref){2, 1, 1}, (axis_ref){2, 1, 1}));
  axis_list l = {(axis_ref[]){x12, y}, 2}, k = {(axis_ref[]){x14, y}, 2};
  CHECK(axes_prefix_of(l, k) == AXES_NOT_PREFIX);
  CHECK(axes_prefix_of(axes_slice(l, 0, 1), k) == AXES_STRICT_PREFIX);
  CHECK(axes_prefix_of(k, k) == AXES_SAME);
  CHECK(axes_common_prefix(a, l, k).len == 1);
  axis_list d = axes_difference(a, (axis_list){&x, 1}, (axis_list){(axis_ref[]){x24}, 1});
  CHECK(d.len == 2 && axis_eq(d.data[0], x12) && d.data[1].pre == 8 && d.data[1].size == 2);
  axis_ref y2 = {1, 1, 2}, y3 = {1, 1, 3}, z2 = {1, 3, 2}; /* of six */
  d = axes_difference(a, (axis_list){&y3, 1}, (axis_list){(axis_ref[]){y2, z2}, 2});
  CHECK(d.len == 1 && axis_eq(d.data[0], y3));
  CHECK(axes_clash((axis_list){&y2, 1}, (axis_list){&z2, 1}));
  CHECK(!axes_clash((axis_list){&y3, 1}, (axis_list){&z2, 1}));
  axis_list t = axes_truncate_overlaps(a, k, (axis_list){&x22, 1});
  CHECK(t.len == 1 && axis_eq(t.data[0], x12));
  axis_list s = axes_sort_merge(a, (axis_list){(axis_ref[]){y, x24, x12}, 3});
  CHECK(s.len == 2 && s.data[0].size == 8 && s.data[1].axis == 1);
}

static void test_groups(arena *a) {
  const mesh *m = mesh_of(a, "x4,y2", (i64s){0});
  replica_groups g;
  CHECK(m->size == 8 && mesh_axis_find(m, STR("y")) == 1);
  CHECK(mesh_replica_groups(a, m, (axis_list){(axis_ref[]){{1, 1, 2}}, 1}, &g));
  CHECK(g.num_groups == 4 && g.ids[0] == 0 && g.ids[1] == 1 && g.ids[2] == 2);
  CHECK(mesh_replica_groups(a, m, (axis_list){(axis_ref[]){{0, 1, 4}}, 1}, &g));
  CHECK(g.num_groups == 2 && g.ids[1] == 2 && g.ids[4] == 1);
  CHECK(mesh_replica_groups(a, m, (axis_list){(axis_ref[]){{0, 2, 2}, {1, 1, 2}}, 2}, &g));
  CHECK(g.num_groups == 2 && g.ids[1] == 1 && g.ids[2] == 2 && g.ids[3] == 3 && g.ids[4] == 4);
  CHECK(mesh_replica_groups(a, m, (axis_list){(axis_ref[]){{1, 1, 2}, {0, 1, 2}}, 2}, &g));
  CHECK(g.ids[0] == 0 && g.ids[1] == 4 && g.ids[2] == 1 && g.ids[3] == 5 && g.ids[4] == 2);
  const i64 ids[] = {7, 6, 5, 4, 3, 2, 1, 0};
  m = mesh_of(a, "x4,y2", (i64s){ids, 8});
  CHECK(mesh_replica_groups(a, m, (axis_list){(axis_ref[]){{1, 1, 2}}, 1}, &g) && g.ids[0] == 7);
  CHECK(mesh_position_of(m, 5) == 2 && mesh_device_at(m, 2) == 5);
  CHECK(!mesh_of(a, "x9223372036854775807,y2", (i64s){0}));
}

static bool bytes_are(arena *a, const sharding *s, const char *hex, const char *text) {
  tile_assignment t;
  buf b, p;
  buf_init(&b, &mem_system);
  buf_init(&p, &mem_system);
  sharding_tile(a, s, &t);
  op_sharding_write(&b, &t);
  op_sharding_print(&p, &t);
  char got[256] = "";
  for (size_t i = 0; i < b.len; i++) snprintf(got + 2 * i, 3, "%02x", (u8)b.data[i]);
  bool ok = !strcmp(got, hex) && str_is(buf_view(&p), text);
  if (!ok) fprintf(stderr, "got %s %s\n", got, buf_cstr(&p));
  buf_deinit(&b);
  buf_deinit(&p);
  return ok;
}

static void test_op_sharding(arena *a) {
  const mesh *m = mesh_of(a, "x4,y2", (i64s){0});
  axis_ref x = axis_whole(m, 0), y = axis_whole(m, 1);
  axis_list none = {0}, lx = {&x, 1}, ly = {&y, 1}, lxy = {(axis_ref[]){x, y}, 2};
#define P(...) sharding_make_closed(a, m, (axis_list[]){__VA_ARGS__}, 2)
  CHECK(bytes_are(a, P(lx, ly), "08031a0204024a0108520100", "{devices=[4,2]<=[8]}"));
  CHECK(bytes_are(a, P(lx, none), "08031a0304010230014a0108520100",
                  "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"));
  CHECK(bytes_are(a, P(none, ly), "08031a0301020430014a02040252020100",
                  "{devices=[1,2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"));
  CHECK(bytes_are(a, P(ly, lx), "08031a0202044a02040252020100", "{devices=[2,4]<=[4,2]T(1,0)}"));
  CHECK(bytes_are(a, P(lxy, none), "08031a0208014a0108520100", "{devices=[8,1]<=[8]}"));
  CHECK(bytes_are(a, P(none, none), "", "{replicated}"));
  const i64 shape[] = {10, 4};
  i64 local[2];
  CHECK(!sharding_local_shape(P(lx, ly), shape, local) && local[0] == 3 && local[1] == 2);
  CHECK(sharding_shard_index(P(lx, ly), 0, 5) == 2 && sharding_shard_index(P(lx, ly), 1, 5) == 1);
}

int main(void) {
  oom_trap trap;
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  test_on_mesh(&a);
  test_axes(&a);
  test_groups(&a);
  test_op_sharding(&a);
  arena_deinit(&a);
  return UNIT_END();
}
