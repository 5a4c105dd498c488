/* terrazzo run: global arrays in, the program on N devices, global arrays out. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "api/api.h"
#include "args.h"
#include "base/spelling.h"
#include "host.h"
#include "num/convert.h"
#include "processes.h"

static const char usage[] =
    "usage: terrazzo run FILE [options]\n\n"
    "FILE               MLIR text, MLIR bytecode or a portable artifact; - is standard input\n"
    "--devices N        how many devices (default: what the module says)\n"
    "--input A.npy ...  the arguments of @main, global arrays, in order; they are sharded as\n"
    "                   the program says. bf16 and f8 as ml_dtypes writes them, or as unsigned\n"
    "                   integers of their width\n"
    "--random-input     draw the arguments instead: floats from [-1, 1), integers from 0 to 7\n"
    "--seed N           other ones (default: 1)\n"
    "--dry-run          compile only; tell what a run would take: memory, arithmetic, collectives\n"
    "--output DIR       write the results there as out_K.npy, global arrays\n"
    "--mesh M=x=2,y=2   replace mesh @M of the module\n"
    "--op-priorities FILE  which ops propagate first, a line a group\n"
    "--load-dialect LIB.so  a dialect (terrazzo/dialect.h) and the handlers of its ops\n"
    "--threads N        workers (default: one a processor, which processes share)\n"
    "--executor NAME    cpu, or plain: devices one after the other on one thread, to debug\n"
    "                   (default: what TERRAZZO_EXECUTOR says, else cpu)\n"
    "--processes N      share the devices out among N processes of this machine; results are the\n"
    "                   same bits. TERRAZZO_JOB=RANK/SIZE/ADDRESS joins one that was started so;\n"
    "                   under mpirun its processes are taken, and talk over MPI\n"
    "--repeat N         run N times; --time tells the fastest\n"
    "--time             how long compiling and running took\n"
    "--stats            collectives and bytes a device, workspace, steps\n"
    "--json             what --dry-run, --time and --stats tell, all of it, as JSON; what the "
    "program\n"
    "                   itself prints goes to standard error then\n"
    "--dump STAGE       print the module after that stage (or `all`) to standard error;\n"
    "                   STAGE `program` prints the steps that every device runs\n\n"
    "examples: terrazzo run mlp.mlir --devices 8 --input x.npy w.npy --output out --stats\n"
    "          terrazzo run mlp.mlir --devices 8 --processes 2 --random-input --time\n"
    "          mpirun -n 4 terrazzo run mlp.mlir --devices 32 --input x.npy w.npy\n";

typedef struct run_options {
  const char *file, *output, *dump, *executor, *op_priorities;
  option_texts inputs, meshes, dialects;
  u32 devices, threads, repeat, seed, processes;
  bool time, stats, json, dry, random;
} run_options;

static const option_row rows[] = {
    {"--devices", offsetof(run_options, devices), OPTION_NUMBER, 1, 1u << 20},
    {"--input", offsetof(run_options, inputs), OPTION_MANY},
    {"--random-input", offsetof(run_options, random), OPTION_FLAG},
    {"--seed", offsetof(run_options, seed), OPTION_NUMBER, 0, UINT32_MAX},
    {"--dry-run", offsetof(run_options, dry), OPTION_FLAG},
    {"--output", offsetof(run_options, output), OPTION_TEXT},
    {"--mesh", offsetof(run_options, meshes), OPTION_TEXTS},
    {"--op-priorities", offsetof(run_options, op_priorities), OPTION_TEXT},
    {"--load-dialect", offsetof(run_options, dialects), OPTION_TEXTS},
    {"--threads", offsetof(run_options, threads), OPTION_NUMBER, 1, 4096},
    {"--executor", offsetof(run_options, executor), OPTION_TEXT},
    {"--processes", offsetof(run_options, processes), OPTION_NUMBER, 1, 4096},
    {"--repeat", offsetof(run_options, repeat), OPTION_NUMBER, 1, 1u << 20},
    {"--time", offsetof(run_options, time), OPTION_FLAG},
    {"--stats", offsetof(run_options, stats), OPTION_FLAG},
    {"--json", offsetof(run_options, json), OPTION_FLAG},
    {"--dump", offsetof(run_options, dump), OPTION_TEXT},
};

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
  void **drawn;    /* data that is in no file, owned */
  processes job;
  u64 compiled, ran; /* ns; the fastest run */
} run_state;

