/* Topologies: so many devices, a client's or nobody's yet, and what can be done without them. */
#include <stdio.h>

#include "pjrt/api.h"
#include "pjrt/proto.h"
#include "pjrt/slots.h"

/* ---- making ---- */

void api_description_init(PJRT_DeviceDescription *d, u32 id, u32 process, u32 slice) {
  d->head = handle_begin(API_DESCRIPTION);
  for (u32 k = 0; k < DEV_KIND_COUNT; k++) {
    d->memories[k] = (PJRT_MemoryDescription){handle_begin(API_MEMORY_DESCRIPTION), (dev_kind)k};
    d->memory_list[k] = &d->memories[k];
  }
  d->id = (int)id;
  d->process = (int)process;
  d->attributes[0] = (PJRT_NamedValue){.struct_size = PJRT_NamedValue_END,
                                       .name = "slice_index",
                                       .name_size = strlen("slice_index"),
                                       .type = PJRT_NamedValue_kInt64,
                                       .int64_value = slice,
                                       .value_size = 1};
  snprintf(d->to_string, sizeof d->to_string, "TerrazzoDevice(id=%u)", id);
  snprintf(d->debug_string, sizeof d->debug_string, API_DEVICE_KIND ":%u", id);
}

/* Of n devices that are not there: one block, the topology, the list, the descriptions. */
static status make(u32 n, PJRT_TopologyDescription **out) {
  typedef struct block {
    PJRT_TopologyDescription topology;
    PJRT_DeviceDescription *list[];
  } block;
  *out = NULL;
  size_t lists = sizeof(block) + n * sizeof(PJRT_DeviceDescription *);
  block *b = mem_zalloc(&mem_system, lists + n * sizeof(PJRT_DeviceDescription));
  if (!b) return status_oom();
  PJRT_DeviceDescription *d = (PJRT_DeviceDescription *)(void *)((char *)b + lists);
  for (u32 i = 0; i < n; i++) {
    api_description_init(&d[i], i, 0, 0);
    b->list[i] = &d[i];
  }
  b->topology = (PJRT_TopologyDescription){
      .head = handle_begin(API_TOPOLOGY),
      .num_devices = n,
      .descriptions = b->list,
      .own_bytes = lists + n * sizeof(PJRT_DeviceDescription),
  };
  *out = &b->topology;
  return NULL;
}

/* "8", or "4x2": as many as their product. */
static status read_name(str name, u32 *out) {
  u64 n = 1, part = 0;
  bool digits = false, bad = false;
  for (size_t i = 0; i <= name.len && !bad; i++) {
    char c = i < name.len ? name.data[i] : 'x';
    if (c >= '0' && c <= '9') {
      part = part * 10 + (u64)(c - '0');
      digits = true;
    } else if (c == 'x' && digits) {
      n *= part;
      part = 0;
      digits = false;
    } else {
      bad = true;
    }
    bad = bad || part > DEV_MAX_DEVICES || n > DEV_MAX_DEVICES;
  }
  if (bad || n == 0)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "topology '" STR_FMT "': expected a number of devices from 1 to %d, or "
                       "numbers with 'x' between them",
                       STR_ARG(name), DEV_MAX_DEVICES);
  *out = (u32)n;
  return NULL;
}

/* The name says how many, or what says it to a client does. */
status api_topology_description_create(PJRT_TopologyDescription_Create_Args *a) {
  str name = {a->topology_name, a->topology_name_size};
  u32 n;
  a->topology = NULL;
  RETURN_IF_ERROR(api_choose_num_devices(a->create_options, a->num_options, &n));
  if (name.len) RETURN_IF_ERROR(read_name(name, &n));
  return make(n, &a->topology);
}

status api_topology_description_destroy(PJRT_TopologyDescription_Destroy_Args *a) {
  PJRT_TopologyDescription *t = a->topology;
  if (!t->own_bytes) return NULL; /* a part of its client */
  for (size_t i = 0; i < t->num_devices; i++) handle_end(&t->descriptions[i]->head);
  handle_end(&t->head);
  mem_free(&mem_system, t, t->own_bytes);
  return NULL;
}

status api_client_topology_description(PJRT_Client_TopologyDescription_Args *a) {
  a->topology = &a->client->topology;
  return NULL;
}

/* ---- as bytes ---- */

static const char magic[8] = "TZTOPO01";
typedef struct serialized {
  char magic[8];
  u64 num_devices;
} serialized;

static void free_serialized(PJRT_SerializedTopology *p) {
  mem_free(&mem_system, p, sizeof(serialized));
}

status api_topology_description_serialize(PJRT_TopologyDescription_Serialize_Args *a) {
  serialized *s = mem_alloc(&mem_system, sizeof *s);
  if (!s) return status_oom();
  memcpy(s->magic, magic, sizeof magic);
  s->num_devices = a->topology->num_devices;
  a->serialized_bytes = (const char *)s;
  a->serialized_bytes_size = sizeof *s;
  a->serialized_topology = (PJRT_SerializedTopology *)s;
  a->serialized_topology_deleter = free_serialized;
  return NULL;
}

