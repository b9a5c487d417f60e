// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 3. Contractions of elements of 8 and 16 bits: widens operands to floats or std::int32_t, computes with these,
/// by the library if there is one, and rounds or truncates the result once. So no product is compiled for the narrow
/// types. C[I, K] = A[I, J] · B[J, K]

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <type_traits>

#include <ostraka/engine/kernels/combine.hpp>
#include <ostraka/engine/kernels/contraction_labels.hpp>
#include <ostraka/engine/kernels/elementwise.hpp>
#include <ostraka/engine/kernels/scaled_update.hpp>
#include <ostraka/engine/memory/pool.hpp>

namespace ostraka::engine::detail {

/// The type in which products of T are computed: float for 16-bit floating-point numbers, std::int32_t for small
/// integers, otherwise T.
template <class T>
using product_type = std::conditional_t<is_small_integer<T>, std::int32_t, accumulator_of_t<T>>;

template <class Wide>
struct widen {
  template <class T>
  KOKKOS_INLINE_FUNCTION Wide operator()(T const& x) const noexcept {
    return Wide(x);
  }
};

/// Calls work(problem, a, b, c) on wider elements; then c <- alpha (its result) + beta c.
template <class Exec, class T, class Work>
void widened(Exec const& exec, contraction const& p, T const* a, T const* b, T* c, update<T> const& how,
             Work const& work) {
  using wider = product_type<T>;
  using buffer = kernel_scratch<wider, typename Exec::memory_space>;
  contraction wide = p;
  buffer const wide_a(close_gaps(wide, operand::a));
  buffer const wide_b(close_gaps(wide, operand::b));
  buffer const wide_c(close_gaps(wide, operand::c));
  auto const fetch = [&](operand which, buffer const& to, T const* from) {
    map_elements(exec, loops_along(block_of(wide, which), block_of(p, which)), widen<wider>{}, to.data(), from);
  };
  fetch(operand::a, wide_a, a);
  fetch(operand::b, wide_b, b);
  work(wide, wide_a.data(), wide_b.data(), wide_c.data());
  strided const result = block_of(p, operand::c);
  strided const computed = block_of(wide, operand::c);
  map_elements(exec, loops_along(result, result, computed), how, c, static_cast<T const*>(c),
               static_cast<wider const*>(wide_c.data()));
}

}  // namespace ostraka::engine::detail
