// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Holds the layout on which the devices have agreed for arrays of another distribution, and this device's
/// messages: for one copy, or as long as a plan of os::plan_blocks lives.

#include <cstddef>
#include <cstdint>

#include <ostraka/arrays/copy_local.hpp>
#include <ostraka/arrays/foreign/foreign_given.hpp>
#include <ostraka/engine/foreign_blocks/boxes_agree.hpp>
#include <ostraka/engine/run/profiling.hpp>

namespace ostraka::detail {

// The mesh axes of the tensor, and of the grid over which blocks are distributed.
template <class TensorType, class Cyclic>
struct axes_of_exchange {
  using type = mesh_axes_in<TensorType>;
};
template <class TensorType, class Grid, class... Is>
struct axes_of_exchange<TensorType, dealt_blocks<Grid, Is...>> {
  using type = union_of<mesh_axes_in<TensorType>, mesh_axes_in<typename grid_of<TensorType, Grid>::type>>;
};

/// The layout of a tensor `s` in a block-cyclic distribution. The context has the mesh axes of both.
template <class TensorType, class MeshAxes, class Grid, class... Is>
engine::foreign_layout dealt_layout(engine::execution_context const& w, planner::spec const& s,
                                    dealt_blocks<Grid, Is...> const& cyclic) {
  using axes = axes_in<TensorType>;
  using grid = typename grid_of<TensorType, Grid>::type;
  constexpr planner::spec g = spec_of<grid, axes, MeshAxes>;
  engine::foreign_layout layout;
  layout.is_dealt = true;
  layout.grid = s;
  for (int d = 0; d < s.rank; ++d) {
    std::int64_t const n = w.sizes.label[s.label[d]];
    layout.grid.over[d] = g.over[g.find(s.label[d])];
    layout.block[d] = n > 0 ? n : 1;
  }
  ((layout.block[position_in<Is, axes>] = cyclic.block.template of<Is>()), ...);
  return layout;
}

// Describes the exchange in profiles.
template <class T>
class profiled_exchange {
 public:
  profiled_exchange(engine::execution_context const& w, planner::spec const& s, engine::foreign_plan const& plan)
      : region_([&] {
          engine::push_region(
              join_text(w.operation, ' ', planner::describe(s, w.names), ", sends ",
                        planner::describe_bytes(plan.sent.elements * static_cast<std::int64_t>(sizeof(T)))));
        }) {}

 private:
  engine::profiled region_;
};

/// Copies tensors of this type, once or repeatedly, and keeps the plans and memory that the copies need.
template <class TensorType>
class foreign_state {
 public:
  using value = typename TensorType::value_type;

  /// Agrees with the other devices on arrays at places, or on block-cyclic arrays, and plans the copies in one
  /// direction or both. `shape` gives the extents; its elements are not read. Collective over the mesh.
  /// @throws ostraka::error, on all devices alike, unless the arrays hold each element of the tensor once
  template <class Arrays>
  void agree(char const* operation, TensorType const& shape, Arrays const& arrays, bool from, bool to, bool written) {
    using cyclic = typename Arrays::cyclic_type;
    using mesh_axes = typename axes_of_exchange<TensorType, cyclic>::type;
    constexpr planner::spec s = spec_of<TensorType, axes_in<TensorType>, mesh_axes>;
    engine::execution_context const w = context_of<axes_in<TensorType>, mesh_axes>(operation, shape);
    bool const absent = w.mesh->absent();
    if (!absent) engine::require_same_distribution<value>(w, s, !std::is_same_v<cyclic, not_cyclic>);
    engine::foreign_layout layout;
    if constexpr (std::is_same_v<cyclic, not_cyclic>) {
      look(arrays, nullptr);
      if (absent) return engine::require_nothing(w, given_, s.rank);
      for (engine::given_array_of_box const& g : given_) own_.push_back(box_of(g));
      std::int64_t fault = engine::fault_of_places(given_, written);
      layout = engine::agree_on_boxes(w, s, own_, fault);
      engine::require_places(w, fault);
    } else {
      layout = dealt_layout<TensorType, mesh_axes>(w, s, arrays.cyclic);
      if (!absent) engine::require_same_blocks(w, s, layout.block);
      own_ = engine::own_of_dealt(w, s, layout);
      look(arrays, &own_);
      if (absent) return engine::require_nothing(w, given_, s.rank);
      engine::require_arrays(w, own_, given_, s.rank, false, written);
    }
    if (from) from_ = engine::plan_foreign(w, s, layout, engine::foreign_way::from_arrays);
    if (to) to_ = engine::plan_foreign(w, s, layout, engine::foreign_way::to_arrays);
  }

