"""Terrazzo as a JAX platform.

JAX finds this package through its entry point (group `jax_plugins`) and calls `initialize`.
From then on `jax.devices("terrazzo")` are Terrazzo's devices, and JAX's default ones. Their
number comes from the environment: TERRAZZO_NUM_DEVICES, or XLA's own
XLA_FLAGS=--xla_force_host_platform_device_count=N; one otherwise. Where JAX_PLATFORMS=terrazzo
leaves cpu out, `jax.devices("cpu")` are these too.

The library is looked for in TERRAZZO_PLUGIN (a path), beside this file, and in build/lib of a
source tree. Where PJRT_NAMES_AND_LIBRARY_PATHS names a library for `terrazzo`, JAX registers that
one, and this package uses it. LAPACK is SciPy's, if it brings one, or else the system's;
TERRAZZO_LAPACK (a path) names another. TERRAZZO_LOG=1 (or 1:FILE) logs each call that JAX makes,
=2 (or 2:FILE) with arguments and results.
"""

import ctypes
import importlib.util
import json
import os
import pathlib

from terrazzo_jax import callbacks, gates, handlers
from terrazzo_jax.gates import PLATFORM

LIBRARY = "pjrt_plugin_terrazzo.so"


def find_library(package, name, variable):
    """The path of a library: in the environment's variable, else beside the package's file or in
    build/lib of a source tree. FileNotFoundError says where it was looked for."""
    here = pathlib.Path(package).resolve().parent
    if os.environ.get(variable):
        places = [pathlib.Path(os.environ[variable])]
    else:
        places = [here / name, here.parent.parent / "build" / "lib" / name]
    for place in places:
        if place.is_file():
            return place
    raise FileNotFoundError("Terrazzo's library is not at " + " or ".join(map(str, places)))


def path_of_environment():
    """The library that PJRT_NAMES_AND_LIBRARY_PATHS names for the platform, or None. JAX
    registers it itself, after the plugins that it finds, and stops where one is there already."""
    pairs = os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS", "").split(",")
    named = dict(pair.split(":", 1) for pair in pairs if ":" in pair)
    path = named.get(PLATFORM)
    if path and path.endswith(".json"):
        path = json.loads(pathlib.Path(path).read_text())["library_path"]
    return path


def library_path():
    """The plugin's path; FileNotFoundError says where it was looked for."""
    return path_of_environment() or find_library(__file__, LIBRARY, "TERRAZZO_PLUGIN")


def name_lapack():
    """SciPy's wheels bring an OpenBLAS, which is faster than the LAPACK that many systems have."""
    spec = importlib.util.find_spec("scipy")
    if spec and spec.origin:
        folder = pathlib.Path(spec.origin).parent.with_name("scipy.libs")
        for library in folder.glob("libscipy_openblas-*.so"):
            os.environ.setdefault("TERRAZZO_LAPACK", str(library))


def keep_clients():
    """In a forked child JAX's clients must not end: they would wait for threads of the parent."""
    from jax._src import xla_bridge

    for client in xla_bridge._backends.values():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))


def initialize():
    """Registers the platform. JAX calls this once."""
    from jax._src import xla_bridge

    name_lapack()
    gates.open_all()
    callbacks.open_callbacks(handlers.open_handlers(library_path()))
    if not path_of_environment():
        xla_bridge.register_plugin(PLATFORM, library_path=str(library_path()))
    os.register_at_fork(after_in_child=keep_clients)


def __getattr__(name):
    """terrazzo_jax.why and the like are those of terrazzo_jax.explain."""
    if name not in ("why", "mem", "comms", "check", "diff", "verify", "report", "plan"):
        raise AttributeError(f"module 'terrazzo_jax' has no attribute {name!r}")
    from terrazzo_jax import explain

    return getattr(explain, name)
