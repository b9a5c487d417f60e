#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every name that a page gives the reader to type exists: names_in_pages.py SOURCE

`os::name` is a public name, and what follows it after a further :: is in the headers. `OSTRAKA_NAME` is in the headers,
in CMake's files or in a script. Snippets are compiled, but most names of a page stand in its text and its tables.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "docs"))
import public_names  # noqa: E402

# Namespaces, and names that a design page rejects.
OTHERS = {"operation", "dlpack", "paged_attention", "OSTRAKA_INLINE"}
WRITTEN_BY_PROGRAMS = {"docs/errors.md"}


def words(*patterns):
    found = set()
    for pattern in patterns:
        for path in ROOT.glob(pattern):
            if path.is_file():
                found |= set(re.findall(r"\w+", path.read_text(errors="ignore")))
    return found


def check():
    public = set(public_names.public_names()) | OTHERS
    headers = words("include/**/*.hpp")
    macros = headers | OTHERS | words(*(f"{folder}CMakeLists.txt"
                                        for folder in ("", "bench/", "examples/**/", "tests/**/")), "cmake/**/*",
                                        ".ci/*")
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")]
    names, faults = 0, []
    for page in pages:
        place = page.relative_to(ROOT).as_posix()
        if place in WRITTEN_BY_PROGRAMS:
            continue
        for number, line in enumerate(page.read_text().splitlines(), 1):
            for name, more in re.findall(r"\bos::(\w+)((?:::\w+)*)", line):
                names += 1
                if name not in public and not name.endswith("_"):  # `os::start_…` stands for several
                    faults.append(f"{place}:{number}: os::{name} is no public name")
                faults += [f"{place}:{number}: os::{name}{more}: no header has {word}" for word in more.split("::")[1:]
                           if word not in headers]
            for name in re.findall(r"\bOSTRAKA_\w*[A-Z0-9]\b", line):
                names += 1
                if name not in macros:
                    faults.append(f"{place}:{number}: there is no {name}")
    if not names:
        faults.append("no page has a name")
    print("\n".join(faults) or f"{names} names in {len(pages)} pages")
    return 1 if faults else 0


sys.exit(check())
