/* Inside partition only: the windows that ops need of dimensions that are cut.
 *
 * A windows_fn says it of dimension d of operand t, when it and what of the results moves with it
 * are cut into `parts`. `types`: whole ones, of operands, then results. A window of length 0: the
 * shard as it is. false: nobody can serve it. */
#ifndef PARTITION_WINDOWS_H
#define PARTITION_WINDOWS_H

#include "partition/window.h"
#include "shard/rule.h"

typedef bool windows_fn(const op *o, const type *const *types, u32 t, u32 d, i64 parts,
                        shard_window *w);
windows_fn windows_convolution, windows_pad, windows_reduce_window, windows_reverse,
    windows_scatter, windows_slice;
rule_fn rule_windows_scatter; /* of select_and_scatter */

/* What of a window's padding is left when it has been read: before and behind its elements. Where
 * elements are `apart` and shards no multiple of that, windows begin at the element before, and
 * `more` places are in front of the first that is wanted, or behind the last. */
typedef struct padded_read {
  shard_window w;
  i64 low, high, more;
} padded_read;
bool pad_read(const op *o, const type *const *types, u32 d, i64 parts, padded_read *r);
/* Of spatial dimension i. */
bool convolution_read(const op *o, const type *const *types, u32 i, i64 parts, padded_read *r);
bool reduce_window_read(const op *o, const type *const *types, u32 d, i64 parts, padded_read *r);

/* Of select_and_scatter; the shard of the result begins `at` elements into the operand's window. Of
 * the first shard's window so many elements at the low end, and of the last one's at the high end,
 * are padding that must not be selected. */
typedef struct scatter_windows {
  shard_window operand, source;
  i64 at, low, high;
} scatter_windows;
bool scatter_read(const op *o, const type *const *types, u32 d, i64 parts, scatter_windows *r);

/* The shard as it is, which is what windows_fn begin with. */
shard_window window_own(i64 size, i64 parts);
/* No number is farther out than any array reaches: others, from a file, nobody need serve. */
bool window_is_near(const shard_window *w);

#endif
