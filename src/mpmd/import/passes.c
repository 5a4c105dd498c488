/* The rows of mpmd's passes: import. */
#include "mpmd/import/passes.h"

#define TEXT(name, kind, help)                                                                     \
  { name, kind, "", help }
#define FLAG(name, help)                                                                           \
  { name, PASS_FLAG, "false", help }
#define OPTIONS(name, ...) static const pass_option_info name##_options[] = {__VA_ARGS__, {0}}

OPTIONS(assignment, TEXT("assignment", PASS_STRING, "Meshes of names: f1@m1,f2@m2/STAGE"));
OPTIONS(borders, TEXT("input-assignment", PASS_STRING, "Meshes of arguments: 0@m1,1@m2#device"),
        TEXT("output-assignment", PASS_STRING, "Meshes of results, likewise"));
OPTIONS(constraints, TEXT("constraints", PASS_LIST, "Arguments and results on one mesh: 0:1,1:2"));

OPTIONS(import, TEXT("name-to-mesh-assignment", PASS_STRING, "Meshes of names: f1@m1,f2@m2/STAGE"),
        TEXT("input-assignment", PASS_STRING, "Meshes of arguments: 0@m1,1@m2#device"),
        TEXT("output-assignment", PASS_STRING, "Meshes of results, likewise"),
        TEXT("constraints", PASS_LIST, "Arguments and results on one mesh: 0:1,1:2"),
        FLAG("merge-after-scheduling", "Leave inferred fragments alone"),
        FLAG("absorb-inferred-fragments-on-entry-point-function", "Absorb them in @main too"),
        FLAG("infer-transfers", "Transfer what is needed on several meshes"),
        FLAG("infer-cross-mesh-reductions", "Reduce over meshes"),
        {"error-limit", PASS_INT, "5", "How many errors of it to report; -1: all"},
        {"max-clones", PASS_INT, "1", "Into how many fragments an op without a mesh may go"},
        FLAG("enable-heterogeneous-meshes", "Have a mesh of sdy for each of the topology"),
        FLAG("split-bwd-fragments", "Split backward fragments around transfers"),
        FLAG("verify-schedule-units", "Check that there is one fragment for each unit"));

const pass_info mpmd_import_passes[] = {
    {"mpmd-copy-topology-from-main", "Gives functions that mpmd.call names the topology of @main.",
     pass_mpmd_copy_topology, NULL},
    {"mpmd-enforce-input-output-equisharding",
     "Transfers results to where the arguments are that they are tied to.",
     pass_mpmd_enforce_equisharding, NULL, constraints_options, PASS_ON_FUNCS},
    {"mpmd-map-named-ops-to-mpmd-ops",
     "Makes fragments of named computations, and puts named tensors on meshes.",
     pass_mpmd_map_named, NULL, assignment_options, PASS_ON_FUNCS},
    {"mpmd-map-input-output-to-mesh", "Puts arguments and results on meshes.",
     pass_mpmd_map_input_output, NULL, borders_options},
    {"mpmd-inline-nested-user-exposed-ops",
     "Inlines named ops, broadcasts and reductions inside of named computations.",
     pass_mpmd_inline_nested, NULL, assignment_options, PASS_ON_FUNCS},
    {"mpmd-introduce-transfers", "Transfers what is taken off one mesh and put on another.",
     pass_mpmd_introduce_transfers, NULL},
    {"mpmd-insert-nameless-clone-of-negligible-ops",
     "Copies ops without operands out of named computations that return what they make.",
     pass_mpmd_clone_negligible, NULL, NULL, PASS_ON_FUNCS},
    {"mpmd-simplify-named-computations",
     "Drops operands and results of named computations that say nothing.", pass_mpmd_simplify_named,
     NULL, NULL, PASS_ON_FUNCS},
    {"mpmd-validate-named-ops-in-mpmd-func",
     "Reports named ops outside of functions with a topology.", pass_mpmd_validate_named, NULL,
     NULL, PASS_ON_FUNCS},
    {"mpmd-generate-sdy-meshes-from-topology", "Makes shardings name the meshes of the topology.",
     pass_mpmd_generate_meshes, NULL},
    {"mpmd-import-pipeline", "Makes fragments on meshes of a program with names.",
     pipeline_mpmd_import, NULL, import_options, .of_passes = true},
    {0},
};
