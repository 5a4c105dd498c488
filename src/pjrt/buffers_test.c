/* Buffers through the PJRT API: layouts on devices and of executables, bytes that are shared with
 * the host or copied later. */
#include <stdlib.h>

#include "base/base.h"
#include "tests/pjrt.h"

/* One device, up to four arguments. */
static PJRT_Error *run(PJRT_LoadedExecutable *l, PJRT_Buffer *const *args, size_t n,
                       PJRT_Buffer **out) {
  PJRT_ExecuteOptions o = {.struct_size = PJRT_ExecuteOptions_END};
  CALL(LoadedExecutable_Execute, a, .executable = l, .options = &o, .argument_lists = &args,
       .num_devices = 1, .num_args = n, .output_lists = &out);
  return a_error;
}

static PJRT_Buffer *put_as(PJRT_Client *c, const float *data, const int64_t dims[2],
                           PJRT_Buffer_MemoryLayout *layout) {
  OK(Client_BufferFromHostBuffer, a, .client = c, .data = data, .type = PJRT_Buffer_Type_F32,
     .dims = dims, .num_dims = 2, .device_layout = layout);
  destroy_event(a.done_with_host_buffer);
  return a.buffer;
}

/* The bytes as they lie. */
static void get_raw(PJRT_Buffer *b, void *out, int64_t bytes) {
  OK(Buffer_CopyRawToHost, a, .buffer = b, .dst = out, .transfer_size = bytes);
  PJRT_Error *e = wait_for(a.event);
  check_ok(e, "CopyRawToHost's event");
}

static const int64_t two_three[2] = {2, 3}, column_major[2] = {0, 1}, row_major[2] = {1, 0};
static const float matrix[6] = {1, 2, 3, 4, 5, 6}, by_columns[6] = {1, 4, 2, 5, 3, 6};

static void test_device_layouts(PJRT_Client *c) {
  float out[6];
  PJRT_Buffer_MemoryLayout l = tiled(column_major, 2);
  PJRT_Buffer *b = put_as(c, matrix, two_three, &l);
  get_raw(b, out, sizeof out);
  CHECK(memcmp(out, by_columns, sizeof out) == 0);
  get(b, out, 6);
  CHECK(memcmp(out, matrix, sizeof out) == 0);
  OK(Buffer_GetMemoryLayout, g, .buffer = b);
  CHECK(g.layout.tiled.minor_to_major_size == 2 && g.layout.tiled.minor_to_major[0] == 0);
  OK(Client_AddressableMemories, m, .client = c);
  OK(Buffer_CopyToMemory, copy, .buffer = b, .dst_memory = m.addressable_memories[1]);
  get(copy.dst_buffer, out, 6);
  CHECK(memcmp(out, matrix, sizeof out) == 0);
  destroy_buffer(copy.dst_buffer);
  destroy_buffer(b);
  static const int64_t strides[2] = {4, 8}, gaps[2] = {4, 16};
  PJRT_Buffer_MemoryLayout s = {.struct_size = 0, /* as jaxlib may leave it */
                                .type = PJRT_Buffer_MemoryLayout_Type_Strides};
  s.strides =
      (PJRT_Buffer_MemoryLayout_Strides){.struct_size = PJRT_Buffer_MemoryLayout_Strides_END,
                                         .byte_strides = strides,
                                         .num_byte_strides = 2};
  b = put_as(c, matrix, two_three, &s);
  get_raw(b, out, sizeof out);
  CHECK(memcmp(out, by_columns, sizeof out) == 0);
  destroy_buffer(b);
  s.strides.byte_strides = gaps;
  CALL(Client_BufferFromHostBuffer, a, .client = c, .data = matrix, .type = PJRT_Buffer_Type_F32,
       .dims = two_three, .num_dims = 2, .device_layout = &s);
  check_error(a_error, PJRT_Error_Code_UNIMPLEMENTED, "gaps");
}

