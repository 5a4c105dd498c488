/* Shapes with bounds: reading, merging, making them.
 *
 * A dimension is a size, or dynamic with a bound, or dynamic without one; the bounds are in the
 * type's encoding (#stablehlo.bounds). Inference of most ops is: take the operands' types apart
 * into `shape`s, merge or move extents, make a type again. The rules of merging are those of
 * inferMostSpecificType and inferLeastSpecificType in stablehlo/dialect/Base.cpp. */
#include "dialect/verify.h"

/* ---- shapes ---- */

shape shape_of(const type *t) {
  i64s bounds = bounds_of(t);
  shape s = {.n = t->dims.len, .bounded = bounds.len != 0, .encoding = t->encoding};
  for (size_t i = 0; i < s.n; i++) s.size[i] = t->dims.data[i];
  for (size_t i = 0; i < s.n; i++) s.bound[i] = bounds.len ? bounds.data[i] : DYNAMIC;
  return s;
}

/* The verifier has checked the ranks of what there is, but a result may have more (broadcast, say):
 * here its rank is checked before `size` overflows. */
bool shape_push(checker *k, const op *o, shape *s, i64 size, i64 bound) {
  if (s->n == DIALECT_MAX_RANK)
    return op_unimplemented(k->c, o, "a result of more than %d dimensions", DIALECT_MAX_RANK);
  s->size[s->n] = size;
  s->bound[s->n++] = bound;
  if (bound != DYNAMIC) s->bounded = true;
  return true;
}

i64 bound_at(const type *t, size_t d) {
  i64s bounds = bounds_of(t);
  return bounds.len ? bounds.data[d] : DYNAMIC;
}

/* Without bounds an encoding (sparsity, say) stays; bounds that say nothing go. */
const type *shape_type(checker *k, const shape *s, const type *elem) {
  const attr *encoding = s->bounded ? NULL : s->encoding;
  for (size_t i = 0; s->bounded && i < s->n; i++)
    if (s->bound[i] != DYNAMIC) encoding = attr_make(k->c, bounds, .bounds = {s->bound, s->n});
  return type_tensor(k->c, (i64s){s->size, s->n}, elem, encoding);
}

bool infer_push(checker *k, inferred *out, const type *t) {
  VEC_PUSH(k->scratch, *out, t);
  return true;
}

/* ---- merging ---- */

/* Both types describe the same value, so what either knows holds. X, X: X; X, ?: X; ?, ? B: ? B; ?
 * B, ? C: ? min */
static bool merge_most(checker *k, const op *o, size_t i, extent a, extent b, extent *out) {
  *out = (extent){DYNAMIC, DYNAMIC};
  if (a.size == DYNAMIC && b.size == DYNAMIC) {
    out->bound = a.bound == DYNAMIC   ? b.bound
                 : b.bound == DYNAMIC ? a.bound
                                      : min_i64(a.bound, b.bound);
    return true;
  }
  if (a.size != DYNAMIC && b.size != DYNAMIC && a.size != b.size)
    return plain_error(k, o, "Mismatched dimension sizes %lld and %lld in dimension %zu",
                       (long long)a.size, (long long)b.size, i);
  out->size = a.size != DYNAMIC ? a.size : b.size;
  i64 bound = a.bound != DYNAMIC ? a.bound : b.bound;
  if (bound == DYNAMIC || out->size <= bound) return true;
  return plain_error(k, o, "Mismatched dimension size %lld and bound %lld in dimension %zu",
                     (long long)out->size, (long long)bound, i);
}

/* The value is of one type or of the other (branches of an if), so what only one knows is lost. X,
 * X: X; X, ?: ?; X, ? B: ? max; ?, ? B: ?; ? B, ? C: ? max. Sizes that differ are an error all the
 * same: the branches' types must agree. */
static bool merge_least(checker *k, const op *o, size_t i, extent a, extent b, extent *out) {
  *out = (extent){DYNAMIC, DYNAMIC};
  if (a.size != DYNAMIC && b.size != DYNAMIC) {
    if (a.size != b.size)
      return plain_error(k, o, "Mismatched dimension sizes %lld and %lld in dimension %zu",
                         (long long)a.size, (long long)b.size, i);
    out->size = a.size;
    return true;
  }
  i64 x = a.size != DYNAMIC ? a.size : a.bound, y = b.size != DYNAMIC ? b.size : b.bound;
  if (x != DYNAMIC && y != DYNAMIC) out->bound = max_i64(x, y);
  return true;
}

bool infer_extent(checker *k, const op *o, size_t i, extent a, extent b, extent *out) {
  return merge_most(k, o, i, a, b, out);
}

static bool merge_tensors(checker *k, const op *o, const type *const *t, size_t n, bool least,
                          const type **out) {
  shape s = shape_of(t[0]);
  for (size_t i = 1; i < n; i++) {
    shape other = shape_of(t[i]);
    if (other.n != s.n)
      return plain_error(k, o, "Mismatched ranks of types%zu vs %zu", s.n, other.n);
    for (size_t d = 0; d < s.n; d++) {
      extent e, a = {s.size[d], s.bound[d]}, b = {other.size[d], other.bound[d]};
      if (!(least ? merge_least : merge_most)(k, o, d, a, b, &e)) return false;
      s.size[d] = e.size;
      s.bound[d] = e.bound;
    }
  }
  *out = shape_type(k, &s, t[0]->elem);
  return true;
}

/* One type that stands for all n, which agree: the most or the least that is known. Of unranked
 * tensors, which know least of all, one decides where the least is asked and none counts where the
 * most is. What is no tensor (a token) stands for itself. */
bool merge_types(checker *k, const op *o, const type *const *t, size_t n, bool least,
                 const type **out) {
  size_t ranked = 0;
  const type **list = ARENA_ARRAY(k->scratch, const type *, n);
  *out = t[0];
  for (size_t i = 0; i < n; i++) {
    if (t[i]->kind == TYPE_TENSOR)
      list[ranked++] = t[i];
    else if (least)
      return *out = t[i], true;
  }
  return !ranked || merge_tensors(k, o, list, ranked, least, out);
}

bool infer_same(checker *k, const op *o, inferred *out) {
  const type *t, **in = ARENA_ARRAY(k->scratch, const type *, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) in[i] = in_type(o, i);
  return merge_types(k, o, in, o->num_operands, false, &t) && infer_push(k, out, t);
}
