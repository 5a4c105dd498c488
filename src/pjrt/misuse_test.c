/* Calls that no framework would make: random handles, also of other kinds and clients, random
 * sizes, types, layouts and struct_sizes, from several threads at once on shared objects. Each call
 * gives a result or an error that says something; nothing crashes, hangs, leaks or races.
 *
 *   pjrt_misuse_test [ROUNDS [SEED]]    20,000 by default; make test runs that
 *
 * What a caller alone can know stays right: pointers point to memory of the size that goes with
 * them, and a handle is not used after it was destroyed. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/base.h"
#include "tests/pjrt.h"

enum { THREADS = 4, CLIENTS = 2, DEVICES = 3, OBJECTS = 8, PROGRAMS = 6, RANKS = 70 };

/* A handle that several threads use: destroyed when the last lets it go. */
enum { BUFFER, LOADED, EXECUTABLE, EVENT, KINDS };
typedef struct object {
  atomic_int refs;
  int kind;
  void *handle;
} object;

typedef struct world {
  PJRT_Client *clients[CLIENTS];
  PJRT_Device *const *devices[CLIENTS];
  PJRT_Memory *const *memories[CLIENTS];
  PJRT_TopologyDescription *topology;
  pthread_mutex_t lock;
  object *objects[KINDS][OBJECTS]; /* under lock; NULL: none */
  atomic_long left, worked, executions;
} world;

/* A thread, and what it may let go when its call is over. */
typedef struct hand {
  world *w;
  u64 random;
  u32 num_taken;
  object *taken[16];
} hand;

/* Sizes that cannot be had are an error here, not the end of the process. */
API const char *__asan_default_options(void);
API const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

static _Alignas(64) char host[1 << 12]; /* read by copies, never written */

static u32 pick(hand *h, u32 n) {
  h->random = h->random * 6364136223846793005u + 1442695040888963407u;
  return (u32)(h->random >> 33) % n;
}
static bool chance(hand *h, u32 one_in) { return pick(h, one_in) == 0; }

static const char adds[] =
    "module @add { func.func @main(%x: tensor<2x3xf32> {tf.aliasing_output = 0 : i32},\n"
    "    %y: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
    "  %z = stablehlo.add %x, %y : tensor<2x3xf32>\n"
    "  return %z : tensor<2x3xf32> } }";
static const char swaps[] =
    "module @swap { func.func @main(%x: tensor<2x3xf32> {tf.aliasing_output = 1 : i32},\n"
    "    %y: tensor<2x3xf32> {tf.aliasing_output = 0 : i32})\n"
    "    -> (tensor<2x3xf32>, tensor<2x3xf32>) {\n"
    "  return %y, %x : tensor<2x3xf32>, tensor<2x3xf32> } }";
static const char makes[] = "module @make { func.func @main() -> tensor<2x3xf32> {\n"
                            "  %x = stablehlo.constant dense<1.0> : tensor<2x3xf32>\n"
                            "  return %x : tensor<2x3xf32> } }";
static const char sums[] =
    "module @sum attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @m = <[\"x\"=2]>\n"
    "  func.func @main(%x: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>})\n"
    "      -> tensor<3xf32> {\n"
    "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %y = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]\n"
    "        : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>\n"
    "    return %y : tensor<3xf32> } }";

/* ---- objects ---- */

static void destroy(int kind, void *handle) {
  if (kind == BUFFER) destroy_buffer(handle);
  if (kind == LOADED) destroy_loaded(handle);
  if (kind == EVENT) destroy_event(handle);
  if (kind == EXECUTABLE) {
    OK(Executable_Destroy, a, .executable = handle);
  }
}

static void let_go(object *o) {
  if (!o || atomic_fetch_sub(&o->refs, 1) != 1) return;
  destroy(o->kind, o->handle);
  free(o);
}

