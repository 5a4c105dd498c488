/* The extension Custom_Partitioner from C: who registers, what is asked of them in serialized form,
 * and answers of all kinds, also such as no framework would give. */
#include "tests/pjrt.h"

static const char program_text[] =
    "sdy.mesh @m = <[\"x\"=2]>\n"
    "func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>})\n"
    "    -> tensor<4xf32> {\n"
    "  %0 = stablehlo.custom_call @mine(%x) {backend_config = \"here\",\n"
    "    sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4}, custom>}\n"
    "    : (tensor<4xf32>) -> tensor<4xf32>\n"
    "  return %0 : tensor<4xf32>\n}\n";
static const char body[] = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
                           "  %0 = stablehlo.add %x, %x : tensor<2xf32>\n"
                           "  return %0 : tensor<2xf32>\n}\n";

/* xla.OpSharding {devices=[2]<=[2]}: a type, and packed lists of dimensions, sizes and order. */
#define HALVES "\x08\x03\x1a\x01\x02\x4a\x01\x02\x52\x01\x00"
static const char halves[] = HALVES;

typedef JAX_CustomCallPartitioner_string string;

typedef struct answers {
  string module, arg, result;
  bool refuses;
  uint32_t asked, cleaned;
} answers;

static void clean(void *data) { ((answers *)data)->cleaned++; }

static void partition(JAX_CustomCallPartitioner_Callbacks *c,
                      JAX_CustomCallPartitioner_Partition_Args *a) {
  answers *of = c->private_data;
  /* xla.ShapeProto: F32, [4], not dynamic */
  static const char shape[] = "\x10\x0b\x1a\x01\x04\x32\x01\x00";
  of->asked++;
  CHECK(a->header.api_version == 0 && a->num_args == 1 && a->op_args->has_sharding);
  CHECK(a->op_args->shape.size == 8 && !memcmp(a->op_args->shape.data, shape, 8));
  CHECK(a->op_result.sharding.size == sizeof halves - 1 &&
        !memcmp(a->op_result.sharding.data, halves, sizeof halves - 1));
  CHECK(a->backend_config.size == 4 && !memcmp(a->backend_config.data, "here", 4));
  a->header.has_error = of->refuses;
  a->header.code = PJRT_Error_Code_INTERNAL;
  a->header.error_msg = (string){"not today", 9};
  a->header.data = of;
  a->header.cleanup_fn = clean;
  a->mlir_module = of->module;
  a->args_sharding = &of->arg;
  a->result_sharding = of->result;
}

static const PJRT_Custom_Partitioner_Extension *extension(void) {
  const PJRT_Custom_Partitioner_Extension *e = EXTENSION(Custom_Partitioner);
  CHECK(e && e->base.struct_size == PJRT_Custom_Partitioner_Extension_END);
  return e;
}

static PJRT_Error *enter(const char *name, JAX_CustomCallPartitioner_Callbacks *c, size_t size) {
  PJRT_Register_Custom_Partitioner_Args a = {size, name, name ? strlen(name) : 0, c};
  return extension()->PJRT_Register_Custom_Partitioner(&a);
}

/* The result; the error, if any, goes to the caller. */
static PJRT_LoadedExecutable *compile_two(PJRT_Client *c, PJRT_Error **error) {
  static const char two[] = "\x1a\x04\x20\x01\x28\x02"; /* build options: 1 replica, 2 partitions */
  PJRT_Program p = {.struct_size = PJRT_Program_END,
                    .code = (char *)(uintptr_t)program_text,
                    .code_size = sizeof program_text - 1,
                    .format = "mlir",
                    .format_size = 4};
  CALL(Client_Compile, a, .client = c, .program = &p, .compile_options = two,
       .compile_options_size = sizeof two - 1);
  *error = a_error;
  return a.executable;
}

static void check_fails(PJRT_Client *c, answers *a, const char *why) {
  PJRT_Error *e;
  uint32_t asked = a->asked;
  compile_two(c, &e);
  check_error(e, PJRT_Error_Code_INVALID_ARGUMENT, why);
  CHECK(a->asked > asked && a->cleaned == a->asked);
}

static void test_registering(void) {
  JAX_CustomCallPartitioner_Callbacks c = {.partition = partition};
  check_error(enter(NULL, &c, 32), PJRT_Error_Code_INVALID_ARGUMENT, "name");
  check_error(enter("", &c, 32), PJRT_Error_Code_INVALID_ARGUMENT, "without a name");
  check_error(enter("mine", NULL, 32), PJRT_Error_Code_INVALID_ARGUMENT, "callbacks");
  PJRT_Register_Batch_Partitionable_Args b = {.struct_size = 24, .name = NULL};
  check_error(extension()->PJRT_Register_Batch_Partitionable(&b), PJRT_Error_Code_INVALID_ARGUMENT,
              "name");
  b = (PJRT_Register_Batch_Partitionable_Args){.struct_size = 24, .name = "rows", .name_size = 4};
  check_ok(extension()->PJRT_Register_Batch_Partitionable(&b), "Register_Batch_Partitionable");
}

static void test_answers(PJRT_Client *c, answers *a) {
  PJRT_Error *e;
  const string good = {halves, sizeof halves - 1}, module = {body, sizeof body - 1};
  PJRT_LoadedExecutable *l = compile_two(c, &e);
  check_ok(e, "Compile");
  if (l) destroy_loaded(l);
  CHECK(a->asked && a->cleaned == a->asked);
  a->refuses = true;
  check_fails(c, a, "not today");
  a->refuses = false;
  static const string wrong[] = {
      {"\xff", 1},                                          /* cut off */
      {"\x08\x02", 2},                                      /* a tuple of none */
      {"\x08\x63", 2},                                      /* no such type */
      {"\x08\x03\x1a\x01\x00\x4a\x01\x02\x52\x01\x00", 11}, /* no tiles */
      {"\x08\x03\x1a\x01\x02\x4a\x01\x02\x52\x01\x05", 11}, /* an order of what is not there */
      {"\x08\x03\x1a\x01\x02\x4a\x01\x03\x52\x01\x00", 11}, /* more devices than tiles */
      {"\x08\x03\x1a\x01\x02\x42\x04\x00\x00\x04\x06", 11}, /* too many subgroups */
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    a->arg = wrong[i];
    check_fails(c, a, "not such as XLA has them");
    a->arg = good;
    a->result = wrong[i];
    check_fails(c, a, "not such as XLA has them");
    a->result = good;
  }
  a->module = (string){"", 0};
  check_fails(c, a, "without a function @main");
  a->module = module;
}

int main(void) {
  test_registering();
  PJRT_Client *c = make_client(2, 0);
  PJRT_Error *e;
  compile_two(c, &e); /* nobody is registered */
  check_error(e, PJRT_Error_Code_OK, "mine");
  answers a = {{body, sizeof body - 1}, {halves, sizeof halves - 1}, {halves, sizeof halves - 1}};
  JAX_CustomCallPartitioner_Callbacks *callbacks =
      &(JAX_CustomCallPartitioner_Callbacks){.private_data = &a, .partition = partition};
  check_ok(enter("mine", callbacks, 32), "Register_Custom_Partitioner");
  test_answers(c, &a);
  destroy_client(c);
  return UNIT_END();
}
