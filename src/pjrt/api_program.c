/* What an executable says of its program: as text, and what it costs. */
#include "pjrt/api.h"
#include "pjrt/proto.h"
#include "pjrt/slots.h"

/* ---- as text ---- */

/* A string of MLIR: what does not print in hexadecimal digits. */
static void put_string(buf *b, str s) {
  buf_char(b, '"');
  for (size_t i = 0; i < s.len; i++) {
    u8 c = (u8)s.data[i];
    if (c < 32 || c > 126 || c == '"' || c == '\\')
      buf_printf(b, "\\%02X", c);
    else
      buf_char(b, (char)c);
  }
  buf_char(b, '"');
}

/* The shardings of a module of one device, where XLA's reader finds them. */
static void put_shardings(buf *b, const executable *x) {
  buf whole;
  buf_init(&whole, &mem_system);
  buf_printf(b, "mhlo.spmd_parameters_shardings = [");
  for (u32 i = 0; i < x->num_params; i++) {
    buf_printf(b, i ? ", " : "");
    put_string(b, x->params[i].op_sharding);
  }
  if (x->num_results != 1) proto_put_int(&whole, 1, 2); /* a tuple */
  for (u32 i = 0; i < x->num_results; i++) {
    str one = x->results[i].op_sharding;
    if (x->num_results == 1)
      buf_str(&whole, one);
    else
      proto_put_bytes(&whole, 5, one);
  }
  buf_printf(b, "], mhlo.spmd_output_sharding = ");
  put_string(b, buf_view(&whole));
  if (!buf_ok(&whole)) b->failed = true;
  buf_deinit(&whole);
}

static void put_types(buf *b, const compile_tensor *t, u32 n) {
  buf_char(b, '(');
  for (u32 i = 0; i < n; i++) {
    buf_printf(b, i ? ", tensor<" : "tensor<");
    for (size_t d = 0; d < t[i].local_dims.len; d++)
      buf_printf(b, "%lldx", (long long)t[i].local_dims.data[d]);
    buf_printf(b, "%s>", dtype_infos[t[i].type].name);
  }
  buf_char(b, ')');
}

/* For callers before 0.91 of the API, who know no Shardings extension: a module from which XLA
 * reads shardings. What the program does is one call, as their XLA does not know all of its ops. */
static void put_shell(buf *b, const executable *x) {
  buf_printf(b, "module @");
  put_string(b, x->name);
  buf_printf(b, " attributes {mhlo.num_partitions = %u : i32, mhlo.num_replicas = %u : i32, ",
             x->num_partitions, x->num_replicas);
  put_shardings(b, x);
  buf_printf(b, "} {\n  func.func public @main(");
  for (u32 i = 0; i < x->num_params; i++) {
    buf_printf(b, "%s%%arg%u: ", i ? ", " : "", i);
    buf one;
    buf_init(&one, &mem_system);
    put_types(&one, &x->params[i], 1);
    buf_str(b, (str){one.data + 1, one.len ? one.len - 2 : 0}); /* without parentheses */
    b->failed |= !buf_ok(&one);
    buf_deinit(&one);
  }
  buf_printf(b, ") -> ");
  put_types(b, x->results, x->num_results);
  buf_printf(b, " {\n    ");
  if (x->num_results) buf_printf(b, "%%0:%u = ", x->num_results);
  buf_printf(b, "\"stablehlo.custom_call\"(");
  for (u32 i = 0; i < x->num_params; i++) buf_printf(b, i ? ", %%arg%u" : "%%arg%u", i);
  buf_printf(b, ") {call_target_name = ");
  put_string(b, x->name);
  buf_printf(b, ", has_side_effect = true} : ");
  put_types(b, x->params, x->num_params);
  buf_printf(b, " -> ");
  put_types(b, x->results, x->num_results);
  buf_printf(b, "\n    \"func.return\"(");
  for (u32 i = 0; i < x->num_results; i++) buf_printf(b, i ? ", %%0#%u" : "%%0#%u", i);
  buf_printf(b, ") : ");
  put_types(b, x->results, x->num_results);
  buf_printf(b, " -> ()\n  }\n}\n");
}

