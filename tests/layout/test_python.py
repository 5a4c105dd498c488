"""terrazzo_layout: JAX's and plain Python objects in and out, and the mistakes that only Python
can make."""
import ast
import json
import os
import pathlib
import re
import sys

import pytest

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "python")]
if pathlib.Path(os.environ.get("TERRAZZO_BUILD", "build")).name != "build":
    pytest.skip("Python loads the ordinary build's library", allow_module_level=True)

import jax
import numpy as np
from jax._src.lib import xla_client
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec as P

import terrazzo_layout as tz
from terrazzo_layout import Layout, convert

ERRORS = json.loads((HERE / "layout_errors.json").read_text())["cases"]
CASES = json.loads((HERE / "layout_cases.json").read_text())["cases"]


def devices(*order):
    return np.array(jax.devices())[list(order or range(8))]


# ---- objects ----

MESHES = {"in order": range(8), "reversed": range(7, -1, -1),
          "by columns": (0, 4, 1, 5, 2, 6, 3, 7)}


@pytest.mark.parametrize("order", MESHES)
@pytest.mark.parametrize("spec", [P("x", None), P(None, ("y", "x")), P(), P(("x", "y"), None)])
def test_named_sharding(order, spec):
    mesh = Mesh(devices(*MESHES[order]).reshape(2, 4), ("x", "y"))
    named = NamedSharding(mesh, spec)
    whole = P(*spec, *[None] * (2 - len(spec)))
    assert convert(named, P, rank=2) == whole
    for notation in ("sdy", "xla", "xla-v1", "dtensor", "layout", "pspec"):
        text = convert(named, notation, rank=2)
        back = convert(text, NamedSharding, source=notation, mesh=mesh, rank=2)
        assert back == NamedSharding(mesh, whole), notation
    slices = tz.Sharding(named, rank=2).slices()
    where = named.devices_indices_map((8, 8))
    groups = {}
    for device, number in zip(mesh.devices.flat, slices):
        groups.setdefault(number, set()).add(str(where[device]))
    assert all(len(g) == 1 for g in groups.values())
    assert len(set.union(*groups.values())) == len(groups)


def test_xla_objects():
    mesh = Mesh(devices().reshape(2, 4), ("x", "y"))
    named = NamedSharding(mesh, P("y"))
    hlo = named._to_xla_hlo_sharding(2)
    assert convert(named, xla_client.HloSharding, rank=2) == hlo
    assert convert(hlo, P, mesh=mesh, rank=2) == P("y", None)
    proto = convert(named, xla_client.OpSharding, rank=2)
    assert xla_client.HloSharding.from_proto(proto) == hlo
    assert convert(hlo.to_proto(), "pspec", mesh={"x": 2, "y": 4}) == "P('y', None)"
    own = convert(hlo, NamedSharding)
    assert own.mesh.shape == {"_axis_0": 2, "_axis_1": 4} and own.spec == P("_axis_1", None)


