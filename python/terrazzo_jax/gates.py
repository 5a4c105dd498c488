"""What JAX decides by the name of a platform, opened for ours: a row a gate.

Most of it JAX has in lists of names, some of them inside of functions. Where it has something for
"cpu" and nothing for us, we are a cpu: a lowering, a branch of `lax.platform_dependent`, a program
that was exported for it. A gate that the installed version of JAX does not have is left out;
python/tests/test_gates.py says which that are for the version that we are tested with.
"""

import contextlib
import dataclasses
import functools
import importlib.abc
import importlib.machinery
import itertools
import pathlib
import sys
import types

PLATFORM = "terrazzo"

# Lowerings for "cpu" that we do not take: XLA works round a weakness there that is not ours, or
# calls what we have as an op, which is sharded and batched as such.
OWN_LOWERINGS = ("cholesky", "conv_general_dilated", "select_and_scatter_add", "threefry2x32",
                 "triangular_solve")


def widened(names, beside="cpu"):
    """A tuple or set of platforms with ours in it, where cpu is; anything else as it is."""
    if isinstance(names, (tuple, frozenset)) and beside in names and PLATFORM not in names:
        return type(names)((*names, PLATFORM))
    return names


def add(module, name):
    """A list or set of the module's."""
    names = getattr(module, name)
    if PLATFORM not in names:
        names.add(PLATFORM) if isinstance(names, set) else names.append(PLATFORM)


def widen(module, name, beside="cpu"):
    """Lists written out in a function; whoever imported it has the same function."""

    def within(code):
        constants = (within(c) if isinstance(c, types.CodeType) else widened(c, beside)
                     for c in code.co_consts)
        return code.replace(co_consts=tuple(constants))

    function = getattr(module, name)
    function.__code__ = within(function.__code__)


def take_default(module, name):
    """A function that asks for the devices of "cpu", which may not be among jax_platforms, gets
    those of the default platform."""
    function = getattr(module, name)
    constants = (None if c == "cpu" else c for c in function.__code__.co_consts)
    function.__code__ = function.__code__.replace(co_consts=tuple(constants))


class Backends(dict):
    """By platform; who asks for cpu, where there is none, gets ours."""

    def get(self, platform, default=None):
        if platform == "cpu" and platform not in self:
            platform = PLATFORM
        return super().get(platform, default)


def stand_in(module, name):
    setattr(module, name, Backends(getattr(module, name)))


def answer_cpu(module, name):
    """A function that names a platform, asked only whether that is cpu."""
    original = getattr(module, name)

    @functools.wraps(original)
    def platform(*args):
        found = original(*args)
        return "cpu" if found == PLATFORM else found

    setattr(module, name, platform)


class CpuLowerings(dict):
    """Our lowerings; those of cpu, whenever they were registered, where we have none."""

    def __init__(self, own, cpu):
        super().__init__(own)
        self.cpu = cpu

    def __contains__(self, primitive):
        return super().__contains__(primitive) or (
            primitive in self.cpu and primitive.name not in OWN_LOWERINGS)

    def __missing__(self, primitive):
        if primitive not in self:
            raise KeyError(primitive)
        return self.cpu[primitive]


def lower_as_cpu(module, name):
    rules = getattr(module, name)
    rules[PLATFORM] = CpuLowerings(rules[PLATFORM], rules["cpu"])


def lower_as_tpu(module, name):
    """A primitive for which the accelerators have what cpu has not."""
    from jax._src.interpreters import mlir

    primitive = getattr(module, name)
    rules = mlir._platform_specific_lowerings
    rules[PLATFORM][primitive] = rules["tpu"][primitive]


def choose_cpu(module, name):
    """`lower_per_platform`: rules by platform, from which the one in use is taken."""
    original = getattr(module, name)

    @functools.wraps(original)
    def lower_per_platform(ctx, description, rules, *args, **kwargs):
        if "cpu" in rules and PLATFORM not in rules:
            rules = {**rules, PLATFORM: rules["cpu"]}
        return original(ctx, description, rules, *args, **kwargs)

    setattr(module, name, lower_per_platform)


