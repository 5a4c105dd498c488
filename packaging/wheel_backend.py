"""Makes wheels of the JAX plugin: what pip calls (PEP 517) and what tools/wheel calls.

There is nothing to it but files: two packages of Python, a library in each, and what
python/pyproject.toml says of them. Needs Python 3.11, Meson, Ninja and a C compiler.
"""
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARIES = {"terrazzo_jax": "pjrt_plugin_terrazzo.so", "terrazzo_layout": "libterrazzo.so"}


def project():
    return tomllib.loads((ROOT / "python" / "pyproject.toml").read_text())["project"]


def get_requires_for_build_wheel(config_settings=None):
    return [name for name in ("meson", "ninja") if not shutil.which(name)]


def needs(library):
    """What a library needs of the system, as readelf tells; empty where there is no readelf."""
    if not shutil.which("readelf"):
        return ""
    return subprocess.run(["readelf", "-W", "-d", "-V", str(library)], check=True,
                          capture_output=True, text=True).stdout


def platform_tag(libraries):
    """The oldest C library that has all that is asked of it: PEP 600 or, for musl, PEP 656."""
    machine = sysconfig.get_platform().replace("-", "_").replace(".", "_").removeprefix("linux_")
    told = "".join(map(needs, libraries))
    if "libc.musl" in told or "[libc.so]" in told:
        return f"musllinux_1_2_{machine}"
    versions = [int(v) for v in re.findall(r"\bGLIBC_2\.(\d+)", told)]
    return f"manylinux_2_{max(versions + [17])}_{machine}" if versions else f"linux_{machine}"


def metadata(about):
    lines = ["Metadata-Version: 2.4", f"Name: {about['name']}", f"Version: {about['version']}",
             f"Summary: {about['description']}", f"License-Expression: {about['license']}",
             "License-File: LICENSE", f"Requires-Python: {about['requires-python']}"]
    lines += [f"Requires-Dist: {d}" for d in about["dependencies"]]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / "README.md").read_text()]
    return "\n".join(lines)


def entry_points(about):
    groups = about["entry-points"]
    return "\n".join(line for group in groups for line in
                     [f"[{group}]"] + [f"{k} = {v}" for k, v in groups[group].items()]) + "\n"


def described(about):
    """The files that pip reads before it installs, by name."""
    return {"METADATA": metadata(about).encode(), "entry_points.txt": entry_points(about).encode()}


def write_wheel(lib, out):
    """A wheel with the libraries of the folder `lib`; its path."""
    about = project()
    name = about["name"].replace("-", "_") + "-" + about["version"]
    libraries = [lib / file for file in LIBRARIES.values()]
    tag = f"py3-none-{platform_tag(libraries)}"
    path = pathlib.Path(out) / f"{name}-{tag}.whl"
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        def add(place, data, mode=0o644):
            entry = zipfile.ZipInfo(place, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
            record.append(f"{place},sha256={digest.decode()},{len(data)}")

        for package, library in LIBRARIES.items():
            for file in sorted((ROOT / "python" / package).glob("*.py")):
                add(f"{package}/{file.name}", file.read_bytes())
            add(f"{package}/{library}", (lib / library).read_bytes(), 0o755)
        info = f"{name}.dist-info"
        for file, data in described(about).items():
            add(f"{info}/{file}", data)
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: terrazzo ({about['version']})\n"
            f"Root-Is-Purelib: false\nTag: {tag}\n".encode())
        add(f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
        record.append(f"{info}/RECORD,,")
        archive.writestr(f"{info}/RECORD", "\n".join(record) + "\n")
    return path


def compile_into(scratch):
    """Configures, compiles and installs below `scratch`; the folder of the libraries."""
    build, root = scratch / "build", scratch / "root"
    for command in (
            ["meson", "setup", build, ROOT, "--prefix=/usr", "--libdir=lib", "-Dtests=false",
             "-Ddebug=false", "-Doptimization=2", "-Db_ndebug=true"],
            ["ninja", "-C", build],
            ["meson", "install", "-C", build, "--no-rebuild", "--strip", "--destdir", root]):
        subprocess.run([str(c) for c in command], check=True)
    return root / "usr" / "lib"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    about = project()
    info = f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    (pathlib.Path(metadata_directory) / info).mkdir(parents=True, exist_ok=True)
    for file, data in described(about).items():
        (pathlib.Path(metadata_directory) / info / file).write_bytes(data)
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """`lib` in config_settings is a folder with the libraries; without it they are compiled."""
    lib = (config_settings or {}).get("lib")
    with tempfile.TemporaryDirectory() as scratch:
        lib = pathlib.Path(lib) if lib else compile_into(pathlib.Path(scratch))
        return write_wheel(lib, wheel_directory).name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("`make dist` makes the tarball of the sources")