/* Puts a handle in a random place, instead of what is there. */
static void keep(hand *h, int kind, void *handle) {
  if (!handle) return;
  object *o = malloc(sizeof *o);
  if (!o) abort();
  *o = (object){.kind = kind, .handle = handle};
  atomic_init(&o->refs, 1);
  u32 at = pick(h, OBJECTS);
  pthread_mutex_lock(&h->w->lock);
  object *old = h->w->objects[kind][at];
  h->w->objects[kind][at] = o;
  pthread_mutex_unlock(&h->w->lock);
  let_go(old);
}

/* A handle for a field that wants one of this kind: mostly that, sometimes NULL or another. */
static void *some(hand *h, int kind) {
  if (chance(h, 30)) return NULL;
  if (chance(h, 30)) return h->w->devices[pick(h, CLIENTS)][pick(h, DEVICES)];
  if (chance(h, 30)) kind = (int)pick(h, KINDS);
  object *o = NULL;
  pthread_mutex_lock(&h->w->lock);
  for (u32 i = pick(h, OBJECTS), n = 0; n < OBJECTS && !o; n++, i = (i + 1) % OBJECTS)
    o = h->w->objects[kind][i];
  if (o) atomic_fetch_add(&o->refs, 1);
  pthread_mutex_unlock(&h->w->lock);
  if (!o) return NULL;
  if (h->num_taken == COUNT(h->taken)) let_go(h->taken[--h->num_taken]);
  h->taken[h->num_taken++] = o;
  return o->handle;
}

static PJRT_Client *a_client(hand *h) {
  if (chance(h, 30)) return some(h, BUFFER);
  return h->w->clients[chance(h, 9)];
}
static PJRT_Device *a_device(hand *h) {
  if (!chance(h, 5)) return NULL;
  if (chance(h, 30)) return some(h, EVENT);
  return h->w->devices[pick(h, CLIENTS)][pick(h, DEVICES)];
}
static PJRT_Memory *a_memory(hand *h) {
  if (!chance(h, 5)) return NULL;
  return h->w->memories[pick(h, CLIENTS)][pick(h, 3 * DEVICES)];
}
static size_t a_size(hand *h, size_t end) {
  size_t odd[] = {0, 8, end - 8, end + 8, SIZE_MAX};
  return chance(h, 30) ? odd[pick(h, COUNT(odd))] : end;
}

/* ---- calls ---- */

/* Sizes that are either small or cannot be had. */
typedef struct shape {
  int64_t dims[RANKS], strides[RANKS];
  size_t rank;
  PJRT_Buffer_Type type;
  PJRT_Buffer_MemoryLayout layout;
  bool has_layout, has_strides;
} shape;

static void random_layout(hand *h, shape *s) {
  static const int64_t strides[] = {4, 12, 24, 8, 0, -4, INT64_MAX, INT64_MIN};
  bool tiles = chance(h, 2);
  size_t rank = chance(h, 10) ? pick(h, 3) : s->rank;
  for (size_t i = 0; i < RANKS; i++)
    s->strides[i] = tiles ? (int64_t)(s->rank - 1 - i) : strides[pick(h, COUNT(strides))];
  if (tiles && rank > 1 && chance(h, 2)) s->strides[0] = chance(h, 2) ? -1 : 0;
  s->layout = (PJRT_Buffer_MemoryLayout){.struct_size = a_size(h, PJRT_Buffer_MemoryLayout_END),
                                         .type = tiles ? PJRT_Buffer_MemoryLayout_Type_Tiled
                                                       : PJRT_Buffer_MemoryLayout_Type_Strides};
  if (tiles)
    s->layout.tiled = (PJRT_Buffer_MemoryLayout_Tiled){
        .minor_to_major = s->strides, .minor_to_major_size = rank, .num_tiles = chance(h, 20)};
  else
    s->layout.strides = (PJRT_Buffer_MemoryLayout_Strides){
        .byte_strides = chance(h, 20) ? NULL : s->strides, .num_byte_strides = rank};
  if (chance(h, 30)) s->layout.type = 9;
}

