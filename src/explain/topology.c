/* Topologies: which links devices have, from a small text. */
#include <stdlib.h>

#include "explain/explain.h"

typedef struct reading {
  arena *a;
  diag_sink *sink;
  diag_pos pos;
  str rest; /* of the line */
  topology *out;
} reading;

static bool wrong(reading *r, const char *what, str found) {
  return diag_error(r->sink, r->pos, "expected %s, found '" STR_FMT "'", what, STR_ARG(found));
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static str next_word(reading *r) {
  size_t i = 0, n;
  while (i < r->rest.len && is_space(r->rest.data[i])) i++;
  for (n = i; n < r->rest.len && !is_space(r->rest.data[n]);) n++;
  str word = {r->rest.data + i, n - i};
  r->pos.col += (u32)i;
  r->rest = (str){r->rest.data + n, r->rest.len - n};
  return word;
}

typedef struct unit {
  const char *name;
  double factor;
} unit;
static const unit rates[] = {{"B/s", 1},     {"KB/s", 1e3},     {"MB/s", 1e6},    {"GB/s", 1e9},
                             {"TB/s", 1e12}, {"MiB/s", 0x1p20}, {"GiB/s", 0x1p30}};
static const unit times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
static const unit speeds[] = {{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}};

static bool read_unit(reading *r, const unit *units, size_t n, const char *what, double *out) {
  str word = next_word(r), text = arena_str(r->a, word);
  char *end = NULL;
  double v = text.len ? strtod(text.data, &end) : -1;
  for (size_t i = 0; i < n && v > 0; i++)
    if (strcmp(end, units[i].name) == 0) {
      r->pos.col += (u32)word.len;
      return *out = v * units[i].factor, true;
    }
  return wrong(r, what, word);
}

/* level NAME SIZE BANDWIDTH LATENCY; axis NAME BANDWIDTH LATENCY */
static bool read_link(reading *r, bool axis) {
  comms_link l = {.axis = axis, .size = UINT64_MAX};
  l.name = arena_str(r->a, next_word(r));
  if (!l.name.len) return wrong(r, "a name", l.name);
  r->pos.col += (u32)l.name.len;
  if (!axis) {
    str word = next_word(r), text = arena_str(r->a, word);
    char *end = NULL;
    bool all = str_is(word, "all");
    l.size = all ? UINT64_MAX : strtoull(text.data, &end, 10);
    if (!all && (!word.len || *end || *text.data == '-' || !l.size))
      return wrong(r, "a number of devices, or all", word);
    r->pos.col += (u32)word.len;
  }
  if (!read_unit(r, rates, COUNT(rates), "a bandwidth such as 50GB/s", &l.bandwidth) ||
      !read_unit(r, times, COUNT(times), "a latency such as 5us", &l.latency))
    return false;
  VEC_PUSH(r->a, r->out->links, l);
  return true;
}

static bool read_line(reading *r) {
  str word = next_word(r);
  if (!word.len) return true;
  diag_pos begin = r->pos;
  r->pos.col += (u32)word.len;
  bool fine;
  if (str_is(word, "level") || str_is(word, "axis")) {
    fine = read_link(r, str_is(word, "axis"));
  } else if (str_is(word, "flops")) {
    fine = read_unit(r, speeds, COUNT(speeds), "a speed such as 100TFLOP/s", &r->out->flops);
  } else if (str_is(word, "memory")) {
    fine = read_unit(r, rates, COUNT(rates), "a bandwidth such as 2TB/s", &r->out->memory);
  } else {
    r->pos = begin;
    return wrong(r, "level, axis, flops or memory", word);
  }
  str more = fine ? next_word(r) : (str){0};
  return fine && (!more.len || wrong(r, "the end of the line", more));
}

static int by_size(const void *a, const void *b) {
  u64 x = ((const comms_link *)a)->size, y = ((const comms_link *)b)->size;
  return x < y ? -1 : x > y;
}

bool topology_read(arena *a, diag_sink *sink, str file, str text, topology *out) {
  *out = (topology){0};
  reading r = {.a = a, .sink = sink, .pos = {file, 1, 1}, .out = out};
  bool whole = false;
  for (size_t at = 0; at < text.len; r.pos.line++) {
    size_t end = at, stop;
    while (end < text.len && text.data[end] != '\n') end++;
    for (stop = at; stop < end && text.data[stop] != '#';) stop++;
    r.rest = (str){text.data + at, stop - at};
    r.pos.col = 1;
    if (!read_line(&r)) return false;
    at = end + 1;
  }
  for (size_t i = 0; i < out->links.len; i++)
    whole |= !out->links.data[i].axis && out->links.data[i].size == UINT64_MAX;
  if (!whole) return diag_error(sink, (diag_pos){file, 0, 0}, "there is no level of all devices");
  qsort(out->links.data, out->links.len, sizeof *out->links.data, by_size);
  return true;
}
