"""Shardings as values: every notation of one, MindSpore's Layout, and the way between layouts.

    >>> convert("P('y', None)", "xla", source="pspec", mesh={"x": 2, "y": 4})
    '{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}'
    >>> convert(named_sharding, "dtensor", rank=2)         a jax.sharding.NamedSharding
    >>> convert("[Shard(0), Replicate()]", NamedSharding, source="dtensor", mesh=jax_mesh)

    >>> placed = Layout((2, 2, 2), ("dp", "sp", "mp"))(("dp", "sp"), "mp")
    >>> placed.to_dict()["tensor_map"], placed.slice_of(3), placed.convert("sdy")

A thin face of libterrazzo's C API (terrazzo/layout.h): text and numbers go in and out through
ctypes, and nothing is computed here. JAX is imported only where one of its objects is asked for.
Wrong values are ValueError, wrong types TypeError; both name the field, what was expected and
what was found. The library is looked for in TERRAZZO_LIBRARY (a path), beside this file, and in
build/lib of a source tree.
"""
from __future__ import annotations

import ast
import ctypes
import functools
import json
import sys

import terrazzo_jax

LIBRARY = "libterrazzo.so"
ANY_RANK = -1


class Error(ValueError):
    """What the library says of wrong input, or of what a notation cannot express."""


class _Entry(ctypes.Structure):
    _fields_ = [("names", ctypes.POINTER(ctypes.c_char_p)), ("num_names", ctypes.c_size_t),
                ("tuple", ctypes.c_bool)]


class _Spec(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t),
                ("device_matrix", ctypes.POINTER(ctypes.c_int64)), ("num_axes", ctypes.c_size_t),
                ("alias_name", ctypes.POINTER(ctypes.c_char_p)),
                ("num_alias_names", ctypes.c_size_t),
                ("rank_list", ctypes.POINTER(ctypes.c_int64)), ("num_ranks", ctypes.c_size_t),
                ("entries", ctypes.POINTER(_Entry)), ("num_entries", ctypes.c_size_t)]


def library_path():
    """The library's path; FileNotFoundError says where it was looked for."""
    return terrazzo_jax.find_library(__file__, LIBRARY, "TERRAZZO_LIBRARY")


@functools.cache
def _library():
    lib = ctypes.CDLL(str(library_path()))
    text, handle, i64 = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int64
    out, size = ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t
    numbers = ctypes.POINTER(i64)
    for name, arguments, result in [
            ("error_message", [handle], text), ("error_code", [handle], ctypes.c_int),
            ("error_free", [handle], None), ("free", [handle], None),
            ("notation_name", [ctypes.c_uint32], text),
            ("sharding_read", [text, text, text, i64, out], handle),
            ("sharding_write", [handle, text, out], handle),
            ("sharding_convert", [text, text, text, text, i64, out], handle),
            ("sharding_over_mesh", [handle, text, out], handle),
            ("sharding_closed", [handle, out], handle), ("sharding_free", [handle], None),
            ("sharding_num_devices", [handle], i64), ("sharding_rank", [handle], ctypes.c_uint32),
            ("sharding_mesh", [handle], text), ("sharding_strategy", [handle], numbers),
            ("sharding_device_at", [handle, i64], i64), ("sharding_slice_at", [handle, i64], i64),
            ("sharding_slices", [handle, numbers], handle),
            ("sharding_json", [handle, numbers, out], handle),
            ("sharding_picture", [handle, ctypes.c_bool, out], handle),
            ("layout_create", [ctypes.POINTER(_Spec), out], handle),
            ("layout_from_strategy", [numbers, size, i64, ctypes.c_bool, out], handle),
            ("layout_free", [handle], None), ("layout_num_ranks", [handle], i64),
            ("layout_to_dict", [handle, out], handle),
            ("layout_slice_of", [handle, i64, numbers], handle),
            ("layout_slices", [handle, numbers], handle),
            ("layout_sharding", [handle, out], handle),
            ("layout_json", [handle, numbers, size, out], handle),
            ("redistribution_create", [handle, handle, numbers, size, out], handle),
            ("redistribution_free", [handle], None),
            ("redistribution_json", [handle, i64, out], handle)]:
        function = getattr(lib, "tz_" + name)
        function.argtypes, function.restype = arguments, result
    return lib


