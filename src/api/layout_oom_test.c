/* Fails the Nth allocation of a session with shardings and layouts, for every N: each call gives
 * an error or a result, nothing crashes or (under ASan) leaks. */
#include <string.h>

#include "terrazzo/layout.h"
#include "tests/api.h"
#include "tests/oom.h"

static bool use_sharding(const tz_sharding *s) {
  char *text;
  for (uint32_t i = 0; tz_notation_name(i); i++) {
    if (!had_memory(tz_sharding_write(s, tz_notation_name(i), &text))) return false;
    tz_free(text);
  }
  for (int k = 0; k < 2; k++) {
    if (!had_memory(tz_sharding_picture(s, k, &text))) return false;
    tz_free(text);
  }
  if (!had_memory(tz_sharding_json(s, (const int64_t[]){4, 4}, &text))) return false;
  CHECK(strstr(text, "\"num_slices\": 8"));
  tz_free(text);
  tz_sharding *other;
  if (!had_memory(tz_sharding_over_mesh(s, "a=8", &other))) return false;
  int64_t slices[8];
  bool all = had_memory(tz_sharding_slices(other, slices));
  if (all) CHECK(slices[1] == 2 && tz_sharding_slice_at(s, 1) == 2);
  tz_sharding_free(other);
  return all;
}

static bool use_layouts(tz_layout *from, tz_layout *to) {
  tz_redistribution *r;
  char *text;
  if (!had_memory(tz_layout_json(from, (const int64_t[]){8, 8}, 2, &text))) return false;
  tz_free(text);
  if (!had_memory(tz_redistribution_create(from, to, (const int64_t[]){8, 8}, 2, &r))) return false;
  bool all = had_memory(tz_redistribution_json(r, 4, &text));
  if (all) tz_free(text);
  tz_redistribution_free(r);
  return all;
}

static bool use_strategies(void) {
  tz_layout *from = NULL, *to = NULL;
  bool all = had_memory(tz_layout_from_strategy((const int64_t[]){2, 2}, 2, 8, false, &from)) &&
             had_memory(tz_layout_from_strategy((const int64_t[]){1, 4}, 2, 8, true, &to)) &&
             use_layouts(from, to);
  tz_layout_free(from);
  tz_layout_free(to);
  return all;
}

static bool session(void) {
  tz_sharding *s;
  if (!had_memory(tz_sharding_read("pspec", "P('y', 'x')", "x=2,y=4", TZ_ANY_RANK, &s)))
    return false;
  bool all = use_sharding(s);
  tz_sharding_free(s);
  return all && use_strategies();
}

int main(void) { return oom_test(session); }
