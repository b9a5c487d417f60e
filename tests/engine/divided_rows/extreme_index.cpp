// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// @file
/// The index of the largest and the smallest element, over every set of up to three axes of extents 0, 1, 2 and 3 under
/// every placement on meshes of two axes, including blocks that are empty or have one index along any axis. The oracle
/// is plain loops over the whole array. Rows are also cut into parts, and taken as an accelerator's thread takes them.
// ranks: 1 2 4
// sham:

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include <ostraka/engine/divided_rows/accumulate_rows.hpp>
#include <ostraka/engine/kernels/accumulators/extreme_element.hpp>

namespace {

using namespace ostraka;
using exec_space = Kokkos::DefaultHostExecutionSpace;

constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();

struct takes_index {
  template <class State>
  std::int64_t operator()(State const& s) const {
    return s.index();
  }
};

/// An array of up to three axes, row-major; `reduced` has a bit for each axis that is reduced.
struct whole_array {
  int rank;
  std::array<std::int64_t, 3> extent;
  unsigned reduced;
  std::vector<float> values;

  [[nodiscard]] bool is_reduced(int axis) const { return (reduced >> axis & 1u) != 0; }

  /// Calls f(place in the array, place among the rows, place in its row) for the indices [begin, end) in order.
  template <class F>
  void for_each(std::array<planner::range, 3> const& box, F const& f) const {
    for (std::int64_t i = box[0].begin; i < box[0].end; ++i)
      for (std::int64_t j = box[1].begin; j < box[1].end; ++j)
        for (std::int64_t k = box[2].begin; k < box[2].end; ++k) {
          std::int64_t const at[3] = {i, j, k};
          std::int64_t place = 0, row = 0, in_row = 0;
          for (int d = 0; d < rank; ++d) {
            place = place * extent[static_cast<std::size_t>(d)] + at[d];
            std::int64_t& part = is_reduced(d) ? in_row : row;
            part = part * extent[static_cast<std::size_t>(d)] + at[d];
          }
          f(place, row, in_row);
        }
  }
  [[nodiscard]] std::array<planner::range, 3> whole() const {
    std::array<planner::range, 3> box;
    for (int d = 0; d < 3; ++d)
      box[static_cast<std::size_t>(d)] = {0, d < rank ? extent[static_cast<std::size_t>(d)] : 1};
    return box;
  }

  /// For each row, the index of its first NaN, or else of the first of its extreme elements.
  [[nodiscard]] std::vector<std::int64_t> furthest(bool largest) const {
    std::int64_t rows = 1;
    for (int d = 0; d < rank; ++d) rows *= is_reduced(d) ? 1 : extent[static_cast<std::size_t>(d)];
    std::vector<std::int64_t> found(static_cast<std::size_t>(rows), nowhere);
    std::vector<float> best(static_cast<std::size_t>(rows));
    for_each(whole(), [&](std::int64_t place, std::int64_t row, std::int64_t in_row) {
      float const v = values[static_cast<std::size_t>(place)];
      float& b = best[static_cast<std::size_t>(row)];
      std::int64_t& at = found[static_cast<std::size_t>(row)];
      bool const further = std::isnan(v) ? !std::isnan(b) : largest ? v > b : v < b;
      if (at == nowhere || further) b = v, at = in_row;
    });
    return found;
  }
};

std::uint64_t noise_state = 1;
std::uint64_t noise() {
  noise_state = noise_state * 6364136223846793005u + 1442695040888963407u;
  return noise_state >> 33;
}

/// Many equal elements, now and then a NaN or two, infinities.
void fill(whole_array& a) {
  float const inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (float& v : a.values) v = static_cast<float>(noise() % 4) - 1;
  if (a.values.empty()) return;
  auto const any = [&]() -> float& { return a.values[noise() % a.values.size()]; };
  switch (noise() % 4) {
    case 0:
      any() = nan, any() = nan;
      break;
    case 1:
      any() = inf, any() = -inf;
      break;
    default:
      break;
  }
}

/// All ways to divide up to three axes over X and Y, each once.
std::vector<planner::spec> placements(int rank) {
  std::vector<std::array<planner::mesh_order, 3>> all = {{}};
  for (int mesh_axis = 0; mesh_axis < 2; ++mesh_axis)
    for (std::size_t n = all.size(), i = 0; i < n; ++i)
      for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d)
        for (int place = 0; place <= all[i][d].size(); ++place) {
          auto more = all[i];
          more[d].insert(place, mesh_axis);
          all.push_back(more);
        }
  std::vector<planner::spec> specs;
  for (auto const& over : all) {
    planner::spec s;
    for (int d = 0; d < rank; ++d) s.push_back(d, over[static_cast<std::size_t>(d)]);
    specs.push_back(s);
  }
  return specs;
}

using block = std::array<planner::range, 3>;
block block_of(planner::spec const& s, engine::execution_context const& w) {
  block b;
  for (int d = 0; d < 3; ++d)
    b[static_cast<std::size_t>(d)] = d < s.rank ? planner::range_of(s, d, w.here, w.sizes) : planner::range{0, 1};
  return b;
}

