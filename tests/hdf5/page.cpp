// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/hdf5.md.
// sham:

#include <doctest/doctest.h>

#include <ostraka/hdf5.hpp>
#include <ostraka/meshes/make_mesh.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "files/scratch_file.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(time);

void step(os::tensor<double, I/X, J> const& u) {
  os::map_into(
      u, KOKKOS_LAMBDA(double x) { return x + 1; }, u);
}

// clang-format off
void run() {
  t::scratch_file const scratch("any");
  auto const usual = std::filesystem::current_path();
  std::filesystem::current_path(scratch.folder());
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const number = [](std::int64_t i, std::int64_t j) { return static_cast<double>(10 * i + j); };
  auto const u = os::generate<double, I/X, J>(mesh, I = 7, J = 5, number);
  auto const p = os::zeros<float, I, J/X>(mesh, I = 7, J = 5);
  auto const heights = os::zeros<double, I/X>(mesh, I = 7);
  auto const seconds = [&](int n) { return os::generate<double>(mesh, [n] { return 0.1 * n; }); };
  {
    os::save("u.h5", os::together("u", u, "p", p));                         // datasets u and p
    os::load_into(os::together("u", u, "p", p), "u.h5");                    // into tensors that are there
    auto again = os::load<double, I, J/X>("u.h5", mesh, os::dataset("u"));  // one of them, divided otherwise
    CHECK(os::value(os::sum(again)) == 7 * (0 + 1 + 2 + 3 + 4) + 10.0 * 5 * 21);
    os::save("u.h5", os::together("u", u, "I", heights));   // heights [I] are the values of the axis I
    os::save("u.h5", os::together("u", u, "p", p), os::chunked(I = 64, J = 64));
    os::save("u.h5", os::together("u", u, "p", p), os::chunked(I = 64).deflated(4));
  }
  {
    auto plane = os::load<double, J/X>("u.h5", mesh, os::dataset("u").at(I = 3));              // u[3, :]
    auto rows = os::load<double, I/X, J>("u.h5", mesh, os::dataset("u").from(I = 2), I = 4);   // u[2:6, :]
    auto rest = os::load<double, I/X, J>("u.h5", mesh, os::dataset("u").from(I = 2));          // u[2:, :]
    CHECK(os::value(os::sum(plane)) == 5 * 30 + 10);
    CHECK(os::value(os::sum(rows)) == 5 * 10 * (2 + 3 + 4 + 5) + 4 * 10);
    CHECK(rest.extent(I) == 5);
  }
  {
    for (int n = 0; n < 3; ++n) {
      step(u);
      os::append<time>("run.h5", os::together("u", u, "time", seconds(n)));   // u [time, I, J], time [time]
    }
    auto last = os::load<double, I/X, J>("run.h5", mesh, os::dataset("u").at(time = -1));
    CHECK(os::value(os::sum(last)) == os::value(os::sum(u)));
  }
  os::save_xdmf("flow.xdmf", os::together("u", u, "p", p), {.origin = {0, 0}, .spacing = {0.1, 0.1}});
  CHECK(std::filesystem::exists("flow.u.npy"));
  t::numbers_of_ranks(0);
  std::filesystem::current_path(usual);
}
// clang-format on

}  // namespace

TEST_CASE("docs/hdf5.md") { run(); }
