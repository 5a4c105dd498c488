/* Structs of callers that are older or newer than the library. */
#include "api/sized.h"

#include "tests/api.h"

typedef struct old {
  size_t struct_size;
  u64 a;
} old;
typedef struct ours {
  size_t struct_size;
  u64 a, b;
  const char *c;
} ours;
typedef struct later {
  ours known;
  u64 d;
} later;

static void test_read(void) {
  ours o;
  CHECK(!sized_read(&(old){sizeof(old), 7}, sizeof o, "ours", &o) && o.a == 7 && !o.b && !o.c);
  later l = {{.struct_size = sizeof l, .a = 1, .b = 2}, 0};
  CHECK(!sized_read(&l, sizeof o, "ours", &o) && o.a == 1 && o.b == 2);
  l.d = 1;
  CHECK(refused((tz_error *)(uintptr_t)sized_read(&l, sizeof o, "ours", &o),
                "ours has something at byte 32 that this version does not know"));
  l.known.struct_size = 0;
  CHECK(refused((tz_error *)(uintptr_t)sized_read(&l, sizeof o, "ours", &o),
                "struct_size of ours is not set: expected sizeof(ours)"));
}

static void test_write(void) {
  ours o = {0, 1, 2, "c"};
  struct {
    old it;
    u64 after;
  } small = {{sizeof(old), 9}, 3};
  CHECK(sized_write(&small.it, &o, sizeof o) && small.it.a == 1 && small.after == 3);
  later l = {{.struct_size = sizeof l}, 5};
  CHECK(sized_write(&l, &o, sizeof o) && l.known.b == 2 && l.d == 0);
  CHECK(l.known.struct_size == sizeof l);
  CHECK(sized_write(&l, NULL, sizeof o) && !l.known.b && l.known.struct_size == sizeof l);
  l.known.struct_size = 0, l.known.b = 4;
  CHECK(!sized_write(&l, &o, sizeof o) && l.known.b == 4);
}

/* Through the functions that take or fill such structs. */
static void test_entries(void) {
  static const char source[] = "func.func @main(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
                               "  return %a : tensor<2x3xf32>\n}\n";
  tz_program *p;
  tz_compile_options none = {.devices = 2};
  CHECK(
      refused(tz_compile(source, strlen(source), &none, &p), "struct_size of tz_compile_options"));
  tz_compile_options o = {TZ_SIZED(tz_compile_options), .devices = 2};
  CHECK(fine(tz_compile(source, strlen(source), &o, &p)));
  tz_tensor t = {0};
  CHECK(!tz_program_param(p, 0, &t) && !tz_program_param(p, 0, NULL));
  t.struct_size = sizeof t;
  CHECK(tz_program_param(p, 0, &t) && t.rank == 2 && t.bytes == 24);
  CHECK(!tz_program_param(p, 1, &t) && t.rank == 0 && strcmp(t.type, "") == 0);
  tz_stats s = {TZ_SIZED(tz_stats)};
  CHECK(tz_program_stats(p, &s) && s.params == 24 && s.results == 24);
  tz_program_free(p);
}

int main(void) {
  test_read();
  test_write();
  test_entries();
  return UNIT_END();
}
