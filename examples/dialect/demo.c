/* A dialect in a shared object: what terrazzo/dialect.h offers, each thing once.
 *
 *   demo.constant    its own constant; import pipelines make it an sdy.constant
 *   demo.iota        constant-like: every use gets its own; counts along the first dimension, so
 * that a shard counts from where it begins demo.relu .add   elementwise: the pointwise rule comes
 * by itself demo.expand      constant-foldable, with a rule of its own demo.matmul      a rule
 * written as text demo.while       n edges with three targets each, owned by the results demo.apply
 * a custom op with edges of body arguments and edges of results demo.flipped     the same, but its
 * body sees the dimensions in reverse: transformed shardings demo.gather      a collective
 *   demo.yield       ends the regions
 *
 *   cc -shared -fPIC demo.c -o demo.so        (tz_... come from the program that loads it)
 *   terrazzo opt model.mlir --load-dialect demo.so --sdy-propagation-pipeline */
#include <stdio.h>
#include <string.h>
#include <terrazzo/dialect.h>

#define TRY(call)                                                                                  \
  do {                                                                                             \
    tz_error *try_e = (call);                                                                      \
    if (try_e) return try_e;                                                                       \
  } while (0)

/* ---- sharding rules ---- */

/* tensor<Mx1> x ... : rank r to r + 1, with a new last dimension: ([i])->([i, j]) {i=4, j=8} */
static tz_error *expand_rule(void *user, tz_context *c, tz_op *o, const tz_attr **out_rule) {
  const tz_type *t = tz_value_type(tz_op_result(o, 0));
  char text[256];
  (void)user;
  if (tz_type_rank(t) != 2) return NULL; /* no rule: shardings stop here */
  snprintf(text, sizeof text, "#sdy.op_sharding_rule<([i])->([i, j]) {i=%lld, j=%lld}>",
           (long long)tz_type_dim(t, 0), (long long)tz_type_dim(t, 1));
  return tz_attr_parse(c, text, out_rule);
}

static bool expand_verify(void *user, tz_context *c, tz_op *o) {
  const tz_type *in = tz_value_type(tz_op_operand(o, 0)), *out = tz_value_type(tz_op_result(o, 0));
  (void)user;
  if (tz_type_rank(in) != 1 || tz_type_rank(out) != 2 || tz_type_dim(in, 0) != tz_type_dim(out, 0))
    return tz_op_error(c, o, "makes tensor<MxN> of tensor<M>");
  return true;
}

static tz_error *matmul_rule(void *user, tz_context *c, tz_op *o, const tz_attr **out_rule) {
  const tz_type *a = tz_value_type(tz_op_operand(o, 0)), *b = tz_value_type(tz_op_operand(o, 1));
  char text[256];
  (void)user;
  snprintf(text, sizeof text,
           "#sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=%lld, j=%lld, k=%lld} "
           "reduction={k}>",
           (long long)tz_type_dim(a, 0), (long long)tz_type_dim(b, 1),
           (long long)tz_type_dim(a, 1));
  return tz_attr_parse(c, text, out_rule);
}

static tz_error *matmul_infer(void *user, tz_context *c, tz_op *o, const tz_type **out_types) {
  const tz_type *a = tz_value_type(tz_op_operand(o, 0)), *b = tz_value_type(tz_op_operand(o, 1));
  int64_t dims[] = {tz_type_dim(a, 0), tz_type_dim(b, 1)};
  (void)user;
  return tz_type_tensor(c, dims, 2, tz_type_element(a), NULL, out_types);
}

static bool matmul_verify(void *user, tz_context *c, tz_op *o) {
  const tz_type *a = tz_value_type(tz_op_operand(o, 0)), *b = tz_value_type(tz_op_operand(o, 1));
  (void)user;
  if (tz_type_rank(a) != 2 || tz_type_rank(b) != 2 || tz_type_dim(a, 1) != tz_type_dim(b, 0))
    return tz_op_error(c, o, "multiplies tensor<MxK> by tensor<KxN>");
  return true;
}

/* ---- shards ---- */

/* begin : tensor<i64>, as tensor<..> like the result, is added to what the shard counts. */
static tz_error *iota_make_local(void *user, tz_module *m, tz_op *o, tz_local *l,
                                 tz_value **out_value) {
  tz_value *result = tz_op_result(o, 0), *begin;
  const tz_type *t = tz_value_type(result), *scalar;
  tz_context *c = tz_module_context(m);
  tz_builder b = {.module = m, .block = tz_op_block(o), .before = tz_op_next(o)};
  tz_op *made;
  (void)user;
  TRY(tz_local_begin(l, result, 0, &begin));
  if (!begin) return NULL;
  TRY(tz_type_tensor(c, NULL, 0, tz_type_element(t), NULL, &scalar));
  TRY(tz_build(&b,
               &(tz_op_spec){TZ_SIZED(tz_op_spec), .name = "stablehlo.convert", .operands = &begin,
                             .num_operands = 1, .results = &scalar, .num_results = 1},
               &made));
  const tz_attr *no_dims;
  TRY(tz_attr_parse(c, "array<i64>", &no_dims));
  TRY(tz_build(&b,
               &(tz_op_spec){TZ_SIZED(tz_op_spec), .name = "stablehlo.broadcast_in_dim",
                             .operands = (tz_value *[]){tz_op_result(made, 0)}, .num_operands = 1,
                             .results = &t, .num_results = 1,
                             .attrs = &(tz_named_attr){"broadcast_dimensions", no_dims},
                             .num_attrs = 1},
               &made));
  TRY(tz_build(&b,
               &(tz_op_spec){TZ_SIZED(tz_op_spec), .name = "demo.add",
                             .operands = (tz_value *[]){result, tz_op_result(made, 0)},
                             .num_operands = 2, .results = &t, .num_results = 1},
               &made));
  *out_value = tz_op_result(made, 0);
  return NULL;
}

