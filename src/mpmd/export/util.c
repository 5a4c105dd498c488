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

void dicts_open(ir_module *m, arena *a, op *o, str list, size_t n, value_dicts *out) {
  const array_attr *old = attr_as(array, op_attr(o, list));
  *out = (value_dicts){o, list, ARENA_ARRAY(a, const attr *, n), n};
  for (size_t i = 0; i < n; i++)
    out->dicts[i] = old && i < old->elems.len ? old->elems.data[i] : attr_dict(m->ctx, NULL, 0);
}

void dicts_put(ir_module *m, value_dicts *d, size_t i, str name, const attr *a) {
  const dict_attr *old = attr_as(dict, d->dicts[i]);
  arena *s = ir_scratch_push(m->ctx);
  VEC(named_attr) entries = {0};
  for (size_t k = 0; old && k < old->names.len; k++)
    if (!str_eq(attr_as(string, old->names.data[k])->value, name))
      VEC_PUSH(s, entries, ((named_attr){old->names.data[k], old->values.data[k]}));
  if (a) VEC_PUSH(s, entries, ((named_attr){attr_string(m->ctx, name), a}));
  d->dicts[i] = attr_dict(m->ctx, entries.data, entries.len);
  ir_scratch_pop(m->ctx);
}

/* Functions of which nothing is said have no list. */
void dicts_close(ir_module *m, const value_dicts *d) {
  bool any = !op_is(d->o, func);
  const attr *nothing = attr_dict(m->ctx, NULL, 0);
  for (size_t i = 0; i < d->n && !any; i++) any = d->dicts[i] != nothing;
  op_set_attr(m, d->o, d->list, any ? attr_array(m->ctx, (attrs){d->dicts, d->n}) : NULL);
}

const char *mpmd_show(arena *a, const attr *x) {
  return x ? text_show_attr(a, x) : "<<NULL ATTRIBUTE>>";
}
