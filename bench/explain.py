"""The answers of terrazzo why and the like on a GPT's training step, and what they take.

    python bench/explain.py [--layers 96] [--mesh 16x16] [--rounds 3] [--verify] [--keep DIR]

Best of the rounds, wall clock and processor; each is to take under two seconds, diff under one and
fewer than 40 lines, on 96 layers over 256 devices. --verify runs a small step on 8 devices too,
since nobody has the memory for the large one; plan takes one block on all devices (its goal: ten
seconds). --keep writes the programs."""
import argparse
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("TERRAZZO_BIN", ROOT / "build" / "bin")) / "terrazzo"
LINKS = ROOT / "examples" / "topologies" / "gpus.txt"
WIDTH, HEAD, LENGTH = 2048, 64, 512


def lower(layers, mesh, batch, *, width=WIDTH, length=LENGTH, odd=None):
    """A step of Adam's as text; the weight "in" of layer `odd` is not cut."""
    import jax
    import jax.numpy as jnp
    import steps
    from jax.sharding import AxisType, NamedSharding
    from jax.sharding import PartitionSpec as P
    sizes = tuple(map(int, mesh.split("x")))
    mesh = jax.make_mesh(sizes, ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def place(shape, *spec, kind=jnp.float32):
        return jax.ShapeDtypeStruct(shape, kind, sharding=NamedSharding(mesh, P(*spec)))

    def loss(weights, words, labels):
        x = weights["words"][words]
        for layer in weights["layers"]:
            x = steps.block(jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data"))),
                            layer, width // HEAD)
        return steps.cross_entropy(steps.norm(x) @ weights["words"].T, labels)

    def step(weights, first, second, words, labels):
        gradient = jax.grad(loss)(weights, words, labels)
        first = jax.tree.map(lambda m, g: .9 * m + .1 * g, first, gradient)
        second = jax.tree.map(lambda v, g: .99 * v + .01 * g * g, second, gradient)
        update = lambda w, m, v: w - 1e-3 * m / (jnp.sqrt(v) + 1e-8)
        return jax.tree.map(update, weights, first, second), first, second

    blocks = [steps.block_weights(place, width) for _ in range(layers)]
    if odd is not None:
        blocks[odd]["in"] = place((width, 4 * width))
    weights = dict(layers=blocks, words=place((8192, width), "model", None))
    tokens = [place((batch, length), "data", kind=jnp.int32) for _ in range(2)]
    lowered = jax.jit(step, donate_argnums=(0, 1, 2)).lower(weights, weights, weights, *tokens)
    return lowered.as_text(debug_info=True)


def measure(command, rounds):
    """Seconds of the clock and of the processor, best of some; lines of the answer."""
    best = None
    for _ in range(rounds):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run([BIN, *map(str, command)], capture_output=True, text=True,
                              check=False)
        wall = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            sys.exit(f"{command}: {done.stderr}")
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found = (wall, used, done.stdout.count("\n"))
        best = found if best is None else (min(best[0], wall), min(best[1], used), found[2])
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=96)
    parser.add_argument("--mesh", default="16x16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    devices = math.prod(map(int, options.mesh.split("x")))
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    jax.config.update("jax_num_cpu_devices", devices)
    with tempfile.TemporaryDirectory() as folder:
        folder = options.keep or pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        step, odd, block, small = (folder / f"{n}.mlir" for n in ("step", "odd", "block", "small"))
        step.write_text(lower(options.layers, options.mesh, 64))
        odd.write_text(lower(options.layers, options.mesh, 64, odd=options.layers // 2))
        block.write_text(lower(1, options.mesh, 256))
        small.write_text(lower(2, "4x2", 8, width=128, length=32))
        page = folder / "page.html"
        rows = {"why": ["why", step], "why --collective 9": ["why", step, "--collective", 9],
                "mem": ["mem", step], "comms": ["comms", step, "--topology", LINKS],
                "check": ["check", step], "diff": ["diff", step, odd],
                "report": ["report", step, "-o", page],
                "report --before": ["report", odd, "--before", step, "-o", page],
                "plan, a block": ["plan", block, "--devices", devices, "--topology", LINKS]}
        if options.verify:
            rows["verify, 2 layers of 128 on 8 devices"] = ["verify", small]
        size = step.stat().st_size >> 10
        print(f"{options.layers} layers, mesh {options.mesh}, {size} KiB of text")
        print(f"{'':40}{'clock':>8}{'processor':>11}{'lines':>7}")
        for name, command in rows.items():
            wall, used, lines = measure(command, options.rounds)
            print(f"{name:40}{wall:7.2f}s{used:10.2f}s{lines:7}", flush=True)


if __name__ == "__main__":
    main()
