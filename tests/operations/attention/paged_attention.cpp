// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Keys and values in pages: attention reads the pages of each request up to its own position, and os::write_at writes
/// rows of a batch to them. Pages are whole, or divided over devices; heads and batches, too. Slots that no query sees
/// are NaN. The oracle is plain loops over the table.
// ranks: 1 2 3 4
// gpu:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/on_meshes.hpp"
#include "support/said_alike.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(G);  // queries' heads of each of L
OSTRAKA_AXIS(P);  // pages
OSTRAKA_AXIS(S);  // slots of a page
OSTRAKA_AXIS(T);  // pages of a request

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool is_close(double got, double wanted) { return std::abs(got - wanted) <= 1e-12 * (1 + std::abs(wanted)); }

/// Requests whose pages lie in no order in a pool. Page 0 belongs to none of them.
struct requests {
  t::extents_by_letter e;
  t::global_tensor<std::int32_t> table{"BT", e, {}};
  t::global_tensor<std::int64_t> position{"B", e, {}};  ///< of the first query

  explicit requests(t::extents_by_letter const& given) : e(given) {
    std::int64_t const room = e.at('T') * e.at('S') - e.at('I');
    for (std::int64_t b = 0; b < e.at('B'); ++b) {
      std::int64_t const first = room < 0 ? 0 : (b * 5 + 3) % (room + 1);
      position.values.push_back(first);
      for (std::int64_t j = 0; j < e.at('T'); ++j) {
        bool const used = j * e.at('S') < first + e.at('I');
        std::int64_t const number = b * e.at('T') + j, pages = e.at('P') - 1;
        table.values.push_back(used ? static_cast<std::int32_t>(1 + number * 7 % pages) : 0);
      }
    }
  }

  [[nodiscard]] t::extents_by_letter slot_of(std::int64_t b, std::int64_t p) const {
    std::int64_t const page = table.values[static_cast<std::size_t>(b * e.at('T') + p / e.at('S'))];
    return {{'P', page}, {'S', p % e.at('S')}};
  }

  /// A pool "PSLJ" that is NaN where no request has a position that it sees.
  [[nodiscard]] t::global_tensor<double> pool(std::uint64_t salt) const {
    auto made = t::whole_numbers<double>("PSLJ", e, salt);
    std::vector<double> const numbers = made.values;
    for (double& x : made.values) x = nan;
    for (std::int64_t b = 0; b < e.at('B'); ++b)
      for (std::int64_t p = 0; p < position.values[static_cast<std::size_t>(b)] + e.at('I'); ++p)
        t::for_each_index("LJ", e, [&](t::extents_by_letter at) {
          at.merge(slot_of(b, p));
          made.values[made.position(at)] = 0.25 * numbers[made.position(at)];
        });
    return made;
  }
};

/// "BLGIJ": each query attends to its request's keys, up to its own position and within the window.
t::global_tensor<double> by_loops(requests const& r, t::global_tensor<double> const& q,
                                  t::global_tensor<double> const& k, t::global_tensor<double> const& v,
                                  std::int64_t window, std::int64_t first = 0) {
  t::global_tensor<double> out = q;
  for (double& x : out.values) x = 0;
  std::int64_t const width = r.e.at('J');
  t::for_each_index("BLGI", r.e, [&](t::extents_by_letter const& row) {
    std::int64_t const last = r.position.values[static_cast<std::size_t>(row.at('B'))] + row.at('I');
    std::vector<double> w;
    std::vector<t::extents_by_letter> places;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::int64_t p = 0; p <= last; ++p) {
      if (p <= last - window && p >= first) continue;
      t::extents_by_letter at = r.slot_of(row.at('B'), p), mine = row;
      at['L'] = row.at('L');
      double s = 0;
      for (std::int64_t j = 0; j < width; ++j) {
        at['J'] = mine['J'] = j;
        s += q.values[q.position(mine)] * k.values[k.position(at)] / std::sqrt(static_cast<double>(width));
      }
      places.push_back(at), w.push_back(s);
      largest = std::fmax(largest, s);
    }
    for (double& x : w) sum += x = std::exp(x - largest);
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::int64_t j = 0; j < width; ++j) {
        t::extents_by_letter mine = row;
        places[i]['J'] = mine['J'] = j;
        out.values[out.position(mine)] += w[i] / sum * v.values[v.position(places[i])];
      }
  });
  return out;
}

