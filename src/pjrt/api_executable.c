/* Executables: compiling, loading on devices, serializing, and what is asked of them. */
#include <stdio.h>

#include "exec/denormals.h"
#include "pjrt/api.h"
#include "pjrt/log.h"
#include "pjrt/proto.h"
#include "pjrt/slots.h"

/* ---- making ---- */

PJRT_Executable *api_executable_retain(PJRT_Executable *e) {
  atomic_fetch_add_explicit(&e->refs, 1, memory_order_relaxed);
  return e;
}

void api_executable_release(PJRT_Executable *e) {
  if (!e || atomic_fetch_sub_explicit(&e->refs, 1, memory_order_acq_rel) != 1) return;
  if (e->exe) executable_release(e->exe);
  handle_end(&e->head);
  buf_deinit(&e->local_program);
  buf_deinit(&e->shell);
  pthread_mutex_destroy(&e->lock);
  arena_deinit(&e->memory);
  mem_free(&mem_system, e, sizeof *e);
}

static status fill_kind(api_tensors *t, size_t i, str kind) {
  dev_kind k = DEV_KIND_DEVICE;
  if (kind.len && !dev_kind_from_name(kind, &k))
    return status_make(STATUS_INVALID_ARGUMENT, "memory kind '" STR_FMT "' is unknown",
                       STR_ARG(kind));
  t->memory_kinds[i] = dev_kind_names[k];
  t->memory_kind_sizes[i] = strlen(dev_kind_names[k]);
  return NULL;
}

static status fill_tensors(arena *a, const compile_tensor *from, size_t n, api_tensors *t) {
  size_t num_dims = 0;
  for (size_t i = 0; i < n; i++) num_dims += api_tensor_dims(&from[i]).len;
  t->count = n;
  t->types = ARENA_ARRAY(a, PJRT_Buffer_Type, n);
  t->dims = ARENA_ARRAY(a, int64_t, num_dims);
  t->ranks = ARENA_ARRAY(a, size_t, n);
  t->memory_kinds = ARENA_ARRAY(a, const char *, n);
  t->memory_kind_sizes = ARENA_ARRAY(a, size_t, n);
  t->shardings = ARENA_ARRAY(a, const char *, n);
  t->sharding_sizes = ARENA_ARRAY(a, size_t, n);
  t->layouts = ARENA_ARRAY(a, PJRT_Layouts_MemoryLayout, n);
  t->layout_list = ARENA_ARRAY(a, PJRT_Layouts_MemoryLayout *, n);
  int64_t *dims = t->dims;
  for (size_t i = 0; i < n; i++) {
    i64s local = api_tensor_dims(&from[i]);
    t->types[i] = (PJRT_Buffer_Type)dtype_infos[api_tensor_type(&from[i])].pjrt;
    t->ranks[i] = local.len;
    if (local.len) memcpy(dims, local.data, local.len * sizeof *dims);
    dims += local.len;
    t->shardings[i] = from[i].op_sharding.data ? from[i].op_sharding.data : "";
    t->sharding_sizes[i] = from[i].op_sharding.len;
    t->layouts[i] = (PJRT_Layouts_MemoryLayout){
        .head = handle_begin(API_LAYOUT), .lent = true, .order = from[i].minor_to_major};
    if (!t->layouts[i].order.len) t->layouts[i].order = api_row_major(local.len);
    t->layout_list[i] = &t->layouts[i];
    RETURN_IF_ERROR(fill_kind(t, i, from[i].memory_kind));
  }
  return NULL;
}

static status check_positions(size_t num_devices, u32 replicas, u32 partitions) {
  u64 n = (u64)replicas * partitions;
  if (n <= num_devices) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT,
                     "the program runs on %llu devices (%u replicas of %u partitions), there "
                     "are %zu",
                     (unsigned long long)n, replicas, partitions, num_devices);
}

/* A serialized executable, taken apart. */
typedef struct serialized {
  str options, source, made;
} serialized;

/* What is held whole although it was sharded, which a program's text does not show. */
static void log_remarks(void *user, str lines) {
  (void)user;
  api_log_once(lines);
}

/* From its serialized form where that is of this version and for as many devices, else from the
 * source. */