/* x + 1 where the parameter and the result lie as `in` and `out` say. */
static PJRT_LoadedExecutable *add_one(PJRT_Client *c, const char *in, const char *out) {
  char text[512];
  PJRT_LoadedExecutable *l;
  snprintf(text, sizeof text,
           "module @add { func.func @main(%%x: tensor<2x3xf32> {mhlo.layout_mode = \"%s\"})\n"
           "    -> (tensor<2x3xf32> {mhlo.layout_mode = \"%s\"}) {\n"
           "  %%one = stablehlo.constant dense<1.0> : tensor<2x3xf32>\n"
           "  %%y = stablehlo.add %%x, %%one : tensor<2x3xf32>\n"
           "  return %%y : tensor<2x3xf32> } }",
           in, out);
  check_ok(compile(c, text, &l), "compile");
  return l;
}

static void test_program_layouts(PJRT_Client *c) {
  static const struct {
    const char *in, *out;
    bool in_columns, out_columns;
  } cases[] = {{"default", "default", false, false}, {"{1,0}", "{0,1}", false, true},
               {"{0,1}", "auto", true, true},        {"{0,1}", "{1,0}", true, false},
               {"auto", "auto", false, false},       {"{0,1}", "{0,1}", true, true}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    float out[6];
    PJRT_LoadedExecutable *l = add_one(c, cases[i].in, cases[i].out);
    PJRT_Buffer_MemoryLayout in = tiled(cases[i].in_columns ? column_major : row_major, 2);
    PJRT_Buffer_MemoryLayout other = tiled(cases[i].in_columns ? row_major : column_major, 2);
    PJRT_Buffer *x = put_as(c, matrix, two_three, &in), *y = NULL;
    PJRT_Buffer *wrong = put_as(c, matrix, two_three, &other), *none = NULL;
    check_ok(run(l, &x, 1, &y), "run");
    check_error(run(l, &wrong, 1, &none), PJRT_Error_Code_INVALID_ARGUMENT, "another layout");
    get(y, out, 6);
    CHECK(out[0] == 2 && out[1] == 3 && out[3] == 5);
    get_raw(y, out, sizeof out);
    CHECK(out[1] == (cases[i].out_columns ? 5 : 3));
    destroy_buffer(x);
    destroy_buffer(y);
    destroy_buffer(wrong);
    destroy_loaded(l);
  }
  static const char *const bad[] = {"{0,0}", "{1,0", "{1}", "{2,0}", "{1,0:T(8,128)}", ""};
  for (size_t i = 0; i < COUNT(bad); i++) {
    char text[256];
    PJRT_LoadedExecutable *l;
    snprintf(text, sizeof text,
             "module { func.func @main(%%x: tensor<2x3xf32> {mhlo.layout_mode = \"%s\"}) -> "
             "tensor<2x3xf32> { return %%x : tensor<2x3xf32> } }",
             bad[i]);
    check_error(compile(c, text, &l), PJRT_Error_Code_UNIMPLEMENTED, "in the layout");
  }
}

/* ---- bytes of the host's ---- */

static void note(PJRT_Error *error, void *user) {
  drop(error);
  *(bool *)user = true;
}

static PJRT_Buffer *lend(PJRT_Client *c, const void *data, PJRT_Buffer_Type type, int64_t n,
                         bool *done) {
  OK(Client_BufferFromHostBuffer, a, .client = c, .data = data, .type = type, .dims = &n,
     .num_dims = 1, .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableZeroCopy);
  OK(Event_OnReady, r, .event = a.done_with_host_buffer, .callback = note, .user_arg = done);
  destroy_event(a.done_with_host_buffer);
  return a.buffer;
}

static bool lies_at(PJRT_Buffer *b, const void *data) {
  OK(Buffer_UnsafePointer, p, .buffer = b);
  return p.buffer_pointer == (uintptr_t)data;
}

