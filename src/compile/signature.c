/* What a client is told of parameters and results: shapes, pieces, shardings, aliases. pipeline.c
 * calls it after partitioning, with the global types that it kept from before. What it makes is the
 * executable's and outlives the module. */
#include "compile/signature.h"

#include "compile/lower.h"
#include "compile/plain.h"
#include "mesh/op_sharding.h"
#include "text/text.h"

const attr *signature_attrs(const op *func, bool results, size_t i) {
  const array_attr *a =
      attr_as(array, op_attr(func, results ? SLOT_NAME(res_attrs) : SLOT_NAME(arg_attrs)));
  return a && i < a->elems.len && attr_is(dict, a->elems.data[i]) ? a->elems.data[i] : NULL;
}

/* Many tensors share few shardings, and what is said of one is as long as there are devices. */
typedef struct described {
  const attr *sharding;
  str text, tiles;
  u32 *slice_of; /* NULL: not asked for yet */
} described;

typedef struct builder {
  ir_ctx *ctx;
  arena *scratch, *out;
  u32 num_partitions;
  VEC(described) shardings; /* those that were met */
} builder;

static i64s copy_dims(arena *a, i64s dims) {
  return (i64s){arena_copy(a, dims.data, dims.len * sizeof(i64)), dims.len};
}

/* Where each partition's piece begins, in pieces. */
static u32 *slices(const builder *b, const sharding *s, size_t rank) {
  u32 *of = arena_zalloc(b->out, (size_t)b->num_partitions * rank * sizeof(u32) + 1);
  for (i64 at = 0; at < s->mesh->size; at++) {
    i64 device = mesh_device_at(s->mesh, at);
    if (device < 0 || device >= (i64)b->num_partitions) continue;
    for (u32 d = 0; d < rank; d++)
      of[(size_t)device * rank + d] = (u32)sharding_shard_index(s, d, at);
  }
  return of;
}

static str printed(const builder *b, void (*print)(buf *, const void *), const void *what) {
  buf text;
  buf_init(&text, ir_mem(b->ctx));
  print(&text, what);
  str r = buf_ok(&text) ? arena_str(b->out, buf_view(&text)) : (str){0};
  bool ok = buf_ok(&text);
  buf_deinit(&text);
  if (!ok) arena_oom(b->out);
  return r;
}
static void print_sharding(buf *out, const void *a) { text_print_attr(out, a); }
static void print_tiles(buf *out, const void *t) { op_sharding_write(out, t); }

static bool is_whole(const compile_tensor *t) { return i64s_eq(t->global_dims, t->local_dims); }

static described *describe_sharding(builder *b, const attr *a, const sharding *s) {
  for (size_t i = 0; i < b->shardings.len; i++)
    if (b->shardings.data[i].sharding == a) return &b->shardings.data[i];
  tile_assignment tiles;
  sharding_tile(b->scratch, s, &tiles);
  described d = {a, printed(b, print_sharding, a), printed(b, print_tiles, &tiles), NULL};
  VEC_PUSH(b->scratch, b->shardings, d);
  return &b->shardings.data[b->shardings.len - 1];
}

/* The sharding must explain how the local shape comes from the global one. */
static bool add_sharding(builder *b, const op *func, shard_space *space, const attr *a,
                         compile_tensor *t) {
  const sharding *s = shard_read(space, a);
  if (!s) return is_whole(t) || op_error(b->ctx, func, "has local types but no sharding");
  if (s->rank != t->global_dims.len)
    return op_error(b->ctx, func, "has a sharding of another rank than its tensor");
  for (u32 d = 0; d < s->rank; d++) {
    i64 whole;
    if (!checked_mul(sharding_dim_size(s, d), t->local_dims.data[d], &whole) ||
        whole != t->global_dims.data[d])
      return is_whole(t) || op_error(b->ctx, func, "has a sharding that its types contradict");
  }
  described *known = describe_sharding(b, a, s);
  t->op_sharding = known->tiles;
  t->sharding = known->text;
  if (is_whole(t)) return true;
  if (!known->slice_of) known->slice_of = slices(b, s, s->rank);
  t->slice_of = known->slice_of;
  return true;
}

