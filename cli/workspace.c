#include "workspace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void say_diag(void *user, diag_kind kind, diag_pos pos, str text) {
  (void)user, (void)kind, (void)pos;
  say_error(STR_FMT, STR_ARG(text));
}

int with_workspace(int (*command)(workspace *w, void *options), void *options) {
  workspace w = {.sink = {.fn = say_diag}};
  oom_trap trap;
  volatile int code = EXIT_WRONG;
  arena_init(&w.arena, &mem_system, &trap);
  buf_init(&w.out, &mem_system);
  if (setjmp(trap.at))
    say_error("out of memory");
  else
    code = command(&w, options);
  if (code == EXIT_FINE && !buf_ok(&w.out)) {
    say_error("out of memory");
    code = EXIT_WRONG;
  }
  if (code == EXIT_FINE && w.out.len) fwrite(w.out.data, 1, w.out.len, stdout);
  buf_deinit(&w.out);
  arena_deinit(&w.arena);
  return code;
}

bool read_options(const char *command, const option_row *rows, size_t num_rows, void *options,
                  const char **rest, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    size_t k = 0;
    while (k < num_rows && strcmp(argv[i], rows[k].name) != 0) k++;
    void *field = k < num_rows ? (char *)options + rows[k].field : NULL;
    if (!field) {
      bool option = strncmp(argv[i], "--", 2) == 0;
      if (option || !rest || *rest)
        return say_error("%s: unknown %s '%s'", command, option ? "option" : "argument", argv[i]),
               false;
      *rest = argv[i];
    } else if (rows[k].is_flag) {
      *(bool *)field = true;
    } else if (i + 1 == argc) {
      return say_error("%s: %s wants a value", command, argv[i]), false;
    } else {
      *(const char **)field = argv[++i];
    }
  }
  return true;
}

bool wants_help(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
  return false;
}

bool write_file(const char *path, str bytes) {
  FILE *f = fopen(path, "wb");
  bool fine = f && fwrite(bytes.data, 1, bytes.len, f) == bytes.len;
  if (f && fclose(f)) fine = false;
  if (!fine) say_error("%s: %s", path, strerror(errno));
  return fine;
}

bool wants_color(void) {
  const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
  return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}
