/* What a plan must know of the program: its arguments, which of them are alike, and its mesh. */
#include "compile/compile.h"
#include "explain/plan.h"
#include "shard/sharding_ir.h"
#include "text/text.h"

typedef struct reading {
  plan_answer *p;
  ir_module *m;
  arena *a; /* the module's */
  const char *wrong;
} reading;

/* ---- which arguments are alike ---- */

/* Ops that meet no other way look the same from an argument within so many steps. More would tell
 * the first and last layers of a model from the others. */
enum { ROUNDS = 3 };

typedef struct likeness {
  u64 *values, *ops; /* by number */
  u64 *next;
  u32 num_values;
} likeness;

static u64 hash_op(const op *o, const u64 *values, u64 h) {
  bool leaves = op_has(o, TERMINATOR);
  for (u32 i = 0; i < o->num_operands && !leaves; i++)
    h = hash_u64(values[op_operand(o, i)->num], h);
  for (u32 i = 0; i < o->num_results; i++) h = hash_u64(values[op_result(o, i)->num], h);
  return h;
}

/* What an op is, apart from its operands; where it stands in the source does not count. */
static walk_result begin_op(void *user, op *o) {
  likeness *l = user;
  u64 h = hash_bytes(o->info->name.data, o->info->name.len, 0);
  for (u32 i = 0; i < o->info->num_slots; i++) h = hash_ptr(o->slots[i], h);
  l->ops[o->num] = h;
  for (u32 i = 0; i < o->num_results; i++)
    l->values[op_result(o, i)->num] = hash_ptr(op_result(o, i)->type, i);
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++)
        l->values[b->args[i]->num] = hash_ptr(b->args[i]->type, 0);
  return WALK_ON;
}

static walk_result next_op(void *user, op *o) {
  likeness *l = user;
  l->ops[o->num] = hash_op(o, l->values, l->ops[o->num]);
  return WALK_ON;
}

/* Users in any order; what a terminator does with it says little. */
static u64 hash_value(const likeness *l, const value *v) {
  u64 users = 0;
  for (const use *u = v->uses; u; u = u->next)
    if (!op_has(u->owner, TERMINATOR))
      users += hash_u64(l->ops[u->owner->num], (u64)(u - u->owner->operands));
  const op *def = value_op(v);
  return hash_u64(users, hash_u64(def ? l->ops[def->num] : 0, l->values[v->num]));
}

static walk_result next_values(void *user, op *o) {
  likeness *l = user;
  for (u32 i = 0; i < o->num_results; i++)
    l->next[op_result(o, i)->num] = hash_value(l, op_result(o, i));
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) l->next[b->args[i]->num] = hash_value(l, b->args[i]);
  return WALK_ON;
}

static likeness compare_all(reading *r) {
  u32 num_ops, num_values = module_number_all(r->m, &num_ops);
  likeness l = {ARENA_ARRAY(r->a, u64, num_values + 1), ARENA_ARRAY(r->a, u64, num_ops + 1),
                ARENA_ARRAY(r->a, u64, num_values + 1), num_values};
  r->p->num_ops = num_ops;
  op_walk(r->m->root, begin_op, &l);
  for (int round = 0; round < ROUNDS; round++) {
    op_walk(r->m->root, next_op, &l);
    op_walk(r->m->root, next_values, &l);
    u64 *old = l.values;
    l.values = l.next;
    l.next = old;
  }
  return l;
}

/* An optimizer's state and the parameter that it is for meet element by element, which takes more
 * steps than tell layers apart: what such an argument is like depends on what it meets so. */
typedef struct meeting {
  u32 *of; /* by value: another one that it meets, or itself */
} meeting;

static u32 root_of(const meeting *t, u32 v) {
  while (t->of[v] != v) v = t->of[v] = t->of[t->of[v]];
  return v;
}