static status make_executable(PJRT_Executable *e, const serialized *from) {
  compile_options o = {.num_partitions = e->options.num_partitions,
                       .dump_to = e->options.dump_to,
                       .num_replicas = e->options.num_replicas,
                       .layouts = true,
                       .remark = api_log_level ? log_remarks : NULL,
                       .evaluate = exec_evaluate};
  if (from) {
    api_options was;
    RETURN_IF_ERROR(api_options_read(&e->memory, from->options, &was));
    if (was.num_partitions == o.num_partitions && was.num_replicas == o.num_replicas) {
      status s = executable_deserialize(NULL, from->made, &e->exe);
      if (status_get_code(s) != STATUS_FAILED_PRECONDITION) return s;
      status_free(s);
    }
  }
  api_set_partitioners(&o);
  api_set_dialects(e->dialects, &o);
  return compile_source(e->source, &o, &e->exe);
}

/* Counts of devices are checked twice: as the options have them, before anything is compiled for
 * so many, and as the program then has them. */
static status fill(size_t num_devices, PJRT_Executable *e, str source, str options_bytes,
                   const serialized *from) {
  arena *a = &e->memory;
  e->source = arena_str(a, source);
  if (e->dialects)
    e->dialects = arena_printf(a, "%s", e->dialects).data; /* it outlives the client */
  e->options_bytes = arena_str(a, options_bytes);
  RETURN_IF_ERROR(api_options_read(a, e->options_bytes, &e->options));
  RETURN_IF_ERROR(check_positions(num_devices, e->options.num_replicas, e->options.num_partitions));
  RETURN_IF_ERROR(make_executable(e, from));
  const executable *x = e->exe;
  RETURN_IF_ERROR(check_positions(num_devices, x->num_replicas, x->num_partitions));
  if (e->options.assignment && (x->num_replicas != e->options.num_replicas ||
                                x->num_partitions != e->options.num_partitions))
    return status_make(STATUS_INVALID_ARGUMENT,
                       "the program is of %u replicas and %u partitions, its device assignment of "
                       "%u and %u",
                       x->num_replicas, x->num_partitions, e->options.num_replicas,
                       e->options.num_partitions);
  RETURN_IF_ERROR(fill_tensors(a, x->params, x->num_params, &e->params));
  RETURN_IF_ERROR(fill_tensors(a, x->results, x->num_results, &e->results));
  e->fingerprint = arena_printf(a, "%016llx", (unsigned long long)x->fingerprint);
  api_executable_find_cost(e);
  return NULL;
}

/* from: what it was serialized as, NULL if it is new. jaxlib compiles on threads that flush
 * denormals, which is not to change constants. */
static status create(size_t num_devices, const char *dialects, str source, str options_bytes,
                     const serialized *from, PJRT_Executable **out) {
  oom_trap trap;
  *out = NULL;
  PJRT_Executable *e = mem_zalloc(&mem_system, sizeof *e);
  if (!e) return status_oom();
  atomic_init(&e->refs, 1);
  e->head = handle_begin(API_EXECUTABLE);
  e->dialects = dialects;
  pthread_mutex_init(&e->lock, NULL);
  buf_init(&e->local_program, &mem_system);
  buf_init(&e->shell, &mem_system);
  arena_init(&e->memory, &mem_system, &trap);
  status s;
  u64 arithmetic = denormals_word();
  denormals_flush(false);
  if (setjmp(trap.at))
    s = status_oom();
  else
    s = fill(num_devices, e, source, options_bytes, from);
  denormals_set_word(arithmetic);
  if (s)
    api_executable_release(e);
  else
    *out = e;
  return s;
}

static void free_loaded(PJRT_LoadedExecutable *l) {
  PJRT_Client *c = l->client;
  api_drop_open(l);
  pthread_mutex_destroy(&l->lock);
  if (l->image) executor_image_release(c->on, l->image);
  ffi_program_release(l->handlers);
  api_executable_release(l->executable);
  arena_deinit(&l->memory);
  handle_end(&l->head);
  mem_free(&mem_system, l, sizeof *l);
  api_client_release(c);
}

