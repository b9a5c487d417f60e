// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What operations of the vocabulary move, from types and extents by name alone, for os::gradient_plan: an
/// operation that communicates names such a type as its `foretold<Operands…>`.
///
///     count(kind)         its steps of this kind
///     total_bytes(sizes)  that all devices move together
///     bytes(sizes)        that a device moves
///     flops(sizes)        of products and sums, on the device that has most

#include <cstdint>
#include <type_traits>

#include <ostraka/operations/shared/along.hpp>
#include <ostraka/plan.hpp>

namespace ostraka::detail {

/// The base of those that are no products.
struct foretold_no_flops {
  template <class Sizes>
  static constexpr std::int64_t flops(Sizes const&) {
    return 0;
  }
};

/// Nothing.
struct foretold_nothing : foretold_no_flops {
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

/// Of a rearrangement along an axis: nothing if it is whole, else not known while compiling.
template <class Told>
using foretold_if_whole = std::conditional_t<told_axis<Told>::mesh::size == 0, foretold_nothing, void>;

/// Extents by name as those of a plan.
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
  /// How many groups of devices do the same.
  template <class Sizes>
  static constexpr std::int64_t groups(Sizes const& sizes) {
    return sizes.template side_by_side<Mesh...>();
  }
};

/// So many numbers a row of A, made one over the mesh axes that divide it.
template <class Told, int Numbers, class A>
struct foretold_statistics : foretold_no_flops {
  using labels = axes_in<A>;
  using mesh = mesh_axes_in<A>;
  using named = extents_by_name<labels, mesh>;
  using over = typename told_axis<Told>::mesh;
  static constexpr int row_bytes = Numbers * static_cast<int>(sizeof(accumulator_of_t<typename A::value_type>));

  static constexpr std::int64_t moved(planner::extents const& e) {
    std::int64_t const n = e.ways(mesh_axes_numbered<mesh>(over{}));
    return 2 * (n - 1) * (planner::held_by_all(spec_of<rows_of<Told, A>, labels, mesh>, e) / n);
  }
  static constexpr int count(step kind) { return over::size > 0 && kind == step::all_reduce ? 1 : 0; }
  template <class Sizes>
  static constexpr std::int64_t total_bytes(Sizes const& sizes) {
    return moved(named::of(sizes)) * row_bytes * named::groups(sizes);
  }
  template <class Sizes>
  static constexpr std::int64_t bytes(Sizes const& sizes) {
    planner::extents const e = named::of(sizes);
    return planner::bytes_per_device(moved(e), row_bytes, e);
  }
};

/// Indices are looked at: 8 bytes agree.
template <class Index>
struct foretold_check : foretold_no_flops {
  using mesh = mesh_axes_in<Index>;
  using named = extents_by_name<type_list<>, mesh>;

  static constexpr int count(step kind) { return mesh::size > 0 && kind == step::all_reduce ? 1 : 0; }
  template <class Sizes>
  static constexpr std::int64_t total_bytes(Sizes const& sizes) {
    return 16 * (named::of(sizes).devices() - 1) * named::groups(sizes);
  }
  template <class Sizes>
  static constexpr std::int64_t bytes(Sizes const& sizes) {
    std::int64_t const n = named::of(sizes).devices();
    return (16 * (n - 1) + n - 1) / n;
  }
};

/// A product to this sharding by this policy.
template <class Sharding, class Policy, class... Operands>
struct foretold_product {
  static constexpr auto plan = plan_for<Sharding>::make(std::type_identity<Policy>{}, type_list<Operands...>{});
  template <class Plan>
  struct parts;
  template <class Labels, class Mesh, int Bytes>
  struct parts<named_plan<Labels, Mesh, Bytes>> {
    using named = extents_by_name<Labels, Mesh>;
    static constexpr int element_bytes = Bytes;
  };
  using of_plan = parts<std::remove_cvref_t<decltype(plan)>>;
  using named = typename of_plan::named;

  static constexpr int count(step kind) { return plan.count(kind); }
  template <class Sizes>
  static constexpr std::int64_t total_bytes(Sizes const& sizes) {
    return plan.elements_moved(named::of(sizes)) * of_plan::element_bytes * named::groups(sizes);
  }
  template <class Sizes>
  static constexpr std::int64_t bytes(Sizes const& sizes) {
    planner::extents const e = named::of(sizes);
    return planner::bytes_per_device(plan.elements_moved(e), of_plan::element_bytes, e);
  }
  template <class Sizes>
  static constexpr std::int64_t flops(Sizes const& sizes) {
    planner::einsum_plan const& steps = plan;
    return steps.flops(named::of(sizes));
  }
  template <class Sizes>
  static constexpr std::int64_t workspace(Sizes const& sizes) {
    return planner::peak_workspace(plan, named::of(sizes)) * of_plan::element_bytes;
  }
};

/// One after the other.
template <class... Parts>
struct foretold_parts {
  static constexpr int count(step kind) { return (Parts::count(kind) + ...); }
  template <class Sizes>
  static constexpr std::int64_t total_bytes(Sizes const& sizes) {
    return (Parts::total_bytes(sizes) + ...);
  }
  template <class Sizes>
  static constexpr std::int64_t bytes(Sizes const& sizes) {
    return (Parts::bytes(sizes) + ...);
  }
  template <class Sizes>
  static constexpr std::int64_t flops(Sizes const& sizes) {
    return (Parts::flops(sizes) + ...);
  }
};

}  // namespace ostraka::detail
