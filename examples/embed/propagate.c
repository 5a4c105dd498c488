/* Propagates the shardings of a program, and prints it.
 *
 *   cc propagate.c $(pkg-config --cflags --libs terrazzo) */
#include <stdio.h>
#include <string.h>

#include "terrazzo/ir.h"

static const char program[] =
    "sdy.mesh @m = <[\"x\"=2, \"y\"=4]>\n"
    "func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>},\n"
    "                %b: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {\"y\"}]>})\n"
    "    -> tensor<8x32xf32> {\n"
    "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]\n"
    "      : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>\n"
    "  return %0 : tensor<8x32xf32>\n"
    "}\n";

int main(void) {
  tz_context *c;
  tz_module *m = NULL;
  char *text = NULL;
  size_t length;
  tz_error *e = tz_context_create(NULL, &c);
  if (!e) e = tz_module_parse(c, program, strlen(program), "program", &m);
  if (!e) e = tz_module_run(m, "sdy-propagation-pipeline");
  if (!e) e = tz_module_print(m, NULL, &text, &length);
  fputs(e ? tz_error_message(e) : text, e ? stderr : stdout);
  int status = e != NULL;
  tz_free(text);
  tz_error_free(e);
  tz_context_free(c);
  return status;
}
