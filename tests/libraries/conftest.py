"""Programs as the libraries' own guides write them, on Terrazzo and on XLA in one process."""
import os

os.environ["JAX_PLATFORMS"] = "terrazzo,cpu"
os.environ["TERRAZZO_NUM_DEVICES"] = "8"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import numpy as np
import pytest


@pytest.fixture
def both():
    """Runs a function once with each platform's devices as the default; NumPy results."""
    def run(function, *args):
        results = []
        for platform in ("terrazzo", "cpu"):
            with jax.default_device(jax.devices(platform)[0]):
                got = function(*args)
                for leaf in jax.tree.leaves(got):
                    if isinstance(leaf, jax.Array):
                        assert {d.platform for d in leaf.devices()} == {platform}
                results.append(jax.tree.map(np.asarray, got))
            jax.clear_caches()
        return results

    return run


def close(got, want, rtol=1e-4, atol=1e-5):
    assert jax.tree.structure(got) == jax.tree.structure(want)
    for g, w in zip(jax.tree.leaves(got), jax.tree.leaves(want)):
        np.testing.assert_allclose(g, w, rtol=rtol, atol=atol)


@pytest.fixture
def agree(both):
    """The same numbers on both."""
    def check(function, *args, **tolerance):
        got, want = both(function, *args)
        close(got, want, **tolerance)
        return got

    return check
