/* Messages between a program and who executes it: send and receive callbacks, and streams. */
#include <stdatomic.h>
#include <stdlib.h>

#include "tests/pjrt.h"

enum { N = 4 };

/* What the callbacks of one device share. */
typedef struct peer {
  int sent, received; /* how many times */
  float data[N];
  PJRT_CopyToDeviceStream *stream;
  struct meeting *all;  /* of all callbacks; NULL: nobody is waited for */
  struct meeting *kept; /* of one that keeps the stream, and of who fills it */
} peer;

/* Callbacks of several devices that return when all have been called. */
typedef struct meeting {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int here, of;
} meeting;

static void meet(meeting *m) {
  if (!m) return;
  pthread_mutex_lock(&m->lock);
  m->here++;
  pthread_cond_broadcast(&m->changed);
  while (m->here < m->of) pthread_cond_wait(&m->changed, &m->lock);
  pthread_mutex_unlock(&m->lock);
}

static void free_chunk(PJRT_Chunk *c) { c->deleter(c->data, c->deleter_arg); }

static PJRT_Error *on_send(PJRT_Chunk *chunk, PJRT_CallbackError *error, size_t total, bool done,
                           void *user) {
  peer *p = user;
  (void)error;
  CHECK(chunk->size == sizeof p->data && total == chunk->size && done);
  memcpy(p->data, chunk->data, sizeof p->data);
  free_chunk(chunk);
  p->sent++;
  meet(p->all);
  return NULL;
}

static PJRT_Error *on_send_fail(PJRT_Chunk *chunk, PJRT_CallbackError *error, size_t total,
                                bool done, void *user) {
  (void)total, (void)done, (void)user;
  free_chunk(chunk);
  return (*error)(PJRT_Error_Code_ABORTED, "not today", 9);
}

static atomic_int deleted;  /* both devices' streams have chunks of their own thread's */
static void count_delete(void *data, void *arg) {
  (void)data, (void)arg;
  deleted++;
}

static PJRT_Error *add(PJRT_CopyToDeviceStream *s, void *data, size_t size) {
  PJRT_Chunk chunk = {data, size, count_delete, NULL};
  CALL(CopyToDeviceStream_AddChunk, a, .stream = s, .chunk = &chunk);
  if (!a_error) check_ok(wait_for(a.transfer_complete), "the chunk");
  return a_error;
}

static int64_t current(PJRT_CopyToDeviceStream *s) {
  OK(CopyToDeviceStream_CurrentBytes, a, .stream = s);
  return a.current_bytes;
}

static void end_stream(PJRT_CopyToDeviceStream *s) {
  OK(CopyToDeviceStream_Destroy, a, .stream = s);
}

/* Twice what was sent, in pieces. */
static void on_recv(PJRT_CopyToDeviceStream *s, void *user) {
  peer *p = user;
  float twice[N + 1] = {0};
  for (int i = 0; i < N; i++) twice[i] = 2 * p->data[i];
  OK(CopyToDeviceStream_TotalBytes, t, .stream = s);
  OK(CopyToDeviceStream_GranuleSize, g, .stream = s);
  CHECK(t.total_bytes == sizeof p->data && g.granule_size_in_bytes == 1 && current(s) == 0);
  meet(p->all);
  check_error(add(s, twice, sizeof twice), PJRT_Error_Code_INVALID_ARGUMENT, "a chunk of 20 bytes");
  check_ok(add(s, twice, 0), "nothing");
  check_ok(add(s, twice, 6), "a piece");
  CHECK(current(s) == 6);
  p->received++; /* the program goes on from here */
  check_ok(add(s, (char *)twice + 6, 10), "the rest");
  CHECK(current(s) == 16);
  check_error(add(s, twice, 4), PJRT_Error_Code_INVALID_ARGUMENT, "16 of 16");
  end_stream(s);
}

static void on_recv_keep(PJRT_CopyToDeviceStream *s, void *user) {
  peer *p = user;
  p->stream = s;
  meet(p->kept);
}

/* ---- programs: %y of %x, f32[4] on each device ---- */

#define CHANNEL(n, type)                                                                           \
  "channel_handle = #stablehlo.channel_handle<handle = " #n ", type = " #type                      \
  ">, is_host_transfer = true"