static void test_shared(PJRT_Client *c) {
  _Alignas(64) float data[32] = {1, 2, 3};
  _Alignas(64) static unsigned char truths[64] = {1, 1, 0, 1}, odd[64] = {1, 2, 0, 1};
  bool done = false;
  float out[16];
  PJRT_Buffer *b = lend(c, data, PJRT_Buffer_Type_F32, 16, &done);
  CHECK(lies_at(b, data) && !done);
  OK(Buffer_ReadyEvent, r, .buffer = b);
  OK(Event_IsReady, is, .event = r.event);
  CHECK(is.is_ready);
  destroy_event(r.event);
  get(b, out, 16);
  CHECK(out[2] == 3);
  OK(Buffer_IncreaseExternalReferenceCount, more, .buffer = b);
  OK(Buffer_Delete, del, .buffer = b);
  CHECK(!done); /* somebody looks at the bytes */
  OK(Buffer_DecreaseExternalReferenceCount, less, .buffer = b);
  CHECK(done);
  destroy_buffer(b);
  done = false;
  b = lend(c, data + 1, PJRT_Buffer_Type_F32, 16, &done);
  CHECK(!lies_at(b, data + 1) && done); /* not aligned: a copy */
  destroy_buffer(b);
  done = false;
  b = lend(c, truths, PJRT_Buffer_Type_PRED, 4, &done);
  CHECK(lies_at(b, truths) && !done);
  destroy_buffer(b);
  CHECK(done);
  b = lend(c, odd, PJRT_Buffer_Type_PRED, 4, &done);
  CHECK(!lies_at(b, odd));
  get_raw(b, out, 4);
  CHECK(memcmp(out, truths, 4) == 0);
  destroy_buffer(b);
}

/* Bytes that the host lends: what a program that takes them over writes is there when they may be
 * written, and when nobody else has them. */
static void test_donated_bytes(PJRT_Client *c) {
  static const char text[] =
      "module @add { func.func @main(%x: tensor<16xf32> {tf.aliasing_output = 0 : i32}) ->\n"
      "    tensor<16xf32> {\n"
      "  %y = stablehlo.add %x, %x : tensor<16xf32>\n  return %y : tensor<16xf32> } }";
  PJRT_LoadedExecutable *l;
  int64_t n = 16;
  check_ok(compile(c, text, &l), "compile");
  for (int how = PJRT_HostBufferSemantics_kImmutableZeroCopy;
       how <= PJRT_HostBufferSemantics_kMutableZeroCopy; how++) {
    _Alignas(64) float data[16] = {1, 2, 3}, out[16];
    bool may = how == PJRT_HostBufferSemantics_kMutableZeroCopy;
    PJRT_Buffer *y = NULL;
    OK(Client_BufferFromHostBuffer, x, .client = c, .data = data, .type = PJRT_Buffer_Type_F32,
       .dims = &n, .num_dims = 1, .host_buffer_semantics = (PJRT_HostBufferSemantics)how);
    check_ok(run(l, &x.buffer, 1, &y), "run");
    get(y, out, 16);
    CHECK(out[2] == 6 && lies_at(y, data) == may && data[2] == (may ? 6 : 3));
    destroy_buffer(x.buffer);
    destroy_buffer(y);
    check_ok(wait_for(x.done_with_host_buffer), "done");
  }
  destroy_loaded(l);
}

/* Many bytes are copied behind the caller's back, and used meanwhile. */
static void test_later(PJRT_Client *c) {
  enum { N = 1 << 20 };
  float *data = malloc((N + 1) * sizeof *data), *out = malloc(N * sizeof *out);
  static const char text[] =
      "module @twice { func.func @main(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {\n"
      "  %y = stablehlo.add %x, %x : tensor<1048576xf32>\n"
      "  return %y : tensor<1048576xf32> } }";
  PJRT_LoadedExecutable *l;
  check_ok(compile(c, text, &l), "compile");
  for (int i = 0; i < N + 1; i++) data[i] = (float)i;
  int64_t n = N;
  for (int i = 0; i < 20; i++) {
    OK(Client_BufferFromHostBuffer, a, .client = c, .data = data + 1, .type = PJRT_Buffer_Type_F32,
       .dims = &n, .num_dims = 1,
       .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableUntilTransferCompletes);
    PJRT_Buffer *y = NULL;
    check_ok(run(l, &a.buffer, 1, &y), "run");
    destroy_buffer(a.buffer);
    PJRT_Error *e = wait_for(a.done_with_host_buffer);
    check_ok(e, "done");
    get(y, out, N);
    CHECK(out[0] == 2 && out[N - 1] == 2 * (float)N);
    destroy_buffer(y);
  }
  destroy_loaded(l);
  free(data);
  free(out);
}