static walk_result meet(void *user, op *o) {
  meeting *t = user;
  static const op_family families[] = {FAMILY_ew, FAMILY_cast, FAMILY_bcast};
  bool cheap = false;
  for (size_t i = 0; i < COUNT(families); i++) cheap |= o->info->family == families[i];
  if (op_kind(o) == OP_COUNT || !cheap || o->num_results != 1) return WALK_ON;
  const value *v = op_result(o, 0);
  for (u32 i = 0; i < o->num_operands; i++)
    if (i64s_eq(op_operand(o, i)->type->dims, v->type->dims))
      t->of[root_of(t, op_operand(o, i)->num)] = root_of(t, v->num);
  return WALK_ON;
}

static void add_meetings(reading *r, const op *main, u64 *values, u32 num_values) {
  meeting t = {ARENA_ARRAY(r->a, u32, num_values + 1)};
  u64 *sums = arena_zalloc(r->a, (num_values + 1) * sizeof *sums);
  for (u32 i = 0; i < num_values; i++) t.of[i] = i;
  op_walk(r->m->root, meet, &t);
  const block *b = op_body(main, 0);
  for (u32 i = 0; i < b->num_args; i++)
    sums[root_of(&t, b->args[i]->num)] += hash_u64(values[b->args[i]->num], 0);
  for (u32 i = 0; i < b->num_args; i++) {
    u32 v = b->args[i]->num;
    values[v] = hash_u64(sums[root_of(&t, v)], values[v]);
  }
}

/* ---- groups ---- */

static bool is_product(const op *o) {
  return op_is(o, dot_general) || op_is(o, dot) || op_is(o, convolution);
}

/* Does a product use it, or what is only another form of it? */
static bool in_product(const value *v, int depth) {
  for (const use *u = v->uses; u; u = u->next) {
    const op *o = u->owner;
    bool form = op_is(o, convert) || op_is(o, transpose) || op_is(o, reshape);
    if (is_product(o) || (form && depth && in_product(op_result(o, 0), depth - 1))) return true;
  }
  return false;
}

/* "a[1]['w2']" and "a[3]['w2']" are "a[*]['w2']". */
static str join_names(arena *a, str x, str y) {
  buf b;
  buf_init(&b, &mem_system);
  size_t i = 0, k = 0;
  while (i < x.len && k < y.len && x.data[i] == y.data[k]) {
    char c = x.data[i];
    buf_char(&b, c);
    i++, k++;
    if (c != '[') continue;
    size_t from = i, other = k;
    while (i < x.len && x.data[i] != ']') i++;
    while (k < y.len && y.data[k] != ']') k++;
    str s = {x.data + from, i - from}, t = {y.data + other, k - other};
    bool quoted = s.len && (s.data[0] == '\'' || s.data[0] == '"');
    buf_str(&b, str_eq(s, t) || quoted ? s : STR("*"));
  }
  return buf_take(&b, a);
}

static str name_of(reading *r, const block *b, u32 i) {
  const attr *loc = block_arg_loc(b, i);
  str name = loc ? loc_outer_name(loc) : (str){0};
  return name.len ? arena_str(&r->p->a, name) : arena_printf(&r->p->a, "%%arg%u", i);
}

static void add_argument(reading *r, const op *main, const u64 *values, u32 i) {
  plan_answer *p = r->p;
  const value *v = op_body(main, 0)->args[i];
  u64 kind = values[v->num];
  p->names[i] = name_of(r, op_body(main, 0), i);
  for (u32 g = 0; g < p->groups.len; g++) {
    plan_group *x = &p->groups.data[g];
    if (x->kind != kind || !str_is(x->type, text_show_type(r->a, v->type))) continue;
    x->name = join_names(&p->a, x->name, p->names[i]);
    p->group_of[i] = g;
    VEC_PUSH(&p->a, x->args, i);
    return;
  }
  plan_group g = {.name = p->names[i],
                  .type = arena_str(&p->a, str_of(text_show_type(r->a, v->type))),
                  .kind = kind,
                  .product = in_product(v, 4)};
  if (v->type->kind == TYPE_TENSOR) {
    g.ranked = true;
    g.dims.data = arena_copy(&p->a, v->type->dims.data, v->type->dims.len * sizeof(i64));
    g.dims.len = v->type->dims.len;
    g.bytes = type_num_bytes(v->type);
  }
  VEC_PUSH(&p->a, g.args, i);
  p->group_of[i] = (u32)p->groups.len;
  VEC_PUSH(&p->a, p->groups, g);
}

