/* terrazzo opt: read, run passes, print. */
#include <stdio.h>
#include <stdlib.h>

#include "bytecode/bytecode.h"
#include "cli.h"
#include "dialect/dialect.h"
#include "expect.h"
#include "partition/partition.h"
#include "pass/pass.h"
#include "shard/shard.h"
#include "text/text.h"

static const char usage[] =
    "usage: terrazzo opt [FILE] [passes] [options]\n\n"
    "FILE      MLIR text or bytecode; standard input by default\n"
    "passes    -NAME or -NAME='option=value ...', run in the order given; --list shows them\n"
    "--pass-pipeline=P           \"a,b{x=1}\", MLIR's notation\n"
    "-o FILE                     write there\n"
    "-split-input-file           `// -----` lines part modules\n"
    "-verify-diagnostics         `expected-error {{...}}` comments say what is to be reported\n"
    "-allow-unregistered-dialect ops without a row pass through\n"
    "-mlir-print-op-generic      the generic form\n"
    "-mlir-print-debuginfo       with locations\n"
    "-mlir-print-local-scope     no aliases\n"
    "-mlir-print-ir-after-all    the module after each pass, to standard error\n"
    "-verify-each=false          verify only what was read\n"
    "--emit-bytecode             a portable artifact of StableHLO (jax and other tools read it)\n"
    "--target=V                  for version V of StableHLO (1.17.0); `native`: MLIR bytecode\n"
    "                            with all dialects as they are\n"
    "-emit-bytecode-version=N    N: version of the encoding, 1 to 6\n\n"
    "example: terrazzo opt model.mlir -sdy-import-pipeline -sdy-aggressive-propagate\n";

static const pass_info *const tables[] = {pass_generic, shard_passes, partition_passes};

typedef struct opt_options {
  const char *file, *output;
  buf pipeline; /* comma-separated */
  text_print_options print;
  bool split, after_all, list, help, expect, unregistered, bytecode;
  const char *target; /* of the bytecode; NULL: the default */
  bytecode_write_options write;
} opt_options;

/* `name=value` or `name`: appends `name{value}`. */
static void add_pass(opt_options *o, const char *text) {
  const char *eq = strchr(text, '=');
  if (o->pipeline.len) buf_char(&o->pipeline, ',');
  buf_bytes(&o->pipeline, text, eq ? (size_t)(eq - text) : strlen(text));
  if (!eq || !eq[1]) return;
  str v = str_of(eq + 1);
  if (v.len > 1 && (v.data[0] == '"' || v.data[0] == '\'')) v = (str){v.data + 1, v.len - 2};
  buf_printf(&o->pipeline, "{" STR_FMT "}", STR_ARG(v));
}

typedef struct flag {
  const char *name;
  size_t offset; /* of a bool; SIZE_MAX: accepted, no effect */
} flag;
#define FLAG(name, field)                                                                          \
  { name, offsetof(opt_options, field) }
static const flag flags[] = {
    FLAG("split-input-file", split),
    FLAG("mlir-print-op-generic", print.generic),
    FLAG("mlir-print-debuginfo", print.debuginfo),
    FLAG("mlir-print-local-scope", print.local_scope),
    FLAG("mlir-print-ir-after-all", after_all),
    FLAG("verify-diagnostics", expect),
    FLAG("list", list),
    FLAG("help", help),
    FLAG("allow-unregistered-dialect", unregistered),
    FLAG("emit-bytecode", bytecode),
    {"mlir-disable-threading", SIZE_MAX},
};

static bool set_flag(opt_options *o, const char *name) {
  for (size_t i = 0; i < COUNT(flags); i++) {
    if (strcmp(name, flags[i].name) != 0) continue;
    if (flags[i].offset != SIZE_MAX) *(bool *)((char *)o + flags[i].offset) = true;
    return true;
  }
  return false;
}

static bool arguments(opt_options *o, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    if (a[0] != '-' || !a[1]) {
      if (o->file) return say_error("more than one file: '%s' and '%s'", o->file, a), false;
      o->file = a;
      continue;
    }
    while (*a == '-') a++;
    if (set_flag(o, a)) continue;
    if (strcmp(a, "o") == 0) {
      if (++i == argc) return say_error("-o needs a file"), false;
      o->output = argv[i];
    } else if (strncmp(a, "pass-pipeline=", 14) == 0) {
      if (o->pipeline.len) buf_char(&o->pipeline, ',');
      buf_str(&o->pipeline, str_of(a + 14));
    } else if (strncmp(a, "target=", 7) == 0) {
      o->target = a + 7;
    } else if (strncmp(a, "emit-bytecode-version=", 22) == 0) {
      o->write.format = atoi(a + 22);
    } else {
      add_pass(o, a);
    }
  }
  const char *target = o->target ? o->target : BYTECODE_TARGET;
  o->write.target = strcmp(target, "native") ? str_of(target) : (str){0};
  return true;
}

static void print_after(void *user, const pass_info *pass, ir_module *m) {
  buf b;
  (void)user;
  buf_init(&b, &mem_system);
  text_print(&b, m, &(text_print_options){0});
  fprintf(stderr, "// -----// IR Dump After %s //----- //\n%s\n", pass->name, buf_cstr(&b));
  buf_deinit(&b);
}

/* For passes that dump the module. */
static bool save_text(void *user, ir_module *m, str path) {
  char name[4096];
  buf b;
  (void)user;
  if (path.len >= sizeof name) return false;
  memcpy(name, path.data, path.len);
  name[path.len] = 0;
  FILE *f = fopen(name, "wb");
  if (!f) return false;
  buf_init(&b, &mem_system);
  text_print(&b, m, &(text_print_options){0});
  bool ok = buf_ok(&b) && fwrite(b.data, 1, b.len, f) == b.len;
  buf_deinit(&b);
  return fclose(f) == 0 && ok;
}

