/* Clients of several processes, which find one another through the framework's key-value store:
 * who has which devices, and the connections over which their launches meet (net/relay.h). */
#include <stdio.h>

#include "base/os.h"
#include "net/job.h"
#include "net/mpi_wire.h"
#include "pjrt/api.h"
#include "pjrt/log.h"

/* A process may come late: what it does before it asks for devices is its own affair. */
enum { PATIENCE_MS = 300000, MAX_CLIENTS = 1 << 16 };

/* The store, and which of its processes' clients this is: all have as many, in one order. */
typedef struct store {
  const PJRT_Client_Create_Args *a;
  u32 client;
} store;

typedef char store_key[96];

static size_t make_key(const store *s, const char *key, store_key out) {
  return (size_t)snprintf(out, sizeof(store_key), "terrazzo/%u/%s", s->client, key);
}

static status put(void *user, const char *key, str value) {
  const store *s = user;
  store_key full;
  PJRT_CallbackError make_error = api_callback_error;
  size_t size = make_key(s, key, full);
  return api_error_take(s->a->kv_put_callback(&(PJRT_KeyValuePutCallback_Args){
      .struct_size = PJRT_KeyValuePutCallback_Args_END,
      .key = full,
      .key_size = size,
      .value = value.data,
      .value_size = value.len,
      .callback_error = &make_error,
      .user_arg = s->a->kv_put_user_arg,
  }));
}

static status get(void *user, const char *key, int milliseconds, char *out, size_t room) {
  const store *s = user;
  store_key full;
  PJRT_CallbackError make_error = api_callback_error;
  PJRT_KeyValueGetCallback_Args g = {
      .struct_size = PJRT_KeyValueGetCallback_Args_END,
      .key = full,
      .key_size = make_key(s, key, full),
      .timeout_in_ms = milliseconds,
      .callback_error = &make_error,
      .user_arg = s->a->kv_get_user_arg,
  };
  RETURN_IF_ERROR(api_error_take(s->a->kv_get_callback(&g)));
  status r = g.value_size < room ? NULL
                                 : status_make(STATUS_INTERNAL, "the value of '%s' has %zu bytes",
                                               full, g.value_size);
  if (!r) {
    memcpy(out, g.value, g.value_size);
    out[g.value_size] = 0;
  }
  if (g.value_deleter_callback) g.value_deleter_callback(g.value);
  return r;
}

/* A number of devices, what they can be reached by, and on which processors they are. */
typedef char equipment[OS_PROCESSORS + 32];
static const char by_mpi[] = " mpi ", by_sockets[] = " sockets ";

/* MPI is for one client only, since it ends with it, and all calls are to be one thread's. */
static const char *reached_by(const store *s, u32 processes) {
  bool mpi = !s->client && mpi_num_processes() == processes && mpi_is_there();
  return mpi ? by_mpi : by_sockets;
}

/* Ours, under the first number of a client that we have not had. */
static status tell_devices(store *s, const PJRT_Client *c, u32 n, equipment ours) {
  char key[32], processors[OS_PROCESSORS];
  os_name_processors(processors);
  snprintf(key, sizeof key, "devices/%u", c->process);
  for (;; s->client++) {
    snprintf(ours, sizeof(equipment), "%u%s%s", n, reached_by(s, c->num_processes), processors);
    status r = put(s, key, str_of(ours));
    if (status_get_code(r) != STATUS_ALREADY_EXISTS || s->client == MAX_CLIENTS) return r;
    status_free(r);
  }
}

/* How many have our processors, and how many MPI reaches. */
typedef struct heard {
  u32 sharing, mpi;
} heard;

static status hear_devices(store *s, u32 rank, const equipment ours, u32 *out, heard *all) {
  char key[32];
  equipment its;
  snprintf(key, sizeof key, "devices/%u", rank);
  RETURN_IF_ERROR(get(s, key, PATIENCE_MS, its, sizeof its));
  size_t n = strcspn(its, " ");
  all->sharing += strcmp(strrchr(its, ' '), strrchr(ours, ' ')) == 0;
  all->mpi += strncmp(its + n, by_mpi, sizeof by_mpi - 1) == 0;
  return dev_read_count(key, "devices", (str){its, n}, out);
}

