// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Errors about positions and pages that not all devices find by themselves: in the body of os::shard_map, whose blocks
/// have different extents, a number may be in range on one device and out of range on another. And rows that lie in the
/// cache that they are written to.
// ranks: 1 2 3 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/local_view.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>
#include <string>

#include "support/on_meshes.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(P);  // pages
OSTRAKA_AXIS(S);  // slots of a page
OSTRAKA_AXIS(T);  // pages of a request

// Of 7 pages and 5 positions over two devices, the second has 3 and 2.
t::extents_by_letter const e{{'B', 2}, {'I', 1}, {'L', 1}, {'J', 3}, {'K', 5}, {'S', 2}, {'T', 2}, {'P', 7}};

bool is_range_error(std::string const& said, char const* operation) {
  return said.starts_with(std::string(operation) + ": an index is one of 0 … ");
}

}  // namespace

TEST_CASE("a page or position that only some blocks of a body have is an error on all devices") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    auto const rows = t::placed<os::tensor<double, B, L, J>>(m, t::whole_numbers<double>("BLJ", e, 1));
    auto const q = t::placed<os::tensor<double, B, I, L, J>>(m, t::whole_numbers<double>("BILJ", e, 1));
    auto const pool = t::placed<os::tensor<double, P / X, S, L, J>>(m, t::whole_numbers<double>("PSLJ", e, 2));
    auto const cache = t::placed<os::tensor<double, B, K / X, L, J>>(m, t::whole_numbers<double>("BKLJ", e, 3));
    auto const table = t::placed<os::tensor<std::int32_t, B, T>>(m, {"BT", e, {0, 0, 3, 0}});
    auto const from = t::placed<os::tensor<std::int64_t, B>>(m, {"B", e, {2, 0}});
    bool const fits = m.size("X") == 1;
    auto const check = [&](std::string const& said, char const* operation) {
      INFO(said);
      CHECK((fits ? said == "nothing" : is_range_error(said, operation)));
    };

    check(t::said_alike([&] {
            static_cast<void>(os::shard_map<P / X, S, L, J>(
                [&](auto pages) {
                  return os::write_at<S>(pages, os::from_positions(from), rows, os::pages<P>(table));
                },
                pool));
          }),
          "write_at");
    check(t::said_alike([&] {
            static_cast<void>(os::shard_map<B, K / X, L, J>(
                [&](auto keys) { return os::write_at<K>(keys, os::from_positions(from), rows); }, cache));
          }),
          "write_at");
    check(t::said_alike([&] {
            static_cast<void>(os::shard_map<os::manual(X), B, I, L, J>(
                [&](auto pages) {
                  return os::psum<X>(os::attention<I, S, J>(q, pages, pages, os::pages<P>(table), os::causal,
                                                            os::from_positions(from)));
                },
                pool));
          }),
          "attention");
  });
}

TEST_CASE("rows that lie in the cache are an error") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const square{{'B', 3}, {'J', 2}, {'S', 2}, {'T', 1}, {'P', 3}};
    auto const pool = t::placed<os::tensor<double, P, S, J>>(m, t::whole_numbers<double>("PSJ", square, 2));
    auto const table = t::placed<os::tensor<std::int32_t, B, T>>(m, {"BT", square, {1, 2, 0}});
    auto const from = t::placed<os::tensor<std::int64_t, B>>(m, {"B", square, {0, 0, 0}});
    auto const said = [&](auto const& rows) {
      return t::said_alike([&] { os::write_at<S>(pool, os::from_positions(from), rows, os::pages<P>(table)); });
    };
    CHECK(said(os::rename<P, B>(pool)) ==
          "write_at: the result is written while the operands are read, but it shares memory with one of them; use "
          "os::copy, or another tensor for the result");
    CHECK(said(os::rename<P, B>(os::copy(pool))) == "nothing");
    auto want = t::whole_numbers<double>("PSJ", square, 2);
    auto const before = want;
    for (std::size_t p = 0; p < 3; ++p)
      for (std::size_t i = 0; i < 4; ++i) want.values[(p + 1) % 3 * 4 + i] = before.values[p * 4 + i];
    CHECK(t::disagreements(m, pool, want) == 0);
  });
}
