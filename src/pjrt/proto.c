/* Fields of protocol buffers. options.c reads with it; what is read borrows from the message. */
#include "pjrt/proto.h"

bool proto_varint(str *s, u64 *out) {
  u64 v = 0;
  for (size_t i = 0; i < s->len && i < 10; i++) {
    u8 byte = (u8)s->data[i];
    if (i == 9 && byte > 1) return false; /* does not fit */
    v |= (u64)(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *s = str_from(*s, i + 1);
      *out = v;
      return true;
    }
  }
  return false;
}

static bool take(str *s, u64 n, str *out) {
  if (n > s->len) return false;
  *out = (str){s->data, (size_t)n};
  *s = str_from(*s, (size_t)n);
  return true;
}

static bool read_field(str *s, proto_field *f) {
  u64 tag, n;
  if (!proto_varint(s, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3) return false;
  *f = (proto_field){.number = (u32)(tag >> 3), .wire = (u32)(tag & 7)};
  if (f->wire == 0) return proto_varint(s, &f->value);
  if (f->wire == 2) return proto_varint(s, &n) && take(s, n, &f->bytes);
  if (f->wire != 1 && f->wire != 5) return false; /* groups are not used */
  str raw;
  if (!take(s, f->wire == 1 ? 8 : 4, &raw)) return false;
  for (size_t i = raw.len; i-- > 0;) f->value = f->value << 8 | (u8)raw.data[i];
  return true;
}

bool proto_next(str *message, proto_field *out, bool *out_bad) {
  if (message->len == 0) return false;
  if (read_field(message, out)) return true;
  *out_bad = true;
  return false;
}

void proto_put_varint(buf *b, u64 v) {
  for (; v >= 0x80; v >>= 7) buf_char(b, (char)(v | 0x80));
  buf_char(b, (char)v);
}

void proto_put_int(buf *b, u32 number, u64 value) {
  proto_put_varint(b, (u64)number << 3);
  proto_put_varint(b, value);
}

void proto_put_bytes(buf *b, u32 number, str bytes) {
  proto_put_varint(b, (u64)number << 3 | 2);
  proto_put_varint(b, bytes.len);
  buf_str(b, bytes);
}
