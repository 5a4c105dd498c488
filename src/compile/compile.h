/* From a program's text or bytecode to something that runs: the whole line in one call.
 *
 *   parse -> verify -> import -> propagate -> partition -> lower -> program
 *
 * An executable is immutable and refcounted; any thread may use it. It holds the program that
 * every device runs and what a client must know of parameters and results. */
#ifndef COMPILE_COMPILE_H
#define COMPILE_COMPILE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/status.h"
#include "mesh/op_sharding.h"
#include "program/program.h"
#include "num/dtype.h"

/* How one global array lies on the devices. The pieces of a dimension are of equal size. */
typedef struct compile_tensor {
  dtype type;
  i64s global_dims; /* as the program's signature has it */
  i64s local_dims;  /* of each device's piece */
  /* Piece of partition p: begin[d] = slice_of[p * rank + d] * local_dims[d]. NULL: the whole. */
  const u32 *slice_of;
  str op_sharding; /* serialized xla.OpSharding; empty means replicated (PJRT Shardings) */
  str sharding;    /* #sdy.sharding text, for people; empty: none */
  i32 alias;       /* parameter: result that may take over its buffer; -1: none */
  bool donated;    /* parameter: the caller gives it up: the program asks so and alias >= 0 */
  str memory_kind; /* mhlo.memory_kind; empty: the default memory */
  bool token;      /* the source has a token here; type and dims are those of pred[0] */
  /* How a device's piece lies in memory: its dimensions, the one whose elements are neighbours
   * first. Empty: row-major. See compile_options.layouts. */
  i64s minor_to_major;
} compile_tensor;

typedef struct executable {
  str name; /* module name */
  u32 num_replicas, num_partitions;
  const compile_tensor *params, *results;
  u32 num_params, num_results;
  const program *prog; /* run by every device */
  u64 fingerprint;     /* of source and options */
  const struct executable_owner *owner;
} executable;

struct ir_module;
struct ir_ctx;
struct why_log;

/* A custom call whose partitioning is somebody else's affair, with its global shapes and what
 * propagation made of them. */
typedef struct compile_part {
  dtype type;
  i64s dims;
  tile_assignment tiles;
} compile_part;

typedef struct compile_call {
  str target, config;
  const compile_part *args, *results;
  size_t num_args, num_results;
} compile_call;

/* How the values are to be sharded, and a module whose @main is what each device does with its
 * pieces, collectives and all. */
typedef struct compile_answer {
  str module;
  const tile_assignment *args, *results;
} compile_answer;

typedef struct compile_options {
  const allocator *mem; /* NULL: mem_system; must outlive the executable */
  str file;             /* for diagnostics; "-" if empty */
  u32 num_partitions;   /* 0: from the module (mhlo.num_partitions), else its largest mesh */
  u32 num_replicas;     /* 0: 1 */
  bool keep_denormals;
  bool layouts; /* parameters and results lie as mhlo.layout_mode says; false: row-major */
  /* Results of fewer bytes stay where propagation has them (partition/choose.h). 0: 65536;
   * UINT64_MAX: all do. */
  u64 choose_from;
  const char *const *mesh_overrides; /* "mesh=x=2,y=2"; NULL-terminated; NULL: none */
  const char *overrides_said;        /* what messages call them; NULL: "meshes" */
  /* Shapes of the arguments, "2x3" each, for a program that leaves sizes open; NULL-terminated;
   * NULL: not given. */
  const char *const *shapes;
  /* Called after each stage with its name and the module as text; NULL: not. */
  void (*dump)(void *user, str stage, str module_text);
  void *dump_user;
  const char *dump_to; /* a directory for every stage (compile/dump.h); NULL: TERRAZZO_DUMP says */
  bool dump_locations; /* the text says where in the source each op is from */
  /* Called with the new context before the source is read: registers dialects. NULL: not. false:
   * reported to the context's sink. */
  bool (*extend)(void *user, struct ir_ctx *c);
  void *extend_user;
  /* Called with the source once it is read, before anything looks at it; may change it. false: this
   * was what was wanted; the executable is NULL then. NULL: not. */
  bool (*read)(void *user, struct ir_module *m);
  void *read_user;
  /* Called with the program of one device, as IR that is gone afterwards; its collectives are as
   * partition/wire.h lists them, and with lines that say what was held whole although it was
   * sharded. It may give @main more results, shards under what their sdy.sharding says. NULL: not.
   * false: this was what was wanted; the executable is NULL then. */
  bool (*partitioned)(void *user, struct ir_module *m, str remarks);
  void *partitioned_user;
  /* Who partitions custom calls; asked after propagation, several times where several programs are
   * tried. The answer's memory is the arena's. inspect is told once how the operand of each call
   * @InspectSharding is sharded. NULL: nobody. */
  bool (*knows_call)(void *user, str target);
  bool (*batches_call)(void *user, str target); /* cut along the batch dimensions that it says */
  status (*partition_call)(void *user, arena *a, const compile_call *call, compile_answer *out);
  status (*inspect)(void *user, str config, const tile_assignment *tiles);
  void *calls_user;
  /* Called after a compilation with lines that say what is held whole although it was sharded, and
   * where in the user's program; NULL: not. */
  void (*remark)(void *user, str lines);
  void *remark_user;
  /* What is kept of how the program came about (partition/why.h); NULL: nobody asks. Where it is
   * given, `edit` may change the source once its ops are numbered, before propagation; NULL: nobody
   * does. false: reported. */
  struct why_log *why;
  bool (*edit)(void *user, struct ir_module *m);
  void *edit_user;
  /* Runs a program of one device without parameters, as exec_evaluate does; results[i] has room for
   * result i. So what is made of constants alone becomes constants. NULL: it stays as it is. */
  status (*evaluate)(const program *p, void *const *results);
} compile_options;

/* Compiles MLIR text, MLIR bytecode or a portable artifact. On failure the status holds every
 * diagnostic as `file:line:col: error: ...` lines: INVALID_ARGUMENT for a wrong program,
 * UNIMPLEMENTED for what we cannot do yet, RESOURCE_EXHAUSTED. `source` is not kept. */
status compile_source(str source, const compile_options *options,
                      executable **out_executable) MUST_USE;
executable *executable_retain(executable *e);
void executable_release(executable *e);

/* As bytes, for the same version of Terrazzo on a machine of the same byte order: all that it takes
 * to run, without the source. Out of memory shows in the buffer. */
void executable_serialize(const executable *e, buf *out);
/* Copies what it needs; mem as in compile_options. INVALID_ARGUMENT: these bytes are no executable,
 * or a damaged one; FAILED_PRECONDITION: one of another version; RESOURCE_EXHAUSTED. */
status executable_deserialize(const allocator *mem, str bytes,
                              executable **out_executable) MUST_USE;

#endif
