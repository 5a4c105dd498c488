/* Rules about fragments: read, compared, printed, and told to fragments. */
#include "mpmd/rules.h"

#include "base/index.h"

/* ---- of a fragment ---- */

static const char *const split_names[] = {"nullopt", "kKeepTransferred", "kDropTransferred"};

split_type fragment_split(const op *fragment) {
  if (op_discardable(fragment, MPMD_SPLIT_KEEP)) return SPLIT_KEEP;
  return op_discardable(fragment, MPMD_SPLIT_DROP) ? SPLIT_DROP : SPLIT_NONE;
}

str split_type_name(split_type t) { return str_of(split_names[t]); }

static bool origin_before(const fragment_origin *a, const fragment_origin *b) {
  int d = str_cmp(a->name, b->name);
  return d < 0 || (d == 0 && a->transpose_count < b->transpose_count);
}

fragment_info fragment_info_of(arena *a, const op *fragment) {
  fragment_info i = {.stage = INFO_NONE, .call_counter = INFO_NONE};
  attrs origins = fragment_origins(fragment);
  i64 calls = mpmd_call_counter(fragment);
  for (size_t k = 0; k < origins.len; k++) {
    const user_origin_attr *u = attr_as(user_origin, origins.data[k]);
    if (!u) continue;
    VEC_PUSH(a, i.origins, ((fragment_origin){u->name, u->transpose_count}));
    fragment_origin *o = i.origins.data;
    for (size_t at = i.origins.len - 1; at && origin_before(&o[at], &o[at - 1]); at--) {
      fragment_origin t = o[at];
      o[at] = o[at - 1];
      o[at - 1] = t;
    }
  }
  if (fragment_stage(fragment)) attr_get_i64(fragment_stage(fragment), &i.stage);
  if (calls >= 0) i.call_counter = calls;
  i.split = fragment_split(fragment);
  i.mesh = fragment_mesh(fragment);
  return i;
}

bool fragment_info_eq(const fragment_info *a, const fragment_info *b) {
  if (a->origins.len != b->origins.len || a->stage != b->stage || a->split != b->split ||
      a->call_counter != b->call_counter || !str_eq(a->mesh, b->mesh))
    return false;
  for (size_t i = 0; i < a->origins.len; i++) {
    const fragment_origin *x = &a->origins.data[i], *y = &b->origins.data[i];
    if (x->transpose_count != y->transpose_count || !str_eq(x->name, y->name)) return false;
  }
  return true;
}

u64 fragment_info_hash(const fragment_info *i) {
  u64 h = hash_u64((u64)i->stage, hash_u64((u64)i->call_counter, (u64)i->split));
  for (size_t k = 0; k < i->origins.len; k++) {
    const fragment_origin *o = &i->origins.data[k];
    h = hash_bytes(o->name.data, o->name.len, hash_u64((u64)o->transpose_count, h));
  }
  return hash_bytes(i->mesh.data, i->mesh.len, h);
}

void fragment_set_info(ir_module *m, op *fragment, const fragment_info *i) {
  ir_ctx *c = m->ctx;
  arena *s = ir_scratch_push(c);
  VEC(const attr *) origins = {0};
  for (size_t k = 0; k < i->origins.len; k++)
    VEC_PUSH(s, origins,
             attr_make(c, user_origin, .name = i->origins.data[k].name,
                       .transpose_count = i->origins.data[k].transpose_count));
  const attr *none = NULL, *unit = attr_unit(c);
  const type *ui32 = type_int(c, 32, UNSIGNED);
  op_set(fragment, mpmd_fragment, origin, attr_array(c, (attrs){origins.data, origins.len}));
  op_set(fragment, mpmd_fragment, stage_id, i->stage == INFO_NONE ? none : attr_i64(c, i->stage));
  op_set(fragment, mpmd_fragment, mesh_name, attr_string(c, i->mesh));
  op_set_attr(m, fragment, MPMD_CALL_COUNTER,
              i->call_counter == INFO_NONE ? none : attr_int(c, ui32, i->call_counter));
  op_set_attr(m, fragment, MPMD_SPLIT_KEEP, i->split == SPLIT_KEEP ? unit : none);
  op_set_attr(m, fragment, MPMD_SPLIT_DROP, i->split == SPLIT_DROP ? unit : none);
  ir_scratch_pop(c);
}

void fragment_info_print(buf *b, const fragment_info *i) {
  buf_printf(b, "FragmentInfo(origins=[");
  for (size_t k = 0; k < i->origins.len; k++) {
    const fragment_origin *o = &i->origins.data[k];
    buf_printf(b, "%s\"" STR_FMT "\"", k ? "," : "", STR_ARG(o->name));
    if (o->transpose_count > 0) buf_printf(b, "(%lld)", (long long)o->transpose_count);
  }
  buf_char(b, ']');
  if (i->stage != INFO_NONE) buf_printf(b, ",stage=%lld", (long long)i->stage);
  if (i->call_counter != INFO_NONE) buf_printf(b, ",call_counter=%lld", (long long)i->call_counter);
  if (i->split) buf_printf(b, ",split_type=%s", split_names[i->split]);
  buf_printf(b, ",mesh_name=\"" STR_FMT "\")", STR_ARG(i->mesh));
}

/* ---- reading ---- */

typedef struct rule_reader {
  ir_ctx *c;
  arena *a;
  const char *option;
  str rest;
} rule_reader;

static bool complain(const rule_reader *r, const char *what) {
  return loc_error(r->c, NULL, "for the --%s option: %s", r->option, what);
}

static bool eat(rule_reader *r, const char *word) {
  if (!str_starts(r->rest, str_of(word))) return false;
  r->rest = str_from(r->rest, strlen(word));
  return true;
}

