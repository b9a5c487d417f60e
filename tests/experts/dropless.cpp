// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Mixtures of experts without a capacity against plain loops: results, gradients of tokens, router and experts, moved
/// bytes; one and two choices, all tokens to one expert, fewer experts than devices, uneven blocks.
// sham:

#include <doctest/doctest.h>

#include <ostraka/engine/spmd/check_mode.hpp>

#include "experts/mixture.hpp"
#include "support/on_meshes.hpp"

using namespace mixture;

namespace {

template <class Lies, bool Renormalised = false>
void check(t::test_mesh const& m, sizes s, std::vector<double> const& favour = {}) {
  INFO(m.text(), t::text_of(s.extents()), " choices ", s.k);
  s.renormalised = Renormalised;
  check_mixture<Lies, Renormalised>(m, s, favour, [](auto const& p, auto const& r) {
    return os::dropless<R, Lies::experts>(expert, p.x, r.experts, r.weights, p.up, p.down);
  });
}

}  // namespace

TEST_CASE("tokens by their batch or their length, experts over one mesh axis or two, or whole; weights of sum one") {
  t::on_every_mesh([](t::test_mesh const& m) {
    sizes s{4, 3, 3, 2, 5, 2};
    check<divided<B/X, I, E/X>>(m, s);
    check<divided<B/X/Y, I, E/X/Y>>(m, s);
    check<divided<B, I/Y, E>, true>(m, s);
  });
}

TEST_CASE("experts over one mesh axis, and each over another") {
  t::on_every_mesh([](t::test_mesh const& m) { check<divided<B/X, I, E/X, F/Y>>(m, {4, 3, 3, 5, 3, 2}); });
}

TEST_CASE("all tokens to one expert, none to some, one choice") {
  t::on_every_mesh([](t::test_mesh const& m) {
    check<divided<B/Y, I/X, E/X>>(m, {2, 5, 3, 2, 4, 1}, {0, 0, 0, 50});
    check<divided<B/Y, I/X, E/X>>(m, {2, 5, 3, 2, 4, 2}, {50, 0, 40, 0});
    check<divided<B/Y, I/X, E/X>>(m, {1, 2, 3, 2, 2, 2});
  });
}

namespace {

// Rows that leave the devices of their tokens, all devices together: tokens divided over X by B, experts over X.
std::int64_t off_device(t::test_mesh const& m, sizes const& s, routed const& r) {
  int const n = m.size("X");
  auto const owner = [&](std::int64_t i, std::int64_t of) {
    for (int d = 0; d < n; ++d)
      if (i < (d + 1) * of / n) return d;
    return n;
  };
  std::int64_t rows = 0;
  for (std::int64_t c = 0; c < s.tokens() * s.k; ++c)
    rows += owner(c / s.k / s.i, s.b) != owner(r.experts[at(c)], s.e);
  return rows * (m.handle()->devices() / n);
}

}  // namespace

