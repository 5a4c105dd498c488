/* Answers about a sharded program: why each collective is there, what memory a device needs, what
 * the collectives cost on given links, what looks wrong, what is different between two programs,
 * and whether it still computes what it does on one device. docs/explain.md says what the answers
 * mean.
 *
 *   char *answer;
 *   tz_explain_options o = {TZ_SIZED(tz_explain_options), .devices = 8, .collective = 3};
 *   tz_error *e = tz_explain(TZ_EXPLAIN_WHY, text, length, &o, &answer);
 *   if (!e) puts(answer), tz_free(answer);
 *
 * Each answer runs the program's whole line (tz_compile), and only TZ_EXPLAIN_VERIFY runs it on
 * devices. Errors as in terrazzo.h.
 *
 * Threads: any, several at once; calls share nothing. */
#ifndef TERRAZZO_EXPLAIN_H
#define TERRAZZO_EXPLAIN_H

#include "terrazzo/terrazzo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tz_explain_question {
  TZ_EXPLAIN_WHY = 0,
  TZ_EXPLAIN_MEM = 1,
  TZ_EXPLAIN_COMMS = 2,
  TZ_EXPLAIN_CHECK = 3,
  TZ_EXPLAIN_DIFF = 4,
  TZ_EXPLAIN_VERIFY = 5,
  TZ_EXPLAIN_REPORT = 6, /* as text: a page of HTML */
  TZ_EXPLAIN_PLAN = 7
} tz_explain_question;

typedef struct tz_explain_options {
  size_t struct_size;        /* TZ_SIZED(tz_explain_options) */
  const char *file;          /* the name that diagnostics use; NULL: "-" */
  uint32_t devices;          /* 0: as many as the module says */
  const char *const *meshes; /* as in tz_compile_options */
  bool text;                 /* for people; else JSON */
  uint32_t most;             /* rows of text; 0: 20 */
  /* Why: one collective (from 1), those that serve a line of the source, or how a value got its
   * sharding; 0 and NULL: all collectives. */
  uint32_t collective, line;
  const char *value;
  uint32_t tries;       /* changes of annotations to try for each collective */
  const char *topology; /* the text of a topology; needed for comms; why: times. NULL: none */
  uint64_t large;       /* check: bytes from which values should be cut; 0: 1 MiB */
  const char *other;    /* diff: the second program, of other_length bytes; report: what the
                           program was before */
  size_t other_length;
  uint64_t seed; /* verify: of the random inputs */
  /* Plan, besides devices, topology and tries (plans to try; 0: as many as take some seconds): one
   * mesh, as "x=2,y=4", or the axes of all of them, as "data,model"; bytes that a device has, 0:
   * enough; without the program's constraints; threads, 0: one a processor. */
  const char *mesh, *axes;
  uint64_t memory;
  bool free_of_constraints;
  uint32_t threads;
} tz_explain_options;

/* A NUL-terminated text, which tz_free frees. Options may be NULL, except for comms and diff. */
TZ_API tz_error *tz_explain(tz_explain_question question, const char *source, size_t length,
                            const tz_explain_options *options, char **out_answer);

#ifdef __cplusplus
}
#endif
#endif
