#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/field-cases.md: bug reports of comparable libraries, and what the same lines do here.

    docs/make_field_page.py            write the page
    docs/make_field_page.py --check    compare it instead

All of it is read from tests/field/*.cpp: a FIELD_CASE has the report and the symptom, its operands, `gives` and
`refuses` are the lines of the page, and "// does not compile: NAME" is tests/compile_fail/NAME.cpp. Cases of packaging,
whose tests are projects, stand in tests/field/packaging.txt.
"""

import argparse
import difflib
import pathlib
import re
import sys
import textwrap

from make_errors_page import programs, read_reasons

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASES = ROOT / "tests/field"
MISTAKES = ROOT / "tests/compile_fail"
PAGE = ROOT / "docs/field-cases.md"

SECTIONS = {"N": "Numerics", "S": "Shapes", "A": "Derivatives", "F": "Files", "M": "Misuse", "B": "Building"}

HEAD = """# Bugs that do not compile, or come out right

<!-- Written by docs/make_field_page.py from tests/field; edit those. -->

This page lists publicly reported bugs of libraries that divide tensors, written as lines of Ostraka. A comment after
each line gives its result, worked out by hand, or the error. The lines are tests (`tests/field`): they run on 1 to 4
ranks, on meshes of one and two axes, with and without check mode, and with the operands whole and divided in several
ways. X and Y are mesh axes; `a[I/X, J]` has its axis I divided over X; `gradient(f, p)` is
`os::value_and_grad(f)(p).gradient`. [What can be wrong](errors.md) shows the errors as the compilers print them.
"""

OPEN, CLOSE = "([{", ")]}"


def matching(text, at):
    """The position after the bracket that closes the one at `at`."""
    depth = 0
    quoted = False
    while at < len(text):
        c = text[at]
        if c == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted and c in OPEN:
            depth += 1
        elif not quoted and c in CLOSE:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    raise SystemExit(f"a bracket is not closed: {text[:80]}")


def arguments_of(text):
    """Split at commas that stand in no bracket; <> are brackets where no space is beside them."""
    parts, depth, begin, quoted = [], 0, 0, False
    for at, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif c in OPEN or (c == "<" and re.match(r"\w", text[at - 1]) and text[at + 1] != " "):
            depth += 1
        elif c in CLOSE or (c == ">" and depth > 0 and text[at - 1] not in " -"):
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    return parts + [text[begin:].strip()]


def end_of_statement(text, at):
    while text[at] != ";":
        at = matching(text, at) if text[at] in OPEN else at + 1
    return at


def one_line(text):
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"\s+", " ", text).strip()
    return text.replace("( ", "(").replace("{ {", "{{").replace("} }", "}}")


def simplified(code):
    """As a program would write it: parameters by their names alone, without what the tests need beside."""
    code = re.sub(r"static_cast<void>\(", "(", code)
    code = re.sub(r"\bauto(?: const&?|&)? (?=\w)", "auto ", code)
    code = re.sub(r"\[[&=]?\]\(", "[](", code)
    return code.replace("mesh()", "mesh").replace("file.path()", '"file"')


def as_value(text, operands=None):
    text = text.strip()
    found = re.fullmatch(r"(\w+)\.values", text)
    if found and operands and found[1] in operands:
        return operands[found[1]][1].split(", whole")[0]
    found = re.fullmatch(r"std::vector<[\w:]+>\((.*)\)", text)
    if found:
        inside = arguments_of(found[1]) if found[1] else []
        return f"{inside[0]} times {inside[1]}" if len(inside) == 2 else "{}"
    text = re.sub(r"static_cast<double>\((.*)\)", r"\1", text)
    text = text.replace("not_a_number", "NaN").replace("infinite", "∞")
    return text.replace("{{", "{(").replace("}}", ")}").replace("}, {", "), (")


def with_extents(value, extents):
    """With "2 × 3" behind it where there are several, in the place of those that it has."""
    value = "no elements" if value == "{}" else value
    each = re.findall(r"[^{}, ]+", extents)
    if len(each) == 0 or (len(each) == 1 and "…" not in value):
        return value
    return re.sub(r", \d+( × \d+)+$", "", value) + ", " + " × ".join(each)


def as_operand(right, operands):
    """(axes, elements in words) of what makes an operand, or of the name of one; None where it is none."""
    lies = None
    found = re.match(r"place<os::tensor<(.*?)>>\((.*)\)$", right)
    if found:
        lies, right = ", ".join(arguments_of(found[1])[1:]), found[2]
    found = re.match(r"(numbers|count_up)(?:<[\w:]+>)?\((.*)\)$", right)
    if found:
        parts = arguments_of(found[2])
        letters = parts[0].strip('"')
        values = as_value(parts[2]) if found[1] == "numbers" else "0, 1, 2, …"
        if values == "{}" or len(letters) > 1 or found[1] == "count_up" or "times" in values:
            values = with_extents(values, parts[1])
        return (", ".join(letters) if lies is None else lies), values
    if right in operands:
        return (operands[right][0] if lies is None else lies), operands[right][1]
    return None


SENTENCES = {name: sentence for _, name, sentence in read_reasons()}


def mistake(name):
    """The wrong lines of a compile-fail test, and the sentence that they get."""
    path = MISTAKES / f"{name}.cpp"
    if not path.exists():
        raise SystemExit(f"tests/compile_fail/{name}.cpp, which a case names, is not there")
    source = path.read_text()
    wrong = "\n".join(line for _, line in programs(source)[1] if line
                      and not re.match(r"OSTRAKA_|namespace os |#include", line))
    reason = name.split(".")[0]
    return f"```cpp\n{wrong}\n```\n\ndoes not compile: *{SENTENCES[reason]}* ([{reason}](errors.md#{reason}))\n"


# The parts of a case that the page shows, in the order of the text.
TOKEN = re.compile(
    r"(?:auto const |^ +(?=\w+\.))(?P<made>[\w.]+) =\s"
    r"|for \(auto const& (?P<each>\w+) : \{(?P<of>.*?)\}\)|\bis_the_state\((?P<state>.*)\);"
    r"|\b(?P<under>under)<|\b(?P<gives>gives)\(|\b(?P<refuses>refuses)\(|// does not compile: (?P<mistake>[\w.]+)"
    r"|^ +(?P<call>os::\w+[(<])|\bwritten\((?=\")|file\.write\(safetensors\(R\"\((?P<header>.*?)\)\"", re.MULTILINE)


def where(body, end):
    """The condition that stands behind a statement: "; where X divides 6"."""
    found = re.match(r";\s*// (where .*)", body[end:])
    return f"; {found[1]}" if found else ""


