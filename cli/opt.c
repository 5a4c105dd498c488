/* terrazzo opt: read, run passes, print. */
#include <stdio.h>
#include <stdlib.h>

#include "dialect/dialect.h"
#include "expect.h"
#include "interpret.h"
#include "opt.h"

/* The pipeline is checked, printed if that is asked for, and run. */
static bool run_passes(const opt_options *o, ir_module *m, watch *w) {
  pass_tables t = opt_passes();
  t.verify_each = !o->no_verify_each;
  watch_install(w, &t);
  arena *a = ir_scratch_push(m->ctx);
  const pass_node *n = pass_parse(m->ctx, a, "builtin.module", buf_view(&o->pipeline), &t);
  if (n && o->dump_pipeline) {
    buf b;
    buf_init(&b, &mem_system);
    pass_print(&b, n);
    fprintf(stderr, "Pass Manager:\n%s\n", buf_cstr(&b));
    buf_deinit(&b);
  }
  bool ok = n && pass_run_nodes(m, NULL, n, &t);
  ir_scratch_pop(m->ctx);
  return ok;
}

/* Is the first op of the text a module? (Aliases may stand before it.) */
static bool says_module(str s) {
  static const char *const names[] = {"module", "builtin.module", "\"builtin.module\""};
  for (size_t i = 0; i < s.len;) {
    str line = str_from(s, i);
    const char *eol = memchr(line.data, '\n', line.len);
    if (eol) line.len = (size_t)(eol - line.data);
    i += line.len + 1;
    while (line.len && (*line.data == ' ' || *line.data == '\t')) line = str_from(line, 1);
    if (!line.len || *line.data == '#' || *line.data == '!' || str_starts(line, STR("//")))
      continue;
    for (size_t k = 0; k < COUNT(names); k++)
      if (str_starts(line, str_of(names[k]))) return true;
    return false;
  }
  return false;
}

static bool write_module(const opt_options *o, ir_module *m, str source, buf *out) {
  if (o->bytecode) return bytecode_write(m, &o->write, out);
  if (!o->explicit_module || bytecode_is(source) || says_module(source))
    return text_print(out, m, &o->print);
  const op *only = op_body(m->root, 0)->first;
  if (!only || only->next)
    return loc_error(m->ctx, only ? only->next->loc : NULL,
                     "source must contain a single top-level operation");
  if (!text_print_op(out, m->ctx, only, &o->print)) return false;
  buf_char(out, '\n');
  return true;
}

static bool read_and_run(const opt_options *o, ir_ctx *c, str file, str source, watch *w,
                         ir_module *volatile *m) {
  text_parse_options p = {.allow_unregistered = o->unregistered};
  diag_sink *sink = ir_sink(c);
  if (!opt_extend(o, c)) return false;
  size_t at = watch_begin(w, "Parser");
  *m = bytecode_is(source) ? bytecode_read(c, file, source) : text_parse(c, file, source, &p);
  watch_end(w, at);
  at = watch_begin(w, "Verifier");
  bool ok = *m && dialect_verify(*m) && sink->errors == 0;
  watch_end(w, at);
  return ok && (!o->pipeline.len || (run_passes(o, *m, w) && sink->errors == 0 &&
                                     (!o->no_verify_each || dialect_verify(*m))));
}

/* One module: from source to text appended to `out`. */
static bool process_module(const opt_options *o, str file, str source, diag_sink *sink, buf *out) {
  oom_trap trap;
  ir_ctx *c = ir_ctx_create(&mem_system, &trap, sink);
  ir_module *volatile m = NULL;
  watch w;
  watch_init(&w, o, &trap);
  if (!c || setjmp(trap.at)) {
    say_error("out of memory");
    arena_deinit(&w.a);
    ir_module_destroy(m);
    ir_ctx_destroy(c);
    return false;
  }
  bool ok = read_and_run(o, c, file, source, &w, &m);
  size_t at = watch_begin(&w, "Output");
  if (ok) ok = write_module(o, m, source, out);
  watch_end(&w, at);
  if (!ok && !sink->errors && buf_ok(out))
    say_error(STR_FMT ": failed without a diagnostic", STR_ARG(file));
  watch_report(&w);
  ir_module_destroy(m);
  ir_ctx_destroy(c);
  return ok;
}

