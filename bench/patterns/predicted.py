# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The times that os::time_of predicts for the patterns, beside the measured ones. The script runs bench/calibrate, then
each pattern in a process of its own.

    python3 predicted.py [--bench build/bench] [--ranks 2] [--sizes small,square,skewed] [--sweeps 5] [--runs 1] [--line
    NANOSECONDS]

Each pattern has its own process because a calibration measures each operation alone: after other patterns, memory is in
other pages, and moves of megabytes take up to 1.5 times as long. --line restricts both to one state of the machine
(bench/support/line_between_ranks.hpp). Prints the patterns whose prediction is off by more than a factor of 1.2, and
for all the mean factor between the two and the geometric mean of predicted / measured. --runs repeats calibration and
measurement so many times and takes the median of each pattern, because the machine changes in between.
"""
import argparse
import math
import os
import pathlib
import re
import statistics
import subprocess
import tempfile

# A line of the benchmark's summary: pattern, size, least, most, ratio.
LINE = re.compile(r"^(.*), (\w+) {2,}(\S+ \S+) to +(\S+ \S+) .*predicted / measured +(\S+)", re.M)


def run(given, program, *options):
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", OSTRAKA_ADVISE="0",
                       KOKKOS_DISABLE_WARNINGS="1")
    command = ["mpirun", "--bind-to", "core", "-n", str(given.ranks), str(given.bench / program), *options]
    if os.geteuid() == 0:
        command.insert(1, "--allow-run-as-root")
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=pathlib.Path, default=pathlib.Path("build/bench"))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="small,square,skewed")
    parser.add_argument("--sweeps", type=int, default=5)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--line", type=int, default=0)
    given = parser.parse_args()

    ratios_of = {}
    for number in range(given.runs):
        with tempfile.TemporaryDirectory() as folder:
            machine = pathlib.Path(folder) / "here.machine"
            print(run(given, "calibrate", f"file={machine}", "sweeps=12", f"line={given.line}").split("\n")[0],
                  flush=True)

            def patterns(*options):
                return LINE.findall(run(given, "patterns", "ours=1", "sample=500", f"machine={machine}",
                                        f"line={given.line}", *options))

            if number == 0:
                names = [found[0] for found in patterns("sizes=small", "rounds=1", "sweeps=2")]
            for name in names:
                for _, size, _, _, ratio in patterns("rounds=4", f"sweeps={given.sweeps}", f"sizes={given.sizes}",
                                                     f"only={name}"):
                    ratios_of.setdefault(f"{name}, {size}", []).append(float(ratio))

    for name, found in ratios_of.items():
        if not 1 / 1.2 <= statistics.median(found) <= 1.2:
            print(f"{name:<75} predicted / measured {statistics.median(found):.2f}   ({min(found):.2f} to "
                  f"{max(found):.2f})")
    ratios = [statistics.median(found) for found in ratios_of.values()]
    logs = [math.log(r) for r in ratios]
    within = sum(abs(x) <= math.log(1.2) for x in logs)
    print(f"predicted / measured: geometric mean {math.exp(sum(logs) / len(logs)):.2f}, mean factor "
          f"{math.exp(sum(map(abs, logs)) / len(logs)):.2f}, {within} of {len(logs)} within 1.2")


main()
