/* A program's calls of handlers, ready to be made: attributes as the ABI has them, and the state
 * that `instantiate` made. */
#include "ffi/program.h"

#include <stdlib.h>

/* ---- attributes ---- */

static const XLA_FFI_DataType data_types[DTYPE_COUNT] = {
    [DTYPE_pred] = XLA_FFI_DataType_PRED,
    [DTYPE_s8] = 2,
    [DTYPE_s16] = 3,
    [DTYPE_s32] = 4,
    [DTYPE_s64] = 5,
    [DTYPE_u8] = 6,
    [DTYPE_u16] = 7,
    [DTYPE_u32] = 8,
    [DTYPE_u64] = 9,
    [DTYPE_f16] = 10,
    [DTYPE_f32] = 11,
    [DTYPE_f64] = 12,
    [DTYPE_c64] = 15,
    [DTYPE_bf16] = 16,
    [DTYPE_token] = XLA_FFI_DataType_TOKEN,
    [DTYPE_c128] = 18,
    [DTYPE_f8e5m2] = 19,
    [DTYPE_f8e4m3fn] = 20,
    [DTYPE_s4] = 21,
    [DTYPE_u4] = 22,
    [DTYPE_f8e4m3b11fnuz] = 23,
    [DTYPE_f8e5m2fnuz] = 24,
    [DTYPE_f8e4m3fnuz] = 25,
    [DTYPE_s2] = 26,
    [DTYPE_u2] = 27,
    [DTYPE_f8e4m3] = 28,
    [DTYPE_f8e3m4] = 29,
    [DTYPE_f4e2m1fn] = 32,
    [DTYPE_f8e8m0fnu] = 33,
};
XLA_FFI_DataType ffi_data_type(dtype t) { return data_types[t]; }

static int by_name(const void *a, const void *b) {
  return str_cmp(((const ffi_attr *)a)->name, ((const ffi_attr *)b)->name);
}

static void *elements(arena *a, str bytes) {
  void *to = arena_alloc_aligned(a, bytes.len + 1, 64);
  if (bytes.len) memcpy(to, bytes.data, bytes.len);
  return to;
}

static XLA_FFI_Attrs dictionary(arena *a, const ffi_attr *dict);

static void *value_of(arena *a, const ffi_attr *at) {
  XLA_FFI_DataType type = data_types[at->type];
  switch ((ffi_attr_kind)at->kind) {
  case FFI_ATTR_SCALAR:
    return arena_copy(a, &(XLA_FFI_Scalar){type, elements(a, at->bytes)}, sizeof(XLA_FFI_Scalar));
  case FFI_ATTR_ARRAY:
    return arena_copy(
        a,
        &(XLA_FFI_Array){type, at->bytes.len / dtype_size((dtype)at->type), elements(a, at->bytes)},
        sizeof(XLA_FFI_Array));
  case FFI_ATTR_STRING:
    return arena_copy(a, &(XLA_FFI_ByteSpan){at->bytes.data, at->bytes.len},
                      sizeof(XLA_FFI_ByteSpan));
  default: {
    XLA_FFI_Attrs inner = dictionary(a, at);
    return arena_copy(a, &inner, sizeof inner);
  }
  }
}

static XLA_FFI_Attrs dictionary(arena *a, const ffi_attr *dict) {
  static const XLA_FFI_AttrType types[FFI_ATTR_COUNT_] = {
      [FFI_ATTR_SCALAR] = XLA_FFI_AttrType_SCALAR,
      [FFI_ATTR_ARRAY] = XLA_FFI_AttrType_ARRAY,
      [FFI_ATTR_STRING] = XLA_FFI_AttrType_STRING,
      [FFI_ATTR_DICT] = XLA_FFI_AttrType_DICTIONARY};
  u32 n = dict->num_entries;
  if (n) qsort(dict->entries, n, sizeof *dict->entries, by_name);
  XLA_FFI_Attrs out = {.struct_size = FFI_END(XLA_FFI_Attrs, attrs),
                       .size = n,
                       .types = ARENA_ARRAY(a, XLA_FFI_AttrType, n + 1),
                       .names = ARENA_ARRAY(a, XLA_FFI_ByteSpan *, n + 1),
                       .attrs = ARENA_ARRAY(a, void *, n + 1)};
  for (u32 i = 0; i < n; i++) {
    const ffi_attr *at = &dict->entries[i];
    out.types[i] = types[at->kind];
    out.names[i] =
        arena_copy(a, &(XLA_FFI_ByteSpan){at->name.data, at->name.len}, sizeof(XLA_FFI_ByteSpan));
    out.attrs[i] = value_of(a, at);
  }
  return out;
}

/* ---- calling ---- */