/* One part of a file, and what comes of it. */
typedef struct part {
  str file, source;
  u32 above; /* lines of the file before it */
  u32 said;  /* what parts before it warned of once and for all */
  expectations *expected;
  diag_kind least; /* to say */
  bool hushed;     /* the latest message was not said, so notes on it are not either */
} part;

/* Lines are those of the file. */
static void say_of_part(void *user, diag_kind kind, diag_pos pos, str text) {
  part *p = user;
  if (kind != DIAG_NOTE) p->hushed = !p->expected && kind > p->least;
  if (p->hushed) return;
  const char *option;
  buf said;
  buf_init(&said, &mem_system);
  str rest = field_option(text, &option);
  buf_printf(&said, "%s" STR_FMT, option, STR_ARG(rest));
  if (*option && buf_ok(&said)) text = buf_view(&said);
  if (pos.line && str_eq(pos.file, p->file)) pos.line += p->above;
  if (p->expected)
    expect_sink(p->expected, kind, pos, text);
  else
    diag_to_stderr(NULL, kind, pos, text);
  buf_deinit(&said);
}

static bool process(const opt_options *o, part *p, buf *out) {
  if (o->interpret) return interpret(o->interpret, p->file, p->source, p->above, out);
  oom_trap trap;
  expectations e = {0};
  if (setjmp(trap.at)) return say_error("out of memory"), false;
  if (o->expect) expect_read(&e, p->file, p->source, p->above, &trap);
  e.only = o->expect && strcmp(o->expect, "only-expected") == 0;
  p->expected = o->expect ? &e : NULL;
  diag_sink sink = {.fn = say_of_part, .user = p, .said = p->said};
  bool ok = process_module(o, p->file, p->source, &sink, out);
  p->said = sink.said;
  return o->expect ? expect_finish(&e) : ok;
}

/* The part before the next marker, wherever in a line it stands, as in MLIR; `rest` is moved behind
 * that line. */
static str next_part(const char *marker, str *rest) {
  size_t n = strlen(marker);
  for (size_t i = 0; i + n <= rest->len; i++) {
    if (memcmp(rest->data + i, marker, n) != 0) continue;
    str part = {rest->data, i};
    const char *eol = memchr(rest->data + i, '\n', rest->len - i);
    *rest = eol ? str_from(*rest, (size_t)(eol + 1 - rest->data)) : (str){0};
    return part;
  }
  str part = *rest;
  *rest = (str){0};
  return part;
}

static bool process_all(const opt_options *o, str file, str source, buf *out) {
  part p = {.file = file, .source = source, .least = o->least};
  if (!o->split || bytecode_is(source)) return process(o, &p, out);
  bool ok = true;
  for (str rest = source; rest.len;) {
    p.source = next_part(o->marker, &rest);
    ok &= process(o, &p, out);
    if (!rest.len) break;
    for (const char *at = p.source.data; at < rest.data; at++) p.above += *at == '\n';
    if (!o->interpret) buf_printf(out, "\n%s\n", o->joint ? o->joint : o->marker);
  }
  return ok;
}

/* A file is opened only when there is something to write, or all is done. */
typedef struct destination {
  const char *path; /* NULL: standard output */
  FILE *to;
} destination;

static bool write_out(void *user, str bytes) {
  destination *d = user;
  if (!d->to) d->to = d->path ? fopen(d->path, "wb") : stdout;
  return d->to && (!bytes.len || fwrite(bytes.data, 1, bytes.len, d->to) == bytes.len);
}