#define EXCHANGE(sharding)                                                                         \
  "%t = stablehlo.create_token : !stablehlo.token\n"                                               \
  "%s = \"stablehlo.send\"(%x, %t) <{" CHANNEL(                                                    \
      5, 2) "}> " sharding ": (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token\n"             \
            "%r:2 = \"stablehlo.recv\"(%s) <{" CHANNEL(                                            \
                6, 3) "}> " sharding ": (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)\n" \
                      "%y = stablehlo.add %x, %r#0 : tensor<4xf32>\n"

static PJRT_LoadedExecutable *compile_body(PJRT_Client *c, int n, const char *body) {
  char text[4096];
  PJRT_LoadedExecutable *l;
  snprintf(text, sizeof text,
           "module @m attributes {mhlo.num_replicas = %d : i32} {\n"
           "func.func @main(%%x: tensor<4xf32>) -> tensor<4xf32> {\n%s"
           "return %%y : tensor<4xf32> }}",
           n, body);
  check_ok(compile(c, text, &l), body);
  return l;
}

/* Whole values on devices of a mesh; one of them speaks to the host. */
static PJRT_LoadedExecutable *compile_one_speaks(PJRT_Client *c) {
  PJRT_LoadedExecutable *l;
  check_ok(
      compile(
          c,
          "module @m attributes {mhlo.num_partitions = 4 : i32} {\n"
          "sdy.mesh @mesh = <[\"d\"=4]>\n"
          "sdy.mesh @one = <[], device_ids=[2]>\n"
          "func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, "
          "[{}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {\n"
          "%t = stablehlo.create_token : !stablehlo.token\n"
          "%s = \"stablehlo.send\"(%x, %t) <{" CHANNEL(
              5, 2) "}> {sdy.sharding = "
                    "#sdy.sharding_per_value<[<@one, []>]>} : (tensor<4xf32>, !stablehlo.token) "
                    "-> !stablehlo.token\n"
                    "%r:2 = \"stablehlo.recv\"(%s) <{" CHANNEL(
                        6, 3) "}> {sdy.sharding = "
                              "#sdy.sharding_per_value<[<@one, []>, <@one, []>]>} : "
                              "(!stablehlo.token) -> "
                              "(tensor<4xf32>, !stablehlo.token)\n"
                              "%y = stablehlo.add %x, %r#0 : tensor<4xf32>\n"
                              "return %y : tensor<4xf32> }}",
          &l),
      "compile_one_speaks");
  return l;
}

/* ---- running ---- */

typedef struct setting {
  PJRT_Client *c;
  PJRT_LoadedExecutable *l;
  int n;
  peer peers[4];
  PJRT_SendCallbackInfo send[4][2];
  PJRT_RecvCallbackInfo recv[4][1];
} setting;

/* Device i's data are 10 * i and on; channel 9 is nobody's. */
static setting begin(int n, int threads, const char *body, PJRT_SendCallback send,
                     PJRT_RecvCallback recv) {
  setting s = {.c = make_client(n, threads), .n = n};
  s.l = body ? compile_body(s.c, n, body) : compile_one_speaks(s.c);
  for (int i = 0; i < n; i++) {
    s.send[i][0] = (PJRT_SendCallbackInfo){9, NULL, on_send_fail};
    s.send[i][1] = (PJRT_SendCallbackInfo){5, NULL, send};
    s.recv[i][0] = (PJRT_RecvCallbackInfo){6, NULL, recv};
  }
  return s;
}

static void end(setting *s) {
  destroy_loaded(s->l);
  destroy_client(s->c);
}

