#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite of cases.txt in one run: ours, the library's product of the same size, transpose-transpose-GEMM-transpose
and a copy (the program `contractions`, started as a server), numpy.einsum(optimize=True) and torch.einsum (each skipped
if it is not installed).

All are timed in turns, case by case and round by round, on the same number of threads. Prints a line for each case,
ratios of times ours / theirs with medians and spread; at the end geometric means of our speed relative to each, by
class. --json writes the same figures, --markdown the medians. Ours, gemm and ttgt write into existing memory, and
NumPy's einsum gets it as `out`. PyTorch's cannot, but malloc is configured to keep its pages. Where PyTorch returns a
permuted view of a product instead of the requested result, `torch` includes the copy to the requested layout
(`contiguous`), as for the others, and `view` is the time for the view alone."""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
columns = ("gemm", "ttgt", "copy", "numpy", "torch", "view")


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--server", required=True, help="the program `contractions`")
    p.add_argument("--cases", default=os.path.join(here, "cases.txt"))
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--only", default="", help="cases with this text in `name.type`")
    p.add_argument("--kind", default="", choices=["", "arithmetic", "bandwidth"])
    p.add_argument("--types", default="fd")
    p.add_argument("--sample", type=float, default=0.004,
                   help="seconds; shorter runs are repeated until a sample takes that long")
    p.add_argument("--json")
    p.add_argument("--markdown", help="the medians as tables, for docs/benchmarks/contractions.md")
    return p.parse_args()


def begin_again_with(settings):
    """Threads and malloc are set for ever when libraries are loaded, so this program starts itself with them."""
    if any(os.environ.get(k) != v for k, v in settings.items()):
        os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, **settings})


def cases(file):
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                name, kind, types, spec, extents = line.split()
                yield name, kind, types, spec, {e[0]: int(e[2:]) for e in extents.split(",")}


class Server:
    def __init__(self, program, file):
        self.process = subprocess.Popen([program, "serve=1", "cases=" + file], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def ask(self, name, what, repeats=0):
        self.process.stdin.write(f"{name} {what} {repeats}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("contractions: the server ended")
        return float(answer)


def seconds_here(call, repeats):
    begin = time.perf_counter()
    for _ in range(repeats):
        call()
    return time.perf_counter() - begin


def einsum_calls(spec, extents, kind, numpy, torch):
    """name -> function of repeats, seconds; operands like the server's: row-major, numbers from -1 to 1."""
    inputs, result = spec.split("->")
    random = numpy.random.default_rng(1)
    shapes = [[extents[l] for l in labels] for labels in inputs.split(",")]
    arrays = [(2 * random.random(shape) - 1).astype(kind) for shape in shapes]
    out = numpy.empty([extents[l] for l in result], dtype=kind)
    calls = {"numpy": lambda n: seconds_here(lambda: numpy.einsum(spec, *arrays, out=out, optimize=True), n)}
    if torch is not None:
        # its own: NumPy, which comes before, would warm the caches for it
        tensors = [torch.from_numpy(a.copy()) for a in arrays]
        calls["torch"] = lambda n: seconds_here(lambda: torch.einsum(spec, *tensors).contiguous(), n)
        if not torch.einsum(spec, *tensors).is_contiguous():
            calls["view"] = lambda n: seconds_here(lambda: torch.einsum(spec, *tensors), n)
    return calls


def measure(calls, rounds, sample):
    """Seconds per round, everybody in turns; what takes longer than a quarter of a second is timed in the first two
    rounds only."""
    repeats = {}
    for name, call in calls.items():
        call(1)
        once = max(call(1), 1e-9)
        repeats[name] = (max(1, math.ceil(sample / once)), 2 if once > 0.25 else rounds)
    seconds = {name: [] for name in calls}
    for r in range(-1, rounds):
        for name, call in calls.items():
            n, of_rounds = repeats[name]
            if r >= of_rounds or (r < 0 and of_rounds < rounds):
                continue
            each = call(n) / n
            if r >= 0:
                seconds[name].append(each)
    return seconds


def spread(values):
    return [statistics.median(values), min(values), max(values)]


def show_seconds(s):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if s >= size:
            return f"{s / size:.2f} {unit}"
    return f"{s * 1e9:.0f} ns"


