/* Shapes and layouts as callers of the API give them. */
#ifndef PJRT_SHAPE_H
#define PJRT_SHAPE_H

#include "device/copy.h"
#include "pjrt/api.h"

typedef struct api_shape_args {
  PJRT_Memory *memory; /* NULL: the default one of the device */
  PJRT_Device *device; /* NULL: the client's first */
  PJRT_Buffer_Type type;
  const int64_t *dims; /* the caller's, in an api_shape too */
  size_t num_dims;
  const PJRT_Buffer_MemoryLayout *layout; /* on the device; NULL: row-major */
} api_shape_args;

typedef struct api_shape {
  dev_memory *memory;
  dtype type;
  i64s dims;
  size_t bytes;
  i64 order[DEV_MAX_RANK]; /* minor to major */
} api_shape;

/* UNIMPLEMENTED for types and layouts that we do not have. */
status api_shape_read(PJRT_Client *c, const api_shape_args *a, api_shape *out_shape) MUST_USE;
static inline i64s api_shape_order(const api_shape *s) { return (i64s){s->order, s->dims.len}; }
/* As dev_buffer_create. */
status api_shape_buffer(const api_shape *s, dev_event *ready, dev_block *block,
                        dev_buffer **out_buffer) MUST_USE;

/* Byte strides that a layout (NULL: row-major) asks for, into room for DEV_MAX_RANK; *out_dense
 * when they are the dense row-major ones. */
status api_layout_strides(const PJRT_Buffer_MemoryLayout *l, i64s dims, size_t element,
                          i64 *out_strides, bool *out_dense) MUST_USE;
/* Bytes from the first element to the end of the last. */
status api_layout_extent(i64s dims, const i64 *strides, size_t element, size_t *out_bytes) MUST_USE;

#endif
