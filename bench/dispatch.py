"""What a call of a tiny program costs beside XLA:CPU: python bench/dispatch.py [--devices 8].

Both are platforms of one process and take turns; the best of several rounds is printed, in
microseconds, XLA's over ours behind it. `async` is the time until the call returns, `blocking`
until the result is there, `compile` that of a new program, from JAX's lowering on.
"""
import argparse
import os
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=15)
    return parser.parse_args()


def best(rounds, calls, run):
    """The shortest time of a call, in microseconds."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            run()
        times.append((time.perf_counter() - begin) / calls * 1e6)
    return min(times)


def main():
    args = arguments()
    os.environ["JAX_PLATFORMS"] = "terrazzo,cpu"
    os.environ["TERRAZZO_NUM_DEVICES"] = str(args.devices)
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={args.devices}"
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    add = jax.jit(lambda x: x + 1)
    fresh = iter(range(1 << 30))

    def lower_new(x):
        n = next(fresh)
        return jax.jit(lambda y: y * n + 1).lower(x)

    def items(platform):
        devices = jax.devices(platform)
        one = jax.device_put(np.float32(1), devices[0])
        wide = NamedSharding(Mesh(np.array(devices), "x"), P("x"))
        all_ = jax.device_put(np.ones(8 * args.devices, np.float32), wide)
        mean = jax.jit(lambda x: x - x.mean())

        def compile_new():
            lowered = lower_new(one)
            begin = time.perf_counter()
            lowered.compile()
            return time.perf_counter() - begin

        yield "async, one device", 300, lambda: add(one)
        yield "blocking, one device", 300, lambda: add(one).block_until_ready()
        yield "chain of 10, one device", 30, lambda: chain(add, one)
        yield f"blocking, {args.devices} devices", 100, lambda: add(all_).block_until_ready()
        yield f"all-reduce, {args.devices} devices", 50, lambda: mean(all_).block_until_ready()
        yield "to the host", 300, lambda: np.asarray(add(one))
        yield "compile", None, compile_new

    def chain(f, x):
        for _ in range(10):
            x = f(x)
        return x.block_until_ready()

    ours, theirs = list(items("terrazzo")), list(items("cpu"))
    for (name, calls, mine), (_, _, its) in zip(ours, theirs):
        results = {mine: [], its: []}
        for run in (mine, its):
            run()
        for _ in range(args.rounds):
            for run in (mine, its):
                results[run].append(run() * 1e6 if calls is None else best(1, calls, run))
        a, b = min(results[mine]), min(results[its])
        print(f"{name:24} {a:9.1f} us   XLA {b:9.1f} us   {b / a:5.2f}", flush=True)


if __name__ == "__main__":
    main()
