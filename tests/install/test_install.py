"""make install: which files, how others find them, and what they hold."""
import re
import shutil

import pytest
from support import ROOT

PROGRAM = ROOT / "examples" / "embed" / "propagate.c"
C_LIBRARY = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
PROPAGATED = 'tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}'

CMAKE = """cmake_minimum_required(VERSION 3.16)
project(embed C)
find_package(Terrazzo 0.1 REQUIRED)
foreach(kind terrazzo static)
  add_executable(with_${kind} %s)
  target_link_libraries(with_${kind} Terrazzo::${kind})
endforeach()
"""

MESON = """project('embed', 'c')
executable('with_terrazzo', 'propagate.c', dependencies: dependency('terrazzo'))
executable('with_static', 'propagate.c', dependencies: dependency('terrazzo', static: true))
"""


def needed(installed, path):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", installed.run("readelf", "-d", path)))


def symbols(installed, *arguments):
    return [line.split()[-1] for line in installed.run("nm", *arguments).splitlines()
            if len(line.split()) == 3]


def check(installed, *programs):
    for program in programs:
        assert PROPAGATED in installed.run(program)


def test_files(installed):
    headers = {p.name for p in (installed.usr / "include" / "terrazzo").iterdir()}
    assert headers == {p.name for p in (ROOT / "include" / "terrazzo").iterdir()}
    names = {p.name for p in installed.lib.rglob("*")}
    assert {"libterrazzo.a", "libterrazzo.so", "libterrazzo.so.0", "pjrt_plugin_terrazzo.so",
            "terrazzo.pc", "TerrazzoConfig.cmake", "TerrazzoConfigVersion.cmake"} <= names
    assert {"terrazzo", "sdy_opt", "mpmd_opt", "stablehlo-opt", "stablehlo-translate"} == {
        p.name for p in (installed.usr / "bin").iterdir()}
    share = {str(p.relative_to(installed.usr)) for p in (installed.usr / "share").rglob("*")}
    assert {"share/man/man1/terrazzo.1", "share/man/man1/terrazzo-report.1",
            "share/bash-completion/completions/terrazzo", "share/zsh/site-functions/_terrazzo",
            "share/fish/vendor_completions.d/terrazzo.fish"} <= share


def test_versions_agree(installed):
    version = re.search(r"version: '([^']*)'", (ROOT / "meson.build").read_text()).group(1)
    header = (ROOT / "include" / "terrazzo" / "version.h").read_text()
    numbers = re.findall(r"#define TZ_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
    assert ".".join(numbers) == version and f'TZ_VERSION_STRING "{version}"' in header
    assert f'version = "{version}"' in (ROOT / "python" / "pyproject.toml").read_text()
    assert installed.run("pkg-config", "--modversion", "terrazzo").strip() == version
    assert version in installed.run(installed.usr / "bin" / "terrazzo", "--version")


def test_shared_library(installed):
    library = installed.lib / "libterrazzo.so"
    assert "Library soname: [libterrazzo.so.0]" in installed.run("readelf", "-d", library)
    shown = symbols(installed, "-D", "--defined-only", library)
    assert shown.pop(shown.index("TERRAZZO_0")) and shown
    assert all(re.fullmatch(r"tz_\w+@@TERRAZZO_0", s) for s in shown), shown
    for path in (library, installed.lib / "pjrt_plugin_terrazzo.so"):
        assert needed(installed, path) <= C_LIBRARY
        assert path.stat().st_size < 5_000_000


def test_static_library_keeps_its_names(installed):
    shown = symbols(installed, "-g", "--defined-only", installed.lib / "libterrazzo.a")
    assert all(s.startswith("tz_") for s in shown), shown


def test_pkg_config(installed, tmp_path):
    flags = installed.run("pkg-config", "--cflags", "--libs", "terrazzo").split()
    installed.run("cc", PROGRAM, "-o", tmp_path / "shared", *flags)
    flags = installed.run("pkg-config", "--cflags", "--static", "--libs", "terrazzo").split()
    flags = [f"{installed.lib}/libterrazzo.a" if f == "-lterrazzo" else f for f in flags]
    installed.run("cc", "-s", PROGRAM, "-o", tmp_path / "static", *flags)
    check(installed, tmp_path / "shared", tmp_path / "static")
    assert "libterrazzo.so.0" in needed(installed, tmp_path / "shared")
    system = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
    assert needed(installed, tmp_path / "static") <= system
    assert (tmp_path / "static").stat().st_size < 2_000_000


@pytest.mark.skipif(not shutil.which("cmake"), reason="there is no cmake")
def test_cmake(installed, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(CMAKE % PROGRAM)
    installed.run("cmake", "-B", "out", ".", cwd=tmp_path)
    installed.run("cmake", "--build", "out", cwd=tmp_path)
    check(installed, tmp_path / "out" / "with_terrazzo", tmp_path / "out" / "with_static")


def test_cmake_refuses_another_version(installed, tmp_path):
    if not shutil.which("cmake"):
        pytest.skip("there is no cmake")
    (tmp_path / "CMakeLists.txt").write_text(CMAKE.replace("0.1", "0.9") % PROGRAM)
    with pytest.raises(AssertionError, match="0.9"):
        installed.run("cmake", "-B", "out", ".", cwd=tmp_path)


def test_meson(installed, tmp_path):
    (tmp_path / "meson.build").write_text(MESON)
    shutil.copy(PROGRAM, tmp_path)
    installed.run("meson", "setup", "out", cwd=tmp_path)
    installed.run("ninja", "-C", "out", cwd=tmp_path)
    check(installed, tmp_path / "out" / "with_terrazzo", tmp_path / "out" / "with_static")
    assert "libterrazzo.so.0" not in needed(installed, tmp_path / "out" / "with_static")
