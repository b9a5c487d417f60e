// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The moves of collectives on blocks (calls/moves.hpp): the move of the lifted tensor, or a number of blocks
/// sent as messages. If the moves depend on a device's coordinates, they are summed over all devices.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <ostraka/calls/moves_of_parts.hpp>
#include <ostraka/moves/one_move.hpp>
#include <ostraka/plan/spec/blocks.hpp>
#include <ostraka/tensors/block_extents.hpp>

namespace ostraka::detail {

// The extents of the tensor to which a block A is lifted. I has the total extent of all blocks over `Ms`, or, if the
// block lacks I, an index for each device. An extent that is this device's own counts as the same on all.
template <class Sizes, class A, class I, class... Ms>
struct lifted_sizes {
  Sizes const& of_block;

  template <class Label>
  [[nodiscard]] constexpr std::int64_t of() const {
    if constexpr (!std::is_same_v<Label, I>)
      return of_block.template of<Label>();
    else if constexpr (position_in<I, axes_in<A>> < 0)
      return (std::int64_t{1} * ... * of_block.template of<Ms>());
    else if constexpr (requires { of_block.template joined<I, Ms...>(); })
      return of_block.template joined<I, Ms...>();
    else
      return (of_block.template of<I>() * ... * of_block.template of<Ms>());
  }
  template <class... Others>
  [[nodiscard]] constexpr std::int64_t side_by_side() const {
    return of_block.template side_by_side<Others...>();
  }
};

// The price of a move of blocks that are joined along I.
template <class Move, class A, class I, class... Ms>
struct moves_of_blocks_along {
  template <class Sizes>
  using lifted = lifted_sizes<Sizes, A, I, Ms...>;
  using type = moves_of_lifted<moves_of_plan<move_source<Move, A>>, lifted>;
};

// The price of messages with blocks A along the mesh axes: n devices send `Messages(n)` blocks.
template <class A, class MeshAxes, std::int64_t (*Messages)(std::int64_t), int ElementBytes = element_bytes_in<A>>
struct moves_of_messages : moves_by_extents<moves_of_messages<A, MeshAxes, Messages, ElementBytes>, axes_in<A>,
                                            union_of<MeshAxes, mesh_axes_in<A>>> {
  static constexpr std::int64_t bytes_moved(planner::extents const& e) {
    using mesh = union_of<MeshAxes, mesh_axes_in<A>>;
    std::int64_t const n = e.ways(mesh_axes_numbered<mesh>(MeshAxes{}));
    return Messages(n) * (planner::held_by_all(spec_of<A, axes_in<A>, mesh>, e) / n) * ElementBytes;
  }
};

// A block on all devices of its mesh, as far as this device knows: an extent that is each device's own counts as the
// same on all.
template <class A>
class block_on_devices {
 public:
  static constexpr int rank = A::rank;
  using extents_type = std::array<std::int64_t, static_cast<std::size_t>(rank) + 1>;
  using coordinates = std::array<std::int64_t, engine::device_mesh::max_axes>;  // in the mesh's order of axes

  explicit block_on_devices(A const& a) : mesh_(*a.mesh_handle()) {
    names_of_axes(mesh_axes_in<A>{});
    for (std::size_t i = 0; i < static_cast<std::size_t>(rank); ++i) {
      extents_[i] = a.extents()[i];
      if constexpr (varying_in<A>::size > 0) origins_[i] = a.origins()[i];
    }
  }

  /// Calls f(coordinates, extents) for each device: its coordinates, and the extents of its block.
  template <class F>
  void for_each(F const& f) const {
    for (int d = 0; d < mesh_.devices(); ++d) {
      coordinates c{};
      int rest = d;
      for (int m = mesh_.axes() - 1; m >= 0; --m) {
        c[static_cast<std::size_t>(m)] = rest % mesh_.size(m);
        rest /= mesh_.size(m);
      }
      extents_type extents{};
      for (int i = 0; i < rank; ++i) extents[static_cast<std::size_t>(i)] = extent(i, c);
      f(c, extents);
    }
  }

  /// The number of a device along these mesh axes, the first one major.
  template <class... Ms>
  [[nodiscard]] int number(coordinates const& c) const {
    int n = 0;
    for (int const m : {mesh_.find(Ms::name)...})
      n = n * mesh_.size(m) + static_cast<int>(c[static_cast<std::size_t>(m)]);
    return n;
  }
  template <class... Ms>
  [[nodiscard]] int devices_along() const {
    return (1 * ... * mesh_.size(mesh_.find(Ms::name)));
  }

  /// The moves if the device with these coordinates sends `elements(coordinates, extents)` elements.
  template <class F>
  [[nodiscard]] moves_of_call moves(F const& elements) const {
    std::int64_t all = 0;
    for_each([&](coordinates const& c, extents_type const& extents) { all += elements(c, extents); });
    return {all * element_bytes_in<A>, mesh_.devices()};
  }

  /// The number of elements of a block with these extents, without dimension `but`.
  [[nodiscard]] static std::int64_t elements(extents_type const& extents, int but = -1) {
    std::int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= i == but ? 1 : extents[static_cast<std::size_t>(i)];
    return n;
  }

 private:
  template <class... Ms>
  void names_of_axes(type_list<Ms...>) {
    int m = 0;
    ((axis_[++m] = mesh_.find(Ms::name)), ...);
  }

  [[nodiscard]] std::int64_t extent(int i, coordinates const& c) const {
    constexpr planner::spec block = spec_of<A, axes_in<A>, mesh_axes_in<A>>;
    extent_origin const& o = origins_[static_cast<std::size_t>(i)];
    std::int64_t const own = extents_[static_cast<std::size_t>(i)];
    planner::mesh_order const& over = block.over[i];
    std::int64_t number = 0, ways = 1;
    auto const divide = [&](int m) {
      number = number * mesh_.size(m) + c[static_cast<std::size_t>(m)];
      ways *= mesh_.size(m);
    };
    if (o.whole >= 0) {
      for (int k = 0; k < o.over.size(); ++k) divide(o.over[k]);
      return planner::block(o.whole, (number - o.shifted + ways) % ways, ways).size() + o.halo;
    }
    for (int k = 0; k < over.size(); ++k) divide(axis_[over[k] + 1]);
    return planner::block(own, number, ways).size();
  }

  engine::device_mesh const& mesh_;
  int axis_[planner::max_mesh_axes + 1]{};  // the type's mesh axes, from 1 on, as the mesh numbers them
  extents_type extents_{};
  std::array<extent_origin, static_cast<std::size_t>(rank) + 1> origins_{};
};

}  // namespace ostraka::detail
