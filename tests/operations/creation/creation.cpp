// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Tensors that are made from their indices, and rows that are written at a position, against plain loops.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <string>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class T, class F>
t::global_tensor<T> made(std::string const& labels, t::extents_by_letter const& e, F const& f) {
  t::global_tensor<T> g{labels, e, {}};
  t::for_each_index(labels, e, [&](t::extents_by_letter const& at) { g.values.push_back(static_cast<T>(f(at))); });
  return g;
}

}  // namespace

TEST_CASE("iota counts along a divided axis") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::int64_t const n : {0, 1, 5, 12}) {
      os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
      t::extents_by_letter const e = {{'I', n}};
      CHECK(t::disagreements(m, os::iota<std::int64_t, I/X>(mesh, I = n),
                             made<std::int64_t>("I", e, [](auto const& at) { return at.at('I'); })) == 0);
      CHECK(t::disagreements(
                m, os::iota<float, I/X/Y>(mesh, I = n, os::from(1), os::by(0.25)),
                made<float>("I", e, [](auto const& at) { return 1 + 0.25 * static_cast<double>(at.at('I')); })) == 0);
      CHECK(t::disagreements(m, os::iota<std::int32_t, I>(mesh, os::by(-2), I = n, os::from(7)),
                             made<std::int32_t>("I", e, [](auto const& at) { return 7 - 2 * at.at('I'); })) == 0);
    }
  });
}

TEST_CASE("one_hot has its new axis whole or divided") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e = {{'B', 5}, {'I', 3}, {'J', 7}};
    auto const index = made<std::int32_t>("BI", e, [](auto const& at) { return (at.at('B') * 3 + at.at('I')) % 7; });
    auto const want =
        made<float>("BIJ", e, [](auto const& at) { return (at.at('B') * 3 + at.at('I')) % 7 == at.at('J') ? 1 : 0; });
    auto const by = t::placed<os::tensor<std::int32_t, B/X, I>>(m, index);
    CHECK(t::disagreements(m, os::one_hot<float, J>(by, J = 7), want) == 0);
    CHECK(t::disagreements(m, os::one_hot<float, J/Y>(by, J = 7, os::in_range), want) == 0);
    CHECK(t::traffic_of([&] { static_cast<void>(os::one_hot<float, J/Y>(by, J = 7, os::in_range)); }).bytes == 0);
    CHECK_THROWS_WITH_AS(static_cast<void>(os::one_hot<float, J/Y>(by, J = 6)),
                         doctest::Contains("but it is 6 at B = 2"), os::error);
    CHECK(t::disagreements(
              m, os::shard_map<B/X, I, J>([](auto const& a) { return os::one_hot<float, J>(a, J = 7); }, by), want) ==
          0);
  });
}

TEST_CASE("triangles, made and kept of tensors") {
  t::on_every_mesh([](t::test_mesh const& m) {
    os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
    for (t::extents_by_letter const& e :
         {t::extents_by_letter{{'B', 3}, {'I', 6}, {'J', 8}}, t::extents_by_letter{{'B', 1}, {'I', 7}, {'J', 3}}}) {
      std::int64_t const rows = e.at('I'), columns = e.at('J');
      for (std::int64_t const d : {0, 2, -1}) {
        auto const lower = [d](auto const& at) { return at.at('J') <= at.at('I') + d; };
        auto const upper = [d](auto const& at) { return at.at('J') >= at.at('I') + d; };
        INFO(m.text(), t::text_of(e), d);
        CHECK(t::disagreements(
                  m, os::lower_triangle<std::int32_t, I/X, J/Y>(mesh, I = rows, J = columns, os::diagonal(d)),
                  made<std::int32_t>("IJ", e, lower)) == 0);
        CHECK(t::disagreements(m, os::upper_triangle<float, I/Y, J>(mesh, I = rows, J = columns, os::diagonal(d)),
                               made<float>("IJ", e, upper)) == 0);
        auto const x = t::whole_numbers<float>("JBI", e, 4);
        auto const want =
            made<float>("JBI", e, [&](auto const& at) { return lower(at) ? x.values[x.position(at)] : 0; });
        auto const a = t::placed<os::tensor<float, J/Y, B, I/X>>(m, x);
        CHECK(t::disagreements(m, os::lower_triangle<I, J/Y>(a, os::diagonal(d)), want) == 0);
        auto const other =
            made<float>("JBI", e, [&](auto const& at) { return upper(at) ? x.values[x.position(at)] : 0; });
        auto const b = t::placed<os::tensor<float, J, B/X, I>>(m, x);
        CHECK(
            t::disagreements(m,
                             os::shard_map<J, B/X, I>(
                                 [d](auto const& part) { return os::upper_triangle<I, J>(part, os::diagonal(d)); }, b),
                             other) == 0);
      }
    }
  });
}

