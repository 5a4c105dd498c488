"""Pipelines that cannot be: where it is wrong, shown below the text, and in MLIR's words."""
import pytest

from support import terrazzo

MODULE = "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }\n"
UNKNOWN = "'{}' does not refer to a registered pass or pass pipeline"
RESTRICTED = ("Can't add pass '{}' restricted to '{}' on a PassManager intended to run on '{}', "
              "did you intend to nest?")

# `|` is where the error is
BAD = {
    "builtin.module(|nope)": UNKNOWN.format("nope"),
    "any(|nope)": UNKNOWN.format("nope"),
    "builtin.module(cse,|)": UNKNOWN.format(""),
    "builtin.module(cse,|,cse)": UNKNOWN.format(""),
    "builtin.module(builtin.module(|func.func))": UNKNOWN.format("func.func"),
    "builtin.module(|": "encountered unbalanced parentheses while parsing pipeline",
    "builtin.module(func.func(cse)|": "encountered unbalanced parentheses while parsing pipeline",
    "builtin.module(cse)|)": "encountered extra closing ')' creating unbalanced parentheses while "
                             "parsing pipeline",
    "builtin.module(func.func(cse)|cse)": "expected ',' after parsing pipeline",
    "builtin.module(func.func(cse)|{a=1})": "expected ',' after parsing pipeline",
    "builtin.module(func.func(|sdy-basic-propagate))":
        RESTRICTED.format("sdy-basic-propagate", "builtin.module", "func.func"),
    "func.func(cse,|sdy-propagation-pipeline)":
        RESTRICTED.format("sdy-propagation-pipeline", "builtin.module", "func.func"),
    "foo.bar(|sdy-drop-sharding-rules)":
        RESTRICTED.format("sdy-drop-sharding-rules", "func.func", "foo.bar"),
    "builtin.module(builtin.module(|sdy-basic-propagate))":
        "'sdy-basic-propagate' runs on the outermost 'builtin.module' only",
    "a.b(" * 16 + "a.b|(": "nested too deep",
    "builtin.module(cse{|x=1})": "no such option x",
    "sdy-close-shardings{|x}": "no such option x",
    "builtin.module(cse,sdy-propagation-pipeline{|nope=1})": "no such option nope",
    "builtin.module(sdy-basic-propagate{keep-sharding-rules |propagation-strategy=basic})":
        "no such option propagation-strategy",
    "canonicalize{top-down=1 |max-iterations=x}":
        "for the --max-iterations option: 'x' value invalid for long argument!",
    "canonicalize{|max-iterations}":
        "for the --max-iterations option: requires a value!",
    "canonicalize{|max-iterations=}":
        "for the --max-iterations option: '' value invalid for long argument!",
    "canonicalize{|max-iterations=0b12}": "'0b12' value invalid for long argument!",
    "canonicalize{|region-simplify=none}":
        "for the --region-simplify option: Cannot find option named 'none'!",
    "inline{|max-iterations=-1}":
        "for the --max-iterations option: '-1' value invalid for uint argument!",
    "inline{|inlining-threshold=4294967296}": "'4294967296' value invalid for uint argument!",
    "canonicalize{|max-iterations=99999999999999999999}": "'99999999999999999999' value invalid",
    "func.func(sdy-insert-explicit-reshards{|enable-full-version=2})":
        "for the --enable-full-version option: '2' is invalid value for boolean argument! "
        "Try 0 or 1",
    "canonicalize{|top-down='a b'}": "'a b' is invalid value for boolean argument!",
    "builtin.module(canonicalize|{max-iterations=1)":
        "missing closing '}' while processing pass options",
    "canonicalize|{enable-patterns={a}": "missing closing '}' while processing pass options",
    "canonicalize|{enable-patterns='a}": "missing closing '}' while processing pass options",
    "cse{}|}": "expected ',' after parsing pipeline",
}


def run(path, *arguments):
    path.write_text(MODULE)
    return terrazzo("opt", path, *arguments)


@pytest.mark.parametrize("pipeline", BAD)
def test_bad(pipeline, tmp_path):
    at, text = pipeline.index("|"), pipeline.replace("|", "")
    done = run(tmp_path / "ok.mlir", f"--pass-pipeline={text}")
    assert done.returncode == 1
    first, line, caret = done.stderr.splitlines()
    assert first.startswith(f"MLIR Textual PassPipeline Parser:1:{at + 1}: error: ")
    assert BAD[pipeline] in first and line == text and caret == " " * at + "^"


def test_lines(tmp_path):
    done = run(tmp_path / "ok.mlir", "--pass-pipeline=builtin.module(cse,\n  nope)\n")
    assert done.stderr == ("MLIR Textual PassPipeline Parser:2:3: error: "
                           f"{UNKNOWN.format('nope')}\n  nope)\n  ^\n")


