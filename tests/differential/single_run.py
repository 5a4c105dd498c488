"""Runs a module in this process: on Terrazzo through its C API, in StableHLO's reference
interpreter, on XLA:CPU. Arguments and results are arrays."""

import ctypes
import os
import re
import select
import signal

import jax
import numpy as np
from jax._src.interpreters import mlir as jax_mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

from capi import Options
from inprocess import Child, Died, receive
from single_values import BITS, DTYPES, dense, is_complex, is_float, part, tensor


class Refused(Exception):
    """An error instead of a result; ours has a code, PJRT's."""

    def __init__(self, message, code=0):
        super().__init__(message)
        self.code = code


class Terrazzo:
    def __init__(self, build):
        lib = self.lib = ctypes.CDLL(os.path.join(build, "lib", "libterrazzo.so"))
        lib.tz_error_message.restype = ctypes.c_char_p
        for f in ("compile", "run", "runtime_create", "context_create", "module_parse",
                  "module_run", "module_print"):
            getattr(lib, "tz_" + f).restype = ctypes.c_void_p
        lib.tz_module_parse.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
                                        ctypes.c_char_p, ctypes.c_void_p]
        lib.tz_compile.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p,
                                   ctypes.c_void_p]
        self.runtime = ctypes.c_void_p()
        self.check(lib.tz_runtime_create(1, ctypes.byref(self.runtime)))

    def check(self, error):
        if error:
            message = self.lib.tz_error_message(ctypes.c_void_p(error)).decode(errors="replace")
            code = self.lib.tz_error_code(ctypes.c_void_p(error))
            self.lib.tz_error_free(ctypes.c_void_p(error))
            raise Refused(message, code)

    def run(self, text, args, results, flush=False):
        """The results' arrays; `results` are their types and dims."""
        lib, program = self.lib, ctypes.c_void_p()
        source, options = text.encode(), Options(devices=1, flush_denormals=flush)
        self.check(lib.tz_compile(source, len(source), ctypes.byref(options),
                                  ctypes.byref(program)))
        try:
            ins = [np.ascontiguousarray(v) for v in args]
            outs = [np.full(dims, 0, DTYPES[t]) for t, dims in results]
            pointers = lambda arrays: (ctypes.c_void_p * (len(arrays) or 1))(
                *(v.ctypes.data for v in arrays))
            self.check(lib.tz_run(self.runtime, program, pointers(ins), pointers(outs)))
            return outs
        finally:
            lib.tz_program_free(program)

    def passes(self, text, pipeline):
        """The module's text after our passes."""
        lib, context, module = self.lib, ctypes.c_void_p(), ctypes.c_void_p()
        out, size, source = ctypes.c_char_p(), ctypes.c_size_t(), text.encode()
        self.check(lib.tz_context_create(None, ctypes.byref(context)))
        try:
            self.check(lib.tz_module_parse(context, source, len(source), b"-",
                                           ctypes.byref(module)))
            self.check(lib.tz_module_run(module, pipeline.encode()))
            self.check(lib.tz_module_print(module, None, ctypes.byref(out), ctypes.byref(size)))
            printed = ctypes.string_at(out, size.value).decode()
            lib.tz_free(out)
            return printed
        finally:
            lib.tz_module_free(module)
            lib.tz_context_free(context)


class Interpreter:
    """StableHLO's. It ends the process at an op that it lacks. Python sees only some element types
    in the bindings: numbers go in and come out as types that it does see."""

    def __init__(self):
        self.context = jax_mlir.make_ir_context()
        self.context.attach_diagnostic_handler(lambda diagnostic: True)
        stablehlo.register_stablehlo_passes()

    def parse(self, text):
        try:
            return ir.Module.parse(text)
        except ir.MLIRError as error:
            raise Refused("illegal: " + str(error).replace("\n", " ")[:400]) from None

    def legalize(self, module, passes):
        try:
            passmanager.PassManager.parse(f"builtin.module({passes})").run(module.operation)
        except ir.MLIRError as error:
            raise Refused("not legalized: " + str(error).replace("\n", " ")[:200]) from None

    def legal(self, text):
        """Raises Refused where MLIR refuses the module."""
        with self.context, ir.Location.unknown():
            self.parse(text)

    def run(self, text, args, results, legalize=""):
        types = [t for t, _ in args]
        with self.context, ir.Location.unknown():
            module = self.parse(wrapped(text, args, results))
            if legalize:
                self.legalize(module, legalize)
            inputs = []
            for t, (_, v) in zip(types, args):
                inputs += [ir.Attribute.parse(dense(part(t), piece)) for piece in pieces(t, v)]
            try:
                outs = [np.array(ir.DenseElementsAttr(x))
                        for x in stablehlo.eval_module(module, inputs)]
            except (ir.MLIRError, ValueError, RuntimeError) as error:
                raise Refused(str(error)[:400]) from None
        return collect(outs, results)


