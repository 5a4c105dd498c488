/* Checks of fragments: one for each stage, and as many units as microbatches. */
#include "mpmd/common/passes.h"
#include "mpmd/rules.h"
#include "shard/traits.h"
#include "text/text.h"

/* ---- stages ---- */

/* What there may be one fragment of only. */
typedef struct signature {
  str mesh;
  i64 stage, transpose_count, calls; /* -1 calls: of any */
  split_type split;
  bool remat;
} signature;
typedef VEC(signature) signatures;

static bool alike(const signature *a, const signature *b) {
  return str_eq(a->mesh, b->mesh) && a->stage == b->stage &&
         a->transpose_count == b->transpose_count &&
         (a->calls < 0 || b->calls < 0 || a->calls == b->calls) && a->split == b->split &&
         a->remat == b->remat;
}

static bool is_taken(const signatures *seen, const signature *s) {
  for (size_t i = 0; i < seen->len; i++)
    if (alike(s, &seen->data[i])) return true;
  return false;
}

static bool second_of_stage(ir_module *m, arena *a, const op *o, const signature *s) {
  return loc_error(m->ctx, o->loc,
                   "A valid program cannot have more than one fragment with the same mesh, stage, "
                   "transpose, call counts, split type, and remat flag but found multiple "
                   "fragments with the same attributes: [mesh=" STR_FMT ", stage_id=%lld, "
                   "transpose_count=%lld, call_count=%lld, split_type=" STR_FMT
                   ", is_remat=%d] for current fragment with origin: %s",
                   STR_ARG(s->mesh), (long long)s->stage, (long long)s->transpose_count,
                   (long long)s->calls, STR_ARG(split_type_name(s->split)), s->remat,
                   text_show_attr(a, op_get(o, mpmd_fragment, origin)));
}

static bool check_stage(ir_module *m, arena *a, const op *o, signatures *seen) {
  if (!fragment_stage(o)) return true;
  signature s = {.mesh = fragment_mesh(o),
                 .transpose_count = fragment_any_transpose_count(o),
                 .calls = mpmd_call_counter(o),
                 .split = fragment_split(o),
                 .remat = op_discardable(o, MPMD_REMAT) != NULL};
  attr_get_i64(fragment_stage(o), &s.stage);
  if (s.transpose_count < 0)
    return loc_error(m->ctx, o->loc, "Expected a fragment of a stage to have one transpose count.");
  if (is_taken(seen, &s)) return second_of_stage(m, a, o, &s);
  VEC_PUSH(a, *seen, s);
  return true;
}

bool pass_mpmd_verify_stage_merging(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  bool ok = true;
  op_list functions = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    op_list fragments = {0};
    signatures seen = {0};
    ops_of_kind(scratch, functions.data[i], OP_mpmd_fragment, &fragments);
    for (size_t k = 0; k < fragments.len; k++)
      ok &= check_stage(m, scratch, fragments.data[k], &seen);
  }
  return ok;
}

/* ---- units ---- */

/* Numbers of calls begin with 0 or 1. */
static i64 count_microbatches(const op_list *fragments) {
  i64 most = 0, from_zero = 0;
  for (size_t i = 0; i < fragments->len; i++) {
    i64 n = mpmd_call_counter(fragments->data[i]);
    if (n == 0) from_zero = 1;
    if (n > most) most = n;
  }
  return most + from_zero;
}

static void check_mesh(ir_module *m, const op *f, str mesh, i64 microbatches) {
  static const char *const directions[] = {"forward", "backward"};
  i64 counts[] = {0, 0};
  for (const op *o = op_body(f, 0)->first; o; o = o->next)
    if (mpmd_is_fragment(o) && fragment_is_unit(o) && str_eq(fragment_mesh(o), mesh))
      counts[fragment_transpose_count(o)]++;
  for (size_t k = 0; k < COUNT(counts); k++)
    if (counts[k] != microbatches)
      op_warn(m->ctx, f,
              "Number of %s scheduling units in mesh " STR_FMT
              " does not match expected number for %lld microbatches. Got %lld.",
              directions[k], STR_ARG(mesh), (long long)microbatches, (long long)counts[k]);
}

/* Programs without microbatches are not scheduled, and so are right. */
bool pass_mpmd_verify_units(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    op *f = functions.data[i];
    const topology_attr *t = mpmd_topology(f);
    op_list fragments = {0};
    ops_of_kind(scratch, f, OP_mpmd_fragment, &fragments);
    i64 n = count_microbatches(&fragments);
    for (size_t k = 0; n && k < t->meshes.len; k++) {
      str mesh = ((const named_mesh_attr *)t->meshes.data[k])->name;
      if (mpmd_is_schedulable(mesh)) check_mesh(m, f, mesh, n);
    }
  }
  return true;
}
