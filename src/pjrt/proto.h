/* Just enough of protocol buffers' wire format to read compile options and to write device
 * assignments. Every length is checked against what is there. */
#ifndef PJRT_PROTO_H
#define PJRT_PROTO_H

#include "base/buf.h"

typedef struct proto_field {
  u32 number, wire; /* wire: 0 varint, 1 eight bytes, 2 bytes, 5 four bytes */
  u64 value;        /* wire 0, 1, 5 */
  str bytes;        /* wire 2; borrowed */
} proto_field;

/* Takes the next field off the front of `message`. False at its end, and when the bytes make no
 * sense: then *out_bad is set. */
bool proto_next(str *message, proto_field *out_field, bool *out_bad);
/* Takes a varint off the front, of a packed list say. */
bool proto_varint(str *bytes, u64 *out_value);

void proto_put_varint(buf *b, u64 value);
void proto_put_int(buf *b, u32 number, u64 value);
void proto_put_bytes(buf *b, u32 number, str bytes);

#endif
