"""Compile and step times of GPT-like training steps, Terrazzo beside XLA:CPU, eight devices each.

  jax_steps.py [--steps N] [--platforms terrazzo,cpu]

The steps of the platforms alternate, so that what the machine does meanwhile touches both alike.
Printed for the record: milliseconds, median and best.
"""
import argparse
import os
import pathlib
import statistics
import sys
import time

os.environ.setdefault("TERRAZZO_NUM_DEVICES", "8")
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "examples" / "train_lm"))

import jax
import train
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
import numpy as np

jax.config.update("jax_num_cpu_devices", 8)

# layers, width, heads, inner, length, batch
SIZES = {"tiny": (2, 64, 4, 256, 64, 32), "deep": (8, 64, 4, 256, 64, 16),
         "wide": (2, 256, 8, 1024, 64, 16)}


class Run:
    """One compiled step on one platform, with its state."""

    def __init__(self, platform):
        devices = np.array(jax.devices(platform)[:8]).reshape(tuple(train.MESH.values()))
        mesh = Mesh(devices, tuple(train.MESH), axis_types=(AxisType.Auto,) * 2)
        place = lambda spec: NamedSharding(mesh, spec)
        shardings = jax.tree.map(place, train.weight_specs(), is_leaf=lambda x: isinstance(x, P))
        self.weights = jax.tree.map(jax.device_put, train.initial_weights(), shardings)
        self.moments = train.initial_moments(self.weights, place)
        (window,) = train.batches(train.corpus(), 1)
        self.window = jax.device_put(window, place(P("data")))
        lowered = jax.jit(train.step, donate_argnums=(0, 1),
                          out_shardings=(place(P()), shardings, (place(P()), shardings, shardings))
                          ).lower(self.weights, self.moments, self.window)
        start = time.perf_counter()
        self.compiled = lowered.compile()
        self.compile_time, self.times = time.perf_counter() - start, []

    def step(self):
        start = time.perf_counter()
        loss, self.weights, self.moments = self.compiled(self.weights, self.moments, self.window)
        jax.block_until_ready((loss, self.weights))
        self.times.append(time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--platforms", default="terrazzo,cpu")
    options = parser.parse_args()
    print(f"{'program':10}{'platform':10}{'compile':>10}{'median':>10}{'best':>10}   (ms)")
    for name, size in SIZES.items():
        (train.LAYERS, train.WIDTH, train.HEADS, train.INNER, train.LENGTH, train.BATCH) = size
        jax.clear_caches()
        runs = {platform: Run(platform) for platform in options.platforms.split(",")}
        for _ in range(options.steps + 3):
            for run in runs.values():
                run.step()
        for platform, run in runs.items():
            times = [t * 1e3 for t in run.times[3:]]
            print(f"{name:10}{platform:10}{run.compile_time * 1e3:10.1f}"
                  f"{statistics.median(times):10.2f}{min(times):10.2f}", flush=True)


if __name__ == "__main__":
    main()
