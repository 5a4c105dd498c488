/* XLA's HLO text: {devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate} and its kin.
 *
 * The grammar is that of xla/hlo/parser/hlo_parser.cc (ParseSingleSharding) and
 * HloSharding::ToString. Tiles say how dimensions are cut and which device has which tile, without
 * axes; tile_assignment's conversion finds a mesh for them (and back), so that the other notations
 * can say the same. First the words are gathered in `hlo`, then judged together, as they come in
 * any order. */
#include "mesh/notation_text.h"

#include <stdlib.h>

/* What the words in braces said, before it is known whether they fit each other. */
typedef struct hlo {
  tile_assignment tiles;
  bool replicated, maximal, manual, unreduced, unknown, has_device, has_tiles;
  bool replicate_last, has_groups;
  i64 device;
  VEC(subgroup_kind) groups;
} hlo;

static int compare_i64(const void *a, const void *b) {
  i64 x = *(const i64 *)a, y = *(const i64 *)b;
  return (x > y) - (x < y);
}

/* The product of sizes, each at least 1. */
static bool product(reader *r, const char *field, i64s sizes, i64 *out) {
  *out = 1;
  for (size_t i = 0; i < sizes.len; i++)
    if (sizes.data[i] < 1)
      return reader_error(r, "%s: expected sizes of at least 1, found %lld", field,
                          (long long)sizes.data[i]);
    else if (!checked_mul(*out, sizes.data[i], out))
      return reader_error(r, "%s: expected fewer than 2^63 devices, found more", field);
  return true;
}

/* T(...) is a permutation of the sizes before it. */
static bool check_perm(reader *r, size_t rank, i64s perm) {
  bool *seen = arena_zalloc(r->a, rank);
  if (perm.len != rank)
    return reader_error(r, "T: expected %zu numbers, one for each size before it, found %zu", rank,
                        perm.len);
  for (size_t i = 0; i < perm.len; i++) {
    i64 k = perm.data[i];
    if ((u64)k >= rank || seen[k])
      return reader_error(r, "T: expected each of 0 to %zu once, found %lld", rank - 1,
                          (long long)k);
    seen[k] = true;
  }
  return true;
}

/* A list names each device at most once; ids need not begin at 0. */
static bool check_list(reader *r, i64 tiles, i64s list) {
  if ((u64)tiles != list.len)
    return reader_error(r, "devices: expected %lld, as many as there are tiles, found %zu",
                        (long long)tiles, list.len);
  if (list.len == 1)
    return reader_error(r, "devices: expected a list of more than one device, or maximal, found "
                           "one");
  i64 *sorted = arena_copy(r->a, list.data, list.len * sizeof *sorted);
  qsort(sorted, list.len, sizeof *sorted, compare_i64);
  for (size_t i = 1; i < list.len; i++)
    if (sorted[i] == sorted[i - 1])
      return reader_error(r, "devices: expected different devices, found %lld again",
                          (long long)sorted[i]);
  return true;
}

/* <=[4,2]T(1,0), or 0,1,2,3 */
static bool read_order(reader *r, hlo *h) {
  tile_assignment *t = &h->tiles;
  i64 tiles, devices;
  if (!product(r, "devices", t->dims, &tiles)) return false;
  if (!reader_take(r, "<=")) {
    VEC(i64) list = {0};
    do {
      i64 n;
      if (!reader_number(r, "<= or a list of devices", &n)) return false;
      VEC_PUSH(r->a, list, n);
    } while (reader_take(r, ","));
    t->devices = (i64s){list.data, list.len};
    return check_list(r, tiles, t->devices);
  }
  if (!reader_expect(r, "[") || !reader_numbers(r, "]", &t->reshape) ||
      !product(r, "<=", t->reshape, &devices))
    return false;
  if (tiles != devices)
    return reader_error(r, "<=: expected %lld devices, as many as there are tiles, found %lld",
                        (long long)tiles, (long long)devices);
  if (reader_take(r, "T"))
    return reader_expect(r, "(") && reader_numbers(r, ")", &t->perm) &&
           check_perm(r, t->reshape.len, t->perm);
  if (t->reshape.len > 1) return reader_wrong(r, "T( with the order of these sizes");
  i64 *identity = arena_zalloc(r->a, sizeof *identity);
  t->perm = (i64s){identity, t->reshape.len};
  return true;
}

