/* Inside mpmd only: which fragments the user wants merged, and in which order they run, as text of
 * options. Source: openxla/shardy, shardy/dialect/mpmd/ir/fragment_execution_rules.h.
 *
 *   rules    = rule {"," rule}
 *   rule     = "FragmentMergeRule(sources=[" info {"," info} "],target=" info ")"
 *            | "FragmentScheduleRule(ordered_fragments=[" info {"->" info} "])"
 *   info     = 'FragmentInfo(origins=["name"(1),"name"],stage=1,call_counter=1,'
 *              'split_type=kKeepTransferred,mesh_name="name")' : the origins, then any of the
 * others
 */
#ifndef MPMD_RULES_H
#define MPMD_RULES_H

#include "mpmd/util.h"

typedef struct fragment_origin {
  str name;
  i64 transpose_count;
} fragment_origin;

typedef enum split_type { SPLIT_NONE, SPLIT_KEEP, SPLIT_DROP } split_type;

/* How rules tell fragments from each other. */
typedef struct fragment_info {
  VEC(fragment_origin) origins; /* of a fragment: by name, then count */
  i64 stage, call_counter;      /* INFO_NONE: there is none */
  split_type split;
  str mesh;
} fragment_info;
#define INFO_NONE INT64_MIN

typedef VEC(fragment_info) fragment_infos;
typedef struct fragment_rule {
  fragment_infos infos; /* sources of a merge, or what runs in this order */
  fragment_info target; /* of a merge */
} fragment_rule;
typedef VEC(fragment_rule) fragment_rules;

split_type fragment_split(const op *fragment);
str split_type_name(split_type t); /* "nullopt" of none */
fragment_info fragment_info_of(arena *a, const op *fragment);
bool fragment_info_eq(const fragment_info *a, const fragment_info *b);
u64 fragment_info_hash(const fragment_info *i);
/* The fragment says this of itself, and of what `i` can say nothing else. */
void fragment_set_info(ir_module *m, op *fragment, const fragment_info *i);
void fragment_info_print(buf *b, const fragment_info *i);

/* The value of option `option`; strings are of `text`. false: reported. */
bool merge_rules_read(ir_ctx *c, arena *a, const char *option, str text, fragment_rules *out);
bool schedule_rules_read(ir_ctx *c, arena *a, const char *option, str text, fragment_rules *out);

#endif
