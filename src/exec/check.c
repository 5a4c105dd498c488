/* The functions of checks: two tensors that ought to be the same, or near each other. What they say
 * and when is as in openxla/stablehlo tests/CheckOps.cpp. Rows of calls.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "exec/check.h"

#include "exec/calls.h"
#include "num/convert.h"

/* What is compared: two tensors of one type. */
typedef struct pair {
  dtype type;
  i64s dims;
  const char *x, *y;
} pair;

static bool is_complex(dtype t) { return dtype_infos[t].kind == DTYPE_CLASS_COMPLEX; }
static dtype real_of(dtype t) {
  return t == DTYPE_c64 ? DTYPE_f32 : t == DTYPE_c128 ? DTYPE_f64 : t;
}
/* Real numbers in a tensor: of complex ones two each. */
static u64 numbers(const pair *p) {
  u64 n = is_complex(p->type) ? 2 : 1;
  for (size_t d = 0; d < p->dims.len; d++) n *= (u64)p->dims.data[d];
  return n;
}
static pair pair_of(const call_plan *p, void *const *slots) {
  return (pair){call_in_type(p, 0), p->c->in[0].dims, call_in(p, slots, 0), call_in(p, slots, 1)};
}
static bool is_float(dtype t) { return dtype_infos[t].kind == DTYPE_CLASS_FLOAT; }

static status prepare(call_plan *p, size_t num_params) {
  const prog_call *c = p->c;
  if (c->num_in != 2 || c->num_out || c->params.len != num_params ||
      call_in_type(p, 0) != call_in_type(p, 1) || !i64s_eq(c->in[0].dims, c->in[1].dims))
    return status_make(STATUS_INVALID_ARGUMENT, STR_FMT ": two tensors of one type are compared",
                       STR_ARG(c->target));
  return NULL;
}
static status prepare_eq(call_plan *p) { return prepare(p, 0); }
static status prepare_almost_eq(call_plan *p) { return prepare(p, 1); }
static status prepare_close(call_plan *p) {
  if (!is_float(real_of(call_in_type(p, 0))))
    return status_make(STATUS_INVALID_ARGUMENT, "units in the last place of '%s'",
                       dtype_infos[call_in_type(p, 0)].name);
  return prepare(p, 2);
}

/* ---- words ---- */

static void put_number(buf *b, dtype t, const char *at) {
  i64 i;
  num_convert(t, at, dtype_infos[t].kind == DTYPE_CLASS_UINT ? DTYPE_u64 : DTYPE_s64, &i);
  if (t == DTYPE_pred)
    buf_printf(b, "%s", i ? "true" : "false");
  else if (is_float(t))
    buf_printf(b, "%.*g", t == DTYPE_f64 ? 17 : 9, num_to_f64(t, at));
  else if (dtype_infos[t].kind == DTYPE_CLASS_UINT)
    buf_printf(b, "%" PRIu64, (u64)i);
  else
    buf_printf(b, "%" PRId64, i);
}

static void put_element(buf *b, dtype t, const char *at) {
  dtype r = real_of(t);
  if (is_complex(t)) buf_char(b, '[');
  put_number(b, r, at);
  if (!is_complex(t)) return;
  BUF_LIT(b, ", ");
  put_number(b, r, at + dtype_size(r));
  buf_char(b, ']');
}

static void put_index(buf *b, i64s dims, u64 at) {
  buf_char(b, '[');
  u64 inner = 1;
  for (size_t d = 0; d < dims.len; d++) inner *= (u64)dims.data[d];
  for (size_t d = 0; d < dims.len; d++) {
    inner /= (u64)dims.data[d];
    buf_printf(b, "%s%" PRIu64, d ? ", " : "", at / inner % (u64)dims.data[d]);
  }
  buf_char(b, ']');
}

/* What does not match: number `at` of those that `numbers` counts. */
static status mismatch(const pair *p, u64 at, const char *with) {
  dtype t = p->type;
  size_t size = dtype_size(t);
  u64 i = is_complex(t) ? at / 2 : at;
  buf b;
  buf_init(&b, &mem_system);
  buf_printf(&b, "Element values don't match%s: ", with);
  put_element(&b, t, p->x + i * size);
  BUF_LIT(&b, " (actual) vs ");
  put_element(&b, t, p->y + i * size);
  BUF_LIT(&b, " (expected) at index ");
  put_index(&b, p->dims, i);
  status s =
      buf_ok(&b) ? status_make(STATUS_FAILED_PRECONDITION, "%s", buf_cstr(&b)) : status_oom();
  buf_deinit(&b);
  return s;
}

