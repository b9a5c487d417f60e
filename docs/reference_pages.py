# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A page for each public name: what its comments say, its signatures, what its header says of shapes and moves, its
errors, pages, and source."""

import collections
import os
import re

from public_members import members_of
from public_names import INCLUDE, ROOT, file_comment

KINDS = {"function": "functions", "variable": "objects", "type": "types", "concept": "concepts", "alias": "types",
         "macro": "macros", "namespace": "namespaces"}
SIGNATURE_LINES = 60
MEANS = 30  # a name that the tests of more reasons call, as os::tensor, is their means and not their subject


def file_of(name):
    """The file of a name's page: operators have no names that a file may have, and some systems take capitals for small
    letters."""
    if name.startswith("operator") and not name[8:9].isalnum():
        return "operator-" + "-".join(f"{ord(c):x}" for c in name[8:].strip()) + ".md"
    return re.sub(r"^([A-Z])", r"concept-\1",
                  name) + ".md" if name[0].isupper() and not name.startswith("OSTRAKA") else name + ".md"


def as_markdown(comment):
    """A comment as Markdown: indented lines are code, and angle brackets are text."""
    out, code = [], False
    comment = re.sub(r"`[^`\n]*\n[^`\n]*`", lambda m: m[0].replace("\n", " "), comment)
    for line in comment.split("\n"):
        indented = line.startswith("    ")
        if indented and not code:
            out += ["", "```cpp"]
        elif code and not indented and line.strip():
            out += ["```", ""]
        if indented or line.strip():
            code = indented
        if not code:
            parts = re.split(r"(`[^`]*`)", line)
            line = "".join(p if p.startswith("`") else re.sub(r"[<>|]", lambda m: f"&#{ord(m[0])};",
                                                              re.sub(r"([*_\\[\]])", r"\\\1", p)) for p in parts)
            line = re.sub(r"@(throws|returns?|param|pre|post)\b", lambda m: f"\n\n**{m[1].capitalize()}**", line)
        out.append(line[4:] if code else line)
    return "\n".join(out + (["```"] if code else [])).strip()


# Names that comments mention plainly, and what they are called with.
NAMES = re.compile(r"(?<![\w:/])(?:(?:\w+::)+\w+(?:<(?:[^<>]|<[^<>]*>)*>)?|\w+<(?:[^<>]|<[^<>]*>)+>|\w+_\w+)"
                   r"(?:=\w+|\((?:[^()]|\([^()]*\))*\))?")


def in_one_line(comment):
    """A comment as a line of Markdown: without its lines of code, names in backticks."""
    text = re.sub(r":?\n\n?(    [^\n]*\n?)+", ".\n", comment)
    text = re.sub(r"\s+", " ", text).strip()
    text = "".join(part if part.startswith("`") else NAMES.sub(lambda m: f"`{m[0]}`", part)
                   for part in re.split(r"(`[^`]*`)", text))
    text = re.sub(r"\s+", " ", as_markdown(text)).strip()
    return re.sub(r"\*\*(Throws|Returns?|Pre|Post)\*\* *", lambda m: f"*{m[1]}*: ", text)


# Members that the library alone uses show its types, or say so.
OF_THE_LIBRARY = re.compile(r"\b(engine::(?!native_communicator)|detail::|extent_origin)|^For the library",
                            re.IGNORECASE)


def in_order(member):
    """Members that programs call, then constructors and types, then the library's."""
    last = {"constructor": 1, "type": 2}.get(member.kind, 0)
    return (3 if member.kind != "constructor"
            and (OF_THE_LIBRARY.search(member.shown) or OF_THE_LIBRARY.match(member.comment)) else last)


def table_of_members(members):
    rows = (f"`{m.shown}` | {in_one_line(m.comment)}".replace("||", "\\|\\|") for m in sorted(members, key=in_order))
    return "".join(["| | |\n|---|---|\n", *(f"| {row} |\n" for row in rows)]) if members else ""


def errors_by_name():
    """Which reasons, whose programs do not compile, are about which names: those that the wrong part of a test
    calls."""
    found = collections.defaultdict(set)
    chapters = set(re.findall(r"^### (\w+)$", (ROOT / "docs/errors.md").read_text(), re.MULTILINE))
    for path in (ROOT / "tests/compile_fail").glob("*.cpp"):
        reason = path.name.split(".")[0]
        wrong = "\n".join(re.findall(r"#ifdef SHOULD_FAIL\n(.*?)\n#(?:else|endif)", path.read_text(), re.DOTALL))
        if reason in chapters:
            for name in re.findall(r"\bos::(\w+)", wrong):
                found[name].add(reason)
    return collections.defaultdict(set, {name: reasons for name, reasons in found.items() if len(reasons) <= MEANS})


