#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/training beside JAX on devices of the host and PyTorch on as many processes, one thread each, all in turns.

    training.py --program build/bench/training [--ranks 2] [--rounds 5] [--only TEXT] [--bytes]

The block, its extents and its divisions are those of training.cpp. JAX: jax.jit of value_and_grad, in explicit
sharding. PyTorch: fully_shard (FSDP2) and parallelize_module (tensor parallel by DTensor), collectives of gloo. Each
round takes the median of five samples of each contestant; the figure is the median of the rounds' ratios, ours /
theirs, with the spread. The losses of all are compared.

Bytes are a device's mean in one step. Ours and those by hand are counted between the program and MPI. JAX's are those
of the compiled program's collectives: (n - 1)/n of the result for an all-gather, 2 (n - 1)/n for an all-reduce, as
rings send them. PyTorch's are those that the loopback interface has sent, since gloo's messages go there, so no other
program may use it meanwhile. --bytes prints only the bytes, of one step.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

import jax_block
import torch_block
from block import layouts_of, seconds


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
            pytorch, pytorch_loss = torch_block.ask(processes, number, False)
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
    given = parser.parse_args()
    steps, what = jax_block.steps(given.ranks)
    processes = torch_block.start(given.ranks)
    try:
        print(f"{what}; {processes[0].stdout.readline().strip()}; {given.ranks} ranks, one thread each; {given.rounds} "
              "rounds", flush=True)
        names = [(number, name) for number, name in enumerate(layouts_of(given.ranks)) if given.only in name]
        if not given.bytes:
            time_all(given, steps, processes, names)
        own = ours(given, 1)
        for number, name in names:
            moved, loss = torch_block.ask(processes, number, True)
            require_same(name, steps[name][0](), loss, own[name][1]["loss"])
            print_bytes(name, own[name][1], steps[name][1], moved)
    finally:
        for process in processes:
            process.stdin.close()
        for process in processes:
            process.wait()


if __name__ == "__main__":
    main()
