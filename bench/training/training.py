#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/training beside JAX on devices of the host and PyTorch on as many processes, one thread each, all in turns.

    training.py --program build/bench/training [--ranks 2] [--rounds 5] [--only TEXT] [--bytes]

The block, its extents and its divisions are those of training.cpp. JAX: jax.jit of value_and_grad, in explicit
sharding. PyTorch: fully_shard (FSDP2) and parallelize_module (tensor parallel by DTensor), collectives of gloo. Of each
round and contestant the median of five samples; the figure is the median of the rounds' ratios, ours / theirs, with the
spread. The losses of all are compared.

Bytes are a device's mean of one step: ours and those by hand counted between program and MPI; JAX's by the compiled
program's collectives, an all-gather (n - 1)/n of what it gives, an all-reduce 2 (n - 1)/n, as rings send them;
PyTorch's by what the loopback interface has sent, where gloo's messages go, so nothing else that uses it may run.
--bytes: these alone, of one step.
"""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

B, S, D, H, W, F = 4, 128, 512, 8, 64, 1408
SHAPES = {"x": (B, S, D), "g1": (D,), "wq": (D, H, W), "wk": (D, H, W), "wv": (D, H, W), "wo": (H, W, D), "g2": (D,),
          "w1": (D, F), "w3": (D, F), "w2": (F, D)}
FULLY, TENSOR, BOTH = "fully sharded", "tensor parallel", "fully sharded by 2, tensor parallel"


def layouts_of(ranks):
    """Names and meshes (X: fully sharded, with the batch; Y: tensor parallel)."""
    layouts = {FULLY: (ranks, 1), TENSOR: (1, ranks)}
    if ranks >= 4 and ranks % 2 == 0:
        layouts[BOTH] = (2, ranks // 2)
    return layouts


def values(numpy):
    """The numbers of training.cpp: of an element's indices alone."""
    def filled(salt, size, shape):
        shape = tuple(shape)
        if shape[-1] == W or (len(shape) == 3 and shape[1] == W):  # a head's width is two axes there
            at = shape.index(W)
            split = shape[:at] + (2, W // 2) + shape[at + 1:]
        else:
            split = shape
        h = numpy.full(split, salt, dtype=numpy.uint32)
        for axis, extent in enumerate(split):
            i = numpy.arange(extent, dtype=numpy.uint32).reshape([-1 if a == axis else 1 for a in range(len(split))])
            h = (h ^ i) * numpy.uint32(0x9E3779B1)
            h ^= h >> numpy.uint32(15)
        return (((h % 2001).astype(numpy.float32) / numpy.float32(1000) - 1) * numpy.float32(size)).reshape(shape)

    p = {name: filled(salt, 1 if name in ("x", "g1", "g2") else 0.1, shape)
         for salt, (name, shape) in enumerate(SHAPES.items(), 1)}
    return p, filled(11, 1, SHAPES["x"])


def seconds(run):
    """The median of five samples."""
    run(), run()
    taken = []
    for _ in range(5):
        begin = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def angles(numpy):
    at = numpy.arange(S)[:, None] * 10000.0 ** (-numpy.arange(W // 2)[None, :] / (W // 2))
    return numpy.cos(at).astype(numpy.float32), numpy.sin(at).astype(numpy.float32)


# --- JAX --------------------------------------------------------------------------------------------------------------


def group_of(groups, text):
    """How many devices a collective combines, by the ways in which XLA writes its groups."""
    if named := re.match(r"mesh\[([^\]]*)\] \{([^}]*)\}", groups):
        sizes = dict(part.split("=") for part in named[1].split(","))
        return math.prod(int(sizes[axis]) for axis in named[2].split(","))
    if counted := re.match(r"\[\d+,(\d+)\]", groups):
        return int(counted[1])
    if listed := re.match(r"\{\{([\d,]*)\}", groups):
        return len(listed[1].split(","))
    sys.exit(f"training.py does not know the groups of {text}")


def bytes_of_program(text):
    """What a device moves by the collectives of a compiled program."""
    sizes = {"f32": 4, "s32": 4, "pred": 1}
    total = 0.0
    for line in text.splitlines():
        found = re.search(r"= (.*?) (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\("
                          r".*?replica_groups=(.*)", line)
        if not found:
            if re.search(r"(all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(-start)?\(", line):
                sys.exit(f"training.py does not know the collective {line}")
            continue
        given = sum(sizes[t] * math.prod(int(n) for n in shape.split(",") if n)
                    for t, shape in re.findall(r"(\w+)\[([\d,]*)\]", found[1]))
        n = group_of(found[3], line)
        total += given * {"all-reduce": 2 * (n - 1) / n, "reduce-scatter": n - 1}.get(found[2], (n - 1) / n)
    return total


def jax_steps(ranks):
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


# --- PyTorch: a process a rank ----------------------------------------------------------------------------------------


def torch_steps():
    import numpy
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor import Replicate
    from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel
    from torch.distributed.tensor.parallel import parallelize_module

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    p, t = values(numpy)
    cosine, sine = (torch.tensor(a)[:, None, :] for a in angles(numpy))

    def turn(q):
        one, other = q[..., : W // 2], q[..., W // 2:]
        return torch.cat([one * cosine - other * sine, one * sine + other * cosine], dim=-1)

    def linear(w, rows):
        """rows: how many of w's axes are summed over."""
        flat = torch.tensor(w.reshape(math.prod(w.shape[:rows]), -1).T.copy())
        layer = nn.Linear(flat.shape[1], flat.shape[0], bias=False)
        layer.weight = nn.Parameter(flat)
        return layer

    def norm(g):
        layer = nn.RMSNorm(D, 1e-6)
        layer.weight = nn.Parameter(torch.tensor(g))
        return layer

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v = linear(p["wq"], 1), linear(p["wk"], 1), linear(p["wv"], 1)
            self.out = linear(p["wo"], 2)

        def forward(self, n):
            q, k, v = (f(n).unflatten(-1, (-1, W)) for f in (self.q, self.k, self.v))
            q, k, v = (h.transpose(1, 2) for h in (turn(q), turn(k), v))
            attended = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(attended.transpose(1, 2).flatten(2))

    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.w1, self.w3, self.w2 = linear(p["w1"], 1), linear(p["w3"], 1), linear(p["w2"], 1)

        def forward(self, m):
            return self.w2(nn.functional.silu(self.w1(m)) * self.w3(m))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.attention, self.between, self.inner = norm(p["g1"]), Attention(), norm(p["g2"]), Inner()

        def forward(self, x):
            a = x + self.attention(self.before(x))
            return a + self.inner(self.between(a))

    def step_of(sizes):
        mesh = init_device_mesh("cpu", sizes, mesh_dim_names=("X", "Y"))
        block = Block()
        if sizes[1] > 1:
            # one all-reduce of what three products give back
            whole = {"input_layouts": Replicate(), "desired_input_layouts": Replicate()}
            columns = {f"attention.{w}": ColwiseParallel() for w in "qkv"}
            columns |= {f"inner.{w}": ColwiseParallel() for w in ("w1", "w3")}
            parallelize_module(block, mesh["Y"],
                               {"attention": PrepareModuleInput(**whole), "inner": PrepareModuleInput(**whole),
                                "attention.out": RowwiseParallel(), "inner.w2": RowwiseParallel(), **columns})
        if sizes[0] > 1:
            fully_shard(block, mesh=mesh["X"])
            block.set_gradient_divide_factor(1.0)
            block.set_force_sum_reduction_for_comms(True)  # gloo has no scaled sums
        part = mesh.get_local_rank("X")
        x, weights = (torch.tensor(numpy.split(v, sizes[0])[part]) for v in (p["x"], t))
        x.requires_grad_()

        def step():
            block.zero_grad()
            x.grad = None
            loss = (block(x) * weights).sum()
            loss.backward()
            total = loss.detach()
            if sizes[0] > 1:
                dist.all_reduce(total, group=mesh.get_group("X"))
            return float(total)

        return step

    def sent():
        with open("/sys/class/net/lo/statistics/tx_bytes") as count:
            return int(count.read())

    def bytes_of(step):
        """The median of three, because others may use the interface, too."""
        step()
        taken = []
        for _ in range(3):
            dist.barrier()
            time.sleep(0.05)
            before = sent()
            for _ in range(4):
                step()
            dist.barrier()
            time.sleep(0.05)
            taken.append((sent() - before) / 4 / ranks)
        return statistics.median(taken)

    what = f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}"
    return {name: step_of(sizes) for name, sizes in layouts_of(ranks).items()}, bytes_of, dist, what


def torch_server():
    """A rank: steps when it is told a layout's number, and answers with the slowest rank's seconds and the loss, or
    with bytes."""
    steps, bytes_of, dist, what = torch_steps()
    import torch
    first = dist.get_rank() == 0
    if first:
        print(what, flush=True)
    while True:
        order = [int(n) for n in (sys.stdin.readline() or "-1 0").split()] if first else [0, 0]
        told = torch.tensor(order)
        dist.broadcast(told, 0)
        number, counts = told.tolist()
        if number < 0:
            dist.destroy_process_group()
            return
        step = list(steps.values())[number]
        loss = step()
        dist.barrier()
        taken = torch.tensor([bytes_of(step) if counts else seconds(step)], dtype=torch.float64)
        dist.all_reduce(taken, dist.ReduceOp.MAX)
        if first:
            print(json.dumps([taken.item(), loss]), flush=True)


def start_torch(ranks):
    processes = []
    for rank in range(ranks):
        environment = dict(os.environ, OMP_NUM_THREADS="1", RANK=str(rank), WORLD_SIZE=str(ranks),
                           LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1",
                           MASTER_PORT="29511", GLOO_SOCKET_IFNAME="lo")
        processes.append(subprocess.Popen([sys.executable, __file__, "--torch"], env=environment, text=True,
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    return processes


def ask_torch(processes, number, counts):
    processes[0].stdin.write(f"{number} {int(counts)}\n")
    processes[0].stdin.flush()
    return json.loads(processes[0].stdout.readline())


# --- all --------------------------------------------------------------------------------------------------------------


def ours(given, rounds):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        environment = dict(os.environ, OMP_NUM_THREADS="1", OMP_PROC_BIND="false", OPENBLAS_NUM_THREADS="1")
        subprocess.run([*given.mpirun.split(), "-n", str(given.ranks), given.program, f"rounds={rounds}",
                        f"only={given.only}", f"json={out.name}"],
                       check=True, stdout=subprocess.DEVNULL, env=environment)
        results = json.load(open(out.name))["results"]
    return {r["what"]: ({c["name"]: c["seconds"][0] for c in r["contestants"]}, r["numbers"]) for r in results}


def require_same(name, jax_loss, pytorch_loss, loss):
    for theirs in (jax_loss, pytorch_loss):
        if abs(theirs - loss) >= 1e-3 * max(1.0, abs(loss)):
            sys.exit(f"{name}: the losses are {loss}, of JAX {jax_loss}, of PyTorch {pytorch_loss}")


def print_bytes(name, numbers, of_jax, of_pytorch):
    rows = {"ours": numbers["bytes"], "by hand": numbers.get("bytes by hand"), "JAX": of_jax, "PyTorch": of_pytorch}
    print(f"{name:36}" + "".join(f"   {who} {moved / 1e6:.3f} MB" for who, moved in rows.items() if moved is not None),
          flush=True)


def time_all(given, steps, processes, names):
    rounds = []
    for _ in range(given.rounds):
        own, times = ours(given, 5), {}
        for number, name in names:
            pytorch, pytorch_loss = ask_torch(processes, number, False)
            mine, numbers = own[name]
            require_same(name, steps[name][0](), pytorch_loss, numbers["loss"])
            times[name] = (mine["os::value_and_grad"], mine.get("by hand"), seconds(steps[name][0]), pytorch)
        rounds.append(times)
    for _, name in names:
        taken = [r[name] for r in rounds]
        text = f"{name:36} {statistics.median(t[0] for t in taken) * 1e3:8.2f} ms"
        for k, other in enumerate(("by hand", "JAX", "PyTorch"), 1):
            if taken[0][k] is None:
                continue
            ratios = sorted(t[0] / t[k] for t in taken)
            text += f"   / {other} {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="bench/training")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--bytes", action="store_true", help="bytes alone")
    parser.add_argument("--torch", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.torch:
        return torch_server()
    steps, what = jax_steps(given.ranks)
    processes = start_torch(given.ranks)
    try:
        print(f"{what}; {processes[0].stdout.readline().strip()}; {given.ranks} ranks, one thread each; {given.rounds} "
              "rounds", flush=True)
        names = [(number, name) for number, name in enumerate(layouts_of(given.ranks)) if given.only in name]
        if not given.bytes:
            time_all(given, steps, processes, names)
        own = ours(given, 1)
        for number, name in names:
            moved, loss = ask_torch(processes, number, True)
            require_same(name, steps[name][0](), loss, own[name][1]["loss"])
            print_bytes(name, own[name][1], steps[name][1], moved)
    finally:
        for process in processes:
            process.stdin.close()
        for process in processes:
            process.wait()


if __name__ == "__main__":
    main()
