/* terrazzo layout: what a MindSpore Layout or a .shard() strategy puts on which device. */
#include "layout.h"
#include "workspace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: terrazzo layout --device-matrix SIZES --alias NAMES --map ENTRIES [options]\n"
    "       terrazzo layout --strategy NUMBERS --devices N [--repeat right|left] [options]\n\n"
    "--device-matrix 2,2,2  sizes of the axes of the device matrix\n"
    "--alias dp,sp,mp       their names\n"
    "--map '(dp,sp),None'   what splits each dimension of the tensor: a name, several in\n"
    "                       parentheses (major first), or None\n"
    "--rank-list 4,5,6,7    ranks in the order of the device matrix (default: 0, 1, 2, ...)\n"
    "--interleaved-parallel the last axis must be interleaved_parallel\n"
    "--strategy 2,1,2       pieces of each dimension, as .shard() takes them; one layout an input\n"
    "                       for ((2,1,2),(1,2))\n"
    "--devices N            how many devices; with more than slices they repeat\n"
    "--repeat right|left    the axis of the repetition is the last (default) or the first\n"
    "--tensor 4,8,16        shape of the tensor: adds slice shape and index ranges\n"
    "--rank R               only this rank\n"
    "--slice S              only this slice\n"
    "--to-device-matrix, --to-alias, --to-map, --to-rank-list\n"
    "                       another layout of the tensor (what is not given stays): which\n"
    "                       collectives lead there, and what each rank must receive\n"
    "--element-size N       bytes of an element (default 4)\n"
    "--svg FILE             which rank holds which piece, as a picture file\n"
    "--json                 the same for programs\n\n"
    "examples:\n"
    "  terrazzo layout --device-matrix 2,1,2,2,1 --alias a,b,c,d,e --map b,d,e,c,a \\\n"
    "      --tensor 1,2,1,2,2\n"
    "  terrazzo layout --device-matrix 2,2,2 --alias dp,sp,mp --map '(dp,sp),mp' --rank 3\n"
    "  terrazzo layout --strategy 2,1,1,2,1 --devices 8 --repeat left --json\n"
    "  terrazzo layout --device-matrix 2,4 --alias x,y --map x,y --tensor 8,16 --to-map y,x\n";

/* Printing everything of more devices than this is refused; --rank and --slice still work. */
static const i64 max_printed = (i64)1 << 24;
/* What each rank receives may be a piece of every other one. */
static const i64 max_moved = 1024;

typedef struct layout_options {
  const char *device_matrix, *alias, *map, *rank_list, *strategy, *devices, *repeat, *tensor;
  const char *rank, *slice;
  const char *to_device_matrix, *to_alias, *to_map, *to_rank_list, *element_size, *svg;
  bool interleaved, json;
} layout_options;

static const option_row rows[] = {
    {"--device-matrix", offsetof(layout_options, device_matrix), OPTION_TEXT},
    {"--alias", offsetof(layout_options, alias), OPTION_TEXT},
    {"--map", offsetof(layout_options, map), OPTION_TEXT},
    {"--rank-list", offsetof(layout_options, rank_list), OPTION_TEXT},
    {"--strategy", offsetof(layout_options, strategy), OPTION_TEXT},
    {"--devices", offsetof(layout_options, devices), OPTION_TEXT},
    {"--repeat", offsetof(layout_options, repeat), OPTION_TEXT},
    {"--tensor", offsetof(layout_options, tensor), OPTION_TEXT},
    {"--rank", offsetof(layout_options, rank), OPTION_TEXT},
    {"--slice", offsetof(layout_options, slice), OPTION_TEXT},
    {"--to-device-matrix", offsetof(layout_options, to_device_matrix), OPTION_TEXT},
    {"--to-alias", offsetof(layout_options, to_alias), OPTION_TEXT},
    {"--to-map", offsetof(layout_options, to_map), OPTION_TEXT},
    {"--to-rank-list", offsetof(layout_options, to_rank_list), OPTION_TEXT},
    {"--element-size", offsetof(layout_options, element_size), OPTION_TEXT},
    {"--svg", offsetof(layout_options, svg), OPTION_TEXT},
    {"--interleaved-parallel", offsetof(layout_options, interleaved), OPTION_FLAG},
    {"--json", offsetof(layout_options, json), OPTION_FLAG},
};

