"""Random JAX programs: our numbers compared with those of XLA:CPU.

    python tests/differential/programs.py FIRST LAST [--sharded] [--bin PROGRAM] [--keep DIR]

Seeds FIRST to LAST - 1 each make a program of shape changes, arithmetic, reductions, products,
loops and branches; `terrazzo run` runs what JAX lowers it to. With --sharded the arguments are
laid out over a mesh of 4 x 2 devices, at random. Prints a line for each program that differs,
and `N passed, N failed, N skipped`; --keep keeps module and arrays of those that failed."""
import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import warnings

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
warnings.filterwarnings("ignore")
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec

BIN = pathlib.Path(__file__).resolve().parents[2] / "build" / "bin" / "terrazzo"
AXES = {"x": 4, "y": 2}


class Maker:
    """Grows a list of values; each step adds one made of earlier ones, or nothing."""

    def __init__(self, seed, values):
        self.r, self.values, self.given = random.Random(seed), list(values), len(values)
        self.steps = [getattr(self, n) for n in sorted(dir(self)) if n.startswith("do_")]

    def like(self, x):
        return self.r.choice([v for v in self.values if v.shape == x.shape])

    def axis(self, x):
        return self.r.randrange(x.ndim)

    def index(self):
        """A place that is known at run time only, sometimes outside."""
        return (jnp.sum(self.values[0]) * 3).astype(jnp.int32)

    def grow(self):
        for _ in range(self.r.randint(4, 25)):
            recent = self.r.random() < 0.7
            x = self.r.choice(self.values[-6:] if recent else self.values)
            v = self.r.choice(self.steps)(x) if x.ndim else jnp.tanh(x) + self.like(x)
            if v is not None and v.size < 2000:
                self.values.append(v)
        outputs = self.values[self.given:] or self.values
        self.r.shuffle(outputs)
        return tuple(outputs[:self.r.randint(1, 5)])

    def do_add(self, x): return x + self.like(x)
    def do_multiply(self, x): return x * self.like(x) * 0.5
    def do_tanh(self, x): return jnp.tanh(x)
    def do_exp(self, x): return jnp.exp(-x * x)
    def do_sum(self, x): return jnp.sum(x, axis=self.axis(x)) * 0.3
    def do_max(self, x): return jnp.max(x, axis=self.axis(x), keepdims=True)
    def do_argmax(self, x): return jnp.argmax(x, axis=self.axis(x)).astype(jnp.float32) * 0.1
    def do_cumsum(self, x): return jnp.cumsum(x, axis=self.axis(x)) * 0.2
    def do_flip(self, x): return jnp.flip(x, self.axis(x))
    def do_flatten(self, x): return x.reshape(-1)
    def do_split(self, x): return x.reshape(2, -1) if x.size % 2 == 0 else None
    def do_transpose(self, x): return jnp.transpose(x, self.r.sample(range(x.ndim), x.ndim))
    def do_where(self, x): return jnp.where(x > 0, x, self.like(x) * 0.1)
    def do_dot(self, x): return x @ self.like(x).T * 0.2 if x.ndim == 2 else None

    def do_slice(self, x):
        d = self.axis(x)
        begin = self.r.randint(0, x.shape[d] - 1)
        return lax.slice_in_dim(x, begin, self.r.randint(begin + 1, x.shape[d]),
                                self.r.choice([1, 1, 2]), d)

    def do_concatenate(self, x):
        return jnp.concatenate([x, self.like(x)], axis=self.axis(x))

    def do_pad(self, x):
        edges = [(self.r.randint(-1, 2), self.r.randint(-1, 2), self.r.randint(0, 1))
                 for _ in x.shape]
        if any(n + a + b + (n - 1) * i <= 0 for n, (a, b, i) in zip(x.shape, edges)):
            return None
        known = self.r.random() < 0.5
        return lax.pad(x, jnp.float32(0.25) if known else self.values[0].sum() * 0.1, edges)

    def do_broadcast(self, x):
        return jnp.broadcast_to(x[None], (self.r.choice([2, 3]),) + x.shape) if x.ndim < 4 else None

    def do_dynamic_slice(self, x):
        return lax.dynamic_slice_in_dim(x, self.index(), self.r.randint(1, x.shape[0]), 0)

    def do_dynamic_update(self, x):
        part = lax.slice_in_dim(self.like(x), 0, self.r.randint(1, x.shape[0])) * 2
        at = self.index() if self.r.random() < 0.6 else self.r.randint(0, 3)
        return lax.dynamic_update_slice_in_dim(x, part, at, 0)

    def do_index(self, x):
        rows = jnp.array([self.r.randrange(x.shape[0]) for _ in range(3)])
        return x[rows] if self.r.random() < 0.5 else x.at[rows].add(0.5)

    def do_cond(self, x):
        return lax.cond(jnp.sum(x) > 0, lambda a, b: jnp.tanh(a), lambda a, b: b + x * 0.5, x,
                        self.like(x))

    def do_loop(self, x):
        def inner(b):
            return lambda j, z: z * 0.9 + b * 0.1
        bodies = [lambda i, c: (c[1] * 0.9, c[0] + c[1] * 0.1),
                  lambda i, c: (c[1], c[0]),
                  lambda i, c: (c[0] * 0.5 + i.astype(jnp.float32), c[1] + x * 0.01),
                  lambda i, c: (jnp.flip(c[1], 0), lax.fori_loop(0, 2, inner(c[1]), c[0]))]
        a, b = lax.fori_loop(0, self.r.randint(0, 3), self.r.choice(bodies), (x, self.like(x)))
        self.values.append(b)
        return a