/* The first error. */
static PJRT_Error *run(setting *s, bool together, PJRT_ExecuteOptions o, float out[4][N]) {
  PJRT_Event *events[4] = {0};
  PJRT_Buffer *args[4], *results[4] = {0}, *const * arg_lists[4], **out_lists[4];
  PJRT_SendCallbackInfo *send[4];
  PJRT_RecvCallbackInfo *recv[4];
  PJRT_Error *first = NULL;
  for (int i = 0; i < s->n; i++) {
    float in[N];
    for (int k = 0; k < N; k++) in[k] = (float)(10 * i + k);
    for (int k = 0; k < 2; k++) s->send[i][k].user_arg = &s->peers[i];
    s->recv[i][0].user_arg = &s->peers[i];
    args[i] = put(s->c, (size_t)i, in, N);
    arg_lists[i] = &args[i], out_lists[i] = &results[i], send[i] = s->send[i], recv[i] = s->recv[i];
  }
  OK(Client_Devices, d, .client = s->c);
  for (int i = 0; i < (together ? 1 : s->n); i++) {
    PJRT_ExecuteOptions own = o;
    own.send_callbacks = send + i, own.recv_callbacks = recv + i;
    CALL(LoadedExecutable_Execute, a, .executable = s->l, .options = &own,
         .argument_lists = arg_lists + i, .num_devices = together ? (size_t)s->n : 1, .num_args = 1,
         .output_lists = out_lists + i, .device_complete_events = events + i,
         .execute_device = together ? NULL : d.devices[i]);
    if (!first) first = a_error;
  }
  for (int i = 0; i < s->n; i++) {
    PJRT_Error *e = events[i] ? wait_for(events[i]) : NULL;
    if (results[i] && !e) get(results[i], out[i], N);
    first = first_error(first, e);
    destroy_buffer(args[i]);
    if (results[i]) destroy_buffer(results[i]);
  }
  return first;
}

static PJRT_ExecuteOptions options(size_t num_send, size_t num_recv) {
  return (PJRT_ExecuteOptions){.struct_size = PJRT_ExecuteOptions_END,
                               .num_send_ops = num_send,
                               .num_recv_ops = num_recv,
                               .launch_id = 3};
}

static void check_out(const setting *s, float out[4][N]) {
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < N; k++) CHECK(out[i][k] == 3 * (float)(10 * i + k));
}

/* Every callback waits for those of all devices, of which there are more than workers. */
static void test_each_device(bool together) {
  meeting all = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 4};
  setting s = begin(4, 1, EXCHANGE(""), on_send, on_recv);
  float out[4][N];
  for (int round = 0; round < 2; round++) {
    all.here = 0;
    for (int i = 0; i < 4; i++) s.peers[i] = (peer){.all = round ? NULL : &all};
    check_ok(run(&s, together, options(2, 1), out), "run");
    check_out(&s, out);
    for (int i = 0; i < 4; i++) CHECK(s.peers[i].sent == 1 && s.peers[i].received == 1);
  }
  end(&s);
}

static void each_device_has_callbacks_of_its_own_that_block_nobody(void) { test_each_device(true); }
static void devices_that_are_executed_one_by_one_have_theirs(void) { test_each_device(false); }

static void one_device_speaks_for_all(void) {
  setting s = begin(4, 2, NULL, on_send, on_recv);
  float out[4][N];
  /* the argument is said to be the same everywhere: device 2's counts */
  check_ok(run(&s, true, options(2, 1), out), "run");
  for (int i = 0; i < 4; i++) {
    CHECK(s.peers[i].sent == (i == 2) && s.peers[i].received == (i == 2));
    for (int k = 0; k < N; k++) CHECK(out[i][k] == (float)(10 * i + k + 2 * (20 + k)));
  }
  end(&s);
}

static void callbacks_in_a_loop_are_called_each_time(void) {
  setting s =
      begin(1, 1,
            "%z = stablehlo.constant dense<0> : tensor<i32>\n"
            "%y, %n = stablehlo.while(%a = %x, %i = %z) : tensor<4xf32>, tensor<i32>\n"
            "cond { %m = stablehlo.constant dense<3> : tensor<i32>\n"
            "%c = stablehlo.compare LT, %i, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
            "stablehlo.return %c : tensor<i1> } do {\n"
            "%t = stablehlo.create_token : !stablehlo.token\n"
            "%s = \"stablehlo.send\"(%a, %t) <{" CHANNEL(
                5, 2) "}> : (tensor<4xf32>, "
                      "!stablehlo.token) -> !stablehlo.token\n"
                      "%r:2 = \"stablehlo.recv\"(%s) <{" CHANNEL(
                          6, 3) "}> : (!stablehlo.token) -> "
                                "(tensor<4xf32>, !stablehlo.token)\n"
                                "%o = stablehlo.constant dense<1> : tensor<i32>\n"
                                "%j = stablehlo.add %i, %o : tensor<i32>\n"
                                "stablehlo.return %r#0, %j : tensor<4xf32>, tensor<i32> }\n",
            on_send, on_recv);
  float out[4][N];
  check_ok(run(&s, true, options(2, 1), out), "run");
  CHECK(s.peers[0].sent == 3 && s.peers[0].received == 3);
  for (int k = 0; k < N; k++) CHECK(out[0][k] == (float)(8 * k));
  end(&s);
}

