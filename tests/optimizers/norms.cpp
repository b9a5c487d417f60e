// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// Norms over all leaves of a tree, clipping by them, sums of microbatches, trees under other shardings, and scales of
/// losses, against plain loops; the bytes that they move.
// ranks: 1 2 4 6
// gpu: 2

#include <doctest/doctest.h>

#include <ostraka/gradient/cotangents/deferred.hpp>
#include <ostraka/optimizers.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

namespace {

template <class L>
struct layer {
  os::leaf<L, double, I/X, J> weight;
  os::leaf<L, float, J> bias;
};

template <class L>
struct network {
  std::array<layer<L>, 2> layers;
  os::leaf<L, os::bfloat16, J/X/Y, K> table;
  os::leaf<L, double> scale;
  int heads = 2;
};

using whole = t::global_tensor<double>;

struct leaves {
  whole weight[2];
  t::global_tensor<float> bias[2];
  t::global_tensor<os::bfloat16> table;
  double scale;

  explicit leaves(t::extents_by_letter const& e)
      : weight{t::whole_numbers<double>("IJ", e, 1), t::whole_numbers<double>("IJ", e, 2)},
        bias{t::whole_numbers<float>("J", e, 3), t::whole_numbers<float>("J", e, 4)},
        table(t::whole_numbers<os::bfloat16>("JK", e, 5)),
        scale(7) {}

  [[nodiscard]] double squares() const {
    double sum = scale * scale;
    for (whole const& w : weight)
      for (double x : w.values) sum += x * x;
    for (auto const& b : bias)
      for (float x : b.values) sum += double(x) * double(x);
    for (os::bfloat16 x : table.values) sum += double(float(x)) * double(float(x));
    return sum;
  }

  [[nodiscard]] network<os::values> placed(t::test_mesh const& m, t::extents_by_letter const& e) const {
    network<os::values> n;
    for (std::size_t l = 0; l < 2; ++l) {
      n.layers[l].weight = t::placed<os::tensor<double, I/X, J>>(m, weight[l]);
      n.layers[l].bias = t::placed<os::tensor<float, J>>(m, bias[l]);
    }
    n.table = t::placed<os::tensor<os::bfloat16, J/X/Y, K>>(m, table);
    n.scale = t::placed<os::tensor<double>>(m, whole{"", e, {scale}});
    return n;
  }
};

template <class T>
bool same(T got, T want) {
  return got == want || (got != got && want != want);
}

}  // namespace

TEST_CASE("the global norm counts what is repeated once, and moves one number") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      leaves const g(e);
      auto const n = g.placed(m, e);
      double norm = 0;
      auto const moved = t::traffic_of([&] { norm = os::global_norm(n); });
      INFO(m.text(), t::text_of(e));
      CHECK(norm == std::sqrt(g.squares()));  // of whole numbers, exactly
      std::int64_t const group = m.size("X") * m.size("Y"), groups = t::ranks() / group;
      CHECK(moved.bytes == groups * 2 * (group - 1) * 8);
      CHECK(moved.calls == (group > 1 ? t::ranks() : 0));
      auto const replicated = t::placed<os::tensor<double, I, J>>(m, g.weight[0]);
      double squares = 0;
      for (double x : g.weight[0].values) squares += x * x;
      CHECK(t::traffic_of([&] { CHECK(os::global_norm(replicated) == std::sqrt(squares)); }).calls == 0);
      CHECK(os::global_norm(n.layers[0].weight) == std::sqrt(squares));
    }
  });
}

TEST_CASE("clipping by the global norm") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 70}, {'K', 3}};
    leaves const g(e);
    double const norm = std::sqrt(g.squares());
    auto const n = g.placed(m, e);
    INFO(m.text());
    CHECK(os::clip_by_global_norm(n, norm) == norm);  // short enough
    CHECK(t::disagreements(m, n.layers[0].weight, g.weight[0]) == 0);
    CHECK(os::clip_by_global_norm(n, norm / 4) == norm);
    whole weight = g.weight[1];
    for (double& x : weight.values) x *= norm / 4 / norm;
    t::global_tensor<float> bias = g.bias[0];
    for (float& x : bias.values) x *= float(norm / 4 / norm);
    t::global_tensor<os::bfloat16> table = g.table;
    for (os::bfloat16& x : table.values) x = os::bfloat16(float(x) * float(norm / 4 / norm));
    CHECK(t::disagreements(m, n.layers[1].weight, weight) == 0);
    CHECK(t::disagreements(m, n.layers[0].bias, bias) == 0);
    CHECK(t::disagreements(m, n.table, table) == 0);
    CHECK(os::global_norm(n) == doctest::Approx(norm / 4));
    CHECK(os::clip_by_global_norm(n, 0.0) == doctest::Approx(norm / 4));
    CHECK(os::global_norm(n) == 0);
    CHECK_THROWS_AS(os::clip_by_global_norm(n, -1.0), os::error);
    CHECK_THROWS_AS(os::clip_by_global_norm(n, std::nan("")), os::error);
    CHECK_THROWS_AS((void)os::global_norm(network<os::values>{}), os::error);
  });
}

