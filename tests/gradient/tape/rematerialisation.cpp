// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The costs and savings of regions under each policy, measured below the library: the same bits, with dropout;
/// repeated products, as os::gradient_plan predicts them; activations and gathered weights that are held at once.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <ostraka/foresight/gradient_plan.hpp>
#include <ostraka/gradient.hpp>
#include <ostraka/operations.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// ---- what Kokkos tells of ------------------------------------------------------------------------------------------

/// Blocks of a size, and the most of them at once.
struct blocks_held {
  std::uint64_t bytes = 0;
  int now = 0, most = 0;
};
blocks_held activations, weights;
std::int64_t flops_done = 0;

// Workspace is no block, and its pieces may have the size of one.
void count_blocks(std::string_view label, std::uint64_t bytes, int by) {
  if (label == "ostraka workspace") return;
  for (blocks_held* const b : {&activations, &weights})
    if (bytes == b->bytes) b->most = std::max(b->most, b->now += by);
}

// "ostraka contract, 134,217,728 flop"
void count_flops(char const* region) {
  std::string_view name = region;
  if (name.substr(0, 16) != "ostraka contract" || name.size() < 5 || name.substr(name.size() - 5) != " flop") return;
  name.remove_suffix(5);
  std::int64_t n = 0, place = 1;
  for (; !name.empty() && (name.back() == ',' || (name.back() >= '0' && name.back() <= '9')); name.remove_suffix(1))
    if (name.back() != ',') n += (name.back() - '0') * place, place *= 10;
  flops_done += n;
}

struct listening {
  listening(std::int64_t of_activation, std::int64_t of_weight) {
    using namespace Kokkos::Tools::Experimental;
    activations = {static_cast<std::uint64_t>(of_activation)};
    weights = {static_cast<std::uint64_t>(of_weight)};
    flops_done = 0;
    set_allocate_data_callback(
        [](auto, char const* label, void const*, std::uint64_t bytes) { count_blocks(label, bytes, 1); });
    set_deallocate_data_callback(
        [](auto, char const* label, void const*, std::uint64_t bytes) { count_blocks(label, bytes, -1); });
    set_push_region_callback(count_flops);
  }
  ~listening() {
    using namespace Kokkos::Tools::Experimental;
    set_allocate_data_callback(nullptr);
    set_deallocate_data_callback(nullptr);
    set_push_region_callback(nullptr);
  }
  listening(listening const&) = delete;
  listening& operator=(listening const&) = delete;
};

// ---- the program ---------------------------------------------------------------------------------------------------

template <class L>
struct network {
  std::vector<os::leaf<L, double, K/X, J>> layers;  // K: the inputs' own name for I
};
using batch = os::tensor<double, B/X, I>;

constexpr auto save_z = os::save_names("z");

template <auto const& Policy>
struct loss_under {
  template <class P, class A>
  constexpr auto operator()(P const& p, A const& x) const {
    auto const layer = os::checkpoint(
        [](auto const& w, auto const& h) {
          auto const gathered = os::rename<K, I>(os::reshard<K, J>(w));
          auto const z = os::checkpoint_name(os::einsum<B/X, J>(h, gathered), "z");
          return os::rename<J, I>(os::dropout(os::tanh(z), 0.25, os::seed(7)));
        },
        Policy);
    auto h = layer(p.layers[0], x);
    for (std::size_t l = 1; l < p.layers.size(); ++l) h = layer(p.layers[l], h);
    return os::sum<>(h * h);
  }
};
template <int Layers>
struct shape {
  constexpr network<os::names> operator()() const {
    network<os::names> n;
    for (int l = 0; l < Layers; ++l) n.layers.push_back({});
    return n;
  }
};

template <int Layers, auto const& Policy>
constexpr auto plan_of = os::gradient_plan<network<os::values>, batch>(loss_under<Policy>{}, shape<Layers>{});

struct run_of {
  network<os::values> gradient;
  int activations = 0, weights = 0;
  std::int64_t flops = 0;
};

