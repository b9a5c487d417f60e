#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the library costs a compiler: its include, and 100 distinct einsums, reshards and maps, in time and memory.

    cmake --build build --target bench-compile
    python3 bench/compile/compile.py --flags build/bench/compile/flags.cmake [--only einsum] [--modes syntax,O2] [--json out.json]

Every case is a source that is generated here, and is compared in each round with its own baselines, one compiler after the other, so that other
work on the machine meets all alike. Times are user + system time of the compiler, medians over the rounds; memory is the largest resident set.

    program     README's first program (examples/first)          against   the same sum by Kokkos and MPI alone (by_hand.cpp)
    model       a small Llama under two rule sets (model.cpp)    against   the same under one
    include     <ostraka/ostraka.hpp>                            against   <Kokkos_Core.hpp> and <mpi.h>
    case        one operation and 100 others of its kind         against   one operation and 100 trivial function templates
    case plan   os::plan_of of the same operations               against   the same, on <ostraka/plan.hpp> alone
    derivative  the same of variables, with the backward          against   the same, on <ostraka/gradient.hpp>

Modes that make code (O0, O2, compiled) say what an operation adds to it, too: machine code and constants, as `size` counts text. compiled: -O2 of a
program that links ostraka::compiled, compiled-O1 and compiled-O3 those of others.

