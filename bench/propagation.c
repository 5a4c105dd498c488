/* Times of the propagation pipeline on one module, for bench/propagation.py.
 *
 *   bench_propagation FILE [PIPELINE]
 *
 * For each line on standard input a round, and a line: milliseconds for the pipeline, nothing
 * verified between; bytes in the module's arenas after it; ops before it. */
#include <stdio.h>

#include "base/os.h"
#include "bytecode/bytecode.h"
#include "dialect/dialect.h"
#include "partition/partition.h"
#include "shard/shard.h"
#include "text/text.h"

static const pass_info *const tables[] = {pass_generic, shard_passes, partition_passes};

static walk_result count(void *user, op *o) {
  (void)o;
  ++*(size_t *)user;
  return WALK_ON;
}

static void ignore(void *user, diag_kind kind, diag_pos pos, str text) {
  if (kind == DIAG_ERROR) diag_to_stderr(user, kind, pos, text);
}

/* What is allocated, and the most there ever was. */
typedef struct meter {
  size_t now, most;
} meter;

static void *metered(void *user, void *p, size_t old_size, size_t new_size) {
  meter *m = user;
  void *got = mem_system.fn(mem_system.user, p, old_size, new_size);
  if (got || !new_size) m->now += new_size - old_size;
  if (m->now > m->most) m->most = m->now;
  return got;
}

static bool one_round(const char *name, str source, const char *pipeline) {
  oom_trap trap;
  meter used = {0};
  allocator mem = {metered, &used};
  diag_sink sink = {.fn = ignore};
  ir_ctx *c = ir_ctx_create(&mem, &trap, &sink);
  if (!c || setjmp(trap.at)) return fputs("out of memory\n", stderr), false;
  ir_module *m = bytecode_is(source) ? bytecode_read(c, str_of(name), source)
                                     : text_parse(c, str_of(name), source, NULL);
  if (!m || !dialect_verify(m)) return ir_ctx_destroy(c), false;
  size_t ops = 0, before = used.most = used.now;
  op_walk_post(m->root, count, &ops);
  pass_tables t = {.tables = tables,
                   .count = COUNT(tables),
                   .patterns = shard_patterns,
                   .num_patterns = SHARD_PATTERNS};
  u64 start = os_now_ns();
  bool ok = pass_run_text(m, str_of(pipeline), &t);
  u64 end = os_now_ns();
  printf("%.3f %zu %zu\n", (double)(end - start) * 1e-6, used.most - before, ops);
  ir_module_destroy(m);
  ir_ctx_destroy(c);
  return ok;
}

int main(int argc, char **argv) {
  os_file file;
  if (argc < 2) return fputs("usage: bench_propagation FILE [PIPELINE]\n", stderr), 2;
  if (os_file_open(argv[1], &file)) return fprintf(stderr, "no %s\n", argv[1]), 1;
  bool ok = true;
  for (int c; ok && (c = getchar()) != EOF;) {
    if (c != '\n') continue;
    ok = one_round(argv[1], file.bytes, argc > 2 ? argv[2] : "sdy-propagation-pipeline");
    fflush(stdout);
  }
  os_file_close(&file);
  return !ok;
}