/* ---- values ---- */

static bool blank(char c) { return c == ' ' || c == '\t'; }

/* The text up to a comma, trimmed; *rest is behind the comma, NULL at the end. */
static str next_item(const char **rest) {
  const char *from = *rest;
  size_t n = strcspn(from, ",");
  *rest = from[n] ? from + n + 1 : NULL;
  while (n && blank(*from)) from++, n--;
  while (n && blank(from[n - 1])) n--;
  return (str){from, n};
}

static bool parse_item(const char *field, str text, i64 *out) {
  char copy[24], *end;
  size_t n = min_size(text.len, sizeof copy - 1);
  memcpy(copy, text.data, n);
  copy[n] = 0;
  errno = 0;
  *out = strtoll(copy, &end, 10);
  if (n == 0 || n != text.len || *end || errno)
    return say_error("%s: expected a whole number, found '" STR_FMT "'", field, STR_ARG(text)),
           false;
  return true;
}

bool layout_parse_number(const char *field, const char *text, i64 *out) {
  return parse_item(field, str_of(text), out);
}

bool layout_parse_numbers(arena *a, const char *field, const char *text, i64s *out) {
  VEC(i64) list = {0};
  VEC_PUSH(a, list, 0);
  list.len = 0;
  for (const char *rest = *text ? text : NULL; rest;) {
    i64 item;
    if (!parse_item(field, next_item(&rest), &item)) return false;
    VEC_PUSH(a, list, item);
  }
  *out = (i64s){list.data, list.len};
  return true;
}

bool layout_parse_names(arena *a, const char *field, const char *text, layout_entry *out) {
  VEC(str) list = {0};
  for (const char *rest = *text ? text : NULL; rest;) {
    str name = next_item(&rest);
    if (memchr(name.data, '(', name.len) || memchr(name.data, ')', name.len))
      return say_error("%s: expected a name, found '" STR_FMT "'", field, STR_ARG(name)), false;
    VEC_PUSH(a, list, name);
  }
  *out = (layout_entry){list.data, list.len, true};
  return true;
}

/* At a parenthesis: the tuple, and the text behind it and its comma (NULL at the end). */
static bool parse_tuple(arena *a, const char *field, const char **rest, layout_entry *out) {
  const char *close = strchr(*rest, ')');
  if (!close) return say_error("%s: expected ')' after '%s'", field, *rest), false;
  str inside = arena_str(a, (str){*rest + 1, (size_t)(close - *rest) - 1});
  while (inside.len && blank(inside.data[inside.len - 1])) inside.len--;
  /* (a,) is a tuple of one, as in Python */
  if (inside.len > 1 && inside.data[inside.len - 1] == ',') inside.len--;
  if (!layout_parse_names(a, field, arena_str(a, inside).data, out)) return false;
  const char *next = close + 1;
  while (blank(*next)) next++;
  if (*next && *next != ',')
    return say_error("%s: expected ',' after ')', found '%s'", field, next), false;
  *rest = *next ? next + 1 : NULL;
  return true;
}

bool layout_parse_entries(arena *a, const char *field, const char *text,
                          const layout_entry **entries, size_t *num_entries) {
  VEC(layout_entry) list = {0};
  for (const char *rest = *text ? text : NULL; rest;) {
    layout_entry e;
    while (blank(*rest)) rest++;
    if (*rest == '(') {
      if (!parse_tuple(a, field, &rest, &e)) return false;
    } else {
      str *name = ARENA_NEW(a, str);
      *name = next_item(&rest);
      if (memchr(name->data, ')', name->len))
        return say_error("%s: expected a name, found '" STR_FMT "'", field, STR_ARG(*name)), false;
      e = (layout_entry){name, 1, false};
    }
    VEC_PUSH(a, list, e);
  }
  *entries = list.data;
  *num_entries = list.len;
  return true;
}

