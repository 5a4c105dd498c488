"""Random ops with regions, of sdy and of dialects that nobody knows, for random_ops.py."""

from random_rows import OTHERS


class Regions:
    def control(self):
        t = self.tensor()
        self.next += 1
        i = self.next
        if self.chance(0.5):
            region = lambda: (
                f'{{\n      %c{i} = "foo.src"() : () -> {t}{self.loc()}\n'
                f'      "stablehlo.return"(%c{i}) : ({t}) -> ()\n    }}'
            )
            which = self.pick(
                ("stablehlo.if", "tensor<i1>", 2), ("stablehlo.case", "tensor<i32>", 3)
            )
            self.emit(
                which[0],
                None,
                [which[1]],
                [t],
                "",
                f" ({', '.join(region() for _ in range(which[2]))})",
            )
            return
        n = self.r.randint(1, 3)
        args = ", ".join(f"%w{i}_{k}: {t}{self.loc()}" for k in range(n))
        values = ", ".join(f"%w{i}_{k}" for k in range(n))
        regions = (
            f' ({{\n    ^bb0({args}):\n      %p = "foo.p"() : () -> tensor<i1>\n     '
            ' "stablehlo.return"'
            f"(%p) : (tensor<i1>) -> ()\n    }}, {{\n    ^bb0({args}):\n     "
            f' "stablehlo.return"({values})'
            f" : ({', '.join([t] * n)}) -> ()\n    }})"
        )
        self.emit("stablehlo.while", None, [t] * n, [t] * n, "", regions)

    def other(self):
        op, types, results, props, options, region = self.pick(*OTHERS)
        props = ", ".join([p for p in [props] if p] + [o for o in options if self.chance(0.4)])
        regions = {"add": self.reducer("f32", op="add"), "two": self.scatter_regions(), "": ""}[
            region
        ]
        self.emit(op, None, types, results, props, regions)

    def scatter_regions(self):
        select = (
            ' ({\n    ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n      %g = "stablehlo.compare"(%p,'
            " %q) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>,"
            ' tensor<f32>) -> tensor<i1>\n      "stablehlo.return"(%g) : (tensor<i1>) -> ()\n   '
            " }, {"
        )
        return select + self.reducer("f32")[3:]

    def sharded(self):
        """sdy's ops; the module declares the mesh @sm."""
        t = "tensor<8x4xf32>"
        self.mesh = True
        first = self.pick("{}", "{?}", '{"x"}', '{"x", ?}p1')
        second = self.pick("{}", "{?}", '{"y"}', '{"y":(1)2}')
        rest = self.pick("", ', unreduced={"z"}', ', replicated={"z"}')
        sharding = f"#sdy.sharding<@sm, [{first}, {second}]{rest}>"
        op = self.pick(
            "sharding_constraint", "reshard", "propagation_barrier", "sharding_group", "named"
        )
        if op in ("sharding_constraint", "reshard"):
            self.emit(f"sdy.{op}", None, [t], [t], f"sharding = {sharding}")
        elif op == "propagation_barrier":
            self.emit(
                "sdy.propagation_barrier",
                None,
                [t],
                [t],
                f"allowed_direction = {self.r.randint(0, 2)} : i32",
            )
        elif op == "sharding_group":
            self.emit(
                "sdy.sharding_group", None, [t], [], f"group_id = {self.r.randint(0, 3)} : i64"
            )
        else:
            self.next += 1
            n = f"%n{self.next}"
            self.emit(
                "sdy.named_computation",
                None,
                [t],
                [t],
                f"name = {self.string()}"
                + self.pick("", f", in_shardings = #sdy.sharding_per_value<[{sharding}]>"),
                f' ({{\n    ^bb0({n}: {t}{self.loc()}):\n      "sdy.return"({n}) : ({t}) ->'
                f" (){self.loc()}\n    }})",
            )

    def foreign(self):
        name = self.pick("foo.op", "foo.bar_2", "other.x.y", "foo.\u0071")
        inside = ""
        if self.chance(0.4):
            self.next += 1
            t = self.type(1)
            inside = (
                " ({"
                + self.pick(
                    "",
                    f'\n      "foo.in"() : () -> (){self.loc()}\n    ',
                    f'\n    ^bb0(%q{self.next}: {t}{self.loc()}):\n      "foo.in"(%q{self.next}) :'
                    f" ({t}) -> ()\n    ",
                    f'\n      "foo.br"()[^b1, ^b2] : () -> ()\n    ^b1:\n      "foo.br"()[^b2] : ()'
                    f' -> ()\n    ^b2:  \n      "foo.end"() : () -> ()\n    ',
                )
                + "})"
            )
        self.emit(
            name,
            None,
            [self.type(1) for _ in range(self.r.randint(0, 2))],
            [self.type(1) for _ in range(self.r.randint(0, 3))],
            self.dictionary(3)[1:-1] if self.chance(0.0) else "",
            inside,
        )
