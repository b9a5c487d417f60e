// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Derivatives of moves of blocks from device to device, of scans and parts, and of operations that are begun and
/// waited for, by differences of the plain program, with even and uneven blocks.
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>

#include <cmath>
#include <cstdint>
#include <vector>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using divided = os::tensor<double, I/X, J/Y>;

}  // namespace

TEST_CASE("permutations, roots, scans and parts") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const n = m.size("X");
    for (bool const even : {true, false}) {
      t::extents_by_letter const e{{'I', even ? 2 * n : 2 * n + 1}, {'J', 2 * m.size("Y")}};
      INFO(m.text(), t::text_of(e));
      std::vector<os::hop> hops;  // the last device sends nothing, the first gets nothing
      for (int d = 0; d + 1 < n; ++d) hops.push_back({d, d + 1});
      t::check_body<J/Y>(m, e, [](auto a) {
        auto const b = os::sum<J>(os::multiply(a, a)), c = os::sum<J>(os::shift<X>(os::multiply(a, a), 1));
        return os::psum<X>(os::multiply(b, os::multiply(c, 1.0 + static_cast<double>(os::axis_index<X>(a).value()))));
      });
      t::check_body<J/Y>(m, e, [&](auto a) {
        auto const b = os::sum<J>(os::ppermute<X>(os::multiply(a, a), hops));
        return os::psum<X>(os::multiply(b, 1.0 + static_cast<double>(os::axis_index<X>(a).value())));
      });
      t::check_body<I/X, J/Y>(m, e, [](auto a) { return os::shift<X>(os::multiply(os::shift<X>(a, 1), 2.0), -1); });
      t::check_body<J/Y>(m, e, [&](auto a) {
        auto const b = os::gather_to<I/X>(os::multiply(a, a), n - 1);
        return os::psum<X>(os::sum<J>(os::multiply(b, b)));
      });
      t::check_body<I/X, J/Y>(m, e, [&](auto a) {
        return os::scatter_from<I/X>(os::pvary<X>(os::all_gather<I/X>(os::multiply(a, a))), 0);
      });
      t::check_body<J/Y>(m, e, [&](auto a) {
        auto const whole = os::all_gather<I/X>(a);
        auto const own = os::part<I>(whole, os::axis_index<X>(a), n);
        auto const all = os::einsum<J>(own, os::part<J>(own, 0, 1));
        return os::psum<X>(os::multiply(all, os::einsum<>(os::part<J>(own, 0, 2))));
      });
      t::check_body<I, J/Y>(m, e, [&](auto a) {  // blocks with extents of their own
        auto const own = os::part<I>(os::all_gather<I/X>(a), os::axis_index<X>(a), n);
        return os::all_gather<I/X>(os::multiply(own, own));
      });
      t::check_body<J/Y>(m, e, [&](auto a) {
        auto const own = os::part<I>(os::all_gather<I/X>(a), os::axis_index<X>(a), n);
        auto const b = os::gather_to<I/X>(os::multiply(own, own), n - 1);
        return os::psum<X>(os::sum<J>(os::multiply(b, b)));
      });
      if (!even) continue;
      t::check_body<I/X, J/Y>(m, e, [](auto a) { return os::inclusive_scan<X>(os::multiply(a, a)); });
      t::check_body<I/X, J/Y>(m, e, [](auto a) { return os::multiply(os::exclusive_scan<X>(a), a); });
      t::check_body<I/X, J/Y>(m, e, [](auto a) {
        return os::multiply(os::shift<X, Y>(a, 1), os::shift<X>(os::multiply(a, a), os::axis_index<Y>(a)));
      });
    }
  });
}

TEST_CASE("a ring that is begun and waited for") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const n = m.size("X");
    t::extents_by_letter const e{{'I', 2 * n}, {'J', 2 * m.size("Y")}};
    INFO(m.text());
    t::check_body<J/Y>(m, e, [n](auto a) {
      auto r = os::multiply(a, a);
      auto sum = os::sum<J>(r);
      for (int s = 0; s + 1 < n; ++s) {
        auto next = os::start_shift<X>(r, 1);
        sum = os::add(sum, os::sum<J>(os::multiply(r, a)));
        r = std::move(next).wait();
      }
      return os::start_psum<X>(sum).wait();
    });
  });
}

TEST_CASE("rows in numbers that are known when the program runs") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const n = m.size("X");
    t::extents_by_letter const e{{'I', 3 * n}, {'J', m.size("Y")}};
    INFO(m.text());
    for (bool const twice : {false, true}) {
      auto const body = [&](auto a) {
        auto const d = static_cast<std::int64_t>(os::axis_index<X>(a).value());
        // Device d sends its row 0, or its rows 0 and 1 to all; or its first to the next device and two to itself.
        std::vector<std::int64_t> from, rows, to;
        for (std::int64_t k = 0; k < n; ++k) {
          bool const next = k == (d + 1) % n, own = k == d;
          from.push_back(twice ? d % 2 : (own ? 1 : 0));
          rows.push_back(twice ? 2 : (n > 1 ? (next ? 1 : 0) + (own ? 2 : 0) : 2));
          to.push_back(twice ? 2 * d : (own ? 1 : 0));
        }
        auto const out = os::all_gather<I/X>(os::multiply(a, a));
        return os::ragged_all_to_all<I/X>(os::multiply(a, a), os::pvary<X>(out), from, rows, to);
      };
      t::check_by_differences<divided>(m, e, "IJ", [&](auto const& p) {
        auto const y = os::shard_map<J/Y>(
            [&](auto a) {
              auto const b = body(a);
              double const weight = 1.0 + static_cast<double>(os::axis_index<X>(a).value());
              return os::psum<X>(os::sum<J>(os::multiply(os::multiply(b, b), weight)));
            },
            p);
        return os::sum<>(y);
      });
    }
  });
}
