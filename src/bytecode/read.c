/* The file: its sections and the tables in them.
 *
 * Sections may come in any order, so all are found first. Then strings, properties (as ranges of
 * bytes), dialects with their op names, resources, attributes and types (ranges again, decoded when
 * first asked for), and the ops last, which pull in what they refer to. Strings, blobs and large
 * constants point into the file. */
#include <stdlib.h>

#include "bytecode/bytecode.h"
#include "bytecode/reader.h"
#include "bytecode/sections.h"

static const char *const section_names[SECTION_COUNT] = {
    "string",   "dialect",         "attribute",       "attribute offset", "IR",
    "resource", "resource offset", "dialect version", "property"};

bool bytecode_is(str bytes) { return str_starts(bytes, STR("ML\xEFR")); }

/* ---- tables ---- */

/* Lengths come last string first; the strings themselves in order, each with a NUL. */
static void read_strings(reader *r, cursor c) {
  size_t n = get_count(r, &c);
  r->strings = ARENA_ARRAY(r->arena, str, n);
  r->num_strings = n;
  const char *end = (const char *)c.end;
  for (size_t i = n; i-- > 0 && !r->failed;) {
    const u8 *from = c.at;
    u64 len = get_uint(r, &c);
    if (r->failed) return;
    if (len == 0 || end < (const char *)c.at || len > (size_t)(end - (const char *)c.at)) {
      fail_at(r, from, "expected the length of a string, found %llu", (unsigned long long)len);
      return;
    }
    end -= len;
    r->strings[i] = (str){end, (size_t)len - 1};
  }
  if (!r->failed && end != (const char *)c.at)
    fail_at(r, c.at, "expected strings of the lengths given");
}

static dialect_kind kind_of(str name) {
  static const char *const names[] = {"builtin", "sdy", "vhlo", "stablehlo", "chlo", "quant"};
  for (size_t i = 0; i < COUNT(names); i++)
    if (str_is(name, names[i])) return (dialect_kind)i;
  return DIALECT_other;
}

static u32 get_dialect(reader *r, cursor *c) {
  const u8 *from = c->at;
  u64 i = get_uint(r, c);
  if (r->failed || i < r->num_dialects) return (u32)i;
  fail_at(r, from, "expected a dialect below %zu, found %llu", r->num_dialects,
          (unsigned long long)i);
  return 0;
}

/* A string without a NUL. */
static bool is_name(const reader *r, u64 i) {
  return i < r->num_strings && !memchr(r->strings[i].data, 0, r->strings[i].len);
}

static void read_dialect_names(reader *r, cursor *c) {
  size_t n = get_count(r, c);
  r->dialects = ARENA_ARRAY(r->arena, dialect, n);
  r->num_dialects = n;
  for (size_t i = 0; i < n && !r->failed; i++) {
    const u8 *from = c->at;
    u64 name = 0;
    u8 id;
    bool versioned = false;
    if (r->version >= VERSION_DIALECTS)
      versioned = get_flagged(r, c, &name);
    else
      name = get_uint(r, c);
    if (!r->failed &&
        (!is_name(r, name) || memchr(r->strings[name].data, '.', r->strings[name].len)))
      fail_at(r, from, "expected the name of a dialect, found %llu", (unsigned long long)name);
    if (versioned) get_section(r, c, &id);
    if (r->failed) return;
    r->dialects[i] = (dialect){r->strings[name], kind_of(r->strings[name])};
  }
}