@pytest.mark.parametrize("option, at, what", [
    ("default-pipeline=cse,nope", 5, UNKNOWN.format("nope")),
    ("default-pipeline=inline,sdy-basic-propagate", 8,
     RESTRICTED.format("sdy-basic-propagate", "builtin.module", "func.func")),
    ("op-pipelines=func.func(nope)", 11, UNKNOWN.format("nope")),
    ("op-pipelines=cse", 1, "expected pass pipeline to be wrapped with the anchor operation type, "
                            "e.g. 'builtin.module(...)'")])
def test_pipelines_inside(option, at, what, tmp_path):
    done = run(tmp_path / "ok.mlir", f"--pass-pipeline=inline{{{option}}}")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"MLIR Textual PassPipeline Parser:1:{at}: error: {what}",
        option.split("=", 1)[1], " " * (at - 1) + "^"]


def test_flags_are_read_alike(tmp_path):
    done = run(tmp_path / "ok.mlir", "-cse", "-sdy-insert-explicit-reshards=enable-full-version=2")
    assert done.returncode == 1 and done.stderr.splitlines()[1:] == [
        "cse,sdy-insert-explicit-reshards{enable-full-version=2}", " " * 33 + "^"]


GOOD = {
    "": "builtin.module()",
    "builtin.module()": "builtin.module()",
    "any(cse)": "builtin.module(cse)",
    " cse { } , builtin.module( func.func( cse ) ) ": "builtin.module(cse,func.func(cse))",
    "func.func(foo.bar(any(cse)))": "builtin.module(func.func(foo.bar(any(cse))))",
    "func.func(sdy-drop-sharding-rules)": "builtin.module(func.func(sdy-drop-sharding-rules))",
    "canonicalize{max-iterations=1 enable-patterns='a b' max-iterations=2}":
        "builtin.module(canonicalize{cse-between-iterations=false  enable-patterns={a b}  "
        "max-iterations=2 max-num-rewrites=-1 region-simplify=normal test-convergence=false "
        "top-down=true})",
    "canonicalize{max-iterations=0x10 max-num-rewrites=010 filter-dialects=sdy,chlo}":
        "filter-dialects={sdy,chlo} max-iterations=16 max-num-rewrites=8 region-simplify=normal "
        "test-convergence=false top-down=true})",
    "inline": "inline{default-pipeline=canonicalize inlining-threshold=4294967295 "
              "max-iterations=4 })",
    "inline{default-pipeline= op-pipelines=func.func(cse),func.func()}":
        "inline{default-pipeline= inlining-threshold=4294967295 max-iterations=4 "
        "op-pipelines={func.func(cse),func.func()}})",
    "sdy-insert-explicit-reshards{enable-full-version='True'}": "{enable-full-version=true})",
    "sdy-insert-explicit-reshards{enable-full-version}": "{enable-full-version=true})",
}


@pytest.mark.parametrize("pipeline", GOOD)
def test_good(pipeline, tmp_path):
    path = tmp_path / "ok.mlir"
    done = run(path, f"--pass-pipeline={pipeline}", "--dump-pass-pipeline")
    assert done.returncode == 0
    assert not pipeline or done.stderr.rstrip("\n").endswith(GOOD[pipeline])


def test_anchors_choose(tmp_path):
    """A pass runs on the ops that its anchors name, and on nothing else."""
    path = tmp_path / "anchors.mlir"
    dead = "  %c = stablehlo.constant dense<0> : tensor<i32>\n"
    function = "func.func @{}() {{\n" + dead + "  return\n}}\n"
    path.write_text(function.format("f") + "module {\n" + function.format("g") + "}\n")

    def left(pipeline):
        done = terrazzo("opt", path, f"--pass-pipeline={pipeline}")
        return [done.stdout.split("module {", 2)[k].count("stablehlo.constant") for k in (1, 2)]
    assert left("foo.bar(cse)") == [1, 1]
    assert left("func.func(cse)") == [0, 1]
    assert left("builtin.module(builtin.module(cse))") == [1, 0]
    assert left("builtin.module(builtin.module(func.func(cse)))") == [1, 0]
    assert left("any(cse)") == [0, 0]


def test_anchor_of_what_is_not_isolated(tmp_path):
    done = run(tmp_path / "ok.mlir", "--pass-pipeline=func.func(func.return(cse))")
    assert "ok.mlir:1:52: error: 'func.return' op trying to schedule a pass on an operation not " \
           "marked as 'IsolatedFromAbove'" in done.stderr
