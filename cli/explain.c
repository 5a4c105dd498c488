/* terrazzo why, mem, comms, verify, diff, check, report: answers about a sharded program
 * (explain/explain.h). */
#include <stdlib.h>

#include "api/verify.h"
#include "explain.h"

/* What all of these take. */
typedef struct explain_options {
  const char *file, *mesh;
  bool as_propagated, json;
  u32 devices, collective, line, tries, most, seed;
  const char *value, *budget, *topology, *tolerance, *second_mesh, *large, *output, *before, *as,
      *color;
  option_texts files; /* of diff */
} explain_options;
enum { NOT_GIVEN = UINT32_MAX }; /* of line and tries, for which 0 may be given */

#define OPTION(...) OPTION_OF(explain_options, __VA_ARGS__)
#define TEXT(...) TEXT_OF(explain_options, __VA_ARGS__)
#define SHARED                                                                                     \
  OPTION("--devices", devices, OPTION_NUMBER, 1, 1u << 20), TEXT("--mesh", mesh),                  \
      OPTION("--as-propagated", as_propagated, OPTION_FLAG), OPTION("--json", json, OPTION_FLAG),  \
      TEXT("--color", color)

#define SHARED_USAGE                                                                               \
  "--devices N        how many devices (default: what the module says)\n"                          \
  "--mesh M=x=2,y=2   replace mesh @M of the module\n"                                             \
  "--as-propagated    take every axis where Shardy's propagation has it\n"                         \
  "--json             the answer as JSON\n" COLOR_USAGE

/* ---- sources ---- */

bool read_color(const char *when) {
  static const char *const known[] = {"always", "never", "auto"};
  for (size_t i = 0; i < COUNT(known); i++)
    if (!when || strcmp(when, known[i]) == 0) return true;
  return say_error("--color: expected always, never or auto, found '%s'", when), false;
}

/* A program from a file, and how it is to be sharded. */
typedef struct opened_source {
  explain_source s;
  const char *meshes[2];
  os_file f;
} opened_source;

/* `option` named the file; NULL: it is an argument. */
static int open_source(workspace *w, const explain_options *o, const char *option, const char *file,
                       opened_source *out) {
  *out = (opened_source){.meshes = {o->mesh}};
  w->color = !o->json && wants_color(o->color);
  status s = os_file_open(file, &out->f);
  if (option ? say_option(option, s) : say_status(s)) return EXIT_WRONG;
  out->s = (explain_source){.text = out->f.bytes,
                            .file = str_of(file),
                            .devices = o->devices,
                            .meshes = o->mesh ? out->meshes : NULL,
                            .as_propagated = o->as_propagated,
                            .trap = w->arena.trap};
  return EXIT_FINE;
}

bool open_topology(workspace *w, const char *file, topology *out) {
  os_file f;
  diag_sink sink = {.fn = diag_to_stderr};
  if (say_option("--topology", os_file_open(file, &f))) return false;
  bool ok = topology_read(&w->arena, &sink, str_of(file), f.bytes, out);
  os_file_close(&f);
  return ok;
}

/* ---- why ---- */

static const char why_usage[] =
    "usage: terrazzo why FILE [options]\n\n"
    "Why each collective of the partitioned program is there: what it sends, the op that it "
    "serves\n"
    "with its source line, and the steps by which the sharding that needs it came from an\n"
    "annotation; those of most bytes first, and those of equal layers together.\n\n"
    "FILE               MLIR text, MLIR bytecode or a portable artifact; - is standard input\n"
    "--collective N     only number N, with changes of annotations that were tried\n"
    "--line L           only those that serve an op of source line L, likewise\n"
    "--value NAME       instead, how a value got its sharding: %arg0, an argument's name, or what\n"
    "                   the source calls an op\n"
    "--tries N          changes to try for each collective; each runs the program's whole line\n"
    "                   again (default: 8 with --collective or --line, fewer where the\n"
    "                   program is large; else none)\n"
    "--most N           kinds of collectives to list (default: 30)\n"
    "--topology FILE    links to estimate times by, as for terrazzo comms\n" SHARED_USAGE
    "\nexamples:\n"
    "  terrazzo why model.mlir\n"
    "  terrazzo why model.mlir --collective 1 --tries 4\n"
    "  terrazzo why model.mlir --value %arg0 --json\n";

