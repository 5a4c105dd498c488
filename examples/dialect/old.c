/* What a dialect looks like that was built for another version of the header: refused. */
#include <terrazzo/dialect.h>

TZ_API extern const uint32_t terrazzo_dialect_abi;
const uint32_t terrazzo_dialect_abi = TZ_DIALECT_ABI + 1;
TZ_API tz_error *terrazzo_dialect_register(tz_context *c);
tz_error *terrazzo_dialect_register(tz_context *c) { return (void)c, NULL; }
