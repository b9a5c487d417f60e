// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::window, pad, flip, roll and concatenate along whole and divided axes, on every mesh, against plain loops; they
/// move what `bytes` predicts.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// A whole tensor whose axis I has n indices: index i is index at[i] of g, or `blank` if that is −1.
template <class T>
t::global_tensor<T> picked(t::global_tensor<T> const& g, std::vector<std::int64_t> const& at, T const& blank = T{}) {
  t::global_tensor<T> r{g.labels, g.extents, {}};
  r.extents['I'] = static_cast<std::int64_t>(at.size());
  t::for_each_index(r.labels, r.extents, [&](t::extents_by_letter index) {
    std::int64_t const from = at[static_cast<std::size_t>(index['I'])];
    index['I'] = from;
    r.values.push_back(from < 0 ? blank : g.values[g.position(index)]);
  });
  return r;
}

std::vector<std::int64_t> counted(std::int64_t begin, std::int64_t end, std::int64_t step = 1) {
  std::vector<std::int64_t> at;
  for (std::int64_t i = begin; i < end; i += step) at.push_back(i);
  return at;
}

bool refuses(auto const& f, std::string const& of) {
  try {
    f();
  } catch (os::error const& e) {
    return std::string(e.what()).find(of) != std::string::npos;
  }
  return false;
}

int devices(t::test_mesh const& m) { return m.size("X") * m.size("Y") * m.size("Z"); }

// Runs the operation, compares its result with `want` and its moved bytes with the predicted.
template <class Operation, class... Tensors>
void check(t::test_mesh const& m, Operation const& op, auto const& want, Tensors const&... a) {
  std::int64_t wrong = 0;
  std::int64_t const bytes = os::bytes_of(op, a...);
  std::int64_t const moved =
      t::traffic_of([&] { wrong = t::disagreements(m, os::detail::operate(op, a...), want); }).bytes;
  INFO(m.text(), op.name);
  CHECK(wrong == 0);
  CHECK(bytes == (moved + devices(m) - 1) / devices(m));
}

// All of them along axis I of tensors of this type.
template <auto Along, class Tensor>
void check_all(t::test_mesh const& m, std::string const& letters, std::uint64_t seed) {
  using named = os::detail::type_of<Along>;
  using T = typename Tensor::value_type;
  std::mt19937_64 numbers(seed);
  auto const up_to = [&](std::int64_t n) {
    return static_cast<std::int64_t>(numbers() % static_cast<std::uint64_t>(n + 1));
  };
  for (std::int64_t const n : {13, 1, 0, 24}) {
    t::extents_by_letter e{{'I', n}, {'J', 3}, {'B', 5}};
    auto const g = t::whole_numbers<T>(letters, e, seed);
    auto const a = t::placed<Tensor>(m, g);
    INFO("I = ", n);
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::int64_t const begin = up_to(n), end = begin + up_to(n - begin), step = 1 + up_to(3);
      INFO("[", begin, ", ", end, ") by ", step);
      check(m, os::operation::window<named>{{}, begin, end}, picked(g, counted(begin, end)), a);
      check(m, os::operation::window<named>{{}, begin, end, step}, picked(g, counted(begin, end, step)), a);
      std::int64_t const before = up_to(3), behind = up_to(9);
      std::vector<std::int64_t> padded(static_cast<std::size_t>(before), -1);
      for (std::int64_t i = 0; i < n; ++i) padded.push_back(i);
      padded.resize(padded.size() + static_cast<std::size_t>(behind), -1);
      check(m, os::operation::pad<named>{{}, before, behind, {}}, picked(g, padded), a);
      if constexpr (os::sharding_traits<typename Tensor::sharding_type>::partials::size == 0)
        check(m, os::operation::pad<named, T>{{}, before, behind, T(2)}, picked(g, padded, T(2)), a);
      std::int64_t const by = up_to(3 * n) - n;
      std::vector<std::int64_t> rolled;
      for (std::int64_t i = 0; i < n; ++i) rolled.push_back(((i - by) % n + n) % n);
      check(m, os::operation::roll<named>{{}, by}, picked(g, rolled), a);
    }
    check(m, os::operation::roll<named>{{}, 1}, picked(g, [&] {
            auto at = counted(-1, n - 1);
            if (n > 0) at[0] = n - 1;
            return at;
          }()), a);
    std::vector<std::int64_t> reversed = counted(0, n);
    for (std::int64_t& i : reversed) i = n - 1 - i;
    check(m, os::operation::flip<named>{}, picked(g, reversed), a);
    e['I'] = up_to(9);
    auto const h = t::whole_numbers<T>(letters, e, seed + 1);
    auto const both = [&](t::global_tensor<T> const& first, t::global_tensor<T> const& second) {
      t::global_tensor<T> r{letters, first.extents, {}};
      std::int64_t const split = first.extents.at('I');
      r.extents['I'] = split + second.extents.at('I');
      t::for_each_index(letters, r.extents, [&](t::extents_by_letter index) {
        bool const behind = index['I'] >= split;
        if (behind) index['I'] -= split;
        r.values.push_back(behind ? second.values[second.position(index)] : first.values[first.position(index)]);
      });
      return r;
    };
    auto const b = t::placed<Tensor>(m, h);
    check(m, os::operation::concatenate<named>{}, both(g, h), a, b);
    check(m, os::operation::concatenate<named>{}, both(both(h, g), h), b, a, b);
    check(m, os::operation::concatenate<named>{}, g, a);
  }
}

}  // namespace

