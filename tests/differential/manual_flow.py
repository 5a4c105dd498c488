"""Loops, branches and calls of manual_module.py."""
import numpy as np

from manual_values import execute


class Flow:
    def like(self, v):
        """A small value of v's type, the newest if there is one."""
        same = [w for w in self.values if w.shape == v.shape and w.element == v.element]
        return self.small(same[-1])

    def do_while(self):
        if self.depth > 3:
            return
        start = [self.small(self.pick()) for _ in range(self.r.choice([1, 2]))]
        zero, trips = self.constant("i32", 0), self.r.randint(0, 3)
        counter, most, test, one, following = (self.name() for _ in range(5))
        carried = [self.parameter(v, vary=self.everywhere(), limit=6) for v in start]
        with self.scope(carried) as (lines, program):
            self.steps(self.r.randint(1, 4))
            ends = [self.like(v) for v in carried]
        types = ", ".join(["tensor<i32>"] + [v.type for v in carried])
        heads = ", ".join(f"{a.name} = {v.name}" for a, v in zip(carried, start))

        def run(x):
            for _ in range(trips):
                env = dict(zip([v.name for v in carried], x))
                execute(program, env)
                x = [env[v.name] for v in ends]
            return [np.full(self_count, trips, np.int32)] + list(x)
        self_count = self.level.count
        before = len(self.values)
        self.emit(
            f"stablehlo.while({counter} = {zero.name}, {heads}) : {types}\ncond {{\n"
            f"{most} = stablehlo.constant dense<{trips}> : tensor<i32>\n{test} = "
            f"stablehlo.compare LT, {counter}, {most} : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
            f"stablehlo.return {test} : tensor<i1>\n}} do {{\n" + "\n".join(lines) +
            f"\n{one} = stablehlo.constant dense<1> : tensor<i32>\n{following} = stablehlo.add "
            f"{counter}, {one} : tensor<i32>\nstablehlo.return {following}, "
            f"{', '.join(v.name for v in ends)} : {types}\n}}", start,
            [((), "i32", frozenset(), 3)] +
            [(v.shape, v.element, self.everywhere(), 6) for v in carried], run)
        del self.values[before]
        self.features["while inside manual"] += bool(self.level.axes)

    def do_uneven_while(self):
        """Devices leave at different times; those that are in a collective leave together."""
        if self.depth > 3 or self.free() or not self.level.axes:
            return
        saved, places = self.together, self.level.count
        held = frozenset(a for a in self.level.axes if self.r.random() < 0.5)
        held &= held if saved is None else saved
        shape = [self.mesh[a] for a in self.level.axes]
        turns = np.random.default_rng(self.r.randrange(1 << 30)).integers(
            0, 4, [1 if a in held else n for a, n in zip(self.level.axes, shape)])
        turns = np.broadcast_to(turns, shape).reshape(places)
        ids = self.device_table()[:, 0].tolist()
        by_device = [int(turns[ids.index(k)]) for k in range(places)]
        v, p = self.small(self.pick()), self.partition("i32")
        zero = self.constant("i32", 0)
        carried = self.parameter(v, vary=self.everywhere(), limit=6)
        table, cut, most, counter, test, one, following = (self.name() for _ in range(7))
        self.together = held
        with self.scope([carried]) as (lines, program):
            self.steps(self.r.randint(1, 5))
            end = self.like(carried)
        self.together = saved
        self.lines += [f"{table} = stablehlo.constant dense<{by_device}> : tensor<{places}xi32>",
                       f"{cut} = stablehlo.dynamic_slice {table}, {p.name}, sizes = [1] : "
                       f"(tensor<{places}xi32>, tensor<i32>) -> tensor<1xi32>",
                       f"{most} = stablehlo.reshape {cut} : (tensor<1xi32>) -> tensor<i32>"]

        def run(x):
            x, now = x[0], 0
            while (turns > now).any():
                env = {carried.name: x}
                execute(program, env)
                on = (turns > now).reshape([-1] + [1] * len(v.shape))
                x, now = np.where(on, env[end.name], x), now + 1
            return [turns.astype(np.int32), x]
        before = len(self.values)
        self.emit(
            f"stablehlo.while({counter} = {zero.name}, {carried.name} = {v.name}) : tensor<i32>, "
            f"{v.type}\ncond {{\n{test} = stablehlo.compare LT, {counter}, {most} : (tensor<i32>, "
            f"tensor<i32>) -> tensor<i1>\nstablehlo.return {test} : tensor<i1>\n}} do {{\n" +
            "\n".join(lines) + f"\n{one} = stablehlo.constant dense<1> : tensor<i32>\n{following} "
            f"= stablehlo.add {counter}, {one} : tensor<i32>\nstablehlo.return {following}, "
            f"{end.name} : tensor<i32>, {v.type}\n}}", [v],
            [((), "i32", self.everywhere(), 3), (v.shape, v.element, self.everywhere(), 6)], run)
        del self.values[before]

    def do_case(self):
        if self.depth > 3:
            return
        v = self.small(self.pick())
        index = self.pick(0, lambda w: w.shape == () and w.element == "i32" and not w.vary)
        index = index or self.constant("i32", self.r.randint(-1, 3))
        branches = []
        for _ in range(self.r.choice([1, 2, 3])):
            with self.scope([v]) as (lines, program):
                self.steps(self.r.randint(1, 3))
                branches.append((lines, program, self.like(v)))

        def run(x):
            k = int(x[0].flat[0])
            _, program, end = branches[k if 0 <= k < len(branches) else -1]
            env = {v.name: x[1]}
            execute(program, env)
            return [env[end.name]]
        text = "}, {\n".join("\n".join([*lines, f"stablehlo.return {end.name} : {end.type}\n"])
                             for lines, _, end in branches)
        vary = frozenset().union(*(end.vary for _, _, end in branches))
        self.emit(f'"stablehlo.case"({index.name}) ({{\n{text}}}) : (tensor<i32>) -> {v.type}',
                  [index, v], [(v.shape, v.element, vary, 6)], run)

    def do_call(self):
        if self.depth > 3:
            return
        v = self.small(self.pick())
        argument = self.parameter(v, vary=self.everywhere(), limit=6)
        with self.scope([argument]) as (lines, program):
            self.steps(self.r.randint(1, 4))
            end = self.like(v)
        callee = f"f{len(self.functions)}"
        self.functions.append("\n".join([
            f"func.func private @{callee}({argument.name}: {v.type}) -> {v.type} {{", *lines,
            f"return {end.name} : {v.type}", "}"]))

        def run(x):
            env = {argument.name: x[0]}
            execute(program, env)
            return [env[end.name]]
        for _ in range(self.r.choice([1, 2])):
            v, = self.emit(f"func.call @{callee}({v.name}) : ({v.type}) -> {v.type}", [v],
                           [(v.shape, v.element, self.everywhere(), 6)], run)
        self.features["call inside manual"] += bool(self.level.axes)
