/* Reads a program, walks it and counts: ops of each kind, bytes of constants, values that carry a
 * sharding. `stats FILE`; what is wrong with the file is told in parts, notes indented.
 *
 *   cc stats.c $(pkg-config --cflags --libs terrazzo) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrazzo/ir.h>

typedef struct kind {
  const char *name;
  size_t count;
} kind;
enum { MAX_KINDS = 256 };
typedef struct counts {
  kind kinds[MAX_KINDS];
  size_t num_kinds, ops, constant_bytes, with_sharding;
} counts;

static tz_walk count(void *user, tz_op *o) {
  counts *n = user;
  size_t i = 0;
  while (i < n->num_kinds && strcmp(n->kinds[i].name, tz_op_name(o)) != 0) i++;
  if (i == n->num_kinds && i < MAX_KINDS) n->kinds[n->num_kinds++].name = tz_op_name(o);
  if (i < MAX_KINDS) n->kinds[i].count++;
  n->ops++;
  n->constant_bytes += tz_dense_bytes(tz_op_attr(o, "value")).length;
  if (tz_op_attr(o, "sdy.sharding")) n->with_sharding++;
  return TZ_WALK_ON;
}

static int by_count(const void *a, const void *b) {
  size_t x = ((const kind *)a)->count, y = ((const kind *)b)->count;
  return (x < y) - (x > y);
}

static void tell(void *user, const tz_diagnostic *d) {
  static const char *const names[] = {"error", "warning", "remark", "note"};
  (void)user;
  printf("%s in %s, line %u: %s\n", names[d->severity], d->file, d->line, d->message);
  for (size_t i = 0; i < d->num_notes; i++)
    printf("  line %u: %s\n", d->notes[i]->line, d->notes[i]->message);
}

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

int main(int argc, char **argv) {
  tz_context *c = NULL;
  tz_module *m = NULL;
  static counts n;
  size_t length = 0;
  char *text = argc == 2 ? read_file(argv[1], &length) : NULL;
  if (!text) return fprintf(stderr, "usage: stats FILE\n"), 2;
  tz_error *e =
      tz_context_create(&(tz_context_options){TZ_SIZED(tz_context_options),
                                              .allow_unregistered = true, .diagnostics = tell},
                        &c);
  if (!e) e = tz_module_parse(c, text, length, argv[1], &m);
  if (!e) e = tz_module_verify(m);
  free(text);
  if (!e) {
    tz_op_walk(tz_module_op(m), false, count, &n);
    qsort(n.kinds, n.num_kinds, sizeof n.kinds[0], by_count);
    printf("%zu ops, %zu bytes of constants, %zu ops with a sharding\n", n.ops, n.constant_bytes,
           n.with_sharding);
    for (size_t i = 0; i < n.num_kinds; i++) printf("%6zu %s\n", n.kinds[i].count, n.kinds[i].name);
  }
  int status = e != NULL; /* `tell` has said what it is */
  tz_error_free(e);
  tz_context_free(c); /* and the module */
  return status;
}
