/* Reads MLIR text and writes it as bytecode: `to_bytecode FILE VERSION OUTPUT`, a portable
 * artifact for that version of StableHLO, or with the version "native" the ops as they are.
 *
 *   cc to_bytecode.c $(pkg-config --cflags --libs terrazzo) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrazzo/ir.h>

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

static int write_file(const char *path, const char *bytes, size_t length) {
  FILE *f = fopen(path, "wb");
  int bad = !f || fwrite(bytes, 1, length, f) != length;
  return (f && fclose(f) != 0) || bad;
}

int main(int argc, char **argv) {
  size_t length = 0;
  char *source = argc == 4 ? read_file(argv[1], &length) : NULL, *bytes = NULL;
  if (!source) return fprintf(stderr, "usage: to_bytecode FILE VERSION OUTPUT\n"), 2;
  const char *version = strcmp(argv[2], "native") == 0 ? NULL : argv[2];
  tz_context *c = NULL;
  tz_module *m = NULL;
  tz_error *e = tz_context_create(NULL, &c);
  if (!e) e = tz_module_parse(c, source, length, argv[1], &m);
  if (!e) e = tz_module_write_bytecode(m, version, &bytes, &length);
  int status = e != NULL;
  if (e) fprintf(stderr, "%s\n", tz_error_message(e));
  if (!e) status = write_file(argv[3], bytes, length);
  tz_free(bytes);
  tz_error_free(e);
  tz_context_free(c);
  free(source);
  return status;
}
