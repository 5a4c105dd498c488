/* Types of the public API.
 *
 * Types are unique in their context and live as long as it: handles compare by pointer. Makers
 * refuse what the IR could not hold, since the verifier does not look inside types; readers answer
 * 0, -1 or NULL where the question does not fit the kind. */
#include "api/context.h"
#include "text/text.h"

tz_error *tz_type_parse(tz_context *c, const char *text, const tz_type **out_type) {
  if (!text || !out_type) return bad_handle();
  *out_type = NULL;
  ENTER(c);
  const text_parse_options o = {.allow_unregistered = c->allow_unregistered};
  *out_type = type_out(text_parse_type(c->ir, str_of(text), &o));
  return leave(&entry_, *out_type ? NULL : reported(c));
}

tz_error *tz_type_integer(tz_context *c, uint32_t width, tz_signedness sign,
                          const tz_type **out_type) {
  enum { MAX_WIDTH = (1 << 24) - 1 }; /* MLIR's */
  if (!out_type) return bad_handle();
  *out_type = NULL;
  ENTER(c);
  if (width > MAX_WIDTH || (unsigned)sign > TZ_UNSIGNED)
    return leave(&entry_, wrong("no integer type has width %u, signedness %d", width, (int)sign));
  *out_type = type_out(type_int(c->ir, width, (signedness)sign));
  return leave(&entry_, NULL);
}

tz_error *tz_type_complex(tz_context *c, const tz_type *element, const tz_type **out_type) {
  if (!element || !out_type) return bad_handle();
  *out_type = NULL;
  ENTER(c);
  const type *e = type_of(element);
  if (e->kind != TYPE_INT && e->kind != TYPE_FLOAT)
    return leave(&entry_, wrong("invalid element type for complex"));
  *out_type = type_out(type_complex(c->ir, e));
  return leave(&entry_, NULL);
}

/* What MLIR allows as elements, told by what it does not. */
static status check_tensor(const int64_t *dims, size_t rank, const type *e) {
  if (rank && !dims) return wrong("dimensions are NULL");
  for (size_t i = 0; i < rank; i++)
    if (dims[i] < 0 && dims[i] != TZ_DYNAMIC)
      return wrong("dimension %zu is %lld", i, (long long)dims[i]);
  bool bad = e->kind == TYPE_TENSOR || e->kind == TYPE_UNRANKED || e->kind == TYPE_FUNCTION ||
             e->kind == TYPE_TUPLE || e->kind == TYPE_MEMREF || e->kind == TYPE_TOKEN ||
             e->kind == TYPE_NONE;
  return bad ? wrong("invalid tensor element type") : NULL;
}

tz_error *tz_type_tensor(tz_context *c, const int64_t *dims, size_t rank, const tz_type *element,
                         const tz_attr *encoding, const tz_type **out_type) {
  if (!element || !out_type) return bad_handle();
  *out_type = NULL;
  ENTER(c);
  status bad = check_tensor(dims, rank, type_of(element));
  if (bad) return leave(&entry_, bad);
  *out_type =
      type_out(type_tensor(c->ir, ints_of(dims, rank), type_of(element), attr_of(encoding)));
  return leave(&entry_, NULL);
}

tz_error *tz_type_function(tz_context *c, const tz_type *const *inputs, size_t num_inputs,
                           const tz_type *const *results, size_t num_results,
                           const tz_type **out_type) {
  if (!out_type || !all_there((const void *const *)inputs, num_inputs) ||
      !all_there((const void *const *)results, num_results))
    return bad_handle();
  *out_type = NULL;
  ENTER(c);
  *out_type =
      type_out(type_function(c->ir, types_of(inputs, num_inputs), types_of(results, num_results)));
  return leave(&entry_, NULL);
}

tz_error *tz_type_tuple(tz_context *c, const tz_type *const *elements, size_t num_elements,
                        const tz_type **out_type) {
  if (!out_type || !all_there((const void *const *)elements, num_elements)) return bad_handle();
  *out_type = NULL;
  ENTER(c);
  *out_type = type_out(type_tuple(c->ir, types_of(elements, num_elements)));
  return leave(&entry_, NULL);
}

/* ---- reading ---- */

