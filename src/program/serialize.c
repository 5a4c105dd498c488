/* A program as flat bytes: one description of each struct, walked to write and to read (see
 * program/archive.h). program_validate does what the reader leaves. */
#include "program/archive.h"
#include "program/parts.h"

enum { VERSION = 10 };
static const char MAGIC[8] = "TZPROG\r\n";

static u32 put_rank(archive *ar, u32 *rank) {
  put_u32(ar, rank);
  if (*rank > PROG_MAX_DIMS) {
    ar->bad = true;
    *rank = 0;
  }
  return *rank;
}
static void put_dims(archive *ar, i64 *dims, u32 rank) { put(ar, dims, rank * sizeof(i64)); }

static void put_access(archive *ar, prog_access *a, u32 rank) {
  put_u32(ar, &a->slot);
  put_i64(ar, &a->offset);
  put_dims(ar, a->stride, rank);
}

static void put_code(archive *ar, vm_code *c) {
  put_u32(ar, &c->len);
  put_u32(ar, &c->num_consts);
  put_u32(ar, &c->num_in);
  put_u32(ar, &c->num_out);
  ARRAY(ar, c->instrs, c->len, sizeof(vm_instr));
  put(ar, c->instrs, c->len * sizeof(vm_instr));
  ARRAY(ar, c->consts, c->num_consts, sizeof(vm_const));
  put(ar, c->consts, c->num_consts * sizeof(vm_const));
  c->cap = c->len;
  c->cap_consts = c->num_consts;
}
static void put_body(archive *ar, prog_body *b) {
  PUT_ENUM(ar, b->kind);
  put_code(ar, &b->code);
}

static void put_accesses(archive *ar, prog_access **list, u32 *n, u32 *cap, u32 rank) {
  put_u32(ar, n);
  ARRAY(ar, *list, *n, 12);
  for (u32 i = 0; i < *n; i++) put_access(ar, &(*list)[i], rank);
  *cap = *n;
}