TEST_CASE("rows are written by the owner of the position") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e :
         {t::extents_by_letter{{'B', 4}, {'I', 6}, {'J', 8}}, t::extents_by_letter{{'B', 3}, {'I', 5}, {'J', 1}}}) {
      auto const cache = t::whole_numbers<float>("BIJ", e, 4);
      auto const row = t::whole_numbers<float>("BJ", e, 9);
      for (std::int64_t const at_row : {std::int64_t(0), std::int64_t(2), e.at('I') - 1}) {
        INFO(m.text(), t::text_of(e), at_row);
        auto const want = made<float>("BIJ", e, [&](auto const& at) {
          return at.at('I') == at_row ? row.values[row.position(at)] : cache.values[cache.position(at)];
        });
        auto const a = t::placed<os::tensor<float, B/Y, I/X, J>>(m, cache);
        auto const r = t::placed<os::tensor<float, B/Y, J>>(m, row);
        CHECK(t::traffic_of([&] { os::write_at<I/X>(a, at_row, r); }).calls == 0);
        CHECK(t::disagreements(m, a, want) == 0);
        auto const b = t::placed<os::tensor<float, B/X, I, J/Y>>(m, cache);
        os::write_at<I>(b, at_row, t::placed<os::tensor<float, B/X, J/Y>>(m, row));
        CHECK(t::disagreements(m, b, want) == 0);
        auto const c = t::placed<os::tensor<float, B/X, I, J>>(m, cache);
        static_cast<void>(os::shard_map<B/X, I, J>(
            [&](auto const& part, auto const& one) { return os::write_at<I>(part, at_row, one); }, c,
            t::placed<os::tensor<float, B/X, J>>(m, row)));
        CHECK(t::disagreements(m, c, want) == 0);
      }
      // several rows, as from a prompt
      t::extents_by_letter some = e;
      some['I'] = 3;
      auto const rows = t::whole_numbers<float>("BIJ", some, 2);
      auto const a = t::placed<os::tensor<float, B/Y, I/X, J>>(m, cache);
      os::write_at<I/X>(a, 1, t::placed<os::tensor<float, B/Y, I, J>>(m, rows));
      CHECK(t::disagreements(m, a, made<float>("BIJ", e, [&](t::extents_by_letter at) {
                               if (at.at('I') < 1 || at.at('I') > 3) return cache.values[cache.position(at)];
                               at['I'] -= 1;
                               return rows.values[rows.position(at)];
                             })) == 0);
      auto const r = t::placed<os::tensor<float, B/Y, J>>(m, row);
      CHECK_THROWS_WITH_AS(os::write_at<I/X>(a, e.at('I'), r),
                           doctest::Contains("write_at: the position is one of 0 …"), os::error);
      CHECK_THROWS_AS(os::write_at<I/X>(a, -1, r), os::error);
      CHECK_THROWS_WITH_AS(os::write_at<I/X>(a, e.at('I') - 2, t::placed<os::tensor<float, B/Y, I, J>>(m, rows)),
                           doctest::Contains("the positions of 3 rows are among 0 …"), os::error);
    }
  });
}