/* Up to a quote, which is eaten too. */
static bool eat_quoted(rule_reader *r, str *out) {
  const char *end = r->rest.len ? memchr(r->rest.data, '"', r->rest.len) : NULL;
  if (!end) return false;
  *out = (str){r->rest.data, (size_t)(end - r->rest.data)};
  r->rest = str_from(r->rest, out->len + 1);
  return true;
}

static bool eat_int(rule_reader *r, i64 *out) {
  bool negative = eat(r, "-");
  size_t n = 0;
  for (*out = 0; n < r->rest.len && r->rest.data[n] >= '0' && r->rest.data[n] <= '9'; n++) {
    *out = *out * 10 + (r->rest.data[n] - '0');
    if (*out > INT32_MAX) return false;
  }
  r->rest = str_from(r->rest, n);
  if (negative) *out = -*out;
  return n != 0;
}

static bool read_origin(rule_reader *r, fragment_info *i) {
  fragment_origin o = {0};
  if (!eat(r, "\"") || !eat_quoted(r, &o.name)) return complain(r, "Expected a '\"'");
  if (eat(r, "(")) {
    if (!eat_int(r, &o.transpose_count)) return complain(r, "Expected a transpose count");
    if (!eat(r, ")")) return complain(r, "Expected ')'");
  }
  VEC_PUSH(r->a, i->origins, o);
  return true;
}

static bool read_number(rule_reader *r, const char *name, i64 *out) {
  if (*out != INFO_NONE)
    return complain(r, arena_printf(r->a, "'%s' specified more than once", name).data);
  return (eat_int(r, out) && *out >= 0) ||
         complain(r, arena_printf(r->a, "Expected an integer value for '%s'", name).data);
}

static bool read_split(rule_reader *r, fragment_info *i) {
  if (i->split) return complain(r, "'split_type' specified more than once");
  if (eat(r, split_names[SPLIT_KEEP])) return i->split = SPLIT_KEEP, true;
  if (eat(r, split_names[SPLIT_DROP])) return i->split = SPLIT_DROP, true;
  return complain(r, "Expected 'kKeepTransferred' or 'kDropTransferred' for 'split_type'");
}

static bool read_mesh(rule_reader *r, fragment_info *i) {
  if (i->mesh.len) return complain(r, "'mesh_name' specified more than once");
  if (!eat(r, "\"")) return complain(r, "Expected '\"' to start 'mesh_name'");
  return eat_quoted(r, &i->mesh) || complain(r, "Expected '\"' to end 'mesh_name'");
}

static bool read_field(rule_reader *r, fragment_info *i) {
  if (eat(r, "stage=")) return read_number(r, "stage", &i->stage);
  if (eat(r, "call_counter=")) return read_number(r, "call_counter", &i->call_counter);
  if (eat(r, "split_type=")) return read_split(r, i);
  if (eat(r, "mesh_name=")) return read_mesh(r, i);
  return complain(r,
                  "Expected 'stage=', 'call_counter=', 'split_type=', or 'mesh_name=' after ','");
}

static bool read_info(rule_reader *r, fragment_info *i) {
  *i = (fragment_info){.stage = INFO_NONE, .call_counter = INFO_NONE};
  if (!eat(r, "FragmentInfo(origins=[")) return complain(r, "Expected 'FragmentInfo(origins=['");
  while (!str_starts(r->rest, STR("]"))) {
    if (!read_origin(r, i)) return false;
    if (!eat(r, ",")) break;
  }
  if (!eat(r, "]")) return complain(r, "Expected ']'");
  while (eat(r, ","))
    if (!read_field(r, i)) return false;
  return eat(r, ")") || complain(r, "Expected ')'");
}

/* Behind the opening bracket, up to the closing one. */
static bool read_infos(rule_reader *r, const char *between, fragment_infos *out) {
  while (!str_starts(r->rest, STR("]"))) {
    fragment_info i;
    if (!read_info(r, &i)) return false;
    VEC_PUSH(r->a, *out, i);
    if (!eat(r, between)) break;
  }
  return true;
}

static bool read_merge(rule_reader *r, fragment_rule *rule) {
  if (!eat(r, "FragmentMergeRule(sources=["))
    return complain(r, "Expected 'FragmentMergeRule(sources=['");
  if (!read_infos(r, ",", &rule->infos)) return false;
  if (!eat(r, "],target=")) return complain(r, "Expected ',' or '],target='");
  return read_info(r, &rule->target) && (eat(r, ")") || complain(r, "Expected ')'"));
}

static bool read_schedule(rule_reader *r, fragment_rule *rule) {
  if (!eat(r, "FragmentScheduleRule(ordered_fragments=["))
    return complain(r, "Expected 'FragmentScheduleRule(ordered_fragments=['");
  return read_infos(r, "->", &rule->infos) && (eat(r, "])") || complain(r, "Expected '])'"));
}

typedef bool read_fn(rule_reader *r, fragment_rule *rule);

static bool read_rules(rule_reader *r, read_fn *read, fragment_rules *out) {
  *out = (fragment_rules){0};
  if (!r->rest.len) return true;
  do {
    fragment_rule rule = {0};
    if (!read(r, &rule)) return false;
    VEC_PUSH(r->a, *out, rule);
  } while (eat(r, ","));
  return !r->rest.len || complain(r, "Expected ',' between rules");
}

bool merge_rules_read(ir_ctx *c, arena *a, const char *option, str text, fragment_rules *out) {
  return read_rules(&(rule_reader){c, a, option, text}, read_merge, out);
}

bool schedule_rules_read(ir_ctx *c, arena *a, const char *option, str text, fragment_rules *out) {
  return read_rules(&(rule_reader){c, a, option, text}, read_schedule, out);
}
