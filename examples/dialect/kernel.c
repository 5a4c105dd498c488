/* A dialect with two ops that run: kern.scale multiplies f32 numbers by its attribute `factor`.
 * Where a program has one, a handler in XLA's FFI C ABI is called by the name of the op.
 * kern.double is a sum in StableHLO. */
#include "ffi/abi.h" /* the names of xla/ffi/api/c_api.h, which jaxlib ships */
#include <string.h>
#include <terrazzo/dialect.h>

/* The one attribute is there, as the verifier of the op has seen. */
static float factor_of(const XLA_FFI_Attrs *attrs) {
  float factor = 0;
  for (int64_t i = 0; i < attrs->size; i++)
    if (attrs->types[i] == XLA_FFI_AttrType_SCALAR)
      memcpy(&factor, ((const XLA_FFI_Scalar *)attrs->attrs[i])->value, sizeof factor);
  return factor;
}

static XLA_FFI_Error *scale(XLA_FFI_CallFrame *f) {
  if (f->extension_start) return NULL; /* asked for the version of the ABI: any */
  const XLA_FFI_Buffer *in = f->args.args[0], *out = f->rets.rets[0];
  const float *x = in->data, factor = factor_of(&f->attrs);
  float *y = out->data;
  int64_t n = 1;
  for (int64_t d = 0; d < in->rank; d++) n *= in->dims[d];
  for (int64_t i = 0; i < n; i++) y[i] = factor * x[i];
  return NULL;
}

static tz_error *sum_twice(void *user, tz_module *m, tz_op *o, tz_value **out_values) {
  tz_value *x = tz_op_operand(o, 0), *in[] = {x, x};
  const tz_type *t = tz_value_type(x);
  tz_builder b = {.module = m, .block = tz_op_block(o), .before = o, .loc = tz_op_loc(o)};
  tz_op *sum;
  (void)user;
  tz_error *e =
      tz_build(&b,
               &(tz_op_spec){TZ_SIZED(tz_op_spec), .name = "stablehlo.add", .operands = in,
                             .num_operands = 2, .results = &t, .num_results = 1},
               &sum);
  if (!e) *out_values = tz_op_result(sum, 0);
  return e;
}

static tz_error *add_ops(tz_context *c) {
  static const char *const in[] = {"x", NULL}, *const out[] = {"y", NULL},
                           *const attrs[] = {"factor", NULL};
  XLA_FFI_Error *(*function)(XLA_FFI_CallFrame *) = scale;
  void *handler;
  memcpy(&handler, &function, sizeof handler);
  tz_error *e = tz_register_handler("kern.scale", handler);
  if (e) return e;
  e = tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "kern.double", .operands = in,
                                     .results = out, .traits = TZ_ELEMENTWISE | TZ_SAME_TYPE,
                                     .decompose = sum_twice});
  if (e) return e;
  return tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "kern.scale", .operands = in,
                                        .results = out, .attrs = attrs,
                                        .traits = TZ_ELEMENTWISE | TZ_SAME_TYPE});
}
TZ_DIALECT(add_ops)
