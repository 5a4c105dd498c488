/* The options of terrazzo opt, from one table; help from the same. */
#include <stdio.h>
#include <stdlib.h>

#include "base/spelling.h"
#include "mpmd/mpmd.h"
#include "opt.h"
#include "partition/partition.h"
#include "shard/shard.h"

pass_tables opt_passes(void) {
  static const pass_info *const tables[] = {pass_generic, shard_passes, partition_passes,
                                            MPMD_PASSES, pass_tests};
  return (pass_tables){.tables = tables,
                       .count = COUNT(tables),
                       .patterns = mpmd_patterns,
                       .num_patterns = MPMD_PATTERNS};
}

typedef enum kind {
  FLAG,
  UNFLAG,
  NUMBER,
  LIMIT,
  TEXT,
  MAYBE_TEXT,
  EXPECT,
  DIALECT,
  PIPELINE,
  HEADING
} kind;

typedef struct option {
  const char *name;
  kind kind;
  size_t offset; /* in opt_options; MAYBE_TEXT: of a flag, the text behind it at `text` */
  const char *value, *help;
  size_t text;
} option;
#define AT(field) offsetof(opt_options, field)

static const option options[] = {
    {"Input and output", HEADING, 0, NULL, NULL},
    {"o", TEXT, AT(output), "FILE", "write there instead of to standard output"},
    {"split-input-file", MAYBE_TEXT, AT(split), "MARKER",
     "lines with `// -----` (or MARKER) part modules", AT(marker)},
    {"output-split-marker", TEXT, AT(joint), "MARKER", "what is printed between the parts"},
    {"verify-diagnostics", EXPECT, AT(expect), "all|only-expected",
     "`expected-error {{...}}` comments say what is to be reported: all of it (the default) or "
     "some"},
    {"allow-unregistered-dialect", FLAG, AT(unregistered), NULL, "ops without a row pass through"},
    {"load-dialect", DIALECT, 0, "LIB.so",
     "a dialect in a shared object, see terrazzo/dialect.h; may be given again"},
    {"no-implicit-module", FLAG, AT(explicit_module), NULL,
     "the file is one op, which need not be a module"},
    {"emit-bytecode", FLAG, AT(bytecode), NULL,
     "a portable artifact of StableHLO (jax and other tools read it)"},
    {"target", TEXT, AT(target), "V",
     "for version V of StableHLO (1.17.0); `native`: MLIR bytecode with all dialects as they are"},
    {"emit-bytecode-version", NUMBER, AT(format), "N", "version of the encoding, 1 to 6"},

    {"Passes", HEADING, 0, NULL, NULL},
    {"pass-pipeline", PIPELINE, AT(pipeline), "P",
     "`builtin.module(a,func.func(b{x=1}))`, MLIR's notation"},
    {"op-priorities", TEXT, AT(op_priorities), "FILE",
     "which ops propagate first, a line a group, instead of the usual order"},
    {"verify-each", UNFLAG, AT(no_verify_each), NULL, "verify after each pass (the default)"},
    {"dump-pass-pipeline", FLAG, AT(dump_pipeline), NULL,
     "print the pipeline with all its options, to standard error"},
    {"list-passes", FLAG, AT(list), NULL, "list the passes, with their options"},
    {"show-dialects", FLAG, AT(show_dialects), NULL, "list the dialects"},

    {"Printing", HEADING, 0, NULL, NULL},
    {"mlir-print-op-generic", FLAG, AT(print.generic), NULL, "the generic form"},
    {"mlir-print-debuginfo", FLAG, AT(print.debuginfo), NULL, "with locations"},
    {"mlir-print-local-scope", FLAG, AT(print.local_scope), NULL, "no aliases"},
    {"mlir-print-skip-regions", FLAG, AT(print.skip_regions), NULL, "regions as {...}"},
    {"mlir-print-value-users", FLAG, AT(print.users), NULL, "the users of each value, as comments"},
    {"mlir-print-unique-ssa-ids", FLAG, AT(print.unique_names), NULL,
     "no number of a value twice, in whatever region"},
    {"mlir-use-nameloc-as-prefix", FLAG, AT(print.location_names), NULL,
     "names of values from their locations"},
    {"mlir-print-assume-verified", FLAG, AT(ignored), NULL, "accepted: what prints is verified"},
    {"mlir-print-elementsattrs-with-hex-if-larger", LIMIT, AT(print.hex_elements), "N",
     "constants of more elements in hex (100); -1: none"},
    {"mlir-elide-elementsattrs-if-larger", LIMIT, AT(print.elide_elements), "N",
     "leave out constants of more elements"},
    {"mlir-elide-resource-strings-if-larger", LIMIT, AT(print.elide_resource), "N",
     "leave out resources of more characters"},

    {"Watching passes", HEADING, 0, NULL, NULL},
    {"mlir-print-ir-before-all", FLAG, AT(dump.before_all), NULL,
     "the module before each pass, to standard error"},
    {"mlir-print-ir-after-all", FLAG, AT(dump.after_all), NULL, "the module after each pass"},
    {"mlir-print-ir-before", TEXT, AT(dump.before), "PASS,...", "before these passes"},
    {"mlir-print-ir-after", TEXT, AT(dump.after), "PASS,...", "after these passes"},
    {"mlir-print-ir-after-change", FLAG, AT(dump.after_change), NULL,
     "of those after, only the ones that changed something"},
    {"mlir-print-ir-after-failure", FLAG, AT(dump.after_failure), NULL,
     "the module when a pass fails"},
    {"mlir-print-ir-module-scope", FLAG, AT(dump.module_scope), NULL,
     "whole modules (they always are)"},
    {"mlir-timing", FLAG, AT(timing), NULL, "time spent in each pass, to standard error"},
    {"mlir-diagnostic-verbosity-level", TEXT, AT(verbosity), "errors|warnings|remarks",
     "what is reported: up to remarks by default"},
    {"mlir-timing-display", TEXT, AT(timing_display), "list|tree",
     "sorted by time, or in the order of the work (tree, the default)"},

    {"Other", HEADING, 0, NULL, NULL},
    {"mlir-disable-threading", FLAG, AT(ignored), NULL, "accepted: passes run on one thread"},
    {"help", FLAG, AT(help), NULL, "this text"},
};