static const tz_partition_def iota_partition = {TZ_SIZED(tz_partition_def),
                                                .make_local = iota_make_local};
static const tz_partition_def matmul_partition = {TZ_SIZED(tz_partition_def), .combiner = TZ_SUM,
                                                  .linear = TZ_LINEAR_ONE};
static const tz_partition_def add_partition = {TZ_SIZED(tz_partition_def), .linear = TZ_LINEAR_ALL};

/* ---- data flow ---- */

/* y:n = while(x:n) { condition } { body }: the i-th edge joins x_i and what the body yields with
 * y_i, which owns it, and the regions' arguments. */
static tz_value *while_owner_of_target(void *user, tz_op *o, tz_value *target) {
  (void)user;
  return tz_op_result(o, tz_value_index(target));
}

static tz_value *while_owner_of_source(void *user, tz_op *o, tz_use *source) {
  (void)user;
  tz_op *at = tz_use_op(source);
  bool condition = at != o && tz_op_block(at) == tz_region_first_block(tz_op_region(o, 0));
  return condition ? NULL : tz_op_result(o, tz_use_index(source));
}

static tz_op *terminator(tz_op *o, size_t region) {
  return tz_block_last_op(tz_region_first_block(tz_op_region(o, region)));
}

static size_t while_sources(void *user, tz_op *o, tz_value *owner, tz_use **out, size_t room) {
  size_t i = tz_value_index(owner);
  (void)user;
  if (room > 0) out[0] = tz_op_operand_use(o, i);
  if (room > 1) out[1] = tz_op_operand_use(terminator(o, 1), i);
  return 2;
}

static size_t while_other_targets(void *user, tz_op *o, tz_value *owner, tz_value **out,
                                  size_t room) {
  (void)user;
  for (size_t r = 0; r < 2 && r < room; r++)
    out[r] = tz_block_arg(tz_region_first_block(tz_op_region(o, r)), tz_value_index(owner));
  return 2;
}

static bool while_verify(void *user, tz_context *c, tz_op *o) {
  size_t n = tz_op_num_operands(o);
  (void)user;
  for (size_t r = 0; r < 2; r++)
    if (tz_block_num_args(tz_region_first_block(tz_op_region(o, r))) != n)
      return tz_op_error(c, o, "passes its operands to both regions");
  if (tz_op_num_results(o) != n || tz_op_num_operands(terminator(o, 1)) != n)
    return tz_op_error(c, o, "has as many results as operands, and its body yields as many");
  return true;
}

static const tz_data_flow while_flow = {
    TZ_SIZED(tz_data_flow),
    .arg_owner_region = -1,
    .owner_of_target = while_owner_of_target,
    .owner_of_source = while_owner_of_source,
    .sources = while_sources,
    .other_targets = while_other_targets,
};

/* y:n = apply(x:m) { (a:m) ... yield r:n }: edges from x_i to a_i and from r_i to y_i. */
static tz_value *apply_owner_of_target(void *user, tz_op *o, tz_value *target) {
  (void)user, (void)o;
  return target;
}

static tz_value *apply_owner_of_source(void *user, tz_op *o, tz_use *source) {
  size_t i = tz_use_index(source);
  (void)user;
  if (tz_use_op(source) != o) return tz_op_result(o, i);
  return tz_block_arg(tz_region_first_block(tz_op_region(o, 0)), i);
}

static size_t apply_sources(void *user, tz_op *o, tz_value *owner, tz_use **out, size_t room) {
  tz_op *from = tz_value_is_arg(owner) ? o : terminator(o, 0);
  (void)user;
  if (room > 0) out[0] = tz_op_operand_use(from, tz_value_index(owner));
  return 1;
}

static bool apply_verify(void *user, tz_context *c, tz_op *o) {
  (void)user;
  if (tz_block_num_args(tz_region_first_block(tz_op_region(o, 0))) != tz_op_num_operands(o) ||
      tz_op_num_operands(terminator(o, 0)) != tz_op_num_results(o))
    return tz_op_error(c, o, "passes its operands in and what its body yields out");
  return true;
}

static const tz_data_flow apply_flow = {
    TZ_SIZED(tz_data_flow),
    .arg_owner_region = 0,
    .owner_of_target = apply_owner_of_target,
    .owner_of_source = apply_owner_of_source,
    .sources = apply_sources,
    .arg_shardings = "in_shardings",
    .result_shardings = "out_shardings",
};

