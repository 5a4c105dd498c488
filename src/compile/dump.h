/* Every stage of a compilation, as files: of every one where TERRAZZO_DUMP=dir is in the
 * environment, of one whose caller names a directory (compile_options.dump_to). Inside compile
 * only.
 *
 * A compilation has a folder of its own, NUMBER-NAME, in that directory, which is made if it is not
 * there; its files are NUMBER-STAGE.mlir in order, and last the program of a device. */
#ifndef COMPILE_DUMP_H
#define COMPILE_DUMP_H

#include "base/buf.h"
#include "base/status.h"

typedef struct dump_folder {
  char path[1024]; /* "": nobody wants any */
  u32 files;
} dump_folder;

/* dir NULL: by what the environment says. INVALID_ARGUMENT: there is no folder to be had. */
status dump_open(const char *dir, str name, dump_folder *out) MUST_USE;
/* A file that cannot be written is left out. */
void dump_file(dump_folder *d, str stage, const char *suffix, str text);

#endif