static bool finish(destination *d, buf *out) {
  bool ok = buf_flush(out) && fflush(d->to) == 0;
  if (d->path && d->to) ok &= fclose(d->to) == 0;
  if (!ok)
    say_error("%scannot write %s", d->path ? "-o: " : "", d->path ? d->path : "to standard output");
  return ok;
}

enum { OUT_CHUNK = 1 << 16 };

static int opt_run(int argc, char **argv, opt_options o) {
  int result = EXIT_USAGE;
  os_file f;
  buf out;
  buf_init(&o.pipeline, &mem_system);
  buf_init(&out, &mem_system);
  if (!opt_arguments(&o, argc, argv)) goto done;
  result = EXIT_FINE;
  if (o.help) opt_help();
  if (o.list) opt_list_passes();
  if (o.show_dialects) opt_show_dialects();
  if (o.help || o.list || o.show_dialects) goto done;
  if (!o.file) o.file = "-";
  result = EXIT_WRONG;
  if (say_status(os_file_open(o.file, &f))) goto done;
  os_pipe_errors();
  /* The file that is being read stays as it is until then. */
  bool over = o.output && os_same_file(o.file, o.output);
  destination d = {.path = o.output};
  buf_init_sink(&out, &mem_system, over ? SIZE_MAX : OUT_CHUNK, write_out, &d);
  if (process_all(&o, str_of(o.file), f.bytes, &out)) result = EXIT_FINE;
  os_file_close(&f);
  if (!finish(&d, &out)) result = EXIT_WRONG;
done:
  buf_deinit(&o.pipeline);
  buf_deinit(&out);
  return result;
}

int opt_main(int argc, char **argv) { return opt_run(argc, argv, (opt_options){0}); }

/* Shardy's tools do not have the interpreter's dialect. */
int peer_opt_main(int argc, char **argv) {
  opt_options o = {.target = "native"};
  const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
  if (strcmp(name, "stablehlo-opt") != 0) o.print.unknown = "interpreter.";
  return opt_run(argc, argv, o);
}

/* Products and sums are rounded one by one, as the peers' interpreter does it. */
static void round_as_interpreter(void) {
  setenv("TERRAZZO_ONEDNN", "0", false);
  setenv("TERRAZZO_KERNELS", "base", false);
}

/* stablehlo-translate: portable artifacts in and out, by way of opt; and modules run. */
int translate_main(int argc, char **argv) {
  static const char usage_text[] =
      "usage: stablehlo-translate --serialize --target=V [--allow-other-dialects] [FILE]\n"
      "       stablehlo-translate --deserialize [FILE]\n"
      "       stablehlo-translate --interpret [--args=[dense<..> : TYPE, ...]]\n"
      "           [--probe-output-dir=DIR] [--interpreter-print-dense] [--split-input-file] [FILE]";
  char **args = calloc((size_t)argc + 1, sizeof *args);
  int n = 1, result = EXIT_USAGE;
  bool read = false, write = false, run = false, strict = true;
  interpret_options interpret = {0};
  if (!args) return say_error("out of memory"), EXIT_WRONG;
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    while (*a == '-') a++;
    bool flag = a != argv[i];
    if (flag && strcmp(a, "deserialize") == 0)
      read = true;
    else if (flag && strcmp(a, "serialize") == 0)
      write = true;
    else if (flag && strcmp(a, "interpret") == 0)
      run = true;
    else if (flag && strcmp(a, "allow-other-dialects") == 0)
      strict = false;
    else if (!flag || !interpret_option(&interpret, a))
      args[n++] = argv[i];
  }
  args[0] = argv[0];
  if (run) round_as_interpreter();
  if (read + write + run != 1)
    say_error("%s", usage_text);
  else
    result = opt_run(n, args,
                     (opt_options){.bytecode = write,
                                   .write.strict = write && strict,
                                   .interpret = run ? &interpret : NULL});
  interpret_end(&interpret);
  free(args);
  return result;
}
