"""Trains a small transformer language model on a 4x2 mesh: batch over `data`, heads and the inner
layer over `model`. Plain JAX: nothing in here knows which platform it runs on.

  train.py --platform terrazzo|cpu [--steps N] [--report FOLDER]

--report writes losses and times (report.json), the step as JAX hands it to a plugin (step.mlirbc)
and the step's arguments (in_K.npy).
"""
import argparse
import json
import pathlib
import statistics
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

ROOT = pathlib.Path(__file__).resolve().parents[2]
MESH = {"data": 4, "model": 2}
LAYERS, WIDTH, HEADS, INNER, LENGTH, BATCH = 2, 64, 4, 256, 32, 128
VOCABULARY = 128  # ASCII
RATE = 5e-3


def corpus():
    """The text to learn: the licence and the pages of this tree, as ASCII codes."""
    files = [ROOT / "LICENSE", *sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    return np.frombuffer(text.encode("ascii", "replace"), np.uint8).astype(np.int32)


def batches(codes, steps):
    """Windows of the text, the same for every platform: [BATCH, LENGTH + 1] a step."""
    random = np.random.default_rng(0)
    for _ in range(steps):
        starts = random.integers(0, len(codes) - LENGTH - 1, BATCH)
        yield np.stack([codes[at:at + LENGTH + 1] for at in starts])


def initial_weights():
    random = np.random.default_rng(1)

    def normal(*shape, fan):
        return (random.standard_normal(shape) * fan ** -0.5).astype(np.float32)

    head = WIDTH // HEADS
    layers = [dict(
        gain1=np.ones(WIDTH, np.float32), gain2=np.ones(WIDTH, np.float32),
        query=normal(WIDTH, HEADS, head, fan=WIDTH), key=normal(WIDTH, HEADS, head, fan=WIDTH),
        value=normal(WIDTH, HEADS, head, fan=WIDTH), out=normal(HEADS, head, WIDTH, fan=WIDTH),
        up=normal(WIDTH, INNER, fan=WIDTH), down=normal(INNER, WIDTH, fan=INNER),
    ) for _ in range(LAYERS)]
    return dict(embedding=normal(VOCABULARY, WIDTH, fan=WIDTH),
                position=normal(LENGTH, WIDTH, fan=WIDTH), gain=np.ones(WIDTH, np.float32),
                layers=layers)


def weight_specs():
    layer = dict(gain1=P(), gain2=P(), query=P(None, "model"), key=P(None, "model"),
                 value=P(None, "model"), out=P("model"), up=P(None, "model"), down=P("model"))
    return dict(embedding=P("model"), position=P(), gain=P(), layers=[layer] * LAYERS)


def initial_moments(weights, place):
    """Adam's state: the number of steps, and two averages of the weights' shape and sharding."""
    zeros = lambda: jax.tree.map(
        lambda w: jax.device_put(np.zeros(w.shape, w.dtype), w.sharding), weights)
    return jax.device_put(np.float32(0), place(P())), zeros(), zeros()


def normalise(x, gain):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * gain


def attend(x, layer):
    query, key, value = (jnp.einsum("bsd,dhk->bshk", x, layer[name])
                         for name in ("query", "key", "value"))
    scores = jnp.einsum("bqhk,bshk->bhqs", query, key) * (WIDTH // HEADS) ** -0.5
    seen = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e9), -1)
    return jnp.einsum("bshk,hkd->bsd", jnp.einsum("bhqs,bshk->bqhk", weights, value), layer["out"])


def loss_of(weights, window):
    tokens = jax.nn.one_hot(window, VOCABULARY, dtype=jnp.float32)
    x = tokens[:, :-1] @ weights["embedding"] + weights["position"]
    for layer in weights["layers"]:
        x = x + attend(normalise(x, layer["gain1"]), layer)
        inner = jax.nn.gelu(normalise(x, layer["gain2"]) @ layer["up"])
        x = x + inner @ layer["down"]
    scores = normalise(x, weights["gain"]) @ weights["embedding"].T
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(scores) * tokens[:, 1:], -1))


def step(weights, moments, window):
    """One step of Adam; weights and moments are donated."""
    loss, slope = jax.value_and_grad(loss_of)(weights, window)
    count, mean, square = moments
    count = count + 1
    mean = jax.tree.map(lambda m, g: m + (g - m) * 0.1, mean, slope)
    square = jax.tree.map(lambda v, g: v + (g * g - v) * 0.01, square, slope)
    scale = RATE * jnp.sqrt(1 - 0.99 ** count) / (1 - 0.9 ** count)
    weights = jax.tree.map(lambda w, m, v: w - scale * m / (jnp.sqrt(v) + 1e-6),
                           weights, mean, square)
    return loss, weights, (count, mean, square)


def show_progress(number, steps, loss, seconds):
    line = f"  step {number:3}/{steps}  loss {loss:.4f}  {seconds * 1e3:7.1f} ms"
    if sys.stdout.isatty():
        print("\r" + line, end="\n" if number == steps else "", flush=True)
    elif number == 1 or number % 10 == 0:
        print(line, flush=True)


def train(platform, steps):
    """Compiles the step and runs it; what happened, and the compiled step with its arguments."""
    devices = np.array(jax.devices(platform)[:8]).reshape(tuple(MESH.values()))
    mesh = Mesh(devices, tuple(MESH), axis_types=(AxisType.Auto,) * len(MESH))
    place = lambda spec: NamedSharding(mesh, spec)
    shardings = jax.tree.map(place, weight_specs(), is_leaf=lambda x: isinstance(x, P))
    weights = jax.tree.map(jax.device_put, initial_weights(), shardings)
    moments = initial_moments(weights, place)
    windows = [jax.device_put(window, place(P("data"))) for window in batches(corpus(), steps)]
    jitted = jax.jit(step, donate_argnums=(0, 1),
                     out_shardings=(place(P()), shardings, (place(P()), shardings, shardings)))
    lowered = jitted.lower(weights, moments, windows[0])
    first = jax.tree.map(np.asarray, (weights, moments, windows[0]))
    start = time.perf_counter()
    compiled = lowered.compile()
    report = dict(platform=platform, compile=time.perf_counter() - start, losses=[], times=[])
    for number, window in enumerate(windows, 1):
        start = time.perf_counter()
        loss, weights, moments = compiled(weights, moments, window)
        report["losses"].append(float(loss))
        report["times"].append(time.perf_counter() - start)
        show_progress(number, steps, report["losses"][-1], report["times"][-1])
    report["step"] = statistics.median(report["times"])
    up = weights["layers"][0]["up"]
    report["array"] = dict(name="layers[0].up", shape=up.shape, spec=str(up.sharding.spec), shards={
        device.id - devices.flat[0].id: [[i.start or 0, i.stop or n]
                                         for i, n in zip(index, up.shape)]
        for device, index in up.sharding.devices_indices_map(up.shape).items()})
    return report, lowered, compiled, first


def save(folder, report, lowered, compiled, arguments):
    from jaxlib import _jax
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(report))
    module = lowered.compiler_ir("stablehlo")
    (folder / "step.mlirbc").write_bytes(
        _jax.mlir.serialize_portable_artifact(module, "1.13.7", True))
    (folder / "compiled.txt").write_text(compiled.as_text() or "")
    for number, argument in enumerate(jax.tree.leaves(arguments)):
        np.save(folder / f"in_{number}.npy", argument)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", default="terrazzo")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--report", type=pathlib.Path)
    options = parser.parse_args()
    results = train(options.platform, options.steps)
    if options.report:
        save(options.report, *results)


if __name__ == "__main__":
    main()
