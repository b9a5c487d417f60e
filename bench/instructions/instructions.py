#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
Instructions per operation, counted by callgrind: stable where time is not.

    instructions.py PROGRAM             a table: instructions of each operation, and their budget
    instructions.py PROGRAM --check     also fails if an operation takes 1.5 times its budget or more
    instructions.py PROGRAM --write     stores the counts as the new budget

PROGRAM is built from count.cpp. The budget is in budget.json, which also names the tools with which it was counted.
Without valgrind the script says so and exits with status 77.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BUDGET = pathlib.Path(__file__).with_name("budget.json")
LARGE_STEP = 1.5


def counts(valgrind, program):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        measured = "measured_operation"
        run = subprocess.run(
            [valgrind, "--tool=callgrind", f"--callgrind-out-file={out}", f"--toggle-collect={measured}",
             f"--dump-after={measured}", program],
            text=True, capture_output=True, env=os.environ | {"OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false"})
        if run.returncode != 0:
            sys.exit(f"instructions: {program} failed under valgrind\n{run.stdout}{run.stderr}")
        operations = re.findall("^counted (.*)$", run.stdout, re.M)
        dumps = [pathlib.Path(f"{out}.{i + 1}") for i in range(len(operations))]
        return {o: int(re.search(r"^totals: (\d+)", d.read_text(), re.M).group(1)) for o, d in zip(operations, dumps)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    valgrind = shutil.which("valgrind")
    if not valgrind:
        print("SKIPPED: instructions are not counted, for there is no valgrind; install it (Debian: apt-get install "
              "valgrind)")
        sys.exit(77)
    counted = counts(valgrind, given.program)
    if given.write:
        known = json.loads(BUDGET.read_text()) if BUDGET.exists() else {}
        BUDGET.write_text(json.dumps({"counted with": known.get("counted with", ""), "instructions": counted},
                                     indent=2, ensure_ascii=False) + "\n")
    budget = json.loads(BUDGET.read_text())["instructions"]
    steps = 0
    for operation, n in counted.items():
        allowed = budget.get(operation)
        large = allowed is not None and n >= LARGE_STEP * allowed
        steps += large
        verdict = "no budget yet"
        if allowed is not None:
            verdict = f"{n / allowed:5.2f} of {allowed}{'   a large step' if large else ''}"
        print(f"{n:8d}  {operation:56s} {verdict}")
    if given.check and (steps or counted.keys() != budget.keys()):
        sys.exit(f"instructions: {steps} operations take {LARGE_STEP} times their budget or more, or the operations "
                 f"are not those of {BUDGET.name}; "
                 "find what runs now that did not (callgrind_annotate), or count a new budget with --write and say why")


if __name__ == "__main__":
    main()
