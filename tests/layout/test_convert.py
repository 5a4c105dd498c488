"""`terrazzo convert` against JAX's NamedSharding, and there and back."""
import random

import pytest

from support import terrazzo

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
    if all(list(d) == sorted(d, key=list(mesh).index) for d in dims if isinstance(d, tuple)):
        placements = convert("pspec", "dtensor", mesh, text)
        assert convert("dtensor", "pspec", mesh, placements, "--rank", len(dims)) == text


def test_sdy():
    mesh = {"x": 2, "y": 4}
    assert convert("dtensor", "sdy", mesh, "[Shard(1), Partial()]") == (
        '#sdy.sharding<mesh<["x"=2, "y"=4]>, [{}, {"x"}], unreduced={"y"}>')


WRONG = {
    "unknown axis": ("pspec", "xla", "P('q')", '"q"'),
    "axis twice": ("pspec", "xla", "P('x', 'x')", '"x"'),
    "no end": ("pspec", "xla", "P('x'", "the end"),
    "more": ("pspec", "xla", "P('x') P", "expected the end"),
    "order": ("pspec", "dtensor", "P(('y', 'x'))", 'not expressible: dimension 0 has axis "x"'),
    "partial": ("dtensor", "pspec", "[Partial(), Shard(0)]", 'axis "x" is unreduced'),
    "too few placements": ("dtensor", "pspec", "[Shard(0)]", "','"),
    "no such dimension": ("dtensor", "pspec", "[Shard(99999), Shard(0)]", "a dimension"),
    "not a layout": ("layout", "pspec", "x", "'('"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    source, target, text, message = WRONG[name]
    done = terrazzo("convert", "--from", source, "--to", target, "--mesh", "x=2,y=4", text)
    assert done.returncode == 1 and message in done.stderr, done.stderr


@pytest.mark.parametrize("mesh", ["x", "x=0", "x=2,x=2", "=2", f"x={2**62},y=4", "x=" + "9" * 30])
def test_wrong_mesh(mesh):
    done = terrazzo("convert", "--from", "pspec", "--to", "xla", "--mesh", mesh, "P()")
    assert done.returncode == 1 and done.stderr.startswith("terrazzo: mesh: "), done.stderr


def test_usage():
    done = terrazzo("convert", "--from", "what", "--to", "xla", "--mesh", "x=2", "P()")
    assert done.returncode == 2
    assert terrazzo("convert").returncode == 2
    assert "examples:" in terrazzo("convert", "--help").stdout
