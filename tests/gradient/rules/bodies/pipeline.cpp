// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The derivative of os::pipeline by differences, under every schedule with a forward, with a batch that is divided
/// over the stages and one that all have, layers that are divided unevenly over the stages, layers that communicate
/// along another mesh axis, and a batch that is divided over a third; the bytes of the backward.
// sham:

#include <doctest/doctest.h>

#include <ostraka/gradient.hpp>

#include <cmath>
#include <cstdint>

#include "gradient/by_differences.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

constexpr auto layer = [](auto const& h, auto const& w, auto const& b) {
  auto const sums = os::add(os::einsum<B, J>(h, w, os::sum_over(K, L)), os::sum<J>(b));
  return os::add(h, os::rename<J, I>(os::tanh(sums)));
};

template <auto... Dims>
auto scaled(t::test_mesh const& m, std::string const& letters, t::extents_by_letter const& e, int seed) {
  t::global_tensor<double> g = t::whole_numbers<double>(letters, e, seed);
  for (double& v : g.values) v *= 0.1;
  return t::placed<os::tensor<double, Dims...>>(m, g);
}

template <os::pipeline_rule Rule, auto... Batch>
void check(t::test_mesh const& m, int microbatches, t::extents_by_letter const& e) {
  INFO(m.text(), t::text_of(e), microbatches, " microbatches");
  auto const x = scaled<Batch..., I>(m, "BI", e, 1);
  auto const w = scaled<L/X, I, J>(m, "LIJ", e, 2);
  auto const b = scaled<L/X, J>(m, "LJ", e, 3);
  auto const loss = [&](auto const& data, auto const& weights, auto const& bias) {
    auto const y = os::pipeline<Rule, L/X, B>(os::microbatches = microbatches, layer, data, weights, bias);
    return os::sum<>(os::multiply(y, y));
  };
  t::check_by_differences<os::tensor<double, L/X, I, J>>(m, e, "LIJ", [&](auto const& p) { return loss(x, p, b); });
  t::check_by_differences<os::tensor<double, Batch..., I>>(m, e, "BI", [&](auto const& p) { return loss(p, w, b); });
}

}  // namespace

TEST_CASE("every schedule, a batch of all stages and one that is divided over them") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const stages = m.size("X");
    t::extents_by_letter const e{{'B', 2 * stages}, {'I', 2}, {'J', 2}, {'L', stages + 1}};
    check<os::gpipe, B>(m, 2, e);
    check<os::gpipe, B/X>(m, 2 * stages, e);
    t::extents_by_letter const even{{'B', 2 * stages}, {'I', 2}, {'J', 2}, {'L', 2 * stages}};
    check<os::tick_per_layer, B>(m, stages, even);
  });
}

TEST_CASE("stages that are gone through several times") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const stages = m.size("X");
    t::extents_by_letter const e{{'B', 2 * stages}, {'I', 2}, {'J', 2}, {'K', 2}, {'L', stages}};
    INFO(m.text());
    auto const x = scaled<B/X, I>(m, "BI", e, 1);
    auto const b = scaled<K, L/X, J>(m, "KLJ", e, 3);
    t::check_by_differences<os::tensor<double, K, L/X, I, J>>(m, e, "KLIJ", [&](auto const& p) {
      auto const y = os::pipeline<os::circular, L/X, B, K>(os::microbatches = 2 * stages, layer, x, p, b);
      auto const z = os::pipeline<os::circular_by_groups, L/X, B, K>(os::microbatches = stages, layer, y, p, b);
      return os::sum<>(os::multiply(y, z));
    });
  });
}

TEST_CASE("in a body, with layers that are divided over Y and a batch over Z") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const stages = m.size("X");
    t::extents_by_letter const e{{'B', 2 * m.size("Z")}, {'I', 3}, {'J', 2 * m.size("Y")}, {'L', stages}};
    INFO(m.text());
    auto const parallel = [](auto const& h, auto const& w, auto const& v) {
      auto const inner = os::tanh(os::einsum<B, J/Y>(h, w, os::sum_over(L)));
      return os::add(h, os::einsum<B, I>(inner, v, os::sum_over(L)));
    };
    auto const x = scaled<B/Z, I>(m, "BI", e, 1);
    auto const v = scaled<L/X, J/Y, I>(m, "LJI", e, 3);
    auto const loss = [&](auto const& data, auto const& weights, auto const& back) {
      auto const y = os::shard_map<os::manual(X, Z), B/Z, I>(
          [&](auto const& h, auto const& first, auto const& second) {
            return os::pipeline<os::gpipe, L/X, B>(os::microbatches = 2, parallel, h, first, second);
          },
          data, weights, back);
      return os::sum<>(os::multiply(y, y));
    };
    auto const w = scaled<L/X, I, J/Y>(m, "LIJ", e, 2);
    t::check_by_differences<os::tensor<double, L/X, I, J/Y>>(m, e, "LIJ", [&](auto const& p) { return loss(x, p, v); });
    t::check_by_differences<os::tensor<double, B/Z, I>>(m, e, "BI", [&](auto const& p) { return loss(p, w, v); });
  });
}

TEST_CASE("as many bytes back as there") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const stages = m.size("X");
    if (stages < 2 || t::ranks() != stages) return;
    t::extents_by_letter const e{{'B', 4 * stages}, {'I', 8}, {'J', 8}, {'L', stages}};
    auto const x = scaled<B/X, I>(m, "BI", e, 1);
    auto const w = scaled<L/X, I, J>(m, "LIJ", e, 2);
    auto const b = scaled<L/X, J>(m, "LJ", e, 3);
    auto const y_of = [&](auto const& p) {
      return os::pipeline<os::gpipe, L/X, B>(os::microbatches = 2 * stages, layer, x, p, b);
    };
    auto const forward = t::traffic_of([&] { (void)y_of(w); });
    auto const loss = [&](auto const& p) { return os::sum<>(y_of(p)); };
    auto const with_sum = t::traffic_of([&] { (void)loss(w); });
    auto const both = t::traffic_of([&] { (void)os::value_and_grad(loss)(w); });
    CHECK(both.bytes - with_sum.bytes == forward.bytes);  // the inputs come in where the outputs leave
  });
}
