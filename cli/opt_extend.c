/* What users bring to terrazzo opt: dialects in shared objects, priorities of ops. */
#include "api/api.h"
#include "opt.h"
#include "shard/op_priorities.h"

static bool read_priorities(ir_ctx *c, const char *path) {
  os_file f;
  if (say_option("--op-priorities", os_file_open(path, &f))) return ir_sink(c)->errors++, false;
  str text = arena_str(ir_arena(c), f.bytes);
  os_file_close(&f);
  return op_priorities_set(c, str_of(path), text);
}

bool opt_extend(const opt_options *o, ir_ctx *c) {
  if (!api_load_dialects((void *)(uintptr_t)o->dialects, c)) return false;
  return !o->op_priorities || read_priorities(c, o->op_priorities);
}
