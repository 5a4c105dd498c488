/* Errors, and the plugin's own entries. */
#include "base/arena.h"
#include "pjrt/api.h"
#include "pjrt/slots.h"

typedef struct error {
  PJRT_Error base; /* the vtable, first */
  status s;
} error;

/* For when there is no memory for an error object. */
static const error out_of_memory;

static status status_of(const PJRT_Error *e) {
  return e == &out_of_memory.base ? status_oom() : ((const error *)e)->s;
}

static void error_message(const PJRT_Error *e, const char **text, size_t *size) {
  str s = e ? status_message(status_of(e)) : STR("");
  *text = s.data;
  *size = s.len;
}

static PJRT_Error_Code error_code(const PJRT_Error *e) {
  return e ? (PJRT_Error_Code)status_get_code(status_of(e)) : PJRT_Error_Code_OK;
}

static void error_payloads(const PJRT_Error *e, PJRT_Error_PayloadVisitor visitor, void *user) {
  if (e && visitor) status_visit(status_of(e), visitor, user);
}

static void error_destroy(PJRT_Error *e);

static const PJRT_Error_FunctionTable error_vtable = {
    .struct_size = PJRT_Error_FunctionTable_END,
    .instance_size = sizeof(error),
    .destroy = error_destroy,
    .message = error_message,
    .get_code = error_code,
    .for_each_payload = error_payloads,
};

static const error out_of_memory = {{&error_vtable}, NULL};

/* Where there is no memory for an error, a constant one says so: the caller must not take it for
 * success. */
PJRT_Error *api_error(status s) {
  if (!s) return NULL;
  error *e = mem_alloc(&mem_system, sizeof *e);
  if (!e) {
    status_free(s);
    return (PJRT_Error *)(uintptr_t)&out_of_memory.base; /* nobody writes to an error */
  }
  *e = (error){{&error_vtable}, s};
  return &e->base;
}

status api_error_take(PJRT_Error *e) {
  status s = e ? status_copy(status_of(e)) : NULL;
  error_destroy(e);
  return s;
}

static void error_destroy(PJRT_Error *e) {
  if (!e || e == &out_of_memory.base) return;
  status_free(status_of(e));
  mem_free(&mem_system, e, sizeof(error));
}

static size_t size_of(const void *args) { return *(const size_t *)args; }

/* By the PJRT C API every struct begins with its size as its caller knew it. */
status api_check_size(const char *function, const void *args, size_t need) {
  if (!args) return status_make(STATUS_INVALID_ARGUMENT, "%s: no arguments", function);
  size_t have = size_of(args);
  if (have >= need) return NULL;
  return status_make(
      STATUS_INVALID_ARGUMENT,
      "%s: the caller's struct ends at byte %zu, version %d.%d of the PJRT API needs "
      "%zu",
      function, have, PJRT_API_MAJOR, PJRT_API_MINOR, need);
}

bool api_older(const void *args, size_t oldest, size_t end) {
  return args && size_of(args) >= oldest && size_of(args) < end;
}

void api_widen(void *full, const void *args, size_t end) {
  memset(full, 0, end);
  memcpy(full, args, size_of(args));
  *(size_t *)full = end;
}

void api_narrow(void *args, const void *full) {
  size_t size = size_of(args);
  memcpy(args, full, size);
  *(size_t *)args = size;
}

status api_check_handle(const char *function, const char *field, const void *p, u32 kind) {
  if (!p) return api_missing(function, field);
  /* these two begin with a vtable */
  const handle *h = kind == API_MEMORY || kind == API_RAW ? &((const api_memory *)p)->head : p;
  if (h->kind != kind)
    return status_make(STATUS_INVALID_ARGUMENT, "%s: %s is not of its type, or has been destroyed",
                       function, field);
  if (h->forks == os_forks()) return NULL;
  return status_make(STATUS_FAILED_PRECONDITION,
                     "%s: %s belongs to the process that this one was forked from", function,
                     field);
}

status api_missing(const char *function, const char *field) {
  return status_make(STATUS_INVALID_ARGUMENT, "%s: %s is NULL", function, field);
}

status api_check_end(const char *function, const void *p, u32 kind, bool *out_ours) {
  status s = p ? api_check_handle(function, "the handle", p, kind) : NULL;
  *out_ours = p && !s;
  if (status_get_code(s) != STATUS_FAILED_PRECONDITION) return s;
  status_free(s);
  return NULL;
}

enum { MAX_MESSAGE = 1 << 20 };

status api_status(PJRT_Error_Code code, const char *text, size_t size) {
  if (code == PJRT_Error_Code_OK) return NULL;
  if ((unsigned)code > STATUS_UNAUTHENTICATED) code = PJRT_Error_Code_UNKNOWN;
  return status_make((status_code)code, "%.*s", (int)min_size(size, MAX_MESSAGE), text ? text : "");
}

status api_status_with(PJRT_Error_Code code, str text, const PJRT_NamedValue *values, size_t n,
                       status *out) {
  *out = NULL;
  for (size_t i = 0; i < n; i++)
    if (values[i].type != PJRT_NamedValue_kString)
      return status_make(STATUS_INVALID_ARGUMENT, "payload %zu is not a string", i);
  *out = api_status(code, text.data, text.len);
  for (size_t i = 0; i < n; i++)
    status_attach(*out, (str){values[i].name, values[i].name_size},
                  (str){values[i].string_value, values[i].value_size});
  return NULL;
}

void api_error_destroy(PJRT_Error_Destroy_Args *a) { error_destroy(a->error); }
void api_error_message(PJRT_Error_Message_Args *a) {
  error_message(a->error, &a->message, &a->message_size);
}
void api_error_get_code(PJRT_Error_GetCode_Args *a) { a->code = error_code(a->error); }
void api_error_for_each_payload(PJRT_Error_ForEachPayload_Args *a) {
  error_payloads(a->error, a->visitor, a->user_arg);
}

status api_plugin_initialize(PJRT_Plugin_Initialize_Args *a) {
  (void)a;
  return NULL;
}

/* The version of StableHLO's portable artifacts that we ask for: what the bytecode reader and
 * the vhlo rows are written to. */
status api_plugin_attributes(PJRT_Plugin_Attributes_Args *a) {
#define NAME(text) .name = text, .name_size = sizeof(text) - 1
#define VERSION(text, numbers)                                                                     \
  {                                                                                                \
    .struct_size = PJRT_NamedValue_END, NAME(text), .type = PJRT_NamedValue_kInt64List,            \
    .int64_array_value = numbers, .value_size = 3                                                  \
  }
  static const int64_t version[] = {1, 13, 7}, oldest[] = {1, 0, 0};
  static const PJRT_NamedValue attributes[] = {
      VERSION("stablehlo_current_version", version),
      VERSION("stablehlo_minimum_version", oldest),
  };
#undef VERSION
#undef NAME
  a->attributes = attributes;
  a->num_attributes = COUNT(attributes);
  return NULL;
}
