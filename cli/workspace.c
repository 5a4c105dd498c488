#include "workspace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "progress.h"

/* user: the option that is read, which may be our word for what the text begins with, or NULL. */
static void say_diag(void *user, diag_kind kind, diag_pos pos, str text) {
  (void)kind, (void)pos;
  const char *field = "";
  str rest = user ? field_option(text, &field) : text;
  say_error("%s%s" STR_FMT, user ? (const char *)user : "", user && !*field ? ": " : "",
            STR_ARG(rest));
}

int with_workspace(int (*command)(workspace *w, void *options), void *options) {
  workspace w = {.sink = {.fn = say_diag}};
  oom_trap trap;
  progress p;
  volatile int code = EXIT_WRONG;
  arena_init(&w.arena, &mem_system, &trap);
  buf_init(&w.out, &mem_system);
  progress_begin(&p);
  if (setjmp(trap.at))
    say_error("out of memory");
  else
    code = command(&w, options);
  progress_end(&p);
  if (code == EXIT_FINE && !buf_ok(&w.out)) {
    say_error("out of memory");
    code = EXIT_WRONG;
  }
  if (code == EXIT_FINE) show_out(&w);
  buf_deinit(&w.out);
  arena_deinit(&w.arena);
  return code;
}

bool write_file(const char *option, const char *path, str bytes) {
  FILE *f = fopen(path, "wb");
  bool fine = f && fwrite(bytes.data, 1, bytes.len, f) == bytes.len;
  if (f && fclose(f)) fine = false;
  if (!fine) say_error("%s: %s: %s", option, path, strerror(errno));
  return fine;
}

void show_out(workspace *w) {
  if (w->color)
    paint(buf_view(&w->out));
  else if (w->out.len)
    fwrite(w->out.data, 1, w->out.len, stdout);
  w->out.len = 0;
}

bool wants_color(const char *when) {
  if (when && strcmp(when, "always") == 0) return true;
  if (when && strcmp(when, "never") == 0) return false;
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}