static const option_row why_rows[] = {
    SHARED,
    TEXT("--value", value),
    OPTION("--collective", collective, OPTION_NUMBER, 1, UINT32_MAX),
    OPTION("--line", line, OPTION_NUMBER, 0, UINT32_MAX - 1),
    OPTION("--tries", tries, OPTION_NUMBER, 0, 1000),
    OPTION("--most", most, OPTION_NUMBER, 0, UINT32_MAX),
    TEXT("--topology", topology)};

static int why(workspace *w, void *options) {
  explain_options *o = options;
  opened_source from;
  bool one = o->collective || o->line != NOT_GIVEN;
  why_question q = {.value = str_of(o->value),
                    .json = o->json,
                    .most = o->most,
                    .number = o->collective,
                    .line = o->line == NOT_GIVEN ? 0 : o->line,
                    .tries = o->tries != NOT_GIVEN ? o->tries
                             : one                 ? EXPLAIN_SOME
                                                   : 0};
  topology links;
  if (o->topology && !open_topology(w, o->topology, &links)) return EXIT_WRONG;
  q.links = o->topology ? &links : NULL;
  int result = open_source(w, o, NULL, o->file, &from);
  if (result) return result;
  explain_run r;
  status s = explain_line(&from.s, NULL, 0, false, &r);
  if (!s) s = explain_why_print(&r, &q, &w->out);
  explain_end(&r);
  os_file_close(&from.f);
  return say_status(s) ? EXIT_WRONG : EXIT_FINE;
}

int finish_answer(workspace *w, status s) {
  if (s) show_out(w);
  return say_status(s) ? EXIT_WRONG : EXIT_FINE;
}

static int finish(workspace *w, opened_source *from, explain_run *r, status s) {
  explain_end(r);
  os_file_close(&from->f);
  return finish_answer(w, s);
}

typedef struct unit {
  const char *name;
  double factor;
} unit;

/* 16GiB, 1.5MB, 4096. false: it is none of these. */
static bool read_unit(const char *text, const unit *units, size_t n, double *out) {
  char *end = NULL;
  double v = strtod(text, &end);
  for (size_t i = 0; i < n && end != text && v >= 0; i++)
    if (strcmp(end, units[i].name) == 0) return *out = v * units[i].factor, true;
  return false;
}

static const unit sizes[] = {{"", 1},         {"B", 1},       {"KB", 1e3},   {"MB", 1e6},
                             {"GB", 1e9},     {"TB", 1e12},   {"KiB", 1024}, {"MiB", 0x1p20},
                             {"GiB", 0x1p30}, {"TiB", 0x1p40}};
static const unit times[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};

bool read_bytes(const char *text, double *out) { return read_unit(text, sizes, COUNT(sizes), out); }

/* ---- mem ---- */

static const char mem_usage[] =
    "usage: terrazzo mem FILE [options]\n\n"
    "The memory that each device needs: arguments, results, the workspace that a run allocates, "
    "and\n"
    "which buffers are in it when most is alive, with their source lines and shardings. Exact for\n"
    "Terrazzo's executor.\n\n"
    "FILE               MLIR text, MLIR bytecode or a portable artifact; - is standard input\n"
    "--budget SIZE      exit with status 1 if a device needs more, as 16GiB, 500MB or a number\n"
    "--most N           buffers to list (default: 20)\n" SHARED_USAGE "\nexamples:\n"
    "  terrazzo mem model.mlir\n"
    "  terrazzo mem model.mlir --budget 16GiB --json\n";

static const option_row mem_rows[] = {SHARED, TEXT("--budget", budget),
                                      OPTION("--most", most, OPTION_NUMBER, 0, UINT32_MAX)};