/* ---- the command ---- */

typedef struct strategies {
  i64s *data;
  size_t len;
  bool tuple; /* of one an input, as MindSpore writes them; else there is one */
} strategies;

static bool parse_strategy(arena *a, const layout_entry *names, i64s *out) {
  i64 *numbers = ARENA_ARRAY(a, i64, names->num_names);
  for (size_t i = 0; i < names->num_names; i++)
    if (!parse_item("strategy", names->names[i], &numbers[i])) return false;
  *out = (i64s){numbers, names->num_names};
  return true;
}

/* 2,1,2 or (2,1,2) or ((2,1,2),(1,2)). */
static bool parse_strategies(arena *a, const char *text, strategies *out) {
  str s = str_of(text);
  while (s.len && blank(*s.data)) s = str_from(s, 1);
  while (s.len && blank(s.data[s.len - 1])) s.len--;
  out->tuple =
      s.len > 2 && s.data[0] == '(' && strchr("( \t", s.data[1]) && s.data[s.len - 1] == ')';
  if (out->tuple) s = (str){s.data + 1, s.len - 2};
  while (s.len && blank(s.data[s.len - 1])) s.len--;
  if (s.len && s.data[s.len - 1] == ',') s.len--;
  const layout_entry *entries;
  size_t n;
  if (!layout_parse_entries(a, "--strategy", arena_str(a, s).data, &entries, &n)) return false;
  bool whole = out->tuple || (n == 1 && entries[0].tuple);
  out->data = ARENA_ARRAY(a, i64s, n + 1);
  out->len = whole ? n : 1;
  if (!whole) return layout_parse_numbers(a, "--strategy", text, &out->data[0]);
  for (size_t i = 0; i < n; i++) {
    if (!entries[i].tuple)
      return say_error("--strategy: expected a tuple for each input, found '" STR_FMT "'",
                       STR_ARG(entries[i].names[0])),
             false;
    if (!parse_strategy(a, &entries[i], &out->data[i])) return false;
  }
  return true;
}

static const layout *from_strategy(arena *a, i64s strategy, const layout_options *o,
                                   diag_sink *sink) {
  i64 devices;
  bool left = o->repeat && strcmp(o->repeat, "left") == 0;
  if (o->repeat && !left && strcmp(o->repeat, "right") != 0) {
    say_error("--repeat: expected right or left, found '%s'", o->repeat);
    return NULL;
  }
  if (!layout_parse_number("--devices", o->devices, &devices)) return NULL;
  return layout_from_strategy(a, strategy, devices, left, sink);
}

static const layout *from_matrix(arena *a, const layout_options *o, diag_sink *sink) {
  layout_spec s = {0};
  layout_entry names;
  if (!layout_parse_numbers(a, "--device-matrix", o->device_matrix, &s.device_matrix) ||
      !layout_parse_names(a, "--alias", o->alias, &names) ||
      !layout_parse_entries(a, "--map", o->map, &s.entries, &s.num_entries) ||
      (o->rank_list && !layout_parse_numbers(a, "--rank-list", o->rank_list, &s.rank_list)))
    return NULL;
  s.alias_name = names.names;
  s.num_alias_names = names.num_names;
  const layout *l = layout_make(a, &s, sink);
  if (l && o->interleaved && !l->interleaved) {
    say_error("--alias: expected \"interleaved_parallel\" as the last name, found \"" STR_FMT "\"",
              STR_ARG(layout_mesh(l)->axes[layout_mesh(l)->num_axes - 1].name));
    return NULL;
  }
  return l;
}

