// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::from_positions(t): requests of different lengths attend to their caches in one call, each from its own position
/// on. Entries behind a position are NaN and affect neither results nor derivatives. The oracle is plain loops, request
/// by request.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <cstdint>
#include <limits>
#include <vector>

#include "support/attended_pairs.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(G);

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Copies request b of a whole tensor into a tensor of one request, or back.
template <class T, class Copy>
void for_request(t::global_tensor<T>& whole, t::global_tensor<T>& one, std::int64_t b, Copy const& copy) {
  t::for_each_index(one.labels, one.extents, [&](t::extents_by_letter at) {
    T& alone = one.values[one.position(at)];
    at['B'] = b;
    copy(whole.values[whole.position(at)], alone);
  });
}

struct ragged {
  t::attention_by_loops all;  ///< "BLGIJ" and "BLKJ", as for one request
  t::global_tensor<std::int32_t> from;

  explicit ragged(t::extents_by_letter const& e) {
    all = {t::whole_numbers<double>("BLGIJ", e, 1), t::whole_numbers<double>("BLKJ", e, 2),
           t::whole_numbers<double>("BLKJ", e, 3), t::whole_numbers<double>("BLGIJ", e, 4)};
    for (auto* x : {&all.q, &all.k, &all.v, &all.g})
      for (double& y : x->values) y *= 0.25;
    all.out = all.dq = all.q, all.dk = all.dv = all.k;
    from = {"B", e, {}};
    for (std::int64_t b = 0; b < e.at('B'); ++b) {
      std::int64_t const room = e.at('K') - e.at('I') + 1, first = room > 0 ? (5 * b + 2) % room : 0;
      from.values.push_back(static_cast<std::int32_t>(first));
      t::extents_by_letter single = e;
      single['B'] = 1;
      t::attention_by_loops one{t::whole_numbers<double>("BLGIJ", single, 1),
                                t::whole_numbers<double>("BLKJ", single, 1),
                                t::whole_numbers<double>("BLKJ", single, 1),
                                t::whole_numbers<double>("BLGIJ", single, 1),
                                true,
                                first};
      t::for_each_index("LKJ", e, [&](t::extents_by_letter at) {
        at['B'] = b;
        if (at.at('K') >= first + e.at('I')) all.k.values[all.k.position(at)] = all.v.values[all.v.position(at)] = nan;
      });
      auto const take = [](double& whole, double& alone) { alone = whole; };
      for_request(all.q, one.q, b, take), for_request(all.k, one.k, b, take);
      for_request(all.v, one.v, b, take), for_request(all.g, one.g, b, take);
      one.run();
      auto const put = [](double& whole, double& alone) { whole = alone; };
      for_request(all.out, one.out, b, put), for_request(all.dq, one.dq, b, put);
      for_request(all.dk, one.dk, b, put), for_request(all.dv, one.dv, b, put);
    }
  }
};

std::vector<t::extents_by_letter> some_extents() {
  return {{{'B', 3}, {'L', 2}, {'G', 2}, {'I', 1}, {'J', 3}, {'K', 9}},
          {{'B', 2}, {'L', 1}, {'G', 1}, {'I', 4}, {'J', 2}, {'K', 8}},
          {{'B', 1}, {'L', 2}, {'G', 3}, {'I', 2}, {'J', 1}, {'K', 3}},
          {{'B', 0}, {'L', 2}, {'G', 1}, {'I', 1}, {'J', 2}, {'K', 3}}};
}

struct whole_keys {
  template <class Leaves>
  struct operands {
    os::leaf<Leaves, double, B / X, L, G / Y, I, J> q;
    os::leaf<Leaves, double, B / X, L, K, J> k, v;
  };
};
struct divided_keys {
  template <class Leaves>
  struct operands {
    os::leaf<Leaves, double, B, L, G / Y, I, J> q;
    os::leaf<Leaves, double, B, L, K / X, J> k, v;
  };
};

template <class Lies, class Attend>
void check(t::test_mesh const& m, char const* what, ragged const& r, Attend const& attend) {
  INFO(what);
  typename Lies::template operands<os::values> p;
  p.q = t::placed<decltype(p.q)>(m, r.all.q);
  p.k = t::placed<decltype(p.k)>(m, r.all.k);
  p.v = t::placed<decltype(p.v)>(m, r.all.v);
  CHECK(t::disagreements(m, attend(p.q, p.k, p.v), r.all.out, t::agrees_or_neither_is_finite) == 0);
  auto const g = t::placed<decltype(p.q)>(m, r.all.g);
  auto const d =
      os::value_and_grad([&](auto const& x) { return os::sum<>(os::multiply(attend(x.q, x.k, x.v), g)); })(p).gradient;
  CHECK(t::disagreements(m, d.q, r.all.dq, t::agrees_or_neither_is_finite) == 0);
  CHECK(t::disagreements(m, d.k, r.all.dk, t::agrees_or_neither_is_finite) == 0);
  CHECK(t::disagreements(m, d.v, r.all.dv, t::agrees_or_neither_is_finite) == 0);
}

}  // namespace

TEST_CASE("each request has its own position") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : some_extents()) {
      INFO(m.text(), t::text_of(e));
      ragged const r(e);
      auto const from = t::placed<os::tensor<std::int32_t, B>>(m, r.from);
      auto const divided_from = os::cast<std::int64_t>(t::placed<os::tensor<std::int32_t, B / X>>(m, r.from));
      check<whole_keys>(m, "whole keys", r, [&](auto const& q, auto const& k, auto const& v) {
        return os::attention<I, K, J>(q, k, v, os::causal, os::from_positions(divided_from));
      });
      check<divided_keys>(m, "divided keys", r, [&](auto const& q, auto const& k, auto const& v) {
        return os::attention<I, K / X, J>(q, k, v, os::causal, os::from_positions(from));
      });
    }
  });
}

TEST_CASE("windows and a number beside the positions") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e = some_extents().front();
    INFO(m.text());
    ragged const r(e);
    auto const q = t::placed<os::tensor<double, B, L, G / Y, I, J>>(m, r.all.q);
    auto const k = t::placed<os::tensor<double, B, L, K / X, J>>(m, r.all.k);
    auto const v = t::placed<os::tensor<double, B, L, K / X, J>>(m, r.all.v);
    auto const from = t::placed<os::tensor<std::int32_t, B>>(m, r.from);
    // A window beyond all distances hides nothing; the number is added to the positions.
    CHECK(t::disagreements(m,
                           os::attention<I, K / X, J>(q, k, v, os::causal, os::window(9), os::from_positions(from - 1),
                                                      os::from_position(1)),
                           r.all.out, t::agrees_or_neither_is_finite) == 0);
    // With a window of one key, a query gets the value at its own position.
    auto want = r.all.out;
    t::for_each_index("BLGIJ", e, [&](t::extents_by_letter at) {
      at['K'] = r.from.values[static_cast<std::size_t>(at.at('B'))] + at.at('I');
      want.values[want.position(at)] = r.all.v.values[r.all.v.position(at)];
    });
    CHECK(t::disagreements(m, os::attention<I, K / X, J>(q, k, v, os::causal, os::window(1), os::from_positions(from)),
                           want, t::agrees_or_neither_is_finite) == 0);
  });
}