status ffi_stage(const ffi_call_site *site, XLA_FFI_ExecutionStage stage,
                 XLA_FFI_ExecutionContext *ctx) {
  const XLA_FFI_Handler_Bundle *b = &site->handler.bundle;
  XLA_FFI_Handler *of[] = {b->instantiate, b->prepare, b->initialize};
  if (!of[stage]) return NULL;
  XLA_FFI_CallFrame frame = {.struct_size = FFI_END(XLA_FFI_CallFrame, attrs),
                             .api = ffi_api(),
                             .ctx = ctx,
                             .stage = stage,
                             .args = {.struct_size = FFI_END(XLA_FFI_Args, args)},
                             .rets = {.struct_size = FFI_END(XLA_FFI_Rets, rets)},
                             .attrs = site->attrs};
  status s = ffi_status(of[stage](&frame));
  dev_event *e = (dev_event *)frame.future;
  if (e && !s) s = status_copy(dev_event_await(e));
  dev_event_release(e);
  return s;
}

/* ---- making one ---- */

static status at_step(const prog_step *step, status s) {
  if (!s) return NULL;
  status told = status_make(status_get_code(s), STR_FMT ": error: " STR_FMT, STR_ARG(step->loc),
                            STR_ARG(status_message(s)));
  status_free(s);
  return told;
}

static status nobody(const ffi_call_site *site, str target) {
  ffi_handler other;
  bool typed = site->api_version == FFI_API_TYPED;
  if (ffi_find(target, !typed, &other))
    return status_make(STATUS_INVALID_ARGUMENT,
                       "calls '" STR_FMT
                       "' with API version %u, and the handler of that name is %s",
                       STR_ARG(target), site->api_version, typed ? "not typed" : "typed");
  return status_make(STATUS_NOT_FOUND,
                     "calls '" STR_FMT "', and there is no function of that name: a handler for "
                     "it has to be registered first, with jax.ffi.register_ffi_target for platform "
                     "'terrazzo' or 'cpu', tz_register_handler, or PJRT's FFI extension",
                     STR_ARG(target));
}

static status make_site(ffi_program *p, const prog_call *c, ffi_call_site *site) {
  ffi_site said;
  if (!ffi_site_read(&p->memory, c->config, &said) || c->params.len != 1 ||
      c->params.data[0] != p->num_sites)
    return status_make(STATUS_INVALID_ARGUMENT, "calls '" STR_FMT "' in a way that is damaged",
                       STR_ARG(c->target));
  *site = (ffi_call_site){.api_version = said.api_version,
                          .opaque = said.opaque,
                          .device = said.device,
                          .devices = said.devices,
                          .num_tokens = said.num_tokens,
                          .tokens = said.tokens};
  if (!ffi_find(c->target, said.api_version == FFI_API_TYPED, &site->handler))
    return nobody(site, c->target);
  site->attrs = dictionary(&p->memory, &said.attrs);
  p->num_sites++;
  p->keeps |= site->handler.bundle.prepare || site->handler.bundle.initialize;
  XLA_FFI_ExecutionContext ctx = {.states = {&site->state}, .device = -1};
  return ffi_stage(site, XLA_FFI_ExecutionStage_INSTANTIATE, &ctx);
}

static bool is_ours(const prog_step *s) {
  return s->kind == STEP_call && s->u.call_->host && ffi_is_site(s->u.call_->config);
}

static u32 count_sites(const program *prog) {
  u32 n = 0;
  for (u32 i = 0; i < prog->num_steps; i++) n += is_ours(&prog->steps[i]);
  return n;
}

static status make_sites(ffi_program *p, const program *prog) {
  p->sites = ARENA_ARRAY(&p->memory, ffi_call_site, count_sites(prog));
  for (u32 i = 0; i < prog->num_steps; i++)
    if (is_ours(&prog->steps[i])) {
      status s = make_site(p, prog->steps[i].u.call_, &p->sites[p->num_sites]);
      if (s) return at_step(&prog->steps[i], s);
    }
  return NULL;
}

status ffi_program_create(const program *prog, ffi_program **out) {
  oom_trap trap;
  *out = NULL;
  if (!count_sites(prog)) return NULL;
  ffi_program *p = mem_zalloc(&mem_system, sizeof *p);
  if (!p) return status_oom();
  atomic_init(&p->refs, 1);
  arena_init(&p->memory, &mem_system, &trap);
  status s;
  if (setjmp(trap.at))
    s = status_oom();
  else
    s = make_sites(p, prog);
  if (s)
    ffi_program_release(p);
  else
    *out = p;
  return s;
}

ffi_program *ffi_program_retain(ffi_program *p) {
  if (p) atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
  return p;
}

void ffi_program_release(ffi_program *p) {
  if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) return;
  for (u32 i = 0; i < p->num_sites; i++) ffi_state_end(&p->sites[i].state);
  arena_deinit(&p->memory);
  mem_free(&mem_system, p, sizeof *p);
}