static void put_loop(archive *ar, prog_loop *l) {
  put_dims(ar, l->dims, put_rank(ar, &l->rank));
  put_u32(ar, &l->reduced);
  put_accesses(ar, &l->in, &l->num_in, &l->cap_in, l->rank);
  put_accesses(ar, &l->out, &l->num_out, &l->cap_out, l->rank);
  put_code(ar, &l->code);
  if (!l->reduced) return;
  put_u32s(ar, &l->init, l->num_out);
  put_body(ar, &l->body);
}
static void put_dot(archive *ar, prog_dot *d) {
  put_u32(ar, &d->lhs);
  put_u32(ar, &d->rhs);
  put_u32(ar, &d->out);
  u32 *n[] = {&d->nb, &d->nm, &d->nn, &d->nk}, rank = 0;
  for (size_t i = 0; i < 4; i++) rank += put_rank(ar, n[i]);
  put_i64_array(ar, &d->dims, rank);
  put_i64_array(ar, &d->lhs_stride, rank);
  put_i64_array(ar, &d->rhs_stride, rank);
  put_i64_array(ar, &d->out_stride, rank);
  put_i64(ar, &d->lhs_offset);
  put_i64(ar, &d->rhs_offset);
  put_i64(ar, &d->out_offset);
  put_bool(ar, &d->parts);
  put_bool(ar, &d->by_tiles);
  if (d->by_tiles) put_u32(ar, &d->taps);
}
static void put_copy(archive *ar, prog_copy *c) {
  put_dims(ar, c->dims, put_rank(ar, &c->rank));
  put_access(ar, &c->src, c->rank);
  put_access(ar, &c->dst, c->rank);
}
static void put_dynamic(archive *ar, prog_dynamic *d) {
  put_bool(ar, &d->update);
  put_bool(ar, &d->view);
  put_u32(ar, &d->big);
  put_u32(ar, &d->small);
  put_u32(ar, &d->turns);
  u32 rank = put_rank(ar, &d->rank);
  put_dims(ar, d->big_dims, rank);
  put_dims(ar, d->small_dims, rank);
  put(ar, d->start, rank * sizeof(u32));
}
static void put_gather(archive *ar, prog_gather *g) {
  put_bool(ar, &g->scatter);
  put_u32(ar, &g->n);
  put_u32(ar, &g->indices);
  put_u32s(ar, &g->operand, g->n);
  put_u32s(ar, &g->other, g->n);
  i64s *lists[] = {&g->operand_dims,     &g->indices_dims,    &g->other_dims,
                   &g->offset_dims,      &g->collapsed,       &g->operand_batching,
                   &g->indices_batching, &g->start_index_map, &g->slice_sizes};
  for (size_t i = 0; i < COUNT(lists); i++) put_i64s(ar, lists[i]);
  put_i64(ar, &g->index_vector_dim);
  put_i64(ar, &g->wrap);
  put_bool(ar, &g->fills);
  put(ar, &g->fill, sizeof g->fill);
  if (g->scatter) put_body(ar, &g->body);
}
static void put_sort(archive *ar, prog_sort *s) {
  put_u32(ar, &s->n);
  put_u32s(ar, &s->in, s->n);
  put_u32s(ar, &s->out, s->n);
  put_i64(ar, &s->outer);
  put_i64(ar, &s->size);
  put_i64(ar, &s->inner);
  put_i64(ar, &s->keep);
  put_i64(ar, &s->runs);
  put_code(ar, &s->less);
}
static void put_window(archive *ar, prog_window *w) {
  put_u32(ar, &w->n);
  put_u32s(ar, &w->in, w->n);
  put_u32s(ar, &w->init, w->n);
  put_u32s(ar, &w->out, w->n);
  u32 rank = put_rank(ar, &w->rank);
  i64 *dims[] = {w->dims,          w->out_dims,        w->window, w->stride,
                 w->base_dilation, w->window_dilation, w->pad_low};
  for (size_t i = 0; i < COUNT(dims); i++) put_dims(ar, dims[i], rank);
  put_body(ar, &w->body);
}
static void put_select_scatter(archive *ar, prog_select_scatter *s) {
  put_u32(ar, &s->operand);
  put_u32(ar, &s->source);
  put_u32(ar, &s->init);
  put_u32(ar, &s->out);
  u32 rank = put_rank(ar, &s->rank);
  i64 *dims[] = {s->dims, s->source_dims, s->window, s->stride, s->pad_low};
  for (size_t i = 0; i < COUNT(dims); i++) put_dims(ar, dims[i], rank);
  put_code(ar, &s->select);
  put_body(ar, &s->scatter);
}
static void put_rng(archive *ar, prog_rng *r) {
  PUT_ENUM(ar, r->kind);
  put_u32(ar, &r->state);
  put_u32(ar, &r->new_state);
  put_u32(ar, &r->out);
  put_i64(ar, &r->outer);
  put_i64(ar, &r->size);
  put_i64(ar, &r->inner);
}
static void put_shapes(archive *ar, i64 **v, u32 n) {
  bool present = *v != NULL;
  put_bool(ar, &present);
  if (present) put_i64_array(ar, v, n);
}
static void put_collective(archive *ar, prog_collective *c) {
  PUT_ENUM(ar, c->kind);
  put_u32(ar, &c->n);
  put_u32s(ar, &c->in, c->n);
  put_u32s(ar, &c->out, c->n);
  put_u32(ar, &c->num_groups);
  if (!ar->out && c->num_groups > (u64)(ar->end - ar->cur) / 4) ar->bad = true, c->num_groups = 0;
  put_u32s(ar, &c->begin, c->num_groups + 1);
  put_u32s(ar, &c->members, ar->bad ? 0 : c->begin[c->num_groups]);
  put_u32(ar, &c->num_pairs);
  if (c->num_pairs > UINT32_MAX / 2) ar->bad = true, c->num_pairs = 0;
  put_u32s(ar, &c->pairs, c->num_pairs * 2);
  put_body(ar, &c->body);
  put_shapes(ar, &c->outer, c->n);
  put_shapes(ar, &c->size, c->n);
  put_shapes(ar, &c->inner, c->n);
  put_dims(ar, c->dims, put_rank(ar, &c->rank));
  put_u32(ar, &c->split_dim);
  put_u32(ar, &c->concat_dim);
}
static void put_jump(archive *ar, prog_jump *j) {
  put_u32(ar, &j->slot);
  put_u32(ar, &j->n);
  put_u32s(ar, &j->target, j->n);
}
static void put_jump_unless(archive *ar, prog_jump *j) { put_jump(ar, j); }
static void put_case(archive *ar, prog_jump *j) { put_jump(ar, j); }
static void put_partition_id(archive *ar, prog_id *p) { put_u32(ar, &p->out); }
static void put_replica_id(archive *ar, prog_id *p) { put_u32(ar, &p->out); }
static void put_operands(archive *ar, prog_operand **list, u32 *n) {
  put_u32(ar, n);
  ARRAY(ar, *list, *n, 8);
  for (u32 i = 0; i < *n; i++) {
    prog_operand o = ar->out ? (*list)[i] : (prog_operand){0};
    put_u32(ar, &o.slot);
    put_i64s(ar, &o.dims);
    if (!ar->out) (*list)[i] = o;
  }
}
static void put_call(archive *ar, prog_call *c) {
  put_str(ar, &c->target);
  put_str(ar, &c->config);
  put_bool(ar, &c->host);
  put_operands(ar, &c->in, &c->num_in);
  put_operands(ar, &c->out, &c->num_out);
  put_i64s(ar, &c->params);
}

