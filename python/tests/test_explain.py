"""Answers about jitted functions, from Python."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import terrazzo_jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from terrazzo_jax import explain
from terrazzo_jax.pytest_plugin import step_limits  # noqa: F401  (a fixture)

LINKS = "level all all 10GB/s 1us\n"


def step(x, w, v):
    return jnp.tanh(x @ w) @ v


@pytest.fixture
def arguments(devices):
    mesh = Mesh(np.array(devices).reshape(4, 2), ("x", "y"))

    def shape(dims, *spec):
        return jax.ShapeDtypeStruct(dims, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))
    return shape((64, 32), "x", None), shape((32, 16), None, "y"), shape((16, 32), "y", None)


def test_why(arguments):
    answer = explain.why(jax.jit(step), *arguments, tries=2, topology=LINKS)
    (collective,) = answer["collectives"]
    assert collective["kind"] == "all_reduce" and collective["along"] == '"y"'
    assert collective["for"][0]["file"].endswith("test_explain.py")
    assert collective["for"][0]["axes"][0]["root"]["at"]["name"] == "w"
    assert collective["tried"][0]["gone"] and collective["seconds"] > 0
    assert "test_explain.py" in str(answer) and "<pre>" in answer._repr_html_()


def test_mem_and_the_rest(arguments):
    answer = terrazzo_jax.mem(step, *arguments)
    assert answer["arguments"] == 4 * (64 * 32 // 4 + 32 * 16 // 2 + 16 * 32 // 2)
    assert explain.comms(step, *arguments, topology=LINKS)["sum"]["count"] == 1
    assert explain.check(step, *arguments).data == []
    assert explain.verify(step, *arguments).data == {"same": True}
    one = explain.lowered(step, *arguments)
    assert not explain.diff(one, one)["rows"]


def test_report(arguments, tmp_path):
    one = explain.lowered(step, *arguments)
    report = explain.report(step, *arguments, topology=LINKS, before=one)
    assert not report.data["diff"]["rows"] and report.data["comms"]["sum"]["count"] == 1
    assert report._repr_html_().startswith("<iframe srcdoc=")
    page = report.save(tmp_path / "report.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "test_explain.py" in page


def test_limits(arguments, step_limits):  # noqa: F811
    step_limits(step, *arguments, collectives={"all_gather": 0, "all_reduce": 1},
                bytes_sent=1 << 20, memory=1 << 20)
    for wrong in ({"collectives": {"all_reduce": 0}}, {"bytes_sent": 10}, {"memory": 10}):
        with pytest.raises(AssertionError, match="at most"):
            step_limits(step, *arguments, **wrong)


def test_wrong(arguments):
    with pytest.raises(explain.Error, match="no number 9"):
        explain.why(step, *arguments, collective=9)
    with pytest.raises(explain.Error, match="topology:1:1"):
        explain.comms(step, *arguments, topology="links\n")
    assert np.isfinite(explain.mem(step, *arguments)["total"])