def pages_by_name():
    """The pages of docs/ that speak of a name."""
    found = collections.defaultdict(set)
    for path in [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/design/*.md")]:
        if path.name in ("errors.md", "field-cases.md"):
            continue
        for name in re.findall(r"\b(?:os::|(?=OSTRAKA_))(\w+)", path.read_text()):
            found[name].add(path)
    return found


def snippets_by_name():
    """The shortest snippet that calls a name, and its page, of the pages whose snippets a test compiles."""
    lists = re.findall(r"foreach\(page IN ITEMS ([^)]+)\)", (ROOT / "tests/docs/CMakeLists.txt").read_text())
    found = {}
    for path in (ROOT / f"docs/{name}.md" for names in lists for name in names.split()):
        for snippet in re.findall(r"^```cpp\n(.*?)^```$", path.read_text(), re.DOTALL | re.MULTILINE):
            for name in set(re.findall(r"\b(?:os::|(?=OSTRAKA_))(\w+)", snippet)):
                if name not in found or len(snippet) < len(found[name][0]):
                    found[name] = snippet, path
    return found


def shown(signature):
    lines = signature.split("\n")
    return "\n".join(lines[:SIGNATURE_LINES] + ([f"  // … {len(lines) - SIGNATURE_LINES} lines more"]
                                                if len(lines) > SIGNATURE_LINES else []))


def page(name, declarations, sources, errors, mentions, snippet):
    kind = declarations[0].kind
    title = name if kind == "macro" else f"os::{name}"
    out = [f"# `{title}`\n"]
    headers = list(dict.fromkeys(d.header for d in declarations))
    out.append("".join(f"`#include <{header}>`  \n" for header in headers))
    said = []
    for declaration in declarations:
        if declaration.comment and declaration.comment not in said:
            said.append(declaration.comment)
            out.append(as_markdown(declaration.comment) + "\n")
        out.append(f"```cpp\n{shown(declaration.signature)}\n```\n")
        if declaration.kind == "type" and (table := table_of_members(members_of(declaration))):
            out.append(f"{table}")
        if declaration.header in sources:
            out.append(f"[{declaration.header}, line "
                       f"{declaration.line}](../headers/{sources[declaration.header]}#l{declaration.line:05})"
                       + "{ .source }\n")
    if snippet:
        text, path = snippet
        out.append(f"## For example\n\n```cpp\n{text}```\n\nfrom [{path.stem}](../{path.relative_to(ROOT)}), whose "
                   "lines a test compiles.\n")
    for header in headers:
        about = file_comment((INCLUDE / header).read_text())
        if about:
            out.append(f"## What `{header.rsplit('/')[-1]}` says\n\n{as_markdown(about)}\n")
    if errors:
        out.append("## Errors\n\nPrograms that do not compile, and why:\n\n"
                   + "\n".join(f"- [`{reason}`](../docs/errors.md#{reason})" for reason in sorted(errors)) + "\n")
    if mentions:
        links = (f"- [{path.stem if path.stem != 'README' else path.parent.name}](../{path.relative_to(ROOT)})"
                 for path in sorted(mentions))
        out.append("## Pages\n\n" + "\n".join(links) + "\n")
    return "\n".join(out)


def write(folder, names, sources):
    folder.mkdir(parents=True)
    errors, mentions, snippets = errors_by_name(), pages_by_name(), snippets_by_name()
    for name, declarations in names.items():
        (folder / file_of(name)).write_text(page(name, declarations, sources, errors[name], mentions[name],
                                                 snippets.get(name)))
    groups = collections.defaultdict(list)
    for name, declarations in names.items():
        groups[room_of(declarations[0].header)].append((name, declarations))
    out = ["# Reference\n", "Every public name, by the room of its header. [The headers as Doxygen shows "
                            "them](../headers/index.html) have their sources.\n"]
    for room in sorted(groups):
        out.append(f"## {room}\n\n| | |\n|---|---|")
        for name, declarations in groups[room]:
            comment = next((d.comment for d in declarations if d.comment), "")
            sentence = re.sub(r":$", ".", re.split(r"(?<=\.)\s|\n\n|\n    ", comment)[0].replace("\n", " "))
            out.append(f"| [`{name}`]({file_of(name)}) | {as_markdown(sentence)} |".replace("`|`", "`\\|`"))
        out.append("")
    (folder / "index.md").write_text("\n".join(out))


def room_of(header):
    return os.path.dirname(header).removeprefix("ostraka").strip("/") or "ostraka"


def navigation(names):
    """Lines of mkdocs.yml: the list, and names by their first letter."""
    letters = collections.defaultdict(list)
    for name, declarations in names.items():
        first = name[0].upper()
        if declarations[0].kind == "macro":
            first = "OSTRAKA_…"
        elif file_of(name).startswith("operator-"):
            first = "operators"
        letters[first].append(name)
    lines = ["- reference/index.md"]
    for letter in sorted(letters):
        lines.append(f'- "{letter}":')
        lines += [f'  - "{name}": reference/{file_of(name)}' for name in letters[letter]]
    return lines
