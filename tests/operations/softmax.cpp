// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::softmax along whole and divided axes against plain loops.
// labels: essential

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cmath>

#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

TEST_CASE("softmax of whole and divided axes") {
  t::on_every_mesh([](t::mesh_at_hand const& m) {
    for (t::extents_by_letter const& e : t::usual_extents()) {
      auto const g = t::whole_numbers<double>("IJ", e, 7);
      t::global_tensor<double> want = g;
      std::int64_t const rows = e.at('I'), columns = e.at('J');
      for (std::int64_t i = 0; i < rows; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < columns; ++j) sum += std::exp(g.values[static_cast<std::size_t>(i * columns + j)]);
        for (std::int64_t j = 0; j < columns; ++j) {
          auto const at = static_cast<std::size_t>(i * columns + j);
          want.values[at] = std::exp(g.values[at]) / sum;
        }
      }
      auto const close = [](double got, double wanted) { return std::abs(got - wanted) <= 1e-14; };
      INFO(m.text(), t::text_of(e));
      CHECK(t::disagreements(m, os::softmax<J>(t::placed<os::tensor<double, I/X, J>>(m, g)), want, close) == 0);
      CHECK(t::disagreements(m, os::softmax<J/Y>(t::placed<os::tensor<double, I/X, J/Y>>(m, g)), want, close) == 0);
      CHECK(t::disagreements(m, os::softmax<J/X/Y>(t::placed<os::tensor<double, I, J/X/Y>>(m, g)), want, close) == 0);
    }
  });
}
