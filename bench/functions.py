"""Every function of functions.py at sizes that take time: ours beside XLA's, in turn.

    python bench/functions.py [--types f32,s32] [--seconds .05] [--below 1] [--after NAME] [NAME...]

Arguments are drawn as for the comparison of results (python/tests/functions.py), in shapes of up to
two million elements; each call is compiled on both platforms and run in turn. A line for each that
is slower than --below: XLA's time over ours, by the wall and by the processor's clock (best of
all runs), and our time; and for each whose results differ. At the end the geometric mean, and how
many lay below .5 and 1."""
import argparse
import collections
import concurrent.futures.process
import math
import multiprocessing
import os
import pathlib
import signal
import sys
import time
import warnings

warnings.simplefilter("ignore")

os.environ.setdefault("JAX_PLATFORMS", "terrazzo,cpu")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python/tests"))

import jax
import numpy as np

import function_arguments as draw
import functions

SHAPES = [(512, 512), (1 << 20,), (32, 64, 512), (16, 64, 64, 32)]
# Of XLA's program, beyond which a case is left out.
LONGEST, MOST_WORK, MOST_BYTES = 2.0, 2e10, 1 << 30
LONGEST_TO_MAKE = 30  # whole seconds, by JAX and XLA together
# A million operands, or as many steps as there are elements, squared.
LEFT_OUT = {"jnp.lexsort", "jnp.poly", "jnp.polydiv", "jnp.polyfit"}
BATCH = 40  # functions of a process: what was compiled stays for as long as that lives
Best = collections.namedtuple("Best", "wall processor")


def compiled(device, function, arguments):
    """The program, and a call of it that waits for its results; what is no array is part of it."""
    leaves, tree = jax.tree.flatten(arguments)
    at = [i for i, x in enumerate(leaves) if isinstance(x, np.ndarray)]

    def of_arrays(*arrays):
        own = list(leaves)
        for i, x in zip(at, arrays):
            own[i] = x
        args, kwargs = jax.tree.unflatten(tree, own)
        return function(*args, **kwargs)

    with jax.default_device(device):
        arrays = [jax.device_put(leaves[i], device) for i in at]
        run = jax.jit(of_arrays).lower(*arrays).compile()
        return run, lambda: jax.block_until_ready(run(*arrays))


def too_large(run):
    memory = run.memory_analysis()
    return (memory.temp_size_in_bytes + memory.output_size_in_bytes > MOST_BYTES
            or (run.cost_analysis() or {}).get("flops", 0) > MOST_WORK)


def once(run):
    processor, wall = time.process_time(), time.perf_counter()
    run()
    return Best(time.perf_counter() - wall, time.process_time() - processor)


def best(runs, seconds, below):
    """Of both in turn, for so long; five times as long where ours seems slower than that, as other
    work on the machine makes the one or the other slow for a while."""
    taken = [[once(run)] for run in runs]
    for part in (seconds, 5 * seconds):
        end = time.perf_counter() + part
        while time.perf_counter() < end or len(taken[0]) < 4:
            for run, list_ in zip(runs, taken):
                list_.append(once(run))
        ours, peer = (Best(*map(min, zip(*list_))) for list_ in taken)
        if peer.wall / ours.wall >= below:
            break
    return ours, peer


def takes_too_long(*_):
    raise TimeoutError


def sides(function, arguments):
    """None where XLA does not take the arguments, or takes too long."""
    signal.signal(signal.SIGALRM, takes_too_long)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_TO_MAKE, 1)  # again where a callback swallows it
    try:
        program, peer = compiled(jax.devices("cpu")[0], function, arguments)
        if too_large(program) or once(peer).wall > LONGEST:
            return None
    except Exception:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return compiled(jax.devices("terrazzo")[0], function, arguments)[1], peer


def measure(options, batch):
    """The ratios of some functions, by their place in the list of all."""
    draw.SHAPES = SHAPES
    every = list(functions.functions().items())
    ratios = []
    for count, kind in ((c, k) for c in batch for k in options.types.split(",")):
        jax.config.update("jax_enable_x64", np.dtype(functions.TYPES[kind]).itemsize == 8)
        name, function = every[count]
        rng = np.random.default_rng(count)
        for arguments in draw.candidates(name, function, rng, functions.TYPES[kind]):
            shown = f"{name} of {kind} {draw.shown(arguments)}"[:100]
            try:
                runs = sides(function, arguments)
            except Exception as error:
                print(f"{shown}: {type(error).__name__}: {str(error).splitlines()[0][:160]}")
                continue
            if not runs:
                continue
            results = (jax.tree.map(np.asarray, run()) for run in runs)
            wrong = functions.difference(*results, kind)
            if wrong:
                print(f"{shown}: {wrong}", flush=True)
            ours, peer = best(runs, options.seconds, options.below)
            ratios.append(peer.wall / ours.wall)
            if ratios[-1] < options.below:
                print(f"{ratios[-1]:6.2f} {peer.processor / max(ours.processor, 1e-7):6.2f} "
                      f"{ours.wall * 1e3:9.3f} ms  {shown}", flush=True)
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--types", default="f32")
    parser.add_argument("--seconds", type=float, default=.05)
    parser.add_argument("--below", type=float, default=1)
    parser.add_argument("--after", metavar="NAME", help="from the function behind this one on")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    names = list(functions.functions())
    first = names.index(options.after) + 1 if options.after else 0
    wanted = [i for i, name in enumerate(names)
              if i >= first and name not in LEFT_OUT and name in (options.names or names)]
    ratios = []
    for i in range(0, len(wanted), BATCH):
        batch = wanted[i:i + BATCH]
        with concurrent.futures.ProcessPoolExecutor(
                1, mp_context=multiprocessing.get_context("spawn")) as process:
            try:
                ratios += process.submit(measure, options, batch).result()
            except concurrent.futures.process.BrokenProcessPool:
                print(f"died between {names[batch[0]]} and {names[batch[-1]]}", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / max(len(ratios), 1))
    print(f"{len(ratios)} calls, mean {mean:.2f}, {sum(r < .5 for r in ratios)} below .5, "
          f"{sum(r < 1 for r in ratios)} below 1")


if __name__ == "__main__":
    main()
