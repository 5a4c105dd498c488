/* Records: every row is one, what is wrong in one is said, and what factors of some ops need. */
#include "partition/record.h"

#define _GNU_SOURCE
#include "base/buf.h"
#include "partition/local.h"
#include "tests/unit.h"
#include "text/text.h"

/* ---- rows ---- */

static bool says(arena *a, op_id id, const part_row *row, const char *want) {
  str got = part_row_problem(a, &op_infos[id], row);
  if (str_eq(got, str_of(want))) return true;
  fprintf(stderr, "expected: %s\nfound: " STR_FMT "\n", want, STR_ARG(got));
  return false;
}

static void check_rows(arena *a) {
  for (int i = 0; i < OP_COUNT; i++) CHECK(says(a, (op_id)i, &part_rows[i], ""));
  const part_row left_out = {0};
  CHECK(says(a, OP_slice, &left_out, "'stablehlo.slice' has no partition record"));
  part_row row = part_rows[OP_slice];
  row.local = NULL;
  CHECK(says(a, OP_slice, &row,
             "'stablehlo.slice' has a partition record that does not say how it is made local"));
  row = part_rows[OP_slice];
  row.cut = CUT_FREELY;
  CHECK(says(a, OP_slice, &row,
             "'stablehlo.slice' has a partition record with needs by which it is not cut"));
  row = part_rows[OP_sort];
  row.placed = PLACED_MADE;
  CHECK(says(a, OP_sort, &row,
             "'stablehlo.sort' has a partition record that cuts it by a rule, but places it "
             "otherwise"));
  row = part_rows[OP_reduce];
  row.padding = PADDING_ANY;
  CHECK(says(a, OP_reduce, &row,
             "'stablehlo.reduce' has a partition record whose padding is not that of parts that "
             "combine"));
}

/* ---- records of ops ---- */

typedef struct messages {
  arena *a;
  str last;
} messages;

static void keep(void *user, diag_kind kind, diag_pos pos, str text) {
  messages *m = user;
  (void)kind, (void)pos;
  m->last = arena_str(m->a, text);
}

static void put_record(buf *out, const part_record *r) {
  static const char *const kinds[] = {"free", "reduce",  "mask", "own",
                                      "halo", "permute", "scan", "whole"};
  static const char *const paddings[] = {"", ":any", ":zero", ":initial", ":neutral"};
  static const char *const combiners[] = {"sum", "max", "min", "mul", "and", "or"};
  for (u32 f = 0; r->rule && f < r->rule->num_factors; f++) {
    const part_need *n = &r->needs[f];
    buf_printf(out, f ? " %s" : "%s", kinds[n->kind]);
    if (n->kind == NEED_REDUCE) buf_printf(out, "-%s", combiners[n->combiner]);
    if (n->kind == NEED_HALO) buf_printf(out, "[%lld,%lld]", (long long)n->low, (long long)n->high);
    buf_printf(out, "%s", n->kind == NEED_FREE ? "" : paddings[n->padding]);
  }
}

/* The record of the first op of a kind in a function's body; with another row, if one is given. */
static bool is_record(op_id id, const part_row *row, const char *body, const char *want) {
  oom_trap trap;
  arena a;
  arena_init(&a, &mem_system, &trap);
  messages said = {&a, {0}};
  diag_sink sink = {.fn = keep, .user = &said};
  ir_ctx *c = ir_ctx_create(&mem_system, &trap, &sink);
  if (!c || setjmp(trap.at)) return false;
  str source = arena_printf(&a,
                            "func.func @f(%%a: tensor<8x16xf32>, %%b: tensor<16x4xf32>, "
                            "%%i: tensor<3x1xi32>, %%s: tensor<i32>, %%z: tensor<f32>) {\n%s\n"
                            "return }\n",
                            body);
  ir_module *m = text_parse(c, STR("record"), source, NULL);
  buf out;
  buf_init(&out, &mem_system);
  rule_set rules;
  rule_set_init(&rules, c, &a, false);
  rules.extra = true;
  rules.apart = true;
  op *f = m ? op_body(m->root, 0)->first : NULL;
  for (op *o = f ? op_body(f, 0)->first : NULL; o; o = o->next) {
    part_record r;
    if (op_kind(o) != id) continue;
    if (part_record_of_row(&a, &rules, o, row ? row : part_row_of(o), &r))
      put_record(&out, &r);
    else
      buf_printf(&out, STR_FMT, STR_ARG(said.last));
  }
  bool ok = str_eq(buf_view(&out), str_of(want));
  if (!ok) fprintf(stderr, "%s\nexpected: %s\nfound: %s\n", body, want, buf_cstr(&out));
  buf_deinit(&out);
  ir_module_destroy(m);
  ir_ctx_destroy(c);
  arena_deinit(&a);
  return ok;
}

#define REDUCE(how, init)                                                                          \
  "%n = stablehlo.constant dense<" init "> : tensor<f32>\n"                                        \
  "%0 = stablehlo.reduce(%a init: %n) applies stablehlo." how                                      \
  " across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>"
