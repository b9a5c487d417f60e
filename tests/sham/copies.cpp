// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Operations copy no more between a device and its host than they send and receive, and nothing if MPI takes the
/// device's memory. No operation passes a whole block through the host.

#include <doctest/doctest.h>

#include <ostraka/local_view.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "support/byte_counter.hpp"
#include "support/mpi_main.hpp"
#include "support/sham/device.hpp"

namespace os = ostraka;
namespace t = os::testing;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J);
OSTRAKA_AXIS(K);
OSTRAKA_MESH_AXIS(X);

namespace {

using os::partial;

// Ranks that compare their calls read blocks on the host.
int const compares_nothing = ::setenv("OSTRAKA_CHECK_SPMD", "0", 1);

struct moved {
  std::int64_t sent = 0;  // by all ranks, as is what was copied
  std::int64_t to_host = 0, to_device = 0;
};

template <class F>
moved moved_by(F const& f) {
  sham::work const before = sham::work_done();
  moved m;
  m.sent = t::traffic_of(f).bytes;
  sham::work const done = sham::work_done() - before;
  for (std::int64_t const n : t::numbers_of_ranks(done.to_host)) m.to_host += n;
  for (std::int64_t const n : t::numbers_of_ranks(done.to_device)) m.to_device += n;
  return m;
}

template <class F>
void check(std::string const& name, F const& f) {
  char const* const aware = std::getenv("OSTRAKA_GPU_AWARE_MPI");
  bool const copies = aware == nullptr || *aware != '1';
  moved const m = moved_by(f);
  INFO(name);
  if (t::ranks() > 1) CHECK(m.sent > 0);
  CHECK(m.to_host <= (copies ? m.sent : 0));
  CHECK(m.to_device <= (copies ? m.sent : 0));
}

}  // namespace

// On one rank nothing is sent, so nothing is copied. The arrays are too long for an all-reduce of MPI's (64 KiB).
TEST_CASE("collectives") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::random<float, I / X, J>(mesh, I = 64, J = 640, os::seed(1));
  auto const columns = os::random<float, I, J / X>(mesh, I = 64, J = 640, os::seed(2));
  os::tensor<float, I, J, partial(X)> const sums =
      os::einsum<I, J, partial(X)>(os::random<float, I, K / X>(mesh, I = 64, K = 8, os::seed(3)),
                                   os::random<float, K / X, J>(mesh, K = 8, J = 640, os::seed(4)));
  check("all_gather", [&] { static_cast<void>(os::all_gather<X>(a)); });
  check("all_gather of columns", [&] { static_cast<void>(os::all_gather<X>(columns)); });
  check("all_reduce", [&] { static_cast<void>(os::all_reduce<X>(sums)); });
  check("reduce_scatter", [&] { static_cast<void>(os::reshard<I / X, J>(sums)); });
  check("reduce_scatter of columns", [&] { static_cast<void>(os::reshard<I, J / X>(sums)); });
  check("all_to_all", [&] { static_cast<void>(os::reshard<I, J / X>(a)); });
  check("sum", [&] { static_cast<void>(os::sum<J>(a)); });
  check("max", [&] { static_cast<void>(os::max<J>(a)); });
  check("einsum", [&] {
    static_cast<void>(os::einsum<I, K>(columns, os::random<float, J / X, K>(mesh, J = 640, K = 300, os::seed(5))));
  });
  check("begun and waited for", [&] {
    auto gathered = os::start_reshard<I, J>(a);
    auto reduced = os::start_reshard<I, J / X>(sums);
    static_cast<void>(std::move(gathered).wait());
    static_cast<void>(std::move(reduced).wait());
  });
}

TEST_CASE("bodies") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const a = os::random<double, I / X, J>(mesh, I = 64, J = 30, os::seed(1));
  check("shift",
        [&] { static_cast<void>(os::shard_map<os::dims<I / X, J>{}>([](auto b) { return os::shift<X>(b, 1); }, a)); });
  check("halo", [&] {
    static_cast<void>(os::shard_map<os::dims<I / X, J>{}>(
        [](auto b) { return os::own(os::exchange_halo<os::halo<I, 1> / X>(b)); }, a));
  });
}

TEST_CASE("ring attention") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const q = os::random<float, I / X, J>(mesh, I = 64, J = 8, os::seed(1));
  auto const k = os::random<float, K / X, J>(mesh, K = 64, J = 8, os::seed(2));
  check("ring", [&] { static_cast<void>(os::attention<I, K / X, J>(q, k, k, os::ring)); });
}

TEST_CASE("nothing was reported") { CHECK(sham::take_reports().empty()); }
