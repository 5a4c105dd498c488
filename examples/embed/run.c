/* A program on eight devices from C: what each argument is and how it lies, a run, the results.
 *
 *   cc run.c $(pkg-config --cflags --libs terrazzo) */
#include <stdio.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

/* Rows of %a are cut along x, columns of %b along y; each device multiplies what it has. */
static const char program[] =
    "sdy.mesh @m = <[\"x\"=2, \"y\"=4]>\n"
    "func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>},\n"
    "                %b: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {\"y\"}]>})\n"
    "    -> tensor<8x8xf32> {\n"
    "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]\n"
    "      : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>\n"
    "  return %0 : tensor<8x8xf32>\n"
    "}\n";

static void show(const char *what, const tz_tensor *t) {
  printf("%s: %lldx%lld of %s, a device has %lldx%lld\n", what, (long long)t->dims[0],
         (long long)t->dims[1], t->type, (long long)t->local_dims[0], (long long)t->local_dims[1]);
}

static tz_error *run(const tz_program *p, tz_runtime *r) {
  float a[8 * 4], b[4 * 8], sums[8 * 8];
  const void *in[] = {a, b};
  void *out[] = {sums};
  for (int i = 0; i < 32; i++) a[i] = (float)i, b[i] = 1;
  tz_error *e = tz_run(r, p, in, out);
  if (!e) printf("%g %g ... %g\n", (double)sums[0], (double)sums[8], (double)sums[63]);
  return e;
}

int main(void) {
  tz_program *p = NULL;
  tz_runtime *r = NULL;
  tz_error *e = tz_compile(program, strlen(program), NULL, &p);
  if (!e) e = tz_runtime_create(0, &r);
  if (!e) {
    tz_tensor t = {TZ_SIZED(tz_tensor)};
    tz_program_param(p, 0, &t);
    show("the first argument", &t);
    tz_program_result(p, 0, &t);
    show("the result", &t);
    e = run(p, r);
  }
  if (e) fprintf(stderr, "%s\n", tz_error_message(e));
  int status = e != NULL;
  tz_error_free(e);
  tz_program_free(p);
  tz_runtime_free(r);
  return status;
}
