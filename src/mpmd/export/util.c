/* What passes of export ask; util.h has it. */
#include "mpmd/export/util.h"

#include "text/text.h"

void mpmd_with_bodies(arena *a, const ir_module *m, op_list *out) {
  op_list all = {0};
  mpmd_functions(a, m, &all);
  for (size_t i = 0; i < all.len; i++)
    if (op_body(all.data[i], 0)) VEC_PUSH(a, *out, all.data[i]);
}

op *mpmd_func_return(const op *func) {
  op *o = op_terminator(op_body(func, 0));
  return o && op_is(o, func_return) ? o : NULL;
}

bool mpmd_is_cpu_mesh(str mesh) {
  str end = STR("/cpu");
  return mesh.len >= end.len && str_eq(str_from(mesh, mesh.len - end.len), end);
}

bool mpmd_all_forward(op_list list) {
  for (size_t i = 0; i < list.len; i++) {
    const array_attr *a = attr_as(array, op_attr(list.data[i], SLOT_NAME(origin)));
    for (size_t k = 0; a && k < a->elems.len; k++) {
      const user_origin_attr *u = attr_as(user_origin, a->elems.data[k]);
      if (u && u->transpose_count) return false;
    }
  }
  return true;
}

bool mpmd_on_host(const op *o, str list, size_t i) {
  str kind;
  return attr_get_str(mpmd_value_attr(o, list, i, MPMD_MEMORY_KIND), &kind) &&
         str_is(kind, MPMD_PINNED_HOST);
}

const attr *mpmd_kept(ir_module *m, const attr *list, const bool *drop, size_t n) {
  const array_attr *old = attr_as(array, list);
  if (!old || old->elems.len != n) return list;
  arena *a = ir_scratch_push(m->ctx);
  VEC(const attr *) kept = {0};
  for (size_t i = 0; i < n; i++)
    if (!drop[i]) VEC_PUSH(a, kept, old->elems.data[i]);
  const attr *out = attr_array(m->ctx, (attrs){kept.data, kept.len});
  ir_scratch_pop(m->ctx);
  return out;
}

void mpmd_need_value_attrs(ir_module *m, op *o, str list, size_t n) {
  if (op_attr(o, list)) return;
  arena *a = ir_scratch_push(m->ctx);
  const attr **dicts = ARENA_ARRAY(a, const attr *, n);
  for (size_t i = 0; i < n; i++) dicts[i] = attr_dict(m->ctx, NULL, 0);
  op_set_attr(m, o, list, attr_array(m->ctx, (attrs){dicts, n}));
  ir_scratch_pop(m->ctx);
}

const char *mpmd_show(arena *a, const attr *x) {
  return x ? text_show_attr(a, x) : "<<NULL ATTRIBUTE>>";
}
