"""lit configuration: `terrazzo` and its other names, the built examples, and LLVM's FileCheck,
on the path."""
# ruff: noqa: F821  (lit injects config and lit_config)
import ctypes
import glob
import os

import lit.formats

config.name = "terrazzo"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["scratch"]
llvm = sorted(glob.glob("/usr/lib/llvm-*/bin"), key=lambda p: int(p.split("-")[1].split("/")[0]))
tools = [p for p in llvm if os.path.exists(os.path.join(p, "FileCheck"))][-1:]
examples = os.path.join(os.path.dirname(lit_config.params["terrazzo_bin"]), "examples")
config.environment["PATH"] = os.pathsep.join(
    [lit_config.params["terrazzo_bin"], examples, *tools, os.environ["PATH"]]
)
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
config.environment["TERRAZZO_FOLD"] = "0"  # many programs here are made of constants alone


def has_lapack():
    """As src/program/lapack.c looks for it; what runs under an emulator does not see ours."""
    if os.path.basename(os.path.dirname(lit_config.params["terrazzo_bin"])) == "under":
        return False
    for name in ("liblapack.so.3", "libopenblas.so.0"):
        try:
            return hasattr(ctypes.CDLL(name), "sgetrf_")
        except OSError:
            pass
    return False


if has_lapack():
    config.available_features.add("lapack")
for name in ("demo", "broken", "kernel", "old"):
    config.substitutions.append((f"%{name}_dialect", os.path.join(examples, f"dialect_{name}.so")))
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
