// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::from_local of lists and views in the memory of the host, as blocks of tensors there.
// labels: essential

#include <doctest/doctest.h>

#include <complex>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

TEST_CASE("from_local: where no copy is needed none is made, and constant elements are read only") {
  auto const mesh = os::make_mesh(X = t::ranks());
  int const n = t::ranks();
  auto const from = [&](auto&& block) { return os::from_local<double, I / X, J>(mesh, I = n, J = 3, block); };
  auto const check = [&]<class T>(auto& a, std::type_identity<T>, double const* where) {
    static_assert(std::is_same_v<std::remove_cvref_t<decltype(a)>, os::tensor<T, I / X, J>>);
    CHECK(a.local().data() == where);
    CHECK(os::value(os::sum<>(a)) == 6 * n);
    CHECK(os::value(os::einsum<>(a, a)) == 14 * n);
    CHECK(t::host_block(os::all_gather<X>(a))(static_cast<std::size_t>(n - 1), 2) == 3);
  };
  constexpr std::type_identity<double> writable;
  constexpr std::type_identity<double const> read_only;

  std::vector<double> list{1, 2, 3};
  std::vector<double> const constant_list = list;
  auto const of_list = from(list);
  auto const of_constant_list = from(constant_list);
  auto const of_span = from(std::span(list));
  auto const of_constant_span = from(std::span<double const>(list));
  check(of_list, writable, list.data());
  check(of_constant_list, read_only, constant_list.data());
  check(of_span, writable, list.data());
  check(of_constant_span, read_only, list.data());

  // One row of a column-major view lies row-major if it is the only one; so does a part of a strided one that has no
  // gaps.
  Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace> const column_major("column major", 1, 3);
  Kokkos::View<double**, Kokkos::LayoutStride, Kokkos::HostSpace> const strided(list.data(),
                                                                                Kokkos::LayoutStride(1, 77, 3, 1));
  Kokkos::View<double const[1][3], Kokkos::LayoutRight, Kokkos::HostSpace> const constant(list.data());
  for (std::size_t j = 0; j < 3; ++j) column_major(0, j) = list[j];
  auto const of_column_major = from(column_major);
  auto const of_strided = from(strided);
  auto const of_constant = from(constant);
  check(of_column_major, writable, column_major.data());
  check(of_strided, writable, list.data());
  check(of_constant, read_only, list.data());
  list[0] = 7;
  CHECK(of_strided.local()(0, 0) == 7);
  os::tensor<double const, I / X, J> const seen = of_list;
  static_assert(std::is_same_v<decltype(os::rename<J, K>(seen)), os::tensor<double const, I / X, K>>);
  static_assert(std::is_same_v<decltype(os::copy(seen)), os::tensor<double, I / X, J>>);
  CHECK(os::rename<J, K>(seen).local()(0, 0) == 7);

  // A row-major view is kept alive.
  os::tensor<double, I / X, J> kept;
  {
    os::tensor<double, I / X, J>::view_type const mine("mine", 1, 3);
    Kokkos::deep_copy(mine, 5);
    kept = from(mine);
  }
  CHECK(os::value(os::sum<>(kept)) == 15 * n);

  std::vector<std::complex<float>> parts{{1, 2}};
  CHECK(os::value(os::sum<>(os::from_local<std::complex<float>, I / X>(mesh, I = n, parts))) ==
        Kokkos::complex<float>(float(n), 2 * float(n)));
}

TEST_CASE("from_local: unchecked by others nothing is sent, and a wrong block is an error on its device alone") {
  auto const mesh = os::make_mesh(X = t::ranks());
  int const n = t::ranks();
  std::vector<double> block(3);
  os::tensor<double, I / X, J> a;
  CHECK(t::traffic_of([&] { a = os::from_local<double, I / X, J>(mesh, os::unchecked, I = n, J = 3, block); }).calls ==
        0);
  CHECK(a.local().data() == block.data());
  if (t::rank() != n - 1) return;
  std::vector<double> const longer(4);
  std::string const text =
      "from_local: each view has the extents of its device's block, but that of device " + std::to_string(n - 1) +
      " has not; device " + std::to_string(n - 1) +
      " holds 3 elements and its view has 4; device d of p holds [floor(d*n/p), floor((d+1)*n/p)) of an extent n";
  CHECK_THROWS_WITH_AS(static_cast<void>(os::from_local<double, I / X, J>(mesh, I = n, os::unchecked, J = 3, longer)),
                       text.c_str(), os::error);
}
