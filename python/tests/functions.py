"""Every function of jnp, jnp.linalg, jnp.fft, jax.nn, jax.lax and jax.scipy on random arrays, ours
and XLA's.

    python python/tests/functions.py [--seed N] [--share N] [--types f32,s32,...] [NAME...]

Arguments are drawn by the names of a function's parameters (function_arguments.py), in several
shapes; those that XLA takes are called on both. Integers, truth values and shapes must be equal,
floats within what the type keeps of a sum of a few products. A line for each that differs or that
XLA alone runs; at the end the functions for which nothing that was drawn could be called, and how
many were. --share N: one in N of all pairs of a function and a type, by the seed. NAME: these only
(jnp.sort). The exit status is 1 if anything differed."""
import argparse
import collections
import os
import sys
import warnings
import zlib

os.environ.setdefault("JAX_PLATFORMS", "terrazzo,cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import jax
import jax.numpy as jnp
import numpy as np

import function_arguments as draw

TYPES = {"f32": jnp.float32, "s32": jnp.int32, "pred": jnp.bool_, "bf16": jnp.bfloat16,
         "f16": jnp.float16, "c64": jnp.complex64, "f64": jnp.float64, "u8": jnp.uint8,
         "s64": jnp.int64}
SPACES = {"jnp": jnp, "jnp.linalg": jnp.linalg, "jnp.fft": jnp.fft, "nn": jax.nn, "lax": jax.lax,
          **{f"scipy.{name}": __import__(f"jax.scipy.{name}", fromlist=["*"])
             for name in ("fft", "integrate", "linalg", "signal", "special", "ndimage",
                          "cluster.vq")},
          **{f"scipy.stats.{name}": __import__(f"jax.scipy.stats.{name}", fromlist=["*"])
             for name in ("norm", "gamma", "beta", "t", "poisson", "cauchy", "expon", "laplace",
                          "logistic", "uniform", "pareto", "chi2", "bernoulli", "geom", "dirichlet",
                          "nbinom", "truncnorm", "vonmises", "wrapcauchy", "gennorm")}}
# A sum of some hundred products of the type, of which the greatest is the scale.
TOLERANCE = {"float64": 1e-10, "float32": 2e-4, "float16": 2e-2, "bfloat16": 1e-1,
             "complex64": 2e-4, "complex128": 1e-10}


# Of results that are not unique, what is.
UNIQUE = {"scipy.linalg.schur":
          lambda schur: lambda a: (lambda t, z: z @ t @ z.conj().swapaxes(-1, -2))(*schur(a))}


def functions():
    """name -> function, of what the modules say is public; no classes, types or constants."""
    found = {}
    for space, module in SPACES.items():
        for name in sorted(dir(module)):
            f = getattr(module, name)
            if name.startswith("_") or isinstance(f, type) or not callable(f):
                continue
            if hasattr(f, "dtype") or name in draw.NO_FUNCTIONS:
                continue
            name = f"{space}.{name}"
            found[name] = UNIQUE.get(name, lambda f: f)(f)
    return found


def greatest(values):
    """Of the finite ones: what is small beside it may be what was left of it."""
    if values.dtype.kind in "biu" or not values.size:
        return 0
    with np.errstate(all="ignore"):
        values = np.abs(values.astype(np.complex128))
    return values[np.isfinite(values)].max(initial=0)


def difference(got, want, kind):
    """None where both are the same; else in words. What is told wide of narrow arguments is as
    narrow as they are; of integers, as f32, which they become on the way in places."""
    got, shape = jax.tree.flatten(got)
    want, other = jax.tree.flatten(want)
    if shape != other:
        return f"{shape}, not {other}"
    scale = max((greatest(np.asarray(w)) for w in want), default=0)
    for g, w in zip(got, want):
        g, w = np.asarray(g), np.asarray(w)
        if g.shape != w.shape or g.dtype != w.dtype:
            return f"{g.dtype}{list(g.shape)}, not {w.dtype}{list(w.shape)}"
        tolerance = TOLERANCE.get(str(w.dtype))
        if tolerance is not None:
            tolerance = max(tolerance, TOLERANCE.get(np.dtype(TYPES[kind]).name, 2e-4))
        if tolerance is None:
            if not np.array_equal(g, w):
                return f"{int((g != w).sum())} of {w.size} elements"
            continue
        wide = np.complex128 if w.dtype.kind == "c" else np.float64
        g, w = g.astype(wide), w.astype(wide)
        same = (g == w) | (np.isnan(g) & np.isnan(w))
        if same.all():
            continue
        with np.errstate(all="ignore"):
            off = np.abs(g - w)[~same] > tolerance * (np.abs(w)[~same] + min(scale, 1e6) + 1e-30)
            if off.any() or not np.isfinite(g[~same]).all() or not np.isfinite(w[~same]).all():
                worst = np.nanmax(np.abs(g - w)[~same] / (np.abs(w)[~same] + 1e-30))
                return f"{w.size - same.sum()} of {w.size} elements, by {worst:.1e}"
    return None


def fits(name, kind):
    """Matrices of two or nine numbers are singular too often."""
    return "linalg" not in name or kind not in ("pred", "u8")


def call(device, function, arguments):
    args, kwargs = arguments
    with jax.default_device(device), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        args, kwargs = jax.tree.map(
            lambda x: jax.device_put(x, device) if isinstance(x, np.ndarray) else x, (args, kwargs))
        return jax.tree.map(np.asarray, function(*args, **kwargs))


class Tally:
    def __init__(self):
        self.called, self.bad, self.types = collections.Counter(), [], collections.Counter()
        self.asked = set()

    def compare(self, name, kind, function, rng):
        """Up to two of the shapes that XLA takes."""
        self.asked.add(name)
        taken = 0
        for arguments in draw.candidates(name, function, rng, TYPES[kind]):
            try:
                want = call(jax.devices("cpu")[0], function, arguments)
            except Exception:
                continue
            try:
                got = call(jax.devices("terrazzo")[0], function, arguments)
                wrong = difference(got, want, kind)
            except Exception as error:
                wrong = f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
            self.called[name] += 1
            self.types[kind] += 1
            if wrong:
                self.bad.append((name, kind, wrong))
                print(f"{name} of {kind} {draw.shown(arguments)}: {wrong}", flush=True)
            taken += 1
            if taken == 2 or wrong:
                return


def run(seed=0, share=1, kinds=None, names=None):
    tally = Tally()
    for count, (name, function) in enumerate(functions().items()):
        if count % 50 == 49:
            jax.clear_caches()  # programs of both take memory
        if names and name not in names:
            continue
        for kind in kinds or TYPES:
            own = zlib.crc32(f"{name} {kind} {seed}".encode())
            if own % share == 0 and fits(name, kind):
                tally.compare(name, kind, function, np.random.default_rng(own))
    return tally


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--types", default=",".join(TYPES))
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    tally = run(options.seed, options.share, options.types.split(","), set(options.names))
    never = sorted(tally.asked - set(tally.called))
    print("could not be called:", ", ".join(never) or "none")
    print("types:", ", ".join(f"{k} {n}" for k, n in tally.types.items()))
    print(f"{len(tally.called)} functions of {len(tally.asked)}, "
          f"{sum(tally.called.values())} calls, {len(tally.bad)} differ")
    return bool(tally.bad)


if __name__ == "__main__":
    sys.exit(main())
