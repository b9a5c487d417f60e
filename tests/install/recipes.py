#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The recipes of cmake/packaging agree with the build: recipes.py CHECKOUT

Spack's is run, with a stand-in for Spack that records what it says, for each combination of its variants. conda's is
read as YAML, and rendered where rattler-build's Python package is at hand. Versions, ranges and options have to be
those of version.hpp, OstrakaDependencies.cmake and CMakeLists.txt.
"""

import itertools
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(sys.argv[1]).resolve()
PACKAGING = ROOT / "cmake/packaging"
failures = []
skipped = []


def check(holds, sentence):
    if not holds:
        failures.append(sentence)


def text(path):
    return (ROOT / path).read_text()


VERSION = ".".join(re.findall(r"^#define OSTRAKA_VERSION_\w+ (\d+)$", text("include/ostraka/version.hpp"),
                              re.MULTILINE))
KOKKOS_FIRST = re.search(r"set\(OSTRAKA_KOKKOS_FIRST (\S+)\)", text("cmake/OstrakaDependencies.cmake"))[1]
KOKKOS_BEFORE = re.search(r"set\(OSTRAKA_KOKKOS_BEFORE (\S+)\)", text("cmake/OstrakaDependencies.cmake"))[1]
CMAKE = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+?)(?:\.\.\.|\))", text("CMakeLists.txt"))[1]
OPTIONS = set(re.findall(r"^option\((\w+)", text("CMakeLists.txt"),
                         re.MULTILINE)) | {"BUILD_SHARED_LIBS", "CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER"}


class Spec(dict):
    """A concrete spec, as far as the recipe asks: which variants are on, and that Kokkos is there."""

    def satisfies(self, asked):
        if asked.startswith("^"):
            return asked == "^kokkos" and not self.get("plan_only")
        return all(self.get(name, False) == (sign == "+") for sign, name in re.findall(r"([+~])(\w+)", asked))


class CMakePackage:
    def define(self, name, value):
        return name, value

    def define_from_variant(self, name, variant):
        check(variant in self.variants, f"spack: {name} follows the variant {variant}, which is not declared")
        return name, bool(self.spec.get(variant))

    def __getitem__(self, name):
        return types.SimpleNamespace(kokkos_cxx="kokkos's compiler")


def spack():
    said = {name: [] for name in ("version", "variant", "depends_on", "requires", "conflicts", "license")}
    package = types.ModuleType("spack.package")
    for name, calls in said.items():
        setattr(package, name, lambda *given, calls=calls, **named: calls.append((given, named)))
    build_system = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    build_system.CMakePackage = CMakePackage
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["spack.package"] = package
    sys.modules["spack_repo.builtin.build_systems.cmake"] = build_system
    path = PACKAGING / "spack/spack_repo/ostraka/packages/ostraka/package.py"
    names = {"__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), names)
    recipe = names["Ostraka"]
    check(recipe.git == ROOT.as_uri(),
          f"spack: the recipe takes its source from {recipe.git} and not from its checkout")
    depends = [given[0] for given, _ in said["depends_on"]]
    check(f"cmake@{CMAKE}:" in depends, f"spack: the oldest CMake has to be {CMAKE}")
    check(f"kokkos@{KOKKOS_FIRST}:{int(KOKKOS_BEFORE) - 1}" in depends,
          f"spack: Kokkos has to be {KOKKOS_FIRST} or later and before {KOKKOS_BEFORE}")
    variants = {given[0]: named for given, named in said["variant"]}
    used = re.findall(r"[+~](\w+)",
                      " ".join(named.get("when", "") for calls in said.values() for _, named in calls
                               if "^" not in named.get("when", "")))
    for name in used:
        check(name in variants, f"spack: a condition names the variant {name}, which is not declared")
    for values in itertools.product((False, True), repeat=len(variants)):
        package = recipe()
        package.variants = variants
        package.spec = Spec(zip(variants, values))
        if not all(package.spec.satisfies(named["when"]) for name, named in variants.items() if package.spec[name]
                   and "when" in named):
            continue  # Spack concretizes no such spec
        for name, value in package.cmake_args():
            check(name in OPTIONS, f"spack: CMakeLists.txt has no option {name}")
            if name == "BUILD_SHARED_LIBS" and value:
                check(package.spec["compiled"], "spack: a shared library that is not built")
    check(len(variants) > 3 and re.search(r"^\s+namespace: ostraka$", (path.parents[2] / "repo.yaml").read_text(),
                                          re.MULTILINE), "spack: repo.yaml has another namespace")


def conda():
    path = PACKAGING / "conda/recipe.yaml"
    try:
        import yaml
    except ImportError:
        skipped.append("conda's recipe is not read: this Python has no yaml")
        return
    recipe = yaml.safe_load(path.read_text())
    check(recipe["context"]["version"] == VERSION, f"conda: the version has to be {VERSION}")
    check((path.parent / recipe["source"]["path"]).resolve() == ROOT,
          "conda: the source is another folder than this checkout")
    requirements = recipe["requirements"]
    check(f"cmake >={CMAKE}" in requirements["build"], f"conda: the oldest CMake has to be {CMAKE}")
    for kind in ("host", "run"):
        check(f"kokkos >={KOKKOS_FIRST},<{KOKKOS_BEFORE}" in requirements[kind],
              f"conda: Kokkos ({kind}) has to be {KOKKOS_FIRST} or later and before {KOKKOS_BEFORE}")
    for name in re.findall(r"-D(\w+)=", " ".join(recipe["build"]["script"])):
        check(name in OPTIONS, f"conda: CMakeLists.txt has no option {name}")
    for file in recipe["tests"][0]["package_contents"]["include"]:
        check((ROOT / "include" / file).is_file(), f"conda: there is no {file}")
    try:
        import rattler_build
    except ImportError:
        skipped.append("conda's recipe is not rendered: this Python has no py-rattler-build")
        return
    try:
        rendered = rattler_build.Stage0Recipe.from_yaml(path.read_text()).render(rattler_build.VariantConfig())
        check(rendered, "conda: nothing was rendered")
    except rattler_build.RattlerBuildError as error:
        failures.append(f"conda: rattler-build refuses the recipe: {error}")


spack()
conda()
for sentence in dict.fromkeys(failures):
    print(sentence)
for sentence in skipped:
    print(f"SKIPPED: {sentence}")
sys.exit(1 if failures else 0)
