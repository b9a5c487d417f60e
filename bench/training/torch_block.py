# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of the block by PyTorch. As a program, this file is one rank; `start` starts the processes."""
import json
import math
import os
import statistics
import subprocess
import sys
import time

from block import D, W, angles, layouts_of, seconds, values


def make_steps():
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


def serve():
    """A rank: steps when it is told a layout's number, and answers with the slowest rank's seconds and the loss, or
    with bytes."""
    steps, bytes_of, dist, what = make_steps()
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


def start(ranks):
    processes = []
    for rank in range(ranks):
        environment = dict(os.environ, OMP_NUM_THREADS="1", RANK=str(rank), WORLD_SIZE=str(ranks),
                           LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1",
                           MASTER_PORT="29511", GLOO_SOCKET_IFNAME="lo")
        processes.append(subprocess.Popen([sys.executable, __file__], env=environment, text=True,
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    return processes


def ask(processes, number, counts):
    processes[0].stdin.write(f"{number} {int(counts)}\n")
    processes[0].stdin.flush()
    return json.loads(processes[0].stdout.readline())


if __name__ == "__main__":
    serve()