static int mem(workspace *w, void *options) {
  explain_options *o = options;
  opened_source from;
  double budget = 0;
  if (o->budget && !read_unit(o->budget, sizes, COUNT(sizes), &budget))
    return say_error("--budget: expected a size such as 16GiB, found '%s'", o->budget), EXIT_USAGE;
  int result = open_source(w, o, NULL, o->file, &from);
  if (result) return result;
  explain_run r;
  status s = explain_line(&from.s, NULL, 0, true, &r);
  if (!s) {
    mem_answer m = explain_mem(&r);
    explain_mem_print(&r, &m, o->json, o->most, &w->out);
    if (o->budget && (double)m.total > budget)
      s = status_make(STATUS_RESOURCE_EXHAUSTED,
                      "%s: a device needs %llu bytes, which is %.0f more than --budget", o->file,
                      (unsigned long long)m.total, (double)m.total - budget);
  }
  return finish(w, &from, &r, s);
}

/* ---- comms ---- */

static const char comms_usage[] =
    "usage: terrazzo comms FILE --topology FILE [options]\n\n"
    "What the collectives of the partitioned program send and how long that takes a device, by "
    "kind,\n"
    "axes of the mesh and link; hidden is what products could be computed beside, if somebody "
    "did.\n\n"
    "FILE               MLIR text, MLIR bytecode or a portable artifact; - is standard input\n"
    "--topology FILE    bandwidth and latency of links, lines such as `level nvlink 8 450GB/s "
    "2us`\n"
    "                   and `axis model 90GB/s 1us` (examples/topologies, docs/explain.md)\n"
    "--budget B         exit with status 1 if a device takes longer (10ms) or sends more "
    "(2GiB)\n" SHARED_USAGE "\nexamples:\n"
    "  terrazzo comms model.mlir --topology gpus.txt\n"
    "  terrazzo comms model.mlir --topology laptop.txt --budget 10ms --json\n";

static const option_row comms_rows[] = {SHARED, TEXT("--budget", budget),
                                        TEXT("--topology", topology)};

static status over_budget(const explain_options *o, const comms_answer *a) {
  double limit = 0;
  if (!o->budget) return NULL;
  bool time = read_unit(o->budget, times, COUNT(times), &limit);
  if (!time) (void)read_unit(o->budget, sizes, COUNT(sizes), &limit);
  if (time && a->sum.seconds > limit)
    return status_make(STATUS_RESOURCE_EXHAUSTED, "%s: collectives take %g s, more than --budget",
                       o->file, a->sum.seconds);
  if (!time && (double)a->sum.bytes > limit)
    return status_make(STATUS_RESOURCE_EXHAUSTED,
                       "%s: a device sends %llu bytes, more than --budget", o->file,
                       (unsigned long long)a->sum.bytes);
  return NULL;
}

static int comms(workspace *w, void *options) {
  explain_options *o = options;
  opened_source from;
  topology t;
  double unused;
  if (!o->topology) return say_error("comms: --topology is missing"), EXIT_USAGE;
  if (o->budget && !read_unit(o->budget, sizes, COUNT(sizes), &unused) &&
      !read_unit(o->budget, times, COUNT(times), &unused))
    return say_error("--budget: expected a time or a size, found '%s'", o->budget), EXIT_USAGE;
  if (!open_topology(w, o->topology, &t)) return EXIT_WRONG;
  int result = open_source(w, o, NULL, o->file, &from);
  if (result) return result;
  explain_run r;
  status s = explain_line(&from.s, NULL, 0, false, &r);
  if (!s) {
    comms_answer a = explain_comms(&r, &t);
    explain_comms_print(&a, o->json, &w->out);
    s = over_budget(o, &a);
  }
  return finish(w, &from, &r, s);
}

/* ---- verify ---- */

