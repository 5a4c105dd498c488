/* Numbers of the format that reader and writer share.
 *
 * Source: mlir/docs/BytecodeFormat.md. */
#ifndef BYTECODE_SECTIONS_H
#define BYTECODE_SECTIONS_H

enum {
  SECTION_strings,
  SECTION_dialects,
  SECTION_attrs,
  SECTION_attr_offsets,
  SECTION_ir,
  SECTION_resources,
  SECTION_resource_offsets,
  SECTION_versions,
  SECTION_properties,
  SECTION_COUNT
};

/* Which parts an op has, in its order on the wire but for the attributes, which come first. */
enum {
  HAS_ATTRS = 1,
  HAS_RESULTS = 2,
  HAS_OPERANDS = 4,
  HAS_SUCCESSORS = 8,
  HAS_REGIONS = 16,
  HAS_USES = 32,
  HAS_PROPERTIES = 64
};

#endif
