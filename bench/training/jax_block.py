# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of the block by JAX, and the bytes that its compiled program moves."""
import math
import os
import re
import sys

from block import S, W, angles, layouts_of, values


def group_of(groups, text):
    """How many devices a collective combines, by the ways in which XLA writes its groups."""
    if named := re.match(r"mesh\[([^\]]*)\] \{([^}]*)\}", groups):
        sizes = dict(part.split("=") for part in named[1].split(","))
        return math.prod(int(sizes[axis]) for axis in named[2].split(","))
    if counted := re.match(r"\[\d+,(\d+)\]", groups):
        return int(counted[1])
    if listed := re.match(r"\{\{([\d,]*)\}", groups):
        return len(listed[1].split(","))
    sys.exit(f"jax_block.py does not know the groups of {text}")


def bytes_of_program(text):
    """What a device moves by the collectives of a compiled program."""
    sizes = {"f32": 4, "s32": 4, "pred": 1}
    total = 0.0
    for line in text.splitlines():
        found = re.search(r"= (.*?) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\("
                          r".*?replica_groups=(.*)", line)
        if not found:
            if re.search(r"(all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(-start)?\(", line):
                sys.exit(f"jax_block.py does not know the collective {line}")
            continue
        given = sum(sizes[t] * math.prod(int(n) for n in shape.split(",") if n)
                    for t, shape in re.findall(r"(\w+)\[([\d,]*)\]", found[1]))
        n = group_of(found[3], line)
        total += given * {"all-reduce": 2 * (n - 1) / n, "reduce-scatter": n - 1}.get(found[2], (n - 1) / n)
    return total


def steps(ranks):
    """Steps by layout, and what each moves."""
    os.environ["XLA_FLAGS"] = (f"--xla_force_host_platform_device_count={ranks} --xla_cpu_multi_thread_eigen=false "
                               "intra_op_parallelism_threads=1 "
                               + os.environ.get("XLA_FLAGS", ""))
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    import numpy
    from jax.sharding import AxisType, NamedSharding, PartitionSpec

    p, t = values(numpy)
    cosine, sine = angles(numpy)
    causal = numpy.tril(numpy.ones((S, S), dtype=bool))

    def turn(q):
        one, other = q[..., : W // 2], q[..., W // 2:]
        c, s = cosine[:, None, :], sine[:, None, :]
        return jnp.concatenate([one * c - other * s, one * s + other * c], axis=-1)

    def step_of(sizes):
        mesh = jax.make_mesh(sizes, ("X", "Y"), axis_types=(AxisType.Explicit, AxisType.Explicit))
        X, Y = ("X" if sizes[0] > 1 else None), ("Y" if sizes[1] > 1 else None)
        stored = {"x": (X, None, None), "g1": (X,), "wq": (X, Y, None), "wk": (X, Y, None), "wv": (X, Y, None),
                  "wo": (Y, None, X), "g2": (X,),
                  "w1": (X, Y), "w3": (X, Y), "w2": (Y, X)}

        def used(w, *axes):
            return jax.reshard(w, PartitionSpec(*axes))

        def einsum(text, a, b, *axes):
            return jnp.einsum(text, a, b, out_sharding=PartitionSpec(*axes))

        def norm(x, g):
            return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * used(g, None)

        def loss(p, t):
            n = norm(p["x"], p["g1"])
            q, k, v = (einsum("bsd,dhw->bshw", n, used(p[w], None, Y, None), X, None, Y, None)
                       for w in ("wq", "wk", "wv"))
            scores = einsum("bshw,bthw->bhst", turn(q), turn(k), X, Y, None, None) / math.sqrt(W)
            shares = jax.nn.softmax(jnp.where(causal, scores, -jnp.inf), axis=-1)
            o = einsum("bhst,bthw->bshw", shares, v, X, None, Y, None)
            a = p["x"] + einsum("bshw,hwd->bsd", o, used(p["wo"], Y, None, None), X, None, None)
            m = norm(a, p["g2"])
            gate = jax.nn.silu(einsum("bsd,df->bsf", m, used(p["w1"], None, Y), X, None, Y))
            y = a + einsum("bsf,fd->bsd", gate * einsum("bsd,df->bsf", m, used(p["w3"], None, Y), X, None, Y),
                           used(p["w2"], Y, None), X, None, None)
            return jnp.sum(y * t)

        with jax.set_mesh(mesh):
            where = {name: NamedSharding(mesh, PartitionSpec(*axes)) for name, axes in stored.items()}
            own = {name: jax.device_put(v, where[name]) for name, v in p.items()}
            weights = jax.device_put(t, where["x"])
            compiled = jax.jit(jax.value_and_grad(loss), out_shardings=(None, where)).lower(own, weights).compile()
        return (lambda: float(jax.block_until_ready(compiled(own, weights))[0])), bytes_of_program(compiled.as_text())

    return {name: step_of(sizes) for name, sizes in layouts_of(ranks).items()}, f"JAX {jax.__version__}"
