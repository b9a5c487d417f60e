// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::own(a)`: the inner part of a padded block. float[I(1), J] {V_X} → float[I, J] {V_X}

#include <cstddef>
#include <utility>

#include <ostraka/local_view/points/stencil.hpp>

namespace ostraka {

namespace detail {

struct element_itself {
  template <class T>
  KOKKOS_INLINE_FUNCTION T operator()(T const& x) const {
    return x;
  }
};

}  // namespace detail

namespace operation {

/// os::own as an operation.
struct own_part : detail::callable<own_part> {
  using takes_strides = void;
  static constexpr char const* name = "own";
  template <class A>
  using verdict = detail::stencil_verdict<A>;
  template <class>
  using moves = detail::nothing_moved;
  template <class A>
  using refused = detail::stencil_after_error<A>;

  template <class A>
  auto run(detail::at_once, A const& a) const {
    using T = typename A::value_type;
    using result_type = basic_tensor<T, sharding_without_halos<sharding_in<A>>, typename A::space>;
    detail::common_mesh(name, a);
    engine::stencil_points const p = detail::points_of(a);
    typename result_type::extents_type extents = a.extents();
    for (std::size_t d = 0; d < extents.size(); ++d) extents[d] -= detail::margins_in<A>[d].both();
    auto const result = detail::make_block<result_type>(a.mesh_handle(), extents, p.extent,
                                                        detail::without_marks(detail::own_origins(a)));
    detail::profiled_block<result_type> const region_of_run(name, result, "reads and writes", 2);
    engine::stencil_operand_block<T const, 0> const from{detail::own_block<T const>(a), {}};
    detail::run_stencil<detail::execution_space_type<A>>(p, detail::element_itself{}, detail::own_block<T>(result),
                                                         a, from);
    return result;
  }
};

}  // namespace operation

/// A copy of a padded block's inner part, or of the part of an array with ghost layers that this device owns: without
/// the halo. Nothing moves.
template <detail::BlockOrArray A>
[[nodiscard]] auto own(A const& a) {
  return detail::operate(operation::own_part{}, a);
}

}  // namespace ostraka
