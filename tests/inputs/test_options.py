"""Whatever is wrong with what an option was given, the message names the option."""
import pytest

from support import terrazzo

PROGRAM = """sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>})
    -> tensor<4x8xf32> {
  %0 = stablehlo.tanh %a : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
"""
ASKING = ["partition", "why", "mem", "verify", "check", "report", "run --random-input"]
MESHES = ["q", "m=x", "m=x=0", "z=x=2", "m=x=q", "m=x=2,x=2"]
CONVERT = "convert P('x') --from pspec --to xla"
LAYOUT = "layout --device-matrix 2,2 --alias x,y --map x"

# The command, and what is wrong.
WRONG = [
    *[(f"{c} FILE", f"--mesh={m}") for c in ASKING for m in MESHES],
    *[(f"{c} FILE", "--devices=4") for c in ASKING],
    *[(f"{c} FILE", "--devices=no") for c in ASKING],
    *[(f"{c} FILE", "-o=/proc/no") for c in ("partition", "report", "opt", "plan --devices 2")],
    ("diff FILE FILE", "--second-mesh=q"),
    ("diff FILE FILE --second-mesh=m=x=4", "--mesh=z=x=2"),
    ("why FILE", "--value=no"), ("why FILE", "--collective=9"), ("why FILE", "--line=3"),
    ("why FILE", "--topology=/nothing"), ("report FILE", "--before=/nothing"),
    ("report FILE", "--as=no"), ("report FILE", "--large=no"), ("mem FILE", "--budget=no"),
    ("verify FILE", "--tolerance=no"), ("check FILE", "--large=no"), ("why FILE", "--color=no"),
    *[("plan FILE", f"--mesh={m}") for m in ("q", "m=x", "x=0", "x=no")],
    ("plan FILE", "--memory=no"),
    ("run FILE", "--input=/nothing"), ("run FILE", "--input=FILE"), ("run FILE", "--input"),
    ("run FILE --random-input", "--executor=no"), ("run FILE --random-input", "--processes=3"),
    ("run FILE --random-input", "--output=/proc/no/no"), ("run FILE", "--dump=no"),
    ("run FILE", "--load-dialect=/nothing.so"), ("run FILE", "--load-dialect=FILE"),
    ("run FILE", "--op-priorities=/nothing"), ("run FILE", "--op-priorities=FILE"),
    ("run FILE", "--seed=3"),
    ("opt FILE", "--emit-bytecode-version=3"), ("opt FILE", "--target=1.0.0"),
    ("opt FILE --emit-bytecode", "--emit-bytecode-version=9"),
    ("opt FILE --emit-bytecode", "--target=no"), ("opt FILE --emit-bytecode", "--target=1.99.0"),
    ("opt FILE", "--load-dialect=/nothing.so"), ("opt FILE", "--op-priorities=/nothing"),
    ("opt FILE", "--mlir-print-ir-before=no"), ("opt FILE --cse", "--mlir-print-ir-after=cse,no"),
    (CONVERT, "--mesh=q"), (f"{CONVERT} --mesh x=2", "--to-mesh=q"), (CONVERT, "--rank=no"),
    (CONVERT, "--tensor=no"), (f"{CONVERT} --mesh x=2", "--svg=/proc/no"),
    (LAYOUT, "--alias=x"), (LAYOUT, "--map=no"), (LAYOUT, "--rank-list=no"),
    (LAYOUT, "--tensor=no"), (LAYOUT, "--svg=/proc/no"), (f"{LAYOUT} --tensor 4", "--rank=9"),
]


@pytest.mark.parametrize("command,option", WRONG, ids=lambda text: text.replace("/", "|"))
def test_is_named(command, option, tmp_path):
    path = tmp_path / "in.mlir"
    path.write_text(PROGRAM)
    given = option.replace("FILE", str(path))
    given = given.split("=", 1) if option.startswith("-o=") else [given]
    done = terrazzo(*command.replace("FILE", str(path)).split(), *given)
    assert done.returncode in (1, 2), done
    assert option.split("=")[0] in done.stderr.split("\nusage")[0], done.stderr


def test_from_the_environment(tmp_path, monkeypatch):
    path = tmp_path / "in.mlir"
    path.write_text(PROGRAM)
    monkeypatch.setenv("TERRAZZO_EXECUTOR", "no")
    done = terrazzo("run", "--random-input", path)
    assert done.returncode == 1 and "TERRAZZO_EXECUTOR: no executor 'no'" in done.stderr
