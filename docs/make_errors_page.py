#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/errors.md: every reason why a program does not compile, with what the compilers say of it.

    docs/make_errors_page.py --flags build/tests/compile_fail_shared/flags.cmake            write the page
    docs/make_errors_page.py --flags build/tests/compile_fail_shared/flags.cmake --check    compare it instead (77:
      compilers absent)

The sentences come from the headers that include/ostraka/types/reasons.hpp includes, the programs from
tests/compile_fail/<reason>.cpp, the output from g++ 12 and clang++ 19, as the tests of these programs kept it beside
the flags. To write the page these tests are run first; CTest runs them before it compares. Numbers of lines in headers
change with every edit above them, and the device is that of Kokkos' build: --check compares neither.
"""

import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
REASONS = ROOT / "include/ostraka/types/reasons.hpp"  # includes the lists, in the order of the page
TESTS = ROOT / "tests/compile_fail"
PAGE = ROOT / "docs/errors.md"
SKIPPED = 77

COMPILERS = {"g++ 12": (["g++-12", "g++"], "12"), "clang++ 19": (["clang++-19", "clang++"], "19")}

HEAD = """# What can be wrong

<!-- Written by docs/make_errors_page.py from include/ostraka/types/reasons/ and tests/compile_fail; edit those. -->

A program that breaks a rule does not compile, and the first error is the only one. The error is one sentence,
*operation: rule; remedy*. It comes from a type that is named after the rule and has the culprits as its arguments:
`contracted_axis_split_differently<J_axis, X_mesh, Y_mesh>`. The header `ostraka/types/reasons.hpp` has all of these
types. `os::can_einsum` and `os::can_contract` test whether a call would compile.

*n* is the number of devices along the mesh axis. The compilers' output is shortened to the reason with its culprits,
the error, and the line of your own file, which clang++ sometimes omits. In your own output, search for `error:`; the
sentence follows it. The compilers also list Ostraka's headers on the way to the error, which you can ignore.

The language itself refuses one mistake, so it has no entry here. Before C++23, a reference, such as a function's
parameter, cannot be part of a constant: `constexpr auto plan = os::plan<I, K>(a, b)` fails with "'a' is not a constant
expression". Leave out `constexpr`; the numbers of a plan are constants all the same, so
`static_assert(plan.communications() == 1)` compiles. Or name types instead of objects:
`os::plan_of<os::dims<I, K>, decltype(a), decltype(b)>`.
"""


def find_compilers(outputs):
    """The folders of what compilers said, by the titles of these."""
    found = {}
    for title, (names, major) in COMPILERS.items():
        for name in names:
            path = shutil.which(name)
            if path and (outputs / name).is_dir() and subprocess.run([path, "-dumpversion"], capture_output=True,
                                                                     text=True).stdout.split(".")[0].strip() == major:
                found[title] = outputs / name
                break
    return found


def read_reasons():
    """(chapter, name, sentence), in the order of the headers."""
    headers = re.findall(r"^#include <(.*)>$", REASONS.read_text(), re.MULTILINE)
    text = "\n".join((ROOT / "include" / h).read_text() for h in headers)
    chapter = ""
    for match in re.finditer(r'^// -+ (.+?) -+$|struct (\w+) \{\s*static_assert\([^"]*"([^"]*)"', text, re.MULTILINE):
        if match[1]:
            chapter = match[1]
        else:
            yield chapter, match[2], match[3]


def programs(source):
    """When it fails, the wrong program as (line in the file, text), and what stands in the place of the mistake in the
    right one."""
    when = re.sub(r"\n// +", " ", re.search(r"^// when: (.*(?:\n// {7}.*)*)$", source, re.MULTILINE)[1])
    wrong, right, shown = [], [], (True, False)
    for number, line in enumerate(source.splitlines(), 1):
        if line.startswith("//"):
            continue
        if line in PARTS:
            shown = PARTS[line]
            continue
        wrong += [(number, line)] if shown[0] else []
        right += [line] if shown[1] else []
    while wrong and not wrong[0][1].strip():
        wrong.pop(0)
    while wrong and not wrong[-1][1].strip():
        wrong.pop()
    return when, wrong, "\n".join(right).strip()


# The parts of a program that the page shows as wrong, and as right instead.
PARTS = {"#ifdef SHOULD_FAIL": (True, False), "#else": (False, True), "#endif": (True, False)}


def what_matters(output, name, lines):
    """The reason, the error, and where the program made it, with the program's lines as the page shows them and without
    this machine's paths."""
    def shown_line(found):
        line = int(found[1])
        return f"program.cpp:{lines[line]}" if line in lines else found[0]

    output = re.sub(rf"[^\s:(]*/{name}\.cpp:(\d+)", shown_line, output)
    reason = error = place = None
    for line in output.splitlines():
        found = re.match(r"program\.cpp:\d+:\d+: ", line)
        if "error: " in line:
            error = line
        elif f"reason::{name}<" in line and re.search(r"[Ii]n instantiation of (‘struct|template class)", line):
            reason = reason or line
        elif found and "warning: " not in line:
            place = place or f"{found[0]}{'note: ' if 'note: ' in line else ''}required from here"
    if error is None:
        raise SystemExit(f"{name}: its test kept no error:\n{output}")
    text = "\n".join(line for line in (reason, error, place) if line)
    text = re.sub(r"[^\s:]*/include/ostraka/", "ostraka/", text)
    if re.search(r"(^|[\s('\"])/[\w.]+/", text, re.MULTILINE):
        raise SystemExit(f"{name}: a path of this machine is left in: {text}")
    return text