#define WINDOW(size, strides, low, high, result)                                                   \
  "%0 = \"stablehlo.reduce_window\"(%a, %z) <{window_dimensions = array<i64: 1, " size             \
  ">, window_strides = array<i64: 1, " strides ">, padding = dense<[[0, 0], [" low ", " high       \
  "]]> : tensor<2x2xi64>}> ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"                          \
  "%m = stablehlo.maximum %x, %y : tensor<f32>\nstablehlo.return %m : tensor<f32>\n"               \
  "}) : (tensor<8x16xf32>, tensor<f32>) -> tensor<" result "xf32>"
#define GATHER(collapsed, offsets, sizes, result)                                                  \
  "%0 = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = "       \
  "[" offsets "], " collapsed "start_index_map = [0], index_vector_dim = 1>, "                     \
  "slice_sizes = array<i64: " sizes ">}> : (tensor<8x16xf32>, tensor<3x1xi32>) -> tensor<" result  \
  "xf32>"

static const struct example {
  op_id op;
  const char *body, *want;
} examples[] = {
    {OP_negate, "%0 = stablehlo.negate %a : tensor<8x16xf32>", "free free"},
    {OP_dot_general,
     "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, "
     "tensor<16x4xf32>) -> tensor<8x4xf32>",
     "free free reduce-sum:zero"},
    {OP_reduce, REDUCE("add", "0.0"), "free reduce-sum:initial"},
    {OP_reduce, REDUCE("add", "1.0"), "free whole"},
    {OP_reduce, REDUCE("maximum", "1.0"), "free reduce-max:initial"},
    {OP_slice, "%0 = stablehlo.slice %a [0:8, 2:10] : (tensor<8x16xf32>) -> tensor<8x8xf32>",
     "free halo[-2,2]"},
    {OP_slice, "%0 = stablehlo.slice %a [0:8, 0:16:2] : (tensor<8x16xf32>) -> tensor<8x8xf32>",
     "free permute"},
    {OP_pad,
     "%0 = stablehlo.pad %a, %z, low = [0, 1], high = [0, -1], interior = [0, 0] : "
     "(tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>",
     "free halo[1,-1]"},
    {OP_reverse, "%0 = stablehlo.reverse %a, dims = [0] : tensor<8x16xf32>", "permute free"},
    {OP_concatenate,
     "%0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> "
     "tensor<16x16xf32>",
     "whole free"},
    {OP_reshape, "%0 = stablehlo.reshape %a : (tensor<8x16xf32>) -> tensor<128xf32>", "free free"},
    {OP_reduce_window, WINDOW("3", "1", "1", "1", "8x16"), "free halo[1,1]:neutral"},
    {OP_reduce_window, WINDOW("16", "1", "15", "0", "8x16"), "free scan:neutral"},
    {OP_reduce_window, WINDOW("2", "2", "0", "0", "8x8"), "free halo[0,1]:neutral"},
    {OP_gather, GATHER("collapsed_slice_dims = [0], ", "1", "1, 16", "3x16"),
     "free free mask:any whole"},
    {OP_gather, GATHER("", "1, 2", "2, 16", "3x2x16"), "free whole free whole"},
    {OP_dynamic_update_slice,
     "%u = stablehlo.constant dense<0.0> : tensor<8x4xf32>\n"
     "%0 = stablehlo.dynamic_update_slice %a, %u, %s, %s : (tensor<8x16xf32>, tensor<8x4xf32>, "
     "tensor<i32>, tensor<i32>) -> tensor<8x16xf32>",
     "free own:any whole"},
    {OP_custom_call,
     "%0 = stablehlo.custom_call @MoveToHost(%a) : (tensor<8x16xf32>) -> tensor<8x16xf32>",
     "whole whole"},
    {OP_iota, "%0 = stablehlo.iota dim = 0 : tensor<8xf32>", ""},
    /* a rule of the program's own does not cut what must be whole */
    {OP_reverse,
     "%0 = stablehlo.reverse %a, dims = [0] {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->"
     "([i, j]) {i=8, j=16}>} : tensor<8x16xf32>",
     "whole free"},
};

static void check_misfit(void) {
  part_row row = part_rows[OP_negate];
  CHECK(is_record(OP_reverse, &row, "%0 = stablehlo.reverse %a, dims = [0] : tensor<8x16xf32>",
                  "'stablehlo.reverse' op has a partition record that cuts it freely, but factor "
                  "#0 of its sharding rule is not free"));
  CHECK(is_record(OP_reduce, &row, REDUCE("add", "0.0"),
                  "'stablehlo.reduce' op has a partition record that cuts it freely, but factor #1 "
                  "of its sharding rule makes parts that nothing combines"));
}

int main(void) {
  oom_trap trap;
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  check_rows(&a);
  arena_deinit(&a);
  for (size_t i = 0; i < COUNT(examples); i++)
    CHECK(is_record(examples[i].op, NULL, examples[i].body, examples[i].want));
  check_misfit();
  return UNIT_END();
}