def random_spec(r, shape, mesh):
    spec, free = [], set(AXES)
    for n in shape:
        axes = [a for a in r.choice([[], [], ["x"], ["y"], ["x", "y"]]) if a in free]
        if n % int(np.prod([AXES[a] for a in axes], initial=1)):
            axes = []
        free -= set(axes)
        spec.append(tuple(axes) or None)
    return NamedSharding(mesh, PartitionSpec(*spec))


def make(seed, mesh):
    """The function, its arguments, and what to tell jit."""
    r = random.Random(seed)
    shapes = [tuple(r.choice([2, 3, 4, 5, 8]) for _ in range(r.randint(1, 3)))
              for _ in range(r.randint(1, 3))]
    numbers = np.random.RandomState(seed)
    arguments = [numbers.randn(*s).astype(np.float32) for s in shapes]
    options = {"donate_argnums": tuple(i for i in range(len(shapes)) if r.random() < 0.3),
               "keep_unused": True}
    if mesh is not None:
        options["in_shardings"] = tuple(random_spec(r, s, mesh) for s in shapes)
    return lambda *x: Maker(seed, x).grow(), arguments, options


def run(program, directory, lowered, arguments):
    (directory / "module.mlir").write_text(lowered.as_text())
    for k, a in enumerate(arguments):
        np.save(directory / f"in_{k}.npy", a)
    inputs = [str(directory / f"in_{k}.npy") for k in range(len(arguments))]
    done = subprocess.run([program, "run", str(directory / "module.mlir"), "--output",
                           str(directory), "--input", *inputs], capture_output=True, text=True,
                          timeout=120)
    return done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"] \
        if done.returncode else None


def differences(directory, want):
    for k, w in enumerate(want):
        got, w = np.load(directory / f"out_{k}.npy"), np.asarray(w)
        if got.shape != w.shape:
            yield f"result {k}: expected shape {w.shape}, found {got.shape}"
        elif not np.allclose(got, w, rtol=2e-4, atol=2e-4, equal_nan=True):
            yield f"result {k} of {w.shape}: off by {np.abs(got - w).max()}"


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("first", type=int)
    p.add_argument("last", type=int)
    p.add_argument("--sharded", action="store_true")
    p.add_argument("--bin", default=BIN)
    p.add_argument("--keep")
    o = p.parse_args()
    mesh = None
    if o.sharded:
        mesh = jax.make_mesh(tuple(AXES.values()), tuple(AXES), axis_types=(AxisType.Auto,) * 2)
    failed = 0
    for seed in range(o.first, o.last):
        f, arguments, options = make(seed, mesh)
        directory = pathlib.Path(tempfile.mkdtemp(prefix=f"program_{seed}_", dir=o.keep))
        problems = run(o.bin, directory, jax.jit(f, **options).lower(*arguments), arguments)
        if not problems:
            problems = list(differences(directory, jax.jit(f)(*arguments)))
        for text in problems:
            print(f"seed {seed}: {text}", flush=True)
        failed += bool(problems)
        if not (problems and o.keep):
            shutil.rmtree(directory)
    print(f"{o.last - o.first - failed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