def make_page(compilers):
    page, contents, chapter_before = [], [], None
    for chapter, name, sentence in read_reasons():
        when, wrong, right = programs((TESTS / f"{name}.cpp").read_text())
        if chapter != chapter_before:
            page.append(f"## {chapter[0].upper()}{chapter[1:]}\n")
            contents.append(f"\n*{chapter[0].upper()}{chapter[1:]}*\n")
            chapter_before = chapter
        contents.append(f"- [`{name}`](#{name})")
        shown = "\n".join(line for _, line in wrong)
        page.append(f"### {name}\n\n> {sentence}\n\nWhen {when}.\n\n```cpp\n{shown}\n```\n")
        lines = {number: i for i, (number, _) in enumerate(wrong, 1)}
        said = []
        for title, folder in compilers.items():
            kept = folder / f"{name}.txt"
            if not kept.exists():
                raise SystemExit(f"{name}: its test did not pass under {title}: ctest -R compile_fail.{name}")
            said.append(f"{title}:\n{what_matters(kept.read_text(), name, lines)}")
        page.append("```text\n" + "\n\n".join(said) + "\n```\n")
        page.append(f"Instead of the last part:\n\n```cpp\n{right}\n```\n")
    return HEAD + "\n".join(contents) + "\n\n" + "\n".join(page)


def run_tests(flags):
    """What compilers say is kept by these tests; those that fail are noticed where the page needs them."""
    build = flags.resolve().parents[2]
    names = "|".join(name for _, name, _ in read_reasons())
    subprocess.run(["ctest", "--test-dir", build, "-Q", "-j", str(os.cpu_count() or 1), "-R",
                    rf"^compile_fail\.({names})\.[^.]*$"], check=False)


def comparable(page):
    """Without lines of headers, and without the device that Kokkos was built for."""
    page = re.sub(r"Kokkos::Device<[\w:]+, [\w:]+>", "Kokkos::Device<...>", page)
    page = re.sub(r"auto:\d+", "auto", page)  # g++ counts them, those of all headers, too
    return re.sub(r"(\.hpp|\.h|\.cpp):\d+(:\d+)?", r"\1", page).splitlines(keepends=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--flags", type=pathlib.Path, required=True,
                           help="compile_fail_shared/flags.cmake of a configured build")
    arguments.add_argument("--check", action="store_true", help="compare the page instead of writing it")
    given = arguments.parse_args()
    if not given.check:
        run_tests(given.flags)
    compilers = find_compilers(given.flags.parent / "said")
    missing = [title for title in COMPILERS if title not in compilers]
    if missing:
        print(f"SKIPPED: docs/errors.md shows the output of {' and '.join(COMPILERS)}; not installed: "
              f"{', '.join(missing)}")
        return SKIPPED
    page = make_page(compilers)
    if not given.check:
        PAGE.write_text(page)
        return 0
    difference = list(difflib.unified_diff(comparable(PAGE.read_text()), comparable(page), "docs/errors.md",
                                           "what it should say", n=1))
    if difference:
        sys.stdout.writelines(difference[:200])
        print("docs/errors.md is out of date; write it anew with docs/make_errors_page.py --flags", given.flags)
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
