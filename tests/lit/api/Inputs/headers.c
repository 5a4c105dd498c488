/* All public headers, or the one called ALONE; see ../headers.mlir. */
#ifdef ALONE
#include ALONE
#else
#include "terrazzo/dialect.h"
#include "terrazzo/explain.h"
#include "terrazzo/ir.h"
#include "terrazzo/layout.h"
#include "terrazzo/terrazzo.h"
#include "terrazzo/trace.h"

static tz_error *add(tz_context *c) {
  static tz_op_def def;
  def.struct_size = sizeof def;
  return tz_register_op(c, &def);
}
TZ_DIALECT(add)
#endif
