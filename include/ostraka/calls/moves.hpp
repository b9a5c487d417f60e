// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The price of an operation, stated once: the data that it moves, and its products. An operation names a type
/// `moves<Operands…>` with functions of extents by name. os::bytes_of and os::gradient_plan call it with the operands'
/// extents.
///
///     count(kind)         its steps of this kind
///     total_bytes(sizes)  bytes that all devices move together
///     bytes(sizes)        bytes that a device moves
///     flops(sizes)        of products and sums, on the device that has most
///     workspace(sizes)    memory that its plan sets aside; only for moves of a plan
///
/// If a number in the call decides the price (a roll by n places, a window of attention, a root), `moves` is void, and
/// the operation has a member `moved(operands…)` that returns the moves of one call. It reads the operands through
/// `sizes_of_call`, so that tensors without elements (os::gradient_plan) have the same price. If such a number decides
/// products alone (a causal mask of attention), the operation has a member `flops_of_call(flops, operands…)` beside its
/// `moves`, whose flops it is given.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <ostraka/plan/typed/plan_of.hpp>
#include <ostraka/tensors/relabelled.hpp>
#include <ostraka/tensors/tensor.hpp>
#include <ostraka/types/axes/sizes.hpp>

namespace ostraka::detail {

/// Converts extents by name to those of a plan.
template <class Labels, class Mesh>
struct extents_by_name;
template <class... Labels, class... Mesh>
struct extents_by_name<type_list<Labels...>, type_list<Mesh...>> {
  template <class Sizes>
  static constexpr planner::extents of(Sizes const& sizes) {
    planner::extents e;
    ((e.label[e.labels++] = sizes.template of<Labels>()), ...);
    ((e.mesh[e.mesh_axes++] = sizes.template of<Mesh>()), ...);
    return e;
  }
  /// The number of groups of devices that do the same work.
  template <class Sizes>
  static constexpr std::int64_t groups(Sizes const& sizes) {
    return sizes.template side_by_side<Mesh...>();
  }
};

/// The base of moves without products.
struct no_flops {
  template <class Sizes>
  static constexpr std::int64_t flops(Sizes const&) {
    return 0;
  }
};

/// The moves of an operation that moves nothing.
struct nothing_moved : no_flops {
  static constexpr int count(step) { return 0; }
  template <class Sizes>
  static constexpr std::int64_t total_bytes(Sizes const&) {
    return 0;
  }
  template <class Sizes>
  static constexpr std::int64_t bytes(Sizes const&) {
    return 0;
  }
};

/// The base of operations that need no communication.
struct moves_nothing {
  template <class... Operands>
  using moves = nothing_moved;
};

/// The base of moves that follow from extents. `Moves::bytes_moved(extents)`: the bytes that the devices along `Mesh`
/// move together, for the extents of `Labels`.
template <class Moves, class Labels, class Mesh>
struct moves_by_extents : no_flops {
  using labels = Labels;
  using mesh = Mesh;
  using named = extents_by_name<Labels, Mesh>;

  static constexpr int count(step) { return 0; }
  template <class Sizes>
  static constexpr std::int64_t total_bytes(Sizes const& sizes) {
    return Moves::bytes_moved(named::of(sizes)) * named::groups(sizes);
  }
  template <class Sizes>
  static constexpr std::int64_t bytes(Sizes const& sizes) {
    planner::extents const e = named::of(sizes);
    return planner::bytes_per_device(Moves::bytes_moved(e), 1, e);
  }
};

template <class Plan>
struct parts_of_plan;
template <class Labels, class Mesh, int Bytes>
struct parts_of_plan<named_plan<Labels, Mesh, Bytes>> {
  using labels = Labels;
  using mesh = Mesh;
  static constexpr int element_bytes = Bytes;
};
template <class Source>
using parts_of_source = parts_of_plan<std::remove_cvref_t<decltype(Source::plan)>>;

/// The moves of a plan: `Source::plan` is a named_plan.
template <class Source>
struct moves_of_plan : moves_by_extents<moves_of_plan<Source>, typename parts_of_source<Source>::labels,
                                        typename parts_of_source<Source>::mesh> {
  static constexpr int element_bytes = parts_of_source<Source>::element_bytes;

  static constexpr int count(step kind) { return Source::plan.count(kind); }
  static constexpr std::int64_t bytes_moved(planner::extents const& e) {
    return Source::plan.elements_moved(e) * element_bytes;
  }
  template <class Sizes>
  static constexpr std::int64_t flops(Sizes const& sizes) {
    planner::einsum_plan const& steps = Source::plan;
    return steps.flops(moves_of_plan::named::of(sizes));
  }
  template <class Sizes>
  static constexpr std::int64_t workspace(Sizes const& sizes) {
    return planner::peak_workspace(Source::plan, moves_of_plan::named::of(sizes)) * element_bytes;
  }
};

/// The moves of one call.
struct moves_of_call {
  std::int64_t total = 0;    ///< bytes that all devices move together
  std::int64_t devices = 1;  ///< number of devices
  std::int64_t flops = 0;    ///< of products and sums, on the device that has most

