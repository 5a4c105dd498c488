"""Plans of a transformer's block that have names come out where memory and links make them best."""
import json
import re

import pytest

from support import ROOT, terrazzo

jax = pytest.importorskip("jax")
jnp = jax.numpy

GPUS = ROOT / "examples" / "topologies" / "gpus.txt"
FLAT = "level all all 50GB/s 1us\nflops 500TFLOP/s\nmemory 3TB/s\n"
MATRICES = ("wq", "wk", "wv", "wo", "w1", "w2")


def norm(x, scale):
    x = x.astype(jnp.float32)
    centred = x - x.mean(-1, keepdims=True)
    var = (centred ** 2).mean(-1, keepdims=True)
    return (centred * jax.lax.rsqrt(var + 1e-5) * scale).astype(jnp.bfloat16)


def block(heads, p, x):
    batch, length, width = x.shape
    h = norm(x, p["ln1"])
    q, k, v = [(h @ p[n]).reshape(batch, length, heads, width // heads) for n in MATRICES[:3]]
    scores = jnp.einsum("bqhc,bkhc->bhqk", q, k).astype(jnp.float32) / (width // heads) ** .5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    scores = jax.nn.softmax(scores, -1).astype(jnp.bfloat16)
    x = x + jnp.einsum("bhqk,bkhc->bqhc", scores, v).reshape(batch, length, width) @ p["wo"]
    return x + jax.nn.gelu(norm(x, p["ln2"]) @ p["w1"]) @ p["w2"]


def arrays(batch, length, width, layers=1):
    def shape(*dims, dtype=jnp.bfloat16):
        return jax.ShapeDtypeStruct(dims, dtype)
    layer = {name: shape(width, width) for name in MATRICES[:4]}
    layer |= {"w1": shape(width, 4 * width), "w2": shape(4 * width, width)}
    layer |= {name: shape(width, dtype=jnp.float32) for name in ("ln1", "ln2")}
    return [layer] * layers, shape(batch, length, width)


def forward(heads, batch, length, width):
    """A block whose result takes over its argument, as in a stack of them."""
    params, x = arrays(batch, length, width)
    step = jax.jit(lambda p, x: block(heads, p[0], x), donate_argnums=1)
    return step.lower(params, x).as_text(debug_info=True)


def training(heads, batch, length, width, layers=1, remat=False):
    """Forward, backward and Adam."""
    params, x = arrays(batch, length, width, layers)
    state = jax.tree.map(lambda p: jax.ShapeDtypeStruct(p.shape, jnp.float32), params)

    def one(p, x):
        return block(heads, p, x)

    def loss(params, x, y):
        for p in params:
            x = (jax.checkpoint(one) if remat else one)(p, x)
        return ((x - y).astype(jnp.float32) ** 2).mean()

    def step(params, m, v, x, y):
        grads = jax.grad(loss)(params, x, y)
        m = jax.tree.map(lambda a, g: .9 * a + .1 * g.astype(jnp.float32), m, grads)
        v = jax.tree.map(lambda a, g: .99 * a + .01 * g.astype(jnp.float32) ** 2, v, grads)
        params = jax.tree.map(lambda p, a, b: (p - 1e-3 * a / (jnp.sqrt(b) + 1e-8)).astype(p.dtype),
                              params, m, v)
        return params, m, v
    lowered = jax.jit(step, donate_argnums=(0, 1, 2)).lower(params, state, state, x, x)
    return lowered.as_text(debug_info=True)


@pytest.fixture(name="planned")
def fixture_planned(tmp_path):
    def planned(text, *options):
        """The plan with the collectives of the program it writes, specs by name, and how many
        large collectives of each kind there are."""
        model, out = tmp_path / "model.mlir", tmp_path / "annotated.mlir"
        model.write_text(text)
        (tmp_path / "flat.txt").write_text(FLAT)
        options = [tmp_path / x if x == "flat.txt" else x for x in options]
        done = terrazzo("plan", model, "--json", "-o", out, *options)
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        rows = json.loads(terrazzo("why", out, "--json").stdout)["collectives"]
        answer["large"] = [c for c in rows if c["bytes"] > 1 << 16]
        kinds = [c["kind"] for c in answer["large"]]
        specs = {a["name"]: a["spec"] for a in answer["arguments"]}
        return answer, specs, {kind: kinds.count(kind) for kind in kinds}
    return planned


def is_megatron(specs, axis, batch=()):
    """Columns of the first product and rows of the second, heads, and all state likewise."""
    for name, spec in specs.items():
        kind = re.search(r"'(\w+)'\]$", name)
        if kind and kind[1] in ("wo", "w2"):
            assert spec == [[axis], []], name
        elif kind and kind[1] in MATRICES:
            assert spec == [[], [axis]], name
        elif not kind:
            assert spec == [list(batch), [], []], name


def test_megatron_forward(planned):
    """Few tokens, large weights, eight devices on NVLink: one all-reduce for each half."""
    answer, specs, kinds = planned(forward(64, 1, 100, 8192), "--mesh", "model=8",
                                   "--topology", GPUS)
    is_megatron(specs, "model")
    assert kinds == {"all_reduce": 2} and answer["cost"]["collectives"] == 2


def test_megatron_training(planned):
    """One more for each in the backward direction, none for the optimizer."""
    answer, specs, kinds = planned(training(64, 1, 100, 8192), "--mesh", "model=8",
                                   "--topology", GPUS)
    is_megatron(specs, "model")
    assert kinds == {"all_reduce": 4} and answer["cost"]["collectives"] == 4


def test_fsdp_training(planned):
    """Many tokens and little memory on a flat network: all state is cut along data, parameters are
    gathered before use, gradients scattered. Each layer's six matrices are gathered for the
    forward direction and for the backward one, q, k, v and o by one collective for all four;
    some bring the scale of a norm along."""
    answer, specs, kinds = planned(training(16, 256, 1024, 2048, layers=2, remat=True), "--mesh",
                                   "data=256", "--topology", "flat.txt", "--memory", "300MiB",
                                   "--tries", 150)
    assert answer["fits"]
    assert specs["x"] == specs["y"] == [["data"], [], []]
    assert all("ln" in name or ["data"] in spec for name, spec in specs.items())
    gathered = [len([f for f in c["for"] if f["op"] == "stablehlo.dot_general"])
                for c in answer["large"] if c["kind"] == "all_gather"]
    assert sorted(gathered) == [1] * 8 + [4] * 4 and kinds["reduce_scatter"] == 12


def test_many_layers(planned):
    """Searched on four of twelve; what is promised is of all of them."""
    answer, specs, _ = planned(training(16, 64, 256, 512, layers=12), "--mesh", "data=8",
                               "--topology", "flat.txt", "--tries", 12)
    assert (answer["searched_layers"], answer["layers"]) == (4, 12)
    assert len(specs) == 12 * 24 + 2 and len(answer["groups"]) < 60
    assert specs["x"][0] == ["data"] and answer["cost"]["memory"] > answer["cost"]["arguments"] > 0
    assert answer["cost"]["seconds"] < answer["as_it_is"]["seconds"]


def test_both_in_nodes(planned):
    """Nodes of eight: the batch over nodes, tensors inside of them."""
    answer, specs, _ = planned(training(32, 32, 512, 4096), "--devices", 256, "--topology", GPUS,
                               "--tries", 300)
    assert [axis["size"] for axis in answer["mesh"]] == [32, 8]
    for name, spec in specs.items():
        kind = re.search(r"'(\w+)'\]$", name)
        if kind and kind[1] in MATRICES:
            assert ["model"] in spec and ["data"] not in spec, name
        elif not kind:
            assert spec[0] == ["data"], name
