"""A small run of stress.py: programs at random from several threads, in poisoned memory; and views
of results, which must outlive them there."""
import os
import pathlib
import subprocess
import sys

import pytest

STRESS = pathlib.Path(__file__).parent / "stress.py"


@pytest.mark.parametrize("options", [
    ["--devices", "1", "--most", "24", "--runs", "800", "--workers", "16", "--poison", "5"],
    ["--devices", "8", "--most", "16", "--runs", "500", "--workers", "2", "--poison", "6"]])
def test_results_do_not_change(options):
    done = subprocess.run([sys.executable, STRESS, *options], capture_output=True, text=True,
                          timeout=600)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


VIEWS = """
import random, jax, jax.numpy as jnp, numpy as np
both = jax.jit(lambda x, k: (jnp.sin(x) + k, jnp.sum(x) * k))
twice = jax.jit(lambda x, k: x * k + 1, donate_argnums=0)
x, pick, views = np.arange(16, dtype=np.float32), random.Random(1), []
for i in range(1500):
    a, s = both(x, pick.randrange(100))
    kept = a if i % 2 else s
    view = np.asarray(kept)
    views.append((view, view.copy()))
    if i % 3 == 0:
        kept.delete()
    elif i % 3 == 1:
        np.asarray(twice(a, 2))
    del a, s, kept
    if len(views) > 50:
        views.pop(pick.randrange(len(views)))
    assert all(np.array_equal(v, c) for v, c in views[-4:] + views[:4]), i
print("kept")
"""


def test_views_outlive_their_arrays():
    environment = os.environ | {"TERRAZZO_POISON": "8", "JAX_PLATFORMS": "terrazzo"}
    done = subprocess.run([sys.executable, "-c", VIEWS], capture_output=True, text=True,
                          timeout=600, env=environment)
    assert done.stdout.strip() == "kept", done.stderr