static void random_shape(hand *h, shape *s) {
  static const int64_t odd[] = {0, 1, 2, -1, (int64_t)1 << 50, INT64_MAX, INT64_MIN};
  *s = (shape){.rank = 2, .dims = {2, 3}, .type = PJRT_Buffer_Type_F32};
  if (chance(h, 8)) {
    s->rank = chance(h, 8) ? pick(h, RANKS) : pick(h, 4);
    for (size_t i = 0; i < s->rank; i++) s->dims[i] = odd[chance(h, 4) ? pick(h, 7) : pick(h, 2)];
  }
  if (chance(h, 12)) s->type = pick(h, 45);
  s->has_layout = chance(h, 5);
  random_layout(h, s);
}

/* Drops the error, which says something. */
static bool worked(hand *h, PJRT_Error *e) {
  if (e) check_error(e, PJRT_Error_Code_OK, "");
  atomic_fetch_add(&h->w->worked, !e);
  return !e;
}
#define TRY(function, a, ...)                                                                      \
  CALL(function, a, __VA_ARGS__);                                                                  \
  bool a##_ok = worked(h, a##_error);                                                              \
  (void)a##_ok

static void call_put(hand *h) {
  static const int64_t strides[] = {12, 4};
  shape s;
  random_shape(h, &s);
  bool strided = chance(h, 4);
  PJRT_Client_BufferFromHostBuffer_Args a = {
      .struct_size = a_size(h, PJRT_Client_BufferFromHostBuffer_Args_END),
      .client = a_client(h),
      .data = chance(h, 20) ? NULL : host,
      .type = s.type,
      .dims = chance(h, 20) ? NULL : s.dims,
      .num_dims = s.rank,
      .byte_strides = strided ? strides : NULL,
      .num_byte_strides = strided ? s.rank == 2 ? 2 : s.rank + 1 : 0,
      .host_buffer_semantics = chance(h, 30) ? 9 : pick(h, 3), /* never written, see `host` */
      .device = a_device(h),
      .memory = a_memory(h),
      .device_layout = s.has_layout ? &s.layout : NULL};
  if (!worked(h, GetPjrtApi()->PJRT_Client_BufferFromHostBuffer(&a))) return;
  keep(h, BUFFER, a.buffer);
  keep(h, EVENT, a.done_with_host_buffer);
}

static void call_make(hand *h) {
  shape s;
  random_shape(h, &s);
  TRY(Client_CreateUninitializedBuffer, a, .client = a_client(h), .shape_dims = s.dims,
      .shape_num_dims = s.rank, .shape_element_type = s.type, .device = a_device(h),
      .memory = a_memory(h), .shape_layout = s.has_layout ? &s.layout : NULL);
  if (a_ok) keep(h, BUFFER, a.buffer);
  TRY(Client_CreateErrorBuffer, e, .client = a_client(h), .error_code = pick(h, 40),
      .error_message = chance(h, 4) ? NULL : "why", .error_message_size = 1 + pick(h, 3),
      .shape_dims = s.dims, .shape_num_dims = s.rank, .shape_element_type = s.type,
      .memory = a_memory(h));
  if (e_ok) keep(h, BUFFER, e.buffer);
  TRY(Client_CreateViewOfDeviceBuffer, v, .client = a_client(h),
      .device_buffer_ptr = chance(h, 9) ? NULL : host + pick(h, 3) * 8, .dims = s.dims,
      .num_dims = s.rank, .element_type = s.type, .device = a_device(h), .memory = a_memory(h));
  if (v_ok) keep(h, BUFFER, v.buffer);
}

static void finish(PJRT_Event *e) {
  CALL(Event_Await, a, .event = e);
  drop(a_error);
  destroy_event(e);
}

/* The memory goes when the call is over, so the transfer is waited for; views may be written
 * nowhere, so all have room of their own. */
