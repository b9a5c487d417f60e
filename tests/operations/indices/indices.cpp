// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Operations by an index tensor against plain loops.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <string>

#include "support/on_meshes.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

/// Numbers from 0 to n − 1.
template <class Index>
t::global_tensor<Index> numbers(std::string const& labels, t::extents_by_letter const& e, std::int64_t n,
                                std::uint64_t salt) {
  auto g = t::whole_numbers<Index>(labels, e, salt);
  for (std::size_t i = 0; i < g.values.size(); ++i)
    g.values[i] = static_cast<Index>((static_cast<std::uint64_t>(i) * 2654435761u + salt * 40503u) %
                                     static_cast<std::uint64_t>(n));
  return g;
}

/// table[index[…], …], the label V of the table being looked up.
template <class T, class Index>
t::global_tensor<T> taken(std::string const& out, char v, t::global_tensor<T> const& table,
                          t::global_tensor<Index> const& index) {
  t::extents_by_letter e = table.extents;
  e.insert(index.extents.begin(), index.extents.end());
  t::global_tensor<T> want{out, e, {}};
  t::for_each_index(out, e, [&](t::extents_by_letter at) {
    at[v] = static_cast<std::int64_t>(index.values[index.position(at)]);
    want.values.push_back(table.values[table.position(at)]);
  });
  return want;
}

std::vector<t::extents_by_letter> extents_of_takes() {
  return {{{'B', 8}, {'I', 6}, {'J', 12}, {'K', 8}},
          {{'B', 5}, {'I', 3}, {'J', 7}, {'K', 5}},
          {{'B', 1}, {'I', 9}, {'J', 2}, {'K', 3}},
          {{'B', 2}, {'I', 0}, {'J', 3}, {'K', 1}}};
}

template <class T, auto... Dims>
inline constexpr std::type_identity<os::tensor<T, Dims...>> of;

/// Checks the result against the expected one, and the moved bytes against the predicted.
template <auto... Out, class Table, class Index, class T, class G>
void check_take(t::test_mesh const& m, t::global_tensor<T> const& table, t::global_tensor<G> const& index,
                std::string const& out, std::type_identity<Table>, std::type_identity<Index>) {
  auto const rows = t::placed<Table>(m, table);
  auto const by = t::placed<Index>(m, index);
  decltype(os::take<J, Out...>(rows, by, os::in_range)) got;
  auto const moved = t::traffic_of([&] { got = os::take<J, Out...>(rows, by, os::in_range); });
  std::int64_t predicted = 0;
  if constexpr (sizeof...(Out) > 0)
    predicted =
        os::bytes_of(os::operation::take<J_axis, os::sharding_of<Out...>, os::detail::promised_range>{}, rows, by);
  CHECK((moved.bytes + t::ranks() - 1) / t::ranks() == predicted);
  CHECK(t::disagreements(m, got, taken(out, 'J', table, index)) == 0);
  CHECK(t::disagreements(m, os::take<J, Out...>(rows, by), taken(out, 'J', table, index)) == 0);
}

}  // namespace

