#!/usr/bin/env python3
"""Random shardings through every pair of notations that can express them.

  tests/layout/roundtrip.py [--count N] [--seed S] [--shards K]

Each case is a mesh (some with an order of devices of its own, some with odd names), and axes or
parts of them on dimensions, unreduced, manual. By hand, with numpy, come the slice of every device
and which notations have words for the case: the others must refuse it, "not expressible". For each
pair of those that do, text goes there and back. Every text that comes out is read

- by the library, whose slices must be the ones by hand;
- by somebody else: XLA's parser (HloSharding, its tile assignment and OpSharding), JAX's
  NamedSharding.devices_indices_map, Shardy's parser, and for DTensor, Layout and shard by the
  definition of the notation, worked out here on a tensor.

The last line counts cases, conversions and checks; the exit status is 1 if anything differs.
"""
import argparse
import collections
import itertools
import math
import os
import pathlib
import random
import re
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=64"
os.environ["JAX_PLATFORMS"] = "cpu"
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent / "python")]

import numpy as np  # noqa: E402

import terrazzo_layout  # noqa: E402

NOTATIONS = terrazzo_layout.notations()
KINDS = ["sum", "max", "min", "mul", "and", "or"]
ODD = ["it's", 'a"b', "back\\slash", "größe", "two words", "None_"]

# axis: its name, or (name, pre, size) for a part of one
Case = collections.namedtuple("Case", "names sizes ids dims opens unreduced kind manual")


# ---- cases, and what they mean ----

