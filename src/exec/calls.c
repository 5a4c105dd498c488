/* Steps that call a function by name. See calls.h. */
#include "exec/calls.h"

#include "exec/launch.h"

extern const call_row call_expect_eq, call_expect_almost_eq, call_expect_close; /* check.c */
extern const call_row call_send, call_recv;                                     /* channel.c */

/* ---- nothing ---- */

static status prepare_undefined(call_plan *plan) {
  plan->units = plan->cost = 1;
  return NULL;
}

static void run_undefined(const call_plan *plan, const exec_env *env, u64 begin, u64 end) {
  (void)plan, (void)env, (void)begin, (void)end;
}

static const call_row call_undefined = {
    .target = "undefined",
    .doc = "leaves its results as memory is, for who writes all of them before anybody reads",
    .prepare = prepare_undefined,
    .run = run_undefined};

/* ---- rows ---- */

static const call_row *const rows[] = {&call_fft,
                                       &call_cholesky,
                                       &call_triangular_solve,
#define X(letter, routine, ...) &call_lapack_##letter##routine,
                                       LAPACK_CALLS(X)
#undef X

                                           & call_expect_eq,
                                       &call_expect_almost_eq,
                                       &call_expect_close,
                                       &call_send,
                                       &call_recv,
                                       &call_undefined,
                                       NULL};

const call_row *call_find(str target) {
  for (const call_row *const *r = rows; *r; r++)
    if (str_is(target, (*r)->target)) return *r;
  return NULL;
}

/* ---- the executor's own ---- */

static void run_units(const void *data, const exec_env *env, u64 begin, u64 end) {
  const call_plan *plan = data;
  plan->row->run(plan, env, begin, end);
}

/* Which call of the program said so. Takes `error`. */
static status at_call(const place *p, str target, status error) {
  if (!error) return NULL;
  str loc = p->l->prog->steps[p->pc].loc;
  status s = status_make(status_get_code(error), STR_FMT ": error: " STR_FMT ": " STR_FMT,
                         STR_ARG(loc), STR_ARG(target), STR_ARG(status_message(error)));
  status_free(error);
  return s;
}

static void start_whole(const void *data, void *const *slots, place *p) {
  const call_plan *plan = data;
  place_resume(p,
               at_call(p, str_of(plan->row->target), plan->row->finish(plan, slots, p->position)));
}

/* ---- the host's ---- */

typedef struct host_call {
  executor_call call; /* first */
  place *p;
  size_t bytes; /* of this allocation */
  executor_operand operands[];
} host_call;

static void host_done(executor_call *call, status error) {
  host_call *h = (host_call *)call;
  place *p = h->p;
  error = at_call(p, call->target, error);
  mem_free(p->l->on->mem, h, h->bytes);
  place_resume(p, error);
}

static void fill_operands(const program *prog, executor_operand *to, const prog_operand *from,
                          u32 n, void *const *slots) {
  for (u32 i = 0; i < n; i++)
    to[i] = (executor_operand){prog->slots[from[i].slot].type, from[i].dims, slots[from[i].slot]};
}

static void start_host(const void *data, void *const *slots, place *p) {
  const prog_call *c = data;
  const launch *l = p->l;
  if (!l->host.call) {
    place_resume(p, status_make(STATUS_UNIMPLEMENTED,
                                "calls '" STR_FMT "' of the host, which has no functions",
                                STR_ARG(c->target)));
    return;
  }
  u64 n = (u64)c->num_in + c->num_out;
  size_t bytes = sizeof(host_call) + n * sizeof(executor_operand);
  host_call *h = mem_alloc(l->on->mem, bytes);
  if (!h) {
    place_resume(p, status_oom());
    return;
  }
  executor_operand *in = h->operands, *out = in + c->num_in;
  fill_operands(l->prog, in, c->in, c->num_in, slots);
  fill_operands(l->prog, out, c->out, c->num_out, slots);
  h->p = p;
  h->bytes = bytes;
  h->call = (executor_call){.target = c->target,
                            .config = c->config,
                            .params = c->params,
                            .position = p->position,
                            .num_in = c->num_in,
                            .num_out = c->num_out,
                            .in = in,
                            .out = out,
                            .done = host_done};
  l->host.call(l->host.user, &h->call);
}

/* ---- from program to image ---- */

void call_lower(const lower_env *e, const prog_call *c, exec_step *out) {
  if (c->host) {
    *out = (exec_step){.start = start_host, .data = c};
    return;
  }
  call_plan *plan = ARENA_NEW(e->a, call_plan);
  *plan = (call_plan){.row = call_find(c->target), .c = c, .prog = e->prog, .k = e->k, .a = e->a};
  e->fault->words = plan->row ? plan->row->prepare(plan)
                              : status_make(STATUS_UNIMPLEMENTED, "no function '" STR_FMT "'",
                                            STR_ARG(c->target));
  if (e->fault->words) return;
  *out = (exec_step){.run = plan->row->run ? run_units : NULL,
                     .start = plan->row->start ? plan->row->start
                              : plan->row->run ? NULL
                                               : start_whole,
                     .data = plan,
                     .units = plan->units,
                     .cost = plan->cost,
                     .scratch = plan->scratch};
}
