#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/half beside PyTorch's products of bfloat16 on one thread, in turns: a row of a Markdown table for each shape.

    OMP_NUM_THREADS=1 python bench/half/half.py --program build/bench/half [--rounds 3]

Run it with the Python that has torch; without torch, its column is empty. Times are microseconds of CPU, medians of the
rounds.
"""
import argparse
import json
import statistics
import subprocess
import time


def by_torch(torch, s):
    copies = max(1, min(64, (48 << 20) // (s["k"] * s["n"]))) if s["m"] <= 16 else 1
    x = torch.randn(s["m"], s["k"]).bfloat16()
    w = [(torch.randn(s["n"], s["k"]).bfloat16().t() if s["turned"] else torch.randn(s["k"], s["n"]).bfloat16())
         for _ in range(copies)]
    for i in range(3):
        x @ w[i % copies]
    count = max(1, min(2000, int(100000 / max(1.0, s["library"]))))
    begin = time.process_time()
    for i in range(count):
        x @ w[i % copies]
    return (time.process_time() - begin) / count * 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    try:
        import torch
        torch.set_num_threads(1)
    except ImportError:
        torch = None
    found = {}
    for _ in range(options.rounds):
        run = subprocess.run([options.program], check=True, capture_output=True, text=True)
        for line in run.stdout.splitlines():
            s = json.loads(line)
            s["torch"] = by_torch(torch, s) if torch else float("nan")
            found.setdefault((s["m"], s["k"], s["n"], s["turned"]), []).append(s)
    print("| m × k × n | weights | float | bfloat16 as floats | by oneDNN | PyTorch | as floats / oneDNN | float / "
          "oneDNN | PyTorch / oneDNN |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (m, k, n, turned), runs in found.items():
        t = {name: statistics.median(r[name] for r in runs) for name in ("float", "as_floats", "library", "torch")}
        ratios = [statistics.median(r[name] / r["library"] for r in runs) for name in ("as_floats", "float", "torch")]
        print(f"| {m} × {k} × {n} | {'[n, k]' if turned else '[k, n]'} | " + " | ".join(f"{t[name]:.1f}" for name in t)
              + " | "
              + " | ".join(f"{r:.2f}" for r in ratios) + " |")


if __name__ == "__main__":
    main()
