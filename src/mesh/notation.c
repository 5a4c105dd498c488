/* The table of notations, and what does not depend on any of them.
 *
 * Reading a text is: a reader of the row makes a draft, the draft becomes a placement, which is
 * checked (placement_check). Writing asks first whether the notation has words for everything
 * (writer_allows), so that nothing is lost without being said. Called by api/layout.c and the
 * tests. */
#include "mesh/notation.h"

#include "mesh/notation_text.h"

#define NOWHERE ((diag_pos){0})

const notation notations[] = {
    {"sdy", "Shardy", "#sdy.sharding<mesh<[\"x\"=2, \"y\"=4]>, [{\"x\"}, {\"y\":(1)2, ?}p1]>",
     false, read_sdy, write_sdy},
    {"xla", "XLA", "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}", false, read_xla,
     write_xla},
    {"xla-v1", "XLA, devices listed", "{devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}", false,
     read_xla, write_xla_v1},
    {"pspec", "JAX", "P('x', ('y', 'z'), None, unreduced={'w'})", true, read_pspec, write_pspec},
    {"named", "JAX", "NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=PartitionSpec('x', 'y'))",
     false, read_named, write_named},
    {"dtensor", "PyTorch", "[Shard(0), _StridedShard(1, split_factor=2), Replicate(), Partial()]",
     true, read_dtensor, write_dtensor},
    {"layout", "MindSpore", "Layout((2, 4), (\"x\", \"y\"))(\"x\", (\"y\", \"None\"))", false,
     read_layout, write_layout},
    {"shard", "MLIR",
     "shard.grid @grid(shape = 2x4) shard.sharding @grid split_axes = [[0], [1]] : "
     "!shard.sharding",
     false, read_shard, write_shard},
};
const size_t num_notations = COUNT(notations);

const notation *notation_find(str name) {
  for (size_t i = 0; i < COUNT(notations); i++)
    if (str_is(name, notations[i].name)) return &notations[i];
  return NULL;
}

const placement *notation_read(arena *a, const notation *n, str text, const notation_context *c,
                               diag_sink *sink) {
  reader r = {.a = a,
              .sink = sink,
              .what = n->name,
              .text = text,
              .rest = text,
              .mesh = c->mesh,
              .mesh_given = c->mesh != NULL,
              .rank = c->rank};
  if (c->rank > NOTATION_MAX_RANK) {
    diag_error(sink, NOWHERE, "rank: expected at most %d, found %lld", NOTATION_MAX_RANK,
               (long long)c->rank);
    return NULL;
  }
  const placement *p = n->read(&r);
  return p && reader_end(&r) ? p : NULL;
}

bool notation_write(arena *a, buf *out, const notation *n, const placement *p, diag_sink *sink) {
  writer w = {a, out, sink};
  return n->write(&w, p);
}

/* By way of XLA's tiles: they say which device holds which piece without naming axes, so they can
 * be found again in the axes of another mesh. What tiles don't say (the kind of reduction) is
 * carried over by hand. */
const placement *notation_over_mesh(arena *a, const placement *p, const mesh *m, diag_sink *sink) {
  writer w = {a, NULL, sink};
  if (!writer_allows(
          &w, p, HAS_SUB_AXES | HAS_UNREDUCED | HAS_UNREDUCED_KIND | HAS_MANUAL | HAS_DEVICE_IDS))
    return NULL;
  tile_assignment t;
  placement closed = *p;
  placement_tile(a, p, &t);
  /* a word for all devices is over this mesh's axes, whichever they are */
  sharding *s = arena_copy(a, p->sharding, sizeof *s);
  closed.sharding = s;
  if (t.kind != TILE_OTHER) {
    axis_vec all = {0};
    if (m->size != p->sharding->mesh->size && p->sharding->mesh->num_axes) {
      diag_error(sink, NOWHERE, "mesh: expected %lld devices as before, found %lld",
                 (long long)p->sharding->mesh->size, (long long)m->size);
      return NULL;
    }
    for (u32 k = 0; k < m->num_axes; k++) VEC_PUSH(a, all, axis_whole(m, k));
    *s = *sharding_make_replicated(a, m, p->sharding->rank, true);
    s->unreduced_kind = p->sharding->unreduced_kind;
    if (t.kind == TILE_UNREDUCED) s->unreduced = axis_vec_list(&all);
    closed.manual = t.kind == TILE_MANUAL ? axis_vec_list(&all) : (axis_list){0};
    placement *same = arena_copy(a, &closed, sizeof *same);
    return same;
  }
  const placement *moved = placement_from_tiles(a, &t, m, sink);
  if (!moved) return NULL;
  *s = *moved->sharding;
  s->unreduced_kind = p->sharding->unreduced_kind;
  closed.manual = moved->manual;
  return arena_copy(a, &closed, sizeof closed);
}

const placement *notation_closed(arena *a, const placement *p) {
  placement *out = arena_copy(a, p, sizeof *out);
  if (p->kind == PLACED_BY_AXES) out->sharding = sharding_closed_like(a, p->sharding);
  if (p->kind == PLACED_TUPLE) {
    const placement **elements = ARENA_ARRAY(a, const placement *, p->num_elements);
    for (size_t i = 0; i < p->num_elements; i++) elements[i] = notation_closed(a, p->elements[i]);
    out->elements = elements;
  }
  return out;
}
