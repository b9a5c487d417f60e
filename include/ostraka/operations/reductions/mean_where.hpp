// SPDX-FileCopyrightText: The Ostraka authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// @file
/// Floor 4. `os::mean_where<Out…>(A, mask)`: the mean of the elements that a mask counts, over the axes that the result
/// lacks. It divides by the number of these elements on all devices, so that the loss of a padded batch does not depend
/// on how the batch is divided.
///
///     Σ where(mask, A, 0) / Σ where(mask, 1, 0)      two reductions of the result, as os::sum and os::count
///
/// Its derivative follows from the operations of which it is composed.

#include <cstdint>
#include <type_traits>

#include <ostraka/elements/arithmetic.hpp>
#include <ostraka/elements/cast.hpp>
#include <ostraka/elements/where.hpp>
#include <ostraka/operations/reductions/norm.hpp>

namespace ostraka {

namespace detail {

/// True if the mask counts an element.
struct is_counted_in {
  template <class T, class Mask>
  KOKKOS_INLINE_FUNCTION truth operator()(T const&, Mask const& mask) const noexcept {
    return mask != Mask(0) ? truth(1) : truth(0);
  }
};

/// The divisor for a count of elements: 1 in place of 0.
template <class T>
struct divisor_of_count {
  KOKKOS_INLINE_FUNCTION T operator()(std::int64_t n) const noexcept { return n == 0 ? T(1) : static_cast<T>(n); }
};

template <class A, class Mask, class R>
using counted_tensor =
    basic_tensor<R, varying_as<typename map_result<is_counted_in, A, Mask>::type, A, Mask>, typename A::space>;

template <class Operation, class Out, class A, class Mask>
consteval auto check_mean_where() {
  using T = typename A::value_type;
  using met = first_fault<fractions_verdict<Operation, A>, truth_verdict<Operation, Mask>,
                          map_verdict<Operation, Operation, reason::ok, T, A, Mask>>;
  if constexpr (!std::is_same_v<met, reason::ok>)
    return found<met>{};
  else
    return found<reduction_verdict<varying_as_one<Out, counted_tensor<A, Mask, T>>, policy<planner::admit::any>,
                                   reduction::sum, counted_tensor<A, Mask, T>>>{};
}

/// The mean as a composition of other operations, for tensors and variables.
template <class Out, class A, class Mask>
constexpr auto mean_of_counted(A const& a, Mask const& mask) {
  using T = typename A::value_type;
  using wide = accumulator_of_t<T>;
  auto const counts = [&] {
    if constexpr (std::is_same_v<typename Mask::value_type, bool>)
      return mask;
    else
      return ostraka::not_equal(mask, typename Mask::value_type(0));
  }();
  auto const elements = [&] {
    if constexpr (is_narrow<T>)
      return ostraka::cast<wide>(a);
    else
      return a;
  }();
  auto const total = operate(ostraka::operation::reduce<reduction::sum, Out>{},
                             ostraka::where(counts, elements, wide(0)), policy<planner::admit::any>{});
  auto const n = operate(ostraka::operation::count<Out>{}, ostraka::map(is_counted_in{}, a, mask));
  auto const mean = ostraka::divide(total, ostraka::map(divisor_of_count<wide>{}, n));
  if constexpr (is_narrow<T>)
    return ostraka::cast<T>(mean);
  else
    return mean;
}

}  // namespace detail

namespace operation {

template <class Out>
struct mean_where {
  static constexpr char const* name = "mean_where";

  template <class A, class Mask>
  using verdict = typename decltype(detail::check_mean_where<mean_where, Out, A, Mask>())::type;

  template <class A, class Mask>
  using moves = detail::moves_in_turn<
      detail::moves_of_plan<detail::reduction_source<
          Out, reduction::sum, detail::counted_tensor<A, Mask, accumulator_of_t<typename A::value_type>>,
          policy<planner::admit::any>>>,
      detail::moves_of_parts<Out, reduction::sum, std::int64_t, detail::counted_tensor<A, Mask, detail::truth>>>;

  template <class How, class A, class Mask>
  auto run(How const&, A const& a, Mask const& mask) const {
    detail::common_mesh(name, a);
    return detail::mean_of_counted<Out>(a, mask);
  }
};

}  // namespace operation

/// The mean, over the axes that the result lacks, of the elements whose mask is true (not 0): their sum divided by
/// their number on all devices; 0 if there are none. The mask is a tensor of bool or integers along any axes of A.
/// Elements that are not counted may be NaN.
///
///     os::mean_where<>(os::cross_entropy<V>(logits, labels, os::ignore(-100)), os::not_equal(labels, -100))
template <auto... Out, TensorOrVariable A, TensorOrVariable Mask>
[[nodiscard]] constexpr auto mean_where(A const& a, Mask const& mask) {
  return detail::operate(operation::mean_where<sharding_of<Out...>>{}, a, mask);
}

}  // namespace ostraka
