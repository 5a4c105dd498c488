/* terrazzo run: global arrays in, the program on N devices, global arrays out. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli.h"
#include "compile/compile.h"
#include "exec/exec.h"

static const char usage[] =
    "usage: terrazzo run FILE [options]\n\n"
    "FILE               MLIR text, MLIR bytecode or a portable artifact; - is standard input\n"
    "--devices N        how many devices (default: what the module says)\n"
    "--input A.npy ...  the arguments of @main, global arrays, in order; they are sharded as\n"
    "                   the program says. bf16 and f8 as unsigned integers of their width\n"
    "--output DIR       write the results there as out_K.npy, global arrays\n"
    "--mesh M=x=2,y=2   replace mesh @M of the module\n"
    "--threads N        workers (default: one a processor)\n"
    "--time             how long compiling and running took\n"
    "--stats            collectives and bytes a device, workspace, steps\n"
    "--dump STAGE       print the module after that stage (or `all`) to standard error;\n"
    "                   STAGE `program` prints the steps that every device runs\n\n"
    "example: terrazzo run mlp.mlir --devices 8 --input x.npy w.npy --output out --stats\n";

enum { MAX_INPUTS = 4096, MAX_MESHES = 16 };

typedef struct run_options {
  const char *file, *output, *dump;
  const char *inputs[MAX_INPUTS];
  const char *meshes[MAX_MESHES + 1];
  u32 num_inputs, num_meshes, devices, threads;
  bool time, stats;
} run_options;

static bool number(const char *text, u32 max, u32 *out) {
  char *end;
  errno = 0;
  unsigned long v = strtoul(text, &end, 10);
  if (!*text || *end || errno || v < 1 || v > max || text[0] == '-') {
    say_error("expected a number from 1 to %u, found '%s'", max, text);
    return false;
  }
  return *out = (u32)v, true;
}

/* Takes the option at argv[*i]; false: wrong use, said. */
static bool option(run_options *o, int argc, char **argv, int *i) {
  const char *name = argv[*i];
  if (strcmp(name, "--time") == 0) return o->time = true;
  if (strcmp(name, "--stats") == 0) return o->stats = true;
  if (strcmp(name, "--input") == 0) {
    while (*i + 1 < argc && argv[*i + 1][0] != '-') {
      if (o->num_inputs == MAX_INPUTS) return say_error("too many inputs"), false;
      o->inputs[o->num_inputs++] = argv[++*i];
    }
    return true;
  }
  bool known = strcmp(name, "--devices") == 0 || strcmp(name, "--output") == 0 ||
               strcmp(name, "--mesh") == 0 || strcmp(name, "--threads") == 0 ||
               strcmp(name, "--dump") == 0;
  if (!known || *i + 1 >= argc) {
    say_error(known ? "%s needs a value" : "unknown option '%s'; --help lists them", name);
    return false;
  }
  const char *v = argv[++*i];
  if (strcmp(name, "--devices") == 0) return number(v, 1u << 20, &o->devices);
  if (strcmp(name, "--threads") == 0) return number(v, 4096, &o->threads);
  if (strcmp(name, "--output") == 0) return o->output = v, true;
  if (strcmp(name, "--dump") == 0) return o->dump = v, true;
  if (o->num_meshes == MAX_MESHES) return say_error("too many meshes"), false;
  return o->meshes[o->num_meshes++] = v, true;
}

/* ---- pieces of global arrays ---- */

/* Copies the piece of partition p between the global array and its own memory. */
static void copy_piece(const compile_tensor *t, u32 p, char *global, char *piece, bool to_piece) {
  size_t rank = t->local_dims.len, size = dtype_size(t->type);
  i64 index[32] = {0};
  size_t row = size, rows = 1;
  size_t inner = rank ? (size_t)t->local_dims.data[rank - 1] : 1;
  for (size_t d = 0; d + 1 < rank; d++) rows *= (size_t)t->local_dims.data[d];
  row *= inner;
  for (size_t r = 0; r < rows && row; r++) {
    size_t at = 0;
    for (size_t d = 0; d < rank; d++) {
      i64 begin = t->slice_of ? t->slice_of[p * rank + d] * t->local_dims.data[d] : 0;
      at = at * (size_t)t->global_dims.data[d] + (size_t)(begin + index[d]);
    }
    if (to_piece)
      memcpy(piece + r * row, global + at * size, row);
    else
      memcpy(global + at * size, piece + r * row, row);
    for (size_t d = rank ? rank - 1 : 0; d-- > 0;) {
      if (++index[d] < t->local_dims.data[d]) break;
      index[d] = 0;
    }
  }
}

static size_t bytes_of(dtype type, i64s dims) {
  size_t n = dtype_size(type);
  for (size_t i = 0; i < dims.len; i++) n *= (size_t)dims.data[i];
  return n;
}

/* ---- one run ---- */