/* A dialect's own version section is skipped: nothing we read depends on it. */
static void read_dialects(reader *r, cursor c) {
  VEC(op_name) ops = {0};
  read_dialect_names(r, &c);
  if (r->version >= VERSION_ARG_LOCS) get_uint(r, &c); /* the number of op names */
  while (!r->failed && c.at != c.end) {
    u32 d = get_dialect(r, &c);
    size_t n = get_count(r, &c);
    for (size_t i = 0; i < n && !r->failed; i++) {
      const u8 *from = c.at;
      u64 name;
      bool registered = true;
      if (r->version >= VERSION_PROPERTIES)
        registered = get_flagged(r, &c, &name);
      else
        name = get_uint(r, &c);
      if (!r->failed && !is_name(r, name))
        fail_at(r, from, "expected the name of an op, found %llu", (unsigned long long)name);
      if (r->failed) return;
      op_name o = {.name = r->strings[name], .dialect = d, .registered = registered};
      VEC_PUSH(r->arena, ops, o);
    }
  }
  r->ops = ops.data;
  r->num_ops = ops.len;
}

/* Entries come in groups of one dialect; their bytes one after the other. */
static void read_entries(reader *r, cursor *offsets, cursor *data, entry *list, size_t n) {
  for (size_t i = 0; i < n && !r->failed;) {
    u32 d = get_dialect(r, offsets);
    const u8 *from = offsets->at;
    size_t group = get_count(r, offsets);
    if (!r->failed && group > n - i) fail_at(r, from, "expected at most %zu entries", n - i);
    for (; group > 0 && !r->failed; group--, i++) {
      u64 size;
      list[i].custom = get_flagged(r, offsets, &size);
      list[i].dialect = d;
      str bytes = get_bytes(r, data, size);
      list[i].bytes = (cursor){(const u8 *)bytes.data, (const u8 *)bytes.data + bytes.len};
    }
  }
}

static void read_attr_table(reader *r, cursor data, cursor offsets) {
  size_t attrs = get_count(r, &offsets), types = get_count(r, &offsets);
  if (r->failed) return;
  r->attrs = arena_zalloc(r->arena, attrs * sizeof(entry));
  r->types = arena_zalloc(r->arena, types * sizeof(entry));
  r->num_attrs = attrs;
  r->num_types = types;
  read_entries(r, &offsets, &data, r->attrs, attrs);
  read_entries(r, &offsets, &data, r->types, types);
  if (!r->failed && offsets.at != offsets.end)
    fail_at(r, offsets.at, "expected the end of the attribute offset section");
}

static void read_properties(reader *r, cursor c) {
  if (c.at == c.end) return;
  size_t n = get_count(r, &c);
  r->props = ARENA_ARRAY(r->arena, cursor, n);
  r->known = arena_zalloc(r->arena, n * sizeof *r->known);
  r->num_props = n;
  for (size_t i = 0; i < n && !r->failed; i++) {
    str bytes = get_blob(r, &c);
    r->props[i] = (cursor){(const u8 *)bytes.data, (const u8 *)bytes.data + bytes.len};
  }
  if (!r->failed && c.at != c.end) fail_at(r, c.at, "expected the end of the property section");
}

/* A blob: alignment, size, padding, bytes. The bytes end with the entry, so that the padding is
 * known without the address that they were aligned for. */
static void read_resource(reader *r, str key, u8 kind, cursor c) {
  if (kind != 0) return; /* flags and strings: nothing here refers to them */
  u64 align = get_uint(r, &c), size = get_uint(r, &c);
  if (r->failed) return;
  if (size > cursor_left(&c) || cursor_left(&c) - size >= (align ? align : 1)) {
    fail_at(r, c.at, "expected %llu bytes of a resource, found %zu", (unsigned long long)size,
            cursor_left(&c));
    return;
  }
  ir_resource_set(r->ctx, key, (str){(const char *)c.end - size, (size_t)size});
  if (align <= UINT32_MAX) ir_resource_set_align(r->ctx, key, (u32)align);
}

