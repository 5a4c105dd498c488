/* terrazzo ops: the rows. */
#include <stdio.h>

#include "cli.h"
#include "ir/op.h"

static const char *const families[] = {
#define FAMILY(id) #id,
#include "ir/families.def"
};

int ops_main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) return puts("usage: terrazzo ops\nlists every op that has a row"), EXIT_FINE;
  for (int i = 0; i < OP_COUNT; i++) {
    const op_info *o = &op_infos[i];
    printf("%-36.*s %-7s %u operands, %u attributes, %u results\n", STR_ARG(o->name),
           families[o->family], o->num_operands, o->num_slots, o->num_results);
  }
  return EXIT_FINE;
}