static void call_read(hand *h) {
  shape s;
  random_shape(h, &s);
  size_t size = chance(h, 3) ? pick(h, 64) : 24;
  char *room = malloc(size + 1);
  TRY(Buffer_ToHostBuffer, a, .src = some(h, BUFFER), .dst = chance(h, 9) ? NULL : room,
      .dst_size = size, .host_layout = s.has_layout ? &s.layout : NULL);
  if (a_ok && a.event) finish(a.event);
  TRY(Buffer_CopyRawToHost, r, .buffer = some(h, BUFFER), .dst = chance(h, 9) ? NULL : room,
      .offset = chance(h, 9) ? INT64_MAX : (int64_t)pick(h, 30) - 3,
      .transfer_size = (int64_t)pick(h, (u32)size + 2) - 1);
  if (r_ok) finish(r.event);
  free(room);
}

static void call_copy(hand *h) {
  TRY(Buffer_CopyToMemory, m, .buffer = some(h, BUFFER), .dst_memory = a_memory(h));
  if (m_ok) keep(h, BUFFER, m.dst_buffer);
  TRY(Buffer_CopyToDevice, d, .buffer = some(h, BUFFER), .dst_device = a_device(h));
  if (d_ok) keep(h, BUFFER, d.dst_buffer);
}

/* What waits for a word of the caller's gets it before the call is over. */
static void call_alias(hand *h) {
  shape s;
  random_shape(h, &s);
  TRY(Client_CreateAliasBuffer, a, .client = a_client(h), .memory = a_memory(h),
      .shape_dims = s.dims, .shape_num_dims = s.rank, .shape_element_type = s.type,
      .shape_layout = s.has_layout ? &s.layout : NULL);
  /* what depends on the alias cannot be what it stands for, so it gets a new buffer */
  TRY(Client_CreateUninitializedBuffer, real, .client = a_client(h), .shape_dims = s.dims,
      .shape_num_dims = s.rank, .shape_element_type = chance(h, 4) ? PJRT_Buffer_Type_S8 : s.type);
  for (u32 tries = 0; a_ok && tries < 4; tries++) {
    PJRT_Buffer *with[] = {a.alias_buffer, real.buffer, (PJRT_Buffer *)h->w->devices[0][0], NULL};
    TRY(Client_FulfillAliasBuffer, f, .fulfill_alias_buffer_cb = a.fulfill_alias_buffer_cb,
        .buffer = with[tries], .status_code = tries < 3 ? 0 : pick(h, 9) + 1,
        .error_message = "why", .error_message_size = 3);
    if (f_ok) break;
  }
  if (a_ok) keep(h, BUFFER, a.alias_buffer);
  if (real_ok) keep(h, BUFFER, real.buffer);
  TRY(Buffer_Bitcast, b, .buffer = some(h, BUFFER), .element_type = s.type, .dims = s.dims,
      .num_dims = s.rank, .device_layout = s.has_layout ? &s.layout : NULL);
  if (b_ok) keep(h, BUFFER, b.out_buffer);
  TRY(Buffer_DonateWithControlDependency, d, .buffer = some(h, BUFFER));
  if (d_ok) {
    keep(h, BUFFER, d.out_buffer);
    d.dependency_ready_callback(&(PJRT_Buffer_DonateWithControlDependency_Callback_Args){
        .struct_size = PJRT_Buffer_DonateWithControlDependency_Callback_Args_END,
        .callback_data = d.callback_data,
        .error_code = chance(h, 3) ? pick(h, 40) : 0,
        .error_message = "why",
        .error_message_size = 3});
  }
  TRY(Buffer_CopyRawToHostFuture, r, .buffer = some(h, BUFFER),
      .offset = chance(h, 9) ? INT64_MAX : (int64_t)pick(h, 30) - 3,
      .transfer_size = (int64_t)pick(h, 24) - 1);
  if (r_ok) {
    char room[24];
    r.future_ready_callback(&(PJRT_Buffer_CopyRawToHostFuture_Callback_Args){
        .struct_size = PJRT_Buffer_CopyRawToHostFuture_Callback_Args_END,
        .callback_data = r.callback_data,
        .error_code = chance(h, 3) ? pick(h, 40) : 0,
        .error_message = "why",
        .error_message_size = 3,
        .dst = chance(h, 4) ? NULL : room});
    finish(r.event);
  }
  TRY(Client_DmaMap, m, .client = a_client(h), .data = chance(h, 9) ? NULL : host + pick(h, 3),
      .size = pick(h, 64));
  TRY(Client_DmaUnmap, u, .client = a_client(h), .data = chance(h, 9) ? NULL : host + pick(h, 3));
}