static status meet(store *s, const heard *all, const relay_mail *mail, PJRT_Client *c) {
  wire *w = NULL;
  u32 sharing, n = c->num_processes;
  bool mpi = all->mpi == n;
  api_note("%u processes over %s, ", n, mpi ? "MPI" : "sockets");
  status r = mpi ? mpi_connect(NULL, c->process, &w, &sharing)
                 : job_meet(NULL, c->process, n, &(job_board){put, get, s}, &w);
  return r ? r : relay_create(NULL, w, mail, &c->job);
}

status api_processes_join(const PJRT_Client_Create_Args *a, const relay_mail *mail, PJRT_Client *c,
                          u32 *num_devices, u32 *out_sharing) {
  store s = {.a = a};
  equipment ours;
  heard all = {0};
  if (c->num_processes > DEV_MAX_DEVICES || c->process >= c->num_processes)
    return status_make(STATUS_INVALID_ARGUMENT, "options node_id, num_nodes: process %u of %u",
                       c->process, c->num_processes);
  if (!a->kv_get_callback || !a->kv_put_callback)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "%u processes need the callbacks of a key-value store", c->num_processes);
  c->first_of = mem_zalloc(&mem_system, (c->num_processes + 1) * sizeof *c->first_of);
  if (!c->first_of) return status_oom();
  RETURN_IF_ERROR(tell_devices(&s, c, *num_devices, ours));
  for (u32 r = 0; r < c->num_processes; r++) {
    u32 n;
    RETURN_IF_ERROR(hear_devices(&s, r, ours, &n, &all));
    c->first_of[r + 1] = c->first_of[r] + n;
    if (c->first_of[r + 1] > DEV_MAX_DEVICES)
      return status_make(STATUS_INVALID_ARGUMENT, "more than %d devices in %u processes",
                         DEV_MAX_DEVICES, c->num_processes);
  }
  *num_devices = c->first_of[c->num_processes];
  *out_sharing = all.sharing;
  return meet(&s, &all, mail, c);
}

/* ---- programs of several processes ---- */

/* Launches over the same devices in one order are in one order in all their processes; so they are
 * counted apart from others, which need not be. */
struct api_sequence {
  api_sequence *next;
  u64 devices, count;
};

status api_processes_next_launch(PJRT_Client *c, u64 devices, u64 *out_id) {
  pthread_mutex_lock(&c->lock);
  api_sequence *s = c->sequences;
  while (s && s->devices != devices) s = s->next;
  if (!s && (s = mem_alloc(&mem_system, sizeof *s))) {
    *s = (api_sequence){c->sequences, devices, 0};
    c->sequences = s;
  }
  if (s) *out_id = hash_u64(s->count++, devices);
  pthread_mutex_unlock(&c->lock);
  return s ? NULL : status_oom();
}

void api_processes_leave(PJRT_Client *c) {
  relay_destroy(c->job);
  c->job = NULL;
}

void api_processes_forget(PJRT_Client *c) {
  api_processes_leave(c);
  for (api_sequence *s = c->sequences, *next; s; s = next) {
    next = s->next;
    mem_free(&mem_system, s, sizeof *s);
  }
  if (c->first_of) mem_free(&mem_system, c->first_of, (c->num_processes + 1) * sizeof *c->first_of);
}

/* Positions numbered by process: those of one are in a row, in their own order. */
void api_processes_number(const PJRT_Client *c, arena *a, PJRT_LoadedExecutable *l) {
  u32 n = l->num_positions, *next = ARENA_ARRAY(a, u32, c->num_processes + 1);
  memset(next, 0, (c->num_processes + 1) * sizeof *next);
  u32 *numbers = ARENA_ARRAY(a, u32, n);
  for (u32 p = 0; p < n; p++) next[api_process_of(c, l->all_ids[p]) + 1]++;
  for (u32 r = 0; r < c->num_processes; r++) next[r + 1] += next[r];
  l->first_number = next[c->process];
  l->numbers = numbers;
  for (u32 p = 0; p < n; p++) numbers[p] = next[api_process_of(c, l->all_ids[p])]++;
  l->key = hash_bytes(l->all_ids, n * sizeof *l->all_ids, n);
}
