// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. The start of every operation on tensors: one mesh, extents that agree, and the execution context of the
/// plan. All facts that are checked here are known to every device alike, so an error is thrown on all of them, before
/// anything is sent.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <ostraka/engine/call_check/call_in_words.hpp>
#include <ostraka/engine/machine/instance.hpp>
#include <ostraka/engine/mesh/execution_context.hpp>
#include <ostraka/engine/run/profiling.hpp>
#include <ostraka/plan/typed/named_plan.hpp>
#include <ostraka/tensors/allocate.hpp>
#include <ostraka/tensors/tensor.hpp>
#include <ostraka/types/support/error.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

// The functions after the first two are instantiated for every operation of a program, so they only pass on numbers.

inline engine::device_mesh const& common_mesh(char const* operation, engine::device_mesh const* const* meshes,
                                              int count) {
  engine::require_not_ended(operation);
  for (int k = 0; k < count; ++k)
    if (meshes[k] == nullptr)
      throw_error(
          operation,
          ": an operand is an empty handle; make it with os::zeros, os::generate, … or assign a tensor to it first");
  for (int k = 1; k < count; ++k)
    if (meshes[k] != meshes[0])
      throw_error(operation, ": the operands live on different meshes; make them all on one os::make_mesh");
  return *meshes[0];
}

