/* Modules compiled by the ordinary line and run, arguments and results as text. See interpret.h.
 * The forms are those of openxla/stablehlo tools/StablehloTranslateMain.cpp and
 * reference/Tensor.cpp. */
#include "interpret.h"

#include <inttypes.h>

#include "api/api.h"
#include "host.h"
#include "text/text.h"

/* One module. What is in C's memory is freed at the end, whatever happened. */
typedef struct interpretation {
  interpret_options *o;
  str file;
  buf *out;
  oom_trap trap;
  diag_sink sink;
  ir_ctx *ctx;
  arena *a;
  tz_program *program;
  const void **in; /* data of the arguments */
  const type **in_types;
  u32 num_in;
  void **results;
} interpretation;

bool interpret_option(interpret_options *o, const char *text) {
  static const struct {
    const char *name;
    size_t field;
  } texts[] = {{"args=", offsetof(interpret_options, args)},
               {"probe-output-dir=", offsetof(interpret_options, probe_dir)}};
  for (size_t i = 0; i < COUNT(texts); i++) {
    size_t n = strlen(texts[i].name);
    if (strncmp(text, texts[i].name, n) != 0) continue;
    *(const char **)(void *)((char *)o + texts[i].field) = text + n;
    return true;
  }
  if (strcmp(text, "interpreter-print-dense") != 0) return false;
  return o->dense = true;
}

/* ---- arguments ---- */

static bool bad_args(interpretation *t, const char *why) {
  return loc_error(t->ctx, NULL, "%s, i.e. --args=[dense<1> : tensor<2xi32>, ...]", why);
}

/* A constant's bytes as devices have them: every element, and no stray bits above narrow ones. */
static const void *bytes_of(interpretation *t, const dense_attr *d) {
  i64 n = 0;
  size_t size = type_storage(d->type->elem);
  if (!type_num_elements(d->type, &n)) return NULL;
  char *all = ARENA_ARRAY(t->a, char, (size_t)n *size + 1);
  for (size_t i = 0; i < (size_t)n; i++)
    memcpy(all + i * size, d->data.data + (d->splat ? 0 : i * size), size);
  return all;
}

static bool read_args(interpretation *t) {
  if (!t->o->args || !*t->o->args) return true;
  const array_attr *list = attr_as(array, text_parse_attr(t->ctx, str_of(t->o->args), NULL));
  if (!list) return bad_args(t, "expectected array attribute string for args");
  t->num_in = (u32)list->elems.len;
  t->in = ARENA_ARRAY(t->a, const void *, t->num_in + 1);
  t->in_types = ARENA_ARRAY(t->a, const type *, t->num_in + 1);
  for (u32 i = 0; i < t->num_in; i++) {
    const dense_attr *d = attr_as(dense, list->elems.data[i]);
    if (!d || d->type->kind != TYPE_TENSOR || !(t->in[i] = bytes_of(t, d)))
      return bad_args(t, "expected dense elements attribute for args elements");
    t->in_types[i] = d->type;
  }
  return true;
}

static const type *type_of(interpretation *t, const tz_tensor *x) {
  const type *elem = text_parse_type(t->ctx, str_of(x->type), NULL);
  return type_tensor(t->ctx, (i64s){x->dims, x->rank}, elem, NULL);
}

static bool check_args(interpretation *t) {
  u32 n = tz_program_num_params(t->program);
  if (n != t->num_in)
    return loc_error(t->ctx, NULL,
                     "incorrect number of arguments specified, provided %u inputs but function "
                     "expected %u",
                     t->num_in, n);
  for (u32 i = 0; i < n; i++) {
    tz_tensor p = api_param(t->program, i);
    const type *want = type_of(t, &p);
    if (want != t->in_types[i])
      return loc_error(t->ctx, NULL,
                       "invalid input argument type at index %u, input type was '%s' but entry "
                       "function expected '%s'",
                       i, text_show_type(t->a, t->in_types[i]), text_show_type(t->a, want));
  }
  return true;
}

/* ---- results ---- */

static dtype element_of(const tz_tensor *x) {
  dtype t = DTYPE_pred;
  dtype_from_name(str_of(x->type), &t);
  return t;
}

