#include "ir/op.h"
#include "tests/unit.h"

static void test_types(ir_ctx *c) {
  i64 dims[] = {2, 3};
  const type *f32 = type_float(c, FLOAT_f32);
  const type *t = type_tensor(c, (i64s){dims, 2}, f32, NULL);
  CHECK(t == type_tensor(c, (i64s){dims, 2}, f32, NULL));
  CHECK(t != type_tensor(c, (i64s){dims, 1}, f32, NULL));
  CHECK(type_int(c, 32, SIGNLESS) != type_int(c, 32, UNSIGNED));
  i64 n;
  CHECK(type_num_elements(t, &n) && n == 6);
  i64 huge[] = {INT64_MAX, 2};
  CHECK(!type_num_elements(type_tensor(c, (i64s){huge, 2}, f32, NULL), &n));
  const type *in[] = {t, f32}, *out[] = {t};
  const type *fn = type_function(c, (types){in, 2}, (types){out, 1});
  CHECK(type_inputs(fn).len == 2 && type_results(fn).data[0] == t);
}

static void test_attrs(ir_ctx *c) {
  i64 dims[] = {0, 1};
  const attr *a = attr_make(c, dot, .lhs_contracting_dimensions = {dims, 2});
  CHECK(a == attr_make(c, dot, .lhs_contracting_dimensions = {dims, 2}));
  CHECK(a != attr_make(c, dot, .rhs_contracting_dimensions = {dims, 2}));
  CHECK(attr_as(dot, a)->lhs_contracting_dimensions.data[1] == 1);
  CHECK(attr_as(conv, a) == NULL && attr_as(dot, NULL) == NULL);
  for (int id = 0; id < ATTR_COUNT; id++) { /* fields lie inside, in order */
    u32 at = sizeof(attr);
    for (const field_info *f = attr_infos[id].fields(); f->name; f++) {
      CHECK(f->offset >= at && f->offset < attr_infos[id].size);
      at = f->offset + 1;
    }
  }
  named_attr e[] = {{attr_string(c, STR("b")), attr_i64(c, 1)},
                    {attr_string(c, STR("a")), attr_i64(c, 2)},
                    {attr_string(c, STR("b")), attr_i64(c, 3)}};
  const attr *d = attr_dict(c, e, 3);
  i64 v = 0;
  CHECK(attr_as(dict, d)->names.len == 2);
  CHECK(attr_get_i64(attr_dict_get(d, STR("b")), &v) && v == 3);
  CHECK(str_is(attr_enum_name(attr_enum(c, ATTR_comparison_direction, 2)), "GE"));
  i64 w[] = {7, 7, 7};
  const attr *splat = attr_dense_i64(c, (i64s){(i64[]){3}, 1}, w);
  CHECK(attr_as(dense, splat)->splat && attr_dense_int(splat, 2) == 7);
}

/* As MLIR's FusedLoc::get. */
static void test_fused(ir_ctx *c) {
  enum { MANY = 100 };
  const attr *all = loc_unknown(c), *x = loc_file(c, STR("x"), 1, 1), *none = loc_unknown(c);
  const attr *tag = attr_string(c, STR("m"));
  for (u32 i = 0; i < MANY; i++) all = loc_fuse(c, all, loc_file(c, STR("y"), i, 1));
  CHECK(attr_as(loc_fused, all)->locs.len == MANY);
  CHECK(loc_fuse(c, all, attr_as(loc_fused, all)->locs.data[7]) == all);
  CHECK(loc_fuse(c, x, none) == x && loc_fuse(c, none, none) == none);
  const attr *tagged = loc_fuse_all(c, (attrs){&x, 1}, tag);
  CHECK(attr_as(loc_fused, tagged)->locs.data[0] == x);
  CHECK(loc_fuse_all(c, (attrs){&tagged, 1}, tag) == tagged && loc_fuse(c, tagged, none) == tagged);
  CHECK(attr_as(loc_fused, loc_fuse_all(c, (attrs){0}, tag))->locs.data[0] == none);
}