static status place_devices(PJRT_LoadedExecutable *l, const api_options *options) {
  PJRT_Client *c = l->client;
  const executable *x = l->executable->exe;
  const u32 *assignment = options->assignment;
  u32 n = l->num_positions = x->num_replicas * x->num_partitions, first = api_first_of(c, n);
  l->all_ids = ARENA_ARRAY(&l->memory, u32, n);
  l->devices = ARENA_ARRAY(&l->memory, PJRT_Device *, n);
  l->device_ids = ARENA_ARRAY(&l->memory, u32, n);
  l->positions = ARENA_ARRAY(&l->memory, u32, n);
  l->logical_ids = ARENA_ARRAY(&l->memory, PJRT_LogicalDeviceIds, n);
  bool *taken = arena_zalloc(&l->memory, c->num_devices);
  for (u32 i = 0; i < n; i++) {
    u32 id = assignment ? assignment[i] : first + i;
    if (id >= c->num_devices || taken[id])
      return status_make(STATUS_INVALID_ARGUMENT,
                         id >= c->num_devices ? "device assignment: no device %u"
                                              : "device assignment: device %u occurs twice",
                         id);
    taken[id] = true;
    l->all_ids[i] = id;
    if (!api_is_local(c, id)) continue;
    size_t at = l->num_devices++;
    l->device_ids[at] = id;
    l->positions[at] = i;
    l->devices[at] = &c->devices[id];
    l->logical_ids[at] =
        (PJRT_LogicalDeviceIds){(int)(i / x->num_partitions), (int)(i % x->num_partitions)};
  }
  if (l->num_devices < n) api_processes_number(c, &l->memory, l);
  return NULL;
}

static void place_results(PJRT_LoadedExecutable *l) {
  const executable *x = l->executable->exe;
  l->alias = ARENA_ARRAY(&l->memory, i32, x->num_results);
  l->result_kind = ARENA_ARRAY(&l->memory, dev_kind, x->num_results);
  l->result_of = ARENA_ARRAY(&l->memory, i32, x->num_params);
  for (u32 p = 0; p < x->num_params; p++) l->result_of[p] = -1;
  for (u32 r = 0; r < x->num_results; r++) {
    l->result_kind[r] = DEV_KIND_DEVICE;
    (void)dev_kind_from_name(x->results[r].memory_kind, &l->result_kind[r]);
    l->alias[r] = x->prog->slots[x->prog->result_slot[r]].alias;
    if (l->alias[r] >= 0) l->result_of[l->alias[r]] = (i32)r;
  }
}

static void release_program(void *user) { executable_release(user); }

/* Other options than the program was compiled with may place it elsewhere. */
static status load(PJRT_LoadedExecutable *l, str options_bytes) {
  const executable *exe = l->executable->exe;
  api_options o = l->executable->options;
  if (options_bytes.len) {
    RETURN_IF_ERROR(api_options_read(&l->memory, options_bytes, &o));
    if ((o.num_replicas && o.num_replicas != exe->num_replicas) ||
        (o.num_partitions && o.num_partitions != exe->num_partitions))
      return status_make(STATUS_INVALID_ARGUMENT,
                         "options of %u replicas and %u partitions for a program of %u and %u",
                         o.num_replicas, o.num_partitions, exe->num_replicas, exe->num_partitions);
    if (!o.assignment) o.assignment = l->executable->options.assignment;
  }
  RETURN_IF_ERROR(place_devices(l, &o));
  place_results(l);
  l->meets = program_meets(l->executable->exe->prog);
  RETURN_IF_ERROR(ffi_program_create(l->executable->exe->prog, &l->handlers));
  executable *x = executable_retain(l->executable->exe);
  u64 arithmetic = denormals_word();
  denormals_flush(false);
  status s = executor_image_create(l->client->on, x->prog, release_program, x, &l->image);
  denormals_set_word(arithmetic);
  if (s) executable_release(x);
  return s;
}

/* Binds e, which it takes over, whether it succeeds or not, to devices by the assignment of these
 * options; without any, by that of its own. */
static status bind(PJRT_Client *c, PJRT_Executable *e, str options, PJRT_LoadedExecutable **out) {
  oom_trap trap;
  *out = NULL;
  PJRT_LoadedExecutable *l = mem_zalloc(&mem_system, sizeof *l);
  if (!l) {
    api_executable_release(e);
    return status_oom();
  }
  l->head = handle_begin(API_LOADED);
  pthread_mutex_init(&l->lock, NULL);
  l->client = api_client_retain(c);
  l->executable = e;
  arena_init(&l->memory, &mem_system, &trap);
  status s;
  if (setjmp(trap.at))
    s = status_oom();
  else
    s = load(l, options);
  if (s)
    free_loaded(l);
  else
    *out = l;
  return s;
}

