/* XLA's FFI C ABI, version 0.3, as its handlers see it: xla/ffi/api/c_api.h, which jaxlib ships.
 * The names and the order of fields are the ABI's; handlers that other compilers made rely on both.
 * A struct's struct_size ends with its last field; abi_check below holds the offsets. */
#ifndef FFI_ABI_H
#define FFI_ABI_H

#include "base/base.h"

#define XLA_FFI_API_MAJOR 0
#define XLA_FFI_API_MINOR 3

typedef struct XLA_FFI_Api XLA_FFI_Api;
typedef struct XLA_FFI_InternalApi XLA_FFI_InternalApi;
typedef struct XLA_FFI_Error XLA_FFI_Error;
typedef struct XLA_FFI_Future XLA_FFI_Future;
typedef struct XLA_FFI_ExecutionContext XLA_FFI_ExecutionContext;

typedef enum { XLA_FFI_Extension_Metadata = 1 } XLA_FFI_Extension_Type;
typedef struct XLA_FFI_Extension_Base {
  size_t struct_size;
  XLA_FFI_Extension_Type type;
  struct XLA_FFI_Extension_Base *next;
} XLA_FFI_Extension_Base;

/* What every struct of arguments begins with. */
#define XLA_FFI_HEAD                                                                               \
  size_t struct_size;                                                                              \
  XLA_FFI_Extension_Base *extension_start;

typedef struct XLA_FFI_Api_Version {
  XLA_FFI_HEAD
  int major_version, minor_version;
} XLA_FFI_Api_Version;

/* Codes are those of base/status.h; numbers of element types are XLA's (abi.c). */
typedef int XLA_FFI_Error_Code;
typedef int XLA_FFI_DataType;
enum { XLA_FFI_DataType_PRED = 1, XLA_FFI_DataType_TOKEN = 17 };

/* ---- what a handler is given ---- */

typedef struct XLA_FFI_Buffer {
  XLA_FFI_HEAD
  XLA_FFI_DataType dtype;
  void *data;
  int64_t rank;
  int64_t *dims;
} XLA_FFI_Buffer;

typedef enum { XLA_FFI_ArgType_BUFFER = 1 } XLA_FFI_ArgType;
typedef enum { XLA_FFI_RetType_BUFFER = 1 } XLA_FFI_RetType;
typedef enum {
  XLA_FFI_AttrType_ARRAY = 1,
  XLA_FFI_AttrType_DICTIONARY = 2,
  XLA_FFI_AttrType_SCALAR = 3,
  XLA_FFI_AttrType_STRING = 4
} XLA_FFI_AttrType;

typedef struct XLA_FFI_ByteSpan {
  const char *ptr;
  size_t len;
} XLA_FFI_ByteSpan;
typedef struct XLA_FFI_Scalar {
  XLA_FFI_DataType dtype;
  void *value;
} XLA_FFI_Scalar;
typedef struct XLA_FFI_Array {
  XLA_FFI_DataType dtype;
  size_t size;
  void *data;
} XLA_FFI_Array;

typedef enum {
  XLA_FFI_ExecutionStage_INSTANTIATE,
  XLA_FFI_ExecutionStage_PREPARE,
  XLA_FFI_ExecutionStage_INITIALIZE,
  XLA_FFI_ExecutionStage_EXECUTE
} XLA_FFI_ExecutionStage;

typedef struct XLA_FFI_Args {
  XLA_FFI_HEAD
  int64_t size;
  XLA_FFI_ArgType *types;
  void **args;
} XLA_FFI_Args;
typedef struct XLA_FFI_Rets {
  XLA_FFI_HEAD
  int64_t size;
  XLA_FFI_RetType *types;
  void **rets;
} XLA_FFI_Rets;
typedef struct XLA_FFI_Attrs { /* sorted by name */
  XLA_FFI_HEAD
  int64_t size;
  XLA_FFI_AttrType *types;
  XLA_FFI_ByteSpan **names;
  void **attrs;
} XLA_FFI_Attrs;

typedef struct XLA_FFI_CallFrame {
  XLA_FFI_HEAD
  const XLA_FFI_Api *api;
  XLA_FFI_ExecutionContext *ctx;
  XLA_FFI_ExecutionStage stage;
  XLA_FFI_Args args;
  XLA_FFI_Rets rets;
  XLA_FFI_Attrs attrs;
  XLA_FFI_Future *future; /* out */
} XLA_FFI_CallFrame;

typedef XLA_FFI_Error *XLA_FFI_Handler(XLA_FFI_CallFrame *frame);
typedef struct XLA_FFI_Handler_Bundle {
  XLA_FFI_Handler *instantiate, *prepare, *initialize, *execute; /* all but the last may be NULL */
} XLA_FFI_Handler_Bundle;
typedef uint32_t XLA_FFI_Handler_Traits;

