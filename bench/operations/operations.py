# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/operations against PyTorch on one thread, in turns.

    operations.py --program build/bench/operations [--turns 3] [--only TEXT]

Each turn takes the medians of ours and of PyTorch's for each case; the figure is the median of the turns' ratios, ours
/ PyTorch's. PyTorch has no rope of its own: here it is what its users write, with tables made beforehand, and for pairs
that are neighbours the faster of two ways.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

import torch

SHAPES = {"cached": (64, 1024), "large": (8192, 1024), "long": (64, 131072)}
TYPES = {"f": torch.float32, "b": torch.bfloat16, "h": torch.float16, "d": torch.float64}
FREQUENCIES = 64
F = torch.nn.functional
FUNCTIONS = {
    "softmax.rows": lambda x, g, b: torch.softmax(x, 1),
    "log_softmax.rows": lambda x, g, b: torch.log_softmax(x, 1),
    "rms_norm.rows": lambda x, g, b: F.rms_norm(x, (x.shape[1],), g, 1e-6),
    "layer_norm.rows": lambda x, g, b: F.layer_norm(x, (x.shape[1],), g, b, 1e-5),
    "log_sum_exp.rows": lambda x, g, b: torch.logsumexp(x, 1),
    "gelu.all": lambda x, g, b: F.gelu(x),
    "softmax.columns": lambda x, g, b: torch.softmax(x, 0),
}


def angles(extents):
    theta = 10000.0 ** (-torch.arange(FREQUENCIES, dtype=torch.float64) / FREQUENCIES)
    return torch.outer(torch.arange(extents[0], dtype=torch.float64), theta)[:, None, :]


def rope_halves(x):
    """As models of the Transformers library do: x cos + rotate_half(x) sin."""
    c = torch.cat([angles(x.shape)] * 2, -1).cos().to(x.dtype)
    s = torch.cat([angles(x.shape)] * 2, -1).sin().to(x.dtype)
    heads = x.view(x.shape[0], -1, 2 * FREQUENCIES)

    def run():
        return heads * c + torch.cat((-heads[..., FREQUENCIES:], heads[..., :FREQUENCIES]), -1) * s

    return [run]


def rope_pairs(x):
    """As Llama does, by complex numbers (in float where elements have 16 bits), and by a stack of both."""
    wide = torch.float64 if x.dtype == torch.float64 else torch.float32
    c, s = angles(x.shape).cos().to(wide), angles(x.shape).sin().to(wide)
    unit = torch.complex(c, s)
    pairs = x.view(x.shape[0], -1, FREQUENCIES, 2)

    def by_complex():
        return torch.view_as_real(torch.view_as_complex(pairs.to(wide)) * unit).to(x.dtype)

    def by_stack():
        a, b = pairs.to(wide).unbind(-1)
        return torch.stack((a * c - b * s, b * c + a * s), -1).to(x.dtype)

    return [by_complex, by_stack]


PREPARED = {"rope.pairs": rope_pairs, "rope.halves": rope_halves}


def seconds_of(run, rounds=9, sample=0.005):
    run()
    begin = time.perf_counter()
    run()
    repeats = max(1, int(sample / max(time.perf_counter() - begin, 1e-9)))
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(repeats):
            run()
        taken.append((time.perf_counter() - begin) / repeats)
    return statistics.median(taken)


def theirs(only):
    result = {}
    for letter, dtype in TYPES.items():
        for shape, extents in SHAPES.items():
            x = torch.rand(extents).to(dtype)
            gain, bias = torch.rand(extents[1]).to(dtype), torch.rand(extents[1]).to(dtype)
            for name, function in FUNCTIONS.items():
                case = f"{name}.{letter}.{shape}"
                if only in case:
                    with torch.no_grad():
                        result[case] = seconds_of(lambda: function(x, gain, bias))
            for name, prepare in PREPARED.items():
                case = f"{name}.{letter}.{shape}"
                if only in case:
                    with torch.no_grad():
                        result[case] = min(seconds_of(run) for run in prepare(x))
    return result


def ours(program, only):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "ours.json")
        environment = dict(os.environ, OMP_NUM_THREADS="1", OMP_PROC_BIND="false", OPENBLAS_NUM_THREADS="1")
        subprocess.run([program, f"json={file}", f"only={only}"], check=True, stdout=subprocess.DEVNULL,
                       env=environment)
        with open(file) as f:
            return json.load(f)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}, {torch.backends.cpu.get_cpu_capability()}, one thread")
    ratios, copies, loops, times = {}, {}, {}, {}
    for _ in range(given.turns):
        own = {c["what"]: c for c in ours(given.program, given.only)["results"]}
        for case, seconds in theirs(given.only).items():
            mine = own[case]["contestants"][0]["seconds"][0]
            ratios.setdefault(case, []).append(mine / seconds)
            copies.setdefault(case, []).append(own[case]["contestants"][1]["ratio"][0])
            loops.setdefault(case, []).append(own[case]["contestants"][2]["ratio"][0])
            times.setdefault(case, []).append(mine)
    for case, values in ratios.items():
        print(f"{case:30} {statistics.median(times[case]) * 1e6:10.1f} µs   / copy "
              f"{statistics.median(copies[case]):5.2f}   "
              f"/ loop {statistics.median(loops[case]):5.2f}   "
              f"/ PyTorch {statistics.median(values):5.2f} ({min(values):.2f} to {max(values):.2f})")


if __name__ == "__main__":
    main()
