/* Launches that are given to their devices one by one, and such as fail on the way. */
#include <sched.h>
#include <stdatomic.h>

#include "tests/pjrt.h"

enum { N = 2, SIZE = 4 };

/* Each device gets its part and the sum of both. */
static const char sum[] =
    "module @sum attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @m = <[\"x\"=2]>\n"
    "  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>})\n"
    "      -> (tensor<f32> {sdy.sharding = #sdy.sharding<@m, []>}) {\n"
    "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %y = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]\n"
    "        : (tensor<8xf32>, tensor<f32>) -> tensor<f32>\n"
    "    return %y : tensor<f32> } }";

static const float data[SIZE] = {1, 2, 3, 4};

typedef struct part {
  PJRT_Buffer *in, *out;
  PJRT_Event *done;
} part;

static PJRT_Error *give(PJRT_LoadedExecutable *l, PJRT_Device *device, int id, part *p) {
  PJRT_ExecuteOptions o = {.struct_size = PJRT_ExecuteOptions_END, .launch_id = id};
  PJRT_Buffer *const *args = &p->in, **results = &p->out;
  CALL(LoadedExecutable_Execute, a, .executable = l, .options = &o, .argument_lists = &args,
       .num_devices = 1, .num_args = 1, .output_lists = &results,
       .device_complete_events = &p->done, .execute_device = device);
  return a_error;
}

static bool is_ready(PJRT_Event *e) {
  OK(Event_IsReady, a, .event = e);
  return a.is_ready;
}

static void check_sum(part *p, float want) {
  float got = 0;
  check_ok(wait_for(p->done), "a part");
  get(p->out, &got, 1);
  CHECK(got == want);
  destroy_buffer(p->out);
}

/* Two launches at once, told apart by their ids; and one of which a part is refused first. */
static void test_parts(PJRT_Client *c, PJRT_LoadedExecutable *l, PJRT_Device *const *devices) {
  PJRT_Buffer *in[N] = {put(c, 0, data, SIZE), put(c, 1, data, SIZE)};
  part first[N], second[N];
  for (int d = 0; d < N; d++) first[d].in = second[d].in = in[d];
  check_ok(give(l, devices[0], 1, &first[0]), "first 0");
  check_ok(give(l, devices[0], 2, &second[0]), "second 0");
  CHECK(!is_ready(first[0].done) && !is_ready(second[0].done));
  part wrong = {.in = in[0]};
  check_error(give(l, devices[1], 1, &wrong), PJRT_Error_Code_INVALID_ARGUMENT, "is on device 0");
  check_error(give(l, devices[2], 1, &wrong), PJRT_Error_Code_INVALID_ARGUMENT,
              "does not run on device 2");
  check_ok(give(l, devices[1], 2, &second[1]), "second 1");
  for (int d = 0; d < N; d++) check_sum(&second[d], 20);
  CHECK(!is_ready(first[0].done));
  check_ok(give(l, devices[1], 1, &first[1]), "first 1");
  for (int d = 0; d < N; d++) check_sum(&first[d], 20);
  for (int d = 0; d < N; d++) destroy_buffer(in[d]);
}

/* A callback that waits is refused wherever it runs: on a worker, or within the call that gives the
 * last part, which goes on with the other device only afterwards. */
typedef struct waits {
  const part *last;
  atomic_bool over;
} waits;

static void wait_here(PJRT_Error *error, void *user) {
  waits *w = user;
  PJRT_Event *other = w->last->done;
  bool ready = is_ready(other);
  check_ok(error, "the first part");
  CALL(Event_Await, a, .event = other);
  if (ready)
    check_ok(a_error, "the last part");
  else
    check_error(a_error, PJRT_Error_Code_FAILED_PRECONDITION, "a callback cannot wait");
  atomic_store(&w->over, true);
}

