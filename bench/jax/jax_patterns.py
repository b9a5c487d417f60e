#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The patterns of bench/patterns in JAX on the host's cores, one device for each rank and one thread for each device as
far as XLA can be configured, with the same shardings under jax.jit. JAX and ours take turns, round by round. Prints
ours / JAX, medians with the spread. --element float needs bench/patterns_float.

    jax_patterns.py --program build/bench/patterns [--element double] [--devices 2] [--sizes small,square,skewed]
    [--rounds 5] [--only TEXT] [--json FILE]
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

SIZES = {  # as in patterns.cpp: batch, each of its products, one product, and the layer's sequences, tokens and widths
    "small": (8, (16, 16, 16), (64, 64, 64), (8, 8, 64, 64)),
    "square": (8, (512, 512, 512), (1024, 1024, 1024), (8, 128, 1024, 1024)),
    "large": (64, (512, 512, 512), (2048, 2048, 2048), (8, 256, 1024, 4096)),
    "skewed": (512, (256, 32, 64), (16384, 256, 256), (8, 1024, 256, 1024)),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="bench/patterns")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--element", choices=["double", "float"], default="double")
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--sizes", default="small,square,skewed")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", default="")
    return parser.parse_args()


given = arguments()
# Ranks have one thread each; XLA's devices share a pool, which is told to have none for one operation.
os.environ["XLA_FLAGS"] = (f"--xla_force_host_platform_device_count={given.devices} --xla_cpu_multi_thread_eigen=false "
                           "intra_op_parallelism_threads=1 " + os.environ.get("XLA_FLAGS", ""))
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402  (after its flags)
import numpy  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

jax.config.update("jax_enable_x64", True)