/// The mesh of one tensor; throws if the tensor is an empty handle.
template <class A>
std::shared_ptr<engine::device_mesh const> const& common_mesh(char const* operation, A const& a) {
  engine::device_mesh const* const mesh = a.mesh_handle().get();
  common_mesh(operation, &mesh, 1);
  return a.mesh_handle();
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_extents(engine::steps_ahead steps,
                                                                  engine::execution_context const& w, int label,
                                                                  std::int64_t one, std::int64_t other) {
  engine::fail_together(
      w, steps,
      join_text(w.operation, ": all operands agree on the extent of an axis, but ", w.names.labels[label], " is ", one,
                " in one and ", other, " in another; make them with the same os::sizes"));
}

inline void enter_extents(engine::steps_ahead steps, engine::execution_context& w, planner::spec const& operand,
                          std::int64_t const* extents) {
  for (int i = 0; i < operand.rank; ++i) {
    int const label = operand.label[i];
    std::int64_t& known = w.sizes.label[label];
    if (known >= 0 && known != extents[i]) refuse_extents(steps, w, label, known, extents[i]);
    known = extents[i];
  }
}

/// A tensor that an operation reads.
struct runtime_operand {
  engine::device_mesh const* mesh;
  std::int64_t const* extents;
};

template <class A>
runtime_operand runtime_operand_of(A const& a) {
  return {a.mesh_handle().get(), a.extents().data()};
}

/// The context of an operation on `count` operands, at least one. specs[k] is the spec of operand k. A template so that
/// ostraka::compiled can hold it.
template <class = void>
engine::execution_context context_of_operands(char const* operation, engine::steps_ahead steps,
                                              planner::naming const& names, int labels, int mesh_axes,
                                              runtime_operand const* operands, planner::spec const* const* specs,
                                              int count) {
  engine::device_mesh const* meshes[planner::max_operands + 1] = {};  // g++ 14 at -O3 warns without initialization
  for (int k = 0; k < count; ++k) meshes[k] = operands[k].mesh;
  engine::execution_context w =
      engine::make_context(common_mesh(operation, meshes, count), names.mesh_axes, mesh_axes, operation);
  w.names.labels = names.labels;
  w.sizes.labels = labels;
  for (int l = 0; l < labels; ++l) w.sizes.label[l] = -1;
  for (int k = 0; k < count; ++k) enter_extents(steps, w, *specs[k], operands[k].extents);
  return w;
}

/// The context of an operation with these labels and mesh axes. Its steps determine the devices that have to know of an
/// error that is found here.
template <class Labels, class Mesh, class First, class... Rest>
engine::execution_context context_of(char const* operation, engine::steps_ahead steps, First const& first,
                                     Rest const&... rest) {
  if constexpr (any_varies<First, Rest...>)
    origins_of(operation, union_of<axes_in<First>, axes_in<Rest>...>{}, first, rest...);
  static constexpr planner::spec const* specs[] = {&spec_of<First, Labels, Mesh>, &spec_of<Rest, Labels, Mesh>...};
  runtime_operand const operands[] = {runtime_operand_of(first), runtime_operand_of(rest)...};
  return context_of_operands(operation, steps, naming_of<Labels, Mesh>, Labels::size, Mesh::size, operands, specs,
                             static_cast<int>(sizeof...(Rest)) + 1);
}

/// The same for an operation that does not communicate.
template <class Labels, class Mesh, class First, class... Rest>
engine::execution_context context_of(char const* operation, First const& first, Rest const&... rest) {
  return context_of<Labels, Mesh>(operation, engine::steps_ahead{}, first, rest...);
}

/// The context for comparing calls on one tensor or block. Its extents are those that the devices have in common.
template <class A>
engine::execution_context compared_context_of(char const* operation, A const& a) {
  engine::execution_context w = context_of<axes_in<A>, mesh_axes_in<A>>(operation, a);
  if constexpr (varying_in<A>::size > 0)
    for (int i = 0; i < A::rank; ++i)
      w.sizes.label[i] = a.origins()[static_cast<std::size_t>(i)].compared(w.sizes.label[i]);
  return w;
}

/// A new tensor for the result of an operation on `operands`. Its axes and mesh axes are among those of the execution
/// context.
template <class TensorType, class Labels, class Mesh, class First, class... Rest>
TensorType allocate_for(engine::execution_context const& w, First const& first, [[maybe_unused]] Rest const&... rest) {
  TensorType result(
      allocate_unnamed<typename TensorType::value_type, TensorType::rank, typename TensorType::space>(
          first.mesh_handle(), w, spec_of<typename TensorType::sharding_type, Labels, Mesh>));
  if constexpr (any_varies<First, Rest...>)
    result.set_origins(origins_of(w.operation, typename TensorType::axes{}, first, rest...));
  return result;
}

template <class One, class Other>
consteval auto check_element_types() {
  if constexpr (std::is_same_v<One, Other>)
    return found<reason::ok>{};
  else
    return found<reason::element_types_differ<One, Other>>{};
}

/// `reason::ok` if two element types are the same.
template <class One, class Other>
using element_type_verdict = typename decltype(check_element_types<One, Other>())::type;

/// `reason::ok` if all operands have the element type of the first of them.
template <class... Operands>
using elements_verdict =
    first_fault<element_type_verdict<typename nth<0, Operands...>::type::value_type, typename Operands::value_type>...>;

/// A profiling region of an operation on the blocks of one tensor. The operation touches each element `times` times.
template <class TensorType>
class profiled_block {
 public:
  profiled_block(char const* operation, TensorType const& t, char const* does, int times = 1)
      : region_([&] {
          engine::push_blocks(
              operation, spec_of<TensorType, axes_in<TensorType>, mesh_axes_in<TensorType>>,
              naming_of<axes_in<TensorType>, mesh_axes_in<TensorType>>, does,
              static_cast<std::int64_t>(t.local().size() * sizeof(typename TensorType::value_type)) * times);
        }) {}

 private:
  engine::profiled region_;
};

template <class TensorType>
using execution_space_type = typename TensorType::view_type::execution_space;

/// The instance on which an operation on tensors of this type runs.
template <class TensorType>
execution_space_type<TensorType> execution_space_of() {
  return engine::instance<execution_space_type<TensorType>>();
}

/// This device's block of a tensor that is read.
template <class TensorType>
typename TensorType::value_type const* elements_of(TensorType const& t) {
  return t.local().data();
}

}  // namespace ostraka::detail