status api_topology_description_deserialize(PJRT_TopologyDescription_Deserialize_Args *a) {
  serialized s;
  a->topology = NULL;
  if (a->serialized_topology_size == sizeof s) memcpy(&s, a->serialized_topology, sizeof s);
  if (a->serialized_topology_size != sizeof s || memcmp(s.magic, magic, sizeof magic) != 0 ||
      s.num_devices == 0 || s.num_devices > DEV_MAX_DEVICES)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "PJRT_TopologyDescription_Deserialize: not a topology serialized by this "
                       "version of Terrazzo");
  return make((u32)s.num_devices, &a->topology);
}

/* ---- questions ---- */

status api_topology_description_platform_name(PJRT_TopologyDescription_PlatformName_Args *a) {
  return API_TEXT(a, platform_name, API_PLATFORM_NAME);
}

status api_topology_description_platform_version(PJRT_TopologyDescription_PlatformVersion_Args *a) {
  return API_TEXT(a, platform_version, API_PLATFORM_VERSION);
}

status api_topology_description_get_device_descriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args *a) {
  a->descriptions = a->topology->descriptions;
  a->num_descriptions = a->topology->num_devices;
  return NULL;
}

status api_topology_description_attributes(PJRT_TopologyDescription_Attributes_Args *a) {
  a->attributes = NULL;
  a->num_attributes = 0;
  return NULL;
}

status api_topology_description_fingerprint(PJRT_TopologyDescription_Fingerprint_Args *a) {
  u64 n = a->topology->num_devices;
  a->fingerprint = hash_u64(n, hash_bytes(API_PLATFORM_VERSION, strlen(API_PLATFORM_VERSION), 0));
  return NULL;
}

/* Kinds of memory have the same numbers everywhere (PJRT_Memory_Kind_Id). */
status api_topology_description_get_memory_space_kind_ids(
    PJRT_TopologyDescription_GetMemorySpaceKindIds_Args *a) {
  static const int ids[DEV_KIND_COUNT] = {DEV_KIND_DEVICE, DEV_KIND_PINNED_HOST,
                                          DEV_KIND_UNPINNED_HOST};
  a->memory_space_kind_ids = ids;
  a->num_memory_space_kind_ids = DEV_KIND_COUNT;
  return NULL;
}

/* ---- the canonical shape: dense, row-major unless a layout is given ----
 *
 * A serialized xla.ShapeProto { 2 element_type, 3 dimensions, 5 layout { 1 minor_to_major,
 * 8 memory_space } }, whose numbers of types are xla_data.proto's. */

static u32 primitive_type(PJRT_Buffer_Type t) {
  static const u8 types[] = {
      [PJRT_Buffer_Type_PRED] = 1,
      [PJRT_Buffer_Type_S8] = 2,
      [PJRT_Buffer_Type_S16] = 3,
      [PJRT_Buffer_Type_S32] = 4,
      [PJRT_Buffer_Type_S64] = 5,
      [PJRT_Buffer_Type_U8] = 6,
      [PJRT_Buffer_Type_U16] = 7,
      [PJRT_Buffer_Type_U32] = 8,
      [PJRT_Buffer_Type_U64] = 9,
      [PJRT_Buffer_Type_F16] = 10,
      [PJRT_Buffer_Type_F32] = 11,
      [PJRT_Buffer_Type_F64] = 12,
      [PJRT_Buffer_Type_C64] = 15,
      [PJRT_Buffer_Type_BF16] = 16,
      [PJRT_Buffer_Type_TOKEN] = 17,
      [PJRT_Buffer_Type_C128] = 18,
      [PJRT_Buffer_Type_F8E5M2] = 19,
      [PJRT_Buffer_Type_F8E4M3FN] = 20,
      [PJRT_Buffer_Type_S4] = 21,
      [PJRT_Buffer_Type_U4] = 22,
      [PJRT_Buffer_Type_F8E4M3B11FNUZ] = 23,
      [PJRT_Buffer_Type_F8E5M2FNUZ] = 24,
      [PJRT_Buffer_Type_F8E4M3FNUZ] = 25,
      [PJRT_Buffer_Type_S2] = 26,
      [PJRT_Buffer_Type_U2] = 27,
      [PJRT_Buffer_Type_F8E4M3] = 28,
      [PJRT_Buffer_Type_F8E3M4] = 29,
      [PJRT_Buffer_Type_S1] = 30,
      [PJRT_Buffer_Type_U1] = 31,
      [PJRT_Buffer_Type_F4E2M1FN] = 32,
      [PJRT_Buffer_Type_F8E8M0FNU] = 33,
  };
  return (unsigned)t < COUNT(types) ? types[t] : 0;
}

