// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Second derivatives through the collectives of a body: a gradient's derivative against differences of gradients, even
/// and uneven.
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>

#include <cstdint>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using divided = os::tensor<double, I/X, J/Y>;

// The gradient of Σ y³ of a body's result y, times v. Third powers, so that its derivative is no constant.
template <auto... Out, class Body>
void check_again(t::test_mesh const& m, t::extents_by_letter const& e, Body const& body) {
  auto const v = t::placed<divided>(m, t::whole_numbers<double>("IJ", e, 4));
  auto const inner = os::value_and_grad([&](auto const& p) {
    auto const y = os::shard_map<Out...>(body, p);
    return os::sum<>(y * y * y);
  });
  t::check_by_differences<divided>(
      m, e, "IJ", [&](auto const& w) { return os::sum<>(inner(0.1 * w).gradient * v); });
}

}  // namespace

TEST_CASE("gathers, exchanges and sums") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X"), k = m.size("Y");
    for (bool const even : {true, false}) {
      t::extents_by_letter const e{{'I', even ? 2 * n : 2 * n + 1}, {'J', even ? (k > 1 ? k * k : 2) : 2 * k - 1}};
      INFO(m.text(), t::text_of(e));
      check_again<I, J/Y>(m, e, [](auto a) { return os::all_gather<I/X>(a * a); });
      check_again<I, J/Y>(m, e, [](auto a) { return os::all_gather_invariant<I/X>(a * a); });
      check_again<I, J/X>(m, e, [](auto a) { return os::all_to_all<I/X, J/X>(os::all_gather<J/Y>(a * a)); });
      check_again<I/X, J>(m, e, [](auto a) {
        return os::psum_scatter<I/X>(os::pvary<X>(os::all_gather<I/X>(os::all_gather<J/Y>(a * a))));
      });
      if (!even) continue;
      check_again<I/X, J/Y>(m, e, [](auto a) { return os::pmean<X>(a) * os::psum<Y>(a * a); });
      check_again<I/X, J/Y>(m, e, [](auto a) { return os::pvary<X>(os::psum<X>(a)) * os::pbroadcast<X, Y>(a, 0); });
    }
  });
}

TEST_CASE("permutations, roots, scans and rows in numbers") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const n = m.size("X");
    for (bool const even : {true, false}) {
      t::extents_by_letter const e{{'I', even ? 2 * n : 2 * n + 1}, {'J', 2 * m.size("Y")}};
      INFO(m.text(), t::text_of(e));
      check_again<I/X, J/Y>(m, e, [](auto a) { return os::shift<X>(os::shift<X>(a, 1) * 2.0, -1) * a; });
      check_again<J/Y>(m, e, [&](auto a) {
        auto const b = os::gather_to<I/X>(a * a, n - 1);
        return os::psum<X>(os::sum<J>(b));
      });
      check_again<I/X, J/Y>(m, e, [&](auto a) {
        return os::scatter_from<I/X>(os::pvary<X>(os::all_gather<I/X>(a * a)), 0);
      });
      if (!even) continue;
      std::vector<os::hop> hops;  // nothing goes from the last device, or to the first
      for (int d = 0; d + 1 < n; ++d) hops.push_back({d, d + 1});
      check_again<I/X, J/Y>(m, e, [&](auto a) { return os::ppermute<X>(a * a, hops) + a; });
      check_again<I/X, J/Y>(m, e, [](auto a) { return os::inclusive_scan<X>(a * a); });
      check_again<I/X, J/Y>(m, e, [](auto a) { return os::exclusive_scan<X>(a) * a; });
      std::vector<std::int64_t> const rows(static_cast<std::size_t>(n), 1);  // all send their second row to all
      check_again<J/Y>(m, e, [&](auto a) {
        auto const d = static_cast<std::int64_t>(os::axis_index<X>(a).value());
        std::vector<std::int64_t> const from(rows.size(), 1), to(rows.size(), d);
        auto const out = os::pvary<X>(os::all_gather<I/X>(a));
        return os::psum<X>(os::sum<J>(os::ragged_all_to_all<I/X>(a * a, out, from, rows, to)));
      });
    }
  });
}
