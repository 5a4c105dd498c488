/* Small things that the files of the printer share: numbers, names, quoted text. */
#include "text/lexer.h"
#include "text/printer.h"

void printer_i64(printer *w, i64 v) {
  char text[24], *end = text + sizeof text, *p = end;
  u64 u = v < 0 ? 0 - (u64)v : (u64)v;
  do *--p = (char)('0' + u % 10);
  while (u /= 10);
  if (v < 0) *--p = '-';
  buf_bytes(w->out, p, (size_t)(end - p));
}

void printer_newline(printer *w) {
  static const char spaces[] = "                                                                ";
  put_char(w, '\n');
  for (u32 n = w->indent; n > 0;) {
    u32 some = n < sizeof spaces - 1 ? n : (u32)sizeof spaces - 1;
    buf_bytes(w->out, spaces, some);
    n -= some;
  }
}

void printer_i64s(printer *w, i64s v, bool brackets) {
  if (brackets) put_char(w, '[');
  for (size_t i = 0; i < v.len; i++) {
    if (i) PUT(w, ", ");
    printer_i64(w, v.data[i]);
  }
  if (brackets) put_char(w, ']');
}

/* Escapes as in llvm::printEscapedString: backslash doubled, other bytes as two hex digits. */
void printer_quoted(printer *w, str s) {
  static const char hex[] = "0123456789ABCDEF";
  put_char(w, '"');
  for (size_t i = 0; i < s.len; i++) {
    unsigned char c = (unsigned char)s.data[i];
    if (c == '\\')
      PUT(w, "\\\\");
    else if (c >= 32 && c < 127 && c != '"')
      put_char(w, (char)c);
    else {
      put_char(w, '\\');
      put_char(w, hex[c >> 4]);
      put_char(w, hex[c & 15]);
    }
  }
  put_char(w, '"');
}

void printer_word_or_string(printer *w, str s) {
  if (str_is_bare(s))
    put(w, s);
  else
    printer_quoted(w, s);
}

void printer_symbol(printer *w, str s) {
  put_char(w, '@');
  if (s.len == 0)
    PUT(w, "<<INVALID EMPTY SYMBOL>>");
  else
    printer_word_or_string(w, s);
}