/* Where the module begins, behind lines of locations. */
static size_t module_line(str text) {
  for (size_t at = 0; at < text.len;) {
    str line = str_from(text, at);
    if (str_starts(line, STR("module"))) return at;
    const char *end = memchr(line.data, '\n', line.len);
    if (!end) return text.len;
    at = (size_t)(end + 1 - text.data);
  }
  return text.len;
}

static void keep_local(void *user, str stage, str text) {
  PJRT_Executable *e = user;
  if (!str_is(stage, "partition")) return;
  /* `module @name attributes {...} {`, or without attributes */
  static const char has[] = " attributes ";
  size_t k = sizeof has - 1, begin = module_line(text);
  const char *brace = memchr(text.data + begin, '{', text.len - begin);
  if (!brace) return;
  size_t n = (size_t)(brace - text.data);
  bool bare = n < k || memcmp(brace - k, has, k) != 0;
  buf *out = &e->local_program;
  out->len = 0;
  buf_str(out, (str){text.data, n});
  buf_printf(out, bare ? "attributes {" : "{");
  put_shardings(out, e->exe);
  buf_printf(out, bare ? "} " : ", ");
  buf_str(out, str_from(text, bare ? n : n + 1));
}

/* What one device runs, as text. It is seldom wanted and dear to print, so it is made by
 * compiling once more. */
static status find_local_program(PJRT_Executable *e, str *out) {
  status s = NULL;
  pthread_mutex_lock(&e->lock);
  if (!atomic_load(&e->knows_shardings) && e->exe->num_partitions > 1) {
    e->shell.len = 0;
    put_shell(&e->shell, e->exe);
    *out = buf_view(&e->shell);
    if (!buf_ok(&e->shell)) s = status_oom();
    pthread_mutex_unlock(&e->lock);
    return s;
  }
  if (e->local_program.len == 0 && e->exe->num_partitions > 1) {
    executable *again = NULL;
    compile_options o = {.num_partitions = e->options.num_partitions,
                         .num_replicas = e->options.num_replicas,
                         .dump = keep_local,
                         .dump_locations = true,
                         .dump_user = e};
    api_set_partitioners(&o);
    api_set_dialects(e->dialects, &o);
    o.inspect = NULL; /* they have been told */
    s = compile_source(e->source, &o, &again);
    if (again) executable_release(again);
    if (!s && !buf_ok(&e->local_program)) s = status_oom();
  }
  /* a program for one device is not partitioned: it is what came */
  *out = e->local_program.len ? buf_view(&e->local_program) : e->source;
  pthread_mutex_unlock(&e->lock);
  return s;
}

/* Called twice: for the size, then to fill the caller's buffer. */
status api_executable_optimized_program(PJRT_Executable_OptimizedProgram_Args *a) {
  RETURN_IF_ERROR(api_check_size("PJRT_Program", a->program, PJRT_Program_END));
  static const char format[] = "mlir";
  str text;
  RETURN_IF_ERROR(find_local_program(a->executable, &text));
  a->program->format = format;
  a->program->format_size = sizeof format - 1;
  if (a->program->code) {
    if (a->program->code_size < text.len)
      return status_make(STATUS_INVALID_ARGUMENT, "%zu bytes of room for %zu",
                         a->program->code_size, text.len);
    memcpy(a->program->code, text.data, text.len);
  }
  a->program->code_size = text.len;
  return NULL;
}

/* ---- what it costs ---- */

static PJRT_NamedValue number(const char *name, double value) {
  return (PJRT_NamedValue){.struct_size = PJRT_NamedValue_END,
                           .name = name,
                           .name_size = strlen(name),
                           .type = PJRT_NamedValue_kFloat,
                           .float_value = (float)value,
                           .value_size = 1};
}

/* Of one device, under XLA's names. */
void api_executable_find_cost(PJRT_Executable *e) {
  program_cost c;
  program_find_cost(e->exe->prog, &c);
  e->cost[0] = number("flops", c.flops);
  e->cost[1] = number("transcendentals", c.transcendentals);
  e->cost[2] = number("bytes accessed", c.bytes);
}