class Evaluator:
    """The interpreter in a process of its own, which may die; another takes its place. To be made
    while this one has no threads, since it forks."""

    LIMIT = 240  # seconds a module

    def __init__(self):
        self.inner = self.interpreter = None
        self.outer = Child(self.hand_on)

    def hand_on(self, job, _):
        self.inner = self.inner or Child(self.evaluate)
        self.inner.begin(job)
        if select.select([self.inner.answers], [], [], self.LIMIT)[0]:
            if answer := receive(self.inner.answers):
                return answer[1]
        os.kill(self.inner.pid, signal.SIGKILL)
        self.inner.end()
        self.inner = None
        return None

    def evaluate(self, job, _):
        self.interpreter = self.interpreter or Interpreter()
        try:
            return self.interpreter.run(*job)
        except Refused as error:
            return error

    def run(self, *job):
        """The results' arrays; None where the interpreter dies of this."""
        self.outer.begin(job)
        answer = receive(self.outer.answers)[1]
        if isinstance(answer, Refused):
            raise answer
        if isinstance(answer, Died):
            raise RuntimeError(answer)
        return answer


def pieces(t, v):
    return [v.real, v.imag] if is_complex(t) else [v]


def carrier(t):
    """The type in which the bindings show numbers of the type."""
    if t in ("i2", "i4"):
        return "i8"
    if BITS[t] == 6:
        return "f32"
    if t in ("ui2", "ui4") or (is_float(t) and BITS[t] <= 8):
        return "ui8"
    return "ui16" if t == "bf16" else part(t)


def carried(i, t, dims):
    """Lines that make the carrier %c<i> of the result %r<i>, and the names."""
    own, bits = tensor(t, dims), f"%c{i}"
    if is_complex(t):
        p = tensor(part(t), dims)
        return ([f"%c{i}_{f} = stablehlo.{f} %r{i} : ({own}) -> {p}" for f in ("real", "imag")],
                [f"%c{i}_real", f"%c{i}_imag"])
    to = tensor(carrier(t), dims)
    if carrier(t) == t:
        return [], [f"%r{i}"]
    if t == "f4E2M1FN":
        four = tensor("ui4", dims)
        return ([f"%q{i} = stablehlo.bitcast_convert %r{i} : ({own}) -> {four}",
                 f"{bits} = stablehlo.convert %q{i} : ({four}) -> {to}"], [bits])
    op = "bitcast_convert" if is_float(t) and BITS[t] != 6 else "convert"
    return [f"{bits} = stablehlo.{op} %r{i} : ({own}) -> {to}"], [bits]


def wrapped(text, args, results):
    """The module with `main` around it that takes and gives what the bindings can show."""
    params, lines, names, outs, types = [], [], [], [], []
    for i, (t, v) in enumerate(args):
        p = tensor(part(t), v.shape)
        if is_complex(t):
            params += [f"%x{i}: {p}", f"%y{i}: {p}"]
            lines.append(f"%a{i} = stablehlo.complex %x{i}, %y{i} : {tensor(t, v.shape)}")
        else:
            params.append(f"%a{i}: {p}")
        names.append(f"%a{i}")
    given = ", ".join(tensor(t, v.shape) for t, v in args)
    made = [tensor(t, dims) for t, dims in results]
    left = ", ".join(f"%r{i}" for i in range(len(results)))
    call = f"%r:{len(results)} = func.call @case({', '.join(names)}) : ({given}) -> " \
           f"({', '.join(made)})"
    lines.append(call)
    for i, (t, dims) in enumerate(results):
        more, values = carried(i, t, dims)
        lines += [re.sub(r"%r(\d+)", r"%r#\1", line) for line in more]
        outs += [re.sub(r"%r(\d+)", r"%r#\1", value) for value in values]
        types += [tensor(carrier(t), dims)] * len(values)
    assert left
    body = "".join(f"  {line}\n" for line in lines)
    return (text.replace("public @main", "private @case")
            + f"func.func public @main({', '.join(params)}) -> ({', '.join(types)}) {{\n{body}"
            f"  return {', '.join(outs)} : {', '.join(types)}\n}}\n")


def collect(outs, results):
    outs, got = list(outs), []
    for t, dims in results:
        first = outs.pop(0).reshape(dims)
        if is_complex(t):
            pair = np.empty(dims, DTYPES[t])
            pair.real, pair.imag = first, outs.pop(0).reshape(dims)
            got.append(pair)
        elif carrier(t) in (t, "f32"):
            got.append(first.astype(DTYPES[t]))
        elif is_float(t):
            got.append(np.ascontiguousarray(first).view(DTYPES[t]).reshape(dims))
        else:
            got.append(first.astype(DTYPES[t]))
    return got


class Xla:
    def __init__(self):
        self.device = jax.devices("cpu")[0]
        self.client = self.device.client
        self.devices = xla_client.DeviceList((self.device,))
        self.options = xla_client.CompileOptions()
        self.options.num_replicas = self.options.num_partitions = 1
        self.options.env_option_overrides = [("xla_backend_optimization_level", 0)]
        self.context = jax_mlir.make_ir_context()
        self.context.attach_diagnostic_handler(lambda diagnostic: True)

    def run(self, text, args, results):
        try:
            with self.context, ir.Location.unknown():
                module = jax_mlir.module_to_bytecode(ir.Module.parse(text))
            loaded = self.client.compile_and_load(module, self.devices, self.options)
            given = [jax.device_put(v, self.device) for v in args]
            out = loaded.execute_sharded(given).disassemble_into_single_device_arrays()
            return [np.asarray(v[0]).astype(DTYPES[t]) for v, (t, _) in zip(out, results)]
        except (ir.MLIRError, jax.errors.JaxRuntimeError, ValueError, TypeError) as error:
            raise Refused(str(error)[:400]) from None
