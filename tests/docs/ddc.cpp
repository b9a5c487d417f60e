// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The snippets of docs/petsc.md about DDC, run on 4 ranks where CMake is given a DDC (DDC_DIR): spans of DDC as blocks
/// of tensors and as arrays with ghost layers, and a block as a span.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include <ddc/ddc.hpp>
#include <ostraka/ostraka.hpp>

namespace os = ostraka;

namespace spans {

OSTRAKA_AXIS(I);  OSTRAKA_AXIS(J);
OSTRAKA_MESH_AXIS(X);  OSTRAKA_MESH_AXIS(Y);

constexpr int n = 13, m = 10;

struct heights {};
struct widths {};
using point = ddc::DiscreteElement<heights, widths>;

double start(std::int64_t i, std::int64_t j) { return 0.5 * static_cast<double>(i * i) - static_cast<double>(j); }

template <class Mesh>
void check(Mesh const& mesh, ddc::DiscreteDomain<heights> const& all_heights,
           ddc::DiscreteDomain<widths> const& all_widths) {
  // The indices that this rank owns, and the same with a ghost layer.
  std::int64_t const x = mesh.coordinate(X), y = mesh.coordinate(Y);
  std::int64_t const top = x * n / 2, left = y * m / 2, rows = (x + 1) * n / 2 - top, columns = (y + 1) * m / 2 - left;
  auto const around = [&](std::int64_t ghosts) {
    ddc::DiscreteVector<heights, widths> const before(top + 1 - ghosts, left + 1 - ghosts);
    ddc::DiscreteVector<heights, widths> const extents(rows + 2 * ghosts, columns + 2 * ghosts);
    return ddc::DiscreteDomain<heights, widths>(point(all_heights.front(), all_widths.front()) + before, extents);
  };
  ddc::DiscreteDomain<heights, widths> const owned = around(0), ghosted = around(1);
  auto const value = [&](point p) {
    return start((ddc::DiscreteElement<heights>(p) - all_heights.front()).value() - 1,
                 (ddc::DiscreteElement<widths>(p) - all_widths.front()).value() - 1);
  };

  // a span
  ddc::Chunk<double, ddc::DiscreteDomain<heights, widths>> chunk("u", owned);
  ddc::ChunkSpan u = chunk.span_view();
  auto A = os::from_local<double, I/X, J/Y>(mesh, I = n, J = m, u.allocation_kokkos_view());

  ddc::host_for_each(owned, [&](point p) { u(p) = value(p); });
  CHECK(A.local().data() == u.data_handle());
  auto const whole = os::gather_to_root(A);
  int different = 0;
  if (whole)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) different += (*whole)(i, j) != start(i, j);

  // a block
  auto B = os::map([](double v) { return 2 * v; }, A);
  ddc::ChunkSpan w(B.local(), owned);

  ddc::host_for_each(owned, [&](point p) { different += w(p) != 2 * value(p); });

  // ghost layers
  ddc::Chunk<double, ddc::DiscreteDomain<heights, widths>> wide("v", ghosted);
  ddc::ChunkSpan v = wide.span_view();
  auto field = os::from_local<double, os::halo<I, 1>/X, os::halo<J, 1>/Y>(mesh, I = n, J = m,
                                                                          v.allocation_kokkos_view());

  ddc::host_for_each(ghosted, [&](point p) { v(p) = -1; });
  ddc::host_for_each(owned, [&](point p) { v(p) = value(p); });

  // exchanged
  os::exchange_halo_into<os::halo<I, 1>/X, os::halo<J, 1>/Y>(field);

  ddc::host_for_each(ghosted, [&](point p) {
    auto const i = (ddc::DiscreteElement<heights>(p) - all_heights.front()).value() - 1;
    auto const j = (ddc::DiscreteElement<widths>(p) - all_widths.front()).value() - 1;
    bool const inside = i >= 0 && i < n && j >= 0 && j < m;
    different += v(p) != (inside ? start(i, j) : -1);
  });
  CHECK(different == 0);
}

TEST_CASE("spans of DDC") {
  ddc::ScopeGuard const scope;
  auto const mesh = os::make_mesh(X = 2, Y = 2);
  check(mesh, ddc::init_trivial_bounded_space(ddc::DiscreteVector<heights>(n + 2)),
        ddc::init_trivial_bounded_space(ddc::DiscreteVector<widths>(m + 2)));
}

}  // namespace spans
