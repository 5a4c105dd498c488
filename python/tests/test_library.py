"""The plugin as a file: what it exports, what it links, how big it is."""
import subprocess

import terrazzo_jax


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exports(path):
    lines = output("nm", "-D", "--defined-only", path).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if " A " not in line}


def test_exports_the_entry_and_what_dialects_call():
    plugin = terrazzo_jax.library_path()
    assert exports(plugin) == {"GetPjrtApi"} | exports(plugin.parent / "libterrazzo.so")
    assert all(name.startswith("tz_") for name in exports(plugin) - {"GetPjrtApi"})


def test_links_the_named_libraries_only():
    lines = output("readelf", "-d", terrazzo_jax.library_path()).splitlines()
    needed = {line.split("[")[1].split(".so")[0] for line in lines if "(NEEDED)" in line}
    assert needed <= {"libc", "libm", "libpthread", "libdl", "ld-linux-x86-64"}


def test_is_small(tmp_path):
    """As it is installed, without the names of what it does not export."""
    output("strip", "-o", tmp_path / "plugin.so", terrazzo_jax.library_path())
    assert (tmp_path / "plugin.so").stat().st_size < 5_000_000


def test_missing_library_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("TERRAZZO_PLUGIN", str(tmp_path / "none.so"))
    try:
        terrazzo_jax.library_path()
        raise AssertionError("found")
    except FileNotFoundError as error:
        assert "none.so" in str(error)