So an operation's figure is what one more of its kind adds, and holds its plan, its checks, the types of its operands and its run; what an element
type costs once (kernels, collectives) stands in its own column.
"""

import argparse
import itertools
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

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
AXES = "BCDEFGHIJKLM"
INSTRUCTIONS = False  # instead of seconds
LINKED = ["-DNDEBUG", "-DOSTRAKA_COMPILED", "-c"]
MODES = {"syntax": ["-fsyntax-only"], "O0": ["-O0", "-c"], "O2": ["-O2", "-c"], "compiled": ["-O2", *LINKED], "compiled-O1": ["-O1", *LINKED], "compiled-O3": ["-O3", *LINKED]}

# --- operations ---------------------------------------------------------------------------------------------------------------------


def stride(n):
    """A step that visits 0 … n−1 once each, far apart."""
    step = max(1, int(n * 0.618))
    while any(step % p == 0 and n % p == 0 for p in range(2, step + 1)):
        step += 1
    return step


def spread(items, count):
    """`count` of the items, in an order that mixes them, the same in every run."""
    items = list(items)
    step = stride(len(items))
    return [items[i * step % len(items)] for i in range(count)]


def shardings(axes, mesh, partials=False):
    """Every sharding of a tensor with these axes: per mesh axis one of the axes or none (or partial), both orders on one axis."""
    for where in itertools.product([None, *axes] + (["partial"] if partials else []), repeat=len(mesh)):
        for order in itertools.permutations(range(len(mesh))):
            dims = [a + "".join("/" + mesh[m] for m in order if where[m] == a) for a in axes]
            partial = [mesh[m] for m in range(len(mesh)) if where[m] == "partial"]
            yield tuple(dims + ([f"os::partial({', '.join(partial)})"] if partial else []))


def distinct(items):
    return list(dict.fromkeys(items))


def einsums(mesh, count, batch=False, partials=False):
    """C[i, k] = A[i, j] B[j, k] (or with a batch axis b in all three), every one with other axes and other shardings."""
    axes = spread(itertools.permutations(AXES, 4), count)
    kinds = [distinct(shardings(t, mesh, partials and t != "ik")) for t in (("bij", "bjk", "bik") if batch else ("ij", "jk", "ik"))]
    for (b, i, j, k), (left, right, out) in zip(axes, spread(itertools.product(*kinds), count)):
        named = str.maketrans({"b": b, "i": i, "j": j, "k": k})
        yield tuple(tuple(d if d.startswith("os::") else d[0].translate(named) + d[1:] for d in t) for t in (out, left, right))


def reshards(mesh, count):
    """A[i, j, k] from one sharding to another."""
    axes = spread(itertools.permutations(AXES, 3), count)
    kinds = distinct(shardings("ijk", mesh, True))
    pairs = [(to, source) for to, source in itertools.product(kinds, kinds) if to != source]
    for names, (to, source) in zip(axes, spread(pairs, count)):
        named = str.maketrans(dict(zip("ijk", names)))
        yield tuple(tuple(d if d.startswith("os::") else d[0].translate(named) + d[1:] for d in t) for t in (to, source))


def maps(mesh, count):
    """C[i, j] = A[i, j] + B[j], divided alike where they meet."""
    axes = spread(itertools.permutations(AXES, 2), count)
    for (i, j), left in zip(axes, spread(distinct(shardings("ij", mesh)), count)):
        named = str.maketrans({"i": i, "j": j})
        left = tuple(d[0].translate(named) + d[1:] for d in left)
        yield left, left, left[1:]


def blocks_of_rows(mesh, count):
    """A[b, i, j]; its axis j is the one along which a softmax or a norm is."""
    axes = spread(itertools.permutations(AXES, 3), count)
    kinds = distinct(shardings("bij", mesh))
    for names, kind in zip(axes, itertools.cycle(spread(kinds, len(kinds)))):
        yield (tuple(d[0].translate(str.maketrans(dict(zip("bij", names)))) + d[1:] for d in kind),)


def attentions(mesh, count):
    """q[b, s, h, d], k[b, t, h, d], v[b, t, h, d]; batch and heads divided alike, queries perhaps over their positions."""
    axes = spread(itertools.permutations(AXES, 5), count)
    kinds = distinct(shardings("bsh", mesh))
    for names, kind in zip(axes, itertools.cycle(spread(kinds, len(kinds)))):
        b, s, h = (names["bsh".index(d[0])] + d[1:] for d in kind)
        t, d = names[3:]
        yield (b, s, h, d), (b, t, h, d), (b, t, h, d)


def joined(dims):
    return ", ".join(dims)


def einsum_call(number, operation):
    out, *operands = operation
    return function(number, operands, f"os::einsum<{joined(out)}>({', '.join('ab'[: len(operands)])})")


def reshard_call(number, operation):
    to, source = operation
    return function(number, [source], f"os::reshard<{joined(to)}>(a)")


def map_call(number, operation):
    return function(number, operation[1:], "os::map(plus(), a, b)")


def call_along_rows(name, with_gain=False):
    def write(number, operation):
        (rows,) = operation
        gain = [rows[-1:]] if with_gain else []
        return function(number, [rows, *gain], f"os::{name}<{rows[-1]}>({', '.join('ab'[: 1 + len(gain)])})")

    return write


def attention_call(number, operation):
    queries, keys, _ = operation
    return function(number, operation, f"os::attention<{queries[1][0]}, {keys[1]}, {queries[3]}>(a, b, c, os::causal)")


def of_variables(write):
    """The same operation on os::variable: its node and its backward."""
    return lambda number, operation: re.sub(r"os::tensor<([^>]*)> const&", r"os::variable<os::tensor<\1>> const&", write(number, operation))


def tensor_use(number, operation):
    return function(number, operation[1:2], "a.local()")


def function(number, operands, expression):
    parameters = ", ".join(f"os::tensor<float, {joined(o)}> const& {name}" for o, name in zip(operands, "abc"))
    return f"void operation{number}({parameters}) {{ [[maybe_unused]] auto r = {expression}; }}\n"


def plan_only(number, operation):
    out, *operands = operation
    given = ", ".join(f"os::sharding_of<{joined(o)}>" for o in operands)
    return f"static_assert(os::plan_of<os::dims<{joined(out)}>, {given}>.feasible);\n"


# name: operations, how they are written, header
CASES = {
    "einsum, one mesh axis": (lambda n: einsums("X", n), einsum_call, "ostraka.hpp"),
    "einsum, two mesh axes": (lambda n: einsums("XY", n), einsum_call, "ostraka.hpp"),
    "einsum, two mesh axes, batch": (lambda n: einsums("XY", n, batch=True), einsum_call, "ostraka.hpp"),
    "einsum, two mesh axes, partial": (lambda n: einsums("XY", n, partials=True), einsum_call, "ostraka.hpp"),
    "einsum plan, one mesh axis": (lambda n: einsums("X", n), plan_only, "plan.hpp"),
    "einsum plan, two mesh axes": (lambda n: einsums("XY", n), plan_only, "plan.hpp"),
    "einsum plan, two mesh axes, batch": (lambda n: einsums("XY", n, batch=True), plan_only, "plan.hpp"),
    "einsum plan, two mesh axes, partial": (lambda n: einsums("XY", n, partials=True), plan_only, "plan.hpp"),
    "einsum plan, three mesh axes": (lambda n: einsums("XYZ", n), plan_only, "plan.hpp"),
    "reshard, one mesh axis": (lambda n: reshards("X", n), reshard_call, "ostraka.hpp"),
    "reshard, two mesh axes": (lambda n: reshards("XY", n), reshard_call, "ostraka.hpp"),
    "map, two mesh axes": (lambda n: maps("XY", n), map_call, "ostraka.hpp"),
    "tensor type, two mesh axes": (lambda n: maps("XY", n), tensor_use, "ostraka.hpp"),
    "derivative of einsum, one mesh axis": (lambda n: einsums("X", n), of_variables(einsum_call), "gradient.hpp"),
    "derivative of einsum, two mesh axes": (lambda n: einsums("XY", n), of_variables(einsum_call), "gradient.hpp"),
    "derivative of reshard, two mesh axes": (lambda n: reshards("XY", n), of_variables(reshard_call), "gradient.hpp"),
    "derivative of map, two mesh axes": (lambda n: maps("XY", n), of_variables(map_call), "gradient.hpp"),
    "derivative of softmax, two mesh axes": (lambda n: blocks_of_rows("XY", n), of_variables(call_along_rows("softmax")), "gradient.hpp"),
    "derivative of rms_norm, two mesh axes": (lambda n: blocks_of_rows("XY", n), of_variables(call_along_rows("rms_norm", True)), "gradient.hpp"),
    "derivative of layer_norm, two mesh axes": (lambda n: blocks_of_rows("XY", n), of_variables(call_along_rows("layer_norm", True)), "gradient.hpp"),
    "derivative of attention, two mesh axes": (lambda n: attentions("XY", n), of_variables(attention_call), "gradient.hpp"),
}

PREAMBLE = """#include <ostraka/{header}>
namespace os = ostraka;
{axes}
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y);
OSTRAKA_MESH_AXIS(Z);
struct plus {{
  float operator()(float a, float b) const {{ return a + b; }}
  template <int> float derivative(float, float) const {{ return 1; }}
}};
template <int N> struct number {{}};
template <int N> int trivial(number<N>) {{ return N; }}
"""


def source_of(case, count, subject):
    operations, write, header = CASES[case]
    text = PREAMBLE.format(header=header, axes=" ".join(f"OSTRAKA_AXIS({a});" for a in AXES))
    made = list(operations(count + 1))
    assert len(set(made)) == count + 1, f"{case}: an operation twice"
    text += write(0, made[0])
    for n in range(1, count + 1):
        text += write(n, made[n]) if subject else f"int operation{n}() {{ return trivial(number<{n}>()); }}\n"
    return text


# --- compilers ----------------------------------------------------------------------------------------------------------------------


def read_flags(file):
    """Folders, definitions and options of ostraka::ostraka, as bench/CMakeLists.txt and tests/CMakeLists.txt write them."""
    values = dict(re.findall(r'set\((\w+) "([^"]*)"\)', file.read_text()))
    split = {name: [v for v in text.split(";") if v] for name, text in values.items()}
    folders = [d for d in dict.fromkeys(split["include_dirs"]) if d not in ("/usr/include", str(ROOT / "include"), str(ROOT / "tests"))]
    return ["-isystem" + d for d in folders] + ["-D" + d for d in dict.fromkeys(split["definitions"])] + split["options"]


def find_compilers(asked):
    """g++, and every clang++ from 16 on; each once."""
    names = asked or ["g++", "clang++"] + [f"clang++-{n}" for n in range(16, 40)]
    found = {}
    for name in names:
        path = shutil.which(name)
        if not path:
            continue
        version = subprocess.run([path, "-dumpfullversion" if "clang" not in name else "-dumpversion"], capture_output=True, text=True).stdout.strip()
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
    """(10^9 instructions of the compiler proper, MiB): the same on every machine and under any load. Some fifty times as slow."""
    planned = subprocess.run(command + [str(file), "-o", os.devnull, "-###"], capture_output=True, text=True).stderr.splitlines()
    proper = next(line for line in planned if "cc1plus" in line or '"-cc1"' in line)
    counted = subprocess.run("valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null " + proper, shell=True, capture_output=True, text=True)
    if counted.returncode:
        raise SystemExit(f"{proper}:\n{counted.stderr[:4000]}")
    return int(re.search(r"I\s+refs:\s+([\d,]+)", counted.stderr)[1].replace(",", "")) / 1e9, math.nan


def bytes_of(object_file):
    """Machine code and constants."""
    return int(subprocess.run(["size", str(object_file)], capture_output=True, text=True, check=True).stdout.splitlines()[1].split()[0])


def compile_once(command, file):
    """(seconds of user and system time, MiB, bytes of code)"""
    if INSTRUCTIONS:
        return *count_instructions(command, file), math.nan
    target = file.with_suffix(".o") if "-c" in command else os.devnull
    process = subprocess.Popen(command + [str(file), "-o", str(target)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} {file}:\n{errors[:4000]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, bytes_of(target) if "-c" in command else math.nan


def compare(command, files, rounds):
    """Medians for each file, and each round's measurements; one file after the other in every round."""
    runs = [[compile_once(command, f) for f in files] for _ in range(rounds)]
    return runs


