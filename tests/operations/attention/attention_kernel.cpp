// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Short attentions, which a single kernel of an accelerator computes, against plain loops, in all types of elements:
/// at the ends of its tiles, with heads of each width that has a tile of its own, with all options, with hidden keys
/// that are NaN, with values of several axes and operands in any order.
// ranks: 1 2 4
// gpu:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "support/on_meshes.hpp"
#include "support/scored_pairs.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

OSTRAKA_AXIS(G);
OSTRAKA_AXIS(E);

// One mesh, so that there can be many cases.
template <class F>
void on_one_mesh(F const& f) {
  f(t::test_mesh(t::mesh_shapes().front()));
}

t::extents_by_letter extents(std::int64_t queries, std::int64_t keys, std::int64_t width) {
  return {{'B', 1}, {'I', queries}, {'J', width}, {'K', keys}, {'L', 1}, {'G', 2}};
}

struct agrees {
  double tolerance;
  bool operator()(double got, double wanted) const {
    if (!std::isfinite(got) || !std::isfinite(wanted)) return !std::isfinite(got) && !std::isfinite(wanted);
    return std::abs(got - wanted) <= tolerance * (1 + std::abs(wanted));
  }
};

// The tolerance for heads of this width. The computation is in double, or in float, in which a score is a sum of as
// many products; 16-bit results are rounded once.
template <class T>
agrees close(std::int64_t width) {
  if (std::is_same_v<T, double>) return {1e-12};
  double const in_float = (8 + static_cast<double>(width) / 8) * 0x1p-23;
  return {std::is_same_v<T, float>         ? in_float
          : std::is_same_v<T, os::float16> ? in_float + 0x1p-11
                                           : in_float + 0x1p-8};
}

// Compares one case in elements T, which hold its operands exactly.
template <class T>
void check(t::test_mesh const& m, t::scored_by_loops const& a) {
  INFO(m.text(), t::text_of(a.q.extents), a.name, " causal: ", a.causal, " cap: ", a.cap, " bytes: ", sizeof(T));
  auto const q = os::cast<T>(t::placed<os::tensor<double, B, L, G, I / X, J>>(m, a.q));
  auto const k = os::cast<T>(t::placed<os::tensor<double, B, L, K, J>>(m, a.k));
  auto const v = os::cast<T>(t::placed<os::tensor<double, B, L, K, J>>(m, a.v));
  auto const bias = os::cast<T>(t::placed<os::tensor<double, L, I / X, K>>(m, a.bias));
  auto const slopes = os::cast<T>(t::placed<os::tensor<double, L, G>>(m, a.slopes));
  auto const sinks = os::cast<T>(t::placed<os::tensor<double, L, G>>(m, a.sinks));
  auto const query_ids = t::placed<os::tensor<std::int32_t, B, I / X>>(m, a.query_segments);
  auto const key_ids = t::placed<os::tensor<std::int32_t, B, K>>(m, a.key_segments);
  auto const attend = [&](auto const&... more) {
    return os::cast<double>(os::attention<I, K, J>(q, k, v, os::window(a.window).and_first(a.first),
                                                   os::segments(query_ids, key_ids), os::bias(bias), os::alibi(slopes),
                                                   os::sinks(sinks), os::from_position(a.from), more...));
  };
  auto const cap = os::soft_cap(a.cap > 0 ? a.cap : std::numeric_limits<double>::infinity());
  auto const got = a.causal ? attend(cap, os::causal) : attend(cap);
  CHECK(t::disagreements(m, got, a.out, close<T>(a.q.extents.at('J'))) == 0);
}

// Compares attention without options but the causal mask.
template <class T>
void check_plain(t::test_mesh const& m, t::scored_by_loops const& a) {
  INFO(m.text(), t::text_of(a.q.extents), " causal: ", a.causal, " from: ", a.from, " bytes: ", sizeof(T));
  auto const q = os::cast<T>(t::placed<os::tensor<double, B, L, G, I / X, J>>(m, a.q));
  auto const k = os::cast<T>(t::placed<os::tensor<double, B, L, K, J>>(m, a.k));
  auto const v = os::cast<T>(t::placed<os::tensor<double, B, L, K, J>>(m, a.v));
  auto const got = a.causal ? os::attention<I, K, J>(q, k, v, os::causal, os::from_position(a.from))
                            : os::attention<I, K, J>(q, k, v);
  CHECK(t::disagreements(m, os::cast<double>(got), a.out, close<T>(a.q.extents.at('J'))) == 0);
}

