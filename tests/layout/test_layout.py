"""`terrazzo layout` against what MindSpore 2.10 answered.

layout_cases.json: layouts with tensor map, strategy, replica groups and the slice of each rank.
layout_errors.json: what MindSpore refuses and accepts; where it lets nonsense through, STRICTER
names the case. Values that only Python can get wrong (a list for a tuple) are left out.
"""
import ast
import concurrent.futures
import json
import pathlib
import random
import re

import pytest

from support import terrazzo

HERE = pathlib.Path(__file__).resolve().parent
CASES = json.loads((HERE / "layout_cases.json").read_text())["cases"]
ERRORS = json.loads((HERE / "layout_errors.json").read_text())["cases"]
KEYS = ("device_matrix", "alias_name", "rank_list", "tensor_map", "interleaved_parallel",
        "strategy", "slice_shape", "num_slices", "replicas", "replica_groups", "ranks")


def numbers(values):
    return ",".join(map(str, values))


def entry(e):
    return e if isinstance(e, str) else f"({','.join(map(str, e))})"


def arguments(case):
    out = ["--device-matrix", numbers(case["device_matrix"]), "--alias",
           numbers(case["alias_name"]), "--map", ",".join(map(entry, case["entries"]))]
    if case.get("rank_list") is not None:
        out += ["--rank-list", numbers(case["rank_list"])]
    if "shape" in case:
        out += ["--tensor", numbers(case["shape"])]
    if case.get("interleaved_parallel"):
        out += ["--interleaved-parallel"]
    return out


