/* Sockets between all processes of a job. Each connects to those before it, and takes those that
 * come after it. */
#include "net/job.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_PROCESSES = 65536 };
enum { VERSION = 2 };     /* of wire_head, and what relays say */
#define MAGIC 0x315a5254u /* "TRZ1"; another byte order reads another number */

typedef char address[OS_MAX_ADDRESS];

/* What each side of a connection says first. */
typedef struct hello {
  u32 magic, version, rank, size;
} hello;

typedef struct job {
  const allocator *mem;
  u32 rank, size;
  int *fds;
  address *addresses;
} job;

static status job_init(job *j, const allocator *mem, u32 rank, u32 size) {
  *j = (job){.mem = mem ? mem : &mem_system, .rank = rank, .size = size};
  if (size < 1 || size > MAX_PROCESSES || rank >= size)
    return status_make(STATUS_INVALID_ARGUMENT, "expected a process of 1 to %d, found %u of %u",
                       MAX_PROCESSES, rank, size);
  j->fds = mem_alloc(j->mem, size * sizeof *j->fds);
  j->addresses = mem_zalloc(j->mem, size * sizeof *j->addresses);
  for (u32 r = 0; j->fds && r < size; r++) j->fds[r] = -1;
  return j->fds && j->addresses ? NULL : status_oom();
}

/* The connections become a wire, or end. */
static status job_end(job *j, status s, wire **out_wire) {
  *out_wire = NULL;
  if (!s) {
    s = wire_of_sockets(j->mem, j->rank, j->size, j->fds, out_wire);
  } else {
    for (u32 r = 0; j->fds && r < j->size; r++) os_close(j->fds[r]);
  }
  mem_free(j->mem, j->fds, j->size * sizeof *j->fds);
  mem_free(j->mem, j->addresses, j->size * sizeof *j->addresses);
  return s;
}

/* A connection that is not of this job is closed, and no error. */
static status greet(job *j, int fd, u32 expected, u32 *out_rank) {
  hello mine = {MAGIC, VERSION, j->rank, j->size}, its;
  status s = os_socket_exchange(fd, &mine, &its, sizeof mine, JOB_PATIENCE_MS);
  if (!s && (its.magic != MAGIC || its.version != VERSION))
    s = status_make(STATUS_FAILED_PRECONDITION, "a process of another version or byte order");
  if (!s && (its.size != j->size || its.rank >= j->size || its.rank == j->rank ||
             (expected != UINT32_MAX && its.rank != expected) || j->fds[its.rank] >= 0))
    s = status_make(STATUS_FAILED_PRECONDITION,
                    "process %u of %u met one that says it is process %u of %u", j->rank, j->size,
                    its.rank, its.size);
  if (s)
    os_close(fd);
  else
    j->fds[ *out_rank = its.rank] = fd;
  return s;
}

static status call_one(job *j, u32 rank) {
  int fd;
  u32 got;
  RETURN_IF_ERROR(os_connect(j->addresses[rank], JOB_PATIENCE_MS, &fd));
  return greet(j, fd, rank, &got);
}

static status take_one(job *j, const os_listener *l, u32 *out_rank) {
  int fd;
  RETURN_IF_ERROR(os_accept(l, JOB_PATIENCE_MS, &fd));
  return greet(j, fd, UINT32_MAX, out_rank);
}

/* Those from `begin` on: the ones before are connected. */
static status join_all(job *j, const os_listener *l, u32 begin) {
  u32 got;
  for (u32 r = begin; r < j->rank; r++) RETURN_IF_ERROR(call_one(j, r));
  for (u32 r = j->rank + 1; r < j->size; r++) RETURN_IF_ERROR(take_one(j, l, &got));
  return NULL;
}

/* ---- with a board ---- */

static void key_of(u32 rank, char out[64]) { snprintf(out, 64, "terrazzo/process/%u", rank); }

static status meet(job *j, const os_listener *l, const job_board *b) {
  char key[64];
  key_of(j->rank, key);
  RETURN_IF_ERROR(b->put(b->user, key, str_of(l->address)));
  for (u32 r = 0; r < j->rank; r++) {
    key_of(r, key);
    RETURN_IF_ERROR(b->get(b->user, key, JOB_PATIENCE_MS, j->addresses[r], OS_MAX_ADDRESS));
  }
  return join_all(j, l, 0);
}

status job_meet(const allocator *mem, u32 rank, u32 size, const job_board *board, wire **out_wire) {
  job j;
  os_listener l = {.tcp = -1, .local = -1};
  status s = job_init(&j, mem, rank, size);
  if (!s) s = os_listen(NULL, &l);
  if (!s) s = meet(&j, &l, board);
  os_listener_close(&l);
  return job_end(&j, s, out_wire);
}

/* ---- without one ---- */

/* Each says where it listens, and is told where all do. */
static status lead(job *j, const os_listener *l) {
  for (u32 i = 1; i < j->size; i++) {
    u32 r;
    RETURN_IF_ERROR(take_one(j, l, &r));
    RETURN_IF_ERROR(os_socket_exchange(j->fds[r], l->address, j->addresses[r], sizeof(address),
                                       JOB_PATIENCE_MS));
    j->addresses[r][sizeof(address) - 1] = 0;
  }
  for (u32 r = 1; r < j->size; r++)
    RETURN_IF_ERROR(os_socket_exchange(j->fds[r], j->addresses, NULL, j->size * sizeof(address),
                                       JOB_PATIENCE_MS));
  return NULL;
}

status job_lead(const allocator *mem, u32 size, const os_listener *l, wire **out_wire) {
  job j;
  status s = job_init(&j, mem, 0, size);
  if (!s) s = lead(&j, l);
  return job_end(&j, s, out_wire);
}

static status follow(job *j, const os_listener *l, const char *leader) {
  snprintf(j->addresses[0], sizeof(address), "%s", leader);
  RETURN_IF_ERROR(call_one(j, 0));
  address ignored;
  RETURN_IF_ERROR(
      os_socket_exchange(j->fds[0], l->address, ignored, sizeof(address), JOB_PATIENCE_MS));
  RETURN_IF_ERROR(os_socket_exchange(j->fds[0], NULL, j->addresses, j->size * sizeof(address),
                                     JOB_PATIENCE_MS));
  for (u32 r = 0; r < j->size; r++) j->addresses[r][sizeof(address) - 1] = 0;
  return join_all(j, l, 1);
}

status job_follow(const allocator *mem, u32 rank, u32 size, const char *leader, wire **out_wire) {
  job j;
  os_listener l = {.tcp = -1, .local = -1};
  status s = job_init(&j, mem, rank, size);
  if (!s && rank == 0)
    s = status_make(STATUS_INVALID_ARGUMENT, "process 0 leads, and follows nobody");
  if (!s) s = os_listen(NULL, &l);
  if (!s) s = follow(&j, &l, leader);
  os_listener_close(&l);
  return job_end(&j, s, out_wire);
}

bool job_read(const char *text, u32 *out_rank, u32 *out_size, const char **out_address) {
  int n = 0;
  if (!text || sscanf(text, "%u/%u/%n", out_rank, out_size, &n) != 2 || !n) return false;
  *out_address = text + n;
  return *out_rank < *out_size;
}