/* last_tile_dims={manual, replicated}: a kind for each tile dimension behind the tensor's. */
static bool read_groups(reader *r, hlo *h) {
  static const char *const names[] = {"manual", "unreduced", "replicated"};
  bool first = true, more;
  h->has_groups = true;
  if (!reader_expect(r, "=") || !reader_expect(r, "{")) return false;
  for (;;) {
    if (!reader_item(r, "}", &first, &more)) return false;
    if (!more) return true;
    str word = reader_word(r);
    size_t k = 0;
    while (k < COUNT(names) && !str_is(word, names[k])) k++;
    if (k == COUNT(names))
      return reader_error(
          r, "last_tile_dims: expected manual, unreduced or replicated, found '" STR_FMT "'",
          STR_ARG(word));
    VEC_PUSH(r->a, h->groups, (subgroup_kind)k);
  }
}

/* {op_name="..." ...}: brackets match outside of strings. */
static bool skip_metadata(reader *r) {
  int depth = 0;
  bool quoted = false;
  if (!reader_take(r, "=") || !reader_at(r, "{")) return reader_wrong(r, "={");
  do {
    if (!r->rest.len) return reader_wrong(r, "the end of metadata");
    char c = *r->rest.data;
    if (quoted && c == '\\' && r->rest.len > 1) r->rest = str_from(r->rest, 1);
    if (c == '"') quoted = !quoted;
    if (!quoted) depth += (c == '{') - (c == '}');
    r->rest = str_from(r->rest, 1);
  } while (depth > 0);
  return true;
}

/* Words come in any order, as XLA's parser takes them; `place` judges their combination. */
static bool read_word(reader *r, hlo *h) {
  const struct {
    const char *name;
    bool *flag;
  } flags[] = {{"replicated", &h->replicated}, {"maximal", &h->maximal},
               {"manual", &h->manual},         {"unreduced", &h->unreduced},
               {"unknown", &h->unknown},       {"last_tile_dim_replicate", &h->replicate_last}};
  reader before = *r;
  str word = reader_word(r);
  for (size_t k = 0; k < COUNT(flags); k++)
    if (str_is(word, flags[k].name)) return *flags[k].flag = true;
  if (str_is(word, "device")) {
    h->has_device = true;
    return reader_expect(r, "=") && reader_number(r, "a device", &h->device);
  }
  if (str_is(word, "devices")) {
    if (h->has_tiles) return reader_error(r, "devices: expected once, found again");
    h->has_tiles = true;
    return reader_expect(r, "=") && reader_expect(r, "[") &&
           reader_numbers(r, "]", &h->tiles.dims) && read_order(r, h);
  }
  if (str_is(word, "last_tile_dims")) return read_groups(r, h);
  if (str_is(word, "metadata")) return skip_metadata(r);
  if (str_is(word, "shard_as") || str_is(word, "shard_like"))
    return reader_error(r,
                        STR_FMT ": expected none, as a group of tensors is no place of one, "
                                "found one",
                        STR_ARG(word));
  *r = before;
  return reader_wrong(r, "replicated, maximal, manual, unreduced, unknown or devices=");
}

