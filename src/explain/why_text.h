/* Inside explain only: answers to why, for people. */
#ifndef EXPLAIN_WHY_TEXT_H
#define EXPLAIN_WHY_TEXT_H

#include "explain/explain.h"

/* An axis of a value with the steps by which it came, each on a line, half of those that are shown
 * from each end. */
void why_put_cause(buf *b, explain_run *r, const why_cause *c, u32 steps_shown);
void why_put_answer(buf *b, explain_run *r, const why_answer *a, const topology *links);
/* All collectives, those of most bytes first; those that are alike but for numbers of layers and
 * arguments together, with the ends of chains only; at most `most` kinds. */
void why_put_groups(buf *b, explain_run *r, const topology *links, u32 most);

#endif
