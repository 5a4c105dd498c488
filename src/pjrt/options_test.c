#include "pjrt/options.h"

#include "pjrt/proto.h"
#include "tests/unit.h"

/* As JAX writes them: replicas, partitions, and the assignment {partition: [devices]}. */
static void write_options(buf *out, u64 replicas, u64 partitions, const u32 *devices) {
  buf assignment, build, list, packed;
  buf_init(&assignment, &mem_system);
  buf_init(&build, &mem_system);
  buf_init(&list, &mem_system);
  buf_init(&packed, &mem_system);
  proto_put_int(&assignment, 1, replicas);
  proto_put_int(&assignment, 2, partitions);
  for (u64 p = 0; p < partitions; p++) {
    packed.len = list.len = 0;
    for (u64 r = 0; r < replicas; r++) proto_put_varint(&packed, devices[p * replicas + r]);
    proto_put_bytes(&list, 1, buf_view(&packed));
    proto_put_bytes(&assignment, 3, buf_view(&list));
  }
  proto_put_int(&build, 1, UINT64_MAX); /* device_ordinal: -1 */
  proto_put_int(&build, 4, replicas);
  proto_put_int(&build, 5, partitions);
  proto_put_bytes(&build, 9, buf_view(&assignment));
  proto_put_bytes(&build, 12, STR("\0\1"));
  proto_put_bytes(out, 3, buf_view(&build));
  proto_put_int(out, 9, 1);
  buf_deinit(&assignment);
  buf_deinit(&build);
  buf_deinit(&list);
  buf_deinit(&packed);
}

static status read(arena *a, str bytes, api_options *o) {
  status s = api_options_read(a, bytes, o);
  CHECK(!s || status_get_code(s) == STATUS_INVALID_ARGUMENT);
  return s;
}

static void test_assignment(arena *a) {
  buf b;
  api_options o;
  buf_init(&b, &mem_system);
  write_options(&b, 2, 3, (u32[]){0, 1, 2, 300, 4, 5});
  status s = read(a, buf_view(&b), &o);
  CHECK(!s && o.num_replicas == 2 && o.num_partitions == 3);
  CHECK(memcmp(o.assignment, (u32[]){0, 2, 4, 1, 300, 5}, 6 * sizeof(u32)) == 0);
  s = read(a, (str){0}, &o);
  CHECK(!s && !o.assignment && o.num_partitions == 0);
  buf_deinit(&b);
}

/* One option of the user's, whose value is a text. */
static bool accepts(arena *a, const char *name, const char *value, const char *told) {
  buf all, entry, text;
  api_options o;
  buf_init(&all, &mem_system);
  buf_init(&entry, &mem_system);
  buf_init(&text, &mem_system);
  proto_put_bytes(&text, 1, str_of(value));
  proto_put_bytes(&entry, 1, str_of(name));
  proto_put_bytes(&entry, 2, buf_view(&text));
  proto_put_bytes(&all, 7, buf_view(&entry));
  status s = read(a, buf_view(&all), &o);
  bool ok = !s;
  CHECK(ok || (told && strstr(status_message(s).data, told)));
  status_free(s);
  buf_deinit(&all);
  buf_deinit(&entry);
  buf_deinit(&text);
  return ok;
}

static void test_overrides(arena *a) {
  CHECK(accepts(a, "xla_embed_ir_in_executable", "true", NULL));
  CHECK(accepts(a, "xla_embed_ir_in_executable", "False", NULL));
  CHECK(accepts(a, "xla_backend_optimization_level", "2", NULL));
  CHECK(accepts(a, "xla_of_a_version_to_come", "anything", NULL));
  CHECK(accepts(a, "optimization_level", "O1", NULL));
  CHECK(!accepts(a, "xla_embed_ir_in_executable", "maybe", "'maybe' is not a valid bool value"));
  CHECK(!accepts(a, "xla_embed_ir_in_executable", "", "is not a valid bool value"));
  CHECK(!accepts(a, "optimisation_level", "1", "No such compile option: 'optimisation_level'"));
}

/* Cut anywhere or changed anywhere: an error or other options, and no more than that. */
static void test_damage(arena *a) {
  buf b;
  api_options o;
  buf_init(&b, &mem_system);
  write_options(&b, 1, 4, (u32[]){3, 2, 1, 0});
  for (size_t n = 0; n < b.len; n++) status_free(read(a, (str){b.data, n}, &o));
  for (size_t n = 0; n < b.len; n++)
    for (int bit = 0; bit < 8; bit++) {
      b.data[n] ^= (char)(1 << bit);
      status_free(read(a, buf_view(&b), &o));
      b.data[n] ^= (char)(1 << bit);
    }
  status s = read(a, STR("\x1a\x7f"), &o);
  CHECK(s);
  status_free(s);
  buf_deinit(&b);
}

int main(void) {
  arena a;
  oom_trap trap;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  test_assignment(&a);
  test_overrides(&a);
  test_damage(&a);
  arena_deinit(&a);
  return UNIT_END();
}
