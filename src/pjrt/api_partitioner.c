/* Whom we ask about custom calls while compiling: those who registered through the extension
 * Custom_Partitioner (jaxlib does, for jax.experimental.custom_partitioning), and the functions
 * that a call @InspectSharding brings along. What goes to and fro is serialized: xla.ShapeProto,
 * xla.OpSharding (xla/xla_data.proto); xla/pjrt/c/pjrt_c_api_custom_partitioner_extension.h and
 * xla/python/inspect_sharding.h say what is called when. */
#include "pjrt/api.h"
#include "pjrt/proto.h"
#include "pjrt/slots.h"

/* ---- who is registered ----
 *
 * The ABI registers with the plugin, not with a client, and never unregisters: this is the
 * process's list. Entries stay as long as it does, since callers may be inside of them. */

typedef struct partitioner {
  const struct partitioner *next;
  const JAX_CustomCallPartitioner_Callbacks *callbacks; /* NULL: cut along leading dimensions */
  str name;
} partitioner;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const partitioner *registered; /* newest first; under lock */

static status add(const char *name, size_t len, const JAX_CustomCallPartitioner_Callbacks *c) {
  if (!len) return status_make(STATUS_INVALID_ARGUMENT, "a partitioner without a name");
  partitioner *p = mem_alloc(&mem_system, sizeof *p + len);
  if (!p) return status_oom();
  char *text = (char *)(p + 1);
  memcpy(text, name, len);
  pthread_mutex_lock(&lock);
  *p = (partitioner){registered, c, {text, len}};
  registered = p;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static const partitioner *find_entry(str name, bool batches) {
  pthread_mutex_lock(&lock);
  const partitioner *p = registered;
  pthread_mutex_unlock(&lock);
  while (p && !(!p->callbacks == batches && str_eq(p->name, name))) p = p->next;
  return p;
}

static const JAX_CustomCallPartitioner_Callbacks *find(str name) {
  const partitioner *p = find_entry(name, false);
  return p ? p->callbacks : NULL;
}

status api_register_custom_partitioner(PJRT_Register_Custom_Partitioner_Args *a) {
  return add(a->name, a->name_size, a->callbacks);
}

status api_register_batch_partitionable(PJRT_Register_Batch_Partitionable_Args *a) {
  return add(a->name, a->name_size, NULL);
}

/* ---- what is serialized ---- */

/* xla.PrimitiveType by PJRT_Buffer_Type. */
static const u8 primitive_types[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 16, 15,
                                     18, 19, 20, 23, 24, 25, 21, 22, 17, 26, 27, 28, 29, 33, 32};
enum { PRIMITIVE_TUPLE = 13, SHARDING_TUPLE = 2 };

static void put_shape(buf *b, const compile_part *p) {
  buf dims, dynamic;
  buf_init(&dims, b->mem);
  buf_init(&dynamic, b->mem);
  for (size_t i = 0; i < p->dims.len; i++) {
    proto_put_varint(&dims, (u64)p->dims.data[i]);
    buf_char(&dynamic, 0);
  }
  proto_put_int(b, 2, primitive_types[dtype_infos[p->type].pjrt]);
  proto_put_bytes(b, 3, buf_view(&dims));
  proto_put_bytes(b, 6, buf_view(&dynamic));
  buf_deinit(&dims);
  buf_deinit(&dynamic);
}

static void put_tiles(buf *b, const compile_part *p) { op_sharding_write(b, &p->tiles); }

/* One value's, or a tuple of several. */
static str message(arena *a, const compile_part *list, size_t n, u64 tuple_type, u32 type_field,
                   u32 field, void (*put)(buf *, const compile_part *)) {
  buf all, one;
  buf_init(&all, &mem_system);
  buf_init(&one, &mem_system);
  if (n == 1) put(&all, list);
  if (n != 1) proto_put_int(&all, type_field, tuple_type);
  for (size_t i = 0; n != 1 && i < n; i++) {
    one.len = 0;
    put(&one, &list[i]);
    proto_put_bytes(&all, field, buf_view(&one));
  }
  bool ok = buf_ok(&all) && buf_ok(&one);
  str s = ok ? arena_str(a, buf_view(&all)) : (str){0};
  buf_deinit(&all);
  buf_deinit(&one);
  if (!ok) arena_oom(a);
  return s;
}

static JAX_CustomCallPartitioner_aval aval(arena *a, const compile_part *list, size_t n) {
  str shape = message(a, list, n, PRIMITIVE_TUPLE, 2, 4, put_shape);
  str tiles = message(a, list, n, SHARDING_TUPLE, 1, 5, put_tiles);
  return (JAX_CustomCallPartitioner_aval){
      .shape = {shape.data, shape.len},
      .has_sharding = true,
      .sharding = {tiles.data ? tiles.data : "", tiles.len},
  };
}

/* Packed or one by one. */
static bool add_numbers(arena *a, const proto_field *f, i64s *list) {
  str bytes = f->bytes;
  u64 v = f->value;
  VEC(i64) all = {0};
  for (size_t i = 0; i < list->len; i++) VEC_PUSH(a, all, list->data[i]);
  if (f->wire == 0) VEC_PUSH(a, all, (i64)v);
  while (f->wire == 2 && bytes.len) {
    if (!proto_varint(&bytes, &v)) return false;
    VEC_PUSH(a, all, (i64)v);
  }
  *list = (i64s){all.data, all.len};
  return true;
}

typedef struct read_sharding {
  u64 type;
  bool replicate_last;
  tile_assignment t;
  i64s kinds; /* of the last dimensions */
} read_sharding;

static bool read_fields(arena *a, str bytes, read_sharding *r) {
  proto_field f;
  bool bad = false, ok = true;
  while (ok && proto_next(&bytes, &f, &bad)) {
    i64s *list[] = {[3] = &r->t.dims,
                    [4] = &r->t.devices,
                    [8] = &r->kinds,
                    [9] = &r->t.reshape,
                    [10] = &r->t.perm};
    if (f.number == 1) r->type = f.value;
    if (f.number == 6) r->replicate_last = f.value != 0;
    if (f.number < COUNT(list) && list[f.number]) ok = add_numbers(a, &f, list[f.number]);
  }
  return ok && !bad;
}

/* xla.OpSharding.Type */
static bool read_subgroup(i64 type, subgroup_kind *out) {
  *out = type == 4 ? SUBGROUP_MANUAL : type == 6 ? SUBGROUP_UNREDUCED : SUBGROUP_REPLICATED;
  return type == 0 || type == 4 || type == 6;
}

static bool check_tiles(const tile_assignment *t) {
  i64 all = 1, order = 1;
  if (t->dims.len < t->num_subgroups || t->reshape.len != t->perm.len) return false;
  for (size_t i = 0; i < t->dims.len; i++)
    if (t->dims.data[i] < 1 || !checked_mul(all, t->dims.data[i], &all)) return false;
  for (size_t i = 0; i < t->reshape.len; i++)
    if (t->reshape.data[i] < 1 || !checked_mul(order, t->reshape.data[i], &order) ||
        t->perm.data[i] < 0 || (u64)t->perm.data[i] >= t->perm.len)
      return false;
  return t->devices.len ? (u64)all == t->devices.len : t->reshape.len && all == order;
}

static bool read_tiles(arena *a, str bytes, tile_assignment *out) {
  read_sharding r = {0};
  if (!read_fields(a, bytes, &r)) return false;
  if (r.type != 3) {
    *out = (tile_assignment){.kind = r.type == 4 ? TILE_MANUAL : TILE_REPLICATED};
    return r.type == 0 || r.type == 4;
  }
  r.t.kind = TILE_OTHER;
  if (r.replicate_last) r.t.subgroups[r.t.num_subgroups++] = SUBGROUP_REPLICATED;
  for (size_t i = 0; i < r.kinds.len; i++)
    if (r.t.num_subgroups == SUBGROUP_KINDS ||
        !read_subgroup(r.kinds.data[i], &r.t.subgroups[r.t.num_subgroups++]))
      return false;
  *out = r.t;
  return check_tiles(&r.t);
}

/* As many shardings as there are values: a tuple's elements where there is not one. */
static bool read_all(arena *a, str bytes, size_t n, tile_assignment *out) {
  proto_field f;
  bool bad = false;
  size_t k = 0;
  if (n == 1) return read_tiles(a, bytes, out);
  while (proto_next(&bytes, &f, &bad))
    if (f.number == 5 && (k == n || !read_tiles(a, f.bytes, &out[k++]))) return false;
  return !bad && k == n;
}

/* ---- asking ---- */

static bool knows(void *user, str target) { return (void)user, find(target) != NULL; }
static bool batches(void *user, str target) { return (void)user, find_entry(target, true); }

static str view(JAX_CustomCallPartitioner_string s) { return (str){s.data, s.size}; }

static status read_answer(arena *a, const compile_call *call,
                          const JAX_CustomCallPartitioner_Partition_Args *args,
                          compile_answer *out) {
  tile_assignment *in = arena_zalloc(a, (call->num_args + 1) * sizeof *in);
  tile_assignment *of = arena_zalloc(a, (call->num_results + 1) * sizeof *of);
  bool ok = read_all(a, view(args->result_sharding), call->num_results, of);
  for (size_t i = 0; ok && i < call->num_args; i++)
    ok = read_tiles(a, view(args->args_sharding[i]), &in[i]);
  if (!ok)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "the partitioner's shardings are not such as XLA has them");
  *out = (compile_answer){arena_str(a, view(args->mlir_module)), in, of};
  return NULL;
}