/* A sharding over whole axes, in the order of the mesh. */
static bool read_choice(const plan_answer *p, const attr *a, plan_choice *out) {
  const tensor_sharding_attr *s = attr_as(tensor_sharding, a);
  memset(out, PLAN_WHOLE, sizeof *out);
  for (size_t d = 0; s && d < s->dims.len; d++) {
    attrs axes = attr_as(dim_sharding, s->dims.data[d])->axes;
    size_t k = 0;
    for (size_t i = 0; i < axes.len; i++) {
      const axis_ref_attr *r = attr_as(axis_ref, axes.data[i]);
      while (k < p->own_axes.len && !str_eq(p->own_axes.data[k], r->name)) k++;
      if (r->size || k == p->own_axes.len) return false;
      out->dim[k] = (signed char)d;
    }
  }
  return true;
}

/* What the program says, if all of a group say one thing. */
static void read_said(reading *r, const op *main) {
  plan_answer *p = r->p;
  bool any = false;
  plan_choice *said = ARENA_ARRAY(&p->a, plan_choice, p->groups.len + 1), c;
  memset(said, 0, p->groups.len * sizeof *said);
  for (u32 i = 0; i < p->num_args; i++) {
    const attr *a = func_sharding(main, FUNC_ARGS, i);
    u32 g = p->group_of[i];
    any |= a != NULL;
    if (!read_choice(p, a, &c)) return;
    if (p->groups.data[g].args.data[0] == i) said[g] = c;
    if (memcmp(&said[g], &c, sizeof c) != 0) return;
  }
  if (any) p->said = said;
}

/* Results that take arguments over lie as these do: a step's new state goes in again. */
static void tie_results(reading *r, const op *main) {
  plan_answer *p = r->p;
  size_t n = func_num(main, FUNC_RESULTS);
  bool *taken = arena_zalloc(r->a, n + 1);
  for (u32 i = 0; i < p->num_args; i++) {
    i64 k;
    p->result_of[i] = UINT32_MAX;
    const attr *a = func_named(main, FUNC_ARGS, i, STR("tf.aliasing_output"));
    if (!attr_get_i64(a, &k) || k < 0 || k >= (i64)n || taken[k]) continue;
    taken[k] = true;
    p->result_of[i] = (u32)k;
  }
  for (u32 i = 0; i < p->num_args; i++) {
    bool donor = false;
    const attr *a = func_named(main, FUNC_ARGS, i, STR("jax.buffer_donor"));
    if (p->result_of[i] != UINT32_MAX || !attr_get_bool(a, &donor) || !donor) continue;
    for (u32 k = 0; k < n && p->result_of[i] == UINT32_MAX; k++)
      if (!taken[k] && func_type_of(main, FUNC_RESULTS, k) == func_type_of(main, FUNC_ARGS, i))
        taken[k] = true, p->result_of[i] = k;
  }
}

static void read_arguments(reading *r, const op *main) {
  plan_answer *p = r->p;
  p->num_args = (u32)func_num(main, FUNC_ARGS);
  p->group_of = ARENA_ARRAY(&p->a, u32, p->num_args + 1);
  p->result_of = ARENA_ARRAY(&p->a, u32, p->num_args + 1);
  p->names = ARENA_ARRAY(&p->a, str, p->num_args + 1);
  likeness l = compare_all(r);
  add_meetings(r, main, l.values, l.num_values);
  for (u32 i = 0; i < p->num_args; i++) add_argument(r, main, l.values, i);
  tie_results(r, main);
  read_said(r, main);
  plan_shrink(p, r->m, l.ops);
}

/* ---- meshes ---- */

static walk_result find_manual(void *user, op *o) {
  bool *found = user;
  *found |= op_is(o, manual_computation);
  return *found ? WALK_STOP : WALK_ON;
}

i64 plan_mesh_devices(const plan_mesh *m) {
  i64 n = 1;
  for (size_t k = 0; k < PLAN_AXES; k++)
    if (m->size[k] && !checked_mul(n, m->size[k], &n)) return -1;
  return n;
}

