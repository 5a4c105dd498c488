"""What tests/fuzz/mutate.py changes in the text of a module in the generic form."""
import collections
import re

INTEGER = re.compile(r"(?<![\w.%@#\"x<])-?\d+(?![\w.\"x])")
TENSOR = re.compile(r"tensor<((?:(?:\d+|\?)x)*)([a-z]\w*(?:<\w+>)?)((?:, [^<>]*(?:<[^<>]*>)?)?)>")
MESH_TENSOR = re.compile(r'!mpmd\.mesh_tensor<"([^"]*)", (tensor<[^<>]*>)'
                         r"((?:, [^<>]*(?:<[^<>]*>)?)*)>")
VALUE = re.compile(r"%[\w]+(?:#\d+)?")
ATTRIBUTE = re.compile(r"(?<=[<{ ])([\w.]+) = ")
WORD = re.compile(r"(?<=[ <])[A-Z][A-Z_]+(?=>)")
OPENING, CLOSING = "([{<", ")]}>"

INTEGERS = [0, 1, -1, 2, 3, 4, 7, 8, 16, 63, 64, 65, 255, 1024, 2**20, 2**31 - 1, 2**31, 2**32,
            2**40, 2**62, 2**63 - 1, -2, -2**31, -2**63, 2**64, 10**20]
SIZES = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "12", "16", "17", "64", "1024", "?",
         "1048576", "2147483648", "1099511627776", "4611686018427387904", "9223372036854775807"]
ELEMENTS = ["f32", "f64", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN", "f6E2M3FN",
            "i1", "i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32",
            "ui64", "complex<f32>", "complex<f64>", "index", "i3", "i128", "tf32", "none", "f80"]


def closing(text, at):
    """Where the bracket that opens at `at` is closed, or None."""
    depth, k = 0, at
    while k < len(text):
        c = text[k]
        if c == '"':
            k = text.find('"', k + 1)
            while k > 0 and text[k - 1] == "\\":
                k = text.find('"', k + 1)
            if k < 0:
                return None
        elif c == "-" and text[k:k + 2] == "->":
            k += 1
        elif c in OPENING:
            depth += 1
        elif c in CLOSING:
            depth -= 1
            if depth == 0:
                return k
        k += 1
    return None


def items(text):
    """What stands between commas, outside of brackets."""
    out, start, k = [], 0, 0
    while k < len(text):
        if text[k] in OPENING:
            end = closing(text, k)
            if end is None:
                break
            k = end
        elif text[k] == ",":
            out.append(text[start:k].strip())
            start = k + 1
        k += 1
    out.append(text[start:].strip())
    return out


def ops_of(lines):
    """(first, last) line of each op: one that ends on a later line has regions."""
    out, stack = [], []
    for n, line in enumerate(lines):
        bare = line.lstrip()
        if bare.startswith(("}) ", "}, {")):
            if bare.startswith("}) ") and stack:
                out.append((stack.pop(), n))
        elif bare.startswith(("%", '"')):
            if line.endswith("({"):
                stack.append(n)
            else:
                out.append((n, n))
    return sorted(out)


def replace_at(text, span, new):
    return text[:span[0]] + new + text[span[1]:]


