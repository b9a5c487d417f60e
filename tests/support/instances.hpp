// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The oracle's templates over element types, compiled once for the tests of the surface and of the engine, beside the
/// engine's own instances of ostraka::compiled: here they are declared extern; shared/*.cpp, which name the element
/// types, define them.

#include <ostraka/compiled/compiled_engine.hpp>
#include <ostraka/ostraka.hpp>

#include "support/on_meshes.hpp"

/// WHERE is `extern`, or nothing where they are defined.
#define OSTRAKA_TEST_INSTANCES(WHERE, T)                                                                               \
  WHERE template struct ostraka::testing::global_tensor<T>;                                                            \
  WHERE template ostraka::testing::global_tensor<T> ostraka::testing::whole_numbers(                                   \
      std::string const&, extents_by_letter const&, std::uint64_t);                                                    \
  WHERE template ostraka::testing::global_tensor<T> ostraka::testing::product_by_loops(                                \
      std::string const&, global_tensor<T> const&, global_tensor<T> const&);                                           \
  WHERE template ostraka::testing::global_tensor<T> ostraka::testing::sum_by_loops(std::string const&,                 \
                                                                                   global_tensor<T> const&);           \
  WHERE template std::vector<T> ostraka::testing::elements_on(placement const&, test_mesh const&,                      \
                                                              global_tensor<T> const&, int);                           \
  WHERE template std::vector<T> ostraka::testing::combined_elements(placement const&, test_mesh const&,                \
                                                                    std::vector<T>);                                   \
  WHERE template void ostraka::testing::write_elements(std::vector<T> const&, T*);                                     \
  WHERE template std::vector<T> ostraka::testing::read_elements(T const*, std::size_t);                                \
  WHERE template std::int64_t ostraka::testing::differences(placement const&, test_mesh const&, std::vector<T> const&, \
                                                            global_tensor<T> const&);

OSTRAKA_TEST_INSTANCES(extern, float)
OSTRAKA_TEST_INSTANCES(extern, double)
OSTRAKA_TEST_INSTANCES(extern, Kokkos::complex<float>)
OSTRAKA_TEST_INSTANCES(extern, Kokkos::complex<double>)
OSTRAKA_TEST_INSTANCES(extern, std::int32_t)
OSTRAKA_TEST_INSTANCES(extern, std::int64_t)
OSTRAKA_TEST_INSTANCES(extern, ostraka::float16)
OSTRAKA_TEST_INSTANCES(extern, ostraka::bfloat16)