template <auto const& Policy>
run_of run(t::test_mesh const& m, int layers, t::extents_by_letter const& e) {
  auto w = t::whole_numbers<double>("KJ", e, 3), x = t::whole_numbers<double>("BI", e, 5);
  for (double& v : w.values) v *= 0.02;
  for (double& v : x.values) v *= 0.1;
  network<os::values> p;
  for (int l = 0; l < layers; ++l) p.layers.push_back(t::placed<os::tensor<double, K/X, J>>(m, w));
  auto const data = t::placed<batch>(m, x);
  auto const n = static_cast<std::int64_t>(m.size("X"));
  run_of r;
  {
    listening const l(e.at('B') / n * e.at('I') * 8, e.at('I') * e.at('J') * 8);
    r.gradient = os::value_and_grad(loss_under<Policy>{})(p, data).gradient;
    r.activations = activations.most;
    r.weights = weights.most;
    r.flops = flops_done;
  }
  return r;
}

// The blocks that each further layer holds at once, and its operations.
struct of_a_layer {
  int activations, weights;
  std::int64_t flops;
};

template <auto const& Policy>
of_a_layer slope(t::test_mesh const& m, t::extents_by_letter const& e) {
  run_of const few = run<Policy>(m, 3, e), many = run<Policy>(m, 5, e);
  return {(many.activations - few.activations) / 2, (many.weights - few.weights) / 2, (many.flops - few.flops) / 2};
}

}  // namespace

TEST_CASE("the same bits under each policy, with dropout") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e :
         std::vector<t::extents_by_letter>{{{'B', 5}, {'I', 7}, {'J', 7}, {'K', 7}},
                                           {{'B', 8}, {'I', 4}, {'J', 4}, {'K', 4}}}) {
      INFO(m.text(), t::text_of(e));
      run_of const want = run<os::save_all>(m, 3, e);
      auto const check = [&](run_of const& got) {
        for (std::size_t l = 0; l < 3; ++l)
          CHECK(t::read_elements(got.gradient.layers[l].local().data(), got.gradient.layers[l].local().size()) ==
                t::read_elements(want.gradient.layers[l].local().data(), want.gradient.layers[l].local().size()));
      };
      check(run<os::save_nothing>(m, 3, e));
      check(run<save_z>(m, 3, e));
      check(run<os::save_all_but_gathers>(m, 3, e));
    }
  });
}

TEST_CASE("what a layer holds and computes") {
  t::on_every_mesh([](t::test_mesh const& m) {
    int const n = m.size("X");
    if (n < 2) return;  // on one device a weight is held once, gathered or not
    t::extents_by_letter const e{{'B', 24 * n}, {'I', 8 * n}, {'J', 8 * n}, {'K', 8 * n}};
    INFO(m.text());
    std::int64_t const product = 2 * 24 * e.at('I') * e.at('J');
    of_a_layer const all = slope<os::save_all>(m, e), nothing = slope<os::save_nothing>(m, e);
    of_a_layer const names = slope<save_z>(m, e), gathers = slope<os::save_all_but_gathers>(m, e);
    auto const is = [](of_a_layer const& got, int blocks, int gathered, std::int64_t flops) {
      CHECK(got.activations == blocks);
      CHECK(got.weights == gathered);
      CHECK(got.flops == flops);
    };
    is(all, 2, 1, 3 * product);  // its input, the result of tanh, its weight; one product forward and two back
    is(nothing, 1, 0, 4 * product);
    is(names, 2, 0, 3 * product);
    is(gathers, 2, 0, 3 * product);

    auto const sizes = os::sizes(B = e.at('B'), I = e.at('I'), J = e.at('J'), K = e.at('K'), X = n);
    auto const predicted = [&](auto const& five, auto const& three) {
      return (five.flops(sizes) - three.flops(sizes)) / 2;
    };
    CHECK(predicted(plan_of<5, os::save_all>, plan_of<3, os::save_all>) == all.flops);
    CHECK(predicted(plan_of<5, os::save_nothing>, plan_of<3, os::save_nothing>) == nothing.flops);
    CHECK(predicted(plan_of<5, save_z>, plan_of<3, save_z>) == names.flops);
    CHECK(predicted(plan_of<5, os::save_all_but_gathers>, plan_of<3, os::save_all_but_gathers>) == gathers.flops);
  });
}