def cases(name):
    """What bench/patterns calls the case; the mesh's shape; einsum; shape and division of each operand; division of the
    result."""
    batch, (bi, bj, bk), (i, j, k), (n, s, d, f) = SIZES[name]
    p = given.devices
    line = (p, 1)
    x, none = "X", None
    yield ("1 [I_X,J].[J,K]->[I_X,K] nothing moves", line, "ij,jk->ik",
           [((i, j), P(x, none)), ((j, k), P(none, none))], P(x, none))
    yield ("2 [I,J_X].[J,K]->[I,K] gather", line, "ij,jk->ik",
           [((i, j), P(none, x)), ((j, k), P(none, none))], P(none, none))
    yield ("3 [I,J_X].[J_X,K]->[I_X,K] reduce-scatter", line, "ij,jk->ik",
           [((i, j), P(none, x)), ((j, k), P(x, none))], P(x, none))
    yield ("3c [I,J_X].[J_X,K]->[I,K_X] reduce-scatter", line, "ij,jk->ik",
           [((i, j), P(none, x)), ((j, k), P(x, none))], P(none, x))
    yield ("3a [I,J_X].[J_X,K]->[I,K] all-reduce", line, "ij,jk->ik",
           [((i, j), P(none, x)), ((j, k), P(x, none))], P(none, none))
    yield ("4 [I_X,J].[J,K_X]->[I_X,K] gather", line, "ij,jk->ik",
           [((i, j), P(x, none)), ((j, k), P(none, x))], P(x, none))
    yield ("batch [B_X,I,J].[B_X,J,K]->[B_X,I,K]", line, "bij,bjk->bik",
           [((batch, bi, bj), P(x, none, none)), ((batch, bj, bk), P(x, none, none))], P(x, none, none))
    yield "all-to-all [I_X,J]->[I,J_X]", line, "ij->ij", [((i, j), P(x, none))], P(none, x)
    yield f"exchange [I_XY,J]->[I_Y,J] on 2x{p // 2}", (2,
                                                        p // 2), "ij->ij", [((i, j), P(("X", "Y"), none))], P("Y", none)
    for shape in dict.fromkeys([(2, p // 2), (p // 2, 2)]):
        on = f" on {shape[0]}x{shape[1]}"
        yield ("feed in [B_X,S,D_Y].[D_X,F_Y]->[B_X,S,F_Y]" + on, shape, "bsd,df->bsf",
               [((n, s, d), P("X", none, "Y")), ((d, f), P("X", "Y"))], P("X", none, "Y"))
        yield ("feed out [B_X,S,F_Y].[F_Y,D_X]->[B_X,S,D_Y]" + on, shape, "bsf,fd->bsd",
               [((n, s, f), P("X", none, "Y")), ((f, d), P("Y", "X"))], P("X", none, "Y"))


def prepared(shape, formula, operands, result):
    mesh = Mesh(numpy.array(jax.devices()).reshape(shape), ("X", "Y"))
    random = numpy.random.default_rng(1)
    whole = [random.random(extents, dtype={"double": numpy.float64, "float": numpy.float32}[given.element])
             for extents, _ in operands]
    placed = [jax.device_put(w, NamedSharding(mesh, division)) for w, (_, division) in zip(whole, operands)]
    move = formula == "ij->ij"
    function = (lambda a: a) if move else (lambda a, b: jax.numpy.einsum(formula, a, b))
    compiled = jax.jit(function, out_shardings=NamedSharding(mesh, result)).lower(*placed).compile()
    expected = whole[0] if move else numpy.einsum(formula, *whole, optimize=True)
    assert numpy.allclose(numpy.asarray(compiled(*placed)), expected,
                          rtol={"double": 1e-9, "float": 1e-4}[given.element])
    return lambda: jax.block_until_ready(compiled(*placed))


def seconds(run):
    """The median of five samples, each of as many runs as take 5 ms."""
    run()
    begin = time.perf_counter()
    run()
    repeats = max(1, int(0.005 / max(time.perf_counter() - begin, 1e-7)))
    samples = []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(repeats):
            run()
        samples.append((time.perf_counter() - begin) / repeats)
    return statistics.median(samples)


def ours(size):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([given.mpirun, "-n", str(given.devices), given.program, "rounds=5", "ours=1", f"sizes={size}",
                        f"only={given.only}", f"json={out.name}"],
                       check=True, stdout=subprocess.DEVNULL)
        report = json.load(open(out.name))
    assert report["conditions"]["element"] == given.element, f"{given.program} has elements of another type"
    results = report["results"]
    return {r["what"]: {c["name"]: c["seconds"][0] for c in r["contestants"]} for r in results}


def main():
    core = os.environ.get("OPENBLAS_CORETYPE", "as detected")
    print(f"JAX {jax.__version__}, {given.devices} devices, {given.element}; OpenBLAS core type {core}; {given.rounds} "
          "rounds")
    print(f"{'':74} {'into':>11} {'allocating':>11} {'JAX':>11}   into / JAX             allocating / JAX")
    found = []
    for size in given.sizes.split(","):
        wanted = [(name + ", " + size, prepared(*rest)) for name, *rest in cases(size)
                  if given.only in name + ", " + size]
        if not wanted:
            continue
        rounds = []
        for _ in range(given.rounds):
            theirs = {name: seconds(run) for name, run in wanted}
            mine = ours(size)
            rounds.append({name: (mine[name]["einsum_into"], mine[name]["allocating"], theirs[name])
                           for name, _ in wanted})
        for name, _ in wanted:
            times = [r[name] for r in rounds]
            into = sorted(t[0] / t[2] for t in times)
            anew = sorted(t[1] / t[2] for t in times)
            middle = [statistics.median(t[c] for t in times) for c in range(3)]
            show = lambda v: f"{statistics.median(v):5.2f} ({v[0]:.2f} to {v[-1]:.2f})"  # noqa: E731
            print(f"{name:74} {middle[0] * 1e3:8.3f} ms {middle[1] * 1e3:8.3f} ms {middle[2] * 1e3:8.3f} ms   "
                  f"{show(into)}   {show(anew)}", flush=True)
            found.append({"what": name, "seconds": middle, "into / JAX": into, "allocating / JAX": anew})
    if given.json:
        with open(given.json, "w") as out:
            conditions = {"jax": jax.__version__, "devices": given.devices, "element": given.element}
            json.dump({"benchmark": "jax_patterns", **conditions, "results": found}, out, indent=1)


main()
