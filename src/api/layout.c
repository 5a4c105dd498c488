/* The public C API of shardings in any notation, of layouts, and of redistribution.
 *
 * Over src/mesh, with no context: each call has its own arena and trap, so these functions may be
 * called from any threads at once, and objects, once made, are only read. A function is two here:
 * tz_x checks for NULL and packs its arguments, do_x works under the trap, where out of memory is a
 * jump. */
#include "terrazzo/layout.h"

#include "api/sized.h"
#include "mesh/describe.h"
#include "mesh/notation.h"

/* ---- calls ---- */

/* Memory and messages of one call. */
typedef struct call {
  arena arena; /* of the object that the call makes, or scratch */
  oom_trap trap;
  buf out, errors;
  diag_sink sink;
} call;

/* Positions are dropped: they are in the text of the message where they help. */
static void keep_message(void *user, diag_kind kind, diag_pos pos, str text) {
  (void)kind, (void)pos;
  buf *errors = user;
  if (errors->len) buf_char(errors, '\n');
  buf_str(errors, text);
}

/* Begins a function: what must not be NULL there; what is put out, which is NULL from then on. */
#define NEED(...)                                                                                  \
  if (!(__VA_ARGS__)) return missing()
#define MAKES(out)                                                                                 \
  NEED(out);                                                                                       \
  *(out) = NULL
static tz_error *missing(void) {
  return (tz_error *)(uintptr_t)status_make(STATUS_INVALID_ARGUMENT, "an argument is NULL");
}

/* Runs `fn` with a trap for memory. Where text is wanted, it is what fn wrote to c->out. Nothing
 * between setjmp and the end is in variables that a jump could spoil: all is in *c. */
static tz_error *run_call(call *c, bool (*fn)(call *c, void *args), void *args, char **out_text) {
  volatile status bad = NULL;
  buf_init(&c->out, &mem_system);
  buf_init(&c->errors, &mem_system);
  c->sink = (diag_sink){.fn = keep_message, .user = &c->errors};
  if (setjmp(c->trap.at))
    bad = status_oom();
  else if (!fn(c, args))
    bad = status_make(STATUS_INVALID_ARGUMENT, STR_FMT, STR_ARG(buf_view(&c->errors)));
  else if (out_text)
    buf_char(&c->out, 0);
  if (!bad && !buf_ok(&c->out)) bad = status_oom();
  if (!bad && out_text)
    *out_text = c->out.data;
  else
    buf_deinit(&c->out);
  buf_deinit(&c->errors);
  return (tz_error *)(uintptr_t)bad;
}

/* The same with memory that ends with the call. */
static tz_error *run_scratch(bool (*fn)(call *c, void *args), void *args, char **out_text) {
  call c;
  arena_init(&c.arena, &mem_system, &c.trap);
  tz_error *e = run_call(&c, fn, args, out_text);
  arena_deinit(&c.arena);
  return e;
}

/* An object lives in the arena of the call that made it; `size` bytes begin with the call. So one
 * free is enough, and a failure half-way leaves nothing. */
static tz_error *run_making(size_t size, bool (*fn)(call *c, void *args), void *args,
                            void **out_object) {
  call *c = mem_zalloc(&mem_system, size);
  if (!c) return (tz_error *)(uintptr_t)status_oom();
  arena_init(&c->arena, &mem_system, &c->trap);
  tz_error *e = run_call(c, fn, args, NULL);
  if (!e) {
    *out_object = c;
    return NULL;
  }
  arena_deinit(&c->arena);
  mem_free(&mem_system, c, size);
  return e;
}

static void free_made(void *object, size_t size) {
  call *c = object;
  if (!c) return;
  arena_deinit(&c->arena);
  mem_free(&mem_system, c, size);
}

