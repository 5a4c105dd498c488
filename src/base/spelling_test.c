/* Names that may have been meant. */
#include "base/spelling.h"

#include "tests/unit.h"

static bool meant(const char *wanted, const char *best) {
  static const char *const names[] = {"canonicalize", "cse", "inline", "sdy-lift-inlined-meshes"};
  spelling s = {.wanted = str_of(wanted)};
  for (size_t i = 0; i < COUNT(names); i++) spelling_try(&s, str_of(names[i]));
  return str_eq(s.best, str_of(best));
}

int main(void) {
  CHECK(meant("canonicalise", "canonicalize"));
  CHECK(meant("canonciallize", "canonicalize"));
  CHECK(meant("inlien", "inline") && meant("inlin", "inline") && meant("iinline", "inline"));
  CHECK(meant("sdy-lift-inline-mesh", "sdy-lift-inlined-meshes"));
  CHECK(meant("sce", "cse") && meant("xyz", "") && meant("", ""));
  CHECK(meant("a-name-that-is-longer-than-anything-that-there-is-in-all-the-lists-of-names", ""));
  spelling s = {.wanted = STR("csee")};
  CHECK(strcmp(spelling_say(&s).text, "") == 0);
  spelling_try(&s, STR("cse"));
  CHECK(strcmp(spelling_say(&s).text, "; did you mean 'cse'?") == 0);
  return UNIT_END();
}
