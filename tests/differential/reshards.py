"""Reshards between random shardings: right, and no dearer than they have to be.

    python tests/differential/reshards.py FIRST LAST [--lib FILE]

Each seed is a tensor of up to four dimensions on a mesh of up to 64 devices, between two shardings:
parts of axes, cut in unlike ways too, sizes that they do not divide. Its values must stay, and the
bytes that a device sends (of a ring, wire.h) must be no more than gathering whole dimensions sends,
nor than Shardy's plan does where its shards are those, and what an exhaustive search finds where
there are few shardings. Prints what was drawn, and how often a bound was met or undercut."""

import argparse
import collections
import ctypes
import heapq
import itertools
import math
import random
import re
import sys

import numpy as np

import sharded
from capi import Options

DUMP = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t)
MOST_STATES = 400  # that an exhaustive search looks at
MOST_ELEMENTS = 1 << 16
SIZES = [2, 2, 2, 3, 4, 4, 5, 6, 8, 12, 16]


# ---- what is drawn: a part of an axis is (axis, pre, size), a sharding a tuple of such tuples ----

def chains(n, at=1):
    """All ways to cut an axis of n, each cut a multiple of the one before."""
    if at == n:
        return [[]]
    return [[(at, size)] + rest for size in range(2, n // at + 1) if n // at % size == 0
            for rest in chains(n, at * size)]


def merged(parts):
    out = []
    for axis, pre, size in parts:
        if out and out[-1][0] == axis and out[-1][1] * out[-1][2] == pre:
            out[-1] = (axis, out[-1][1], out[-1][2] * size)
        else:
            out.append((axis, pre, size))
    return tuple(out)


def count(parts):
    return math.prod(size for _, _, size in parts)


class Case:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.features = collections.Counter()
        while True:
            self.mesh = [r.choice(SIZES) for _ in range(r.choice([1, 1, 2, 2, 3, 3, 4]))]
            self.rank = r.choice([1, 2, 2, 3, 3, 4])
            unlike = r.random() < 0.15
            if unlike:
                self.mesh[0] = r.choice([6, 12, 24])
            self.source, self.target = self.sharding(unlike), self.sharding(unlike)
            self.shape = [self.size(d) for d in range(self.rank)]
            if math.prod(self.mesh) <= 64 and math.prod(self.shape) <= MOST_ELEMENTS:
                break
        self.devices = math.prod(self.mesh)
        self.note()

    def cut(self, n):
        return self.r.choice(chains(n)) if self.r.random() < 0.4 else [(1, n)]

    def sharding(self, unlike):
        ways = [self.cut(n) for n in self.mesh]
        if unlike:
            ways[0] = self.r.choice(chains(self.mesh[0])[:-1])
        parts = [(k, *part) for k, way in enumerate(ways) for part in way]
        self.r.shuffle(parts)
        dims = [[] for _ in range(self.rank)]
        for part in parts[:self.r.randrange(len(parts) + 1) if self.r.random() < 0.5 else None]:
            self.r.choice(dims).append(part)
        return tuple(merged(d) for d in dims)

    def size(self, d):
        parts = [count(s[d]) for s in (self.source, self.target)]
        if self.r.random() < 0.2:  # shards of which most would be padding are none (divisible.c)
            return self.r.randrange(max(parts) // 2 + 1, 2 * max(parts) + 2)
        return math.lcm(*parts) * self.r.choice([1, 1, 2, 3])

    def note(self):
        dims = list(zip(self.shape, self.source, self.target))
        both = self.source + self.target
        parts = [p for d in both for p in d]
        uneven = [n % count(a) or n % count(b) for n, a, b in dims]
        self.features[f"{self.rank} dimensions"] += 1
        self.features[f"{self.devices} devices"] += 1
        self.features["sub-axes"] += any(size != self.mesh[k] for k, _, size in parts)
        self.features["axes cut in unlike ways"] += not alike(self, both)
        self.features["uneven"] += any(uneven)
        self.features["uneven, parts change"] += any(
            u and count(a) != count(b) for u, (_, a, b) in zip(uneven, dims))
        self.features["fewer elements than devices"] += any(n < count(a) or n < count(b)
                                                            for n, a, b in dims)
        self.features["as many shards"] += all(count(a) == count(b) for _, a, b in dims)

    def text(self, s):
        def part(k, pre, size):
            return f'"a{k}"' + ("" if size == self.mesh[k] else f":({pre}){size}")
        dims = ", ".join("{" + ", ".join(part(*p) for p in d) + "}" for d in s)
        return f"<@m, [{dims}]>"

    def program(self):
        """The reshard stands between two negations."""
        t = f"tensor<{'x'.join(map(str, self.shape))}xi32>"
        axes = ", ".join(f'"a{k}"={n}' for k, n in enumerate(self.mesh))
        source, target = (f"sdy.sharding = #sdy.sharding_per_value<[{self.text(s)}]>"
                          for s in (self.source, self.target))
        return f"""sdy.mesh @m = <[{axes}]>
func.func @main(%a: {t}) -> {t} {{
  %0 = stablehlo.negate %a {{{source}}} : {t}
  %1 = sdy.reshard %0 {self.text(self.target)} : {t}
  %2 = stablehlo.negate %1 {{{target}}} : {t}
  return %2 : {t}
}}
"""


# ---- costs, in elements that a device sends ----

def steps_hold(n, a, b):
    """Are the shards of n elements in a parts pieces or sums of those in b parts?"""
    return a == b or 1 in (a, b) or -(-n // a) * a == -(-n // b) * b


def local(case, s):
    return math.prod(-(-n // count(d)) for n, d in zip(case.shape, s))


def gathering(case):
    """All but what both have in front, where shards allow that."""
    front = []
    for n, a, b in zip(case.shape, case.source, case.target):
        common = []
        a, b = (list(itertools.chain.from_iterable(primes(p) for p in d)) for d in (a, b))
        for x, y in zip(a, b):
            if x != y:
                break
            common.append(x)
        k = count(common)
        front.append(tuple(common) if steps_hold(n, count(a), k) and steps_hold(n, k, count(b))
                     else ())
    lost = math.prod(count(a) for a in case.source) // math.prod(count(f) for f in front)
    return local(case, case.source) * (lost - 1)


def primes(part):
    """The part cut into primes, smallest first."""
    axis, pre, size = part
    for p in range(2, size + 1):
        if size % p == 0:
            return [(axis, pre, p)] + (primes((axis, pre * p, size // p)) if size > p else [])
    return []


COLLECTIVE = re.compile(r'"stablehlo\.(all_gather|all_to_all|collective_permute|all_reduce)".*'
                        r": \(tensor<([\dx]*?)x?i32>\) -> tensor<([\dx]*?)x?i32>")


def elements(dims):
    return math.prod(int(n) for n in dims.split("x") if n)


def sent(text):
    """Between the negations of a local program."""
    total, kinds = 0, []
    for line in text.split("stablehlo.negate")[1].splitlines():
        m = COLLECTIVE.search(line)
        if not m:
            continue
        n = re.search(r"replica_groups = .*?tensor<\d+x(\d+)xi64>", line)
        before, after, n = elements(m[2]), elements(m[3]), int(n[1]) if n else 0
        total += {"collective_permute": before, "all_gather": after - before,
                  "all_to_all": before * (n - 1) / max(n, 1)}[m[1]]
        kinds.append(m[1])
    return total, kinds


# ---- Shardy's plan ----

SHARDY = re.compile(r"sdy\.(all_slice|all_gather|all_to_all|collective_permute) .*"
                    r"out_sharding=<@m, \[(.*?)\]> : ")


def read_dims(case, text):
    dims = []
    for d in re.findall(r"\{(.*?)\}", text):
        parts = re.findall(r'"a(\d+)"(?::\((\d+)\)(\d+))?', d)
        dims.append(tuple((int(k), int(pre or 1), int(size or case.mesh[int(k)]))
                          for k, pre, size in parts))
    return tuple(dims)


class Shardy:
    """jaxlib's pass over the program."""

    def __init__(self):
        from jax._src.interpreters import mlir
        self.make = mlir.make_ir_context

    def sent(self, case):
        """None: it refuses, there are no such shards, or others than those asked for."""
        from jaxlib.mlir import ir, passmanager
        with self.make() as context:
            context.attach_diagnostic_handler(lambda diagnostic: True)
            try:
                module = ir.Module.parse(case.program())
                passmanager.PassManager.parse(
                    "builtin.module(func.func(sdy-reshard-to-collectives))").run(module.operation)
            except Exception:
                return None
            text = module.operation.get_asm()
        if "sdy.reshard" in text:
            return None
        now, total = case.source, 0
        for kind, dims in SHARDY.findall(text):
            after = read_dims(case, dims)
            if not (all(steps_hold(n, count(a), count(b))
                        for n, a, b in zip(case.shape, now, after)) and alike(case, after)):
                return None
            total += step_cost(case, kind, now, after)
            now = after
        return total if now == case.target else None  # it may end with parts too many


def step_cost(case, kind, now, after):
    before = local(case, now)
    if kind == "collective_permute":
        return before
    if kind == "all_gather":
        return before * (math.prod(map(count, now)) // math.prod(map(count, after)) - 1)
    if kind == "all_to_all":
        k = 1
        for n, a, b in zip(case.shape, now, after):
            if count(b) > count(a):  # padded until it can be cut
                more = count(b) // count(a)
                before = before // -(-n // count(a)) * (-(-n // count(b)) * more)
                k *= more
        return before * (k - 1) / k
    return 0


# ---- exhaustive search ----

def ways(mesh):
    """All ways to cut all axes into primes."""
    return itertools.product(*([c for c in chains(n) if all(prime(s) for _, s in c)]
                               for n in mesh))


def prime(n):
    return all(n % p for p in range(2, n))


def fits(way, parts, axis):
    borders = {1} | {pre * size for pre, size in way}
    return all(pre in borders and pre * size in borders for k, pre, size in parts if k == axis)


def alike(case, dims):
    """Is there a way to cut the axes that has all these parts?"""
    parts = [p for d in dims for p in d]
    return any(all(fits(w, parts, k) for k, w in enumerate(way)) for way in ways(case.mesh))


def arrangements(atoms, rank):
    """All shardings of atoms."""
    out = []
    for n in range(len(atoms) + 1):
        for order in itertools.permutations(atoms, n):
            for cuts in itertools.combinations_with_replacement(range(n + 1), rank - 1):
                ends = (0, *cuts, n)
                out.append(tuple(order[a:b] for a, b in zip(ends, ends[1:])))
    return out


def tails(s, dims):
    """All sets of moves from ends of dimensions to others, no dimension twice."""
    yield []
    for src in dims:
        for dst in range(len(s)):
            for n in range(1, len(s[src]) + 1):
                if dst != src:
                    for rest in tails(s, [d for d in dims if d > src and d != dst]):
                        if all(dst not in m[:2] and src not in m[:2] for m in rest):
                            yield [(src, dst, n)] + rest


def exhaustive(case):
    """The least that any sequence of slices, permutations, all-to-alls and gathers sends."""
    states = {}
    for way in ways(case.mesh):
        atoms = [(k, *part) for k, parts in enumerate(way) for part in parts]
        if sum(math.perm(len(atoms), n) * math.comb(n + case.rank - 1, n)
               for n in range(len(atoms) + 1)) > MOST_STATES:
            return None
        for s in arrangements(atoms, case.rank):
            states.setdefault(tuple(merged(d) for d in s), []).append(s)
    same_parts = collections.defaultdict(list)
    for s in states:
        same_parts[tuple(map(count, s))].append(s)
    best, heap = {case.source: 0}, [(0, case.source)]
    while heap:
        cost, now = heapq.heappop(heap)
        if now == case.target:
            return cost
        if cost > best[now]:
            continue
        for more, after in moves(case, states, same_parts, now):
            if cost + more < best.get(after, math.inf):
                best[after] = cost + more
                heapq.heappush(heap, (cost + more, after))
    return None


def moves(case, states, same_parts, now):
    for s in same_parts[tuple(map(count, now))]:
        if s != now:
            yield step_cost(case, "collective_permute", now, s), s
    for s in states[now]:
        used = {p for d in s for p in d}
        for d in range(case.rank):
            near = [("all_gather", s[d][:n]) for n in range(len(s[d]))]
            near += [("all_slice", s[d] + more) for more in atoms_beside(case, used)]
            for kind, dim in near:
                after = s[:d] + (dim,) + s[d + 1:]
                yield from valid(case, states, kind, now, after)
        for many in tails(s, range(case.rank)):
            after = list(s)
            for src, dst, n in many:
                after[dst] += s[src][-n:]
                after[src] = s[src][:-n]
            if many:
                yield from valid(case, states, "all_to_all", now, tuple(after))


def atoms_beside(case, used):
    """What could be added to a dimension: of primes that go with all that there is."""
    more = set()
    for way in ways(case.mesh):
        atoms = {(k, *part) for k, parts in enumerate(way) for part in parts}
        if used <= atoms:
            for n in range(1, len(atoms - used) + 1):
                more.update(itertools.permutations(atoms - used, n))
    return more


def valid(case, states, kind, now, after):
    after = tuple(merged(d) for d in after)
    if after in states and all(steps_hold(n, count(a), count(b))
                               for n, a, b in zip(case.shape, now, after)):
        yield step_cost(case, kind, now, after), after


# ---- a case ----

def run(case, terrazzo):
    """(values, bytes in elements, kinds), of a compiled program."""
    texts = {}

    def keep(user, stage, text, length):
        texts[stage.decode()] = ctypes.string_at(text, length).decode()
    values = np.arange(math.prod(case.shape), dtype=np.int32).reshape(case.shape)
    out = np.zeros_like(values)
    terrazzo.run(case.program(), case.devices, [values], [out], dump=DUMP(keep))
    return bool((values == out).all()), *sent(texts["partition"])


def check(seed, terrazzo, shardy, tally):
    """None, or what is wrong."""
    case = Case(seed)
    tally.update(case.features)
    try:
        right, ours, kinds = run(case, terrazzo)
    except sharded.Refused as e:
        return f"refused: {e}"
    tally.update(kinds or ["nothing sent"])
    if not right:
        return "wrong values"
    for name, bound in (("gathering", gathering(case)), ("Shardy's plan", shardy.sent(case)),
                        ("the exhaustive search", exhaustive(case))):
        if bound is None:
            continue
        tally[f"{name}: {'as much' if ours == bound else 'less'}"] += 1
        if ours > bound or (ours < bound and name.startswith("the")):
            return f"sends {ours}, not {bound} as {name} does: {' '.join(kinds)}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--lib", default=sharded.LIBRARY)
    options = parser.parse_args()
    terrazzo, shardy = sharded.Terrazzo(options.lib), Shardy()
    tally, bad = collections.Counter(), 0
    for seed in range(options.first, options.last):
        wrong = check(seed, terrazzo, shardy, tally)
        if wrong:
            bad += 1
            print(f"{seed}: {wrong}\n{Case(seed).program()}", flush=True)
    print(", ".join(f"{k} {n}" for k, n in sorted(tally.items())))
    print(f"{options.last - options.first - bad} passed, {bad} failed")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