  /// Describes the arrays of a further copy, which have to match those of the plan. Collective over the mesh if
  /// `ask_others`.
  /// @throws ostraka::error, on all devices alike, if they are not
  template <class Arrays>
  void inspect_again(char const* operation, TensorType const& t, Arrays const& arrays, bool at_begins, bool written,
                     bool ask_others) {
    constexpr planner::spec s = spec_of<TensorType, axes_in<TensorType>, mesh_axes_in<TensorType>>;
    engine::execution_context const w = context_of<axes_in<TensorType>, mesh_axes_in<TensorType>>(operation, t);
    look(arrays, &own_);
    if (w.mesh->absent()) return engine::require_nothing(w, given_, s.rank);
    engine::require_same_call<value>(w, s);
    engine::require_arrays(w, own_, given_, s.rank, at_begins, written, ask_others);
  }

  /// t <- the arrays that were described last.
  template <class Array>
  void copy_from(char const* operation, TensorType const& t) {
    constexpr planner::spec s = spec_of<TensorType, axes_in<TensorType>, mesh_axes_in<TensorType>>;
    engine::execution_context const w = context_of<axes_in<TensorType>, mesh_axes_in<TensorType>>(operation, t);
    if (w.mesh->absent()) return;
    profiled_exchange<value> const region_of_run(w, s, from_);
    engine::copy_from_arrays(
        execution_space_of_array<TensorType, Array>(), engine::in_arrays<value const>{read_.data(), TensorType::rank},
        execution_space_of<TensorType>(), engine::in_block<value>{t.local().data(), planner::dense(block_of(w, s))},
        *w.mesh, from_, parts_);
  }

  /// The arrays that were described last <- a.
  template <class Array, class A>
  void copy_to(char const* operation, A const& a) {
    constexpr planner::spec s = spec_of<A, axes_in<A>, mesh_axes_in<A>>;
    engine::execution_context const w = context_of<axes_in<A>, mesh_axes_in<A>>(operation, a);
    if (w.mesh->absent()) return;
    profiled_exchange<value> const region_of_run(w, s, to_);
    written_.clear();
    for (engine::foreign_array<value const> const& r : read_) {
      engine::foreign_array<value> array{const_cast<value*>(r.data), {}};  // copy_to is called for arrays to write
      for (int d = 0; d < TensorType::rank; ++d) array.stride[d] = r.stride[d];
      written_.push_back(array);
    }
    engine::copy_to_arrays(
        execution_space_of_array<TensorType, Array>(), engine::in_arrays<value>{written_.data(), TensorType::rank},
        execution_space_of<TensorType>(), engine::in_block<value const>{elements_of(a), planner::dense(block_of(w, s))},
        *w.mesh, to_, parts_);
  }

  [[nodiscard]] std::int64_t bytes_from() const { return from_.sent.elements * element_bytes; }
  [[nodiscard]] std::int64_t bytes_to() const { return to_.sent.elements * element_bytes; }

 private:
  static constexpr std::int64_t element_bytes = sizeof(value);

  template <class Arrays>
  void look(Arrays const& arrays, dynamic_array<planner::box> const* own) {
    inspect_arrays<TensorType>(arrays, own, given_, read_);
  }

  static planner::box box_of(engine::given_array_of_box const& g) {
    planner::box b{TensorType::rank, {}};
    for (int d = 0; d < TensorType::rank; ++d) {  // where the sum overflows, the box ends before it begins: a fault
      auto const end = static_cast<std::uint64_t>(g.begin[d]) + static_cast<std::uint64_t>(g.lies.extent[d]);
      b.at[d] = {g.begin[d], static_cast<std::int64_t>(end)};
    }
    return b;
  }

  static planner::box block_of(engine::execution_context const& w, planner::spec const& s) {
    return planner::box_of(s, w.here, w.sizes);
  }

  engine::foreign_plan from_{}, to_{};
  dynamic_array<planner::box> own_;
  dynamic_array<engine::given_array_of_box> given_;
  dynamic_array<engine::foreign_array<value const>> read_;
  dynamic_array<engine::foreign_array<value>> written_;
  dynamic_array<engine::exchanged<value>> parts_;
};

}  // namespace ostraka::detail