TEST_CASE("what travels is what loops count, and the backward moves the same rows again") {
  using lies = divided<B/X, I, E/X>;
  t::on_every_mesh([](t::test_mesh const& m) {
    for (sizes const s : {sizes{4, 3, 3, 2, 5, 2}, sizes{3, 7, 3, 2, 8, 1}})
      for (std::vector<double> const& favour : {std::vector<double>(), std::vector<double>(at(s.e), 0)}) {
        std::vector<double> to = favour;
        if (!to.empty()) to.back() = 50;
        INFO(m.text(), t::text_of(s.extents()));
        values const v(s, 3);
        auto const p = place<lies>(m, v);
        auto const r = os::route<E, K>(logits<lies>(p, t::placed<os::tensor<double, E>>(m, favour_of(s, to))), K = s.k);
        auto const mix = [&](auto const& q) {
          return os::dropless<R, lies::experts>(expert, q.x, r.experts, r.weights, q.up, q.down);
        };
        routed const by_loops = route(v, s, to);
        std::int64_t const n = m.size("X"), groups = m.handle()->devices() / n;
        std::int64_t const rows = 8 * s.m * off_device(m, s, by_loops);
        std::int64_t const counts_sent = groups * n * (n - 1) * 8 * ((s.e + n - 1) / n);
        // In check mode devices also send each other what they repeat.
        bool const counts = os::engine::calls_to_compare() != os::engine::compared_calls::all;
        std::int64_t const moved = t::traffic_of([&] { static_cast<void>(mix(p)); }).bytes;
        if (counts) CHECK(moved == counts_sent + 2 * rows);

        auto const y = mix(p);
        std::int64_t const loss = t::traffic_of([&] { static_cast<void>(os::sum<>(os::multiply(y, y))); }).bytes;
        auto const whole_step = [&] {
          auto const f = [&](auto const& q) {
            auto const z = mix(q);
            return os::sum<>(os::multiply(z, z));
          };
          static_cast<void>(os::value_and_grad(f)(p));
        };
        std::int64_t const moved_by_step = t::traffic_of(whole_step).bytes;
        if (counts) CHECK(moved_by_step == counts_sent + 4 * rows + loss);

        auto const report = os::imbalance_of<E/X>(r.experts, E = s.e);
        CHECK(report.off_device * groups * 8 * s.m == rows);
        CHECK(report.bytes(8 * s.m) * groups == 2 * rows);
        CHECK(report.choices() == s.tokens() * s.k);
        std::vector<std::int64_t> load(at(s.e));
        for (std::int64_t e : by_loops.experts) ++load[at(e)];
        std::int64_t most = 0, slowest = 0;
        for (std::int64_t e = 0; e < s.e; ++e) {
          CHECK(report.load[at(e)] == load[at(e)]);
          most = std::max(most, load[at(e)]);
        }
        for (int d = 0; d < n; ++d) {
          std::int64_t own = 0;
          for (std::int64_t e = d * s.e / n; e < (d + 1) * s.e / n; ++e) own += load[at(e)];
          slowest = std::max(slowest, own);
        }
        double const all = static_cast<double>(s.tokens() * s.k);
        CHECK(same(report.most_over_mean(), static_cast<double>(most * s.e) / all));
        CHECK(same(report.slowest_over_balanced(), static_cast<double>(slowest * n) / all));
        CHECK(report.text().find("rows travel") != std::string::npos);
      }
  });
}

TEST_CASE("no tokens, and choices that are no expert") {
  using lies = divided<B/X, I, E/X>;
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    for (std::int64_t const batch : {0, 3}) {
      sizes const s{batch, 4, 3, 2, 4, 2};
      values const v(s, 5);
      numbers chosen = t::whole_numbers<std::int64_t>("BIK", s.extents(), 3);
      whole halves{"BIK", s.extents(), std::vector<double>(chosen.values.size(), 0.5)}, want = v.x;
      for (std::size_t c = 0; c < chosen.values.size(); ++c)
        chosen.values[c] = static_cast<std::int64_t>(c * 7 % 6) - 1;
      for (std::size_t i = 0; i < want.values.size(); ++i) {
        double sum = 0;
        for (std::size_t k = 0; k < 2; ++k) {
          std::int64_t const e = chosen.values[2 * (i / at(s.m)) + k];
          if (e >= 0 && e < s.e) sum += 0.5 * v.x.values[i];
        }
        want.values[i] = sum;
      }
      auto const p = place<lies>(m, v);
      auto const same_rows = [](auto const& rows, auto const&, auto const&) { return rows; };
      auto const y = os::dropless<R, E/X>(same_rows, p.x, t::placed<os::tensor<std::int64_t, B/X, I, K>>(m, chosen),
                                          t::placed<os::tensor<double, B/X, I, K>>(m, halves), p.up);
      CHECK(t::disagreements(m, y, want) == 0);
    }
  });
}

TEST_CASE("a token that is NaN spoils its own result alone") {
  using lies = divided<B/X, I, E/X>;
  t::on_every_mesh([](t::test_mesh const& m) {
    INFO(m.text());
    sizes const s{3, 4, 3, 2, 4, 2};
    values v(s, 5);
    whole want = result(v, s);
    v.x.values[at(5 * s.m)] = NAN;
    for (std::int64_t i = 0; i < s.m; ++i) want.values[at(5 * s.m + i)] = NAN;
    auto const p = place<lies>(m, v);
    auto const r = os::route<E, K>(logits<lies>(p, t::placed<os::tensor<double, E>>(m, favour_of(s, {}))), K = s.k);
    auto const y = os::dropless<R, E/X>(expert, p.x, r.experts, r.weights, p.up, p.down);
    CHECK(t::disagreements(m, y, want, [](double got, double one) {
            return std::isnan(one) ? std::isnan(got) : same(got, one);
          }) == 0);
    std::int64_t const first = os::value(os::sum<>(os::cast<std::int64_t>(os::isnan(r.weights)) * (r.experts + 1)));
    CHECK(first == 1 + 2);  // it went to the first two experts
  });
}
