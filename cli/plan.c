/* terrazzo plan: which shardings of its arguments cost least (explain/plan.h). */
#include "explain/plan.h"

#include "explain.h"

typedef struct plan_options {
  const char *file, *mesh, *axes, *memory, *topology, *output, *color;
  u32 devices, tries, threads;
  bool free, json;
} plan_options;

#define OPTION(...) OPTION_OF(plan_options, __VA_ARGS__)
#define TEXT(...) TEXT_OF(plan_options, __VA_ARGS__)

static const char plan_usage[] =
    "usage: terrazzo plan FILE [options]\n\n"
    "Searches for the mesh and the shardings of the program's arguments that cost a device least\n"
    "time, computing and sending, in the memory that it has. Each that is tried goes through the\n"
    "program's whole line. Says what each choice saves, and what the program costs as it is.\n\n"
    "FILE               MLIR text, MLIR bytecode or a portable artifact; - is standard input\n"
    "--devices N        all meshes of N devices (default: the program's own mesh)\n"
    "--mesh x=2,y=4     this mesh only\n"
    "--axes NAMES       of the meshes, where the program has none (default: data,model)\n"
    "--memory SIZE      of a device, as 80GiB; exit with status 1 if nothing fits (default: "
    "enough)\n"
    "--topology FILE    links and speeds, as for terrazzo comms (default: eight accelerators a "
    "node)\n"
    "--free             leave out the constraints inside the program\n"
    "--tries N          plans to try at most (default: as many as take some seconds); where there\n"
    "                   are no more, all are tried, and the answer is optimal\n"
    "--threads N        default: one a processor; the answer does not depend on it\n"
    "-o FILE            write the program with these annotations\n"
    "--json             the answer as JSON\n" COLOR_USAGE "\nexamples:\n"
    "  terrazzo plan model.mlir\n"
    "  terrazzo plan model.mlir --devices 256 --memory 80GiB --topology gpus.txt\n"
    "  terrazzo plan model.mlir --mesh data=2,model=4 --free -o annotated.mlir\n"
    "  terrazzo plan model.mlir --devices 8 --tries 40 --json\n";

static const option_row plan_rows[] = {OPTION("--devices", devices, OPTION_NUMBER, 1, 1u << 20),
                                       TEXT("--mesh", mesh),
                                       TEXT("--axes", axes),
                                       TEXT("--memory", memory),
                                       TEXT("--topology", topology),
                                       OPTION("--free", free, OPTION_FLAG),
                                       OPTION("--tries", tries, OPTION_NUMBER, 0, 1u << 24),
                                       OPTION("--threads", threads, OPTION_NUMBER, 0, 1024),
                                       TEXT("-o", output),
                                       OPTION("--json", json, OPTION_FLAG),
                                       TEXT("--color", color)};

static status write_annotated(plan_answer *p, const char *path, bool *written) {
  buf text;
  buf_init(&text, &mem_system);
  status s = plan_annotated(p, &text);
  if (!s && !buf_ok(&text)) s = status_oom();
  *written = !s && write_file("-o", path, buf_view(&text));
  buf_deinit(&text);
  return s;
}

static int answer(workspace *w, const plan_options *o, plan_question *q) {
  plan_answer p;
  bool written = true;
  status s = plan_make(q, &p);
  if (!s) {
    plan_print(&p, o->json, &w->out);
    if (o->output) s = write_annotated(&p, o->output, &written);
    if (!s && p.best.cost.state == PLAN_LARGE)
      s = status_make(STATUS_RESOURCE_EXHAUSTED, "%s: nothing that was tried fits into --memory %s",
                      o->file, o->memory);
  }
  plan_end(&p);
  int result = finish_answer(w, s);
  return written ? result : EXIT_WRONG;
}

static int plan(workspace *w, void *options) {
  plan_options *o = options;
  topology links;
  os_file f;
  double memory = 0;
  w->color = !o->json && wants_color(o->color);
  if (o->memory && !read_bytes(o->memory, &memory))
    return say_error("--memory: expected a size such as 80GiB, found '%s'", o->memory), EXIT_USAGE;
  if (o->topology && !open_topology(w, o->topology, &links)) return EXIT_WRONG;
  if (say_status(os_file_open(o->file, &f))) return EXIT_WRONG;
  explain_source source = {
      .text = f.bytes, .file = str_of(o->file), .devices = o->devices, .trap = w->arena.trap};
  plan_question q = {.source = &source,
                     .mesh = str_of(o->mesh),
                     .axes = str_of(o->axes),
                     .links = o->topology ? &links : NULL,
                     .memory = memory < 0x1p63 ? (u64)memory : UINT64_MAX,
                     .tries = o->tries,
                     .threads = o->threads,
                     .free = o->free};
  int result = answer(w, o, &q);
  os_file_close(&f);
  return result;
}

int plan_main(int argc, char **argv) {
  plan_options o = {0};
  if (wants_help(argc, argv)) return fputs(plan_usage, stdout), EXIT_FINE;
  if (!read_options("plan", plan_rows, COUNT(plan_rows), &o, &o.file, argc, argv))
    return EXIT_USAGE;
  if (!o.file) return fputs(plan_usage, stderr), EXIT_USAGE;
  if (!read_color(o.color)) return EXIT_USAGE;
  return with_workspace(plan, &o);
}
