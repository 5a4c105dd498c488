"""Calls are inlined: those that double at every step are refused at once, and those that call one
layer many times are not."""
import re
import time

import pytest

from support import terrazzo

T = "tensor<f32>"


def function(name, body, result, head="private "):
    return (f"func.func {head}@{name}(%x: {T}) -> {T} {{\n{body}"
            f"  return {result} : {T}\n}}\n")


def call(k, name, operand):
    return f"  %{k} = call @{name}({operand}) : ({T}) -> {T}\n"


def doubling(steps):
    text = "".join(function(f"f{k}", call(0, f"f{k + 1}", "%x") + call(1, f"f{k + 1}", "%0"), "%1")
                   for k in range(steps))
    return (text + function(f"f{steps}", f"  %0 = stablehlo.sine %x : {T}\n", "%0") +
            function("main", call(0, "f0", "%x"), "%0", ""))


def in_layers(calls, ops):
    layer = "".join(f"  %{k} = stablehlo.sine %{k - 1 if k else 'x'} : {T}\n" for k in range(ops))
    return (function("layer", layer, f"%{ops - 1}") +
            function("main", "".join(call(k, "layer", f"%{k - 1}" if k else "%x")
                                     for k in range(calls)), f"%{calls - 1}", ""))


COMMANDS = {"one device": ("run",), "two devices": ("run", "--devices", "2"),
            "propagation": ("opt", "-sdy-propagation-pipeline"),
            "calls alone": ("opt", "-sdy-import-func-calls"), "inline": ("opt", "-inline")}


@pytest.mark.parametrize("steps", [18, 60])
@pytest.mark.parametrize("command", COMMANDS)
def test_doubling(command, steps, tmp_path):
    path = tmp_path / "calls.mlir"
    path.write_text(doubling(steps))
    start = time.monotonic()
    done = terrazzo(*COMMANDS[command], path)
    assert done.returncode == 1 and time.monotonic() - start < 60
    said = "expected at most 131072 ops once calls are inlined"
    assert re.match(rf"{path}:\d+:\d+: error: .* {said}", done.stderr), done.stderr


def test_many_small_ones(tmp_path):
    """Each function of them is small enough, all together are not."""
    path = tmp_path / "calls.mlir"
    path.write_text(doubling(14) + "".join(
        function(f"g{k}", call(0, "f0", "%x"), "%0", "") for k in range(10)))
    done = terrazzo("opt", "-sdy-propagation-pipeline", path)
    assert done.returncode == 1 and "once calls are inlined" in done.stderr, done.stderr


def test_layers(tmp_path):
    path = tmp_path / "calls.mlir"
    path.write_text(in_layers(400, 400))
    done = terrazzo("run", path)
    assert done.stderr == "terrazzo: --input: @main takes 1 arguments, 0 were given\n"
