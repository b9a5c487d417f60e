#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/decoder beside PyTorch on one thread, in turns: a training step of a decoder, loss and gradients of all
parameters.

    decoder.py --program build/bench/decoder [--layers 4] [--tokens 512] [--batch 1] [--rounds 9] [--realtime]

Extents and numbers are those of decoder.cpp. Each round takes the median of seven steps of each contestant; the figure
is the median of the rounds' ratios, ours / PyTorch, with the spread. The losses and the norms of all gradients are
compared first. --realtime runs both at real-time priority (chrt -r 1); use it on a machine where other jobs run.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

D, H, W, F, V = 512, 8, 64, 1408, 2048


def hashes(numpy, salt, shape):
    """The hash of each element's indices, as in decoder.cpp."""
    h = numpy.full(shape, salt, dtype=numpy.uint32)
    for axis, extent in enumerate(shape):
        i = numpy.arange(extent, dtype=numpy.uint32).reshape([-1 if a == axis else 1 for a in range(len(shape))])
        h = (h ^ i) * numpy.uint32(0x9E3779B1)
        h ^= h >> numpy.uint32(15)
    return h


def filled(numpy, salt, size, middle, shape):
    h = hashes(numpy, salt, shape) % 2001
    return numpy.float32(middle) + (h.astype(numpy.float32) / numpy.float32(1000) - 1) * numpy.float32(size)


def tokens_of(numpy, salt, batch, tokens):
    return (hashes(numpy, salt, (batch, tokens)) % V).astype(numpy.int64)


def torch_step(given):
    """The step, and what gives its gradients in our order."""
    import numpy
    import torch
    from torch import nn

    torch.set_num_threads(1)
    salts = iter(range(1, 10000))

    def gain():
        layer = nn.RMSNorm(D, 1e-6)
        layer.weight = nn.Parameter(torch.tensor(filled(numpy, next(salts), 0.1, 1, (D,))))
        return layer

    def linear(shape, rows):
        """rows: how many of the axes are summed over."""
        w = filled(numpy, next(salts), 0.04, 0, shape)
        flat = torch.tensor(w.reshape(int(numpy.prod(shape[:rows])), -1).T.copy())
        layer = nn.Linear(flat.shape[1], flat.shape[0], bias=False)
        layer.weight = nn.Parameter(flat)
        return layer

    at = numpy.arange(given.tokens)[:, None] * 10000.0 ** (-numpy.arange(W // 2)[None, :] / (W // 2))
    cosine, sine = (torch.tensor(numpy.concatenate([f(at)] * 2, axis=-1).astype(numpy.float32))
                    for f in (numpy.cos, numpy.sin))

    def turn(q):  # [B, H, S, W], as in transformers
        one, other = q[..., : W // 2], q[..., W // 2:]
        return q * cosine + torch.cat([-other, one], dim=-1) * sine

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.g1 = gain()
            self.q, self.k, self.v = (linear((D, H, W), 1) for _ in range(3))
            self.out = linear((H, W, D), 2)
            self.g2 = gain()
            self.w1, self.w3, self.w2 = linear((D, F), 1), linear((D, F), 1), linear((F, D), 1)

        def forward(self, x):
            n = self.g1(x)
            q, k, v = (f(n).unflatten(-1, (H, W)).transpose(1, 2) for f in (self.q, self.k, self.v))
            o = nn.functional.scaled_dot_product_attention(turn(q), turn(k), v, is_causal=True)
            a = x + self.out(o.transpose(1, 2).flatten(2))
            m = self.g2(a)
            return a + self.w2(nn.functional.silu(self.w1(m)) * self.w3(m))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(V, D)
            self.table.weight = nn.Parameter(torch.tensor(filled(numpy, next(salts), 0.04, 0, (V, D))))
            self.layers = nn.ModuleList(Layer() for _ in range(given.layers))
            self.g = gain()
            self.head = linear((D, V), 1)

        def forward(self, x):
            x = self.table(x)
            for layer in self.layers:
                x = layer(x)
            return self.head(self.g(x))

    model = Decoder()
    x, y = (torch.tensor(tokens_of(numpy, salt, given.batch, given.tokens)) for salt in (101, 102))

    def step():
        model.zero_grad()
        loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        return float(loss.detach())

    what = f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}"
    return step, lambda: [float(p.grad.norm()) for p in model.parameters()], what


def seconds(step):
    """The median of seven steps after one to warm up."""
    step()
    taken = []
    for _ in range(7):
        begin = time.perf_counter()
        step()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def ours(given, *more):
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMP_PROC_BIND="false", OPENBLAS_NUM_THREADS="1")
    sizes = [f"{name}={getattr(given, name)}" for name in ("layers", "tokens", "batch")]
    return subprocess.run([given.program, *sizes, *more], check=True, capture_output=True, text=True,
                          env=environment).stdout


def our_seconds(given):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        ours(given, "rounds=7", f"json={out.name}")
        return json.load(open(out.name))["results"][0]["contestants"][0]["seconds"][0]


def require_same(mine, theirs, what, tolerance):
    if abs(mine - theirs) > tolerance * abs(theirs):
        sys.exit(f"{what}: {mine}, PyTorch {theirs}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="bench/decoder")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--realtime", action="store_true")
    given = parser.parse_args()
    if given.realtime:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))  # inherited by ours
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")
    step, norms, what = torch_step(given)
    loss = step()
    mine, *gradients = (float(line) for line in ours(given, "checks=1").split())
    require_same(mine, loss, "loss", 1e-5)
    for number, pair in enumerate(zip(gradients, norms(), strict=True)):
        require_same(*pair, f"norm of gradient {number}", 1e-4)
    rounds = [(our_seconds(given), seconds(step)) for _ in range(given.rounds)]
    ratios = sorted(a / b for a, b in rounds)
    print(f"{what}; {given.layers} layers, {given.batch} x {given.tokens} tokens, one thread; {given.rounds} rounds")
    print(f"{statistics.median(a for a, _ in rounds) * 1e3:.1f} ms, PyTorch "
          f"{statistics.median(b for _, b in rounds) * 1e3:.1f} ms: "
          f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
