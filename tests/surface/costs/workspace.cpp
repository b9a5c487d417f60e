// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A plan's workspace against the most scratch memory of its steps at once, and the bytes that they copied against the
/// plan's. Blocks that MPI takes in place are not copied, which no plan predicts: here it takes none in place.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

using os::dims;
using os::partial;

namespace {

using pool = os::engine::workspace<Kokkos::DefaultExecutionSpace::memory_space>;

int cases = 0;
int with_scratch = 0;
int with_copies = 0;

std::int64_t most_of_all(std::int64_t n) {
#if OSTRAKA_ENABLE_MPI
  MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
#endif
  return n;
}

// True if the mesh has its axes in the order in which the tensors' types name them, on which the adjacency of parts may
// depend.
bool as_types_order(t::test_mesh const& m) { return m.text()[0] == 'X'; }

struct no_blocks_for_mpi {
  std::int64_t const before =
      std::exchange(os::engine::shortest_block_message, std::numeric_limits<std::int64_t>::max());
  no_blocks_for_mpi() = default;
  ~no_blocks_for_mpi() { os::engine::shortest_block_message = before; }
};

// The memory and copies of an operation on the device with the largest blocks, against its plan, which is exact if all
// parts are equal.
template <class Plan, class Run>
void check_memory(t::test_mesh const& m, t::extents_by_letter const& e, bool even, Plan const& plan, Run const& run) {
  os::planner::extents const sizes = plan.extents_of(t::named(e), m.sizes());
  pool::instance().release();
  std::int64_t const copied_before = os::engine::copied_bytes;
  auto const c = run();
  std::int64_t const held = most_of_all(static_cast<std::int64_t>(pool::instance().most_used_by_plans()));
  std::int64_t const copied = most_of_all(os::engine::copied_bytes - copied_before);
  std::int64_t const predicted = 8 * os::planner::copied_elements(plan, sizes);
  INFO(m.text(), t::text_of(e), "\n", os::describe(plan, t::named(e), m.sizes()));
  CHECK(held <= plan.workspace(t::named(e), m.sizes()));
  CHECK(copied <= predicted);
  if (even && as_types_order(m) && plan.count(os::step::block_exchange) == 0)
    CHECK(copied == predicted);  // of those, the devices keep different parts
  ++cases;
  with_scratch += held > 0 ? 1 : 0;
  with_copies += copied > 0 ? 1 : 0;
}

// With short parts, with parts that are long enough to stay messages, and with uneven ones.
std::vector<t::extents_by_letter> extents_walked() {
  return {{{'B', 4}, {'I', 48}, {'J', 24}, {'K', 72}, {'L', 1}},
          {{'B', 2}, {'I', 384}, {'J', 768}, {'K', 384}, {'L', 1}},
          {{'B', 3}, {'I', 31}, {'J', 50}, {'K', 17}, {'L', 1}}};
}

template <auto... Out, auto... DimsA, auto... DimsB>
void check(t::test_mesh const& m, dims<Out...>, dims<DimsA...>, dims<DimsB...>) {
  using left = os::tensor<double, DimsA...>;
  using right = os::tensor<double, DimsB...>;
  constexpr auto plan = os::plan_of<dims<Out...>, left, right>;
  for (t::extents_by_letter const& e : extents_walked()) {
    auto const a = t::placed<left>(m, t::whole_numbers<double>(t::letters_in<left>(), e, 24));
    auto const b = t::placed<right>(m, t::whole_numbers<double>(t::letters_in<right>(), e, 25));
    check_memory(m, e, e.at('I') % 48 == 0, plan, [&] { return os::einsum<Out...>(a, b); });
  }
}

template <auto... To, auto... From>
void check_reshard(t::test_mesh const& m, dims<To...>, dims<From...>) {
  using source = os::tensor<double, From...>;
  for (t::extents_by_letter const& e : extents_walked()) {
    auto const a = t::placed<source>(m, t::whole_numbers<double>(t::letters_in<source>(), e, 26));
    check_memory(m, e, e.at('I') % 48 == 0, os::reshard_plan_of<dims<To...>, source>,
                 [&] { return os::reshard<To...>(a); });
  }
}

}  // namespace

TEST_CASE("einsum") {
  no_blocks_for_mpi const copied;
  t::on_every_mesh([](t::test_mesh const& m) {
    check(m, dims<I, K>{}, dims<I, J>{}, dims<J, K>{});
    check(m, dims<I/X, K>{}, dims<I/X, J>{}, dims<J, K/X>{});
    check(m, dims<I/X, K/Y>{}, dims<I/X, J/Y>{}, dims<J/X, K/Y>{});
    check(m, dims<I, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check(m, dims<I/X, K>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check(m, dims<I, K/X>{}, dims<I, J/X>{}, dims<J/X, K>{});
    check(m, dims<B/X, I, K>{}, dims<B/X, I, J>{}, dims<B, J/X, K>{});
    check(m, dims<I/X/Y, K>{}, dims<I/Y/X, J>{}, dims<J, K>{});
    check(m, dims<I, K>{}, dims<I, J, partial(X)>{}, dims<J, K, partial(X)>{});
    check(m, dims<I, K/X>{}, dims<I/X, J>{}, dims<J, K>{});
    check(m, dims<I/X, K/Y>{}, dims<I, J/Y>{}, dims<J/X, K>{});
    check(m, dims<I, K, partial(X)>{}, dims<I, J/X>{}, dims<J, K>{});
  });
  CHECK(cases == 36 * static_cast<int>(t::mesh_shapes().size()));
  CHECK(with_scratch > 0);
}

TEST_CASE("reshard") {
  cases = with_copies = 0;
  no_blocks_for_mpi const copied;
  t::on_every_mesh([](t::test_mesh const& m) {
    check_reshard(m, dims<I, J>{}, dims<I/X, J>{});             // gathered where it belongs
    check_reshard(m, dims<I, J>{}, dims<I, J/X>{});             // put in place
    check_reshard(m, dims<I, J/X>{}, dims<I/X, J>{});           // sent packed, received in place
    check_reshard(m, dims<I/X, J>{}, dims<I, J/X>{});
    check_reshard(m, dims<I/Y>{}, dims<I/X>{});                 // run by run
    check_reshard(m, dims<I/X, J/Y>{}, dims<I/Y, J/X>{});
    check_reshard(m, dims<I/X, J>{}, dims<I, J, partial(X)>{});
    check_reshard(m, dims<I, J/X>{}, dims<I, J, partial(X)>{});
    check_reshard(m, dims<I, J>{}, dims<I, J, partial(Y)>{});
  });
  CHECK(cases == 27 * static_cast<int>(t::mesh_shapes().size()));
  if (t::ranks() > 1) CHECK(with_copies > 0);
}