def rewrite_parameter(module, name, parameter, change):
    """A primitive's common lowering sees one of its parameters changed."""
    from jax._src.interpreters import mlir

    primitive = getattr(module, name)
    entry = mlir._lowerings[primitive]

    @functools.wraps(entry.rule)
    def rule(ctx, *args, **params):
        if params.get(parameter) is not None:
            params[parameter] = change(params[parameter])
        return entry.rule(ctx, *args, **params)

    mlir._lowerings[primitive] = dataclasses.replace(entry, rule=rule)


def start_at_once(module, name):
    """Collectives that are started and awaited apart, which JAX hands to XLA as calls of its own:
    what starts one does it, and nothing is left to wait for."""
    from jax._src.interpreters import mlir

    getattr(module, name)
    own = mlir._platform_specific_lowerings[PLATFORM]
    for primitive, entry in mlir._lowerings.items():
        if getattr(module, f"{primitive.name}_p", None) is not primitive:
            continue
        if primitive.name.endswith("_start"):
            def rule(ctx, *args, rule=entry.rule, **params):
                ctx = ctx.replace(avals_out=[aval.inner_aval for aval in ctx.avals_out])
                return rule(ctx, *args, **params, is_async=False)
            own[primitive] = dataclasses.replace(entry, rule=rule)
        elif primitive.name.endswith("_done"):
            own[primitive] = dataclasses.replace(entry, rule=lambda ctx, *args: args)


def branch_as_cpu(module, name):
    """The platforms of each branch; the default branch has None."""
    def change(branches):
        if any(PLATFORM in (names or ()) for names in branches):
            return branches
        return tuple(map(widened, branches))

    rewrite_parameter(module, name, "branches_platforms", change)


class ExportedPlatforms(tuple):
    """The platforms of an exported program; in the place of cpu's code is ours, too."""

    def __contains__(self, platform):
        return super().__contains__("cpu" if platform == PLATFORM else platform)

    def index(self, platform, *range):
        return super().index("cpu" if platform == PLATFORM else platform, *range)


def call_as_cpu(module, name):
    def change(exported):
        if PLATFORM in exported.platforms or "cpu" not in exported.platforms:
            return exported
        return dataclasses.replace(exported, platforms=ExportedPlatforms(exported.platforms))

    rewrite_parameter(module, name, "exported", change)


def cost_of_compiled(module, name):
    """What a lowered program costs, is asked of the compiled one, as a device runs it."""
    lowered = getattr(module, name)
    original = lowered.cost_analysis

    @functools.wraps(original)
    def cost_analysis(self):
        if self.compile_args["backend"].platform == PLATFORM:
            return self.compile().cost_analysis()
        return original(self)

    lowered.cost_analysis = cost_analysis


def dump_hlo(module, name):
    """A compiler option of XLA's: beside the stages, which the plugin writes, what XLA writes of a
    program that it has compiled or has from the cache. One that is not HLO has none."""
    original = getattr(module, name)
    numbers = itertools.count()

    def write(modules, options):
        folder = pathlib.Path(options["xla_dump_to"])
        folder.mkdir(parents=True, exist_ok=True)
        wanted = [kind for kind in ("text", "proto")
                  if str(options.get(f"xla_dump_hlo_as_{kind}", "")).lower() in ("true", "1")]
        for hlo in modules:
            stem = f"module_{next(numbers):04}.{hlo.name}.{PLATFORM}_after_optimizations"
            if "text" in wanted or not wanted:
                (folder / f"{stem}.txt").write_text(hlo.to_string())
            if "proto" in wanted:
                (folder / f"{stem}.hlo.pb").write_bytes(hlo.as_serialized_hlo_module_proto())

    @functools.wraps(original)
    def compile_or_get_cached(*args, **kwargs):
        executable = original(*args, **kwargs)
        options = dict(args[3].env_option_overrides) if args[0].platform == PLATFORM else {}
        if "xla_dump_to" in options:
            with contextlib.suppress(RuntimeError):
                write(executable.hlo_modules(), options)
        return executable

    setattr(module, name, compile_or_get_cached)


def exchange_as(how):
    """A function of JAX's dlpack, replaced by what terrazzo_jax.exchange makes of it."""
    def wrap(module, name):
        from terrazzo_jax import exchange

        *path, name = name.split(".")
        for step in path:
            module = getattr(module, step)
        setattr(module, name, getattr(exchange, how)(getattr(module, name), PLATFORM))

    return wrap