TEST_CASE("rows are taken of tables divided along either axis, by indices divided or not") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents_of_takes()) {
      INFO(m.text(), t::text_of(e));
      auto const table = t::whole_numbers<float>("JK", e, 3);
      auto const tokens = numbers<std::int32_t>("BI", e, e.at('J'), 1);
      auto const few = numbers<std::int64_t>("B", e, e.at('J'), 2);
      using int32 = std::int32_t;
      using int64 = std::int64_t;
      // nothing moves
      check_take<B/X, I, K/Y>(m, table, tokens, "BIK", of<float, J, K/Y>, of<int32, B/X, I>);
      check_take(m, table, tokens, "BIK", of<float, J, K/Y>, of<int32, B/X, I>);
      check_take<B/X, I/Y, K>(m, table, tokens, "BIK", of<float, J, K>, of<int32, B, I>);
      check_take<K/Y, B/X>(m, table, few, "KB", of<float, J, K>, of<int64, B>);
      check_take<B, K, os::partial(X)>(m, table, few, "BK", of<float, J/X, K>, of<int64, B>);
      // indices move, or the looked-up rows
      check_take<B, I, K/Y>(m, table, tokens, "BIK", of<float, J, K/Y>, of<int32, B, I/Y>);
      check_take<B, I/Y, K>(m, table, tokens, "BIK", of<float, J, K/Y>, of<int32, B, I/Y>);
      check_take<B/X, K>(m, table, few, "BK", of<float, J/X, K>, of<int64, B/X>);
      check_take<B/X, K/Y>(m, table, few, "BK", of<float, J/Y, K>, of<int64, B/X>);
      check_take<B, K>(m, table, few, "BK", of<float, J/X/Y, K>, of<int64, B/Y>);
      check_take<B, K>(m, table, few, "BK", of<float, J/Y, K/X>, of<int64, B/Y/X>);
    }
  });
}

TEST_CASE("an axis of index and table meets") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents_of_takes()) {
      INFO(m.text(), t::text_of(e));
      auto const logits = t::whole_numbers<double>("BJ", e, 5);
      auto const labels = numbers<std::int64_t>("B", e, e.at('J'), 4);
      check_take(m, logits, labels, "B", of<double, B/X, J>, of<std::int64_t, B/X>);
      check_take(m, logits, labels, "B", of<double, B/X, J>, of<std::int64_t, B>);
      check_take<B/X>(m, logits, labels, "B", of<double, B/X, J/Y>, of<std::int64_t, B/X>);
      check_take<B/Y>(m, logits, labels, "B", of<double, B/X, J>, of<std::int64_t, B>);
      auto const logits_of_heads = t::whole_numbers<double>("BJI", e, 6);
      check_take<I/Y, B/X>(m, logits_of_heads, labels, "IB", of<double, B, J/X, I>, of<std::int64_t, B/Y>);
    }
  });
}

TEST_CASE("rows of tables of other elements, and in bodies") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e = {{'B', 5}, {'I', 3}, {'J', 7}, {'K', 5}};
    auto const few = numbers<std::int64_t>("B", e, e.at('J'), 2);
    auto const by = t::placed<os::tensor<std::int64_t, B/X>>(m, few);
    auto const halves = t::whole_numbers<os::bfloat16>("JK", e, 3);
    CHECK(t::disagreements(m, os::take<J, B/X, K>(t::placed<os::tensor<os::bfloat16, J/Y, K>>(m, halves), by),
                           taken("BK", 'J', halves, few)) == 0);
    auto const bytes = t::whole_numbers<std::int8_t>("JK", e, 3);
    CHECK(t::disagreements(m, os::take<J, B, K/X>(t::placed<os::tensor<std::int8_t, J/X, K>>(m, bytes), by),
                           taken("BK", 'J', bytes, few)) == 0);
    auto const wide = t::whole_numbers<float>("JK", {{'J', 7}, {'K', 300}}, 3);  // rows of several cache lines
    CHECK(t::disagreements(m, os::take<J, B/X, K>(t::placed<os::tensor<float, J/Y, K>>(m, wide), by),
                           taken("BK", 'J', wide, few)) == 0);
    auto const whole = t::whole_numbers<Kokkos::complex<double>>("JK", e, 3);
    CHECK(t::disagreements(
              m, os::take<J, B, K/Y>(t::placed<os::tensor<Kokkos::complex<double>, J, K/Y>>(m, whole), by),
              taken("BK", 'J', whole, few)) == 0);
    auto const table = t::placed<os::tensor<Kokkos::complex<double>, J, K/Y>>(m, whole);
    auto const rows = os::shard_map<B/X, K/Y>(
        [](auto const& numbers, auto const& part) { return os::take<J>(part, numbers); }, by, table);
    CHECK(t::disagreements(m, rows, taken("BK", 'J', whole, few)) == 0);
    auto wrong = few;
    wrong.values[3] = 7;
    auto const bad = t::placed<os::tensor<std::int64_t, B/X>>(m, wrong);
    CHECK(t::said_alike([&] {
            static_cast<void>(os::shard_map<B/X, K/Y>(
                [](auto const& numbers, auto const& part) { return os::take<J>(part, numbers); }, bad, table));
          }).find("take: an index is one of 0 … 6 along J, but it is 7 at element ") == 0);
    CHECK(t::said_alike([&] { static_cast<void>(os::take<J, B, K>(table, bad)); }).find("but it is 7 at B = 3;") !=
          std::string::npos);
  });
}