/* The mesh with the most devices; the others are small change. */
static void read_mesh(reading *r) {
  plan_answer *p = r->p;
  struct sdy_mesh_attrs v;
  i64 most = 1;
  for (op *o = op_body(r->m->root, 0)->first; o; o = o->next) {
    plan_mesh mesh = {{0}};
    i64 n = 1;
    if (!op_is(o, sdy_mesh) || !view_sdy_mesh(o, &v)) continue;
    for (size_t k = 0; k < v.mesh->axes.len; k++)
      n *= attr_as(mesh_axis, v.mesh->axes.data[k])->size;
    if (n <= most) continue;
    most = n;
    if (v.mesh->axes.len > PLAN_AXES) {
      r->wrong = "a mesh of more than four axes";
      return;
    }
    p->own_axes.len = 0;
    for (size_t k = 0; k < v.mesh->axes.len; k++) {
      const mesh_axis_attr *axis = attr_as(mesh_axis, v.mesh->axes.data[k]);
      mesh.size[k] = axis->size;
      VEC_PUSH(&p->a, p->own_axes, arena_str(&p->a, axis->name));
    }
    p->mesh_name = arena_str(&p->a, symbol_name(o));
    p->own_mesh = true;
    p->own_size = mesh;
  }
  op_walk(r->m->root, find_manual, &p->fixed);
}

static walk_result find_gspmd(void *user, op *o) {
  reading *r = user;
  bool old = op_discardable(o, MHLO_SHARDING) != NULL;
  for (size_t i = 0; op_is(o, func) && i < func_num(o, FUNC_ARGS); i++)
    old |= func_named(o, FUNC_ARGS, i, MHLO_SHARDING) != NULL ||
           attr_dict_get(func_named(o, FUNC_ARGS, i, FRONTEND_ATTRIBUTES), STR("xla.sdy.sharding"));
  if (old) r->wrong = "shardings that are not Shardy's";
  return old ? WALK_STOP : WALK_ON;
}

static bool look(void *user, ir_module *m) {
  reading *r = user;
  r->m = m;
  r->a = &m->arena;
  r->p->a.trap = m->arena.trap;
  const op *main = plan_entry(m);
  op_walk(m->root, find_gspmd, r);
  if (!main) r->wrong = "no function @main";
  if (!r->wrong) read_mesh(r);
  if (!r->wrong) read_arguments(r, main);
  return false;
}

/* "x=2,y=4", with "mesh=" before it or not. */
static bool given_mesh(plan_answer *p, str text) {
  plan_mesh m = {{0}};
  p->axes.len = 0;
  for (size_t at = 0; at < text.len;) {
    size_t end = at, eq;
    while (end < text.len && text.data[end] != ',') end++;
    for (eq = at; eq < end && text.data[eq] != '=';) eq++;
    i64 size = 0;
    for (size_t i = eq + 1; i < end; i++) {
      char c = text.data[i];
      if (c < '0' || c > '9' || size > 1 << 20) return false;
      size = 10 * size + (c - '0');
    }
    if (eq == at || size < 1 || size > 1 << 20 || p->axes.len == PLAN_AXES) return false;
    m.size[p->axes.len] = size;
    VEC_PUSH(&p->a, p->axes, arena_str(&p->a, (str){text.data + at, eq - at}));
    at = end + 1;
  }
  p->meshes.len = 0;
  VEC_PUSH(&p->a, p->meshes, m);
  i64 n = plan_mesh_devices(&m);
  return p->axes.len && n > 0 && n <= 1 << 20;
}

static bool has_mesh(const plan_answer *p, const plan_mesh *m) {
  for (size_t i = 0; i < p->meshes.len; i++)
    if (memcmp(&p->meshes.data[i], m, sizeof *m) == 0) return true;
  return false;
}

enum { MAX_MESHES = 100 };

/* All ways to write n as a product of the axes' sizes. Names of ours say nothing, so that axes of
 * one device come last. */
