"""What the tables of the tree ask for. In a copy of it an elementwise op and a kind of step are
added, built and run; then each piece of them is left out, or left unfinished, in turn: who misses
it must refuse to build, or say so, and name the op or the kind."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest

from support import ROOT, terrazzo

BUILD = pathlib.Path(os.environ.get("TERRAZZO_BUILD", ROOT / "build"))

# ---- what is added: (file, the text that it goes before; None: at the end, what) ----

ROW = """
OP(chlo_thrice, "chlo.thrice", ew, PURE | SAME_TYPE,
   IN(T(operand, int_fp)), ATTRS(),
   OUT(T(result, int_fp)), 0, " $operand%attrs : %type(operand) -> %type(result)",
   "ChloOps.td#thrice", "three times each element")
"""
INSTRUCTION = """
VM(thrice, 1, CALL, SAME, 0, NO, INT((T)(3 * (W)x)), FLT(3 * x), NO, "three times x")
"""
LIT_FILE = "tests/lit/chlo/thrice.mlir"
LIT = """// chlo.thrice
// RUN: terrazzo opt %s | FileCheck %s
// RUN: terrazzo run %s --dump program --output %t 2>&1 | FileCheck %s --check-prefix=STEPS

// CHECK: chlo.thrice %{{.*}} : tensor<4xf32> -> tensor<4xf32>
// STEPS: chlo.thrice: loop [4] {{.*}}f32=thrice
func.func @main() -> (tensor<4xf32>, tensor<4xi16>) {
  %x = stablehlo.constant dense<[1.0, -1.5, 0.25, 0.0]> : tensor<4xf32>
  %n = stablehlo.constant dense<[1, -2, 10923, 0]> : tensor<4xi16>
  %0 = chlo.thrice %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.thrice %n : tensor<4xi16> -> tensor<4xi16>
  return %0, %1 : tensor<4xf32>, tensor<4xi16>
}
"""
OP = {
    "row": ("src/ir/ops/chlo.def", None, ROW),
    "instruction": ("src/program/vm_ops.def", None, INSTRUCTION),
    "selection": ("src/compile/select.c", "  VM_OF_chlo_zeta",
                  "  VM_OF_chlo_thrice = VM_thrice,\n"),
    "test": (LIT_FILE, None, LIT),
}
STEP = {
    "kind": ("src/program/program.h", "  STEP(loop, prog_loop",
             '  STEP(place, prog_id, ON, "the device\'s position") \\\n'),
    "declared": ("src/program/program.h", "u32 prog_label(",
                 "void prog_add_place(prog_builder *b, u32 out, str name, str loc);\n"),
    "built": ("src/program/builder.c", "u32 prog_label(",
              "void prog_add_place(prog_builder *b, u32 out, str name, str loc) {\n"
              "  add_id(b, STEP_place, out, name, loc);\n}\n"),
    "check": ("src/program/validate.c", "static void check_step(",
              "#define check_place check_partition_id\n"),
    "slots": ("src/program/slots.c", "void prog_step_slots(",
              "#define slots_place slots_partition_id\n"),
    "written": ("src/program/flow.c", "static u64 elements_written(",
                "#define written_place written_all\n"),
    "dump": ("src/program/dump.c", "static void dump_payload(",
             "#define dump_place dump_partition_id\n"),
    "put": ("src/program/serialize.c", "static void put_of_kind(",
            "#define put_place put_partition_id\n"),
    "prepare": ("src/exec/image.c", "static void prepare_step(",
                "#define prepare_place prepare_nothing\n"),
    "run": ("src/exec/place.c", "static bool run_step(",
            "static bool run_place(worker *w, place *p, const prog_id *k) {\n"
            "  (void)w;\n  return write_id(p, k, p->position);\n}\n"),
}

# ---- what is left out: (file, what becomes what), who says so, and what it says ----


def without(piece):
    file, _, text = (OP | STEP)[piece]
    return file, text.strip("\n"), ""


def kernels(words):
    return "src/program/vm_ops.def", "NO, INT((T)(3 * (W)x)), FLT(3 * x), NO", words


def own():
    return "src/ir/ops/chlo.def", '"chlo.thrice", ew', '"chlo.thrice", own'


def collective():
    row = "  COLL(BROADCAST,"
    return "src/program/program.h", row, '  COLL(NOTHING, "nothing", false, false) \\\n' + row


LEFT_OUT = {
    "op selection": (without("selection"), "src/compile/select.c", "VM_OF_chlo_thrice"),
    "op instruction": (without("instruction"), "src/compile/select.c", "VM_thrice"),
    "op meaning": (("src/ir/ops/chlo.def", ',\n   "ChloOps.td#thrice", "three times each element"',
                    ""), "src/ir/op_info.c", r"OP\(chlo_thrice"),
    "op kernels": (kernels("NO, NO, NO, NO"), "src/program/builder.c", "thrice has no kernel"),
    "op kernel column": (kernels("NO, NO, NO"), "src/program/builder.c", r"VM\(thrice"),
    "op kernel of its own": (kernels("NO, NO, OWN, NO"), "src/exec/kernels_math.c", "k_thrice_f32"),
    "op function": (kernels("NO, NO, VIA64(num_thrice), NO"), "src/exec/kernels_math.c",
                    "num_thrice"),
    "op way of its own": (("src/program/vm_ops.def", "VM(thrice, 1, CALL", "VM(thrice, 1, OWN"),
                          "src/exec/vm_legalize.c", "legalize_thrice"),
    "op sharding rule": (own(), "src/shard/rules_extra.c", "extra_chlo_thrice"),
    "op partition record": (own(), "src/partition/record_table.c", "RECORD_chlo_thrice"),
    "op lowering": (own(), "src/compile/lower_table.c", "lower_chlo_thrice"),
    "step check": (without("check"), "src/program/validate.c", "check_place"),
    "step slots": (without("slots"), "src/program/slots.c", "slots_place"),
    "step written": (without("written"), "src/program/flow.c", "written_place"),
    "step dump": (without("dump"), "src/program/dump.c", "dump_place"),
    "step put": (without("put"), "src/program/serialize.c", "put_place"),
    "step prepare": (without("prepare"), "src/exec/image.c", "prepare_place"),
    "step run": (without("run"), "src/exec/place.c", "run_place"),
    "step kind": (without("kind"), "src/program/builder.c", "STEP_place"),
    "step targets": (("src/program/program.h", "place, prog_id, ON", "place, prog_id, AWAY"),
                     "src/program/slots.c", r"place_|STEP\(place"),
    "collective check": (collective(), "src/program/validate.c", "check_NOTHING"),
    "collective run": (collective(), "src/exec/collective.c", "run_NOTHING"),
    "step meaning": (("src/program/program.h", ', "the device\'s position"', ""),
                     "src/program/dump.c", r"STEP\(place"),
}


def call(command, folder):
    return subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True,
                          errors="replace", timeout=300)


class Tree:
    """A copy of the tree, built without Meson: what the build compiled, at no optimization."""

    def __init__(self, path):
        self.path, self.out = path, path / "out"
        names = call(["git", "ls-files", "-co", "--exclude-standard"], ROOT).stdout.splitlines()
        for name in names:
            if name.startswith(("src/", "cli/", "docs/", "include/", "tests/", "tools/")):
                (path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, path / name)
        call(["git", "init", "-q"], path)  # tools/check-includes asks it
        self.out.mkdir()
        self.units = {}  # by object: the source, and the command that compiles it
        for entry in json.loads((BUILD / "compile_commands.json").read_text()):
            file = os.path.relpath(pathlib.Path(entry["directory"], entry["file"]), ROOT)
            if re.search(r"libtz_(?!pjrt)|^cli/", entry["output"]):
                if not (path / file).exists():  # what the build made
                    (path / file).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(ROOT / file, path / file)
                self.units[entry["output"].replace("/", ".")] = file, self.command(entry["command"])

    @staticmethod
    def command(text):
        words = [w for w in shlex.split(text) if w not in ("-MD", "-g", "-c")
                 and not w.startswith("-fdiagnostics-color")]
        for flag in ("-MQ", "-MF", "-o"):
            at = words.index(flag) if flag in words else len(words)
            del words[at:at + 2]
        quiet = [] if "clang" in words[:2] else ["-Wno-clobbered"]  # as meson.build without -O
        return [w for w in words[:-1] if not re.match(r"-O\d", w)] + ["-O0", *quiet]

    def edit(self, name, before, text):
        path = self.path / name
        old = path.read_text() if path.exists() else ""
        if before is None:
            path.write_text(old + text)
            return
        places = [m.start() for m in re.finditer(re.escape(before), old)]
        if len(places) > 1:  # where a function is, not where it is only declared
            places = [at for at in places if not old[at:].split("\n")[0].endswith(";")]
        assert len(places) == 1, f"{name}: where is {before}?"
        path.write_text(old[:places[0]] + text + old[places[0]:])

    def compile(self, unit, *options):
        file, command = self.units[unit]
        return call([*command, *options, f"../{file}"], self.out)

    def build(self, units, prefix=""):
        """Compiles units; returns what the linker is to be given for all of the tree."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            made = {unit: prefix + unit for unit in units}
            done = pool.map(lambda u: self.compile(u, "-c", "-o", made[u]), made)
            for result in done:
                assert result.returncode == 0, result.stderr
        return [made.get(unit, unit) for unit in self.units]

    def link(self, program, objects):
        _, command = next(iter(self.units.values()))
        done = call([*command, "-rdynamic", "-o", program, *objects, "-lm", "-ldl", "-pthread"],
                    self.out)
        assert done.returncode == 0, done.stderr

    def of(self, *files):
        return [unit for unit, (file, _) in self.units.items() if file in files]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    t = Tree(tmp_path_factory.mktemp("tree"))
    for file, before, text in (OP | STEP).values():
        t.edit(file, before, text)
    t.objects = t.build(t.units)
    t.link("terrazzo", t.objects)
    return t