static void test_waiting(PJRT_Client *c, PJRT_LoadedExecutable *l, PJRT_Device *const *devices) {
  part p[N];
  for (int d = 0; d < N; d++) p[d].in = put(c, (size_t)d, data, SIZE);
  for (int last = 0; last < N; last++) {
    waits w = {.last = &p[last]};
    check_ok(give(l, devices[1 - last], 0, &p[1 - last]), "the first part");
    OK(Event_OnReady, a, .event = p[1 - last].done, .callback = wait_here, .user_arg = &w);
    check_ok(give(l, devices[last], 0, &p[last]), "the last part");
    while (!atomic_load(&w.over)) sched_yield();
    for (int d = 0; d < N; d++) check_sum(&p[d], 20);
  }
  for (int d = 0; d < N; d++) destroy_buffer(p[d].in);
}

/* Devices that do not wait for each other run one by one: a program of replicas, as torch_xla has
 * them, and which one it is. */
static void test_alone(PJRT_Client *c, PJRT_Device *const *devices) {
  PJRT_LoadedExecutable *l;
  check_ok(
      compile(c,
              "module @alone attributes {mhlo.num_replicas = 2 : i32} {\n"
              "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
              "%i = stablehlo.replica_id : tensor<ui32>\n"
              "%f = stablehlo.convert %i : (tensor<ui32>) -> tensor<f32>\n"
              "%b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4xf32>\n"
              "%y = stablehlo.add %x, %b : tensor<4xf32>\n"
              "return %y : tensor<4xf32> } }",
              &l),
      "compile");
  for (int d = N; d-- > 0;) {
    part p = {.in = put(c, (size_t)d, data, SIZE)};
    float got[SIZE];
    check_ok(give(l, devices[d], 0, &p), "one device");
    check_ok(wait_for(p.done), "alone");
    get(p.out, got, SIZE);
    for (int k = 0; k < SIZE; k++) CHECK(got[k] == data[k] + (float)d);
    destroy_buffer(p.out);
    destroy_buffer(p.in);
  }
  destroy_loaded(l);
}

/* Whoever has a part hears that there will be no launch. */
static void test_dropped(PJRT_Client *c, PJRT_Device *const *devices) {
  PJRT_LoadedExecutable *l;
  check_ok(compile(c, sum, &l), "compile");
  part p = {.in = put(c, 1, data, SIZE)};
  check_ok(give(l, devices[1], 7, &p), "a part");
  destroy_loaded(l);
  check_error(wait_for(p.done), PJRT_Error_Code_CANCELLED, "was destroyed");
  CALL(Buffer_ToHostBuffer, a, .src = p.out, .dst = &(float){0}, .dst_size = sizeof(float));
  check_ok(a_error, "ToHostBuffer");
  check_error(wait_for(a.event), PJRT_Error_Code_CANCELLED, "was destroyed");
  destroy_buffer(p.out);
  destroy_buffer(p.in);
}

#define NOTE(key, text)                                                                            \
  {                                                                                                \
    .struct_size = PJRT_NamedValue_END, .name = key, .name_size = strlen(key),                     \
    .type = PJRT_NamedValue_kString, .string_value = text, .value_size = strlen(text)              \
  }

static bool poison(PJRT_Device *d, int id) {
  static const PJRT_NamedValue number = {.type = PJRT_NamedValue_kInt64, .value_size = 1};
  PJRT_NamedValue payload[] = {NOTE("who", "rack 7"), NOTE("empty", "")};
  CALL(Device_PoisonExecution, bad, .device = d, .error_code = PJRT_Error_Code_DATA_LOSS,
       .payload = &number, .num_payload = 1);
  check_error(bad_error, PJRT_Error_Code_INVALID_ARGUMENT, "payload 0 is not a string");
  OK(Device_PoisonExecution, a, .device = d, .launch_id = id,
     .error_code = PJRT_Error_Code_DATA_LOSS, .error_message = "a machine is gone",
     .error_message_size = 17, .payload = payload, .num_payload = 2);
  return a.poisoned;
}