/* Memories of the host's do not count as the device's. */
static void test_memory_stats(void) {
  PJRT_Client *c = make_client(1, 0);
  OK(Client_Devices, d, .client = c);
  OK(Device_AddressableMemories, m, .device = d.devices[0]);
  for (size_t k = 0; k < m.num_memories; k++) {
    static const int64_t n = 1000;
    OK(Client_CreateUninitializedBuffer, u, .client = c, .shape_dims = &n, .shape_num_dims = 1,
       .shape_element_type = PJRT_Buffer_Type_F32, .memory = m.memories[k]);
    OK(Device_MemoryStats, s, .device = d.devices[0]);
    CHECK(s.bytes_in_use == (k == 0 ? 4000 : 0));
    CHECK(s.peak_bytes_in_use == 4000 && s.num_allocs == 1);
    destroy_buffer(u.buffer);
  }
  destroy_client(c);
}

/* ---- in pieces, later, under another name ---- */

static PJRT_AsyncHostToDeviceTransferManager *make_manager(PJRT_Client *c) {
  static const int64_t six = 6;
  static PJRT_Buffer_MemoryLayout layout;
  layout = tiled(column_major, 2);
  PJRT_ShapeSpec specs[2] = {{.struct_size = PJRT_ShapeSpec_END,
                              .dims = &six,
                              .num_dims = 1,
                              .element_type = PJRT_Buffer_Type_F32},
                             {.struct_size = PJRT_ShapeSpec_END,
                              .dims = two_three,
                              .num_dims = 2,
                              .element_type = PJRT_Buffer_Type_F32}};
  PJRT_Buffer_MemoryLayout *layouts[2] = {NULL, &layout};
  OK(Client_CreateBuffersForAsyncHostToDevice, a, .client = c, .shape_specs = specs,
     .num_shape_specs = 2, .device_layouts = layouts, .num_device_layouts = 2);
  return a.transfer_manager;
}

static PJRT_Buffer *retrieve(PJRT_AsyncHostToDeviceTransferManager *m, int i) {
  OK(AsyncHostToDeviceTransferManager_RetrieveBuffer, a, .transfer_manager = m, .buffer_index = i);
  return a.buffer_out;
}

static bool is_ready(PJRT_Buffer *b) {
  OK(Buffer_ReadyEvent, r, .buffer = b);
  OK(Event_IsReady, is, .event = r.event);
  destroy_event(r.event);
  return is.is_ready;
}

static void check_buffer_error(PJRT_Buffer *b, PJRT_Error_Code code, const char *text) {
  OK(Buffer_ReadyEvent, r, .buffer = b);
  check_error(wait_for(r.event), code, text);
}

static PJRT_Error *transfer(PJRT_AsyncHostToDeviceTransferManager *m, int i, const float *data,
                            int64_t begin, int64_t end, bool last) {
  CALL(AsyncHostToDeviceTransferManager_TransferData, a, .transfer_manager = m, .buffer_index = i,
       .data = data + begin, .offset = begin * 4, .transfer_size = (end - begin) * 4,
       .is_last_transfer = last);
  return a_error ? a_error : wait_for(a.done_with_h2d_transfer);
}

