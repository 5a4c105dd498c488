/* Names to pointers while text is read: aliases, ops by name, values, labels of blocks. Open
 * addressing, grown in the parser's scratch arena; the hash is compared before the text. */
#include "text/name_map.h"

static struct name_entry *find_name(const name_map *m, str name, u32 hash) {
  size_t i = hash & (m->cap - 1);
  while (m->slots[i].name.data && !(m->slots[i].hash == hash && str_eq(m->slots[i].name, name)))
    i = (i + 1) & (m->cap - 1);
  return &m->slots[i];
}

static u32 hash_name(str name) { return (u32)hash_bytes(name.data, name.len, 7); }

void **name_map_at(name_map *m, arena *a, str name) {
  u32 h = hash_name(name);
  if (m->count * 2 >= m->cap) {
    name_map old = *m;
    m->cap = old.cap ? old.cap * 2 : 64;
    m->slots = arena_zalloc(a, m->cap * sizeof *m->slots);
    for (size_t i = 0; i < old.cap; i++)
      if (old.slots[i].name.data)
        *find_name(m, old.slots[i].name, old.slots[i].hash) = old.slots[i];
  }
  struct name_entry *e = find_name(m, name, h);
  if (!e->name.data) {
    *e = (struct name_entry){name, h, NULL};
    m->count++;
  }
  return &e->value;
}

void *name_map_get(const name_map *m, str name) {
  return m->cap ? find_name(m, name, hash_name(name))->value : NULL;
}
