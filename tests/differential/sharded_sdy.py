"""The ops of sdy that sharded.py draws, and calls of what hands its operand on."""

import math

from sharded_module import joined, only_sharded
from sharded_ops import Ops
from sharded_values import Value, tensor


def braces(lists):
    return joined("{" + joined(l) + "}" for l in lists)


class Sdy(Ops):
    def draw_constraint(self):
        v = self.some(empty=True)
        if v is not None:
            self.constrain(v)

    def draw_barrier(self):
        v = self.some(empty=True)
        if v is None:
            return
        if self.chance(0.5):
            many = [v, self.like(v)]
            self.keep(self.op("stablehlo.optimization_barrier", many,
                              [(x.shape, x.element, x.bound) for x in many]))
            return
        out, way = self.name(), self.r.choice(["NONE", "FORWARD", "BACKWARD"])
        self.lines.append(self.marked(
            f"{out} = sdy.propagation_barrier {v.name} allowed_direction={way} : {v.type}", out, v))
        self.counts["sdy.propagation_barrier"] += 1
        self.keep([Value(out, v.shape, v.element, v.bound)])

    def draw_group(self):
        v = self.some(least=1)
        if v is None or self.depth:
            return
        for x in (v, self.like(v)):
            number = self.groups.setdefault(x.shape, len(self.groups))
            self.lines.append(self.marked(
                f"sdy.sharding_group {x.name} group_id = {number} : {x.type}"))
        self.counts["sdy.sharding_group"] += 1

    def draw_custom_call(self):
        """A call that hands its operand on, with a rule that says so."""
        v = self.some(least=1, empty=True)
        if v is None:
            return
        letters = "ijklmnop"[:len(v.shape)]
        sizes = joined(f"{a}={n}" for a, n in zip(letters, v.shape))
        rule = (f"sdy.sharding_rule = #sdy.op_sharding_rule<([{joined(letters)}])->"
                f"([{joined(letters)}]) {{{sizes}}}, custom>")
        self.keep(self.op("stablehlo.custom_call", [v], [(v.shape, v.element, v.bound)],
                          'call_target_name = "LayoutConstraint"',
                          rule=rule if self.chance(0.7) else ""))

    def draw_collective(self):
        """A reshard, and a collective on it that leaves the whole as it is."""
        v, r = self.some(least=1), self.r
        if v is None:
            return
        # axes of size one vanish at import, from shardings only
        axes = [f'"{a}"' for a, n in self.free_axes().items() if n > 1]
        size = {f'"{a}"': n for a, n in self.free_axes().items()}
        r.shuffle(axes)
        before, left = [[] for _ in v.shape], list(v.shape)
        free = []

        def place(l, a):
            fits = [d for d, n in enumerate(left) if n % size[a] == 0]
            if not fits or r.random() < 0.3:
                free.append(a)
                return
            d = r.choice(fits)
            l[d].append(a)
            left[d] //= size[a]
        for a in axes:
            place(before, a)
        after, moved, d = [list(l) for l in before], [[] for _ in v.shape], r.randrange(len(left))
        kind = r.choice(["all_gather", "all_slice", "all_to_all", "collective_permute"])
        given = f"[{braces(moved)}]"
        if kind == "all_slice":
            rest, free = list(free), []
            for a in rest:
                k = len(free)
                place(moved, a)
                for l, m in zip(after, moved):
                    l += [x for x in m if x not in l] if len(free) == k else []
            given = f"[{braces(moved)}]"
        elif kind == "all_gather":
            for l, m in zip(after, moved):
                while l and r.random() < 0.6:
                    m.insert(0, l.pop())
            given = f"[{braces(moved)}]"
        elif kind == "all_to_all":
            to = (d + 1) % len(left)
            a = after[d][-1] if after[d] else None
            if a is None or to == d or left[to] % size[a]:
                return
            after[to].append(after[d].pop())
            given = f"[{{{a}}}: {d}->{to}]"
        else:
            after[d].reverse()
            given = ""
        if kind in ("all_gather", "all_slice") and not any(moved):
            return
        x, out = self.name(), self.name()
        lines = (f"{x} = sdy.reshard {v.name} <@mesh, [{braces(before)}]> : {v.type}\n"
                 f"{out} = sdy.{kind} {given} {x} out_sharding=<@mesh, [{braces(after)}]> : "
                 f"{v.type}")
        self.lines.append(self.marked(lines, out, v))
        self.counts["sdy." + kind] += 1
        self.keep([Value(out, v.shape, v.element, v.bound)])

    def draw_manual(self):
        """Of elementwise ops, which on the whole are the same."""
        v, r = self.some(lambda v: v.info.kind != "scale", least=1, empty=True), self.r
        if v is None:
            return
        axes = self.free_axes()
        taken = [a for a in axes if r.random() < 0.6]
        if not taken:
            return
        local, dims, rest = list(v.shape), [[] for _ in v.shape], []
        for a in r.sample(taken, len(taken)):
            fits = [d for d, n in enumerate(local) if n % axes[a] == 0]
            if fits and r.random() < 0.8:
                d = r.choice(fits)
                dims[d].append(f'"{a}"')
                local[d] //= axes[a]
            else:
                rest.append(a)

        def border():
            """The manual axes, then free ones."""
            out, left = [list(l) for l in dims], list(local)
            for a in axes:
                fits = [d for d, n in enumerate(left) if n % axes[a] == 0]
                if a not in taken and fits and r.random() < 0.4:
                    d = r.choice(fits)
                    out[d].append(f'"{a}"')
                    left[d] //= axes[a]
            kept = joined(f'"{a}"' for a in axes if a in rest)
            more = f", replicated={{{kept}}}" if rest else ""
            return f"<@mesh, [{braces(out)}]{more}>"
        k, out = self.name()[2:], self.name()
        w = self.like(v) if self.chance(0.4) else None
        operands = [v] + ([w] if w else [])
        names = ["not"] if v.info.kind in ("pred", "unsigned") else ["negate", "abs"]
        names = ["negate"] if v.info.complex else names
        steps = [r.choice(names) for _ in range(r.randint(1, 3))]

        def body(inputs, t, last):
            lines, x = [], inputs[0]
            if w:
                lines.append(f'%y{k} = "stablehlo.select"(%t{k}, {inputs[0]}, {inputs[1]}) : '
                             f"(tensor<i1>, {t}, {t}) -> {t}")
                lines.insert(0, f'%t{k} = "stablehlo.constant"() <{{value = dense<'
                             f"{str(len(steps) == 1).lower()}> : tensor<i1>}}> : () -> tensor<i1>")
                x = f"%y{k}"
            for i, step in enumerate(steps):
                y = last if i + 1 == len(steps) else f"%z{k}_{i}"
                lines.append(f'{y} = "stablehlo.{step}"({x}) : ({t}) -> {t}')
                x = y
            return "\n".join(lines)
        t, inner = tensor(local, v.element), [f"%m{k}_{i}" for i in range(len(operands))]
        head = joined(f"{m}: {t}" for m in inner)
        text = (f"{out} = sdy.manual_computation({joined(x.name for x in operands)}) in_shardings="
                f"[{joined(border() for _ in operands)}] out_shardings=[{border()}] manual_axes={{"
                + joined(f'"{a}"' for a in taken) + f"}} ({head}) {{\n"
                + body(inner, t, f"%r{k}") + f"\nsdy.return %r{k} : {t}\n}} : "
                f"({joined(x.type for x in operands)}) -> {v.type}")
        self.lines.append(only_sharded(text, body([x.name for x in operands], v.type, out)))
        self.counts["sdy.manual_computation"] += 1
        bounds = [x.bound for x in operands]
        bound = None if None in bounds else max(bounds)
        self.keep([Value(out, v.shape, v.element, bound if names != ["not"] else 9)])