t::scored_by_loops plain(t::extents_by_letter const& e, bool causal, std::int64_t from) {
  double const inf = std::numeric_limits<double>::infinity();
  t::scored_by_loops a;
  auto const filled = [&](auto tensor, auto value) {
    for (auto& x : tensor.values) x = value;
    return tensor;
  };
  a.q = t::whole_numbers<double>("BLGIJ", e, 1), a.k = t::whole_numbers<double>("BLKJ", e, 2);
  a.v = t::whole_numbers<double>("BLKJ", e, 3), a.g = filled(a.q, 0.0);
  for (t::global_tensor<double>* x : {&a.q, &a.k, &a.v})
    for (double& value : x->values) value *= 0.25;
  a.causal = causal, a.from = from;
  a.bias = filled(t::whole_numbers<double>("LIK", e, 1), 0.0);
  a.slopes = filled(t::whole_numbers<double>("LG", e, 1), 0.0), a.sinks = filled(a.slopes, -inf);
  a.query_segments = filled(t::whole_numbers<std::int32_t>("BI", e, 1), 0);
  a.key_segments = filled(t::whole_numbers<std::int32_t>("BK", e, 1), 0);
  a.run();
  return a;
}

}  // namespace

// Tiles have 32 queries and 32 keys, or 16; a mesh divides the queries.
TEST_CASE("queries and keys at the ends of tiles, and none") {
  on_one_mesh([](t::test_mesh const& m) {
    for (std::int64_t const queries : {0, 1, 2, 3, 31, 32, 33, 65})
      for (std::int64_t const keys : {0, 1, 2, 3, 31, 32, 33, 65})
        for (std::int64_t const from : {-1, 0, 33}) {
          check_plain<double>(m, plain(extents(queries, keys, 2), from >= 0, from));
          if (queries > 3 && keys > 3) check_plain<float>(m, plain(extents(queries, keys, 3), from >= 0, from));
        }
  });
}

TEST_CASE("heads of each width that has a tile of its own, and one that has none") {
  on_one_mesh([](t::test_mesh const& m) {
    for (std::int64_t const width : {0, 1, 63, 64, 90, 128, 300})
      for (std::int64_t const queries : {1, 9, 17})
        for (bool const causal : {false, true}) {
          t::scored_by_loops const a = plain(extents(queries, 19, width), causal, 2);
          check_plain<double>(m, a);
          check_plain<float>(m, a);
          check_plain<os::bfloat16>(m, a);
          check_plain<os::float16>(m, a);
        }
  });
}

TEST_CASE("all options, and hidden keys that are NaN") {
  on_one_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : {extents(33, 35, 2), extents(7, 65, 3), extents(5, 1, 1)})
      for (bool const with_cap : {false, true})
        for (t::scored_by_loops const& a : t::attentions_with_options(e, with_cap)) {
          check<double>(m, a);
          check<float>(m, a);
        }
    for (t::scored_by_loops const& a : t::attentions_with_options(extents(9, 33, 2), false)) {
      check<os::bfloat16>(m, a);
      check<os::float16>(m, a);
    }
  });
}

// The values' columns are E and L, which lie apart, in values and in the result.
TEST_CASE("values with several axes, and operands in any order") {
  on_one_mesh([](t::test_mesh const& m) {
    for (std::int64_t const queries : {3, 34})
      for (std::int64_t const keys : {5, 37}) {
        t::extents_by_letter const e{{'B', 2}, {'I', queries}, {'J', 6}, {'K', keys}, {'L', 3}, {'E', 5}, {'G', 2}};
        INFO(m.text(), t::text_of(e));
        auto const q = t::whole_numbers<double>("JIBG", e, 1);
        auto const k = t::whole_numbers<double>("JBK", e, 2);
        auto const v = t::whole_numbers<double>("LKEB", e, 3);
        t::global_tensor<double> want{"LEIBG", e, {}};
        t::for_each_index("LEIBG", e, [&](t::extents_by_letter at) {
          double sum = 0, weighted = 0;
          for (at['K'] = 0; at['K'] < keys; ++at['K']) {
            double score = 0;
            for (at['J'] = 0; at['J'] < 6; ++at['J'])
              score += 0.0625 * q.values[q.position(at)] * k.values[k.position(at)];
            sum += std::exp(score);
            weighted += std::exp(score) * v.values[v.position(at)];
          }
          want.values.push_back(weighted / sum);
        });
        auto const got = os::attention<I, K, J>(
            t::placed<os::tensor<double, J, I / X, B, G>>(m, q), t::placed<os::tensor<double, J, B, K>>(m, k),
            t::placed<os::tensor<double, L, K, E, B>>(m, v), os::score_scale(0.0625));
        CHECK(t::disagreements(m, got, want, agrees{1e-12}) == 0);
      }
  });
}