def _check(error):
    if not error:
        return
    lib = _library()
    message, code = lib.tz_error_message(error).decode(), lib.tz_error_code(error)
    lib.tz_error_free(error)
    raise MemoryError(message) if code == 8 else Error(message)


def _text(function, *arguments):
    out = ctypes.c_void_p()
    _check(function(*arguments, ctypes.byref(out)))
    text = ctypes.string_at(out).decode()
    _library().tz_free(out)
    return text


def _numbers(values):
    return (ctypes.c_int64 * max(len(values), 1))(*values)


def _bytes(text, field):
    if not isinstance(text, str):
        raise TypeError(f"{field}: expected str, found {type(text).__name__}")
    if "\0" in text:
        raise Error(f"{field}: expected text without NUL, found one")
    return text.encode()


class _Handle:
    """Owns an object of the library."""

    def __init__(self, free, function, *arguments):
        self._as_parameter_ = ctypes.c_void_p()
        self._free = getattr(_library(), free)
        _check(function(*arguments, ctypes.byref(self._as_parameter_)))

    def __del__(self):
        if getattr(self, "_as_parameter_", None):
            self._free(self._as_parameter_)


# ---- meshes ----

def _quoted(name):
    return '"' + "".join(c if 32 <= ord(c) < 127 and c not in '"\\' else
                         "".join(f"\\{b:02X}" for b in c.encode()) for c in name) + '"'


def mesh_text(mesh):
    """A mesh as the library reads it: from text, {"x": 2}, or JAX's Mesh or AbstractMesh."""
    if mesh is None or isinstance(mesh, str):
        return mesh
    shape = dict(mesh) if isinstance(mesh, dict) else dict(mesh.shape)
    for name, size in shape.items():
        if not isinstance(name, str):
            raise TypeError(f"mesh: expected names that are str, found {type(name).__name__}")
        if type(size) is not int:
            raise TypeError(f"mesh: expected the size of {name!r} as int, found "
                            f"{type(size).__name__}")
    text = "<[" + ", ".join(f"{_quoted(n)}={s}" for n, s in shape.items()) + "]"
    jax = sys.modules.get("jax")
    if jax and isinstance(mesh, jax.sharding.Mesh):  # an AbstractMesh has no devices
        ids = [d.id for d in mesh.devices.flat]
        if ids != list(range(len(ids))):
            text += f", device_ids={ids}"
    return text + ">"


# ---- shardings ----

class Sharding:
    """A sharding in no notation, read from one.

    x: text in the notation `source`; a jax NamedSharding, or a PartitionSpec with a mesh; XLA's
    HloSharding or OpSharding; a Layout, or its to_dict().
    """

    def __init__(self, x, source=None, mesh=None, rank=None):
        lib = _library()
        if isinstance(x, Layout):
            self._handle = x._sharding()
            return
        if source is None:
            x, source, mesh = _spell(x, mesh)
        if rank is not None and (type(rank) is not int or rank < 0):
            raise TypeError(f"rank: expected an int of at least 0, found {rank!r}")
        mesh = mesh_text(mesh)
        self._handle = _Handle("tz_sharding_free", lib.tz_sharding_read, _bytes(source, "source"),
                               _bytes(x, "sharding"),
                               None if mesh is None else _bytes(mesh, "mesh"),
                               ANY_RANK if rank is None else rank)

    @classmethod
    def _of(cls, handle):
        out = cls.__new__(cls)
        out._handle = handle
        return out

    def over(self, mesh):
        """The same pieces over the axes of another mesh."""
        return self._of(_Handle("tz_sharding_free", _library().tz_sharding_over_mesh, self._handle,
                                _bytes(mesh_text(mesh), "mesh")))

    def closed(self):
        """Without what only propagation reads: open dimensions, priorities."""
        return self._of(_Handle("tz_sharding_free", _library().tz_sharding_closed, self._handle))

    def write(self, to):
        """Text in a notation; or JAX's NamedSharding (over its devices), PartitionSpec, or XLA's
        HloSharding, where the class is given."""
        if isinstance(to, str):
            return _text(_library().tz_sharding_write, self._handle, _bytes(to, "to"))
        return _make(self, to)

    @property
    def mesh(self):
        return _library().tz_sharding_mesh(self._handle).decode()

    @property
    def num_devices(self):
        return _library().tz_sharding_num_devices(self._handle)

    def slices(self):
        """The slice at each position of the mesh."""
        out = _numbers([0] * self.num_devices)
        _check(_library().tz_sharding_slices(self._handle, out))
        return out[:self.num_devices]

    def describe(self, shape=None):
        """What `terrazzo convert --json` shows, as a dict."""
        if shape is not None and len(shape) != _library().tz_sharding_rank(self._handle):
            raise Error(f"shape: expected {_library().tz_sharding_rank(self._handle)} sizes, found "
                        f"{len(shape)}")
        sizes = None if shape is None else _numbers(_ints(shape, "shape"))
        return json.loads(_text(_library().tz_sharding_json, self._handle, sizes))

    def picture(self, svg=False):
        """Which device holds which piece: box drawing, or an SVG file."""
        return _text(_library().tz_sharding_picture, self._handle, svg)


