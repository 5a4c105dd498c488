/* A value oracle for threads: eight of them read, donate, copy, delete and replace the same
 * buffers, run programs that call back, and every result is what the values that went in make of
 * it.
 *
 *   pjrt_threads_test [EXECUTIONS [SEED]]    4,000 by default; make test runs that
 *   pjrt_threads_test 30m [SEED]             for so many minutes
 *
 * A buffer's elements are all one number, which its handle knows. A call that comes too late gets
 * "deleted or donated"; a call that is let in sees the number, whatever others do meanwhile. */
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/base.h"
#include "tests/ffi.h"

enum { THREADS = 8, DEVICES = 2, SLOTS = 3, SIZE = 256, PENDING = 8, MOST = 100000 };

/* A buffer and its number, shared by whoever took it from its slot. */
typedef struct shared {
  atomic_int refs;
  PJRT_Buffer *buffer;
  float value;
} shared;

/* A read that is under way. */
typedef struct pending {
  PJRT_Event *done; /* NULL: none */
  float want, got[SIZE];
} pending;

typedef struct world {
  PJRT_Client *client;
  PJRT_Memory *memories[DEVICES];
  PJRT_Device *const *devices;
  PJRT_LoadedExecutable *inc, *inc_donated, *add_donated, *pair, *call;
  pthread_mutex_t lock;
  shared *slots[DEVICES][SLOTS]; /* under lock */
  atomic_long left, done, late;  /* executions: to be done, done; calls that came too late */
  atomic_bool over;
  atomic_int wrong;
} world;

typedef struct hand {
  world *w;
  u64 random;
  pending reads[PENDING];
  u32 next;
} hand;

#define TENSOR "tensor<256xf32>"
#define DONATED " {tf.aliasing_output = 0 : i32}"
static const char inc[] = "module @inc { func.func @main(%x: " TENSOR ") -> " TENSOR " {\n"
                          "  %one = stablehlo.constant dense<1.0> : " TENSOR "\n"
                          "  %y = stablehlo.add %x, %one : " TENSOR "\n"
                          "  return %y : " TENSOR " } }";
static const char inc_donated[] =
    "module @inc_donated { func.func @main(%x: " TENSOR DONATED ") -> " TENSOR " {\n"
    "  %one = stablehlo.constant dense<1.0> : " TENSOR "\n"
    "  %y = stablehlo.add %x, %one : " TENSOR "\n"
    "  return %y : " TENSOR " } }";
static const char add_donated[] =
    "module @add { func.func @main(%x: " TENSOR DONATED ", %z: " TENSOR ") -> " TENSOR " {\n"
    "  %y = stablehlo.add %x, %z : " TENSOR "\n"
    "  return %y : " TENSOR " } }";
/* Each device gets its own part and the sum of both: a collective in between. */
#define BOTH "tensor<512xf32>"
#define ROWS "tensor<2x256xf32>"
#define HALF "sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>"
static const char pair[] =
    "module @pair attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @m = <[\"x\"=2]>\n"
    "  func.func @main(%x: " BOTH " {" HALF ", tf.aliasing_output = 0 : i32})\n"
    "      -> (" BOTH " {" HALF "}) {\n"
    "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %rows = stablehlo.reshape %x : (" BOTH ") -> " ROWS "\n"
    "    %sum = stablehlo.reduce(%rows init: %zero) applies stablehlo.add across dimensions = [0]\n"
    "        : (" ROWS ", tensor<f32>) -> " TENSOR "\n"
    "    %all = stablehlo.broadcast_in_dim %sum, dims = [1] : (" TENSOR ") -> " ROWS "\n"
    "    %y = stablehlo.add %rows, %all : " ROWS "\n"
    "    %flat = stablehlo.reshape %y : (" ROWS ") -> " BOTH "\n"
    "    return %flat : " BOTH " } }";

static const char call[] =
    "module @call { func.func @main(%x: " TENSOR DONATED ") -> " TENSOR " {\n"
    "  %y = stablehlo.custom_call @threads_inc(%x) {api_version = 4 : i32} : (" TENSOR
    ") -> " TENSOR "\n  return %y : " TENSOR " } }";

