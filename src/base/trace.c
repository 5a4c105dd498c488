/* Who records, and the file of TERRAZZO_TRACE. Sinks are the one list that belongs to the process
 * and changes: profilers begin and end without naming a client. */
#define _GNU_SOURCE
#include "base/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/os.h"

const char *const trace_kind_names[TRACE_KINDS_] = {
    [TRACE_STAGE] = "stage", [TRACE_PROGRAM] = "program",       [TRACE_STEP] = "step",
    [TRACE_WAIT] = "wait",   [TRACE_COLLECTIVE] = "collective",
};

atomic_int trace_sinks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static trace_sink *sinks; /* under lock */
static u32 forks;         /* os_forks() of the process whose sinks they are */

void trace_add(trace_sink *s) {
  pthread_mutex_lock(&lock);
  forks = os_forks();
  s->next = sinks;
  sinks = s;
  atomic_fetch_add(&trace_sinks, 1);
  pthread_mutex_unlock(&lock);
}

void trace_remove(trace_sink *s) {
  pthread_mutex_lock(&lock);
  for (trace_sink **at = &sinks; *at; at = &(*at)->next)
    if (*at == s) {
      *at = s->next;
      atomic_fetch_sub(&trace_sinks, 1);
      break;
    }
  pthread_mutex_unlock(&lock);
}

void trace_tell(const trace_span *span) {
  if (!trace_on() || forks != os_forks()) return; /* a child's lock may be held for ever */
  pthread_mutex_lock(&lock);
  for (trace_sink *s = sinks; s; s = s->next) s->span(s, span);
  pthread_mutex_unlock(&lock);
}

/* ---- Chrome's trace events ---- */

enum { CHUNK = 1 << 16, DEVICES = 1, HOST = 2 }; /* the two "processes" of the picture */

typedef struct trace_file {
  trace_sink sink;
  int fd;
  buf events; /* not written yet */
  off_t end;  /* where the next event goes: over the closing bracket */
  bool any;
} trace_file;

static void write_events(trace_file *f) {
  if (!f->events.len || !buf_ok(&f->events)) return;
  size_t len = f->events.len, at = 0;
  BUF_LIT(&f->events, "\n]\n");
  while (buf_ok(&f->events) && at < f->events.len) {
    ssize_t n = pwrite(f->fd, f->events.data + at, f->events.len - at, f->end + (off_t)at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break; /* a full disk ends the record, not the program */
    at += (size_t)n;
  }
  f->end += (off_t)len;
  f->events.len = 0;
}

static void put_text(buf *b, str s) {
  buf_char(b, '"');
  for (size_t i = 0; i < s.len; i++) {
    unsigned char c = (unsigned char)s.data[i];
    if (c == '"' || c == '\\') buf_char(b, '\\');
    if (c < 32)
      buf_printf(b, "\\u%04x", c);
    else
      buf_char(b, (char)c);
  }
  buf_char(b, '"');
}

static void begin_event(trace_file *f) {
  buf_str(&f->events, f->any ? STR(",\n") : STR("[\n"));
  f->any = true;
}

static void write_span(trace_sink *s, const trace_span *x) {
  trace_file *f = (trace_file *)s;
  buf *b = &f->events;
  bool host = x->device == TRACE_HOST;
  begin_event(f);
  BUF_LIT(b, "{\"name\":");
  put_text(b, x->name);
  buf_printf(b, ",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%d,\"tid\":%lld", trace_kind_names[x->kind],
             host ? HOST : DEVICES, host ? (long long)gettid() : (long long)x->device);
  buf_printf(b, ",\"ts\":%.3f,\"dur\":%.3f", (double)x->begin * 1e-3,
             (double)(x->end - x->begin) * 1e-3);
  if (x->loc.len || x->op_name.len) {
    BUF_LIT(b, ",\"args\":{\"loc\":");
    put_text(b, x->loc);
    if (x->op_name.len) {
      BUF_LIT(b, ",\"op_name\":");
      put_text(b, x->op_name);
    }
    buf_char(b, '}');
  }
  buf_char(b, '}');
  if (b->len >= CHUNK) write_events(f);
}

static trace_file *file; /* under lock; once, for good */

void trace_flush(void) {
  if (!trace_on() || forks != os_forks()) return;
  pthread_mutex_lock(&lock);
  if (file) write_events(file);
  pthread_mutex_unlock(&lock);
}

static void name_process(trace_file *f, int pid, const char *name) {
  begin_event(f);
  buf_printf(&f->events,
             "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,\"args\":{\"name\":\"%s\"}}", pid,
             name);
}

status trace_to_file(const char *path) {
  if (!path || !*path) return NULL;
  pthread_mutex_lock(&lock);
  bool first = !file;
  int fd = first ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
  int why = errno;
  if (fd >= 0) file = mem_zalloc(&mem_system, sizeof *file);
  bool ok = fd >= 0 && file;
  if (ok) {
    *file = (trace_file){.sink.span = write_span, .fd = fd};
    buf_init(&file->events, &mem_system);
    name_process(file, DEVICES, "devices");
    name_process(file, HOST, "host");
    write_events(file);
  }
  pthread_mutex_unlock(&lock);
  if (!first) return NULL;
  if (fd < 0)
    return status_make(STATUS_INVALID_ARGUMENT, "TERRAZZO_TRACE=%s: %s", path, strerror(why));
  if (!ok) {
    close(fd);
    return status_oom();
  }
  trace_add(&file->sink);
  atexit(trace_flush);
  return NULL;
}