static const char verify_usage[] =
    "usage: terrazzo verify FILE [options]\n\n"
    "Runs the program on all its devices and on one, on the same random inputs, and compares. "
    "Where\n"
    "results differ by more than rounding, values in between are compared too, and the first op\n"
    "whose value differs is named; the exit status is 1 then.\n\n"
    "FILE               MLIR text, MLIR bytecode or a portable artifact; - is standard input\n"
    "--seed N           of the inputs (default: 0)\n"
    "--tolerance T      how much may differ, as a part of the largest magnitude of an array\n"
    "                   (default: 1e-3 for f32, 6e-2 for smaller floats, 1e-9 for f64; nothing "
    "for\n"
    "                   whole numbers)\n" SHARED_USAGE "\nexamples:\n"
    "  terrazzo verify model.mlir\n"
    "  terrazzo verify model.mlir --mesh mesh=x=2,y=2 --devices 4 --seed 7\n";

static const option_row verify_rows[] = {
    SHARED, OPTION("--seed", seed, OPTION_NUMBER, 0, UINT32_MAX), TEXT("--tolerance", tolerance)};

static int verify(workspace *w, void *options) {
  explain_options *o = options;
  opened_source from;
  verify_question q = {.seed = o->seed};
  static const unit plain[] = {{"", 1}};
  if (o->tolerance && !read_unit(o->tolerance, plain, 1, &q.tolerance))
    return say_error("--tolerance: expected a number, found '%s'", o->tolerance), EXIT_USAGE;
  int result = open_source(w, o, NULL, o->file, &from);
  if (result) return result;
  tz_runtime *on = NULL;
  explain_run r;
  verify_answer a;
  if (say_tz_error(tz_runtime_create(0, &on))) return os_file_close(&from.f), EXIT_WRONG;
  status s = verify_program(on, &from.s, &q, &a, &r);
  if (!s) verify_print(&r, &a, o->json, &w->out);
  if (!s && !a.same)
    s = status_make(STATUS_FAILED_PRECONDITION, "%s: the sharded program differs", o->file);
  tz_runtime_free(on);
  return finish(w, &from, &r, s);
}

/* ---- diff ---- */

static const char diff_usage[] =
    "usage: terrazzo diff FILE FILE [options]\n\n"
    "What is different between two programs, or one program under two sets of annotations or on "
    "two\n"
    "meshes: annotations, values that are sharded otherwise, collectives that come and go, "
    "memory,\n"
    "operations. Values are matched by structure and by what the source calls them.\n\n"
    "FILE               MLIR text, MLIR bytecode or a portable artifact\n"
    "--second-mesh M=.. replace mesh @M of the second program, --mesh then of the first alone\n"
    "--most N           rows of a kind to list (default: 6)\n" SHARED_USAGE "\nexamples:\n"
    "  terrazzo diff model.mlir model.mlir\n"
    "  terrazzo diff model.mlir model.mlir --second-mesh mesh=x=2,y=4\n";

static const option_row diff_rows[] = {SHARED,
                                       TEXT("--second-mesh", second_mesh),
                                       OPTION("--most", most, OPTION_NUMBER, 0, UINT32_MAX),
                                       {NULL, offsetof(explain_options, files), OPTION_TEXTS}};

static int diff(workspace *w, void *options) {
  explain_options *o = options, other = *o;
  const char *const *files = o->files.data;
  opened_source from, to;
  explain_run a, b;
  if (o->files.len != 2) return fputs(diff_usage, stderr), EXIT_USAGE;
  if (o->second_mesh) other.mesh = o->second_mesh;
  int result = open_source(w, o, NULL, files[0], &from);
  if (result) return result;
  result = open_source(w, &other, NULL, files[1], &to);
  if (result) return os_file_close(&from.f), result;
  if (o->second_mesh) to.s.meshes_said = "--second-mesh";
  status s = explain_both(&from.s, &to.s, &a, &b);
  if (!s) {
    diff_answer d = explain_diff(&a, &b);
    explain_diff_print(&a, &b, &d, o->json, o->most, &w->out);
  }
  explain_end(&b);
  os_file_close(&to.f);
  return finish(w, &from, &a, s);
}

/* ---- check ---- */

