// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Every collective of a body, along X, along Y, and along both in either order, tiled and untiled, in all element
/// types, on every mesh: the result on each device, by plain loops over the blocks of all of them. Split and
/// concatenated axes are different ones if there are two.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// The devices of this one's group along the named mesh axes, by number (the first axis major), and this one's number.
struct group {
  std::vector<int> ranks;
  int mine = 0;

  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
};

group group_along(t::test_mesh const& m, std::string const& along) {
  std::vector<std::pair<int, int>> numbered;
  auto const number = [&](int rank) {
    int n = 0;
    for (char a : along) n = n * m.size(std::string(1, a)) + m.coordinate(std::string(1, a), rank);
    return n;
  };
  for (int r = 0; r < t::ranks(); ++r) {
    bool together = true;
    for (char a : std::string("XYZ"))
      if (along.find(a) == std::string::npos)
        together = together && m.coordinate(std::string(1, a), r) == m.coordinate(std::string(1, a), t::rank());
    if (together) numbered.emplace_back(number(r), r);
  }
  std::sort(numbered.begin(), numbered.end());
  group g;
  for (auto const& [n, r] : numbered) g.ranks.push_back(r);
  g.mine = number(t::rank());
  return g;
}

// Rank r's block [rows, columns]: whole numbers that differ between ranks.
template <class T>
std::vector<T> block_on(int r, std::int64_t rows, std::int64_t columns) {
  std::vector<T> b;
  for (std::int64_t k = 0; k < rows * columns; ++k)
    b.push_back(t::whole_number<T>((r * 5 + k * 3 + (k / columns) * 2) % 11 - 4));
  return b;
}

template <class T>
T element(std::vector<T> const& block, std::int64_t columns, std::int64_t i, std::int64_t j) {
  return block[static_cast<std::size_t>(i * columns + j)];
}

template <class Block>
auto elements(Block const& b) {
  return t::read_elements<typename Block::value_type>(b.local().data(), b.local().size());
}

// A different block on each device.
template <class T>
auto make_block(t::test_mesh const& m, std::int64_t rows, std::int64_t columns) {
  os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
  auto const b = os::zeros<T, I, J, os::varying(X, Y, Z)>(mesh, I = rows, J = columns);
  t::write_elements(block_on<T>(t::rank(), rows, columns), b.local().data());
  return b;
}

