/* Colours of answers, by how their lines begin. */
#include <stdio.h>

#include "workspace.h"

enum { BOLD = 1, RED = 31, GREEN = 32, YELLOW = 33 };

/* What of a line is coloured: these words, or all of it. */
typedef struct brush {
  const char *words;
  int colour;
  bool line;
} brush;

static const brush brushes[] = {
    /* why */
    {"#", BOLD, true},
    {"  could ", GREEN},
    {"  or ", GREEN},
    {"best: ", GREEN},
    /* mem, comms */
    {"in all ", BOLD, true},
    {"peak of the workspace: ", BOLD, true},
    {"collective ", BOLD, true},
    /* diff */
    {"annotation ", YELLOW},
    {"sharded ", YELLOW},
    {"comes ", GREEN},
    {"new op ", GREEN},
    {"goes ", RED},
    {"op gone ", RED},
    /* plan */
    {"optimal over ", GREEN, true},
    {"best of ", BOLD, true},
    {"nothing that was tried fits", RED, true},
    {"of a device ", BOLD, true},
    {"    as it is ", YELLOW},
    {"    instead ", YELLOW},
    /* verify */
    {"the sharded program computes what the whole one does", GREEN, true},
    {"result ", RED, true},
    /* check */
    {"nothing looks wrong", GREEN, true},
    {"replicated", YELLOW},
    {"whole", YELLOW},
    {"gather in a loop", YELLOW},
    {"padding", YELLOW},
    {"unused axis", YELLOW},
    {"constraints that differ", YELLOW},
    {"donation", YELLOW},
};

static void paint_line(str line) {
  for (size_t i = 0; i < COUNT(brushes); i++) {
    str words = str_of(brushes[i].words);
    if (!str_starts(line, words)) continue;
    size_t n = brushes[i].line ? line.len : words.len;
    printf("\033[%dm" STR_FMT "\033[0m" STR_FMT, brushes[i].colour, (int)n, line.data,
           STR_ARG(str_from(line, n)));
    return;
  }
  fwrite(line.data, 1, line.len, stdout);
}

void paint(str text) {
  for (size_t at = 0; at < text.len;) {
    size_t end = at;
    while (end < text.len && text.data[end] != '\n') end++;
    paint_line((str){text.data + at, end - at});
    if (end < text.len) putchar('\n');
    at = end + 1;
  }
}
