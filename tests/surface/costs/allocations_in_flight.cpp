// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Nothing allocates in a steady state, in the engine: runs that are begun and waited for later, and collectives on
/// blocks, in their third to tenth repetition.
// ranks: 1 2 4
// sham:
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include <ostraka/engine/block_collectives/gather_rows.hpp>
#include <ostraka/engine/block_collectives/permute_blocks.hpp>
#include <ostraka/engine/block_collectives/ragged_moves.hpp>
#include <ostraka/engine/block_collectives/root_of_group.hpp>
#include <ostraka/engine/block_collectives/scan_block.hpp>
#include <ostraka/engine/run/in_flight.hpp>

#include "support/counted_allocations.hpp"
#include "support/program_array.hpp"

#ifdef OSTRAKA_COUNTS_ALLOCATIONS

namespace os = ostraka;
namespace t = os::testing;
using t::most_in_steady_state;

using t::for_several_extents;

// Two runs of one call and one of another, begun one after another and waited for later.
template <class To, class From>
void check_in_flight(t::test_mesh const& m, t::extents_by_letter const& e) {
  using types = os::detail::reshard_types<From, typename To::sharding_type>;
  From const from[2] = {t::placed<From>(m, t::whole_numbers<double>(t::letters_in<From>(), e, 5)),
                        t::placed<From>(m, t::whole_numbers<double>(t::letters_in<From>(), e, 6))};
  To const to[2] = {t::placed<To>(m, t::whole_numbers<double>(t::letters_in<To>(), e, 7)),
                    t::placed<To>(m, t::whole_numbers<double>(t::letters_in<To>(), e, 8))};
  os::engine::schedule_memory memory;
  auto const begin = [&](int i) {
    auto const w = os::detail::context_of<typename types::labels, typename types::mesh>("reshard", from[i]);
    double const* const source = os::detail::elements_of(from[i]);
    return os::engine::begin(Kokkos::DefaultExecutionSpace(), w,
                             os::planner::plan_view(os::detail::stored_plan_of<types>), &source, to[i].local().data(),
                             os::engine::update<double>(), memory);
  };
  CHECK(most_in_steady_state([&] {
          os::engine::run_in_flight first = begin(0);
          os::engine::run_in_flight const second = begin(1);
          os::engine::progress();
          first.wait();
        }) == 0);
  if (!std::is_same_v<From, os::tensor<double, I, J, os::partial_max(X)>>)  // its parts are summands
    for (int i = 0; i < 2; ++i)
      CHECK(t::disagreements(m, to[i], t::whole_numbers<double>(t::letters_in<To>(), e, 5 + i)) == 0);
}

TEST_CASE("runs in flight") {
  for_several_extents([](t::test_mesh const& m, t::extents_by_letter const& e) {
    using rows = os::tensor<double, I/X, J>;
    using columns = os::tensor<double, I, J/X>;
    using whole = os::tensor<double, I, J>;
    using partial = os::tensor<double, I, J, os::partial(X)>;
    using greatest = os::tensor<double, I, J, os::partial_max(X)>;
    check_in_flight<whole, rows>(m, e);
    check_in_flight<columns, rows>(m, e);
    check_in_flight<rows, whole>(m, e);
    check_in_flight<whole, partial>(m, e);
    check_in_flight<rows, partial>(m, e);
    check_in_flight<whole, greatest>(m, e);  // our own all-reduce
  });
}

TEST_CASE("collectives on blocks") {
  namespace e = os::engine;
  e::communicator const world = e::communicator::world();
  e::device_mesh const mesh(world, {"X"}, {world.size()});
  static constexpr std::string_view names[] = {"X"};
  e::execution_context const w = e::make_context(mesh, names, 1, "collective");
  os::planner::mesh_set const axes = os::planner::mesh_set::of(0);
  os::planner::spec const block{};
  Kokkos::DefaultExecutionSpace const exec;
  std::int64_t const n = world.size();
  std::vector<std::int64_t> const each(static_cast<std::size_t>(n), 2);
  std::vector<std::int64_t> places;
  for (std::int64_t d = 0; d < n; ++d) places.push_back(2 * d);
  std::vector<std::int64_t> const here(static_cast<std::size_t>(n), 2 * world.rank());
  for (std::int64_t columns : {3, 4000})
    for (bool with_gaps : {false, true}) {
      std::int64_t const gap = with_gaps ? 5 : 0;
      t::program_array<double> memory[4];
      e::strided_block<double*> part, other, whole, source;
      e::strided_block<double*>* const blocks[] = {&part, &other, &whole, &source};
      for (int k = 0; k < 4; ++k) {
        os::planner::box where;
        where.rank = 2;
        where.at[0] = {0, k < 2 ? 2 : 2 * n};
        where.at[1] = {0, columns};
        memory[k].assign(static_cast<std::size_t>(2 * n * (columns + gap)), 0);
        *blocks[k] = e::dense_block(memory[k].data(), where);
        blocks[k]->stride[0] = columns + gap;
      }
      e::strided_block<double*> const dense = e::dense_block(other.data, other.where);
      CHECK(most_in_steady_state([&] {
              e::run_in_flight first =
                  e::begin_permute(exec, w, block, axes, e::permutation_view::by(1), e::readable(part), other);
              e::progress();
            }) == 0);
      CHECK(most_in_steady_state([&] {
              e::begin_gather_rows(exec, w, block, axes, 0, each, e::readable(part), whole).wait();
            }) == 0);
      CHECK(most_in_steady_state([&] {
              e::begin_ragged(exec, w, block, axes, 0, e::readable(source), whole,
                              {places.data(), each.data(), here.data()})
                  .wait();
            }) == 0);
      CHECK(most_in_steady_state([&] {
              e::begin_gather_to(exec, w, block, axes, 0, 0, each, e::readable(part), whole).wait();
              e::begin_scatter_from(exec, w, block, axes, 0, 0, each, e::readable(whole), part).wait();
            }) == 0);
      CHECK(most_in_steady_state([&] {
              e::begin_broadcast(exec, w, block, axes, 0, e::readable(part), dense).wait();
              e::scan_block(exec, w, block, axes, e::readable(part), dense, os::reduction::sum,
                            e::scan_kind::exclusive);
              e::barrier(w, axes);
            }) == 0);
    }
}

#else

TEST_CASE("allocations are counted with the GNU C library alone") {
  MESSAGE("SKIPPED: another C library, or a sanitizer that owns malloc");
}

#endif