typedef struct run_state {
  executable *exe;
  u32 positions;
  npy *inputs;
  void **params, **results; /* [position][k], owned */
  u32 *devices;
  dev_event *done;
  char **globals; /* results, put together */
} run_state;

static bool shape_matches(const npy *a, i64s dims) {
  return a->rank == dims.len && i64s_eq((i64s){a->dims, a->rank}, dims);
}

static void print_dims(buf *b, const i64 *dims, size_t n) {
  for (size_t i = 0; i < n; i++) buf_printf(b, "%s%" PRId64, i ? "x" : "", dims[i]);
  if (!n) BUF_LIT(b, "scalar");
}

static status read_inputs(run_state *s, const run_options *o) {
  if (o->num_inputs != s->exe->num_params)
    return status_make(STATUS_INVALID_ARGUMENT, "@main takes %u arguments, %u --input were given",
                       s->exe->num_params, o->num_inputs);
  for (u32 k = 0; k < o->num_inputs; k++) {
    const compile_tensor *t = &s->exe->params[k];
    RETURN_IF_ERROR(npy_read(o->inputs[k], &s->inputs[k]));
    const npy *a = &s->inputs[k];
    if (shape_matches(a, t->global_dims) && npy_holds(a, t->type)) continue;
    buf want, got;
    buf_init(&want, &mem_system);
    buf_init(&got, &mem_system);
    print_dims(&want, t->global_dims.data, t->global_dims.len);
    print_dims(&got, a->dims, a->rank);
    status bad = status_make(
        STATUS_INVALID_ARGUMENT, "%s: error: argument %u of @main: expected %s of %s, found %s of %c%u",
        o->inputs[k], k, buf_cstr(&want), dtype_infos[t->type].name, buf_cstr(&got), a->kind,
        a->size * 8);
    buf_deinit(&want);
    buf_deinit(&got);
    return bad;
  }
  return NULL;
}

static status allocate(run_state *s) {
  const executable *e = s->exe;
  for (u32 p = 0; p < s->positions; p++) {
    u32 part = p % e->num_partitions;
    s->devices[p] = p;
    for (u32 k = 0; k < e->num_params; k++) {
      const compile_tensor *t = &e->params[k];
      void *piece = aligned_alloc(64, align_up(bytes_of(t->type, t->local_dims) + 1, 64));
      if (!piece) return status_oom();
      s->params[p * e->num_params + k] = piece;
      copy_piece(t, part, s->inputs[k].data, piece, true);
    }
    for (u32 k = 0; k < e->num_results; k++) {
      const compile_tensor *t = &e->results[k];
      void *piece = aligned_alloc(64, align_up(bytes_of(t->type, t->local_dims) + 1, 64));
      if (!piece) return status_oom();
      s->results[p * e->num_results + k] = piece;
    }
  }
  return NULL;
}

static void finished(void *user, status error) {
  run_state *s = user;
  dev_event_set(s->done, status_copy(error));
}

/* A result that takes over a parameter's memory gets a copy of the argument in its own. */
static void alias_params(run_state *s, void **params) {
  const executable *e = s->exe;
  memcpy(params, s->params, (size_t)s->positions * e->num_params * sizeof *params);
  for (u32 k = 0; k < e->num_results; k++) {
    i32 from = e->prog->slots[e->prog->result_slot[k]].alias;
    if (from < 0) continue;
    const compile_tensor *t = &e->results[k];
    for (u32 p = 0; p < s->positions; p++) {
      void *own = s->results[p * e->num_results + k];
      memcpy(own, s->params[p * e->num_params + (u32)from], bytes_of(t->type, t->local_dims));
      params[p * e->num_params + (u32)from] = own;
    }
  }
}

static status execute(run_state *s, const run_options *o, u64 *out_ns) {
  exec_pool *pool = NULL;
  exec_image *image = NULL;
  size_t n = (size_t)s->positions * s->exe->num_params;
  void **params = malloc((n + 1) * sizeof *params);
  status bad = params ? exec_pool_create(&(exec_pool_options){.threads = o->threads}, &pool)
                      : status_oom();
  if (!bad) bad = exec_image_create(&mem_system, s->exe->prog, NULL, NULL, &image);
  if (!bad && !(s->done = dev_event_create())) bad = status_oom();
  if (!bad) {
    alias_params(s, params);
    u64 begin = os_now_ns();
    bad = exec_launch(pool, &(exec_launch_args){.image = image,
                                                .devices = s->devices,
                                                .params = params,
                                                .results = s->results,
                                                .done = finished,
                                                .user = s});
    if (!bad) bad = status_copy(dev_event_await(s->done));
    *out_ns = os_now_ns() - begin;
  }
  if (pool) exec_pool_destroy(pool);
  if (image) exec_image_release(image);
  if (s->done) dev_event_release(s->done);
  free(params);
  return bad;
}

