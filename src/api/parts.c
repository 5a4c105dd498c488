/* Results of all processes, at each: a meeting of one device for each piece of a result. */
#include "api/parts.h"

#include "device/copy.h"

/* Process r's first of n positions. */
static u32 share_of(u32 r, u32 size, u32 n) { return (u32)((u64)n * r / size); }

status parts_find(u32 rank, u32 size, u32 all, u32 *out_first, u32 *out_count) {
  *out_first = share_of(rank, size, all);
  *out_count = share_of(rank + 1, size, all) - *out_first;
  if (size <= all) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT,
                     "processes: expected at least one device each, found %u devices, %u processes",
                     all, size);
}

size_t parts_piece(const compile_tensor *t, u32 p, i64 *strides, executor_array *out) {
  size_t rank = t->local_dims.len, at = 0;
  dev_dense_strides(t->global_dims, dtype_size(t->type), strides);
  for (size_t d = 0; d < rank && t->slice_of; d++)
    at += (size_t)(t->slice_of[p * rank + d] * t->local_dims.data[d] * strides[d]);
  *out = (executor_array){t->type, t->local_dims, strides};
  return at;
}

/* One meeting, and room for it. */
typedef struct gathering {
  executor_exchange x;
  u32 *members;
  void **parts;
  size_t bytes;
  dev_event *done;
} gathering;

static bool is_ours(const parts_results *r, u32 position) { return position - r->first < r->count; }

static bool same_slice(const compile_tensor *t, u32 p, u32 q) {
  size_t rank = t->local_dims.len;
  return !t->slice_of ||
         memcmp(t->slice_of + p * rank, t->slice_of + q * rank, rank * sizeof *t->slice_of) == 0;
}

/* The first device of each piece, and the first of each process, so that all take part. */
static u32 find_members(const parts_results *r, const compile_tensor *t, u32 *members) {
  u32 n = 0, process = 0;
  for (u32 p = 0; p < r->positions; p++) {
    bool begins = process < r->size && p == share_of(process, r->size, r->positions);
    bool known = p >= r->exe->num_partitions;
    for (u32 m = 0; m < n && !known; m++) known = same_slice(t, p, members[m]);
    process += begins;
    if (begins || !known) members[n++] = p;
  }
  return n;
}

static void gathering_free(gathering *g, u32 positions) {
  mem_free(&mem_system, g->members, positions * sizeof *g->members);
  mem_free(&mem_system, g->parts, positions * sizeof *g->parts);
  dev_event_release(g->done);
}

static void gathered(void *user, status error) { dev_event_set(user, status_copy(error)); }

static status gathering_make(const parts_results *r, u32 k, gathering *g) {
  const compile_tensor *t = &r->exe->results[k];
  *g = (gathering){.members = mem_alloc(&mem_system, r->positions * sizeof *g->members),
                   .parts = mem_alloc(&mem_system, r->positions * sizeof *g->parts),
                   .done = dev_event_create(),
                   .bytes = dtype_size(t->type)};
  if (!g->members || !g->parts || !g->done) return status_oom();
  for (size_t d = 0; d < t->local_dims.len; d++) g->bytes *= (size_t)t->local_dims.data[d];
  u32 n = find_members(r, t, g->members);
  for (u32 m = 0; m < n; m++)
    g->parts[m] =
        is_ours(r, g->members[m])
            ? executor_map(r->on, r->results[(size_t)g->members[m] * r->exe->num_results + k])
            : NULL;
  g->x = (executor_exchange){.launch = r->id,
                             .step = k,
                             .first = r->first,
                             .count = r->count,
                             .num_members = n,
                             .members = g->members,
                             .num_parts = 1,
                             .bytes = &g->bytes,
                             .parts = g->parts,
                             .done = gathered,
                             .user = g->done};
  return NULL;
}

/* Of equal pieces, the first device's stays. */
static void place_pieces(const parts_results *r, u32 k, const gathering *g, char *output) {
  i64 strides[DEV_MAX_RANK];
  executor_array a;
  for (u32 m = g->x.num_members; m-- > 0;) {
    u32 p = g->members[m] % r->exe->num_partitions;
    size_t at = parts_piece(&r->exe->results[k], p, strides, &a);
    executor_host_read(g->parts[m], &a, output + at);
  }
}

static status gather(const parts_results *r, u32 k, char *output) {
  gathering g;
  status s = gathering_make(r, k, &g);
  if (!s) {
    r->job->ops->exchange(r->job, &g.x);
    s = status_copy(dev_event_await(g.done));
  }
  if (!s && output) place_pieces(r, k, &g, output);
  if (g.x.done) r->job->ops->release(r->job, &g.x);
  gathering_free(&g, r->positions);
  return s;
}

status parts_join_outputs(const parts_results *r, void *const *outputs) {
  RETURN_IF_ERROR(r->job->ops->join(r->job, r->id, r->first, r->count, r->positions));
  status s = NULL;
  for (u32 k = 0; k < r->exe->num_results && !s; k++) s = gather(r, k, outputs[k]);
  if (s) r->job->ops->fail(r->job, r->id, r->first, s);
  r->job->ops->leave(r->job, r->id, r->first);
  return s;
}
