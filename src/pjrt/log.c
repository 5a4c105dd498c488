/* The call log. Calls nest: one inside of another's callback has a line of its own, before it. */
#define _GNU_SOURCE
#include "pjrt/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/os.h"
#include "pjrt/slots.h"

int api_log_level;
static int log_fd = -1;
static int log_errno; /* why there is none although it was asked for */

static void open_log(void) {
  const char *where = getenv("TERRAZZO_LOG");
  if (!where || !*where || strcmp(where, "0") == 0) return;
  bool more = where[0] == '2' && (!where[1] || where[1] == ':');
  if ((more || where[0] == '1') && where[1] == ':')
    where += 2;
  else if (more)
    where = "1";
  log_fd = strcmp(where, "1") == 0 ? fcntl(2, F_DUPFD_CLOEXEC, 3)
                                   : open(where, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log_fd < 0)
    log_errno = errno;
  else
    api_log_level = more ? 2 : 1;
}

void api_log_begin(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_log);
}

status api_log_error(void) {
  if (!log_errno) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "TERRAZZO_LOG=%s: %s", getenv("TERRAZZO_LOG"),
                     strerror(log_errno));
}

enum { MOST_LINES = 1024 };

/* Those of a process that runs longer come again. */
static bool is_new(u64 line) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static u64 seen[MOST_LINES], next;
  bool found = false;
  pthread_mutex_lock(&lock);
  for (u32 i = 0; i < MOST_LINES && !found; i++) found = seen[i] == line;
  if (!found) seen[next++ % MOST_LINES] = line;
  pthread_mutex_unlock(&lock);
  return !found;
}

static void write_line(const buf *line) {
  if (!buf_ok(line) || log_fd < 0) return;
  ssize_t n = write(log_fd, line->data, line->len); /* one call: lines don't mix */
  (void)n;
}

void api_log_once(str lines) {
  while (lines.len) {
    const char *end = memchr(lines.data, '\n', lines.len);
    size_t n = end ? (size_t)(end - lines.data) + 1 : lines.len;
    buf line;
    buf_init(&line, &mem_system);
    buf_bytes(&line, lines.data, n);
    if (!end) buf_char(&line, '\n');
    if (is_new(hash_bytes(line.data, line.len, 1))) write_line(&line);
    buf_deinit(&line);
    lines = (str){lines.data + n, lines.len - n};
  }
}

/* ---- a call under way ---- */

typedef struct call {
  struct call *outer;
  char note[256];
  size_t len;
} call;

static _Thread_local call *current;

void api_note(const char *fmt, ...) {
  call *c = current;
  if (!c) return;
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(c->note + c->len, sizeof c->note - c->len, fmt, ap);
  va_end(ap);
  if (n > 0) c->len = min_size(c->len + (size_t)n, sizeof c->note - 1);
}

/* ---- values ---- */

enum { MOST_VALUES = 8, MOST_TEXT = 64 };

static void put_text(buf *b, const char *text, size_t n) {
  bool cut = n > MOST_TEXT;
  buf_char(b, '"');
  for (size_t i = 0; text && i < (cut ? MOST_TEXT : n); i++)
    if (text[i] == '"' || text[i] == '\\' || text[i] < 32 || text[i] > 126)
      buf_printf(b, "\\x%02x", (unsigned char)text[i]);
    else
      buf_char(b, text[i]);
  buf_str(b, cut ? STR("\"...") : STR("\""));
}

static void *load_pointer(const char *p) {
  void *v;
  memcpy(&v, p, sizeof v);
  return v;
}

static u64 load_u64(const char *p) {
  u64 v;
  memcpy(&v, p, sizeof v);
  return v;
}

static u32 load_u32(const char *p) {
  u32 v;
  memcpy(&v, p, sizeof v);
  return v;
}

static void put_list(buf *b, api_field_kind kind, const char *list, size_t n) {
  if (!list) {
    BUF_LIT(b, "NULL");
    return;
  }
  buf_char(b, '[');
  for (size_t i = 0; i < n && i < MOST_VALUES; i++) {
    if (i) buf_char(b, ',');
    if (kind == API_FIELD_I64S)
      buf_printf(b, "%lld", (long long)load_u64(list + 8 * i));
    else
      buf_printf(b, "%p", load_pointer(list + 8 * i));
  }
  if (n > MOST_VALUES) BUF_LIT(b, ",...");
  buf_char(b, ']');
}

static void put_field(buf *b, const char *args, const api_field *f) {
  const char *p = args + f->at;
  size_t n = f->count_at ? load_u64(args + f->count_at) : 0;
  const char *text;
  switch (f->kind) {
  case API_FIELD_I32:
    buf_printf(b, "%d", (int)load_u32(p));
    break;
  case API_FIELD_U32:
    buf_printf(b, "%u", load_u32(p));
    break;
  case API_FIELD_I64:
    buf_printf(b, "%lld", (long long)load_u64(p));
    break;
  case API_FIELD_U64:
    buf_printf(b, "%llu", (unsigned long long)load_u64(p));
    break;
  case API_FIELD_BOOL:
    buf_str(b, *p ? STR("true") : STR("false"));
    break;
  case API_FIELD_TEXT:
    text = load_pointer(p);
    if (text)
      put_text(b, text, f->count_at ? n : strnlen(text, MOST_TEXT + 1));
    else
      BUF_LIT(b, "NULL");
    break;
  case API_FIELD_I64S:
  case API_FIELD_POINTERS:
    put_list(b, f->kind, load_pointer(p), n);
    break;
  case API_FIELD_HANDLE:
  case API_FIELD_POINTER:
    buf_printf(b, "%p", load_pointer(p));
    break;
  case API_FIELD_OTHER:
    BUF_LIT(b, "...");
    break;
  }
}

/* ---- lines ---- */

/* What a failed call put out is not looked at, nor what a shorter struct does not have. */
static void put_fields(buf *b, const api_function *f, const char *args, size_t size) {
  BUF_LIT(b, " {");
  for (unsigned i = 0; i < f->num_fields; i++) {
    if (f->fields[i].end > size) break;
    buf_printf(b, i ? ", %s=" : "%s=", f->fields[i].name);
    put_field(b, args, &f->fields[i]);
  }
  buf_char(b, '}');
}

static void put_error(buf *b, const PJRT_Error *e) {
  PJRT_Error_Message_Args m = {.struct_size = PJRT_Error_Message_Args_END, .error = e};
  api_error_message(&m);
  BUF_LIT(b, " error: ");
  buf_bytes(b, m.message, m.message_size);
}

PJRT_Error *api_logged(const api_function *f, void *args) {
  call c = {.outer = current};
  current = &c;
  u64 begin = os_now_ns();
  PJRT_Error *e = f->call(args);
  u64 end = os_now_ns();
  current = c.outer;
  buf line;
  buf_init(&line, &mem_system);
  size_t size = args ? *(const size_t *)args : 0;
  buf_printf(&line, "%s(", f->name);
  if (f->num_fields && f->fields[0].kind == API_FIELD_HANDLE && size >= f->fields[0].end)
    buf_printf(&line, "%s %p", f->fields[0].name, load_pointer((char *)args + f->fields[0].at));
  buf_char(&line, ')');
  if (c.len) buf_printf(&line, " %s", c.note);
  if (e)
    put_error(&line, e);
  else if (api_log_level > 1 && args)
    put_fields(&line, f, args, size);
  buf_printf(&line, " %.1f us\n", (double)(end - begin) * 1e-3);
  write_line(&line);
  buf_deinit(&line);
  return e;
}
