/* Stream sockets of the host's, which never make a thread wait but in os_wait and os_accept. */
#ifndef BASE_OS_SOCKET_H
#define BASE_OS_SOCKET_H

#include "base/status.h"

enum { OS_IN = 1, OS_OUT = 4 }; /* to be read, or at its end; to be written */
typedef struct os_ready {
  int fd; /* negative: left out */
  short want, is;
} os_ready;
/* Until one is ready or so many milliseconds are over (-1: no end); `is` says which are. */
void os_wait(os_ready *r, u32 n, int milliseconds);

typedef struct os_piece {
  const void *data;
  size_t bytes;
} os_piece;
enum { OS_MAX_PIECES = 64 };
/* How many bytes went or came; 0: none now; -1: the connection is of no use, or at its end. */
i64 os_socket_write(int fd, const os_piece *pieces, u32 n);
i64 os_socket_read(int fd, void *to, size_t bytes);

/* Where a process can be reached: text without spaces, "" where it fails. */
enum { OS_MAX_ADDRESS = 320 };
typedef struct os_listener {
  int tcp, local; /* local: for processes on this machine */
  char address[OS_MAX_ADDRESS];
} os_listener;
/* `host` NULL: as this machine calls itself; else the name that others find it by. */
status os_listen(const char *host, os_listener *out) MUST_USE;
void os_listener_close(os_listener *l);
/* The next who connects; DEADLINE_EXCEEDED after so many milliseconds. */
status os_accept(const os_listener *l, int milliseconds, int *out_fd) MUST_USE;
status os_connect(const char *address, int milliseconds, int *out_fd) MUST_USE;
/* So many bytes each way, waiting for them; NULL: none this way. */
status os_socket_exchange(int fd, const void *out, void *in, size_t bytes,
                          int milliseconds) MUST_USE;
void os_close(int fd);      /* negative is fine */
void os_socket_end(int fd); /* reads and writes of both sides end; it stays open */

/* A pipe to wake a thread that is in os_wait. */
bool os_pipe(int fds[2]);
void os_pipe_poke(int fd);
void os_pipe_drain(int fd);

#endif
