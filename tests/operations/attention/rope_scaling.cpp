// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::rope by a tensor of frequencies, and by os::rope_scaling: every division, both orders of pairs, against plain
/// loops with frequencies that transformers computes.
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

// I: positions, J: frequencies, P: pairs, B: heads.
OSTRAKA_AXIS(P, 2);

struct variant {
  char const* name;
  os::rope_scaling scaling;
  std::vector<double> frequencies;
  double magnitude;
};

// transformers 5.24.0, modeling_rope_utils.py: _compute_…_parameters with rope_theta = 10000 and a head_dim of 16, run
// on NumPy in float64 in torch's place. Fields as they stand here.
std::vector<variant> variants() {
  using enum os::rope_type;
  return {
      {"linear",
       {.type = linear, .factor = 4},
       {0.25, 0.07905694150420949, 0.025, 0.007905694150420948, 0.0025, 0.000790569415042095, 0.00025,
        7.905694150420948e-05},
       1},
      {"dynamic, beyond the positions of training",
       {.type = dynamic, .factor = 2, .original_max_position_embeddings = 128, .positions = 500},
       {1.0, 0.24041203914808928, 0.05779794856734241, 0.013895322673651175, 0.003340602858593159,
        0.0008031211452183176, 0.00019307999220488447, 4.641875464467347e-05},
       1},
      {"dynamic, within them",
       {.type = dynamic, .factor = 2, .original_max_position_embeddings = 128, .positions = 100},
       {1.0, 0.31622776601683794, 0.1, 0.03162277660168379, 0.01, 0.00316227766016838, 0.001, 0.00031622776601683794},
       1},
      {"llama3",
       {.type = llama3,
        .factor = 8,
        .original_max_position_embeddings = 256,
        .low_freq_factor = 1,
        .high_freq_factor = 4},
       {1.0, 0.31622776601683794, 0.1, 0.0066131063172475526, 0.00125, 0.0003952847075210475, 0.000125,
        3.952847075210474e-05},
       1},
      {"yarn",
       {.type = yarn, .factor = 4, .original_max_position_embeddings = 512},
       {1.0, 0.2569350598886808, 0.0625, 0.01383496476323666, 0.0025, 0.000790569415042095, 0.00025,
        7.905694150420948e-05},
       1.138629436111989},
      {"yarn with mscale, not truncated",
       {.type = yarn,
        .factor = 40,
        .original_max_position_embeddings = 4096,
        .truncate = false,
        .mscale = 1.0,
        .mscale_all_dim = 0.8},
       {1.0, 0.31622776601683794, 0.1, 0.02771085847508042, 0.005524062977468265, 0.0007226383418941808, 2.5e-05,
        7.905694150420947e-06},
       1.0569662567531275},
  };
}

template <class Position>
t::global_tensor<double> turned(t::global_tensor<double> const& g, std::vector<double> const& frequencies,
                                double magnitude, Position const& position) {
  t::global_tensor<double> y = g;
  t::for_each_index(g.labels, g.extents, [&](t::extents_by_letter at) {
    double const angle = position(at) * frequencies[static_cast<std::size_t>(at.at('J'))];
    std::int64_t const which = at.at('P');
    at['P'] = 0;
    double const a = g.values[g.position(at)];
    at['P'] = 1;
    double const b = g.values[g.position(at)];
    at['P'] = which;
    double const c = magnitude * std::cos(angle), s = magnitude * std::sin(angle);
    y.values[y.position(at)] = which == 0 ? a * c - b * s : a * s + b * c;
  });
  return y;
}

constexpr auto is_close = [](double got, double wanted) { return std::abs(got - wanted) <= 1e-11; };

// Of so many positions as no block of the table is made of alone, few, one and none.
std::vector<t::extents_by_letter> extents() {
  std::vector<t::extents_by_letter> all;
  for (std::int64_t const positions : {130, 3, 1, 0}) all.push_back({{'B', 3}, {'I', positions}, {'J', 8}, {'P', 2}});
  return all;
}

constexpr auto by_index = [](t::extents_by_letter const& at) { return static_cast<double>(at.at('I')); };

}  // namespace