/* Of what was added to the local signature: as many shards as there are. */
static i64s together(arena *out, shard_space *space, const attr *a, i64s local) {
  const sharding *s = space ? shard_read(space, a) : NULL;
  i64 *dims = arena_copy(out, local.data, local.len * sizeof(i64));
  for (u32 d = 0; s && d < s->rank && d < local.len; d++) dims[d] *= sharding_dim_size(s, d);
  return (i64s){dims, local.len};
}

bool signature_tensors(ir_ctx *c, arena *scratch, arena *out, shard_space *space, const op *func,
                       bool results, types global, u32 num_partitions, compile_tensor **out_list) {
  builder b = {.ctx = c, .scratch = scratch, .out = out, .num_partitions = num_partitions};
  struct func_attrs f;
  view_func(func, &f);
  types local = results ? type_results(f.function_type) : type_inputs(f.function_type);
  compile_tensor *list = *out_list = arena_zalloc(out, (local.len + 1) * sizeof *list);
  if (local.len < global.len) return op_error(c, func, "has changed its number of values");
  for (size_t i = 0; i < local.len; i++) {
    compile_tensor *t = &list[i];
    const type *type = local.data[i];
    if (!type_is_ranked(type) || !type_is_static(type) || !lower_dtype(type->elem, &t->type))
      return op_unimplemented(c, func, "%s %zu of a type that cannot be run",
                              results ? "result" : "argument", i);
    const attr *attrs = signature_attrs(func, results, i);
    t->global_dims = i < global.len
                         ? copy_dims(out, global.data[i]->dims)
                         : together(out, space, attr_dict_get(attrs, SDY_SHARDING), type->dims);
    t->local_dims = copy_dims(out, type->dims);
    t->alias = -1;
    t->token = attr_dict_get(attrs, VALUE_IS_TOKEN) != NULL;
    str kind = {0};
    if (attr_get_str(attr_dict_get(attrs, STR("mhlo.memory_kind")), &kind))
      t->memory_kind = arena_str(out, kind);
    if (space && !add_sharding(&b, func, space, attr_dict_get(attrs, SDY_SHARDING), t))
      return false;
  }
  return true;
}

static u64 count(i64s dims) {
  u64 n = 1;
  for (size_t d = 0; d < dims.len; d++) n *= (u64)dims.data[d];
  return n;
}

/* Elements of one type, as many, in one memory; the shapes may differ. */
static bool same_memory(const compile_tensor *a, const compile_tensor *b) {
  return a->type == b->type && count(a->local_dims) == count(b->local_dims) &&
         str_eq(a->memory_kind, b->memory_kind);
}

/* A parameter that no result can take over stays the caller's, as with XLA. */
static void take_over(compile_tensor *params, size_t p, i32 *alias_of, i64 r) {
  alias_of[r] = (i32)p;
  params[p].alias = (i32)r;
  params[p].donated = true;
}

void signature_alias(const op *func, compile_tensor *params, size_t num_params,
                     const compile_tensor *results, size_t num_results, i32 *alias_of) {
  for (size_t r = 0; r < num_results; r++) alias_of[r] = -1;
  /* the pairs that the program asks for, then those that happen to fit */
  for (size_t p = 0; p < num_params; p++) {
    i64 r;
    const attr *attrs = signature_attrs(func, false, p);
    if (!attr_get_i64(attr_dict_get(attrs, STR("tf.aliasing_output")), &r)) continue;
    if (r < 0 || r >= (i64)num_results || alias_of[r] >= 0) continue;
    if (!same_memory(&params[p], &results[r])) continue;
    take_over(params, p, alias_of, r);
  }
  size_t first = 0; /* results before it are taken or fit nobody's shape seen so far */
  for (size_t p = 0; p < num_params; p++) {
    bool donor = false;
    const attr *attrs = signature_attrs(func, false, p);
    if (!attr_get_bool(attr_dict_get(attrs, STR("jax.buffer_donor")), &donor) || !donor) continue;
    while (first < num_results && alias_of[first] >= 0) first++;
    for (size_t r = first; r < num_results && params[p].alias < 0; r++) {
      if (alias_of[r] >= 0 || !same_memory(&params[p], &results[r])) continue;
      take_over(params, p, alias_of, (i64)r);
    }
  }
}