static void test_transfers(PJRT_Client *c) {
  float out[6];
  PJRT_AsyncHostToDeviceTransferManager *m = make_manager(c);
  OK(AsyncHostToDeviceTransferManager_BufferCount, n, .transfer_manager = m);
  OK(AsyncHostToDeviceTransferManager_BufferSize, size, .transfer_manager = m, .buffer_index = 1);
  OK(AsyncHostToDeviceTransferManager_Device, d, .transfer_manager = m);
  OK(Client_Devices, devices, .client = c);
  CHECK(n.buffer_count == 2 && size.buffer_size == 24 && d.device_out == devices.devices[0]);
  PJRT_Buffer *b = retrieve(m, 0), *matrix_buffer = retrieve(m, 1);
  CALL(AsyncHostToDeviceTransferManager_RetrieveBuffer, twice, .transfer_manager = m);
  check_error(twice_error, PJRT_Error_Code_FAILED_PRECONDITION, "retrieved before");
  CALL(AsyncHostToDeviceTransferManager_RetrieveBuffer, far, .transfer_manager = m,
       .buffer_index = 2);
  check_error(far_error, PJRT_Error_Code_INVALID_ARGUMENT, "no buffer 2");
  check_ok(transfer(m, 0, matrix, 2, 6, false), "a piece");
  CHECK(!is_ready(b));
  check_error(transfer(m, 0, matrix, 2, 7, true), PJRT_Error_Code_INVALID_ARGUMENT,
              "20 bytes at 8");
  check_ok(transfer(m, 0, matrix, 0, 2, true), "the last piece");
  get(b, out, 6);
  CHECK(memcmp(out, matrix, sizeof out) == 0);
  check_error(transfer(m, 0, matrix, 0, 2, true), PJRT_Error_Code_FAILED_PRECONDITION, "last");
  CALL(AsyncHostToDeviceTransferManager_SetBufferError, late, .transfer_manager = m,
       .error_code = PJRT_Error_Code_ABORTED);
  check_error(late_error, PJRT_Error_Code_FAILED_PRECONDITION, "last");
  OK(AsyncHostToDeviceTransferManager_TransferLiteral, l, .transfer_manager = m, .buffer_index = 1,
     .data = matrix, .shape_dims = two_three, .shape_num_dims = 2,
     .shape_element_type = PJRT_Buffer_Type_F32);
  PJRT_Error *e = wait_for(l.done_with_h2d_transfer);
  check_ok(e, "a literal");
  get_raw(matrix_buffer, out, sizeof out);
  CHECK(memcmp(out, by_columns, sizeof out) == 0);
  OK(AsyncHostToDeviceTransferManager_AddMetadata, meta, .transfer_manager = m);
  OK(AsyncHostToDeviceTransferManager_Destroy, end, .transfer_manager = m);
  destroy_buffer(b);
  destroy_buffer(matrix_buffer);
}

static void test_failed_transfers(PJRT_Client *c) {
  PJRT_AsyncHostToDeviceTransferManager *m = make_manager(c);
  PJRT_Buffer *failed = retrieve(m, 0), *left = retrieve(m, 1);
  OK(AsyncHostToDeviceTransferManager_SetBufferError, set, .transfer_manager = m,
     .error_code = PJRT_Error_Code_ABORTED, .error_message = "no data", .error_message_size = 7);
  check_buffer_error(failed, PJRT_Error_Code_ABORTED, "no data");
  CALL(AsyncHostToDeviceTransferManager_SetBufferError, none, .transfer_manager = m,
       .buffer_index = 1);
  check_error(none_error, PJRT_Error_Code_INVALID_ARGUMENT, "code OK");
  CHECK(!is_ready(left));
  OK(AsyncHostToDeviceTransferManager_Destroy, end, .transfer_manager = m);
  check_buffer_error(left, PJRT_Error_Code_CANCELLED, "not filled");
  destroy_buffer(failed);
  destroy_buffer(left);
}