static void print_dims(buf *b, const i64 *dims, size_t n) {
  for (size_t i = 0; i < n; i++) buf_printf(b, "%s%" PRId64, i ? "x" : "", dims[i]);
  if (!n) BUF_LIT(b, "scalar");
}

static bool wrong_input(const char *path, u32 k, const npy *a, const tz_tensor *t) {
  buf b;
  buf_init(&b, &mem_system);
  buf_printf(&b, "%s: error: --input: argument %u of @main: expected ", path, k);
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
  u32 n = o->inputs.len;
  enum { LONGEST = 20 * COUNT(s->inputs->dims) + 1 };
  s->inputs = calloc(n + 1u, sizeof *s->inputs);
  s->shapes = calloc(n + 1u, sizeof *s->shapes);
  s->num_inputs = s->inputs && s->shapes ? n : 0;
  if (s->num_inputs < n) return say_error("out of memory"), false;
  for (u32 k = 0; k < n; k++) {
    npy *a = &s->inputs[k];
    if (say_option("--input", npy_open(o->inputs.data[k], a))) return false;
    char *text = calloc(1, LONGEST);
    if (!text) return say_error("out of memory"), false;
    s->shapes[k] = text;
    for (u32 d = 0; d < a->rank; d++) text += sprintf(text, "%s%" PRId64, d ? "x" : "", a->dims[d]);
  }
  return true;
}

static bool read_inputs(run_state *s, const run_options *o) {
  u32 n = tz_program_num_params(s->program);
  if (o->inputs.len != n) {
    say_error("--input: @main takes %u arguments, %u were given", n, o->inputs.len);
    return false;
  }
  for (u32 k = 0; k < n; k++) {
    tz_tensor t = api_param(s->program, k);
    npy *a = &s->inputs[k];
    if (a->rank != t.rank || !i64s_eq((i64s){a->dims, a->rank}, (i64s){t.dims, t.rank}) ||
        !npy_holds(a, t.type, t.element_size))
      return wrong_input(o->inputs.data[k], k, a, &t);
    if (say_option("--input", npy_load(o->inputs.data[k], a))) return false;
    s->in[k] = a->data;
  }
  return true;
}

/* So that the same program gets the same arguments everywhere. */
static bool draw_inputs(run_state *s, u32 seed) {
  u64 state = seed;
  for (u32 k = 0; k < tz_program_num_params(s->program); k++) {
    tz_tensor t = api_param(s->program, k);
    dtype type = DTYPE_pred;
    dtype_from_name(str_of(t.type), &type);
    u8 *data = malloc(t.bytes + 1);
    if (!data) return say_error("out of memory"), false;
    s->drawn[k] = data;
    s->in[k] = data;
    bool whole = dtype_infos[type].kind != DTYPE_CLASS_FLOAT &&
                 dtype_infos[type].kind != DTYPE_CLASS_COMPLEX;
    for (size_t i = 0; i < t.bytes; i += t.element_size) {
      u64 bits = (state = hash_u64(i, state)) >> 11;
      double unit = (double)bits * 0x1p-53;
      num_from_f64(type, whole ? (double)(bits & (type == DTYPE_pred ? 1 : 7)) : 2 * unit - 1,
                   data + i);
    }
  }
  return true;
}

static bool write_results(const run_state *s, const char *dir) {
  if (mkdir(dir, 0777) != 0 && errno != EEXIST)
    return say_error("--output: %s: %s", dir, strerror(errno)), false;
  for (u32 k = 0; k < tz_program_num_results(s->program); k++) {
    tz_tensor t = api_result(s->program, k);
    char path[4096];
    snprintf(path, sizeof path, "%s/out_%u.npy", dir, k);
    if (say_option("--output",
                   npy_write(path, t.type, t.element_size, (i64s){t.dims, t.rank}, s->out[k])))
      return false;
  }
  return true;
}

static void release(run_state *s) {
  for (u32 k = 0; s->out && k < tz_program_num_results(s->program); k++) free(s->out[k]);
  for (u32 k = 0; s->drawn && k < tz_program_num_params(s->program); k++) free(s->drawn[k]);
  for (u32 k = 0; k < s->num_inputs; k++) {
    npy_free(&s->inputs[k]);
    free((char *)(uintptr_t)s->shapes[k]);
  }
  free(s->shapes);
  free(s->out);
  free(s->inputs);
  free(s->in);
  free(s->drawn);
  tz_program_free(s->program);
  tz_runtime_free(s->runtime);
}

