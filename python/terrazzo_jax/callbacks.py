"""Python functions that programs call: jax.pure_callback, io_callback, debug.callback and print,
checkify, buffer_callback.

JAX's lowerings for cpu name a handler of jaxlib's, which finds the function by a number within the
module, in a context that jaxlib alone can read. Here the same targets have a handler of ours, and
the number is one of this process. The handler is called on a thread that may wait for Python's lock
(docs/architecture.md, Execution).
"""

import ctypes
import dataclasses
import functools
import itertools
import math
import threading
import traceback
import types
import weakref

import ml_dtypes
import numpy as np

from terrazzo_jax.abi import POINTER, ErrorCreate, Frame, Metadata
from terrazzo_jax.gates import PLATFORM

# ---- XLA's FFI ----

INTERNAL = 13
METADATA = 1
TOKEN = 17
TYPES = {
    1: np.bool_, 2: np.int8, 3: np.int16, 4: np.int32, 5: np.int64, 6: np.uint8, 7: np.uint16,
    8: np.uint32, 9: np.uint64, 10: np.float16, 11: np.float32, 12: np.float64, 15: np.complex64,
    16: ml_dtypes.bfloat16, 18: np.complex128, 19: ml_dtypes.float8_e5m2,
    20: ml_dtypes.float8_e4m3fn, 21: ml_dtypes.int4, 22: ml_dtypes.uint4,
    23: ml_dtypes.float8_e4m3b11fnuz, 24: ml_dtypes.float8_e5m2fnuz,
    25: ml_dtypes.float8_e4m3fnuz, 26: ml_dtypes.int2, 27: ml_dtypes.uint2,
    28: ml_dtypes.float8_e4m3, 29: ml_dtypes.float8_e3m4, 32: ml_dtypes.float4_e2m1fn,
    33: ml_dtypes.float8_e8m0fnu}
TYPES = {number: np.dtype(dtype) for number, dtype in TYPES.items()}

ERROR_CREATE = 6  # of the table of functions: its place, in pointers
CREATE = ctypes.CFUNCTYPE(POINTER, POINTER)
HANDLER = ctypes.CFUNCTYPE(POINTER, ctypes.POINTER(Frame))


def error_of(frame, text):
    args = ErrorCreate(ctypes.sizeof(ErrorCreate) - 4, None, text.encode(), INTERNAL)
    return CREATE(frame.api[ERROR_CREATE])(ctypes.addressof(args))


@functools.lru_cache(maxsize=1024)
def layout_of(dtype, dims):
    """An array's shape, its type, and the C type of its memory."""
    dtype, shape = TYPES[dtype], tuple(np.frombuffer(dims, np.int64).tolist())
    return shape, dtype, ctypes.c_char * (dtype.itemsize * math.prod(shape))


def view_of(buffer):
    """The device's memory itself, as an array."""
    dims = ctypes.string_at(buffer.dims, 8 * buffer.rank)
    shape, dtype, memory = layout_of(buffer.dtype, dims)
    if not memory._length_:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, memory.from_address(buffer.data))


def copy_of(buffer):
    """What a function may keep; it cannot be written. None of a token."""
    if buffer.dtype == TOKEN:
        return None
    array = view_of(buffer).copy()
    array.flags.writeable = False
    return array


def buffers_of(list):
    return [list.list[i].contents for i in range(list.size)]


# ---- the functions ----

numbers = itertools.count()
functions = weakref.WeakValueDictionary()  # by number; programs keep them


class Function:
    """A function of the host's that takes and gives arrays."""

    def __init__(self, function):
        self.function = function

    def __call__(self, frame):
        results = self.function(*map(copy_of, buffers_of(frame.args)))
        for buffer, result in zip(buffers_of(frame.rets), results, strict=True):
            if buffer.dtype != TOKEN:
                view_of(buffer)[...] = np.asarray(result, TYPES[buffer.dtype])


class InPlaceFunction(Function):
    """One that works on the buffers (jax.experimental.buffer_callback)."""

    def __call__(self, frame):
        context = ExecutionContext(frame)
        arrays = [DeviceBuffer(b, written) for written, list in ((False, frame.args),
                                                                 (True, frame.rets))
                  for b in buffers_of(list)]
        try:
            self.function(context, *arrays)
        finally:
            for array in arrays:
                array.end()


def call(frame):
    """What a program's call does: None, or the text of an error."""
    extension = frame.extension
    if extension and extension.contents.type == METADATA:
        metadata = Metadata.from_address(extension.contents.first)
        metadata.major, metadata.minor = 0, 3
        return None
    number = frame.attrs.values[0].contents.value[0]
    function = functions.get(number)
    if function is None:
        return "the Python function that this program calls is gone"
    function(frame)
    return None


here = threading.local()


