/* Terrazzo's C API for shardings as values: every notation of one, MindSpore's Layout, and the
 * way from one layout to another.
 *
 *   tz_sharding *s;
 *   tz_error *e = tz_sharding_read("pspec", "P('x', None)", "x=2,y=4", TZ_ANY_RANK, &s);
 *   char *text;
 *   if (!e) e = tz_sharding_write(s, "xla", &text);     {devices=[2,1,4]<=[8] last_tile_...}
 *
 * Notations by name: sdy xla xla-v1 pspec named dtensor layout shard (tz_notation_name counts
 * them); a mesh is written x=2,y=4, x=2,y=2 device_ids=[3,2,1,0], or as Shardy does. What a
 * notation has no words for is an error, "not expressible: ...", that names the axis or dimension;
 * wrong input is one that names the field, what was expected and what was found.
 *
 * Ownership: what a function puts out through `out_...` is the caller's, until the _free of its
 * kind, or tz_free for text. What a getter returns belongs to the object and lives as long as it.
 * Objects are immutable. Errors: NULL means fine; otherwise the error is the caller's to free, and
 * what was to be put out is NULL. An argument that is NULL where that is not said to be fine is an
 * error; getters answer 0, "" or NULL to it. */
#ifndef TERRAZZO_LAYOUT_H
#define TERRAZZO_LAYOUT_H

#include "terrazzo/terrazzo.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- shardings in any notation ----
 *
 * Threads: any, several at once on one object, which is immutable.
 * Threads, tz_sharding_free: any, as the last call on the object. */

#define TZ_ANY_RANK (-1) /* as many dimensions as the text says */

TZ_API const char *tz_notation_name(uint32_t i); /* NULL: no more */

typedef struct tz_sharding tz_sharding;

/* `mesh` may be NULL where the text has one of its own; if both have one they must agree. */
TZ_API tz_error *tz_sharding_read(const char *notation, const char *text, const char *mesh,
                                  int64_t rank, tz_sharding **out_sharding);
TZ_API tz_error *tz_sharding_write(const tz_sharding *s, const char *notation, char **out_text);
/* Both at once. */
TZ_API tz_error *tz_sharding_convert(const char *from, const char *to, const char *text,
                                     const char *mesh, int64_t rank, char **out_text);
/* The same pieces over the axes of another mesh of as many devices. */
TZ_API tz_error *tz_sharding_over_mesh(const tz_sharding *s, const char *mesh,
                                       tz_sharding **out_sharding);
/* Without what only propagation reads: open dimensions, priorities, explicit replication. */
TZ_API tz_error *tz_sharding_closed(const tz_sharding *s, tz_sharding **out_sharding);
TZ_API void tz_sharding_free(tz_sharding *s); /* NULL is fine */

/* 0 for a tuple, and for what is over devices that nothing names: {manual}, {unknown}. */
TZ_API int64_t tz_sharding_num_devices(const tz_sharding *s);
TZ_API uint32_t tz_sharding_rank(const tz_sharding *s);
TZ_API const char *tz_sharding_mesh(const tz_sharding *s); /* as tz_sharding_read takes it; or "" */
/* Pieces of each dimension; rank of them. */
TZ_API const int64_t *tz_sharding_strategy(const tz_sharding *s);
/* The device, and the slice, counted row-major over the strategy, at a position of the mesh:
 * O(axes). -1: 0 <= position < num_devices does not hold. */
TZ_API int64_t tz_sharding_device_at(const tz_sharding *s, int64_t position);
TZ_API int64_t tz_sharding_slice_at(const tz_sharding *s, int64_t position);
/* out[num_devices]: slices by position, faster than one by one. */
TZ_API tz_error *tz_sharding_slices(const tz_sharding *s, int64_t *out_slices);
/* The object that `terrazzo convert --json` shows as "sharding". shape: rank sizes, or NULL. */
TZ_API tz_error *tz_sharding_json(const tz_sharding *s, const int64_t *shape, char **out_text);
/* Which device holds which piece, drawn in boxes, or as an SVG file. */
TZ_API tz_error *tz_sharding_picture(const tz_sharding *s, bool svg, char **out_text);

/* ---- MindSpore's Layout ----
 *
 * Threads: any, several at once on one object, which is immutable.
 * Threads, tz_layout_free: any, as the last call on the object. */

/* What splits one dimension: names, major first; "None" splits nothing. */
typedef struct tz_layout_entry {
  const char *const *names;
  size_t num_names;
  bool tuple; /* written in parentheses; otherwise there is one name */
} tz_layout_entry;

