/* What is registered in the process: handlers by name, types by name and number. Nothing goes away
 * again, as in XLA, so that who has looked a handler up may keep it. */
#include "ffi/inside.h"

#include <strings.h>

#include "base/os.h"

typedef struct entry {
  struct entry *next;
  str name; /* its bytes lie behind the entry */
  ffi_handler handler;
  i64 type; /* of types */
  void (*deleter)(void *object);
} entry;

/* Ids that XLA's own registry gives are small, and the same object may be registered with both. */
enum { FIRST_TYPE = 1 << 20 };

/* The one place of the process's state, as the ABI registers without a client. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *handlers[2], *types; /* handlers: untyped, typed */
static i64 next_type = FIRST_TYPE;

static entry *find(entry *list, str name) {
  for (; list; list = list->next)
    if (str_eq(list->name, name)) return list;
  return NULL;
}

/* The lock is held. NULL: no memory. */
static entry *add(entry **list, str name) {
  entry *e = mem_zalloc(&mem_system, sizeof *e + name.len + 1);
  if (!e) return NULL;
  char *text = (char *)(e + 1);
  if (name.len) memcpy(text, name.data, name.len);
  e->name = (str){text, name.len};
  e->next = *list;
  return *list = e;
}

static status check_names(str name, str platform) {
  static const char *const ours[] = {"terrazzo", "cpu", "host"};
  if (!name.len) return status_make(STATUS_INVALID_ARGUMENT, "a handler without a name");
  for (size_t i = 0; i < COUNT(ours); i++)
    if (platform.len == strlen(ours[i]) && !strncasecmp(platform.data, ours[i], platform.len))
      return NULL;
  return status_make(STATUS_INVALID_ARGUMENT,
                     "handler '" STR_FMT "' is for platform '" STR_FMT "': this one is 'terrazzo'",
                     STR_ARG(name), STR_ARG(platform));
}

static status put(str name, bool typed, const ffi_handler *h) {
  pthread_mutex_lock(&lock);
  entry *e = find(handlers[typed], name);
  bool taken = e && memcmp(&e->handler, h, sizeof *h) != 0;
  bool oom = !e && !(e = add(&handlers[typed], name));
  if (!taken && !oom) e->handler = *h;
  pthread_mutex_unlock(&lock);
  if (oom) return status_oom();
  if (!taken) return NULL;
  return status_make(STATUS_ALREADY_EXISTS, "another handler is registered as '" STR_FMT "'",
                     STR_ARG(name));
}

/* Asks the handler which version of the ABI it was built for. */
static status check_version(str name, XLA_FFI_Handler *execute) {
  XLA_FFI_Metadata about = {
      .struct_size = FFI_END(XLA_FFI_Metadata, state_type_id),
      .api_version = {.struct_size = FFI_END(XLA_FFI_Api_Version, minor_version)}};
  XLA_FFI_Metadata_Extension ask = {
      .extension_base = {FFI_END(XLA_FFI_Metadata_Extension, metadata), XLA_FFI_Extension_Metadata,
                         NULL},
      .metadata = &about};
  XLA_FFI_CallFrame frame = {.struct_size = FFI_END(XLA_FFI_CallFrame, attrs),
                             .extension_start = &ask.extension_base,
                             .api = ffi_api(),
                             .stage = XLA_FFI_ExecutionStage_EXECUTE,
                             .args = {.struct_size = FFI_END(XLA_FFI_Args, args)},
                             .rets = {.struct_size = FFI_END(XLA_FFI_Rets, rets)},
                             .attrs = {.struct_size = FFI_END(XLA_FFI_Attrs, attrs)}};
  status s = ffi_status(execute(&frame));
  if (s) return s;
  if (about.api_version.major_version == XLA_FFI_API_MAJOR) return NULL;
  return status_make(STATUS_UNIMPLEMENTED,
                     "handler '" STR_FMT "' is of version %d.%d of the FFI, this is %d.%d",
                     STR_ARG(name), about.api_version.major_version,
                     about.api_version.minor_version, XLA_FFI_API_MAJOR, XLA_FFI_API_MINOR);
}

status ffi_register(str name, str platform, const XLA_FFI_Handler_Bundle *bundle) {
  RETURN_IF_ERROR(check_names(name, platform));
  if (!bundle->execute)
    return status_make(STATUS_INVALID_ARGUMENT, "handler '" STR_FMT "' has no function to execute",
                       STR_ARG(name));
  RETURN_IF_ERROR(check_version(name, bundle->execute));
  return put(name, true, &(ffi_handler){.bundle = *bundle});
}

status ffi_register_untyped(str name, str platform, void *function) {
  RETURN_IF_ERROR(check_names(name, platform));
  if (!function)
    return status_make(STATUS_INVALID_ARGUMENT, "handler '" STR_FMT "' is NULL", STR_ARG(name));
  return put(name, false, &(ffi_handler){.untyped = function});
}

bool ffi_find(str name, bool typed, ffi_handler *out) {
  pthread_mutex_lock(&lock);
  const entry *e = find(handlers[typed], name);
  if (e) *out = e->handler;
  pthread_mutex_unlock(&lock);
  return e != NULL;
}

bool ffi_serves(str name) {
  ffi_handler handler;
  return ffi_find(name, true, &handler);
}

/* ---- types ---- */

static entry *find_type(i64 id) {
  entry *e = types;
  while (e && e->type != id) e = e->next;
  return e;
}

status ffi_register_type(str name, i64 *id, void (*deleter)(void *object)) {
  pthread_mutex_lock(&lock);
  entry *e = find(types, name), *other = *id ? find_type(*id) : NULL;
  bool taken = (other && other != e) || (e && *id && e->type != *id);
  bool oom = !taken && !e && !(e = add(&types, name));
  if (!taken && !oom) {
    if (!e->type) e->type = *id ? *id : next_type++;
    if (deleter) e->deleter = deleter;
    *id = e->type;
  }
  pthread_mutex_unlock(&lock);
  if (oom) return status_oom();
  if (!taken) return NULL;
  return status_make(STATUS_ALREADY_EXISTS, "type '" STR_FMT "' or its number is registered",
                     STR_ARG(name));
}

bool ffi_type_deleter(i64 id, void (**out)(void *object)) {
  pthread_mutex_lock(&lock);
  const entry *e = id ? find_type(id) : NULL;
  if (e) *out = e->deleter;
  pthread_mutex_unlock(&lock);
  return e != NULL;
}