# --- what is reported ---------------------------------------------------------------------------------------------------------------


def median(values):
    return statistics.median(list(values))


def measure_include(command, folder, rounds, header):
    files = []
    for name, text in (("baseline", "#include <Kokkos_Core.hpp>\n#include <mpi.h>\n"), ("include", f"#include <ostraka/{header}>\n")):
        files.append(folder / f"{name}.cpp")
        files[-1].write_text(text)
    runs = compare(command, files, rounds)
    return {"baseline_s": median(r[0][0] for r in runs), "subject_s": median(r[1][0] for r in runs), "ratio": median(r[1][0] / r[0][0] for r in runs),
            "baseline_MiB": median(r[0][1] for r in runs), "subject_MiB": median(r[1][1] for r in runs)}


def measure_program(command, folder, rounds):
    files = []
    for name, source in (("by_hand", ROOT / "bench/compile/by_hand.cpp"), ("first", ROOT / "examples/first/first.cpp")):
        files.append(folder / f"{name}.cpp")
        files[-1].write_text(source.read_text())
    runs = compare(command + ["-DNDEBUG"], files, rounds)
    return {"baseline_s": median(r[0][0] for r in runs), "subject_s": median(r[1][0] for r in runs), "least_s": min(r[1][0] for r in runs),
            "most_s": max(r[1][0] for r in runs), "ratio": median(r[1][0] / r[0][0] for r in runs), "subject_MiB": median(r[1][1] for r in runs),
            "baseline_bytes": runs[0][0][2], "subject_bytes": runs[0][1][2]}


