/* Field numbers: CompileOptionsProto { 3 executable_build_options, 7 env_option_overrides: a map
 * of { 1 key, 2 value } }, ExecutableBuildOptionsProto
 * { 4 num_replicas, 5 num_partitions, 9 device_assignment }, DeviceAssignmentProto
 * { 1 replica_count, 2 computation_count, 3 computation_devices { 1 replica_device_ids } },
 * of openxla/xla's compile_options.proto and xla_data.proto. */
#include "pjrt/options.h"

#include "base/buf.h"
#include "pjrt/proto.h"

enum { MAX_POSITIONS = 1 << 20 };

typedef struct reader {
  arena *a;
  api_options *out;
  bool bad;
  u64 replicas, partitions; /* of the assignment */
  VEC(u32) devices;         /* partition-major, as the proto has it */
  u32 seen_partitions;
} reader;

static void add_device(reader *r, u64 id) {
  if (id > UINT32_MAX || r->devices.len >= MAX_POSITIONS)
    r->bad = true;
  else
    VEC_PUSH(r->a, r->devices, (u32)id);
}

static void read_partition(reader *r, str message) {
  proto_field f;
  size_t before = r->devices.len;
  u64 id;
  while (proto_next(&message, &f, &r->bad)) {
    if (f.number != 1) continue;
    if (f.wire == 0) add_device(r, f.value);
    while (f.wire == 2 && f.bytes.len && !r->bad) {
      if (proto_varint(&f.bytes, &id))
        add_device(r, id);
      else
        r->bad = true;
    }
  }
  if (r->devices.len - before != r->replicas) r->bad = true;
  r->seen_partitions++;
}

static void read_assignment(reader *r, str message) {
  proto_field f;
  str again = message; /* the counts first, wherever they stand */
  while (proto_next(&message, &f, &r->bad)) {
    if (f.number == 1 && f.wire == 0) r->replicas = f.value;
    if (f.number == 2 && f.wire == 0) r->partitions = f.value;
  }
  while (!r->bad && proto_next(&again, &f, &r->bad))
    if (f.number == 3 && f.wire == 2) read_partition(r, f.bytes);
  if (r->seen_partitions != r->partitions) r->bad = true;
}

static void read_build_options(reader *r, str message) {
  proto_field f;
  while (proto_next(&message, &f, &r->bad)) {
    if (f.number == 9 && f.wire == 2) read_assignment(r, f.bytes);
    if ((f.number == 4 || f.number == 5) && f.wire == 0) {
      if (f.value > MAX_POSITIONS) r->bad = true;
      *(f.number == 4 ? &r->out->num_replicas : &r->out->num_partitions) = (u32)f.value;
    }
  }
}

/* From partition-major to position order; every device once. */
static status place(reader *r) {
  u32 np = (u32)r->partitions, nr = (u32)r->replicas;
  api_options *o = r->out;
  if ((o->num_partitions && o->num_partitions != np) || (o->num_replicas && o->num_replicas != nr))
    return status_make(STATUS_INVALID_ARGUMENT,
                       "compile options: %u replicas and %u partitions, but a device assignment of "
                       "%u by %u",
                       o->num_replicas, o->num_partitions, nr, np);
  u32 *at = ARENA_ARRAY(r->a, u32, r->devices.len);
  for (u32 p = 0; p < np; p++)
    for (u32 k = 0; k < nr; k++) at[k * np + p] = r->devices.data[p * nr + k];
  o->num_partitions = np;
  o->num_replicas = nr;
  o->assignment = at;
  return NULL;
}

/* What a text says of something that is true or false. */
static bool is_bool_text(str s) {
  static const char *const texts[] = {"true", "false", "True", "False", "TRUE", "FALSE",
                                      "t",    "f",     "yes",  "no",    "1",    "0"};
  for (size_t i = 0; i < COUNT(texts); i++)
    if (str_is(s, texts[i])) return true;
  return false;
}

/* OptionOverrideProto { 1 string_field, 2 bool_field, 3 int_field, 4 double_field } */
static status check_value(reader *r, str name, str value) {
  proto_field f;
  while (api_flag_is_bool(name) && proto_next(&value, &f, &r->bad)) {
    if (f.number == 1 && f.wire == 2 && !is_bool_text(f.bytes))
      return status_make(STATUS_INVALID_ARGUMENT,
                         "While setting option " STR_FMT ", '" STR_FMT
                         "' is not a valid bool value.",
                         STR_ARG(name), STR_ARG(f.bytes));
  }
  return NULL;
}

static void read_value(reader *r, str name, str value) {
  proto_field f;
  while (str_is(name, "xla_dump_to") && proto_next(&value, &f, &r->bad))
    if (f.number == 1 && f.wire == 2 && f.bytes.len)
      r->out->dump_to = arena_str(r->a, f.bytes).data;
}

/* The user's compiler options. XLA's flags but one are none of ours and let pass; of the rest the
 * names that XLA knows, so that a misspelt one is told. */
static status read_override(reader *r, str entry) {
  static const char *const known[] = {"exec_time_optimization_effort", "memory_fitting_effort",
                                      "optimization_level", "memory_fitting_level"};
  proto_field f;
  str name = {0}, value = {0};
  while (proto_next(&entry, &f, &r->bad))
    if (f.wire == 2 && (f.number == 1 || f.number == 2))
      *(f.number == 1 ? &name : &value) = f.bytes;
  bool found = str_starts(name, STR("xla_"));
  for (size_t i = 0; i < COUNT(known) && !found; i++) found = str_is(name, known[i]);
  if (!found)
    return status_make(STATUS_INVALID_ARGUMENT, "No such compile option: '" STR_FMT "'",
                       STR_ARG(name));
  read_value(r, name, value);
  return check_value(r, name, value);
}

status api_options_read(arena *a, str bytes, api_options *out) {
  reader r = {.a = a, .out = out};
  proto_field f;
  *out = (api_options){0};
  while (proto_next(&bytes, &f, &r.bad)) {
    if (f.number == 3 && f.wire == 2) read_build_options(&r, f.bytes);
    if (f.number == 7 && f.wire == 2) RETURN_IF_ERROR(read_override(&r, f.bytes));
  }
  if (r.bad)
    return status_make(STATUS_INVALID_ARGUMENT, "compile options: not a CompileOptionsProto");
  return r.devices.len ? place(&r) : NULL;
}