/* A program runs on an alias before there is what it stands for. */
static void test_alias(PJRT_Client *c) {
  float out[6];
  PJRT_LoadedExecutable *l = add_one(c, "default", "default");
  OK(Client_CreateAliasBuffer, a, .client = c, .shape_dims = two_three, .shape_num_dims = 2,
     .shape_element_type = PJRT_Buffer_Type_F32);
  PJRT_Buffer *y = NULL, *z = NULL, *real = put_as(c, matrix, two_three, NULL);
  PJRT_Buffer *wrong = put(c, 0, matrix, 6);
  check_ok(run(l, &a.alias_buffer, 1, &y), "run");
  CHECK(!is_ready(y));
  CALL(Client_FulfillAliasBuffer, bad, .buffer = wrong,
       .fulfill_alias_buffer_cb = a.fulfill_alias_buffer_cb);
  check_error(bad_error, PJRT_Error_Code_INVALID_ARGUMENT, "another shape");
  CALL(Client_FulfillAliasBuffer, own, .buffer = a.alias_buffer,
       .fulfill_alias_buffer_cb = a.fulfill_alias_buffer_cb);
  check_error(own_error, PJRT_Error_Code_INVALID_ARGUMENT, "its own alias");
  OK(Client_FulfillAliasBuffer, f, .buffer = real,
     .fulfill_alias_buffer_cb = a.fulfill_alias_buffer_cb);
  destroy_buffer(real);
  get(y, out, 6);
  CHECK(out[0] == 2 && out[5] == 7);
  OK(Client_CreateAliasBuffer, b, .client = c, .shape_dims = two_three, .shape_num_dims = 2,
     .shape_element_type = PJRT_Buffer_Type_F32);
  check_ok(run(l, &b.alias_buffer, 1, &z), "run");
  OK(Client_FulfillAliasBuffer, e, .status_code = PJRT_Error_Code_ABORTED, .error_message = "gone",
     .error_message_size = 4, .fulfill_alias_buffer_cb = b.fulfill_alias_buffer_cb);
  check_buffer_error(z, PJRT_Error_Code_ABORTED, "gone");
  destroy_buffer(a.alias_buffer);
  destroy_buffer(b.alias_buffer);
  destroy_buffer(wrong);
  destroy_buffer(y);
  destroy_buffer(z);
  destroy_loaded(l);
}

/* Nobody has looked at the alias: it gets no copy, and keeps what it has whatever becomes of that.
 */
static void test_alias_of_nobodys(PJRT_Client *c) {
  static const char donates[] =
      "module @d { func.func @main(%x: tensor<2x3xf32> {tf.aliasing_output = 0 : i32})"
      " -> tensor<2x3xf32> { %y = stablehlo.add %x, %x : tensor<2x3xf32> return %y : "
      "tensor<2x3xf32> } }";
  float out[6];
  PJRT_LoadedExecutable *l;
  check_ok(compile(c, donates, &l), "compile");
  PJRT_Buffer *y = NULL, *real = put_as(c, matrix, two_three, NULL);
  OK(Client_CreateAliasBuffer, a, .client = c, .shape_dims = two_three, .shape_num_dims = 2,
     .shape_element_type = PJRT_Buffer_Type_F32);
  OK(Client_FulfillAliasBuffer, f, .buffer = real,
     .fulfill_alias_buffer_cb = a.fulfill_alias_buffer_cb);
  OK(Buffer_UnsafePointer, at, .buffer = real);
  CHECK(is_ready(a.alias_buffer) && lies_at(a.alias_buffer, (void *)at.buffer_pointer));
  check_ok(run(l, &real, 1, &y), "run");
  get(y, out, 6);
  CHECK(out[1] == 4);
  get(a.alias_buffer, out, 6);
  CHECK(out[1] == 2);
  destroy_buffer(real);
  destroy_buffer(a.alias_buffer);
  destroy_buffer(y);
  destroy_loaded(l);
}

