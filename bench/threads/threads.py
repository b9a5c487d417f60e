# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time of each combination of ranks and threads: all take turns, round by round. Prints medians, and ratios to the
first combination.

    python3 threads.py [--program build/bench/threads] [--rounds 5] [--cores 2] [--pthreads FOLDER] [--json FILE]

--pthreads: the folder of a libopenblas.so.0 that has its own threads, to compare it as well.
"""
import argparse
import json
import os
import statistics
import subprocess

SETTINGS = ["OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OPENBLAS_NUM_THREADS", "OMP_WAIT_POLICY",
            "KOKKOS_NUM_THREADS"]


def combinations(cores, pthreads):
    def row(name, ranks, **settings):
        return name, ranks, {k: str(v) for k, v in settings.items()}

    yield row("a rank per core, one thread each", cores, OMP_NUM_THREADS=1)
    yield row("a rank per core, nothing said (our defaults)", cores)
    yield row("a rank per core, as many threads each (what OpenMP would take)", cores, OMP_NUM_THREADS=cores)
    yield row("one rank, a thread per core", 1, OMP_NUM_THREADS=cores)
    yield row("one rank, nothing said (our defaults)", 1)
    if pthreads:
        own = {"LD_LIBRARY_PATH": pthreads}
        yield row("one rank, a thread per core, OpenBLAS with its own threads", 1, OMP_NUM_THREADS=cores, **own)
        yield row("the same, OPENBLAS_NUM_THREADS=1", 1, OMP_NUM_THREADS=cores, OPENBLAS_NUM_THREADS=1, **own)
        yield row("the same, OMP_WAIT_POLICY=passive", 1, OMP_NUM_THREADS=cores, OMP_WAIT_POLICY="passive", **own)
        yield row("a rank per core, nothing said, OpenBLAS with its own threads", cores, **own)


def run(program, ranks, settings, options):
    environment = {k: v for k, v in os.environ.items() if k not in SETTINGS}
    environment.update(settings, OSTRAKA_ADVISE="0", KOKKOS_DISABLE_WARNINGS="1")
    command = ["mpirun", "--bind-to", "none", "-n", str(ranks), program] + options
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    return json.loads([line for line in out.splitlines() if line.startswith("{")][-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/bench/threads")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--pthreads")
    parser.add_argument("--json")
    given, options = parser.parse_known_args()

    rows = [(name, ranks, settings, []) for name, ranks, settings in combinations(given.cores, given.pthreads)]
    for _ in range(given.rounds):
        for _, ranks, settings, results in rows:
            results.append(run(given.program, ranks, settings, options))

    print("| combination | threads: Kokkos, BLAS | product, ms | ratio | in turns, ms | ratio "
          "|\n|---|---|---|---|---|---|")
    table = []
    first = rows[0][3]
    for name, ranks, settings, results in rows:
        entry = {"what": name, "ranks": ranks, "threads": results[0]["threads"],
                 "blas_threads": results[0]["blas_threads"]}
        text = f"| {name} | {ranks} x {entry['threads']}, {entry['blas_threads']} "
        for key in ("product", "turns"):
            ratios = [r[key] / f[key] for r, f in zip(results, first)]
            entry[key] = [statistics.median(r[key] for r in results), statistics.median(ratios), min(ratios),
                          max(ratios)]
            text += "| {:.2f} | {:.2f} ({:.2f} to {:.2f}) ".format(1000 * entry[key][0], *entry[key][1:])
        print(text + "|")
        table.append(entry)
    if given.json:
        with open(given.json, "w") as out:
            json.dump({"benchmark": "threads", "results": table}, out, indent=1)


main()