/* Of two launches that wait for the same data the second fails; what needs it fails with it. */
static void test_poison(PJRT_Client *c, PJRT_Device *const *devices) {
  PJRT_ShapeSpec spec = {.struct_size = PJRT_ShapeSpec_END, .element_type = PJRT_Buffer_Type_F32};
  PJRT_LoadedExecutable *l;
  check_ok(compile(c,
                   "module @twice { func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
                   "  %y = stablehlo.add %x, %x : tensor<f32>\n"
                   "  return %y : tensor<f32> } }",
                   &l),
           "compile twice");
  OK(Client_CreateBuffersForAsyncHostToDevice, m, .client = c, .shape_specs = &spec,
     .num_shape_specs = 1);
  OK(AsyncHostToDeviceTransferManager_RetrieveBuffer, x, .transfer_manager = m.transfer_manager);
  part first = {.in = x.buffer_out}, second = first, third;
  check_ok(give(l, devices[0], 4, &first), "first");
  check_ok(give(l, devices[0], 5, &second), "second");
  third = (part){.in = second.out};
  check_ok(give(l, devices[0], 6, &third), "third");
  CHECK(!poison(devices[1], 5) && !poison(devices[0], 7));
  CHECK(poison(devices[0], 5) && !poison(devices[0], 5));
  OK(AsyncHostToDeviceTransferManager_TransferData, t, .transfer_manager = m.transfer_manager,
     .data = data, .transfer_size = sizeof *data, .is_last_transfer = true);
  check_ok(wait_for(t.done_with_h2d_transfer), "data");
  check_sum(&first, 2);
  PJRT_Error *e = wait_for(second.done);
  CHECK(payload_is(e, "who=rack 7;empty=;"));
  check_error(e, PJRT_Error_Code_DATA_LOSS, "a machine is gone");
  check_error(wait_for(third.done), PJRT_Error_Code_DATA_LOSS, "a machine is gone");
  OK(AsyncHostToDeviceTransferManager_Destroy, end, .transfer_manager = m.transfer_manager);
  destroy_loaded(l);
  CHECK(!poison(devices[0], 4));
  destroy_buffer(third.out), destroy_buffer(second.out), destroy_buffer(x.buffer_out);
}

static void test_tracking(PJRT_Device *d) {
  OK(Device_CreateAsyncTrackingEvent, a, .device = d, .description = "a copy",
     .description_size = 6);
  OK(AsyncTrackingEvent_Destroy, end, .event = a.event);
  OK(AsyncTrackingEvent_Destroy, none, .event = NULL);
}

/* What a call gives up it cannot pass twice. */
static void test_donated_twice(PJRT_Client *c) {
  static const char add[] =
      "module @add { func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32},\n"
      "    %y: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %z = stablehlo.add %x, %y : tensor<4xf32>\n"
      "  return %z : tensor<4xf32> } }";
  PJRT_LoadedExecutable *l;
  PJRT_Buffer *x = put(c, 0, data, SIZE), *args[] = {x, x}, *const *list = args, *out = NULL,
              **results = &out;
  float got[SIZE];
  check_ok(compile(c, add, &l), "compile add");
  CALL(LoadedExecutable_Execute, a, .executable = l, .argument_lists = &list, .num_devices = 1,
       .num_args = 2, .output_lists = &results);
  check_error(a_error, PJRT_Error_Code_INVALID_ARGUMENT, "is donated and also argument 1");
  CHECK(!out);
  get(x, got, SIZE);
  CHECK(got[3] == 4);
  destroy_buffer(x);
  destroy_loaded(l);
}

int main(void) {
  PJRT_Client *c = make_client(3, 2);
  OK(Client_Devices, d, .client = c);
  PJRT_LoadedExecutable *l;
  check_ok(compile(c, sum, &l), "compile");
  test_parts(c, l, d.devices);
  test_waiting(c, l, d.devices);
  test_alone(c, d.devices);
  test_dropped(c, d.devices);
  test_poison(c, d.devices);
  test_tracking(d.devices[0]);
  test_donated_twice(c);
  destroy_loaded(l);
  destroy_client(c);
  return UNIT_END();
}