static status write_results(const run_state *s, const char *dir) {
  const executable *e = s->exe;
  if (mkdir(dir, 0777) != 0 && errno != EEXIST)
    return status_make(STATUS_UNKNOWN, "%s: %s", dir, strerror(errno));
  for (u32 k = 0; k < e->num_results; k++) {
    const compile_tensor *t = &e->results[k];
    char *global = calloc(bytes_of(t->type, t->global_dims) + 1, 1), path[4096];
    if (!global) return status_oom();
    for (u32 p = e->num_partitions; p-- > 0;) /* partition 0 has the last word */
      copy_piece(t, p, global, s->results[p * e->num_results + k], false);
    snprintf(path, sizeof path, "%s/out_%u.npy", dir, k);
    status bad = npy_write(path, t->type, t->global_dims, global);
    free(global);
    if (bad) return bad;
  }
  return NULL;
}

static void print_stats(const executable *e) {
  program_stats st;
  program_count(e->prog, &st);
  printf("partitions %u, replicas %u, steps %u, workspace %" PRIu64
         " bytes a device, constants %" PRIu64 " bytes\n",
         e->num_partitions, e->num_replicas, st.steps, st.workspace, st.constants);
  for (int k = 0; k < COLL_COUNT_; k++)
    if (st.collectives[k])
      printf("%-16s %4u  %10" PRIu64 " bytes a device\n",
             prog_collective_name((prog_collective_kind)k), st.collectives[k],
             st.collective_bytes[k]);
}

static void release(run_state *s) {
  size_t np = (size_t)s->positions * s->exe->num_params,
         nr = (size_t)s->positions * s->exe->num_results;
  for (size_t i = 0; s->params && i < np; i++) free(s->params[i]);
  for (size_t i = 0; s->results && i < nr; i++) free(s->results[i]);
  for (u32 k = 0; s->inputs && k < s->exe->num_params; k++) npy_free(&s->inputs[k]);
  free(s->params);
  free(s->results);
  free(s->inputs);
  free(s->devices);
  executable_release(s->exe);
}

static void dump(void *user, str stage, str text) {
  if (strcmp(user, "all") == 0 || str_is(stage, user))
    fprintf(stderr, "// ----- after %.*s -----\n%.*s\n", STR_ARG(stage), STR_ARG(text));
}

static status compile_file(const run_options *o, executable **out) {
  os_file f;
  RETURN_IF_ERROR(os_file_open(o->file, &f));
  compile_options c = {.file = str_of(o->file),
                       .num_partitions = o->devices,
                       .keep_denormals = true,
                       .mesh_overrides = o->num_meshes ? o->meshes : NULL,
                       .dump = o->dump ? dump : NULL,
                       .dump_user = (void *)(uintptr_t)o->dump};
  status bad = compile_source(f.bytes, &c, out);
  os_file_close(&f);
  return bad;
}

static status run(const run_options *o) {
  run_state s = {0};
  u64 begin = os_now_ns(), compiled, ran = 0;
  RETURN_IF_ERROR(compile_file(o, &s.exe));
  compiled = os_now_ns() - begin;
  const executable *e = s.exe;
  s.positions = e->num_partitions * e->num_replicas;
  s.inputs = calloc(e->num_params + 1u, sizeof *s.inputs);
  s.params = calloc((size_t)s.positions * e->num_params + 1, sizeof *s.params);
  s.results = calloc((size_t)s.positions * e->num_results + 1, sizeof *s.results);
  s.devices = calloc(s.positions, sizeof *s.devices);
  bool room = s.inputs && s.params && s.results && s.devices;
  status bad = room ? NULL : status_oom();
  if (!bad && o->dump && strcmp(o->dump, "program") == 0) {
    buf b;
    buf_init(&b, &mem_system);
    program_dump(e->prog, &b);
    fwrite(b.data, 1, b.len, stderr);
    buf_deinit(&b);
  }
  if (!bad) bad = read_inputs(&s, o);
  if (!bad) bad = allocate(&s);
  if (!bad) bad = execute(&s, o, &ran);
  if (!bad && o->output) bad = write_results(&s, o->output);
  if (!bad && o->time)
    printf("compile %.3f ms, run %.3f ms\n", (double)compiled / 1e6, (double)ran / 1e6);
  if (!bad && o->stats) print_stats(e);
  release(&s);
  return bad;
}

int run_main(int argc, char **argv) {
  run_options *o = calloc(1, sizeof *o);
  int result = EXIT_USAGE;
  if (!o) return EXIT_WRONG;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      fputs(usage, stdout);
      result = EXIT_FINE;
      goto done;
    }
    if (argv[i][0] == '-' && argv[i][1]) {
      if (!option(o, argc, argv, &i)) goto done;
    } else if (o->file) {
      say_error("more than one file: '%s' and '%s'", o->file, argv[i]);
      goto done;
    } else {
      o->file = argv[i];
    }
  }
  if (!o->file)
    fputs(usage, stderr);
  else
    result = say_status(run(o)) ? EXIT_WRONG : EXIT_FINE;
done:
  free(o);
  return result;
}
