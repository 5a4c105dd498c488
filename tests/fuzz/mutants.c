/* Runs many modules through every command, a process for a few of them: tests/fuzz/mutate.py writes
 * the modules and reads what became of them.
 *
 *   mutants PACK [FIRST]      a line `INDEX COMMAND OUTCOME` a module and command; FIRST seeds data
 *   mutants --seeds PACK      those that verify, in the generic form, as another pack
 *
 * A pack is modules one after another, each behind the four bytes of its length. A child that dies
 * is `INDEX COMMAND died ...`, what it had said follows between `<<<` and `>>>`, and the rest goes
 * on in another one. Memory of a command is limited, and that it ends is an outcome too. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/api.h"
#include "base/os.h"
#include "bytecode/bytecode.h"
#include "compile/compile.h"
#include "dialect/dialect.h"
#include "fuzz.h"
#include "mpmd/mpmd.h"
#include "partition/partition.h"
#include "pass/pass.h"
#include "shard/shard.h"
#include "text/text.h"

enum {
  BATCH = 40,          /* modules a child */
  MEMORY = 1 << 30,    /* bytes that a command may take */
  RUN_BYTES = 1 << 24, /* of arrays and workspaces of a program that is run */
  CPU_SECONDS = 60,    /* that a command may take */
  RUN_SECONDS = 5,     /* that a program may run: it may be an endless loop */
  WALL_SECONDS = 600,
};

enum { PLAIN_TABLES = 3 }; /* those behind are for programs over several meshes */
static const pass_info *const tables[] = {pass_generic, shard_passes, partition_passes,
                                          MPMD_PASSES};

/* What every module goes through; of the passes it goes through a few of its own as well. */
static const char *const pipelines[] = {
    "canonicalize,cse",
    "inline",
    "sdy-propagation-pipeline",
    ("sdy-propagation-pipeline,sdy-close-shardings,sdy-insert-explicit-reshards{"
     "enable-full-version=true},sdy-reshard-to-collectives,sdy-convert-global-to-local"),
    "sdy-propagation-pipeline{inline-calls=true leave-reshards=true},terrazzo-partition",
    "chlo-legalize-to-stablehlo,stablehlo-aggressive-simplification",
};

/* Shared with the child. */
typedef struct progress {
  u32 index;
  char command[160];
} progress;

static progress *at;
static u64 random_state;

static u32 random_next(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (u32)(random_state >> 33);
}

static void seconds(int n) {
  setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {n, 0}}, NULL);
}

static void begin(const char *command) {
  snprintf(at->command, sizeof at->command, "%s", command);
  seconds(CPU_SECONDS);
}

static void outcome(const char *what) { printf("%u %s %s\n", at->index, at->command, what); }

/* ---- a command in a context of its own ---- */

static void *limited_alloc(void *user, void *p, size_t old_size, size_t new_size) {
  fuzz_memory *m = user;
  if (new_size > old_size && new_size - old_size > m->limit - m->used) return NULL;
  void *q = mem_system.fn(mem_system.user, p, old_size, new_size);
  if (q || !new_size) m->used += new_size - old_size;
  return q;
}

typedef const char *check_fn(ir_ctx *c, str source, const char *what);

static void in_context(str source, const char *command, check_fn *check) {
  fuzz_memory memory = {0, MEMORY};
  allocator mem = {limited_alloc, &memory};
  oom_trap trap;
  diag_sink sink = {.fn = fuzz_silent};
  const char *volatile result = "memory";
  begin(command);
  ir_ctx *volatile c = ir_ctx_create(&mem, &trap, &sink);
  if (c && !setjmp(trap.at)) result = check(c, source, command);
  ir_ctx_destroy(c);
  FUZZ_CHECK(memory.used == 0);
  outcome(result);
}

static ir_module *read_any(ir_ctx *c, str source) {
  const text_parse_options options = {.allow_unregistered = true};
  if (bytecode_is(source)) return bytecode_read(c, STR("input"), source);
  return text_parse(c, STR("input"), source, &options);
}

