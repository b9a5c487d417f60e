// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What all operations on tensors begin with: one mesh, extents that agree, and the locale of the plan. All that is checked
/// here is known to every device alike, so an error is thrown on all of them and nothing has been sent.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <ostraka/engine/locale.hpp>
#include <ostraka/tensor.hpp>

namespace ostraka::detail {

template <class First, class... Rest>
std::shared_ptr<engine::device_mesh const> const& common_mesh(char const* operation, First const& first, Rest const&... rest) {
  if (!first.mesh_handle() || (!rest.mesh_handle() || ...))
    throw error(std::string(operation) + ": an operand is an empty handle; make it with os::zeros, os::generate, … or assign a tensor to it first");
  if (((rest.mesh_handle() != first.mesh_handle()) || ...))
    throw error(std::string(operation) + ": the operands live on different meshes; make them all on one os::make_mesh");
  return first.mesh_handle();
}

template <class Labels, class Operand, class... As>
void enter_extents(char const* operation, engine::locale& w, Operand const& operand, type_list<As...>) {
  [[maybe_unused]] auto const enter = [&](int label, std::string_view name, std::int64_t n) {
    std::int64_t& known = w.sizes.label[label];
    if (known >= 0 && known != n)
      throw error(std::string(operation) + ": all operands agree on the extent of an axis, but " + std::string(name) + " is " + std::to_string(known) + " in one and " +
                  std::to_string(n) + " in another; make them with the same os::sizes");
    known = n;
  };
  (enter(position_in<As, Labels>, As::name, operand.extent(As{})), ...);
}

/// Where an operation with these labels and mesh axes runs.
template <class Labels, class Mesh, class First, class... Rest>
engine::locale locale_of(char const* operation, First const& first, Rest const&... rest) {
  static constexpr auto names = detail::names(Mesh{});
  engine::locale w = engine::make_locale(*common_mesh(operation, first, rest...), names.data(), Mesh::size, operation);
  w.sizes.labels = Labels::size;
  for (int l = 0; l < Labels::size; ++l) w.sizes.label[l] = -1;
  enter_extents<Labels>(operation, w, first, axes_in<First>{});
  (enter_extents<Labels>(operation, w, rest, axes_in<Rest>{}), ...);
  return w;
}

/// A fresh tensor whose axes are among the labels of the locale.
template <class TensorType, class Labels, class... As>
TensorType allocate_in(engine::locale const& w, std::shared_ptr<engine::device_mesh const> const& mesh, type_list<As...>) {
  return allocate<TensorType>(mesh, std::array<std::int64_t, sizeof...(As)>{w.sizes.label[position_in<As, Labels>]...});
}

/// The verdict on operands that have to hold the same elements in the same memory.
template <class First, class... Rest>
struct same_elements {
  using type = reason::ok;
};

template <class First, class Second, class... Rest>
struct same_elements<First, Second, Rest...> {
  using type = typename std::conditional_t<std::is_same_v<typename First::value_type, typename Second::value_type>, same_elements<First, Rest...>,
                                           std::type_identity<reason::element_types_differ<typename First::value_type, typename Second::value_type>>>::type;
};

template <class TensorType>
using execution_space_of = typename TensorType::view_type::execution_space;

}  // namespace ostraka::detail
