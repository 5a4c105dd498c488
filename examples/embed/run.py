"""The same from Python with nothing but ctypes. LIBRARY may be a path.

    python run.py
"""
import array
import ctypes
import os

tz = ctypes.CDLL(os.environ.get("LIBRARY", "libterrazzo.so.0"))
for name in ("tz_compile", "tz_runtime_create", "tz_run"):
    getattr(tz, name).restype = ctypes.c_void_p
tz.tz_error_message.restype = ctypes.c_char_p
tz.tz_error_message.argtypes = tz.tz_error_free.argtypes = [ctypes.c_void_p]

SOURCE = b"""
sdy.mesh @m = <["x"=8]>
func.func @main(%a: tensor<16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<16xf32> {
  %0 = stablehlo.multiply %a, %a : tensor<16xf32>
  return %0 : tensor<16xf32>
}"""


class Options(ctypes.Structure):
    """The beginning of tz_compile_options; what is left out is zero to the library."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("file", ctypes.c_char_p),
                ("devices", ctypes.c_uint32)]


def check(error):
    if error:
        message = tz.tz_error_message(error).decode()
        tz.tz_error_free(error)
        raise ValueError(message)


options = Options(ctypes.sizeof(Options), b"squares", 8)
program, runtime = ctypes.c_void_p(), ctypes.c_void_p()
check(tz.tz_compile(SOURCE, ctypes.c_size_t(len(SOURCE)), ctypes.byref(options),
                    ctypes.byref(program)))
check(tz.tz_runtime_create(0, ctypes.byref(runtime)))
given, taken = array.array("f", range(16)), array.array("f", bytes(64))
inputs = (ctypes.c_void_p * 1)(given.buffer_info()[0])
outputs = (ctypes.c_void_p * 1)(taken.buffer_info()[0])
check(tz.tz_run(runtime, program, inputs, outputs))
print(taken.tolist()[:5], "on", tz.tz_program_devices(program), "devices")
tz.tz_program_free(program)
tz.tz_runtime_free(runtime)