/* What was refused has to be told. */
static const char *refused(ir_ctx *c, ir_module *m, const char *what) {
  FUZZ_CHECK(ir_sink(c)->errors);
  ir_module_destroy(m);
  return what;
}

/* Only for want of memory can it fail. */
static void print_to(const ir_module *m, bool generic, buf *out) {
  buf_init(out, ir_mem(m->ctx));
  if (text_print(out, m, &(text_print_options){.generic = generic})) return;
  FUZZ_CHECK(!buf_ok(out));
  longjmp(ir_trap(m->ctx)->at, 1);
}

/* Sums of affine maps are simplified when they are read, as in MLIR, and the next time further;
 * casts that do nothing are left out of portable bytecode's. */
static bool settles(buf *text) {
  return buf_ok(text) && (strstr(buf_cstr(text), "affine_") ||
                          strstr(buf_cstr(text), "builtin.unrealized_conversion_cast"));
}

static void check_again(ir_module *again, bool generic, buf *first) {
  buf second;
  if (!again) fprintf(stderr, "not read:\n" STR_FMT "\n", STR_ARG(buf_view(first)));
  FUZZ_CHECK(again);
  print_to(again, generic, &second);
  bool same = str_eq(buf_view(first), buf_view(&second)) || settles(first) || settles(&second);
  if (!same)
    fprintf(stderr, STR_FMT "\n---\n" STR_FMT "\n", STR_ARG(buf_view(first)),
            STR_ARG(buf_view(&second)));
  FUZZ_CHECK(same);
  buf_deinit(&second);
  ir_module_destroy(again);
}

/* Text in both forms and bytecode come back the same. */
static const char *round_trip(ir_ctx *c, str source, const char *what) {
  (void)what;
  ir_module *m = read_any(c, source);
  if (!m) return refused(c, m, "reader");
  buf generic, other;
  print_to(m, true, &generic); /* whatever was read can be printed */
  if (!dialect_verify(m)) {
    buf_deinit(&generic);
    return refused(c, m, "verifier");
  }
  check_again(read_any(c, buf_view(&generic)), true, &generic);
  print_to(m, false, &other); /* without what is there by default */
  check_again(read_any(c, buf_view(&other)), false, &other);
  other.len = 0;
  if (bytecode_write(m, NULL, &other)) check_again(read_any(c, buf_view(&other)), true, &generic);
  other.len = 0;
  if (bytecode_write(m, &(bytecode_write_options){.strict = true}, &other))
    ir_module_destroy(read_any(c, buf_view(&other)));
  buf_deinit(&other);
  buf_deinit(&generic);
  ir_module_destroy(m);
  return "fine";
}

static const char *run_pipeline(ir_ctx *c, str source, const char *pipeline) {
  pass_tables t = {.tables = tables,
                   .count = COUNT(tables),
                   .patterns = mpmd_patterns,
                   .num_patterns = MPMD_PATTERNS};
  ir_module *m = read_any(c, source);
  if (!m) return refused(c, m, "reader");
  if (!dialect_verify(m)) return refused(c, m, "verifier");
  if (!pass_run_text(m, str_of(pipeline), &t)) return refused(c, m, "pass");
  const char *result = dialect_verify(m) ? "fine" : "broken";
  buf out;
  print_to(m, false, &out);
  buf_deinit(&out);
  ir_module_destroy(m);
  return result;
}

/* `count` passes of the tables from `first` up to `end`. */
static void run_some(str source, size_t first, size_t end, int count) {
  size_t n = 0;
  for (size_t t = first; t < end; t++)
    for (const pass_info *p = tables[t]; p->name; p++) n++;
  for (int k = 0; k < count; k++) {
    size_t wanted = random_next() % n;
    for (size_t t = first; t < end; t++)
      for (const pass_info *p = tables[t]; p->name; p++)
        if (wanted-- == 0 && strcmp(p->name, "sdy-save-module") != 0)
          in_context(source, p->name, run_pipeline);
  }
}

static bool is_of_meshes(str source) {
  for (; source.len; source = str_from(source, 1))
    if (str_starts(source, STR("mpmd."))) return true;
  return false;
}

