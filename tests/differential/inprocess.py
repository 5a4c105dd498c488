"""Many modules a process: Terrazzo through its C API, in children that may die."""

import collections
import ctypes
import os
import pathlib
import pickle
import select
import signal
import struct
import sys
import time
import traceback

import numpy as np

from capi import Options, result
from sharded_values import ELEMENTS

BUILD = pathlib.Path(os.environ.get("TERRAZZO_BUILD",
                                    pathlib.Path(__file__).resolve().parents[2] / "build"))
class Refused(Exception):
    """An error of Terrazzo's instead of a result."""


class Terrazzo:
    """One runtime; run() compiles a module, runs it on global arrays and returns such."""

    def __init__(self, threads=1):
        lib = self.lib = ctypes.CDLL(str(BUILD / "lib" / "libterrazzo.so"))
        lib.tz_error_message.restype = ctypes.c_char_p
        lib.tz_compile.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p,
                                   ctypes.c_void_p]
        for name in ("compile", "run", "runtime_create"):
            getattr(lib, f"tz_{name}").restype = ctypes.c_void_p
        self.runtime = ctypes.c_void_p()
        self.check(lib.tz_runtime_create(threads, ctypes.byref(self.runtime)))

    def check(self, error):
        if error:
            message = self.lib.tz_error_message(ctypes.c_void_p(error)).decode(errors="replace")
            self.lib.tz_error_free(ctypes.c_void_p(error))
            raise Refused(message)

    def run(self, source, inputs, devices=0, choose_from=1):
        lib, program = self.lib, ctypes.c_void_p()
        source = source.encode() if isinstance(source, str) else source
        self.check(lib.tz_compile(source, len(source), 
                                  ctypes.byref(Options(devices=devices,
                                                       choose_from=choose_from)),
                                  ctypes.byref(program)))
        try:
            count = lib.tz_program_num_results(program)
            kinds = [result(lib, program, i) for i in range(count)]
            inputs = [np.ascontiguousarray(a) for a in inputs]
            outputs = [np.zeros(k.dims[:k.rank], ELEMENTS[k.type.decode()].dtype) for k in kinds]

            def pointers(arrays):
                return (ctypes.c_void_p * (len(arrays) or 1))(*(a.ctypes.data for a in arrays))
            self.check(lib.tz_run(self.runtime, program, pointers(inputs), pointers(outputs)))
            return outputs
        finally:
            lib.tz_program_free(program)


class Died(str):
    """Why there is no answer: the child's end, and the last note it had left."""


class Child:
    """A process that answers jobs; serve(job, note) is called there."""

    def __init__(self, serve):
        jobs, self.jobs = os.pipe()
        self.answers, answers = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid:
            os.close(jobs)
            os.close(answers)
            return
        os.close(self.jobs)
        os.close(self.answers)
        try:
            while (job := receive(jobs)) is not None:
                note = lambda text: send(answers, ("note", text))  # noqa: E731
                try:
                    send(answers, ("answer", serve(job, note)))
                except Exception:
                    send(answers, ("answer", Died(traceback.format_exc())))
        finally:
            os._exit(0)

    def begin(self, job):
        self.job, self.noted, self.since = job, "", time.monotonic()
        send(self.jobs, job)

    def end(self):
        os.close(self.jobs)
        os.close(self.answers)
        return os.waitpid(self.pid, 0)[1]


def send(to, what):
    data = pickle.dumps(what)
    data = struct.pack("q", len(data)) + data
    while data:
        data = data[os.write(to, data):]


def receive(fd):
    def read(n):
        data = b""
        while len(data) < n and (more := os.read(fd, n - len(data))):
            data += more
        return data if len(data) == n else None
    head = read(8)
    body = head and read(struct.unpack("q", head)[0])
    return pickle.loads(body) if body else None


def in_children(serve, jobs, count=1, limit=120):
    """Yields (job, answer) for each job, in no order; the answer is a Died where a child ended, or
    was ended after `limit` seconds."""
    jobs, idle, busy = iter(jobs), [], {}
    job, started = next(jobs, None), 0
    while job is not None or busy:
        while job is not None and (idle or started < count):
            child = idle.pop() if idle else Child(serve)
            started += not hasattr(child, "job")
            child.begin(job)
            busy[child.answers] = child
            job = next(jobs, None)
        late = [c for c in busy.values() if time.monotonic() - c.since > limit]
        for child in late:
            os.kill(child.pid, signal.SIGKILL)
        for fd in select.select(list(busy), [], [], 1)[0]:
            child, message = busy[fd], receive(fd)
            if message and message[0] == "note":
                child.noted = message[1]
                continue
            del busy[fd]
            if message:
                idle.append(child)
                yield child.job, message[1]
                continue
            code = child.end()
            started -= 1
            how = "took too long" if child in late else f"died of signal {code & 127}"
            yield child.job, Died(f"{how} {child.noted}".strip())
    for child in idle:
        send(child.jobs, None)
        child.end()


def table(title, counter, known=()):
    """A line that shows what was drawn how often, and what never."""
    counts = collections.Counter({name: 0 for name in known})
    counts.update(counter)
    return f"{title}: " + ", ".join(f"{k} {n}" for k, n in sorted(counts.items()))
