// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// The places of a sharded tensor's elements, derived here from ranks alone: device d of p holds [⌊d·n/p⌋,
/// ⌊(d+1)·n/p⌋), ranks count the mesh's axes with the first one major. The contents of a tensor's type are data here,
/// so that nothing is compiled for every sharding of a test.

#include <ostraka/ostraka.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/axes.hpp"
#include "support/global_tensor.hpp"

namespace ostraka::testing {

/// Axes of a mesh in its order, and their sizes: {"YXZ", {2, 3, 1}}.
struct mesh_shape {
  std::string axes;
  std::vector<int> sizes;
};

/// Shapes for this job's ranks; also with an order in which X is not major.
std::vector<mesh_shape> mesh_shapes();

struct index_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// A mesh of the library, and what its shape implies for every rank.
class test_mesh {
 public:
  explicit test_mesh(mesh_shape shape);

  /// A mesh on other processes than all ranks: the functions below then count its devices, not the ranks of the job.
  test_mesh(mesh_shape shape, std::shared_ptr<engine::device_mesh const> devices);

  [[nodiscard]] std::shared_ptr<engine::device_mesh const> const& handle() const { return devices_; }
  [[nodiscard]] int size(std::string_view name) const;
  [[nodiscard]] int coordinate(std::string_view name, int rank) const;
  [[nodiscard]] ostraka::sizes<X_mesh, Y_mesh, Z_mesh> sizes() const;
  [[nodiscard]] std::string text() const;

 private:
  mesh_shape shape_;
  std::shared_ptr<engine::device_mesh const> devices_;
};

/// The contents of a sharding: for A[I_XY, J] {U_Z}: "IJ", {"XY", ""}, "Z", sum.
struct placement {
  std::string letters;                 ///< of its axes
  std::vector<std::string> mesh_axes;  ///< those that divide each axis
  std::string partial_over;            ///< those that hold parts
  reduction kind = reduction::sum;     ///< combines the parts
};

namespace detail {

template <class... As>
std::string letters_of(type_list<As...>) {
  return (std::string() + ... + std::string(As::name));
}

template <class A>
void enter(type_list<A>, placement& p) {
  p.letters += A::name;
  p.mesh_axes.emplace_back();
}
template <class A, class... Ms>
void enter(type_list<over<A, Ms...>>, placement& p) {
  p.letters += A::name;
  p.mesh_axes.push_back(letters_of(type_list<Ms...>{}));
}
template <Partial P>
void enter(type_list<P>, placement&) {}

template <class... Entries>
placement placement_of(sharding<Entries...>) {
  placement p;
  (enter(type_list<Entries>{}, p), ...);
  return p;
}

}  // namespace detail

/// The placement of a tensor's type.
template <class Tensor>
placement placement_of() {
  using sharding_type = sharding_in<Tensor>;
  placement p = detail::placement_of(sharding_type{});
  p.partial_over = detail::letters_of(typename sharding_traits<sharding_type>::partials{});
  p.kind = spec_of<sharding_type, axes_in<Tensor>, mesh_axes_in<Tensor>>.kind;
  return p;
}

/// The letters of a tensor's axes.
template <class Tensor>
std::string letters_in() {
  return detail::letters_of(axes_in<Tensor>{});
}

/// A rank's indices, dimension by dimension.
std::vector<index_range> block_on(placement const& p, test_mesh const& m, extents_by_letter const& e, int rank);

template <class Tensor>
std::vector<index_range> block_on(test_mesh const& m, extents_by_letter const& e, int rank) {
  return block_on(placement_of<Tensor>(), m, e, rank);
}

/// The places of a rank's elements, in the order of its block, in a whole tensor of these labels and extents.
std::vector<std::size_t> positions_on(placement const& p, test_mesh const& m, std::string const& labels,
                                      extents_by_letter const& e, int rank);

/// The number of a rank's summand, and the count of summands.
struct summand {
  int number = 0;
  int of = 1;
};

summand summand_on(placement const& p, test_mesh const& m, int rank);

/// True if two ranks hold parts of the same elements.
bool same_group(placement const& p, test_mesh const& m, int rank, int other);

}  // namespace ostraka::testing
