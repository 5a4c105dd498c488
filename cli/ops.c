/* terrazzo ops: every row, and what each stage has of it, asked of the stages' own tables. */
#include <stdio.h>

#include "bytecode/bytecode.h"
#include "args.h"
#include "base/spelling.h"
#include "compile/coverage.h"
#include "dialect/dialect.h"
#include "partition/partition.h"
#include "program/parts.h"
#include "shard/shard.h"

typedef const char *stage_fn(op_id id); /* NULL: the stage has nothing */

static const char *read_as(op_id id) { return op_infos[id].form ? "form" : "generic"; }
static const char *verified(op_id id) { return dialect_verifies(id) ? "yes" : NULL; }
static const char *inferred(op_id id) { return dialect_infers(id) ? "yes" : NULL; }
static const char *portable(op_id id) { return bytecode_has_vhlo(id) ? "yes" : NULL; }
static const char *propagated(op_id id) {
  static const char *const ways[] = {[SHARD_NO_WAY] = NULL,
                                     [SHARD_NEEDS_NONE] = "none needed",
                                     [SHARD_BY_RULE] = "rule",
                                     [SHARD_ON_DEMAND] = "extra rule",
                                     [SHARD_BY_EDGES] = "edges"};
  return ways[shard_way_of(id)];
}
static const char *partitioned(op_id id) {
  static const char *const ways[] = {[PARTITION_WHOLE] = "whole",
                                     [PARTITION_PARTLY] = "partly",
                                     [PARTITION_SPLIT] = "split",
                                     [PARTITION_REPLACED] = "replaced"};
  return op_infos[id].family == FAMILY_later ? NULL : ways[partition_way_of(id)];
}
static const char *run_as(op_id id) {
  static const char *const ways[] = {
      [COMPILE_NO] = NULL, [COMPILE_VANISHES] = "vanishes", [COMPILE_RUNS] = "yes"};
  bool gone = partition_way_of(id) == PARTITION_REPLACED && op_infos[id].family != FAMILY_later;
  const char *way = ways[compile_way_of(id)];
  return way || !gone ? way : "vanishes";
}

static const struct stage {
  const char *name, *help;
  stage_fn *fn;
} stages[] = {
    {"read", "form: MLIR's custom syntax; generic: the generic one only", read_as},
    {"verify", "the verifier checks what the dialect says of it", verified},
    {"infer", "result types follow from the rest", inferred},
    {"portable", "has a form in portable artifacts (VHLO)", portable},
    {"shard",
     "rule or edges: shardings go through; extra rule: with extra-rules=true; none needed: "
     "constants and the like",
     propagated},
    {"partition",
     "split: runs on shards; partly: along some dimensions; whole: along none; "
     "replaced: by other ops",
     partitioned},
    {"run", "yes; vanishes: nothing is left of it to run", run_as},
};

static void put_text(op_id id, bool explain) {
  printf("%-40.*s", STR_ARG(op_infos[id].name));
  for (size_t s = 0; s < COUNT(stages); s++) {
    const char *v = stages[s].fn(id);
    printf(s + 1 == COUNT(stages) ? " %s" : " %-11s", v ? v : "-");
  }
  if (explain) printf("\n    %s (%s)", op_infos[id].meaning, op_infos[id].section);
  putchar('\n');
}

/* "operands": ["ranked tensor of bool values", ...] */
static void put_values(const char *what, const value_info *list, u32 n) {
  printf(", \"%s\": [", what);
  for (u32 i = 0; i < n; i++) {
    buf b;
    buf_init(&b, &mem_system);
    dialect_describe_value(&b, &list[i]);
    printf(i ? ", \"%s\"" : "\"%s\"", buf_cstr(&b));
    buf_deinit(&b);
  }
  putchar(']');
}

static void put_json(op_id id, bool first) {
  printf(first ? "\n  {\"op\": \"%.*s\"" : ",\n  {\"op\": \"%.*s\"", STR_ARG(op_infos[id].name));
  for (size_t s = 0; s < COUNT(stages); s++) {
    const char *v = stages[s].fn(id);
    printf(v ? ", \"%s\": \"%s\"" : ", \"%s\": null%s", stages[s].name, v ? v : "");
  }
  put_values("operands", op_infos[id].operands, op_infos[id].num_operands);
  put_values("results", op_infos[id].results, op_infos[id].num_results);
  printf(", \"meaning\": \"%s\", \"section\": \"%s\"}", op_infos[id].meaning, op_infos[id].section);
}

static str dialect_of(op_id id) {
  str s = op_infos[id].name;
  const char *dot = memchr(s.data, '.', s.len);
  return dot ? (str){s.data, (size_t)(dot - s.data)} : s;
}

static bool wanted(op_id id, const option_texts *names) {
  for (u32 i = 0; i < names->len; i++)
    if (str_is(op_infos[id].name, names->data[i]) || str_is(dialect_of(id), names->data[i]))
      return true;
  return !names->len;
}

static bool is_named(op_id id, const option_texts *names) {
  for (u32 i = 0; i < names->len; i++)
    if (str_is(op_infos[id].name, names->data[i])) return true;
  return false;
}

