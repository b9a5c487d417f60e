// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Mixtures of experts with a capacity against plain loops: results, gradients, dropped choices, moved bytes.
// sham:

#include <utility>

#include <doctest/doctest.h>

#include "experts/mixture.hpp"
#include "support/on_meshes.hpp"

using namespace mixture;

namespace {

template <class Lies, bool Renormalised = false>
void check(t::test_mesh const& m, sizes s, std::vector<double> const& favour = {}) {
  INFO(m.text(), t::text_of(s.extents()), " choices ", s.k, " capacity ", s.capacity);
  s.renormalised = Renormalised;
  check_mixture<Lies, Renormalised>(m, s, favour, [&](auto const& p, auto const& r) {
    auto const slots = os::assign_slots<E, C>(r.experts, E = s.e, C = s.capacity);
    return os::with_capacity<Lies::experts>(expert, p.x, slots, r.weights, p.up, p.down);
  });
}

}  // namespace

TEST_CASE("the same as without a capacity where it suffices, and drops where it does not") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::int64_t const capacity : {6, 2, 1, 0}) {
      check<divided<B/X, I, E/X>>(m, {4, 3, 3, 2, 5, 2, capacity});
    }
    check<divided<B/X/Y, I, E/X/Y>>(m, {5, 3, 3, 2, 4, 1, 2});
    check<divided<B/Y, I, E>, true>(m, {4, 3, 3, 2, 4, 2, 2}, {0, 50, 0, 0});
  });
}

TEST_CASE("slots travel, whatever is in them; what is dropped is counted") {
  using lies = divided<B/X, I, E/X>;
  t::on_every_mesh([](t::test_mesh const& m) {
    for (auto const& [experts, capacity] : {std::pair<std::int64_t, std::int64_t>{8, 7}, {8, 2}, {5, 7}, {5, 2}}) {
      sizes const s{3, 7, 3, 2, experts, 2, capacity};
      INFO(m.text(), t::text_of(s.extents()));
      values const v(s, 3);
      auto const p = place<lies>(m, v);
      auto const r = os::route<E, K>(logits<lies>(p, t::placed<os::tensor<double, E>>(m, favour_of(s, {}))), K = s.k);
      auto const slots = os::assign_slots<E, C>(r.experts, E = s.e, C = s.capacity);
      auto const mix = [&](auto const& q) {
        return os::with_capacity<E/X>(expert, q.x, slots, r.weights, q.up, q.down);
      };
      int const n = m.size("X");
      std::int64_t const groups = m.handle()->devices() / n;
      auto const owner = [&](std::int64_t i, std::int64_t of) {
        for (int d = 0; d < n; ++d)
          if (i < (d + 1) * of / n) return d;
        return n;
      };
      std::int64_t rows = 0;
      for (std::int64_t e = 0; e < s.e; ++e)
        for (std::int64_t b = 0; b < s.b; ++b) rows += owner(e, s.e) != owner(b, s.b) ? capacity : 0;
      std::int64_t const bytes = rows * groups * 8 * s.m;
      CHECK(t::traffic_of([&] { static_cast<void>(mix(p)); }).bytes == 2 * bytes);

      auto const y = mix(p);
      std::int64_t const loss = t::traffic_of([&] { static_cast<void>(os::sum<>(os::multiply(y, y))); }).bytes;
      auto const whole_step = [&] {
        auto const f = [&](auto const& q) {
          auto const z = mix(q);
          return os::sum<>(os::multiply(z, z));
        };
        static_cast<void>(os::value_and_grad(f)(p));
      };
      CHECK(t::traffic_of(whole_step).bytes == 4 * bytes + loss);

      auto const report = os::imbalance_of<E/X>(r.experts, slots);
      routed const by_loops = route(v, s, {});
      std::int64_t gone = 0;
      for (bool one : dropped(by_loops, s)) gone += one;
      CHECK(report.dropped == gone);
      CHECK((capacity == 7) == (gone == 0));
      CHECK(report.slots == s.b * s.e * capacity);
      CHECK(report.bytes(8 * s.m) * groups == 2 * bytes);
      std::int64_t most = 0;  // experts of a device
      for (int d = 0; d < n; ++d) {
        std::int64_t own = 0;
        for (std::int64_t e = 0; e < s.e; ++e) own += owner(e, s.e) == d;
        most = std::max(most, own);
      }
      CHECK(same(report.slowest_over_balanced(), static_cast<double>(most * s.b * capacity * n) /
                                                     static_cast<double>(s.tokens() * s.k - gone)));
    }
  });
}

TEST_CASE("the balance of 16-bit probabilities is computed in float: one, where all experts get the same") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    std::int64_t const tokens = 4096;  // 16 bits cannot hold their squares
    t::extents_by_letter const e{{'B', tokens}, {'L', 8}};
    auto g = t::whole_numbers<double>("BL", e, 1);
    for (std::size_t i = 0; i < g.values.size(); ++i) g.values[i] = i % 8 == i / 8 % 8 ? 1 : 0;
    auto const logits = os::rename<L, E>(os::cast<os::float16>(t::placed<os::tensor<double, B/X, L>>(m, g)));
    auto const r = os::value_and_grad(
        [](auto const& l) { return os::load_balance_loss<E>(os::route<E, K>(l, K = 1)); })(logits);
    CHECK(std::abs(static_cast<float>(os::value(r.value)) - 1) < 1e-3);
    CHECK(std::abs(static_cast<float>(os::value(os::max<>(r.gradient)))) < 1e-3);
  });
}

TEST_CASE("choices may be numbers of 32 bits, and none") {
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    t::extents_by_letter const e{{'B', 5}, {'I', 3}, {'K', 2}};
    auto g = t::whole_numbers<std::int32_t>("BIK", e, 1);
    for (std::size_t i = 0; i < g.values.size(); ++i) g.values[i] = static_cast<std::int32_t>(i % 5) - 1;  // −1 to 3
    auto const experts = t::placed<os::tensor<std::int32_t, B/X, I/Y, K>>(m, g);
    auto const report = os::imbalance_of<E/X>(experts, E = 4);
    for (std::int64_t const n : report.load) CHECK(n == 6);
    CHECK(report.choices() == 24);
  });
}
