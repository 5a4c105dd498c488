/* Which codec has the attributes and types of a dialect. The table stands above the codecs; reader
 * and writer carry it, so that what they share can ask for a codec that itself asks them. */
#include "bytecode/reader.h"

const codec *const codecs[DIALECT_other + 1] = {
    [DIALECT_builtin] = &codec_builtin, [DIALECT_sdy] = &codec_sdy,
    [DIALECT_vhlo] = &codec_vhlo,       [DIALECT_stablehlo] = &codec_stablehlo,
    [DIALECT_chlo] = &codec_chlo,       [DIALECT_quant] = &codec_quant};
