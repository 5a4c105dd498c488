/* A program as readable text, and counts over it. */
#include <inttypes.h>

#include "program/parts.h"

static const char *const step_names[STEP_COUNT_] = {
#define STEP(name, ...) [STEP_##name] = #name,
    PROG_STEPS(STEP)
#undef STEP
};
static const char *const step_docs[STEP_COUNT_] = {
#define STEP(name, type, goes, doc) [STEP_##name] = (doc),
    PROG_STEPS(STEP)
#undef STEP
};
const char *prog_step_kind_name(prog_step_kind kind) {
  return kind < STEP_COUNT_ ? step_names[kind] : "?";
}
const char *prog_step_kind_doc(prog_step_kind kind) {
  return kind < STEP_COUNT_ ? step_docs[kind] : "?";
}

const char *prog_collective_name(prog_collective_kind kind) {
  static const char *const names[COLL_COUNT_] = {
#define COLL(id, name, ...) [COLL_##id] = (name),
      PROG_COLLECTIVES(COLL)
#undef COLL
  };
  return kind < COLL_COUNT_ ? names[kind] : "?";
}
static const char *reducer_name(prog_reducer kind) {
  static const char *const names[REDUCE_COUNT_] = {[REDUCE_CODE] = "code",
#define REDUCER(id, op, name) [REDUCE_##id] = (name),
                                                   PROG_REDUCERS(REDUCER)
#undef REDUCER
  };
  return kind < REDUCE_COUNT_ ? names[kind] : "?";
}

static void dump_ints(buf *out, const i64 *v, size_t n) {
  buf_char(out, '[');
  for (size_t i = 0; i < n; i++) buf_printf(out, "%s%" PRId64, i ? "," : "", v[i]);
  buf_char(out, ']');
}
static void dump_view(buf *out, u32 slot, i64 offset, const i64 *stride, u32 rank) {
  buf_printf(out, " %%%u", slot);
  if (offset) buf_printf(out, "+%" PRId64, offset);
  dump_ints(out, stride, rank);
}
static void dump_access(buf *out, const prog_access *a, u32 rank) {
  dump_view(out, a->slot, a->offset, a->stride, rank);
}

static void dump_const(buf *out, dtype t, vm_const v) {
  float f;
  double d;
  memcpy(&f, &v.lo, 4);
  memcpy(&d, &v.lo, 8);
  if (t == DTYPE_f32)
    buf_printf(out, "%g", (double)f);
  else if (t == DTYPE_f64)
    buf_printf(out, "%g", d);
  else
    buf_printf(out, "0x%" PRIx64, v.lo);
}

static void dump_code(buf *out, const vm_code *c) {
  BUF_LIT(out, " {");
  for (u32 i = 0; i < c->len; i++) {
    const vm_instr *v = &c->instrs[i];
    u32 args[] = {v->a, v->b, v->c};
    if (v->op == VM_store) {
      buf_printf(out, " out%u=v%u;", v->b, v->a);
      continue;
    }
    buf_printf(out, " v%u:%s=%s", i, dtype_infos[v->type].name, vm_op_name(v->op));
    if (v->op == VM_constant) {
      buf_char(out, ' ');
      dump_const(out, v->type, c->consts[v->a]);
    } else if (vm_op_infos[v->op].operands == 0) {
      buf_printf(out, " %u", v->a);
    }
    for (u32 k = 0; k < vm_op_infos[v->op].operands; k++) buf_printf(out, " v%u", args[k]);
    buf_char(out, ';');
  }
  BUF_LIT(out, " }");
}
static void dump_body(buf *out, const prog_body *b) {
  buf_printf(out, " %s", reducer_name(b->kind));
  if (b->kind == REDUCE_CODE) dump_code(out, &b->code);
}

