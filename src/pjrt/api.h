/* The objects behind the handles of the PJRT C API, and what its functions share.
 *
 * This module only translates: devices, buffers and events are device/'s, programs compile/'s,
 * launches exec/'s. Every entry of the API is an `api_...` function (pjrt/slots.h, generated)
 * that returns a status; its slot checks the caller's struct and makes the PJRT_Error.
 *
 * A handle of a client, device or memory stands for the same thing at the same address as long
 * as the client lives, as the framework compares them. Every handle begins with a `handle`, and
 * the slots refuse NULL and what is not of the right kind (pjrt/inputs.txt). In a forked child
 * nothing works on the parent's handles, and destroying them does nothing. */
#ifndef PJRT_API_H
#define PJRT_API_H

#include <pthread.h>

#include "base/handle.h"
#include "compile/compile.h"
#include "device/buffer.h"
#include "exec/exec.h"
#include "ffi/ffi.h"
#include "net/relay.h"
#include "pjrt/abi.h"
#include "pjrt/options.h"

#define API_PLATFORM_NAME "terrazzo"
#define API_DEVICE_KIND "terrazzo-cpu"
#define API_PLATFORM_VERSION "terrazzo 0.1.0"

/* ---- errors ---- */

PJRT_Error *api_error(status s);               /* takes s; NULL for NULL; never NULL otherwise */
status api_error_take(PJRT_Error *e) MUST_USE; /* the reverse: takes e, one of ours */
/* INVALID_ARGUMENT if the struct at `args` (struct_size first) ends before `need`: the caller
 * is of an older version of the API than what the function reads. */
status api_check_size(const char *function, const void *args, size_t need) MUST_USE;
/* Whether the struct at `args` is an older caller's that ends at `oldest` or behind, but before
 * `end`: what the slots of older.txt then hand on is a whole copy, with zeros for what is missing,
 * of which the caller gets back as much as it has room for. */
bool api_older(const void *args, size_t oldest, size_t end);
void api_widen(void *full, const void *args, size_t end);
void api_narrow(void *args, const void *full);
/* What the slots say of a handle or another input: INVALID_ARGUMENT for NULL and for what is not
 * of this kind, FAILED_PRECONDITION for one of the process that this one was forked from. */
status api_check_handle(const char *function, const char *field, const void *h, u32 kind) MUST_USE;
status api_missing(const char *function, const char *field) MUST_USE;
/* For a handle to be destroyed: *out_ours is false when there is nothing to do, with an error for
 * what is not of this kind, and without for NULL and in a forked child. */
status api_check_end(const char *function, const void *h, u32 kind, bool *out_ours) MUST_USE;
/* A status from a code and text of the caller's; NULL for OK. */
status api_status(PJRT_Error_Code code, const char *text, size_t size) MUST_USE;
/* The same in *out, with a payload; INVALID_ARGUMENT: that is not of strings. */
status api_status_with(PJRT_Error_Code code, str text, const PJRT_NamedValue *payload, size_t n,
                       status *out) MUST_USE;

/* ---- client, devices, memories ---- */

enum {
  API_CLIENT = 0x6a707401,
  API_DEVICE,
  API_DESCRIPTION,
  API_MEMORY,
  API_TOPOLOGY,
  API_BUFFER,
  API_EXECUTABLE,
  API_LOADED,
  API_LAYOUT,
  API_CONTEXT,
  API_TRANSFERS,
  API_ALIAS,
  API_MEMORY_DESCRIPTION,
  API_PROFILER,
  API_TRACKING,
  API_STREAM,
  API_RAW
};

struct PJRT_MemoryDescription {
  handle head;
  dev_kind kind;
};

struct PJRT_DeviceDescription {
  handle head;
  PJRT_MemoryDescription memories[DEV_KIND_COUNT];
  const PJRT_MemoryDescription *memory_list[DEV_KIND_COUNT];
  int id, process;
  PJRT_NamedValue attributes[1]; /* slice_index */
  char to_string[48], debug_string[64];
};

typedef struct api_memory api_memory;
typedef struct api_mapped api_mapped;     /* api_alias.c */
typedef struct api_callback api_callback; /* api_host.c */
typedef struct api_transit api_transit;   /* api_cross.c */
typedef struct api_sequence api_sequence; /* api_processes.c */

struct PJRT_Device {
  handle head;
  PJRT_Client *client;
  dev_device *dev;
  PJRT_Memory *memories[DEV_KIND_COUNT];
  PJRT_DeviceDescription description;
};

/* What the framework hangs on a memory, by key. It uses two keys. */
typedef struct api_user_data {
  const void *key;
  void *value;
  void (*destroy)(void *value);
} api_user_data;

struct api_memory {
  PJRT_Memory base; /* the vtable, first */
  handle head;
  dev_memory *dev;
  PJRT_Device *device;
  char to_string[64], debug_string[80];
  pthread_mutex_t lock;
  u32 num_data;
  api_user_data data[8];
};