namespace {

/// out[index[…], …] += rows[…]
template <class T, class Index>
t::global_tensor<T> scattered(std::string const& out, char v, t::global_tensor<T> const& rows,
                              t::global_tensor<Index> const& index, std::int64_t extent) {
  t::global_tensor<T> want{out, rows.extents, {}};
  want.extents[v] = extent;
  want.values.assign(static_cast<std::size_t>(t::number_of_elements(out, want.extents)), T(0));
  t::for_each_index(rows.labels, rows.extents, [&](t::extents_by_letter at) {
    T const& x = rows.values[rows.position(at)];
    at[v] = static_cast<std::int64_t>(index.values[index.position(at)]);
    T& sum = want.values[want.position(at)];
    sum = static_cast<T>(sum + x);
  });
  return want;
}

/// Checks the result against the expected one, and the moved bytes against the predicted.
template <auto... Out, class Rows, class Index, class T, class G>
void check_scatter(t::test_mesh const& m, t::global_tensor<T> const& rows, t::global_tensor<G> const& index,
                   std::string const& out, std::int64_t n, std::type_identity<Rows>, std::type_identity<Index>) {
  auto const added = t::placed<Rows>(m, rows);
  auto const by = t::placed<Index>(m, index);
  decltype(os::scatter_add<J, Out...>(added, by, J = n)) got;
  auto const moved = t::traffic_of([&] { got = os::scatter_add<J, Out...>(added, by, J = n); });
  os::operation::scatter_add<J_axis, os::sharding_of<Out...>> const how{n};
  CHECK((moved.bytes + t::ranks() - 1) / t::ranks() == os::bytes_of(how, added, by));
  auto const want = scattered(out, 'J', rows, index, n);
  CHECK(t::disagreements(m, got, want) == 0);
  CHECK(t::disagreements(m, os::scatter_add<J, Out...>(added, by, J = n, os::in_range), want) == 0);
}

}  // namespace

TEST_CASE("rows are added where indices say, divided along either axis") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents_of_takes()) {
      INFO(m.text(), t::text_of(e));
      std::int64_t const n = e.at('J');
      auto const rows = t::whole_numbers<float>("BK", e, 3);
      auto const many = t::whole_numbers<double>("IBK", e, 5);
      auto const by = numbers<std::int64_t>("B", e, n, 2);
      auto const by_both = numbers<std::int32_t>("BI", e, n, 1);
      using int32 = std::int32_t;
      using int64 = std::int64_t;
      // nothing moves
      check_scatter<J/X, K>(m, rows, by, "JK", n, of<float, B, K>, of<int64, B>);
      check_scatter<K/Y, J/X>(m, rows, by, "KJ", n, of<float, B, K/Y>, of<int64, B>);
      check_scatter<J, K, os::partial(X)>(m, rows, by, "JK", n, of<float, B/X, K>, of<int64, B/X>);
      check_scatter<J, I/X>(m, t::whole_numbers<float>("IB", e, 4), by, "JI", n, of<float, I/X, B>, of<int64, B>);
      // rows are gathered, or sums reduced
      check_scatter<J, K>(m, rows, by, "JK", n, of<float, B/X/Y, K>, of<int64, B/X>);
      check_scatter<J/X, K>(m, rows, by, "JK", n, of<float, B/X, K>, of<int64, B/X>);
      check_scatter<J, K/Y>(m, many, by_both, "JK", n, of<double, I, B/Y, K>, of<int32, B/X, I>);
      check_scatter<J/Y, I, K/X>(m, many, by, "JIK", n, of<double, I/Y, B/X, K>, of<int64, B>);
      // an axis of the index that stays
      check_scatter<B/X, J>(m, t::whole_numbers<float>("BI", e, 4), by_both, "BJ", n, of<float, B/X, I>,
                              of<int32, B, I>);
    }
  });
}