static bool fail(call *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static bool fail(call *c, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  diag_emit(&c->sink, DIAG_ERROR, (diag_pos){0}, fmt, ap);
  va_end(ap);
  return false;
}

/* ---- shardings ---- */

/* `mesh` is text made once, for a caller to borrow. */
struct tz_sharding {
  call call;
  const placement *placement;
  slice_grid grid; /* only of placements by axes */
  const char *mesh;
};

static bool by_axes(const tz_sharding *s) { return s && s->placement->kind == PLACED_BY_AXES; }

const char *tz_notation_name(uint32_t i) { return i < num_notations ? notations[i].name : NULL; }

static const notation *find_notation(call *c, const char *name) {
  const notation *n = notation_find(str_of(name));
  if (!n) fail(c, "notation: expected a known one, found '%s'", name);
  return n;
}

static bool finish_sharding(call *c, tz_sharding *s, const placement *p) {
  if (!p) return false;
  s->placement = p;
  s->mesh = "";
  if (!by_axes(s)) return true;
  slice_grid_make(&c->arena, p->sharding, &s->grid);
  buf text;
  buf_init(&text, &mem_system);
  notation_write_mesh(&text, p->sharding->mesh);
  s->mesh = arena_str(&c->arena, buf_view(&text)).data;
  buf_deinit(&text);
  return true;
}

typedef struct sharding_args {
  const char *from, *to, *text, *mesh;
  i64 rank;
  const tz_sharding *sharding;
  const i64 *shape;
  bool svg;
} sharding_args;

static const placement *read_placement(call *c, const sharding_args *x) {
  notation_context context = {.rank = x->rank < 0 ? NOTATION_ANY_RANK : x->rank};
  const notation *n = find_notation(c, x->from);
  if (!n) return NULL;
  if (x->mesh && !(context.mesh = notation_read_mesh(&c->arena, str_of(x->mesh), &c->sink)))
    return NULL;
  /* names in a mesh and in the result are borrowed from the text */
  return notation_read(&c->arena, n, arena_str(&c->arena, str_of(x->text)), &context, &c->sink);
}

static bool do_read(call *c, void *args) {
  return finish_sharding(c, (tz_sharding *)(void *)c, read_placement(c, args));
}

tz_error *tz_sharding_read(const char *notation, const char *text, const char *mesh, int64_t rank,
                           tz_sharding **out_sharding) {
  MAKES(out_sharding);
  NEED(notation && text);
  sharding_args x = {.from = notation, .text = text, .mesh = mesh, .rank = rank};
  return run_making(sizeof(tz_sharding), do_read, &x, (void **)out_sharding);
}

static bool do_write(call *c, void *args) {
  const sharding_args *x = args;
  const notation *n = find_notation(c, x->to);
  return n && notation_write(&c->arena, &c->out, n, x->sharding->placement, &c->sink);
}

tz_error *tz_sharding_write(const tz_sharding *s, const char *notation, char **out_text) {
  MAKES(out_text);
  NEED(s && notation);
  sharding_args x = {.to = notation, .sharding = s};
  return run_scratch(do_write, &x, out_text);
}

static bool do_convert(call *c, void *args) {
  const sharding_args *x = args;
  const notation *n = find_notation(c, x->to);
  const placement *p = n ? read_placement(c, x) : NULL;
  return p && notation_write(&c->arena, &c->out, n, p, &c->sink);
}

tz_error *tz_sharding_convert(const char *from, const char *to, const char *text, const char *mesh,
                              int64_t rank, char **out_text) {
  MAKES(out_text);
  NEED(from && to && text);
  sharding_args x = {.from = from, .to = to, .text = text, .mesh = mesh, .rank = rank};
  return run_scratch(do_convert, &x, out_text);
}

/* A new object borrows nothing of the old one: its sharding is written and read again. */
static const placement *copied(call *c, const placement *p) {
  if (p->kind == PLACED_TUPLE) {
    placement *out = arena_copy(&c->arena, p, sizeof *out);
    const placement **elements = ARENA_ARRAY(&c->arena, const placement *, p->num_elements);
    for (size_t i = 0; i < p->num_elements; i++) elements[i] = copied(c, p->elements[i]);
    out->elements = elements;
    return out;
  }
  placement *out = arena_copy(&c->arena, p, sizeof *out);
  if (p->kind != PLACED_BY_AXES) return out;
  const sharding *from = p->sharding;
  const mesh *m = from->mesh;
  sharding *s = arena_copy(&c->arena, from, sizeof *s);
  dim_sharding *dims = ARENA_ARRAY(&c->arena, dim_sharding, from->rank);
  s->mesh = mesh_make(&c->arena, m->name, m->axes, m->num_axes, m->device_ids);
  for (u32 d = 0; d < from->rank; d++) {
    dims[d] = from->dims[d];
    dims[d].axes = axes_copy(&c->arena, dims[d].axes);
  }
  s->dims = dims;
  s->replicated = axes_copy(&c->arena, from->replicated);
  s->unreduced = axes_copy(&c->arena, from->unreduced);
  out->manual = axes_copy(&c->arena, p->manual);
  out->sharding = s;
  return out;
}

static bool do_over_mesh(call *c, void *args) {
  const sharding_args *x = args;
  const mesh *m = notation_read_mesh(&c->arena, arena_str(&c->arena, str_of(x->mesh)), &c->sink);
  return m && finish_sharding(c, (tz_sharding *)(void *)c,
                              notation_over_mesh(&c->arena, x->sharding->placement, m, &c->sink));
}

tz_error *tz_sharding_over_mesh(const tz_sharding *s, const char *mesh,
                                tz_sharding **out_sharding) {
  MAKES(out_sharding);
  NEED(s && mesh);
  sharding_args x = {.sharding = s, .mesh = mesh};
  return run_making(sizeof(tz_sharding), do_over_mesh, &x, (void **)out_sharding);
}

static bool do_closed(call *c, void *args) {
  const sharding_args *x = args;
  const placement *p = copied(c, x->sharding->placement);
  return finish_sharding(c, (tz_sharding *)(void *)c, notation_closed(&c->arena, p));
}

tz_error *tz_sharding_closed(const tz_sharding *s, tz_sharding **out_sharding) {
  MAKES(out_sharding);
  NEED(s);
  sharding_args x = {.sharding = s};
  return run_making(sizeof(tz_sharding), do_closed, &x, (void **)out_sharding);
}

void tz_sharding_free(tz_sharding *s) { free_made(s, sizeof *s); }

int64_t tz_sharding_num_devices(const tz_sharding *s) {
  return by_axes(s) ? s->placement->sharding->mesh->size : 0;
}
uint32_t tz_sharding_rank(const tz_sharding *s) {
  return by_axes(s) ? s->placement->sharding->rank : 0;
}
const char *tz_sharding_mesh(const tz_sharding *s) { return s ? s->mesh : ""; }
const int64_t *tz_sharding_strategy(const tz_sharding *s) { return s ? s->grid.strategy : NULL; }
static bool has_position(const tz_sharding *s, i64 position) {
  return position >= 0 && position < tz_sharding_num_devices(s);
}
int64_t tz_sharding_device_at(const tz_sharding *s, int64_t position) {
  return has_position(s, position) ? mesh_device_at(s->placement->sharding->mesh, position) : -1;
}
int64_t tz_sharding_slice_at(const tz_sharding *s, int64_t position) {
  return has_position(s, position) ? slice_at(&s->grid, position) : -1;
}

typedef struct slices_args {
  const slice_grid *grid;
  i64 *out;
} slices_args;

static bool do_slices(call *c, void *args) {
  const slices_args *x = args;
  slice_fill(&c->arena, x->grid, x->out);
  return true;
}

tz_error *tz_sharding_slices(const tz_sharding *s, int64_t *out_slices) {
  NEED(s && out_slices);
  slices_args x = {&s->grid, out_slices};
  return by_axes(s) ? run_scratch(do_slices, &x, NULL) : NULL;
}

static bool do_sharding_json(call *c, void *args) {
  const sharding_args *x = args;
  i64s shape = {x->shape, tz_sharding_rank(x->sharding)};
  for (size_t d = 0; x->shape && d < shape.len; d++)
    if (shape.data[d] < 0)
      return fail(c, "shape[%zu]: expected a size of at least 0, found %lld", d,
                  (long long)shape.data[d]);
  describe_placement_json(&c->arena, &c->out, x->sharding->placement, x->shape ? &shape : NULL);
  return true;
}

tz_error *tz_sharding_json(const tz_sharding *s, const int64_t *shape, char **out_text) {
  MAKES(out_text);
  NEED(s);
  sharding_args x = {.sharding = s, .shape = shape};
  return run_scratch(do_sharding_json, &x, out_text);
}

static bool do_picture(call *c, void *args) {
  const sharding_args *x = args;
  const slice_grid *g = &x->sharding->grid;
  if (!by_axes(x->sharding))
    return fail(c, "picture: expected one sharding over named devices, found another");
  bool drawn = x->svg ? picture_svg(&c->arena, &c->out, g, "device", str_of(x->sharding->mesh))
                      : picture_text(&c->arena, &c->out, g, "device", false);
  return drawn || fail(c, "picture: expected fewer slices, found %lld", (long long)g->num_slices);
}

tz_error *tz_sharding_picture(const tz_sharding *s, bool svg, char **out_text) {
  MAKES(out_text);
  NEED(s);
  sharding_args x = {.sharding = s, .svg = svg};
  return run_scratch(do_picture, &x, out_text);
}

/* ---- layouts ---- */

struct tz_layout {
  call call;
  const layout *layout;
  const char *tensor_map;
};

static bool finish_layout(call *c, tz_layout *l, const layout *made) {
  if (!made) return false;
  l->layout = made;
  buf text;
  buf_init(&text, &mem_system);
  layout_print_tensor_map(&text, made);
  l->tensor_map = arena_str(&c->arena, buf_view(&text)).data;
  buf_deinit(&text);
  return true;
}

static const str *names_of(arena *a, const char *const *names, size_t n) {
  str *out = ARENA_ARRAY(a, str, n);
  for (size_t i = 0; i < n; i++) out[i] = str_of(names[i]);
  return out;
}

static bool do_layout(call *c, void *args) {
  const tz_layout_spec *x = args;
  layout_entry *entries = ARENA_ARRAY(&c->arena, layout_entry, x->num_entries);
  for (size_t i = 0; i < x->num_entries; i++) {
    const tz_layout_entry *e = &x->entries[i];
    entries[i] =
        (layout_entry){names_of(&c->arena, e->names, e->num_names), e->num_names, e->tuple};
  }
  layout_spec spec = {.device_matrix = {x->device_matrix, x->num_axes},
                      .alias_name = names_of(&c->arena, x->alias_name, x->num_alias_names),
                      .num_alias_names = x->num_alias_names,
                      .rank_list = {x->rank_list, x->rank_list ? x->num_ranks : 0},
                      .entries = entries,
                      .num_entries = x->num_entries};
  return finish_layout(c, (tz_layout *)(void *)c, layout_make(&c->arena, &spec, &c->sink));
}

static bool complete(const tz_layout_spec *x) {
  for (size_t i = 0; x->entries && i < x->num_entries; i++)
    if (!x->entries[i].names && x->entries[i].num_names) return false;
  return (x->device_matrix || !x->num_axes) && (x->alias_name || !x->num_alias_names) &&
         (x->entries || !x->num_entries);
}

tz_error *tz_layout_create(const tz_layout_spec *spec, tz_layout **out_layout) {
  MAKES(out_layout);
  NEED(spec);
  tz_layout_spec own;
  status bad = SIZED_READ(tz_layout_spec, spec, &own);
  if (bad) return (tz_error *)(uintptr_t)bad;
  NEED(complete(&own));
  return run_making(sizeof(tz_layout), do_layout, &own, (void **)out_layout);
}

typedef struct strategy_args {
  i64s strategy;
  i64 devices;
  bool left;
} strategy_args;

static bool do_strategy(call *c, void *args) {
  const strategy_args *x = args;
  return finish_layout(c, (tz_layout *)(void *)c,
                       layout_from_strategy(&c->arena, x->strategy, x->devices, x->left, &c->sink));
}

tz_error *tz_layout_from_strategy(const int64_t *strategy, size_t rank, int64_t devices,
                                  bool repeat_left, tz_layout **out_layout) {
  MAKES(out_layout);
  NEED(strategy || !rank);
  strategy_args x = {{strategy, rank}, devices, repeat_left};
  return run_making(sizeof(tz_layout), do_strategy, &x, (void **)out_layout);
}

void tz_layout_free(tz_layout *l) { free_made(l, sizeof *l); }

int64_t tz_layout_num_ranks(const tz_layout *l) { return l ? layout_mesh(l->layout)->size : 0; }
int64_t tz_layout_num_slices(const tz_layout *l) { return l ? l->layout->grid.num_slices : 0; }
int64_t tz_layout_replicas(const tz_layout *l) { return l ? l->layout->grid.replicas : 0; }
uint32_t tz_layout_rank(const tz_layout *l) { return l ? layout_rank(l->layout) : 0; }
const int64_t *tz_layout_strategy(const tz_layout *l) {
  return l ? l->layout->grid.strategy : NULL;
}
const char *tz_layout_tensor_map(const tz_layout *l) { return l ? l->tensor_map : ""; }

/* Arguments of the questions below. */
typedef struct layout_args {
  const layout *layout;
  i64 number;
  i64s shape;
  bool has_shape;
  i64 *out;
} layout_args;

static bool do_dict(call *c, void *args) {
  const layout_args *x = args;
  layout_print_dict(&c->out, x->layout);
  return true;
}

tz_error *tz_layout_to_dict(const tz_layout *l, char **out_text) {
  MAKES(out_text);
  NEED(l);
  layout_args x = {.layout = l->layout};
  return run_scratch(do_dict, &x, out_text);
}

static bool do_slice_of(call *c, void *args) {
  const layout_args *x = args;
  i64 position;
  if (!layout_find_rank(x->layout, x->number, &position, &c->sink)) return false;
  *x->out = layout_slice_at(x->layout, position);
  return true;
}

tz_error *tz_layout_slice_of(const tz_layout *l, int64_t rank, int64_t *out_slice) {
  NEED(l && out_slice);
  layout_args x = {.layout = l->layout, .number = rank, .out = out_slice};
  return run_scratch(do_slice_of, &x, NULL);
}

tz_error *tz_layout_slices(const tz_layout *l, int64_t *out_slices) {
  NEED(l && out_slices);
  slices_args x = {&l->layout->grid, out_slices};
  return run_scratch(do_slices, &x, NULL);
}

static bool check_slice(call *c, const layout *l, i64 slice) {
  return (slice >= 0 && slice < l->grid.num_slices) ||
         fail(c, "slice: expected 0 to %lld, found %lld", (long long)l->grid.num_slices - 1,
              (long long)slice);
}

static bool do_ranges(call *c, void *args) {
  const layout_args *x = args;
  if (!layout_check_shape(x->layout, x->shape, &c->sink) || !check_slice(c, x->layout, x->number))
    return false;
  index_range *r = ARENA_ARRAY(&c->arena, index_range, x->shape.len);
  slice_ranges(&x->layout->grid, x->shape, x->number, r);
  for (size_t d = 0; d < x->shape.len; d++) {
    x->out[2 * d] = r[d].begin;
    x->out[2 * d + 1] = r[d].end;
  }
  return true;
}

tz_error *tz_layout_ranges(const tz_layout *l, const int64_t *shape, int64_t slice,
                           int64_t *out_ranges) {
  NEED(l && (shape || !tz_layout_rank(l)) && out_ranges);
  layout_args x = {.layout = l->layout,
                   .number = slice,
                   .shape = {shape, layout_rank(l->layout)},
                   .out = out_ranges};
  return run_scratch(do_ranges, &x, NULL);
}

static bool do_ranks_of(call *c, void *args) {
  const layout_args *x = args;
  i64s ranks;
  if (!layout_slice_ranks(&c->arena, x->layout, x->number, &ranks, &c->sink)) return false;
  memcpy(x->out, ranks.data, ranks.len * sizeof *x->out);
  return true;
}

tz_error *tz_layout_ranks_of(const tz_layout *l, int64_t slice, int64_t *out_ranks) {
  NEED(l && out_ranks);
  layout_args x = {.layout = l->layout, .number = slice, .out = out_ranks};
  return run_scratch(do_ranks_of, &x, NULL);
}

static bool do_layout_sharding(call *c, void *args) {
  const layout_args *x = args;
  placement p = {.sharding = x->layout->sharding, .interleaved = x->layout->interleaved != 0};
  return finish_sharding(c, (tz_sharding *)(void *)c, copied(c, &p));
}

tz_error *tz_layout_sharding(const tz_layout *l, tz_sharding **out_sharding) {
  MAKES(out_sharding);
  NEED(l);
  layout_args x = {.layout = l->layout};
  return run_making(sizeof(tz_sharding), do_layout_sharding, &x, (void **)out_sharding);
}

static bool do_layout_json(call *c, void *args) {
  const layout_args *x = args;
  grid_view v = {.grid = &x->layout->grid, .layout = x->layout};
  if (x->has_shape && !layout_check_shape(x->layout, x->shape, &c->sink)) return false;
  v.has_shape = x->has_shape;
  if (x->has_shape) v.shape = x->shape;
  describe_layout_json(&c->arena, &c->out, x->layout, &v);
  return true;
}

tz_error *tz_layout_json(const tz_layout *l, const int64_t *shape, size_t num_dims,
                         char **out_text) {
  MAKES(out_text);
  NEED(l);
  layout_args x = {.layout = l->layout, .shape = {shape, num_dims}, .has_shape = shape != NULL};
  return run_scratch(do_layout_json, &x, out_text);
}

/* ---- redistribution ---- */

struct tz_redistribution {
  call call;
  const redistribution *plan;
  i64s shape;
};

typedef struct move_args {
  const layout *from, *to;
  i64s shape;
  const tz_redistribution *plan;
  i64 number;
  i64 *out;
} move_args;

static bool do_plan(call *c, void *args) {
  const move_args *x = args;
  tz_redistribution *r = (tz_redistribution *)(void *)c;
  i64 *shape = arena_copy(&c->arena, x->shape.data, x->shape.len * sizeof *shape);
  r->shape = (i64s){shape, x->shape.len};
  if (!redistribute_check_shape(x->from, x->to, r->shape, 1, &c->sink)) return false;
  return (r->plan = redistribute_plan(&c->arena, x->from, x->to, &c->sink)) != NULL;
}

tz_error *tz_redistribution_create(const tz_layout *from, const tz_layout *to, const int64_t *shape,
                                   size_t num_dims, tz_redistribution **out_plan) {
  MAKES(out_plan);
  NEED(from && to && (shape || !num_dims));
  move_args x = {.from = from->layout, .to = to->layout, .shape = {shape, num_dims}};
  return run_making(sizeof(tz_redistribution), do_plan, &x, (void **)out_plan);
}

void tz_redistribution_free(tz_redistribution *r) { free_made(r, sizeof *r); }

size_t tz_redistribution_num_steps(const tz_redistribution *r) {
  return r ? r->plan->num_steps : 0;
}
int64_t tz_redistribution_num_ranks(const tz_redistribution *r) {
  return r ? r->plan->num_ranks : 0;
}

bool tz_redistribution_get_step(const tz_redistribution *r, size_t i,
                                tz_redistribution_step *out_step) {
  tz_redistribution_step own = {.op = ""};
  bool there = i < tz_redistribution_num_steps(r);
  if (there) {
    const redistribute_step *s = &r->plan->steps[i];
    own = (tz_redistribution_step){.op = redistribute_names[s->op],
                                   .dim = s->dim,
                                   .to_dim = s->to_dim,
                                   .num_groups = s->groups.num_groups,
                                   .group_size = s->groups.group_size,
                                   .ranks = s->groups.ids};
  }
  return out_step && sized_write(out_step, &own, sizeof own) && there;
}

static bool do_received(call *c, void *args) {
  const move_args *x = args;
  const redistribution *plan = x->plan->plan;
  i64 position = mesh_position_of(plan->ranks, x->number);
  if (position < 0)
    return fail(c, "rank: expected one of the layouts, found %lld", (long long)x->number);
  redistribute_pieces pieces = {0};
  redistribute_pieces_of(&c->arena, plan, x->plan->shape, position, &pieces);
  *x->out = redistribute_received(&pieces, x->number);
  return true;
}

tz_error *tz_redistribution_received(const tz_redistribution *r, int64_t rank,
                                     int64_t *out_elements) {
  NEED(r && out_elements);
  move_args x = {.plan = r, .number = rank, .out = out_elements};
  return run_scratch(do_received, &x, NULL);
}

static bool do_move_json(call *c, void *args) {
  const move_args *x = args;
  const redistribution *plan = x->plan->plan;
  if (!redistribute_check_shape(plan->from, plan->to, x->plan->shape, x->number, &c->sink))
    return false;
  describe_move_json(&c->arena, &c->out, plan, x->plan->shape, x->number);
  return true;
}

tz_error *tz_redistribution_json(const tz_redistribution *r, int64_t element_size,
                                 char **out_text) {
  MAKES(out_text);
  NEED(r);
  move_args x = {.plan = r, .number = element_size};
  return run_scratch(do_move_json, &x, out_text);
}
