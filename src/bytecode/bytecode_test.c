/* Reading a real file, and that file cut short and damaged at every byte: an error or a module,
 * never a crash. Files named on the command line are read as well. */
#include <stdlib.h>

#include "base/os.h"
#include "bytecode/bytecode.h"
#include "tests/unit.h"

static const char sample_name[] = "/../../tests/data/shard_map_shardy.mlirbc";

static str sample_path(char *to, size_t size) {
  const char *slash = strrchr(__FILE__, '/');
  snprintf(to, size, "%.*s%s", slash ? (int)(slash - __FILE__) : 1, slash ? __FILE__ : ".",
           sample_name);
  return str_of(to);
}

static walk_result count_op(void *user, op *o) {
  size_t *counts = user;
  counts[op_kind(o)]++;
  return WALK_ON;
}

/* Reads; the messages go to `log`. counts: by op id, filled on success. */
static bool try_read(str bytes, buf *log, size_t *counts) {
  oom_trap trap;
  diag_sink sink = {.fn = diag_to_buf, .user = log};
  ir_ctx *volatile c = ir_ctx_create(&mem_system, &trap, &sink);
  if (!c || setjmp(trap.at)) {
    ir_ctx_destroy(c);
    return false;
  }
  ir_module *m = bytecode_read(c, STR("sample"), bytes);
  memset(counts, 0, (OP_COUNT + 1) * sizeof *counts);
  if (m) op_walk(m->root, count_op, counts);
  ir_module_destroy(m);
  ir_ctx_destroy(c);
  CHECK((m == NULL) == (sink.errors > 0));
  return m != NULL;
}

static void test_sample(str bytes) {
  size_t counts[OP_COUNT + 1];
  buf log;
  buf_init(&log, &mem_system);
  CHECK(bytecode_is(bytes));
  CHECK(try_read(bytes, &log, counts));
  CHECK(counts[OP_module] == 1 && counts[OP_func] == 1 && counts[OP_sdy_mesh] == 1);
  CHECK(counts[OP_manual_computation] == 1 && counts[OP_all_reduce] == 1);
  CHECK(counts[OP_all_gather] == 1 && counts[OP_collective_permute] == 1 && counts[OP_add] == 1);
  CHECK(counts[OP_func_return] == 1 && counts[OP_return] == 1 && counts[OP_sdy_return] == 1);
  CHECK(counts[OP_cast] == 0 && counts[OP_unregistered] == 0);
  CHECK(log.len == 0);
  buf_deinit(&log);
}

static void test_slots(str bytes) {
  oom_trap trap;
  diag_sink sink = {.fn = diag_to_stderr};
  ir_ctx *c = ir_ctx_create(&mem_system, &trap, &sink);
  if (setjmp(trap.at)) abort();
  ir_module *m = bytecode_read(c, STR("sample"), bytes);
  op *f = symbol_find(m->root, STR("main"));
  CHECK(f && op_is(f, func));
  struct func_attrs a;
  CHECK(view_func(f, &a) && str_is(a.sym_visibility, "public") && a.arg_attrs.len == 1);
  CHECK(attr_is(tensor_sharding, attr_dict_get(a.arg_attrs.data[0], STR("sdy.sharding"))));
  op *mc = op_body(f, 0)->first;
  struct manual_computation_attrs v;
  CHECK(op_is(mc, manual_computation) && view_manual_computation(mc, &v));
  CHECK(v.manual_axes->axes.len == 2 && v.in_shardings->shardings.len == 1);
  struct all_reduce_attrs r;
  CHECK(view_all_reduce(op_body(mc, 0)->first, &r));
  CHECK(r.channel_handle->handle == 1 && r.channel_handle->type == 0 && r.use_global_device_ids);
  CHECK(attr_dense_int(&r.replica_groups->base, 7) == 7);
  ir_module_destroy(m);
  ir_ctx_destroy(c);
}

/* What is written is read as the same, so that writing it again gives the same bytes. */
static void test_write(str bytes, const bytecode_write_options *options) {
  oom_trap trap;
  diag_sink sink = {.fn = diag_to_stderr};
  ir_ctx *c = ir_ctx_create(&mem_system, &trap, &sink);
  buf once, twice;
  if (setjmp(trap.at)) abort();
  buf_init(&once, &mem_system);
  buf_init(&twice, &mem_system);
  ir_module *m = bytecode_read(c, STR("sample"), bytes);
  CHECK(m && bytecode_write(m, options, &once));
  ir_module *again = bytecode_read(c, STR("written"), buf_view(&once));
  CHECK(again && bytecode_write(again, options, &twice));
  CHECK(once.len > 100 && str_eq(buf_view(&once), buf_view(&twice)));
  ir_module_destroy(m);
  ir_module_destroy(again);
  ir_ctx_destroy(c);
  buf_deinit(&once);
  buf_deinit(&twice);
}

static bool append(void *user, str piece) {
  buf_str(user, piece);
  return true;
}