static void dump_loop(buf *out, const prog_loop *l) {
  dump_ints(out, l->dims, l->rank);
  BUF_LIT(out, " in");
  for (u32 i = 0; i < l->num_in; i++) dump_access(out, &l->in[i], l->rank);
  BUF_LIT(out, " out");
  for (u32 i = 0; i < l->num_out; i++) dump_access(out, &l->out[i], l->rank);
  dump_code(out, &l->code);
  if (!l->reduced) return;
  buf_printf(out, " reduce last %u init", l->reduced);
  for (u32 i = 0; i < l->num_out; i++) buf_printf(out, " %%%u", l->init[i]);
  dump_body(out, &l->body);
}
static void dump_dot(buf *out, const prog_dot *d) {
  u32 n = d->nb + d->nm + d->nn + d->nk;
  buf_printf(out, "b%u m%u n%u k%u ", d->nb, d->nm, d->nn, d->nk);
  dump_ints(out, d->dims, n);
  dump_view(out, d->lhs, d->lhs_offset, d->lhs_stride, n);
  dump_view(out, d->rhs, d->rhs_offset, d->rhs_stride, n);
  if (d->by_tiles) buf_printf(out, " tiles %%%u", d->taps);
  if (d->parts) buf_str(out, STR(" parts"));
  buf_str(out, STR(" ->"));
  dump_view(out, d->out, d->out_offset, d->out_stride, n);
}
static void dump_copy(buf *out, const prog_copy *c) {
  dump_ints(out, c->dims, c->rank);
  dump_access(out, &c->src, c->rank);
  BUF_LIT(out, " ->");
  dump_access(out, &c->dst, c->rank);
}
static void dump_dynamic(buf *out, const prog_dynamic *d) {
  buf_printf(out, "%s %%%u", d->update ? "update" : d->view ? "view" : "slice", d->big);
  dump_ints(out, d->big_dims, d->rank);
  buf_printf(out, " %%%u", d->small);
  dump_ints(out, d->small_dims, d->rank);
  BUF_LIT(out, " at");
  for (u32 i = 0; i < d->rank; i++) buf_printf(out, " %%%u", d->start[i]);
  if (d->turns) buf_printf(out, " turns %u", d->turns - 1);
}
static void dump_list(buf *out, const char *name, i64s v) {
  buf_printf(out, " %s", name);
  dump_ints(out, v.data, v.len);
}
static void dump_gather(buf *out, const prog_gather *g) {
  buf_printf(out, "%s", g->scatter ? "scatter" : "gather");
  for (u32 i = 0; i < g->n; i++) buf_printf(out, " %%%u,%%%u", g->operand[i], g->other[i]);
  dump_list(out, "operand", g->operand_dims);
  buf_printf(out, " indices %%%u", g->indices);
  dump_list(out, "", g->indices_dims);
  dump_list(out, "other", g->other_dims);
  dump_list(out, "offset_dims", g->offset_dims);
  dump_list(out, "collapsed", g->collapsed);
  dump_list(out, "batching", g->operand_batching);
  dump_list(out, "map", g->start_index_map);
  if (g->wrap) buf_printf(out, " wrap %lld", (long long)g->wrap);
  if (g->fills) BUF_LIT(out, " fill");
  if (g->scatter)
    dump_body(out, &g->body);
  else
    dump_list(out, "sizes", g->slice_sizes);
}
static void dump_sort(buf *out, const prog_sort *s) {
  dump_ints(out, (i64[]){s->outer, s->size, s->inner}, 3);
  if (s->keep != s->size) buf_printf(out, " keep %lld", (long long)s->keep);
  if (s->runs) buf_printf(out, " runs %lld", (long long)s->runs);
  for (u32 i = 0; i < s->n; i++)
    if (s->in[i] == PROG_NONE)
      buf_printf(out, " place -> %%%u", s->out[i]);
    else
      buf_printf(out, " %%%u -> %%%u", s->in[i], s->out[i]);
  dump_code(out, &s->less);
}
static void dump_window(buf *out, const prog_window *w) {
  dump_ints(out, w->dims, w->rank);
  BUF_LIT(out, " window ");
  dump_ints(out, w->window, w->rank);
  BUF_LIT(out, " stride ");
  dump_ints(out, w->stride, w->rank);
  for (u32 i = 0; i < w->n; i++)
    buf_printf(out, " %%%u init %%%u -> %%%u", w->in[i], w->init[i], w->out[i]);
  dump_body(out, &w->body);
}
static void dump_select_scatter(buf *out, const prog_select_scatter *s) {
  dump_ints(out, s->dims, s->rank);
  BUF_LIT(out, " window ");
  dump_ints(out, s->window, s->rank);
  BUF_LIT(out, " stride ");
  dump_ints(out, s->stride, s->rank);
  buf_printf(out, " %%%u source %%%u init %%%u -> %%%u", s->operand, s->source, s->init, s->out);
  dump_code(out, &s->select);
  dump_body(out, &s->scatter);
}
static void dump_rng(buf *out, const prog_rng *r) {
  buf_printf(out, "%s %%%u -> %%%u, %%%u", r->kind == RNG_THREEFRY ? "threefry" : "philox",
             r->state, r->new_state, r->out);
}
static void dump_collective(buf *out, const prog_collective *c) {
  buf_printf(out, "%s", prog_collective_name(c->kind));
  for (u32 i = 0; i < c->n; i++) buf_printf(out, " %%%u -> %%%u", c->in[i], c->out[i]);
  for (u32 g = 0; g < c->num_groups && g < 64; g++) {
    buf_printf(out, g ? ",[" : " groups [");
    for (u32 i = c->begin[g]; i < c->begin[g + 1]; i++)
      buf_printf(out, "%s%u", i > c->begin[g] ? "," : "", c->members[i]);
    buf_char(out, ']');
  }
  for (u32 i = 0; i < c->num_pairs && i < 64; i++)
    buf_printf(out, "%s%u>%u", i ? "," : " pairs ", c->pairs[2 * i], c->pairs[2 * i + 1]);
  if (prog_collective_reduces(c->kind)) dump_body(out, &c->body);
  if (c->kind == COLL_ALL_TO_ALL) {
    buf_printf(out, " split %u concat %u ", c->split_dim, c->concat_dim);
    dump_ints(out, c->dims, c->rank);
  }
}
static void dump_jump(buf *out, const prog_jump *j) {
  for (u32 i = 0; i < j->n; i++) buf_printf(out, "%s@%u", i ? ", " : "", j->target[i]);
}
static void dump_jump_unless(buf *out, const prog_jump *j) {
  buf_printf(out, "%%%u ", j->slot);
  dump_jump(out, j);
}
static void dump_case(buf *out, const prog_jump *j) { dump_jump_unless(out, j); }
static void dump_partition_id(buf *out, const prog_id *p) { buf_printf(out, "-> %%%u", p->out); }
static void dump_replica_id(buf *out, const prog_id *p) { dump_partition_id(out, p); }

