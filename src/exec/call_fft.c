/* "fft": a Fourier transform of one dimension. Parameters: an fft_kind, then outer, n and inner. */
#include "exec/calls.h"

static bool counts(i64s params, u64 in, u64 out, fft_shape *s) {
  u64 lines, n_in, n_out;
  *s = (fft_shape){(fft_kind)params.data[0], (u64)params.data[1], (u64)params.data[2],
                   (u64)params.data[3]};
  bool from_real = s->kind == FFT_FROM_REAL, to_real = s->kind == FFT_TO_REAL;
  if ((from_real || to_real) && s->inner != 1) return false;
  return checked_mul(s->outer, s->inner, &lines) &&
         checked_mul(lines, to_real ? s->n / 2 + 1 : s->n, &n_in) &&
         checked_mul(lines, from_real ? s->n / 2 + 1 : s->n, &n_out) && n_in == in && n_out == out;
}

static status refuse(const char *what) {
  return status_make(STATUS_INVALID_ARGUMENT, "a Fourier transform of %s", what);
}

static status prepare_fft(call_plan *plan) {
  const prog_call *c = plan->c;
  if (c->num_in != 1 || c->num_out != 1 || c->params.len != 4) return refuse("other operands");
  for (size_t i = 0; i < 4; i++)
    if (c->params.data[i] < 0) return refuse("negative size");
  i64 kind = c->params.data[0];
  if (kind > FFT_TO_REAL) return refuse("no kind that is known");
  dtype in = call_in_type(plan, 0), out = call_out_type(plan, 0);
  dtype real = kind == FFT_TO_REAL ? out : in, complex = kind == FFT_TO_REAL ? in : out;
  if (kind == FFT_FORWARD || kind == FFT_BACKWARD)
    real = in != out ? DTYPE_pred : in == DTYPE_c128 ? DTYPE_f64 : DTYPE_f32;
  bool wide = real == DTYPE_f64;
  if ((!wide && real != DTYPE_f32) || complex != (wide ? DTYPE_c128 : DTYPE_c64))
    return refuse("elements that are no floats of 32 or 64 bits");
  fft_shape s;
  if (!counts(c->params, call_in_count(plan, 0), call_out_count(plan, 0), &s))
    return refuse("another shape");
  if (call_out_count(plan, 0) == 0) return NULL;
  if (s.n == 0) return refuse("no numbers to some");
  const fft_plan *p = plan->k->fft[wide](plan->a, &s);
  if (!p) return refuse("more numbers than memory can have");
  plan->data = p;
  plan->units = p->units;
  plan->cost = p->cost;
  plan->scratch = p->scratch;
  return NULL;
}

static void run_fft(const call_plan *plan, const exec_env *env, u64 begin, u64 end) {
  const fft_plan *p = plan->data;
  p->run(p, env->scratch, call_in(plan, env->slots, 0), call_out(plan, env->slots, 0), begin, end);
}

const call_row call_fft = {.target = "fft",
                           .doc = "a Fourier transform of one dimension",
                           .prepare = prepare_fft,
                           .run = run_fft};
