/* Inside shard and partition only: the options of passes that are about shardings, Shardy's and
 * ours, for rows of passes and of the pipelines that hand them down. */
#ifndef SHARD_PASS_OPTIONS_H
#define SHARD_PASS_OPTIONS_H

#include "pass/pass.h"

#define FLAG(name, otherwise, help)                                                                \
  { name, PASS_FLAG, otherwise, help }
#define EXTRA FLAG("extra-rules", "false", "Use rules that Shardy does not have")
#define DEDUP FLAG("dedup-functions-fully", "false", "Have one copy of each function")
#define CONSERVATIVE                                                                               \
  FLAG("conservative-propagation", "false", "Split no axes, and nothing unevenly")
#define KEEP_RULES FLAG("keep-sharding-rules", "false", "Leave the rules in the module")
#define ORIGINS FLAG("debug-sharding-origins", "false", "Say where shardings come from")
#define EDGES FLAG("debug-propagation-edge-sharding", "false", "Say which way shardings went")
#define OLD_EDGES FLAG("debug-edge-source-sharding", "false", "The older name of that")
#define SAVE(name)                                                                                 \
  { name, PASS_STRING, "", "The folder that the module is saved in" }
#define BASIC                                                                                      \
  CONSERVATIVE, KEEP_RULES, EXTRA, ORIGINS, EDGES, OLD_EDGES, SAVE("module-dump-directory")
#define STRATEGY                                                                                   \
  { "propagation-strategy", PASS_STRING, "aggressive", "Or basic, basic-then-aggressive" }
#define BY_OP FLAG("run-op-priority-propagation", "true", "Propagate by the priorities of ops")
#define OPTIONS(name, ...) static const pass_option_info name##_options[] = {__VA_ARGS__, {0}}

#endif
