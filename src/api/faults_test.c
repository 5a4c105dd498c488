/* Fails the Nth allocation of compiling and running a program, for every N: each call gives an
 * error or a result, nothing crashes or (under ASan) leaks.
 *
 *   api_faults_test FILE... */
#include <string.h>

#include "api/api.h"
#include "tests/api.h"
#include "tests/oom.h"

enum { MOST = 64 }; /* arrays */
static char source[1 << 20];
static size_t source_size;

/* Made before the count begins. */
typedef struct arrays {
  void **in, **out;
  size_t num_in, num_out;
} arrays;

static arrays make_arrays(void) {
  tz_program *p;
  arrays a = {0};
  if (!fine(tz_compile(source, source_size, NULL, &p))) return a;
  a.num_in = tz_program_num_params(p);
  a.num_out = tz_program_num_results(p);
  a.in = calloc(a.num_in + 1, sizeof *a.in);
  a.out = calloc(a.num_out + 1, sizeof *a.out);
  for (size_t i = 0; i < a.num_in; i++)
    a.in[i] = calloc(1, (size_t)api_param(p, (uint32_t)i).bytes + 1);
  for (size_t i = 0; i < a.num_out; i++)
    a.out[i] = calloc(1, (size_t)api_result(p, (uint32_t)i).bytes + 1);
  tz_program_free(p);
  return a;
}

static void free_arrays(arrays *a) {
  for (size_t i = 0; i < a->num_in; i++) free(a->in[i]);
  for (size_t i = 0; i < a->num_out; i++) free(a->out[i]);
  free(a->in);
  free(a->out);
}

static arrays at;

static bool run_on_buffers(tz_runtime *r, const tz_program *p) {
  tz_buffer *in[MOST] = {0}, *out[MOST] = {0};
  bool ok = at.num_in <= MOST && at.num_out <= MOST;
  CHECK(ok);
  for (size_t i = 0; ok && i < at.num_in; i++)
    ok = had_memory(tz_buffer_create(r, p, (uint32_t)i, at.in[i], &in[i]));
  if (ok) ok = had_memory(tz_start(r, p, in, NULL, out));
  for (size_t i = 0; ok && i < at.num_out; i++) ok = had_memory(tz_buffer_read(out[i], at.out[i]));
  for (size_t i = 0; i < MOST; i++) {
    tz_buffer_free(in[i]);
    tz_buffer_free(out[i]);
  }
  return ok;
}

static bool session(void) {
  tz_program *p;
  tz_runtime *r;
  if (!had_memory(tz_compile(source, source_size, NULL, &p))) return false;
  bool ok = had_memory(tz_runtime_create(1, &r));
  if (ok) ok = had_memory(tz_run(r, p, (const void *const *)at.in, at.out));
  if (ok) ok = run_on_buffers(r, p);
  tz_runtime_free(r);
  tz_program_free(p);
  return ok;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    source_size = read_whole(argv[i], source, sizeof source);
    CHECK(source_size != 0);
    at = make_arrays();
    printf("%s: ", argv[i]);
    oom_each(session, 2); /* the heap asks twice */
    free_arrays(&at);
  }
  return UNIT_END();
}