tz_type_kind tz_type_kind_of(const tz_type *t) {
  static const i8 kinds[] = {
      [TYPE_NONE] = TZ_TYPE_NONE,         [TYPE_INDEX] = TZ_TYPE_INDEX,
      [TYPE_INT] = TZ_TYPE_INTEGER,       [TYPE_FLOAT] = TZ_TYPE_FLOAT,
      [TYPE_COMPLEX] = TZ_TYPE_COMPLEX,   [TYPE_TENSOR] = TZ_TYPE_TENSOR,
      [TYPE_UNRANKED] = TZ_TYPE_UNRANKED, [TYPE_VECTOR] = TZ_TYPE_VECTOR,
      [TYPE_FUNCTION] = TZ_TYPE_FUNCTION, [TYPE_TUPLE] = TZ_TYPE_TUPLE,
      [TYPE_TOKEN] = TZ_TYPE_TOKEN,       [TYPE_OPAQUE] = TZ_TYPE_OTHER,
      [TYPE_FUTURE] = TZ_TYPE_FUTURE,     [TYPE_QUANT] = TZ_TYPE_QUANTIZED,
      [TYPE_MEMREF] = TZ_TYPE_MEMREF,
  };
  if (!t) return TZ_TYPE_INVALID;
  u8 kind = type_of(t)->kind;
  return kind < COUNT(kinds) ? (tz_type_kind)kinds[kind] : TZ_TYPE_OTHER;
}

tz_error *tz_type_print(const tz_type *t, char **out_text) {
  if (!t || !out_text) return bad_handle();
  buf b;
  buf_init(&b, &mem_system);
  text_print_type(&b, type_of(t));
  *out_text = NULL;
  return error_out(give_text(&b, out_text, NULL));
}

static bool is_kind(const tz_type *t, type_kind kind) { return t && type_of(t)->kind == kind; }
static bool has_dims(const tz_type *t) {
  return is_kind(t, TYPE_TENSOR) || is_kind(t, TYPE_VECTOR);
}

uint32_t tz_type_width(const tz_type *t) {
  return is_kind(t, TYPE_INT) || is_kind(t, TYPE_FLOAT) ? type_of(t)->width : 0;
}
tz_signedness tz_type_signedness(const tz_type *t) {
  return is_kind(t, TYPE_INT) ? (tz_signedness)type_of(t)->sign : TZ_SIGNLESS;
}
int64_t tz_type_rank(const tz_type *t) { return has_dims(t) ? (i64)type_of(t)->dims.len : -1; }
int64_t tz_type_dim(const tz_type *t, size_t i) {
  return has_dims(t) && i < type_of(t)->dims.len ? type_of(t)->dims.data[i] : -1;
}
bool tz_type_is_static(const tz_type *t) { return t && type_is_static(type_of(t)); }
int64_t tz_type_num_elements(const tz_type *t) {
  i64 n;
  return has_dims(t) && type_num_elements(type_of(t), &n) ? n : -1;
}
size_t tz_type_element_size(const tz_type *t) {
  return t ? type_storage(type_element(type_of(t))) : 0;
}
const tz_type *tz_type_element(const tz_type *t) {
  bool has = has_dims(t) || is_kind(t, TYPE_UNRANKED) || is_kind(t, TYPE_COMPLEX);
  return has ? type_out(type_of(t)->elem) : NULL;
}
const tz_attr *tz_type_encoding(const tz_type *t) {
  return is_kind(t, TYPE_TENSOR) ? attr_out(type_of(t)->encoding) : NULL;
}

/* Elements of tuples and futures are asked for as inputs are. */
static types inputs_of(const tz_type *t) {
  if (is_kind(t, TYPE_TUPLE) || is_kind(t, TYPE_FUTURE)) return type_of(t)->types;
  return is_kind(t, TYPE_FUNCTION) ? type_inputs(type_of(t)) : (types){0};
}
static types results_of(const tz_type *t) {
  return is_kind(t, TYPE_FUNCTION) ? type_results(type_of(t)) : (types){0};
}
static const tz_type *at(types l, size_t i) { return i < l.len ? type_out(l.data[i]) : NULL; }
size_t tz_type_num_inputs(const tz_type *t) { return inputs_of(t).len; }
const tz_type *tz_type_input(const tz_type *t, size_t i) { return at(inputs_of(t), i); }
size_t tz_type_num_results(const tz_type *t) { return results_of(t).len; }
const tz_type *tz_type_result(const tz_type *t, size_t i) { return at(results_of(t), i); }
