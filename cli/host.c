/* Functions of the host, each on the worker that asks for it. See host.h; the forms of files and
 * text are those of openxla/stablehlo reference/InterpreterOps.cpp and Tensor.cpp. */
#include "host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "exec/check.h"
#include "num/convert.h"
#include "text/float.h"

/* ---- printing ---- */

static void put_number(buf *out, dtype t, const char *at) {
  u64 bits = 0;
  memcpy(&bits, at, dtype_size(t));
  switch (dtype_infos[t].kind) {
  case DTYPE_CLASS_BOOL:
    buf_str(out, bits ? STR("true") : STR("false"));
    break;
  case DTYPE_CLASS_FLOAT:
    for (int k = 0; k < FLOAT_COUNT; k++)
      if (strcmp(float_names[k], dtype_infos[t].name) == 0) float_print(out, (float_kind)k, bits);
    break;
  case DTYPE_CLASS_UINT:
    num_convert(t, at, DTYPE_u64, &bits);
    buf_printf(out, "%" PRIu64, bits);
    break;
  default:
    num_convert(t, at, DTYPE_s64, &bits);
    buf_printf(out, "%" PRId64, (i64)bits);
  }
}

static void put_element(buf *out, dtype t, const char *at) {
  if (dtype_infos[t].kind != DTYPE_CLASS_COMPLEX) {
    put_number(out, t, at);
    return;
  }
  dtype part = t == DTYPE_c64 ? DTYPE_f32 : DTYPE_f64;
  buf_char(out, '[');
  put_number(out, part, at);
  BUF_LIT(out, ", ");
  put_number(out, part, at + dtype_size(part));
  buf_char(out, ']');
}

static void new_line(buf *out, size_t indent) {
  buf_char(out, '\n');
  for (size_t i = 0; i < indent; i++) BUF_LIT(out, "  ");
}

/* Dimensions from d on; *at moves on by what was printed. */
static void put_dims(buf *out, dtype t, i64s dims, size_t d, bool last, const char **at) {
  if (d == dims.len) {
    put_element(out, t, *at);
    *at += dtype_size(t);
    if (!last) BUF_LIT(out, ", ");
    return;
  }
  new_line(out, d + 1);
  buf_char(out, '[');
  for (i64 i = 0; i < dims.data[d]; i++) put_dims(out, t, dims, d + 1, i + 1 == dims.data[d], at);
  buf_char(out, ']');
  if (last)
    new_line(out, d);
  else
    buf_char(out, ',');
}

static void put_type(buf *out, dtype type, i64s dims) {
  BUF_LIT(out, "tensor<");
  for (size_t d = 0; d < dims.len; d++) buf_printf(out, "%" PRId64 "x", dims.data[d]);
  buf_printf(out, "%s>", dtype_infos[type].name);
}

void print_tensor(buf *out, dtype type, i64s dims, const void *data) {
  const char *at = data;
  put_type(out, type, dims);
  BUF_LIT(out, " {");
  put_dims(out, type, dims, 0, true, &at);
  BUF_LIT(out, "}\n");
}

static status print_call(cli_host *h, const executor_call *c) {
  buf_str(h->out, c->config);
  print_tensor(h->out, c->in[0].type, c->in[0].dims, c->in[0].data);
  return NULL;
}

/* ---- probes: dir/probeN.npy, and a line `id,type,file` in dir/index.csv for each ---- */

enum { PATH = 4096 };

static void index_path(const cli_host *h, char *to) {
  snprintf(to, PATH, "%s/index.csv", h->probe_dir);
}

static status cannot(const char *path) {
  return status_make(STATUS_UNKNOWN, "%s: %s", path, strerror(errno));
}

static status probe_call(cli_host *h, const executor_call *c) {
  char path[PATH], list[PATH];
  if (!h->probe_dir)
    return status_make(STATUS_INVALID_ARGUMENT, "Probe serialization directory cannot be empty.");
  const executor_operand *x = &c->in[0];
  snprintf(path, sizeof path, "%s/probe%u.npy", h->probe_dir, ++h->probes);
  RETURN_IF_ERROR(
      npy_write(path, dtype_infos[x->type].name, dtype_size(x->type), x->dims, x->data));
  index_path(h, list);
  buf line;
  buf_init(&line, &mem_system);
  buf_printf(&line, STR_FMT ",", STR_ARG(c->config));
  put_type(&line, x->type, x->dims);
  buf_printf(&line, ",%s\n", path);
  FILE *f = fopen(list, "a");
  bool ok = f && buf_ok(&line) && fwrite(line.data, 1, line.len, f) == line.len;
  if (f && fclose(f) != 0) ok = false;
  buf_deinit(&line);
  return ok ? NULL : cannot(list);
}