def convert(x, to, *, source=None, mesh=None, rank=None, over=None):
    """One sharding in another notation, or as another object; see Sharding for both sides.
    `over` puts it over the axes of another mesh first."""
    sharding = Sharding(x, source, mesh, rank)
    if over is not None:
        sharding, mesh = sharding.over(over), over
    if isinstance(to, str):
        return sharding.write(to)
    return _make(sharding, to, mesh if mesh is not None else getattr(x, "mesh", None))


def notations():
    names, i = [], 0
    while name := _library().tz_notation_name(i):
        names.append(name.decode())
        i += 1
    return names


def _kind(cls):
    """The name of a class; JAX's by the one that it is used under."""
    jax = sys.modules.get("jax")
    return "PartitionSpec" if jax and cls is jax.sharding.PartitionSpec else cls.__name__


def _spell(x, mesh):
    """An object as text, the notation of that, and the mesh."""
    kind = _kind(type(x))
    if isinstance(x, dict):
        return repr(x), "layout", mesh
    if kind == "NamedSharding":
        spec, mesh = _spec_text(x.spec), x.mesh
        manual = {str(a) for a in getattr(mesh, "manual_axes", ())}
        if not manual:
            return spec, "pspec", mesh
        types = ", ".join("Manual" if a in manual else "Auto" for a in mesh.axis_names)
        axes = ", ".join(f"{n!r}: {s}" for n, s in mesh.shape.items())
        return (f"NamedSharding(mesh=Mesh({axes}, axis_types=({types},)), spec={spec})", "named",
                mesh)
    if kind == "PartitionSpec":
        return _spec_text(x), "pspec", mesh
    if kind == "HloSharding":
        return str(x), "xla", mesh
    if kind == "OpSharding":
        from jax._src.lib import xla_client
        return str(xla_client.HloSharding.from_proto(x)), "xla", mesh
    raise TypeError(f"sharding: expected text with its source=, or an object of JAX, XLA or this "
                    f"module, found {kind}")


def _spec_text(spec):
    def entry(e):
        if e is None or isinstance(e, (str, tuple)):
            return repr(e)
        if e is type(spec).UNCONSTRAINED:
            return "P.UNCONSTRAINED"
        raise TypeError(f"spec: expected names, tuples and None, found {e!r}")

    parts = [entry(e) for e in getattr(spec, "partitions", spec)]
    for key in ("unreduced", "reduced"):
        if names := sorted(getattr(spec, key, ())):
            parts.append(f"{key}={{{', '.join(map(repr, names))}}}")
    return f"P({', '.join(parts)})"


def _make(sharding, to, mesh=None):
    """An object of a class of JAX's or XLA's."""
    kind = _kind(to) if isinstance(to, type) else type(to).__name__
    if kind == "HloSharding":
        return to.from_string(sharding.write("xla"))
    if kind == "OpSharding":
        from jax._src.lib import xla_client
        return xla_client.HloSharding.from_string(sharding.write("xla")).to_proto()
    if kind == "dict":
        return ast.literal_eval(Layout._of_sharding(sharding)._dict_text())
    if kind not in ("PartitionSpec", "NamedSharding"):
        raise TypeError(f"to: expected a notation, NamedSharding, PartitionSpec, HloSharding, "
                        f"OpSharding or dict, found {kind}")
    import jax
    spec = _spec_object(sharding, jax.sharding.PartitionSpec)
    if kind == "PartitionSpec":
        return spec
    return jax.sharding.NamedSharding(_mesh_object(sharding, mesh, jax), spec)