  [[nodiscard]] constexpr std::int64_t total_bytes() const { return total; }
  /// The bytes that a device moves, rounded up.
  [[nodiscard]] constexpr std::int64_t bytes() const { return (total + devices - 1) / devices; }
};

/// True for a tensor without elements (os::gradient_plan), which has the sizes of mesh axes from a table.
template <class T>
concept HasMeshSizes = requires(T const& t) {
  t.mesh_sizes();
};

/// The mesh of the first operand: an engine::device_mesh, or a table of sizes with the same functions.
template <class First, class... Rest>
constexpr auto const* mesh_of_call(First const& first, Rest const&... rest) {
  if constexpr (HasMeshSizes<First>)
    return first.mesh_sizes();
  else if constexpr (is_operand<First>)
    return static_cast<engine::device_mesh const*>(first.mesh_handle().get());
  else
    return mesh_of_call(rest...);
}

/// Extents by name, of the operands of a call.
template <class Mesh>
class call_sizes {
 public:
  /// Takes the extents of operands and named extents. Ignores policies and numbers.
  template <class... Given>
  constexpr explicit call_sizes(Mesh const* mesh, Given const&... given) : mesh_(mesh) {
    for (std::int64_t& whole : wholes_) whole = extent_origin::alike;
    (enter_operand(given), ...);
  }
  template <class Label>
  [[nodiscard]] constexpr std::int64_t of() const {
    for (int k = 0; k < count_; ++k)
      if (names_[k] == Label::name && extents_[k] >= 0) return extents_[k];
    return mesh_->size(mesh_->find(Label::name));
  }
  /// The extent of an axis of the result, even if an operand has an axis of that name: the last one passed.
  template <class Label>
  [[nodiscard]] constexpr std::int64_t made() const {
    for (int k = count_; k-- > 0;)
      if (names_[k] == Label::name && extents_[k] >= 0) return extents_[k];
    return of<Label>();
  }
  /// The total extent of the blocks along these mesh axes, as far as this device knows.
  template <class Label, class... Ms>
  [[nodiscard]] constexpr std::int64_t joined() const {
    for (int k = 0; k < count_; ++k)
      if (names_[k] == Label::name && wholes_[k] >= 0) return wholes_[k];
    return (of<Label>() * ... * of<Ms>());
  }
  /// The number of groups of devices that do the same work: the product of the mesh axes that are not among `Ms`.
  template <class... Ms>
  [[nodiscard]] constexpr std::int64_t side_by_side() const {
    return mesh_->devices() / (std::int64_t{1} * ... * of<Ms>());
  }

 private:
  template <class T>
  constexpr void enter_operand(T const& given) {
    if constexpr (is_operand<T> || HasMeshSizes<T>) {
      if constexpr (varying_in<T>::size > 0)
        for (int i = 0; i < T::rank; ++i) wholes_[count_ + i] = given.origins()[static_cast<std::size_t>(i)].whole;
      enter(axes_in<T>{}, given.extents().data());
    } else if constexpr (is_named_extent<T>) {
      enter(type_list<typename T::named>{}, &given.value);
    }
  }
  template <class... As>
  constexpr void enter(type_list<As...>, [[maybe_unused]] std::int64_t const* extents) {
    ((names_[count_] = As::name, extents_[count_++] = *extents++), ...);
  }

  static constexpr int most = planner::max_operands * max_rank + 1;
  std::string_view names_[most]{};
  std::int64_t extents_[most]{};
  std::int64_t wholes_[most]{};  // whole length of an axis that is divided unevenly; else `alike`
  int count_ = 0;
  Mesh const* mesh_;
};

/// The extents of a call with these arguments.
template <class... Given>
constexpr auto sizes_of_call(Given const&... given) {
  auto const* const mesh = mesh_of_call(given...);
  return call_sizes<std::remove_cvref_t<decltype(*mesh)>>(mesh, given...);
}

/// True if the types of the operands are enough to know an operation's price.
template <class Operation, class... Given>
consteval bool has_moves() {
  if constexpr (requires { typename Operation::template moves<Given...>; })
    return !std::is_void_v<typename Operation::template moves<Given...>>;
  else
    return false;
}

/// The extent of the axis that an operation makes, by name, where the operation holds it; else 0.
template <class Operation>
constexpr auto extent_made_by(Operation const& operation) {
  if constexpr (requires { operation.made(); })
    return operation.made();
  else
    return 0;
}

}  // namespace ostraka::detail
