// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. What saving and loading share: which tensors stand in files, what leaves are called there, and the block of
/// a tensor as the engine moves it.

#include <string>
#include <type_traits>

#include <ostraka/blocks/create.hpp>
#include <ostraka/calls/context.hpp>
#include <ostraka/engine/files/file_block.hpp>
#include <ostraka/tree/walk.hpp>
#include <ostraka/types/support/join_text.hpp>

namespace ostraka::detail {

template <class T>
consteval auto check_in_safetensors() {
  if constexpr (std::is_same_v<T, Kokkos::complex<double>>)
    return found<reason::element_is_in_no_safetensors<T>>{};
  else
    return found<reason::ok>{};
}

template <class T>
using in_safetensors_verdict = typename decltype(check_in_safetensors<T>())::type;

/// Whole tensors stand in files, and not parts of sums or blocks of bodies.
template <class A, class Operation>
using in_file_verdict = first_fault<no_block_verdict<A, Operation>, values_verdict<A, Operation>>;

/// `layers.3.w1`, as PyTorch calls it; messages say layers[3].w1.
inline std::string name_in_file(path const& at) {
  std::string const before = at.before ? name_in_file(*at.before) : std::string();
  if (at.field.empty() && !at.before) return before;
  return join_text(before, before.empty() ? "" : ".",
                   at.field.empty() ? std::to_string(at.index) : std::string(at.field));
}

template <class A>
engine::file_block block_in_file(char const* operation, A const& a) {
  return engine::file_block_of<execution_space_type<A>>(context_of<axes_in<A>, mesh_axes_in<A>>(operation, a),
                                                        spec_of<A, axes_in<A>, mesh_axes_in<A>>, a.local().data());
}

}  // namespace ostraka::detail