static void dump_operands(buf *out, const prog_operand *o, u32 n) {
  for (u32 i = 0; i < n; i++) {
    buf_printf(out, " %%%u", o[i].slot);
    dump_ints(out, o[i].dims.data, (u32)o[i].dims.len);
  }
}
static void dump_call(buf *out, const prog_call *c) {
  buf_printf(out, "%s" STR_FMT, c->host ? "host " : "", STR_ARG(c->target));
  dump_operands(out, c->in, c->num_in);
  BUF_LIT(out, " ->");
  dump_operands(out, c->out, c->num_out);
  dump_list(out, "params", c->params);
  if (c->config.len) buf_printf(out, " config " STR_FMT, STR_ARG(c->config));
}

static void dump_payload(buf *out, const prog_step *s);
static void dump_strips(buf *out, const prog_strips *r) {
  dump_ints(out, r->dims, r->rank);
  for (u32 i = 0; i < r->n; i++) {
    buf_printf(out, "\n   " STR_FMT ": %s ", STR_ARG(r->steps[i].name),
               prog_step_kind_name(r->steps[i].kind));
    dump_payload(out, &r->steps[i]);
  }
}

static void dump_payload(buf *out, const prog_step *s) {
  switch (s->kind) {
#define STEP(name, ...)                                                                            \
  case STEP_##name:                                                                                \
    dump_##name(out, s->u.name##_);                                                                \
    break;
    PROG_STEPS(STEP)
#undef STEP
  case STEP_COUNT_:
    break;
  }
}

static void dump_slot(buf *out, u32 i, const prog_slot *s) {
  static const char *const kinds[] = {"param", "result", "work", "const", "strip", "view"};
  buf_printf(out, "%%%u = %s", i, kinds[s->kind]);
  if (s->kind == SLOT_PARAM || s->kind == SLOT_RESULT) buf_printf(out, " %u", s->index);
  if (s->kind == SLOT_WORK) buf_printf(out, " at %" PRIu64, s->offset);
  if (s->kind == SLOT_WORK && s->alias >= 0) buf_printf(out, " of result %d", s->alias);
  buf_printf(out, " : %s x %" PRIu64, dtype_infos[s->type].name, s->count);
  if (s->alias >= 0 && s->kind == SLOT_RESULT) buf_printf(out, " over param %d", s->alias);
  buf_char(out, '\n');
}

void program_dump(const program *p, buf *out) {
  buf_printf(out, "program: %u x %u devices, workspace %" PRIu64 "\n", p->num_replicas,
             p->num_partitions, p->workspace);
  for (u32 i = 0; i < p->num_slots; i++) dump_slot(out, i, &p->slots[i]);
  for (u32 i = 0; i < p->num_steps; i++) {
    const prog_step *s = &p->steps[i];
    buf_printf(out, "@%u " STR_FMT ": %s ", i, STR_ARG(s->name), prog_step_kind_name(s->kind));
    dump_payload(out, s);
    buf_char(out, '\n');
  }
}

void program_count(const program *p, program_stats *out_stats) {
  *out_stats = (program_stats){.steps = p->num_steps, .workspace = p->workspace};
  for (u32 i = 0; i < p->num_slots; i++)
    if (p->slots[i].kind == SLOT_CONST) out_stats->constants += prog_slot_bytes(&p->slots[i]);
  for (u32 i = 0; i < p->num_steps; i++) {
    if (p->steps[i].kind != STEP_collective) continue;
    const prog_collective *c = p->steps[i].u.collective_;
    out_stats->collectives[c->kind]++;
    for (u32 k = 0; k < c->n; k++)
      out_stats->collective_bytes[c->kind] += prog_slot_bytes(&p->slots[c->in[k]]);
  }
}