/* What that calls: it adds one, and is a caller of the plugin itself meanwhile. */
static PJRT_Client *called_of;
static XLA_FFI_Error *add_one(XLA_FFI_CallFrame *f) {
  if (asks_version(f)) return NULL;
  const float *in = arg(f, 0)->data;
  float *out = ret(f, 0)->data, back[SIZE];
  PJRT_Buffer *b = put(called_of, 0, in, SIZE);
  get(b, back, SIZE);
  destroy_buffer(b);
  for (u32 i = 0; i < SIZE; i++) out[i] = back[i] + 1;
  return NULL;
}

static u32 pick(hand *h, u32 n) {
  h->random = h->random * 6364136223846793005u + 1442695040888963407u;
  return (u32)(h->random >> 33) % n;
}

/* Drops the error; the only one there may be is that of coming too late. */
static bool in_time(hand *h, PJRT_Error *e) {
  if (!e) return true;
  CHECK(code_of(e) == PJRT_Error_Code_INVALID_ARGUMENT && message_has(e, "donated"));
  drop(e);
  atomic_fetch_add(&h->w->late, 1);
  return false;
}

static void check_values(hand *h, const float *got, float want, const char *what) {
  for (u32 i = 0; i < SIZE; i++)
    if (got[i] != want) {
      if (atomic_fetch_add(&h->w->wrong, 1) < 10)
        fprintf(stderr, "%s: element %u is %g, not %g\n", what, i, (double)got[i], (double)want);
      return;
    }
}

/* ---- slots ---- */

static shared *share(PJRT_Buffer *b, float value) {
  shared *s = malloc(sizeof *s);
  if (!s) abort();
  *s = (shared){.buffer = b, .value = value};
  atomic_init(&s->refs, 1);
  return s;
}

static void let_go(shared *s) {
  if (atomic_fetch_sub(&s->refs, 1) != 1) return;
  destroy_buffer(s->buffer);
  free(s);
}

static shared *take(hand *h, u32 device, u32 *out_slot) {
  *out_slot = pick(h, SLOTS);
  pthread_mutex_lock(&h->w->lock);
  shared *s = h->w->slots[device][*out_slot];
  atomic_fetch_add(&s->refs, 1);
  pthread_mutex_unlock(&h->w->lock);
  return s;
}

static shared *fresh(hand *h, u32 device) {
  float data[SIZE], value = (float)pick(h, 100);
  for (u32 i = 0; i < SIZE; i++) data[i] = value;
  return share(put(h->w->client, device, data, SIZE), value);
}

/* Numbers stay small enough to be exact. */
static void replace(hand *h, u32 device, u32 slot, shared *with) {
  if (with->value > MOST) {
    let_go(with);
    with = fresh(h, device);
  }
  pthread_mutex_lock(&h->w->lock);
  shared *old = h->w->slots[device][slot];
  h->w->slots[device][slot] = with;
  pthread_mutex_unlock(&h->w->lock);
  let_go(old);
}

/* ---- what a thread does ---- */

static void finish_read(hand *h, pending *p) {
  if (!p->done) return;
  OK(Event_Await, a, .event = p->done);
  destroy_event(p->done);
  p->done = NULL;
  check_values(h, p->got, p->want, "read");
}

static void begin_read(hand *h, PJRT_Buffer *b, float want) {
  pending *p = &h->reads[h->next++ % PENDING];
  finish_read(h, p);
  CALL(Buffer_ToHostBuffer, a, .src = b, .dst = p->got, .dst_size = sizeof p->got);
  if (!in_time(h, a_error)) return;
  p->done = a.event;
  p->want = want;
}

/* On one device, or on both (NULL); true when it was let in. */
static bool execute(hand *h, PJRT_LoadedExecutable *l, PJRT_Device *device,
                    PJRT_Buffer *const args[DEVICES][2], size_t num_args,
                    PJRT_Buffer *out[DEVICES]) {
  PJRT_Buffer *const *arg_lists[DEVICES] = {args[0], args[1]};
  PJRT_Buffer **out_lists[DEVICES] = {&out[0], &out[1]};
  CALL(LoadedExecutable_Execute, a, .executable = l, .argument_lists = arg_lists,
       .num_devices = device ? 1 : DEVICES, .num_args = num_args, .output_lists = out_lists,
       .execute_device = device);
  if (!in_time(h, a_error)) return false;
  atomic_fetch_sub(&h->w->left, 1);
  atomic_fetch_add(&h->w->done, 1);
  return true;
}