def test_unreduced_and_manual():
    explicit = Mesh(devices().reshape(2, 4), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    named = NamedSharding(explicit, P("x", unreduced={"y"}))
    assert convert(named, "dtensor", rank=1) == "[Shard(0), Partial()]"
    assert convert("[Shard(0), Partial()]", NamedSharding, source="dtensor",
                   mesh=explicit) == named
    manual = AbstractMesh((2, 4), ("x", "y"), axis_types=(AxisType.Manual, AxisType.Auto))
    named = NamedSharding(manual, P("y"))
    hlo = named._to_xla_hlo_sharding(1)
    assert xla_client.HloSharding.from_string(convert(named, "xla", rank=1)) == hlo
    with pytest.raises(tz.Error, match='not expressible: axis "x" is manual'):
        convert(named, "sdy")


def test_layout_objects():
    placed = Layout((2, 4), ("x", "y"))(("y", "x"), "None")
    assert placed.to_dict()["tensor_map"] == ((0, 1), -1)
    assert Layout.from_dict(placed.to_dict()).to_dict() == placed.to_dict()
    assert placed.convert(P) == P(("y", "x"), None)
    assert convert(NamedSharding(Mesh(devices().reshape(2, 4), ("x", "y")), P(("y", "x"), None)),
                   dict) == placed.to_dict()
    assert convert(placed.to_dict(), "sdy") == placed.convert("sdy")
    assert placed.convert("sdy", over={"a": 8}) == (
        '#sdy.sharding<mesh<["a"=8]>, [{"a":(2)4, "a":(1)2}, {}]>')
    assert placed.slices() == [placed.slice_of(r) for r in range(8)] == [0, 2, 4, 6, 1, 3, 5, 7]
    assert "┌" in tz.Sharding(placed).picture()
    assert tz.Sharding(placed).picture(svg=True).startswith("<svg ")


@pytest.mark.parametrize("case", CASES, ids=[c["id"] for c in CASES])
def test_case(case):
    entries = [e if isinstance(e, str) else tuple(e) for e in case["entries"]]
    layout = Layout(tuple(case["device_matrix"]), tuple(case["alias_name"]),
                    case["rank_list"])(*entries)
    got = layout.describe(case["shape"])
    for key in ("tensor_map", "strategy", "slice_shape", "num_slices", "replicas",
                "replica_groups", "ranks"):
        assert got[key] == case[key], key
    assert layout.slices() == [r["slice"] for r in case["ranks"]]


def test_redistribute():
    rows, columns = Layout((2, 3), ("x", "y")), Layout((3, 2), ("x", "y"))
    plan = rows("x", "None").redistribute(columns("x", "None"), (12, 6))
    assert [s["op"] for s in plan["steps"]] == ["slice", "all_gather"]
    assert [r["bytes"] for r in plan["receives"]] == [0, 0, 48, 48, 0, 0]


# ---- mistakes ----

def layouts(case):
    values = {"range": range}
    matrix, names, ranks = (None if case[k] is None else eval(case[k], values)
                            for k in ("device_matrix", "alias_name", "rank_list"))
    return Layout(matrix, names, ranks)


CONSTRUCT = [c for c in ERRORS if c["stage"] == "construct"]
CALL = [c for c in ERRORS if c["stage"] == "call"]
STRICTER = {"E014", "E015", "E016", "E027", "E028", "E041"}
FOUND = re.compile(r"^[a-z_]+(\[\d+\])*: expected .*found")


def judge(case, function):
    if case["accepted"] and case["id"] not in STRICTER:
        function()
        return
    with pytest.raises((TypeError, ValueError)) as raised:
        function()
    assert FOUND.match(str(raised.value)), raised.value
    if not case["accepted"] and case["error"] == "TypeError":
        assert isinstance(raised.value, TypeError)


@pytest.mark.parametrize("case", CONSTRUCT, ids=[c["id"] for c in CONSTRUCT])
def test_construct(case):
    judge(case, lambda: layouts(case | {"rank_list": case.get("rank_list")}))


@pytest.mark.parametrize("case", CALL, ids=[c["id"] for c in CALL])
def test_call(case):
    base = layouts(case | {"rank_list": None})
    function = lambda: base(*ast.literal_eval(case["entries"])).describe()  # noqa: E731
    if case["id"] == "E041":  # an empty tuple is told where the tensor is known
        function = lambda: base((), "dp").describe((8, 8))  # noqa: E731
    judge(case, function)


def test_failed_call_changes_nothing():
    """E047: MindSpore keeps half of the map of a call that failed."""
    base = Layout((2, 2), ("a", "b"))
    with pytest.raises(tz.Error):
        base("a", "zz")
    with pytest.raises(tz.Error, match="entries: expected one for each dimension"):
        base.to_dict()


AB = Layout((2, 2), ("a", "b"))
# what MindSpore's stages primitive_shard and functional_shard refuse, in the order of the file
SHARD = {
    "E048": (TypeError, lambda: tz.shard([(1, 1), (1, 1)], 4)),
    "E049": (TypeError, lambda: tz.shard("11", 4)),
    "E050": (TypeError, lambda: tz.shard(2, 4)),
    "E051": (TypeError, lambda: tz.shard(((2.0, 1), (1, 1)), 4)),
    "E052": (TypeError, lambda: tz.shard((((2, 1), 1), (1, 1)), 4)),
    "E053": (TypeError, lambda: tz.shard(((1, 1), (1, 1)), 4, [(1, 1)])),
    "E055": (ValueError, lambda: tz.shard(((0, 1), (1, 1)), 4)),
    "E058": (TypeError, lambda: tz.shard(None, 4)),
    "E059": (TypeError, lambda: tz.shard(((1, 1), AB("a", "b")), 4)),
    "E060": (ValueError, lambda: tz.shard((AB("a", "b"),) * 2, 4, ((1, 1),))),
    "E061": (TypeError, lambda: tz.shard(((1, 1), AB("a", "b")), 4)),
    "E062": (ValueError, lambda: tz.shard((), 4)),
    "E063": (TypeError, lambda: tz.shard(([1, 2],), 4)),
    "E064": (TypeError, lambda: tz.shard((None, (1, 1)), 4)),
}


@pytest.mark.parametrize("name", SHARD)
def test_shard_refuses(name):
    kind, function = SHARD[name]
    with pytest.raises(kind, match=FOUND):
        function()


def test_shard_accepts():
    """E056 and E057: ranks may differ, and a strategy may stand alone."""
    assert [l.slices() for l in tz.shard(((2, 1), (1,)), 2)] == [[0, 1], [0, 0]]
    assert [l.slices() for l in tz.shard(((2, 2),), 4)] == [[0, 1, 2, 3]]
    inputs, outputs = tz.shard(((2, 1),), 4, ((2, 2),), repeat="left")
    assert inputs[0].slices() == [0, 1, 0, 1] and outputs[0].slices() == [0, 1, 2, 3]


WRONG = {
    "source": (tz.Error, "notation: ", lambda: convert("x", "sdy", source="what")),
    "target": (tz.Error, "notation: ", lambda: convert("{replicated}", "what", source="xla")),
    "no source": (TypeError, "sharding: ", lambda: convert("x", "sdy")),
    "object": (TypeError, "sharding: ", lambda: convert(3, "sdy")),
    "class": (TypeError, "to: ", lambda: convert("{replicated}", int, source="xla")),
    "no mesh": (tz.Error, "mesh: ", lambda: convert(P("x"), "xla")),
    "mesh size": (TypeError, "mesh: ", lambda: convert(P("x"), "xla", mesh={"x": 2.0})),
    "mesh name": (TypeError, "mesh: ", lambda: convert(P("x"), "xla", mesh={3: 2})),
    "rank type": (TypeError, "rank: ", lambda: convert(P(), "xla", mesh={"x": 2}, rank="2")),
    "rank": (tz.Error, "rank: ", lambda: convert(P("x", None), "xla", mesh={"x": 2}, rank=1)),
    "shape": (tz.Error, "shape: ", lambda: tz.Sharding(P(), mesh={"x": 2}).describe((1,))),
    "shape type": (TypeError, r"shape\[0\]: ", lambda: AB("a").describe((2.0,))),
    "repeat": (tz.Error, "repeat: ", lambda: Layout.from_strategy((2,), 4, "up")),
    "devices": (TypeError, r"devices\[0\]: ", lambda: Layout.from_strategy((2,), "4")),
    "large": (tz.Error, r"device_matrix\[0\]: ", lambda: Layout((2**70,), ("a",))),
    "rank of": (tz.Error, "rank: ", lambda: AB("a").slice_of(4)),
    "nul": (tz.Error, r"alias_name\[0\]: ", lambda: Layout((2,), ("a\0",))),
    "target shape": (tz.Error, r"tensor\[0\]: ",
                     lambda: AB("a").redistribute(AB("b"), (3,))),
    "element": (tz.Error, "element_size: ", lambda: AB("a").redistribute(AB("b"), (4,), 0)),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    kind, field, function = WRONG[name]
    with pytest.raises(kind, match="^" + field):
        function()