struct counted {
  std::int64_t cases = 0, wrong = 0, wrong_in_parts = 0, wrong_by_item = 0;
};

template <reduction How>
void check(engine::execution_context const& w, planner::spec const& s, whole_array const& a, counted& found) {
  using accumulator = engine::extreme_element<How, float>;
  using state = typename accumulator::state;
  planner::spec rows;
  planner::mesh_set combined;
  for (int d = 0; d < s.rank; ++d)
    if (a.is_reduced(d))
      combined = combined | s.over[d].axes();
    else
      rows.push_back(s.label[d], s.over[d]);
  block const here = block_of(s, w);
  std::vector<float> x;
  a.for_each(here, [&](std::int64_t place, auto, auto) { x.push_back(a.values[static_cast<std::size_t>(place)]); });

  // All devices together.
  std::vector<std::int64_t> const wanted = a.furthest(How == reduction::max);
  std::vector<std::int64_t> mine;  // rows of this device, in order
  block of_rows = here;
  for (int d = 0; d < s.rank; ++d)
    if (a.is_reduced(d)) of_rows[static_cast<std::size_t>(d)] = {0, 1};
  a.for_each(of_rows, [&](auto, std::int64_t row, auto) { mine.push_back(row); });
  std::vector<std::int64_t> got(mine.size(), -1);
  engine::accumulate_rows<accumulator>(exec_space(), w, s, rows, combined, x.data(), got.data(), takes_index{});
  for (std::size_t r = 0; r < mine.size(); ++r)
    found.wrong += got[r] == wanted[static_cast<std::size_t>(mine[r])] ? 0 : 1;

  // This device's block in parts, and item by item: the extreme elements of the block.
  auto loops = engine::loops_to_rows(w, s, rows);
  loops.results.merge();
  loops.reduced.merge();
  if (x.empty()) return;
  std::vector<std::int64_t> local(mine.size(), nowhere);
  std::vector<state> best(mine.size(), accumulator::start());
  a.for_each(here, [&](std::int64_t place, std::int64_t row, std::int64_t in_row) {
    for (std::size_t r = 0; r < mine.size(); ++r)
      if (mine[r] == row) accumulator::take(best[r], a.values[static_cast<std::size_t>(place)], in_row);
  });
  for (std::size_t r = 0; r < mine.size(); ++r) local[r] = best[r].index();
  for (std::int64_t parts = 1; parts <= 3 && parts <= loops.reduced.size(); ++parts) {
    std::vector<state> by_parts(mine.size() * static_cast<std::size_t>(parts)), by_item = by_parts;
    engine::detail::accumulate_parts<accumulator>(exec_space(), loops, x.data(), by_parts.data(), parts);
    auto const count = static_cast<std::int64_t>(mine.size());
    engine::detail::accumulate_one<accumulator> const one{
        loops, x.data(), by_item.data(), {parts, loops.reduced.size()}, count};
    for (std::int64_t item = 0; item < parts * count; ++item) one(item);
    for (std::size_t r = 0; r < mine.size(); ++r) {
      state p = accumulator::start(), i = accumulator::start();
      for (std::size_t part = 0; part < static_cast<std::size_t>(parts); ++part) {
        p = accumulator::combined(p, by_parts[part * mine.size() + r]);
        i = accumulator::combined(i, by_item[part * mine.size() + r]);
      }
      found.wrong_in_parts += p.index() == local[r] ? 0 : 1;
      found.wrong_by_item += i.index() == local[r] ? 0 : 1;
    }
  }
}

}  // namespace

TEST_CASE("every extent of 0 to 3, every placement, every set of axes") {
  engine::communicator const world = engine::communicator::world();
  static constexpr std::string_view names[] = {"X", "Y"};
  for (int x = 1; x <= world.size(); ++x) {
    if (world.size() % x != 0) continue;
    engine::device_mesh const mesh(world, {"X", "Y"}, {x, world.size() / x});
    engine::execution_context w = engine::make_context(mesh, names, 2, "test");
    for (int rank = 1; rank <= 3; ++rank) {
      counted found;
      for (planner::spec const& s : placements(rank))
        for (int code = 0; code < 1 << 2 * rank; ++code)
          for (unsigned reduced = 1; reduced < 1u << rank; ++reduced) {
            whole_array a{rank, {1, 1, 1}, reduced, {}};
            std::size_t elements = 1;
            w.sizes.labels = rank;
            for (int d = 0; d < rank; ++d) {
              w.sizes.label[d] = a.extent[static_cast<std::size_t>(d)] = code >> 2 * d & 3;
              elements *= static_cast<std::size_t>(w.sizes.label[d]);
            }
            a.values.resize(elements);
            fill(a);
            check<reduction::max>(w, s, a, found);
            check<reduction::min>(w, s, a, found);
            ++found.cases;
          }
      INFO("X = ", x, " of ", world.size(), ", axes: ", rank, ", cases: ", found.cases);
      CHECK(found.cases == static_cast<std::int64_t>(placements(rank).size()) * (1 << 2 * rank) * ((1 << rank) - 1));
      CHECK(found.wrong == 0);
      CHECK(found.wrong_in_parts == 0);
      CHECK(found.wrong_by_item == 0);
    }
  }
}
