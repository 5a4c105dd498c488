"""A script for several hosts, as terrazzo_jax.hosts starts it: it knows of no launcher."""
import sys

import jax
import numpy as np
from jax.experimental import mesh_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

jax.distributed.initialize()
me, count = jax.process_index(), jax.process_count()
devices, local = jax.devices(), jax.local_devices()
hosts = [h for h in range(count) for _ in local]
assert [d.process_index for d in devices] == [d.slice_index for d in devices] == hosts
assert [d.process_index for d in local] == [me] * len(local)
assert jax.local_devices(process_index=count - 1) == devices[-len(local):]
meshes = [mesh_utils.create_hybrid_device_mesh((1, len(local)), (count, 1), devices,
                                               process_is_granule=granule)
          for granule in (False, True)]
assert (meshes[0] == meshes[1]).all() and meshes[0].shape == (count, len(local))
if sys.argv[1] == "die" and me == 1:
    sys.exit(3)
x = jax.make_array_from_process_local_data(
    NamedSharding(Mesh(meshes[0], ("host", "device")), PartitionSpec(("host", "device"))),
    np.full(len(local), me + 1.))
total = jax.jit(lambda x: x.sum())(x)
assert not x.is_fully_addressable and float(total) == len(local) * count * (count + 1) / 2
jax.distributed.shutdown()
sys.stdout.write(f"host {me} of {count}: {sys.argv[1:]}\n")
