#include "api/verify.h"

#include <math.h>

#include "api/api.h"
#include "api/images.h"
#include "base/index.h"
#include "mesh/describe.h"
#include "num/convert.h"
#include "shard/sharding_ir.h"

/* ---- what is looked at ---- */

typedef VEC(why_place) place_list;

/* Of the ops of @main, counted as they stand, those from `first` on; 0: only its results. */
typedef struct looking {
  const explain_source *s;
  const char **meshes; /* each with one device; of the source's */
  bool reference;
  u32 first, count;
  u32 num_seen;      /* ops there are */
  place_list places; /* in the log of the latest run */
  bool manual;
} looking;

/* What a call does, in its place. false: not to be opened. */
static bool open_call(why_log *w, ir_module *m, op *o) {
  struct call_attrs c;
  op *f = view_call(o, &c) ? symbol_find(m->root, c.callee) : NULL;
  block *b = f && op_is(f, func) ? op_body(f, 0) : NULL;
  if (!b || b->next || b->num_args != o->num_operands) return false;
  ir_map *map = ir_map_create(&w->a);
  for (u32 i = 0; i < b->num_args; i++) ir_map_set(map, b->args[i], op_operand(o, i));
  for (op *x = b->first; x != b->last; x = x->next) op_insert(op_clone(m, x, map), o->parent, o);
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_operand(b->last, i), *to = ir_map_get(map, v);
    value_replace(op_result(o, i), to ? to : v);
  }
  op_erase(o);
  return true;
}

static void open_calls(why_log *w, ir_module *m, block *b) {
  for (op *o = b->first; o;) {
    op *before = o->prev, *after = o->next;
    bool opened = op_is(o, call) && open_call(w, m, o);
    o = !opened ? after : before ? before->next : b->first;
  }
}

static bool is_seen(const op *o) {
  if (op_has(o, CONSTANT) || !o->num_results || op_kind(o) >= OP_COUNT) return false;
  for (u32 i = 0; i < o->num_results; i++) {
    const type *t = op_result(o, i)->type;
    if (!type_is_ranked(t) || !type_is_static(t) || t->elem->kind == TYPE_QUANT) return false;
  }
  return true;
}

static void add_result(looking *l, why_log *w, ir_module *m, op *end, op *o, u32 i) {
  const why_tag *t = index_get(&w->tags, o->loc);
  VEC_PUSH(&w->a, l->places, ((why_place){WHY_RESULT, t ? t->op : 0, i}));
  op_append_operand(m, end, op_result(o, i));
}

/* The function's type and attributes as what it returns has become. */
static void fit_signature(ir_module *m, op *f, const op *end) {
  u32 n = end->num_operands, old = (u32)func_num(f, FUNC_RESULTS);
  const type **out = ARENA_ARRAY(&m->arena, const type *, n + 1);
  const attr **dicts = ARENA_ARRAY(&m->arena, const attr *, n + 1);
  const array_attr *had = attr_as(array, op_attr(f, SLOT_NAME(res_attrs)));
  struct func_attrs v;
  view_func(f, &v);
  for (u32 i = 0; i < n; i++) {
    out[i] = op_operand(end, i)->type;
    dicts[i] = had && i < old ? had->elems.data[i] : attr_dict(m->ctx, NULL, 0);
  }
  const type *t = type_function(m->ctx, type_inputs(v.function_type), (types){out, n});
  op_set(f, func, function_type, attr_type(m->ctx, t));
  if (had) op_set(f, func, res_attrs, attr_array(m->ctx, (attrs){dicts, n}));
}

static walk_result find_manual(void *user, op *o) {
  looking *l = user;
  l->manual |= op_is(o, manual_computation);
  return l->manual ? WALK_STOP : WALK_ON;
}

/* "mesh=x=1,y=1" */
static void note_meshes(looking *l, why_log *w, ir_module *m) {
  VEC(const char *) list = {0};
  FOR_OPS(o, op_body(m->root, 0)) {
    struct sdy_mesh_attrs v;
    if (!op_is(o, sdy_mesh) || !view_sdy_mesh(o, &v) || !v.mesh->axes.len) continue;
    str text = arena_printf(&w->a, STR_FMT "=", STR_ARG(symbol_name(o)));
    for (size_t i = 0; i < v.mesh->axes.len; i++)
      text = arena_printf(&w->a, STR_FMT "%s" STR_FMT "=1", STR_ARG(text), i ? "," : "",
                          STR_ARG(attr_as(mesh_axis, v.mesh->axes.data[i])->name));
    VEC_PUSH(&w->a, list, text.data);
  }
  VEC_PUSH(&w->a, list, NULL);
  l->meshes = list.data;
}

