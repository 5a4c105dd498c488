"""Shared by the Python tests: where the programs are, how to run them."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = pathlib.Path(os.environ.get("TERRAZZO_BIN", ROOT / "build" / "bin"))
# a folder of programs, each NAME/global.mlir and global.mlirbc
CORPUS = pathlib.Path(os.environ.get("TERRAZZO_CORPUS", ROOT / "tests" / "corpus"))


def terrazzo(*arguments, **options):
    """Runs the tool; a signal is an error of the test whatever the test expects."""
    done = subprocess.run([BIN / "terrazzo", *map(str, arguments)], capture_output=True, text=True,
                          errors="replace", stdin=subprocess.DEVNULL,
                          timeout=options.pop("timeout", 120), **options)
    assert done.returncode >= 0, f"died of signal {-done.returncode}\n{done.stderr}"
    assert "Sanitizer" not in done.stderr, done.stderr
    return done


def python(*arguments, timeout=300, one_core=False, **environment):
    """Runs Python with the plugin's environment in a process of its own."""
    command = [sys.executable, *map(str, arguments)]
    if one_core:
        command = ["taskset", "-c", "0", *command]
    return subprocess.run(command, capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, timeout=timeout,
                          env=os.environ | environment)
