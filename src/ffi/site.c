/* One description of a site for both ways (program/archive.h). */
#include "ffi/site.h"

#include "program/archive.h"

static const char MAGIC[8] = "TZFFI1\r\n";
enum { MAX_DEPTH = 64 };

static void put_attr(archive *ar, ffi_attr *at, int depth) {
  put_str(ar, &at->name);
  PUT_ENUM(ar, at->kind);
  PUT_ENUM(ar, at->type);
  put_str(ar, &at->bytes);
  put_u32(ar, &at->num_entries);
  if (depth == 0 || at->kind >= FFI_ATTR_COUNT_ || at->type >= DTYPE_COUNT) ar->bad = true;
  ARRAY(ar, at->entries, at->num_entries, 24);
  for (u32 i = 0; i < at->num_entries && !ar->bad; i++) {
    ffi_attr entry = ar->out ? at->entries[i] : (ffi_attr){0};
    put_attr(ar, &entry, depth - 1);
    if (!ar->out) at->entries[i] = entry;
  }
}

static void put_site(archive *ar, ffi_site *s) {
  put_u32(ar, &s->api_version);
  put_str(ar, &s->opaque);
  put_attr(ar, &s->attrs, MAX_DEPTH);
  put_u32(ar, &s->device);
  put_u32(ar, &s->devices);
  put_u32(ar, &s->num_tokens);
  put_u32s(ar, &s->tokens, s->num_tokens);
}

bool ffi_site_write(const ffi_site *s, buf *out) {
  buf_bytes(out, MAGIC, sizeof MAGIC);
  archive ar = archive_write(out);
  ffi_site copy = *s;
  put_site(&ar, &copy);
  return !ar.bad;
}

bool ffi_is_site(str bytes) { return str_starts(bytes, (str){MAGIC, sizeof MAGIC}); }

/* Elements that a reader may count on. */
static bool attr_is_whole(const ffi_attr *at) {
  size_t size = dtype_size((dtype)at->type);
  if (at->kind == FFI_ATTR_SCALAR) return size && at->bytes.len == size;
  if (at->kind == FFI_ATTR_ARRAY) return size && at->bytes.len % size == 0;
  for (u32 i = 0; i < at->num_entries; i++)
    if (!attr_is_whole(&at->entries[i])) return false;
  return true;
}

bool ffi_site_read(arena *a, str bytes, ffi_site *out) {
  *out = (ffi_site){0};
  if (!ffi_is_site(bytes)) return false;
  archive ar = archive_read(a, str_from(bytes, sizeof MAGIC));
  put_site(&ar, out);
  if (ar.bad || ar.cur != ar.end) return false;
  return out->api_version >= FFI_API_ORIGINAL && out->api_version <= FFI_API_TYPED &&
         out->attrs.kind == FFI_ATTR_DICT && attr_is_whole(&out->attrs);
}
