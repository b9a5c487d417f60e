#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/reference.md: the public members of the types that programs hold, each with what its comment says.

    docs/make_reference_page.py            write the page
    docs/make_reference_page.py --check    compare it instead; fails, too, on a member that no comment documents

All of it is read from the headers (public_members.py). CHAPTERS says which types, and in which order; what a type
inherits stands with it.
"""

import difflib
import re
import sys

import public_members
from public_names import INCLUDE, ROOT, read_header
from reference_pages import in_one_line, table_of_members

PAGE = ROOT / "docs/reference.md"

HEAD = """# Reference of members

<!-- Written by docs/make_reference_page.py from the comments of the headers; edit those. -->

This page lists the public members of the types that a program holds, with the headers' comments. For functions, see
[operations](operations.md) and [at a glance](at-a-glance.md). The target `site` (CMake) makes a site with a page for
each public name.

A parameter that is written as a concept (`Axis`, `MeshAxis`, `Tensor`) takes any argument of that kind: `A.extent(I)`.
A member with `&&` after it ends the object that it is called on: `std::move(p).wait()`. Each table ends with the
members that only the library uses. The page leaves out copies, moves and destructors that do nothing unusual, and
members whose only purpose is an error message.
"""

# (chapter, what stands below its title, [(how a program writes the type, its classes, by their names in ostraka)]). Of
# two classes with a member of one name the first one's counts; its comment may be the other one's.
CHAPTERS = [
    ("Tensors", "", [
        ("os::tensor<T, dims…>", ["basic_tensor", "detail::unnamed_tensor", "detail::unnamed_block"]),
        ("A.range(i)", ["planner::range"]),
        ("os::own_extent", ["own_extent"]),
        ("os::on_root<View>", ["on_root"]),
    ]),
    ("Arrays with ghost layers", "", [("os::ghosted_array<T, dims…>", ["basic_ghosted_array"])]),
    ("Meshes", "", [("os::mesh<X, …>", ["mesh", "tensor_mesh"])]),
    ("Plans", "", [
        ("os::plan<Out…>(A, B, …)", ["constant_plan", "named_plan", "planner::einsum_plan"]),
        ("os::passes_within", ["passes_within"]),
        ("plan.steps[i]", ["planner::planned_step"]),
        ("os::step", ["step"]),
        ("os::reshard_plan<Out…>(A, mesh)", ["mesh_reshard_plan"]),
        ("os::plan_blocks<T, dims…>(mesh, …)", ["blocks_plan"]),
        ("os::scalapack_array", ["scalapack_array"]),
    ]),
    ("Operations under way", "", [
        ("os::pending<Result, …>", ["pending"]),
        ("os::pending_and<Pending, Last>", ["pending_and"]),
        ("os::pending_halo<Padded>", ["pending_halo"]),
    ]),
    ("Trees", "A tree is your own struct of tensors, so its members are yours. These names make trees, walk them, and "
              "stand in their leaves:\n\n{names in tree}\n", [
        ("os::leaf_to_make<T, Mesh, Sizes>", ["leaf_to_make"]),
        ("os::leaf_name<T, Sharding>", ["leaf_name"]),
        ("os::field<Pointer>", ["field"]),
    ]),
    ("Files", "", [
        ("os::pending_save", ["pending_save"]),
        ("os::stored_as", ["stored_as"]),
        ("os::dataset", ["dataset"]),
        ("os::chunked(…)", ["chunks"]),
        ("os::xdmf_grid", ["xdmf_grid"]),
    ]),
    ("Bodies of os::shard_map", "", [
        ("os::varying_int<X, …>", ["varying_int"]),
        ("os::neighbours<T, axes>", ["neighbours"]),
        ("os::neighbour<axes>", ["neighbour"]),
        ("os::pipeline_slots", ["pipeline_slots"]),
    ]),
    ("Training", "", [
        ("os::value_and_grad(f)(…)", ["value_with_gradient", "value_with_gradient_and_aux"]),
        ("os::gradient_plan<…>(f)", ["predicted_gradient"]),
        ("plan.forward, plan.backward", ["predicted_operations"]),
        ("os::sgd", ["sgd"]),
        ("os::momentum", ["momentum"]),
        ("os::adam", ["adam"]),
        ("os::adamw", ["adamw"]),
        ("os::loss_scale", ["loss_scale"]),
    ]),
    ("Networks", "", [
        ("os::kv_cache<Keys, Values>", ["kv_cache"]),
        ("os::routing<…>", ["routing"]),
        ("os::expert_imbalance", ["expert_imbalance"]),
    ]),
    ("Prices", "", [
        ("os::cost<X, …>", ["cost"]),
        ("os::predicted_time<X, …>", ["predicted_time"]),
        ("os::budget<f>()", ["step_budget"]),
        ("os::memory_counter", ["engine::memory_counter"]),
    ]),
    ("The program", "", [
        ("os::environment", ["environment"]),
        ("os::threads", ["threads"]),
        ("os::with_instance", ["with_instance"]),
        ("os::error", ["error"]),
        ("os::sizes<…>", ["sizes"]),
    ]),
]

# Bases of which nothing is a member that a program calls, or that name others.
BASES_ELSEWHERE = {
    "tensor_parts": ["detail::unnamed_tensor", "detail::unnamed_block"], "unnamed_tensor": ["detail::unnamed_tensor"],
    "elements_elsewhere": [],
    "remove_cvref_t": ["named_plan"], "einsum_plan": ["planner::einsum_plan"], "runtime_error": [],
}


def classes(wanted):
    """The declaration that defines each class of a name."""
    found = {}
    last = "|".join(name.split("::")[-1] for name in wanted)
    defines = re.compile(rf"\b(?:class|struct)\s+(?:\[\[[^]]*\]\]\s*)?(?:{last})\b")
    for path in sorted(INCLUDE.rglob("*.hpp")):
        if not defines.search(path.read_text()):
            continue
        for declaration in read_header(path):
            name = f"{declaration.namespace}::{declaration.name}".removeprefix("ostraka::")
            is_class = declaration.kind == "type" and public_members.behind_class_head(declaration.signature) >= 0
            if is_class and name in wanted:
                found.setdefault(name, declaration)
    if missing := set(wanted) - set(found):
        raise SystemExit(f"no header defines {', '.join(sorted(missing))}; correct CHAPTERS in "
                         "docs/make_reference_page.py")
    return found


def members_of_type(names, found):
    """The members of a type and of its bases; one without a comment has that of a base's member of the same name."""
    for name in names:
        for base in public_members.bases_of(found[name]):
            if absent := set(BASES_ELSEWHERE.get(base, [base])) - set(names):
                raise SystemExit(f"{name} inherits from {', '.join(absent)}; name it beside {name} in CHAPTERS in "
                                 "docs/make_reference_page.py")
    members, comments = [], {}
    for name in names:
        own = public_members.members_of(found[name])
        for member in own:
            comments.setdefault(member.name, member.comment)
            comments[member.name] = comments[member.name] or member.comment
        before = {m.name for m in members}
        members += [m for m in own if m.name not in before]
    for member in members:
        member.comment = member.comment or comments[member.name]
    return members