std::vector<t::extents_by_letter> some_extents() {
  return {{{'B', 3}, {'L', 2}, {'G', 2}, {'I', 1}, {'J', 5}, {'S', 4}, {'T', 5}, {'P', 23}},
          {{'B', 2}, {'L', 3}, {'G', 1}, {'I', 4}, {'J', 18}, {'S', 3}, {'T', 4}, {'P', 12}},
          {{'B', 1}, {'L', 1}, {'G', 3}, {'I', 2}, {'J', 1}, {'S', 1}, {'T', 7}, {'P', 9}},
          {{'B', 2}, {'L', 1}, {'G', 1}, {'I', 1}, {'J', 32}, {'S', 16}, {'T', 40}, {'P', 90}},
          {{'B', 0}, {'L', 1}, {'G', 1}, {'I', 1}, {'J', 2}, {'S', 2}, {'T', 2}, {'P', 3}},
          {{'B', 1}, {'L', 2}, {'G', 1}, {'I', 0}, {'J', 3}, {'S', 2}, {'T', 1}, {'P', 2}}};
}

}  // namespace

TEST_CASE("each request reads its own pages") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : some_extents()) {
      INFO(m.text(), t::text_of(e));
      requests const r(e);
      auto const q = t::whole_numbers<double>("BLGIJ", e, 1);
      auto const k = r.pool(2), v = r.pool(3);
      auto const want = by_loops(r, q, k, v, 1000), near = by_loops(r, q, k, v, 3),
                 near_and_first = by_loops(r, q, k, v, 3, 2);

      auto const whole_q = t::placed<os::tensor<double, B / X, L / Y, G, I / Z, J>>(m, q);
      auto const whole_k = t::placed<os::tensor<double, P, S, L / Y, J>>(m, k);
      auto const whole_v = t::placed<os::tensor<double, P, S, L / Y, J>>(m, v);
      auto const table = t::placed<os::tensor<std::int32_t, B, T>>(m, r.table);
      auto const from = t::placed<os::tensor<std::int64_t, B>>(m, r.position);
      os::tensor<double, B / X, L / Y, G, I / Z, J> out;
      auto const attend = [&](auto const&... o) {
        return os::attention<I, S, J>(whole_q, whole_k, whole_v, os::pages<P>(table), os::causal,
                                      os::from_positions(from), o...);
      };
      CHECK(t::traffic_of([&] { out = attend(); }).calls == 0);
      CHECK(t::disagreements(m, out, want, is_close) == 0);
      CHECK(t::disagreements(m, attend(os::window(3)), near, is_close) == 0);
      CHECK(t::disagreements(m, attend(os::window(3).and_first(2)), near_and_first, is_close) == 0);
      CHECK(t::disagreements(m, attend(os::in_range), want, is_close) == 0);

      auto const divided_table = t::placed<os::tensor<std::int32_t, B / X, T>>(m, r.table);
      auto const divided_from = t::placed<os::tensor<std::int64_t, B / X>>(m, r.position);
      CHECK(t::disagreements(m,
                             os::attention<I, S, J>(whole_q, whole_k, whole_v, os::pages<P>(divided_table), os::causal,
                                                    os::from_positions(divided_from), os::in_range),
                             want, is_close) == 0);

      // Pages on several devices: for each query two numbers and the result.
      auto const some_q = t::placed<os::tensor<double, B / Z, L / Y, G, I, J>>(m, q);
      auto const some_k = t::placed<os::tensor<double, P / X, S, L / Y, J>>(m, k);
      auto const some_v = t::placed<os::tensor<double, P / X, S, L / Y, J>>(m, v);
      os::tensor<double, B / Z, L / Y, G, I, J> over;
      auto const moved = t::traffic_of([&] {
        over = os::attention<I, S, J>(some_q, some_k, some_v, os::pages<P / X>(table), os::causal,
                                      os::from_positions(from));
      });
      CHECK(t::disagreements(m, over, want, is_close) == 0);
      using operation =
          os::operation::paged_attention<I_axis, S_axis, J_axis, os::over<P_axis, X_mesh>, os::detail::checked_range>;
      CHECK(os::bytes_of(operation(), some_q, some_k, some_v, table, from) ==
            (moved.bytes + t::ranks() - 1) / t::ranks());
    }
  });
}