static const char check_usage[] =
    "usage: terrazzo check FILE [options]\n\n"
    "What looks wrong in how the program is sharded, most bytes a device first: large values that\n"
    "are whole on every device, ops that need whole what is cut, arguments gathered inside loops,\n"
    "padding, axes that nothing uses, constraints that differ, donation that cannot happen.\n\n"
    "FILE               MLIR text, MLIR bytecode or a portable artifact; - is standard input\n"
    "--large SIZE       values from this size on should be cut (default: 1MiB)\n"
    "--most N           rows to list (default: 30)\n" SHARED_USAGE "\nexamples:\n"
    "  terrazzo check model.mlir\n"
    "  terrazzo check model.mlir --large 64KiB --json\n";

static const option_row check_rows[] = {SHARED, TEXT("--large", large),
                                        OPTION("--most", most, OPTION_NUMBER, 0, UINT32_MAX)};

static int check(workspace *w, void *options) {
  explain_options *o = options;
  opened_source from;
  double large = 1 << 20;
  if (o->large && !read_unit(o->large, sizes, COUNT(sizes), &large))
    return say_error("--large: expected a size such as 1MiB, found '%s'", o->large), EXIT_USAGE;
  int result = open_source(w, o, NULL, o->file, &from);
  if (result) return result;
  explain_run r;
  status s = explain_line(&from.s, NULL, 0, true, &r);
  if (!s) {
    check_answer c = explain_check(&r, large < 0x1p63 ? (u64)large : UINT64_MAX);
    explain_check_print(&r, &c, o->json, o->most, &w->out);
  }
  return finish(w, &from, &r, s);
}

/* ---- report ---- */

static const char report_usage[] =
    "usage: terrazzo report FILE -o PAGE [options]\n\n"
    "One HTML page about the program, which needs no network: its graph, folded by named scopes "
    "or\n"
    "functions of the source, with the shardings of all values; each collective with its why; "
    "memory\n"
    "over time; the mesh; what looks wrong; and what is different from another program.\n\n"
    "FILE               MLIR text, MLIR bytecode or a portable artifact; - is standard input\n"
    "-o PAGE            the page (default: standard output)\n"
    "--as FORM          page (the default); data, what the page knows, as JSON; graph, as Model\n"
    "                   Explorer reads it; trace, an estimated run as chrome://tracing and "
    "Perfetto\n"
    "                   do, which wants --topology\n"
    "--before FILE      what it was before: the page says what is different\n"
    "--topology FILE    links to estimate times by, as for terrazzo comms\n"
    "--tries N          changes of annotations to try for each collective (default: none)\n"
    "--large SIZE       as for terrazzo check (default: 1MiB)\n" SHARED_USAGE "\nexamples:\n"
    "  terrazzo report model.mlir -o report.html\n"
    "  terrazzo report model.mlir -o report.html --topology gpus.txt --tries 2\n"
    "  terrazzo report model.mlir --before model.mlir -o difference.html\n"
    "  terrazzo report model.mlir --as graph -o graph.json\n"
    "  terrazzo report model.mlir --as trace --topology gpus.txt -o trace.json\n";

static const option_row report_rows[] = {SHARED,
                                         TEXT("-o", output),
                                         TEXT("--as", as),
                                         TEXT("--before", before),
                                         TEXT("--topology", topology),
                                         OPTION("--tries", tries, OPTION_NUMBER, 0, 1000),
                                         TEXT("--large", large)};

/* An answer goes to -o, if it is there. */
static int put_out(workspace *w, const explain_options *o, int result) {
  if (!o->output || result || !buf_ok(&w->out)) return result;
  bool fine = write_file("-o", o->output, buf_view(&w->out));
  w->out.len = 0;
  return fine ? EXIT_FINE : EXIT_WRONG;
}