typedef struct tz_layout_spec {
  size_t struct_size;
  const int64_t *device_matrix;
  size_t num_axes;
  const char *const *alias_name;
  size_t num_alias_names;
  const int64_t *rank_list; /* NULL: 0, 1, 2, ... */
  size_t num_ranks;
  const tz_layout_entry *entries;
  size_t num_entries;
} tz_layout_spec;

typedef struct tz_layout tz_layout;

TZ_API tz_error *tz_layout_create(const tz_layout_spec *spec, tz_layout **out_layout);
/* A `.shard()` strategy on so many devices; the repetition is the last axis, or the first. */
TZ_API tz_error *tz_layout_from_strategy(const int64_t *strategy, size_t rank, int64_t devices,
                                         bool repeat_left, tz_layout **out_layout);
TZ_API void tz_layout_free(tz_layout *l); /* NULL is fine */

TZ_API int64_t tz_layout_num_ranks(const tz_layout *l);
TZ_API int64_t tz_layout_num_slices(const tz_layout *l);
TZ_API int64_t tz_layout_replicas(const tz_layout *l); /* ranks with the same slice */
TZ_API uint32_t tz_layout_rank(const tz_layout *l);    /* dimensions */
TZ_API const int64_t *tz_layout_strategy(const tz_layout *l);
TZ_API const char *tz_layout_tensor_map(const tz_layout *l); /* Python text: "(1, (2, 0), -1)" */
/* What Layout.to_dict() shows. */
TZ_API tz_error *tz_layout_to_dict(const tz_layout *l, char **out_text);
/* Slice of a rank: O(axes), or O(ranks) where there is a rank list. */
TZ_API tz_error *tz_layout_slice_of(const tz_layout *l, int64_t rank, int64_t *out_slice);
/* out[num_ranks]: slices in the order of the device matrix. */
TZ_API tz_error *tz_layout_slices(const tz_layout *l, int64_t *out_slices);
/* [begin, end) of a slice along each dimension of a tensor: out[2 * rank]. */
TZ_API tz_error *tz_layout_ranges(const tz_layout *l, const int64_t *shape, int64_t slice,
                                  int64_t *out_ranges);
/* out[replicas]: the ranks that hold a slice. */
TZ_API tz_error *tz_layout_ranks_of(const tz_layout *l, int64_t slice, int64_t *out_ranks);
/* The same as a sharding, for every notation. */
TZ_API tz_error *tz_layout_sharding(const tz_layout *l, tz_sharding **out_sharding);
/* The object of `terrazzo layout --json`. shape: rank sizes, or NULL. */
TZ_API tz_error *tz_layout_json(const tz_layout *l, const int64_t *shape, size_t num_dims,
                                char **out_text);

/* ---- from one layout to another ----
 *
 * Threads: any, several at once on one object, which is immutable.
 * Threads, tz_redistribution_free: any, as the last call on the object. */

typedef struct tz_redistribution tz_redistribution;

/* Both layouts must live as long as the plan. */
TZ_API tz_error *tz_redistribution_create(const tz_layout *from, const tz_layout *to,
                                          const int64_t *shape, size_t num_dims,
                                          tz_redistribution **out_plan);
TZ_API void tz_redistribution_free(tz_redistribution *r); /* NULL is fine */

typedef struct tz_redistribution_step {
  size_t struct_size;
  const char *op;  /* slice, all_gather, all_to_all, collective_permute */
  uint32_t dim;    /* that is sliced, gathered or concatenated */
  uint32_t to_dim; /* that an all_to_all cuts */
  int64_t num_groups, group_size;
  const int64_t *ranks; /* num_groups * group_size, in the order of their pieces */
} tz_redistribution_step;

TZ_API size_t tz_redistribution_num_steps(const tz_redistribution *r);
/* False: there is no such step, or struct_size is not set. */
TZ_API bool tz_redistribution_get_step(const tz_redistribution *r, size_t i,
                                       tz_redistribution_step *out_step);
TZ_API int64_t tz_redistribution_num_ranks(const tz_redistribution *r);
/* Elements that a rank lacks: what it must receive at least. */
TZ_API tz_error *tz_redistribution_received(const tz_redistribution *r, int64_t rank,
                                            int64_t *out_elements);
/* The object of `terrazzo layout --to-... --json`. */
TZ_API tz_error *tz_redistribution_json(const tz_redistribution *r, int64_t element_size,
                                        char **out_text);

#ifdef __cplusplus
}
#endif
#endif