template <class T, auto... Along>
void check(t::test_mesh const& m, std::string const& along) {
  group const g = group_along(m, along);
  int const n = g.size();
  std::int64_t const rows = 2 * n, columns = 3 * n;
  INFO(m.text(), " along ", along);
  auto const a = make_block<T>(m, rows, columns);
  std::vector<std::vector<T>> blocks;
  for (int r : g.ranks) blocks.push_back(block_on<T>(r, rows, columns));
  auto const combined = [&](os::reduction kind) {
    std::vector<T> all = blocks[0];
    for (int d = 1; d < n; ++d)
      for (std::size_t k = 0; k < all.size(); ++k)
        all[k] = t::combined<T>(kind, all[k], blocks[static_cast<std::size_t>(d)][k]);
    return all;
  };

  CHECK(elements(os::psum<Along...>(a)) == combined(os::reduction::sum));
  if constexpr (std::is_arithmetic_v<T>) {
    CHECK(elements(os::pmax<Along...>(a)) == combined(os::reduction::max));
    CHECK(elements(os::pmin<Along...>(a)) == combined(os::reduction::min));
    CHECK(elements(os::pprod<Along...>(a)) == combined(os::reduction::prod));
    std::vector<std::int32_t> largest, smallest;
    for (std::size_t k = 0; k < blocks[0].size(); ++k) {
      std::size_t up = 0, down = 0;
      for (std::size_t d = 1; d < blocks.size(); ++d) {
        if (blocks[d][k] > blocks[up][k]) up = d;
        if (blocks[d][k] < blocks[down][k]) down = d;
      }
      largest.push_back(static_cast<std::int32_t>(up));
      smallest.push_back(static_cast<std::int32_t>(down));
    }
    CHECK(elements(os::pargmax<Along...>(a)) == largest);
    CHECK(elements(os::pargmin<Along...>(a)) == smallest);
  }
  if constexpr (std::is_floating_point_v<T>) {
    auto mean = combined(os::reduction::sum);
    for (T& x : mean) x /= static_cast<T>(n);
    CHECK(elements(os::pmean<Along...>(a)) == mean);
  }

  auto const divided_i = [] { return (I / ... / Along); };
  auto const divided_j = [] { return (J / ... / Along); };
  auto const divided_k = [] { return (K / ... / Along); };
  constexpr auto over_i = decltype(divided_i())();
  constexpr auto over_j = decltype(divided_j())();
  constexpr auto over_k = decltype(divided_k())();

  std::vector<T> one_after_another, side_by_side;
  for (auto const& b : blocks) one_after_another.insert(one_after_another.end(), b.begin(), b.end());
  for (std::int64_t i = 0; i < rows; ++i)
    for (auto const& b : blocks)
      for (std::int64_t j = 0; j < columns; ++j) side_by_side.push_back(element(b, columns, i, j));
  CHECK(elements(os::all_gather<over_i>(a)) == one_after_another);
  CHECK(elements(os::all_gather<over_j>(a)) == side_by_side);
  CHECK(elements(os::all_gather<over_k>(a)) == one_after_another);
  CHECK(elements(os::all_gather<over_k>(a, os::untiled)) == one_after_another);

  auto const sum = combined(os::reduction::sum);
  std::vector<T> scattered_i, scattered_j;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) {
      if (i / 2 == g.mine) scattered_i.push_back(element(sum, columns, i, j));
      if (j / 3 == g.mine) scattered_j.push_back(element(sum, columns, i, j));
    }
  CHECK(elements(os::psum_scatter<over_i>(a)) == scattered_i);
  CHECK(elements(os::psum_scatter<over_j>(a)) == scattered_j);

  std::vector<T> i_to_j, j_to_i;  // device d sends its part along one axis, and concatenates along the other
  for (auto const& b : blocks)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 3 * g.mine; j < 3 * g.mine + 3; ++j) i_to_j.push_back(element(b, columns, i, j));
  for (std::int64_t i = 2 * g.mine; i < 2 * g.mine + 2; ++i)
    for (auto const& b : blocks)
      for (std::int64_t j = 0; j < columns; ++j) j_to_i.push_back(element(b, columns, i, j));
  CHECK(elements(os::all_to_all<over_i, over_j>(a)) == i_to_j);
  CHECK(elements(os::all_to_all<over_j, over_i>(a)) == j_to_i);

  auto const by_device = make_block<T>(m, n, 2);  // an index of I for each
  std::vector<T> summed(2), exchanged;
  for (int r : g.ranks) {
    auto const b = block_on<T>(r, n, 2);
    for (std::int64_t j = 0; j < 2; ++j) {
      T& so_far = summed[static_cast<std::size_t>(j)];
      so_far = t::combined<T>(os::reduction::sum, so_far, element(b, 2, g.mine, j));
      exchanged.push_back(element(b, 2, g.mine, j));
    }
  }
  CHECK(elements(os::psum_scatter<over_i>(by_device, os::untiled)) == summed);
  CHECK(elements(os::all_to_all<over_k, over_i>(by_device, os::untiled)) == exchanged);
  if (n > 1)
    CHECK_THROWS_WITH_AS(static_cast<void>(os::psum_scatter<over_i>(a, os::untiled)),
                         doctest::Contains("os::untiled needs one index for each of the "), os::error);

  int const root = n - 1;
  CHECK(elements(os::pbroadcast<Along...>(a, root)) == blocks.back());
  CHECK_THROWS_AS(static_cast<void>(os::pbroadcast<Along...>(a, n)), os::error);
  auto const folded = os::preduce<Along...>([](auto const& x, auto const& y) { return os::add(x, y); }, a);
  CHECK(elements(folded) == combined(os::reduction::sum));
}

