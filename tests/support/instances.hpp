// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// What the engine, and the oracle of tests, do with elements of a type, compiled once for the tests of the surface and of the engine: here it is said
/// to be elsewhere, in shared/*.cpp, which name the element types. Every test would compile it anew, and take most of its time for it.

#include <ostraka/ostraka.hpp>

#include "support/on_meshes.hpp"

namespace ostraka::testing {

using instance_space = Kokkos::DefaultExecutionSpace;

}  // namespace ostraka::testing

#define OSTRAKA_TEST_RANK_INSTANCES(WHERE, T, RANK)                                                                                                         \
  WHERE template class ostraka::detail::unnamed_tensor<T, RANK, ostraka::testing::instance_space::device_type>;                                             \
  WHERE template ostraka::detail::unnamed_tensor<T, RANK, ostraka::testing::instance_space::device_type>                                                    \
  ostraka::detail::allocate_unnamed<T, RANK, ostraka::testing::instance_space::device_type>(std::shared_ptr<ostraka::engine::device_mesh const> const&,     \
                                                                                            ostraka::engine::locale const&, ostraka::planner::spec const&);

/// WHERE is `extern`, or nothing where they are made.
#define OSTRAKA_TEST_INSTANCES(WHERE, T)                                                                                                                    \
  WHERE template void ostraka::engine::run(ostraka::testing::instance_space const&, ostraka::engine::locale const&, ostraka::planner::plan_view const&,     \
                                           ostraka::engine::local_block<ostraka::testing::instance_space, T>*, ostraka::engine::region<T> const&,           \
                                           ostraka::engine::update<T> const&);                                                                              \
  WHERE template void ostraka::engine::run(ostraka::testing::instance_space const&, ostraka::engine::locale const&, ostraka::planner::plan_view const&,     \
                                           T const* const*, T*, ostraka::engine::update<T> const&, ostraka::engine::run_memory<T>&);                        \
  WHERE template void ostraka::engine::run(ostraka::testing::instance_space const&, ostraka::engine::locale const&, ostraka::planner::reshard_steps const&, \
                                           ostraka::planner::spec const&, ostraka::engine::region<T const> const&, ostraka::engine::region<T> const&);      \
  WHERE template void ostraka::engine::run(ostraka::testing::instance_space const&, ostraka::engine::locale const&, ostraka::planner::reshard_steps const&, \
                                           ostraka::planner::spec const&, ostraka::engine::region<T const> const&, ostraka::engine::region<T> const&,       \
                                           ostraka::engine::run_memory<T>&);                                                                                \
  WHERE template void ostraka::engine::run(ostraka::testing::instance_space const&, ostraka::engine::mesh_route const&, T const*, T*);                      \
  WHERE template void ostraka::engine::contract(ostraka::testing::instance_space const&, ostraka::engine::contraction const&, T const*, T const*, T*,       \
                                                ostraka::engine::update<T> const&);                                                                         \
  WHERE template void ostraka::engine::contract(ostraka::testing::instance_space const&, ostraka::engine::contraction const&, T const*, T const*, T*,       \
                                                ostraka::engine::update<T> const&, ostraka::engine::plan_ticket&);                                          \
  WHERE template void ostraka::engine::detail::contract_portable(ostraka::testing::instance_space const&, ostraka::engine::contraction const&, T const*,    \
                                                                 T const*, T*, ostraka::engine::update<T> const&);                                          \
  WHERE template void ostraka::engine::reduce(ostraka::testing::instance_space const&, ostraka::engine::contraction const&, T const*, T*,                   \
                                              ostraka::engine::reduction, ostraka::engine::update<T> const&);                                               \
  WHERE template void ostraka::engine::copy(ostraka::testing::instance_space const&, T*, ostraka::engine::strided const&, T const*,                         \
                                            ostraka::engine::strided const&);                                                                               \
  WHERE template void ostraka::engine::copy(ostraka::testing::instance_space const&, ostraka::engine::region<T> const&,                                     \
                                            ostraka::engine::region<T const> const&, ostraka::engine::update<T> const&);                                    \
  WHERE template struct ostraka::testing::global_tensor<T>;                                                                                                 \
  WHERE template ostraka::testing::global_tensor<T> ostraka::testing::whole_numbers(std::string const&, extents_by_letter const&, std::uint64_t);           \
  WHERE template ostraka::testing::global_tensor<T> ostraka::testing::product_by_loops(std::string const&, global_tensor<T> const&,                         \
                                                                                       global_tensor<T> const&);                                            \
  WHERE template ostraka::testing::global_tensor<T> ostraka::testing::sum_by_loops(std::string const&, global_tensor<T> const&);                            \
  WHERE template std::vector<T> ostraka::testing::elements_on(placement const&, mesh_at_hand const&, global_tensor<T> const&, int);                         \
  WHERE template std::vector<T> ostraka::testing::combined_elements(placement const&, mesh_at_hand const&, std::vector<T>);                                 \
  WHERE template void ostraka::testing::write_elements(std::vector<T> const&, T*);                                                                          \
  WHERE template std::vector<T> ostraka::testing::read_elements(T const*, std::size_t);                                                                     \
  WHERE template std::int64_t ostraka::testing::differences(placement const&, mesh_at_hand const&, std::vector<T> const&, global_tensor<T> const&);         \
  OSTRAKA_TEST_RANK_INSTANCES(WHERE, T, 0)                                                                                                                  \
  OSTRAKA_TEST_RANK_INSTANCES(WHERE, T, 1)                                                                                                                  \
  OSTRAKA_TEST_RANK_INSTANCES(WHERE, T, 2)                                                                                                                  \
  OSTRAKA_TEST_RANK_INSTANCES(WHERE, T, 3)

OSTRAKA_TEST_INSTANCES(extern, float)
OSTRAKA_TEST_INSTANCES(extern, double)
OSTRAKA_TEST_INSTANCES(extern, Kokkos::complex<float>)
OSTRAKA_TEST_INSTANCES(extern, Kokkos::complex<double>)
OSTRAKA_TEST_INSTANCES(extern, std::int32_t)
OSTRAKA_TEST_INSTANCES(extern, std::int64_t)
OSTRAKA_TEST_INSTANCES(extern, ostraka::float16)
OSTRAKA_TEST_INSTANCES(extern, ostraka::bfloat16)
