/* terrazzo run: global arrays in, the program on N devices, global arrays out. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "api/api.h"
#include "host.h"

static const char usage[] =
    "usage: terrazzo run FILE [options]\n\n"
    "FILE               MLIR text, MLIR bytecode or a portable artifact; - is standard input\n"
    "--devices N        how many devices (default: what the module says)\n"
    "--input A.npy ...  the arguments of @main, global arrays, in order; they are sharded as\n"
    "                   the program says. bf16 and f8 as unsigned integers of their width\n"
    "--output DIR       write the results there as out_K.npy, global arrays\n"
    "--mesh M=x=2,y=2   replace mesh @M of the module\n"
    "--load-dialect LIB.so  a dialect (terrazzo/dialect.h) and the handlers of its ops\n"
    "--threads N        workers (default: one a processor)\n"
    "--executor NAME    cpu, or plain: devices one after the other on one thread, to debug\n"
    "                   (default: what TERRAZZO_EXECUTOR says, else cpu)\n"
    "--repeat N         run N times; --time tells the fastest\n"
    "--time             how long compiling and running took\n"
    "--stats            collectives and bytes a device, workspace, steps\n"
    "--dump STAGE       print the module after that stage (or `all`) to standard error;\n"
    "                   STAGE `program` prints the steps that every device runs\n\n"
    "example: terrazzo run mlp.mlir --devices 8 --input x.npy w.npy --output out --stats\n";

enum { MAX_INPUTS = 4096, MAX_MESHES = 16, MAX_DIALECTS = 16 };

typedef struct run_options {
  const char *file, *output, *dump, *executor;
  const char *inputs[MAX_INPUTS];
  const char *meshes[MAX_MESHES + 1];
  const char *dialects[MAX_DIALECTS + 1];
  u32 num_inputs, num_meshes, num_dialects, devices, threads, repeat;
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
  static const char *const names[] = {"--devices", "--output", "--mesh",     "--threads",
                                      "--repeat",  "--dump",   "--executor", "--load-dialect"};
  bool known = false;
  for (size_t k = 0; k < COUNT(names) && !known; k++) known = strcmp(name, names[k]) == 0;
  if (!known || *i + 1 >= argc) {
    say_error(known ? "%s needs a value" : "unknown option '%s'; --help lists them", name);
    return false;
  }
  const char *v = argv[++*i];
  if (strcmp(name, "--devices") == 0) return number(v, 1u << 20, &o->devices);
  if (strcmp(name, "--threads") == 0) return number(v, 4096, &o->threads);
  if (strcmp(name, "--repeat") == 0) return number(v, 1u << 20, &o->repeat);
  if (strcmp(name, "--output") == 0) return o->output = v, true;
  if (strcmp(name, "--dump") == 0) return o->dump = v, true;
  if (strcmp(name, "--executor") == 0) return o->executor = v, true;
  if (strcmp(name, "--load-dialect") == 0) {
    if (o->num_dialects == MAX_DIALECTS) return say_error("too many dialects"), false;
    return o->dialects[o->num_dialects++] = v, true;
  }
  if (o->num_meshes == MAX_MESHES) return say_error("too many meshes"), false;
  return o->meshes[o->num_meshes++] = v, true;
}

/* ---- one run ---- */

/* What a run holds; release frees it. */
typedef struct run_state {
  tz_program *program;
  tz_runtime *runtime;
  npy *inputs;         /* open, as many as there are options */
  const char **shapes; /* theirs */
  u32 num_inputs;
  const void **in; /* data of the inputs */
  void **out;      /* global results, owned */
} run_state;

static void print_dims(buf *b, const i64 *dims, size_t n) {
  for (size_t i = 0; i < n; i++) buf_printf(b, "%s%" PRId64, i ? "x" : "", dims[i]);
  if (!n) BUF_LIT(b, "scalar");
}

static bool wrong_input(const char *path, u32 k, const npy *a, const tz_tensor *t) {
  buf b;
  buf_init(&b, &mem_system);
  buf_printf(&b, "%s: error: argument %u of @main: expected ", path, k);
  print_dims(&b, t->dims, t->rank);
  buf_printf(&b, " of %s, found ", t->type);
  print_dims(&b, a->dims, a->rank);
  buf_printf(&b, " of %c%u", a->kind, a->size * 8);
  fprintf(stderr, "%s\n", buf_cstr(&b));
  buf_deinit(&b);
  return false;
}

/* What the inputs are, which is known before the program is. */
static bool open_inputs(run_state *s, const run_options *o) {
  u32 n = o->num_inputs;
  enum { LONGEST = 20 * COUNT(s->inputs->dims) + 1 };
  s->inputs = calloc(n + 1u, sizeof *s->inputs);
  s->shapes = calloc(n + 1u, sizeof *s->shapes);
  s->num_inputs = s->inputs && s->shapes ? n : 0;
  if (s->num_inputs < n) return say_error("out of memory"), false;
  for (u32 k = 0; k < n; k++) {
    npy *a = &s->inputs[k];
    if (say_status(npy_open(o->inputs[k], a))) return false;
    char *text = calloc(1, LONGEST);
    if (!text) return say_error("out of memory"), false;
    s->shapes[k] = text;
    for (u32 d = 0; d < a->rank; d++) text += sprintf(text, "%s%" PRId64, d ? "x" : "", a->dims[d]);
  }
  return true;
}