# Where it is, how it is opened, and why.
GATES = (
    ("jax._src.xla_bridge:_nonexperimental_plugins", add,
     "no warning that the platform is experimental"),
    ("jax._src.interpreters.mlir:_platforms_with_donation", add,
     "donated arguments are dropped elsewhere"),
    ("jax._src.compilation_cache:is_cache_used", widen,
     "the persistent cache keeps programs of these platforms only"),
    ("jax._src.config:_validate_default_device", widen,
     "jax_default_device takes these names only"),
    ("jax._src.xla_bridge:_backends", stand_in,
     "jax.devices('cpu'), jax_platform_name=cpu: an error where JAX_PLATFORMS names us alone"),
    ("jax._src.numpy.array_constructors:_get_platform", answer_cpu,
     "asarray(copy=False) of what has Python's buffers is for cpu"),
    ("jax._src.interpreters.mlir:_platform_specific_lowerings", lower_as_cpu,
     "callbacks, linear algebra, sparse products, checks: lowered for cpu, or by users for it"),
    ("jax._src.dispatch:device_put_p", lower_as_tpu,
     "device_put to a host's memory inside of jit, which cpu drops"),
    ("jax._src.interpreters.mlir:lower_per_platform", choose_cpu,
     "lax.platform_dependent(cpu=...), kernels that cpu interprets"),
    ("jax._src.lax.control_flow.conditionals:cond_p", branch_as_cpu,
     "the branch that lax.platform_dependent chose is kept by the platforms it was given for"),
    ("jax._src.lax.control_flow.loops:_maybe_put", take_default,
     "NumPy arrays that lax.scan passes through become cpu's"),
    ("jax._src.export._export:call_exported_p", call_as_cpu,
     "a program exported for cpu runs"),
    ("jax._src.interpreters.pxla:MeshComputation", cost_of_compiled,
     "jit(f).lower(x).cost_analysis() is None where XLA has no analysis of its own"),
    ("jax._src.compiler:compile_or_get_cached", dump_hlo,
     "jit(f, compiler_options={'xla_dump_to': dir}) writes HLO where XLA itself compiles"),
    ("jax._src.dlpack:to_dlpack", exchange_as("to_dlpack"),
     "arrays go to others, who see the same memory"),
    ("jax._src.array:ArrayImpl.__dlpack_device__", exchange_as("dlpack_device"),
     "where they are: with the cpu"),
    ("jax._src.dlpack:from_dlpack", exchange_as("from_dlpack"),
     "arrays of others come without a copy, where they lie as ours do"),
    ("jax.dlpack:from_dlpack", exchange_as("from_dlpack"), "the same under its public name"),
    ("jax.numpy:from_dlpack", exchange_as("from_dlpack"), "and for NumPy's users"),
)


# The same of others' modules, which may be imported at any time, or never, and of what came to JAX
# after the version that we are tested with.
LATER = (
    ("jax._src.lax.parallel:_async_done_lowering", start_at_once,
     "psum_scatter_start and the like become calls that XLA knows"),
    ("mujoco.mjx._src.io:_resolve_impl", functools.partial(widen, beside="tpu"),
     "MJX, and Brax by it, run on the platforms that they know"),
)


class OnImport(importlib.abc.MetaPathFinder):
    """Opens the gates of LATER when their modules come."""

    def find_spec(self, name, path, target=None):
        rows = [row for row in LATER if row[0].startswith(name + ":")]
        spec = importlib.machinery.PathFinder.find_spec(name, path, target) if rows else None
        if spec:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                open_rows(rows)

            spec.loader.exec_module = exec_module
        return spec


def open_gate(place, how):
    module, name = place.split(":")
    try:
        how(importlib.import_module(module), name)
    except (ImportError, AttributeError, KeyError):
        return False
    return True


def open_rows(rows):
    """The places of those that the installed version does not have."""
    return [place for place, how, _ in rows if not open_gate(place, how)]


def open_all():
    """Opens every gate, once. The places of those that this version of JAX does not have."""
    if not any(isinstance(finder, OnImport) for finder in sys.meta_path):
        sys.meta_path.insert(0, OnImport())
    open_rows(row for row in LATER if row[0].split(":")[0] in sys.modules)
    return open_rows(GATES)
