"""A machine without root, network or much else: what is missing is told, the rest goes on."""
import pathlib
import shutil
import subprocess

import pytest
from support import ROOT

PROGRAMS = """
bash sh env make cc gcc ld as ar nm strip objcopy readelf meson ninja python3 sed grep tr cut
cat cp mv rm ln mkdir ls test id uname dirname basename flock cmp sort tail head
""".split()


@pytest.fixture
def machine(tmp_path):
    """A tree, and a folder with all the programs that there are; run() is there."""
    bin, tree = tmp_path / "bin", tmp_path / "tree"
    bin.mkdir()
    for name in PROGRAMS:
        (bin / name).symlink_to(shutil.which(name))
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, listed):
        if name.startswith(("tests/corpus", "tests/lit", "tests/rendezvous")):
            continue
        place = tree / name
        if (ROOT / name).is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place)

    def run(*command):
        return subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=850,
                              stdin=subprocess.DEVNULL,
                              env={"PATH": str(bin), "HOME": str(tmp_path), "PIP_RETRIES": "0",
                                   "PIP_INDEX_URL": "http://127.0.0.1:9/simple"})
    run.bin = pathlib.Path(bin)
    run.tree = pathlib.Path(tree)
    return run


def test_goes_on_without_what_it_can_do_without(machine):
    done = machine("bash", "tools/setup")
    assert done.returncode == 0, done.stderr
    assert "setup: no clang-format, so without: make format" in done.stderr
    assert "so without: JAX, the demo and most tests" in done.stderr


def test_says_what_it_cannot_do_without(machine):
    (machine.bin / "meson").unlink()
    (machine.bin / "ninja").unlink()
    done = machine("bash", "tools/setup")
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("setup: please install: meson ninja-build")


@pytest.mark.slow
def test_library_from_sources_alone(machine):
    """A compiler, Meson, Ninja and Python; no set-up."""
    done = machine("make", "lib")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (machine.tree / "build-lib" / "libterrazzo.so.0").exists()
