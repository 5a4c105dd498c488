/* Inside text only: a table from names to pointers. */
#ifndef TEXT_NAME_MAP_H
#define TEXT_NAME_MAP_H

#include "base/arena.h"

/* Grows in an arena; keys are borrowed. */
typedef struct name_map {
  struct name_entry {
    str name;
    u32 hash;
    void *value;
  } * slots;
  size_t count, cap;
} name_map;
void **name_map_at(name_map *m, arena *a, str name); /* NULL inside when new */
void *name_map_get(const name_map *m, str name);     /* NULL: absent */

#endif
