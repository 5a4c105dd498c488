/* terrazzo partition: the program that each device runs, and what it sends. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "compile/compile.h"
#include "mesh/describe.h"
#include "partition/wire.h"
#include "text/text.h"
#include "workspace.h"

static const char usage[] =
    "usage: terrazzo partition FILE [options]\n\n"
    "Prints the program that each device runs: shapes of shards, explicit collectives. What an\n"
    "op needs whole although it is sharded is a remark with its place, on standard error.\n\n"
    "FILE               MLIR text, MLIR bytecode or a portable artifact; - is standard input\n"
    "--devices N        how many devices (default: what the module says)\n"
    "--mesh M=x=2,y=2   replace mesh @M of the module\n"
    "--stats            instead of the program a line for each of its collectives: how many\n"
    "                   devices meet and along which axes of the mesh, the bytes that each of\n"
    "                   them sends (in a ring), how often it runs, whether the program asked\n"
    "                   for it or partitioning needs it, and the source line that it serves\n"
    "--json             the same as JSON\n"
    "--as-propagated    take every axis where Shardy's propagation has it, also where another\n"
    "                   dimension of the same value would cost less\n"
    "-o FILE            write there instead of to standard output\n\n"
    "examples:\n"
    "  terrazzo partition model.mlir --stats\n"
    "  terrazzo partition model.mlirbc --mesh mesh=data=16,model=16 -o local.mlir\n";

typedef struct partition_options {
  const char *file, *output;
  option_texts meshes;
  u32 devices;
  bool stats, json, as_propagated;
  workspace *w;
} partition_options;

static const option_row rows[] = {
    {"--devices", offsetof(partition_options, devices), OPTION_NUMBER, 1, 1u << 20},
    {"--mesh", offsetof(partition_options, meshes), OPTION_TEXTS},
    {"-o", offsetof(partition_options, output), OPTION_TEXT},
    {"--as-propagated", offsetof(partition_options, as_propagated), OPTION_FLAG},
    {"--stats", offsetof(partition_options, stats), OPTION_FLAG},
    {"--json", offsetof(partition_options, json), OPTION_FLAG},
};

/* 1536 -> 1.5 KiB */
static void put_bytes(buf *b, u64 bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double v = (double)bytes;
  size_t u = 0;
  while (v >= 1024 && u + 1 < COUNT(units)) v /= 1024, u++;
  char text[32];
  snprintf(text, sizeof text, u ? "%.1f %s" : "%.0f %s", v, units[u]);
  buf_printf(b, "%10s", text);
}

static void put_use(buf *b, const wire_use *u) {
  str name = u->op->info->name;
  size_t dot = 0;
  while (dot < name.len && name.data[dot] != '.') dot++;
  buf_printf(b, "%-20.*s %7u  " STR_FMT, (int)(name.len - dot - 1), name.data + dot + 1, u->group,
             STR_ARG(u->axes));
  for (size_t i = u->axes.len; i < 20; i++) BUF_LIT(b, " ");
  put_bytes(b, u->bytes);
  buf_printf(b, " %8" PRIu64 "%s  %-9s", u->trips, u->unknown ? "?" : " ",
             u->asked ? "program" : "partition");
  diag_pos p = loc_pos(u->op->loc);
  if (p.file.len) buf_printf(b, "  " STR_FMT ":%u:%u", STR_ARG(p.file), p.line, p.col);
  BUF_LIT(b, "\n");
}

static void put_stats(buf *b, arena *a, ir_module *m) {
  wire_uses uses = wire_list(a, m);
  u64 bytes = 0, calls = 0;
  bool unknown = false;
  buf_printf(b, "%-20s %7s  %-20s%10s %8s   %-9s  %s\n", "collective", "devices", "axes", "bytes",
             "times", "asked by", "for");
  for (size_t i = 0; i < uses.len; i++) {
    const wire_use *u = &uses.data[i];
    put_use(b, u);
    bytes += u->bytes * u->trips;
    calls += u->trips;
    unknown |= u->unknown;
  }
  buf_printf(b, "%zu collectives, run %" PRIu64 " times;", uses.len, calls);
  put_bytes(b, bytes);
  BUF_LIT(b, " sent by a device\n");
  if (unknown) BUF_LIT(b, "? in a loop that runs nobody knows how often, counted once\n");
}

static void json_use(buf *b, const wire_use *u) {
  diag_pos p = loc_pos(u->op->loc);
  BUF_LIT(b, "{\"op\": ");
  json_string(b, u->op->info->name);
  buf_printf(b, ", \"devices\": %u, \"axes\": ", u->group);
  json_string(b, u->axes);
  buf_printf(b, ", \"bytes\": %" PRIu64 ", \"times\": %" PRIu64, u->bytes, u->trips);
  buf_printf(b, ", \"times_known\": %s, \"asked\": %s, \"file\": ", u->unknown ? "false" : "true",
             u->asked ? "true" : "false");
  json_string(b, p.file);
  buf_printf(b, ", \"line\": %u, \"column\": %u}", p.line, p.col);
}

static void put_json(buf *b, arena *a, ir_module *m) {
  wire_uses uses = wire_list(a, m);
  BUF_LIT(b, "[");
  for (size_t i = 0; i < uses.len; i++) {
    if (i) BUF_LIT(b, ",\n");
    json_use(b, &uses.data[i]);
  }
  BUF_LIT(b, "]\n");
}

static bool partitioned(void *user, ir_module *m, str remarks) {
  partition_options *o = user;
  fprintf(stderr, STR_FMT, STR_ARG(remarks));
  if (o->json)
    put_json(&o->w->out, &o->w->arena, m);
  else if (o->stats)
    put_stats(&o->w->out, &o->w->arena, m);
  else
    text_print(&o->w->out, m, NULL);
  return false;
}

static int partition(workspace *w, void *options) {
  partition_options *o = options;
  os_file f;
  compile_options c = {.file = str_of(o->file), .partitioned = partitioned, .partitioned_user = o};
  c.choose_from = o->as_propagated ? UINT64_MAX : 0;
  c.num_partitions = o->devices;
  c.mesh_overrides = o->meshes.data;
  o->w = w;
  if (say_status(os_file_open(o->file, &f))) return EXIT_WRONG;
  executable *e = NULL;
  status s = compile_source(f.bytes, &c, &e);
  os_file_close(&f);
  if (say_status(s)) return EXIT_WRONG;
  if (!o->output) return EXIT_FINE;
  bool ok = write_file("-o", o->output, buf_view(&w->out));
  w->out.len = 0;
  return ok ? EXIT_FINE : EXIT_WRONG;
}

int partition_main(int argc, char **argv) {
  partition_options o = {0};
  if (wants_help(argc, argv)) return fputs(usage, stdout), EXIT_FINE;
  bool fine = read_options("partition", rows, COUNT(rows), &o, &o.file, argc, argv);
  if (fine && !o.file) fputs(usage, stderr);
  int result = fine && o.file ? with_workspace(partition, &o) : EXIT_USAGE;
  release_options(rows, COUNT(rows), &o);
  return result;
}