static void put_dense(interpretation *t, const type *of, const char *data) {
  i64 n = 0;
  type_num_elements(of, &n);
  size_t size = type_storage(of->elem);
  bool splat = n > 0;
  for (size_t i = 1; splat && i < (size_t)n; i++) splat = !memcmp(data, data + i * size, size);
  str bytes = {data, splat ? size : (size_t)n * size};
  text_print_attr(t->out, attr_dense(t->ctx, of, bytes, splat, true));
  buf_char(t->out, '\n');
}

static void print_results(interpretation *t) {
  for (u32 k = 0; k < tz_program_num_results(t->program); k++) {
    tz_tensor r = api_result(t->program, k);
    const type *of = type_of(t, &r);
    if (t->o->dense)
      put_dense(t, of, t->results[k]);
    else
      print_tensor(t->out, element_of(&r), (i64s){r.dims, r.rank}, t->results[k]);
  }
}

/* ---- running ---- */

/* Nothing but blanks and comments: a module of no functions, which does nothing. */
static bool is_empty(str s) {
  for (size_t i = 0; i < s.len; i++) {
    if (s.data[i] == '/' && i + 1 < s.len && s.data[i + 1] == '/') {
      while (i < s.len && s.data[i] != '\n') i++;
      if (i == s.len) break;
    }
    if (!memchr(" \t\r\n", s.data[i], 4)) return false;
  }
  return true;
}

/* "2x3" for each argument. */
static const char **shapes_of(interpretation *t) {
  const char **list = ARENA_ARRAY(t->a, const char *, t->num_in + 1);
  for (u32 i = 0; i < t->num_in; i++) {
    buf b;
    buf_init(&b, ir_mem(t->ctx));
    for (size_t d = 0; d < t->in_types[i]->dims.len; d++)
      buf_printf(&b, "%s%" PRId64, d ? "x" : "", t->in_types[i]->dims.data[d]);
    list[i] = buf_take(&b, t->a).data;
  }
  list[t->num_in] = NULL;
  return list;
}

/* Lines are those of the file, in messages of the compiler and of the run. */
static bool compile(interpretation *t, str source, u32 above) {
  buf b;
  buf_init(&b, &mem_system);
  for (u32 i = 0; i < above; i++) buf_char(&b, '\n');
  if (above) buf_str(&b, source);
  str all = above ? buf_view(&b) : source;
  tz_compile_options c = {TZ_SIZED(tz_compile_options), .file = t->file.data,
                          .shapes = shapes_of(t)};
  tz_error *e = buf_ok(&b) ? tz_compile(all.data, all.len, &c, &t->program) : NULL;
  if (!buf_ok(&b)) say_error("out of memory");
  buf_deinit(&b);
  return !say_tz_error(e) && t->program;
}

static bool run(interpretation *t) {
  u32 n = tz_program_num_results(t->program);
  t->results = ARENA_ARRAY(t->a, void *, n + 1);
  for (u32 k = 0; k < n; k++)
    t->results[k] = arena_zalloc(t->a, api_result(t->program, k).bytes + 16);
  if (!t->o->runtime && say_tz_error(tz_runtime_create(0, &t->o->runtime))) return false;
  cli_host host;
  host_begin(&host, t->o->probe_dir, t->out);
  tz_error *e = api_run(t->o->runtime, t->program, t->in, t->results, &host.functions);
  host_end(&host);
  return !say_tz_error(e);
}

static bool interpret_trapped(interpretation *t, str source, u32 above) {
  if (setjmp(t->trap.at) || !(t->ctx = ir_ctx_create(&mem_system, &t->trap, &t->sink)))
    return say_error("out of memory"), false;
  t->a = ir_scratch_push(t->ctx);
  if (!read_args(t) || is_empty(source)) return t->sink.errors == 0;
  if (!compile(t, source, above) || !check_args(t) || !run(t)) return false;
  print_results(t);
  return true;
}

bool interpret(interpret_options *o, str file, str source, u32 above, buf *out) {
  interpretation t = {.o = o, .file = file, .out = out, .sink = {.fn = diag_to_stderr}};
  bool ok = interpret_trapped(&t, source, above);
  tz_program_free(t.program);
  ir_ctx_destroy(t.ctx);
  return ok;
}

void interpret_end(interpret_options *o) { tz_runtime_free(o->runtime); }
