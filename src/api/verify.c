#include "api/verify.h"

#include <math.h>

#include "api/api.h"
#include "api/images.h"
#include "api/verify_look.h"
#include "num/convert.h"

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
  s.change = look_at_source;
  s.plant = look_at_pieces;
  s.user = l;
  if (l->reference && !l->manual) {
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

static status run_one(tz_runtime *on, ran *r, const arrays *in) {
  RETURN_IF_ERROR(make_arrays(&r->program, true, &r->out));
  return (status)(const void *)tz_run(on, &r->program, (const void *const *)in->data, r->out.data);
}

enum { NOISE_FACTOR = 32 };

/* ---- all of it ---- */

typedef struct verifying {
  tz_runtime *on;
  const explain_source *s;
  const verify_question *q;
  looking l;
  place_list pieces;      /* of the latest sharded run, in its log */
  arrays in, near, noise; /* near: the inputs, a few units in the last place off */
  ran sharded, whole;
  found_ops found;
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
  free_arrays(&v->noise);
  v->l.first = first;
  v->l.count = count;
  v->l.reference = false;
  RETURN_IF_ERROR(compile_one(&v->l, &v->sharded));
  v->pieces = v->l.pieces;
  if (!v->in.data) RETURN_IF_ERROR(make_inputs(v));
  v->l.reference = true;
  RETURN_IF_ERROR(compile_one(&v->l, &v->whole));
  RETURN_IF_ERROR(run_one(v->on, &v->sharded, &v->in));
  return run_one(v->on, &v->whole, &v->in);
}

/* 0 where it is rounding. What inputs that are a little different change in result k of the whole
 * program is not held against it, where that is known. */
static double beyond_rounding(const verifying *v, double error, u32 k) {
  const ran *r = &v->whole;
  dtype t = r->program.exe->results[k].type;
  double limit = v->q->tolerance > 0 ? v->q->tolerance : array_tolerance(t);
  if (error > limit && v->noise.data)
    limit = fmax(limit, NOISE_FACTOR * array_error(t, v->noise.data[k], r->out.data[k],
                                                   api_result(&r->program, k).bytes));
  return error > limit ? error : 0;
}

/* The first of the program's results that differs; n: none. */
static u32 first_result(const verifying *v, u32 n, double *error) {
  for (u32 i = 0; i < n; i++) {
    tz_tensor t = api_result(&v->whole.program, i);
    *error = array_error(v->whole.program.exe->results[i].type, v->sharded.out.data[i],
                         v->whole.out.data[i], t.bytes);
    if ((*error = beyond_rounding(v, *error, i)) > 0) return i;
  }
  return n;
}

/* Pieces of the sharded run against a value of the whole one, or pieces that it has as well. -1:
 * they are nothing to each other. */
static double pieces_error(const verifying *v, u32 i, u32 k, bool pieces, bool *parts) {
  const compile_tensor *x = &v->sharded.program.exe->results[i];
  const compile_tensor *y = &v->whole.program.exe->results[k];
  compared_pieces p = {.mesh = first_mesh(&v->sharded.run.log),
                       .type = y->type,
                       .local = {x->local_dims.data + 1, x->local_dims.len - 1},
                       .whole = y->global_dims,
                       .num = x->global_dims.data[0],
                       .pieces = v->sharded.out.data[i],
                       .of = v->whole.out.data[k],
                       .bytes = api_result(&v->whole.program, k).bytes};
  *parts = false;
  if (x->type != y->type || !dtype_size(x->type)) return -1;
  if (pieces)
    return i64s_eq(x->global_dims, y->global_dims)
               ? beyond_rounding(v, array_error(p.type, p.pieces, p.of, p.bytes), k)
               : -1;
  double error = compare_pieces(&p, false);
  if (error > 0) error = beyond_rounding(v, error, k);
  if (error > 0) *parts = beyond_rounding(v, compare_pieces(&p, true), k) == 0;
  return error;
}

/* Of a function that is called several times nobody knows which pieces are of which call. */
static bool is_repeated(place_list l, why_place at) {
  u32 n = 0;
  for (u32 i = 0; i < l.len; i++) n += l.data[i].op == at.op && l.data[i].index == at.index;
  return n > 1;
}

/* A value is right if all of what are its pieces are, wherever they lie; if one is where others are
 * of something else. */
static void compare_place(verifying *v, why_place at, u32 k, bool pieces, u32 *compared) {
  found_op *op = &v->found.ops[at.op], here = {.is = OP_RIGHT, .index = at.index};
  u32 first = v->sharded.out.n - (u32)v->pieces.len, wrong = 0, right = 0;
  bool repeated = is_repeated(pieces ? v->l.pieces : v->l.values, at);
  for (u32 i = 0; i < v->pieces.len; i++) {
    why_place x = v->pieces.data[i];
    bool parts;
    if (x.op != at.op || (x.at && x.index != at.index)) continue;
    double e = pieces_error(v, first + i, k, pieces, &parts);
    right += e == 0;
    if (!x.at || e <= 0) continue;
    wrong++;
    here.error = fmax(here.error, e);
    if (here.is != OP_WRONG) here.is = parts ? OP_PARTS : OP_WRONG;
  }
  *compared += right || wrong;
  if (right && (repeated || !wrong)) here = (found_op){.is = OP_RIGHT};
  if ((right || wrong) && here.is > op->is) *op = here;
}

/* What the latest runs looked at. */
static void compare_values(verifying *v, u32 n, u32 *compared) {
  u32 num = (u32)v->l.values.len;
  for (u32 k = 0; k < num; k++) compare_place(v, v->l.values.data[k], n + k, false, compared);
  for (u32 k = 0; k < v->l.pieces.len; k++)
    compare_place(v, v->l.pieces.data[k], n + num + k, true, compared);
}

static status look_at_all(verifying *v, u32 num_results, u32 *compared) {
  u32 step = v->q->at_once ? v->q->at_once : 128;
  for (u32 at = 0; !at || at < v->found.num; at += step) {
    RETURN_IF_ERROR(run_both(v, at, step));
    if (!at) RETURN_IF_ERROR(found_begin(&v->found, &v->sharded.run.log));
    RETURN_IF_ERROR(run_near(v));
    compare_values(v, num_results, compared);
  }
  return NULL;
}

static status verify(verifying *v, verify_answer *out) {
  RETURN_IF_ERROR(run_both(v, 0, 0));
  u32 n = v->sharded.out.n, i = first_result(v, n, &out->error);
  if (i < n) RETURN_IF_ERROR(run_near(v));
  if (i < n) i = first_result(v, n, &out->error);
  out->same = i == n;
  out->result = i;
  if (out->same) return NULL;
  RETURN_IF_ERROR(look_at_all(v, n, &out->values));
  u32 op = found_first(&v->found, &v->sharded.run.log, i);
  out->found = op != 0;
  out->at = (why_place){op ? WHY_RESULT : WHY_NOWHERE, op, v->found.ops[op].index};
  out->error_there = v->found.ops[op].error;
  return NULL;
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
  found_end(&v.found);
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