def lines_of(body):
    """(code, remark) of a case, and the mistakes that it names."""
    lines, mistakes, operands, at = [], [], {}, 0
    while found := TOKEN.search(body, at):
        at = found.end()
        if found["call"] and not re.search(r"([;{}]|//[^\n]*)\s*$", body[:found.start()]):
            continue  # it goes on from the line before
        if found["mistake"]:
            mistakes.append(found["mistake"])
        elif found["header"]:
            lines.append((f"// file: {found['header']}", ""))
        elif found[0] == "written(":
            parts = arguments_of(one_line(body[at:matching(body, at - 1) - 1]))
            lines.append((f"// file: fortran_order {parts[0].strip(chr(34))}, shape {parts[1].strip(chr(34))}, "
                          f"{parts[2]}", ""))
        elif found["each"]:
            given = [operands[name] for name in found["of"].split(", ")]
            operands[found["each"]] = (given[0][0], ", or ".join(values for _, values in given))
        elif found["state"]:
            lines.append((simplified(found["state"]), "what was saved"))
        elif found["call"]:
            at = end_of_statement(body, found.start("call"))
            lines.append((simplified(one_line(body[found.start("call"):at])) + ";", ""))
        elif found["made"]:
            end = end_of_statement(body, at)
            right = one_line(body[at:end])
            operand = as_operand(right, operands)
            if operand:
                operands[found["made"]] = operand
                if right.startswith("place"):
                    lines.append((f"// {found['made']}[{operand[0]}] = {operand[1]}", ""))
            elif "gives(" in right:
                continue
            elif not re.search(r"CHECK|t::|elements\(|current_mesh|remove_cvref|order", right):
                code = f"auto {found['made']} = {simplified(right)};"
                if len(code) > 120:
                    lines_of_code = textwrap.dedent(body[body.rindex("\n", 0, found.start()) + 1:end + 1])
                    code = simplified(lines_of_code).replace("auto const", "auto")
                lines.append((code, ""))
            at = end
        elif found["under"]:
            begin = body.index(">(", at) + 1
            parts = arguments_of(one_line(body[begin + 1:matching(body, begin) - 1]))
            names = re.findall(r"auto const&( \w+)?[,)]", parts[-1][:parts[-1].index("{")])
            for value, name in zip(parts, names):
                axes, values = as_operand(value, operands)
                lines.append((f"// {name.strip()}[{axes}] = {values}; whole, and divided", "")) if name else None
            at = body.index("](", begin)
        else:
            end = matching(body, at - 1)
            parts = arguments_of(one_line(body[at:end - 1]))
            if found["gives"]:
                value = with_extents(as_value(parts[1], operands), parts[2] if len(parts) > 2 else "")
                lines.append((simplified(parts[0]), value + where(body, end)))
            else:
                code = re.sub(r"^\[&\] \{ (?:static_cast<void>\((.*)\)|(.*)); \}$", lambda m: m[1] or m[2], parts[0])
                lines.append((simplified(code),
                              "os::error: " + re.sub(r'" ?"', "", parts[1]).strip('"') + where(body, end)))
            at = end
    return lines, mistakes