/* Reads the result now or leaves that to whoever takes it from the slot. */
static void keep(hand *h, u32 device, u32 slot, PJRT_Buffer *b, float value) {
  shared *s = share(b, value);
  if (pick(h, 4)) begin_read(h, b, value);
  replace(h, device, slot, s);
}

static void run_one(hand *h, u32 device, bool donated) {
  u32 slot;
  PJRT_LoadedExecutable *l = !donated ? h->w->inc : pick(h, 8) ? h->w->inc_donated : h->w->call;
  shared *s = take(h, device, &slot);
  PJRT_Buffer *const args[DEVICES][2] = {{s->buffer}};
  PJRT_Buffer *out[DEVICES] = {0};
  if (!execute(h, l, h->w->devices[device], args, 1, out)) {
    let_go(s);
    return;
  }
  if (donated) {
    keep(h, device, slot, out[0], s->value + 1);
  } else {
    begin_read(h, out[0], s->value + 1);
    destroy_buffer(out[0]);
  }
  let_go(s);
}

/* One is donated, the other is not; now and then they are one. */
static void run_sum(hand *h, u32 device) {
  u32 slot, other;
  shared *s = take(h, device, &slot), *t = take(h, device, &other);
  PJRT_Buffer *const args[DEVICES][2] = {{s->buffer, t->buffer}};
  PJRT_Buffer *out[DEVICES] = {0};
  if (execute(h, h->w->add_donated, h->w->devices[device], args, 2, out))
    keep(h, device, slot, out[0], s->value + t->value);
  let_go(s);
  let_go(t);
}

static void run_pair(hand *h) {
  u32 slot[DEVICES];
  shared *s[DEVICES];
  for (u32 d = 0; d < DEVICES; d++) s[d] = take(h, d, &slot[d]);
  PJRT_Buffer *const args[DEVICES][2] = {{s[0]->buffer}, {s[1]->buffer}};
  PJRT_Buffer *out[DEVICES] = {0};
  float sum = s[0]->value + s[1]->value;
  if (execute(h, h->w->pair, NULL, args, 1, out))
    for (u32 d = 0; d < DEVICES; d++) keep(h, d, slot[d], out[d], s[d]->value + sum);
  for (u32 d = 0; d < DEVICES; d++) let_go(s[d]);
}

static void copy(hand *h, u32 device) {
  u32 slot;
  shared *s = take(h, device, &slot);
  CALL(Buffer_CopyToMemory, a, .buffer = s->buffer, .dst_memory = h->w->memories[pick(h, DEVICES)]);
  if (in_time(h, a_error)) {
    begin_read(h, a.dst_buffer, s->value);
    destroy_buffer(a.dst_buffer);
  }
  let_go(s);
}

/* While there is an external reference the bytes stay as they are, donated or not. */
static void look(hand *h, u32 device) {
  u32 slot;
  shared *s = take(h, device, &slot);
  CALL(Buffer_IncreaseExternalReferenceCount, up, .buffer = s->buffer);
  if (in_time(h, up_error)) {
    OK(Buffer_ReadyEvent, r, .buffer = s->buffer);
    OK(Event_Await, w, .event = r.event);
    destroy_event(r.event);
    CALL(Buffer_UnsafePointer, p, .buffer = s->buffer);
    if (in_time(h, p_error)) {
      check_values(h, (const float *)p.buffer_pointer, s->value, "pointer");
      run_one(h, device, true);
      check_values(h, (const float *)p.buffer_pointer, s->value, "pointer, later");
    }
    OK(Buffer_DecreaseExternalReferenceCount, down, .buffer = s->buffer);
  }
  let_go(s);
}

static void renew(hand *h, u32 device) {
  u32 slot;
  shared *s = take(h, device, &slot);
  if (pick(h, 2)) { /* whoever has it now finds it deleted */
    OK(Buffer_Delete, d, .buffer = s->buffer);
  }
  replace(h, device, slot, fresh(h, device));
  let_go(s);
}