static void put_of_kind(archive *ar, prog_step *s);
/* What is read is not deeper than this: steps that are not by rows are refused here. */
static void put_strips(archive *ar, prog_strips *r) {
  put_dims(ar, r->dims, put_rank(ar, &r->rank));
  put_u32(ar, &r->n);
  ARRAY(ar, r->steps, r->n, 16);
  for (u32 i = 0; i < r->n && !ar->bad; i++) {
    u32 kind = ar->out ? r->steps[i].kind : 0;
    put_u32(ar, &kind);
    if (kind != STEP_loop && kind != STEP_dot && kind != STEP_copy && kind != STEP_gather)
      ar->bad = true;
    prog_step step = ar->out ? r->steps[i] : (prog_step){.kind = kind};
    put_of_kind(ar, &step);
    if (!ar->out) r->steps[i] = step;
  }
}

static void put_of_kind(archive *ar, prog_step *s) {
  put_str(ar, &s->name);
  put_str(ar, &s->loc);
  put_str(ar, &s->op_name);
  switch (s->kind) {
#define STEP(name, type, ...)                                                                      \
  case STEP_##name: {                                                                              \
    type payload = {0};                                                                            \
    if (ar->out) payload = *s->u.name##_;                                                          \
    put_##name(ar, &payload);                                                                      \
    if (!ar->out) s->u.name##_ = arena_copy(ar->a, &payload, sizeof payload);                      \
    break;                                                                                         \
  }
    PROG_STEPS(STEP)
#undef STEP
  case STEP_COUNT_:
    break;
  }
}

static void put_step(archive *ar, prog_step *s) {
  PUT_ENUM(ar, s->kind);
  if (s->kind >= STEP_COUNT_) {
    ar->bad = true;
    s->kind = STEP_COUNT_;
  }
  put_of_kind(ar, s);
}

static void put_slot(archive *ar, prog_slot *s) {
  PUT_ENUM(ar, s->kind);
  PUT_ENUM(ar, s->type);
  put_u32(ar, &s->index);
  u32 alias = (u32)s->alias;
  put_u32(ar, &alias);
  s->alias = (i32)alias;
  put_bool(ar, &s->lent);
  put_u64(ar, &s->count);
  put_u64(ar, &s->offset);
  if (s->kind != SLOT_CONST) return;
  put_padding(ar);
  u64 bytes;
  if (s->type >= DTYPE_COUNT || !checked_mul(s->count, (u64)dtype_size(s->type), &bytes) ||
      (!ar->out && bytes > (u64)(ar->end - ar->cur))) {
    ar->bad = true;
    return;
  }
  if (!ar->out) s->data = arena_alloc_aligned(ar->a, bytes + 1, 64);
  put(ar, (void *)(uintptr_t)s->data, bytes);
}

static void put_program(archive *ar, program *p) {
  put_u32(ar, &p->num_replicas);
  put_u32(ar, &p->num_partitions);
  put_bool(ar, &p->flush_denormals);
  put_u64(ar, &p->workspace);
  put_u32(ar, &p->num_params);
  put_u32s(ar, &p->param_slot, p->num_params);
  put_u32(ar, &p->num_results);
  put_u32s(ar, &p->result_slot, p->num_results);
  put_u32(ar, &p->num_slots);
  ARRAY(ar, p->slots, p->num_slots, 32);
  for (u32 i = 0; i < p->num_slots; i++) {
    prog_slot slot = ar->out ? p->slots[i] : (prog_slot){0};
    put_slot(ar, &slot);
    if (!ar->out) p->slots[i] = slot;
  }
  put_u32(ar, &p->num_steps);
  ARRAY(ar, p->steps, p->num_steps, 16);
  for (u32 i = 0; i < p->num_steps && !ar->bad; i++) {
    prog_step step = ar->out ? p->steps[i] : (prog_step){0};
    put_step(ar, &step);
    if (!ar->out) p->steps[i] = step;
  }
}

void program_serialize(const program *p, buf *out) {
  archive ar = archive_write(out);
  char magic[8];
  memcpy(magic, MAGIC, 8);
  put(&ar, magic, 8);
  u32 version = VERSION;
  put_u32(&ar, &version);
  /* the walk is shared with reading and writes back what it read: copies on the way keep the
   * program itself untouched, other threads may be running it */
  program copy = *p;
  put_program(&ar, &copy);
}

status program_deserialize(arena *a, str bytes, const program **out_program) {
  *out_program = NULL;
  archive ar = archive_read(a, bytes);
  char magic[8];
  u32 version;
  put(&ar, magic, 8);
  put_u32(&ar, &version);
  if (ar.bad || memcmp(magic, MAGIC, 8) != 0)
    return status_make(STATUS_INVALID_ARGUMENT, "not a serialized program");
  if (version != VERSION)
    return status_make(STATUS_FAILED_PRECONDITION, "serialized program of version %u, not %u",
                       version, (u32)VERSION);
  program *p = ARENA_NEW(a, program);
  put_program(&ar, p);
  if (ar.bad || ar.cur != ar.end)
    return status_make(STATUS_INVALID_ARGUMENT, "serialized program is damaged");
  RETURN_IF_ERROR(program_validate(p));
  RETURN_IF_ERROR(prog_check_flow(a, p));
  *out_program = p;
  return NULL;
}
