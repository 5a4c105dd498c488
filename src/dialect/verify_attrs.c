/* The attributes of sdy that any op may have.
 *
 * MLIR calls a dialect's verifyOperationAttribute for discardable attributes with its prefix; here
 * walk.c calls check_discardable before the op's row. Names of sdy that are not in the table pass,
 * as there. */
#include "dialect/verify.h"

/* ---- shardings and rules ---- */

static bool check_op_shardings(checker *k, const op *o, const attr *a) {
  bool anywhere = o->num_results == 1 && !module_may_have(k->m, manual_computation);
  const type *only = anywhere ? out_type(o, 0) : NULL;
  if (only && pairs_have(&k->shardings, a, only)) return true;
  const sharding_per_value_attr *s = attr_as(sharding_per_value, a);
  if (!s)
    return op_error(k->c, o, "should have a sharding attribute of type TensorShardingPerValueAttr");
  const type **t = ARENA_ARRAY(k->scratch, const type *, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) t[i] = out_type(o, i);
  if (!check_shardings(k, o, s, t, o->num_results, "result")) return false;
  if (only) pairs_add(&k->shardings, k->scratch, a, only);
  return true;
}

static bool check_op_rule(checker *k, const op *o, const attr *a) {
  const op_sharding_rule_attr *r = attr_as(op_sharding_rule, a);
  if (r) return check_sharding_rule(k, o, r);
  return op_error(k->c, o,
                  "should have a sharding rule attribute of type OpShardingRuleAttr for attr named "
                  "'sdy.sharding_rule'");
}

/* ---- propagation edges ---- */

static bool is_result(const edge_value_ref_attr *r) {
  return str_is(attr_enum_name(r->type), "result");
}

static u32 num_values(const op *o, const edge_value_ref_attr *r) {
  return is_result(r) ? o->num_results : o->num_operands;
}

/* The mesh of the values that an edge joins: kept while they agree. */
typedef struct meshes {
  const mesh_attr *mesh;
  bool any, differ;
} meshes;

static void add_mesh(checker *k, const op *o, const attr *ref, meshes *m) {
  const edge_value_ref_attr *r = (const edge_value_ref_attr *)ref;
  bool known;
  if (r->index < 0 || r->index >= num_values(o, r)) return;
  size_t i = (size_t)r->index;
  const value *v = is_result(r) ? op_result(o, i) : op_operand(o, i);
  const tensor_sharding_attr *s = sharding_of_value(v, &known);
  if (!known) m->any = true; /* not decided here */
  if (!s) return;
  const mesh_attr *mine = checker_mesh(k, s->mesh);
  m->any = true;
  if (!m->mesh || !m->mesh->axes.len)
    m->mesh = mine;
  else if (mine && mine != m->mesh && mine->axes.len)
    m->differ = true;
}

static bool check_value_ref(checker *k, const op *o, const attr *ref) {
  const edge_value_ref_attr *r = (const edge_value_ref_attr *)ref;
  if (op_is(o, func_data_flow_edge)) return true; /* those of the call or the function */
  if (r->index >= 0 && r->index < num_values(o, r)) return true;
  return op_error(k->c, o, "expected a value ref to have %s index in range [0, %u), got: %lld",
                  is_result(r) ? "a result" : "an operand", num_values(o, r), (long long)r->index);
}

static bool check_edge(checker *k, const op *o, const axis_edge_attr *e, const meshes *m) {
  str name = ((const axis_ref_attr *)e->axis)->name;
  bool found = !m->mesh; /* not decided here */
  for (size_t i = 0; m->mesh && i < m->mesh->axes.len; i++)
    found = found || str_eq(((const mesh_axis_attr *)m->mesh->axes.data[i])->name, name);
  if (!found) return op_error(k->c, o, "expected axis ref to be in one of the meshes");
  if (!check_value_ref(k, o, e->source)) return false;
  for (size_t i = 0; i < e->targets.len; i++)
    if (!check_value_ref(k, o, e->targets.data[i])) return false;
  return true;
}

static bool is_of(attrs list, attr_id id) {
  for (size_t i = 0; i < list.len; i++)
    if (list.data[i]->id != id) return false;
  return true;
}

/* Text cannot say anything else; bytecode and programs can. */
static bool is_well_made(const propagation_edges_attr *p) {
  if (!is_of(p->steps, ATTR_propagation_step)) return false;
  for (size_t i = 0; i < p->steps.len; i++) {
    attrs entries = ((const propagation_step_attr *)p->steps.data[i])->entries;
    if (!is_of(entries, ATTR_axis_edge)) return false;
    for (size_t j = 0; j < entries.len; j++) {
      const axis_edge_attr *e = (const axis_edge_attr *)entries.data[j];
      if (!attr_is(axis_ref, e->axis) || !attr_is(edge_value_ref, e->source) ||
          !is_of(e->targets, ATTR_edge_value_ref))
        return false;
    }
  }
  return true;
}

/* Twice through the list: first which mesh the values are on, then whether the axes are of it. */
static bool check_op_edges(checker *k, const op *o, const attr *a) {
  const propagation_edges_attr *p = attr_as(propagation_edges, a);
  meshes m = {0};
  if (!p || !is_well_made(p))
    return op_error(k->c, o,
                    "should have a propagation edges attribute of type PropagationEdgesAttr for "
                    "attr named 'sdy.propagation_edges'");
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < p->steps.len; i++) {
      attrs entries = ((const propagation_step_attr *)p->steps.data[i])->entries;
      for (size_t j = 0; j < entries.len; j++) {
        const axis_edge_attr *e = (const axis_edge_attr *)entries.data[j];
        if (pass == 1 && !check_edge(k, o, e, &m)) return false;
        if (pass == 1) continue;
        add_mesh(k, o, e->source, &m);
        for (size_t t = 0; t < e->targets.len; t++) add_mesh(k, o, e->targets.data[t], &m);
      }
    }
    if (!m.any)
      return op_error(k->c, o, "expected propagation edges attr to reference a sharding.");
    if (m.differ) return op_error(k->c, o, "expected a common mesh for propagation edges attr.");
  }
  return true;
}

static bool check_edge_lists(checker *k, const op *o, const attr *a) {
  const array_attr *l = attr_as(array, a);
  if (l && is_of(l->elems, ATTR_propagation_edges)) return true;
  return op_error(k->c, o,
                  "should have a propagation edges attribute of type "
                  "ArrayAttr<PropagationEdgesAttr> for attr named 'sdy.result_propagation_edges' "
                  "or 'sdy.block_arg_propagation_edges'");
}

/* ---- by name ---- */

typedef bool check_fn(checker *k, const op *o, const attr *a);

static const struct {
  str name;
  check_fn *fn;
} checks[] = {
    {STR("sdy.sharding"), check_op_shardings}, /* on nearly every op */
    {STR("sdy.sharding_rule"), check_op_rule},
    {STR("sdy.block_arg_propagation_edges"), check_edge_lists},
    {STR("sdy.propagation_edges"), check_op_edges},
    {STR("sdy.result_propagation_edges"), check_edge_lists},
};

bool check_discardable(checker *k, const op *o) {
  for (u32 i = 0; i < o->num_attrs; i++) {
    str name = ((const string_attr *)o->attrs[i].name)->value;
    if (!str_starts(name, STR("sdy."))) continue;
    size_t c = 0;
    while (c < COUNT(checks) && !str_eq(name, checks[c].name)) c++;
    if (c < COUNT(checks) && !checks[c].fn(k, o, o->attrs[i].value)) return false;
  }
  return true;
}