static void test_sink(str bytes) {
  oom_trap trap;
  diag_sink sink = {.fn = diag_to_stderr};
  ir_ctx *c = ir_ctx_create(&mem_system, &trap, &sink);
  buf once, whole, pieces;
  if (setjmp(trap.at)) abort();
  buf_init(&once, &mem_system);
  buf_init(&whole, &mem_system);
  buf_init_sink(&pieces, &mem_system, 7, append, &whole);
  ir_module *m = bytecode_read(c, STR("sample"), bytes);
  CHECK(m && bytecode_write(m, NULL, &once) && bytecode_write(m, NULL, &pieces));
  CHECK(buf_flush(&pieces) && str_eq(buf_view(&once), buf_view(&whole)));
  ir_module_destroy(m);
  ir_ctx_destroy(c);
  buf_deinit(&once);
  buf_deinit(&whole);
  buf_deinit(&pieces);
}

static value *most_used(block *b, size_t *count) {
  value *best = NULL;
  *count = 0;
  for (op *o = b->first; o; o = o->next) {
    for (u32 i = 0; i < o->num_results; i++) {
      size_t n = 0;
      for (const use *u = op_result(o, i)->uses; u; u = u->next) n++;
      if (n > *count) best = op_result(o, i), *count = n;
    }
  }
  return best;
}

/* The last use of a value becomes its first. */
static void rotate(value *v) {
  use *last = v->uses;
  while (last->next) last = last->next;
  *last->link = NULL;
  last->next = v->uses;
  last->next->link = &last->next;
  last->link = &v->uses;
  v->uses = last;
}

static void test_use_order(void) {
  oom_trap trap;
  diag_sink sink = {.fn = diag_to_stderr};
  ir_ctx *c = ir_ctx_create(&mem_system, &trap, &sink);
  buf code;
  if (setjmp(trap.at)) abort();
  ir_module *m = ir_module_create(c);
  const type *t = type_tensor(c, (i64s){NULL, 0}, type_i32(c), NULL);
  block *body = op_body(m->root, 0);
  op *of = op_create(m, ir_op_info_unregistered(c, STR("x.y")), loc_unknown(c), NULL, 0, &t, 1, 0);
  op_insert(of, body, NULL);
  for (int i = 0; i < 4; i++) {
    value *v[] = {op_result(of, 0)};
    op_insert(
        op_create(m, ir_op_info_unregistered(c, STR("x.z")), loc_unknown(c), v, 1, NULL, 0, 0),
        body, NULL);
  }
  rotate(op_result(of, 0));
  buf_init(&code, &mem_system);
  CHECK(bytecode_write(m, NULL, &code));
  ir_module *again = bytecode_read(c, STR("written"), buf_view(&code));
  CHECK(again);
  size_t n;
  value *v = most_used(op_body(again->root, 0), &n);
  op *first = op_body(again->root, 0)->first->next;
  CHECK(n == 4 && v->uses->owner == first && v->uses->next->owner == op_body(again->root, 0)->last);
  ir_module_destroy(m);
  ir_module_destroy(again);
  ir_ctx_destroy(c);
  buf_deinit(&code);
}

static void test_damage(str bytes) {
  size_t counts[OP_COUNT + 1];
  buf log;
  buf_init(&log, &mem_system);
  for (size_t n = 0; n < bytes.len; n++) {
    char *cut = malloc(n + 1); /* exact, so that a sanitizer sees reads past the end */
    memcpy(cut, bytes.data, n);
    log.len = 0;
    CHECK(!try_read((str){cut, n}, &log, counts));
    CHECK(log.len > 0);
    free(cut);
  }
  static const u8 masks[] = {0xFF, 0x01, 0x80, 0x10, 0x02};
  for (size_t i = 0; i < bytes.len; i++) {
    for (size_t k = 0; k < COUNT(masks); k++) {
      char *flipped = malloc(bytes.len);
      memcpy(flipped, bytes.data, bytes.len);
      flipped[i] = (char)(flipped[i] ^ masks[k]);
      log.len = 0;
      try_read((str){flipped, bytes.len}, &log, counts);
      free(flipped);
    }
  }
  buf_deinit(&log);
}

static str read_whole(str path, os_file *f) {
  status s = os_file_open(path.data, f);
  if (!s) return f->bytes;
  fprintf(stderr, "%s\n", status_message(s).data);
  status_free(s);
  exit(1);
}

int main(int argc, char **argv) {
  char path[512];
  os_file f;
  str bytes = read_whole(sample_path(path, sizeof path), &f);
  test_sample(bytes);
  test_slots(bytes);
  test_write(bytes, NULL);
  test_sink(bytes);
  test_write(bytes, &(bytecode_write_options){.target = STR(BYTECODE_TARGET)});
  test_write(bytes, &(bytecode_write_options){.target = STR("1.0.0")});
  test_write(bytes, &(bytecode_write_options){.format = 1});
  test_use_order();
  test_damage(bytes);
  os_file_close(&f);
  for (int i = 1; i < argc; i++) {
    size_t counts[OP_COUNT + 1];
    buf log;
    buf_init(&log, &mem_system);
    bytes = read_whole(str_of(argv[i]), &f);
    bool ok = try_read(bytes, &log, counts);
    CHECK(ok);
    printf("%s: %s, %zu unregistered\n%s", argv[i], ok ? "read" : "failed", counts[OP_unregistered],
           log.len ? buf_cstr(&log) : "");
    buf_deinit(&log);
    os_file_close(&f);
  }
  return UNIT_END();
}
