"""Handlers (of XLA's FFI) for our platform: registered for it, or for cpu, whose memory ours is.

`jax.ffi.register_ffi_target` and jaxlib's own LAPACK and sparse routines come through here. The
plugin takes them through the extension that jaxlib's GPU plugins have, which knows handlers of
several stages and those that are not typed; types go through the FFI extension.
"""

import ctypes

from terrazzo_jax.abi import STAGES, Api, ErrorMessage, RegisterStages, RegisterType, TypeInfo
from terrazzo_jax.gates import PLATFORM

EXTENSION_STAGES, EXTENSION_FFI = 0, 5
CALL = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)


def pointer_of(capsule):
    """The address in a PyCapsule; of a number, itself; of None, None."""
    if capsule is None or isinstance(capsule, int):
        return capsule
    name, get = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name.restype, name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return get(capsule, name(capsule))


class Registry:
    """The plugin's registry, by its path."""

    def __init__(self, library):
        get_api = ctypes.CDLL(str(library)).GetPjrtApi
        get_api.restype = ctypes.POINTER(Api)
        self.api = get_api().contents
        self.functions = {}
        extension = self.api.extensions
        while extension:
            self.functions[extension.contents.type] = CALL(extension.contents.first)
            extension = extension.contents.next

    def call(self, extension, args):
        args.struct_size = ctypes.sizeof(args)
        error = self.functions[extension](ctypes.addressof(args))
        if not error:
            return
        message = ErrorMessage(ctypes.sizeof(ErrorMessage), None, error)
        CALL(self.api.error_message)(ctypes.addressof(message))
        text = ctypes.string_at(message.message, message.size).decode(errors="replace")
        message.struct_size = 24
        CALL(self.api.destroy_error)(ctypes.addressof(message))
        raise ValueError(text)

    def register(self, name, function, platform=PLATFORM, api_version=1, traits=0):
        """A handler: a capsule, or a dictionary of them by stage; version 0: it is not typed."""
        del platform, traits
        name = name if isinstance(name, bytes) else name.encode()
        stages = function if isinstance(function, dict) else {"execute": function}
        if unknown := set(stages) - set(STAGES):
            raise ValueError(f"stages of a handler: {', '.join(sorted(unknown))}")
        pointers = (pointer_of(stages.get(stage)) for stage in STAGES)
        self.call(EXTENSION_STAGES, RegisterStages(0, name, len(name), api_version, *pointers))

    def register_type(self, name, capsules):
        """A type: {"type_id": capsule, "type_info": capsule}, or the first alone. An id of 0 is
        filled in."""
        if not isinstance(capsules, dict):
            capsules = {"type_id": capsules}
        name = name if isinstance(name, bytes) else name.encode()
        type_id = ctypes.c_int64.from_address(pointer_of(capsules["type_id"]))
        given = pointer_of(capsules.get("type_info"))
        info = ctypes.c_void_p(TypeInfo.from_address(given).deleter if given else None)
        args = RegisterType(0, None, name, len(name), type_id.value, ctypes.addressof(info))
        self.call(EXTENSION_FFI, args)
        type_id.value = args.id


def also_from_cpu(module, function, queue, ours):
    """What is registered for cpu with a function of the module's goes to ours too, and so does what
    waits in its queue since before."""
    original = getattr(module, function)
    names = {"cpu", module.xla_platform_names["cpu"]}
    waiting = [entry for name in names for entry in getattr(module, queue).get(name, ())]

    def register(name, value, platform="cpu", *args, **kwargs):
        if platform in names:
            ours(name, value, PLATFORM, *args, **kwargs)
        return original(name, value, platform, *args, **kwargs)

    setattr(module, function, register)
    for name, value, *args in waiting:
        ours(name, value, PLATFORM, *args)


def open_handlers(library):
    """Before any program is compiled; once."""
    from jax._src.lib import xla_client

    registry = Registry(library)
    xla_client.register_custom_call_handler(PLATFORM, registry.register)
    also_from_cpu(xla_client, "register_custom_call_target", "_custom_callback", registry.register)
    if hasattr(xla_client, "register_custom_type_handler"):
        def register_type(name, capsules, platform=PLATFORM):
            registry.register_type(name, capsules)

        xla_client.register_custom_type_handler(PLATFORM, registry.register_type)
        also_from_cpu(xla_client, "register_custom_type", "_custom_type_id", register_type)
    return registry