TEST_CASE("leaves on different meshes") {
  int const n = t::ranks();
  t::test_mesh const one({"XYZ", {n, 1, 1}}), other({"XYZ", {1, n, 1}});
  t::extents_by_letter const e{{'I', 5}, {'J', 3}, {'K', 3}};
  leaves const g(e);
  auto tree = g.placed(one, e);
  tree.layers[1] = g.placed(other, e).layers[1];
  auto const refused = [](auto const& f) {
    try {
      f();
    } catch (os::error const& error) {
      return std::string(error.what()) ==
             "global_norm: all leaves of a tree live on one mesh, but these live on two; take the norm of a tree for "
             "each mesh (the leaf layers[1].weight)";
    }
    return false;
  };
  auto const moved = t::traffic_of([&] {
    CHECK(refused([&] { (void)os::global_norm(tree); }));
    CHECK(refused([&] { (void)os::all_finite(tree); }));
    CHECK(refused([&] { os::clip_by_global_norm(tree, 1.0); }));
  });
  CHECK(moved.calls == 0);
  CHECK(t::disagreements(one, tree.layers[0].weight, g.weight[0]) == 0);  // left as they are
}

TEST_CASE("what is not finite") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 3}, {'K', 3}};
    double const infinity = std::numeric_limits<double>::infinity();
    for (double bad : {infinity, std::nan("")}) {
      leaves g(e);
      g.weight[1].values[7] = bad;
      auto const n = g.placed(m, e);
      INFO(m.text());
      CHECK_FALSE(os::all_finite(n));
      os::clip_by_global_norm(n, 1.0);
      whole want = g.weight[1];
      for (double& x : want.values) x *= 1.0 / (bad == infinity ? infinity : bad);
      CHECK(t::disagreements(m, n.layers[1].weight, want, same<double>) == 0);
    }
    leaves large(e);
    for (float& x : large.bias[0].values) x = 3e38f;
    CHECK(os::all_finite(large.placed(m, e)));  // squares are summed in double
  });
}

TEST_CASE("sums of microbatches") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      using partial = os::tensor<double, I, J, os::partial(X)>;
      whole const a = t::whole_numbers<double>("IJ", e, 1), b = t::whole_numbers<double>("IJ", e, 2);
      whole want = a;
      for (std::size_t i = 0; i < want.values.size(); ++i) want.values[i] += 2 * b.values[i];
      auto const sum = t::placed<partial>(m, a);
      INFO(m.text(), t::text_of(e));
      auto const added = t::placed<partial>(m, b);
      CHECK(t::traffic_of([&] { os::accumulate(sum, added), os::accumulate(sum, added); }).calls == 0);
      CHECK(t::disagreements(m, sum, want) == 0);

      leaves const g(e);
      auto const n = g.placed(m, e);
      network<os::values_of<double>> wide = os::tree_cast<double>(n);
      os::accumulate(wide, n);
      whole table{"JK", e, {}};
      for (os::bfloat16 x : g.table.values) table.values.push_back(2 * double(float(x)));
      CHECK(t::disagreements(m, wide.table, table) == 0);
    }
  });
}

TEST_CASE("a tree under other shardings") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}, {'J', 7}, {'K', 3}};
    leaves const g(e);
    layer<os::deferred_over<Z>> const parts{t::placed<os::tensor<double, I/X, J, os::partial(Z)>>(m, g.weight[0]),
                                            t::placed<os::tensor<float, J, os::partial(Z)>>(m, g.bias[0])};
    layer<os::values> const n = os::tree_reshard<os::values>(parts);
    INFO(m.text());
    CHECK(t::disagreements(m, n.weight, g.weight[0]) == 0);
    CHECK(t::disagreements(m, n.bias, g.bias[0]) == 0);
    auto const again = os::tree_reshard<os::values>(n);
    CHECK(again.weight.local().data() == n.weight.local().data());
  });
}

TEST_CASE("scales of losses") {
  t::on_every_mesh([](t::test_mesh const& m) {
    t::extents_by_letter const e{{'I', 5}};
    t::global_tensor<float> g = t::whole_numbers<float>("I", e, 1);
    auto const a = t::placed<os::tensor<float, I/X>>(m, g);
    os::loss_scale scaling{.factor = 8, .interval = 2};
    CHECK(t::disagreements(m, scaling(a), [&] {
            auto s = g;
            for (float& x : s.values) x *= 8;
            return s;
          }()) == 0);
    CHECK(scaling.unscale(a));
    for (float& x : g.values) x /= 8;
    CHECK(t::disagreements(m, a, g) == 0);
    CHECK(scaling.factor == 8);
    CHECK(scaling.unscale(a));
    CHECK(scaling.factor == 16);  // after two steps
    g.values[4] = std::numeric_limits<float>::infinity();
    auto const b = t::placed<os::tensor<float, I/X>>(m, g);
    CHECK_FALSE(scaling.unscale(b));
    CHECK(scaling.factor == 8);
    CHECK(scaling.since == 0);
    CHECK(t::disagreements(m, b, g) == 0);  // left as they are

    t::global_tensor<os::float16> scaled{"I", e, std::vector<os::float16>(5, os::float16(65.5f))};
    auto const floats = os::cast<float>(t::placed<os::tensor<os::float16, I/X>>(m, scaled));
    os::loss_scale large;  // 65536
    CHECK(large.unscale(floats));
    CHECK(t::disagreements(m, floats, t::global_tensor<float>{"I", e, std::vector<float>(5, 65.5f / 65536)}) == 0);
    os::sgd const optimizer{.learning_rate = 1024};
    auto const p = t::placed<os::tensor<os::float16, I/X>>(m, scaled);
    optimizer.update(p, floats, optimizer.init(p));
    for (os::float16& x : scaled.values) x = os::float16(65.5f - 65.5f / 64);
    CHECK(t::disagreements(m, p, scaled) == 0);
  });
}
