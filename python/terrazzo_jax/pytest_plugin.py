"""A fixture for tests of steps: `step_limits(step, params, batch, collectives={"all_gather": 0},
bytes_sent=1 << 20, memory=1 << 30)` fails where the sharded step exceeds what is written there."""
import pytest


@pytest.fixture
def step_limits():
    """explain.limits of this package."""
    from terrazzo_jax import explain  # only tests that use it need the library

    return explain.limits
