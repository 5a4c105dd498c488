#define _GNU_SOURCE
#include "base/trace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "tests/unit.h"

typedef struct counter {
  trace_sink sink;
  int spans[TRACE_KINDS_];
} counter;

static void count(trace_sink *s, const trace_span *span) { ((counter *)s)->spans[span->kind]++; }

static void test_sinks(void) {
  counter a = {.sink.span = count}, b = {.sink.span = count};
  trace_span step = {TRACE_STEP, 3, STR("add"), STR("a.py:1"), 10, 20};
  CHECK(!trace_on());
  trace_tell(&step);
  trace_add(&a.sink);
  trace_tell(&step);
  trace_add(&b.sink);
  trace_tell(&step);
  trace_remove(&a.sink);
  CHECK(trace_on());
  trace_tell(&step);
  trace_remove(&b.sink);
  CHECK(!trace_on());
  CHECK(a.spans[TRACE_STEP] == 2);
  CHECK(b.spans[TRACE_STEP] == 2);
}

/* What is there after each flush is whole. */
static void test_file(void) {
  char path[] = "/tmp/trace_test_XXXXXX", text[2048];
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  status s = trace_to_file("/no such folder/file");
  CHECK(status_get_code(s) == STATUS_INVALID_ARGUMENT);
  status_free(s);
  CHECK(!trace_to_file(NULL) && !trace_to_file("") && !trace_on());
  CHECK(!trace_to_file(path) && trace_on());
  for (int i = 0; i < 2; i++) {
    trace_tell(&(trace_span){TRACE_WAIT, i, STR("a \"b\"\n"), STR("x.py:7"), 1000, 3500});
    trace_flush();
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    CHECK(n > 3);
    text[n > 0 ? n : 0] = 0;
    CHECK(text[0] == '[' && strcmp(text + n - 3, "\n]\n") == 0);
  }
  CHECK(strstr(text, "{\"name\":\"a \\\"b\\\"\\u000a\",\"cat\":\"wait\",\"ph\":\"X\",\"pid\":1,"
                     "\"tid\":1,\"ts\":1.000,\"dur\":2.500,\"args\":{\"loc\":\"x.py:7\"}}"));
  close(fd);
  unlink(path);
}

int main(void) {
  test_sinks();
  test_file();
  return UNIT_END();
}
