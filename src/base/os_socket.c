/* base/os_socket.h on Linux: TCP, and between processes of one machine sockets of its own. */
#define _GNU_SOURCE
#include "base/os_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/os.h"

_Static_assert(sizeof(os_ready) == sizeof(struct pollfd) && OS_IN == POLLIN && OS_OUT == POLLOUT &&
                   offsetof(os_ready, is) == offsetof(struct pollfd, revents),
               "an os_ready is a pollfd");

void os_wait(os_ready *r, u32 n, int milliseconds) {
  for (u32 i = 0; i < n; i++) r[i].is = 0;
  if (poll((struct pollfd *)r, n, milliseconds) <= 0)
    return; /* a signal: as if nothing was ready */
  for (u32 i = 0; i < n; i++)
    if (r[i].is & (POLLERR | POLLHUP | POLLNVAL)) r[i].is |= OS_IN; /* reading says what it is */
}

static bool not_now(void) { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

i64 os_socket_write(int fd, const os_piece *pieces, u32 n) {
  struct iovec v[OS_MAX_PIECES];
  struct msghdr m = {.msg_iov = v};
  for (u32 i = 0; i < n && m.msg_iovlen < OS_MAX_PIECES; i++)
    if (pieces[i].bytes)
      v[m.msg_iovlen++] = (struct iovec){(void *)(uintptr_t)pieces[i].data, pieces[i].bytes};
  ssize_t done = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
  return done >= 0 ? done : not_now() ? 0 : -1;
}

i64 os_socket_read(int fd, void *to, size_t bytes) {
  ssize_t n = recv(fd, to, bytes, MSG_DONTWAIT);
  return n > 0 ? n : n < 0 && not_now() ? 0 : -1;
}

void os_close(int fd) {
  if (fd >= 0) close(fd);
}
void os_socket_end(int fd) { shutdown(fd, SHUT_RDWR); }

bool os_pipe(int fds[2]) { return pipe2(fds, O_NONBLOCK | O_CLOEXEC) == 0; }
void os_pipe_poke(int fd) {
  while (write(fd, "", 1) < 0 && errno == EINTR) continue; /* full: it is awake */
}
void os_pipe_drain(int fd) {
  char buffer[256];
  while (read(fd, buffer, sizeof buffer) > 0) continue;
}

/* ---- connections ---- */

/* Small messages go at once; large ones need few calls. */
static void tune(int fd) {
  int on = 1, room = 4 << 20;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
}

/* Who runs on the same kernel can use its sockets; a container that cannot falls back to TCP. */
static void machine_id(char out[64]) {
  out[0] = 0;
  FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (f && fgets(out, 64, f)) out[strcspn(out, "\n")] = 0;
  if (f) fclose(f);
  if (!out[0]) strcpy(out, "-");
}

static socklen_t local_name(const char *name, struct sockaddr_un *out) {
  *out = (struct sockaddr_un){.sun_family = AF_UNIX};
  size_t n = strlen(name);
  if (n > sizeof out->sun_path - 1) n = sizeof out->sun_path - 1;
  memcpy(out->sun_path + 1, name, n); /* begins with 0: a name that is no file */
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static status failed(const char *what) {
  return status_make(STATUS_UNAVAILABLE, "%s: %s", what, strerror(errno));
}

/* On all addresses, a port of the system's choice. IPv6 sockets take IPv4 as well. */
static status listen_tcp(int *out_fd, int *out_port) {
  struct sockaddr_storage a = {0};
  socklen_t n = sizeof a;
  int off = 0, fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  a.ss_family = AF_INET6;
  if (fd < 0) {
    fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    a.ss_family = AF_INET;
  }
  socklen_t size =
      a.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
  if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) || listen(fd, SOMAXCONN) ||
      getsockname(fd, (struct sockaddr *)&a, &n)) {
    status s = failed("cannot listen for other processes");
    os_close(fd);
    return s;
  }
  *out_port = ntohs(((struct sockaddr_in *)&a)->sin_port); /* at the same place in both families */
  *out_fd = fd;
  return NULL;
}

