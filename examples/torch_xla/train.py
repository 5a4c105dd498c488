"""torch_xla on Terrazzo: a small network, its batch sharded over four devices by torch_xla's SPMD.

    TERRAZZO_PLUGIN=build/lib/pjrt_plugin_terrazzo.so python examples/torch_xla/train.py

Needs the packages torch and torch_xla. Programs come as StableHLO, which XLA_STABLEHLO_COMPILE asks
for, with GSPMD's shardings.
"""
import os

os.environ.update(PJRT_DEVICE="TERRAZZO", XLA_STABLEHLO_COMPILE="1")

import numpy as np
import torch
import torch_xla
import torch_xla.distributed.spmd as spmd
import torch_xla.runtime as runtime
from torch_xla.experimental import plugins


class Terrazzo(plugins.DevicePlugin):
    def library_path(self):
        return os.environ["TERRAZZO_PLUGIN"]

    def physical_chip_count(self):
        return 1

    def client_create_options(self):
        return {"num_devices": 4}


def losses(device, place):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    x = torch.randn(32, 8)
    y = x.sum(1, keepdim=True)
    model, x, y = model.to(device), place(x.to(device)), place(y.to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    out = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        out.append(loss.item())
    return out


def main():
    plugins.use_dynamic_plugins()
    plugins.register_plugin("TERRAZZO", Terrazzo())
    runtime.use_spmd()
    n = runtime.global_runtime_device_count()
    mesh = spmd.Mesh(np.arange(n), (n,), ("data",))

    def shard(t):
        spmd.mark_sharding(t, mesh, ("data", None))
        return t

    ours, torchs = losses("xla", shard), losses("cpu", lambda t: t)
    print(f"{n} devices, loss {ours[0]:.4f} to {ours[-1]:.4f}")
    np.testing.assert_allclose(ours, torchs, rtol=1e-4)


if __name__ == "__main__":
    main()
