/* How the processes of a job find one another. */
#ifndef NET_JOB_H
#define NET_JOB_H

#include "base/os_socket.h"
#include "net/wire.h"

/* How long anybody is waited for who has not come yet. */
enum { JOB_PATIENCE_MS = 60000 };

/* Where the processes of a job leave words for one another, under keys that are the job's own. */
typedef struct job_board {
  status (*put)(void *user, const char *key, str value);
  /* Waits for it. The value into `out`, NUL-terminated, or an error where `room` is too small. */
  status (*get)(void *user, const char *key, int milliseconds, char *out, size_t room);
  void *user;
} job_board;

/* Process `rank` of `size`, each of which calls this once with a board that they share. */
status job_meet(const allocator *mem, u32 rank, u32 size, const job_board *board,
                wire **out_wire) MUST_USE;

/* Without a board: process 0 listens, and the others are told its address before they begin.
 * job_lead borrows the listener. */
status job_lead(const allocator *mem, u32 size, const os_listener *l, wire **out_wire) MUST_USE;
status job_follow(const allocator *mem, u32 rank, u32 size, const char *address,
                  wire **out_wire) MUST_USE;

/* What a process that follows is told in its environment, under JOB_VARIABLE: "RANK/SIZE/ADDRESS".
 * False: `text` is NULL or not such a text. */
#define JOB_VARIABLE "TERRAZZO_JOB"
bool job_read(const char *text, u32 *out_rank, u32 *out_size, const char **out_address);

#endif
