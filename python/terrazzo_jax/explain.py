"""Answers about a jitted function: why its collectives are there, what memory it needs, what looks
wrong. Nothing is run but by `verify`, and no devices of Terrazzo's are needed: the program that JAX
lowers is given to the library, on whatever mesh its shardings name.

    from terrazzo_jax import explain
    explain.why(step, params, batch, tries=4)
    explain.mem(step, params, batch)["total"]

Each returns an Answer: its text for people (print it; in a notebook it is shown), and as data
(`answer["total"]`, `answer.data`). docs/explain.md says what the answers mean.
"""
import ctypes
import functools
import html
import json
import pathlib

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import terrazzo_jax

WHY, MEM, COMMS, CHECK, DIFF, VERIFY, REPORT, PLAN = range(8)


class Error(ValueError):
    """The program is wrong, or the question."""


class _Options(ctypes.Structure):
    """tz_explain_options of terrazzo/explain.h."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("file", ctypes.c_char_p),
                ("devices", ctypes.c_uint32), ("meshes", ctypes.POINTER(ctypes.c_char_p)),
                ("text", ctypes.c_bool), ("most", ctypes.c_uint32),
                ("collective", ctypes.c_uint32), ("line", ctypes.c_uint32),
                ("value", ctypes.c_char_p), ("tries", ctypes.c_uint32),
                ("topology", ctypes.c_char_p), ("large", ctypes.c_uint64),
                ("other", ctypes.c_char_p), ("other_length", ctypes.c_size_t),
                ("seed", ctypes.c_uint64), ("mesh", ctypes.c_char_p), ("axes", ctypes.c_char_p),
                ("memory", ctypes.c_uint64), ("free_of_constraints", ctypes.c_bool),
                ("threads", ctypes.c_uint32)]


@functools.cache
def _library():
    lib = ctypes.CDLL(str(terrazzo_jax.library_path()))
    lib.tz_explain.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t,
                               ctypes.POINTER(_Options), ctypes.POINTER(ctypes.c_void_p)]
    lib.tz_explain.restype = ctypes.c_void_p
    for name, result in (("error_message", ctypes.c_char_p), ("error_code", ctypes.c_int),
                         ("error_free", None), ("free", None)):
        function = getattr(lib, "tz_" + name)
        function.argtypes, function.restype = [ctypes.c_void_p], result
    return lib


def _ask(question, program, text, options):
    lib, out = _library(), ctypes.c_void_p()
    given = _Options(struct_size=ctypes.sizeof(_Options), file=b"jax", text=text)
    for name, value in options.items():
        setattr(given, name, value.encode() if isinstance(value, str) else value)
    error = lib.tz_explain(question, program, len(program), ctypes.byref(given), ctypes.byref(out))
    if error:
        message, code = lib.tz_error_message(error).decode(), lib.tz_error_code(error)
        lib.tz_error_free(error)
        raise MemoryError(message) if code == 8 else Error(message)
    try:
        return ctypes.string_at(out).decode()
    finally:
        lib.tz_free(out)


class Answer:
    """Text for people, made when it is wanted, and data."""

    def __init__(self, question, program, options):
        self._ask = functools.partial(_ask, question, program)
        self._options = options
        self.data = json.loads(self._ask(False, options))

    def __getitem__(self, key):
        return self.data[key]

    @functools.cached_property
    def text(self):
        """The answer for people."""
        return self._ask(True, self._options)

    def __str__(self):
        return self.text

    __repr__ = __str__

    def _repr_html_(self):
        return f"<pre>{html.escape(self.text)}</pre>"


def _lower(function, *args):
    if not hasattr(function, "lower"):
        function = jax.jit(function)
    return function.lower(*args)


def _text(stage):
    return stage.as_text(debug_info=True).encode()


def lowered(function, *args):
    """The program that the library is given: what JAX lowers, with the places of the source."""
    return _text(_lower(function, *args))


def _topology(topology):
    """The text of a topology, which may be a path."""
    path = pathlib.Path(str(topology))
    return path.read_text() if "\n" not in str(topology) and path.is_file() else str(topology)


def why(function, *args, collective=0, line=0, value=None, tries=0, topology=None):
    """Why each collective is there, and, with `tries`, which annotations to change."""
    options = {"collective": collective, "line": line, "tries": tries}
    if value is not None:
        options["value"] = value
    if topology is not None:
        options["topology"] = _topology(topology)
    return Answer(WHY, lowered(function, *args), options)


def mem(function, *args, most=20):
    """What memory each device needs, and what is in it when most is."""
    return Answer(MEM, lowered(function, *args), {"most": most})


def comms(function, *args, topology):
    """Bytes and times of the collectives on links: a topology's text, or its path."""
    return Answer(COMMS, lowered(function, *args), {"topology": _topology(topology)})


def check(function, *args, large=1 << 20, most=30):
    """What looks wrong in how the program is sharded."""
    return Answer(CHECK, lowered(function, *args), {"large": large, "most": most})