typedef struct XLA_FFI_TypeId {
  int64_t type_id;
} XLA_FFI_TypeId;
typedef struct XLA_FFI_TypeInfo {
  XLA_FFI_HEAD
  void (*deleter)(void *object);
} XLA_FFI_TypeInfo;

typedef struct XLA_FFI_Metadata {
  size_t struct_size;
  XLA_FFI_Api_Version api_version;
  XLA_FFI_Handler_Traits traits;
  XLA_FFI_TypeId state_type_id;
} XLA_FFI_Metadata;
typedef struct XLA_FFI_Metadata_Extension {
  XLA_FFI_Extension_Base extension_base;
  XLA_FFI_Metadata *metadata;
} XLA_FFI_Metadata_Extension;

/* ---- what a handler may call ----
 * FFI_FN(name, what it returns, fields of its arguments after the head, the last of them) */
typedef void XLA_FFI_Task(void *data);
#define FFI_FUNCTIONS(FFI_FN)                                                                      \
  FFI_FN(Error_Create, XLA_FFI_Error *, const char *message; XLA_FFI_Error_Code errc;, errc)       \
  FFI_FN(Error_GetMessage, void, XLA_FFI_Error *error; const char *message;, message)              \
  FFI_FN(Error_Destroy, void, XLA_FFI_Error *error;, error)                                        \
  FFI_FN(Handler_Register, XLA_FFI_Error *, XLA_FFI_ByteSpan name; XLA_FFI_ByteSpan platform;      \
         XLA_FFI_Handler_Bundle bundle; XLA_FFI_Handler_Traits traits;, traits)                    \
  FFI_FN(Stream_Get, XLA_FFI_Error *, XLA_FFI_ExecutionContext *ctx; void *stream;, stream)        \
  FFI_FN(Type_Register, XLA_FFI_Error *, XLA_FFI_ByteSpan name; XLA_FFI_TypeId * type_id;          \
         const XLA_FFI_TypeInfo *type_info;, type_id)                                              \
  FFI_FN(ExecutionContext_Get, XLA_FFI_Error *, XLA_FFI_ExecutionContext *ctx;                     \
         XLA_FFI_TypeId * type_id; void *data;, data)                                              \
  FFI_FN(State_Set, XLA_FFI_Error *, XLA_FFI_ExecutionContext *ctx; XLA_FFI_ExecutionStage stage;  \
         XLA_FFI_TypeId * type_id; void *state;, state)                                            \
  FFI_FN(State_Get, XLA_FFI_Error *, XLA_FFI_ExecutionContext *ctx; XLA_FFI_ExecutionStage stage;  \
         XLA_FFI_TypeId * type_id; void *state;, state)                                            \
  FFI_FN(DeviceMemory_Allocate, XLA_FFI_Error *, XLA_FFI_ExecutionContext *ctx; size_t size;       \
         size_t alignment; void *data;, data)                                                      \
  FFI_FN(DeviceMemory_Free, XLA_FFI_Error *, XLA_FFI_ExecutionContext *ctx; size_t size;           \
         void *data;, data)                                                                        \
  FFI_FN(ThreadPool_Schedule, XLA_FFI_Error *, XLA_FFI_ExecutionContext *ctx; XLA_FFI_Task * task; \
         void *data;, data)                                                                        \
  FFI_FN(ThreadPool_NumThreads, XLA_FFI_Error *, XLA_FFI_ExecutionContext *ctx;                    \
         int64_t * num_threads;, num_threads)                                                      \
  FFI_FN(Future_Create, XLA_FFI_Error *, XLA_FFI_Future *future;, extension_start)                 \
  FFI_FN(Future_SetAvailable, XLA_FFI_Error *, XLA_FFI_Future *future;, future)                    \
  FFI_FN(Future_SetError, XLA_FFI_Error *, XLA_FFI_Future *future; XLA_FFI_Error * error;, error)  \
  FFI_FN(RunId_Get, XLA_FFI_Error *, XLA_FFI_ExecutionContext *ctx; int64_t run_id;, run_id)       \
  FFI_FN(DeviceOrdinal_Get, XLA_FFI_Error *, XLA_FFI_ExecutionContext *ctx;                        \
         int32_t device_ordinal;, device_ordinal)

#define FFI_FN(name, result, fields, last)                                                         \
  typedef struct XLA_FFI_##name##_Args {                                                           \
    XLA_FFI_HEAD fields                                                                            \
  } XLA_FFI_##name##_Args;                                                                         \
  typedef result XLA_FFI_##name(XLA_FFI_##name##_Args *args);
FFI_FUNCTIONS(FFI_FN)
#undef FFI_FN

struct XLA_FFI_Api {
  XLA_FFI_HEAD
  XLA_FFI_Api_Version api_version;
  const XLA_FFI_InternalApi *internal_api;
#define FFI_FN(name, ...) XLA_FFI_##name *XLA_FFI_##name;
  FFI_FUNCTIONS(FFI_FN)
#undef FFI_FN
};

/* What a caller writes into struct_size. */
#define FFI_END(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

#endif
