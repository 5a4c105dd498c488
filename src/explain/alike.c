#include "explain/alike.h"

u64 alike_key(str text) {
  u64 key = text.len > 0;
  for (size_t i = 0; i < text.len; i++) {
    char c = text.data[i];
    bool digit = c >= '0' && c <= '9', line = i && text.data[i - 1] == ':';
    if (!digit || line) {
      key = hash_u64((u64)(u8)c, key);
      while (line && i + 1 < text.len && text.data[i + 1] >= '0' && text.data[i + 1] <= '9')
        key = hash_u64((u64)(u8)text.data[++i], key);
    } else if (!i || text.data[i - 1] < '0' || text.data[i - 1] > '9') {
      key = hash_u64('0', key);
    }
  }
  return key;
}

void alike_add(arena *a, alike_texts *l, alike_text t) {
  for (size_t i = 0; i < l->len; i++) {
    if (l->data[i].key != t.key) continue;
    l->data[i].count++;
    l->data[i].bytes += t.bytes;
    return;
  }
  t.text = arena_str(a, t.text);
  VEC_PUSH(a, *l, t);
}