// More keys than a tile of scores has: prompts whose tokens are positions of a request, or rows of the batch.
TEST_CASE("prompts of many tokens") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 3}, {'L', 2}, {'G', 1}, {'I', 300}, {'J', 5}, {'S', 16}, {'T', 20}, {'P', 63}};
    INFO(m.text());
    requests const r(e);
    auto const q = t::whole_numbers<double>("BLGIJ", e, 1);
    auto const k = r.pool(2), v = r.pool(3);
    auto const placed_k = t::placed<os::tensor<double, P, S, L, J>>(m, k);
    auto const placed_v = t::placed<os::tensor<double, P, S, L, J>>(m, v);
    auto const placed_q = t::placed<os::tensor<double, B, L, G, I, J>>(m, q);
    auto const table = t::placed<os::tensor<std::int32_t, B, T>>(m, r.table);
    auto const from = t::placed<os::tensor<std::int64_t, B>>(m, r.position);
    for (std::int64_t const window : {1000, 40}) {
      auto const want = by_loops(r, q, k, v, window);
      CHECK(t::disagreements(m,
                             os::attention<I, S, J>(placed_q, placed_k, placed_v, os::pages<P>(table), os::causal,
                                                    os::from_positions(from), os::window(window)),
                             want, is_close) == 0);

      // Each token is a row K, with the table and the position of its request.
      t::extents_by_letter tokens = e;
      tokens['K'] = e.at('B') * e.at('I');
      t::global_tensor<double> token_q{"KLGJ", tokens, {}}, token_want = token_q;
      t::global_tensor<std::int32_t> token_table{"KT", tokens, {}};
      t::global_tensor<std::int64_t> position{"K", tokens, {}};
      for (std::int64_t b = 0; b < e.at('B'); ++b)
        for (std::int64_t i = 0; i < e.at('I'); ++i) {
          position.values.push_back(r.position.values[static_cast<std::size_t>(b)] + i);
          auto const row = r.table.values.begin() + b * e.at('T');
          token_table.values.insert(token_table.values.end(), row, row + e.at('T'));
          t::for_each_index("LGJ", e, [&](t::extents_by_letter at) {
            at['B'] = b, at['I'] = i;
            token_q.values.push_back(q.values[q.position(at)]);
            token_want.values.push_back(want.values[want.position(at)]);
          });
        }
      tokens['I'] = 1;
      token_q.labels = token_want.labels = "KILGJ";
      token_q.extents = token_want.extents = tokens;
      CHECK(t::disagreements(
                m,
                os::attention<I, S, J>(
                    t::placed<os::tensor<double, K / X, I, L, G, J>>(m, token_q), placed_k, placed_v,
                    os::pages<P>(t::placed<os::tensor<std::int32_t, K / X, T>>(m, token_table)), os::causal,
                    os::from_positions(t::placed<os::tensor<std::int64_t, K / X>>(m, position)), os::window(window)),
                token_want, is_close) == 0);
    }
  });
}

TEST_CASE("16 bits are computed in float") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e = some_extents().front();
    INFO(m.text());
    requests const r(e);
    auto const q = t::whole_numbers<double>("BLGIJ", e, 1);
    auto const k = r.pool(2), v = r.pool(3);
    auto const narrow = []<class A>(A const& a) { return os::cast<os::bfloat16>(a); };
    auto const got =
        os::attention<I, S, J>(narrow(t::placed<os::tensor<double, B, L / Y, G, I, J>>(m, q)),
                               narrow(t::placed<os::tensor<double, P / X, S, L / Y, J>>(m, k)),
                               narrow(t::placed<os::tensor<double, P / X, S, L / Y, J>>(m, v)),
                               os::pages<P / X>(t::placed<os::tensor<std::int32_t, B, T>>(m, r.table)), os::causal,
                               os::from_positions(t::placed<os::tensor<std::int64_t, B>>(m, r.position)));
    auto const near = [](double a, double b) { return std::abs(a - b) <= 0x1p-8 * (1 + std::abs(b)); };
    CHECK(t::disagreements(m, os::cast<double>(got), by_loops(r, q, k, v, 1000), near) == 0);
  });
}

