# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The public members of a class of the headers, with their `///` comments; of an enumeration its values.

Left out are what only says why a line does not compile (its body is a `reason::raise`), and constructors, destructors
and assignments without a comment. An overload right below another has the comment of that one.
"""

import dataclasses
import re

from public_names import behind, blank, comment_above, end_of_declaration, name_of, without_head


@dataclasses.dataclass
class Member:
    name: str
    kind: str  # function, variable, type, value
    shown: str  # as a table shows it
    comment: str


def in_one_line(text):
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", text)).strip()


def behind_class_head(code):
    """The place of the brace that opens a class's or an enumeration's body, or -1."""
    at = len(code) - len(without_head(code))
    opens = code.find("{", at)
    return -1 if opens < 0 or ";" in code[at:opens] else opens


def bases_of(declaration):
    """The names of the public bases: `tensor_mesh` of `class mesh : public tensor_mesh<Ms...>`."""
    code = blank(declaration.signature)
    head = code[len(code) - len(without_head(code)):behind_class_head(code)]
    if " : " not in head:
        return []
    is_struct = head.startswith("struct")
    bases, at = head.split(" : ", 1)[1], 0
    found = []
    while at < len(bases):
        begin = at
        while at < len(bases) and bases[at] != ",":
            at = behind(bases, at, "<>") if bases[at] == "<" else at + 1
        base = re.match(r"(public|private|protected)?\s*(?:[\w]+::)*(\w+)", bases[begin:at].strip())
        if base[1] == "public" or (is_struct and not base[1]):
            found.append(base[2])
        at += 1
    return found


def concepts_for_parameters(head, text):
    """`extent(Axis)` for `extent(A)` of `template <Axis A>`: what a template parameter of a concept stands for."""
    found = re.match(r"template\s*<", head)
    parameters = head[found.end():behind(head, head.index("<"), "<>") - 1] if found else ""
    for concept, name in re.findall(r"\b([A-Z]\w+)(?:\.\.\.)? (\w+)", parameters):
        text = re.sub(rf"\b{name}\b", concept, text)
    return text


def shown_function(head, name):
    """`std::int64_t global_offset(Axis)`: without template parameters, attributes and what a caller need not know."""
    said = re.sub(r"^((constexpr|consteval|static|explicit|inline|virtual|KOKKOS_\w*FUNCTION)\s+)+", "",
                  without_head(head))
    said = re.sub(r"\[\[.*?\]\]\s*|KOKKOS_\w*FUNCTION\s+(constexpr\s+)?", "", said)
    if name.startswith("operator"):
        parameters = said.index("(", said.index("operator") + len("operator") + (2 if name == "operator()" else 0))
    else:
        parameters = re.search(rf"(?<![\w:]){re.escape(name)}\s*\(", said).end() - 1
    ends = behind(said, parameters, "()")
    of_rvalues = re.match(r"\s*(const)?\s*&&", said[ends:])
    said = said[:ends] + (" &&" if of_rvalues else "")
    return concepts_for_parameters(head, re.sub(r"^auto\s+(?!operator)", "", said))


def member_of(head, text, class_name):
    """(kind, name, as it is shown), or None where nothing is declared."""
    plain = re.sub(r"^((constexpr|explicit|inline|KOKKOS_\w*FUNCTION)\s+)+", "", without_head(head))
    if re.match(rf"~?{class_name}\s*\(", plain):
        name = plain[:plain.index("(")].strip()
        return "constructor", name, shown_function(in_one_line(head), name)
    named = name_of(head)
    if named is None:
        return None
    kind, name, of = named
    if of.endswith(f"{name}::{name}"):  # constructors of a base
        return None
    if kind == "function":
        return kind, name, shown_function(in_one_line(head), name)
    if kind == "variable":
        said = re.sub(r"\[\[.*?\]\]\s*", "", without_head(in_one_line(text)))
        said = re.sub(r"^((static|constexpr|inline|mutable)\s+)+", "", said)
        return kind, name, said[:re.search(rf"\b{name}\b(\[\w*\])*", said).end()]
    return "type", name, name


def values_of(declaration):
    """The values of an enumeration."""
    text, code = declaration.signature, blank(declaration.signature)
    lines = text.split("\n")
    opens = behind_class_head(code)
    for found in re.finditer(r"(\w+)[^,}]*[,}]", code[opens + 1:]):
        name = found[1]
        yield Member(name, "value", name, comment_above(lines, code.count("\n", 0, opens + 1 + found.start(1))))


def members_of(declaration):
    """The public members, in the order of the header."""
    text = declaration.signature
    code = blank(text)
    opens = behind_class_head(code)
    if opens < 0:
        return []
    head = without_head(code)
    if head.startswith("enum"):
        return list(values_of(declaration))
    lines, found, before = text.split("\n"), [], None
    is_public, at, ends = head.startswith(("struct", "union")), opens + 1, behind(code, opens, "{}") - 1
    while True:
        at += len(code[at:]) - len(code[at:].lstrip())
        if at >= ends:
            return found
        if code[at] in "};":
            at += 1
            continue
        if access := re.compile(r"(public|private|protected)\s*:(?!:)").match(code, at):
            is_public, at = access[1] == "public", access.end()
            continue
        begin, line = at, code.count("\n", 0, at)
        at, body = end_of_declaration(code, begin)
        does_not_compile = body is not None and re.match(r"\{\s*reason::raise\b", code[body:])
        until = body if body is not None else at
        named = member_of(code[begin:until], text[begin:until], declaration.name)
        if not is_public or named is None or does_not_compile:
            continue
        kind, name, shown = named
        last_line = code.count("\n", 0, at - 1)
        comment = comment_above(lines, line) or comment_above(lines, last_line)
        if not comment and kind == "function" and before and before[:2] == (name, line - 1):
            comment = before[2]
        before = name, last_line, comment
        if not comment and (kind == "constructor" or name == "operator="):
            continue
        member = Member(name, kind, shown, comment)
        if member not in found:
            found.append(member)