static void read_resource_group(reader *r, cursor *offsets, cursor *data, bool ours) {
  size_t n = get_count(r, offsets);
  VEC(str) keys = {r->resources, r->num_resources, r->num_resources};
  for (size_t i = 0; i < n && !r->failed; i++) {
    str key = get_string(r, offsets);
    u64 size = get_uint(r, offsets);
    u8 kind = get_byte(r, offsets);
    str bytes = get_bytes(r, data, size);
    if (r->failed || !ours) continue;
    VEC_PUSH(r->arena, keys, key);
    if (bytes.len) /* else declared only */
      read_resource(r, key, kind,
                    (cursor){(const u8 *)bytes.data, (const u8 *)bytes.data + bytes.len});
  }
  r->resources = keys.data;
  r->num_resources = keys.len;
}

static void read_resources(reader *r, cursor data, cursor offsets) {
  size_t external = get_count(r, &offsets);
  for (size_t i = 0; i < external && !r->failed; i++) {
    get_string(r, &offsets);
    read_resource_group(r, &offsets, &data, false);
  }
  while (!r->failed && offsets.at != offsets.end) {
    get_dialect(r, &offsets);
    read_resource_group(r, &offsets, &data, true);
  }
}

/* ---- the file ---- */

/* Magic, version, and the producer's name, which is not looked at. */
static bool read_header(reader *r, cursor *c) {
  get_bytes(r, c, 4);
  const u8 *from = c->at;
  r->version = get_uint(r, c);
  if (!r->failed && r->version > VERSION_NEWEST)
    fail_at(r, from, "expected a version up to %d, found %llu", VERSION_NEWEST,
            (unsigned long long)r->version);
  if (r->failed) return false;
  const u8 *nul = memchr(c->at, 0, cursor_left(c));
  if (!nul) return fail_at(r, c->at, "expected the name of the producer");
  c->at = nul + 1;
  return true;
}

static bool is_optional(const reader *r, int id) {
  if (id == SECTION_properties) return r->version < VERSION_PROPERTIES;
  return id == SECTION_resources || id == SECTION_resource_offsets || id == SECTION_versions;
}

static void read_file(reader *r) {
  cursor c = {(const u8 *)r->bytes.data, (const u8 *)r->bytes.data + r->bytes.len};
  cursor sections[SECTION_COUNT] = {{0}};
  if (!read_header(r, &c)) return;
  while (!r->failed && c.at != c.end) {
    const u8 *from = c.at;
    u8 id;
    cursor s = get_section(r, &c, &id);
    if (!r->failed && (id >= SECTION_COUNT || sections[id].at))
      fail_at(r, from, "expected another section, found %u", id);
    if (!r->failed) sections[id] = s;
  }
  for (int i = 0; i < SECTION_COUNT && !r->failed; i++)
    if (!sections[i].at && !is_optional(r, i))
      fail_at(r, c.end, "expected the %s section", section_names[i]);
  if (r->failed) return;
  read_strings(r, sections[SECTION_strings]);
  if (sections[SECTION_properties].at) read_properties(r, sections[SECTION_properties]);
  if (!r->failed) read_dialects(r, sections[SECTION_dialects]);
  if (!r->failed && sections[SECTION_resources].at && sections[SECTION_resource_offsets].at)
    read_resources(r, sections[SECTION_resources], sections[SECTION_resource_offsets]);
  if (!r->failed) read_attr_table(r, sections[SECTION_attrs], sections[SECTION_attr_offsets]);
  if (!r->failed) read_ops(r, sections[SECTION_ir]);
}

ir_module *bytecode_read(ir_ctx *c, str file_name, str bytes) {
  reader r = {.ctx = c, .codecs = codecs, .file = file_name, .bytes = bytes};
  if (!bytecode_is(bytes)) {
    diag_error(ir_sink(c), (diag_pos){.file = file_name}, "not an MLIR bytecode file");
    return NULL;
  }
  r.module = ir_module_create(c);
  r.arena = ir_scratch_push(c);
  read_file(&r);
  ir_scratch_pop(c);
  if (!r.failed) return r.module;
  ir_module_destroy(r.module);
  return NULL;
}
