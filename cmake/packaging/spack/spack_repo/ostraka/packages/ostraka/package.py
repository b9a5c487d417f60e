# SPDX-FileCopyrightText: The Ostraka authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   spack repo add cmake/packaging/spack/spack_repo/ostraka
#   spack install ostraka +compiled
#
# Installs the checkout that this file is part of.

import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Ostraka(CMakePackage):
    """Sharded tensors with named axes on Kokkos and MPI: the axes and the sharding of a tensor are its C++ type, an
    ill-sharded program does not compile, and the communication of every einsum is known before it runs."""

    git = pathlib.Path(__file__).resolve().parents[7].as_uri()

    license("Apache-2.0 WITH LLVM-exception")

    version("main", branch="main")

    variant("plan_only", default=False, description="ostraka::plan alone: shardings and plans without Kokkos and MPI")
    variant("mpi", default=True, when="~plan_only", description="Move data between devices with MPI")
    variant("blas", default=True, when="~plan_only", description="Use BLAS libraries for local contractions")
    variant("compiled", default=False, when="~plan_only",
            description="Build the engine as a library, ostraka::compiled")
    variant("shared", default=True, when="+compiled", description="Build ostraka::compiled as a shared library")

    depends_on("cxx", type="build")
    depends_on("cmake@3.23:", type="build")
    depends_on("kokkos@3.4:5", when="~plan_only")
    depends_on("mpi@3.1:", when="+mpi")
    depends_on("openblas", when="+blas")
    requires("^kokkos +shared", when="+shared", msg="a shared ostraka::compiled needs a shared Kokkos")
    requires("^kokkos +pic", when="+compiled ~shared ^kokkos ~shared")
    requires("^openblas threads=openmp", when="+blas ^kokkos +openmp ^openblas")

    conflicts("%gcc@:11", msg="Ostraka needs g++ 12 or later")
    conflicts("%clang@:15", msg="Ostraka needs clang 16 or later")

    def cmake_args(self):
        args = [
            self.define("OSTRAKA_BUILD_TESTS", False),
            self.define("OSTRAKA_BUILD_EXAMPLES", False),
            self.define_from_variant("OSTRAKA_PLAN_ONLY", "plan_only"),
            self.define_from_variant("OSTRAKA_ENABLE_MPI", "mpi"),
            self.define_from_variant("OSTRAKA_ENABLE_BLAS", "blas"),
            self.define_from_variant("OSTRAKA_BUILD_COMPILED", "compiled"),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
        ]
        if self.spec.satisfies("^kokkos+rocm"):
            args.append(self.define("CMAKE_CXX_COMPILER", self.spec["hip"].hipcc))
        elif self.spec.satisfies("^kokkos"):
            args.append(self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx))
        return args