def answer(*args):
    done = terrazzo("layout", *args, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answers():
    """Every case through the tool, two processes at a time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda case: answer(*arguments(case)), CASES))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[c["id"] for c in CASES])
def test_case(answers, number):
    case, got = CASES[number], answers[number]
    for key in KEYS:
        assert got[key] == case[key], f"{key}: {case.get('note', '')}"


SHARDS = [c for c in CASES if c["category"] == "shard_strategy"]


@pytest.mark.parametrize("case", SHARDS, ids=[c["id"] for c in SHARDS])
def test_shard_strategy(case):
    devices = case["num_slices"] * case["replicas"]
    got = answer("--strategy", numbers(case["strategy"]), "--devices", devices, "--tensor",
                 numbers(case["shape"]))
    for key in KEYS:
        assert got[key] == case[key], key
    left = answer("--strategy", numbers(case["strategy"]), "--devices", devices, "--repeat", "left")
    assert [r["slice"] for r in left["ranks"]] == [r % case["num_slices"] for r in range(devices)]


def test_strategy_of_inputs():
    """MindSpore's own form: a tuple for each input."""
    devices = ("--devices", 8)
    one, other = (answer("--strategy", s, *devices) for s in ("2,1,2,2,1", "1,8"))
    assert answer("--strategy", "((2,1,2,2,1),)", *devices) == [one]
    assert answer("--strategy", "( (2, 1, 2, 2, 1), (1,8,) )", *devices) == [one, other]
    assert answer("--strategy", "(1,8)", *devices) == other
    for text, says in (("((2,1),8)", "expected a tuple for each input, found '8'"),
                       ("((2,a),)", "expected a whole number, found 'a'"),
                       ("((2,1)", "expected ')'")):
        done = terrazzo("layout", "--strategy", text, *devices)
        assert done.returncode == 1 and says in done.stderr
    done = terrazzo("layout", "--strategy", "((2,1),(1,8))", *devices, "--tensor", "8,8")
    assert done.returncode == 1 and "of one input" in done.stderr


GUIDE = {
    "b d e c a": (("--device-matrix", "2,1,2,2,1", "--alias", "a,b,c,d,e", "--map", "b,d,e,c,a"),
                  [0, 4, 2, 6, 1, 5, 3, 7]),
    "b d e a": (("--device-matrix", "4,1,1,2,1", "--alias", "a,b,c,d,e", "--map", "b,d,e,a"),
                [0, 4, 1, 5, 2, 6, 3, 7]),
    "d unused": (("--device-matrix", "2,1,2,2,1", "--alias", "a,b,c,d,e", "--map", "b,e,c,a"),
                 [0, 0, 2, 2, 1, 1, 3, 3]),
    "shard": (("--strategy", "2,1,2,2,1", "--devices", "8"), [0, 1, 2, 3, 4, 5, 6, 7]),
    "shard, right": (("--strategy", "2,1,1,2,1", "--devices", "8"), [0, 0, 1, 1, 2, 2, 3, 3]),
    "shard, left": (("--strategy", "2,1,1,2,1", "--devices", "8", "--repeat", "left"),
                    [0, 1, 2, 3, 0, 1, 2, 3]),
}


@pytest.mark.parametrize("name", GUIDE)
def test_guide(name):
    """MindSpore's derivations: the table that people read says the same as the JSON, and with a
    tensor that holds an element a slice, a rank holds the number of its slice."""
    args, slices = GUIDE[name]
    args += ("--tensor", numbers(answer(*args)["strategy"]))
    assert [r["slice"] for r in answer(*args)["ranks"]] == slices
    shown = terrazzo("layout", *args).stdout
    assert "Numbering" in shown and "Reordering" in shown and "┌" in shown
    weighed = shown.split("Weighing")[1].split("Which rank")[0]
    sums = re.findall(r"^ +\d+ +([\d*+ ]+) = slice (\d+) .* holds (\d+)$", weighed, re.M)
    assert [int(s) for _, s, _ in sums] == [int(h) for _, _, h in sums] == slices
    assert [eval(terms) for terms, _, _ in sums] == slices


STRICTER = {"E014", "E015", "E016",  # sizes below 1
            "E027", "E028",          # ranks repeated or negative
            "E055", "E068",          # strategies below 1
            "E079", "E080",          # ranks that wrap
            "E081", "E082"}          # shapes that do not divide


def spelled(case):
    """The command line of an error case; None where only Python can say it."""
    fields = {key: case.get(key) for key in ("device_matrix", "alias_name", "entries", "rank_list")}
    try:
        matrix, names, entries, ranks = (
            ast.literal_eval(v) if isinstance(v, str) else v for v in fields.values())
    except (ValueError, SyntaxError):
        return None
    if isinstance(matrix, tuple) and isinstance(names, tuple):
        if entries is None:
            entries = ("None",)
        if not isinstance(entries, tuple) or any(isinstance(e, list) for e in entries):
            return None
        out = ["--device-matrix", numbers(matrix), "--alias", numbers(names), "--map",
               ",".join(entry(e) if isinstance(e, (str, tuple)) else str(e) for e in entries)]
        if ranks is not None:
            out += ["--rank-list", numbers(ranks)]
        if case["stage"] == "slice":
            out += ["--tensor", numbers(case["shape"]), "--rank", case["rank"]]
        return out
    if case["stage"] == "parameter_plan":
        return ["--strategy", numbers(case["strategy"]), "--devices", 8, "--tensor",
                numbers(case["shape"])]
    if case["stage"] == "slice_shape_only":
        return ["--device-matrix", "2,4", "--alias", "a,b", "--map", "a,b", "--tensor",
                numbers(case["shape"])]
    return None


# ('2', 2) and (2, 2), None and "None" are one to the command line.
PYTHON_ONLY = {"E007", "E021", "E023", "E032"}
SPELLED = [(c, spelled(c)) for c in ERRORS if c["id"] not in PYTHON_ONLY]
SPELLED = [(c, a) for c, a in SPELLED if a is not None]


@pytest.mark.parametrize("case,args", SPELLED, ids=[c["id"] for c, _ in SPELLED])
def test_error(case, args):
    done = terrazzo("layout", *args, "--json")
    if case["accepted"] and case["id"] not in STRICTER:
        assert done.returncode == 0, done.stderr
        return
    assert done.returncode == 1 and done.stdout == ""
    assert re.match(r"terrazzo: --[a-z-]+(\[\d+\])?: expected .*", done.stderr), done.stderr
    assert "found" in done.stderr or "')'" in done.stderr, done.stderr


WRONG = {
    "matrix": (("--device-matrix", "2,x", "--alias", "a,b", "--map", "a"), "--device-matrix"),
    "huge": (("--device-matrix", f"{2**62},4", "--alias", "a,b", "--map", "a"), "--device-matrix"),
    "too large a number": (("--device-matrix", "9" * 30, "--alias", "a", "--map", "a"),
                           "--device-matrix"),
    "devices": (("--strategy", "2,3", "--devices", "8"), "--devices"),
    "repeat": (("--strategy", "2", "--devices", "8", "--repeat", "up"), "--repeat"),
    "slice": (("--strategy", "2", "--devices", "8", "--slice", "2"), "--slice"),
    "parenthesis": (("--device-matrix", "2", "--alias", "a", "--map", "(a"), "--map"),
    "behind a tuple": (("--device-matrix", "2", "--alias", "a", "--map", "(a)b"), "--map"),
    "no interleaved axis": (("--device-matrix", "2", "--alias", "a", "--map", "a",
                             "--interleaved-parallel"), "--alias"),
    "all of too many": (("--device-matrix", str(2**40), "--alias", "a", "--map", "a"),
                        "--device-matrix"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    args, field = WRONG[name]
    done = terrazzo("layout", *args)
    assert done.returncode == 1
    assert done.stderr.startswith(f"terrazzo: {field}"), done.stderr


@pytest.mark.parametrize("args", [(), ("--what",), ("--alias",), ("--alias", "a"),
                                  ("--strategy", "2"), ("--strategy", "2", "--map", "a")])
def test_usage(args):
    done = terrazzo("layout", *args)
    assert done.returncode == 2 and "usage: terrazzo layout" in done.stderr


PARTS = ["2,1,2,2,1", "a,b,c,d,e", "b,d,e,c,a", "1,2,1,2,2", "7,6,5,4,3,2,1,0",
         "(a,b),None", "(a,", ",", "", "-1", "9" * 25, "None,", "a,(b,None)", "1e3", " 2 , 4 ",
         "()", "((a))", "0"]
NAMES = ["--device-matrix", "--alias", "--map", "--rank-list", "--tensor", "--strategy",
         "--devices", "--repeat", "--rank", "--slice", "--to-map", "--to-device-matrix",
         "--element-size"]


@pytest.mark.parametrize("seed", range(120))
def test_mutated(seed):
    """Options with each other's values: an answer, an error with a field, or the usage."""
    rng = random.Random(seed)
    options = {"--device-matrix": "2,1,2,2,1", "--alias": "a,b,c,d,e", "--map": "b,d,e,c,a"}
    if rng.random() < 0.3:
        options = {"--strategy": "2,1,2", "--devices": "8"}
    for _ in range(rng.randint(1, 3)):
        options[rng.choice(NAMES if rng.random() < 0.3 else list(options))] = rng.choice(PARTS)
    done = terrazzo("layout", *[x for o in options.items() for x in o],
                    *rng.sample(["--json", "--interleaved-parallel"], rng.randint(0, 1)))
    assert done.returncode in (0, 1, 2)
    if done.returncode == 1:
        assert re.fullmatch(r"terrazzo: --[a-z-]+(\[\d+\])?: expected .*\n",
                            done.stderr), done.stderr
    if done.returncode == 2:
        assert "usage:" in done.stderr


def test_help():
    done = terrazzo("layout", "--help")
    assert done.returncode == 0 and "examples:" in done.stdout


def test_one_rank_of_many():
    got = answer("--device-matrix", f"{2**20},{2**20}", "--alias", "x,y", "--map", "y,x", "--rank",
                 2**39, "--tensor", f"{2**20},{2**20}")
    assert got["ranks"] == [{"rank": 2**39, "slice": 2**19, "ranges": [[0, 1], [2**19, 2**19 + 1]]}]


def test_slice_of_rank_list():
    got = answer("--device-matrix", "2,2", "--alias", "x,y", "--map", "y", "--rank-list", "7,3,5,9",
                 "--slice", "1")
    assert got["replica_groups"] == [[3, 9]]
    assert got["ranks"] == [{"rank": 3, "slice": 1}, {"rank": 9, "slice": 1}]