def import_or_say(name):
    try:
        return __import__(name)
    except ImportError as why:
        print(f"SKIPPED: {name} ({why}); install it to compare with it")
        return None


def print_summary(results):
    for kind in ("arithmetic", "bandwidth"):
        for other in columns:
            speeds = [(1 / c["ratio"][0], r["what"]) for r in results if r["kind"] == kind for c in r["contestants"]
                      if c["name"] == other]
            if speeds:
                mean = math.exp(sum(math.log(s) for s, _ in speeds) / len(speeds))
                behind = sum(s < 1 for s, _ in speeds)
                print(f"{kind}, speed of ours / {other}: {len(speeds)} cases, geometric mean {mean:.3f}, worst "
                      f"{min(speeds)[0]:.2f} ({min(speeds)[1]}), "
                      f"behind in {behind}")


def write_markdown(results, file):
    with open(file, "w", encoding="utf-8") as out:
        for kind in ("arithmetic", "bandwidth"):
            of_kind = [r for r in results if r["kind"] == kind]
            if not of_kind:
                continue
            others = [name for name in columns if any(c["name"] == name for r in of_kind for c in r["contestants"])]
            out.write("| case | contraction | ours | " + " | ".join("/ " + o for o in others) + " |\n"
                      + "|---" * (3 + len(others)) + "|\n")
            for r in of_kind:
                ratios = {c["name"]: f"{c['ratio'][0]:.2f}" for c in r["contestants"]}
                cells = [show_seconds(r["contestants"][0]["seconds"][0])] + [ratios.get(name, "") for name in others]
                out.write(f"| {r['what']} | {r['spec']} | " + " | ".join(cells) + " |\n")
            out.write("\n")


def main():
    given = arguments()
    threads = str(given.threads)
    begin_again_with({"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads, "MKL_NUM_THREADS": threads,
                      "OMP_PROC_BIND": "false",
                      "MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 34)})
    numpy, torch = import_or_say("numpy"), import_or_say("torch")
    if numpy is None:
        torch = None  # its operands come from there
    if torch is not None:
        torch.set_num_threads(given.threads)
        torch.set_grad_enabled(False)
    conditions = {"threads": threads, "numpy": getattr(numpy, "__version__", "none"),
                  "torch": getattr(torch, "__version__", "none"),
                  "core type of OpenBLAS": os.environ.get("OPENBLAS_CORETYPE", "as detected")}
    for key, value in conditions.items():
        print(f"{key}: {value}")

    server = Server(given.server, given.cases)
    results, wrong = [], 0
    for name, kind, types, spec, extents in cases(given.cases):
        for letter in types:
            full = f"{name}.{letter}"
            if given.only not in full or letter not in given.types or given.kind not in ("", kind):
                continue
            right = server.ask(full, "check") == 1
            wrong += not right
            ours_and_plain = ("ours", "gemm", "ttgt") if kind == "arithmetic" else ("ours", "copy")
            calls = {who: (lambda n, who=who: server.ask(full, who, n)) for who in ours_and_plain}
            if numpy is not None:
                calls.update(einsum_calls(spec, extents, {"f": "float32", "d": "float64"}[letter], numpy, torch))
            seconds = measure(calls, given.rounds, given.sample)
            contestants = [{"name": who, "seconds": spread(s),
                            "ratio": spread([o / t for o, t in zip(seconds["ours"], s)])} for who, s in seconds.items()]
            results.append({"what": full, "kind": kind, "spec": spec, "contestants": contestants,
                            "remark": "" if right else "WRONG RESULT"})
            print(f"{full:<32}{show_seconds(contestants[0]['seconds'][0]):>10}" +
                  "".join(f"   / {c['name']} {c['ratio'][0]:.2f} ({c['ratio'][1]:.2f} to {c['ratio'][2]:.2f})"
                          for c in contestants[1:]) +
                  ("" if right else "   WRONG RESULT"), flush=True)
    print_summary(results)
    if given.markdown:
        write_markdown(results, given.markdown)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as out:
            json.dump({"benchmark": "contractions", "conditions": conditions, "results": results}, out, indent=1)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
