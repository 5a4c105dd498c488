/* Quantized types printed: !quant.any<...>, !quant.uniform<...>, !quant.calibrated<...>.
 *
 * MLIR's Dialect/Quant/IR/TypeParser.cpp, whose print functions are the reference for what is left
 * out: the range of storage where it is the whole of it, zero points of 0. */
#include "text/float.h"
#include "text/printer.h"

/* u8 is a spelling for unsigned storage, which is i8 in the type. */
static void put_storage(printer *w, const quant *q) {
  i64 min, max;
  if (q->u_spelling) {
    put_char(w, 'u');
    printer_i64(w, q->storage->width);
  } else {
    printer_type(w, q->storage);
  }
  if (quant_default_range(q->storage, q->is_signed, &min, &max) && min == q->min && max == q->max)
    return;
  put_char(w, '<');
  printer_i64(w, q->min);
  put_char(w, ':');
  printer_i64(w, q->max);
  put_char(w, '>');
}

/* Scales are kept as f64; sub-channel ones print in the expressed type, in which MLIR keeps
 * them. */
static void put_params(printer *w, const quant *q, size_t i) {
  float_kind kind = (float_kind)q->expressed->flt;
  if (q->form == QUANT_SUB_CHANNEL && float_is_supported(kind))
    float_print(w->out, kind, float_from_double(kind, quant_double(q->scales.data[i])));
  else
    float_print(w->out, FLOAT_f64, (u64)q->scales.data[i]);
  if (q->zero_points.data[i] == 0) return;
  put_char(w, ':');
  printer_i64(w, q->zero_points.data[i]);
}

/* The lists of dimension `level` and inwards; returns the first entry not printed. */
static size_t put_nested(printer *w, const quant *q, size_t level, size_t at) {
  if (level == q->shape.len) return put_params(w, q, at), at + 1;
  put_char(w, '{');
  for (i64 i = 0; i < q->shape.data[level] && at < q->scales.len; i++) {
    if (i) PUT(w, ", ");
    at = put_nested(w, q, level + 1, at);
  }
  put_char(w, '}');
  return at;
}

static void put_blocks(printer *w, const quant *q) {
  put_char(w, '{');
  for (size_t i = 0; i < q->dims.len; i++) {
    if (i) PUT(w, ", ");
    printer_i64(w, q->dims.data[i]);
    put_char(w, ':');
    printer_i64(w, q->block_sizes.data[i]);
  }
  PUT(w, "}, ");
  put_nested(w, q, 0, 0);
}

static void put_axis(printer *w, const quant *q) {
  printer_i64(w, q->dims.data[0]);
  PUT(w, ", {");
  for (size_t i = 0; i < q->scales.len; i++) {
    if (i) put_char(w, ',');
    put_params(w, q, i);
  }
  put_char(w, '}');
}

static void put_calibrated(printer *w, const quant *q) {
  printer_type(w, q->expressed);
  put_char(w, '<');
  float_print(w->out, FLOAT_f64, (u64)q->scales.data[0]);
  put_char(w, ':');
  float_print(w->out, FLOAT_f64, (u64)q->scales.data[1]);
  put_char(w, '>');
}

void printer_quant(printer *w, const quant *q) {
  static const char *const names[] = {"any", "uniform", "uniform", "uniform", "calibrated"};
  PUT(w, "!quant.");
  put(w, str_of(names[q->form]));
  put_char(w, '<');
  if (q->form == QUANT_CALIBRATED) {
    put_calibrated(w, q);
  } else {
    put_storage(w, q);
    if (q->expressed) {
      put_char(w, ':');
      printer_type(w, q->expressed);
    }
    if (q->form == QUANT_UNIFORM) {
      PUT(w, ", ");
      put_params(w, q, 0);
    } else if (q->form != QUANT_ANY) {
      put_char(w, ':');
      (q->form == QUANT_PER_AXIS ? put_axis : put_blocks)(w, q);
    }
  }
  put_char(w, '>');
}
