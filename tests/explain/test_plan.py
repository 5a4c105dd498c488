"""Plans: all assignments where they are few, a search else, and plans that have names."""
import itertools
import json
import re

import pytest

from support import ROOT, terrazzo

GPUS = ROOT / "examples" / "topologies" / "gpus.txt"
MLP = """func.func @main(%x: tensor<64x32xf32> loc("x"), %w: tensor<32x128xf32> loc("w[0]"),
                         %v: tensor<128x32xf32> loc("w[1]")) -> tensor<64x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] :
       (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32>
  %1 = stablehlo.tanh %0 : tensor<64x128xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] :
       (tensor<64x128xf32>, tensor<128x32xf32>) -> tensor<64x32xf32>
  return %2 : tensor<64x32xf32>
}
"""
# slow enough that small arrays matter
SLOW = "level all all 1GB/s 100ns\nflops 1GFLOP/s\nmemory 10GB/s\n"


def plan(path, *options, status=0):
    done = terrazzo("plan", path, "--json", *options)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(name="mlp")
def fixture_mlp(tmp_path):
    (tmp_path / "slow.txt").write_text(SLOW)
    path = tmp_path / "mlp.mlir"
    path.write_text(MLP)
    return path


def annotated(choices):
    """MLP with a sharding for each argument: of each dimension its axes."""
    text = MLP
    for name, dims in zip("xwv", choices):
        said = ", ".join("{" + ", ".join(f'"{axis}"' for axis in axes) + "}" for axes in dims)
        text = re.sub(rf"(%{name}: tensor<[^>]*>)",
                      rf"\1 {{sdy.sharding = #sdy.sharding<@mesh, [{said}]>}}", text, count=1)
    return 'sdy.mesh @mesh = <["a"=2, "b"=2]>\n' + text


def test_all_are_tried(mlp, tmp_path):
    """Against a loop over all assignments of two arguments, each as a program of its own."""
    slow = ("--topology", tmp_path / "slow.txt")
    answer = plan(mlp, "--mesh", "a=2,b=2", *slow, "--tries", 1000)
    assert answer["claim"] == "optimal" and answer["assignments"] == 9 ** 3
    one = [[[], []], [["a"], []], [[], ["a"]], [["b"], []], [[], ["b"]], [["a"], ["b"]],
           [["b"], ["a"]], [["a", "b"], []], [[], ["a", "b"]]]
    chosen = [a["spec"] for a in answer["arguments"]]
    path = tmp_path / "one.mlir"
    for first, second in itertools.product(one, one):
        path.write_text(annotated([first, second, chosen[2]]))
        cost = plan(path, *slow, "--tries", 1)["as_it_is"]["seconds"]
        assert cost >= answer["cost"]["seconds"] * (1 - 1e-9), (first, second)
        if [first, second] == chosen[:2]:
            assert cost == pytest.approx(answer["cost"]["seconds"])


SMALL = [("mlp_2d", "x=4,y=2"), ("mlp_dp", "x=8"), ("mlp_tp", "x=8"), ("mlp_fsdp", "x=8"),
         ("scan_fsdp", "a=2,b=4"), ("attn_heads", "a=2,b=4"), ("replicated_outs", "x=4,y=2")]


@pytest.mark.parametrize("name, mesh", SMALL)
@pytest.mark.parametrize("links", ["slow", "gpus"])
def test_search_is_near(name, mesh, links, tmp_path):
    """A search with a tenth of the runs finds what costs at most 5 % more than the best of all."""
    path = ROOT / "tests" / "corpus" / name / "global.mlir"
    (tmp_path / "slow.txt").write_text(SLOW)
    options = ("--mesh", mesh, "--free", "--topology",
               tmp_path / "slow.txt" if links == "slow" else GPUS)
    every = plan(path, *options, "--tries", 20000)
    assert every["claim"] == "optimal"
    some = plan(path, *options, "--tries", int(every["assignments"]) // 10 + 20)
    assert some["claim"] == "best tried" and some["tried"] < every["tried"]
    assert some["cost"]["seconds"] <= 1.05 * every["cost"]["seconds"]


def test_annotated_program(mlp, tmp_path):
    """The program that is written costs what was promised, for the other commands too."""
    out = tmp_path / "annotated.mlir"
    slow = ("--topology", tmp_path / "slow.txt")
    answer = plan(mlp, "--devices", 4, *slow, "-o", out)
    again = plan(out, *slow, "--tries", 1)
    assert again["as_it_is"]["seconds"] == answer["cost"]["seconds"]
    assert json.loads(terrazzo("mem", out, "--json").stdout)["total"] == answer["cost"]["memory"]
    sums = json.loads(terrazzo("comms", out, "--json", *slow).stdout)["sum"]
    assert sums["bytes"] == answer["cost"]["bytes"]
    assert sums["seconds"] == pytest.approx(answer["cost"]["communication"])
    assert terrazzo("verify", out).returncode == 0


@pytest.mark.parametrize("name", ["mlp_2d", "xf_train_adam"])
def test_threads(name):
    """The answer does not depend on how many work on it."""
    path = ROOT / "tests" / "corpus" / name / "global.mlir"
    answers = [terrazzo("plan", path, "--json", "--tries", 60, "--threads", n).stdout
               for n in (1, 2, 7)]
    assert answers[0] and len(set(answers)) == 1


def test_never_worse_than_as_it_is():
    for path in sorted((ROOT / "tests" / "corpus").glob("*/global.mlir")):
        answer = plan(path, "--tries", 80)
        if answer["as_it_is"] and path.parent.name != "smap_collectives":
            assert answer["cost"]["seconds"] <= answer["as_it_is"]["seconds"] * (1 + 1e-9), path


def test_memory(mlp, tmp_path):
    assert not plan(mlp, "--devices", 4, "--memory", "1KiB", status=1)["fits"]
    free = plan(mlp, "--devices", 4)["cost"]
    tight = plan(mlp, "--devices", 4, "--memory", free["memory"] - 1)
    assert tight["fits"] and tight["cost"]["memory"] < free["memory"]
    assert tight["cost"]["seconds"] >= free["seconds"]
    done = terrazzo("plan", mlp, "--devices", 4, "--memory", "1KiB")
    assert done.returncode == 1 and "nothing that was tried fits" in done.stdout + done.stderr


@pytest.mark.parametrize("options, status, said", [
    (("--devices", "4", "--mesh", "a=3"), 1, "3 devices, not 4"), ((), 1, "has no mesh"),
    (("--mesh", "a="), 1, "expected AXIS=SIZE"), (("--mesh", "a=2,b=2,c=2,d=2,e=2"), 1, "four"),
    (("--devices", "4", "--memory", "much"), 2, "80GiB"),
    (("--devices", "4", "--axes", "a,,b"), 1, "axes")])
def test_wrong_questions(mlp, options, status, said):
    done = terrazzo("plan", mlp, *options)
    assert done.returncode == status and said in done.stderr, done.stderr