status os_listen(const char *host, os_listener *out) {
  char name[256], machine[64], local[64];
  int port = 0;
  *out = (os_listener){-1, -1, ""};
  RETURN_IF_ERROR(listen_tcp(&out->tcp, &port));
  if (host && *host)
    snprintf(name, sizeof name, "%s", host);
  else if (gethostname(name, sizeof name) || !name[0])
    strcpy(name, "localhost");
  name[sizeof name - 1] = 0;
  machine_id(machine);
  snprintf(local, sizeof local, "terrazzo-%ld-%d", (long)getpid(), out->tcp);
  struct sockaddr_un a;
  socklen_t n = local_name(local, &a);
  out->local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (out->local >= 0 &&
      (bind(out->local, (struct sockaddr *)&a, n) || listen(out->local, SOMAXCONN))) {
    os_close(out->local);
    out->local = -1;
  }
  snprintf(out->address, sizeof out->address, "%.180s/%d/%.40s/%s", name, port, machine,
           out->local >= 0 ? local : "-");
  return NULL;
}

void os_listener_close(os_listener *l) {
  os_close(l->tcp);
  os_close(l->local);
  l->tcp = l->local = -1;
}

status os_accept(const os_listener *l, int milliseconds, int *out_fd) {
  u64 end = os_now_ns() + (u64)milliseconds * 1000000;
  for (;;) {
    u64 now = os_now_ns();
    if (now >= end)
      return status_make(STATUS_DEADLINE_EXCEEDED, "nobody connected within %d ms", milliseconds);
    os_ready r[2] = {{l->tcp, OS_IN, 0}, {l->local, OS_IN, 0}};
    os_wait(r, 2, (int)((end - now) / 1000000) + 1);
    for (int i = 0; i < 2; i++) {
      if (!(r[i].is & OS_IN)) continue;
      *out_fd = accept4(r[i].fd, NULL, NULL, SOCK_CLOEXEC);
      if (*out_fd < 0) continue;
      tune(*out_fd);
      return NULL;
    }
  }
}

static int connect_local(const char *name) {
  struct sockaddr_un a;
  socklen_t n = local_name(name, &a);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && connect(fd, (struct sockaddr *)&a, n)) {
    os_close(fd);
    return -1;
  }
  return fd;
}

static status connect_tcp(const char *host, const char *port, int *out_fd) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
  int e = getaddrinfo(host, port, &hints, &list);
  if (e) return status_make(STATUS_UNAVAILABLE, "cannot find %s: %s", host, gai_strerror(e));
  status s = NULL;
  *out_fd = -1;
  for (struct addrinfo *a = list; a && *out_fd < 0; a = a->ai_next) {
    int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) == 0) {
      *out_fd = fd;
      break;
    }
    status_free(s);
    s = failed(host);
    os_close(fd);
  }
  freeaddrinfo(list);
  if (*out_fd < 0) return s ? s : status_make(STATUS_UNAVAILABLE, "cannot reach %s", host);
  status_free(s);
  return NULL;
}

/* Tries again until the time is over: the other may not listen yet. */
status os_connect(const char *address, int milliseconds, int *out_fd) {
  char host[200], port[16], machine[64], local[64], here[64];
  if (sscanf(address, "%199[^/]/%15[^/]/%63[^/]/%63s", host, port, machine, local) != 4)
    return status_make(STATUS_INVALID_ARGUMENT, "'%s' is no address of a process", address);
  machine_id(here);
  bool near = strcmp(machine, here) == 0 && strcmp(local, "-") != 0;
  for (u64 end = os_now_ns() + (u64)milliseconds * 1000000;; os_wait(NULL, 0, 20)) {
    *out_fd = near ? connect_local(local) : -1;
    status s = *out_fd < 0 ? connect_tcp(host, port, out_fd) : NULL;
    if (!s) {
      tune(*out_fd);
      return NULL;
    }
    if (os_now_ns() >= end) return s;
    status_free(s);
  }
}

status os_socket_exchange(int fd, const void *out, void *in, size_t bytes, int milliseconds) {
  size_t sent = out ? 0 : bytes, got = in ? 0 : bytes;
  for (u64 end = os_now_ns() + (u64)milliseconds * 1000000; sent < bytes || got < bytes;) {
    os_piece p = {(const char *)out + sent, bytes - sent};
    i64 n = sent < bytes ? os_socket_write(fd, &p, 1) : 0;
    i64 m = got < bytes && n >= 0 ? os_socket_read(fd, (char *)in + got, bytes - got) : 0;
    if (n < 0 || m < 0) return status_make(STATUS_UNAVAILABLE, "the other process hung up");
    sent += (size_t)n;
    got += (size_t)m;
    if (os_now_ns() >= end)
      return status_make(STATUS_DEADLINE_EXCEEDED, "the other process says nothing");
    short want = (short)((got < bytes ? OS_IN : 0) | (sent < bytes ? OS_OUT : 0));
    os_ready r = {fd, want, 0};
    if (want && !n && !m) os_wait(&r, 1, 100);
  }
  return NULL;
}