def measure_model(command, folder, rounds):
    """Least of the rounds: the compilers are long enough at work for others to slow them, and nothing makes them faster."""
    source = (ROOT / "bench/compile/model.cpp").read_text()
    files = [folder / f"model{rule_sets}.cpp" for rule_sets in (1, 2)]
    for rule_sets, file in enumerate(files, 1):
        file.write_text(f"#define RULE_SETS {rule_sets}\n{source}")
    runs = compare(command, files, rounds)
    one, two = ([r[k] for r in runs] for k in (0, 1))
    return {"one_s": min(r[0] for r in one), "two_s": min(r[0] for r in two), "one_MiB": median(r[1] for r in one), "two_MiB": median(r[1] for r in two),
            "one_bytes": one[0][2], "two_bytes": two[0][2]}


def measure_case(case, command, folder, rounds, count):
    header = CASES[case][2]
    texts = {"header": f"#include <ostraka/{header}>\n", "baseline": source_of(case, count, False), "subject": source_of(case, count, True)}
    files = []
    for name, text in texts.items():
        files.append(folder / f"{name}.cpp")
        files[-1].write_text(text)
    runs = compare(command, files, rounds)
    each = sorted((r[2][0] - r[1][0]) / count * 1000 for r in runs)
    return {"first_s": median(r[1][0] - r[0][0] for r in runs), "baseline_s": median(r[1][0] for r in runs), "subject_s": median(r[2][0] for r in runs),
            "ratio": median(r[2][0] / r[1][0] for r in runs), "each_ms": median(each), "each_ms_least": each[0], "each_ms_most": each[-1],
            "each_MiB": median((r[2][1] - r[1][1]) / count for r in runs), "subject_MiB": median(r[2][1] for r in runs),
            "each_bytes": (runs[0][2][2] - runs[0][1][2]) / count}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--flags", type=pathlib.Path, required=True, help="flags.cmake of a configured build: bench/compile/flags.cmake")
    arguments.add_argument("--count", type=int, default=100, help="operations of a kind")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--modes", default="syntax,O0,O2", help="of syntax, O0, O2, compiled, compiled-O1, compiled-O3; cases of plans are checked for syntax only")
    arguments.add_argument("--compilers", default="", help="instead of g++ and every clang++ from 16 on")
    arguments.add_argument("--only", default="", help="cases whose name has this")
    arguments.add_argument("--json", type=pathlib.Path, help="write the figures here, too")
    arguments.add_argument("--keep", type=pathlib.Path, help="write the sources here and compile nothing")
    arguments.add_argument("--instructions", action="store_true", help="count 10^9 instructions instead of seconds, by valgrind; read s as that, ms as 10^6")
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
    figures = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for compiler, path in compilers.items():
            for mode in given.modes.split(","):
                command = command_of(compiler, path, flags) + MODES[mode]
                if given.only in "program":
                    f = measure_program(command, folder, given.rounds)
                    figures.append({"compiler": compiler, "mode": mode, "case": "program", **f})
                    print(f"{compiler}, {mode}: program {f['subject_s']:.2f} s ({f['least_s']:.2f} to {f['most_s']:.2f}) against {f['baseline_s']:.2f} s, {f['ratio']:.2f} times; "
                          f"{f['subject_MiB']:.0f} MiB; {f['subject_bytes'] / 1000:.0f} KB against {f['baseline_bytes'] / 1000:.0f} KB", flush=True)
                if given.only in "model" and mode.startswith("compiled"):
                    f = measure_model(command, folder, given.rounds)
                    figures.append({"compiler": compiler, "mode": mode, "case": "model", **f})
                    print(f"{compiler}, {mode}: model {f['two_s']:.2f} s, {f['two_MiB']:.0f} MiB, {f['two_bytes'] / 1000:.0f} KB under two rule sets; "
                          f"{f['one_s']:.2f} s, {f['one_MiB']:.0f} MiB, {f['one_bytes'] / 1000:.0f} KB under one", flush=True)
                for header in ("ostraka.hpp", "gradient.hpp"):
                    if given.only not in f"include {header}":
                        continue
                    f = measure_include(command, folder, given.rounds, header)
                    figures.append({"compiler": compiler, "mode": mode, "case": f"include {header}", **f})
                    print(f"{compiler}, {mode}: include {header} {f['subject_s']:.2f} s against {f['baseline_s']:.2f} s, {f['ratio']:.2f} times; "
                          f"{f['subject_MiB']:.0f} MiB against {f['baseline_MiB']:.0f} MiB", flush=True)
                cases = [c for c in CASES if given.only in c and (mode == "syntax" or CASES[c][2] != "plan.hpp")]
                if not cases:
                    continue
                print(f"| {compiler}, {mode}, {given.count} of a kind | each | range | each, memory | each, code | first | in all | of its baseline |\n|---|---|---|---|---|---|---|---|", flush=True)
                for case in cases:
                    f = measure_case(case, command, folder, given.rounds, given.count)
                    figures.append({"compiler": compiler, "mode": mode, "case": case, **f})
                    print(f"| {case} | {f['each_ms']:.1f} ms | {f['each_ms_least']:.1f} to {f['each_ms_most']:.1f} | {f['each_MiB']:.2f} MiB "
                          f"| {f['each_bytes'] / 1000:.1f} KB | {f['first_s']:.2f} s "
                          f"| {f['subject_s']:.2f} s, {f['subject_MiB']:.0f} MiB | {f['ratio']:.2f} |", flush=True)
                print(flush=True)
    if given.json:
        given.json.write_text(json.dumps({"count": given.count, "rounds": given.rounds, "figures": figures}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
