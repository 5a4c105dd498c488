"""Every test here runs in one process on eight Terrazzo devices, XLA's CPU device beside them."""
import os

os.environ["JAX_PLATFORMS"] = "terrazzo,cpu"
os.environ["TERRAZZO_NUM_DEVICES"] = "8"

import jax
import pytest


@pytest.fixture
def devices():
    return jax.devices("terrazzo")


@pytest.fixture
def mesh(devices):
    return jax.make_mesh((4, 2), ("x", "y"), devices=devices)