def diff(program, other, most=20):
    """What is different between two programs, as `lowered` gives them."""
    return Answer(DIFF, program, {"other": other, "other_length": len(other), "most": most})


def verify(function, *args, seed=0):
    """Runs the program on all its devices and on one, on random inputs, and compares."""
    return Answer(VERIFY, lowered(function, *args), {"seed": seed})


class Report:
    """One HTML page, shown in a notebook in a frame of its own; `data` is what it knows."""

    def __init__(self, program, options):
        self._ask = functools.partial(_ask, REPORT, program)
        self._options = options

    @functools.cached_property
    def page(self):
        """The page's text."""
        return self._ask(True, self._options)

    @functools.cached_property
    def data(self):
        """What the page knows, as docs/explain.md has it."""
        return json.loads(self._ask(False, self._options))

    def save(self, path):
        """Writes the page and returns its path."""
        path = pathlib.Path(path)
        path.write_text(self.page)
        return path

    def _repr_html_(self):
        return (f'<iframe srcdoc="{html.escape(self.page, quote=True)}" title="Report" '
                'style="width: 100%; height: 46em; border: 1px solid #ccc"></iframe>')


def report(function, *args, topology=None, tries=0, before=None):
    """All answers as one page: the graph, each collective with its why, memory, what looks wrong;
    with `before`, a program as `lowered` gives it, what is different from that."""
    options = {"tries": tries, "most": 20}
    if topology is not None:
        options["topology"] = _topology(topology)
    if before is not None:
        options |= {"other": before, "other_length": len(before)}
    return Report(lowered(function, *args), options)


class Plan(Answer):
    """An answer, and what jax.jit takes: `specs` has a PartitionSpec for each array of the
    arguments, in their structure."""

    def __init__(self, stage, options):
        super().__init__(PLAN, _text(stage), options)
        leaves, tree = jax.tree.flatten(stage.args_info[0])
        found = [PartitionSpec(*(tuple(dim) if len(dim) > 1 else (dim or [None])[0]
                                 for dim in argument["spec"]))
                 for argument in self["arguments"]]
        specs = [PartitionSpec()] * len(leaves)  # of what the function does not look at
        # pylint: disable-next=protected-access
        kept = stage._lowering.compile_args.get("kept_var_idx", range(len(leaves)))
        for place, spec in zip(sorted(kept) if len(found) < len(leaves) else range(len(leaves)),
                               found):
            specs[place] = spec
        self.specs = jax.tree.unflatten(tree, specs)

    def mesh(self, devices=None):
        """The plan's mesh, of jax.devices() or the devices given."""
        axes = self["mesh"]
        devices = np.array(jax.devices() if devices is None else devices)
        return Mesh(devices.reshape([axis["size"] for axis in axes]),
                    [axis["name"] for axis in axes])

    def in_shardings(self, devices=None):
        """For jax.jit: a NamedSharding for each array of the arguments."""
        mesh = self.mesh(devices)
        return jax.tree.map(lambda spec: NamedSharding(mesh, spec), self.specs,
                            is_leaf=lambda spec: isinstance(spec, PartitionSpec))


def plan(function, *args, devices=0, mesh=None, axes=None, memory=0, topology=None, free=False,
         tries=0):
    """Shardings of the arguments that cost a device least time in `memory` bytes, on all meshes of
    so many devices along `axes` ("data,model"), or on `mesh` ("data=2,model=4"); else on that of
    the arguments. free: without the function's own constraints."""
    options = {"devices": devices, "memory": memory, "free_of_constraints": free, "tries": tries}
    for name, text in (("mesh", mesh), ("axes", axes)):
        if text is not None:
            options[name] = text
    if topology is not None:
        options["topology"] = _topology(topology)
    return Plan(_lower(function, *args), options)


def limits(function, *args, collectives=None, bytes_sent=None, memory=None):
    """Fails (AssertionError) where a step has more collectives of a kind than `collectives` says
    ({"all_gather": 0}; kinds that it does not name are free), sends more bytes, or needs more
    memory; says which they are."""
    if collectives is not None or bytes_sent is not None:
        answer = why(function, *args)
        for kind, most in (collectives or {}).items():
            found = [c for c in answer["collectives"] if c["kind"] == kind]
            places = sorted({f"{p['file']}:{p['line']}" for c in found for p in c["for"]})
            assert len(found) <= most, \
                f"{len(found)} of {kind}, {most} at most: for {', '.join(places)}"
        if bytes_sent is not None:
            assert answer["bytes"] <= bytes_sent, \
                f"a device sends {answer['bytes']} bytes, {bytes_sent} at most\n{answer}"
    if memory is not None:
        answer = mem(function, *args)
        assert answer["total"] <= memory, \
            f"a device needs {answer['total']} bytes, {memory} at most\n{answer}"