static void feed(hand *h, PJRT_AsyncHostToDeviceTransferManager *m, const shape *s) {
  int i = (int)pick(h, 5) - 1;
  TRY(AsyncHostToDeviceTransferManager_BufferSize, n, .transfer_manager = m, .buffer_index = i);
  TRY(AsyncHostToDeviceTransferManager_TransferData, t, .transfer_manager = m, .buffer_index = i,
      .data = chance(h, 9) ? NULL : host,
      .offset = chance(h, 9) ? INT64_MAX : (int64_t)pick(h, 30) - 3,
      .transfer_size = (int64_t)pick(h, 30) - 1, .is_last_transfer = chance(h, 4));
  if (t_ok) keep(h, EVENT, t.done_with_h2d_transfer);
  if (chance(h, 3)) {
    TRY(AsyncHostToDeviceTransferManager_TransferLiteral, l, .transfer_manager = m,
        .buffer_index = i, .data = chance(h, 9) ? NULL : host,
        .shape_dims = chance(h, 9) ? NULL : s->dims, .shape_num_dims = s->rank,
        .shape_element_type = s->type);
    if (l_ok) keep(h, EVENT, l.done_with_h2d_transfer);
  }
  if (chance(h, 9)) {
    TRY(AsyncHostToDeviceTransferManager_SetBufferError, e, .transfer_manager = m,
        .buffer_index = i, .error_code = pick(h, 40), .error_message = chance(h, 4) ? NULL : "why",
        .error_message_size = 1 + pick(h, 3));
  }
  TRY(AsyncHostToDeviceTransferManager_RetrieveBuffer, r, .transfer_manager = m, .buffer_index = i);
  if (r_ok) keep(h, BUFFER, r.buffer_out);
}

static void call_feed(hand *h) {
  shape s[3];
  PJRT_ShapeSpec specs[3];
  PJRT_Buffer_MemoryLayout *layouts[3];
  for (int i = 0; i < 3; i++) {
    random_shape(h, &s[i]);
    specs[i] = (PJRT_ShapeSpec){.struct_size = a_size(h, PJRT_ShapeSpec_END),
                                .dims = chance(h, 20) ? NULL : s[i].dims,
                                .num_dims = s[i].rank,
                                .element_type = s[i].type};
    layouts[i] = s[i].has_layout ? &s[i].layout : NULL;
  }
  TRY(Client_CreateBuffersForAsyncHostToDevice, a, .client = a_client(h),
      .shape_specs = chance(h, 20) ? NULL : specs, .num_shape_specs = pick(h, 4),
      .device_layouts = chance(h, 3) ? layouts : NULL, .num_device_layouts = chance(h, 3) ? 3 : 0,
      .memory = a_memory(h));
  PJRT_AsyncHostToDeviceTransferManager *m = a.transfer_manager;
  TRY(AsyncHostToDeviceTransferManager_BufferCount, n, .transfer_manager = m);
  TRY(AsyncHostToDeviceTransferManager_Device, d, .transfer_manager = m);
  for (u32 i = pick(h, 6); i > 0; i--) feed(h, m, &s[pick(h, 3)]);
  TRY(AsyncHostToDeviceTransferManager_Destroy, end, .transfer_manager = m);
}