static bool look(void *user, why_log *w, ir_module *m) {
  looking *l = user;
  op *f = symbol_find(m->root, STR("main"));
  block *b = f ? op_body(f, 0) : NULL;
  l->places = (place_list){0};
  l->num_seen = 0;
  op_walk(m->root, find_manual, l);
  if (!l->reference) note_meshes(l, w, m);
  if (!b || b->next || !l->count) return true;
  open_calls(w, m, b);
  op *end = op_terminator(b);
  for (op *o = b->first; o != end; o = o->next) {
    if (!is_seen(o)) continue;
    if (l->num_seen >= l->first && l->num_seen - l->first < l->count)
      for (u32 i = 0; i < o->num_results; i++) add_result(l, w, m, end, o, i);
    l->num_seen++;
  }
  fit_signature(m, f, end);
  return true;
}

static bool plant(void *user, const why_log *w, ir_module *m) {
  looking *l = user;
  return l->reference || !l->s->plant || l->s->plant(l->s->user, w, m);
}

/* ---- one run ---- */

typedef struct arrays {
  void **data;
  u32 n;
} arrays;

static void free_arrays(arrays *a) {
  for (u32 i = 0; a->data && i < a->n; i++) mem_free(&mem_system, a->data[i], 0);
  mem_free(&mem_system, a->data, 0);
  *a = (arrays){0};
}

static status make_arrays(const tz_program *p, bool results, arrays *out) {
  u32 n = results ? tz_program_num_results(p) : tz_program_num_params(p);
  *out = (arrays){mem_zalloc(&mem_system, (n + 1) * sizeof(void *)), n};
  for (u32 i = 0; out->data && i < n; i++) {
    tz_tensor t = results ? api_result(p, i) : api_param(p, i);
    out->data[i] = mem_zalloc(&mem_system, t.bytes + 1);
    if (!out->data[i]) return status_oom();
  }
  return out->data ? NULL : status_oom();
}