/* Which positions and slices --rank and --slice leave. */
static bool select_shown(arena *a, const layout_options *o, grid_view *v, diag_sink *sink) {
  const layout *l = v->layout;
  i64 *one = ARENA_ARRAY(a, i64, 1), number;
  if (o->rank) {
    i64 *position = ARENA_ARRAY(a, i64, 1);
    if (!layout_parse_number("--rank", o->rank, &number) ||
        !layout_find_rank(l, number, position, sink))
      return false;
    v->positions = (i64s){position, 1};
    *one = layout_slice_at(l, *position);
    v->slices = (i64s){one, 1};
  } else if (o->slice) {
    i64s ranks;
    if (!layout_parse_number("--slice", o->slice, one) ||
        !layout_slice_ranks(a, l, *one, &ranks, sink))
      return false;
    i64 *positions = ARENA_ARRAY(a, i64, ranks.len);
    for (size_t i = 0; i < ranks.len; i++)
      if (!layout_find_rank(l, ranks.data[i], &positions[i], sink)) return false;
    v->positions = (i64s){positions, ranks.len};
    v->slices = (i64s){one, 1};
  } else if (layout_mesh(l)->size > max_printed) {
    return say_error("--device-matrix: expected at most %lld devices without --rank and --slice, "
                     "found %lld",
                     (long long)max_printed, (long long)layout_mesh(l)->size),
           false;
  }
  return true;
}

/* What the target does not say is as in the source. */
static bool show_move(arena *a, const layout_options *o, const grid_view *v, buf *out,
                      diag_sink *sink) {
  layout_options to = {
      .device_matrix = o->to_device_matrix ? o->to_device_matrix : o->device_matrix,
      .alias = o->to_alias ? o->to_alias : o->alias,
      .map = o->to_map ? o->to_map : o->map,
      .rank_list = o->to_rank_list ? o->to_rank_list : o->rank_list,
  };
  i64 element_size = 4;
  if (o->element_size && !layout_parse_number("--element-size", o->element_size, &element_size))
    return false;
  const layout *target = from_matrix(a, &to, sink);
  if (!target) return false;
  i64 most = max_i64(layout_mesh(v->layout)->size, layout_mesh(target)->size);
  if (most > max_moved)
    return say_error("--device-matrix: expected at most %lld devices to redistribute over, found "
                     "%lld",
                     (long long)max_moved, (long long)most),
           false;
  return layout_show_move(a, out, v, target, element_size, o->json, sink);
}

static bool has_target(const layout_options *o) {
  return o->to_device_matrix || o->to_alias || o->to_map || o->to_rank_list;
}

static bool write_svg(arena *a, const char *path, const grid_view *v) {
  buf svg, title;
  buf_init(&svg, &mem_system);
  buf_init(&title, &mem_system);
  layout_print_dict(&title, v->layout);
  bool fine = picture_svg(a, &svg, v->grid, "rank", buf_view(&title));
  if (!fine)
    say_error("--svg: expected at most 4096 slices, found %lld", (long long)v->grid->num_slices);
  else
    fine = write_file("--svg", path, buf_view(&svg));
  buf_deinit(&title);
  buf_deinit(&svg);
  return fine;
}

static int show_one(workspace *w, const layout_options *o, const layout *l) {
  arena *a = &w->arena;
  grid_view v = {.layout = l};
  if (!v.layout) return EXIT_WRONG;
  v.grid = &v.layout->grid;
  if (o->tensor) {
    v.has_shape = true;
    if (!layout_parse_numbers(a, "--tensor", o->tensor, &v.shape) ||
        !layout_check_shape(v.layout, v.shape, &w->sink))
      return EXIT_WRONG;
  }
  if (!select_shown(a, o, &v, &w->sink)) return EXIT_WRONG;
  if (has_target(o)) {
    if (!show_move(a, o, &v, &w->out, &w->sink)) return EXIT_WRONG;
  } else if (o->json) {
    describe_layout_json(a, &w->out, v.layout, &v);
  } else {
    layout_show(a, &w->out, &v, wants_color(NULL));
  }
  return o->svg && !write_svg(a, o->svg, &v) ? EXIT_WRONG : EXIT_FINE;
}

