#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the library costs a compiler: its include, and 100 distinct einsums, reshards and maps, in time and memory.

    cmake --build build --target bench-compile
    python3 bench/compile/compile.py --flags build/bench/compile/flags.cmake [--only einsum] [--modes syntax,O2] [--json
    out.json]

Every case is a generated source (operations.py). Each round compares it with its own baselines, one compilation after
the other, so that other work on the machine affects all of them alike. Times are user + system time of the compiler,
medians over the rounds; memory is the largest resident set.

    program     README's first program (examples/first)          against   the same sum by Kokkos and MPI alone
      (by_hand.cpp)
    solver      an iteration of conjugate gradients on arrays    against   the include
      with ghost layers (solver.cpp)
    model       a small Llama under two rule sets (model.cpp)    against   the same under one
    include     <ostraka/ostraka.hpp>                            against   <Kokkos_Core.hpp> and <mpi.h>
    case        one operation and 100 others of its kind         against   one operation and 100 trivial function
      templates
    case plan   os::plan_of of the same operations               against   the same, on <ostraka/plan.hpp> alone
    derivative  the same of variables, with the backward          against   the same, on <ostraka/gradient.hpp>

Modes that make code (O0, O2, compiled) say what an operation adds to it, too: machine code and constants, as `size`
counts text. compiled: -O2 of a program that links ostraka::compiled, compiled-O1 and compiled-O3 those of others.

