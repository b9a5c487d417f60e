// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// os::segment_sum over whole and divided rows against plain loops, of random extents; a segment without rows.
// labels: essential
// sham:

#include <doctest/doctest.h>

#include <ostraka/operations.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/draws.hpp"
#include "support/on_meshes.hpp"

namespace os = ostraka;
namespace t = os::testing;

TEST_CASE("sums of segments") {
  t::on_every_mesh([](t::test_mesh const& m) {
    for (std::uint64_t seed = 21; seed <= 24; ++seed) {
      t::draws draw(seed);
      t::extents_by_letter e{{'J', draw(14)}, {'K', 1 + draw(5)}};
      if (draw(4) == 0) e['J'] = 200 + draw(1100);
      std::int64_t const n = 1 + static_cast<std::int64_t>(seed % 3) * 4;
      auto const data = t::whole_numbers<float>("JK", e, seed);
      auto ids = t::whole_numbers<std::int32_t>("J", e, seed + 1);
      for (std::int32_t& id : ids.values) id = (id + 6) % static_cast<std::int32_t>(n);
      t::global_tensor<float> want{"LK", e, std::vector<float>(static_cast<std::size_t>(n * e.at('K')))};
      want.extents['L'] = n;
      for (std::size_t j = 0; j < ids.values.size(); ++j)
        for (std::int64_t k = 0; k < e.at('K'); ++k)
          want.values[static_cast<std::size_t>(ids.values[j] * e.at('K') + k)] +=
              data.values[j * static_cast<std::size_t>(e.at('K')) + static_cast<std::size_t>(k)];
      INFO(m.text(), t::text_of(e), "seed ", seed);
      auto const whole = t::placed<os::tensor<float, J, K/X>>(m, data);
      auto const by = t::placed<os::tensor<std::int32_t, J>>(m, ids);
      CHECK(t::disagreements(m, os::segment_sum<J, L>(whole, by, L = n), want) == 0);
      auto const rows = t::placed<os::tensor<float, J/X, K>>(m, data);
      auto const row_ids = t::placed<os::tensor<std::int32_t, J/X>>(m, ids);
      CHECK(t::disagreements(m, os::segment_sum<J, L, L, K>(rows, row_ids, L = n), want) == 0);
      CHECK(t::disagreements(m, os::segment_sum<J, L, L/X, K/Y>(rows, row_ids, L = n), want) == 0);
      CHECK(t::disagreements(m, os::segment_sum<J, L, L, K, os::partial(X)>(rows, row_ids, L = n), want) == 0);
      if (e.at('J') == 0) continue;
      ids.values.back() = static_cast<std::int32_t>(n);
      CHECK_THROWS_AS(
          static_cast<void>(os::segment_sum<J, L, L, K>(rows, t::placed<os::tensor<std::int32_t, J/X>>(m, ids), L = n)),
          os::error);
    }
  });
}
