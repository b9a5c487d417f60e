#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The public names of the headers, with their `///` comments: what is declared in namespace ostraka itself, and macros.

    docs/public_names.py            lists the names, and where each is declared
    docs/public_names.py --check    fails on a name that no declaration documents

Declarations are read as clang-format leaves them. A name counts as documented if one of its declarations has a `///`
comment: above it, behind it, or above a group of declarations without an empty line between them. Names in `detail`,
and in the namespaces of planner, engine, operation and reason, are no public names, unless a `using` in ostraka makes
them one; of macros those are that a program writes.
"""

import collections
import dataclasses
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"


# Macros that CMake defines, and macros that headers share.
INNER_MACROS = r"OSTRAKA_(DETAIL_|ENABLE_|FUNCTION$)"


@dataclasses.dataclass
class Declaration:
    namespace: str
    name: str
    kind: str       # function, variable, type, concept, alias, macro, namespace
    header: str     # ostraka/room/header.hpp
    line: int
    signature: str  # as the header has it, without a function's body
    comment: str    # without the slashes
    of: str = ""    # what a using-declaration makes public

    @property
    def is_public(self):
        return (self.namespace == "ostraka" and not self.name.endswith("_")
                and (self.kind != "macro" or not re.match(INNER_MACROS, self.name)))


def blank(text):
    """The same text with comments, strings and preprocessor lines as spaces, so that places and lines stay."""
    pattern = (r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![\w])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/|'
               r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*')

    def spaces(found):
        kept = re.sub(r"[^\n]", " ", found[0])
        return '"' + kept[1:-1] + '"' if found[0][0] in "R\"'" and len(kept) > 1 and "\n" not in kept else kept

    return re.sub(pattern, spaces, text, flags=re.DOTALL | re.MULTILINE)


def behind(text, at, pair):
    """The place behind the bracket that closes the one at `at`."""
    opening, closing = pair
    depth, parentheses = 0, 0
    while at < len(text):
        c = text[at]
        if pair == "<>" and c in "({[":
            at = behind(text, at, {"(": "()", "{": "{}", "[": "[]"}[c])
            continue
        if pair == "<>" and text.startswith(("->", "<=", ">=") + (("<<",) if depth else ()), at):
            at += 2
            continue
        depth += (c == opening) - (c == closing)
        at += 1
        if depth == 0:
            return at
    return at


def without_head(head):
    """A declaration's text behind its template parameters, constraints and attributes."""
    while True:
        head = head.lstrip()
        if head.startswith("[["):
            head = head[head.index("]]") + 2:]
        elif re.match(r"template\s*<", head):
            head = head[behind(head, head.index("<"), "<>"):]
        elif re.match(r"requires\b", head):
            head = head[len("requires"):]
            while True:
                head = head.lstrip().lstrip("!").lstrip()
                if re.match(r"requires\b", head):  # a requires-expression
                    head = head[behind(head, head.index("{"), "{}"):]
                elif head.startswith("("):
                    head = head[behind(head, 0, "()"):]
                else:
                    found = re.match(r"(typename\s+)?[\w:]+", head)
                    head = head[found.end():] if found else ""
                    while re.match(r"\s*<(?!=)|\s*::|\s*\((?=\))", head):
                        head = head.lstrip()
                        if head[0] == "<":
                            head = head[behind(head, 0, "<>"):]
                        elif head[0] == "(":
                            head = head[2:]
                        else:
                            head = head[re.match(r"::\s*\w*", head).end():]
                if not re.match(r"\s*(&&|\|\|)", head):
                    break
                head = head.lstrip()[2:]
        else:
            return head


def name_of(head):
    """(kind, name, what a using-declaration is of), or None where the declaration makes no name of its own."""
    head = without_head(head)
    head = re.sub(r"\b(alignas|decltype|noexcept)\s*\((?:[^()]|\([^()]*\))*\)", "auto", head)
    head = re.sub(r"\[\[[^]]*\]\]", "", head).strip()
    if re.match(r"(static_assert|extern\b|template\b|friend\b|using\s+namespace|public:|[A-Z][A-Z_0-9]+\s*\()",
                head) or not head:
        return None
    if found := re.match(r"concept\s+(\w+)", head):
        return "concept", found[1], ""
    if found := re.match(r"(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+(?:KOKKOS_\w+\s+)?(\w+)\s*(<|)", head):
        return None if found[2] else ("type", found[1], "")
    if found := re.match(r"using\s+(\w+)\s*=", head):
        return "alias", found[1], ""
    if found := re.match(r"using\s+([\w:]+)::(\w+)\s*;", head):
        return "alias", found[2], f"{found[1]}::{found[2]}"
    if found := re.search(r"(::\s*)?\boperator\s*(\(\)|\[\]|\"\"\s*\w+|[^\s\w(]+|\w+)", head):
        if "=" not in head[:found.start()] and "(" not in head[:found.start()]:
            return None if found[1] else ("function", f"operator{found[2]}", "")
    at = 0
    while at < len(head) and head[at] not in "(={;":
        if head[at] == "<":
            before = at
            at = behind(head, at, "<>")
            if re.match(r"\s*[(={;]", head[at:]) and re.search(r"\s[\w]+$", head[:before]):
                return None  # a specialisation
            continue
        at += 1
    found = re.search(r"(::|~)?\s*(\w+)\s*(\[\w*\]\s*)*$", head[:at])
    if not found or found[1] or found.start() == 0:
        return None  # a member of a class, a deduction guide, a macro
    return ("function" if head[at:at + 1] == "(" else "variable"), found[2], ""


