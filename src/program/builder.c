/* The builder: appends slots, steps and code; prog_finish resolves labels, plans, validates. */
#include "program/program.h"

#include "program/parts.h"
#include "num/convert.h"

/* Of which classes a row has a kernel; of none, nobody could use it. */
#define HAS_NO 0
#define HAS_MADE 1
#define HAS_OWN 1
#define HAS_VECTOR 1
#define HAS_PRED(...) 1
#define HAS_INT(...) 1
#define HAS_FLT(...) 1
#define HAS_F32(...) 1
#define HAS_BOTH(...) 1
#define HAS_BOTHZ(...) 1
#define HAS_LIBM(...) 1
#define HAS_WIDE(...) 1
#define HAS_PARTLY(...) 1
#define HAS_PARTS(...) 1
#define HAS_VIA64(...) 1
#define HAS_CPX(...) 1
#define CLASSES(p, i, f, c)                                                                        \
  (HAS_##p * VM_CLASS_B | HAS_##i * VM_CLASS_I | HAS_##f * VM_CLASS_F | HAS_##c * VM_CLASS_C)
#define VM(id, operands, how, result, traits, p, i, f, c, meaning)                                 \
  _Static_assert(CLASSES(p, i, f, c), #id " has no kernel");
#include "program/vm_ops.def"
#undef VM

const vm_op_info vm_op_infos[VM_OP_COUNT] = {
#define HEAVY VM_HEAVY
#define EXACT VM_EXACT
#define ABOVE_SIGN VM_ABOVE_SIGN
#define ABOVE_ZERO VM_ABOVE_ZERO
#define VM(id, operands, how, result, traits, p, i, f, c, meaning)                                 \
  [VM_##id] = {#id, meaning, operands, VM_##result, CLASSES(p, i, f, c), traits},
#include "program/vm_ops.def"
#undef VM
};

const char *vm_op_name(vm_op op) { return op < VM_OP_COUNT ? vm_op_infos[op].name : "?"; }
bool vm_is_heavy(vm_op op) { return op < VM_OP_COUNT && (vm_op_infos[op].traits & VM_HEAVY) != 0; }

/* Those of many devices are long, and few: collectives share them. */
typedef struct groups_copy {
  u32 num_groups;
  u32 *begin, *members;
} groups_copy;

/* Lists that loops and code grow by doubling; those that were too short are taken again. */
typedef enum list_kind { LIST_ACCESSES, LIST_INSTRS, LIST_CONSTS, LIST_KINDS } list_kind;
typedef struct spare_list {
  struct spare_list *next;
} spare_list;

struct prog_builder {
  str op_name;
  arena *a, *scratch;
  bool flush_denormals;
  u32 num_replicas, num_partitions;
  VEC(prog_slot) slots;
  VEC(prog_step) steps;
  VEC(u32) params;
  VEC(u32) results;
  VEC(u32) labels; /* step index; PROG_NONE until placed */
  VEC(groups_copy) groups;
  spare_list *spare[LIST_KINDS][32]; /* by the power of two that they have room for */
  str too_big;                       /* name of a step with too many dims */
};

prog_builder *prog_begin(arena *a, u32 num_replicas, u32 num_partitions) {
  prog_builder *b = ARENA_NEW(a, prog_builder);
  b->a = b->scratch = a;
  b->num_replicas = num_replicas;
  b->num_partitions = num_partitions;
  return b;
}
void prog_set_flush_denormals(prog_builder *b, bool on) { b->flush_denormals = on; }
void prog_set_scratch(prog_builder *b, arena *scratch) { b->scratch = scratch; }
arena *prog_arena(prog_builder *b) { return b->a; }

/* Slots are numbered in the order in which they are made; the planner may add some, and never
 * renumbers. */
static u32 add_slot(prog_builder *b, prog_slot s) {
  VEC_PUSH(b->scratch, b->slots, s);
  return (u32)b->slots.len - 1;
}
u32 prog_param(prog_builder *b, dtype type, u64 count) {
  u32 index = (u32)b->params.len;
  u32 slot = add_slot(
      b,
      (prog_slot){.kind = SLOT_PARAM, .type = type, .index = index, .alias = -1, .count = count});
  VEC_PUSH(b->a, b->params, slot);
  return slot;
}
u32 prog_result(prog_builder *b, dtype type, u64 count, i32 alias) {
  u32 index = (u32)b->results.len;
  u32 slot = add_slot(
      b, (prog_slot){
             .kind = SLOT_RESULT, .type = type, .index = index, .alias = alias, .count = count});
  VEC_PUSH(b->a, b->results, slot);
  return slot;
}
u32 prog_work(prog_builder *b, dtype type, u64 count) {
  return add_slot(b, (prog_slot){.kind = SLOT_WORK, .type = type, .alias = -1, .count = count});
}
u32 prog_const_borrowed(prog_builder *b, dtype type, u64 count, const void *data) {
  return add_slot(
      b, (prog_slot){.kind = SLOT_CONST, .type = type, .alias = -1, .count = count, .data = data});
}
u32 prog_const(prog_builder *b, dtype type, u64 count, const void *data) {
  size_t bytes;
  if (!checked_mul(count, dtype_size(type), &bytes)) arena_oom(b->a);
  void *copy = arena_alloc_aligned(b->a, bytes + 1, 64);
  if (bytes) memcpy(copy, data, bytes);
  return prog_const_borrowed(b, type, count, copy);
}
bool prog_slot_is_param(const prog_builder *b, u32 slot) {
  return slot < b->slots.len && b->slots.data[slot].kind == SLOT_PARAM;
}
dtype prog_slot_type(const prog_builder *b, u32 slot) {
  return slot < b->slots.len ? b->slots.data[slot].type : DTYPE_token;
}

/* Arrays of a payload become the program's: what the caller handed in may go. */
static void *copy_array(prog_builder *b, const void *data, size_t n, size_t size) {
  void *p = arena_array(b->a, n ? n : 1, size);
  if (n) memcpy(p, data, n * size);
  return p;
}
#define COPY_ARRAY(b, p, n) copy_array((b), (p), (n), sizeof(*(p)))

void prog_set_op_name(prog_builder *b, str name) { b->op_name = name; }

static void add_step(prog_builder *b, prog_step_kind kind, void *payload, str name, str loc) {
  prog_step s = {.kind = kind, .name = name, .loc = loc, .op_name = b->op_name, .u.any = payload};
  VEC_PUSH(b->scratch, b->steps, s);
}

/* The rank, or 0 and an error at the end when it is more than a step can hold. */
static u32 check_rank(prog_builder *b, u32 rank, str name) {
  if (rank <= PROG_MAX_DIMS) return rank;
  b->too_big = name;
  return 0;
}

prog_loop *prog_add_loop(prog_builder *b, u32 rank, const i64 *dims, str name, str loc) {
  prog_loop *l = ARENA_NEW(b->a, prog_loop);
  l->rank = check_rank(b, rank, name);
  if (l->rank) memcpy(l->dims, dims, l->rank * sizeof(i64));
  add_step(b, STEP_loop, l, name, loc);
  return l;
}

static prog_access make_access(u32 rank, u32 slot, i64 offset, const i64 *strides) {
  prog_access a = {.slot = slot, .offset = offset};
  if (rank) memcpy(a.stride, strides, rank * sizeof(i64));
  return a;
}

/* Room for one more: the same elements in another place. */
static void *grow(prog_builder *b, list_kind kind, void *data, u32 *cap, size_t size) {
  u32 k = *cap ? (u32)__builtin_ctz(*cap) + 1 : kind == LIST_INSTRS ? 2 : 0;
  spare_list **spare = b->spare[kind], *to = spare[k];
  if (to)
    spare[k] = to->next;
  else
    to = arena_array(b->a, (size_t)1 << k, size);
  if (*cap) {
    memcpy(to, data, *cap * size);
    *(spare_list *)data = (spare_list){spare[k - 1]};
    spare[k - 1] = data;
  }
  *cap = 1u << k;
  return to;
}

static u32 push_access(prog_builder *b, prog_access **list, u32 *len, u32 *cap, prog_access a) {
  if (*len == *cap) *list = grow(b, LIST_ACCESSES, *list, cap, sizeof a);
  (*list)[(*len)++] = a;
  return *len - 1;
}

u32 prog_loop_in(prog_builder *b, prog_loop *l, u32 slot, i64 offset, const i64 *strides) {
  return push_access(b, &l->in, &l->num_in, &l->cap_in,
                     make_access(l->rank, slot, offset, strides));
}
void prog_loop_out(prog_builder *b, prog_loop *l, u32 slot, i64 offset, const i64 *strides,
                   u32 value) {
  u32 out = push_access(b, &l->out, &l->num_out, &l->cap_out,
                        make_access(l->rank, slot, offset, strides));
  vm_store(b, &l->code, out, value);
}
void prog_loop_reduce(prog_builder *b, prog_loop *l, u32 reduced, const u32 *init, prog_body body) {
  l->reduced = reduced;
  l->init = COPY_ARRAY(b, init, l->num_out);
  l->body = body;
}

static u32 add_instr(prog_builder *b, vm_code *c, vm_instr i) {
  if (c->len == c->cap) c->instrs = grow(b, LIST_INSTRS, c->instrs, &c->cap, sizeof i);
  c->instrs[c->len++] = i;
  return c->len - 1;
}
u32 vm_load(prog_builder *b, vm_code *c, dtype type, u32 input) {
  if (input + 1 > c->num_in) c->num_in = input + 1;
  return add_instr(b, c, (vm_instr){.op = VM_load, .type = (u8)type, .a = input});
}
u32 vm_const_bits(prog_builder *b, vm_code *c, dtype type, const void *element) {
  vm_const v = {0, 0};
  if (c->num_consts == c->cap_consts)
    c->consts = grow(b, LIST_CONSTS, c->consts, &c->cap_consts, sizeof v);
  memcpy(&v, element, dtype_size(type));
  c->consts[c->num_consts] = v;
  return add_instr(b, c, (vm_instr){.op = VM_constant, .type = (u8)type, .a = c->num_consts++});
}
u32 vm_const_f64(prog_builder *b, vm_code *c, dtype type, double value) {
  u64 bits[2] = {0, 0};
  num_from_f64(type, value, bits);
  return vm_const_bits(b, c, type, bits);
}
u32 vm_iota(prog_builder *b, vm_code *c, dtype type, u32 dim) {
  return add_instr(b, c, (vm_instr){.op = VM_iota, .type = (u8)type, .a = dim});
}
u32 vm_emit(prog_builder *b, vm_code *c, vm_op op, dtype type, u32 v0, u32 v1, u32 v2) {
  return add_instr(b, c, (vm_instr){.op = (u16)op, .type = (u8)type, .a = v0, .b = v1, .c = v2});
}
void vm_store(prog_builder *b, vm_code *c, u32 output, u32 value) {
  if (output + 1 > c->num_out) c->num_out = output + 1;
  u8 type = value < c->len ? c->instrs[value].type : (u8)DTYPE_token;
  add_instr(b, c, (vm_instr){.op = VM_store, .type = type, .a = value, .b = output});
}

void prog_add_dot(prog_builder *b, const prog_dot *dot, str name, str loc) {
  prog_dot *d = arena_copy(b->a, dot, sizeof *dot);
  u32 n = d->nb + d->nm + d->nn + d->nk;
  d->dims = COPY_ARRAY(b, dot->dims, n);
  d->lhs_stride = COPY_ARRAY(b, dot->lhs_stride, n);
  d->rhs_stride = COPY_ARRAY(b, dot->rhs_stride, n);
  d->out_stride = COPY_ARRAY(b, dot->out_stride, n);
  add_step(b, STEP_dot, d, name, loc);
}
void prog_add_copy(prog_builder *b, u32 rank, const i64 *dims, u32 src, i64 src_offset,
                   const i64 *src_strides, u32 dst, i64 dst_offset, const i64 *dst_strides,
                   str name, str loc) {
  prog_copy *c = ARENA_NEW(b->scratch, prog_copy); /* most are moves, and vanish */
  c->rank = check_rank(b, rank, name);
  if (c->rank) memcpy(c->dims, dims, c->rank * sizeof(i64));
  c->src = make_access(c->rank, src, src_offset, src_strides);
  c->dst = make_access(c->rank, dst, dst_offset, dst_strides);
  add_step(b, STEP_copy, c, name, loc);
}
/* In the form that prog_step_is_move knows, so that the planner can make it vanish. */
void prog_add_move(prog_builder *b, u32 src, u32 dst, str name, str loc) {
  i64 n = src < b->slots.len ? (i64)b->slots.data[src].count : 0, one = 1;
  prog_add_copy(b, 1, &n, src, 0, &one, dst, 0, &one, name, loc);
}
void prog_add_fill(prog_builder *b, u32 dst, const void *element, str name, str loc) {
  i64 n = dst < b->slots.len ? (i64)b->slots.data[dst].count : 0, one = 1;
  prog_loop *l = prog_add_loop(b, 1, &n, name, loc);
  u32 v = vm_const_bits(b, &l->code, prog_slot_type(b, dst), element);
  prog_loop_out(b, l, dst, 0, &one, v);
}
void prog_add_dynamic(prog_builder *b, const prog_dynamic *d, str name, str loc) {
  prog_dynamic *copy = arena_copy(b->a, d, sizeof *d);
  copy->rank = check_rank(b, d->rank, name);
  add_step(b, STEP_dynamic, copy, name, loc);
}
static i64s copy_i64s(prog_builder *b, i64s s) {
  return (i64s){COPY_ARRAY(b, s.data, s.len), s.len};
}
void prog_add_gather(prog_builder *b, const prog_gather *g, str name, str loc) {
  prog_gather *copy = arena_copy(b->a, g, sizeof *g);
  copy->operand = COPY_ARRAY(b, g->operand, g->n);
  copy->other = COPY_ARRAY(b, g->other, g->n);
  i64s *lists[] = {&copy->operand_dims,     &copy->indices_dims,    &copy->other_dims,
                   &copy->offset_dims,      &copy->collapsed,       &copy->operand_batching,
                   &copy->indices_batching, &copy->start_index_map, &copy->slice_sizes};
  for (size_t i = 0; i < COUNT(lists); i++) *lists[i] = copy_i64s(b, *lists[i]);
  add_step(b, STEP_gather, copy, name, loc);
}
void prog_add_sort(prog_builder *b, const prog_sort *s, str name, str loc) {
  prog_sort *copy = arena_copy(b->a, s, sizeof *s);
  copy->in = COPY_ARRAY(b, s->in, s->n);
  copy->out = COPY_ARRAY(b, s->out, s->n);
  add_step(b, STEP_sort, copy, name, loc);
}
void prog_add_window(prog_builder *b, const prog_window *w, str name, str loc) {
  prog_window *copy = arena_copy(b->a, w, sizeof *w);
  copy->rank = check_rank(b, w->rank, name);
  copy->in = COPY_ARRAY(b, w->in, w->n);
  copy->init = COPY_ARRAY(b, w->init, w->n);
  copy->out = COPY_ARRAY(b, w->out, w->n);
  add_step(b, STEP_window, copy, name, loc);
}
void prog_add_select_scatter(prog_builder *b, const prog_select_scatter *s, str name, str loc) {
  prog_select_scatter *copy = arena_copy(b->a, s, sizeof *s);
  copy->rank = check_rank(b, s->rank, name);
  add_step(b, STEP_select_scatter, copy, name, loc);
}
void prog_add_rng(prog_builder *b, const prog_rng *r, str name, str loc) {
  add_step(b, STEP_rng, arena_copy(b->a, r, sizeof *r), name, loc);
}
static prog_operand *copy_operands(prog_builder *b, const prog_operand *list, u32 n) {
  prog_operand *copy = COPY_ARRAY(b, list, n);
  for (u32 i = 0; i < n; i++) copy[i].dims = copy_i64s(b, list[i].dims);
  return copy;
}
void prog_add_call(prog_builder *b, const prog_call *c, str name, str loc) {
  prog_call *copy = arena_copy(b->a, c, sizeof *c);
  copy->target = arena_str(b->a, c->target);
  copy->config = arena_str(b->a, c->config);
  copy->in = copy_operands(b, c->in, c->num_in);
  copy->out = copy_operands(b, c->out, c->num_out);
  copy->params = copy_i64s(b, c->params);
  add_step(b, STEP_call, copy, name, loc);
}
static void copy_groups(prog_builder *b, const prog_collective *c, prog_collective *copy) {
  const u32 zero = 0, *begin = c->begin ? c->begin : &zero;
  u32 n = c->begin ? c->num_groups : 0;
  for (size_t i = 0; i < b->groups.len; i++) {
    const groups_copy *g = &b->groups.data[i];
    if (g->num_groups != n || memcmp(g->begin, begin, (n + 1) * sizeof *begin) != 0 ||
        (begin[n] && memcmp(g->members, c->members, begin[n] * sizeof *c->members) != 0))
      continue;
    copy->begin = g->begin;
    copy->members = g->members;
    return;
  }
  copy->begin = COPY_ARRAY(b, begin, n + 1);
  copy->members = COPY_ARRAY(b, c->members, begin[n]);
  VEC_PUSH(b->a, b->groups, ((groups_copy){n, copy->begin, copy->members}));
}

void prog_add_collective(prog_builder *b, const prog_collective *c, str name, str loc) {
  prog_collective *copy = arena_copy(b->a, c, sizeof *c);
  copy->rank = check_rank(b, c->rank, name);
  copy->in = COPY_ARRAY(b, c->in, c->n);
  copy->out = COPY_ARRAY(b, c->out, c->n);
  copy_groups(b, c, copy);
  copy->pairs = COPY_ARRAY(b, c->pairs, (size_t)c->num_pairs * 2);
  if (c->outer) copy->outer = COPY_ARRAY(b, c->outer, c->n);
  if (c->size) copy->size = COPY_ARRAY(b, c->size, c->n);
  if (c->inner) copy->inner = COPY_ARRAY(b, c->inner, c->n);
  add_step(b, STEP_collective, copy, name, loc);
}
static void add_id(prog_builder *b, prog_step_kind kind, u32 out, str name, str loc) {
  prog_id *id = ARENA_NEW(b->a, prog_id);
  id->out = out;
  add_step(b, kind, id, name, loc);
}
void prog_add_partition_id(prog_builder *b, u32 out, str name, str loc) {
  add_id(b, STEP_partition_id, out, name, loc);
}
void prog_add_replica_id(prog_builder *b, u32 out, str name, str loc) {
  add_id(b, STEP_replica_id, out, name, loc);
}

u32 prog_label(prog_builder *b) {
  VEC_PUSH(b->scratch, b->labels, PROG_NONE);
  return (u32)b->labels.len - 1;
}
void prog_place(prog_builder *b, u32 label) {
  if (label < b->labels.len) b->labels.data[label] = (u32)b->steps.len;
}
static void add_jump(prog_builder *b, prog_step_kind kind, u32 slot, u32 n, const u32 *labels,
                     str name, str loc) {
  prog_jump *j = ARENA_NEW(b->a, prog_jump);
  j->slot = slot;
  j->n = n;
  j->target = COPY_ARRAY(b, labels, n);
  add_step(b, kind, j, name, loc);
}
void prog_add_jump(prog_builder *b, u32 label, str name, str loc) {
  add_jump(b, STEP_jump, PROG_NONE, 1, &label, name, loc);
}
void prog_add_jump_unless(prog_builder *b, u32 pred_slot, u32 label, str name, str loc) {
  add_jump(b, STEP_jump_unless, pred_slot, 1, &label, name, loc);
}
void prog_add_case(prog_builder *b, u32 index_slot, u32 n, const u32 *labels, str name, str loc) {
  add_jump(b, STEP_case, index_slot, n, labels, name, loc);
}

/* A label that was never placed becomes PROG_NONE, which validation refuses. */
static void resolve_labels(prog_builder *b) {
  for (size_t i = 0; i < b->steps.len; i++) {
    prog_jump *j = prog_step_jump(&b->steps.data[i]);
    for (u32 k = 0; j && k < j->n; k++)
      j->target[k] = j->target[k] < b->labels.len ? b->labels.data[j->target[k]] : PROG_NONE;
  }
}

/* The copies that are left. */
static void own_copies(prog_builder *b, prog_step *steps, u32 n) {
  for (u32 i = 0; i < n; i++) {
    prog_step *s = &steps[i];
    if (s->kind == STEP_copy) s->u.copy_ = COPY_ARRAY(b, s->u.copy_, 1);
    if (s->kind == STEP_strips) own_copies(b, s->u.strips_->steps, s->u.strips_->n);
  }
}

static void recognize_bodies(program *p) {
  for (u32 i = 0; i < p->num_steps; i++) {
    prog_step *s = &p->steps[i];
    if (s->kind == STEP_loop && s->u.loop_->reduced) prog_body_recognize(&s->u.loop_->body);
    if (s->kind == STEP_gather && s->u.gather_->scatter) prog_body_recognize(&s->u.gather_->body);
    if (s->kind == STEP_window) prog_body_recognize(&s->u.window_->body);
    if (s->kind == STEP_select_scatter) prog_body_recognize(&s->u.select_scatter_->scatter);
    if (s->kind == STEP_collective) prog_body_recognize(&s->u.collective_->body);
  }
}

/* In order: labels become steps, bodies are recognized, the program is checked, its reductions are
 * formed, what short loops read apart is brought together, it is planned, and checked again. What
 * is wrong in it is our fault and INTERNAL, but for ranks that steps cannot hold. */
status prog_finish(prog_builder *b, const program **out_program) {
  *out_program = NULL;
  if (b->too_big.data)
    return status_make(STATUS_UNIMPLEMENTED, STR_FMT ": more than %u dimensions",
                       STR_ARG(b->too_big), PROG_MAX_DIMS);
  resolve_labels(b);
  program *p = ARENA_NEW(b->a, program);
  *p = (program){.num_replicas = b->num_replicas,
                 .num_partitions = b->num_partitions,
                 .flush_denormals = b->flush_denormals,
                 .num_params = (u32)b->params.len,
                 .num_results = (u32)b->results.len,
                 .num_slots = (u32)b->slots.len,
                 .num_steps = (u32)b->steps.len,
                 .slots = b->slots.data,
                 .steps = b->steps.data,
                 .param_slot = b->params.data,
                 .result_slot = b->results.data};
  recognize_bodies(p);
  /* Twice: planning relies on a sound program, running on a sound plan. */
  status s = prog_check(p, false);
  if (!s) {
    prog_form_reductions(b->a, p);
    prog_pack_fixed(b->a, p);
    prog_plan(b->a, b->scratch, p);
    s = program_validate(p);
  }
  if (!s) s = prog_check_flow(b->scratch, p);
  if (s) {
    status internal = status_make(STATUS_INTERNAL, "%s", status_message(s).data);
    status_free(s);
    return internal;
  }
  p->slots = COPY_ARRAY(b, p->slots, p->num_slots);
  p->steps = COPY_ARRAY(b, p->steps, p->num_steps);
  own_copies(b, p->steps, p->num_steps);
  *out_program = p;
  return NULL;
}
