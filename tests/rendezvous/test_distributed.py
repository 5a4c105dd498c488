"""jax.distributed on the plugin: processes with devices of their own, as one global client."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

import support

PROGRAMS = pathlib.Path(__file__).with_name("distributed_programs.py")


def free_address():
    with socket.socket() as s:
        s.bind(("localhost", 0))
        return f"localhost:{s.getsockname()[1]}"


def environment_of(devices):
    environment = dict(os.environ, TERRAZZO_NUM_DEVICES=str(devices),
                       PYTHONPATH=str(support.ROOT / "python"))
    environment.setdefault("TERRAZZO_PLUGIN",
                           str(support.BIN.parent / "lib" / "pjrt_plugin_terrazzo.so"))
    return environment


def start(program, size, devices):
    address, environment = free_address(), environment_of(devices)
    return [subprocess.Popen([sys.executable, PROGRAMS, program, address, str(rank), str(size)],
                             env=environment, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
            for rank in range(size)]


def finish(processes):
    try:
        return [p.communicate(timeout=120) for p in processes]
    finally:
        for p in processes:
            p.kill()


@pytest.mark.parametrize("program, size, devices",
                         [("programs", 2, 4), ("programs", 4, 2), ("over_jax_sockets", 2, 2)])
def test_programs(program, size, devices):
    processes = start(program, size, devices)
    for (out, err), process in zip(finish(processes), processes):
        assert process.returncode == 0 and out.endswith("done\n"), out + err


@pytest.mark.skipif(not shutil.which("mpirun") or not (support.BIN.parent / "lib" /
                                                       "libterrazzo_mpi.so").exists(),
                    reason="there is no MPI")
@pytest.mark.parametrize("library, over", [("", "MPI"), ("none.so", "sockets")])
def test_under_mpirun(library, over):
    """JAX's numbers of the processes need not be MPI's."""
    command = (f"exec {sys.executable} {PROGRAMS} programs {free_address()} "
               "$((3 - ${PMI_RANK:-$OMPI_COMM_WORLD_RANK})) 4")
    done = subprocess.run(["mpirun", "-n", "4", "sh", "-c", command], text=True, timeout=120,
                          capture_output=True, stdin=subprocess.DEVNULL,
                          env=environment_of(2) | {"TERRAZZO_MPI": library, "TERRAZZO_LOG": "1"})
    assert done.returncode == 0 and done.stdout.count("done") == 4, done.stdout + done.stderr
    assert done.stderr.count(f"4 processes over {over}, 8 devices") == 4, done.stderr


def test_death():
    """Who is killed is named by all others, within ten seconds."""
    processes = start("endless", 4, 2)
    for process in processes:
        assert process.stdout.readline() == "begun\n", process.communicate()[1]
    processes[2].send_signal(signal.SIGKILL)
    begin = time.monotonic()
    for rank in (0, 1, 3):
        assert "process 2 of 4 has ended" in processes[rank].stdout.readline()
    assert time.monotonic() - begin < 10
    finish(processes)


def test_hosts():
    """One process whose devices are in the slices of four hosts."""
    code = ("import jax; from jax.experimental import mesh_utils; "
            "print([d.slice_index for d in jax.devices()], jax.process_count(), "
            "mesh_utils.create_hybrid_device_mesh((2,), (4,)).shape)")
    done = support.python("-c", code, TERRAZZO_HOSTS="4", TERRAZZO_NUM_DEVICES="8",
                          JAX_PLATFORMS="terrazzo")
    assert done.stdout == "[0, 0, 1, 1, 2, 2, 3, 3] 1 (8,)\n", done.stdout + done.stderr
    done = support.python("-c", code, TERRAZZO_HOSTS="9", TERRAZZO_NUM_DEVICES="8",
                          JAX_PLATFORMS="terrazzo")
    assert "TERRAZZO_HOSTS: 9 hosts of 8 devices" in done.stderr


def on_hosts(*arguments, devices="8"):
    script = str(PROGRAMS.with_name("hosts_program.py"))
    return support.python("-m", "terrazzo_jax.hosts", *arguments[:1], script, *arguments[1:],
                          TERRAZZO_NUM_DEVICES=devices, JAX_PLATFORMS="terrazzo",
                          TERRAZZO_HOSTS=arguments[0],
                          PYTHONPATH=str(support.ROOT / "python"))


def test_script_on_hosts():
    """Four hosts that are processes of one launcher, which JAX tells apart."""
    done = on_hosts("4", "well", "--steps=3")
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        f"host {h} of 4: ['well', '--steps=3']" for h in range(4)]


def test_script_that_fails_on_a_host():
    done = on_hosts("2", "die")
    assert done.returncode in (1, 3) and "host" not in done.stdout, done.stderr
    assert "process 1 of 2 has ended" in done.stderr, done.stderr


def test_hosts_that_cannot_be():
    done = on_hosts("3", "well")
    assert done.returncode == 2 and "found 8 devices for 3 hosts" in done.stderr, done.stderr
    assert on_hosts("none", "well").returncode == 2
