/* The {-# dialect_resources: ... #-} that ends a file: the blobs that its constants name. */
#include "text/printer.h"

/* Called for each constant that names one; the file ends with those that were named, in this
 * order. */
void printer_note_resource(printer *w, str key) {
  resource_keys *keys = w->resources;
  if (!keys) return;
  u64 hash = hash_bytes(key.data, key.len, 0);
  const str *k;
  for (size_t at = 0; (k = index_next(&keys->index, hash, &at));)
    if (str_eq(*k, key)) return;
  str *copy = ARENA_NEW(w->forms.a, str);
  *copy = key;
  index_add(&keys->index, w->forms.a, hash, copy);
  VEC_PUSH(w->forms.a, keys->list, key);
}

/* Hex of the alignment, four bytes, then of the blob: AsmResourceBlob as MLIR prints it. */
static void print_blob(printer *w, str bytes, u32 align) {
  if (align == 0) align = 1;
  PUT(w, "\"0x");
  printer_hex(w, (str){(const char *)&align, sizeof align});
  printer_hex(w, bytes);
  put_char(w, '"');
}

void printer_resources_print(printer *w, ir_ctx *c) {
  bool any = false, elided = false;
  str bytes;
  for (size_t i = 0; w->resources && i < w->resources->list.len; i++) {
    str key = w->resources->list.data[i];
    if (!ir_resource_get(c, key, &bytes)) continue;
    print_limit limit = w->options.elide_resource;
    if (limit.set && (i64)bytes.len * 2 + 12 > limit.most) { /* with 0x, alignment, quotes */
      elided = true;
      continue;
    }
    if (any)
      PUT(w, ",\n      ");
    else
      PUT(w, "\n{-#\n  dialect_resources: {\n    builtin: {\n      ");
    any = true;
    printer_word_or_string(w, key);
    PUT(w, ": ");
    print_blob(w, bytes, ir_resource_align(c, key));
  }
  if (any)
    PUT(w, "\n    }\n  }\n#-}\n");
  else if (elided)
    PUT(w, "\n{-#\n\n#-}\n");
}
