// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The norm over all leaves of a tree, and clipping of gradients by it. Each device sums the squares of its
/// elements; a repeated block counts on the first device that holds it. One all-reduce adds the devices' sums:
///
///     w [I_X, J], b [J]     on device (x, y): Σ w² where y = 0, Σ b² where x = y = 0;  all-reduce over X, Y of []

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <ostraka/blocks/create.hpp>
#include <ostraka/engine/block_collectives/sum_over.hpp>
#include <ostraka/engine/divided_rows/accumulate_rows.hpp>
#include <ostraka/engine/kernels/accumulators/sums.hpp>
#include <ostraka/optimizers/update.hpp>
#include <ostraka/types/reasons/operation_names.hpp>
#include <ostraka/types/support/error.hpp>

namespace ostraka {

namespace detail {

template <class S, class T>
consteval auto find_splits_of_leaves();

template <class S, class T, int... Is>
consteval auto find_splits_of_fields(std::integer_sequence<int, Is...>) {
  return std::type_identity<union_of<
      type_list<>, typename decltype(find_splits_of_leaves<field_type<S, S, Is>, field_type<S, T, Is>>())::type...>>{};
}

// The mesh axes that divide leaves of T, a tree of shape S or a single tensor.
template <class S, class T>
consteval auto find_splits_of_leaves() {
  constexpr node kind = node_of<S>;
  if constexpr (kind == node::leaf)
    return std::type_identity<typename sharding_traits<sharding_in<T>>::splits>{};
  else if constexpr (kind == node::array || kind == node::vector)
    return find_splits_of_leaves<typename S::value_type, typename T::value_type>();
  else if constexpr (kind == node::branch)
    return find_splits_of_fields<S, T>(std::make_integer_sequence<int, fields_of<S>>{});
  else
    return std::type_identity<type_list<>>{};
}

template <class T>
using splits_of_leaves = typename decltype(find_splits_of_leaves<typename parameters_traits<T>::shape, T>())::type;

/// True if this device is the first of those that hold the same block, among the devices along these mesh axes.
template <class A, class MeshAxes>
bool counts_here(A const& a) {
  engine::execution_context const w = context_of<axes_in<A>, MeshAxes>("global_norm", a);
  planner::mesh_set const divided = mesh_axes_numbered<MeshAxes>(typename sharding_traits<sharding_in<A>>::splits{});
  for (int m = 0; m < w.sizes.mesh_axes; ++m)
    if (!divided.contains(m) && w.here.at[m] != 0) return false;
  return true;
}

struct same_number {
  KOKKOS_INLINE_FUNCTION double operator()(double x) const { return x; }
};

// Σ|a|² of this device's block.
template <class A>
double local_squares(A const& a) {
  using labels = axes_in<A>;
  using mesh = mesh_axes_in<A>;
  using memory = typename A::view_type::memory_space;
  engine::kernel_scratch<double, memory> const sum(1);
  engine::accumulate_rows<engine::sum_of<engine::square_of, typename A::value_type>>(
      execution_space_of<A>(), context_of<labels, mesh>("global_norm", a), spec_of<A, labels, mesh>, planner::spec{},
      {}, elements_of(a), sum.data(), same_number{});
  return engine::read_on_host(Kokkos::View<double, memory>(sum.data()));
}

template <class A>
using norm_verdict =
    first_fault<no_block_verdict<A, operation::global_norm>, values_verdict<A, operation::global_norm>>;

/// Sums the squares of leaves on this device.
template <class MeshAxes>
struct squares_of_leaves {
  double sum = 0;
  std::shared_ptr<engine::device_mesh const> mesh;

  template <class A>
  void operator()(path const&, A const& a) {
    if constexpr (reason::ok_or_raise<norm_verdict<A>>()) {
      auto const& here = common_mesh("global_norm", a);
      if (mesh && mesh != here)
        throw_error(
            "global_norm: all leaves of a tree live on one mesh, but these live on two; take the norm of a tree for "
            "each mesh");
      mesh = here;
      if (!mesh->absent() && counts_here<A, MeshAxes>(a)) sum += local_squares(a);
    }
  }
};

template <class T>
double norm_of_tree(T const& tree) {
  using axes = splits_of_leaves<T>;
  squares_of_leaves<axes> squares;
  if constexpr (Tensor<T>)
    squares(path{}, tree);
  else
    visit<typename parameters_traits<T>::shape>(squares, path{}, tree);
  if (squares.mesh == nullptr || squares.mesh->absent()) return 0;
  engine::execution_context const w =
      engine::make_context(*squares.mesh, names_of<axes>.data(), axes::size, "global_norm");
  return std::sqrt(engine::sum_over(w, mesh_axes_numbered<axes>(axes{}), squares.sum));
}

template <class Wide>
struct times {
  Wide factor;
  KOKKOS_INLINE_FUNCTION void operator()(Wide& x) const { x *= factor; }
  void run(Wide* x) const {
    for (int i = 0; i < engine::run_of_neighbours; ++i) x[i] *= factor;
  }
};

struct scale_leaf {
  char const* operation;
  double factor;
  template <class A>
  void operator()(path const&, A const& a) const {
    if constexpr (reason::ok_or_raise<writable_verdict<A>>()) {
      using wide = accumulator_of_t<typename A::value_type>;
      change_together<wide>(operation, times<wide>{static_cast<wide>(factor)}, a);
    }
  }
};

// Calls f(path, leaf) for every leaf of a tree, or for a tensor.
template <class F, class T>
void change_leaves(F f, T const& tree) {
  if constexpr (Tensor<T>)
    f(path{}, tree);
  else
    visit<typename parameters_traits<T>::shape>(f, path{}, tree);
}

}  // namespace detail

/// √Σ|x|² over all elements of all leaves, or of one tensor. Elements that are repeated on several devices count once.
/// Squares are summed in double. Moves one all-reduce of one number for all leaves, over the mesh axes that divide any
/// of them. Refuses partial leaves: reduce them first, `os::tree_reshard<os::values>(gradients)`. 0 if the mesh is
/// absent.
/// @throws ostraka::error, on all devices alike, if leaves live on different meshes
template <class T>
[[nodiscard]] double global_norm(T const& tree) {
  if constexpr (Tensor<T>)
    return detail::norm_of_tree(tree);
  else if constexpr (reason::ok_or_raise<detail::trees_verdict<T>>())
    return detail::norm_of_tree(tree);
  else
    return 0;
}

/// True if all elements are finite. Computes the global norm, and costs as much; a double beyond 1e154, whose square
/// overflows, counts as infinite.
template <class T>
[[nodiscard]] bool all_finite(T const& tree) {
  return std::isfinite(global_norm(tree));
}

/// Multiplies gradients whose global norm exceeds `longest` by longest/norm, in place, and returns the original norm.
/// As in optax, if an element is NaN, all become NaN; if one is infinite and none NaN, that one becomes NaN and the
/// others become 0. To skip such a step, call os::all_finite(gradients), or test the norm.
/// @throws ostraka::error, on all devices alike, if `longest` is negative or NaN
template <class T>
double clip_by_global_norm(T const& gradients, double longest) {
  if (!(longest >= 0))
    throw_error("clip_by_global_norm: the longest norm is not negative, but ", longest, " was given");
  double const norm = global_norm(gradients);
  if (!(norm <= longest)) detail::change_leaves(detail::scale_leaf{"clip_by_global_norm", longest / norm}, gradients);
  return norm;
}

}  // namespace ostraka
