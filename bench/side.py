"""One platform of bench.py: takes requests as lines of JSON on standard input, and answers."""
import json
import os
import sys
import time

answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
import jax
import numpy as np
import programs


class Case:
    """A compiled program and its arguments."""

    def __init__(self, name):
        program = programs.ROWS[name].make()
        self.measure, self.donated = program.measure, program.donated
        self.arguments = list(program.arguments)
        self.lower = lambda: jax.jit(program.function, donate_argnums=program.donated,
                                     **program.options).lower(*self.arguments)
        lowered = self.lower()
        begin = time.perf_counter()
        self.compiled = lowered.compile()
        self.compile_time = time.perf_counter() - begin

    def once(self):
        """Seconds of a call, and of the processors."""
        if self.measure == "compile":
            jax.clear_caches()
            lowered = self.lower()
        cpu, begin = time.process_time(), time.perf_counter()
        if self.measure == "compile":
            lowered.compile()
            return time.perf_counter() - begin, time.process_time() - cpu
        out = self.compiled(*self.arguments)
        called = time.perf_counter() - begin
        jax.block_until_ready(out)
        taken = called if self.measure == "call" else time.perf_counter() - begin
        cpu = time.process_time() - cpu
        for i, at in enumerate(self.donated):
            self.arguments[at] = out[i]
        return taken, cpu

    def save(self, path):
        """The results of a program that takes nothing over."""
        if self.donated or self.measure != "run":
            return
        leaves = jax.tree.leaves(self.compiled(*self.arguments))
        if sum(x.nbytes for x in leaves) < 1 << 28:
            np.savez(path, *[np.asarray(x).astype(np.float64) for x in leaves])


def time_case(case, seconds):
    times, processor, end = [], [], time.perf_counter() + seconds
    while len(times) < 2 or time.perf_counter() < end and len(times) < 2000:
        taken, cpu = case.once()
        times.append(taken)
        processor.append(cpu)
    return dict(times=times, processor=min(processor))


def main():
    answers.write(json.dumps(dict(devices=jax.device_count())) + "\n")
    answers.flush()
    case = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "name" in request:
                case = None  # its memory goes first
                case = Case(request["name"])
                case.save(request["save"])
                answer = dict(compile=case.compile_time)
            else:
                answer = time_case(case, request["seconds"])
        except Exception as error:  # an answer too: the other rows go on
            answer = dict(error=f"{type(error).__name__}: {error}".split("\n")[0][:200])
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


main()