TEST_CASE("along a whole axis") {
  t::on_every_mesh([](t::test_mesh const& m) {
    check_all<I, os::tensor<double, B, I, J>>(m, "BIJ", 1);
    check_all<I, os::tensor<float, J/X, I>>(m, "JI", 2);
  });
}

TEST_CASE("along a divided axis") {
  t::on_every_mesh([](t::test_mesh const& m) {
    check_all<I/X, os::tensor<double, I/X, J>>(m, "IJ", 3);
    check_all<I/Y/X, os::tensor<std::int32_t, B/Z, I/Y/X>>(m, "BI", 4);
    check_all<I/X, os::tensor<double, J, I/X, os::partial(Y)>>(m, "JI", 5);
  });
}

TEST_CASE("all element types") {
  t::on_every_mesh([](t::test_mesh const& m) {
    auto const once = [&]<class T>(T) {
      t::extents_by_letter const e{{'I', 9}};
      auto const g = t::whole_numbers<T>("I", e, 6);
      auto const a = t::placed<os::tensor<T, I/X>>(m, g);
      check(m, os::operation::flip<os::over<I_axis, X_mesh>>{}, picked(g, {8, 7, 6, 5, 4, 3, 2, 1, 0}), a);
      check(m, os::operation::window<os::over<I_axis, X_mesh>>{{}, 2, 7}, picked(g, {2, 3, 4, 5, 6}), a);
      check(m, os::operation::pad<os::over<I_axis, X_mesh>>{{}, 1, 0, {}}, picked(g, {-1, 0, 1, 2, 3, 4, 5, 6, 7, 8}),
            a);
    };
    once(float{}), once(double{}), once(os::float16{}), once(os::bfloat16{});
    once(std::int8_t{}), once(std::int16_t{}), once(std::int32_t{}), once(std::int64_t{});
    once(Kokkos::complex<float>{}), once(Kokkos::complex<double>{});
  });
}

TEST_CASE("long rows") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 301}, {'J', 70}};
    std::vector<std::int64_t> reversed = counted(0, 301);
    for (std::int64_t& i : reversed) i = 300 - i;
    auto const g = t::whole_numbers<float>("JI", e, 9), h = t::whole_numbers<float>("IJ", e, 9);
    check(m, os::operation::flip<I_axis>{}, picked(g, reversed), t::placed<os::tensor<float, J/X, I>>(m, g));
    check(m, os::operation::flip<I_axis>{}, picked(h, reversed), t::placed<os::tensor<float, I, J/X>>(m, h));
    check(m, os::operation::flip<os::over<I_axis, X_mesh>>{}, picked(h, reversed),
          t::placed<os::tensor<float, I/X, J>>(m, h));
  });
}

