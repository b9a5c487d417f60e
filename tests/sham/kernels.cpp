// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Kokkos' patterns on the sham device: ranges in several dimensions, reductions, teams with barriers and scratch
/// memory. Functions by their names, which no kernel can call, are refused.

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <ostraka/local_view.hpp>
#include <ostraka/operations.hpp>

#include <type_traits>

#include "support/sham/device.hpp"

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_MESH_AXIS(X);

namespace {

// The reason of a verdict on a function by its name.
template <class Verdict, class Function>
constexpr bool refuses = std::is_same_v<Verdict, os::reason::function_of_the_host<Function*>>;
using of_element = double(double);
using of_neighbours = double(os::neighbours<double, 1> const&);
using vector = os::tensor<double, I / X>;
static_assert(refuses<os::operation::map_by<of_element>::call<vector>::verdict, of_element>);
static_assert(refuses<os::detail::written_to<os::operation::map_by<of_element>, vector, vector>::verdict, of_element>);
static_assert(refuses<os::operation::for_each_point<of_element*>::verdict<vector>, of_element>);
static_assert(refuses<os::operation::stencil<of_neighbours*, os::detail::no_every>::verdict<vector>, of_neighbours>);

template <class View>
auto on_host(View const& v) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
}

struct write_place {
  Kokkos::View<int**> to;
  void operator()(int i, int j) const { to(i, j) = 100 * i + j; }
};

struct add_index {
  void operator()(int i, long& sum) const { sum += i; }
};

struct largest {
  void operator()(int i, int& most) const {
    if (most < i % 7) most = i % 7;
  }
};

using policy = Kokkos::TeamPolicy<Kokkos::Sham>;

// Each thread writes to scratch memory, and reads what its neighbour wrote, before and after a barrier.
struct rotate_in_team {
  int* to;
  void operator()(policy::member_type const& team) const {
    int const n = team.team_size(), me = team.team_rank();
    int* const shared = static_cast<int*>(team.team_scratch(0).get_shmem(n * static_cast<int>(sizeof(int))));
    for (int round = 0; round < 3; ++round) {
      shared[me] = 10 * round + me;
      team.team_barrier();
      to[(team.league_rank() * n + me) * 3 + round] = shared[(me + 1) % n];
      team.team_barrier();
    }
  }
};

}  // namespace

TEST_CASE("ranges in two dimensions") {
  Kokkos::View<int**> const v("v", 5, 7);
  Kokkos::parallel_for("write", Kokkos::MDRangePolicy<Kokkos::Sham, Kokkos::Rank<2>>({0, 0}, {5, 7}), write_place{v});
  auto const seen = on_host(v);
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 7; ++j) CHECK(seen(i, j) == 100 * i + j);
}

TEST_CASE("reductions, to the host and to the device") {
  for (int const n : {0, 1, 2, 1000}) {
    long sum = -1;
    Kokkos::parallel_reduce("sum", Kokkos::RangePolicy<Kokkos::Sham>(0, n), add_index(), sum);
    CHECK(sum == long{n} * (n - 1) / 2);
    int most = -1;
    Kokkos::parallel_reduce("most", Kokkos::RangePolicy<Kokkos::Sham>(0, n), largest(), Kokkos::Max<int>(most));
    if (n > 0) CHECK(most == (n > 6 ? 6 : n - 1));
    Kokkos::View<long> const there("there");
    Kokkos::parallel_reduce("sum", Kokkos::RangePolicy<Kokkos::Sham>(0, n), add_index(), there);
    CHECK(on_host(there)() == long{n} * (n - 1) / 2);
  }
}

TEST_CASE("teams") {
  for (int const threads : {1, 2, 37}) {
    Kokkos::View<int*> const v("v", 4 * threads * 3);
    policy p(4, threads);
    p.set_scratch_size(0, Kokkos::PerTeam(threads * static_cast<int>(sizeof(int)) + 8));
    Kokkos::parallel_for("rotate", p, rotate_in_team{v.data()});
    auto const seen = on_host(v);
    for (int t = 0; t < 4; ++t)
      for (int i = 0; i < threads; ++i)
        for (int round = 0; round < 3; ++round)
          CHECK(seen((t * threads + i) * 3 + round) == 10 * round + (i + 1) % threads);
  }
  CHECK(sham::take_reports().empty());
}
