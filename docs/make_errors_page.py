#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/errors.md: every reason why a program does not compile, with what the compilers say of it.

    docs/make_errors_page.py --flags build/tests/compile_fail_shared/flags.cmake            write the page
    docs/make_errors_page.py --flags build/tests/compile_fail_shared/flags.cmake --check    compare it instead (77: compilers absent)

The sentences come from the headers that include/ostraka/types/reasons.hpp includes, the programs from tests/compile_fail/<reason>.cpp, the output from g++ 12
and clang++ 19. Numbers of lines in headers change with every edit above them, and the device is that of Kokkos' build: --check compares neither.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
REASONS = ROOT / "include/ostraka/types/reasons.hpp"  # includes the lists, in the order of the page
TESTS = ROOT / "tests/compile_fail"
PAGE = ROOT / "docs/errors.md"
SKIPPED = 77

COMPILERS = {
    "g++ 12": (["g++-12", "g++"], "12", ["-fno-diagnostics-show-caret"]),
    "clang++ 19": (["clang++-19", "clang++"], "19", ["-fno-caret-diagnostics"]),
}

HEAD = """# What can be wrong

<!-- Written by docs/make_errors_page.py from include/ostraka/types/reasons/ and tests/compile_fail; edit those. -->

A program that breaks a rule does not compile, and the first error is the only one. It is a sentence, *operation: rule; remedy*, and the
type it stands in is named after the rule, with the culprits as its arguments: `contracted_axis_split_differently<J_axis, X_mesh, Y_mesh>`.
All of these types come with `ostraka/types/reasons.hpp`. A program asks without failing with `os::can_einsum` and `os::can_contract`.

*n* is the number of devices along the mesh axis. The output is the compilers' own, without the source lines that they echo
(`-fno-diagnostics-show-caret`, `-fno-caret-diagnostics`) and with paths shortened. Read it from the line with `error:`; the line that
names your own file says where.

One mistake has no sentence here, because no library is asked: of references, such as a function's parameters, no constant can be made before
C++23, and `constexpr auto plan = os::plan<I, K>(a, b)` is refused with "'a' is not a constant expression". Leave `constexpr` out: the numbers
of a plan are constants whatever keeps it, so `static_assert(plan.communications() == 1)` stands. Or name types, which are no
objects: `os::plan_of<os::dims<I, K>, decltype(a), decltype(b)>`.
"""


def find_compilers():
    found = {}
    for title, (names, major, _) in COMPILERS.items():
        for name in names:
            path = shutil.which(name)
            if path and subprocess.run([path, "-dumpversion"], capture_output=True, text=True).stdout.strip().split(".")[0] == major:
                found[title] = path
                break
    return found


def read_flags(file):
    """Folders, definitions and options of ostraka::ostraka, as tests/CMakeLists.txt writes them."""
    values = dict(re.findall(r'set\((\w+) "([^"]*)"\)', file.read_text()))
    split = {name: [v for v in text.split(";") if v] for name, text in values.items()}
    folders = [d for d in dict.fromkeys(split["include_dirs"]) if d not in ("/usr/include", str(ROOT / "include"), str(ROOT / "tests"))]
    return ["-isystem" + d for d in folders] + ["-D" + d for d in dict.fromkeys(split["definitions"])] + split["options"]


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
    """The wrong program, and what stands in the place of the mistake in the right one."""
    when = re.search(r"^// when: (.*)$", source, re.MULTILINE)[1]
    body = re.sub(r"^//.*\n", "", source, flags=re.MULTILINE)
    match = re.search(r"^#ifdef SHOULD_FAIL\n(.*?)^#else\n(.*?)^#endif\n", body, re.MULTILINE | re.DOTALL)
    return when, (body[: match.start()] + match[1] + body[match.end() :]).strip(), match[2].strip()


def neutral(output, name, folder):
    """The output without what differs from machine to machine."""
    lines = []
    for line in output.splitlines():
        if re.match(r"\s*(In file included )?from .*[:,]$", line) or re.match(r"\d+ errors? generated\.", line):
            continue
        line = re.sub(r"[^\s:]*/include/ostraka/", "ostraka/", line)
        line = line.replace(f"{folder}/", "")
        line = re.sub(r"/usr/[^\s:]*include/c\+\+/[\d.]+/", "c++/", line)
        if re.search(r"(^|[\s('\"])/[\w.]+/", line):
            raise SystemExit(f"{name}: a path of this machine is left in: {line}")
        lines.append(line)
    return "\n".join(lines)