/* Tiled layouts list the dimensions; strides are of no canonical shape. As in shape.c, the struct's
 * size says nothing. */
static status check_layout(const PJRT_Buffer_MemoryLayout *l, size_t rank) {
  if (!l) return NULL;
  if (l->type != PJRT_Buffer_MemoryLayout_Type_Tiled || l->tiled.num_tiles)
    return status_make(STATUS_UNIMPLEMENTED, "only layouts by order of dimensions, without tiles");
  bool seen[64] = {false};
  if (l->tiled.minor_to_major_size != rank || (rank && !l->tiled.minor_to_major))
    return status_make(STATUS_INVALID_ARGUMENT, "a layout of %zu dimensions for %zu",
                       l->tiled.minor_to_major_size, rank);
  for (size_t i = 0; i < rank; i++) {
    i64 d = l->tiled.minor_to_major[i];
    if (d < 0 || (u64)d >= rank || seen[d])
      return status_make(STATUS_INVALID_ARGUMENT, "a layout is a permutation of the dimensions");
    seen[d] = true;
  }
  return NULL;
}

/* The deleter is not told how much: that stands before the bytes. */
typedef struct shape_bytes {
  size_t size;
  char bytes[];
} shape_bytes;

static void free_shape(const char *bytes) {
  shape_bytes *b = (shape_bytes *)(void *)(uintptr_t)(bytes - offsetof(shape_bytes, bytes));
  mem_free(&mem_system, b, sizeof *b + b->size);
}

static void put_shape(buf *out,
                      const PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args *a) {
  buf dims, order, layout;
  buf_init(&dims, &mem_system);
  buf_init(&order, &mem_system);
  buf_init(&layout, &mem_system);
  for (size_t i = 0; i < a->num_dims; i++) {
    proto_put_varint(&dims, (u64)a->dims[i]);
    proto_put_varint(&order,
                     a->layout ? (u64)a->layout->tiled.minor_to_major[i] : a->num_dims - 1 - i);
  }
  proto_put_int(out, 2, primitive_type(a->element_type));
  if (a->num_dims) {
    proto_put_bytes(out, 3, buf_view(&dims));
    proto_put_bytes(&layout, 1, buf_view(&order));
  }
  if (a->memory_space_kind_id) proto_put_int(&layout, 8, (u64)a->memory_space_kind_id);
  proto_put_bytes(out, 5, buf_view(&layout));
  out->failed |= !buf_ok(&dims) || !buf_ok(&order) || !buf_ok(&layout);
  buf_deinit(&dims);
  buf_deinit(&order);
  buf_deinit(&layout);
}

status api_topology_description_make_canonical_shape_for_memory_space(
    PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace_Args *a) {
  enum { MAX_RANK = 64 };
  if (a->memory_space_kind_id < 0 || a->memory_space_kind_id >= DEV_KIND_COUNT)
    return status_make(STATUS_INVALID_ARGUMENT, "no kind of memory has the number %d",
                       a->memory_space_kind_id);
  if (!primitive_type(a->element_type))
    return status_make(STATUS_INVALID_ARGUMENT, "element type %d is unknown", (int)a->element_type);
  if (a->num_dims > MAX_RANK) return status_make(STATUS_INVALID_ARGUMENT, "too many dimensions");
  for (size_t i = 0; i < a->num_dims; i++)
    if (a->dims[i] < 0) return status_make(STATUS_INVALID_ARGUMENT, "a dimension is negative");
  RETURN_IF_ERROR(check_layout(a->layout, a->num_dims));
  buf b;
  buf_init(&b, &mem_system);
  put_shape(&b, a);
  size_t n = b.len;
  shape_bytes *bytes = buf_ok(&b) ? mem_alloc(&mem_system, sizeof *bytes + n) : NULL;
  if (bytes) {
    bytes->size = n;
    memcpy(bytes->bytes, b.data, n);
    a->serialized_shape = bytes->bytes;
  }
  a->serialized_shape_size = n;
  a->serialized_shape_deleter = free_shape;
  buf_deinit(&b);
  return bytes ? NULL : status_oom();
}

/* ---- extension: memories of devices that are not there ---- */

status
api_device_description_memory_descriptions(PJRT_DeviceDescription_MemoryDescriptions_Args *a) {
  a->memory_descriptions = a->device_description->memory_list;
  a->num_memory_descriptions = DEV_KIND_COUNT;
  a->default_memory_index = DEV_KIND_DEVICE;
  return NULL;
}

status api_memory_description_kind(PJRT_MemoryDescription_Kind_Args *a) {
  a->kind = dev_kind_names[a->memory_description->kind];
  a->kind_size = strlen(a->kind);
  a->kind_id = (int)a->memory_description->kind;
  return NULL;
}