TEST_CASE("what users call, and what is refused on all devices") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 10}, {'J', 2}};
    auto const g = t::whole_numbers<float>("IJ", e, 7);
    auto const a = t::placed<os::tensor<float, I/X, J>>(m, g);
    CHECK(t::disagreements(m, os::window<I/X>(a, 2, 5), picked(g, {2, 3, 4})) == 0);
    CHECK(t::disagreements(m, os::window<I/X>(a, 1, 10, 4), picked(g, {1, 5, 9})) == 0);
    CHECK(t::disagreements(m, os::pad<I/X>(os::window<I/X>(a, 2, 5), 1, 1), picked(g, {-1, 2, 3, 4, -1})) == 0);
    CHECK(t::disagreements(m, os::pad<I/X>(os::window<I/X>(a, 2, 3), 0, 1, 5), picked(g, {2, -1}, 5.f)) == 0);
    CHECK(t::disagreements(m, os::roll<I/X>(a, -1), picked(g, {1, 2, 3, 4, 5, 6, 7, 8, 9, 0})) == 0);
    CHECK(t::disagreements(m, os::flip<I/X>(os::flip<I/X>(a)), g) == 0);
    CHECK(os::concatenate<I/X>(a, a, a).extent(I) == 30);
    CHECK(refuses([&] { return os::window<I/X>(a, 2, 11); }, "window: a window lies within its axis"));
    CHECK(refuses([&] { return os::window<I/X>(a, -1, 4); }, "[-1, 4) by 1 of I = 10"));
    CHECK(refuses([&] { return os::window<I/X>(a, 5, 4); }, "window: "));
    CHECK(refuses([&] { return os::window<I/X>(a, 5, 6, 0); }, "window: "));
    CHECK(refuses([&] { return os::pad<I / X>(a, -1, 4); },
                  "pad: the numbers of added indices are not negative, but -1 before and 4 behind"));
    auto const c = t::placed<os::tensor<float, I/X, J>>(m, t::whole_numbers<float>("IJ", {{'I', 10}, {'J', 3}}, 7));
    CHECK(refuses([&] { return os::concatenate<I/X>(a, c); }, "J is 2 in one and 3 in another"));
    CHECK(refuses([&] { return os::flip<I/X>(os::tensor<float, I/X, J>()); }, "empty handle"));
    auto const largest = t::placed<os::tensor<float, I/X, J, os::partial_max(Y)>>(m, g);
    CHECK(t::disagreements(m, os::pad<I/X>(os::window<I/X>(largest, 2, 3), 0, 1, 5), picked(g, {2, -1}, 5.f)) == 0);
  });
}

TEST_CASE("blocks in a body") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    t::extents_by_letter const e{{'I', 4 * n + (n > 1 ? 1 : 0)}, {'J', 6}};
    auto const g = t::whole_numbers<double>("JI", e, 8);
    auto const a = t::placed<os::tensor<double, J, I/X>>(m, g);
    INFO(m.text());
    // uneven blocks that are flipped twice are as before
    auto const twice = os::shard_map<J, I/X>([](auto x) { return os::flip<I>(os::flip<I>(x)); }, a);
    CHECK(t::disagreements(m, twice, g) == 0);
    auto const rolled = os::shard_map<J, I/X>([](auto x) { return os::roll<I>(os::roll<I>(x, 3), -3); }, a);
    CHECK(t::disagreements(m, rolled, g) == 0);
    // all blocks have four indices at least, and a window of four of each
    auto const heads = os::shard_map<J, I/X>([](auto x) { return os::window<I>(x, 0, 4); }, a);
    CHECK(heads.extent(I) == 4 * n);
    CHECK(refuses([&] { return os::shard_map<J, I/X>([](auto x) { return os::window<I>(x, 0, 6); }, a); },
                  "window: a window lies within its axis"));
    auto const whole = os::shard_map<J, I/X>(
        [](auto x) {
          auto const top = os::window<J>(x, 0, 2), bottom = os::window<J>(x, 2, 6);
          return os::concatenate<J>(top, bottom);
        },
        a);
    CHECK(t::disagreements(m, whole, g) == 0);
    // an axis that stays divided over Y inside
    auto const inner = t::placed<os::tensor<double, J/Y, I/X>>(m, g);
    auto const moved = os::shard_map<os::manual(X), J/Y, I/X>(
        [](auto x) { return os::roll<J/Y>(os::roll<J/Y>(x, 1), -1); }, inner);
    CHECK(t::disagreements(m, moved, g) == 0);
  });
}

TEST_CASE("blocks that were divided unevenly in different ways are refused with one text on all devices") {
  if (t::ranks() < 2) return;
  auto const mesh = os::make_mesh(X = t::ranks());
  std::int64_t const n = 2 * t::ranks();
  auto const a = os::zeros<double, I/X, J>(mesh, I = n + 1, J = 2);
  auto const b = os::zeros<double, I/X, J>(mesh, I = n - 1, J = 2);
  std::string text = "nothing";
  try {
    static_cast<void>(os::shard_map<I/X, J>([](auto x, auto y) { return os::concatenate<J>(x, y); }, a, b));
  } catch (os::error const& e) {
    text = e.what();
  }
  CHECK(text ==
        "concatenate: blocks agree on the extent of an axis on every device, but I was divided unevenly in one operand "
        "and not so in another; hand both to os::shard_map divided alike, or give extents that the mesh axes divide "
        "evenly");
}
