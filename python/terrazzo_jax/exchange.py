"""DLPack for our arrays, whose memory is the host's: jaxlib hands out and takes in what is of XLA's
own platforms only. A capsule holds the array as NumPy sees it, without a copy."""

import ctypes
import functools

import numpy as np

CPU = 1
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
BFLOAT = 4


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("dtype", DataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]

DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
api = ctypes.pythonapi
new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, DESTRUCTOR)(
    ("PyCapsule_New", api))
is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_IsValid", api))
capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", api))

held = {}  # by the address of what was handed out: that, and what it points to


@DELETER
def let_go(managed):
    held.pop(ctypes.addressof(managed.contents), None)


@DESTRUCTOR
def drop(capsule):
    """Of a capsule that nobody took; whoever takes one renames it."""
    if is_capsule(capsule, b"dltensor"):
        held.pop(capsule_pointer(capsule, b"dltensor"), None)


def data_type(dtype):
    if dtype.name == "bfloat16":
        return DataType(BFLOAT, 16, 1)
    if dtype.kind not in CODES:
        raise BufferError(f"DLPack has no elements of type {dtype}")
    return DataType(CODES[dtype.kind], 8 * dtype.itemsize, 1)


def pack(view):
    """A capsule of a NumPy array."""
    n = view.ndim
    shape = (ctypes.c_int64 * max(n, 1))(*view.shape)
    strides = (ctypes.c_int64 * max(n, 1))(*(s // view.itemsize for s in view.strides))
    tensor = Tensor(view.ctypes.data, CPU, 0, n, data_type(view.dtype), shape, strides, 0)
    managed = Managed(tensor, None, let_go)
    address = ctypes.addressof(managed)
    held[address] = managed, view, shape, strides
    return new_capsule(address, b"dltensor", drop)


def to_dlpack(original, ours):
    @functools.wraps(original)
    def wrapped(x, *args, **kwargs):
        device = next(iter(x.devices())) if hasattr(x, "devices") else None
        to = kwargs.get("dl_device")
        if device is None or device.platform != ours or (to and to[0] != CPU):
            return original(x, *args, **kwargs)
        view = np.asarray(x)
        return pack(np.array(view) if kwargs.get("copy") else view)

    return wrapped


def dlpack_device(original, ours):
    @functools.wraps(original)
    def wrapped(self):
        if len(self.devices()) == 1 and self.platform() == ours:
            return CPU, 0
        return original(self)

    return wrapped


class Taken:
    """Somebody's array, as a producer that NumPy understands: bfloat16 goes as its bits."""

    def __init__(self, external):
        self.external = external

    def __dlpack_device__(self):
        return self.external.__dlpack_device__()

    def __dlpack__(self, **kwargs):
        capsule = self.external.__dlpack__()
        pointer = ctypes.cast(capsule_pointer(id(capsule), b"dltensor"), ctypes.POINTER(Managed))
        self.bfloat = pointer.contents.tensor.dtype.code == BFLOAT
        if self.bfloat:
            pointer.contents.tensor.dtype.code = CODES["u"]
        return capsule


def from_dlpack(original, ours):
    @functools.wraps(original)
    def wrapped(external, device=None, copy=None):
        import jax
        import jax.numpy as jnp
        from jax.sharding import Sharding

        where = next(iter(device.device_set)) if isinstance(device, Sharding) else device
        platform = where.platform if where is not None else jax.default_backend()
        if (platform != ours or not hasattr(external, "__dlpack_device__")
                or external.__dlpack_device__()[0] != CPU):
            return original(external, device=device, copy=copy)
        taken = Taken(external)
        view = np.from_dlpack(taken)
        if taken.bfloat:
            view = view.view(jnp.bfloat16)
        if copy:
            view = np.array(view)
        out = jax.device_put(view, jax.devices(ours)[0] if device is None else device)
        if copy is False and out.size and out.unsafe_buffer_pointer() != view.ctypes.data:
            raise ValueError("Specified copy=False for data which requires a copy: it is not "
                             "dense, row-major and aligned to 64 bytes")
        return out

    return wrapped