static void run_passes(str source) {
  for (size_t i = 0; i < COUNT(pipelines); i++) in_context(source, pipelines[i], run_pipeline);
  run_some(source, 0, PLAIN_TABLES, 3);
  if (is_of_meshes(source)) run_some(source, PLAIN_TABLES, COUNT(tables), 12);
}

/* ---- compiling and running ---- */

static void fill(void *to, size_t bytes, const tz_tensor *t, bool random) {
  bool small = t->element_size == 1 && atoi(t->type + strcspn(t->type, "0123456789")) < 8;
  for (size_t i = 0; i < bytes; i++)
    ((u8 *)to)[i] = (u8)(random ? random_next() & (small ? 1 : 255) : 0);
}

static bool small_enough(const tz_program *p) {
  tz_stats s = api_stats(p);
  u64 sum = s.constants, devices = tz_program_devices(p);
  if (s.workspace > RUN_BYTES / devices || s.constants > RUN_BYTES) return false;
  for (u32 k = 0; k < tz_program_num_params(p); k++) {
    size_t n = api_param(p, k).bytes;
    if (n > RUN_BYTES || (sum += n) > RUN_BYTES) return false;
  }
  for (u32 k = 0; k < tz_program_num_results(p); k++) {
    size_t n = api_result(p, k).bytes;
    if (n > RUN_BYTES / devices || (sum += n * devices) > RUN_BYTES) return false;
  }
  return true;
}

/* A program whose own devices wait for each other is no fault of the compiler. */
static bool is_deadlock(const tz_error *e) {
  return e && strncmp(tz_error_message(e), "deadlock:", 9) == 0;
}

static void check_status(tz_error *e, const char *otherwise) {
  if (e) fprintf(stderr, "%s\n", tz_error_message(e));
  FUZZ_CHECK(tz_error_code(e) != 13 || is_deadlock(e));
  outcome(e ? otherwise : "fine");
  tz_error_free(e);
}

static void run_program(tz_runtime *r, const tz_program *p, bool random) {
  u32 np = tz_program_num_params(p), nr = tz_program_num_results(p);
  void **in = calloc(np + 1, sizeof *in), **out = calloc(nr + 1, sizeof *out);
  FUZZ_CHECK(in && out);
  for (u32 k = 0; k < np; k++) {
    tz_tensor t = api_param(p, k);
    FUZZ_CHECK(in[k] = malloc(t.bytes + 1));
    fill(in[k], t.bytes, &t, random);
  }
  for (u32 k = 0; k < nr; k++) FUZZ_CHECK(out[k] = malloc(api_result(p, k).bytes + 1));
  seconds(RUN_SECONDS);
  check_status(tz_run(r, p, (const void *const *)in, out), "failed");
  for (u32 k = 0; k < np; k++) free(in[k]);
  for (u32 k = 0; k < nr; k++) free(out[k]);
  free(in);
  free(out);
}

static void no_dump(void *user, const char *stage, const char *text, size_t length) {
  (void)user, (void)stage, (void)text, (void)length;
}

static bool compile_and_run(tz_runtime *r, str source, u32 devices) {
  tz_program *p;
  char command[32];
  snprintf(command, sizeof command, "compile-%u", devices);
  begin(command);
  tz_compile_options o = {TZ_SIZED(tz_compile_options), .file = "input", .devices = devices,
                          .dump = no_dump};
  check_status(tz_compile(source.data, source.len, &o, &p), "refused");
  if (!p) return false;
  tz_free(tz_program_text(p));
  for (int random = 0; random < 2; random++) {
    snprintf(command, sizeof command, "run-%u-%s", devices, random ? "random" : "zero");
    begin(command);
    if (small_enough(p))
      run_program(r, p, random);
    else
      outcome("too-large");
  }
  tz_program_free(p);
  return true;
}

static void run_module(tz_runtime *r, str source) {
  in_context(source, "round-trip", round_trip);
  run_passes(source);
  bool one = compile_and_run(r, source, 1);
  if (!compile_and_run(r, source, 8) && !one) compile_and_run(r, source, 0); /* as it says */
}

