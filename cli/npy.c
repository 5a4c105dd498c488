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

static status parse(const char *path, str bytes, npy *out) {
  char header[4096];
  if (bytes.len < 12 || memcmp(bytes.data, "\x93NUMPY", 6) != 0)
    return status_make(STATUS_INVALID_ARGUMENT, "%s: expected a .npy file", path);
  size_t start = bytes.data[6] == 1 ? 10 : 12, n = (u8)bytes.data[8] | (u8)bytes.data[9] << 8;
  if (start == 12) n |= (size_t)(u8)bytes.data[10] << 16 | (size_t)(u8)bytes.data[11] << 24;
  if (n >= sizeof header || n > bytes.len - start)
    return status_make(STATUS_INVALID_ARGUMENT, "%s: the header's length is wrong", path);
  memcpy(header, bytes.data + start, n);
  header[n] = 0;
  const char *descr = after((str){header, n}, "'descr': '");
  const char *order = after((str){header, n}, "'fortran_order': ");
  const char *shape = after((str){header, n}, "'shape'");
  if (!descr || !order || !shape || !read_shape(shape, out))
    return status_make(STATUS_INVALID_ARGUMENT, "%s: the header is not as NumPy writes it", path);
  if (*order != 'F' || *descr == '>')
    return status_make(STATUS_INVALID_ARGUMENT, "%s: expected a little-endian array in C order",
                       path);
  out->kind = descr[1];
  out->size = (u32)atoi(descr + 2);
  size_t count = 1, have = bytes.len - start - n;
  for (u32 i = 0; i < out->rank; i++)
    if (!checked_mul(count, (size_t)out->dims[i], &count)) count = SIZE_MAX;
  if (!out->size || out->size > 16 || !checked_mul(count, (size_t)out->size, &out->bytes) ||
      out->bytes != have)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "%s: expected %zu elements of %u bytes, found %zu bytes", path, count,
                       out->size, have);
  out->data = malloc(out->bytes + 1);
  if (!out->data) return status_oom();
  memcpy(out->data, bytes.data + start + n, out->bytes);
  return NULL;
}

status npy_read(const char *path, npy *out) {
  os_file f;
  *out = (npy){0};
  RETURN_IF_ERROR(os_file_open(path, &f));
  status s = parse(path, f.bytes, out);
  os_file_close(&f);
  return s;
}

void npy_free(npy *a) {
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
  return a->kind == letter(type) && a->size == size;
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