static void test_ops(ir_ctx *c) {
  ir_module *m = ir_module_create(c);
  const type *t = type_tensor(c, (i64s){0}, type_float(c, FLOAT_f32), NULL);
  block *b = op_body(m->root, 0);
  const op_info *add = op_info_find(STR("stablehlo.add"));
  CHECK(add == &op_infos[OP_add] && op_info_find(STR("stablehlo.ad")) == NULL);
  value *x = block_add_arg(m, b, t);
  op *o = op_create(m, add, loc_unknown(c), (value *[]){x, x}, 2, &t, 1, 0);
  op_insert(o, b, NULL);
  op *p = op_create(m, add, loc_unknown(c), (value *[]){op_result(o, 0), x}, 2, &t, 1, 0);
  op_insert(p, b, NULL);
  CHECK(value_has_one_use(op_result(o, 0)) && x->uses->owner == p); /* latest first */
  value_replace(op_result(o, 0), x);
  CHECK(op_operand(p, 0) == x && !op_result(o, 0)->uses);
  op_set_attr(m, p, STR("z"), attr_i64(c, 1));
  op_set_attr(m, p, STR("a"), attr_i64(c, 2));
  CHECK(p->num_attrs == 2 && op_attr(p, STR("z")) == attr_i64(c, 1));
  op_set_attr(m, p, STR("z"), NULL);
  CHECK(p->num_attrs == 1 && op_attr(p, STR("z")) == NULL);
  op *q = op_clone(m, p, NULL);
  CHECK(op_operand(q, 0) == x && op_attr(q, STR("a")) == attr_i64(c, 2));
  op_erase(o);
  CHECK(b->first == p && b->last == p);
  for (int i = 0; i < 20; i++) op_append_operand(m, p, x); /* moved uses stay linked */
  size_t uses = 0;
  for (use *u = x->uses; u; u = u->next) uses += u->value == x && *u->link == u;
  CHECK(uses == 22 + 2);
  const op_info *reduce = &op_infos[OP_reduce];
  op *r = op_create(m, reduce, loc_unknown(c), (value *[]){x, x, x, x}, 4, NULL, 0, 1);
  size_t begin, count;
  CHECK(op_operand_group(r, 1, &begin, &count) && begin == 2 && count == 2);
  struct reduce_attrs v;
  CHECK(!view_reduce(r, &v)); /* dimensions are required */
  ir_module_destroy(m);
}

/* What is changed in one, or gone with it, is nothing to the other. */
static void test_copy(ir_ctx *c) {
  ir_module *m = ir_module_create(c);
  const type *t = type_tensor(c, (i64s){NULL, 0}, type_i1(c), NULL);
  const op_info *add = &op_infos[OP_add], *of_none = ir_op_info_unregistered(c, STR("test.none"));
  block *b = op_body(m->root, 0);
  op *later = op_create(m, of_none, loc_unknown(c), NULL, 0, &t, 1, 0);
  op *first = op_create(m, of_none, loc_unknown(c), (value *[]){op_result(later, 0)}, 1, &t, 1, 0);
  op *sum = op_create(m, add, loc_unknown(c), (value *[]){op_result(first, 0), op_result(later, 0)},
                      2, &t, 1, 0);
  op_set_attr(m, sum, STR("a"), attr_i64(c, 2));
  op_insert(first, b, NULL); /* uses what comes behind it */
  op_insert(later, b, NULL);
  op_insert(sum, b, NULL);
  ir_module *twin = ir_module_clone(m);
  CHECK(module_may_have(twin, add) && !module_may_have(twin, subtract) && twin->live_other == 2);
  op_erase(sum);
  CHECK(!module_may_have(m, add) && module_may_have(twin, add));
  ir_module_destroy(m);
  op *x = op_body(twin->root, 0)->first, *y = x->next, *z = y->next;
  CHECK(z && !z->next && z == op_body(twin->root, 0)->last && z->parent->module == twin);
  CHECK(op_operand(x, 0) == op_result(y, 0) && op_operand(z, 0) == op_result(x, 0));
  CHECK(op_operand(z, 1) == op_result(y, 0) && op_attr(z, STR("a")) == attr_i64(c, 2));
  ir_module_destroy(twin);
}

/* More than the context keeps at hand, with the same ends and lengths. */
static void test_strings(ir_ctx *c) {
  const attr *first[200];
  for (int turn = 0; turn < 3; turn++)
    for (int i = 0; i < 200; i++) {
      char text[] = {'<', (char)('a' + i % 10), (char)('a' + i / 10), '>'};
      const attr *a = attr_string(c, (str){text, sizeof text});
      CHECK(str_eq(attr_as(string, a)->value, (str){text, sizeof text}));
      CHECK(turn ? a == first[i] : (first[i] = a, true));
    }
  CHECK(attr_string(c, STR("")) == attr_string(c, (str){0}));
  CHECK(ir_may_have_string(c, STR("<ac>")) && !ir_may_have_string(c, STR("<zz>")));
  attr_string(c, STR("<zz>"));
  CHECK(ir_may_have_string(c, STR("<zz>")));
}

static void test_kinds(ir_ctx *c) {
  CHECK(ir_may_have_type(c, TYPE_TENSOR) && !ir_may_have_type(c, TYPE_FUTURE));
  type_future(c, (types){NULL, 0});
  CHECK(ir_may_have_type(c, TYPE_FUTURE));
}

int main(void) {
  oom_trap trap;
  diag_sink sink = {0};
  ir_ctx *c = ir_ctx_create(&mem_system, &trap, &sink);
  if (setjmp(trap.at)) return 1;
  test_types(c);
  test_attrs(c);
  test_fused(c);
  test_ops(c);
  test_copy(c);
  test_strings(c);
  test_kinds(c);
  ir_ctx_destroy(c);
  return UNIT_END();
}