/* Neither of two views of the same bytes sees what becomes of the other. */
static void test_bitcast(PJRT_Client *c) {
  static const char donates[] =
      "module @d { func.func @main(%x: tensor<6xf32> {tf.aliasing_output = 0 : i32})"
      " -> tensor<6xf32> { %y = stablehlo.add %x, %x : tensor<6xf32> return %y : tensor<6xf32> } }";
  static const int64_t six = 6, seven = 7;
  float out[6];
  PJRT_LoadedExecutable *l;
  check_ok(compile(c, donates, &l), "compile");
  for (int which = 0; which < 2; which++) {
    PJRT_Buffer *b = put(c, 0, matrix, 6), *y = NULL;
    OK(Buffer_Bitcast, same, .buffer = b, .element_type = PJRT_Buffer_Type_F32, .dims = &six,
       .num_dims = 1);
    check_ok(run(l, which ? &b : &same.out_buffer, 1, &y), "donate one");
    get(y, out, 6);
    CHECK(out[5] == 12);
    get(which ? same.out_buffer : b, out, 6);
    CHECK(memcmp(out, matrix, sizeof out) == 0);
    destroy_buffer(b);
    destroy_buffer(same.out_buffer);
    destroy_buffer(y);
  }
  destroy_loaded(l);
  PJRT_Buffer *b = put(c, 0, matrix, 6);
  PJRT_Buffer_MemoryLayout layout = tiled(column_major, 2);
  static const int64_t three_two[2] = {3, 2};
  OK(Buffer_Bitcast, other, .buffer = b, .element_type = PJRT_Buffer_Type_S32, .dims = three_two,
     .num_dims = 2, .device_layout = &layout);
  OK(Buffer_Delete, del, .buffer = b);
  get(other.out_buffer, out, 6);
  CHECK(out[0] == 1 && out[1] == 4 && out[2] == 2);
  CALL(Buffer_Bitcast, longer, .buffer = other.out_buffer, .element_type = PJRT_Buffer_Type_F32,
       .dims = &seven, .num_dims = 1);
  check_error(longer_error, PJRT_Error_Code_INVALID_ARGUMENT, "24 bytes seen as 28");
  CALL(Buffer_Bitcast, gone, .buffer = b, .element_type = PJRT_Buffer_Type_F32, .dims = &six,
       .num_dims = 1);
  check_error(gone_error, PJRT_Error_Code_INVALID_ARGUMENT, "deleted");
  destroy_buffer(b);
  destroy_buffer(other.out_buffer);
}

static void say(PJRT_Buffer_DonateWithControlDependency_Args *d, PJRT_Error_Code code) {
  d->dependency_ready_callback(&(PJRT_Buffer_DonateWithControlDependency_Callback_Args){
      .struct_size = PJRT_Buffer_DonateWithControlDependency_Callback_Args_END,
      .callback_data = d->callback_data,
      .error_code = code,
      .error_message = "not so",
      .error_message_size = 6});
}

static void test_control_dependency(PJRT_Client *c) {
  float out[6];
  PJRT_Buffer *b = put(c, 0, matrix, 6);
  OK(Buffer_DonateWithControlDependency, d, .buffer = b);
  OK(Buffer_IsDeleted, is, .buffer = b);
  CHECK(is.is_deleted && !is_ready(d.out_buffer));
  CALL(Buffer_DonateWithControlDependency, again, .buffer = b);
  check_error(again_error, PJRT_Error_Code_INVALID_ARGUMENT, "deleted");
  say(&d, PJRT_Error_Code_OK);
  get(d.out_buffer, out, 6);
  CHECK(memcmp(out, matrix, sizeof out) == 0);
  OK(Buffer_DonateWithControlDependency, e, .buffer = d.out_buffer);
  say(&e, PJRT_Error_Code_ABORTED);
  check_buffer_error(e.out_buffer, PJRT_Error_Code_ABORTED, "not so");
  destroy_buffer(b);
  destroy_buffer(d.out_buffer);
  destroy_buffer(e.out_buffer);
}

