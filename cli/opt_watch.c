/* Dumps of the IR around passes, and the time that passes take: both to standard error. */
#include <stdio.h>
#include <stdlib.h>

#include "opt.h"

void watch_init(watch *w, const opt_options *o, oom_trap *trap) {
  memset(w, 0, sizeof *w);
  w->o = o;
  w->begin = os_now_ns();
  arena_init(&w->a, &mem_system, trap);
}

/* ---- dumps ---- */

static bool named_in(const char *list, const char *name) {
  size_t n = strlen(name);
  for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL)
    if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == 0)) return true;
  return false;
}

static void dump(const char *when, const pass_info *pass, const ir_module *m) {
  buf b;
  buf_init(&b, &mem_system);
  text_print(&b, m, NULL);
  fprintf(stderr, "// -----// IR Dump %s %s //----- //\n%s\n\n", when, pass->name, buf_cstr(&b));
  buf_deinit(&b);
}

static u64 hash_of(const ir_module *m) {
  buf b;
  buf_init(&b, &mem_system);
  text_print(&b, m, &(text_print_options){.debuginfo = true});
  u64 h = hash_bytes(b.data, b.len, 0);
  buf_deinit(&b);
  return h;
}

/* ---- hooks; passes nest where one is a pipeline ---- */

static void before(void *user, const pass_info *pass, ir_module *m) {
  watch *w = user;
  const dump_options *d = &w->o->dump;
  if (pass->fn && (d->before_all || named_in(d->before, pass->name))) dump("Before", pass, m);
  if (d->after_change) VEC_PUSH(&w->a, w->before, hash_of(m));
  watch_begin(w, pass->name);
}

/* Ends the latest that is under way; returns the hash from before. */
static u64 leave(watch *w) {
  for (size_t i = w->times.len; i-- > 0;)
    if (!w->times.data[i].ns) {
      watch_end(w, i);
      break;
    }
  return w->before.len ? w->before.data[--w->before.len] : 0;
}

static void after(void *user, const pass_info *pass, ir_module *m) {
  watch *w = user;
  const dump_options *d = &w->o->dump;
  u64 hash = leave(w);
  if (!pass->fn || (d->after_change && hash_of(m) == hash)) return;
  bool all = d->after_all || (d->after_change && !d->after);
  if (all || named_in(d->after, pass->name)) dump("After", pass, m);
}

static void failed(void *user, const pass_info *pass, ir_module *m) {
  watch *w = user;
  leave(w);
  if (pass->fn && w->o->dump.after_failure) {
    char when[] = "After";
    fprintf(stderr, "// Pass '%s' failed\n", pass->name);
    dump(when, pass, m);
  }
}

/* For passes that dump the module. */
static bool save_text(void *user, ir_module *m, str path) {
  char name[4096];
  buf b;
  (void)user;
  if (path.len >= sizeof name) return false;
  memcpy(name, path.data, path.len);
  name[path.len] = 0;
  FILE *f = fopen(name, "wb");
  if (!f) return false;
  buf_init(&b, &mem_system);
  text_print(&b, m, NULL);
  bool ok = buf_ok(&b) && fwrite(b.data, 1, b.len, f) == b.len;
  buf_deinit(&b);
  return fclose(f) == 0 && ok;
}

void watch_install(watch *w, pass_tables *t) {
  t->save = save_text;
  t->before = before;
  t->after = after;
  t->failed = failed;
  t->user = w;
}

/* ---- time ---- */

size_t watch_begin(watch *w, const char *name) {
  VEC_PUSH(&w->a, w->times, (timed){.name = name, .begin = os_now_ns(), .depth = w->depth++});
  return w->times.len - 1;
}

void watch_end(watch *w, size_t at) {
  u64 ns = os_now_ns() - w->times.data[at].begin;
  w->times.data[at].ns = ns ? ns : 1; /* 0: under way */
  w->depth--;
}

static int longest_first(const void *a, const void *b) {
  u64 x = ((const timed *)a)->ns, y = ((const timed *)b)->ns;
  return x < y ? 1 : x > y ? -1 : 0;
}

/* One line a name, longest first; what is inside a pipeline counts by itself only. */
static size_t merge_names(const watch *w, timed *out) {
  size_t n = 0;
  for (size_t i = 0; i < w->times.len; i++) {
    timed t = w->times.data[i];
    bool around = i + 1 < w->times.len && w->times.data[i + 1].depth > t.depth;
    if (around) continue;
    size_t k = 0;
    while (k < n && strcmp(out[k].name, t.name) != 0) k++;
    if (k == n) out[n++] = (timed){.name = t.name};
    out[k].ns += t.ns;
  }
  qsort(out, n, sizeof *out, longest_first);
  return n;
}

static void line(u64 ns, u64 total, u32 depth, const char *name) {
  fprintf(stderr, "  %8.4f (%5.1f%%)  %*s%s\n", (double)ns * 1e-9,
          total ? 100.0 * (double)ns / (double)total : 0.0, (int)depth * 2, "", name);
}

static void report(const watch *w, const timed *rows, size_t n) {
  static const char rule[] =
      "===-------------------------------------------------------------------------===";
  u64 total = os_now_ns() - w->begin, known = 0;
  for (size_t i = 0; i < n; i++)
    if (!rows[i].depth) known += rows[i].ns;
  fprintf(stderr, "%s\n                         ... Execution time report ...\n%s\n", rule, rule);
  fprintf(stderr, "  Total Execution Time: %.4f seconds\n\n", (double)total * 1e-9);
  fprintf(stderr, "  ----Wall Time----  ----Name----\n");
  for (size_t i = 0; i < n; i++) line(rows[i].ns, total, rows[i].depth, rows[i].name);
  line(total - known, total, 0, "Rest");
  line(total, total, 0, "Total");
}

void watch_report(watch *w) {
  if (w->o->timing) {
    bool list = strcmp(w->o->timing_display, "list") == 0;
    timed *rows = ARENA_ARRAY(&w->a, timed, w->times.len + 1);
    size_t n = w->times.len;
    if (list)
      n = merge_names(w, rows);
    else if (n)
      memcpy(rows, w->times.data, n * sizeof *rows);
    report(w, rows, n);
  }
  arena_deinit(&w->a);
}
