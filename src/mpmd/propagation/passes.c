/* The rows of mpmd's passes: propagation. */
#include "mpmd/propagation/passes.h"

const pass_info mpmd_propagation_passes[] = {
    {"mpmd-convert-sdy-shardings-to-mpmd-types",
     "Moves shardings from attributes into types of tensors on meshes.",
     pass_mpmd_types_from_shardings, NULL, .scope = PASS_ON_FUNCS},
    {"mpmd-convert-sdy-constants", "Makes constants of sdy such of StableHLO.",
     pass_mpmd_convert_constants, NULL, .scope = PASS_ON_FUNCS},
    {"mpmd-populate-unreduced-out-sharding",
     "Says at fragments in which parts their results are, where a constraint says so.",
     pass_mpmd_unreduced_out, NULL, .scope = PASS_ON_FUNCS},
    {"mpmd-enforce-user-shardings",
     "Shards what fragments take and give at the program's borders as the user said.",
     pass_mpmd_enforce_shardings, NULL, .scope = PASS_ON_FUNCS},
    {"mpmd-extract-reshards-from-inter-mesh-transfers",
     "Makes fragments reshard, so that transfers only move.", pass_mpmd_extract_reshards, NULL,
     .scope = PASS_ON_FUNCS},
    {"mpmd-simplify-program", "Drops operands and results of fragments that say nothing.",
     pass_mpmd_simplify_program, NULL, .scope = PASS_ON_FUNCS},
    {"mpmd-sharding-propagation-pipeline", "Propagates shardings of a program over meshes.",
     pipeline_mpmd_propagation, NULL, .of_passes = true},
    {0},
};