/* `v` is behind the `=`, or NULL. false: reported. */
static bool set_option(opt_options *o, const option *p, const char *v) {
  char *at = (char *)o + p->offset, *end;
  bool on = true;
  switch (p->kind) {
  case FLAG:
  case UNFLAG:
    if (v && !pass_read_flag(str_of(v), &on))
      return say_error("--%s wants true or false, not '%s'", p->name, v), false;
    *(bool *)(void *)at = on == (p->kind == FLAG);
    return true;
  case NUMBER:
    *(i64 *)(void *)at = v ? strtoll(v, &end, 10) : 0;
    if (!v || !*v || *end || *(i64 *)(void *)at < 0)
      return say_error("--%s wants a number", p->name), false;
    return true;
  case LIMIT:
    *(print_limit *)(void *)at = (print_limit){true, v ? strtoll(v, &end, 10) : 0};
    if (!v || !*v || *end || ((print_limit *)(void *)at)->most < -1)
      return say_error("--%s wants a number", p->name), false;
    return true;
  case MAYBE_TEXT:
    *(bool *)(void *)at = true;
    if (v && *v) *(const char **)(void *)((char *)o + p->text) = v;
    return true;
  case EXPECT:
    o->expect = v ? v : "all";
    return strcmp(o->expect, "all") == 0 || strcmp(o->expect, "only-expected") == 0 ||
           (say_error("--%s is all or only-expected", p->name), false);
  case TEXT:
    *(const char **)(void *)at = v;
    return true;
  case DIALECT:
    if (o->num_dialects + 1 == COUNT(o->dialects))
      return say_error("--%s: that many are not loaded at once", p->name), false;
    o->dialects[o->num_dialects++] = v;
    return true;
  case PIPELINE:
    if (o->pipeline.len) buf_char(&o->pipeline, ',');
    buf_str(&o->pipeline, str_of(v));
    return true;
  case HEADING:
    break;
  }
  return false;
}

