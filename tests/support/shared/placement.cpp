// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/placement.hpp"

#include <ostraka/engine/call_check/observe_groups.hpp>

#include "support/mpi_main.hpp"

namespace ostraka::testing {

std::vector<mesh_shape> mesh_shapes() {
  switch (ranks()) {
    case 1: return {{"XYZ", {1, 1, 1}}};
    case 2: return {{"XYZ", {2, 1, 1}}, {"XYZ", {1, 2, 1}}};
    case 3: return {{"XYZ", {3, 1, 1}}, {"XYZ", {1, 3, 1}}};
    case 4: return {{"XYZ", {2, 2, 1}}, {"XYZ", {4, 1, 1}}, {"YXZ", {2, 2, 1}}, {"XYZ", {1, 2, 2}}};
    case 6: return {{"XYZ", {2, 3, 1}}, {"XYZ", {3, 2, 1}}, {"ZYX", {1, 2, 3}}};
    case 8: return {{"XYZ", {2, 4, 1}}, {"XYZ", {2, 2, 2}}, {"YZX", {2, 1, 4}}};
    default: return {{"XYZ", {ranks(), 1, 1}}};
  }
}

test_mesh::test_mesh(mesh_shape shape) : shape_(std::move(shape)) {
  std::vector<std::string> names;
  for (char a : shape_.axes) names.emplace_back(1, a);
  engine::observe_groups();  // as os::make_mesh does
  devices_ = std::make_shared<engine::device_mesh const>(engine::communicator::world(), names, shape_.sizes);
}

test_mesh::test_mesh(mesh_shape shape, std::shared_ptr<engine::device_mesh const> devices)
    : shape_(std::move(shape)), devices_(std::move(devices)) {}

int test_mesh::size(std::string_view name) const { return shape_.sizes[shape_.axes.find(name)]; }

int test_mesh::coordinate(std::string_view name, int rank) const {
  std::size_t const wanted = shape_.axes.find(name);
  for (std::size_t a = shape_.sizes.size() - 1; a > wanted; --a) rank /= shape_.sizes[a];
  return rank % shape_.sizes[wanted];
}

ostraka::sizes<X_mesh, Y_mesh, Z_mesh> test_mesh::sizes() const {
  return {X = size("X"), Y = size("Y"), Z = size("Z")};
}

std::string test_mesh::text() const {
  std::string t;
  for (std::size_t a = 0; a < shape_.sizes.size(); ++a)
    t += std::string(1, shape_.axes[a]) + '=' + std::to_string(shape_.sizes[a]) + ' ';
  return t;
}

namespace {

// The number of a rank along these mesh axes and their size, the first one major.
summand place_along(std::string const& mesh_axes, test_mesh const& m, int rank) {
  summand s;
  for (char a : mesh_axes) {
    std::string_view const name(&a, 1);
    s.number = s.number * m.size(name) + m.coordinate(name, rank);
    s.of *= m.size(name);
  }
  return s;
}

}  // namespace

std::vector<index_range> block_on(placement const& p, test_mesh const& m, extents_by_letter const& e, int rank) {
  std::vector<index_range> block;
  for (std::size_t d = 0; d < p.letters.size(); ++d) {
    summand const s = place_along(p.mesh_axes[d], m, rank);
    std::int64_t const n = e.at(p.letters[d]);
    block.push_back({s.number * n / s.of, (s.number + 1) * n / s.of});
  }
  return block;
}

std::vector<std::size_t> positions_on(placement const& p, test_mesh const& m, std::string const& labels,
                                      extents_by_letter const& e, int rank) {
  std::vector<index_range> const block = block_on(p, m, e, rank);
  extents_by_letter strides;  // of each label in the whole tensor
  std::int64_t whole = 1;
  for (std::size_t l = labels.size(); l-- > 0; whole *= e.at(labels[l])) strides[labels[l]] = whole;
  struct loop {
    std::int64_t extent, stride;
    std::int64_t index = 0;
  };
  std::vector<loop> loops;
  std::int64_t count = 1;
  std::int64_t at = 0;
  for (std::size_t d = 0; d < block.size(); ++d) {
    loops.push_back({block[d].end - block[d].begin, strides.at(p.letters[d])});
    count *= loops[d].extent;
    at += block[d].begin * loops[d].stride;
  }
  std::vector<std::size_t> positions;
  positions.reserve(static_cast<std::size_t>(count));
  for (; count > 0; --count) {
    positions.push_back(static_cast<std::size_t>(at));
    for (std::size_t d = loops.size(); d-- > 0;) {
      loop& l = loops[d];
      at += l.stride;
      if (++l.index < l.extent) break;
      l.index = 0;
      at -= l.extent * l.stride;
    }
  }
  return positions;
}

summand summand_on(placement const& p, test_mesh const& m, int rank) { return place_along(p.partial_over, m, rank); }

bool same_group(placement const& p, test_mesh const& m, int rank, int other) {
  for (std::string_view axis : {"X", "Y", "Z"})
    if (p.partial_over.find(axis) == std::string::npos && m.coordinate(axis, rank) != m.coordinate(axis, other))
      return false;
  return true;
}

}  // namespace ostraka::testing