template <class T>
void check_all() {
  t::on_every_mesh([](t::test_mesh const& m) {
    check<T, X>(m, "X");
    check<T, Y>(m, "Y");
    check<T, X, Y>(m, "XY");
    check<T, Y, X>(m, "YX");
  });
}

// Element types differ in how elements are sent and added, not in the mesh axes.
template <class... Ts>
void check_along_x() {
  t::on_every_mesh([](t::test_mesh const& m) { (check<Ts, X>(m, "X"), ...); });
}

}  // namespace

TEST_CASE("float") { check_all<float>(); }
TEST_CASE("complex<double>") { check_all<Kokkos::complex<double>>(); }
TEST_CASE("int64") { check_all<std::int64_t>(); }
TEST_CASE("other numbers, along one mesh axis") {
  check_along_x<double, Kokkos::complex<float>, os::float16, os::bfloat16, std::int32_t, std::int16_t, std::int8_t>();
}

// Bools are not added; std::vector has no array of them.
TEST_CASE("bool") {
  t::on_every_mesh([](t::test_mesh const& m) {
    group const g = group_along(m, "X");
    INFO(m.text());
    auto const is_true = [](int rank, std::size_t k) { return (rank + static_cast<int>(k)) % 3 == 0; };
    auto const n = static_cast<std::size_t>(g.size());
    os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
    auto const a = os::zeros<bool, I, os::varying(X, Y, Z)>(mesh, I = g.size());
    t::change_block(a, [&](auto const& block) {
      for (std::size_t k = 0; k < n; ++k) block.data()[k] = is_true(t::rank(), k);
    });
    auto const gathered = os::all_gather<K/X>(a);
    auto const exchanged = os::all_to_all<I/X, I/X>(a);
    auto const from_last = os::pbroadcast<X>(a, g.size() - 1);
    auto begun = os::start_shift<X>(a, 1);
    auto const shifted = std::move(begun).wait();
    for (std::size_t d = 0; d < n; ++d) {
      int const other = g.ranks[d];
      for (std::size_t k = 0; k < n; ++k) CHECK(t::host_block(gathered).data()[d * n + k] == is_true(other, k));
      CHECK(t::host_block(exchanged).data()[d] == is_true(other, static_cast<std::size_t>(g.mine)));
      CHECK(t::host_block(from_last).data()[d] == is_true(g.ranks.back(), d));
      CHECK(t::host_block(shifted).data()[d] == is_true(g.ranks[(static_cast<std::size_t>(g.mine) + n - 1) % n], d));
    }
  });
}

TEST_CASE("scans, and what goes to a root and comes from it") {
  t::on_every_mesh([](t::test_mesh const& m) {
    group const g = group_along(m, "X");
    INFO(m.text());
    auto const a = make_block<double>(m, 2, 3);
    std::vector<double> before(6, 0.0), largest(6, -std::numeric_limits<double>::infinity());
    for (int d = 0; d < g.mine; ++d)
      for (std::size_t k = 0; k < 6; ++k) {
        double const x = block_on<double>(g.ranks[static_cast<std::size_t>(d)], 2, 3)[k];
        before[k] += x;
        largest[k] = std::max(largest[k], x);
      }
    auto up_to = before;
    for (std::size_t k = 0; k < 6; ++k) up_to[k] += block_on<double>(t::rank(), 2, 3)[k];
    CHECK(elements(os::inclusive_scan<X>(a)) == up_to);
    CHECK(elements(os::exclusive_scan<X>(a)) == before);
    CHECK(elements(os::exclusive_scan<X, os::reduction::max>(a)) == largest);

    int const root = g.size() - 1;
    auto const whole = os::gather_to<I/X>(a, root);
    std::vector<double> all;
    for (int r : g.ranks)
      for (double x : block_on<double>(r, 2, 3)) all.push_back(x);
    CHECK(elements(whole) == (g.mine == root ? all : std::vector<double>()));
    CHECK(elements(os::scatter_from<I/X>(whole, root)) == elements(a));
    CHECK(elements(os::all_gather<I/X>(whole)) == all);  // all but one of them have no rows
    os::barrier<X>(a);
  });
}