/* Which stage is wanted, and what became of it. */
typedef struct dumping {
  const char *wanted;
  bool found;
  spelling near;
  char names[4096]; /* of the stages so far, which `near` points into */
} dumping;

static void dump(void *user, const char *stage, const char *text, size_t length) {
  dumping *d = user;
  size_t n = strlen(d->names);
  snprintf(d->names + n, sizeof d->names - n, " %s", stage);
  if (d->names[n]) spelling_try(&d->near, str_of(d->names + n + 1));
  if (strcmp(d->wanted, "all") != 0 && strcmp(d->wanted, stage) != 0) return;
  d->found = true;
  fprintf(stderr, "// ----- after %s -----\n%.*s\n", stage, (int)length, text);
}

static bool check_dump(const dumping *d) {
  if (d->found) return true;
  return say_error("run: --dump: there is no stage '%s'%s ('all' shows them by name)", d->wanted,
                   spelling_say(&d->near).text),
         false;
}

static bool make_room(run_state *s) {
  u32 np = tz_program_num_params(s->program), nr = tz_program_num_results(s->program);
  s->in = calloc(np + 1u, sizeof *s->in);
  s->out = calloc(nr + 1u, sizeof *s->out);
  s->drawn = calloc(np + 1u, sizeof *s->drawn);
  bool ok = s->in && s->out && s->drawn;
  for (u32 k = 0; ok && k < nr; k++)
    ok = (s->out[k] = calloc(api_result(s->program, k).bytes + 1, 1)) != NULL;
  if (!ok) say_error("out of memory");
  return ok;
}

/* A file's text; NULL: said why there is none. To be freed. */
static char *read_text(const char *option, const char *path) {
  os_file f;
  if (say_option(option, os_file_open(path, &f))) return NULL;
  char *text = malloc(f.bytes.len + 1);
  if (text) memcpy(text, f.bytes.data, f.bytes.len), text[f.bytes.len] = 0;
  os_file_close(&f);
  if (!text) say_error("out of memory");
  return text;
}

static bool compile_file(const run_options *o, const char *const *shapes, tz_program **out) {
  os_file f;
  char *priorities = o->op_priorities ? read_text("--op-priorities", o->op_priorities) : NULL;
  if ((o->op_priorities && !priorities) || say_status(os_file_open(o->file, &f)))
    return free(priorities), false;
  bool text = o->dump && strcmp(o->dump, "program") != 0;
  dumping d = {.wanted = o->dump, .near = {.wanted = str_of(text ? o->dump : "")}};
  tz_compile_options c = {TZ_SIZED(tz_compile_options),
                          .file = o->file,
                          .devices = o->devices,
                          .meshes = o->meshes.data,
                          .shapes = o->inputs.len ? shapes : NULL,
                          .dialects = o->dialects.data,
                          .op_priorities = priorities,
                          .dump = text ? dump : NULL,
                          .dump_user = &d};
  tz_error *e = tz_compile(f.bytes.data, f.bytes.len, &c, out);
  os_file_close(&f);
  free(priorities);
  return !say_tz_error(e) && (!text || check_dump(&d));
}

/* What the program has printed comes when it is through. */
static bool run_once(run_state *s, FILE *to) {
  cli_host host;
  buf out;
  buf_init(&out, &mem_system);
  host_begin(&host, NULL, &out);
  bool failed = say_tz_error(api_run(s->runtime, s->program, s->in, s->out, &host.functions));
  host_end(&host);
  if (out.len) fwrite(out.data, 1, out.len, to);
  buf_deinit(&out);
  return !failed;
}

/* ---- what is told of it ---- */

static void print_stats(const tz_program *p, const tz_stats *st) {
  printf("devices %u, steps %u, workspace %" PRIu64 " bytes a device, constants %" PRIu64
         " bytes\n",
         tz_program_devices(p), st->steps, st->workspace, st->constants);
  for (u32 i = 0; i < st->num_collectives; i++)
    printf("%-16s %4u  %10" PRIu64 " bytes a device\n", st->collectives[i].kind,
           st->collectives[i].count, st->collectives[i].bytes);
}

