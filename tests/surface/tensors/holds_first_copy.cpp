// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::holds_first_copy: for each element it is true on exactly one device. And A.mesh(), the mesh of a tensor.
// sham:

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ostraka/gradient.hpp>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

auto whole(t::test_mesh const& m) { return os::mesh<X_mesh, Y_mesh, Z_mesh>(m.handle()); }

// The number of devices that have written each element, if the devices for which it is true write theirs.
std::vector<double> written(t::test_mesh const& m, auto const& a, std::int64_t count, auto const& offset_of) {
  std::vector<double> times(static_cast<std::size_t>(count));
  if (os::holds_first_copy(a))
    for (std::size_t k = 0; k < a.local().size(); ++k) times[static_cast<std::size_t>(offset_of(k))] += 1;
  if (!whole(m).absent() && count > 0)
    MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM, whole(m).communicator());
  return times;
}

}  // namespace

TEST_CASE("each element is written once") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::int64_t i : {0, 1, 2, 3, 7}) {
      INFO(m.text(), i);
      auto const check = [&](auto const& a) {
        for (double times : written(m, a, i, [&](std::size_t k) { return a.global_offset(I) + std::int64_t(k); }))
          CHECK(times == 1);
      };
      check(os::zeros<double, I>(whole(m), I = i));
      check(os::zeros<double, I/X>(whole(m), I = i));
      check(os::zeros<double, I/Y>(whole(m), I = i));
      check(os::zeros<double, I/Z/X>(whole(m), I = i));
      check(os::zeros<double, I/X/Y/Z>(whole(m), I = i));
      // A part for each device along X.
      for (double times : written(m, os::zeros<double, I, os::partial(X)>(whole(m), I = i), i,
                                  [](std::size_t k) { return std::int64_t(k); }))
        CHECK(times == m.size("X"));
      // In a body, of a block for each device along X.
      auto const x = os::zeros<double, I/X>(whole(m), I = i);
      os::shard_map<I/X>(
          [&](auto block) {
            CHECK(os::holds_first_copy(block) == os::holds_first_copy(x));
            return block;
          },
          x);
    }
    CHECK(os::holds_first_copy(os::zeros<double>(whole(m))) == (whole(m).device() == 0));
  });
  CHECK_THROWS_AS(static_cast<void>(os::holds_first_copy(os::tensor<double, I/X>())), os::error);
}

TEST_CASE("the mesh of a tensor, a block and a variable") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    auto const a = os::ones<double, I/Y, J>(whole(m), I = 5, J = 2);
    CHECK(a.mesh().size(Y) == m.size("Y"));
    CHECK(a.mesh().coordinate(Y) == whole(m).coordinate(Y));
    CHECK(a.mesh().device() == whole(m).device());
    CHECK(a.mesh().devices() == whole(m).devices());
    CHECK(a.mesh(Z, X).coordinate(X) == whole(m).coordinate(X));
    CHECK(a.mesh(Z, X).size(Z) == m.size("Z"));
    CHECK(a.mesh().handle() == a.mesh_handle());
    auto const beside = os::full<double, J/X/Y>(a.mesh(X), J = 4, 2.0);
    CHECK(os::value(os::sum<>(beside)) == 8);
    int size = 0, along = 0;
    if (!whole(m).absent()) {
      MPI_Comm_size(a.mesh().communicator(), &size);
      MPI_Comm_size(a.mesh().communicator(Y), &along);
      CHECK(size == whole(m).devices());
      CHECK(along == m.size("Y"));
    }
    auto const r = os::value_and_grad([](auto const& x) {
      auto const row = os::full<double, I/Y>(x.mesh(), I = x.extent(I), 3.0);
      return os::einsum<>(x, row, os::ones<double, J>(x.mesh(), J = 2));
    })(a);
    CHECK(os::value(r.value) == 30);
    os::shard_map<I/Y, J>(
        [&](auto block) {
          CHECK(block.mesh().coordinate(Y) == whole(m).coordinate(Y));
          return block;
        },
        a);
    auto const message = [](auto const& f) {
      try {
        f();
      } catch (os::error const& e) {
        return std::string(e.what());
      }
      return std::string();
    };
    auto const small = os::zeros<double, I>(os::make_mesh(X = t::ranks()), I = 2);
    CHECK(message([&] { static_cast<void>(small.mesh(Y)); }).find("has no Y") != std::string::npos);
  });
  CHECK_THROWS_AS(static_cast<void>(os::tensor<double, I/X>().mesh()), os::error);
}