static void errors_of_callbacks_are_the_executions(void) {
  setting s = begin(1, 1, EXCHANGE(""), on_send_fail, on_recv);
  float out[4][N];
  check_error(run(&s, true, options(2, 1), out), PJRT_Error_Code_ABORTED, "not today");
  check_error(run(&s, true, options(1, 1), out), PJRT_Error_Code_INVALID_ARGUMENT,
              "sends to channel 5, for which this execution was given no callback");
  check_error(run(&s, true, options(0, 0), out), PJRT_Error_Code_INVALID_ARGUMENT,
              "sends to channel 5");
  s.send[0][1].send_callback = on_send;
  check_error(run(&s, true, options(2, 0), out), PJRT_Error_Code_INVALID_ARGUMENT,
              "receives from channel 6");
  end(&s);
}

/* A stream may be filled from anywhere, later, or given up. */
static void *fill_later(void *user) {
  peer *p = user;
  meet(p->kept);
  deleted = 0;
  check_ok(add(p->stream, p->data, sizeof p->data), "later");
  CHECK(deleted == 1);
  end_stream(p->stream);
  return NULL;
}

static void *give_up(void *user) {
  peer *p = user;
  meet(p->kept);
  check_ok(add(p->stream, p->data, 3), "a part");
  end_stream(p->stream);
  return NULL;
}

static PJRT_Error *run_beside(void *(*beside)(void *), float out[4][N]) {
  meeting both = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 2};
  setting s = begin(1, 1, EXCHANGE(""), on_send, on_recv_keep);
  pthread_t t;
  s.peers[0].kept = &both;
  CHECK(pthread_create(&t, NULL, beside, &s.peers[0]) == 0);
  PJRT_Error *e = run(&s, true, options(2, 1), out);
  pthread_join(t, NULL);
  end(&s);
  return e;
}

static void streams_outlive_their_callbacks(void) {
  float out[4][N];
  check_ok(run_beside(fill_later, out), "run");
  for (int k = 0; k < N; k++) CHECK(out[0][k] == (float)(2 * k));
  check_error(run_beside(give_up, out), PJRT_Error_Code_INVALID_ARGUMENT,
              "the stream was destroyed after 3 of the 16 bytes");
}

static void what_is_missing_is_refused(void) {
  setting s = begin(1, 1, EXCHANGE(""), NULL, on_recv);
  float out[4][N];
  check_error(run(&s, true, options(2, 1), out), PJRT_Error_Code_INVALID_ARGUMENT, "send_callback");
  s.send[0][1].send_callback = on_send;
  s.recv[0][0].recv_callback = NULL;
  check_error(run(&s, true, options(2, 1), out), PJRT_Error_Code_INVALID_ARGUMENT, "recv_callback");
  check_error(run(&s, true, options(SIZE_MAX / 8, 1), out), PJRT_Error_Code_INVALID_ARGUMENT,
              "send and 1 receive callbacks");
  CALL(CopyToDeviceStream_TotalBytes, t, .stream = NULL);
  check_error(t_error, PJRT_Error_Code_INVALID_ARGUMENT, "stream");
  CALL(CopyToDeviceStream_AddChunk, a, .stream = (PJRT_CopyToDeviceStream *)s.c);
  check_error(a_error, PJRT_Error_Code_INVALID_ARGUMENT, "stream");
  CALL(CopyToDeviceStream_Destroy, d, .stream = NULL);
  check_ok(d_error, "nothing to destroy");
  end(&s);
}

int main(void) {
  each_device_has_callbacks_of_its_own_that_block_nobody();
  devices_that_are_executed_one_by_one_have_theirs();
  one_device_speaks_for_all();
  callbacks_in_a_loop_are_called_each_time();
  errors_of_callbacks_are_the_executions();
  streams_outlive_their_callbacks();
  what_is_missing_is_refused();
  return UNIT_END();
}
