/* Executables: references, and their form as bytes. */
#include "compile/executable.h"

#include "program/archive.h"

struct executable_owner *executable_new(const allocator *mem, oom_trap *trap) {
  struct executable_owner *o = mem_zalloc(mem, sizeof *o);
  if (!o) return NULL;
  atomic_init(&o->refs, 1);
  o->mem = *mem;
  arena_init(&o->arena, &o->mem, trap);
  o->exe.owner = o;
  return o;
}

/* The arena holds all of it, the program too; the allocator is copied out, for it lies in what
 * is freed. */
void executable_drop(struct executable_owner *o) {
  if (!o) return;
  allocator mem = o->mem;
  arena_deinit(&o->arena);
  mem_free(&mem, o, sizeof *o);
}

executable *executable_retain(executable *e) {
  struct executable_owner *o = (struct executable_owner *)(uintptr_t)e->owner;
  atomic_fetch_add_explicit(&o->refs, 1, memory_order_relaxed);
  return e;
}

void executable_release(executable *e) {
  if (!e) return;
  struct executable_owner *o = (struct executable_owner *)(uintptr_t)e->owner;
  if (atomic_fetch_sub_explicit(&o->refs, 1, memory_order_acq_rel) == 1) executable_drop(o);
}

/* ---- as bytes ---- */

enum { VERSION = 3 };
static const char MAGIC[8] = "TZEXEC\r\n";

/* One function writes and reads (program/archive.h): the two cannot come apart. */
static void put_tensor(archive *ar, compile_tensor *t, u32 partitions) {
  PUT_ENUM(ar, t->type);
  put_i64s(ar, &t->global_dims);
  put_i64s(ar, &t->local_dims);
  bool sliced = t->slice_of != NULL;
  put_bool(ar, &sliced);
  u64 n = (u64)partitions * t->local_dims.len;
  if (n > UINT32_MAX) ar->bad = true, n = 0;
  u32 *slices = (u32 *)(uintptr_t)t->slice_of;
  if (sliced) put_u32s(ar, &slices, (u32)n);
  t->slice_of = sliced ? slices : NULL;
  put_str(ar, &t->op_sharding);
  put_str(ar, &t->sharding);
  u32 alias = (u32)t->alias;
  put_u32(ar, &alias);
  t->alias = (i32)alias;
  put_bool(ar, &t->donated);
  put_str(ar, &t->memory_kind);
  put_bool(ar, &t->token);
  put_i64s(ar, &t->minor_to_major);
}

static void put_tensors(archive *ar, const compile_tensor **list, u32 *n, u32 partitions) {
  enum { LEAST = 40 }; /* bytes of one of rank 0 */
  compile_tensor *to = NULL;
  put_u32(ar, n);
  ARRAY(ar, to, *n, LEAST);
  for (u32 i = 0; i < *n && !ar->bad; i++) {
    compile_tensor t = ar->out ? (*list)[i] : (compile_tensor){0};
    put_tensor(ar, &t, partitions);
    if (!ar->out) to[i] = t;
  }
  if (!ar->out) *list = to;
}

static void put_signature(archive *ar, executable *e) {
  put_str(ar, &e->name);
  put_u64(ar, &e->fingerprint);
  put_u32(ar, &e->num_replicas);
  put_u32(ar, &e->num_partitions);
  put_tensors(ar, &e->params, &e->num_params, e->num_partitions);
  put_tensors(ar, &e->results, &e->num_results, e->num_partitions);
}

void executable_serialize(const executable *e, buf *out) {
  archive ar = archive_write(out);
  char magic[8];
  u32 version = VERSION;
  executable copy = *e;
  memcpy(magic, MAGIC, sizeof magic);
  put(&ar, magic, sizeof magic);
  put_u32(&ar, &version);
  put_signature(&ar, &copy);
  program_serialize(e->prog, out);
}

