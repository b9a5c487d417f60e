// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::describe(A)`: `float[I_X, J] of 1024 × 512 on X=2 · Y=4; device 0 holds [0, 512) × [0, 512), 1,048,576
/// B`.

#include <cstdint>
#include <string>
#include <utility>

#include <ostraka/engine/call_check/element_name.hpp>
#include <ostraka/plan/spec/describe_plan.hpp>
#include <ostraka/plan/typed/named_plan.hpp>
#include <ostraka/tensors/tensor.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka {

namespace detail {

// The text that follows the type, which is the same for all shardings. A template so that ostraka::compiled can hold
// it.
template <class = void>
[[gnu::cold]] std::string describe_block(std::string text, engine::device_mesh const& mesh, std::int64_t const* extents,
                                         planner::range const* ranges, int rank, std::int64_t bytes) {
  std::string whole;
  std::string block;
  for (int i = 0; i < rank; ++i) {
    std::string const times = i > 0 ? " × " : "";
    append_text(whole, times, extents[i]);
    append_text(block, times, '[', ranges[i].begin, ", ", ranges[i].end, ')');
  }
  std::string shape;
  for (int m = 0; m < mesh.axes(); ++m) append_text(shape, m > 0 ? " · " : "", mesh.name(m), '=', mesh.size(m));
  append_text(text, rank > 0 ? join_text(" of ", whole) : "", " on ", shape);
  if (mesh.absent()) return join_text(text, "; this process is none of its devices");
  return join_text(text, "; device ", mesh.device(), " holds ", rank > 0 ? join_text(block, ", ") : "",
                   planner::describe_bytes(bytes));
}

// `float T[I_X, J] {V_Y}`: element type, label and sharding.
template <class A>
[[gnu::cold]] std::string named_type(A const& a) {
  std::string const label = a.label();
  std::string text =
      join_text(engine::element_name<typename A::value_type>, label.empty() ? "" : " ", label,
                planner::describe(spec_of<A, axes_in<A>, mesh_axes_in<A>>, naming_of<axes_in<A>, mesh_axes_in<A>>));
  if constexpr (varying_in<A>::size > 0)
    append_text(text, " {V_",
                planner::detail::mesh_names(planner::detail::in_order(planner::mesh_set::first(varying_in<A>::size)),
                                            naming_of<axes_in<A>, varying_in<A>>),
                '}');
  return text;
}

}  // namespace detail

/// Type, extents, mesh and this device's block of a tensor, in one line.
template <Tensor A>
[[nodiscard, gnu::cold]] std::string describe(A const& a) {
  std::string text = detail::named_type(a);
  if (!a.mesh_handle()) return join_text(text, ", an empty handle");
  planner::range ranges[max_rank];
  for (int i = 0; i < A::rank; ++i) ranges[i] = a.range(i);
  auto const bytes = static_cast<std::int64_t>(a.local().size() * sizeof(typename A::value_type));
  return detail::describe_block(std::move(text), *a.mesh_handle(), a.extents().data(), ranges, A::rank, bytes);
}

}  // namespace ostraka