/* What a program is made of: kinds of steps, and the instructions of their code. */
static void put_program(void) {
  for (int k = 0; k < STEP_COUNT_; k++)
    printf("step %-16s %s\n", prog_step_kind_name((prog_step_kind)k),
           prog_step_kind_doc((prog_step_kind)k));
  for (int i = 0; i < VM_OP_COUNT; i++)
    printf("code %-16s %s\n", vm_op_name((vm_op)i), vm_op_infos[i].meaning);
}

/* Of the ops that are asked for, those of one dialect, or all. */
static void put_count(str dialect, bool all, const option_texts *names) {
  size_t n = 0, counts[COUNT(stages)] = {0};
  for (int i = 0; i < OP_COUNT; i++) {
    if (!wanted((op_id)i, names)) continue;
    if (!all && !str_eq(dialect_of((op_id)i), dialect)) continue;
    n++;
    for (size_t s = 0; s < COUNT(stages); s++) counts[s] += stages[s].fn((op_id)i) != NULL;
  }
  if (!n) return;
  printf("%-16.*s %5zu", STR_ARG(dialect), n);
  for (size_t s = 0; s < COUNT(stages); s++) printf(" %9zu", counts[s]);
  putchar('\n');
}

/* Rows of one dialect may stand apart. */
static bool is_first_of_dialect(op_id id) {
  for (int i = 0; i < (int)id; i++)
    if (str_eq(dialect_of((op_id)i), dialect_of(id))) return false;
  return true;
}

/* A line a dialect, in the order of the rows. */
static void put_counts(const option_texts *names) {
  printf("%-16s %5s", "dialect", "ops");
  for (size_t s = 0; s < COUNT(stages); s++) printf(" %9s", stages[s].name);
  putchar('\n');
  for (int i = 0; i < OP_COUNT; i++)
    if (is_first_of_dialect((op_id)i)) put_count(dialect_of((op_id)i), false, names);
  put_count(STR("all"), true, names);
}

static int help(void) {
  puts("usage: terrazzo ops [--json | --counts | --program] [DIALECT | OP ...]\n\n"
       "Lists the ops that have a row, and what each stage has of them; `-` is nothing. Of an op\n"
       "that is named it also says what it does, and where that is specified: spec.md and the .td\n"
       "files are StableHLO's, sdy_dialect.md is Shardy's, mlir/DIALECT is MLIR's page of it.\n"
       "--counts: how many ops of each dialect a stage has something of.\n"
       "--program: the steps and instructions that programs are made of, and what they do.\n");
  for (size_t s = 0; s < COUNT(stages); s++) printf("  %-10s %s\n", stages[s].name, stages[s].help);
  puts("\nexamples:\n"
       "  terrazzo ops stablehlo.dot_general sdy\n"
       "  terrazzo ops --counts");
  return EXIT_FINE;
}

static bool check_names(const option_texts *names) {
  for (u32 i = 0; i < names->len; i++) {
    spelling s = {.wanted = str_of(names->data[i])};
    bool known = false;
    for (int k = 0; k < OP_COUNT && !known; k++) {
      known = str_eq(op_infos[k].name, s.wanted) || str_eq(dialect_of((op_id)k), s.wanted);
      spelling_try(&s, op_infos[k].name);
      spelling_try(&s, dialect_of((op_id)k));
    }
    if (!known)
      return say_error("ops: there is no op or dialect '%s'%s", names->data[i],
                       spelling_say(&s).text),
             false;
  }
  return true;
}

typedef struct ops_options {
  option_texts names;
  bool json, counts, program;
} ops_options;

static const option_row rows[] = {
    {NULL, offsetof(ops_options, names), OPTION_TEXTS},
    {"--json", offsetof(ops_options, json), OPTION_FLAG},
    {"--counts", offsetof(ops_options, counts), OPTION_FLAG},
    {"--program", offsetof(ops_options, program), OPTION_FLAG},
};

static void put_ops(const option_texts *names, bool json) {
  bool first = true;
  if (json) putchar('[');
  if (!json) {
    printf("%-40s", "op");
    for (size_t s = 0; s < COUNT(stages); s++)
      printf(s + 1 == COUNT(stages) ? " %s\n" : " %-11s", stages[s].name);
  }
  for (int i = 0; i < OP_COUNT; i++) {
    if (!wanted((op_id)i, names)) continue;
    if (json)
      put_json((op_id)i, first);
    else
      put_text((op_id)i, is_named((op_id)i, names));
    first = false;
  }
  if (json) puts("\n]");
}

int ops_main(int argc, char **argv) {
  ops_options o = {0};
  if (wants_help(argc, argv)) return help();
  bool fine = read_options("ops", rows, COUNT(rows), &o, NULL, argc, argv) && check_names(&o.names);
  if (fine && o.counts)
    put_counts(&o.names);
  else if (fine && o.program)
    put_program();
  else if (fine)
    put_ops(&o.names, o.json);
  release_options(rows, COUNT(rows), &o);
  return fine ? EXIT_FINE : EXIT_USAGE;
}
