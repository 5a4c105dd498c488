"""`make demo`: train.py on eight Terrazzo devices, then on XLA:CPU, and what came of both."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ.get("TERRAZZO_BUILD", ROOT / "build"))
STEPS = 50
AGREEMENT = 1e-4  # relative, of every loss
BYTES = dict(pred=1, s8=1, u8=1, bf16=2, f16=2, s32=4, u32=4, f32=4, s64=8, u64=8, f64=8)


def train(platform, folder, **environment):
    subprocess.run([sys.executable, HERE / "train.py", "--platform", platform, "--steps",
                    str(STEPS), "--report", folder], check=True, env=os.environ | environment)
    return json.loads((folder / "report.json").read_text())


def boxes(array):
    """A two-dimensional array as boxes, one a distinct shard, with the devices that hold it."""
    holders = {}
    for device, (rows, columns) in array["shards"].items():
        holders.setdefault((tuple(rows), tuple(columns)), []).append(device)
    heights, widths = (sorted({where[dim] for where in holders}) for dim in (0, 1))
    text = {where: " ".join(sorted(devices, key=int)) for where, devices in holders.items()}
    width = max(max(map(len, text.values())), 9) + 2
    margin = max(len(f"{a}:{b}") for a, b in heights) + 1
    rule = lambda left, middle, right: (" " * margin + left +
                                        middle.join("─" * width for _ in widths) + right)
    yield " " * margin + "".join(f"{a}:{b}".center(width + 1) for a, b in widths)
    for number, row in enumerate(heights):
        yield rule("├", "┼", "┤") if number else rule("┌", "┬", "┐")
        yield (f"{row[0]}:{row[1]}".rjust(margin - 1) + " │" +
               "".join(text[row, column].center(width) + "│" for column in widths))
    yield rule("└", "┴", "┘")


def xla_collectives(text):
    """Count and result bytes a device of each kind in XLA's compiled text."""
    found = {}
    kinds = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
    for shapes, kind in re.findall(rf"= (.*?) ({kinds})(?:-start)?\(", text):
        size = 0
        for name, dims in re.findall(r"(\w+)\[([\d,]*)\]", shapes):
            count = BYTES.get(name, 0)
            for dim in filter(None, dims.split(",")):
                count *= int(dim)
            size += count
        count, total = found.get(kind, (0, 0))
        found[kind] = (count + 1, total + size)
    return found


def our_collectives(folder):
    """What the tool says of the very step that JAX compiled, run once more."""
    inputs = sorted(folder.glob("in_*.npy"), key=lambda file: int(file.stem[3:]))
    command = [BUILD / "bin" / "terrazzo", "run", folder / "step.mlirbc", "--devices", "8",
               "--stats", "--output", folder]
    for file in inputs:
        command += ["--input", file]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return (done.stdout + done.stderr).strip().splitlines()


def main():
    sys.stdout.reconfigure(line_buffering=True)  # in step with the processes that it starts
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        print("A small transformer language model on a 4x2 mesh (data, model), JAX 0.10.2")
        print("\nTerrazzo, 8 devices")
        ours = train("terrazzo", scratch / "terrazzo", TERRAZZO_NUM_DEVICES="8",
                     TERRAZZO_PLUGIN=str(BUILD / "lib" / "pjrt_plugin_terrazzo.so"))
        print("\nXLA:CPU, 8 devices")
        flags = "--xla_force_host_platform_device_count=8 " + os.environ.get("XLA_FLAGS", "")
        theirs = train("cpu", scratch / "xla", JAX_PLATFORMS="cpu", XLA_FLAGS=flags)

        print(f"\n{'':18}{'Terrazzo':>12}{'XLA:CPU':>12}")
        for label, key in (("compile", "compile"), ("step (median)", "step")):
            print(f"{label:18}" + "".join(f"{run[key] * 1e3:9.1f} ms" for run in (ours, theirs)))
        print(f"{'last loss':18}" + "".join(f"{run['losses'][-1]:12.5f}" for run in (ours, theirs)))
        apart = max(abs(a - b) / abs(b) for a, b in zip(ours["losses"], theirs["losses"]))
        print(f"losses of {STEPS} steps agree to {apart:.1e} relative (at most {AGREEMENT:.0e})")

        array = ours["array"]
        size = "x".join(map(str, array["shape"]))
        print(f"\n{array['name']}, {size}, {array['spec']}: rows, columns, devices of a shard")
        print("\n".join(boxes(array)))
        print("\nCollectives in one step, Terrazzo")
        print("\n".join("  " + line for line in our_collectives(scratch / "terrazzo")))
        print("Collectives in one step, XLA (result bytes a device)")
        compiled = (scratch / "xla" / "compiled.txt").read_text()
        for kind, (count, size) in xla_collectives(compiled).items():
            print(f"  {kind:20}{count:4}{size:12,} bytes")
    falling = ours["losses"][-1] < ours["losses"][0] - 1
    if not falling or not apart <= AGREEMENT:
        sys.exit("demo: the loss did not fall" if not falling else "demo: the losses differ")


if __name__ == "__main__":
    main()
