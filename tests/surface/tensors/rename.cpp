// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::rename: the same memory under another name, A[I, J_X] → A[I, K_X], and its use where an axis meets itself.
// sham:

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

#include "support/on_meshes.hpp"

OSTRAKA_AXIS(D, 6);

namespace os = ostraka;
namespace t = os::testing;

TEST_CASE("the name changes and nothing else") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const e = t::usual_extents()[1];
    auto g = t::whole_numbers<float>("IJ", e, 18);
    auto const a = t::placed<os::tensor<float, I/Y, J/X>>(m, g);
    os::tensor<float, I/Y, K/X> b;
    CHECK(t::traffic_of([&] { b = os::rename<J, K>(a); }).calls == 0);
    static_assert(std::is_same_v<decltype(os::rename<J, K>(a)), os::tensor<float, I/Y, K/X>>);
    CHECK(static_cast<void const*>(a.local().data()) == static_cast<void const*>(b.local().data()));
    g.labels.back() = 'K';
    g.extents['K'] = e.at('J');
    CHECK(t::disagreements(m, b, g) == 0);
    CHECK(b.extent(K) == e.at('J'));
    CHECK(b.global_offset(K) == a.global_offset(J));
  });
}

TEST_CASE("partial stays partial, and a name for itself is the same tensor") {
  using operand = os::tensor<double, I, os::partial(X)>;
  static_assert(std::is_same_v<decltype(os::rename<I, J>(operand())), os::tensor<double, J, os::partial(X)>>);
  static_assert(std::is_same_v<decltype(os::rename<I, I>(operand())), operand>);
  t::on_every_mesh([](t::test_mesh const& m) {
    auto g = t::whole_numbers<double>("I", t::usual_extents()[0], 19);
    auto const a = os::rename<I, J>(t::placed<operand>(m, g));
    g.labels.back() = 'J';
    g.extents['J'] = g.extents['I'];
    CHECK(t::disagreements(m, a, g) == 0);
  });
}

TEST_CASE("queries and keys: a tensor times itself") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const e = t::usual_extents()[1];
    auto const g = t::whole_numbers<double>("IJ", e, 20);
    auto renamed = g;
    renamed.labels.front() = 'K';
    renamed.extents['K'] = e.at('I');
    auto of_both = g;
    of_both.extents['K'] = e.at('I');
    auto const a = t::placed<os::tensor<double, I/X, J>>(m, g);
    CHECK(t::disagreements(m, os::einsum<I/X, K>(a, os::rename<I, K>(a)),
                           t::product_by_loops("IK", of_both, renamed)) == 0);
  });
}

TEST_CASE("a static extent is checked") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const six = t::placed<os::tensor<float, I/X>>(m, t::whole_numbers<float>("I", {{'I', 6}}, 21));
    auto const seven = t::placed<os::tensor<float, I/X>>(m, t::whole_numbers<float>("I", {{'I', 7}}, 21));
    static_assert(std::is_same_v<decltype(os::rename<I, D>(six)), os::tensor<float, D/X>>);
    CHECK(os::rename<I, D>(six).extent(D) == 6);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(os::rename<I, D>(seven)),
        "rename: D has the static extent 6, but I is 7; rename to an axis of that extent or without a static one",
        os::error);
  });
}
