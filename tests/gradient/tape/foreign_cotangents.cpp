// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// A cotangent in memory of another library, adopted by os::from_dlpack: sums of cotangents are not formed in it, and
/// no gradient is in it. The expected gradients are worked out by hand.
// ranks: 1 2 3
// sham:

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <ostraka/dlpack.hpp>
#include <ostraka/gradient.hpp>

#include "support/foreign_array.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

TEST_CASE("cotangents are not added up in memory of another library") {
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 2 * t::ranks() + 1;
  auto const here = static_cast<std::size_t>((t::rank() + 1) * n / t::ranks() - t::rank() * n / t::ranks());
  t::foreign_array<double> array;
  array.elements.assign(here, 10);
  auto const foreign = os::custom_vjp(
      [](auto const& a) { return a; },
      [&](auto const&, auto const&, auto const&) {
        return os::from_dlpack<double, I / X>(
            mesh, I = n,
            array.pass<os::dlpack::DLManagedTensorVersioned>({{static_cast<std::int64_t>(here)}, {}}, t::float64));
      });
  auto const p = os::full<double, I / X>(mesh, I = n, 3.0);
  auto const check = [&](double wanted, auto const& loss) {
    auto const gradient = os::value_and_grad(loss)(p).gradient;
    int wrong = 0;
    auto const block = t::host_block(gradient);
    array.elements.fetch();
    for (std::size_t i = 0; i < here; ++i) wrong += block(i) != wanted || array.elements[i] != 10;
    CHECK(wrong == 0);
    CHECK(gradient.local().data() != array.elements.data());
    CHECK(array.released == array.passed);
  };
  check(10, [&](auto const& a) { return os::sum<>(foreign(a)); });
  check(11, [&](auto const& a) { return os::sum<>(foreign(a) + a); });
  check(11, [&](auto const& a) { return os::sum<>(a + foreign(a)); });
  check(20, [&](auto const& a) { return os::sum<>(foreign(a) + foreign(a)); });
}
