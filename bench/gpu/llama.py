#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/gpu/llama beside PyTorch and JAX on the same device, one after another.

    llama.py --program build/bench/gpu/llama [--device cuda] [--layers 4] [--batch 4] [--tokens 2048] [--heads 16]
    [--width 128] [--hidden 5632]
             [--types fb] [--rounds 5] [--limit SECONDS]

The layers, their numbers and the two cases, forward and step, are those of llama.cpp. PyTorch runs eagerly, with
scaled_dot_product_attention; JAX is jitted, with jax.nn.dot_product_attention. Floats are multiplied as floats by all
three (no TF32). The figure is the median of the rounds. The output names a framework that is not installed or does not
work. The exit status is 1 if a loss differs from ours.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # PyTorch uses the same card
NAMES = {"f": "float", "b": "bfloat16"}


def shapes(g):
    d = g.heads * g.width
    return {"g1": (d,), "wq": (d, g.heads, g.width), "wk": (d, g.heads, g.width), "wv": (d, g.heads, g.width),
            "wo": (g.heads, g.width, d), "g2": (d,),
            "w1": (d, g.hidden), "w3": (d, g.hidden), "w2": (g.hidden, d)}


def filled(salt, size, shape):
    """The numbers of llama.cpp."""
    import numpy
    h = numpy.full(shape, salt, dtype=numpy.uint32)
    for axis, extent in enumerate(shape):
        i = numpy.arange(extent, dtype=numpy.uint32).reshape([-1 if a == axis else 1 for a in range(len(shape))])
        h ^= i
        h *= numpy.uint32(0x9E3779B1)
        h ^= h >> numpy.uint32(15)
    return ((h % numpy.uint32(2001)).astype(numpy.float32) / numpy.float32(1000)
            - numpy.float32(1)) * numpy.float32(size)


def values(g):
    d = g.heads * g.width
    size = 1 / math.sqrt(d)
    x, t = filled(1, 1, (g.batch, g.tokens, d)), filled(2, 1, (g.batch, g.tokens, d))
    layers = [{name: filled(16 * (n + 1) + salt, 1 if len(shape) == 1 else size, shape)
               for salt, (name, shape) in enumerate(shapes(g).items(), 1)}
              for n in range(g.layers)]
    return x, t, layers