class Module:
    """A module under change. A mutation answers False where it finds nothing to change."""

    def __init__(self, text, rng, others):
        self.text, self.rng, self.others = text, rng, others

    def one_of(self, pattern, where=None):
        found = [m for m in pattern.finditer(self.text) if where is None or where(m)]
        return self.rng.choice(found) if found else None

    def put(self, span, new):
        old = self.text[span[0]:span[1]]
        self.text = replace_at(self.text, span, new)
        return old != new

    # ---- numbers ----

    def integer(self):
        m = self.one_of(INTEGER)
        return m and self.put(m.span(), self.other_integer(int(m.group())))

    def other_integer(self, old):
        r = self.rng
        if r.random() < 0.5:
            return str(old + r.choice([-1, 1, 2, -2]))
        return str(r.choice(INTEGERS))

    def list_of_integers(self):
        """Drops, repeats, swaps or adds an item of a list such as dimension numbers."""
        r = self.rng
        m = self.one_of(re.compile(r"\[(-?\d+(?:, -?\d+)*)?\]|array<i(?:1|64): ([^<>]*)>"))
        if not m:
            return False
        group = 1 if m.group(1) else 2
        if not m.group(group):
            listed = m.group().startswith("[")
            return listed and self.put(m.span(), f"[{r.choice(INTEGERS)}]")
        old = m.group(group).split(", ")
        k = r.randrange(len(old))
        how = r.randrange(5)
        if how == 0:
            del old[k]
        elif how == 1:
            old.insert(k, old[k])
        elif how == 2:
            j = r.randrange(len(old))
            old[k], old[j] = old[j], old[k]
        elif how == 3:
            old.append(str(r.choice(INTEGERS)))
        else:
            r.shuffle(old)
        return self.put(m.span(group), ", ".join(old))

    def size_everywhere(self):
        """One size becomes another in all types, and in some attributes as well."""
        sizes = sorted({d for m in TENSOR.finditer(self.text) for d in m.group(1).split("x") if d})
        if not sizes:
            return False
        r = self.rng
        old, new = r.choice(sizes), r.choice(SIZES)
        if r.random() < 0.3 and old != "?":
            new = str(int(old) * r.choice([2, 3, 8]))
        also = r.random() < 0.6 and new != "?" and old != "?"

        def change(m):
            dims = [new if d == old else d for d in m.group(1).split("x")]
            return f"tensor<{'x'.join(dims)}{m.group(2)}{m.group(3)}>"
        before = self.text
        self.text = TENSOR.sub(change, self.text)
        if also:
            self.text = INTEGER.sub(lambda m: new if m.group() == old else m.group(), self.text)
        return self.text != before

    # ---- types ----

    def other_type(self, m):
        r = self.rng
        dims, elem = [d for d in m.group(1).split("x") if d], m.group(2)
        how = r.randrange(6)
        if how == 0 or (how < 4 and not dims):
            elem = r.choice(ELEMENTS)
        elif how == 1:
            dims[r.randrange(len(dims))] = r.choice(SIZES)
        elif how == 2:
            del dims[r.randrange(len(dims))]
        elif how == 3:
            r.shuffle(dims)
        elif how == 4:
            dims.insert(r.randrange(len(dims) + 1), r.choice(SIZES))
        else:
            return r.choice(["tensor<*xf32>", "i32", "f32", "index", "none", "!stablehlo.token",
                             "tuple<tensor<2xf32>>", "memref<2xf32>", "vector<4xf32>",
                             "tensor<4x!quant.uniform<i8:f32, 1.0>>", "(i32) -> i32",
                             "tensor<?xf32, #stablehlo.bounds<4>>",
                             "!stablehlo.future<tensor<2xf32>>"])
        return f"tensor<{'x'.join(dims + [elem])}{m.group(3)}>"

    def type_here(self):
        m = self.one_of(TENSOR)
        return m and self.put(m.span(), self.other_type(m))

    def type_everywhere(self):
        m = self.one_of(TENSOR)
        if not m:
            return False
        before, new = self.text, self.other_type(m)
        self.text = self.text.replace(m.group(), new)
        return self.text != before

    def element_everywhere(self):
        r = self.rng
        found = sorted({m.group(2) for m in TENSOR.finditer(self.text)})
        if not found:
            return False
        old, new, before = r.choice(found), r.choice(ELEMENTS), self.text
        self.text = TENSOR.sub(
            lambda m: f"tensor<{m.group(1)}{new if m.group(2) == old else m.group(2)}{m.group(3)}>",
            self.text)
        return self.text != before

    # ---- attributes ----

    def attributes(self):
        """Spans of `name = value`."""
        out = []
        for m in ATTRIBUTE.finditer(self.text):
            k = m.end()
            while k < len(self.text) and self.text[k] not in ",>}\n":
                end = closing(self.text, k) if self.text[k] in OPENING else k
                if end is None:
                    break
                k = end + 1
            out.append((m.group(1), m.start(), m.end(), k))
        return out

    def attribute_dropped(self):
        found = self.attributes()
        if not found:
            return False
        _, start, _, end = self.rng.choice(found)
        if self.text[end:end + 2] == ", ":
            end += 2
        elif self.text[start - 2:start] == ", ":
            start -= 2
        return self.put((start, end), "")

    def attribute_from_another(self):
        """The value of another attribute of that name, of this module or another one."""
        found = self.attributes()
        if not found:
            return False
        name, _, start, end = self.rng.choice(found)
        source = self.text
        if self.rng.random() < 0.5:
            source = self.rng.choice(self.others)
        pool = [source[s:e] for n, _, s, e in Module(source, self.rng, ()).attributes()
                if n == name]
        return bool(pool) and self.put((start, end), self.rng.choice(pool))

    def attribute_of_another_kind(self):
        found = self.attributes()
        if not found:
            return False
        _, _, start, end = self.rng.choice(found)
        return self.put((start, end), self.rng.choice([
            "unit", "true", "7 : i64", "7 : i1", "-1 : i32", '"text"', "@main", "[]", "{}", "f32",
            "dense<> : tensor<0xi64>", "dense<1> : tensor<2x2xi64>", "array<i64>",
            "array<i1: true>", "array<i64: 9223372036854775807>", "1.5 : f32",
            "#sdy.sharding<@mesh, []>",
            "dense<-1> : tensor<1x1xi64>", "#stablehlo.channel_handle<handle = -1, type = 0>",
            "dense<0> : tensor<1099511627776xi64>"]))

    def word(self):
        """EQ becomes LT, DEFAULT becomes HIGHEST: a word of another enumeration too."""
        m = self.one_of(WORD)
        other = self.one_of(WORD)
        return m and self.put(m.span(), other.group() if self.rng.random() < 0.5 else
                              self.rng.choice(["EQ", "LT", "TOTALORDER", "FLOAT", "SIGNED",
                                               "LOWER", "HIGHEST", "TRANSPOSE", "THREE_FRY",
                                               "NOTYPE", "RFFT"]))

    # ---- constants ----

    def payload(self):
        r = self.rng
        m = self.one_of(re.compile(r"dense<([^<>]*)> : " + TENSOR.pattern))
        if not m:
            return False
        return self.put(m.span(1), r.choice([
            "1", "0", "true", "-1", "1.5", "0x7FC00000", "(1.0, 2.0)", "[1, 2]", "[[1], [2]]", "[]",
            "", '"0x00"', '"0x01000000"', '"0x0100000002000000"', "9223372036854775808", "256",
            "1e400", "[[[1]]]", "128", str(r.choice(INTEGERS)), m.group(1) + ", 1"]))

    def groups(self):
        """Replica groups, and pairs of a permutation."""
        r = self.rng
        m = self.one_of(re.compile(r"dense<([^<>]*)> : tensor<(\d+)x(\d+)xi64>"))
        if not m:
            return False
        n, k = r.choice([0, 1, 2, 3, 4, 8]), r.choice([0, 1, 2, 3, 4, 8])
        if r.random() < 0.5:
            n, k = min(int(m.group(2)), 64), min(int(m.group(3)), 64)
        pool = list(range(n * k))
        if r.random() < 0.5:
            r.shuffle(pool)
        if r.random() < 0.5 and pool:
            pool[r.randrange(len(pool))] = r.choice([-1, 0, 1, 7, 8, 2**31, 2**63 - 1])
        rows = ", ".join(f"[{', '.join(map(str, pool[i * k:i * k + k]))}]" for i in range(n))
        text = f"[{rows}]" if n * k else ""
        return self.put(m.span(), f"dense<{text}> : tensor<{n}x{k}xi64>")

    # ---- shardings ----

    def axis(self):
        """The name of an axis where a sharding says it."""
        r = self.rng
        m = self.one_of(re.compile(r'"(\w+)"(:\(\d+\)\d+)?(?=[,}"\]])'))
        names = sorted(set(re.findall(r'"(\w+)"=\d+', self.text))) + ["q"]
        if not m:
            return False
        sub = r.choice(["", "", ":(1)2", ":(2)2", ":(1)4", ":(4)2", ":(0)2", ":(3)2",
                        ":(2)9223372036854775807", ":(9223372036854775807)2"])
        return self.put(m.span(), f'"{r.choice(names)}"{sub}')

    def mesh(self):
        r = self.rng
        m = self.one_of(re.compile(r"mesh<\[([^\[\]]*)\](, device_ids=\[[^\]]*\])?>"))
        if not m:
            return False
        axes = [a for a in m.group(1).split(", ") if a]
        how = r.randrange(7)
        ids = m.group(2) or ""
        if how == 0 and axes:
            k = r.randrange(len(axes))
            size = r.choice([0, 1, 2, 3, 4, 6, 8, 16, 2**20, 2**31, 2**63 - 1])
            axes[k] = re.sub(r"=\d+", f"={size}", axes[k])
        elif how == 1 and axes:
            del axes[r.randrange(len(axes))]
        elif how == 2:
            axes.insert(r.randrange(len(axes) + 1),
                        f'"{r.choice("xyzabq")}"={r.choice([1, 2, 3, 4])}')
        elif how == 3:
            r.shuffle(axes)
        elif how == 4:
            ids = f", device_ids={r.sample(range(8), r.choice([1, 2, 4, 7, 8]))}"
        elif how == 5:
            ids = r.choice([", device_ids=[0]", ", device_ids=[-1]", ", device_ids=[]",
                            ", device_ids=[9223372036854775807]"])
        else:
            axes = r.choice([[], ['"x"=8'], ['"x"=2', '"y"=2', '"z"=2'], ['"x"=4', '"y"=2'],
                             ['"x"=1']])
        return self.put(m.span(), f"mesh<[{', '.join(axes)}]{ids}>")

    def dimensions_of_a_sharding(self):
        """Adds, drops, swaps, opens or closes what a sharding says of dimensions."""
        r = self.rng
        m = self.one_of(re.compile(r"@\w+, \[((?:\{[^{}]*\}(?:p\d+)?(?:, )?)*)\]"))
        if not m:
            return False
        dims = [d for d in items(m.group(1)) if d]
        how = r.randrange(7)
        k = r.randrange(len(dims)) if dims else 0
        axes = [f'"{a}"' for a in sorted(set(re.findall(r'"(\w+)"=\d+', self.text)))] or ['"x"']
        if how == 0 and dims:
            del dims[k]
        elif how == 1:
            dims.insert(k, "{}")
        elif how == 2:
            r.shuffle(dims)
        elif how == 3 and dims:
            priority = r.choice([0, 1, 2**31, 2**63])
            dims[k] = r.choice(["{}", "{?}", "{?}p0", f"{{{axes[0]}, ?}}p{priority}"])
        elif how == 4 and dims:
            dims[k] = "{" + ", ".join(r.sample(axes, r.randrange(len(axes) + 1))) + "}"
        elif how == 5:
            return self.put((m.end(), m.end()), r.choice([
                f", replicated={{{r.choice(axes)}}}", f", unreduced={{{r.choice(axes)}}}",
                f", unreduced=max{{{r.choice(axes)}}}"]))
        elif dims:
            dims[k] = f'{{"{r.choice("xyzq")}":(1)2}}'
        return self.put(m.span(1), ", ".join(dims))

    def sharding_added(self):
        """To an op that had none."""
        r = self.rng
        lines = self.text.split("\n")
        meshes = re.findall(r'mesh = #sdy.mesh<\[([^\]]*)\][^>]*>, sym_name = "(\w+)"', self.text)
        spots = [n for n, line in enumerate(lines)
                 if re.match(r"\s+%\w+ = .*\) : \(.*\) -> tensor<", line) and
                 "sdy.sharding" not in line]
        if not spots or not meshes:
            return False
        n = r.choice(spots)
        axes, name = r.choice(meshes)
        axes = re.findall(r'"\w+"', axes)
        rank = lines[n].rsplit("-> ", 1)[1].count("x")
        r.shuffle(axes)
        dims = ", ".join(f"{{{axes.pop()}}}" if axes and r.random() < 0.6 else
                         r.choice(["{}", "{?}"]) for _ in range(rank))
        head, tail = lines[n].rsplit(" : (", 1)
        lines[n] = (f"{head} {{sdy.sharding = #sdy.sharding_per_value<[<@{name}, [{dims}]>]>}} : "
                    f"({tail}")
        self.text = "\n".join(lines)
        return True

    # ---- programs over several meshes ----

    def mesh_tensor(self):
        """Another mesh, sharding, memory or tensor of a value, here or everywhere."""
        r = self.rng
        m = self.one_of(MESH_TENSOR)
        if not m or not TENSOR.match(m.group(2)):
            return False
        mesh, tensor, rest = m.groups()
        how = r.randrange(4)
        if how == 0:
            mesh = r.choice(re.findall(r'<"([^"]+)"', self.text) + ["gone", "", "m#pinned_host"])
        elif how == 1:
            tensor = self.other_type(TENSOR.match(tensor))
        elif how == 2:
            rest = r.choice(["", ', memory_kind="pinned_host"', ', memory_kind="device"',
                             ', memory_kind="x"', f"{rest}{rest}"])
        else:
            axis = r.choice(re.findall(r'"(\w+)"=\d+', self.text) + ["q"])
            dims = ", ".join(r.choice(["{}", "{?}", f'{{"{axis}"}}', f'{{"{axis}":(1)2}}'])
                             for _ in range(tensor.count("x") + r.choice([-1, 0, 0, 0, 1])))
            rest = f", sharding=<@mesh, [{dims}]>"
        new = f'!mpmd.mesh_tensor<"{mesh}", {tensor}{rest}>'
        if r.random() < 0.4:
            return self.put(m.span(), new)
        before, self.text = self.text, self.text.replace(m.group(), new)
        return self.text != before

    def topology(self):
        """Meshes of a function: fewer, more, others, or those of another function."""
        r = self.rng
        m = self.one_of(re.compile(r"#mpmd\.topology<"))
        end = m and closing(self.text, m.end() - 1)
        if not end:
            return False
        meshes = items(self.text[m.end():end])
        k = r.randrange(len(meshes))
        how = r.randrange(5)
        if how == 0:
            del meshes[k]
        elif how == 1:
            meshes.insert(k, meshes[k])
        elif how == 2:
            meshes[k] = re.sub(r'"[^"]*"', f'"{r.choice(["m", "m1", "m/cpu", "0", ""])}"',
                               meshes[k], count=1)
        elif how == 3:
            r.shuffle(meshes)
        else:
            size = r.choice([1, 2, 2**40])
            meshes.append(f'<"{r.choice(["extra", "m1/cpu"])}" : <["x"={size}]>>')
        return self.put((m.end(), end), ", ".join(meshes))

    def origin(self):
        """Who is said to have named a fragment, in which transpose."""
        r = self.rng
        m = self.one_of(re.compile(r'#mpmd\.user_origin<"[^"]*"(?:\(\d+\))?>'))
        if not m:
            return False
        name = r.choice(["f", "f_1", "block_9223372036854775807", "_", "", "a" * 300])
        count = r.choice(["", "(1)", "(2)", f"({2**63 - 1})"])
        new = f'#mpmd.user_origin<"{name}"{count}>'
        return self.put(m.span(), r.choice([new, f"{m.group()}, {new}"]))

    # ---- values and ops ----

    def operand(self):
        """Another value, of the same type half of the time."""
        r = self.rng
        typed = collections.defaultdict(list)
        for m in re.finditer(r"^\s*(%\w+) = .*-> (tensor<[^>]*>)$", self.text, re.M):
            typed[m.group(2)].append(m.group(1))
        for m in re.finditer(r"(%arg\w+): (tensor<[^>]*>)", self.text):
            typed[m.group(2)].append(m.group(1))
        m = self.one_of(VALUE, lambda m: self.text[m.end():m.end() + 2] not in (" =", ": "))
        if not m:
            return False
        same = [v for v in typed.values() if m.group() in v]
        pool = same[0] if same and r.random() < 0.7 else [v for vs in typed.values() for v in vs]
        return bool(pool) and self.put(m.span(), r.choice(pool))

    def lines_and_ops(self):
        lines = self.text.split("\n")
        return lines, ops_of(lines)

    def op_removed(self):
        """Its uses get a value that stands before it, of its type if there is one."""
        r = self.rng
        lines, ops = self.lines_and_ops()
        if len(ops) < 3:
            return False
        first, last = r.choice(ops[1:])
        m = re.match(r"\s*(%\w+) =", lines[first])
        kind = lines[last].rsplit("-> ", 1)[-1]
        before = re.findall(r"(%\w+)(?: = .*-> |: )" + re.escape(kind) + r"(?=[,)\n]|$)",
                            "\n".join(lines[:first]), re.M)
        before = before or re.findall(r"%\w+", "\n".join(lines[:first]))
        del lines[first:last + 1]
        self.text = "\n".join(lines)
        if m and before:
            self.text = re.sub(re.escape(m.group(1)) + r"\b", r.choice(before), self.text)
        return True

    def op_repeated(self):
        """With results of its own, which some of the uses get."""
        r = self.rng
        lines, ops = self.lines_and_ops()
        if not ops:
            return False
        first, last = r.choice(ops)
        copy = lines[first:last + 1]
        new = {}
        for line in copy:
            for v in re.findall(r"(%\w+)(?:(?::\d+)? =|:)", line):
                new[v] = f"{v}_{r.randrange(10**6)}"
        copy = [re.sub(r"%\w+", lambda m: new.get(m.group(), m.group()), line) for line in copy]
        rest = [re.sub(r"%\w+", lambda m: new.get(m.group(), m.group()) if r.random() < 0.5
                       else m.group(), line) if not re.match(r"\s*\^", line) else line
                for line in lines[last + 1:]]
        if r.random() < 0.3:
            rest = lines[last + 1:]
        self.text = "\n".join(lines[:last + 1] + copy + rest)
        return True

    def op_moved(self):
        r = self.rng
        lines, ops = self.lines_and_ops()
        if len(ops) < 4:
            return False
        first, last = r.choice(ops[1:])
        part = lines[first:last + 1]
        rest = lines[:first] + lines[last + 1:]
        to = max(1, min(len(rest) - 1, first + r.choice([-3, -2, -1, 1, 2, 3])))
        self.text = "\n".join(rest[:to] + part + rest[to:])
        return True

    def op_renamed(self):
        """Another op over the same operands."""
        m = self.one_of(re.compile(r'"((?:stablehlo|chlo|sdy|func|mpmd)\.\w+)"\('))
        source = self.text if self.rng.random() < 0.3 else self.rng.choice(self.others)
        names = re.findall(r'"((?:stablehlo|chlo|sdy|mpmd)\.\w+)"\(', source)
        return bool(m and names) and self.put(m.span(1), self.rng.choice(names))

    def op_from_another(self):
        """An op without regions of another module, over values that stand here."""
        r = self.rng
        lines, ops = self.lines_and_ops()
        other = [line for line in r.choice(self.others).split("\n")
                 if re.match(r'\s+%\w+ = "\w+\.\w+"\(.*-> tensor<[^>]*>$', line)]
        inner = [o for o in ops if lines[o[0]].startswith("    ")]
        if not other or not inner:
            return False
        at = r.choice(inner)[0]
        line, constants = r.choice(other), []
        takes = items(re.search(r" : \((.*)\) -> ", line).group(1))
        names = [f"%new{r.randrange(10**6)}" for _ in takes]
        for name, kind in zip(names, takes):
            if not kind.startswith("tensor<"):
                continue
            zero = "0" if re.search(r"[<x]u?i\d+>", kind) else "0.0"
            zero = "false" if re.search("[<x]i1>", kind) else zero
            zero = "(0.0, 0.0)" if "complex" in kind else zero
            constants.append(f'    {name} = "stablehlo.constant"() '
                             f"<{{value = dense<{zero}> : {kind}}}> : () -> {kind}")
        operands = iter(names)
        head, tail = line.split("(", 1)
        end = tail.index(")")
        inside = VALUE.sub(lambda m: next(operands, m.group()), tail[:end])
        head = re.sub(r"%\w+", f"%new{r.randrange(10**6)}", head, count=1)
        line = f"{head}({inside}{tail[end:]}"
        self.text = "\n".join(lines[:at] + constants + [line] + lines[at:])
        return True

    def regions(self):
        """(first, last) lines of what is in regions of ops inside functions."""
        lines = self.text.split("\n")
        out, stack = [], []
        for n, line in enumerate(lines):
            bare = line.lstrip()
            if bare.startswith(("}) ", "}, {")) and stack:
                start = stack.pop()
                if len(stack) > 1:
                    out.append((start + 1, n))
            if line.endswith("({") or bare == "}, {":
                stack.append(n)
        return lines, out

    def region_swapped(self):
        lines, found = self.regions()
        apart = [(a, b) for a in found for b in found if a[1] <= b[0]]
        if not apart:
            return False
        a, b = self.rng.choice(apart)
        self.text = "\n".join(lines[:a[0]] + lines[b[0]:b[1]] + lines[a[1]:b[0]] +
                              lines[a[0]:a[1]] + lines[b[1]:])
        return True

    def region_emptied(self):
        lines, found = self.regions()
        if not found:
            return False
        first, last = self.rng.choice(found)
        if self.rng.random() < 0.5 and last - first > 2:  # but for its arguments and its end
            first, last = first + 1, last - 1
        del lines[first:last]
        self.text = "\n".join(lines)
        return True

    def region_added(self):
        lines, found = self.regions()
        if not found:
            return False
        first, last = self.rng.choice(found)
        body = lines[first:last]
        self.text = "\n".join(lines[:last] + ["}, {"] + body + lines[last:])
        return True

    # ---- symbols ----

    def symbol(self):
        m = self.one_of(re.compile(r"@(\w+)"))
        names = re.findall(r'sym_name = "(\w+)"', self.text) + ["main", "gone"]
        return m and self.put(m.span(1), self.rng.choice(names))

    def name_of_a_symbol(self):
        m = self.one_of(re.compile(r'sym_name = "(\w+)"'))
        names = re.findall(r'sym_name = "(\w+)"', self.text) + ["main", "mesh", "x"]
        return m and self.put(m.span(1), self.rng.choice(names))


# Those after which a module often still verifies come more often.
DEEP = ("size_everywhere", "element_everywhere", "type_everywhere", "op_from_another", "operand",
        "op_removed", "op_repeated", "mesh", "sharding_added", "groups", "list_of_integers",
        "region_swapped", "dimensions_of_a_sharding")
HELPERS = ("__init__", "one_of", "put", "other_integer", "other_type", "attributes",
           "lines_and_ops", "regions")
MUTATIONS = [name for name, fn in vars(Module).items() if callable(fn) and name not in HELPERS]
MUTATIONS += 2 * list(DEEP)
