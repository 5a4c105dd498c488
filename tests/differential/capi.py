"""The structs of include/terrazzo/terrazzo.h, for ctypes: one place to follow the header."""
import ctypes


class Options(ctypes.Structure):
    """tz_compile_options; lists of strings end with NULL."""
    _fields_ = [("file", ctypes.c_char_p), ("devices", ctypes.c_uint32),
                ("meshes", ctypes.POINTER(ctypes.c_char_p)),
                ("shapes", ctypes.POINTER(ctypes.c_char_p)), ("flush_denormals", ctypes.c_bool),
                ("dump", ctypes.c_void_p), ("dump_user", ctypes.c_void_p),
                ("choose_from", ctypes.c_uint64),
                ("dialects", ctypes.POINTER(ctypes.c_char_p))]


class Tensor(ctypes.Structure):
    _fields_ = [("type", ctypes.c_char_p), ("element_size", ctypes.c_size_t),
                ("rank", ctypes.c_uint32), ("dims", ctypes.POINTER(ctypes.c_int64)),
                ("local_dims", ctypes.POINTER(ctypes.c_int64)), ("sharding", ctypes.c_char_p),
                ("bytes", ctypes.c_size_t)]
