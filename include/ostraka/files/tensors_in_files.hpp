// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. Definitions that saving and loading share: which tensors a file can hold, the names of leaves there, and
/// the block of a tensor as the engine reads and writes it.

#include <string>

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/engine/files/file_block.hpp>
#include <ostraka/tree/walk.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

/// A file holds whole tensors, not partial sums or blocks of bodies.
template <class A, class Operation>
using in_file_verdict = first_fault<no_block_verdict<A, Operation>, values_verdict<A, Operation>>;

/// `layers.3.w1`, as PyTorch writes it; messages say layers[3].w1. A template so that ostraka::compiled can hold it.
template <class = void>
std::string name_in_file(path const& at) {
  std::string const before = at.before ? name_in_file(*at.before) : std::string();
  if (at.field.empty() && !at.before) return before;
  return join_text(before, before.empty() ? "" : ".",
                   at.field.empty() ? std::to_string(at.index) : std::string(at.field));
}

/// A tensor to save or load. The facts in its type are numbers here, so that one function serves all types.
struct tensor_for_file {
  runtime_operand at;
  planner::spec const* sharding;
  planner::naming const* names;
  int mesh_axes;
  void const* elements;
  engine::file_block (*block)(engine::execution_context const&, planner::spec const&, void const* elements);
};

template <class Exec, class T>
engine::file_block file_block_at(engine::execution_context const& w, planner::spec const& s, void const* elements) {
  return engine::file_block_of<Exec>(w, s, const_cast<T*>(static_cast<T const*>(elements)));
}

template <class A>
tensor_for_file for_file(A const& a) {
  using axes = axes_in<A>;
  using mesh_axes = mesh_axes_in<A>;
  return {runtime_operand_of(a),
          &spec_of<A, axes, mesh_axes>,
          &naming_of<axes, mesh_axes>,
          mesh_axes::size,
          a.local().data(),
          file_block_at<execution_space_type<A>, typename A::element_type>};
}

/// The execution context of a tensor; throws for an empty handle.
[[gnu::cold]] inline engine::execution_context context_for_file(char const* operation, tensor_for_file const& a) {
  return context_of_operands(operation, engine::steps_ahead{}, *a.names, a.sharding->rank, a.mesh_axes, &a.at,
                             &a.sharding, 1);
}

}  // namespace ostraka::detail