def keep_thread():
    """Python makes and ends what it knows of a thread of ours, JAX's thread-local state with it, at
    each call, unless one hold on it is never let go."""
    if not hasattr(here, "kept"):
        here.kept = True
        ctypes.pythonapi.PyGILState_Ensure()


@HANDLER
def handler(pointer):
    frame = pointer.contents
    try:
        keep_thread()
        text = call(frame)
    except BaseException as error:  # nothing may leave through C
        text = "CpuCallback error calling callback: " + "".join(traceback.format_exception(error))
    return error_of(frame, text) if text else None


# ---- what buffer_callback hands out ----


class ExecutionContext:
    """The stage, as jaxlib's has it; devices of ours have no streams."""

    def __init__(self, frame):
        from jax._src.buffer_callback import ExecutionStage

        self.stage = ExecutionStage(frame.stage)

    @property
    def stream(self):
        raise ValueError("devices of this platform have no streams")


class DeviceBuffer:
    """A device's memory while a callback runs."""

    def __init__(self, buffer, writeable):
        self.array = view_of(buffer)
        self.array.flags.writeable = writeable

    def end(self):
        self.array = None

    def live(self):
        if self.array is None:
            raise ValueError("the callback that this buffer was for has returned")
        return self.array

    shape = property(lambda self: self.live().shape)
    dtype = property(lambda self: self.live().dtype)
    ndim = property(lambda self: self.live().ndim)
    size = property(lambda self: self.live().size)
    writeable = property(lambda self: self.live().flags.writeable)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.live(), dtype=dtype, copy=copy)

    def __dlpack__(self, **kwargs):
        return self.live().__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.live().__dlpack_device__()

    def __len__(self):
        return len(self.live())

    def __getitem__(self, index):
        return self.live()[index]

    def __setitem__(self, index, value):
        self.live()[index] = value


# ---- lowering ----


class ModuleContext:
    """A module's context in which we are cpu, and functions have our numbers."""

    def __init__(self, module_context, kind):
        self.original, self.kind = module_context, kind
        self.platforms = ("cpu",)

    def __getattr__(self, name):
        return getattr(self.original, name)

    def add_host_callback(self, function):
        kept = self.kind(function)
        number = next(numbers)
        functions[number] = kept
        self.original.add_host_callback(kept)  # the program keeps it, and is not cached on disk
        self.host_callbacks = range(number + 1)


def lowered(rule, kind):
    """A rule of JAX's that lowers callbacks for cpu."""
    @functools.wraps(rule)
    def lower(ctx, *args, **kwargs):
        if tuple(ctx.module_context.platforms) == (PLATFORM,):
            ctx = dataclasses.replace(ctx, module_context=ModuleContext(ctx.module_context, kind))
        return rule(ctx, *args, **kwargs)
    return lower


def start_cpu(xla_bridge):
    """As a backend of this process alone: others may have no callback, and would be waited for."""
    distributed = xla_bridge.distributed
    try:
        alone = type(distributed.global_state)()
        xla_bridge.distributed = types.SimpleNamespace(global_state=alone)
        xla_bridge._backends["cpu"] = xla_bridge._init_backend("cpu")
    finally:
        xla_bridge.distributed = distributed


def with_cpu(local_devices):
    """JAX runs callbacks with cpu as the default device: the first one starts it where the program
    is confined to our platform. What stood in for it before (gates.py), and is remembered, would
    wait for the callback."""
    from jax._src import xla_bridge

    @functools.wraps(local_devices)
    def devices(process_index=None, backend=None, host_id=None):
        if backend == "cpu":
            with xla_bridge._backend_lock:
                if "cpu" not in xla_bridge._backends:
                    start_cpu(xla_bridge)
            if process_index is None and host_id is None:
                return xla_bridge._backends["cpu"].local_devices()
        return local_devices(process_index, backend, host_id)
    if hasattr(local_devices, "cache_clear"):  # JAX up to 0.6 calls it at exit
        devices.cache_clear = local_devices.cache_clear
    return devices


def open_callbacks(registry):
    """Before any program is compiled; once."""
    from jax._src import callback, xla_bridge
    from jax._src.interpreters import mlir
    from jax.interpreters import mlir as public_mlir

    for target in ("xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback",
                   "xla_buffer_python_cpu_callback"):
        registry.register(target, ctypes.cast(handler, POINTER).value)
    where = callback if hasattr(callback, "emit_python_callback") else mlir  # before 0.6
    emit = lowered(where.emit_python_callback, Function)
    for module in (callback, mlir, public_mlir):
        if hasattr(module, "emit_python_callback"):
            module.emit_python_callback = emit
    xla_bridge.local_devices = with_cpu(xla_bridge.local_devices)
    try:
        from jax._src import buffer_callback
    except ImportError:  # before 0.6.1
        return
    mlir.register_lowering(
        buffer_callback.buffer_callback_p,
        lowered(buffer_callback._buffer_callback_lowering, InPlaceFunction), platform=PLATFORM)