def reports_in_words(reports):
    links = []
    for report in reports.split(", "):
        repository, number = report.split("#")
        links.append(f"[{report}](https://github.com/{repository}/issues/{number})")
    return ", ".join(links)


def entry(name, reports, symptom, body):
    lines, mistakes = lines_of(body)
    text = [f"**{name}.** {symptom} ({reports_in_words(reports)})\n", "```cpp"]
    width = min(72, max((len(code) for code, remark in lines if remark), default=0))
    for code, remark in lines:
        text.append(f"{code.ljust(width)}    // {remark}" if remark else code)
    return "\n".join([*text, "```\n", *map(mistake, mistakes)])


def read_cases():
    """(section, entry) in the order of the files."""
    case = re.compile(r'^FIELD_CASE\(\s*"(\w+)( [^"]*)?",\s*"([^"]*)",\s*((?:"[^"]*"\s*)+)\) \{$', re.MULTILINE)
    for path in sorted(CASES.glob("*.cpp")):
        source = path.read_text()
        own = re.search(r"^// page: (.*)$", source, re.MULTILINE)
        if not own:
            raise SystemExit(f"{path} says no section of the page: // page: Numerics")
        count = 0
        for found in case.finditer(source):
            count += 1
            end = source.index("\n}\n", found.end())
            symptom = "".join(re.findall(r'"([^"]*)"', found[4]))
            section = SECTIONS.get(found[1][0], own[1])
            yield section, found[1], entry(found[1] + (found[2] or ""), found[3], symptom, source[found.end():end])
        if count != source.count("FIELD_CASE("):
            raise SystemExit(f"{path} has cases that the page does not understand")


def packaging():
    """Lines "B1 | reports | symptom | tests": each test is one that this checkout has."""
    folders = ["install", "spmd", "linking"]
    known = "\n".join((ROOT / "tests" / folder / "CMakeLists.txt").read_text() for folder in folders)
    for line in (CASES / "packaging.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, reports, symptom, tests = (part.strip() for part in line.split("|"))
        for test in tests.split(", "):
            own = test.split(".")[-1]
            project = ROOT / f"tests/install/projects/{own}.cmake"
            is_project = test.startswith("install.configures.") and project.exists()
            if not is_project and not re.search(rf"[(.]{re.escape(own)}[ )\n]", known):
                raise SystemExit(f"packaging.txt: {name} names the test {test}, which is not there")
        held_by = ", ".join(f"`{t}`" for t in tests.split(", "))
        yield name, f"**{name}.** {symptom} ({reports_in_words(reports)}) Held by {held_by}.\n"


def make_page():
    of_section = {section: [] for section in SECTIONS.values()}
    for section, name, text in read_cases():
        of_section[section].append((name, text))
    of_section["Building"] += packaging()
    page = [HEAD]
    for section, cases in of_section.items():
        order = sorted(cases, key=lambda c: ("".join(SECTIONS).find(c[0][0]) % 10 if c[0][0] in SECTIONS else 99,
                                             int(re.search(r"\d+", c[0])[0])))
        page += [f"## {section}\n", *(text for _, text in order)]
    return "\n".join(page)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="compare the page instead of writing it")
    page = make_page()
    if not arguments.parse_args().check:
        PAGE.write_text(page)
        return 0
    there = PAGE.read_text() if PAGE.exists() else ""
    difference = list(difflib.unified_diff(there.splitlines(True), page.splitlines(True), "docs/field-cases.md",
                                           "what it should say", n=1))
    if difference:
        sys.stdout.writelines(difference[:100])
        print("docs/field-cases.md is out of date; write it anew with docs/make_field_page.py")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