static void split(plan_answer *p, plan_mesh *m, size_t axis, i64 left) {
  if (axis + 1 == p->axes.len) {
    m->size[axis] = left;
    bool odd = has_mesh(p, m);
    for (size_t k = 1; k < p->axes.len && !p->own_mesh; k++)
      odd |= m->size[k - 1] == 1 && m->size[k] > 1;
    if (!odd && p->meshes.len < MAX_MESHES) VEC_PUSH(&p->a, p->meshes, *m);
    return;
  }
  for (i64 n = left; n >= 1; n--) {
    if (left % n) continue;
    m->size[axis] = n;
    split(p, m, axis + 1, left / n);
  }
}

static bool given_axes(plan_answer *p, str text) {
  p->axes.len = 0;
  for (size_t at = 0; at < text.len;) {
    size_t end = at;
    while (end < text.len && text.data[end] != ',') end++;
    if (end == at || p->axes.len == PLAN_AXES) return false;
    VEC_PUSH(&p->a, p->axes, arena_str(&p->a, (str){text.data + at, end - at}));
    at = end + 1;
  }
  return p->axes.len > 0;
}

static status wrong_mesh(str text) {
  return status_make(STATUS_INVALID_ARGUMENT,
                     "mesh: expected AXIS=SIZE,AXIS=SIZE..., four axes at most, found '" STR_FMT
                     "'",
                     STR_ARG(text));
}

/* The mesh that was asked for, else the program's, else all of so many devices. */
static status choose_meshes(plan_answer *p) {
  const plan_question *q = p->q;
  i64 asked = q->source->devices, own = p->own_mesh ? plan_mesh_devices(&p->own_size) : 0;
  str mesh = q->mesh;
  if (!p->own_mesh) p->mesh_name = STR("mesh");
  for (size_t k = 0; k < p->own_axes.len; k++) VEC_PUSH(&p->a, p->axes, p->own_axes.data[k]);
  str prefix = arena_printf(&p->a, STR_FMT "=", STR_ARG(p->mesh_name));
  if (str_starts(mesh, prefix)) mesh = str_from(mesh, prefix.len);
  if (mesh.len && !given_mesh(p, mesh)) return wrong_mesh(q->mesh);
  bool only = mesh.len || p->fixed || (p->own_mesh && !asked);
  if (only && !mesh.len) VEC_PUSH(&p->a, p->meshes, p->own_size);
  i64 n = only ? plan_mesh_devices(&p->meshes.data[0]) : asked;
  if (!n)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "devices: the program has no mesh; how many devices?");
  if (asked && asked != n)
    return status_make(STATUS_INVALID_ARGUMENT, "devices: the mesh has %lld devices, not %lld",
                       (long long)n, (long long)asked);
  p->devices = (u32)n;
  p->own_names = p->own_mesh && p->axes.len == p->own_axes.len;
  for (size_t k = 0; k < p->axes.len && p->own_names; k++)
    p->own_names = str_eq(p->axes.data[k], p->own_axes.data[k]);
  if (!p->own_names) p->said = NULL;
  if (mesh.len && p->own_names)
    p->overrides[0] =
        arena_printf(&p->a, STR_FMT "=" STR_FMT, STR_ARG(p->mesh_name), STR_ARG(mesh)).data;
  if (only) return NULL;
  if (!p->own_mesh && !given_axes(p, q->axes.len ? q->axes : STR("data,model")))
    return status_make(STATUS_INVALID_ARGUMENT,
                       "axes: expected four names at most, found '" STR_FMT "'", STR_ARG(q->axes));
  plan_mesh m = {{0}};
  if (own == n) VEC_PUSH(&p->a, p->meshes, p->own_size);
  split(p, &m, 0, n);
  return NULL;
}

status plan_read(plan_answer *p) {
  reading r = {.p = p};
  executable *unused;
  compile_options o = {.file = p->q->source->file, .read = look, .read_user = &r};
  status s = compile_source(p->q->source->text, &o, &unused);
  p->a.trap = p->q->source->trap;
  if (s) return s;
  if (r.wrong)
    return status_make(STATUS_INVALID_ARGUMENT, STR_FMT ": error: plan: %s",
                       STR_ARG(p->q->source->file), r.wrong);
  return choose_meshes(p);
}
