/* terrazzo convert: one sharding, in the notation of another tool. */
#include <stdio.h>

#include "cli.h"
#include "mesh/notation.h"

static const char usage[] =
    "usage: terrazzo convert --from NOTATION --to NOTATION --mesh x=2,y=4 [--rank N] SHARDING\n\n"
    "notations, read and written:\n"
    "  pspec    P('x', ('y', 'z'), None)                  JAX\n"
    "  dtensor  [Shard(0), Replicate(), Partial()]        PyTorch, an entry a mesh axis\n"
    "  layout   (\"x\", (\"y\", \"z\"), \"None\")               MindSpore\n"
    "written only:\n"
    "  sdy      #sdy.sharding<...>                        Shardy\n"
    "  xla      {devices=[2,1,4]<=[4,2]T(1,0) ...}        XLA\n\n"
    "--rank N   dimensions of the tensor, where the notation does not say\n\n"
    "examples:\n"
    "  terrazzo convert --from pspec --to xla --mesh x=2,y=4 \"P('y', None)\"\n"
    "  terrazzo convert --from dtensor --to pspec --mesh dp=2,tp=4 '[Shard(0), Shard(1)]'\n";

typedef struct convert_options {
  const char *from, *to, *mesh, *rank, *text;
} convert_options;

static void say_diag(void *user, diag_kind kind, diag_pos pos, str text) {
  (void)user, (void)kind, (void)pos;
  say_error(STR_FMT, STR_ARG(text));
}

static int convert(arena *a, const convert_options *o, const notation *from, const notation *to,
                   u32 rank, buf *out) {
  diag_sink sink = {.fn = say_diag};
  const mesh *m = notation_read_mesh(a, str_of(o->mesh), &sink);
  const sharding *s = m ? from->read(a, m, str_of(o->text), rank, &sink) : NULL;
  if (!s || !to->write(a, out, s, &sink)) return EXIT_WRONG;
  if (!buf_ok(out)) return say_error("out of memory"), EXIT_WRONG;
  printf(STR_FMT "\n", STR_ARG(buf_view(out)));
  return EXIT_FINE;
}

static bool read_options(convert_options *o, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char **value = strcmp(argv[i], "--from") == 0   ? &o->from
                         : strcmp(argv[i], "--to") == 0   ? &o->to
                         : strcmp(argv[i], "--mesh") == 0 ? &o->mesh
                         : strcmp(argv[i], "--rank") == 0 ? &o->rank
                                                          : NULL;
    if (!value && argv[i][0] != '-' && !o->text)
      o->text = argv[i];
    else if (!value || i + 1 == argc)
      return say_error("convert: expected an option with its value, found '%s'", argv[i]), false;
    else
      *value = argv[++i];
  }
  if (o->from && o->to && o->mesh && o->text) return true;
  return say_error("convert: give --from, --to, --mesh and a sharding"), false;
}

int convert_main(int argc, char **argv) {
  convert_options o = {0};
  if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
    return fputs(usage, stdout), EXIT_FINE;
  if (!read_options(&o, argc, argv)) return fputs(usage, stderr), EXIT_USAGE;
  const notation *from = notation_find(str_of(o.from)), *to = notation_find(str_of(o.to));
  u32 rank = 0;
  if (!from || !from->read || !to)
    return say_error("convert: cannot read %s or write %s", o.from, o.to), fputs(usage, stderr),
           EXIT_USAGE;
  for (const char *c = o.rank ? o.rank : ""; *c; c++) {
    if (*c < '0' || *c > '9' || rank > 1024)
      return say_error("rank: expected 0 to 1024, found '%s'", o.rank), EXIT_WRONG;
    rank = rank * 10 + (u32)(*c - '0');
  }
  oom_trap trap;
  arena a;
  buf out;
  arena_init(&a, &mem_system, &trap);
  buf_init(&out, &mem_system);
  int code = EXIT_WRONG;
  if (setjmp(trap.at))
    say_error("out of memory");
  else
    code = convert(&a, &o, from, to, rank, &out);
  buf_deinit(&out);
  arena_deinit(&a);
  return code;
}
