/* The .npy format, versions 1 to 3 (numpy.lib.format). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

static const char *after(str header, const char *key) {
  size_t n = strlen(key);
  for (size_t i = 0; i + n <= header.len; i++)
    if (memcmp(header.data + i, key, n) == 0) return header.data + i + n;
  return NULL;
}

/* "(2, 3, )" from p, which ends with the header's NUL. */
static bool read_shape(const char *p, npy *out) {
  while (*p == ' ' || *p == ':') p++;
  if (*p++ != '(') return false;
  for (;;) {
    while (*p == ' ' || *p == ',') p++;
    if (*p == ')') return true;
    char *end;
    errno = 0;
    i64 v = strtoll(p, &end, 10);
    if (end == p || errno || v < 0 || out->rank == COUNT(out->dims)) return false;
    out->dims[out->rank++] = v;
    p = end;
  }
}

/* Fills in all but the data from a header that ends with NUL. */
static status parse(const char *path, str header, npy *out) {
  const char *descr = after(header, "'descr': '");
  const char *order = after(header, "'fortran_order': ");
  const char *shape = after(header, "'shape'");
  if (!descr || !*descr || !order || !shape || !read_shape(shape, out))
    return status_make(STATUS_INVALID_ARGUMENT, "%s: the header is not as NumPy writes it", path);
  if (*order != 'F' || *descr == '>')
    return status_make(STATUS_INVALID_ARGUMENT, "%s: expected a little-endian array in C order",
                       path);
  out->kind = descr[1];
  long size = descr[1] ? strtol(descr + 2, NULL, 10) : 0;
  if (size < 1 || size > 16)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "%s: expected elements of 1 to 16 bytes, found '%.*s'", path,
                       (int)strcspn(descr, "'"), descr);
  out->bytes = (size_t)(out->size = (u32)size);
  for (u32 i = 0; i < out->rank; i++)
    if (!checked_mul(out->bytes, (size_t)out->dims[i], &out->bytes)) out->bytes = SIZE_MAX;
  return NULL;
}

/* A directory or a disk that fails says why; a file that ends too early is told with what it has.
 */
static status read_exactly(const char *path, FILE *f, void *to, size_t n, const char *what) {
  size_t got = fread(to, 1, n, f);
  if (got == n) return NULL;
  if (ferror(f)) return status_make(STATUS_UNKNOWN, "%s: %s", path, strerror(errno));
  return status_make(STATUS_INVALID_ARGUMENT, "%s: expected %zu bytes of %s, found %zu", path, n,
                     what, got);
}

static status read_header(const char *path, npy *out) {
  u8 head[12];
  char header[4096];
  RETURN_IF_ERROR(read_exactly(path, out->file, head, 10, "a .npy file's beginning"));
  if (memcmp(head, "\x93NUMPY", 6) != 0)
    return status_make(STATUS_INVALID_ARGUMENT, "%s: expected a .npy file", path);
  size_t n = head[8] | (size_t)head[9] << 8;
  if (head[6] > 1) {
    RETURN_IF_ERROR(read_exactly(path, out->file, head + 10, 2, "the header's length"));
    n |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
  }
  if (n >= sizeof header)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "%s: expected a header of less than %zu bytes, found %zu", path,
                       sizeof header, n);
  RETURN_IF_ERROR(read_exactly(path, out->file, header, n, "a header"));
  header[n] = 0;
  return parse(path, (str){header, n}, out);
}

status npy_open(const char *path, npy *out) {
  *out = (npy){.file = fopen(path, "rb")};
  if (!out->file) return status_make(STATUS_NOT_FOUND, "%s: %s", path, strerror(errno));
  return read_header(path, out);
}

status npy_load(const char *path, npy *a) {
  if (!(a->data = malloc(a->bytes + 1))) return status_oom();
  RETURN_IF_ERROR(read_exactly(path, a->file, a->data, a->bytes, "elements"));
  bool more = getc(a->file) != EOF;
  fclose(a->file);
  a->file = NULL;
  return more ? status_make(STATUS_INVALID_ARGUMENT,
                            "%s: expected %zu bytes of elements, found more", path, a->bytes)
              : NULL;
}

void npy_free(npy *a) {
  if (a->file) fclose(a->file);
  free(a->data);
  *a = (npy){0};
}

/* NumPy's letter for a type; small floats have none and go as unsigned integers. */
static char letter(const char *type) {
  static const struct {
    const char *type;
    char letter;
  } letters[] = {{"i1", 'b'}, {"f16", 'f'}, {"f32", 'f'}, {"f64", 'f'}};
  for (size_t i = 0; i < COUNT(letters); i++)
    if (strcmp(type, letters[i].type) == 0) return letters[i].letter;
  return type[0] == 'i' ? 'i' : type[0] == 'c' ? 'c' : 'u';
}

bool npy_holds(const npy *a, const char *type, size_t size) {
  char kind = letter(type);
  /* ml_dtypes' own types are bytes without a meaning to NumPy */
  int bits = atoi(type + strcspn(type, "0123456789"));
  bool own = (kind == 'u' && *type != 'u') || (size == 1 && bits < 8 && bits > 1);
  /* and one of them is '<f1' */
  return (a->kind == kind || (own && (a->kind == 'V' || (a->kind == 'f' && size == 1)))) &&
         a->size == size;
}

status npy_write(const char *path, const char *type, size_t size, i64s dims, const void *data) {
  buf b;
  buf_init(&b, &mem_system);
  size_t count = 1;
  buf_printf(&b, "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (", size == 1 ? '|' : '<',
             letter(type), size);
  for (size_t i = 0; i < dims.len; i++) {
    buf_printf(&b, "%" PRId64 ", ", dims.data[i]);
    count *= (size_t)dims.data[i];
  }
  buf_printf(&b, "), }");
  while ((b.len + 11) % 64) buf_char(&b, ' ');
  buf_char(&b, '\n');
  FILE *f = fopen(path, "wb");
  bool ok = f && buf_ok(&b);
  if (ok) {
    const u8 magic[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (u8)b.len, (u8)(b.len >> 8)};
    ok = fwrite(magic, 1, 10, f) == 10 && fwrite(b.data, 1, b.len, f) == b.len &&
         fwrite(data, size, count, f) == count;
  }
  if (f && fclose(f) != 0) ok = false;
  buf_deinit(&b);
  return ok ? NULL : status_make(STATUS_UNKNOWN, "%s: %s", path, strerror(errno));
}
