"""A script on several hosts, which are processes of this machine:

    TERRAZZO_NUM_DEVICES=8 python -m terrazzo_jax.hosts 4 train.py ARGUMENTS

Each runs the whole script, as on a cluster. There `jax.distributed.initialize()` needs no arguments
and says what it would say on four machines: `jax.process_count()` is four, a device has the
`process_index` of its host, `jax.local_devices()` are two of the eight. With TERRAZZO_HOSTS=4 each
host is a slice of its own, too (`slice_index`). All write to this terminal. Where a host fails, the
programs of the others fail too, which get ten seconds to say so; the exit status is that of one of
them.
"""
import os
import runpy
import socket
import subprocess
import sys
import time
import traceback

ADDRESS, RANK, SIZE = "TERRAZZO_HOSTS_ADDRESS", "TERRAZZO_HOSTS_RANK", "TERRAZZO_HOSTS_SIZE"
PATIENCE = 10  # seconds


def join():
    """Lets jax.distributed.initialize() find what `start` has set."""
    from jax._src import clusters

    class Hosts(clusters.ClusterEnv):
        name = "terrazzo_hosts"

        @classmethod
        def is_env_present(cls):
            return ADDRESS in os.environ

        @classmethod
        def get_coordinator_address(cls, timeout_secs, override_coordinator_port=None):
            return os.environ[ADDRESS]

        @classmethod
        def get_process_count(cls):
            return int(os.environ[SIZE])

        @classmethod
        def get_process_id(cls):
            return int(os.environ[RANK])

    types = clusters.ClusterEnv._cluster_types
    types.insert(0, types.pop())  # what else this machine is part of is not asked


def start(size, devices, command):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    set_for_all = {ADDRESS: address, SIZE: str(size), "TERRAZZO_NUM_DEVICES": str(devices // size)}
    return [subprocess.Popen([sys.executable, "-m", "terrazzo_jax.hosts", *command],
                             env=os.environ | set_for_all | {RANK: str(rank)})
            for rank in range(size)]


def finish(hosts):
    """Waits; what to exit with."""
    failed = 0
    try:
        while any(h.poll() is None for h in hosts) and not failed:
            failed = next((h.returncode for h in hosts if h.returncode), 0)
            time.sleep(.05)
        end = time.monotonic() + PATIENCE
        for host in hosts:
            host.wait(max(0, end - time.monotonic()) if failed else None)
    except subprocess.TimeoutExpired:
        pass
    finally:
        for host in hosts:
            if host.poll() is None:
                host.kill()
    return failed or next((h.returncode for h in hosts if h.returncode), 0)


def be_host():
    """Runs the script. If it fails the process ends at once: at its exit JAX would wait for the
    other hosts, which wait for this one."""
    join()
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
        return 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        code = end.code if isinstance(end.code, int) else bool(end.code)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    if code:
        os._exit(code)
    return 0


def main():
    if ADDRESS in os.environ:
        return be_host()
    if len(sys.argv) < 3 or not sys.argv[1].isdecimal() or int(sys.argv[1]) < 1:
        print(__doc__, file=sys.stderr)
        return 2
    size = int(sys.argv[1])
    devices = int(os.environ.get("TERRAZZO_NUM_DEVICES") or size)
    if devices % size:
        print(f"terrazzo_jax.hosts: expected as many devices at each host, found "
              f"{devices} devices for {size} hosts (TERRAZZO_NUM_DEVICES)", file=sys.stderr)
        return 2
    return finish(start(size, devices, sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