static bool read_inputs(run_state *s, const run_options *o) {
  u32 n = tz_program_num_params(s->program);
  if (o->num_inputs != n) {
    say_error("@main takes %u arguments, %u inputs were given", n, o->num_inputs);
    return false;
  }
  for (u32 k = 0; k < n; k++) {
    tz_tensor t = tz_program_param(s->program, k);
    npy *a = &s->inputs[k];
    if (a->rank != t.rank || !i64s_eq((i64s){a->dims, a->rank}, (i64s){t.dims, t.rank}) ||
        !npy_holds(a, t.type, t.element_size))
      return wrong_input(o->inputs[k], k, a, &t);
    if (say_status(npy_load(o->inputs[k], a))) return false;
    s->in[k] = a->data;
  }
  return true;
}

static bool write_results(const run_state *s, const char *dir) {
  if (mkdir(dir, 0777) != 0 && errno != EEXIST)
    return say_error("%s: %s", dir, strerror(errno)), false;
  for (u32 k = 0; k < tz_program_num_results(s->program); k++) {
    tz_tensor t = tz_program_result(s->program, k);
    char path[4096];
    snprintf(path, sizeof path, "%s/out_%u.npy", dir, k);
    if (say_status(npy_write(path, t.type, t.element_size, (i64s){t.dims, t.rank}, s->out[k])))
      return false;
  }
  return true;
}

static void print_stats(const tz_program *p) {
  tz_stats st = tz_program_stats(p);
  printf("devices %u, steps %u, workspace %" PRIu64 " bytes a device, constants %" PRIu64
         " bytes\n",
         tz_program_devices(p), st.steps, st.workspace, st.constants);
  for (u32 i = 0; i < st.num_collectives; i++)
    printf("%-16s %4u  %10" PRIu64 " bytes a device\n", st.collectives[i].kind,
           st.collectives[i].count, st.collectives[i].bytes);
}

static void release(run_state *s) {
  for (u32 k = 0; s->out && k < tz_program_num_results(s->program); k++) free(s->out[k]);
  for (u32 k = 0; k < s->num_inputs; k++) {
    npy_free(&s->inputs[k]);
    free((char *)(uintptr_t)s->shapes[k]);
  }
  free(s->shapes);
  free(s->out);
  free(s->inputs);
  free(s->in);
  tz_program_free(s->program);
  tz_runtime_free(s->runtime);
}

static void dump(void *user, const char *stage, const char *text, size_t length) {
  if (strcmp(user, "all") == 0 || strcmp(user, stage) == 0)
    fprintf(stderr, "// ----- after %s -----\n%.*s\n", stage, (int)length, text);
}

static bool make_room(run_state *s) {
  u32 np = tz_program_num_params(s->program), nr = tz_program_num_results(s->program);
  s->in = calloc(np + 1u, sizeof *s->in);
  s->out = calloc(nr + 1u, sizeof *s->out);
  bool ok = s->in && s->out;
  for (u32 k = 0; ok && k < nr; k++)
    ok = (s->out[k] = calloc(tz_program_result(s->program, k).bytes + 1, 1)) != NULL;
  if (!ok) say_error("out of memory");
  return ok;
}

static bool compile_file(const run_options *o, const char *const *shapes, tz_program **out) {
  os_file f;
  if (say_status(os_file_open(o->file, &f))) return false;
  bool text = o->dump && strcmp(o->dump, "program") != 0;
  tz_compile_options c = {.file = o->file,
                          .devices = o->devices,
                          .meshes = o->num_meshes ? o->meshes : NULL,
                          .shapes = o->num_inputs ? shapes : NULL,
                          .dialects = o->dialects,
                          .dump = text ? dump : NULL,
                          .dump_user = (void *)(uintptr_t)o->dump};
  tz_error *e = tz_compile(f.bytes.data, f.bytes.len, &c, out);
  os_file_close(&f);
  return !say_tz_error(e);
}

/* What the program has printed comes when it is through. */
static bool run_once(run_state *s) {
  cli_host host;
  buf out;
  buf_init(&out, &mem_system);
  host_begin(&host, NULL, &out);
  bool failed = say_tz_error(api_run(s->runtime, s->program, s->in, s->out, &host.functions));
  host_end(&host);
  fwrite(out.data, 1, out.len, stdout);
  buf_deinit(&out);
  return !failed;
}

static bool run(run_state *s, const run_options *o) {
  if (!open_inputs(s, o)) return false;
  u64 begin = os_now_ns(), ran = 0;
  if (!compile_file(o, s->shapes, &s->program)) return false;
  u64 compiled = os_now_ns() - begin;
  if (o->dump && strcmp(o->dump, "program") == 0) {
    char *text = tz_program_text(s->program);
    if (text) fputs(text, stderr);
    tz_free(text);
  }
  if (!make_room(s) || !read_inputs(s, o)) return false;
  if (say_tz_error(tz_runtime_create_on(o->executor, o->threads, &s->runtime))) return false;
  for (u32 i = 0; i < o->repeat; i++) {
    begin = os_now_ns();
    if (!run_once(s)) return false;
    u64 took = os_now_ns() - begin;
    if (i == 0 || took < ran) ran = took;
  }
  if (o->output && !write_results(s, o->output)) return false;
  if (o->time) printf("compile %.3f ms, run %.3f ms\n", (double)compiled / 1e6, (double)ran / 1e6);
  if (o->stats) print_stats(s->program);
  return true;
}

int run_main(int argc, char **argv) {
  run_options *o = calloc(1, sizeof *o);
  run_state state = {0};
  int result = EXIT_USAGE;
  if (!o) return EXIT_WRONG;
  o->repeat = 1;
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
    result = run(&state, o) ? EXIT_FINE : EXIT_WRONG;
done:
  release(&state);
  free(o);
  return result;
}
