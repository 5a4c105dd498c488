#include "base/spelling.h"

#include <stdio.h>

enum { LONGEST = 64 };

/* How many letters have to be changed, put in, left out or swapped with their neighbours to come
 * from one to the other. */
static size_t distance(str a, str b) {
  size_t rows[3][LONGEST + 1];
  for (size_t j = 0; j <= b.len; j++) rows[0][j] = j;
  for (size_t i = 1; i <= a.len; i++) {
    size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *higher = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b.len; j++) {
      bool same = a.data[i - 1] == b.data[j - 1];
      row[j] = min_size(above[j - 1] + !same, min_size(above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1])
        row[j] = min_size(row[j], higher[j - 2] + 1);
    }
  }
  return rows[a.len % 3][b.len];
}

void spelling_try(spelling *s, str name) {
  if (!s->wanted.len || !name.len || s->wanted.len > LONGEST || name.len > LONGEST) return;
  size_t d = distance(s->wanted, name), most = s->wanted.len / 4 + 1;
  if (d > most || d >= min_size(name.len, s->wanted.len) || (s->best.len && d >= s->distance))
    return;
  s->best = name;
  s->distance = d;
}

spelling_hint spelling_say(const spelling *s) {
  spelling_hint h = {""};
  if (s->best.len)
    snprintf(h.text, sizeof h.text, "; did you mean '" STR_FMT "'?", STR_ARG(s->best));
  return h;
}