/* So many devices: a client's (own_bytes 0), or devices that are not there, to compile for. */
struct PJRT_TopologyDescription {
  handle head;
  size_t num_devices;
  PJRT_DeviceDescription *const *descriptions;
  size_t own_bytes;
};
void api_description_init(PJRT_DeviceDescription *d, u32 id, u32 process, u32 slice);
/* As a client with these options would have them. */
status api_choose_num_devices(const PJRT_NamedValue *options, size_t n, u32 *out) MUST_USE;

/* Hands out a text and its size. */
#define API_TEXT(args, field, literal)                                                             \
  ((args)->field = literal, (args)->field##_size = strlen((args)->field), (status)NULL)

/* The framework's handle, each buffer and each loaded executable hold it. When the handle is
 * destroyed the workers go; what is left serves those that were not destroyed before it. */
struct PJRT_Client {
  handle head;
  atomic_int refs;
  dev_client *dev;
  executor *on; /* dev's */
  size_t num_devices, num_memories;
  PJRT_Device *devices;
  api_memory *memories;
  PJRT_Device **device_list; /* as handed out */
  PJRT_Memory **memory_list;
  PJRT_DeviceDescription **description_list;
  PJRT_TopologyDescription topology;
  pthread_mutex_t lock;
  pthread_cond_t landed;
  ffi_threads *handlers;   /* run what programs call by name */
  char *dialects;          /* the option of that name; NULL: not given */
  u32 in_flight;           /* launches; under lock */
  struct launch *flights;  /* those of them that the executor has; under lock */
  bool closed;             /* the handle has been destroyed; under lock */
  api_mapped *mapped;      /* under lock */
  api_callback *callbacks; /* under lock */
  api_transit *transits;   /* under lock */
  u64 transit_keys;        /* under lock */
  u32 process, num_processes;
  u32 first_local, num_local; /* devices that are this process's */
  u32 *first_of;              /* by process: its first device; NULL: there is one process */
  u32 slices;                 /* that the devices are shared out among */
  executor_transport *job;    /* to the others; NULL: there are none */
  api_sequence *sequences;    /* under lock */
};
void api_client_forget_mapped(PJRT_Client *c);
void api_client_forget_callbacks(PJRT_Client *c);
void api_client_cancel_transits(PJRT_Client *c); /* whose other side will never come */
PJRT_Client *api_client_retain(PJRT_Client *c);  /* returns c */
void api_client_release(PJRT_Client *c);

/* ---- several processes: api_processes.c ---- */

static inline bool api_is_local(const PJRT_Client *c, u32 device) {
  return device - c->first_local < c->num_local;
}
/* Whose a device is. */
static inline u32 api_process_of(const PJRT_Client *c, u32 device) {
  u32 r = 0;
  while (c->first_of && device >= c->first_of[r + 1]) r++;
  return r;
}
/* Of a program of n positions without an assignment: on devices in a row from here. */
static inline u32 api_first_of(const PJRT_Client *c, u64 n) {
  return n <= c->num_local ? c->first_local : 0;
}
/* Meets the other processes of the job: c->process of c->num_processes. *num_devices: ours, and
 * then all; *out_sharing: how many of them have the same processors, this one counted. What was
 * begun is ended by api_processes_forget. */
status api_processes_join(const PJRT_Client_Create_Args *a, const relay_mail *mail, PJRT_Client *c,
                          u32 *num_devices, u32 *out_sharing) MUST_USE;
void api_processes_leave(PJRT_Client *c); /* no launch is under way */
void api_processes_forget(PJRT_Client *c);
/* The launch's number among those of these devices, which its other processes give it too. */
status api_processes_next_launch(PJRT_Client *c, u64 devices, u64 *out_id) MUST_USE;
void api_processes_number(const PJRT_Client *c, arena *a, PJRT_LoadedExecutable *l);
relay_mail api_cross_mail(PJRT_Client *c); /* transfers from others: api_cross.c */
PJRT_Error *api_callback_error(PJRT_Error_Code code, const char *text, size_t size);

/* Around what the client must not end before: FAILED_PRECONDITION when it is ending. */
status api_client_take_off(PJRT_Client *c) MUST_USE;
void api_client_land(PJRT_Client *c);
/* A caller that runs ahead of its devices piles up results: past this many launches under way,
 * Execute waits for one to end. */
enum { API_MAX_IN_FLIGHT = 64 };

static inline api_memory *api_memory_of(PJRT_Memory *m) { return (api_memory *)m; }
PJRT_Memory *api_memory_handle(PJRT_Client *c, const dev_memory *m);
/* NULL pointers and handles of another client are refused. */
status api_check_memory(PJRT_Client *c, PJRT_Memory *m) MUST_USE;

/* ---- buffers and events ---- */

struct PJRT_Buffer {
  handle head;
  PJRT_Client *client;
  dev_buffer *dev;
};

/* Takes over the reference to b, whether it succeeds or not. */
status api_buffer_wrap(PJRT_Client *client, dev_buffer *b, PJRT_Buffer **out_buffer) MUST_USE;
void api_buffer_free(PJRT_Buffer *b);
void api_buffer_note(const PJRT_Buffer *b); /* for the call log: it is new */

/* An event handle is a reference to a device event. */
static inline PJRT_Event *api_event(dev_event *e) { return (PJRT_Event *)e; }
static inline dev_event *api_event_of(PJRT_Event *e) { return (dev_event *)e; }

/* What an execution tells the handlers that its program calls. */
struct PJRT_ExecuteContext {
  handle head;
  ffi_context *data;
};

/* What one execution sends to its caller, and gets from it: api_channels.c. */
typedef struct api_channels api_channels;
/* *out is NULL where nobody brought a callback. */
status api_channels_create(u32 num_positions, ffi_threads *threads, api_channels **out) MUST_USE;
void api_channels_free(api_channels *c); /* when the launch is done; NULL is fine */
/* The callbacks of one position, copied. */
status api_channels_set(api_channels *c, u32 position, const PJRT_SendCallbackInfo *send,
                        size_t num_send, const PJRT_RecvCallbackInfo *recv,
                        size_t num_recv) MUST_USE;
/* What the executor calls, with `c` as its user. */
void api_channels_call(void *c, executor_call *call);

/* ---- executables ---- */

struct PJRT_Layouts_MemoryLayout {
  handle head;
  bool lent;  /* a part of its executable */
  i64s order; /* minor to major */
};

/* Minor to major, of row-major arrays; rank <= DEV_MAX_RANK. */
i64s api_row_major(size_t rank);

/* Facts of the parameters or results in the form in which the API hands them out. */
typedef struct api_tensors {
  size_t count;
  PJRT_Buffer_Type *types;
  int64_t *dims; /* of all, one after the other */
  size_t *ranks;
  const char **memory_kinds, **shardings;
  size_t *memory_kind_sizes, *sharding_sizes;
  PJRT_Layouts_MemoryLayout *layouts;
  PJRT_Layouts_MemoryLayout **layout_list;
} api_tensors;

/* What buffers are of: tokens are no pred[0] for who executes. */
static inline dtype api_tensor_type(const compile_tensor *t) {
  return t->token ? DTYPE_token : t->type;
}
static inline i64s api_tensor_dims(const compile_tensor *t) {
  return t->token ? (i64s){0} : t->local_dims;
}

/* Refcounted: the loaded executable and each handle the framework asked for hold it. */
struct PJRT_Executable {
  handle head;
  atomic_int refs;
  executable *exe;
  arena memory;              /* holds what follows */
  str source, options_bytes; /* as given: for serialization */
  api_options options;
  const char *dialects; /* the client's; NULL: it said none */
  str fingerprint;
  api_tensors params, results;
  PJRT_NamedValue cost[3];
  atomic_bool knows_shardings; /* somebody asked for them through the Shardings extension */
  pthread_mutex_t lock;
  buf shell, local_program; /* under lock; text, made when first asked for */
};

struct PJRT_LoadedExecutable {
  handle head;
  PJRT_Client *client;
  PJRT_Executable *executable;
  executor_image *image;
  ffi_program *handlers; /* of its calls; NULL: there are none */
  arena memory;          /* holds the arrays */
  atomic_bool deleted;
  pthread_mutex_t lock;
  bool meets;          /* its devices wait for each other */
  struct launch *open; /* under lock; some devices have been given their part (api_execute.c) */
  u32 num_positions;   /* replica * num_partitions + partition */
  u32 *all_ids;        /* by position: its device */
  size_t num_devices;  /* of this process, by position: their lists follow */
  PJRT_Device **devices;
  u32 *device_ids, *positions;
  PJRT_LogicalDeviceIds *logical_ids;
  const u32 *numbers; /* executor_launch_args.numbers; NULL: all are here */
  u32 first_number;
  u64 key;               /* of the devices, in their order, for api_processes_next_launch */
  i32 *alias;            /* by result: the parameter whose buffer it takes over, or -1 */
  i32 *result_of;        /* by parameter: the result that takes over its buffer, or -1 */
  dev_kind *result_kind; /* by result */
};

/* Custom calls are partitioned by those who registered for them. */
void api_set_partitioners(compile_options *o);
/* Programs may have ops of these dialects; NULL: of those that the environment names. */
void api_set_dialects(const char *paths, compile_options *o);
void api_executable_find_cost(PJRT_Executable *e); /* fills in e->cost */
/* Before l goes: nobody will complete what is open. */
void api_drop_open(PJRT_LoadedExecutable *l);
PJRT_Executable *api_executable_retain(PJRT_Executable *e);
void api_executable_release(PJRT_Executable *e);

#endif
