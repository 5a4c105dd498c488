#include "api/sized.h"

status sized_read(const void *from, size_t size, const char *type, void *out) {
  size_t theirs;
  memcpy(&theirs, from, sizeof theirs);
  if (theirs < sizeof theirs)
    return status_make(STATUS_INVALID_ARGUMENT, "struct_size of %s is not set: expected sizeof(%s)",
                       type, type);
  const u8 *bytes = from;
  for (size_t i = size; i < theirs; i++)
    if (bytes[i])
      return status_make(STATUS_INVALID_ARGUMENT,
                         "%s has something at byte %zu that this version does not know", type, i);
  memset(out, 0, size);
  memcpy(out, from, min_size(theirs, size));
  return NULL;
}

bool sized_write(void *to, const void *ours, size_t size) {
  size_t theirs, head = sizeof theirs;
  memcpy(&theirs, to, sizeof theirs);
  if (theirs < head) return false;
  memset((u8 *)to + head, 0, theirs - head);
  if (ours) memcpy((u8 *)to + head, (const u8 *)ours + head, min_size(theirs, size) - head);
  return true;
}