status api_executable_get_cost_analysis(PJRT_Executable_GetCostAnalysis_Args *a) {
  a->properties = a->executable->cost;
  a->num_properties = COUNT(a->executable->cost);
  return NULL;
}

static i64 local_bytes(const compile_tensor *t) {
  i64 n = dtype_size(t->type);
  for (size_t i = 0; i < t->local_dims.len; i++) n *= t->local_dims.data[i];
  return n;
}

/* Bytes in the device's memory and in the host's. */
static void add_bytes(const compile_tensor *t, i64 *device, i64 *host) {
  dev_kind k = DEV_KIND_DEVICE;
  (void)dev_kind_from_name(t->memory_kind, &k);
  *(k == DEV_KIND_DEVICE ? device : host) += local_bytes(t);
}

status api_executable_get_compiled_memory_stats(PJRT_Executable_GetCompiledMemoryStats_Args *a) {
  const executable *x = a->executable->exe;
  size_t begin =
      offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, generated_code_size_in_bytes);
  memset((char *)a + begin, 0, PJRT_Executable_GetCompiledMemoryStats_Args_END - begin);
  for (u32 i = 0; i < x->num_params; i++)
    add_bytes(&x->params[i], &a->argument_size_in_bytes, &a->host_argument_size_in_bytes);
  for (u32 r = 0; r < x->num_results; r++) {
    add_bytes(&x->results[r], &a->output_size_in_bytes, &a->host_output_size_in_bytes);
    if (x->prog->slots[x->prog->result_slot[r]].alias >= 0)
      add_bytes(&x->results[r], &a->alias_size_in_bytes, &a->host_alias_size_in_bytes);
  }
  a->temp_size_in_bytes = (i64)x->prog->workspace;
  a->total_size_in_bytes = a->argument_size_in_bytes + a->output_size_in_bytes +
                           a->temp_size_in_bytes - a->alias_size_in_bytes;
  a->peak_memory_in_bytes = a->total_allocation_bytes = a->total_size_in_bytes;
  return NULL;
}

/* ---- the ExecutableMetadata extension: the same numbers in xla.PjRtExecutableMetadata ---- */

/* Numbers of xla.CompiledMemoryStatsProto, in the order of the statistics above. */
static const u8 stats_fields[] = {1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 14, 15, 16, 17, 18};

typedef struct metadata {
  PJRT_ExecutableMetadata base;
  buf bytes;
} metadata;

static void end_metadata(metadata *m) {
  buf_deinit(&m->bytes);
  mem_free(&mem_system, m, sizeof *m);
}

status api_executable_metadata_get_executable_metadata(
    PJRT_ExecutableMetadata_GetExecutableMetadata_Args *a) {
  PJRT_Executable_GetCompiledMemoryStats_Args stats = {.executable = a->executable};
  a->metadata = NULL;
  RETURN_IF_ERROR(api_executable_get_compiled_memory_stats(&stats));
  metadata *m = mem_alloc(&mem_system, sizeof *m);
  if (!m) return status_oom();
  buf all;
  buf_init(&all, &mem_system);
  buf_init(&m->bytes, &mem_system);
  const i64 *value = &stats.generated_code_size_in_bytes;
  for (size_t i = 0; i < COUNT(stats_fields); i++)
    if (value[i]) proto_put_int(&all, stats_fields[i], (u64)value[i]);
  proto_put_bytes(&m->bytes, 1, buf_view(&all));
  bool ok = buf_ok(&all) && buf_ok(&m->bytes);
  buf_deinit(&all);
  if (!ok) {
    end_metadata(m);
    return status_oom();
  }
  m->base = (PJRT_ExecutableMetadata){m->bytes.data, m->bytes.len};
  a->metadata = &m->base;
  return NULL;
}

void api_executable_metadata_destroy_serialized_metadata(
    PJRT_ExecutableMetadata_DestroySerializedMetadata_Args *a) {
  if (a->metadata) end_metadata((metadata *)a->metadata);
}
