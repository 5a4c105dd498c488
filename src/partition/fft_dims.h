/* Inside partition only: transforms of several dimensions. */
#ifndef PARTITION_FFT_DIMS_H
#define PARTITION_FFT_DIMS_H

#include "partition/env.h"

/* Where such dimensions are cut, before and after, the op becomes transforms of one each. */
void part_split_fft(const part_env *e, op *o);

#endif