static void print_needs(const tz_stats *st) {
  printf("arguments %" PRIu64 ", results %" PRIu64 ", workspace %" PRIu64 ", constants %" PRIu64
         " bytes a device\n",
         st->params, st->results, st->workspace, st->constants);
  printf("%.0f flops, %.0f transcendentals, %.0f bytes read and written a device; a loop counts "
         "once\n",
         st->flops, st->transcendentals, st->bytes);
}

static void print_json(const run_state *s, const tz_stats *st) {
  printf("{\"devices\": %u, \"steps\": %u, \"arguments\": %" PRIu64 ", \"results\": %" PRIu64
         ", \"workspace\": %" PRIu64 ", \"constants\": %" PRIu64 ",\n",
         tz_program_devices(s->program), st->steps, st->params, st->results, st->workspace,
         st->constants);
  printf("\"flops\": %.0f, \"transcendentals\": %.0f, \"bytes\": %.0f,\n\"collectives\": [",
         st->flops, st->transcendentals, st->bytes);
  for (u32 i = 0; i < st->num_collectives; i++)
    printf("%s{\"kind\": \"%s\", \"count\": %u, \"bytes\": %" PRIu64 "}", i ? ", " : "",
           st->collectives[i].kind, st->collectives[i].count, st->collectives[i].bytes);
  printf("],\n\"compile_ms\": %.3f", (double)s->compiled / 1e6);
  if (s->ran) printf(", \"run_ms\": %.3f", (double)s->ran / 1e6);
  puts("}");
}

static void tell(const run_state *s, const run_options *o) {
  tz_stats st = api_stats(s->program);
  if (o->json) return print_json(s, &st);
  if (o->time) printf("compile %.3f ms", (double)s->compiled / 1e6);
  if (o->time && !o->dry) printf(", run %.3f ms", (double)s->ran / 1e6);
  if (o->time) puts("");
  if (o->dry) print_needs(&st);
  if (o->dry || o->stats) print_stats(s->program, &st);
}

static bool run(run_state *s, const run_options *o) {
  if (!open_inputs(s, o)) return false;
  u64 begin = os_now_ns();
  if (!compile_file(o, s->shapes, &s->program)) return false;
  s->compiled = os_now_ns() - begin;
  if (o->dump && strcmp(o->dump, "program") == 0) {
    char *text = tz_program_text(s->program);
    if (text) fputs(text, stderr);
    tz_free(text);
  }
  if (o->dry) return tell(s, o), true;
  if (!make_room(s) || !(o->random ? draw_inputs(s, o->seed) : read_inputs(s, o))) return false;
  u32 threads = o->threads || !s->job.sharing ? o->threads : os_cpu_share(s->job.sharing);
  if (say_tz_error(tz_runtime_create_on(o->executor, threads, &s->runtime))) return false;
  wire *w = s->job.w;
  s->job.w = NULL;
  if (w && say_tz_error(api_join(s->runtime, w))) return false;
  for (u32 i = 0; i < o->repeat; i++) {
    begin = os_now_ns();
    if (!run_once(s, o->json ? stderr : stdout)) return false;
    u64 took = os_now_ns() - begin;
    if (i == 0 || took < s->ran) s->ran = took;
  }
  if (s->job.rank) return true; /* the first tells */
  if (o->output && !write_results(s, o->output)) return false;
  return tell(s, o), true;
}

int run_main(int argc, char **argv) {
  run_options o = {.repeat = 1, .seed = 1};
  run_state state = {0};
  if (wants_help(argc, argv)) return fputs(usage, stdout), EXIT_FINE;
  int result = EXIT_USAGE;
  if (read_options("run", rows, COUNT(rows), &o, &o.file, argc, argv)) {
    if (!o.file)
      fputs(usage, stderr);
    else if (o.random && o.inputs.len)
      say_error("run: give --input or --random-input, not both");
    else if (o.seed != 1 && !o.random)
      say_error("run: --seed goes with --random-input");
    else
      result = processes_begin(o.dry ? 0 : o.processes, argv, &state.job) && run(&state, &o)
                   ? EXIT_FINE
                   : EXIT_WRONG;
  }
  release(&state);
  if (!processes_end(&state.job)) result = EXIT_WRONG;
  release_options(rows, COUNT(rows), &o);
  return result;
}