/* ---- the child, and who waits for it ---- */

static str module_at(str pack, size_t *offset) {
  u32 n;
  if (pack.len - *offset < sizeof n) return (str){0};
  memcpy(&n, pack.data + *offset, sizeof n);
  *offset += sizeof n;
  FUZZ_CHECK(n <= pack.len - *offset);
  str s = {pack.data + *offset, n};
  *offset += n;
  return s;
}

static void child(str pack, u32 first, u32 seed) {
  tz_runtime *r;
  size_t offset = 0;
  FUZZ_CHECK(!tz_runtime_create(2, &r));
  for (u32 i = 0; i < first; i++) module_at(pack, &offset);
  for (u32 i = first; i < first + BATCH && offset < pack.len; i++) {
    str s = module_at(pack, &offset);
    u8 *exact = malloc(s.len ? s.len : 1); /* so that a sanitizer sees reads past the end */
    FUZZ_CHECK(exact);
    memcpy(exact, s.data, s.len);
    at->index = i;
    if (ftruncate(STDERR_FILENO, 0) == 0) lseek(STDERR_FILENO, 0, SEEK_SET);
    random_state = seed + i;
    run_module(r, (str){(char *)exact, s.len});
    free(exact);
    fflush(stdout);
  }
  seconds(0);
  snprintf(at->command, sizeof at->command, "end");
  tz_runtime_free(r);
  exit(0);
}

static int wait_for(pid_t pid) {
  int how;
  for (int ticks = 0; ticks < WALL_SECONDS * 100; ticks++) {
    if (waitpid(pid, &how, WNOHANG) == pid) return how;
    usleep(10000);
  }
  kill(pid, SIGKILL);
  waitpid(pid, &how, 0);
  return how;
}

/* What a child said before it died. */
static void show(FILE *said) {
  char line[4096];
  puts("<<<");
  rewind(said);
  for (int n = 0; n < 400 && fgets(line, sizeof line, said); n++) fputs(line, stdout);
  puts(">>>");
}

static void run_all(str pack, u32 seed) {
  u32 n = 0, next = 0;
  for (size_t offset = 0; offset < pack.len; n++) module_at(pack, &offset);
  while (next < n) {
    FILE *said = tmpfile();
    FUZZ_CHECK(said);
    fflush(stdout);
    at->index = next;
    pid_t pid = fork();
    if (!pid) {
      dup2(fileno(said), STDERR_FILENO);
      child(pack, next, seed);
    }
    int how = wait_for(pid);
    bool died = !WIFEXITED(how) || WEXITSTATUS(how);
    if (died) {
      bool timer = WIFSIGNALED(how) && WTERMSIG(how) == SIGPROF;
      printf("%u %s %s %d\n", at->index, at->command, timer ? "out-of-time" : "died", how);
      if (!timer) show(said);
    }
    next = died && strcmp(at->command, "end") != 0 ? at->index + 1 : next + BATCH;
    fclose(said);
  }
}

/* ---- seeds ---- */

static void print_generic(ir_ctx *c, str source) {
  ir_module *m = read_any(c, source);
  if (m && dialect_verify(m)) {
    buf out;
    print_to(m, true, &out);
    u32 n = (u32)out.len;
    fwrite(&n, sizeof n, 1, stdout);
    fwrite(out.data, 1, n, stdout);
    buf_deinit(&out);
  }
  ir_module_destroy(m);
}

static void print_seeds(str pack) {
  for (size_t offset = 0; offset < pack.len;) {
    str s = module_at(pack, &offset);
    fuzz_in_context((const u8 *)s.data, s.len, print_generic);
  }
}

int main(int argc, char **argv) {
  bool seeds = argc > 1 && strcmp(argv[1], "--seeds") == 0;
  os_file f;
  if (argc < 2 + seeds || os_file_open(argv[1 + seeds], &f)) return 2;
  at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return 2;
  if (seeds)
    print_seeds(f.bytes);
  else
    run_all(f.bytes, argc > 2 ? (u32)atoi(argv[2]) : 0);
  os_file_close(&f);
  return 0;
}