/* before: of `old`; NULL: there is none. */
static status report_on(workspace *w, const explain_options *o, const opened_source *from,
                        const opened_source *old, explain_run *r, explain_run *before) {
  topology links;
  double large = 1 << 20;
  if (o->large && !read_unit(o->large, sizes, COUNT(sizes), &large))
    return status_make(STATUS_INVALID_ARGUMENT, "--large: expected a size such as 1MiB, found '%s'",
                       o->large);
  if (o->topology && !open_topology(w, o->topology, &links))
    return status_make(STATUS_INVALID_ARGUMENT, "%s: no topology", o->topology);
  report_question q = {.links = o->topology ? &links : NULL,
                       .tries = o->tries == NOT_GIVEN ? 0 : o->tries,
                       .large = large < 0x1p63 ? (u64)large : UINT64_MAX,
                       .other = before,
                       .form = o->json ? REPORT_DATA : REPORT_PAGE};
  static const char *const forms[] = {"page", "data", "graph", "trace"};
  size_t form = 0;
  while (o->as && form < COUNT(forms) && strcmp(o->as, forms[form]) != 0) form++;
  if (form == COUNT(forms))
    return status_make(STATUS_INVALID_ARGUMENT,
                       "--as: expected page, data, graph or trace, found '%s'", o->as);
  if (o->as) q.form = (report_form)form;
  RETURN_IF_ERROR(before ? explain_both(&from->s, &old->s, r, before)
                         : explain_line(&from->s, NULL, 0, true, r));
  return explain_report(r, &q, &w->out);
}

static int report(workspace *w, void *options) {
  explain_options *o = options;
  opened_source from, old = {0};
  explain_run r = {0}, before = {0};
  why_init(&r.log, &mem_system);
  why_init(&before.log, &mem_system);
  int result = open_source(w, o, NULL, o->file, &from);
  w->color = false;
  if (result) return result;
  if (!o->before)
    return put_out(w, o, finish(w, &from, &r, report_on(w, o, &from, NULL, &r, NULL)));
  result = open_source(w, o, "--before", o->before, &old);
  if (result) return os_file_close(&from.f), result;
  status s = report_on(w, o, &from, &old, &r, &before);
  explain_end(&before);
  os_file_close(&old.f);
  return put_out(w, o, finish(w, &from, &r, s));
}

/* ---- entries ---- */

static int explain_main(const char *name, const char *usage, const option_row *rows,
                        size_t num_rows, u32 most, int (*command)(workspace *w, void *options),
                        int argc, char **argv) {
  explain_options o = {.line = NOT_GIVEN, .tries = NOT_GIVEN, .most = most};
  if (wants_help(argc, argv)) return fputs(usage, stdout), EXIT_FINE;
  if (!read_options(name, rows, num_rows, &o, &o.file, argc, argv)) return EXIT_USAGE;
  if (!o.file) return fputs(usage, stderr), EXIT_USAGE;
  if (!read_color(o.color)) return EXIT_USAGE;
  return with_workspace(command, &o);
}

int why_main(int argc, char **argv) {
  return explain_main("why", why_usage, why_rows, COUNT(why_rows), 30, why, argc, argv);
}

int mem_main(int argc, char **argv) {
  return explain_main("mem", mem_usage, mem_rows, COUNT(mem_rows), 20, mem, argc, argv);
}

int comms_main(int argc, char **argv) {
  return explain_main("comms", comms_usage, comms_rows, COUNT(comms_rows), 0, comms, argc, argv);
}

int verify_main(int argc, char **argv) {
  return explain_main("verify", verify_usage, verify_rows, COUNT(verify_rows), 0, verify, argc,
                      argv);
}

int diff_main(int argc, char **argv) {
  explain_options o = {.most = 6};
  if (wants_help(argc, argv)) return fputs(diff_usage, stdout), EXIT_FINE;
  bool fine = read_options("diff", diff_rows, COUNT(diff_rows), &o, NULL, argc, argv);
  int result = fine && read_color(o.color) ? with_workspace(diff, &o) : EXIT_USAGE;
  release_options(diff_rows, COUNT(diff_rows), &o);
  return result;
}

int check_main(int argc, char **argv) {
  return explain_main("check", check_usage, check_rows, COUNT(check_rows), 30, check, argc, argv);
}

int report_main(int argc, char **argv) {
  return explain_main("report", report_usage, report_rows, COUNT(report_rows), 0, report, argc,
                      argv);
}