static status compile_program(size_t num_devices, const char *dialects, const PJRT_Program *p,
                              str options, PJRT_Executable **out) {
  *out = NULL;
  RETURN_IF_ERROR(api_check_size("PJRT_Program", p, PJRT_Program_END));
  if (p->format_size && !p->format) return api_missing("PJRT_Program", "format");
  if (p->code_size && !p->code) return api_missing("PJRT_Program", "code");
  str format = {p->format, p->format_size};
  if (!str_is(format, "mlir"))
    return status_make(STATUS_UNIMPLEMENTED, "program format '" STR_FMT "': only 'mlir' is known",
                       STR_ARG(format));
  return create(num_devices, dialects, (str){p->code, p->code_size}, options, NULL, out);
}

status api_client_compile(PJRT_Client_Compile_Args *a) {
  PJRT_Executable *e;
  a->executable = NULL;
  RETURN_IF_ERROR(compile_program(a->client->num_devices, a->client->dialects, a->program,
                                  (str){a->compile_options, a->compile_options_size}, &e));
  str name = e->exe->name;
  RETURN_IF_ERROR(bind(a->client, e, STR(""), &a->executable));
  api_note(STR_FMT " %zu bytes for %zu devices -> executable %p", STR_ARG(name),
           a->program->code_size, a->executable->num_devices, (void *)a->executable);
  return NULL;
}

/* For devices that need not be there. */
status api_compile(PJRT_Compile_Args *a) {
  return compile_program(a->topology->num_devices, NULL, a->program,
                         (str){a->compile_options, a->compile_options_size}, &a->executable);
}

status api_client_load(PJRT_Client_Load_Args *a) {
  a->loaded_executable = NULL;
  return bind(a->client, api_executable_retain(a->executable),
              (str){a->compile_options, a->compile_options_size}, &a->loaded_executable);
}

status api_executable_destroy(PJRT_Executable_Destroy_Args *a) {
  api_executable_release(a->executable);
  return NULL;
}

status api_loaded_executable_destroy(PJRT_LoadedExecutable_Destroy_Args *a) {
  free_loaded(a->executable);
  return NULL;
}

/* ---- serialized ----
 * A header, then the compile options as JAX gave them, the source (for who asks for the program as
 * text, or has another version of Terrazzo), the executable. */

static const char magic[8] = "TZPJRT02";
typedef struct header {
  char magic[8];
  u64 sum;             /* of what follows the header */
  u64 options, source; /* bytes */
} header;

static void free_bytes(PJRT_SerializedExecutable *p) {
  buf *b = (buf *)p;
  buf_deinit(b);
  mem_free(&mem_system, b, sizeof *b);
}

/* A buf on the heap, as the holder that the API wants for bytes it hands out. */
static buf *new_bytes(void) {
  buf *b = mem_alloc(&mem_system, sizeof *b);
  if (b) buf_init(b, &mem_system);
  return b;
}

status api_executable_serialize(PJRT_Executable_Serialize_Args *a) {
  const PJRT_Executable *e = a->executable;
  buf *b = new_bytes();
  if (!b) return status_oom();
  header h = {.options = e->options_bytes.len, .source = e->source.len};
  memcpy(h.magic, magic, sizeof magic);
  buf_bytes(b, &h, sizeof h);
  buf_str(b, e->options_bytes);
  buf_str(b, e->source);
  executable_serialize(e->exe, b);
  if (!buf_ok(b)) {
    free_bytes((PJRT_SerializedExecutable *)b);
    return status_oom();
  }
  h.sum = hash_bytes(b->data + sizeof h, b->len - sizeof h, h.options ^ h.source);
  memcpy(b->data, &h, sizeof h);
  a->serialized_bytes = b->data;
  a->serialized_bytes_size = b->len;
  a->serialized_executable = (PJRT_SerializedExecutable *)b;
  a->serialized_executable_deleter = free_bytes;
  return NULL;
}

static status parse_serialized(str bytes, serialized *out) {
  header h;
  if (bytes.len < sizeof h || memcmp(bytes.data, magic, sizeof magic) != 0)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "not an executable serialized by this version of Terrazzo");
  memcpy(&h, bytes.data, sizeof h);
  bytes = str_from(bytes, sizeof h);
  if (h.options > bytes.len || h.source > bytes.len - h.options)
    return status_make(STATUS_DATA_LOSS, "the serialized executable is cut short");
  if (h.sum != hash_bytes(bytes.data, bytes.len, h.options ^ h.source))
    return status_make(STATUS_DATA_LOSS, "the serialized executable is damaged");
  out->options = (str){bytes.data, (size_t)h.options};
  bytes = str_from(bytes, (size_t)h.options);
  out->source = (str){bytes.data, (size_t)h.source};
  out->made = str_from(bytes, (size_t)h.source);
  return NULL;
}