def run(tree, program, *arguments):
    return call([tree.out / program, *arguments], tree.path)


def test_op_in_four_files(tree):
    assert len({file for file, _, _ in OP.values()}) == 4
    done = run(tree, "terrazzo", "run", LIT_FILE, "--output", "out/results")
    assert done.returncode == 0, done.stderr
    assert np.load(tree.out / "results/out_0.npy").tolist() == [3, -4.5, 0.75, 0]
    assert np.load(tree.out / "results/out_1.npy").tolist() == [3, -6, -32767, 0]
    assert "three times each element" in run(tree, "terrazzo", "ops", "chlo.thrice").stdout
    lit = pathlib.Path(sys.executable).parent / "lit"
    done = call([lit, "-v", f"-Dterrazzo_bin={tree.out}", "-Dscratch=out/lit", LIT_FILE], tree.path)
    assert done.returncode == 0, done.stdout


def test_step_runs(tree):
    units = tree.of("src/program/builder.c")
    objects = [o for o in tree.objects if not o.startswith("cli")]
    done = call([*tree.units[units[0]][1], "../tests/tables/step.c", "-o", "step", *objects, "-lm",
                 "-ldl", "-pthread"], tree.out)
    assert done.returncode == 0, done.stderr
    done = run(tree, "step")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", LEFT_OUT)
