"""What is wrong with a text, compared with MLIR: the place and the words of the first error.

    python tests/differential/errors.py [--bin PROGRAM] [--seed N] [--count N] FILE...

Every FILE is damaged at random, a token at a time, and read by both. Prints each kind of difference
with how often it came up, an example of it, and the share of texts on which both agree."""

import argparse
import collections
import pathlib
import random
import re
import subprocess
import tempfile

from jaxlib.mlir import ir

import text

TOKEN = re.compile(r'[%@#!^]?[\w.$]+|"[^"\n]*"|->|\S')
OTHERS = ["-1", "99999999999999999999", '"x"', "{", "}", "<", ">", "[", "]", "(", ")", ",", ":",
          "->", "=", "%zz", "@zz", "#zz", "!zz", "foo", "0x1F", "1.5", "?", "*", "tensor<2xf32>",
          "i32", "dense<1>", "loc(unknown)", "true", "^bb7"]
DETAILS = re.compile(r"'[^']*'|\d+|\"[^\"]*\"|`[^`]*`")


def damaged(source, rng):
    """One token of the text left out, doubled, replaced, swapped, cut or altered."""
    places = [m.span() for m in TOKEN.finditer(source)]
    k = rng.randrange(len(places))
    begin, end = places[k]
    token = source[begin:end]
    kind = rng.randrange(7)
    if kind == 0:
        return source[:begin] + source[end:]
    if kind == 1:
        return f"{source[:end]} {token}{source[end:]}"
    if kind == 2:
        a, b = rng.choice(places)
        return source[:begin] + source[a:b] + source[end:]
    if kind == 3 and k + 1 < len(places):
        a, b = places[k + 1]
        return source[:begin] + source[a:b] + source[end:a] + token + source[b:]
    if kind == 4:
        return source[:begin] + rng.choice(OTHERS) + source[end:]
    if kind == 5:
        return source[:end]
    at = rng.randrange(begin, end)
    return source[:at] + rng.choice('abc019.-_%"<>{}') + source[at + 1:]


def theirs(context, source):
    """(line:column, message) of the first error; None: there is none."""
    try:
        with context:
            ir.Module.parse(source, context)
        return None
    except ir.MLIRError as e:
        if not e.error_diagnostics:
            return "", str(e)
        first = e.error_diagnostics[0]
        place = re.match(r'loc\("-":(\d+:\d+)\)', str(first.location))
        return place.group(1) if place else str(first.location), first.message


def ours(binary, path, source):
    path.write_text(source)
    done = subprocess.run([*binary, "opt", path], capture_output=True, text=True, timeout=60,
                          errors="replace")
    if done.returncode < 0:
        return "", f"died of signal {-done.returncode}"
    if done.returncode == 0:
        return None
    found = re.search(rf"^{re.escape(str(path))}:(\d+:\d+): error: (.*)", done.stderr, re.M)
    return found.groups() if found else ("", done.stderr[:200])


def compare(binary, files, seed, count):
    """Yields (source, their error, our error) for `count` damaged texts."""
    context = text.make_context()
    context.enable_multithreading(False)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "damaged.mlir"
        for _ in range(count):
            parts = pathlib.Path(rng.choice(files)).read_text().split("// -----")
            source = rng.choice(parts)
            if not source.strip():
                continue
            source = damaged(source, rng)
            yield source, theirs(context, source), ours(binary, path, source)


def kind_of(a, b):
    def shape(error):
        return DETAILS.sub("_", error[1]) if error else "no error"
    return ("another place: " + shape(a)) if a and b and a[1] == b[1] else \
        f"{shape(a)}\n    ours: {shape(b)}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/bin/terrazzo")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    kinds, examples, same, total = collections.Counter(), {}, 0, 0
    for source, a, b in compare([options.bin], options.files, options.seed, options.count):
        total += 1
        if a == b:
            same += 1
            continue
        kinds[kind_of(a, b)] += 1
        examples[kind_of(a, b)] = a, b
    for kind, n in kinds.most_common():
        print(f"{n:4d}  {kind}\n    {examples[kind]}")
    print(f"{same} of {total} alike")


if __name__ == "__main__":
    main()
