/* Propagates a program's shardings and tells, for one value, where each of its axes came from:
 * `origins FILE [N]`, of the value that @main returns as result N.
 *
 *   cc origins.c $(pkg-config --cflags --libs terrazzo) */
#include <stdio.h>
#include <stdlib.h>
#include <terrazzo/trace.h>

static char *read_file(const char *path, size_t *out_length) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  char *text = NULL;
  long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
  if (size >= 0 && (text = malloc((size_t)size + 1))) {
    rewind(f);
    *out_length = fread(text, 1, (size_t)size, f);
  }
  fclose(f);
  return text;
}

static void print_value(const tz_value *v) {
  tz_op *o = tz_value_op(v);
  if (!v)
    printf("a value that is gone");
  else if (o)
    printf("result %zu of %s", tz_value_index(v), tz_op_name(o));
  else
    printf("argument %zu of %s", tz_value_index(v),
           tz_op_name(tz_region_op(tz_block_region(tz_value_block(v)))));
}

/* Event i, and what made it possible, back to a value that had the axis before. */
static void print_chain(const tz_trace *t, size_t i) {
  tz_trace_event e = {TZ_SIZED(tz_trace_event)};
  for (; tz_trace_event_at(t, i, &e); i = e.cause) {
    printf("  step %u, priority %lld, round %d: from ", e.step, (long long)e.user_priority,
           e.op_round);
    if (e.from_returned) printf("the function's result that is ");
    print_value(e.from);
    printf(" through %s%s\n", e.op ? tz_op_name(e.op) : "a group", e.edge ? "'s edge" : "");
  }
}

static void print_origins(const tz_trace *t, const tz_value *v) {
  tz_trace_event e = {TZ_SIZED(tz_trace_event)};
  for (size_t i = 0; tz_trace_event_at(t, i, &e); i++) {
    if (e.to != v || e.to_returned || tz_trace_find(t, v, e.axis, e.pre, e.size) != i) continue;
    printf("\"%s\":(%lld)%lld of ", e.axis, (long long)e.pre, (long long)e.size);
    print_value(v);
    printf("\n");
    print_chain(t, i);
  }
}

int main(int argc, char **argv) {
  tz_context *c = NULL;
  tz_module *m = NULL;
  const tz_trace *t = NULL;
  size_t length = 0;
  char *text = argc > 1 ? read_file(argv[1], &length) : NULL;
  if (!text) return fprintf(stderr, "usage: origins FILE [N]\n"), 2;
  tz_error *e = tz_context_create(NULL, &c);
  if (!e) e = tz_module_parse(c, text, length, argv[1], &m);
  if (!e) e = tz_module_run_traced(m, "sdy-propagation-pipeline", &t);
  free(text);
  if (e) {
    fprintf(stderr, "%s\n", tz_error_message(e));
  } else {
    tz_region *body = tz_op_region(tz_module_find(m, "main"), 0);
    const tz_op *ret = tz_block_last_op(tz_region_first_block(body));
    print_origins(t, tz_op_operand(ret, argc > 2 ? strtoul(argv[2], NULL, 10) : 0));
  }
  int status = e != NULL;
  tz_error_free(e);
  tz_context_free(c); /* and the module with its trace */
  return status;
}
