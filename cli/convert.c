/* terrazzo convert: one sharding, in the notation of another tool. */
#include <stdio.h>

#include "base/spelling.h"
#include "layout.h"
#include "mesh/notation.h"
#include "workspace.h"

static const char usage_head[] =
    "usage: terrazzo convert --from NOTATION --to NOTATION [options] SHARDING\n\n"
    "notations, read and written:\n";
static const char usage_tail[] =
    "\n"
    "--to all          every notation that can say it, and why the others cannot\n"
    "--mesh x=2,y=4    the mesh, for pspec and dtensor, and to give others' axes names; or\n"
    "                  'x=2,y=2 device_ids=[3,2,1,0]', or as sdy writes it\n"
    "--to-mesh a=8     the same pieces over the axes of another mesh\n"
    "--closed          drop what only propagation reads: open dimensions, priorities\n"
    "--rank N          dimensions of the tensor, where the notation does not say\n"
    "--tensor 4,8      its shape: adds slice shape and index ranges to --json\n"
    "--json            the sharding, and which slice is on which device, for programs\n"
    "--picture         which device holds which piece, as boxes\n"
    "--svg FILE        the same as a picture file\n\n"
    "What a notation has no words for is an error that names the axis or dimension. `-` for\n"
    "SHARDING reads standard input.\n\n"
    "examples:\n"
    "  terrazzo convert --from pspec --to xla --mesh x=2,y=4 \"P('y', None)\"\n"
    "  terrazzo convert --from xla --to sdy '{devices=[2,1,4]<=[4,2]T(1,0) "
    "last_tile_dim_replicate}'\n"
    "  terrazzo convert --from dtensor --to all --mesh dp=2,tp=4 '[Shard(0), Shard(1)]'\n"
    "  terrazzo convert --from layout --to pspec 'Layout((2, 4), (\"x\", \"y\"))(\"y\", "
    "\"None\")'\n"
    "  terrazzo convert --from pspec --mesh x=2,y=4 --picture --tensor 4,8 \"P('x', 'y')\"\n";

typedef struct convert_options {
  const char *from, *to, *mesh, *to_mesh, *rank, *tensor, *svg, *text;
  bool json, picture, closed;
  const notation *source, *target; /* target NULL: none, or all */
} convert_options;

static const option_row rows[] = {
    {"--from", offsetof(convert_options, from), OPTION_TEXT},
    {"--to", offsetof(convert_options, to), OPTION_TEXT},
    {"--mesh", offsetof(convert_options, mesh), OPTION_TEXT},
    {"--to-mesh", offsetof(convert_options, to_mesh), OPTION_TEXT},
    {"--rank", offsetof(convert_options, rank), OPTION_TEXT},
    {"--tensor", offsetof(convert_options, tensor), OPTION_TEXT},
    {"--svg", offsetof(convert_options, svg), OPTION_TEXT},
    {"--json", offsetof(convert_options, json), OPTION_FLAG},
    {"--picture", offsetof(convert_options, picture), OPTION_FLAG},
    {"--closed", offsetof(convert_options, closed), OPTION_FLAG},
};

/* ---- reading ---- */

static bool read_shape(workspace *w, const convert_options *o, i64s *shape) {
  if (!layout_parse_numbers(&w->arena, "--tensor", o->tensor, shape)) return false;
  for (size_t d = 0; d < shape->len; d++)
    if (shape->data[d] < 0)
      return say_error("--tensor[%zu]: expected a size of at least 0, found %lld", d,
                       (long long)shape->data[d]),
             false;
  return true;
}

/* The rank from --rank, which the shape must agree with. */
static bool read_rank(const convert_options *o, const i64s *shape, i64 *rank) {
  *rank = shape ? (i64)shape->len : NOTATION_ANY_RANK;
  if (!o->rank) return true;
  if (!layout_parse_number("--rank", o->rank, rank)) return false;
  if (*rank < 0 || *rank > NOTATION_MAX_RANK)
    return say_error("--rank: expected 0 to %d, found '%s'", NOTATION_MAX_RANK, o->rank), false;
  if (shape && *rank != (i64)shape->len)
    return say_error("--rank: expected %zu as the tensor has, found %lld", shape->len,
                     (long long)*rank),
           false;
  return true;
}

static const mesh *read_mesh(workspace *w, const char *option, const char *text) {
  w->sink.user = (void *)(uintptr_t)option;
  const mesh *m = notation_read_mesh(&w->arena, str_of(text), &w->sink);
  w->sink.user = NULL;
  return m;
}

static const placement *read_sharding(workspace *w, const convert_options *o, const i64s *shape) {
  notation_context c = {0};
  str text = str_of(o->text);
  if (!read_rank(o, shape, &c.rank)) return NULL;
  if (o->mesh && !(c.mesh = read_mesh(w, "--mesh", o->mesh))) return NULL;
  if (strcmp(o->text, "-") == 0) {
    os_file file;
    if (say_status(os_file_open("-", &file))) return NULL;
    text = arena_str(&w->arena, file.bytes);
    os_file_close(&file);
  }
  const placement *p = notation_read(&w->arena, o->source, text, &c, &w->sink);
  if (p && o->closed) p = notation_closed(&w->arena, p);
  if (!p || !o->to_mesh) return p;
  const mesh *m = read_mesh(w, "--to-mesh", o->to_mesh);
  return m ? notation_over_mesh(&w->arena, p, m, &w->sink) : NULL;
}

/* ---- writing ---- */

static void keep_diag(void *user, diag_kind kind, diag_pos pos, str text) {
  (void)kind, (void)pos;
  buf_str(user, text);
}

