/* The rows of the passes that need no sharding: MLIR's generic ones, and StableHLO's. */
#include "pass/passes.h"

static const pass_option_info canonicalize_options[] = {
    {"top-down", PASS_FLAG, "true", "Seed the worklist in top-down order", NULL},
    {"region-simplify", PASS_STRING, "normal",
     "disabled: blocks and unneeded ops stay where they are", "disabled,normal,aggressive"},
    {"max-iterations", PASS_INT, "10", "Iterations at most; -1: until nothing changes", NULL},
    {"max-num-rewrites", PASS_INT, "-1", "Patterns applied at most in an iteration; -1: no limit",
     NULL},
    {"cse-between-iterations", PASS_FLAG, "false", "Run cse behind each iteration", NULL},
    {"test-convergence", PASS_FLAG, "false", "Fail if the iterations came to no end", NULL},
    {"disable-patterns", PASS_LIST, "", "Names or labels of patterns to leave out", NULL},
    {"enable-patterns", PASS_LIST, "", "Names or labels of the only patterns to use", NULL},
    {"filter-dialects", PASS_LIST, "", "Dialects of the only ops that patterns are used for", NULL},
    {0},
};
static const pass_option_info inline_options[] = {
    {"default-pipeline", PASS_PIPELINE, "canonicalize",
     "Passes to run on every function; may be empty", NULL},
    {"op-pipelines", PASS_PIPELINES, "", "func.func(...): passes to run instead of those", NULL},
    {"inlining-threshold", PASS_UINT, "4294967295",
     "Ops of a callee in percent of its caller's at most; 4294967295: no limit", NULL},
    {"max-iterations", PASS_UINT, "4", "Rounds of simplifying and inlining at most", NULL},
    {0},
};
static const pass_option_info composite_options[] = {
    {"except", PASS_LIST, "", "Names of composites that stay", NULL},
    {0},
};
static const pass_option_info deprecated_options[] = {
    {"fail-on-unused", PASS_FLAG, "true", "Fail where an op has nothing in its place: map, rng",
     NULL},
    {0},
};

static const char *const pre_serialization[] = {"chlo-legalize-to-stablehlo", NULL};

const pass_info pass_generic[] = {
    {"canonicalize", "Applies the folds and canonicalization patterns of all dialects",
     pass_canonicalize, NULL, canonicalize_options, PASS_ON_ANY, .nested = true},
    {"cse", "Merges equal ops without effects, and erases dead ones", pass_cse,
     .scope = PASS_ON_ANY, .nested = true},
    {"inline", "Puts the bodies of called functions in the place of the calls", pass_inline, NULL,
     inline_options, PASS_ON_ANY, .nested = true},
    {"strip-debuginfo", "Makes every location unknown", pass_strip_debuginfo, .scope = PASS_ON_ANY,
     .nested = true},
    {"symbol-dce", "Erases symbols that nothing refers to and nothing outside can see",
     pass_symbol_dce, .scope = PASS_ON_ANY, .nested = true},
    {"terrazzo-inline-all", "Inlines every call, or fails; then erases what nothing calls",
     pass_inline_all, NULL},
    {"chlo-legalize-to-stablehlo", "Writes chlo ops in terms of StableHLO (and shape) ops",
     pass_chlo_legalize, .scope = PASS_ON_FUNCS, .nested = true},
    {"chlo-pre-serialization-pipeline", "Writes all that portable artifacts lack in StableHLO",
     NULL, pre_serialization},
    {"stablehlo-legalize-composite-to-call", "Replaces composites by calls of what they stand for",
     pass_composite_to_call, NULL, composite_options, PASS_ON_FUNCS},
    {"stablehlo-legalize-deprecated-ops", "Replaces deprecated ops by those that took their place",
     pass_legalize_deprecated, NULL, deprecated_options, PASS_ON_FUNCS, .nested = true},
    {"stablehlo-complex-math-expander", "Writes complex log, sqrt and exp in terms of real ops",
     pass_complex_math, .scope = PASS_ON_FUNCS, .nested = true},
    {"stablehlo-aggressive-simplification", "Removes ops that do nothing and merges compositions",
     pass_simplify, .scope = PASS_ON_FUNCS, .nested = true},
    {"stablehlo-target-independent-optimization",
     "The same, and replaces what constants choose by it", pass_optimize, .scope = PASS_ON_FUNCS,
     .nested = true},
    {0},
};