TEST_CASE("rope with the frequencies of models that were made longer, as transformers computes them") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : extents())
      for (variant const& v : variants()) {
        INFO(m.text(), t::text_of(e), v.name);
        auto const g = t::whole_numbers<double>("IBJP", e, 3), h = t::whole_numbers<double>("BPIJ", e, 5);
        auto const x = t::placed<os::tensor<double, I, B / X, J / Y, P>>(m, g);
        CHECK(t::disagreements(m, os::rope<I, J, P>(x, v.scaling), turned(g, v.frequencies, v.magnitude, by_index),
                               is_close) == 0);
        auto const y = t::placed<os::tensor<double, B, P, I / X, J / Y>>(m, h);
        CHECK(t::disagreements(m, os::rope<I, J, P>(y, v.scaling, os::rope_base(10000), os::from_position(40)),
                               turned(h, v.frequencies, v.magnitude,
                                      [](t::extents_by_letter const& at) { return 40 + by_index(at); }),
                               is_close) == 0);
      }
  });
}

TEST_CASE("rope by a tensor of frequencies, whole or divided, alone and with positions") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter e : extents())
      for (std::int64_t const pairs : {5, 1, 0}) {
        e['J'] = pairs;
        INFO(m.text(), t::text_of(e));
        std::vector<double> f;
        for (std::int64_t j = 0; j < pairs; ++j)
          f.push_back(static_cast<double>(1.0f / (1 + 3 * static_cast<float>(j))));
        t::global_tensor<double> const frequencies{"J", {{'J', pairs}}, f};
        t::global_tensor<float> narrow{"J", {{'J', pairs}}, {}};
        for (double const v : f) narrow.values.push_back(static_cast<float>(v));
        auto const g = t::whole_numbers<double>("IBJP", e, 3);
        auto const x = t::placed<os::tensor<double, I / X, B, J / Y, P>>(m, g);
        auto const want = turned(g, f, 1, by_index);
        auto const whole = t::placed<os::tensor<double, J>>(m, frequencies);
        auto const divided = t::placed<os::tensor<float, J / Y>>(m, narrow);
        CHECK(t::disagreements(m, os::rope<I, J, P>(x, whole), want, is_close) == 0);
        CHECK(t::disagreements(m, os::rope<I, J, P>(x, divided), want, is_close) == 0);
        // Others of the same number, after which the first ones are made again.
        auto const twice = os::scale(divided, 2.0f);
        std::vector<double> f2 = f;
        for (double& v : f2) v *= 2;
        CHECK(t::disagreements(m, os::rope<I, J, P>(x, twice), turned(g, f2, 1, by_index), is_close) == 0);
        CHECK(t::disagreements(m, os::rope<I, J, P>(x, divided), want, is_close) == 0);

        auto const at = t::whole_numbers<std::int32_t>("IB", e, 9);
        auto const want_at = turned(g, f, 1, [&](t::extents_by_letter const& i) {
          return static_cast<double>(at.values[at.position(i)] + 70);
        });
        auto const positions = t::placed<os::tensor<std::int32_t, I / X, B>>(m, at);
        CHECK(t::disagreements(m, os::rope<I, J, P>(x, positions, whole, os::from_position(70)), want_at, is_close) ==
              0);
        CHECK(t::disagreements(m, os::rope<I, J, P>(x, divided, os::from_position(70), positions), want_at, is_close) ==
              0);
      }
  });
}

TEST_CASE("a scaling from which no frequencies follow is refused on all devices") {
  auto const mesh = os::make_mesh(X = t::ranks());
  auto const x = os::zeros<float, I / X, J, P>(mesh, I = 2, J = 4);
  auto const alone = os::zeros<float, I / X, J, P>(mesh, I = 2, J = 1);
  auto const refused = [](auto const& a, os::rope_scaling const& s) {
    CHECK_THROWS_AS(static_cast<void>(os::rope<I, J, P>(a, s)), os::error);
  };
  using enum os::rope_type;
  refused(x, {.type = linear, .factor = 0});
  refused(x, {.type = linear, .factor = std::numeric_limits<double>::quiet_NaN()});
  refused(x, {.type = llama3, .factor = 8});
  refused(x, {.type = llama3, .factor = 8, .original_max_position_embeddings = 100, .low_freq_factor = 4});
  refused(x, {.type = yarn, .factor = 8});
  refused(x, {.type = yarn, .factor = 8, .original_max_position_embeddings = 100, .beta_slow = 0});
  refused(x, {.type = dynamic, .factor = 8});
  refused(alone, {.type = dynamic, .factor = 8, .original_max_position_embeddings = 4, .positions = 9});
  auto const too_many = os::zeros<double, J>(mesh, J = 5);
  CHECK_THROWS_AS(static_cast<void>(os::rope<I, J, P>(x, too_many)), os::error);
}
