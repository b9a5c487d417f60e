// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::gradient_plan: the bytes that a gradient moves, as a constant expression, and as counted when it runs.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

using weight = os::tensor<double, I/X, J>;
using batch = os::tensor<double, B/X, I>;

// A fully sharded layer.
constexpr auto loss = [](auto const& w, auto const& x) {
  auto const h = os::einsum<B/X, J>(x, os::reshard<I, J>(w));
  return os::sum<>(h * h);
};

constexpr auto plan = os::gradient_plan<weight, batch>(loss);
static_assert(plan.forward.count(os::step::all_gather) == 1);
static_assert(plan.forward.count(os::step::all_reduce) == 1);  // of the loss
static_assert(plan.backward.count(os::step::reduce_scatter) == 1);
static_assert(plan.backward.count(os::step::all_gather) == 0);
static_assert(plan.backward.count(os::step::all_reduce) == 0);
static_assert(plan.unpriced() == 0);

// The weight has another name behind the gather, too.
constexpr auto renamed = os::gradient_plan<weight, batch>([](auto const& w, auto const& x) {
  auto const h = os::einsum<B/X, J>(os::rename<I, K>(x), os::rename<I, K>(os::reshard<I, J>(w)));
  return os::sum<>(h * h);
});
static_assert(renamed.backward.count(os::step::reduce_scatter) == 1);
static_assert(renamed.backward.count(os::step::all_reduce) == 0);

template <class L>
struct layer {
  os::leaf<L, double, I/X, J> up;
  os::leaf<L, double, J/X, I> down;
  os::leaf<L, double, I> shift;
};

template <class L>
struct network {
  std::vector<layer<L>> layers;
  os::leaf<L, double, I> last;
};

constexpr auto of_network = [](auto const& p, auto const& x) {
  std::conditional_t<os::is_variable<std::remove_cvref_t<decltype(p.last)>>, decltype(os::reshard<B/X, I>(x) + p.last),
                     std::remove_cvref_t<decltype(x)>>
      h = x + p.last;
  for (auto const& l : p.layers) {
    auto const u = os::einsum<B/X, J>(h, os::reshard<I, J>(l.up));
    h = os::einsum<B/X, I>(u * u, os::reshard<J, I>(l.down)) + l.shift;
  }
  return os::mean<>(h * h);
};

struct three_layers {
  constexpr auto operator()() const {
    network<os::names> n;
    for (int i = 0; i < 3; ++i) n.layers.push_back({});
    return n;
  }
};

constexpr auto network_plan = os::gradient_plan<network<os::values>, batch>(of_network, three_layers{});
static_assert(network_plan.forward.count(os::step::all_gather) == 6);
static_assert(network_plan.backward.count(os::step::reduce_scatter) == 6);
static_assert(network_plan.backward.count(os::step::all_reduce) == 4);  // of shifts, which are stored whole

// The same by regions of one layer each.
template <auto const& Policy>
struct network_in_regions {
  template <class P, class D>
  constexpr auto operator()(P const& p, D const& x) const {
    auto const layer = os::checkpoint(
        [](auto const& l, auto const& h) {
          auto const u = os::checkpoint_name(os::einsum<B/X, J>(h, os::reshard<I, J>(l.up)), "u");
          return os::einsum<B/X, I>(u * u, os::reshard<J, I>(l.down)) + l.shift;
        },
        Policy);
    auto const h = layer(p.layers[1], layer(p.layers[0], x + p.last));
    return os::mean<>(h * h);
  }
};

constexpr network_in_regions<os::save_nothing> again{};
constexpr network_in_regions<os::save_all_but_gathers> gathers_again{};
constexpr auto by_name = os::save_names("u");
constexpr auto by_other_name = os::save_names("v");
constexpr network_in_regions<by_name> saved_by_name{};
constexpr network_in_regions<by_other_name> saved_by_no_name{};
constexpr auto again_plan = os::gradient_plan<network<os::values>, batch>(again, three_layers{});
constexpr auto gathers_plan = os::gradient_plan<network<os::values>, batch>(gathers_again, three_layers{});
static_assert(again_plan.forward.count(os::step::all_gather) == 4);
static_assert(again_plan.backward.count(os::step::all_gather) == 4);
static_assert(again_plan.backward.count(os::step::contract) > gathers_plan.backward.count(os::step::contract));
static_assert(gathers_plan.backward.count(os::step::all_gather) == 4);
// A region computes its forward once more; gathers alone cost no products.
constexpr auto at = os::sizes(B = 8, I = 16, J = 32, X = 4);
static_assert(again_plan.backward.flops(at) - gathers_plan.backward.flops(at) == 2 * 2 * 2 * (8 / 4) * 16 * 32);
static_assert(gathers_plan.backward.count(os::step::reduce_scatter) == 4);