static u64 next_random(u64 *state) {
  u64 z = (*state += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

/* Floats from -1 to 1, small integers that do as indices, truth values. */
static void fill(const compile_tensor *t, void *data, size_t bytes, u64 *state) {
  dtype part = t->type == DTYPE_c64 ? DTYPE_f32 : t->type == DTYPE_c128 ? DTYPE_f64 : t->type;
  size_t size = dtype_size(part);
  bool whole = dtype_infos[part].kind != DTYPE_CLASS_FLOAT;
  for (size_t i = 0; size && i + size <= bytes; i += size) {
    u64 r = next_random(state);
    double x = whole ? (double)(r % (part == DTYPE_pred ? 2 : 4)) : (double)(r >> 11) * 0x1p-52 - 1;
    num_from_f64(part, x, (char *)data + i);
  }
}

/* Floats become one of their neighbours, or stay. */
static void shake(dtype type, void *data, size_t bytes, u64 *state) {
  size_t size = type == DTYPE_f64 ? 8 : type == DTYPE_f32 ? 4 : type == DTYPE_bf16 ? 2 : 0;
  for (size_t i = 0; size && i + size <= bytes; i += size) {
    u8 *low = (u8 *)data + i; /* little-endian: the last place first */
    *low ^= (u8)(next_random(state) & 1);
  }
}

typedef struct ran {
  explain_run run;
  tz_program program;
  arrays out;
} ran;

static void end_run(ran *r) {
  free_arrays(&r->out);
  r->run.exe = NULL; /* the program's */
  explain_end(&r->run);
  if (!r->program.exe) return;
  images_deinit(&r->program.images);
  executable_release(r->program.exe);
  r->program.exe = NULL;
}

static status compile_one(looking *l, ran *r) {
  explain_source s = *l->s;
  s.change = look;
  s.plant = plant;
  s.user = l;
  if (l->reference) {
    s.devices = 1;
    s.meshes = l->meshes;
  }
  status bad = explain_line(&s, NULL, 0, true, &r->run);
  r->run.source = l->s;
  if (bad) return bad;
  r->program.exe = r->run.exe;
  images_init(&r->program.images);
  return NULL;
}

static status run_one(tz_runtime *on, looking *l, ran *r, const arrays *in) {
  RETURN_IF_ERROR(make_arrays(&r->program, true, &r->out));
  (void)l;
  return (status)(const void *)tz_run(on, &r->program, (const void *const *)in->data, r->out.data);
}

/* ---- comparing ---- */

static double tolerance_of(dtype t) {
  const dtype_info *i = &dtype_infos[t];
  if (i->kind != DTYPE_CLASS_FLOAT && i->kind != DTYPE_CLASS_COMPLEX) return 0;
  if (t == DTYPE_f64 || t == DTYPE_c128) return 1e-9;
  return t == DTYPE_f32 || t == DTYPE_c64 ? 1e-3 : 6e-2;
}

/* The largest difference, as a part of the largest magnitude. */
static double difference(dtype t, const void *x, const void *y, size_t bytes) {
  dtype part = t == DTYPE_c64 ? DTYPE_f32 : t == DTYPE_c128 ? DTYPE_f64 : t;
  size_t size = dtype_size(part);
  double most = 0, scale = 0;
  if (memcmp(x, y, bytes) == 0) return 0;
  if (dtype_infos[part].kind != DTYPE_CLASS_FLOAT) return INFINITY;
  for (size_t i = 0; i + size <= bytes; i += size) {
    double a = num_to_f64(part, (const char *)x + i), b = num_to_f64(part, (const char *)y + i);
    if (a == b || (isnan(a) && isnan(b))) continue;
    if (!isfinite(a) || !isfinite(b)) return INFINITY;
    most = fmax(most, fabs(a - b));
  }
  for (size_t i = 0; i + size <= bytes; i += size) {
    double b = num_to_f64(part, (const char *)y + i);
    if (isfinite(b)) scale = fmax(scale, fabs(b));
  }
  return most > 0 ? most / fmax(scale, 1e-6) : 0;
}

enum { NOISE_FACTOR = 32 };

/* The first of the results from `begin` on that differs; n: none. What inputs that are a little
 * different change is not held against it: noise has these results of the whole program, or none.
 */
static u32 first_difference(const ran *x, const ran *y, const arrays *noise,
                            const verify_question *q, u32 begin, double *error) {
  for (u32 i = begin; i < x->out.n; i++) {
    tz_tensor t = api_result(&x->program, i);
    dtype type = x->program.exe->results[i].type;
    double limit = q->tolerance > 0 ? q->tolerance : tolerance_of(type);
    *error = difference(type, x->out.data[i], y->out.data[i], t.bytes);
    if (*error > limit && noise->data)
      limit = fmax(limit, NOISE_FACTOR * difference(type, noise->data[i], y->out.data[i], t.bytes));
    if (*error > limit) return i;
  }
  return x->out.n;
}

/* ---- all of it ---- */

typedef struct verifying {
  tz_runtime *on;
  const explain_source *s;
  const verify_question *q;
  looking l;
  arrays in, near, noise; /* near: the inputs, a few units in the last place off */
  ran sharded, whole;
} verifying;

static status make_inputs(verifying *v) {
  u64 state = v->q->seed;
  RETURN_IF_ERROR(make_arrays(&v->sharded.program, false, &v->in));
  for (u32 i = 0; i < v->in.n; i++) {
    tz_tensor t = api_param(&v->sharded.program, i);
    if (v->q->inputs)
      memcpy(v->in.data[i], v->q->inputs[i], t.bytes);
    else
      fill(&v->sharded.program.exe->params[i], v->in.data[i], t.bytes, &state);
  }
  return NULL;
}

/* What the whole program makes of inputs that are a little different. */
static status run_near(verifying *v) {
  free_arrays(&v->near);
  free_arrays(&v->noise);
  u64 state = v->q->seed + 1;
  RETURN_IF_ERROR(make_arrays(&v->whole.program, false, &v->near));
  RETURN_IF_ERROR(make_arrays(&v->whole.program, true, &v->noise));
  for (u32 i = 0; i < v->in.n; i++) {
    tz_tensor t = api_param(&v->whole.program, i);
    memcpy(v->near.data[i], v->in.data[i], t.bytes);
    shake(v->whole.program.exe->params[i].type, v->near.data[i], t.bytes, &state);
  }
  return (status)(const void *)tz_run(v->on, &v->whole.program, (const void *const *)v->near.data,
                                      v->noise.data);
}

/* Both, looking at ops [first, first + count). */
static status run_both(verifying *v, u32 first, u32 count) {
  end_run(&v->sharded);
  end_run(&v->whole);
  v->l.first = first;
  v->l.count = count;
  v->l.reference = false;
  RETURN_IF_ERROR(compile_one(&v->l, &v->sharded));
  if (v->l.manual)
    return status_make(STATUS_UNIMPLEMENTED,
                       STR_FMT ": manual computations are written for the sizes of their mesh",
                       STR_ARG(v->s->file));
  if (!v->in.data) RETURN_IF_ERROR(make_inputs(v));
  v->l.reference = true;
  RETURN_IF_ERROR(compile_one(&v->l, &v->whole));
  RETURN_IF_ERROR(run_one(v->on, &v->l, &v->sharded, &v->in));
  return run_one(v->on, &v->l, &v->whole, &v->in);
}

static status find_op(verifying *v, u32 num_results, verify_answer *out) {
  u32 step = v->q->at_once ? v->q->at_once : 128, total = step;
  for (u32 at = 0; at < total; at += step) {
    RETURN_IF_ERROR(run_both(v, at, step));
    total = v->l.num_seen;
    RETURN_IF_ERROR(run_near(v));
    u32 i =
        first_difference(&v->sharded, &v->whole, &v->noise, v->q, num_results, &out->error_there);
    out->values += i - num_results;
    if (i == v->sharded.out.n) continue;
    out->found = true;
    out->at = v->l.places.data[i - num_results];
    return NULL;
  }
  return NULL;
}

static status verify(verifying *v, verify_answer *out) {
  RETURN_IF_ERROR(run_both(v, 0, 0));
  u32 n = v->sharded.out.n, i;
  i = first_difference(&v->sharded, &v->whole, &v->noise, v->q, 0, &out->error);
  if (i < n) RETURN_IF_ERROR(run_near(v));
  if (i < n) i = first_difference(&v->sharded, &v->whole, &v->noise, v->q, 0, &out->error);
  out->same = i == n;
  out->result = i;
  return out->same ? NULL : find_op(v, n, out);
}

status verify_program(tz_runtime *r, const explain_source *s, const verify_question *q,
                      verify_answer *out, explain_run *out_run) {
  verifying v = {.on = r, .s = s, .q = q, .l = {.s = s}};
  *out = (verify_answer){0};
  why_init(&v.sharded.run.log, &mem_system);
  why_init(&v.whole.run.log, &mem_system);
  status bad = verify(&v, out);
  free_arrays(&v.in);
  free_arrays(&v.near);
  free_arrays(&v.noise);
  end_run(&v.whole);
  *out_run = v.sharded.run;
  out_run->exe = NULL;
  v.sharded.run = (explain_run){0};
  why_init(&v.sharded.run.log, &mem_system);
  end_run(&v.sharded);
  return bad;
}

/* ---- printing ---- */

static void print_json(const explain_run *r, const verify_answer *a, buf *out) {
  buf_printf(out, "{\"same\": %s", a->same ? "true" : "false");
  if (!a->same) {
    buf_printf(out, ", \"result\": %u, \"error\": %.6g, \"values\": %u, \"at\": ", a->result,
               isfinite(a->error) ? a->error : -1, a->values);
    explain_json_place(out, &r->log, a->at);
  }
  BUF_LIT(out, "}\n");
}

static void put_error(buf *b, double e) {
  if (isfinite(e))
    buf_printf(b, "by %.3g of its largest magnitude", e);
  else
    BUF_LIT(b, "in whole numbers, truth values or NaNs");
}

void verify_print(const explain_run *r, const verify_answer *a, bool json, buf *out) {
  if (json) {
    print_json(r, a, out);
    return;
  }
  if (a->same) {
    BUF_LIT(out, "the sharded program computes what the whole one does\n");
    return;
  }
  buf_printf(out, "result %u differs ", a->result);
  put_error(out, a->error);
  if (!a->found) {
    buf_printf(out, "; none of %u values before it does\n", a->values);
    return;
  }
  BUF_LIT(out, "\nthe first value that does is ");
  explain_put_place(out, &r->log, a->at);
  BUF_LIT(out, ", ");
  put_error(out, a->error_there);
  BUF_LIT(out, "\n");
}