/* Subgroups of one kind become one, in XLA's order of kinds; those of size 1 go. */
static bool sort_groups(reader *r, hlo *h) {
  tile_assignment *t = &h->tiles;
  if (h->replicate_last && h->has_groups)
    return reader_error(r, "last_tile_dims: expected none beside last_tile_dim_replicate, found "
                           "some");
  if (h->replicate_last) VEC_PUSH(r->a, h->groups, SUBGROUP_REPLICATED);
  size_t n = h->groups.len;
  if (n > t->dims.len)
    return reader_error(r, "last_tile_dims: expected at most %zu, as devices has sizes, found %zu",
                        t->dims.len, n);
  size_t rank = t->dims.len - n;
  /* the order of devices in tile order, then with the subgroups moved */
  size_t *order = ARENA_ARRAY(r->a, size_t, n), k = 0;
  i64 *dims = ARENA_ARRAY(r->a, i64, rank + SUBGROUP_KINDS);
  if (rank) memcpy(dims, t->dims.data, rank * sizeof *dims);
  u32 groups = 0;
  for (int kind = 0; kind < SUBGROUP_KINDS; kind++) {
    i64 size = 1;
    for (size_t i = 0; i < n; i++)
      if ((int)h->groups.data[i] == kind) order[k++] = i, size *= t->dims.data[rank + i];
    if (size == 1) continue;
    dims[rank + groups] = size;
    t->subgroups[groups++] = (subgroup_kind)kind;
  }
  bool sorted = true;
  for (size_t i = 1; i < n; i++) sorted &= order[i] > order[i - 1];
  if (!sorted) {
    i64 outer = 1, inner = 1;
    for (size_t i = 0; i < rank; i++) outer *= t->dims.data[i];
    for (size_t i = 0; i < n; i++) inner *= t->dims.data[rank + i];
    if (outer * inner > NOTATION_MAX_LISTED)
      return reader_error(r,
                          "last_tile_dims: expected manual, unreduced, replicated in this order "
                          "with more than %d devices, found another",
                          NOTATION_MAX_LISTED);
    tile_list_devices(r->a, t);
    i64 *moved = ARENA_ARRAY(r->a, i64, t->devices.len);
    for (i64 at = 0; at < (i64)t->devices.len; at++) {
      /* digits of the target place, minor first, give the source place */
      i64 rest = at % inner, source = 0;
      for (size_t j = n; j-- > 0;) {
        i64 weight = 1, size = t->dims.data[rank + order[j]];
        for (size_t i = order[j] + 1; i < n; i++) weight *= t->dims.data[rank + i];
        source += rest % size * weight;
        rest /= size;
      }
      moved[at] = t->devices.data[at / inner * inner + source];
    }
    t->devices.data = moved;
  }
  t->num_subgroups = groups;
  t->dims = (i64s){dims, rank + groups};
  return true;
}

/* With a mesh, {manual} means all of its axes; without one it stays a word. */
static const placement *place_all(reader *r, placement_kind kind) {
  placement *p = ARENA_NEW(r->a, placement);
  if (!r->mesh) {
    p->kind = kind;
    return p;
  }
  axis_vec *all = kind == PLACED_MANUAL ? &r->manual : &r->unreduced;
  for (u32 k = 0; k < r->mesh->num_axes; k++) VEC_PUSH(r->a, *all, axis_whole(r->mesh, k));
  return reader_finish(r, true);
}

/* The rank is that of the tiles without the subgroup dimensions. {replicated} has none of its own,
 * so the rank given beside the text counts. */
