"""Rendezvous through JAX, with every core and pinned to one."""
import pathlib

import pytest

from support import python

PROGRAMS = pathlib.Path(__file__).with_name("jax_programs.py")


@pytest.mark.parametrize("one_core", [False, True], ids=["all-cores", "one-core"])
@pytest.mark.parametrize("case", ["rows_differ", "one_leaves", "two_threads"])
def test_case(case, one_core):
    done = python(PROGRAMS, case, one_core=one_core)
    assert done.returncode == 0 and done.stdout.endswith("ok\n"), done.stdout + done.stderr