/* ---- comparing ---- */

/* As numbers are: zeros are equal, NaN is not. */
static bool equal(dtype t, const char *x, const char *y) {
  if (is_float(t)) return num_to_f64(t, x) == num_to_f64(t, y);
  u64 a, b;
  num_convert(t, x, DTYPE_u64, &a);
  num_convert(t, y, DTYPE_u64, &b);
  return a == b;
}

static bool near(dtype t, const char *x, const char *y, double tolerance) {
  if (!is_float(t)) return equal(t, x, y);
  double a = num_to_f64(t, x), b = num_to_f64(t, y);
  if (a == b || (isnan(a) && isnan(b))) return true;
  return isfinite(a) && isfinite(b) && fabs(a - b) <= tolerance;
}

static u64 bits_of(dtype t, const char *at) {
  u64 bits = 0;
  memcpy(&bits, at, dtype_size(t));
  return bits;
}

/* Steps from one float to the other; the most there can be where only one of them is finite, or
 * they are different infinities. */
static u64 distance(dtype t, const char *x, const char *y) {
  u64 a = bits_of(t, x), b = bits_of(t, y);
  if (a == b) return 0;
  double f = num_to_f64(t, x), g = num_to_f64(t, y);
  if (isnan(f) && isnan(g)) return 0;
  if (!isfinite(f) || !isfinite(g)) return UINT64_MAX;
  u32 width = num_is_small_float(t) ? num_small_bits(t) : 8 * (u32)dtype_size(t);
  u64 sign = t == DTYPE_f8e8m0fnu ? 0 : 1ull << (width - 1);
  bool apart = (a ^ b) & sign;
  a &= ~sign;
  b &= ~sign;
  return apart ? a + b : a > b ? a - b : b - a;
}

status check_equal(dtype type, i64s dims, const void *actual, const void *expected) {
  pair p = {type, dims, actual, expected};
  dtype t = real_of(type);
  size_t size = dtype_size(t);
  for (u64 i = 0, n = numbers(&p); i < n; i++)
    if (!equal(t, p.x + i * size, p.y + i * size)) return mismatch(&p, i, "");
  return NULL;
}

static status expect_eq(const call_plan *plan, void *const *slots, u32 position) {
  (void)position;
  pair p = pair_of(plan, slots);
  return check_equal(p.type, p.dims, p.x, p.y);
}

static status expect_almost_eq(const call_plan *plan, void *const *slots, u32 position) {
  (void)position;
  pair p = pair_of(plan, slots);
  dtype t = real_of(p.type);
  size_t size = dtype_size(t);
  double tolerance;
  memcpy(&tolerance, &plan->c->params.data[0], sizeof tolerance);
  char with[400];
  snprintf(with, sizeof with, " with tolerance %f", tolerance);
  for (u64 i = 0, n = numbers(&p); i < n; i++)
    if (!near(t, p.x + i * size, p.y + i * size, tolerance)) return mismatch(&p, i, with);
  return NULL;
}

/* Of a complex number the part that is further off counts. */
static status expect_close(const call_plan *plan, void *const *slots, u32 position) {
  (void)position;
  pair p = pair_of(plan, slots);
  dtype t = real_of(p.type);
  size_t size = dtype_size(t);
  u64 least = (u64)plan->c->params.data[0], most = (u64)plan->c->params.data[1];
  u32 parts = is_complex(p.type) ? 2 : 1;
  for (u64 i = 0, n = numbers(&p); i < n; i += parts) {
    size_t re = i * size, im = (i + parts - 1) * size; /* one and the same of a real number */
    u64 off = distance(t, p.x + re, p.y + re), other = distance(t, p.x + im, p.y + im);
    if (other > off) off = other;
    if (off >= least && off <= most) continue;
    char with[128];
    snprintf(with, sizeof with,
             " with respect to maximal ULP difference=%" PRIu64 " limit, being %" PRIu64 " off",
             most, off);
    return mismatch(&p, i, with);
  }
  return NULL;
}

const call_row call_expect_eq = {"check.expect_eq", "fails unless two tensors are equal",
                                 prepare_eq, NULL, expect_eq};
const call_row call_expect_almost_eq = {
    "check.expect_almost_eq", "fails unless two tensors differ by params[0], an f64, at most",
    prepare_almost_eq, NULL, expect_almost_eq};
const call_row call_expect_close = {
    "check.expect_close",
    "fails unless two tensors are params[0] to params[1] units in the last place apart",
    prepare_close, NULL, expect_close};