TEST_CASE("rows in numbers that devices choose") {
  t::on_every_mesh([](t::test_mesh const& m) {
    group const g = group_along(m, "X");
    int const n = g.size();
    INFO(m.text());
    // Device d sends e rows to device e ≥ 1, behind the rows that it sends to lower devices; they stand in the order of
    // d.
    std::vector<std::int64_t> from, rows, to;
    std::int64_t next = 0;
    for (int e = 0; e < n; ++e) {
      from.push_back(next);
      rows.push_back(e);
      to.push_back(static_cast<std::int64_t>(g.mine) * e);
      next += e;
    }
    auto const a = make_block<double>(m, next, 3);
    auto const out = make_block<double>(m, std::int64_t{1} * n * n, 3);
    auto const got = elements(os::ragged_all_to_all<I/X>(a, out, from, rows, to));
    auto wanted = elements(out);
    std::int64_t const begin = std::int64_t{1} * g.mine * (g.mine - 1) / 2;
    for (int d = 0; d < n; ++d)
      for (std::int64_t i = 0; i < g.mine; ++i)
        for (std::int64_t j = 0; j < 3; ++j)
          wanted[static_cast<std::size_t>((d * g.mine + i) * 3 + j)] =
              element(block_on<double>(g.ranks[static_cast<std::size_t>(d)], next, 3), 3, begin + i, j);
    CHECK(got == wanted);
    auto begun = os::start_ragged_all_to_all<I/X>(a, out, from, rows, to);
    auto const meanwhile = os::psum<X>(a);
    CHECK(elements(std::move(begun).wait()) == wanted);
    CHECK(elements(meanwhile) == elements(os::psum<X>(a)));
    static_cast<void>(os::start_ragged_all_to_all<I/X>(a, out, from, rows, to));  // dropped: it waits
    if (n > 1) {
      to.assign(to.size(), 0);  // rows of several devices in the same place
      CHECK_THROWS_AS(static_cast<void>(os::ragged_all_to_all<I/X>(a, out, from, rows, to)), os::error);
      CHECK_THROWS_AS(static_cast<void>(os::start_ragged_all_to_all<I/X>(a, out, from, rows, to)), os::error);
    }
  });
}

TEST_CASE("a function of the program on two blocks together, in the order of the devices") {
  t::on_every_mesh([](t::test_mesh const& m) {
    group const g = group_along(m, "XY");
    INFO(m.text());
    auto const a = make_block<double>(m, 2, 3), b = make_block<double>(m, 2, 3);
    // x -> s x + t, one after another: associative, not commutative.
    auto const composed = os::preduce<X, Y>(
        [](auto const& first, auto const& second) {
          auto const& [s, u] = first;
          auto const& [v, w] = second;
          return std::tuple{os::multiply(s, v), os::add(os::multiply(u, v), w)};
        },
        a, b);
    std::vector<double> s(6, 1.0), u(6, 0.0);
    for (int r : g.ranks)
      for (std::size_t k = 0; k < 6; ++k) {
        double const x = block_on<double>(r, 2, 3)[k];
        s[k] *= x;
        u[k] = u[k] * x + x;
      }
    CHECK(elements(std::get<0>(composed)) == s);
    CHECK(elements(std::get<1>(composed)) == u);
  });
}

TEST_CASE("blocks as text") {
  t::on_every_mesh([](t::test_mesh const& m) {
    os::mesh<X_mesh, Y_mesh, Z_mesh> const mesh(m.handle());
    auto const a = os::full<double, I, J, os::varying(X)>(mesh, I = 2, J = 2, t::rank() + 0.5);
    std::string const text = os::blocks_as_text(a);
    std::size_t at = 0;
    for (int r = 0; r < t::ranks(); ++r) {
      std::string const rows = "\n  " + std::to_string(r) + ".5 " + std::to_string(r) + ".5\n";
      at = text.find(rows, at);
      CHECK(at != std::string::npos);
    }
    CHECK(text.find("X=0") != std::string::npos);
  });
}
