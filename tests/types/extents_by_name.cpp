// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Extents by name, alone and together, as constants. Compiling is passing, but for the case at the end.

#include <doctest/doctest.h>

#include <ostraka/types/axes/sizes.hpp>

namespace os = ostraka;

OSTRAKA_AXIS(I);
OSTRAKA_AXIS(J, 512);
OSTRAKA_MESH_AXIS(X);
OSTRAKA_MESH_AXIS(Y, 4);

constexpr os::sizes three(I = 4, J = 5, X = 2);
static_assert(three.of(I) == 4 && three.of(J) == 5 && three.of(X) == 2);
static_assert(three.of<X_mesh>() == 2);

// Any order, any integer type; nothing at all; an extent of zero.
static_assert(os::sizes(X = 2, I = 4u).of(I) == 4 && os::sizes(X = 2, I = short{0}).of(I) == 0);
static_assert(decltype(os::sizes())::names::size == 0);
static_assert(os::sizes(I = std::int64_t{1} << 40).of(I) == 1099511627776);

// An axis that is not given has its static extent; a given extent overrides it.
static_assert(os::extent_in<J_axis>(os::sizes(I = 4)) == 512);
static_assert(os::extent_in<J_axis>(os::sizes(J = 8)) == 8);
static_assert(os::extent_in<Y_mesh>(os::sizes()) == 4);

// Mixtures of named extents and sizes: extents that are written out come first.
constexpr auto all = os::collect_sizes(X = 3, os::sizes(I = 7, J = 9), os::sizes(), Y = 4);
static_assert(all.of(X) == 3 && all.of(I) == 7 && all.of(J) == 9 && all.of(Y) == 4);
static_assert(std::is_same_v<decltype(all)::names, os::type_list<X_mesh, Y_mesh, I_axis, J_axis>>);

// Collections may know the same name.
static_assert(os::collect_sizes(os::sizes(I = 7, J = 9), os::sizes(J = 9, X = 2)).of(J) == 9);

TEST_CASE("collections that disagree are refused") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(os::collect_sizes(os::sizes(I = 7), os::sizes(X = 2, I = 8))),
      "sizes: an extent is one number, but I is 7 in one place and 8 in another; name tensors and sizes that go "
      "together",
      os::error);
}
