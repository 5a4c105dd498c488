"""Ops of manual_module.py: collectives, and what stands between them."""
import functools
import math

import numpy as np

from manual_flow import Flow
from manual_values import (EXACT, GROUPINGS, REDUCERS, Groups, grown, reduced, shared,
                           signature, tensor)


class Ops(Flow):
    STEPS = {"all_reduce": 5, "all_reduce_many": 1, "chains": 1, "all_gather": 2, "all_to_all": 2,
             "collective_permute": 2, "reduce_scatter": 2, "collective_broadcast": 1.5,
             "partition_id": 1, "dynamic_slice": 1, "binary": 3, "unary": 1, "reduce": 1,
             "transpose": 1, "reshape": 1, "slice": 1, "concatenate": 1, "widen": 1, "dot": 1.5,
             "reverse": 0.5, "pad": 0.5, "constraint": 1.5, "while": 0.8, "uneven_while": 0.5,
             "case": 0.6, "call": 0.6, "manual": 1.2}
    COLLECTIVES = {"all_reduce", "all_reduce_many", "chains", "all_gather", "all_to_all",
                   "collective_permute", "reduce_scatter", "collective_broadcast"}

    def steps(self, n):
        for _ in range(n):
            self.step()

    def step(self):
        names = [n for n in self.STEPS if self.level.axes or n not in self.COLLECTIVES]
        name = self.r.choices(names, [self.STEPS[n] for n in names])[0]
        before = len(self.lines)
        getattr(self, f"do_{name}")()
        self.ops[name] += len(self.lines) > before

    def pick(self, rank=0, test=lambda v: True):
        fits = [v for v in self.values if len(v.shape) >= rank and test(v)]
        recent = fits[-4:] if self.r.random() < 0.6 else fits
        return self.r.choice(recent) if recent else None

    # ---- keeping numbers exact ----

    def fits(self, element, limit):
        most = EXACT[element].limit
        return not most or limit <= most

    def constant(self, element, number, shape=()):
        if element == "i1":
            number = "true" if number else "false"
        elif EXACT[element].limit:
            number = f"{number}.0"
        array = np.full((self.level.count, *shape), number in ("true",) if element == "i1"
                        else float(number), EXACT[element].dtype)
        v, = self.emit(f"stablehlo.constant dense<{number}> : {tensor(shape, element)}", [],
                       [(shape, element, frozenset(), abs(int(array.flat[0])) or 1)],
                       lambda _: [array])
        return self.values.pop() and v

    def small(self, v, most=6):
        """v, or its remainder where it may be larger."""
        if v.element == "i1" or v.limit <= most:
            return v
        c = self.constant(v.element, most + 1, v.shape)
        v, = self.emit(f"stablehlo.remainder {v.name}, {c.name} : {v.type}", [v, c],
                       [(v.shape, v.element, v.vary, most)], lambda x: [np.fmod(x[0], x[1])])
        return v

    def bounded(self, v, kind, times):
        """v, made small if a combination of so many could be inexact; None: it would be still."""
        for most in (v.limit, 6, 2, 1):
            if self.fits(v.element, grown(most, 0, times, kind)):
                return self.small(v, most) if most < v.limit else v
        return None

    def kinds(self, element):
        if element == "i1":
            return ["and", "or", "xor"]
        return list(REDUCERS) if not EXACT[element].limit else list(REDUCERS)[:4]

    # ---- groups ----

    def groups(self, uneven=False, ids=True):
        """ids: the op can say use_global_device_ids."""
        r, count = self.r, self.level.count
        kind = r.choices(GROUPINGS, [7, 2, 1.5 if uneven else 0, 0.4,
                                     0.6 if ids and not self.free() else 0])[0]
        if self.together is not None:
            kind = "axes" if self.together else "replicas"
        self.channel += r.random() < 0.7
        channel = (f"channel_handle = #stablehlo.channel_handle<handle = {self.channel + 1}, "
                   f"type = {r.choice([0, 1])}>, ")
        flat, same = list(range(count)), frozenset()
        if kind == "axes":
            axes = [a for a in self.level.axes if self.together is None or a in self.together]
            chosen = [a for a in axes if r.random() < 0.6] or [axes[-1]]
            same = frozenset(chosen)
            lists = self.along(r.sample(chosen, len(chosen)))
        elif kind == "shuffled":
            n = r.choice([k for k in range(1, count + 1) if count % k == 0])
            r.shuffle(flat)
            lists = [flat[i:i + n] for i in range(0, count, n)]
        elif kind == "uneven":
            r.shuffle(flat)
            cuts = sorted(r.sample(range(1, count), r.randint(0, min(2, count - 1))))
            lists = [flat[i:k] for i, k in zip([0] + cuts, cuts + [count])]
        elif kind == "replicas":
            text = "replica_groups = dense<0> : tensor<1x1xi64>"
            return Groups(kind, [[p] for p in flat], same, text, False)
        else:
            table = self.device_table()
            flat.sort(key=lambda p: table[p, 0])
            none = ids and r.random() < 0.3
            self.features["no groups listed"] += none
            text = channel + ("replica_groups = dense<> : tensor<0x0xi64>" if none else
                              "replica_groups = dense<0> : tensor<1x1xi64>")
            return Groups(kind, [flat], frozenset(self.level.axes), text, False)
        return Groups(kind, lists, same, channel + self.listed(lists), ids)

    def along(self, axes):
        """The places in lists along these axes, which are in effect."""
        names = list(self.level.axes)
        order = [a for a in names if a not in axes] + list(axes)
        table = np.arange(self.level.count).reshape([self.mesh[a] for a in names])
        table = table.transpose([names.index(a) for a in order])
        return table.reshape(-1, self.size(axes)).tolist()

    def listed(self, lists):
        table, width = self.device_table(), max(map(len, lists))
        rows = [[int(table[p, k]) for p in l] + [-1] * (width - len(l))
                for l in lists for k in range(table.shape[1])]
        self.r.shuffle(rows)
        if self.r.random() < 0.5:
            rows.sort()
        return f"replica_groups = dense<{rows}> : tensor<{len(rows)}x{width}xi64>"

    def after(self, v, groups):
        """Axes along which a result that all of a group share may vary."""
        if groups.kind in ("shuffled", "uneven"):
            return self.everywhere()
        return v.vary - groups.same

    def attributes(self, g, *more):
        self.features[f"groups: {g.kind}"] += 1
        return ", ".join([*more, g.text] + ["use_global_device_ids"] * g.global_ids)

    def body(self, kind, element):
        a, b, c = self.name(), self.name(), self.name()
        first, second = (a, b) if self.r.random() < 0.7 else (b, a)
        t = tensor((), element)
        self.features[f"reducer: {kind}"] += 1
        made = f"{c} = stablehlo.{kind} {first}, {second} : {t}\n"
        if kind in ("maximum", "minimum") and self.r.random() < 0.3:
            self.features["reducer by select"] += 1
            d, which = self.name(), {"maximum": "GE", "minimum": "LT"}[kind]
            made = (f"{d} = stablehlo.compare {which}, {first}, {second} : ({t}, {t}) -> "
                    f"tensor<i1>\n{c} = stablehlo.select {d}, {first}, {second} : "
                    f"tensor<i1>, {t}\n")
        return f"({{\n^bb0({a}: {t}, {b}: {t}):\n{made}stablehlo.return {c} : {t}\n}})"

    # ---- collectives ----

    def reduction(self, v, uneven):
        """Groups, kind, and v so that the result is exact; or None."""
        kind, g = self.r.choice(self.kinds(v.element)), self.groups(uneven)
        times = max(map(len, g.lists))
        v = self.bounded(v, kind, times)
        return v and (v, g, kind, grown(v.limit, 0, times, kind))

    def do_all_reduce(self):
        found = self.reduction(self.pick(), True)
        if found:
            self.all_reduce(*found)

    def do_chains(self):
        """All-reduces over the same groups, some of which need each other."""
        v = self.pick()
        found = self.reduction(v, True)
        if not found:
            return
        _, g, kind, _ = found
        times = max(map(len, g.lists))
        ends = [v] + [self.pick(0, lambda w: w.element == v.element)
                      for _ in range(self.r.randint(1, 3))]
        for _ in range(self.r.randint(4, 12)):
            k = self.r.randrange(len(ends))
            v = self.bounded(ends[k], kind, times)
            if not v:
                return
            v = self.all_reduce(v, g, kind, grown(v.limit, 0, times, kind))
            other = self.r.choice(ends)
            if self.r.random() < 0.4 and other.shape == v.shape:
                v = self.combine("maximum" if v.element != "i1" else "xor", v, other)
            ends[k] = v

    def all_reduce(self, v, g, kind, limit):
        return self.emit(f'"stablehlo.all_reduce"({v.name}) <{{{self.attributes(g)}}}> '
                         f"{self.body(kind, v.element)} : ({v.type}) -> {v.type}", [v],
                         [(v.shape, v.element, self.after(v, g), limit)],
                         lambda x: [reduced(x[0], g.lists, kind)])[0]

    def do_all_reduce_many(self):
        found = self.reduction(self.pick(), True)
        if not found:
            return
        v, g, kind, limit = found
        many = [v] + [w for w in self.values if w.element == v.element and w.limit <= v.limit
                      and w.name != v.name][-2:]
        types = ", ".join(w.type for w in many)
        if len(many) == 1:
            return
        self.emit(f'"stablehlo.all_reduce"({", ".join(w.name for w in many)}) '
                  f"<{{{self.attributes(g)}}}> {self.body(kind, v.element)} : "
                  f"({types}) -> ({types})", many,
                  [(w.shape, w.element, self.after(w, g), limit) for w in many],
                  lambda x: [reduced(a, g.lists, kind) for a in x])

    def alike(self, v, rank):
        """v, and sometimes others of its rank for the same op."""
        others = [w for w in self.values if len(w.shape) == rank and w.name != v.name]
        many = [v] + others[-2:] * (self.r.random() < 0.15)
        self.features["several operands"] += len(many) > 1
        return many

    def do_all_gather(self):
        v, g = self.pick(1), self.groups()
        n = len(g.lists[0])
        if not v:
            return
        d = self.r.randrange(len(v.shape))
        many = [w for w in self.alike(v, len(v.shape)) if math.prod(w.shape) * n <= 4096]
        shapes = [w.shape[:d] + (w.shape[d] * n,) + w.shape[d + 1:] for w in many]
        if many:
            self.emit(f'"stablehlo.all_gather"({", ".join(w.name for w in many)}) '
                      f"<{{{self.attributes(g, f'all_gather_dim = {d} : i64')}}}> : "
                      f"{signature(many, many, shapes)}", many,
                      [(s, w.element, self.after(w, g), w.limit) for s, w in zip(shapes, many)],
                      lambda x: [shared(a, g.lists, lambda rows: np.concatenate(rows, d))
                                 for a in x])

    def divisible(self, v, d, n):
        """v, or n of it side by side."""
        if v.shape[d] % n == 0:
            return v
        shape = v.shape[:d] + (v.shape[d] * n,) + v.shape[d + 1:]
        if math.prod(shape) > 4096:
            return None
        v, = self.emit(f"stablehlo.concatenate {', '.join([v.name] * n)}, dim = {d} : "
                       f"({', '.join([v.type] * n)}) -> {tensor(shape, v.element)}", [v],
                       [(shape, v.element, v.vary, v.limit)],
                       lambda x: [np.concatenate([x[0]] * n, d + 1)])
        return v

    def do_all_to_all(self):
        v, g = self.pick(1), self.groups(ids=False)
        n = len(g.lists[0])
        if not v:
            return
        d, e = (self.r.randrange(len(v.shape)) for _ in range(2))
        v = self.divisible(v, d, n)
        if not v:
            return
        many = [v] + [w for w in self.values if w.type == v.type and w.name != v.name and
                      self.r.random() < 0.2][:2]
        self.features["several operands"] += len(many) > 1
        shape = list(v.shape)
        shape[d] //= n
        shape[e] *= n

        def run(x):
            out = np.zeros((len(x), *shape), x.dtype)
            for group in g.lists:
                cut = [np.split(x[p], n, d) for p in group]
                for k, p in enumerate(group):
                    out[p] = np.concatenate([pieces[k] for pieces in cut], e)
            return out
        more = (f"concat_dimension = {e} : i64", f"split_count = {n} : i64",
                f"split_dimension = {d} : i64")
        made = signature(many, many, [shape] * len(many))
        self.emit(f'"stablehlo.all_to_all"({", ".join(w.name for w in many)}) '
                  f"<{{{self.attributes(g, *more)}}}> : {made}", many,
                  [(tuple(shape), w.element, self.everywhere(), w.limit) for w in many],
                  lambda x: [run(a) for a in x])

    def do_reduce_scatter(self):
        v = self.pick(1)
        found = v and self.reduction(v, False)
        if not found:
            return
        v, g, kind, limit = found
        n, d = len(g.lists[0]), self.r.randrange(len(v.shape))
        v = self.divisible(v, d, n)
        if not v:
            return
        shape = v.shape[:d] + (v.shape[d] // n,) + v.shape[d + 1:]

        def run(x):
            whole = reduced(x[0], g.lists, kind)
            out = np.zeros((len(whole), *shape), whole.dtype)
            for group in g.lists:
                for k, p in enumerate(group):
                    out[p] = np.split(whole[p], n, d)[k]
            return [out]
        self.emit(f'"stablehlo.reduce_scatter"({v.name}) '
                  f"<{{{self.attributes(g, f'scatter_dimension = {d} : i64')}}}> "
                  f"{self.body(kind, v.element)} : ({v.type}) -> {tensor(shape, v.element)}", [v],
                  [(shape, v.element, self.everywhere(), limit)], run)

    def do_collective_permute(self):
        r, v, count = self.r, self.pick(), self.level.count
        n = r.choice([count, count, r.randint(1, count)])
        pairs = list(zip(r.sample(range(count), n), r.sample(range(count), n)))
        if r.random() < 0.4:
            step = r.randrange(count)
            pairs = [(p, (p + step) % count) for p in range(count)]
        if self.together is not None:
            pairs = [p for l in self.along(sorted(self.together))
                     for p in zip(l, r.sample(l, len(l))) if r.random() < 0.9]
            pairs = pairs or [(0, 0)]
        table = self.device_table()
        if r.random() < 0.05:
            pairs, channel, rows = [(p, p) for p in range(count)], "", [[0, 0]]
        else:
            self.channel += 1
            channel = (f"channel_handle = #stablehlo.channel_handle<handle = {self.channel}, "
                       "type = 1>, ")
            rows = [[int(table[p, k]), int(table[q, k])] for p, q in pairs
                    for k in range(table.shape[1])]
        self.features["permutes"] += len(pairs) == count
        self.features["permutes to a few"] += len(pairs) < count

        def run(x):
            out = np.zeros_like(x[0])
            for p, q in pairs:
                out[q] = x[0][p]
            return [out]
        self.emit(f'"stablehlo.collective_permute"({v.name}) <{{{channel}source_target_pairs = '
                  f"dense<{rows}> : tensor<{len(rows)}x2xi64>}}> : ({v.type}) -> {v.type}", [v],
                  [(v.shape, v.element, self.everywhere(), v.limit)], run)

    def do_collective_broadcast(self):
        v, g = self.pick(), self.groups(ids=False)
        vary = self.after(v, g)
        if len(g.lists) > 1 and g.kind in ("axes", "shuffled") and self.r.random() < 0.3:
            lists = g.lists[1:]
            text = g.text.split("replica_groups")[0] + self.listed(lists)
            g, vary = g._replace(lists=lists, text=text), self.everywhere()
            self.features["broadcasts to a few"] += 1

        def run(x):
            out = np.zeros_like(x[0])
            for group in g.lists:
                out[group] = x[0][group[0]]
            return [out]
        self.emit(f'"stablehlo.collective_broadcast"({v.name}) <{{{self.attributes(g)}}}> : '
                  f"({v.type}) -> {v.type}", [v], [(v.shape, v.element, vary, v.limit)], run)

    # ---- places ----

    def partition(self, element):
        """The device's number as a scalar, where each device is a place of its own."""
        if self.free() or not self.level.axes:
            return None
        table = self.device_table()[:, 0].astype(np.uint32)
        v, = self.emit("stablehlo.partition_id : tensor<ui32>", [],
                       [((), "ui32", self.everywhere(), 12)], lambda _: [table])
        self.values.pop()
        if element == "ui32":
            return v
        to = EXACT[element].dtype
        v, = self.emit(f"stablehlo.convert {v.name} : ({v.type}) -> {tensor((), element)}", [v],
                       [((), element, v.vary, 12)], lambda x: [x[0].astype(to)])
        return self.values.pop() and v

    def do_partition_id(self):
        v = self.pick()
        p = self.partition(v.element)
        if p:
            self.combine("add", v, self.broadcast(p, v.shape))

    def do_dynamic_slice(self):
        v, p = self.pick(1), self.partition("i32")
        if not v or not p:
            return
        sizes = [self.r.randint(1, n) for n in v.shape]

        def run(x):
            starts = [np.minimum(x[1], n - k) for n, k in zip(v.shape, sizes)]
            return [np.stack([row[tuple(slice(s[i], s[i] + k) for s, k in zip(starts, sizes))]
                              for i, row in enumerate(x[0])])]
        self.emit(f"stablehlo.dynamic_slice {v.name}, {', '.join([p.name] * len(sizes))}, sizes = "
                  f"{sizes} : ({v.type}, {', '.join(['tensor<i32>'] * len(sizes))}) -> "
                  f"{tensor(sizes, v.element)}", [v, p],
                  [(tuple(sizes), v.element, v.vary | p.vary, v.limit)], run)

    # ---- what each device does alone ----

    def combine(self, kind, v, w):
        limit = {"add": v.limit + w.limit, "subtract": v.limit + w.limit,
                 "multiply": v.limit * w.limit}.get(kind, max(v.limit, w.limit))
        if not self.fits(v.element, limit):
            v, w = self.small(v), self.small(w)
            limit = 36
        function = REDUCERS.get(kind, np.subtract)
        return self.emit(f"stablehlo.{kind} {v.name}, {w.name} : {v.type}", [v, w],
                         [(v.shape, v.element, v.vary | w.vary, limit)],
                         lambda x: [function(x[0], x[1])])[0]

    def do_binary(self):
        v = self.pick()
        w = self.pick(0, lambda w: w.shape == v.shape and w.element == v.element)
        kinds = self.kinds(v.element)
        self.combine(self.r.choice(kinds + ["subtract"] * (v.element != "i1")), v, w)

    def do_unary(self):
        v = self.pick()
        kind, function = ("not", np.invert) if v.element == "i1" else ("negate", np.negative)
        self.emit(f"stablehlo.{kind} {v.name} : {v.type}", [v],
                  [(v.shape, v.element, v.vary, v.limit)], lambda x: [function(x[0])])

    def broadcast(self, v, shape):
        """A scalar everywhere."""
        if shape == v.shape:
            return v
        return self.emit(f"stablehlo.broadcast_in_dim {v.name}, dims = [] : ({v.type}) -> "
                         f"{tensor(shape, v.element)}", [v],
                         [(tuple(shape), v.element, v.vary, v.limit)],
                         lambda x: [np.broadcast_to(x[0].reshape([-1] + [1] * len(shape)),
                                                    (len(x[0]), *shape)).copy()])[0]

    def do_reduce(self):
        v = self.pick(1)
        if not v or v.element == "i1":
            return
        d = self.r.randrange(len(v.shape))
        kind = self.r.choice(["add", "maximum"])
        v = self.bounded(v, kind, v.shape[d])
        if not v:
            return
        zero = self.constant(v.element, 0)
        shape = v.shape[:d] + v.shape[d + 1:]
        self.emit(f"stablehlo.reduce({v.name} init: {zero.name}) applies stablehlo.{kind} across "
                  f"dimensions = [{d}] : ({v.type}, {zero.type}) -> {tensor(shape, v.element)}",
                  [v], [(shape, v.element, v.vary, grown(v.limit, 0, v.shape[d], kind))],
                  lambda x: [functools.reduce(REDUCERS[kind], np.moveaxis(x[0], d + 1, 0),
                                              np.zeros((len(x[0]), *shape), x[0].dtype))])

    def do_transpose(self):
        v = self.pick(2)
        if not v:
            return
        order = self.r.sample(range(len(v.shape)), len(v.shape))
        shape = tuple(v.shape[d] for d in order)
        self.emit(f"stablehlo.transpose {v.name}, dims = {order} : ({v.type}) -> "
                  f"{tensor(shape, v.element)}", [v], [(shape, v.element, v.vary, v.limit)],
                  lambda x: [x[0].transpose([0] + [d + 1 for d in order])])

    def do_reshape(self):
        v = self.pick(1)
        if not v:
            return
        d, shape = self.r.randrange(len(v.shape)), list(v.shape)
        cuts = [k for k in range(1, shape[d] + 1) if shape[d] % k == 0]
        if len(shape) > 1 and self.r.random() < 0.5:
            d = min(d, len(shape) - 2)
            shape[d:d + 2] = [shape[d] * shape[d + 1]]
        else:
            k = self.r.choice(cuts)
            shape[d:d + 1] = [k, shape[d] // k]
        if len(shape) > 4:
            return
        self.emit(f"stablehlo.reshape {v.name} : ({v.type}) -> {tensor(shape, v.element)}", [v],
                  [(tuple(shape), v.element, v.vary, v.limit)],
                  lambda x: [x[0].reshape(len(x[0]), *shape)])

    def do_slice(self):
        v = self.pick(1)
        if not v:
            return
        ranges = []
        for n in v.shape:
            a = self.r.choice([0, self.r.randrange(n)])
            ranges.append((a, self.r.randint(a + 1, n), self.r.choice([1, 1, 2])))
        at = tuple(slice(*t) for t in ranges)
        shape = tuple(len(range(*t)) for t in ranges)
        self.emit(f"stablehlo.slice {v.name} [{', '.join('%d:%d:%d' % t for t in ranges)}] : "
                  f"({v.type}) -> {tensor(shape, v.element)}", [v],
                  [(shape, v.element, v.vary, v.limit)], lambda x: [x[0][(slice(None), *at)]])

    def do_concatenate(self):
        v = self.pick(1)
        if not v:
            return
        d = self.r.randrange(len(v.shape))
        w = self.pick(1, lambda w: w.element == v.element and len(w.shape) == len(v.shape) and
                      all(a == b or k == d for k, (a, b) in enumerate(zip(v.shape, w.shape))))
        shape = v.shape[:d] + (v.shape[d] + w.shape[d],) + v.shape[d + 1:]
        if math.prod(shape) <= 4096:
            self.emit(f"stablehlo.concatenate {v.name}, {w.name}, dim = {d} : ({v.type}, {w.type}) "
                      f"-> {tensor(shape, v.element)}", [v, w],
                      [(shape, v.element, v.vary | w.vary, max(v.limit, w.limit))],
                      lambda x: [np.concatenate(x, d + 1)])

    def do_widen(self):
        v = self.pick()
        n = self.r.choice([2, 3, self.r.choice(list(self.mesh.values()))])
        if math.prod(v.shape) * n > 2048 or len(v.shape) > 3:
            return
        d = self.r.randint(0, len(v.shape))
        shape = v.shape[:d] + (n,) + v.shape[d:]
        kept = [k for k in range(len(shape)) if k != d]
        self.emit(f"stablehlo.broadcast_in_dim {v.name}, dims = {kept} : ({v.type}) -> "
                  f"{tensor(shape, v.element)}", [v], [(shape, v.element, v.vary, v.limit)],
                  lambda x: [np.repeat(np.expand_dims(x[0], d + 1), n, d + 1)])

    def do_dot(self):
        v = self.pick(1, lambda v: v.element != "i1")
        if not v:
            return
        d = self.r.randrange(len(v.shape))
        w = self.pick(1, lambda w: w.element == v.element and v.shape[d] in w.shape)
        e = self.r.choice([k for k, n in enumerate(w.shape) if n == v.shape[d]])
        shape = v.shape[:d] + v.shape[d + 1:] + w.shape[:e] + w.shape[e + 1:]
        if math.prod(shape) > 2048 or len(shape) > 4:
            return
        v, w = self.small(v), self.small(w)
        limit = v.limit * w.limit * v.shape[d]
        if self.fits(v.element, limit):
            self.emit(f"stablehlo.dot_general {v.name}, {w.name}, contracting_dims = [{d}] x [{e}]"
                      f" : ({v.type}, {w.type}) -> {tensor(shape, v.element)}", [v, w],
                      [(shape, v.element, v.vary | w.vary, limit)],
                      lambda x: [np.stack([np.tensordot(a, b, (d, e)) for a, b in zip(*x)])])

    def do_reverse(self):
        v = self.pick(1)
        if v:
            d = self.r.randrange(len(v.shape))
            self.emit(f"stablehlo.reverse {v.name}, dims = [{d}] : {v.type}", [v],
                      [(v.shape, v.element, v.vary, v.limit)], lambda x: [np.flip(x[0], d + 1)])

    def do_pad(self):
        v = self.pick(1)
        if not v:
            return
        edges = [(self.r.choice([0, 0, 1]), self.r.choice([0, 0, 1, 2])) for _ in v.shape]
        shape = tuple(n + a + b for n, (a, b) in zip(v.shape, edges))
        c = self.constant(v.element, 1)
        low, high = [a for a, _ in edges], [b for _, b in edges]
        self.emit(f"stablehlo.pad {v.name}, {c.name}, low = {low}, high = {high}, interior = "
                  f"{[0] * len(low)} : ({v.type}, {c.type}) -> {tensor(shape, v.element)}", [v],
                  [(shape, v.element, v.vary, max(v.limit, 1))],
                  lambda x: [np.pad(x[0], [(0, 0), *edges], constant_values=1)])

    def do_constraint(self):
        v = self.pick()
        if self.free():
            self.emit(f"sdy.sharding_constraint {v.name} {self.sharding(v.shape, even=False)} : "
                      f"{v.type}", [v], [(v.shape, v.element, v.vary, v.limit)], lambda x: [x[0]])