def table_of_names(room):
    """The public names of a room's headers, each with its first comment."""
    said = {}
    for path in sorted((INCLUDE / "ostraka" / room).glob("*.hpp")):
        for declaration in read_header(path):
            if declaration.is_public and not said.get(declaration.name):
                said[declaration.name] = declaration.comment
    return "| | |\n|---|---|\n" + "\n".join(f"| `os::{name}` | {in_one_line(said[name])} |" for name in sorted(said))


def page():
    """(the page, the members that no comment documents)"""
    found = classes({name for _, _, types in CHAPTERS for _, names in types for name in names})
    out, missing = [HEAD], []
    for title, about, types in CHAPTERS:
        about = re.sub(r"\{names in (\w+)\}", lambda m: table_of_names(m[1]), about)
        out.append(f"## {title}\n" + (f"\n{about}" if about else ""))
        for written, names in types:
            members = members_of_type(names, found)
            headers = list(dict.fromkeys(found[name].header for name in names))
            said = next((found[name].comment for name in names if found[name].comment), "")
            sources = ", ".join(f"[{header.removeprefix('ostraka/')}](../include/{header})" for header in headers)
            out.append(f"### `{written}`\n\n{in_one_line(said)}\n\nDeclared in "
                       f"{sources}.\n\n{table_of_members(members)}")
            missing += [f"{names[0]}::{m.name}, in " + ", ".join(dict.fromkeys(found[n].header for n in names))
                        for m in members if not m.comment]
    return "\n".join(out).rstrip() + "\n", missing


def main():
    text, missing = page()
    for member in missing:
        print(f"{member}, has no /// comment")
    if "--check" not in sys.argv:
        PAGE.write_text(text)
        return 0
    written = PAGE.read_text() if PAGE.exists() else ""
    changes = list(difflib.unified_diff(written.splitlines(), text.splitlines(), "docs/reference.md",
                                        "what the headers say", lineterm="", n=0))
    if changes:
        print("\n".join(changes[:40]) + "\ndocs/make_reference_page.py writes the page anew")
    rows = len(re.findall(r"^\| `", text, re.MULTILINE))
    print(f"{rows} members, {len(missing)} without a /// comment")
    return 1 if missing or changes or rows < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
