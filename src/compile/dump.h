/* TERRAZZO_DUMP=dir: every stage of every compilation, as files. Inside compile only.
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

/* By what the environment says; INVALID_ARGUMENT: there is no folder to be had. */
status dump_open(str name, dump_folder *out) MUST_USE;
/* A file that cannot be written is left out. */
void dump_file(dump_folder *d, str stage, const char *suffix, str text);

#endif