static bool is_order(i64s order, size_t rank) {
  u64 seen = 0;
  if (order.len == 0) return true;
  if (order.len != rank || rank > 64) return false;
  for (size_t i = 0; i < rank; i++) {
    if (order.data[i] < 0 || order.data[i] >= (i64)rank || seen >> order.data[i] & 1) return false;
    seen |= (u64)1 << order.data[i];
  }
  return true;
}

/* Whether the tensor is what the program's slot holds, and its pieces lie in it. */
static bool fits(const compile_tensor *t, const prog_slot *s, const executable *e, u32 others) {
  u64 n = 1;
  size_t rank = t->local_dims.len;
  if (t->type != s->type || t->global_dims.len != rank) return false;
  if (!is_order(t->minor_to_major, rank)) return false;
  if (t->alias < -1 || (t->alias >= 0 && (u32)t->alias >= others)) return false;
  for (size_t d = 0; d < rank; d++) {
    i64 local = t->local_dims.data[d], global = t->global_dims.data[d];
    if (local < 0 || global < local || !checked_mul(n, (u64)local, &n)) return false;
    for (u32 p = 0; t->slice_of && p < e->num_partitions; p++) {
      u64 begin;
      if (!checked_mul((u64)t->slice_of[p * rank + d], (u64)local, &begin) ||
          (local && begin > (u64)(global - local)))
        return false;
    }
  }
  return n == s->count;
}

static bool signature_fits(const executable *e) {
  const program *p = e->prog;
  if (e->num_replicas != p->num_replicas || e->num_partitions != p->num_partitions ||
      e->num_params != p->num_params || e->num_results != p->num_results)
    return false;
  for (u32 i = 0; i < e->num_params; i++)
    if (!fits(&e->params[i], &p->slots[p->param_slot[i]], e, e->num_results)) return false;
  for (u32 i = 0; i < e->num_results; i++)
    if (!fits(&e->results[i], &p->slots[p->result_slot[i]], e, e->num_params)) return false;
  return true;
}

/* The bytes are not trusted: sizes are checked before memory is taken, the program validates
 * itself, and signature and program must fit, so that PJRT never copies beyond a slot. */
static status read_executable(arena *a, str bytes, executable *e) {
  archive ar = archive_read(a, bytes);
  char magic[8];
  u32 version;
  put(&ar, magic, sizeof magic);
  put_u32(&ar, &version);
  if (ar.bad || memcmp(magic, MAGIC, sizeof magic) != 0)
    return status_make(STATUS_INVALID_ARGUMENT, "not a serialized executable");
  if (version != VERSION)
    return status_make(STATUS_FAILED_PRECONDITION, "serialized executable of version %u, not %u",
                       version, (u32)VERSION);
  put_signature(&ar, e);
  if (!ar.bad)
    RETURN_IF_ERROR(program_deserialize(a, (str){ar.cur, (size_t)(ar.end - ar.cur)}, &e->prog));
  if (ar.bad || !signature_fits(e))
    return status_make(STATUS_INVALID_ARGUMENT, "serialized executable is damaged");
  return NULL;
}

/* What lives across the jump. */
typedef struct reading {
  allocator mem;
  oom_trap trap;
  struct executable_owner *owner;
} reading;

static status read_trapped(reading *r, str bytes) {
  if (setjmp(r->trap.at)) return status_oom();
  r->owner = executable_new(&r->mem, &r->trap);
  if (!r->owner) return status_oom();
  return read_executable(&r->owner->arena, bytes, &r->owner->exe);
}

status executable_deserialize(const allocator *mem, str bytes, executable **out_executable) {
  reading r = {.mem = mem ? *mem : mem_system};
  *out_executable = NULL;
  status s = read_trapped(&r, bytes);
  if (s) {
    executable_drop(r.owner);
    return s;
  }
  r.owner->arena.trap = NULL;
  *out_executable = &r.owner->exe;
  return NULL;
}
