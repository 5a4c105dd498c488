"""The structs of include/terrazzo/terrazzo.h, for ctypes: one place to follow the header."""
import ctypes


class Sized(ctypes.Structure):
    """One that begins with its own size."""

    def __init__(self, **fields):
        super().__init__(struct_size=ctypes.sizeof(self), **fields)


class Options(Sized):
    """tz_compile_options; lists of strings end with NULL."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("file", ctypes.c_char_p),
                ("devices", ctypes.c_uint32),
                ("meshes", ctypes.POINTER(ctypes.c_char_p)),
                ("shapes", ctypes.POINTER(ctypes.c_char_p)), ("flush_denormals", ctypes.c_bool),
                ("dump", ctypes.c_void_p), ("dump_user", ctypes.c_void_p),
                ("choose_from", ctypes.c_uint64),
                ("dialects", ctypes.POINTER(ctypes.c_char_p)),
                ("op_priorities", ctypes.c_char_p)]


class Tensor(Sized):
    _fields_ = [("struct_size", ctypes.c_size_t), ("type", ctypes.c_char_p),
                ("element_size", ctypes.c_size_t),
                ("rank", ctypes.c_uint32), ("dims", ctypes.POINTER(ctypes.c_int64)),
                ("local_dims", ctypes.POINTER(ctypes.c_int64)), ("sharding", ctypes.c_char_p),
                ("bytes", ctypes.c_size_t)]


class Collective(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_char_p), ("count", ctypes.c_uint32), ("bytes", ctypes.c_uint64)]


class Stats(Sized):
    """tz_stats, as far as anybody asks."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("steps", ctypes.c_uint32),
                ("workspace", ctypes.c_uint64), ("constants", ctypes.c_uint64),
                ("collectives", Collective * 8), ("num_collectives", ctypes.c_uint32)]


def result(lib, program, i):
    """The i-th result's Tensor."""
    tensor = Tensor()
    lib.tz_program_result(program, ctypes.c_uint32(i), ctypes.byref(tensor))
    return tensor