TEST_CASE("rows of a batch are written to their own pages, or to their own positions of a cache") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : some_extents()) {
      INFO(m.text(), t::text_of(e));
      requests const r(e);
      auto const rows = t::whole_numbers<double>("BILJ", e, 4);
      auto want = t::whole_numbers<double>("PSLJ", e, 5);
      auto const before = want;
      t::for_each_index("BILJ", e, [&](t::extents_by_letter at) {
        double const x = rows.values[rows.position(at)];
        at.merge(r.slot_of(at.at('B'), r.position.values[static_cast<std::size_t>(at.at('B'))] + at.at('I')));
        want.values[want.position(at)] = x;
      });
      auto const table = t::placed<os::tensor<std::int32_t, B, T>>(m, r.table);
      auto const from = t::placed<os::tensor<std::int64_t, B>>(m, r.position);
      auto const several = t::placed<os::tensor<double, B, I, L / Y, J>>(m, rows);
      auto const pool = t::placed<os::tensor<double, P / X, S, L / Y, J>>(m, before);
      CHECK(t::traffic_of([&] {
              os::write_at<S>(pool, os::from_positions(from), os::rename<I, S>(several), os::pages<P / X>(table));
            }).calls == 0);
      CHECK(t::disagreements(m, pool, want) == 0);
      if (e.at('I') == 1) {
        auto const again = t::placed<os::tensor<double, P / X, S, L / Y, J>>(m, before);
        os::write_at<S>(again, os::from_positions(from), os::take<I>(several, 0), os::pages<P / X>(table));
        CHECK(t::disagreements(m, again, want) == 0);
      }

      // A cache with an axis of positions.
      t::extents_by_letter with_keys = e;
      with_keys['K'] = e.at('T') * e.at('S');
      auto cache = t::whole_numbers<double>("BKLJ", with_keys, 6);
      auto const held = t::placed<os::tensor<double, B, K / X, L / Y, J>>(m, cache);
      t::for_each_index("BILJ", e, [&](t::extents_by_letter at) {
        at['K'] = r.position.values[static_cast<std::size_t>(at.at('B'))] + at.at('I');
        cache.values[cache.position(at)] = rows.values[rows.position(at)];
      });
      os::write_at<K / X>(held, os::from_positions(from), os::rename<I, K>(several));
      CHECK(t::disagreements(m, held, cache) == 0);
    }
  });
}

TEST_CASE("pages and positions out of range are an error on all ranks") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 2}, {'L', 2}, {'G', 1}, {'I', 1}, {'J', 2}, {'S', 2}, {'T', 3}, {'P', 7}};
    INFO(m.text());
    auto const q = t::placed<os::tensor<double, B, L, G, I, J>>(m, t::whole_numbers<double>("BLGIJ", e, 1));
    auto const rows = t::placed<os::tensor<double, B, L, J>>(m, t::whole_numbers<double>("BLJ", e, 1));
    auto const pool = t::placed<os::tensor<double, P / X, S, L, J>>(m, t::whole_numbers<double>("PSLJ", e, 2));
    auto const said = [&](std::vector<std::int32_t> table, std::vector<std::int64_t> position, bool writes) {
      auto const by = t::placed<os::tensor<std::int32_t, B, T>>(m, {"BT", e, table});
      auto const at = t::placed<os::tensor<std::int64_t, B>>(m, {"B", e, position});
      return t::said_alike([&] {
        if (writes)
          os::write_at<S>(pool, os::from_positions(at), rows, os::pages<P / X>(by));
        else
          static_cast<void>(
              os::attention<I, S, J>(q, pool, pool, os::pages<P / X>(by), os::causal, os::from_positions(at)));
      });
    };
    for (bool const writes : {false, true}) {
      std::string const name = writes ? "write_at" : "attention";
      CHECK(said({1, 2, 0, 3, 4, 6}, {5, 0}, writes) == "nothing");
      CHECK(said({1, 2, 0, 3, 7, 6}, {5, 0}, writes) ==
            name +
                ": an index is one of 0 … 6 along P, but it is 7 at B = 1, T = 1; correct it, or give the axis a "
                "larger extent");
      CHECK(said({1, 2, 0, 3, -1, 6}, {5, 0}, writes) ==
            name +
                ": an index is one of 0 … 6 along P, but it is -1 at B = 1, T = 1; correct it, or give the axis a "
                "larger extent");
      CHECK(said({1, 2, 0, 3, 4, 6}, {5, 6}, writes) ==
            name +
                ": an index is one of 0 … 5 along S, but it is 6 at B = 1; correct it, or give the axis a larger "
                "extent");
    }
  });
}