static const placement *place(reader *r, hlo *h) {
  int words = h->replicated + h->maximal + h->manual + h->unreduced + h->unknown + h->has_tiles;
  if (words != 1) {
    reader_error(r,
                 "xla: expected one of replicated, maximal, manual, unreduced, unknown and "
                 "devices=, found %d",
                 words);
    return NULL;
  }
  if (h->maximal != h->has_device) {
    reader_error(r, "device: expected %s, found %s", h->maximal ? "one with maximal" : "none",
                 h->has_device ? "one" : "none");
    return NULL;
  }
  if (!h->has_tiles && (h->replicate_last || h->has_groups)) {
    reader_error(r, "last_tile_dims: expected devices= beside it, found none");
    return NULL;
  }
  if (h->manual || h->unreduced) return place_all(r, h->manual ? PLACED_MANUAL : PLACED_UNREDUCED);
  if (h->unknown) {
    placement *p = ARENA_NEW(r->a, placement);
    p->kind = PLACED_UNKNOWN;
    return p;
  }
  if (h->maximal) {
    reader one = *r;
    i64 *id = arena_copy(r->a, &h->device, sizeof *id);
    one.mesh = mesh_make(r->a, STR(""), NULL, 0, (i64s){id, 1});
    one.rank = NOTATION_ANY_RANK;
    return reader_finish(&one, true);
  }
  if (h->replicated) {
    if (!r->mesh) r->mesh = mesh_make(r->a, STR(""), NULL, 0, (i64s){0});
    return reader_finish(r, true);
  }
  if (!sort_groups(r, h)) return NULL;
  i64 rank = (i64)h->tiles.dims.len - h->tiles.num_subgroups;
  if (rank > NOTATION_MAX_RANK || (r->rank >= 0 && rank != r->rank)) {
    reader_error(r, "rank: expected %lld dimensions%s, found %lld",
                 (long long)(r->rank >= 0 ? r->rank : NOTATION_MAX_RANK),
                 r->rank >= 0 ? "" : " at most", (long long)rank);
    return NULL;
  }
  return placement_from_tiles(r->a, &h->tiles, r->mesh, r->sink);
}

/* {...} of one tensor */
static const placement *read_one(reader *r) {
  hlo h = {.tiles.kind = TILE_OTHER};
  const mesh *given = r->mesh;
  if (!reader_expect(r, "{")) return NULL;
  while (!reader_take(r, "}"))
    if (!read_word(r, &h)) return NULL;
  const placement *p = place(r, &h);
  r->mesh = given; /* of the next one in a tuple */
  return p;
}

/* A tuple is braces within braces; {} is a tuple of nothing. */
const placement *read_xla(reader *r) {
  (void)reader_take(r, "sharding=");
  reader look = *r;
  if (reader_take(&look, "{") && (reader_at(&look, "{") || reader_at(&look, "}")))
    return reader_tuple(r, "{", "}", read_one);
  return read_one(r);
}

/* A list of devices is as XLA had it before iotas ("V1"); replicas are sorted in it as XLA sorts
 * them. */
static bool write_tiles(writer *w, const placement *p, bool list) {
  static const char *const unnamed[] = {[PLACED_MANUAL] = "{manual}",
                                        [PLACED_UNREDUCED] = "{unreduced}",
                                        [PLACED_UNKNOWN] = "{unknown}"};
  if (!writer_allows(w, p,
                     HAS_SUB_AXES | HAS_UNREDUCED | HAS_MANUAL | HAS_DEVICE_IDS | HAS_MAXIMAL |
                         HAS_UNNAMED))
    return false;
  if (p->kind != PLACED_BY_AXES) {
    buf_str(w->out, str_of(unnamed[p->kind]));
    return true;
  }
  tile_assignment t;
  placement_tile(w->a, p, &t);
  if (list && t.kind == TILE_OTHER) {
    if (p->sharding->mesh->size > NOTATION_MAX_LISTED)
      return writer_error(w, "a list of %lld devices, of at most %d",
                          (long long)p->sharding->mesh->size, NOTATION_MAX_LISTED);
    tile_list_devices(w->a, &t);
    tile_sort_replicas(w->a, &t);
  }
  op_sharding_print(w->out, &t);
  return true;
}

static bool write_v1(writer *w, const placement *p) { return write_tiles(w, p, true); }
static bool write_v2(writer *w, const placement *p) { return write_tiles(w, p, false); }

bool write_xla(writer *w, const placement *p) {
  return p->kind == PLACED_TUPLE ? writer_tuple(w, p, "{", "}", write_v2) : write_v2(w, p);
}
bool write_xla_v1(writer *w, const placement *p) {
  return p->kind == PLACED_TUPLE ? writer_tuple(w, p, "{", "}", write_v1) : write_v1(w, p);
}