def median_seconds(run, wait, rounds):
    for _ in range(3):
        run()
    wait()
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        run()
        wait()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def angles(g):
    import numpy
    at = numpy.arange(g.tokens)[:, None] * 10000.0 ** (-numpy.arange(g.width // 2)[None, :] / (g.width // 2))
    return numpy.cos(at).astype(numpy.float32)[:, None, :], numpy.sin(at).astype(numpy.float32)[:, None, :]


def pytorch(g, own, kind):
    """(forward, step, wait, loss)"""
    import torch
    functional = torch.nn.functional
    device = torch.device(g.device)
    dtype = {"f": torch.float32, "b": torch.bfloat16}[kind]
    torch.backends.cuda.matmul.allow_tf32 = False
    give = lambda a: torch.tensor(a, device=device).to(dtype)
    cosine, sine = (give(a) for a in angles(g))
    d = g.heads * g.width
    x, t = give(own[0]).requires_grad_(), give(own[1])
    layers = [{name: give(w).requires_grad_() for name, w in l.items()} for l in own[2]]

    def turn(q):
        one, other = q[..., : g.width // 2], q[..., g.width // 2:]
        return torch.cat([one * cosine - other * sine, one * sine + other * cosine], dim=-1)

    def layer(l, x):
        n = functional.rms_norm(x, (d,), l["g1"], 1e-6)
        q, k, v = ((n @ l[w].reshape(d, d)).unflatten(-1, (g.heads, g.width)) for w in ("wq", "wk", "wv"))
        q, k, v = (h.transpose(1, 2) for h in (turn(q), turn(k), v))
        o = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        a = x + o @ l["wo"].reshape(d, d)
        m = functional.rms_norm(a, (d,), l["g2"], 1e-6)
        return a + (functional.silu(m @ l["w1"]) * (m @ l["w3"])) @ l["w2"]

    def run(x):
        for l in layers:
            x = layer(l, x)
        return x

    def forward():
        with torch.no_grad():
            return run(x)

    def step():
        x.grad = None
        for l in layers:
            for w in l.values():
                w.grad = None
        total = (run(x) * t).sum()
        total.backward()
        return total

    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    with torch.no_grad():
        total = float((run(x).float() * t.float()).sum())
    return forward, step, wait, total


def jax_(g, own, kind):
    import jax
    import jax.numpy as jnp
    if g.device == "cuda" and jax.default_backend() != "gpu":
        raise RuntimeError(f"JAX has no GPU here: its devices are {jax.devices()}")
    jax.config.update("jax_default_matmul_precision", "highest")
    dtype = {"f": jnp.float32, "b": jnp.bfloat16}[kind]
    give = lambda a: jnp.asarray(a, dtype)
    cosine, sine = (give(a) for a in angles(g))
    p, t = {"x": give(own[0]), "layers": [{name: give(w) for name, w in l.items()} for l in own[2]]}, give(own[1])

    def turn(q):
        one, other = q[..., : g.width // 2], q[..., g.width // 2:]
        return jnp.concatenate([one * cosine - other * sine, one * sine + other * cosine], axis=-1)

    def norm(x, gain):
        wide = x.astype(jnp.float32)
        return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + 1e-6)).astype(x.dtype) * gain

    def run(p):
        x = p["x"]
        for l in p["layers"]:
            n = norm(x, l["g1"])
            q, k, v = (jnp.einsum("bsd,dhw->bshw", n, l[w]) for w in ("wq", "wk", "wv"))
            o = jax.nn.dot_product_attention(turn(q), turn(k), v, is_causal=True)
            a = x + jnp.einsum("bshw,hwd->bsd", o, l["wo"])
            m = norm(a, l["g2"])
            x = a + (jax.nn.silu(m @ l["w1"]) * (m @ l["w3"])) @ l["w2"]
        return x

    wide_loss = jax.jit(lambda p, t: jnp.sum(run(p).astype(jnp.float32) * t.astype(jnp.float32)))
    forward, step = jax.jit(run), jax.jit(jax.value_and_grad(lambda p, t: jnp.sum(run(p) * t)))
    return (lambda: jax.block_until_ready(forward(p)), lambda: jax.block_until_ready(step(p, t)), lambda: None,
            float(wide_loss(p, t)))


def ours(g):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        sizes = [f"{name}={getattr(g, name)}"
                 for name in ("layers", "batch", "tokens", "heads", "width", "hidden", "types", "rounds")]
        subprocess.run([g.program, *sizes, f"json={out.name}"], check=True, stdout=subprocess.DEVNULL, timeout=g.limit)
        with open(out.name) as file:
            results = json.load(file)["results"]
    return {r["what"]: (r["contestants"][0]["seconds"][0], r["numbers"]["loss"]) for r in results}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="bench/gpu/llama")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    for name, value in {"layers": 4, "batch": 4, "tokens": 2048, "heads": 16, "width": 128, "hidden": 5632,
                        "rounds": 5}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--types", default="fb")
    parser.add_argument("--limit", type=float, default=120, help="seconds of our program")
    g = parser.parse_args()
    own, mine = None, {}
    try:
        mine = ours(g)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"ours: {error}", flush=True)
    status = 0 if mine else 1
    print(f"{g.layers} layers, {g.batch} × {g.tokens} tokens, {g.heads} heads of {g.width}, hidden {g.hidden}; ms, "
          f"median of {g.rounds} rounds\n", flush=True)
    print("| case | ours | PyTorch | JAX |\n|---|---|---|---|", flush=True)
    told, ratios = [], []
    for kind in g.types:
        times = {}
        for name, make in (("PyTorch", pytorch), ("JAX", jax_)):
            try:
                own = own or values(g)
                forward, step, wait, total = make(g, own, kind)
                times[name] = [median_seconds(run, wait, g.rounds) for run in (forward, step)]
                told.append(f"{name}, {NAMES[kind]}: loss {total:.6g}")
                if our := mine.get(f"forward.{NAMES[kind]}"):
                    near = {"f": 1e-3, "b": 5e-2}[kind] * math.sqrt(own[0].size)
                    if not abs(our[1] - total) <= near:
                        told[-1] += f", OURS DIFFERS: {our[1]:.6g}"
                        status = 1
                del forward, step
            except Exception as error:  # a framework that is missing, or that this card is too new for
                told.append(f"{name}, {NAMES[kind]}: not measured: {type(error).__name__}: "
                            f"{str(error).splitlines()[0] if str(error) else ''}")
        for k, case in enumerate(("forward", "step")):
            seconds = [mine.get(f"{case}.{NAMES[kind]}", (None,))[0],
                       *(times.get(name, [None, None])[k] for name in ("PyTorch", "JAX"))]
            print(f"| {case}, {NAMES[kind]} | " + " | ".join("–" if s is None else f"{s * 1e3:.2f}"
                                                             for s in seconds) + " |", flush=True)
        if "PyTorch" in times and f"step.{NAMES[kind]}" in mine:
            ratios.append((mine[f"step.{NAMES[kind]}"][0] / times["PyTorch"][1], NAMES[kind]))
    reached = "not measured here"
    if ratios:
        reached = "NOT REACHED" if any(ratio > 1 for ratio, _ in ratios) else "reached"
        reached += ": " + ", ".join(f"{ratio:.2f} times in {kind}" for ratio, kind in ratios)
    told += [f"ours, {what}: loss {loss:.6g}" for what, (_, loss) in mine.items()]
    print("\n" + "\n".join(f"- {line}" for line in told), flush=True)
    print(f"\naim: a step takes at most PyTorch's time: {reached}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
