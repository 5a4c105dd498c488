/* -verify-diagnostics: what a file says will be reported, against what was. */
#ifndef CLI_EXPECT_H
#define CLI_EXPECT_H

#include "base/diag.h"

typedef struct expected {
  diag_kind kind;
  u32 line; /* 0: anywhere without a place (`@unknown`) */
  u32 at;   /* line of the comment */
  str text;
  bool pattern; /* -re: {{...}} inside are regular expressions */
  bool met;
} expected;

typedef struct expectations {
  arena arena;
  VEC(expected) list;
  expected **by_line;
  str file;
  u32 wrong; /* complaints printed */
  bool only; /* what nobody expects is fine */
} expectations;

/* Reads `// expected-error@+1 {{text}}` and its kin: error warning remark note; @+N @-N @above
 * @below @unknown; a count of repetitions. The source has so many lines above it. The trap is for
 * memory. */
void expect_read(expectations *e, str file, str source, u32 above, oom_trap *trap);
/* A diag_sink's fn; user is the expectations. */
void expect_sink(void *user, diag_kind kind, diag_pos pos, str text);
/* Complains about what did not come; true: all is as expected. Frees. */
bool expect_finish(expectations *e);

#endif
