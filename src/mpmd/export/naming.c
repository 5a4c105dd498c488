/* Names of the functions that fragments become; naming.h has them. */
#include "mpmd/export/naming.h"

#include "base/index.h"

/* "block_12" in two. False: the name does not end in a number. */
static bool split_number(str name, str *head, i64 *number) {
  size_t i = name.len;
  i64 v = 0;
  while (i && name.data[i - 1] != '_') i--;
  if (!i || i == name.len) return false;
  size_t at = i;
  bool minus = name.data[at] == '-';
  if (minus && ++at == name.len) return false;
  for (; at < name.len; at++) {
    int digit = name.data[at] - '0';
    if (digit < 0 || digit > 9 || !checked_mul(v, 10, &v) || !checked_sub(v, digit, &v))
      return false;
  }
  if (!minus && !checked_sub(0, v, &v)) return false;
  *head = (str){name.data, i - 1};
  *number = v;
  return true;
}

typedef struct named {
  str head;
  size_t count;
  bool numbered;
  i64 least, most; /* of its numbers */
} named;
typedef struct names {
  VEC(named *) list;
  hash_index by_head;
} names;

static named *find(arena *a, names *s, str head) {
  named *n;
  u64 h = hash_bytes(head.data, head.len, 0);
  for (size_t at = 0; (n = index_next(&s->by_head, h, &at));)
    if (str_eq(n->head, head)) return n;
  n = ARENA_NEW(a, named);
  *n = (named){.head = head};
  index_add(&s->by_head, a, h, n);
  VEC_PUSH(a, s->list, n);
  return n;
}

static str with_number(arena *a, const named *n, bool backward, const char *more) {
  if (!n->numbered) return arena_printf(a, STR_FMT "%s", STR_ARG(n->head), more);
  if (n->least == n->most)
    return arena_printf(a, STR_FMT "_%lld%s", STR_ARG(n->head), (long long)n->least, more);
  i64 from = backward ? n->most : n->least, to = backward ? n->least : n->most;
  return arena_printf(a, STR_FMT "_%lld:%lld%s", STR_ARG(n->head), (long long)from, (long long)to,
                      more);
}

/* Of those that are as frequent, the first by its bytes. */
static str most_frequent(arena *a, attrs origins) {
  names all = {0};
  bool backward = true;
  for (size_t i = 0; i < origins.len; i++) {
    const user_origin_attr *u = attr_as(user_origin, origins.data[i]);
    if (!u) continue;
    str head = u->name;
    i64 number = 0;
    bool numbered = split_number(u->name, &head, &number);
    named *n = find(a, &all, head);
    n->count++;
    backward &= u->transpose_count == 1;
    if (!numbered) continue;
    n->least = n->numbered ? min_i64(n->least, number) : number;
    n->most = n->numbered ? max_i64(n->most, number) : number;
    n->numbered = true;
  }
  const named *best = NULL;
  for (size_t i = 0; i < all.list.len; i++) {
    const named *n = all.list.data[i];
    if (!best || n->count > best->count ||
        (n->count == best->count && str_cmp(n->head, best->head) < 0))
      best = n;
  }
  return best ? with_number(a, best, backward, all.list.len > 1 ? "..." : "") : STR("inferred");
}

/* The least transpose count over `above`; -1: none. */
static i64 next_phase(attrs origins, i64 above) {
  i64 next = -1;
  for (size_t i = 0; i < origins.len; i++) {
    const user_origin_attr *u = attr_as(user_origin, origins.data[i]);
    if (u && u->transpose_count > above && (next < 0 || u->transpose_count < next))
      next = u->transpose_count;
  }
  return next;
}

str name_of_fragment(arena *a, const op *fragment, bool all_forward) {
  attrs origins = fragment_origins(fragment);
  i64 stage;
  str name = attr_get_i64(fragment_stage(fragment), &stage)
                 ? arena_printf(a, "stage%lld", (long long)stage)
                 : most_frequent(a, origins);
  for (i64 t = -1; !all_forward && (t = next_phase(origins, t)) >= 0;)
    name = t > 1 ? arena_printf(a, STR_FMT "_transpose%lld", STR_ARG(name), (long long)t)
                 : arena_printf(a, STR_FMT "_%s", STR_ARG(name), t ? "bwd" : "fwd");
  return name;
}

/* Each counter is the one before it and `by`, and the names are the same. */
static bool counts_by(const call_sites *s, i64 by) {
  for (size_t i = 0; i < s->len; i++)
    if (s->data[i].counter < 0 || !str_eq(s->data[i].name, s->data[0].name) ||
        (i && s->data[i].counter != s->data[i - 1].counter + by))
      return false;
  return true;
}

str name_of_sites(arena *a, const call_sites *s) {
  const call_site *first = &s->data[0];
  long long from = (long long)first->counter, to = (long long)s->data[s->len - 1].counter;
  str name = first->name;
  if (s->len == 1)
    return from < 0 ? name : arena_printf(a, STR_FMT "_call%lld", STR_ARG(name), from);
  if (counts_by(s, 1)) return arena_printf(a, STR_FMT "_calls%lldto%lld", STR_ARG(name), from, to);
  return counts_by(s, -1) ? arena_printf(a, STR_FMT "_calls%lldfrom%lld", STR_ARG(name), from, to)
                          : name;
}

str name_cut(arena *a, str name) {
  enum { MOST = 200 };
  str end = STR("<...>");
  if (name.len <= MOST) return name;
  name.len = MOST - end.len;
  return arena_printf(a, STR_FMT STR_FMT, STR_ARG(name), STR_ARG(end));
}
