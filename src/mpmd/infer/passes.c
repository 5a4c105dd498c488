/* The rows of mpmd's passes: infer. */
#include "mpmd/infer/passes.h"

#define TRANSFERS                                                                                  \
  {                                                                                                \
    "infer-transfers", PASS_FLAG, "false",                                                         \
        "Make transfers where they are needed, instead of an error.", NULL                         \
  }
#define REDUCTIONS                                                                                 \
  { "infer-cross-mesh-reductions", PASS_FLAG, "false", "Find reductions across meshes.", NULL }
#define ERROR_LIMIT                                                                                \
  { "error-limit", PASS_INT, "5", "How many errors to report; -1: all; not 0.", NULL }

static const pass_option_info constraint_options[] = {
    {"verbose-logging", PASS_FLAG, "false", "Accepted and without effect.", NULL},
    {"constraints", PASS_LIST, "",
     "Pairs IN:OUT of an argument and a result that are to be on one mesh.", NULL},
    {0},
};
static const pass_option_info limit_options[] = {ERROR_LIMIT, {0}};
static const pass_option_info clone_options[] = {
    {"max-clones", PASS_INT, "1",
     "Into how many fragments an op without a mesh may go; 1: it is never copied.", NULL},
    {0},
};
static const pass_option_info finalize_options[] = {TRANSFERS, {0}};
static const pass_option_info pipeline_options[] = {
    TRANSFERS,
    REDUCTIONS,
    {"constraints", PASS_LIST, "", NULL, NULL}, /* these the import pipeline gives */
    {"error-limit", PASS_INT, "5", NULL, NULL},
    {"max-clones", PASS_INT, "1", NULL, NULL},
    {0},
};
static const pass_option_info leaf_options[] = {TRANSFERS, ERROR_LIMIT, {0}};
static const pass_option_info reduce_options[] = {REDUCTIONS, {0}};

const pass_info mpmd_infer_passes[] = {
    {"mpmd-infer-mesh-populate-use-set",
     "Notes for each value the meshes that it is assigned to later on.", pass_infer_use_sets, NULL},
    {"mpmd-infer-mesh-populate-src-set",
     "Notes for each value the meshes that it could be on without another transfer.",
     pass_infer_src_sets, NULL},
    {"mpmd-infer-mesh-assign-using-input-output-constraints",
     "Puts arguments and results that are to be on one mesh on one.", pass_infer_constraints, NULL,
     constraint_options},
    {"mpmd-infer-mesh-convert-reduce-ops",
     "Makes mpmd.reduce of what could be reductions across meshes.", pass_infer_convert_reduces,
     NULL, reduce_options, PASS_ON_FUNCS},
    {"mpmd-infer-mesh-assign-mesh-func-leaves",
     "Gives a mesh to results of programs, to what is unused, and to what is broadcast or reduced.",
     pass_infer_leaves, NULL, leaf_options},
    {"mpmd-infer-mesh-validate-src-set-not-empty", "Checks that every op could be on some mesh.",
     pass_infer_validate_src, NULL, limit_options},
    {"mpmd-infer-mesh-validate-no-additional-transfers-needed",
     "Checks that every op could be on the meshes that it is used on.", pass_infer_validate_uses,
     NULL, limit_options},
    {"mpmd-infer-mesh-rewrite-using-analysis", "Puts every op into a fragment on its mesh.",
     pass_infer_rewrite, NULL, clone_options},
    {"mpmd-infer-mesh-finalize",
     "Makes transfers of what is assigned from mesh to mesh, broadcast or reduced.",
     pass_infer_finalize, NULL, finalize_options},
    {"mpmd-infer-mesh-pipeline", "Finds out on which mesh each op is, and puts it there.",
     pipeline_infer_mesh, NULL, pipeline_options, .of_passes = true},
    {0},
};