def command_for(compiler, title, flags):
    command = [compiler, "-std=c++20", "-fdiagnostics-color=never", "-fmessage-length=0", f"-I{ROOT / 'include'}"] + COMPILERS[title][2] + flags
    if "clang" in compiler and "-fopenmp" in flags:
        headers = sorted(pathlib.Path("/usr/lib").glob("llvm-*/lib/clang/*/include/omp.h"))
        command += ["-idirafter", str(headers[-1].parent)] if headers else []
    return command


def precompile(compiler, title, flags, folder):
    """All headers, compiled once for the programs that include more than floors 1 and 2; gives the options that use them."""
    header = pathlib.Path(folder) / f"{title.replace(' ', '_')}.hpp"
    header.write_text("#include <ostraka/ostraka.hpp>\n")
    made = f"{header}.{'pch' if 'clang' in compiler else 'gch'}"
    once = ["-fpch-instantiate-templates"] if "clang" in compiler else []  # or else by every program that uses it
    subprocess.run(command_for(compiler, title, flags) + once + ["-x", "c++-header", str(header), "-o", made], check=True)
    return ["-include-pch", made] if "clang" in compiler else ["-include", str(header)]


def compile_one(compiler, title, name, flags, precompiled):
    _, wrong, _ = programs((TESTS / f"{name}.cpp").read_text())
    whole = re.search(r"#include <ostraka/(?!plan\.hpp|plan/|types/)", wrong)
    command = command_for(compiler, title, flags if whole else []) + (precompiled if whole else []) + ["-fsyntax-only"]
    environment = dict(os.environ, LC_ALL="C.UTF-8")
    with tempfile.TemporaryDirectory() as folder:  # the program as the page shows it, so that lines have its numbers
        file = pathlib.Path(folder) / "program.cpp"
        file.write_text(wrong + "\n")
        result = subprocess.run(command + [str(file)], capture_output=True, text=True, env=environment)
    if result.returncode == 0:
        raise SystemExit(f"{name}: {title} compiles the mistake")
    if name not in result.stderr or len(re.findall(r"\berror: ", result.stderr)) != 1:
        raise SystemExit(f"{name}: {title} finds other mistakes:\n{result.stderr}")
    return neutral(result.stderr, name, folder)


def make_page(compilers, flags):
    reasons = list(read_reasons())
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        precompiled = {title: precompile(path, title, flags, folder) for title, path in compilers.items()}
        jobs = {(name, title): pool.submit(compile_one, path, title, name, flags, precompiled[title]) for _, name, _ in reasons
                for title, path in compilers.items()}
        output = {key: job.result() for key, job in jobs.items()}
    page, contents, chapter_before = [], [], None
    for chapter, name, sentence in reasons:
        when, wrong, right = programs((TESTS / f"{name}.cpp").read_text())
        if chapter != chapter_before:
            page.append(f"## {chapter[0].upper()}{chapter[1:]}\n")
            contents.append(f"\n*{chapter[0].upper()}{chapter[1:]}*\n")
            chapter_before = chapter
        contents.append(f"- [`{name}`](#{name})")
        page.append(f"### {name}\n\n> {sentence}\n\nWhen {when}.\n\n```cpp\n{wrong}\n```\n")
        for title in compilers:
            page.append(f"{title}:\n\n```text\n{output[name, title]}\n```\n")
        page.append(f"Instead of the last part:\n\n```cpp\n{right}\n```\n")
    return HEAD + "\n".join(contents) + "\n\n" + "\n".join(page)


def comparable(page):
    """Without lines of headers, and without the device that Kokkos was built for."""
    page = re.sub(r"Kokkos::Device<[\w:]+, [\w:]+>", "Kokkos::Device<...>", page)
    page = re.sub(r"auto:\d+", "auto", page)  # g++ counts them, those of all headers, too
    return re.sub(r"(\.hpp|\.h|\.cpp):\d+(:\d+)?", r"\1", page).splitlines(keepends=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--flags", type=pathlib.Path, required=True, help="compile_fail_shared/flags.cmake of a configured build")
    arguments.add_argument("--check", action="store_true", help="compare the page instead of writing it")
    given = arguments.parse_args()
    compilers = find_compilers()
    missing = [title for title in COMPILERS if title not in compilers]
    if missing:
        print(f"SKIPPED: docs/errors.md shows the output of {' and '.join(COMPILERS)}; not installed: {', '.join(missing)}")
        return SKIPPED
    page = make_page(compilers, read_flags(given.flags))
    if not given.check:
        PAGE.write_text(page)
        return 0
    difference = list(difflib.unified_diff(comparable(PAGE.read_text()), comparable(page), "docs/errors.md", "what it should say", n=1))
    if difference:
        sys.stdout.writelines(difference[:200])
        print("docs/errors.md is out of date; write it anew with docs/make_errors_page.py --flags", given.flags)
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