// Named tensors are not computed again: the first product of each region.
constexpr auto names_plan = os::gradient_plan<network<os::values>, batch>(saved_by_name, three_layers{});
static_assert(again_plan.backward.flops(at) - names_plan.backward.flops(at) == 2 * 2 * (8 / 4) * 16 * 32);
static_assert(names_plan.backward.count(os::step::all_gather) == 4);
constexpr auto no_name_plan = os::gradient_plan<network<os::values>, batch>(saved_by_no_name, three_layers{});
static_assert(no_name_plan.backward.flops(at) == again_plan.backward.flops(at));

// Operations of the vocabulary are priced, too, and what their backward calls.
constexpr auto of_scores = [](auto const& w, auto const& x) {
  auto const h = os::silu(os::einsum<B, J/X>(os::reshard<B, I>(x), os::reshard<I, J/X>(w)));
  return os::sum<>(os::square(os::softmax<J/X>(h)));
};
constexpr auto plan_of_scores = os::gradient_plan<weight, batch>(of_scores);
static_assert(plan_of_scores.unpriced() == 0);

// A tree that is cast before its gathers: half the bytes.
template <bool Casts>
struct cast_first {
  template <class P, class D>
  constexpr auto operator()(P const& p, D const& x) const {
    if constexpr (Casts)
      return of(os::tree_cast<float>(p), os::cast<float>(x));
    else
      return of(p, x);
  }
  template <class P, class D>
  static constexpr auto of(P const& p, D const& x) {
    return os::sum<>(os::einsum<B/X, J>(x, os::reshard<I, J>(p.up)));
  }
};
constexpr auto wide = os::gradient_plan<layer<os::values>, batch>(cast_first<false>{});
constexpr auto narrow = os::gradient_plan<layer<os::values>, batch>(cast_first<true>{});
static_assert(2 * narrow.backward.bytes(B = 8, I = 8, J = 8, X = 4) == wide.backward.bytes(B = 8, I = 8, J = 8, X = 4));

}  // namespace

TEST_CASE("operations of the vocabulary are predicted, too") {
  t::on_every_mesh([](t::test_mesh const& m) {
    std::int64_t const n = m.size("X");
    t::extents_by_letter const e{{'B', 4 * n}, {'I', 3 * n}, {'J', 2 * n}};
    INFO(m.text());
    auto const w = t::placed<weight>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const x = t::placed<batch>(m, t::whole_numbers<double>("BI", e, 3));
    auto const sizes = os::sizes(B = 4 * n, I = 3 * n, J = 2 * n, X = n, Y = m.size("Y"), Z = m.size("Z"));
    auto const forward = t::traffic_of([&] { (void)of_scores(w, x); });
    CHECK(forward.bytes == plan_of_scores.forward.total_bytes(sizes));
    auto const both = t::traffic_of([&] { (void)os::value_and_grad(of_scores)(w, x); });
    CHECK(both.bytes == plan_of_scores.total_bytes(sizes));
  });
}

TEST_CASE("an extent that a price needs has to be given") {
  CHECK_THROWS_WITH_AS(static_cast<void>(plan.total_bytes(B = 7, J = 6, X = 2)),
                       doctest::Contains("gradient_plan: the extent of I is not given"), os::error);
  CHECK_THROWS_WITH_AS(static_cast<void>(plan.total_bytes(B = 7, I = 4, J = 6)),
                       doctest::Contains("gradient_plan: the extent of X is not given"), os::error);
}

TEST_CASE("a plan is what is counted") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'B', 7}, {'I', 5}, {'J', 6}};
    INFO(m.text());
    auto const w = t::placed<weight>(m, t::whole_numbers<double>("IJ", e, 2));
    auto const x = t::placed<batch>(m, t::whole_numbers<double>("BI", e, 3));
    auto const moved = t::traffic_of([&] { (void)os::value_and_grad(loss)(w, x); });
    CHECK(moved.bytes == plan.total_bytes(B = 7, I = 5, J = 6, X = m.size("X"), Y = m.size("Y"), Z = m.size("Z")));

    auto const down = t::placed<os::tensor<double, J/X, I>>(m, t::whole_numbers<double>("JI", e, 2));
    auto const shift = t::placed<os::tensor<double, I>>(m, t::whole_numbers<double>("I", e, 2));
    network<os::values> p{{}, shift};
    for (int i = 0; i < 3; ++i) p.layers.push_back({w, down, shift});
    auto const of_all = t::traffic_of([&] { (void)os::value_and_grad(of_network)(p, x); });
    auto const sizes = os::sizes(B = 7, I = 5, J = 6, X = m.size("X"), Y = m.size("Y"), Z = m.size("Z"));
    CHECK(of_all.bytes == network_plan.total_bytes(sizes));
    auto const in_regions = t::traffic_of([&] { (void)os::value_and_grad(again)(p, x); });
    CHECK(in_regions.bytes == again_plan.total_bytes(sizes));
    auto const with_names = t::traffic_of([&] { (void)os::value_and_grad(saved_by_name)(p, x); });
    CHECK(with_names.bytes == names_plan.total_bytes(sizes));
    auto const with_gathers = t::traffic_of([&] { (void)os::value_and_grad(gathers_again)(p, x); });
    CHECK(with_gathers.bytes == gathers_plan.total_bytes(sizes));
  });
}