/* ---- a transformed sharding: dimensions in reverse ---- */

static const tz_attr *flip(void *user, tz_context *c, tz_op *o, tz_value *owner,
                           const tz_attr *sharding, bool to_sources) {
  enum { MOST = 16 };
  tz_field f[MOST];
  const tz_attr *dims[MOST], *out;
  size_t n = tz_attr_num_fields(sharding);
  (void)user, (void)o, (void)owner, (void)to_sources; /* its own inverse */
  for (size_t i = 0; i < n && i < MOST; i++) {
    tz_attr_field(sharding, i, &f[i]);
    if (strcmp(f[i].name, "dims") != 0) continue;
    if (f[i].length > MOST) return NULL;
    for (size_t d = 0; d < f[i].length; d++) dims[d] = f[i].attrs[f[i].length - 1 - d];
    f[i].attrs = dims;
  }
  tz_error *e = tz_attr_make(c, tz_attr_kind(sharding), f, n, &out);
  tz_error_free(e);
  return e ? NULL : out;
}

static const tz_data_flow flipped_flow = {
    TZ_SIZED(tz_data_flow),
    .arg_owner_region = 0,
    .owner_of_target = apply_owner_of_target,
    .owner_of_source = apply_owner_of_source,
    .sources = apply_sources,
    .arg_shardings = "in_shardings",
    .result_shardings = "out_shardings",
    .transform = flip,
    .keep_divisible = true,
};

/* ---- the ops ---- */

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NONE ((const char *const[]){NULL})

static tz_error *add_values(tz_context *c) {
  TRY(tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "demo.constant", .operands = NONE,
                                     .results = LIST("out"), .attrs = LIST("value"),
                                     .traits = TZ_CONSTANT_LIKE,
                                     .form = "%attrs $value -> %type(out)", .constant = "value"}));
  TRY(tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "demo.iota", .operands = NONE,
                                     .results = LIST("out"), .traits = TZ_CONSTANT_LIKE,
                                     .form = "%attrs : %type(out)", .partition = &iota_partition}));
  TRY(tz_register_op(c,
                     &(tz_op_def){TZ_SIZED(tz_op_def), .name = "demo.relu", .operands = LIST("x"),
                                  .results = LIST("y"), .traits = TZ_ELEMENTWISE | TZ_SAME_TYPE,
                                  .form = " $x%attrs : %type(y)"}));
  TRY(tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "demo.add",
                                     .operands = LIST("x", "y"), .results = LIST("z"),
                                     .traits = TZ_ELEMENTWISE | TZ_SAME_TYPE | TZ_COMMUTATIVE,
                                     .form = " $x, $y%attrs : %type(z)",
                                     .partition = &add_partition}));
  TRY(tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "demo.expand",
                                     .operands = LIST("x"), .results = LIST("y"),
                                     .traits = TZ_CONSTANT_FOLDABLE, .form = " $x%attrs : %fn",
                                     .verify = expand_verify, .sharding_rule = expand_rule}));
  TRY(tz_register_op(
      c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "demo.matmul", .operands = LIST("x", "y"),
                      .results = LIST("z"), .traits = TZ_PURE, .form = " $x, $y%attrs : %fn",
                      .verify = matmul_verify, .infer = matmul_infer, .sharding_rule = matmul_rule,
                      .keep_results_divisible = true, .partition = &matmul_partition}));
  return tz_register_op(
      c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "demo.gather", .operands = LIST("x"),
                      .results = LIST("y"), .attrs = LIST("out_sharding"), .traits = TZ_SAME_TYPE,
                      .collective = &(tz_collective_def){TZ_SIZED(tz_collective_def),
                                                         .out_sharding = "out_sharding"}});
}

static tz_error *add_regions(tz_context *c) {
  TRY(tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "demo.yield",
                                     .operands = LIST("values*"), .results = NONE,
                                     .traits = TZ_TERMINATOR | TZ_PURE}));
  TRY(tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "demo.while",
                                     .operands = LIST("in*"), .results = LIST("out*"), .regions = 2,
                                     .traits = TZ_SINGLE_BLOCK | TZ_BODY_EFFECTS,
                                     .verify = while_verify, .data_flow = &while_flow}));
  TRY(tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "demo.apply",
                                     .operands = LIST("in*"), .results = LIST("out*"),
                                     .attrs = LIST("in_shardings?", "out_shardings?"), .regions = 1,
                                     .traits = TZ_SINGLE_BLOCK | TZ_BODY_EFFECTS,
                                     .verify = apply_verify, .data_flow = &apply_flow}));
  return tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "demo.flipped",
                                        .operands = LIST("in*"), .results = LIST("out*"),
                                        .attrs = LIST("in_shardings?", "out_shardings?"),
                                        .regions = 1, .traits = TZ_SINGLE_BLOCK | TZ_BODY_EFFECTS,
                                        .verify = apply_verify, .data_flow = &flipped_flow});
}

static tz_error *add_demo(tz_context *c) {
  TRY(add_values(c));
  return add_regions(c);
}
TZ_DIALECT(add_demo)