/* Our devices are in no grid, and in one slice. */
static status check_load_options(const PJRT_LoadOptions *o) {
  if (!o) return NULL;
  RETURN_IF_ERROR(api_check_size("PJRT_LoadOptions", o, PJRT_LoadOptions_END));
  if (o->computation_origin_size)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "load options: computation_origin of %zu coordinates, and devices have none",
                       o->computation_origin_size);
  if (o->multi_slice_config)
    return status_make(STATUS_INVALID_ARGUMENT, "load options: there is one slice only");
  return NULL;
}

status api_executable_deserialize_and_load(PJRT_Executable_DeserializeAndLoad_Args *a) {
  serialized x;
  PJRT_Executable *e;
  a->loaded_executable = NULL;
  RETURN_IF_ERROR(check_load_options(a->load_options));
  RETURN_IF_ERROR(
      parse_serialized((str){a->serialized_executable, a->serialized_executable_size}, &x));
  str options = x.options;
  if (a->overridden_serialized_compile_options)
    options = (str){a->overridden_serialized_compile_options,
                    a->overridden_serialized_compile_options_size};
  RETURN_IF_ERROR(create(a->client->num_devices, a->client->dialects, x.source, options, &x, &e));
  RETURN_IF_ERROR(bind(a->client, e, STR(""), &a->loaded_executable));
  api_note("%zu bytes -> executable %p", a->serialized_executable_size,
           (void *)a->loaded_executable);
  return NULL;
}

static void keep_options(PJRT_SerializedCompileOptions *p) { (void)p; }

status api_executable_get_compile_options(PJRT_Executable_GetCompileOptions_Args *a) {
  a->serialized_bytes = a->executable->options_bytes.data; /* lives as long as the executable */
  a->serialized_bytes_size = a->executable->options_bytes.len;
  a->serialized_compile_options = NULL;
  a->serialized_compile_options_deleter = keep_options;
  return NULL;
}

/* ---- questions about an executable ---- */

status api_executable_name(PJRT_Executable_Name_Args *a) {
  a->executable_name = a->executable->exe->name.data;
  a->executable_name_size = a->executable->exe->name.len;
  return NULL;
}

status api_executable_num_replicas(PJRT_Executable_NumReplicas_Args *a) {
  a->num_replicas = a->executable->exe->num_replicas;
  return NULL;
}

status api_executable_num_partitions(PJRT_Executable_NumPartitions_Args *a) {
  a->num_partitions = a->executable->exe->num_partitions;
  return NULL;
}

status api_executable_num_outputs(PJRT_Executable_NumOutputs_Args *a) {
  a->num_outputs = a->executable->results.count;
  return NULL;
}

status
api_executable_size_of_generated_code_in_bytes(PJRT_Executable_SizeOfGeneratedCodeInBytes_Args *a) {
  a->size_in_bytes = 0; /* programs are data */
  return NULL;
}

status api_executable_parameter_memory_kinds(PJRT_Executable_ParameterMemoryKinds_Args *a) {
  a->num_parameters = a->executable->params.count;
  a->memory_kinds = a->executable->params.memory_kinds;
  a->memory_kind_sizes = a->executable->params.memory_kind_sizes;
  return NULL;
}

status api_executable_output_memory_kinds(PJRT_Executable_OutputMemoryKinds_Args *a) {
  a->num_outputs = a->executable->results.count;
  a->memory_kinds = a->executable->results.memory_kinds;
  a->memory_kind_sizes = a->executable->results.memory_kind_sizes;
  return NULL;
}

status api_executable_output_element_types(PJRT_Executable_OutputElementTypes_Args *a) {
  a->output_types = a->executable->results.types;
  a->num_output_types = a->executable->results.count;
  return NULL;
}

status api_executable_output_dimensions(PJRT_Executable_OutputDimensions_Args *a) {
  a->num_outputs = a->executable->results.count;
  a->dims = a->executable->results.dims;
  a->dim_sizes = a->executable->results.ranks;
  return NULL;
}