static void call_ask(hand *h) {
  PJRT_Buffer *b = some(h, BUFFER);
  TRY(Buffer_Dimensions, dims, .buffer = b);
  TRY(Buffer_GetMemoryLayout, layout, .buffer = b);
  TRY(Buffer_Memory, memory, .buffer = b);
  TRY(Buffer_UnsafePointer, pointer, .buffer = b);
  TRY(Buffer_ReadyEvent, ready, .buffer = b);
  if (ready_ok) keep(h, EVENT, ready.event);
  TRY(Buffer_IncreaseExternalReferenceCount, up, .buffer = b);
  TRY(Buffer_DecreaseExternalReferenceCount, down, .buffer = chance(h, 9) ? some(h, BUFFER) : b);
  TRY(Device_MemoryStats, stats, .device = a_device(h));
  TRY(Memory_Kind, kind, .memory = a_memory(h));
  TRY(Client_LookupDevice, look, .client = a_client(h), .id = (int)pick(h, 9) - 3);
  TRY(TopologyDescription_Fingerprint, print,
      .topology = chance(h, 9) ? some(h, EVENT) : h->w->topology);
  int ids[4];
  TRY(Client_DefaultDeviceAssignment, assign, .client = a_client(h),
      .num_replicas = (int)pick(h, 4) - 1, .num_partitions = (int)pick(h, 4) - 1,
      .default_assignment = ids, .default_assignment_size = pick(h, 5));
  if (chance(h, 8)) {
    TRY(Buffer_Delete, del, .buffer = b);
  }
}

static void nothing(PJRT_Error *e, void *user) {
  (void)user;
  drop(e);
}

static void call_event(hand *h) {
  TRY(Event_Create, a, .event = NULL);
  if (a_ok) keep(h, EVENT, a.event);
  PJRT_Event *e = some(h, EVENT);
  TRY(Event_IsReady, is, .event = e);
  TRY(Event_Error, error, .event = e);
  TRY(Event_OnReady, on, .event = e, .callback = chance(h, 9) ? NULL : nothing, .user_arg = h);
  TRY(Event_Set, set, .event = some(h, EVENT), .error_code = pick(h, 40),
      .error_message = chance(h, 4) ? NULL : "why", .error_message_size = 1 + pick(h, 3));
  if (is_ok && is.is_ready) {
    TRY(Event_Await, wait, .event = e);
  }
}

static void call_compile(hand *h) {
  static const char *const texts[PROGRAMS] = {adds, swaps, makes, sums, adds, swaps};
  static const char options[] = {0x1a, 4, 0x20, 2, 0x28, 1};
  const char *text = texts[pick(h, PROGRAMS)];
  size_t cut = chance(h, 4) ? pick(h, (u32)strlen(text)) : strlen(text);
  PJRT_Program p = {.struct_size = a_size(h, PJRT_Program_END),
                    .code = chance(h, 20) ? NULL : (char *)(uintptr_t)text,
                    .code_size = cut,
                    .format = "mlir",
                    .format_size = chance(h, 20) ? 3 : 4};
  TRY(Client_Compile, a, .client = a_client(h), .program = chance(h, 20) ? NULL : &p,
      .compile_options = chance(h, 9) ? NULL : options,
      .compile_options_size = chance(h, 3) ? pick(h, 7) : 0);
  if (a_ok) keep(h, LOADED, a.executable);
}