/* `-name=options` or `-name`: appends `name{options}`. */
static void add_pass(opt_options *o, const char *text) {
  const char *eq = strchr(text, '=');
  if (o->pipeline.len) buf_char(&o->pipeline, ',');
  buf_bytes(&o->pipeline, text, eq ? (size_t)(eq - text) : strlen(text));
  if (!eq || !eq[1]) return;
  str v = str_of(eq + 1);
  if (v.len > 1 && (v.data[0] == '"' || v.data[0] == '\'')) v = (str){v.data + 1, v.len - 2};
  buf_printf(&o->pipeline, "{" STR_FMT "}", STR_ARG(v));
}

static const option *find_option(const char *text) {
  size_t n = strcspn(text, "=");
  for (size_t i = 0; i < COUNT(options); i++)
    if (options[i].kind != HEADING && str_eq((str){text, n}, str_of(options[i].name)))
      return &options[i];
  if (n == 1 && *text == 'h') return find_option("help");
  return n == 4 && memcmp(text, "list", 4) == 0 ? find_option("list-passes") : NULL;
}

static bool is_pass(const char *text) {
  pass_tables t = opt_passes();
  return pass_find(&t, (str){text, strcspn(text, "=")}) != NULL;
}

static bool unknown(const char *text) {
  spelling s = {.wanted = {text, strcspn(text, "=")}};
  pass_tables t = opt_passes();
  for (size_t i = 0; i < COUNT(options); i++)
    if (options[i].kind != HEADING) spelling_try(&s, str_of(options[i].name));
  for (size_t i = 0; i < t.count; i++)
    for (const pass_info *p = t.tables[i]; p->name; p++) spelling_try(&s, str_of(p->name));
  return say_error("opt: there is no pass or option '--" STR_FMT "'%s", STR_ARG(s.wanted),
                   spelling_say(&s).text),
         false;
}

/* "PASS,...": are there such passes? */
static bool check_passes(const char *option, const char *names) {
  pass_tables t = opt_passes();
  while (names && *names) {
    size_t n = strcspn(names, ",");
    if (!pass_find(&t, (str){names, n}))
      return say_error("--%s: there is no pass '%.*s'", option, (int)n, names), false;
    names += n + (names[n] == ',');
  }
  return true;
}

/* What would do nothing, or is none of what there is. */
static bool check_options(opt_options *o, const char *target) {
  if (strcmp(o->timing_display, "list") != 0 && strcmp(o->timing_display, "tree") != 0)
    return say_error("--mlir-timing-display is list or tree"), false;
  static const char *const levels[] = {
      [DIAG_ERROR] = "errors", [DIAG_WARNING] = "warnings", [DIAG_REMARK] = "remarks"};
  size_t level = 0;
  while (level < COUNT(levels) && strcmp(o->verbosity, levels[level]) != 0) level++;
  if (level == COUNT(levels))
    return say_error("--mlir-diagnostic-verbosity-level is errors, warnings or remarks"), false;
  o->least = (diag_kind)level;
  if (!o->bytecode && !o->interpret && (o->format || o->target != target))
    return say_error("--%s goes with --emit-bytecode",
                     o->format ? "emit-bytecode-version" : "target"),
           false;
  if (!check_passes("mlir-print-ir-before", o->dump.before) ||
      !check_passes("mlir-print-ir-after", o->dump.after))
    return false;
  target = o->target ? o->target : BYTECODE_TARGET;
  o->write.target = strcmp(target, "native") ? str_of(target) : (str){0};
  o->write.format = (int)min_i64(o->format, INT32_MAX);
  return true;
}

bool opt_arguments(opt_options *o, int argc, char **argv) {
  o->marker = "// -----";
  o->timing_display = "tree";
  o->verbosity = "remarks";
  const char *target = o->target;
  bool ended = false; /* by "--": what follows is no option */
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    if (!ended && strcmp(a, "--") == 0) {
      ended = true;
      continue;
    }
    if (ended || a[0] != '-' || !a[1]) {
      if (o->file) return say_error("more than one file: '%s' and '%s'", o->file, a), false;
      o->file = a;
      continue;
    }
    while (*a == '-') a++;
    const option *p = find_option(a);
    const char *eq = strchr(a, '='), *v = eq ? eq + 1 : NULL;
    bool wants = p && (p->kind == TEXT || p->kind == PIPELINE || p->kind == NUMBER ||
                       p->kind == LIMIT || p->kind == DIALECT);
    if (wants && !v && ++i == argc) return say_error("--%s wants a value", p->name), false;
    if (wants && !v) v = argv[i];
    if (!p && !is_pass(a)) return unknown(a);
    if (!p)
      add_pass(o, a);
    else if (!set_option(o, p, v))
      return false;
  }
  return check_options(o, target);
}

