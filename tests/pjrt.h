/* Driving the PJRT API from C: what its test programs share. */
#ifndef TESTS_PJRT_H
#define TESTS_PJRT_H

#include <pthread.h>
#include <string.h>

#include "pjrt/abi.h"
#include "tests/unit.h"

extern const PJRT_Api *GetPjrtApi(void);

/* By how much a caller's structs are longer than ours, as those of a newer version are. */
static size_t pjrt_newer_by;

/* CALL(Client_Create, a, .field = value...) declares the arguments `a` and makes the call. */
#define CALL(function, a, ...)                                                                     \
  PJRT_##function##_Args a = {.struct_size = PJRT_##function##_Args_END + pjrt_newer_by,           \
                              __VA_ARGS__};                                                        \
  PJRT_Error *a##_error = GetPjrtApi()->PJRT_##function(&a)
#define OK(function, a, ...)                                                                       \
  CALL(function, a, __VA_ARGS__);                                                                  \
  check_ok(a##_error, #function)

/* EXTENSION(FFI), a PJRT_FFI_Extension; NULL: the plugin has none. */
#define EXTENSION(name)                                                                            \
  ((const PJRT_##name##_Extension *)pjrt_extension(PJRT_Extension_Type_##name))
static inline const void *pjrt_extension(PJRT_Extension_Type type) {
  const PJRT_Extension_Base *e = GetPjrtApi()->extension_start;
  while (e && e->type != type) e = e->next;
  return e;
}

static inline PJRT_Error_Code code_of(PJRT_Error *e) {
  PJRT_Error_GetCode_Args a = {.struct_size = PJRT_Error_GetCode_Args_END, .error = e};
  CHECK(!GetPjrtApi()->PJRT_Error_GetCode(&a));
  return a.code;
}

static inline void drop(PJRT_Error *e) {
  PJRT_Error_Destroy_Args a = {.struct_size = PJRT_Error_Destroy_Args_END, .error = e};
  GetPjrtApi()->PJRT_Error_Destroy(&a);
}
/* The first of two errors, either of which may be none; the other is dropped. */
static inline PJRT_Error *first_error(PJRT_Error *first, PJRT_Error *next) {
  if (first && next) drop(next);
  return first ? first : next;
}

static inline bool message_has(PJRT_Error *e, const char *text) {
  PJRT_Error_Message_Args a = {.struct_size = PJRT_Error_Message_Args_END, .error = e};
  GetPjrtApi()->PJRT_Error_Message(&a);
  bool has = e && a.message_size && strstr(a.message, text);
  if (!has) fprintf(stderr, "message: %.*s\n", (int)a.message_size, a.message);
  return has;
}

static inline void check_ok(PJRT_Error *e, const char *what) {
  CHECK(!e);
  if (!e) return;
  fprintf(stderr, "%s: ", what);
  message_has(e, "\n");
  drop(e);
}

/* An error's payload, as "key=value;" of each. */
static inline void note_payload(const char *key, size_t key_size, const char *value, size_t size,
                                void *user) {
  char *text = user;
  size_t at = strlen(text);
  snprintf(text + at, 200 - at, "%.*s=%.*s;", (int)key_size, key, (int)size, value);
}
static inline bool payload_is(PJRT_Error *e, const char *want) {
  char text[200] = "";
  PJRT_Error_ForEachPayload_Args a = {.struct_size = PJRT_Error_ForEachPayload_Args_END,
                                      .error = e,
                                      .visitor = note_payload,
                                      .user_arg = text};
  CHECK(!GetPjrtApi()->PJRT_Error_ForEachPayload(&a));
  return strcmp(text, want) == 0;
}

/* `code` OK: any but that. */
static inline void check_error(PJRT_Error *e, PJRT_Error_Code code, const char *text) {
  PJRT_Error_Code got = code_of(e);
  CHECK(e && (code == PJRT_Error_Code_OK ? got != code : got == code) && message_has(e, text));
  drop(e);
}

/* num_threads 0: as many as there are processors. */
static inline PJRT_Client *make_client(int64_t num_devices, int64_t num_threads) {
  PJRT_NamedValue options[2] = {{.struct_size = PJRT_NamedValue_END,
                                 .name = "num_devices",
                                 .name_size = 11,
                                 .type = PJRT_NamedValue_kInt64,
                                 .int64_value = num_devices,
                                 .value_size = 1}};
  options[1] = options[0];
  options[1].name = "num_threads";
  options[1].int64_value = num_threads;
  OK(Client_Create, a, .create_options = options, .num_options = num_threads ? 2 : 1);
  return a.client;
}

static inline void destroy_client(PJRT_Client *c) { OK(Client_Destroy, a, .client = c); }

static inline void destroy_event(PJRT_Event *e) { OK(Event_Destroy, a, .event = e); }

static inline void destroy_buffer(PJRT_Buffer *b) { OK(Buffer_Destroy, a, .buffer = b); }

static inline void destroy_loaded(PJRT_LoadedExecutable *l) {
  OK(LoadedExecutable_Destroy, a, .executable = l);
}

static inline PJRT_Buffer *put(PJRT_Client *c, size_t device, const float *data, int64_t n) {
  OK(Client_Devices, d, .client = c);
  OK(Client_BufferFromHostBuffer, a, .client = c, .data = data, .type = PJRT_Buffer_Type_F32,
     .dims = &n, .num_dims = 1, .device = d.devices[device]);
  destroy_event(a.done_with_host_buffer);
  return a.buffer;
}

/* Waits, and destroys the event while its callback is outstanding, as the framework does. */
typedef struct waiter {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool done;
  PJRT_Error *error;
} waiter;

static inline void wake(PJRT_Error *error, void *user) {
  waiter *w = user;
  pthread_mutex_lock(&w->lock);
  w->done = true;
  w->error = error;
  pthread_cond_signal(&w->changed);
  pthread_mutex_unlock(&w->lock);
}

static inline PJRT_Error *wait_for(PJRT_Event *e) {
  waiter w = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  OK(Event_OnReady, a, .event = e, .callback = wake, .user_arg = &w);
  destroy_event(e);
  pthread_mutex_lock(&w.lock);
  while (!w.done) pthread_cond_wait(&w.changed, &w.lock);
  pthread_mutex_unlock(&w.lock);
  return w.error;
}

static inline void get(PJRT_Buffer *b, float *out, size_t n) {
  OK(Buffer_ToHostBuffer, a, .src = b, .dst = out, .dst_size = n * sizeof *out);
  PJRT_Error *e = wait_for(a.event);
  check_ok(e, "ToHostBuffer's event");
}

static inline PJRT_Error *compile(PJRT_Client *c, const char *text, PJRT_LoadedExecutable **out) {
  PJRT_Program p = {.struct_size = PJRT_Program_END,
                    .code = (char *)(uintptr_t)text,
                    .code_size = strlen(text),
                    .format = "mlir",
                    .format_size = 4};
  CALL(Client_Compile, a, .client = c, .program = &p);
  *out = a.executable;
  return a_error;
}

/* A function of a table, by its address there. */
typedef PJRT_Error *pjrt_entry(void *args);

/* Calls it with nothing, with sizes that are too small, or enough, about NULL and about `other`,
 * two handles of kinds that it does not take: each says what is wrong, or has nothing to do. `made`
 * (may be NULL) gets what a call has made all the same. */
static inline void call_badly(const void *at, void *const other[2], void (*made)(void *handle)) {
  static const size_t sizes[] = {0, 8, 16, SIZE_MAX};
  void *const handles[] = {NULL, other[0], other[1]};
  pjrt_entry *f;
  memcpy(&f, at, sizeof f);
  check_error(f(NULL), PJRT_Error_Code_OK, "");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes * 3; i++) {
    struct {
      size_t size;
      void *extension, *handle;
      char rest[1024];
    } args = {.size = sizes[i / 3], .handle = handles[i % 3]};
    PJRT_Error *e = f(&args);
    CHECK(e || args.size == SIZE_MAX || args.size == 16);
    if (!e && made) made(args.handle);
    if (e) check_error(e, PJRT_Error_Code_OK, "");
  }
}

static inline PJRT_Buffer_MemoryLayout tiled(const int64_t *minor_to_major, size_t n) {
  PJRT_Buffer_MemoryLayout l = {.struct_size = PJRT_Buffer_MemoryLayout_END,
                                .type = PJRT_Buffer_MemoryLayout_Type_Tiled};
  l.tiled = (PJRT_Buffer_MemoryLayout_Tiled){.struct_size = PJRT_Buffer_MemoryLayout_Tiled_END,
                                             .minor_to_major = minor_to_major,
                                             .minor_to_major_size = n};
  return l;
}

#endif