static void call_topology(hand *h) {
  static const char name[] = "2x-3";
  TRY(TopologyDescription_Create, t, .topology_name = chance(h, 9) ? NULL : name,
      .topology_name_size = pick(h, 5));
  PJRT_TopologyDescription *of = t_ok ? t.topology : h->w->topology;
  if (chance(h, 9)) of = some(h, EVENT);
  TRY(TopologyDescription_Serialize, bytes, .topology = of);
  if (bytes_ok) {
    TRY(TopologyDescription_Deserialize, back, .serialized_topology = bytes.serialized_bytes,
        .serialized_topology_size = chance(h, 4) ? pick(h, 16) : bytes.serialized_bytes_size);
    if (back_ok) {
      OK(TopologyDescription_Destroy, a, .topology = back.topology);
    }
    bytes.serialized_topology_deleter(bytes.serialized_topology);
  }
  shape s;
  random_shape(h, &s);
  TRY(TopologyDescription_MakeCanonicalShapeForMemorySpace, canonical, .topology = of,
      .dims = chance(h, 9) ? NULL : s.dims, .num_dims = s.rank, .element_type = s.type,
      .memory_space_kind_id = (int)pick(h, 5) - 1, .layout = s.has_layout ? &s.layout : NULL);
  if (canonical_ok) canonical.serialized_shape_deleter(canonical.serialized_shape);
  PJRT_Program p = {.struct_size = PJRT_Program_END,
                    .code = (char *)(uintptr_t)adds,
                    .code_size = sizeof adds - 1,
                    .format = "mlir",
                    .format_size = 4};
  TRY(Compile, c, .topology = of, .program = chance(h, 20) ? NULL : &p);
  if (c_ok) keep(h, EXECUTABLE, c.executable);
  TRY(Client_Load, load, .client = a_client(h), .executable = some(h, EXECUTABLE));
  if (load_ok) keep(h, LOADED, load.loaded_executable);
  if (t_ok) {
    OK(TopologyDescription_Destroy, a, .topology = t.topology);
  }
}

static void call_loaded(hand *h) {
  PJRT_LoadedExecutable *l = some(h, LOADED);
  TRY(LoadedExecutable_GetExecutable, get, .loaded_executable = l);
  if (get_ok) keep(h, EXECUTABLE, get.executable);
  PJRT_Executable *x = some(h, EXECUTABLE);
  TRY(Executable_OutputDimensions, dims, .executable = x);
  TRY(Executable_GetCompiledMemoryStats, stats, .executable = x);
  TRY(Executable_Serialize, bytes, .executable = x);
  if (bytes_ok) {
    char *copy = malloc(bytes.serialized_bytes_size);
    size_t size = bytes.serialized_bytes_size;
    memcpy(copy, bytes.serialized_bytes, size);
    bytes.serialized_executable_deleter(bytes.serialized_executable);
    if (chance(h, 2)) copy[pick(h, (u32)size)] ^= (char)(1 << pick(h, 8));
    TRY(Executable_DeserializeAndLoad, load, .client = a_client(h), .serialized_executable = copy,
        .serialized_executable_size = chance(h, 4) ? pick(h, (u32)size) : size);
    if (load_ok) keep(h, LOADED, load.loaded_executable);
    free(copy);
  }
  if (chance(h, 9)) {
    TRY(LoadedExecutable_Delete, del, .executable = l);
  }
}

static void call_poison(hand *h) {
  PJRT_Device *d = a_device(h);
  TRY(Device_PoisonExecution, a, .device = d, .launch_id = (int)pick(h, 2),
      .error_code = (PJRT_Error_Code)pick(h, 20), .error_message = chance(h, 3) ? NULL : "gone",
      .error_message_size = 4);
  TRY(Device_CreateAsyncTrackingEvent, t, .device = d, .description = chance(h, 3) ? NULL : "wait",
      .description_size = 4);
  if (t_ok) {
    TRY(AsyncTrackingEvent_Destroy, end, .event = t.event);
  }
}