static status partition(void *user, arena *a, const compile_call *call, compile_answer *out) {
  (void)user;
  const JAX_CustomCallPartitioner_Callbacks *p = find(call->target);
  JAX_CustomCallPartitioner_aval *avals =
      ARENA_ARRAY(a, JAX_CustomCallPartitioner_aval, call->num_args + 1);
  for (size_t i = 0; i < call->num_args; i++) avals[i] = aval(a, &call->args[i], 1);
  JAX_CustomCallPartitioner_Partition_Args args = {
      .num_args = call->num_args,
      .op_args = avals,
      .op_result = aval(a, call->results, call->num_results),
      .backend_config = {call->config.data, call->config.len},
  };
  p->partition((JAX_CustomCallPartitioner_Callbacks *)(uintptr_t)p, &args);
  str said = view(args.header.error_msg);
  status s = args.header.has_error
                 ? status_make((status_code)args.header.code, STR_FMT, STR_ARG(said))
                 : read_answer(a, call, &args, out);
  if (args.header.cleanup_fn) args.header.cleanup_fn(args.header.data);
  return s;
}

/* The call's configuration is the function and what it is to be given. */
static status inspect(void *user, str config, const tile_assignment *tiles) {
  JAX_InspectSharding_Callback callback;
  (void)user;
  if (config.len != sizeof callback)
    return status_make(STATUS_INVALID_ARGUMENT, "@InspectSharding without a function to call");
  memcpy(&callback, config.data, sizeof callback);
  buf b;
  buf_init(&b, &mem_system);
  op_sharding_write(&b, tiles);
  if (!buf_ok(&b)) {
    buf_deinit(&b);
    return status_oom();
  }
  static char none[1];
  JAX_InspectSharding_Callback_Args args = {.sharding_spec = b.len ? b.data : none,
                                            .sharding_spec_size = b.len};
  callback.call(callback.data, &args);
  status s =
      args.error_txt ? status_make(STATUS_INTERNAL, "inspect_sharding: %s", args.error_txt) : NULL;
  if (args.error_txt && args.free_error) args.free_error(&args);
  buf_deinit(&b);
  return s;
}

void api_set_partitioners(compile_options *o) {
  o->knows_call = knows;
  o->batches_call = batches;
  o->partition_call = partition;
  o->inspect = inspect;
}
