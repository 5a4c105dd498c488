/* What the readers and writers of notations share: a cursor over text, and a sharding as it is
 * put together. */
#ifndef MESH_NOTATION_TEXT_H
#define MESH_NOTATION_TEXT_H

#include "mesh/notation.h"

typedef struct dim_draft {
  axis_vec axes;
  bool open;
  i64 priority;
} dim_draft;

struct reader {
  arena *a;
  diag_sink *sink;
  const char *what; /* the notation's name, for messages */
  str text, rest;
  const mesh *mesh; /* given beside the text; then the text's own. NULL: none so far */
  bool mesh_given;
  i64 rank;
  VEC(dim_draft) dims;
  axis_vec replicated, unreduced, manual;
  unreduced_kind unreduced_kind;
  bool interleaved;
};

struct writer {
  arena *a;
  buf *out;
  diag_sink *sink;
};

/* ---- reading: false means said so, but for reader_take and reader_at ---- */

bool reader_at(reader *r, const char *text);   /* behind blanks */
bool reader_take(reader *r, const char *text); /* and moves on */
bool reader_expect(reader *r, const char *text);
bool reader_wrong(reader *r, const char *expected);                   /* always false */
bool reader_error(reader *r, const char *fmt, ...) PRINTF_LIKE(2, 3); /* always false */
bool reader_end(reader *r);
bool reader_number(reader *r, const char *expected, i64 *out); /* at least 0 */
/* Behind an opening bracket: numbers and commas until `close`, one comma more allowed. */
bool reader_numbers(reader *r, const char *close, i64s *out);
/* 'x' or "x", with Python's escapes \\ \' \"; or MLIR's \22 in "x". */
bool reader_python_name(reader *r, str *out);
bool reader_mlir_name(reader *r, str *out);
/* A word of letters, digits, `_`, `.`, `$` and `-`; empty: none there. */
str reader_word(reader *r);
/* Is there another item of a list, before `close`? *more false at the end. `first` is set true
 * by the caller. A trailing comma is allowed. */
bool reader_item(reader *r, const char *close, bool *first, bool *more);

/* The mesh of the text, against the one that was given. Takes the given one where they agree;
 * names or device ids that the text cannot say don't count. */
bool reader_own_mesh(reader *r, const mesh *m, bool has_names, bool has_device_ids);
bool reader_needs_mesh(reader *r);
bool reader_axis(reader *r, str name, const char *where, u32 *out);
bool reader_new_dim(reader *r, u32 *out);
void reader_reset(reader *r); /* before another sharding of the same text */
/* The sharding as drafted, its rank and axes checked; missing dimensions are not split where
 * `pads`. NULL: said so. */
const placement *reader_finish(reader *r, bool pads);
/* Elements between `open` and `close`, each read by `one`. NULL: said so. */
const placement *reader_tuple(reader *r, const char *open, const char *close,
                              const placement *(*one)(reader *r));

/* ---- writing: all return false, said so, where something is not expressible ---- */

bool writer_error(writer *w, const char *fmt, ...) PRINTF_LIKE(2, 3);
str writer_axis(writer *w, const placement *p, axis_ref r); /* "x" or "x":(1)2, quoted */
/* Only these may be there; the others are errors. */
enum {
  HAS_OPEN = 1, /* open dimensions without axes */
  HAS_SUB_AXES = 2,
  HAS_UNREDUCED = 4, /* summed */
  HAS_UNREDUCED_KIND = 8,
  HAS_MANUAL = 16,
  HAS_DEVICE_IDS = 32,
  HAS_MAXIMAL = 64,
  HAS_TUPLE = 128,
  HAS_INTERLEAVED = 256,
  HAS_OPEN_AXES = 512, /* open dimensions with axes, priorities, explicit replication */
  HAS_UNNAMED = 1024   /* shardings over devices that nothing names */
};
bool writer_allows(writer *w, const placement *p, unsigned allowed);
bool writer_tuple(writer *w, const placement *p, const char *open, const char *close,
                  bool (*one)(writer *w, const placement *p));
void write_python_name(buf *out, str name, char quote);
void write_mlir_name(buf *out, str name);
void write_numbers(buf *out, const i64 *data, size_t n, const char *between);
void write_mlir_mesh(buf *out, const mesh *m); /* <["x"=2], device_ids=[...]> */
bool read_mlir_mesh(reader *r, const mesh **out);

/* The rows' functions. */
const placement *read_sdy(reader *r);
const placement *read_xla(reader *r);
const placement *read_pspec(reader *r);
const placement *read_named(reader *r);
const placement *read_dtensor(reader *r);
const placement *read_layout(reader *r);
const placement *read_shard(reader *r);
bool write_sdy(writer *w, const placement *p);
bool write_xla(writer *w, const placement *p);
bool write_xla_v1(writer *w, const placement *p);
bool write_pspec(writer *w, const placement *p);
bool write_named(writer *w, const placement *p);
bool write_dtensor(writer *w, const placement *p);
bool write_layout(writer *w, const placement *p);
bool write_shard(writer *w, const placement *p);

#endif
