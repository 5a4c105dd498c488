#include "shard/save.h"

#include "shard/traits.h"

static void save(ir_module *m, const pass_args *args, str path) {
  const pass_tables *t = args->tables;
  if (t && t->save && !t->save(t->user, m, path))
    op_warn(m->ctx, m->root, "cannot write file '" STR_FMT "'", STR_ARG(path));
}

void save_numbered(ir_module *m, const pass_args *args, str directory, int index,
                   const char *name) {
  save(m, args, arena_printf(&m->arena, STR_FMT "/%02d.%s.mlir", STR_ARG(directory), index, name));
}

bool pass_save_module(ir_module *m, arena *scratch, const pass_args *args) {
  str directory = pass_option_get(args, STR("dump-directory"), STR(""));
  str name = pass_option_get(args, STR("file-name"), STR("module"));
  if (directory.len)
    save(m, args,
         arena_printf(scratch, STR_FMT "/" STR_FMT ".mlir", STR_ARG(directory), STR_ARG(name)));
  return true;
}
