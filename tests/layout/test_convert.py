"""`terrazzo convert` against JAX's NamedSharding, and there and back."""
import os
import pty
import random
import re
import subprocess
import xml.etree.ElementTree

import pytest

from support import BIN, terrazzo

jax_sharding = pytest.importorskip("jax.sharding")


def convert(source, target, mesh, text, *more):
    done = terrazzo("convert", "--from", source, "--to", target, "--mesh",
                    ",".join(f"{n}={s}" for n, s in mesh.items()), text, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def example(seed):
    rng = random.Random(seed)
    mesh = {n: rng.choice([1, 2, 3, 4]) for n in "xyzw"[:rng.randint(1, 4)]}
    dims = [[] for _ in range(rng.randint(1, 4))]
    for name in rng.sample(list(mesh), len(mesh)):
        if rng.random() < 0.7:
            rng.choice(dims).append(name)
    return mesh, [tuple(d) if len(d) > 1 else d[0] if d else None for d in dims]


@pytest.mark.parametrize("seed", range(40))
def test_as_jax(seed):
    mesh, dims = example(seed)
    spec = jax_sharding.PartitionSpec(*dims)
    abstract = jax_sharding.AbstractMesh(tuple(mesh.values()), tuple(mesh))
    text = f"P({', '.join(map(repr, dims))})"
    expected = jax_sharding.NamedSharding(abstract, spec)._to_xla_hlo_sharding(len(dims))
    assert convert("pspec", "xla", mesh, text) == str(expected)
    assert convert("pspec", "pspec", mesh, text) == text
    layout = convert("pspec", "layout", mesh, text)
    assert convert("layout", "pspec", mesh, layout) == text
    placements = convert("pspec", "dtensor", mesh, text)
    back = convert("dtensor", "pspec", mesh, placements, "--rank", len(dims))
    if 1 not in mesh.values():  # axes of size 1 have no order in placements
        assert back == text


def test_sdy():
    mesh = {"x": 2, "y": 4}
    assert convert("dtensor", "sdy", mesh, "[Shard(1), Partial()]") == (
        '#sdy.sharding<mesh<["x"=2, "y"=4]>, [{}, {"x"}], unreduced={"y"}>')


# from, to, text, and what the error must say
WRONG = {
    "unknown axis": ("pspec", "xla", "P('q')",
                     'dimension 0: expected an axis of the mesh, found "q"'),
    "axis twice": ("pspec", "xla", "P('x', 'x')",
                   'dimension 1: expected different axes, found "x"'),
    "no end": ("pspec", "xla", "P('x'", "the end"),
    "more": ("pspec", "xla", "P('x') P", "expected the end, found 'P'"),
    "unreduced twice": ("pspec", "xla", "P('x', unreduced={'x'})", 'unreduced: expected different'),
    "reduced": ("pspec", "xla", "P('x', reduced={'y'})", "reduced: expected none"),
    "open": ("pspec", "xla", "P(P.UNCONSTRAINED, 'x')", "not expressible: dimension 0 is open"),
    "partial": ("dtensor", "layout", "[Partial(), Shard(0)]", 'axis "x" is unreduced'),
    "kind": ("dtensor", "xla", "[Partial('max'), Shard(0)]", 'axis "x" is unreduced with max'),
    "unknown kind": ("dtensor", "xla", "[Partial('avg'), Shard(0)]", 'axis "x": expected sum'),
    "two kinds": ("dtensor", "sdy", "[Partial('max'), Partial()]", 'axis "y": expected Partial'),
    "too few placements": ("dtensor", "pspec", "[Shard(0)]", "expected 2 placements"),
    "too many placements": ("dtensor", "pspec", "[Shard(0)] * 3", "expected 2 placements"),
    "no such dimension": ("dtensor", "pspec", "[Shard(99999), Shard(0)]",
                          'axis "x": expected a dim'),
    "stride": ("dtensor", "pspec", "[_StridedShard(0, split_factor=2), Shard(0)]",
               'axis "x": expected a split factor that later axes of dimension 0 make, found 2'),
    "not a layout": ("layout", "pspec", "x", "expected Layout("),
    "layout of another mesh": ("layout", "pspec", "Layout((2, 2), ('x', 'y'))('x',)",
                               "mesh: expected x=2,y=4"),
    "layout entry": ("layout", "pspec", "('x', 'q')", "entries[1]: expected a name of alias_name"),
    "part": ("sdy", "pspec", '#sdy.sharding<@mesh, [{"y":(1)2}]>',
             'not expressible: dimension 0 has a part of an axis, "y":(1)2'),
    "wrong part": ("sdy", "xla", '#sdy.sharding<@mesh, [{"y":(1)3}]>',
                   'dimension 0: expected a true part of axis "y" of size 4, found (1)3'),
    "parts": ("sdy", "xla", '#sdy.sharding<@mesh, [{"y":(1)2, "y":(2)2}]>', "as one"),
    "overlap": ("sdy", "xla", '#sdy.sharding<@mesh, [{"y":(1)2}, {"y"}]>',
                'dimension 1: expected different axes, found "y" beside "y":(1)2'),
    "priority": ("sdy", "pspec", '#sdy.sharding<@mesh, [{"x"}p1]>', "dimension 0 has a priority"),
    "replicated": ("sdy", "pspec", '#sdy.sharding<@mesh, [{?}], replicated={"y"}>',
                   'axis "y" is kept replicated'),
    "order": ("sdy", "xla", '#sdy.sharding<@mesh, [], replicated={"y", "x"}>', "order of the mesh"),
    "devices": ("xla", "pspec", "{devices=[4]<=[4]}", "mesh: expected 4 devices"),
    "tiles": ("xla", "pspec", "{devices=[4,2]<=[7]}", "<=: expected 8 devices"),
    "device twice": ("xla", "pspec", "{devices=[2]1,1}", "found 1 again"),
    "transpose": ("xla", "pspec", "{devices=[4]<=[2,2]T(0,0)}", "T: expected each of 0 to 1 once"),
    "no such order": ("xla", "pspec", "{devices=[8]0,1,2,4,3,5,6,7}", "not expressible: no order"),
    "maximal": ("xla", "dtensor", "{maximal device=3}", "device 3 alone"),
    "tuple": ("xla", "shard", "{{replicated}, {replicated}}", "a tuple of 2 shardings"),
    "grid axis": ("shard", "xla", "shard.sharding @g split_axes = [[2]]",
                  "dimension 0: expected an axis of the grid, 0 to 1, found 2"),
    "halo": ("shard", "xla", "shard.sharding @g split_axes = [[0]] halo_sizes = [1, 1]",
             "halo_sizes: expected even"),
    "manual": ("named", "sdy", "NamedSharding(mesh=Mesh('x': 2, 'y': 4, axis_types=(Auto, "
               "Manual)), spec=P('x'))", 'axis "y" is manual'),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    source, target, text, message = WRONG[name]
    done = terrazzo("convert", "--from", source, "--to", target, "--mesh", "x=2,y=4", text)
    assert done.returncode == 1 and message in done.stderr, done.stderr


MESHES = ["x", "x=0", "", "x=2,", "x=2 device_ids=[0]", "x=2 device_ids=[1,1]", "x=2,x=2", "=2",
          f"x={2**62},y=4", "x=" + "9" * 30]


@pytest.mark.parametrize("mesh", MESHES)
def test_wrong_mesh(mesh):
    done = terrazzo("convert", "--from", "pspec", "--to", "xla", "--mesh", mesh, "P()")
    assert done.returncode == 1
    assert done.stderr.startswith("terrazzo: --mesh: "), done.stderr


def test_all():
    """Each notation, and why one cannot say it."""
    done = terrazzo("convert", "--from", "sdy", "--to", "all",
                    '#sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x"}, {"y":(1)2}]>')
    lines = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert lines["xla"] == "{devices=[2,2,2]<=[8] last_tile_dim_replicate}"
    assert lines["xla-v1"] == "{devices=[2,2,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"
    for name in ("pspec", "named", "dtensor", "layout", "shard"):
        assert lines[name] == '(not expressible: dimension 1 has a part of an axis, "y":(1)2)'


def test_pictures(tmp_path):
    done = terrazzo("convert", "--from", "xla", "--picture", "--svg", tmp_path / "picture.svg",
                    "{devices=[2,2]<=[2,2]T(1,0)}", env={"TERM": "xterm"})
    assert "│ slice 0: device 0 │ slice 1: device 2 │" in done.stdout and "\x1b" not in done.stdout
    root = xml.etree.ElementTree.parse(tmp_path / "picture.svg").getroot()
    titles = [t.text for t in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["slice 0: device 0", "slice 1: device 2", "slice 2: device 1",
                      "slice 3: device 3"]


@pytest.mark.parametrize("environment,colored", [({"TERM": "xterm"}, True),
                                                 ({"TERM": "xterm", "NO_COLOR": "1"}, False),
                                                 ({"TERM": "dumb"}, False), ({}, False)])
def test_color(environment, colored):
    """Only on a terminal that shows it, and not where NO_COLOR is set."""
    ours, theirs = pty.openpty()
    done = subprocess.run([BIN / "terrazzo", "convert", "--from", "xla", "--picture",
                           "{devices=[2]<=[2]}"], stdout=theirs, env=environment, timeout=60)
    os.close(theirs)
    shown = os.read(ours, 4096)
    os.close(ours)
    assert done.returncode == 0 and (b"\x1b[" in shown) == colored


def test_other_mesh():
    done = terrazzo("convert", "--from", "pspec", "--to", "sdy", "--mesh", "x=2,y=4", "--to-mesh",
                    "a=8", "P('y', 'x')")
    assert done.stdout == '#sdy.sharding<mesh<["a"=8]>, [{"a":(2)4}, {"a":(1)2}]>\n'


def test_note():
    """Axes that the reader made up are shown."""
    done = terrazzo("convert", "--from", "xla", "--to", "pspec", "{devices=[2,1]<=[2]}")
    assert done.stdout == "P('_axis_0', None)\n" and "over the mesh _axis_0=2" in done.stderr


def test_usage():
    done = terrazzo("convert", "--from", "what", "--to", "xla", "--mesh", "x=2", "P()")
    assert done.returncode == 2
    assert terrazzo("convert").returncode == 2
    assert "examples:" in terrazzo("convert", "--help").stdout
