// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Arrays of std::complex that lie where no Kokkos::complex may lie, at 8 bytes behind a multiple of 16: all devices
/// throw the same. Empty arrays lie anywhere, and a scalar is copied.
// labels: essential
// ranks: 1 2 3 4
// checked: 2
// sham:

#include <doctest/doctest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ostraka/foreign_blocks.hpp>

#include "support/on_meshes.hpp"
#include "support/program_array.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// Complex numbers, the first of them at a multiple of their size, or half of it behind one.
template <class Real, class Memory = t::program_array<Real>>
struct numbers {
  static constexpr std::size_t size = sizeof(std::complex<Real>);
  Memory memory = Memory(200);

  std::complex<Real>* at(bool misaligned) {
    auto const begin = reinterpret_cast<std::uintptr_t>(memory.data());
    std::size_t const skipped = (size - begin % size) % size + (misaligned ? size / 2 : 0);
    return reinterpret_cast<std::complex<Real>*>(memory.data() + skipped / sizeof(Real));
  }
};

int culprit() { return t::ranks() - 1; }
bool is_culprit() { return t::rank() == culprit(); }

template <class Real>
std::string rule(char const* operation, std::string const& whose) {
  return operation + std::string(": elements lie at multiples of ") + std::to_string(2 * sizeof(Real)) +
         " bytes, but those of " + whose +
         " do not; give memory of this alignment, as std::vector and Kokkos::View "
         "have it";
}

}  // namespace

TEST_CASE_TEMPLATE("arrays of one device", Real, float, double) {
  using number = std::complex<Real>;
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 2 * t::ranks();
  numbers<Real> here;
  std::string const view = "the view of device " + std::to_string(culprit());
  for (bool const misaligned : {false, true}) {
    number* const first = here.at(misaligned && is_culprit());
    auto const of = [&](char const* operation, std::string const& whose) {
      return misaligned ? rule<Real>(operation, whose) : "nothing";
    };
    CHECK(t::said_alike([&] {
            auto const a = os::from_local<number, I / X>(mesh, I = n, os::strided(first, I = 1));
            CHECK(static_cast<void const*>(a.local().data()) == first);
          }) == of("from_local", view));
    CHECK(t::said_alike([&] {
            Kokkos::View<number*, Kokkos::DefaultExecutionSpace, Kokkos::MemoryUnmanaged> const v(first, 2);
            static_cast<void>(os::from_local<number const, I / X>(mesh, I = n, v));
          }) == of("from_local", view));
    CHECK(t::said_alike([&] {
            static_cast<void>(os::copy_from_local<number, I / X>(mesh, I = n, os::strided(first + 1, I = -1)));
          }) == of("copy_from_local", view));
    CHECK(t::said_alike([&] { os::copy_to_local(os::zeros<number, I / X>(mesh, I = n), os::strided(first, I = 1)); }) ==
          of("copy_to_local", view));
    CHECK(t::said_alike([&] {
            static_cast<void>(os::from_local<number, os::halo<I, 1> / X>(mesh, I = n, os::strided(first, I = 1)));
          }) == of("from_local", view));
    CHECK(t::said_alike([&] {
            static_cast<void>(os::copy_from_blocks<number, I / X>(mesh, I = n, os::at(I = 2 * t::rank()),
                                                                  os::sizes(I = 2), os::strided(first, I = 1)));
          }) == of("copy_from_blocks", "an array of some device"));
    CHECK(t::said_alike([&] {
            os::copy_to_blocks(os::zeros<number, I / X>(mesh, I = n), os::block_cyclic(I = 2),
                               os::strided(first, I = 1));
          }) == of("copy_to_blocks", "an array of some device"));
  }
}

TEST_CASE("arrays of all devices, and of device 0") {
  using number = std::complex<double>;
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 2 * t::ranks();
  numbers<double> here;
  auto const a = os::full<number, I / X>(mesh, I = n, number(1, 2));
  Kokkos::View<number*, Kokkos::DefaultExecutionSpace, Kokkos::MemoryUnmanaged> const bad(here.at(true), 2),
      good(here.at(false), 2);
  auto const map = [&](auto const& to) {
    return t::said_alike([&] {
      os::map_into<I / X>(
          to, [](auto z) { return z; }, a);
    });
  };
  CHECK(map(good) == "nothing");
  CHECK(map(bad) == rule<double>("map_into", "the array"));

  // An array on device 0 is the host's. On the other devices it is not read.
  numbers<double, std::vector<double>> on_host;
  using view = Kokkos::View<number*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  for (bool const misaligned : {false, true}) {
    number* const whole = on_host.at((t::rank() == 0) == misaligned);
    for (int k = 0; k < 2 * t::ranks(); ++k) whole[k] = number(k, -k);
    CHECK(t::said_alike([&] {
            auto const b = os::scatter_from_root<number, I / X>(mesh, I = n, view(whole, static_cast<std::size_t>(n)));
            CHECK(t::host_block(b)(1).imag() == -2 * t::rank() - 1);
          }) == (misaligned ? rule<double>("scatter_from_root", "the array on device 0") : "nothing"));
    CHECK(t::said_alike([&] {
            static_cast<void>(os::scatter_from_root<number, I / X>(mesh, I = 0, view(whole, 0)));
          }) == "nothing");
    whole[0] = number(3, 4);
    auto const scalar =
        os::scatter_from_root<number>(mesh, Kokkos::View<number, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(whole));
    CHECK(os::value(scalar) == Kokkos::complex<double>(3, 4));
  }
}

TEST_CASE("arrays without elements lie anywhere") {
  using number = std::complex<double>;
  auto const mesh = os::make_mesh(X = t::ranks());
  numbers<double> here;
  number* const first = here.at(true);
  CHECK(t::said_alike([&] {
          static_cast<void>(
              os::from_local<number, I / X, J>(mesh, I = t::ranks(), J = 0, os::strided(first, I = 0, J = 1)));
          static_cast<void>(os::copy_from_local<number, I / X>(mesh, I = 0, os::strided(first, I = 1)));
          os::copy_to_local(os::zeros<number, I / X>(mesh, I = 0), os::strided(first, I = 1));
          static_cast<void>(os::copy_from_blocks<number, I / X>(mesh, I = 0, os::at(I = 0), os::sizes(I = 0),
                                                                os::strided(first, I = 1)));
        }) == "nothing");
}
