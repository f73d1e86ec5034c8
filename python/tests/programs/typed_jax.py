"""A user's program that runs plans in JAX, on eight CPU devices; `test_package.py` runs it and has it checked."""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

import collsynth as cs
from collsynth.jax import Collective, collective, make_mesh


def summed(plan: cs.Plan, x: jax.Array) -> jax.Array:
    mesh = make_mesh(plan.topology)
    reduce: Collective = collective(plan, mesh.axis_names)
    total: jax.Array = reduce.on_mesh(mesh)(x)

    def doubled(part: jax.Array) -> jax.Array:
        return 2 * reduce(part)

    spec = P(mesh.axis_names)
    within = jax.shard_map(doubled, mesh=mesh, in_specs=spec, out_specs=spec)
    print(reduce, within(x).shape)
    return total


if __name__ == "__main__":
    plan = cs.plan(cs.Torus(4, 2).fail_cable(1, 2), "all_reduce", parts=1)
    print(summed(plan, jnp.arange(40.0).reshape(8, 5)))