def _spec_object(sharding, spec):
    sharding.write("pspec")  # or says why not
    facts = sharding.describe()

    def entry(dim):
        names = dim["axes"]
        if not names:
            return spec.UNCONSTRAINED if dim["open"] else None
        return names[0] if len(names) == 1 else tuple(names)

    unreduced = frozenset(facts["unreduced"])
    return spec(*map(entry, facts["dims"]), **({"unreduced": unreduced} if unreduced else {}))


def _mesh_object(sharding, mesh, jax):
    if mesh is not None and not isinstance(mesh, (str, dict)):
        return mesh
    facts = sharding.describe()
    shape = facts["mesh"]
    axis_type = jax.sharding.AxisType.Explicit if facts["unreduced"] else \
        jax.sharding.AxisType.Auto
    ids = facts["device_ids"]
    if ids is None:
        return jax.sharding.AbstractMesh(tuple(shape.values()), tuple(shape),
                                         axis_types=(axis_type,) * len(shape))
    import numpy
    devices = {d.id: d for d in jax.devices()}
    lacking = [i for i in ids if i not in devices]
    if lacking:
        raise Error(f"mesh: expected devices that JAX has, found {lacking[0]}")
    order = numpy.array([devices[i] for i in ids]).reshape(tuple(shape.values()))
    return jax.sharding.Mesh(order, tuple(shape), axis_types=(axis_type,) * len(shape))


# ---- MindSpore's Layout ----

def _ints(values, field):
    for i, v in enumerate(values):
        if type(v) is not int:
            raise TypeError(f"{field}[{i}]: expected int, found {type(v).__name__}")
        if not -2**63 <= v < 2**63:
            raise Error(f"{field}[{i}]: expected a number of 64 bits, found {v}")
    return list(values)


def _tuple(value, field):
    if not isinstance(value, tuple):
        raise TypeError(f"{field}: expected tuple, found {type(value).__name__}")
    return value


def _names(values, field):
    return (ctypes.c_char_p * max(len(values), 1))(*[_bytes(v, f"{field}[{i}]")
                                                     for i, v in enumerate(values)])


