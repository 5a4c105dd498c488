/* terrazzo: one binary, subcommands, and the peers' names. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/spelling.h"
#include "cli.h"

void say_error(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  fputs("terrazzo: ", stderr);
  vfprintf(stderr, fmt, ap);
  fputc('\n', stderr);
  va_end(ap);
}

/* Messages of the library that are about an option begin with its name: of a struct's field. */
static const struct {
  const char *field, *option;
} fields[] = {{"axes", "--axes"},           {"collective", "--collective"},
              {"devices", "--devices"},     {"dialects", "--load-dialect"},
              {"executor", "--executor"},   {"format", "--emit-bytecode-version"},
              {"line", "--line"},           {"mesh", "--mesh"},
              {"meshes", "--mesh"},         {"op_priorities", "--op-priorities"},
              {"processes", "--processes"}, {"target", "--target"},
              {"value", "--value"}};

str field_option(str text, const char **out_option) {
  size_t n = 0;
  while (n < text.len && text.data[n] != ':' && text.data[n] != '[') n++;
  *out_option = "";
  for (size_t i = 0; i < COUNT(fields); i++)
    if (str_is((str){text.data, n}, fields[i].field)) *out_option = fields[i].option;
  return **out_option ? str_from(text, n) : text;
}

/* The message of a compilation is lines of diagnostics already. */
static void say_message(str text) {
  while (text.len && text.data[text.len - 1] == '\n') text.len--;
  const char *lines = strstr(text.data, ": error: "), *option;
  size_t n = lines ? (size_t)(lines + strlen(": error: ") - text.data) : 0;
  if (str_starts(text, STR("op_priorities:"))) n = 0;
  str rest = field_option(str_from(text, n), &option);
  fprintf(stderr, "%s%.*s%s" STR_FMT "\n", lines ? "" : "terrazzo: ", (int)n, text.data, option,
          STR_ARG(rest));
}

bool say_status(status s) {
  if (!s) return false;
  say_message(status_message(s));
  status_free(s);
  return true;
}

bool say_option(const char *option, status s) {
  if (!s) return false;
  say_error("%s: " STR_FMT, option, STR_ARG(status_message(s)));
  status_free(s);
  return true;
}

bool say_tz_error(tz_error *e) {
  if (!e) return false;
  say_message(str_of(tz_error_message(e)));
  tz_error_free(e);
  return true;
}

static const command commands[] = {
    {"opt", "read a program, run passes, print it (also: sdy_opt, mpmd_opt, stablehlo-opt)",
     opt_main},
    {"run", "run a program on N devices with .npy arrays", run_main},
    {"partition", "the program that each device runs, and what it sends", partition_main},
    {"why", "why a collective is there, and which annotation to change", why_main},
    {"mem", "the memory of a device, and what is in it at the peak", mem_main},
    {"comms", "bytes and time of collectives on given links", comms_main},
    {"verify", "the sharded program against the same on one device", verify_main},
    {"diff", "what is different between two programs, or two meshes of one", diff_main},
    {"check", "what looks wrong in how a program is sharded", check_main},
    {"report", "all of these answers as one page, with the program's graph", report_main},
    {"plan", "which shardings of its arguments cost least", plan_main},
    {"convert", "write a sharding in the notation of another tool", convert_main},
    {"layout", "which device holds which piece under a MindSpore Layout", layout_main},
    {"ops", "list the ops that are known, with their meaning to each stage", ops_main},
};

static int help(FILE *to) {
  fputs("terrazzo: partitions and runs StableHLO programs on many devices\n\n"
        "usage: terrazzo COMMAND [ARGUMENTS]     (terrazzo COMMAND --help says more)\n\n",
        to);
  for (size_t i = 0; i < COUNT(commands); i++)
    fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].summary);
  fputs("\nexamples:\n"
        "  terrazzo opt model.mlir -sdy-propagation-pipeline\n"
        "  terrazzo run model.mlirbc --devices 8 --input x.npy w.npy --output out --stats\n",
        to);
  return to == stdout ? EXIT_FINE : EXIT_USAGE;
}

static int dispatch(int argc, char **argv) {
  const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
  if (strcmp(name, "sdy_opt") == 0 || strcmp(name, "mpmd_opt") == 0 ||
      strcmp(name, "stablehlo-opt") == 0)
    return peer_opt_main(argc, argv);
  if (strcmp(name, "stablehlo-translate") == 0) return translate_main(argc, argv);
  if (argc < 2) return help(stderr);
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
    return help(stdout);
  if (strcmp(argv[1], "--version") == 0) return puts("terrazzo " TZ_VERSION_STRING), EXIT_FINE;
  for (size_t i = 0; i < COUNT(commands); i++)
    if (strcmp(argv[1], commands[i].name) == 0) return commands[i].run(argc - 1, argv + 1);
  spelling s = {.wanted = str_of(argv[1])};
  for (size_t i = 0; i < COUNT(commands); i++) spelling_try(&s, str_of(commands[i].name));
  say_error("unknown command '%s'%s (terrazzo --help lists them)", argv[1], spelling_say(&s).text);
  return EXIT_USAGE;
}

/* Whatever a command wrote has to have arrived. */
int main(int argc, char **argv) {
  int result = dispatch(argc, argv);
  bool failed = ferror(stdout);
  if (fflush(stdout) == 0 && !failed) return result;
  if (result == EXIT_FINE) say_error("cannot write to standard output");
  return result == EXIT_FINE ? EXIT_WRONG : result;
}