static void call_execute(hand *h) {
  int64_t indices[2] = {(int64_t)pick(h, 4) - 1, INT64_MAX};
  PJRT_ExecuteOptions o = {.struct_size = a_size(h, PJRT_ExecuteOptions_END),
                           .non_donatable_input_indices = chance(h, 9) ? NULL : indices,
                           .num_non_donatable_input_indices = pick(h, 3)};
  PJRT_Buffer *args[DEVICES][4], *out[DEVICES][4] = {0};
  PJRT_Buffer *const *arg_lists[DEVICES];
  PJRT_Buffer **out_lists[DEVICES];
  PJRT_Event *events[DEVICES] = {0};
  for (u32 d = 0; d < DEVICES; d++) {
    for (u32 k = 0; k < 4; k++) args[d][k] = k && chance(h, 5) ? args[d][0] : some(h, BUFFER);
    arg_lists[d] = chance(h, 30) ? NULL : args[d];
    out_lists[d] = chance(h, 30) ? NULL : out[d];
  }
  TRY(LoadedExecutable_Execute, a, .executable = some(h, LOADED),
      .options = chance(h, 2) ? &o : NULL, .argument_lists = chance(h, 30) ? NULL : arg_lists,
      .num_devices = chance(h, 9) ? pick(h, DEVICES) : 1u + chance(h, 6),
      .num_args = chance(h, 6) ? pick(h, 4) : 2, .output_lists = chance(h, 30) ? NULL : out_lists,
      .device_complete_events = chance(h, 2) ? events : NULL, .execute_device = a_device(h));
  atomic_fetch_add(&h->w->executions, a_ok);
  for (u32 d = 0; d < DEVICES; d++) {
    CHECK(a_ok || (!events[d] && !out[d][0] && !out[d][1]));
    for (u32 k = 0; k < 4; k++) keep(h, BUFFER, out[d][k]);
    keep(h, EVENT, events[d]);
  }
}

static void *work(void *user) {
  typedef void call(hand * h);
  static call *const calls[] = {call_put,    call_put,      call_make,    call_read,
                                call_copy,   call_ask,      call_event,   call_compile,
                                call_loaded, call_topology, call_alias,   call_feed,
                                call_poison, call_execute,  call_execute, call_execute};
  hand *h = user;
  while (atomic_fetch_sub(&h->w->left, 1) > 0) {
    calls[pick(h, COUNT(calls))](h);
    while (h->num_taken) let_go(h->taken[--h->num_taken]);
  }
  return NULL;
}

int main(int argc, char **argv) {
  static world w;
  static hand hands[THREADS];
  pthread_t threads[THREADS];
  long calls = argc > 1 ? atol(argv[1]) : 20000;
  u64 seed = argc > 2 ? (u64)atoll(argv[2]) : 1;
  unsetenv("TERRAZZO_NUM_DEVICES");
  pthread_mutex_init(&w.lock, NULL);
  atomic_init(&w.left, calls);
  for (u32 i = 0; i < CLIENTS; i++) {
    w.clients[i] = make_client(DEVICES, 1 + i);
    OK(Client_Devices, d, .client = w.clients[i]);
    OK(Client_AddressableMemories, m, .client = w.clients[i]);
    OK(Client_TopologyDescription, t, .client = w.clients[i]);
    w.devices[i] = d.devices;
    w.memories[i] = m.addressable_memories;
    w.topology = t.topology;
  }
  for (u32 i = 0; i < THREADS; i++) hands[i] = (hand){.w = &w, .random = seed * THREADS + i};
  for (u32 i = 0; i < THREADS; i++) CHECK(!pthread_create(&threads[i], NULL, work, &hands[i]));
  for (u32 i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (u32 i = 0; i < KINDS * OBJECTS; i += 2) let_go(w.objects[i % KINDS][i / KINDS]);
  for (u32 i = 0; i < CLIENTS; i++) destroy_client(w.clients[i]);
  for (u32 i = 1; i < KINDS * OBJECTS; i += 2) let_go(w.objects[i % KINDS][i / KINDS]);
  printf("%ld rounds by %d threads: %ld calls worked, among them %ld executions\n", calls, THREADS,
         atomic_load(&w.worked), atomic_load(&w.executions));
  pthread_mutex_destroy(&w.lock);
  return UNIT_END();
}
