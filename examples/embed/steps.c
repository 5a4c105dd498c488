/* State that stays on the devices: steps that are handed in one after the other, each with the
 * state that the one before leaves, in the same memory; the host waits once, at the end.
 *
 *   cc steps.c $(pkg-config --cflags --libs terrazzo) */
#include <stdio.h>
#include <string.h>
#include <terrazzo/terrazzo.h>

/* The second result takes over the memory of %w, which is why that is given at each step. */
static const char step[] =
    "sdy.mesh @m = <[\"x\"=4]>\n"
    "func.func @main(%w: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>,\n"
    "                                  tf.aliasing_output = 1 : i32},\n"
    "                %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>})\n"
    "    -> (tensor<f32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>}) {\n"
    "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %half = stablehlo.constant dense<0.5> : tensor<8xf32>\n"
    "  %d = stablehlo.subtract %x, %w : tensor<8xf32>\n"
    "  %m = stablehlo.multiply %d, %half : tensor<8xf32>\n"
    "  %n = stablehlo.add %w, %m : tensor<8xf32>\n"
    "  %s = stablehlo.multiply %d, %d : tensor<8xf32>\n"
    "  %loss = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0]\n"
    "      : (tensor<8xf32>, tensor<f32>) -> tensor<f32>\n"
    "  return %loss, %n : tensor<f32>, tensor<8xf32>\n"
    "}\n";

static tz_error *train(tz_runtime *r, const tz_program *p, tz_buffer **w, tz_buffer *x, int steps) {
  static const bool give[] = {true, false};
  for (int i = 0; i < steps; i++) {
    tz_buffer *in[] = {*w, x}, *out[2];
    tz_error *e = tz_start(r, p, in, give, out);
    if (e) return e;
    tz_buffer_free(*w);
    tz_buffer_free(out[0]); /* nobody asks for this loss */
    *w = out[1];
  }
  return NULL;
}

int main(void) {
  const float zeros[8] = {0}, ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  float end[8];
  tz_program *p = NULL;
  tz_runtime *r = NULL;
  tz_buffer *w = NULL, *x = NULL;
  tz_error *e = tz_compile(step, strlen(step), NULL, &p);
  if (!e) e = tz_runtime_create(0, &r);
  if (!e) e = tz_buffer_create(r, p, 0, zeros, &w);
  if (!e) e = tz_buffer_create(r, p, 1, ones, &x);
  if (!e) e = train(r, p, &w, x, 20);
  if (!e) e = tz_buffer_read(w, end); /* waits for all of it */
  if (!e) printf("after 20 steps: %.4f ... %.4f\n", (double)end[0], (double)end[7]);
  if (e) fprintf(stderr, "%s\n", tz_error_message(e));
  int status = e != NULL;
  tz_error_free(e);
  tz_buffer_free(w);
  tz_buffer_free(x);
  tz_program_free(p);
  tz_runtime_free(r);
  return status;
}
