"""Structs of the C interfaces that Python speaks itself, as far as it does: XLA's FFI, of whose
calls we are the receiver (src/ffi/abi.h has all of it), and PJRT's registries
(src/pjrt/pjrt_abi.json).
"""

import ctypes

POINTER = ctypes.c_void_p
SIZE = ctypes.c_size_t


class Sized(ctypes.Structure):
    """How nearly all of them begin."""
    _fields_ = [("struct_size", SIZE), ("extension_start", POINTER)]


class Extension(ctypes.Structure):
    """The head of an extension, and the one pointer after it that is read here."""


Extension._fields_ = [("struct_size", SIZE), ("type", ctypes.c_int),
                      ("next", ctypes.POINTER(Extension)), ("first", POINTER)]

# ---- XLA's FFI ----


class Metadata(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("version", Sized), ("major", ctypes.c_int),
                ("minor", ctypes.c_int)]


class Buffer(Sized):
    _fields_ = [("dtype", ctypes.c_int), ("data", POINTER), ("rank", ctypes.c_int64),
                ("dims", ctypes.POINTER(ctypes.c_int64))]


class Buffers(Sized):
    _fields_ = [("size", ctypes.c_int64), ("types", POINTER),
                ("list", ctypes.POINTER(ctypes.POINTER(Buffer)))]


class Span(ctypes.Structure):
    _fields_ = [("data", POINTER), ("size", SIZE)]


class Scalar(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("value", ctypes.POINTER(ctypes.c_uint64))]


class Attrs(Sized):
    _fields_ = [("size", ctypes.c_int64), ("types", POINTER),
                ("names", ctypes.POINTER(ctypes.POINTER(Span))),
                ("values", ctypes.POINTER(ctypes.POINTER(Scalar)))]


class Frame(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("extension", ctypes.POINTER(Extension)),
                ("api", ctypes.POINTER(POINTER)), ("context", POINTER), ("stage", ctypes.c_int),
                ("args", Buffers), ("rets", Buffers), ("attrs", Attrs)]


class ErrorCreate(Sized):
    _fields_ = [("message", ctypes.c_char_p), ("code", ctypes.c_int)]


class TypeInfo(Sized):
    """As a library has it for XLA; PJRT's extension takes the deleter alone."""
    _fields_ = [("deleter", POINTER)]


# ---- PJRT ----


class Api(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("extensions", ctypes.POINTER(Extension)),
                ("version", ctypes.c_byte * 24), ("destroy_error", POINTER),
                ("error_message", POINTER)]


class ErrorMessage(Sized):
    _fields_ = [("error", POINTER), ("message", ctypes.POINTER(ctypes.c_char)), ("size", SIZE)]


class RegisterType(Sized):
    _fields_ = [("name", ctypes.c_char_p), ("name_size", SIZE), ("id", ctypes.c_int64),
                ("info", POINTER)]


STAGES = ("instantiate", "prepare", "initialize", "execute")


class RegisterStages(ctypes.Structure):
    _fields_ = [("struct_size", SIZE), ("name", ctypes.c_char_p), ("name_size", SIZE),
                ("api_version", ctypes.c_int), *((stage, POINTER) for stage in STAGES)]