/* The line of the probe's n-th time, less its id; false: there is none. */
static bool find_line(FILE *f, str id, i64 n, char *line, int size) {
  while (fgets(line, size, f)) {
    if (strncmp(line, id.data, id.len) != 0 || line[id.len] != ',' || n-- > 0) continue;
    memmove(line, line + id.len + 1, strlen(line) - id.len);
    line[strcspn(line, "\n")] = 0;
    return true;
  }
  return false;
}

static status same_as_file(const char *path, const executor_operand *x) {
  npy a;
  status s = npy_open(path, &a);
  size_t bytes = dtype_size(x->type);
  for (size_t d = 0; d < x->dims.len; d++) bytes *= (size_t)x->dims.data[d];
  if (!s && a.bytes != bytes)
    s = status_make(STATUS_INVALID_ARGUMENT, "%s: an array of another size", path);
  if (!s) s = npy_load(path, &a);
  if (!s) s = check_equal(x->type, x->dims, x->data, a.data);
  npy_free(&a);
  return s;
}

static status serialized_call(cli_host *h, const executor_call *c) {
  char list[PATH], line[2 * PATH];
  const executor_operand *x = &c->in[0];
  FILE *f = NULL;
  if (h->probe_dir) {
    index_path(h, list);
    f = fopen(list, "r");
  }
  bool found = f && find_line(f, c->config, c->params.data[0], line, sizeof line);
  if (f) fclose(f);
  if (!found)
    return status_make(STATUS_NOT_FOUND, "Failed to find serialized data for probe " STR_FMT ".",
                       STR_ARG(c->config));
  buf type;
  buf_init(&type, &mem_system);
  put_type(&type, x->type, x->dims);
  char *comma = strchr(line, ',');
  bool same =
      comma && buf_ok(&type) && str_eq((str){line, (size_t)(comma - line)}, buf_view(&type));
  status s = same ? same_as_file(comma + 1, x)
                  : status_make(STATUS_INVALID_ARGUMENT,
                                "Serialized types don't match: %s (actual) vs %.*s (expected) for "
                                "probe " STR_FMT ".",
                                buf_cstr(&type), (int)strcspn(line, ","), line, STR_ARG(c->config));
  buf_deinit(&type);
  return s;
}

/* What nobody has asked for. */
static status drop_call(cli_host *h, const executor_call *c) { return (void)h, (void)c, NULL; }

/* ---- the table ---- */

static const struct {
  const char *target;
  status (*fn)(cli_host *h, const executor_call *c);
} functions[] = {
    {"interpreter.print", print_call},
    {"interpreter.probe", probe_call},
    {"check.expect_serialized_eq", serialized_call},
    {"stablehlo.outfeed", drop_call},
};

static void call(void *user, executor_call *c) {
  cli_host *h = user;
  status s = NULL;
  size_t i = 0;
  while (i < COUNT(functions) && !str_is(c->target, functions[i].target)) i++;
  pthread_mutex_lock(&h->lock);
  if (i < COUNT(functions))
    s = functions[i].fn(h, c);
  else
    s = status_make(STATUS_UNIMPLEMENTED, "the host has no function '" STR_FMT "'",
                    STR_ARG(c->target));
  pthread_mutex_unlock(&h->lock);
  c->done(c, s);
}

void host_begin(cli_host *h, const char *probe_dir, buf *out) {
  char list[PATH];
  *h = (cli_host){{call, h}, probe_dir && *probe_dir ? probe_dir : NULL, out, .probes = 0};
  pthread_mutex_init(&h->lock, NULL);
  if (!h->probe_dir) return;
  index_path(h, list);
  unlink(list);
}

void host_end(cli_host *h) { pthread_mutex_destroy(&h->lock); }