/* One module: from source to text appended to `out`. */
static bool process_module(const opt_options *o, str file, str source, diag_sink *sink, buf *out) {
  oom_trap trap;
  ir_ctx *c = ir_ctx_create(&mem_system, &trap, sink);
  ir_module *volatile m = NULL;
  if (!c || setjmp(trap.at)) {
    say_error("out of memory");
    ir_module_destroy(m);
    ir_ctx_destroy(c);
    return false;
  }
  pass_tables t = {.tables = tables,
                   .count = COUNT(tables),
                   .after = o->after_all ? print_after : NULL,
                   .save = save_text,
                   .patterns = shard_patterns,
                   .num_patterns = SHARD_PATTERNS};
  text_parse_options p = {.allow_unregistered = o->unregistered};
  m = bytecode_is(source) ? bytecode_read(c, file, source) : text_parse(c, file, source, &p);
  bool ok = m && dialect_verify(m) && sink->errors == 0;
  if (ok && o->pipeline.len)
    ok = pass_run_text(m, buf_view(&o->pipeline), &t) && dialect_verify(m) && sink->errors == 0;
  if (ok && o->bytecode)
    ok = bytecode_write(m, &o->write, out);
  else if (ok)
    text_print(out, m, &o->print);
  if (!ok && !sink->errors) say_error(STR_FMT ": failed without a diagnostic", STR_ARG(file));
  ir_module_destroy(m);
  ir_ctx_destroy(c);
  return ok;
}

static bool process(const opt_options *o, str file, str source, buf *out) {
  if (!o->expect) {
    diag_sink sink = {.fn = diag_to_stderr};
    return process_module(o, file, source, &sink, out);
  }
  oom_trap trap;
  expectations e = {0};
  if (setjmp(trap.at)) return say_error("out of memory"), false;
  expect_read(&e, file, source, &trap);
  diag_sink sink = {.fn = expect_sink, .user = &e};
  process_module(o, file, source, &sink, out);
  return expect_finish(&e);
}

/* The part before the next `// -----` line; `rest` is moved behind it. */
static str next_part(str *rest) {
  static const char border[] = "// -----";
  size_t n = sizeof border - 1;
  for (size_t i = 0; i + n <= rest->len; i++) {
    if ((i && rest->data[i - 1] != '\n') || memcmp(rest->data + i, border, n) != 0) continue;
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
  if (!o->split || bytecode_is(source)) return process(o, file, source, out);
  bool ok = true;
  for (str rest = source; rest.len;) {
    ok &= process(o, file, next_part(&rest), out);
    if (rest.len) BUF_LIT(out, "\n// -----\n");
  }
  return ok;
}

static void list_passes(void) {
  for (size_t i = 0; i < COUNT(tables); i++)
    for (const pass_info *p = tables[i]; p->name; p++) printf("-%-48s %s\n", p->name, p->summary);
}

static int opt_run(int argc, char **argv, bool bytecode, bool strict) {
  opt_options o = {.bytecode = bytecode, .write.strict = strict};
  int result = EXIT_USAGE;
  os_file f;
  buf out;
  buf_init(&o.pipeline, &mem_system);
  buf_init(&out, &mem_system);
  if (!arguments(&o, argc, argv)) goto done;
  result = EXIT_FINE;
  if (o.help) fputs(usage, stdout);
  if (o.list) list_passes();
  if (o.help || o.list) goto done;
  if (!o.file) o.file = "-";
  result = EXIT_WRONG;
  if (say_status(os_file_open(o.file, &f))) goto done;
  if (process_all(&o, str_of(o.file), f.bytes, &out)) result = EXIT_FINE;
  os_file_close(&f);
  FILE *to = o.output ? fopen(o.output, "wb") : stdout;
  bool empty = out.len == 0; /* no buffer then */
  if (!to || !buf_ok(&out) || (!empty && fwrite(out.data, 1, out.len, to) != out.len) ||
      fflush(to) != 0) {
    say_error("cannot write %s", o.output ? o.output : "to standard output");
    result = EXIT_WRONG;
  }
  if (to && o.output) fclose(to);
done:
  buf_deinit(&o.pipeline);
  buf_deinit(&out);
  return result;
}

int opt_main(int argc, char **argv) { return opt_run(argc, argv, false, false); }

/* stablehlo-translate: portable artifacts in and out, by way of opt. */
int translate_main(int argc, char **argv) {
  static const char usage_text[] =
      "usage: stablehlo-translate --serialize --target=V [--allow-other-dialects] [FILE]\n"
      "       stablehlo-translate --deserialize [FILE]";
  char **args = calloc((size_t)argc + 1, sizeof *args);
  int n = 1, result = EXIT_USAGE;
  bool read = false, write = false, strict = true;
  if (!args) return say_error("out of memory"), EXIT_WRONG;
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    while (*a == '-') a++;
    bool flag = a != argv[i];
    if (flag && strcmp(a, "deserialize") == 0)
      read = true;
    else if (flag && strcmp(a, "serialize") == 0)
      write = true;
    else if (flag && strcmp(a, "allow-other-dialects") == 0)
      strict = false;
    else
      args[n++] = argv[i];
  }
  args[0] = argv[0];
  if (read == write)
    say_error("%s", usage_text);
  else
    result = opt_run(n, args, write, write && strict);
  free(args);
  return result;
}