def begins_expression(said):
    """Does a brace behind this text open a requires-expression, with parameters or without?"""
    said = said.rstrip()
    if said.endswith(")"):
        at, depth = len(said), 0
        while at > 0:
            at -= 1
            depth += (said[at] == ")") - (said[at] == "(")
            if depth == 0:
                break
        said = said[:at].rstrip()
    return bool(re.search(r"\brequires$", said))


def comment_above(lines, line):
    """The `///` comment that ends above a line (both counted from 0), and the one behind the line."""
    above, text = line - 1, []
    while above >= 0 and re.match(r"\s*///(?!<)", lines[above]):
        text.insert(0, re.sub(r"^\s*/// ?", "", lines[above]))
        above -= 1
    if text and text[0].startswith("@file"):
        text = []
    if found := re.search(r"///<\s*(.*)$", lines[line]):
        text.append(found[1])
        while (line := line + 1) < len(lines) and (found := re.match(r"\s*///<\s*(.*)$", lines[line])):
            text.append(found[1])
    return "\n".join(text).strip()


def file_comment(text):
    found = re.search(r"^/// @file\n((?:///.*\n)*)", text, re.MULTILINE)
    return "\n".join(re.sub(r"^/// ?", "", line) for line in found[1].splitlines()).strip() if found else ""


def read_header(path):
    """The declarations of a header. One without a comment, right below another, has the comment of that one."""
    before = None
    for declaration, last_line in read_declarations(path):
        if (before and not declaration.comment and declaration.line == before[1] + 1
                and declaration.namespace == before[0].namespace):
            declaration.comment = before[0].comment
        before = declaration, last_line
        yield declaration


def end_of_declaration(code, begin):
    """(the place behind a declaration, where its body begins or None): a function ends with its body, all else with a
    semicolon."""
    at = begin
    while at < len(code) and code[at] != ";":
        if code[at] in "([":
            at = behind(code, at, "()" if code[at] == "(" else "[]")
        elif code[at] == "{":
            ends = behind(code, at, "{}")
            said = code[begin:at]
            # A class and an initialiser go on to a semicolon; of a constructor's initialisers the braces stand tight.
            if (not begins_expression(said) and not code[ends:].lstrip().startswith(";") and "(" in said
                    and not re.search(r"[\w>]$", said)
                    and not re.match(r"(struct|class|union|enum|concept|using)\b", without_head(said + "{}"))):
                return ends, at
            at = ends
        else:
            at += 1
    return at + 1, None


def read_declarations(path):
    """(declaration, the line on which it ends), in the order of the header."""
    text = path.read_text()
    lines, code, header = text.split("\n"), blank(text), str(path.relative_to(INCLUDE))
    for found in re.finditer(r"^#\s*define (OSTRAKA_\w+)(\([^)]*\))?", text, re.MULTILINE):
        line = text.count("\n", 0, found.start())
        yield Declaration("ostraka", found[1], "macro", header, line + 1, f"#define {found[1]}{found[2] or ''}",
                          comment_above(lines, line)), line + 1
    at, scopes = 0, []
    while True:
        at += len(code[at:]) - len(code[at:].lstrip())
        if at >= len(code):
            return
        if code[at] in "};":
            if code[at] == "}" and scopes:
                scopes.pop()
            at += 1
            continue
        if found := re.compile(r"(?:inline\s+)?namespace\s*([\w:]*)\s*\{").match(code, at):
            scopes.append(found[1])
            at = found.end()
            continue
        begin, line, namespace = at, code.count("\n", 0, at), "::".join(scopes)
        if found := re.compile(r"namespace\s+(\w+)\s*=\s*([\w:]+)\s*;").match(code, at):
            at = found.end()
            yield Declaration(namespace, found[1], "namespace", header, line + 1, text[begin:at],
                              comment_above(lines, line), found[2]), line + 1
            continue
        at, body = end_of_declaration(code, begin)
        named = name_of(code[begin:body if body is not None else at])
        if named:
            kind, name, of = named
            yield Declaration(namespace, name, kind, header, line + 1,
                              text[begin:body if body is not None else at].rstrip(),
                              comment_above(lines, line), of), code.count("\n", 0, at) + 1


def public_names():
    """Public names in the order of the alphabet, each with its declarations; what a `using` makes public has the
    declarations of what it is of."""
    everything = [d for path in sorted(INCLUDE.rglob("*.hpp")) for d in read_header(path)]
    elsewhere = collections.defaultdict(list)
    for declaration in everything:
        elsewhere[f"{declaration.namespace}::{declaration.name}"].append(declaration)
    names = collections.defaultdict(list)
    for declaration in everything:
        if declaration.is_public:
            names[declaration.name].append(declaration)
            if declaration.of:
                names[declaration.name] += elsewhere.get(f"ostraka::{declaration.of.removeprefix('ostraka::')}", [])
    return dict(sorted(names.items(), key=lambda item: (item[0].lower(), item[0])))


def main():
    names = public_names()
    if "--check" not in sys.argv:
        for name, declarations in names.items():
            print(f"{name}\t{declarations[0].kind}\t" + " ".join(f"{d.header}:{d.line}" for d in declarations))
        return 0
    missing = {name: all_of for name, all_of in names.items() if not any(d.comment for d in all_of)}
    for name, all_of in missing.items():
        print(f"{name} has no /// comment: " + ", ".join(f"{d.header}:{d.line}" for d in all_of))
    print(f"{len(names)} public names, {len(missing)} without a /// comment")
    return 1 if missing or len(names) < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