def random_case(rng):
    sizes = []
    for _ in range(rng.randint(1, 4)):
        size = rng.choice([1, 2, 2, 2, 3, 4, 4, 5, 6, 8, 12])
        if math.prod(sizes) * size <= 64:
            sizes.append(size)
    names = rng.sample(ODD if rng.random() < 0.03 else list("wxyz"), len(sizes))
    ids = list(range(math.prod(sizes)))
    if rng.random() < 0.25:
        rng.shuffle(ids)
    elif rng.random() < 0.1:
        order = rng.sample(range(len(sizes)), len(sizes))
        ids = np.arange(len(ids)).reshape(sizes).transpose(order).ravel().tolist()
    parts = []
    for name, size in zip(names, sizes):
        cut = rng.choice([k for k in range(1, size + 1) if size % k == 0])
        if rng.random() < 0.25 and 1 < cut < size:
            parts += [(name, 1, cut), (name, cut, size // cut)]
        else:
            parts.append(name)
    rng.shuffle(parts)
    rank = rng.randint(0, 4)
    dims, unreduced, manual = [[] for _ in range(rank)], [], []
    has_unreduced, has_manual = rng.random() < 0.2, rng.random() < 0.15
    for part in parts:
        where = rng.random()
        if has_unreduced and where < 0.4:
            unreduced.append(part)
        elif has_manual and where < 0.6 and (isinstance(part, tuple) or
                                             sizes[names.index(part)] > 1):
            manual.append(part)
        elif rank and where < 0.9:
            rng.choice(dims).append(part)
    opens = [not d and rng.random() < 0.3 for d in dims] if rng.random() < 0.1 else [False] * rank
    dims = [merged(d) for d in dims]
    kind = rng.choice(KINDS) if unreduced and rng.random() < 0.3 else "sum"
    return Case(names, sizes, ids, dims, opens, in_mesh_order(names, unreduced), kind,
                in_mesh_order(names, manual))


def merged(axes):
    """Neighbouring parts as one, as Shardy wants them; a whole axis by its name alone."""
    out = []
    for a in axes:
        last = out[-1] if out else None
        if isinstance(a, tuple) and isinstance(last, tuple) and last[0] == a[0] and \
                last[1] * last[2] == a[1]:
            out[-1] = a[0]  # parts come in twos
        else:
            out.append(a)
    return out


def in_mesh_order(names, axes):
    return merged(sorted(axes, key=lambda a: (names.index(a), 0) if isinstance(a, str)
                         else (names.index(a[0]), a[1])))


def extent(case, axis):
    return case.sizes[case.names.index(axis)] if isinstance(axis, str) else axis[2]


def digit(case, coordinates, axis):
    """Coordinate of every device along an axis or a part of it."""
    if isinstance(axis, str):
        return coordinates[case.names.index(axis)]
    k = case.names.index(axis[0])
    return coordinates[k] // (case.sizes[k] // (axis[1] * axis[2])) % axis[2]


def by_hand(case):
    """strategy, slice at each position, and the digits along unreduced and manual axes."""
    coordinates = np.unravel_index(np.arange(len(case.ids)), case.sizes)
    strategy, number = [], np.zeros(len(case.ids), dtype=np.int64)
    for axes in case.dims:
        pieces = 1
        for a in axes:
            number = number * extent(case, a) + digit(case, coordinates, a)
            pieces *= extent(case, a)
        strategy.append(pieces)

    def along(axes):
        out = np.zeros(len(case.ids), dtype=np.int64)
        for a in axes:
            out = out * extent(case, a) + digit(case, coordinates, a)
        return out

    return strategy, number, along(case.unreduced), along(case.manual)


def expressible(case):
    whole = all(isinstance(a, str) for d in case.dims for a in d)
    whole_rest = all(isinstance(a, str) for a in case.unreduced + case.manual)
    plain = case.ids == list(range(len(case.ids)))
    opens, summed = any(case.opens), case.kind == "sum"
    names = whole and whole_rest
    return {"sdy": not case.manual,
            "xla": not opens and summed,
            "xla-v1": not opens and summed,
            "pspec": names and summed and not case.manual,
            "named": names and summed and plain,
            "dtensor": names and not opens and not case.manual,
            "layout": names and not opens and not case.manual and not case.unreduced
            and len(case.dims) > 0,
            "shard": names and not opens and not case.manual and not case.unreduced and plain}


def split(case, axes):
    """Those that split anything: axes of size 1 get lost where devices are counted."""
    return {a for a in axes if extent(case, a) > 1}


def sdy_name(name):
    return terrazzo_layout._quoted(name)


def mesh_text(case):
    axes = ", ".join(f"{sdy_name(n)}={s}" for n, s in zip(case.names, case.sizes))
    ids = "" if case.ids == list(range(len(case.ids))) else f", device_ids={case.ids}"
    return f"<[{axes}]{ids}>"


def sdy_axes(axes, last=()):
    words = [sdy_name(a) if isinstance(a, str) else f"{sdy_name(a[0])}:({a[1]}){a[2]}"
             for a in axes]
    return "{" + ", ".join(words + list(last)) + "}"


def source_text(case):
    """The case in a notation that can say it, written here."""
    if case.manual:
        return manual_text(case)
    dims = ", ".join(sdy_axes(d, ["?"] * o) for d, o in zip(case.dims, case.opens))
    kind = "" if case.kind == "sum" else case.kind
    rest = f", unreduced={kind}{sdy_axes(case.unreduced)}" if case.unreduced else ""
    return "sdy", f"#sdy.sharding<mesh{mesh_text(case)}, [{dims}]{rest}>"


def manual_text(case):
    """Devices listed by tile, then manual, unreduced and replicated ones in some order."""
    if any(case.opens) or case.kind != "sum":
        return None, None
    strategy, number, unreduced, manual = by_hand(case)
    groups = [math.prod(extent(case, a) for a in l) for l in (case.manual, case.unreduced)]
    groups.append(len(case.ids) // math.prod(strategy + groups))
    if groups[:2] == [1, 1] and math.prod(strategy) == 1:
        return "xla", "{replicated}"
    # lexsort keeps the replicas in order; then the groups change places
    devices = np.array(case.ids)[np.lexsort((unreduced, manual, number))]
    names, order = ["manual", "unreduced", "replicated"], [0, 1, 2]
    random.Random(str(case)).shuffle(order)
    devices = devices.reshape([-1] + groups).transpose([0] + [1 + k for k in order]).ravel()
    dims = strategy + [groups[k] for k in order]
    return "xla", (f"{{devices=[{','.join(map(str, dims))}]{','.join(map(str, devices))} "
                   f"last_tile_dims={{{', '.join(names[k] for k in order)}}}}}")


# ---- what others make of a text: the slice of every device ----

class Wrong(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Wrong(what)


class Others:
    """Readers that share nothing with the library."""

    def __init__(self):
        import jax
        from jax._src.lib import xla_client
        from jaxlib.mlir import ir
        from jaxlib.mlir.dialects import sdy
        self.jax, self.hlo, self.ops = jax, xla_client.HloSharding, xla_client.OpSharding
        self.ir, self.context = ir, ir.Context()
        sdy.register_dialect(self.context)
        self.devices = np.array(jax.devices())
        self.checks = collections.Counter()

    def check(self, notation, text, case, truth):
        """A check that returns False has no reader for this case."""
        if getattr(self, "check_" + notation.replace("-", "_"))(text, case, truth) is not False:
            self.checks[notation] += 1

    def check_sdy(self, text, case, truth):
        if "unreduced=" in text:
            return False  # newer than this parser
        attribute = self.ir.Attribute.parse(text, self.context)
        expect(str(attribute) == text, f"Shardy prints {attribute}")

    def check_xla(self, text, case, truth):
        strategy, number, unreduced, manual = truth
        h = self.hlo.from_string(text)
        expect(str(h) == text, f"XLA prints {h}")
        again = self.hlo.from_proto(h.to_proto())
        expect(again == h, "OpSharding loses something")
        proto = self.ops()
        proto.ParseFromString(h.to_proto().SerializeToString())
        expect(self.hlo.from_proto(proto) == h, "serialized OpSharding loses something")
        sizes = [math.prod(extent(case, a) for a in l) for l in (case.manual, case.unreduced)]
        if not h.is_tiled():
            expect(math.prod(strategy) == 1, "XLA sees no tiles")
            expect(h.is_manual() == (sizes[0] == len(case.ids) > 1), "manual")
            expect(h.is_unreduced() == (sizes[1] == len(case.ids) > 1), "unreduced")
            return
        rest = len(case.ids) // math.prod(strategy + sizes)
        dims = strategy + [n for n in sizes + [rest] if n > 1]
        expect(h.tile_assignment_dimensions() == dims, "tiles")
        assignment = np.array(h.tile_assignment_devices()).reshape(strategy + sizes + [rest])
        position = np.argsort(case.ids)
        at = position[assignment]
        tiles = np.arange(math.prod(strategy)).reshape(strategy + [1, 1, 1])
        expect(np.array_equal(number[at], np.broadcast_to(tiles, at.shape)), "XLA's devices")
        for along, size, axis in ((manual, sizes[0], 0), (unreduced, sizes[1], 1)):
            # members of a group differ along this, whatever their order
            groups = np.sort(along[at], axis=len(strategy) + axis)
            shape = [1] * at.ndim
            shape[len(strategy) + axis] = size
            expect(np.array_equal(groups, np.broadcast_to(np.arange(size).reshape(shape),
                                                          at.shape)), "XLA's subgroups")

    def check_xla_v1(self, text, case, truth):
        expect("<=" not in text, "a list of devices")
        self.check_xla(text, case, truth)

    def check_pspec(self, text, case, truth):
        s = self.jax.sharding
        spec = eval(text, {"P": s.PartitionSpec})
        axis_type = s.AxisType.Explicit if case.unreduced else s.AxisType.Auto
        mesh = s.Mesh(self.devices[case.ids].reshape(case.sizes), tuple(case.names),
                      axis_types=(axis_type,) * len(case.names))
        if any(case.opens):
            if case.unreduced:
                return False  # JAX takes open dimensions on Auto axes, unreduced on Explicit ones
            s.NamedSharding(mesh, spec)
            return
        named = s.NamedSharding(mesh, spec)
        self.check_as_hlo(named, text, case)
        if case.unreduced:
            return
        strategy, number = truth[:2]
        shape = tuple(2 * n for n in strategy)
        for device, index in named.devices_indices_map(shape).items():
            at = [((i.start or 0) // 2) for i in index]
            got = int(np.ravel_multi_index(at, strategy)) if strategy else 0
            expect(got == number[case.ids.index(device.id)], f"JAX on device {device.id}")
            for i, d in zip(index, shape):
                expect((i.stop or d) - (i.start or 0) == 2 or d == 2, "JAX's index")

    def check_as_hlo(self, named, text, case):
        if case.ids != list(range(len(case.ids))):
            return  # JAX numbers devices by their place in the mesh here
        expected = named._to_xla_hlo_sharding(len(case.dims))
        ours = self.hlo.from_string(self.convert("pspec", "xla", text, case))
        expect(expected == ours, f"JAX gives {expected}")

    def check_named(self, text, case, truth):
        mesh = re.match(r"NamedSharding\(mesh=Mesh\((.*), axis_types=\((.*)\)\), spec=", text)
        types = [t.strip() for t in mesh[2].rstrip(",").split(",")]
        manual = [n for n, t in zip(case.names, types) if t == "Manual"]
        expect(split(case, manual) == split(case, case.manual), "manual")
        expect(eval("{" + mesh[1] + "}") == dict(zip(case.names, case.sizes)), "mesh")
        if not case.manual:
            spec = text[mesh.end():-1].replace("PartitionSpec(", "P(", 1)
            self.check_pspec(spec, case, truth)

    def check_dtensor(self, text, case, truth):
        """Each mesh axis in turn cuts what its devices hold, as torch.chunk does."""
        strategy, number, unreduced, _ = truth
        placements = re.findall(r"(_StridedShard|Shard|Replicate|Partial)\(([^)]*)\)", text)
        expect(len(placements) == len(case.names), "a placement an axis")
        coordinates = np.unravel_index(np.arange(len(case.ids)), case.sizes)
        partial = {n for n, (kind, _) in zip(case.names, placements) if kind == "Partial"}
        expect(split(case, partial) == split(case, case.unreduced), "partial axes")
        kinds = {a.strip("'") or "sum" for kind, a in placements if kind == "Partial"}
        torch = dict(zip(KINDS, ["sum", "max", "min", "product", "band", "bor"]))
        expect(kinds <= {torch[case.kind]}, "kind of reduction")
        held = {(): [np.arange(n) for n in strategy]}
        for size, (kind, arguments) in zip(case.sizes, placements):
            after = {}
            for at, pieces in held.items():
                for k in range(size):
                    mine = list(pieces)
                    if kind.endswith("Shard"):
                        dim, _, factor = arguments.partition(", split_factor=")
                        dim, factor = int(dim), int(factor or 1)
                        mine[dim] = mine[dim].reshape(factor, size, -1)[:, k].ravel()
                    after[at + (k,)] = mine
            held = after
        for p in range(len(case.ids)):
            mine = held[tuple(int(c[p]) for c in coordinates)]
            expect(all(len(m) == 1 for m in mine), "DTensor's pieces")
            got = int(np.ravel_multi_index([m[0] for m in mine], strategy)) if strategy else 0
            expect(got == number[p], f"DTensor at {p}")

    def check_layout(self, text, case, truth):
        """MindSpore's derivation: digits of the rank, picked and weighed."""
        class Layout:
            def __init__(self, matrix, names, rank_list=None):
                self.matrix, self.names = matrix, names
                self.ranks = rank_list or list(range(math.prod(matrix)))

            def __call__(self, *entries):
                return self, entries
        layout, entries = eval(text, {"Layout": Layout})
        expect((list(layout.matrix), list(layout.names), layout.ranks) ==
               (case.sizes, case.names, case.ids), "Layout's matrix")
        strides = [math.prod(layout.matrix[k + 1:]) for k in range(len(layout.matrix))]
        picked = [a for e in entries for a in ((e,) if isinstance(e, str) else e) if a != "None"]
        for p in range(0, len(case.ids), max(1, len(case.ids) // 7)):
            got = 0
            for a in picked:
                k = layout.names.index(a)
                got = got * layout.matrix[k] + p // strides[k] % layout.matrix[k]
            expect(got == truth[1][p], f"Layout at {p}")

    def check_shard(self, text, case, truth):
        grid = re.search(r"shape = ([0-9x]+)\)", text)[1]
        expect(list(map(int, grid.split("x"))) == case.sizes, "grid")
        axes = eval(re.search(r"split_axes = (\[.*\]) :", text)[1])
        coordinates = np.unravel_index(np.arange(len(case.ids)), case.sizes)
        number = np.zeros(len(case.ids), dtype=np.int64)
        for k in itertools.chain(*axes):
            number = number * case.sizes[k] + coordinates[k]
        expect(len(axes) == len(case.dims) and np.array_equal(number, truth[1]), "shard's slices")

    def convert(self, source, target, text, case):
        return terrazzo_layout._text(self.library.tz_sharding_convert, source.encode(),
                                     target.encode(), text.encode(), mesh_text(case).encode(),
                                     len(case.dims))


# ---- the round trips ----

class Run:
    def __init__(self):
        self.library = terrazzo_layout._library()
        self.others = Others()
        self.others.library = self.library
        self.cases = self.conversions = self.refusals = self.texts = 0
        self.pairs = collections.Counter()

    def convert(self, source, target, text):
        self.conversions += 1
        return terrazzo_layout._text(self.library.tz_sharding_convert, source, target, text,
                                     self.mesh, self.rank)

    def read_back(self, notation, text, case, truth):
        """The library's slices of a text that it wrote."""
        self.texts += 1
        s = terrazzo_layout.Sharding(text, notation.decode(), mesh_text(case), len(case.dims))
        strategy, number, _, _ = truth
        expect(s.num_devices == len(case.ids), "devices")
        expect(s._handle and self.library.tz_sharding_rank(s._handle) == len(strategy), "rank")
        expect(self.library.tz_sharding_strategy(s._handle)[:len(strategy)] == strategy, "strategy")
        out = np.empty(len(case.ids), dtype=np.int64)
        pointer = out.ctypes.data_as(terrazzo_layout.ctypes.POINTER(terrazzo_layout.ctypes.c_int64))
        terrazzo_layout._check(self.library.tz_sharding_slices(s._handle, pointer))
        expect(np.array_equal(out, number), f"slices of {text}")
        self.others.check(notation.decode(), text, case, truth)

    def run_case(self, case):
        source, text = source_text(case)
        if source is None:
            return
        self.cases += 1
        self.mesh, self.rank = mesh_text(case).encode(), len(case.dims)
        truth, can = by_hand(case), expressible(case)
        source, text = source.encode(), text.encode()
        first, seen = {}, set()
        for name in NOTATIONS:
            key = name.encode()
            try:
                first[key] = self.convert(source, key, text)
            except terrazzo_layout.Error as e:
                expect(not can[name], f"{source} to {name}: {e}")
                expect(str(e).startswith("not expressible: "), str(e))
                self.refusals += 1
                continue
            expect(can[name], f"{name} is said to be able to express it")
            self.read_back(key, first[key], case, truth)
            seen.add((key, first[key]))
        for a, b in itertools.permutations(first, 2):
            self.pairs[a, b] += 1
            there = self.convert(a, b, first[a].encode())
            back = self.convert(b, a, there.encode())
            for key, result in ((b, there), (a, back)):
                if (key, result) not in seen:
                    seen.add((key, result))
                    self.read_back(key, result, case, truth)


def run(seed, count, report=None):
    """Returns the Run; a difference is shown and re-raised with its case."""
    rng, out = random.Random(seed), Run()
    while out.cases < count:
        case = random_case(rng)
        try:
            out.run_case(case)
        except Exception as e:
            raise AssertionError(f"{case}\n{source_text(case)[1]}\n{type(e).__name__}: {e}") from e
        if report and out.cases % 10000 == 0:
            report(out)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    out = run(options.seed, options.count,
              lambda r: print(f"{r.cases} cases", flush=True))
    others = ", ".join(f"{n} {c}" for n, c in out.others.checks.items())
    print(f"{out.cases} shardings, {len(out.pairs)} pairs of notations, "
          f"{sum(out.pairs.values())} round trips, {out.conversions} conversions, "
          f"{out.refusals} refusals, {out.texts} texts read back; by others: {others}; "
          "no difference")


if __name__ == "__main__":
    main()