static void test_raw_future(PJRT_Client *c) {
  float out[2] = {0};
  PJRT_Buffer *b = put(c, 0, matrix, 6);
  OK(Buffer_CopyRawToHostFuture, r, .buffer = b, .offset = 8, .transfer_size = 8);
  OK(Buffer_CopyRawToHostFuture, f, .buffer = b, .offset = 0, .transfer_size = 24);
  CALL(Buffer_CopyRawToHostFuture, far, .buffer = b, .offset = 8, .transfer_size = 17);
  check_error(far_error, PJRT_Error_Code_INVALID_ARGUMENT, "17 bytes at 8");
  destroy_buffer(b); /* what was asked for is still to be had */
  PJRT_Buffer_CopyRawToHostFuture_Callback_Args a = {
      .struct_size = PJRT_Buffer_CopyRawToHostFuture_Callback_Args_END,
      .callback_data = r.callback_data,
      .dst = out};
  r.future_ready_callback(&a);
  PJRT_Error *e = wait_for(r.event);
  check_ok(e, "the read");
  CHECK(out[0] == 3 && out[1] == 4);
  a = (PJRT_Buffer_CopyRawToHostFuture_Callback_Args){
      .struct_size = PJRT_Buffer_CopyRawToHostFuture_Callback_Args_END,
      .callback_data = f.callback_data,
      .error_code = PJRT_Error_Code_CANCELLED,
      .error_message = "nowhere to put it",
      .error_message_size = 17};
  f.future_ready_callback(&a);
  check_error(wait_for(f.event), PJRT_Error_Code_CANCELLED, "nowhere");
}

static void test_mapped(PJRT_Client *c) {
  char data[64];
  OK(Client_DmaMap, map, .client = c, .data = data, .size = sizeof data);
  CALL(Client_DmaMap, twice, .client = c, .data = data, .size = sizeof data);
  check_error(twice_error, PJRT_Error_Code_ALREADY_EXISTS, "mapped already");
  OK(Client_DmaUnmap, unmap, .client = c, .data = data);
  CALL(Client_DmaUnmap, none, .client = c, .data = data);
  check_error(none_error, PJRT_Error_Code_NOT_FOUND, "not mapped");
  OK(Client_DmaMap, left, .client = c, .data = data, .size = sizeof data);
}

/* The kinds of memory of a device, from its description alone. */
static void test_memory_descriptions(PJRT_Client *c) {
  const PJRT_MemoryDescriptions_Extension *e = EXTENSION(MemoryDescriptions);
  CHECK(e);
  if (!e) return;
  OK(Client_Devices, d, .client = c);
  OK(Device_GetDescription, g, .device = d.devices[1]);
  PJRT_DeviceDescription_MemoryDescriptions_Args m = {
      .struct_size = PJRT_DeviceDescription_MemoryDescriptions_Args_END,
      .device_description = g.device_description};
  check_ok(e->PJRT_DeviceDescription_MemoryDescriptions(&m), "MemoryDescriptions");
  CHECK(m.num_memory_descriptions == 3 && m.default_memory_index == 0);
  OK(Device_AddressableMemories, real, .device = d.devices[1]);
  for (size_t i = 0; i < m.num_memory_descriptions; i++) {
    PJRT_MemoryDescription_Kind_Args k = {.struct_size = 32, /* as the framework has it */
                                          .memory_description = m.memory_descriptions[i]};
    check_ok(e->PJRT_MemoryDescription_Kind(&k), "Kind");
    OK(Memory_Kind, want, .memory = real.memories[i]);
    CHECK(k.struct_size == 32 && k.kind_id == (int)i);
    CHECK(str_eq((str){k.kind, k.kind_size}, (str){want.kind, want.kind_size}));
  }
  PJRT_MemoryDescription_Kind_Args none = {.struct_size = PJRT_MemoryDescription_Kind_Args_END};
  check_error(e->PJRT_MemoryDescription_Kind(&none), PJRT_Error_Code_INVALID_ARGUMENT, "NULL");
}

static void test_all(void) {
  PJRT_Client *c = make_client(2, 0);
  test_device_layouts(c);
  test_program_layouts(c);
  test_shared(c);
  test_donated_bytes(c);
  test_later(c);
  test_transfers(c);
  test_failed_transfers(c);
  test_alias(c);
  test_alias_of_nobodys(c);
  test_bitcast(c);
  test_control_dependency(c);
  test_raw_future(c);
  test_mapped(c);
  test_memory_descriptions(c);
  destroy_client(c);
  test_memory_stats();
}

int main(void) {
  unsetenv("TERRAZZO_NUM_DEVICES");
  test_all();
  pjrt_newer_by = 64;
  test_all();
  return UNIT_END();
}