def test_left_out(tree, name):
    (file, old, new), says, what = LEFT_OUT[name]
    path = tree.path / file
    whole = path.read_text()
    assert whole.count(old) == 1
    try:
        path.write_text(whole.replace(old, new))
        done = tree.compile(tree.of(says)[0], "-fsyntax-only")
    finally:
        path.write_text(whole)
    assert done.returncode != 0
    assert re.search(what, done.stderr), done.stderr


def test_row_left_out(tree):
    done = terrazzo("run", LIT_FILE, cwd=tree.path)
    assert done.returncode != 0
    assert "thrice.mlir:10:8: error: custom op 'chlo.thrice' is unknown" in done.stderr


def test_test_left_out(tree):
    test, away = tree.path / LIT_FILE, tree.out / "away"
    check = [sys.executable, "tools/check-includes"]
    assert "chlo.thrice" not in call(check, tree.path).stdout
    test.rename(away)
    try:
        assert "chlo.thrice runs, but there is no" in call(check, tree.path).stdout
    finally:
        away.rename(test)


def test_class_left_out(tree):
    """A kernel for integers alone: floats are refused before anything runs."""
    file, old, new = kernels("NO, INT((T)(3 * (W)x)), NO, NO")
    path = tree.path / file
    whole = path.read_text()
    try:
        path.write_text(whole.replace(old, new))
        units = tree.of("src/program/builder.c", "src/exec/kernels.c", "src/exec/kernels_math.c")
        objects = tree.build(units, "without-")
    finally:
        path.write_text(whole)
    tree.link("without", objects)
    done = run(tree, "without", "run", LIT_FILE)
    assert done.returncode == 1
    assert "thrice.mlir:10:8: error: " in done.stderr
    assert "'chlo.thrice'" in done.stderr and "'f32'" in done.stderr, done.stderr