TEST_CASE("16-bit rows are added in float, and blocks in bodies") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::global_tensor<os::bfloat16> const ones{"B", {{'B', 600}}, std::vector<os::bfloat16>(600, os::bfloat16(1.0f))};
    t::global_tensor<std::int64_t> const zeros{"B", {{'B', 600}}, std::vector<std::int64_t>(600, 1)};
    t::global_tensor<os::bfloat16> const want{
        "J", {{'J', 3}}, {os::bfloat16(0.0f), os::bfloat16(600.0f), os::bfloat16(0.0f)}};
    CHECK(t::disagreements(m,
                           os::scatter_add<J, J/X>(t::placed<os::tensor<os::bfloat16, B>>(m, ones),
                                                     t::placed<os::tensor<std::int64_t, B>>(m, zeros), J = 3),
                           want) == 0);
    t::extents_by_letter const e = {{'B', 5}, {'K', 5}};
    auto const rows = t::whole_numbers<std::int64_t>("BK", e, 3);
    auto const by = numbers<std::int64_t>("B", e, 4, 2);
    auto const sum = os::shard_map<J, K, os::partial(X)>(
        [](auto const& x, auto const& index) { return os::scatter_add<J, J, K>(x, index, J = 4); },
        t::placed<os::tensor<std::int64_t, B/X, K>>(m, rows), t::placed<os::tensor<std::int64_t, B/X>>(m, by));
    CHECK(t::disagreements(m, sum, scattered("JK", 'J', rows, by, 4)) == 0);
  });
}

TEST_CASE("an index out of range is named on all ranks alike") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::global_tensor<std::int64_t> g{"IJ", {{'I', 7}, {'J', 5}}, std::vector<std::int64_t>(35, 3)};
    auto const check = [&](auto const& index, std::int64_t extent) {
      return t::said_alike([&] { os::detail::check_range<os::detail::checked_range>("take", index, "V", extent); });
    };
    using whole = os::tensor<std::int64_t, I, J>;
    using divided = os::tensor<std::int64_t, I/X, J/Y>;
    CHECK(check(t::placed<whole>(m, g), 4) == "nothing");
    CHECK(check(t::placed<divided>(m, g), 4) == "nothing");
    g.values[13] = -1;
    g.values[27] = 77;
    std::string const wrong =
        "take: an index is one of 0 … 3 along V, but it is -1 at I = 2, J = 3; correct it, or give the axis a larger "
        "extent";
    CHECK(check(t::placed<whole>(m, g), 4) == wrong);
    CHECK(check(t::placed<divided>(m, g), 4) == wrong);
    g.values[13] = 0;
    CHECK(check(t::placed<divided>(m, g), 78) == "nothing");
    CHECK(check(t::placed<divided>(m, g), 0).find("none of the empty axis V") != std::string::npos);
    auto const index = t::placed<divided>(m, g);
    auto const nothing = t::placed<whole>(m, g);
    auto const moved =
        t::traffic_of([&] { os::detail::check_range<os::detail::checked_range>("take", index, "V", 78); });
    std::int64_t const predicted =
        os::detail::moves_of_range<os::detail::checked_range, divided>::total_bytes(os::detail::sizes_of_call(index));
    CHECK(moved.bytes == predicted);
    CHECK(t::traffic_of([&] { os::detail::check_range<os::detail::checked_range>("take", nothing, "V", 78); }).calls ==
          0);
    CHECK(t::traffic_of([&] { os::detail::check_range<os::detail::promised_range>("take", index, "V", 1); }).calls ==
          0);
  });
}
