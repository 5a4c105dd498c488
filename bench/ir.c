/* Times of reading, verifying and printing one module, for bench/ir.py.
 *
 *   bench_ir FILE
 *
 * For each line on standard input a round, and a line: milliseconds to read (text or bytecode, by
 * the first bytes), to verify and to print; bytes in the arenas of module and context, payloads
 * aside; ops; operands and results. */
#include <stdio.h>

#include "base/os.h"
#include "bytecode/bytecode.h"
#include "dialect/dialect.h"
#include "text/text.h"

/* Large blocks stay for the next round, as those of MLIR do in the other process: its many small
 * ones keep the heap from shrinking. What fresh pages cost is the same for both, and not measured.
 */
enum { KEPT = 256 };
typedef struct pool {
  struct {
    void *p;
    size_t size;
  } kept[KEPT];
} pool;

static void *pool_fn(void *user, void *p, size_t old_size, size_t new_size) {
  pool *k = user;
  for (int i = 0; i < KEPT; i++) {
    if (!p && k->kept[i].p && k->kept[i].size == new_size) {
      void *got = k->kept[i].p;
      k->kept[i].p = NULL;
      return got;
    }
    if (p && !new_size && old_size >= OS_LARGE / 2 && !k->kept[i].p) {
      k->kept[i].p = p;
      k->kept[i].size = old_size;
      return NULL;
    }
  }
  return mem_system.fn(mem_system.user, p, old_size, new_size);
}

typedef struct counts {
  size_t ops, values;
} counts;

static walk_result count(void *user, op *o) {
  counts *n = user;
  n->ops++;
  n->values += o->num_operands + o->num_results;
  return WALK_ON;
}

static double ms(u64 from, u64 to) { return (double)(to - from) * 1e-6; }

static bool one_round(const allocator *mem, const char *name, str source) {
  oom_trap trap;
  diag_sink sink = {.fn = diag_to_stderr};
  ir_ctx *c = ir_ctx_create(mem, &trap, &sink);
  if (!c || setjmp(trap.at)) return fputs("out of memory\n", stderr), false;
  u64 begin = os_now_ns();
  ir_module *m = bytecode_is(source) ? bytecode_read(c, str_of(name), source)
                                     : text_parse(c, str_of(name), source, NULL);
  u64 read = os_now_ns();
  if (!m || !dialect_verify(m)) return ir_ctx_destroy(c), false;
  u64 verified = os_now_ns();
  counts n = {0};
  op_walk_post(m->root, count, &n);
  size_t module = m->arena.used, context = ir_arena(c)->used;
  buf out;
  buf_init(&out, mem);
  u64 start = os_now_ns();
  bool ok = text_print(&out, m, NULL);
  u64 printed = os_now_ns();
  printf("%.3f %.3f %.3f %zu %zu %zu %zu\n", ms(begin, read), ms(read, verified),
         ms(start, printed), module, context, n.ops, n.values);
  buf_deinit(&out);
  ir_module_destroy(m);
  ir_ctx_destroy(c);
  return ok;
}

int main(int argc, char **argv) {
  os_file file;
  pool blocks = {0};
  if (argc != 2) return fputs("usage: bench_ir FILE\n", stderr), 2;
  if (os_file_open(argv[1], &file)) return fprintf(stderr, "no %s\n", argv[1]), 1;
  bool ok = true;
  for (int c; ok && (c = getchar()) != EOF;) {
    if (c != '\n') continue;
    ok = one_round(&(allocator){pool_fn, &blocks}, argv[1], file.bytes);
    fflush(stdout);
  }
  os_file_close(&file);
  return !ok;
}