static void *work(void *user) {
  hand *h = user;
  while (atomic_load(&h->w->left) > 0 && !atomic_load(&h->w->over)) {
    u32 what = pick(h, 100), device = pick(h, DEVICES), slot;
    if (what < 60) {
      run_one(h, device, what < 25);
    } else if (what < 72) {
      run_sum(h, device);
    } else if (what < 80) {
      run_pair(h);
    } else if (what < 85) {
      copy(h, device);
    } else if (what < 90) {
      look(h, device);
    } else if (what < 95) {
      shared *s = take(h, device, &slot);
      begin_read(h, s->buffer, s->value);
      let_go(s);
    } else {
      renew(h, device);
    }
  }
  for (u32 i = 0; i < PENDING; i++) finish_read(h, &h->reads[i]);
  return NULL;
}

/* ---- the world ---- */

static PJRT_LoadedExecutable *compiled(PJRT_Client *c, const char *text) {
  PJRT_LoadedExecutable *l;
  check_ok(compile(c, text, &l), "compile");
  return l;
}

static void begin(world *w, hand *first, long executions) {
  w->client = make_client(DEVICES, 0);
  OK(Client_Devices, d, .client = w->client);
  w->devices = d.devices;
  w->inc = compiled(w->client, inc);
  w->inc_donated = compiled(w->client, inc_donated);
  w->add_donated = compiled(w->client, add_donated);
  w->pair = compiled(w->client, pair);
  called_of = w->client;
  check_ok(add_handler("threads_inc", "terrazzo", add_one), "add_handler");
  w->call = compiled(w->client, call);
  pthread_mutex_init(&w->lock, NULL);
  atomic_init(&w->left, executions);
  for (u32 i = 0; i < DEVICES; i++) {
    OK(Device_DefaultMemory, m, .device = d.devices[i]);
    w->memories[i] = m.memory;
    for (u32 k = 0; k < SLOTS; k++) w->slots[i][k] = fresh(first, i);
  }
}

static void end(world *w) {
  for (u32 i = 0; i < DEVICES; i++)
    for (u32 k = 0; k < SLOTS; k++) let_go(w->slots[i][k]);
  destroy_loaded(w->inc);
  destroy_loaded(w->inc_donated);
  destroy_loaded(w->add_donated);
  destroy_loaded(w->pair);
  destroy_loaded(w->call);
  destroy_client(w->client);
  pthread_mutex_destroy(&w->lock);
}

/* Minutes, or 0: the argument is a number of executions. */
static double minutes_of(const char *text) {
  char *end;
  double n = strtod(text, &end);
  return *end == 'm' ? n : 0;
}

int main(int argc, char **argv) {
  static world w;
  static hand hands[THREADS];
  pthread_t threads[THREADS];
  double minutes = argc > 1 ? minutes_of(argv[1]) : 0;
  long executions = minutes > 0 ? LONG_MAX : argc > 1 ? atol(argv[1]) : 4000;
  u64 seed = argc > 2 ? (u64)atoll(argv[2]) : 1;
  unsetenv("TERRAZZO_NUM_DEVICES");
  for (u32 i = 0; i < THREADS; i++) hands[i] = (hand){.w = &w, .random = seed * THREADS + i};
  begin(&w, &hands[0], executions);
  for (u32 i = 0; i < THREADS; i++) CHECK(!pthread_create(&threads[i], NULL, work, &hands[i]));
  if (minutes > 0) {
    struct timespec pause = {.tv_sec = (time_t)(minutes * 60)};
    nanosleep(&pause, NULL);
    atomic_store(&w.over, true);
  }
  for (u32 i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  CHECK(atomic_load(&w.wrong) == 0);
  CHECK(atomic_load(&w.left) <= 0 || minutes > 0);
  printf("%ld executions by %d threads, %d values wrong; %ld calls came too late\n",
         atomic_load(&w.done), THREADS, atomic_load(&w.wrong), atomic_load(&w.late));
  end(&w);
  return UNIT_END();
}