static void write_all(workspace *w, const placement *p) {
  for (size_t i = 0; i < num_notations; i++) {
    buf text;
    buf_init(&text, &mem_system);
    diag_sink kept = {.fn = keep_diag, .user = &text};
    buf_printf(&w->out, "%-8s ", notations[i].name);
    size_t start = w->out.len;
    if (!notation_write(&w->arena, &w->out, &notations[i], p, &kept)) {
      w->out.len = start;
      buf_printf(&w->out, "(" STR_FMT ")", STR_ARG(buf_view(&text)));
    }
    for (size_t k = start; k < w->out.len; k++)
      if (w->out.data[k] == '\n') w->out.data[k] = ' ';
    buf_char(&w->out, '\n');
    buf_deinit(&text);
  }
}

static void write_json(workspace *w, const convert_options *o, const placement *p, str text,
                       const i64s *shape) {
  buf *out = &w->out;
  BUF_LIT(out, "{\"from\": ");
  json_string(out, str_of(o->from));
  if (o->target) {
    BUF_LIT(out, ", \"to\": ");
    json_string(out, str_of(o->to));
    BUF_LIT(out, ", \"text\": ");
    json_string(out, text);
  }
  BUF_LIT(out, ", \"sharding\": ");
  describe_placement_json(&w->arena, out, p, shape);
  BUF_LIT(out, "}\n");
}

static bool write_pictures(workspace *w, const convert_options *o, const placement *p, str text) {
  slice_grid g;
  if (!o->picture && !o->svg) return true;
  if (p->kind != PLACED_BY_AXES)
    return say_error("--picture: expected one sharding over named devices, found another"), false;
  slice_grid_make(&w->arena, p->sharding, &g);
  if (o->picture && !picture_text(&w->arena, &w->out, &g, "device", wants_color(NULL)))
    return say_error("--picture: expected at most 256 slices, 16 across, found %lld",
                     (long long)g.num_slices),
           false;
  if (!o->svg) return true;
  buf svg;
  buf_init(&svg, &mem_system);
  bool fine = picture_svg(&w->arena, &svg, &g, "device", text);
  if (!fine)
    say_error("--svg: expected at most 4096 slices, found %lld", (long long)g.num_slices);
  else
    fine = write_file("--svg", o->svg, buf_view(&svg));
  buf_deinit(&svg);
  return fine;
}

/* Axes that the reader made up, where the target does not say them. */
static void note_mesh(const convert_options *o, const placement *p) {
  if (!o->target || !o->target->needs_mesh || o->mesh || o->to_mesh || o->json) return;
  if (p->kind != PLACED_BY_AXES || o->source->needs_mesh) return;
  buf b;
  buf_init(&b, &mem_system);
  notation_write_mesh(&b, p->sharding->mesh);
  fprintf(stderr, "terrazzo: note: over the mesh " STR_FMT "\n", STR_ARG(buf_view(&b)));
  buf_deinit(&b);
}

static int convert(workspace *w, void *options) {
  const convert_options *o = options;
  i64s shape = {0}, *has_shape = o->tensor ? &shape : NULL;
  if (o->tensor && !read_shape(w, o, &shape)) return EXIT_WRONG;
  const placement *p = read_sharding(w, o, has_shape);
  if (!p) return EXIT_WRONG;
  str text = str_of(o->text);
  if (o->target) {
    size_t start = w->out.len;
    if (!notation_write(&w->arena, &w->out, o->target, p, &w->sink)) return EXIT_WRONG;
    if (!buf_ok(&w->out)) arena_oom(&w->arena);
    text = arena_str(&w->arena, str_from(buf_view(&w->out), start));
    if (o->json)
      w->out.len = start;
    else
      buf_char(&w->out, '\n');
  } else if (o->to && !o->json) {
    write_all(w, p);
  }
  if (o->json) write_json(w, o, p, text, has_shape);
  if (!write_pictures(w, o, p, text)) return EXIT_WRONG;
  note_mesh(o, p);
  return EXIT_FINE;
}

/* ---- the command ---- */

static void print_usage(FILE *to) {
  fputs(usage_head, to);
  for (size_t i = 0; i < num_notations; i++)
    fprintf(to, "  %-8s %-20s %s\n", notations[i].name, notations[i].tool, notations[i].example);
  fputs(usage_tail, to);
}

static bool unknown(const char *option, const char *name) {
  spelling s = {.wanted = str_of(name)};
  for (size_t i = 0; i < num_notations; i++) spelling_try(&s, str_of(notations[i].name));
  return say_error("convert: %s: unknown notation '%s'%s", option, name, spelling_say(&s).text),
         false;
}

static bool find_notations(convert_options *o) {
  o->source = notation_find(str_of(o->from));
  if (o->to && strcmp(o->to, "all") != 0) o->target = notation_find(str_of(o->to));
  if (!o->source) return unknown("--from", o->from);
  return !o->to || o->target || strcmp(o->to, "all") == 0 || unknown("--to", o->to);
}

int convert_main(int argc, char **argv) {
  convert_options o = {0};
  if (wants_help(argc, argv)) return print_usage(stdout), EXIT_FINE;
  bool fine = read_options("convert", rows, COUNT(rows), &o, &o.text, argc, argv);
  if (fine && (!o.from || !o.text)) {
    say_error("convert: give --from and a sharding");
    fine = false;
  }
  if (fine && !o.to && !o.json && !o.picture && !o.svg) {
    say_error("convert: give --to, --json, --picture or --svg");
    fine = false;
  }
  if (!fine || !find_notations(&o)) return print_usage(stderr), EXIT_USAGE;
  return with_workspace(convert, &o);
}
