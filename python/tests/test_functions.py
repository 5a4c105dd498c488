"""Functions of jnp, jax.nn, jax.lax and jax.scipy: a share of what functions.py calls."""
import jax
import pytest

import functions


@pytest.fixture(autouse=True)
def wide():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("share", [200, pytest.param(5, marks=pytest.mark.slow)])
def test_equal_to_xla(devices, share):
    tally = functions.run(seed=share, share=share)
    assert tally.bad == []
    assert len(tally.called) > .7 * len(tally.asked)


def test_most_functions_are_found():
    names = functions.functions()
    assert len(names) > 600
    for space in functions.SPACES:
        assert any(name.startswith(space + ".") for name in names), space