/* A list as JSON, else one below the other. */
static int show_all(workspace *w, const layout_options *o, const strategies *s) {
  int result = EXIT_FINE;
  if (s->len > 1 && (o->tensor || has_target(o) || o->svg))
    return say_error("--strategy: --tensor, --to-... and --svg are of one input"), EXIT_WRONG;
  if (o->json) buf_char(&w->out, '[');
  for (size_t i = 0; i < s->len && result == EXIT_FINE; i++) {
    if (i && o->json) buf_char(&w->out, ',');
    if (!o->json) buf_printf(&w->out, "%sinput %zu\n", i ? "\n" : "", i);
    result = show_one(w, o, from_strategy(&w->arena, s->data[i], o, &w->sink));
  }
  if (o->json) BUF_LIT(&w->out, "]\n");
  return result;
}

/* What Layout calls its fields, by the options that they come from. */
static const struct field {
  const char *name, *option;
} fields[] = {{"device_matrix", "--device-matrix"},
              {"alias_name", "--alias"},
              {"entries", "--map"},
              {"rank_list", "--rank-list"},
              {"strategy", "--strategy"},
              {"tensor", "--tensor"},
              {"devices", "--devices"},
              {"rank", "--rank"},
              {"slice", "--slice"},
              {"element_size", "--element-size"}};

static void say_by_option(void *user, diag_kind kind, diag_pos pos, str text) {
  (void)user, (void)kind, (void)pos;
  size_t n = 0;
  while (n < text.len && text.data[n] != ':' && text.data[n] != '[') n++;
  for (size_t i = 0; i < COUNT(fields); i++)
    if (str_is((str){text.data, n}, fields[i].name)) {
      say_error("%s" STR_FMT, fields[i].option, STR_ARG(str_from(text, n)));
      return;
    }
  say_error(STR_FMT, STR_ARG(text));
}

static int show(workspace *w, void *options) {
  const layout_options *o = options;
  strategies s;
  w->sink.fn = say_by_option;
  if (!o->strategy) return show_one(w, o, from_matrix(&w->arena, o, &w->sink));
  if (!parse_strategies(&w->arena, o->strategy, &s)) return EXIT_WRONG;
  return s.tuple ? show_all(w, o, &s)
                 : show_one(w, o, from_strategy(&w->arena, s.data[0], o, &w->sink));
}

/* false: wrong use, said. */
static bool check_options(const layout_options *o) {
  bool matrix = o->device_matrix || o->alias || o->map || o->rank_list || o->interleaved;
  if (matrix && (o->strategy || o->devices || o->repeat))
    return say_error("layout: give a device matrix or a strategy, not both"), false;
  if (o->rank && o->slice) return say_error("layout: give --rank or --slice, not both"), false;
  if (has_target(o) && (!o->tensor || !o->device_matrix || o->rank || o->slice))
    return say_error("layout: --to-... goes with --device-matrix and --tensor, and not with "
                     "--rank or --slice"),
           false;
  if (o->strategy || o->devices || o->repeat) {
    if (o->strategy && o->devices) return true;
    return say_error("layout: give --strategy and --devices"), false;
  }
  if (o->device_matrix && o->alias && o->map) return true;
  return say_error("layout: give --device-matrix, --alias and --map"), false;
}

int layout_main(int argc, char **argv) {
  layout_options o = {0};
  if (wants_help(argc, argv)) return fputs(usage, stdout), EXIT_FINE;
  if (!read_options("layout", rows, COUNT(rows), &o, NULL, argc, argv) || !check_options(&o))
    return fputs(usage, stderr), EXIT_USAGE;
  return with_workspace(show, &o);
}
