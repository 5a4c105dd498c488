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


def test_plan(devices):
    """What it says goes into jax.jit; arguments in any structure, and some that nobody uses."""
    def train(params, batch, unused):
        def loss(params):
            return jnp.mean((jnp.tanh(batch["x"] @ params["w"]) @ params["v"] - batch["y"]) ** 2)
        return jax.tree.map(lambda p, g: p - .1 * g, params, jax.grad(loss)(params))
    params = {"v": np.ones((16, 32), np.float32), "w": np.ones((32, 16), np.float32)}
    batch = {"y": np.ones((64, 32), np.float32), "x": np.ones((64, 32), np.float32)}
    answer = terrazzo_jax.plan(jax.jit(train, donate_argnums=0), params, batch, 3.0,
                               devices=len(devices), topology=LINKS, tries=50)
    assert answer["claim"] == "best tried" and "tried" in str(answer)
    assert answer["cost"]["seconds"] <= answer["as_it_is"]["seconds"]
    shardings = answer.in_shardings(devices)
    assert shardings[2].spec == P() and set(shardings[0]) == {"v", "w"}
    new = jax.jit(train, in_shardings=shardings)(params, batch, 3.0)
    want = jax.jit(train)(params, batch, 3.0)
    np.testing.assert_allclose(new["w"], want["w"], rtol=1e-5)
    whole = explain.plan(train, params, batch, 3.0, mesh=f"a={len(devices)}", tries=100000,
                         memory=1 << 30)
    assert whole["claim"] == "optimal" and whole.mesh(devices).axis_names == ("a",)
    with pytest.raises(explain.Error, match="how many devices"):
        explain.plan(train, params, batch, 3.0)


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