So an operation's figure is what one more of its kind adds, and includes its plan, its checks, the types of its operands
and its run. The cost that an element type adds once (kernels, collectives) has its own column.
"""

import argparse
import json
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from operations import CASES, source_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INSTRUCTIONS = False  # instead of seconds
LINKED = ["-DNDEBUG", "-DOSTRAKA_COMPILED", "-c"]
MODES = {"syntax": ["-fsyntax-only"], "O0": ["-O0", "-c"], "O2": ["-O2", "-c"], "O3": ["-O3", "-c"],
         "compiled": ["-O2", *LINKED], "compiled-O1": ["-O1", *LINKED], "compiled-O3": ["-O3", *LINKED]}

# --- compilers --------------------------------------------------------------------------------------------------------


def read_flags(file):
    """Folders, definitions and options of ostraka::ostraka, as bench/CMakeLists.txt and tests/CMakeLists.txt write
    them."""
    values = dict(re.findall(r'set\((\w+) "([^"]*)"\)', file.read_text()))
    split = {name: [v for v in text.split(";") if v] for name, text in values.items()}
    folders = [d for d in dict.fromkeys(split["include_dirs"])
               if d not in ("/usr/include", str(ROOT / "include"), str(ROOT / "tests"))]
    definitions = ["-D" + d for d in dict.fromkeys(split["definitions"])]
    return ["-isystem" + d for d in folders] + definitions + split["options"]


def find_compilers(asked):
    """g++, and every clang++ from 16 on; each once."""
    names = asked or ["g++", "clang++"] + [f"clang++-{n}" for n in range(16, 40)]
    found = {}
    for name in names:
        path = shutil.which(name)
        if not path:
            continue
        version = subprocess.run([path, "-dumpfullversion" if "clang" not in name else "-dumpversion"],
                                 capture_output=True, text=True).stdout.strip()
        kind = "clang++" if "clang" in name else "g++"
        if asked or kind == "g++" or int(version.split(".")[0]) >= 16:
            found.setdefault(f"{kind} {version}", path)
    return found


def command_of(compiler, path, flags):
    command = [path, "-std=c++20", f"-I{ROOT / 'include'}", *flags]
    if "clang" not in compiler:
        return command
    headers = sorted(pathlib.Path("/usr/lib").glob("llvm-*/lib/clang/*/include/omp.h"))
    return command + (["-idirafter", str(headers[-1].parent)] if headers and "-fopenmp" in flags else [])


def count_instructions(command, file):
    """(10^9 instructions of the compiler proper, MiB): the same on every machine and under any load. Some fifty times
    as slow."""
    planned = subprocess.run(command + [str(file), "-o", os.devnull, "-###"], capture_output=True,
                             text=True).stderr.splitlines()
    proper = next(line for line in planned if "cc1plus" in line or '"-cc1"' in line)
    counted = subprocess.run("valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null " + proper,
                             shell=True, capture_output=True, text=True)
    if counted.returncode:
        raise SystemExit(f"{proper}:\n{counted.stderr[:4000]}")
    return int(re.search(r"I\s+refs:\s+([\d,]+)", counted.stderr)[1].replace(",", "")) / 1e9, math.nan


def bytes_of(object_file):
    """Machine code and constants."""
    return int(subprocess.run(["size", str(object_file)], capture_output=True, text=True,
                              check=True).stdout.splitlines()[1].split()[0])


def compile_once(command, file):
    """(seconds of user and system time, MiB, bytes of code)"""
    if INSTRUCTIONS:
        return *count_instructions(command, file), math.nan
    target = file.with_suffix(".o") if "-c" in command else os.devnull
    process = subprocess.Popen(command + [str(file), "-o", str(target)], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} {file}:\n{errors[:4000]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, bytes_of(target) if "-c" in command else math.nan


def compare(command, folder, rounds, texts):
    """Each round's measurements of each source, one source after the other in every round. `texts`: by the name of the
    file"""
    files = [folder / f"{name}.cpp" for name in texts]
    for file, text in zip(files, texts.values()):
        file.write_text(text)
    return [[compile_once(command, f) for f in files] for _ in range(rounds)]


# --- what is reported -------------------------------------------------------------------------------------------------


def median(values):
    return statistics.median(list(values))


def measure_include(command, folder, rounds, header):
    texts = {"baseline": "#include <Kokkos_Core.hpp>\n#include <mpi.h>\n", "include": f"#include <ostraka/{header}>\n"}
    runs = compare(command, folder, rounds, texts)
    return {"baseline_s": median(r[0][0] for r in runs), "subject_s": median(r[1][0] for r in runs),
            "ratio": median(r[1][0] / r[0][0] for r in runs),
            "baseline_MiB": median(r[0][1] for r in runs), "subject_MiB": median(r[1][1] for r in runs)}


def measure_program(command, folder, rounds, texts):
    """The second text against the first."""
    runs = compare(command + ["-DNDEBUG"], folder, rounds, texts)
    return {"baseline_s": median(r[0][0] for r in runs), "subject_s": median(r[1][0] for r in runs),
            "least_s": min(r[1][0] for r in runs),
            "most_s": max(r[1][0] for r in runs), "ratio": median(r[1][0] / r[0][0] for r in runs),
            "subject_MiB": median(r[1][1] for r in runs),
            "baseline_bytes": runs[0][0][2], "subject_bytes": runs[0][1][2]}


def measure_model(command, folder, rounds):
    """Least of the rounds: the compilers are long enough at work for others to slow them, and nothing makes them
    faster."""
    source = (ROOT / "bench/compile/model.cpp").read_text()
    runs = compare(command, folder, rounds, {f"model{n}": f"#define RULE_SETS {n}\n{source}" for n in (1, 2)})
    one, two = ([r[k] for r in runs] for k in (0, 1))
    return {"one_s": min(r[0] for r in one), "two_s": min(r[0] for r in two), "one_MiB": median(r[1] for r in one),
            "two_MiB": median(r[1] for r in two),
            "one_bytes": one[0][2], "two_bytes": two[0][2]}


def measure_case(case, command, folder, rounds, count):
    header = CASES[case][2]
    texts = {"header": f"#include <ostraka/{header}>\n", "baseline": source_of(case, count, False),
             "subject": source_of(case, count, True)}
    runs = compare(command, folder, rounds, texts)
    each = sorted((r[2][0] - r[1][0]) / count * 1000 for r in runs)
    return {"first_s": median(r[1][0] - r[0][0] for r in runs), "baseline_s": median(r[1][0] for r in runs),
            "subject_s": median(r[2][0] for r in runs),
            "ratio": median(r[2][0] / r[1][0] for r in runs), "each_ms": median(each), "each_ms_least": each[0],
            "each_ms_most": each[-1],
            "each_MiB": median((r[2][1] - r[1][1]) / count for r in runs), "subject_MiB": median(r[2][1] for r in runs),
            "each_bytes": (runs[0][2][2] - runs[0][1][2]) / count}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--flags", type=pathlib.Path, required=True,
                           help="flags.cmake of a configured build: bench/compile/flags.cmake")
    arguments.add_argument("--count", type=int, default=100, help="operations of a kind")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--modes", default="syntax,O0,O2",
                           help="of syntax, O0, O2, O3, compiled, compiled-O1, compiled-O3; cases of plans are checked "
                                "for syntax only")
    arguments.add_argument("--compilers", default="", help="instead of g++ and every clang++ from 16 on")
    arguments.add_argument("--only", default="", help="cases whose name has this")
    arguments.add_argument("--json", type=pathlib.Path, help="write the figures here, too")
    arguments.add_argument("--keep", type=pathlib.Path, help="write the sources here and compile nothing")
    arguments.add_argument("--instructions", action="store_true",
                           help="count 10^9 instructions instead of seconds, by valgrind; read s as that, ms as 10^6")
    given = arguments.parse_args()
    global INSTRUCTIONS
    INSTRUCTIONS = given.instructions
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
        for case in CASES:
            name = re.sub(r"\W+", "_", case)
            (given.keep / f"{name}.cpp").write_text(source_of(case, given.count, True))
            (given.keep / f"{name}.baseline.cpp").write_text(source_of(case, given.count, False))
        return 0
    compilers = find_compilers([c for c in given.compilers.split(",") if c])
    flags = read_flags(given.flags)
    programs = {"program": {"by_hand": (ROOT / "bench/compile/by_hand.cpp").read_text(),
                            "first": (ROOT / "examples/first/first.cpp").read_text()},
                "solver": {"include": "#include <ostraka/ostraka.hpp>\n",
                           "solver": (ROOT / "bench/compile/solver.cpp").read_text()}}
    figures = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for compiler, path in compilers.items():
            for mode in given.modes.split(","):
                command = command_of(compiler, path, flags) + MODES[mode]

                def noted(case, measured):
                    figures.append({"compiler": compiler, "mode": mode, "case": case, **measured})
                    return measured

                for program, texts in programs.items():
                    if given.only not in program:
                        continue
                    f = noted(program, measure_program(command, folder, given.rounds, texts))
                    print(f"{compiler}, {mode}: {program} {f['subject_s']:.2f} s ({f['least_s']:.2f} to "
                          f"{f['most_s']:.2f}) against {f['baseline_s']:.2f} s, {f['ratio']:.2f} times; "
                          f"{f['subject_MiB']:.0f} MiB; {f['subject_bytes'] / 1000:.0f} KB against "
                          f"{f['baseline_bytes'] / 1000:.0f} KB", flush=True)
                if given.only in "model" and mode.startswith("compiled"):
                    f = noted("model", measure_model(command, folder, given.rounds))
                    print(f"{compiler}, {mode}: model {f['two_s']:.2f} s, {f['two_MiB']:.0f} MiB, "
                          f"{f['two_bytes'] / 1000:.0f} KB under two rule sets; "
                          f"{f['one_s']:.2f} s, {f['one_MiB']:.0f} MiB, {f['one_bytes'] / 1000:.0f} KB under one",
                          flush=True)
                for header in ("ostraka.hpp", "gradient.hpp"):
                    if given.only not in f"include {header}":
                        continue
                    f = noted(f"include {header}", measure_include(command, folder, given.rounds, header))
                    print(f"{compiler}, {mode}: include {header} {f['subject_s']:.2f} s against {f['baseline_s']:.2f} "
                          f"s, {f['ratio']:.2f} times; "
                          f"{f['subject_MiB']:.0f} MiB against {f['baseline_MiB']:.0f} MiB", flush=True)
                cases = [c for c in CASES if given.only in c and (mode == "syntax" or CASES[c][2] != "plan.hpp")]
                if not cases:
                    continue
                print(f"| {compiler}, {mode}, {given.count} of a kind | each | range | each, memory | each, code | "
                      "first | in all | of its baseline |")
                print("|---" * 8 + "|", flush=True)
                for case in cases:
                    f = noted(case, measure_case(case, command, folder, given.rounds, given.count))
                    print(f"| {case} | {f['each_ms']:.1f} ms | {f['each_ms_least']:.1f} to {f['each_ms_most']:.1f} | "
                          f"{f['each_MiB']:.2f} MiB "
                          f"| {f['each_bytes'] / 1000:.1f} KB | {f['first_s']:.2f} s "
                          f"| {f['subject_s']:.2f} s, {f['subject_MiB']:.0f} MiB | {f['ratio']:.2f} |", flush=True)
                print(flush=True)
    if given.json:
        given.json.write_text(json.dumps({"count": given.count, "rounds": given.rounds, "figures": figures},
                                         indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