status api_executable_fingerprint(PJRT_Executable_Fingerprint_Args *a) {
  a->executable_fingerprint = a->executable->fingerprint.data;
  a->executable_fingerprint_size = a->executable->fingerprint.len;
  return NULL;
}

/* ---- questions about a loaded executable ---- */

status api_loaded_executable_get_executable(PJRT_LoadedExecutable_GetExecutable_Args *a) {
  a->executable = api_executable_retain(a->loaded_executable->executable);
  return NULL;
}

status api_loaded_executable_addressable_devices(PJRT_LoadedExecutable_AddressableDevices_Args *a) {
  a->addressable_devices = a->executable->devices;
  a->num_addressable_devices = a->executable->num_devices;
  return NULL;
}

status api_loaded_executable_addressable_device_logical_ids(
    PJRT_LoadedExecutable_AddressableDeviceLogicalIds_Args *a) {
  a->addressable_device_logical_ids = a->executable->logical_ids;
  a->num_addressable_device_logical_ids = a->executable->num_devices;
  return NULL;
}

status api_loaded_executable_delete(PJRT_LoadedExecutable_Delete_Args *a) {
  atomic_store(&a->executable->deleted, true);
  return NULL;
}

status api_loaded_executable_is_deleted(PJRT_LoadedExecutable_IsDeleted_Args *a) {
  a->is_deleted = atomic_load(&a->executable->deleted);
  return NULL;
}

status api_loaded_executable_fingerprint(PJRT_LoadedExecutable_Fingerprint_Args *a) {
  a->executable_fingerprint = a->executable->executable->fingerprint.data;
  a->executable_fingerprint_size = a->executable->executable->fingerprint.len;
  return NULL;
}

static void free_assignment(PJRT_DeviceAssignmentSerialized *p) {
  free_bytes((PJRT_SerializedExecutable *)p);
}

/* DeviceAssignmentProto: one list of replicas' devices per partition. */
status
api_loaded_executable_get_device_assignment(PJRT_LoadedExecutable_GetDeviceAssignment_Args *a) {
  const PJRT_LoadedExecutable *l = a->executable;
  const executable *x = l->executable->exe;
  buf *b = new_bytes(), list;
  if (!b) return status_oom();
  proto_put_int(b, 1, x->num_replicas);
  proto_put_int(b, 2, x->num_partitions);
  buf_init(&list, &mem_system);
  for (u32 p = 0; p < x->num_partitions; p++) {
    buf packed;
    buf_init(&packed, &mem_system);
    list.len = 0;
    for (u32 r = 0; r < x->num_replicas; r++)
      proto_put_varint(&packed, l->all_ids[r * x->num_partitions + p]);
    proto_put_bytes(&list, 1, buf_view(&packed));
    proto_put_bytes(b, 3, buf_view(&list));
    if (!buf_ok(&packed) || !buf_ok(&list)) b->failed = true;
    buf_deinit(&packed);
  }
  buf_deinit(&list);
  if (!buf_ok(b)) {
    free_bytes((PJRT_SerializedExecutable *)b);
    return status_oom();
  }
  a->serialized_bytes = b->data;
  a->serialized_bytes_size = b->len;
  a->serialized_device_assignment = (PJRT_DeviceAssignmentSerialized *)b;
  a->serialized_device_assignment_deleter = free_assignment;
  return NULL;
}

/* ---- extension: shardings ----
 *
 * A list of none would say that a result without elements has a sharding; NULL says nothing. */

static const char *const *shardings_of(const api_tensors *t) {
  return t->count ? t->shardings : NULL;
}

status api_shardings_executable_parameter_shardings(
    PJRT_Shardings_PJRT_Executable_ParameterShardings_Args *a) {
  atomic_store(&a->executable->knows_shardings, true);
  a->num_parameters = a->executable->params.count;
  a->shardings = shardings_of(&a->executable->params);
  a->sharding_sizes = a->executable->params.sharding_sizes;
  return NULL;
}

status
api_shardings_executable_output_shardings(PJRT_Shardings_PJRT_Executable_OutputShardings_Args *a) {
  atomic_store(&a->executable->knows_shardings, true);
  a->num_outputs = a->executable->results.count;
  a->shardings = shardings_of(&a->executable->results);
  a->sharding_sizes = a->executable->results.sharding_sizes;
  return NULL;
}