class Layout:
    """MindSpore's Layout, with its checks and stricter ones; called with an entry a dimension it
    gives the layout of a tensor. Immutable: a call that fails changes nothing."""

    def __init__(self, device_matrix, alias_name, rank_list=None):
        self.device_matrix = _tuple(device_matrix, "device_matrix")
        self.alias_name = _tuple(alias_name, "alias_name")
        if rank_list is not None and not isinstance(rank_list, list):
            raise TypeError(f"rank_list: expected list, found {type(rank_list).__name__}")
        self.rank_list = None if rank_list is None else list(rank_list)
        self.entries = None
        self._handle = None
        self._make(("None",))

    def __call__(self, *entries):
        out = object.__new__(Layout)
        out.__dict__.update(self.__dict__, entries=entries)
        out._handle = self._make(entries)
        return out

    def _make(self, entries):
        rows = (_Entry * max(len(entries), 1))()
        for row, (i, e) in zip(rows, enumerate(entries)):
            if not isinstance(e, (str, tuple)):
                raise TypeError(f"entries[{i}]: expected str or tuple, found {type(e).__name__}")
            names = e if isinstance(e, tuple) else (e,)
            row.names, row.num_names = _names(names, f"entries[{i}]"), len(names)
            row.tuple = isinstance(e, tuple)
        spec = _Spec(ctypes.sizeof(_Spec), _numbers(_ints(self.device_matrix, "device_matrix")),
                     len(self.device_matrix), _names(self.alias_name, "alias_name"),
                     len(self.alias_name), None, 0, rows, len(entries))
        if self.rank_list is not None:
            spec.rank_list = _numbers(_ints(self.rank_list, "rank_list"))
            spec.num_ranks = len(self.rank_list)
        return _Handle("tz_layout_free", _library().tz_layout_create, ctypes.byref(spec))

    @classmethod
    def from_strategy(cls, strategy, devices, repeat="right"):
        """A .shard() strategy; `repeat` is where the axis of the repetition goes."""
        numbers = _ints(_tuple(strategy, "strategy"), "strategy")
        if repeat not in ("right", "left"):
            raise Error(f"repeat: expected 'right' or 'left', found {repeat!r}")
        out = object.__new__(cls)
        out._handle = _Handle("tz_layout_free", _library().tz_layout_from_strategy,
                              _numbers(numbers), len(numbers), _ints([devices], "devices")[0],
                              repeat == "left")
        facts = ast.literal_eval(out._dict_text())
        out.device_matrix, out.alias_name = facts["device_matrix"], facts["alias_name"]
        out.rank_list = None
        out.entries = tuple(n for n in out.alias_name if n != "rep")
        return out

    @classmethod
    def from_dict(cls, value):
        """Of what to_dict() gives."""
        return cls._of_sharding(Sharding(value))

    @classmethod
    def _of_sharding(cls, sharding):
        sharding.write("layout")  # or says why not
        facts = sharding.describe()
        base = cls(tuple(facts["mesh"].values()), tuple(facts["mesh"]), facts["device_ids"])
        return base(*[("None" if not d["axes"] else d["axes"][0] if len(d["axes"]) == 1 else
                       tuple(d["axes"])) for d in facts["dims"]])

    def _placed(self):
        if self._handle is None:
            raise Error("entries: expected one for each dimension, as in layout('x', 'None'), "
                        "found none")
        return self._handle

    def _sharding(self):
        return _Handle("tz_sharding_free", _library().tz_layout_sharding, self._placed())

    def _dict_text(self):
        return _text(_library().tz_layout_to_dict, self._placed())

    def to_dict(self):
        return ast.literal_eval(self._dict_text())

    def slice_of(self, rank):
        out = _numbers([0])
        _check(_library().tz_layout_slice_of(self._placed(), _ints([rank], "rank")[0], out))
        return out[0]

    def slices(self):
        """The slice of each rank, in the order of the device matrix."""
        n = _library().tz_layout_num_ranks(self._placed())
        out = _numbers([0] * n)
        _check(_library().tz_layout_slices(self._handle, out))
        return out[:n]

    def describe(self, shape=None):
        """What `terrazzo layout --json` shows, as a dict."""
        sizes = None if shape is None else _numbers(_ints(shape, "shape"))
        return json.loads(_text(_library().tz_layout_json, self._placed(), sizes,
                                0 if shape is None else len(shape)))

    def convert(self, to, **options):
        return convert(self, to, **options)

    def redistribute(self, target, shape, element_size=4):
        """The collectives that lead to another layout, and the bytes each rank must receive."""
        sizes = _ints(shape, "shape")
        plan = _Handle("tz_redistribution_free", _library().tz_redistribution_create,
                       self._placed(), target._placed(), _numbers(sizes), len(sizes))
        return json.loads(_text(_library().tz_redistribution_json, plan,
                                _ints([element_size], "element_size")[0]))


def shard(in_strategy, devices, out_strategy=None, repeat="right"):
    """The layouts that .shard() gives an operator's inputs, and its outputs where out_strategy
    says so: tuples of numbers, or Layouts, one a tensor."""
    sides = []
    for field, strategies in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
        if strategies is None and field == "out_strategy":
            continue
        kinds = {isinstance(s, Layout) for s in _tuple(strategies, field)}
        if not kinds:
            raise Error(f"{field}: expected a strategy for each tensor, found none")
        if len(kinds) > 1:
            raise TypeError(f"{field}: expected tuples or Layouts, found both")
        sides.append(kinds.pop())
        for i, s in enumerate(strategies):
            if not isinstance(s, Layout):
                _ints(_tuple(s, f"{field}[{i}]"), f"{field}[{i}]")
    if len(set(sides)) > 1:
        raise Error("out_strategy: expected the kind that in_strategy has, tuples or Layouts, "
                    "found the other")
    made = [tuple(s if isinstance(s, Layout) else Layout.from_strategy(s, devices, repeat)
                  for s in strategies) for strategies in (in_strategy, out_strategy or ())]
    return made[0] if out_strategy is None else tuple(made)