/* ---- saying what there is ---- */

void opt_help(void) {
  fputs("usage: terrazzo opt [FILE] [--PASS[='option=value ...'] ...] [options]\n\n"
        "Reads MLIR text or bytecode (standard input by default), runs the passes in the order\n"
        "given, and prints the module. One dash does as well as two.\n",
        stdout);
  for (size_t i = 0; i < COUNT(options); i++) {
    const option *p = &options[i];
    char name[80];
    if (p->kind == HEADING) {
      printf("\n%s\n", p->name);
      continue;
    }
    snprintf(name, sizeof name,
             p->kind == MAYBE_TEXT || p->kind == EXPECT ? "--%s[=%s]"
             : p->value                                 ? "--%s=%s"
                                                        : "--%s",
             p->name, p->value ? p->value : "");
    printf(strlen(name) > 34 ? "  %s\n%38s%s\n" : "  %-34s  %s%s\n", name, "", p->help);
  }
  fputs("\nPasses (--list-passes shows their options)\n", stdout);
  pass_tables t = opt_passes();
  for (size_t i = 0; i < t.count; i++)
    for (const pass_info *p = t.tables[i]; p->name; p++)
      printf(strlen(p->name) > 33 ? "  --%s\n%38s%s\n" : "  --%-32s  %s%s\n", p->name, "",
             p->summary);
  fputs("\nExamples\n"
        "  terrazzo opt model.mlir --sdy-propagation-pipeline\n"
        "  terrazzo opt model.mlir --inline --canonicalize --cse --mlir-timing\n"
        "  terrazzo opt model.mlir --canonicalize='top-down=false max-iterations=2'\n"
        "  terrazzo opt model.mlir --pass-pipeline='builtin.module(func.func(canonicalize),cse)'\n"
        "  terrazzo opt model.mlir --sdy-import-pipeline --mlir-print-ir-after-change\n",
        stdout);
}

void opt_list_passes(void) {
  static const char *const kinds[] = {
      [PASS_FLAG] = "flag",       [PASS_INT] = "int",   [PASS_UINT] = "uint",
      [PASS_STRING] = "string",   [PASS_LIST] = "list", [PASS_PIPELINE] = "passes",
      [PASS_PIPELINES] = "passes"};
  pass_tables t = opt_passes();
  for (size_t i = 0; i < t.count; i++)
    for (const pass_info *p = t.tables[i]; p->name; p++) {
      printf("-%-48s %s\n", p->name, p->summary);
      for (const pass_option_info *q = p->options; q && q->name; q++)
        if (q->help)
          printf("    %-22s %-6s  %s (default: %s)\n", q->name, kinds[q->kind], q->help,
                 *q->otherwise ? q->otherwise : "none");
    }
}

static int by_name(const void *a, const void *b) {
  return str_cmp(*(const str *)a, *(const str *)b);
}

void opt_show_dialects(void) {
  enum { MOST = 64 };
  str names[MOST];
  size_t n = 0;
  for (int i = 0; i < OP_COUNT; i++) {
    str s = op_infos[i].name;
    const char *dot = memchr(s.data, '.', s.len);
    s.len = dot ? (size_t)(dot - s.data) : s.len;
    size_t k = 0;
    while (k < n && !str_eq(names[k], s)) k++;
    if (k == n && n < MOST) names[n++] = s;
  }
  qsort(names, n, sizeof *names, by_name);
  fputs("Available Dialects: ", stdout);
  for (size_t i = 0; i < n; i++) printf("%s" STR_FMT, i ? "," : "", STR_ARG(names[i]));
  putchar('\n');
}
